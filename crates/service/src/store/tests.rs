//! Tests of scans in the store, with the findings that they reported.

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqliteConnection};

use super::{Store, StoreResult, findings, json, millis, stamp, text, without_nul};
use crate::engine::TestDone;
use scandeck_wire::contract::{ResourceType, Risk, ScanId, Test, TestId};

fn test_of(row: SqliteRow) -> StoreResult<Test> {
    let finding: Option<i64> = row.try_get("finding_id")?;
    Ok(Test {
        id: TestId(row.try_get("id")?),
        uid: text(&row, "uid")?,
        description: text(&row, "description")?,
        resource_type: if finding.is_some() {
            ResourceType::Finding
        } else {
            ResourceType::Scan
        },
        resource_id: finding.map_or_else(|| row.try_get("scan_id"), Ok)?,
        metadata: json(row.try_get("metadata")?),
        performed_at: Some(stamp(row.try_get("performed_at")?)),
    })
}

impl Store {
    /// The tests of a scan in the order in which they ended; with a resource, only its tests
    /// (api-v2.md §4).
    pub async fn tests(
        &self,
        scan: ScanId,
        of: Option<(ResourceType, Option<i64>)>,
    ) -> StoreResult<Vec<Test>> {
        let mut query = QueryBuilder::new(
            "SELECT id, scan_id, finding_id, uid, description, metadata, performed_at FROM tests WHERE scan_id = ",
        );
        query.push_bind(scan.0);
        let column = match of {
            Some((ResourceType::Finding, _)) => {
                query.push(" AND finding_id IS NOT NULL");
                "finding_id"
            }
            Some(_) => {
                query.push(" AND finding_id IS NULL");
                "scan_id"
            }
            None => "id",
        };
        if let Some((_, Some(id))) = of {
            query.push(" AND ").push(column).push(" = ").push_bind(id);
        }
        query
            .push(" ORDER BY id")
            .build()
            .try_map(test_of)
            .fetch_all(self.read())
            .await
    }
}

/// Writes a test and its findings: one row per finding, or one row without. Returns the risks of
/// the findings that are new in this scan.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    scan: ScanId,
    test: &TestDone,
    now: Timestamp,
) -> StoreResult<Vec<Risk>> {
    let mut new = Vec::new();
    let mut resources = Vec::new();
    for finding in &test.findings {
        let (id, is_new) = findings::write(connection, scan, finding).await?;
        resources.push(Some(id.0));
        new.extend(is_new.then_some(finding.risk));
    }
    if resources.is_empty() {
        resources.push(None);
    }
    for (at, finding) in resources.into_iter().enumerate() {
        sqlx::query(
            "INSERT INTO tests (scan_id, finding_id, uid, description, metadata, performed_at, counted)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(scan.0)
        .bind(finding)
        .bind(&test.uid)
        .bind(without_nul(&test.description))
        .bind(test.metadata.to_string())
        .bind(millis(now))
        .bind(at == 0)
        .execute(&mut *connection)
        .await?;
    }
    Ok(new)
}
