//! Tests of scans in the store, and the findings they led to.

use jiff::Timestamp;
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};

use super::{Store, StoreResult, findings, json, millis, stamp};
use crate::contract::{ResourceType, Risk, ScanId, Test};
use crate::service::engine::TestDone;

#[derive(FromRow)]
struct TestRow {
    id: i64,
    scan_id: i64,
    finding_id: Option<i64>,
    uid: String,
    description: String,
    metadata: String,
    performed_at: i64,
}

impl From<TestRow> for Test {
    fn from(row: TestRow) -> Self {
        Self {
            id: row.id.into(),
            uid: row.uid.into(),
            description: row.description.into(),
            resource_type: if row.finding_id.is_some() { ResourceType::Finding } else { ResourceType::Scan },
            resource_id: row.finding_id.unwrap_or(row.scan_id),
            metadata: json(&row.metadata),
            performed_at: Some(stamp(row.performed_at)),
        }
    }
}

impl Store {
    /// The tests of a scan in the order they ended; with a resource, those that belong to it (api-v2.md §4).
    pub async fn tests(&self, scan: ScanId, of: Option<(ResourceType, Option<i64>)>) -> StoreResult<Vec<Test>> {
        let mut query = QueryBuilder::<Sqlite>::new(
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
        query.push(" ORDER BY id");
        let rows: Vec<TestRow> = query.build_query_as().fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(Test::from).collect())
    }
}

/// Writes a test with its findings: a row a finding, or one row when there is none. Gives the risks of those that
/// are new to the scan.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    scan: ScanId,
    test: &TestDone,
    now: Timestamp,
) -> StoreResult<Vec<Risk>> {
    let mut new = Vec::new();
    let mut resources = Vec::new();
    for finding in &test.findings {
        let (id, fresh) = findings::write(connection, scan, finding).await?;
        resources.push(Some(id.0));
        new.extend(fresh.then_some(finding.risk));
    }
    if resources.is_empty() {
        resources.push(None);
    }
    for finding in resources {
        sqlx::query(
            "INSERT INTO tests (scan_id, finding_id, uid, description, metadata, performed_at) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(scan.0)
        .bind(finding)
        .bind(&test.uid)
        .bind(&test.description)
        .bind(test.metadata.to_string())
        .bind(millis(now))
        .execute(&mut *connection)
        .await?;
    }
    Ok(new)
}
