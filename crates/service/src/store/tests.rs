//! Tests of scans in the store, with the findings that they reported.

use jiff::Timestamp;

use super::sql::{SqlRow, sql};
use super::{
    Store, StoreResult, WriteTransaction, findings, json, millis, stamp, text, without_nul,
};
use crate::engine::TestDone;
use scandeck_wire::contract::{ResourceType, Risk, ScanId, Test, TestId};

fn test_of(row: &SqlRow) -> StoreResult<Test> {
    let finding: Option<i64> = row.get("finding_id")?;
    Ok(Test {
        id: TestId(row.get("id")?),
        uid: text(row, "uid")?,
        description: text(row, "description")?,
        resource_type: if finding.is_some() {
            ResourceType::Finding
        } else {
            ResourceType::Scan
        },
        resource_id: finding.map_or_else(|| row.get("scan_id"), Ok)?,
        metadata: json(row.get("metadata")?),
        performed_at: Some(stamp(row.get("performed_at")?)),
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
        let tests = sql(
            "SELECT id, scan_id, finding_id, uid, description, metadata, performed_at FROM tests WHERE scan_id = ",
        );
        let tests = tests.push_bind(scan.0);
        let (tests, column) = match of {
            Some((ResourceType::Finding, _)) => {
                (tests.push(" AND finding_id IS NOT NULL"), "finding_id =")
            }
            Some(_) => (tests.push(" AND finding_id IS NULL"), "scan_id ="),
            None => (tests, "id ="),
        };
        tests
            .push_condition(column, of.and_then(|(_, id)| id))
            .push(" ORDER BY id")
            .all_as(self.read(), test_of)
            .await
    }
}

/// Writes a test and its findings: one row per finding, or one row without. Returns the risks of
/// the findings that are new in this scan.
pub(super) async fn write(
    change: &mut WriteTransaction,
    scan: ScanId,
    test: &TestDone,
    now: Timestamp,
) -> StoreResult<Vec<Risk>> {
    let mut new = Vec::new();
    let mut resources = Vec::new();
    for finding in &test.findings {
        let (id, is_new) = findings::write(change, scan, finding).await?;
        resources.push(Some(id.0));
        new.extend(is_new.then_some(finding.risk));
    }
    if resources.is_empty() {
        resources.push(None);
    }
    for (at, finding) in resources.into_iter().enumerate() {
        sql(
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
        .execute(&mut *change)
        .await?;
    }
    Ok(new)
}
