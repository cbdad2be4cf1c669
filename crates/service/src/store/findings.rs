//! Findings in the store.
//!
//! A finding is written once and read often, 100 or 100,000 at a time. The fields that no query
//! uses are stored as one JSON object, and a list joins these objects as text without parsing them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::sql::{ReadRow, SqlRow, SqlValue, Statement, sql};
use super::{Store, StoreResult, WriteTransaction, stamp, without_nul};
use crate::engine::NewFinding;
use scandeck_report::Earlier;
use scandeck_wire::contract::{FindingId, Risk, ScanId, TargetId, WorkspaceId};

/// A finding; the columns are the first fields of the JSON that clients receive.
#[derive(Serialize)]
struct FindingRow {
    id: i64,
    status: String,
    verified: bool,
    target_id: i64,
    #[serde(rename = "task_id")]
    scan_id: i64,
    target_name: String,
    #[serde(skip)]
    body: String,
}

impl ReadRow for FindingRow {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            id: row.get("id")?,
            scan_id: row.get("scan_id")?,
            target_id: row.get("target_id")?,
            target_name: row.get("target_name")?,
            status: row.get("status")?,
            verified: row.get("verified")?,
            body: row.get("body")?,
        })
    }
}

impl FindingRow {
    /// The JSON that clients receive.
    fn into_json(self) -> Option<String> {
        let mut json = serde_json::to_string(&self).ok()?;
        // Both are objects with at least one field; a comma replaces the braces between them.
        json.pop();
        json.reserve(self.body.len());
        json.push(',');
        json.push_str(self.body.strip_prefix('{')?);
        Some(json)
    }
}

const SELECT: &str =
    "SELECT findings.id, findings.scan_id, findings.target_id, targets.name AS target_name,
    findings.status, findings.verified, findings.body
    FROM findings JOIN targets ON targets.id = findings.target_id WHERE ";

/// Findings of an import that has not ended are not listed.
const IS_SHOWN: &str = "findings.scan_id NOT IN (SELECT id FROM scans WHERE status = 'importing')";

/// Findings that are read at once.
pub const BATCH: usize = 200;

/// The filter of a finding list.
#[derive(Clone, Debug, Default)]
pub struct FindingFilter {
    pub workspace: Option<WorkspaceId>,
    pub target: Option<TargetId>,
    pub scan: Option<ScanId>,
    pub ids: Option<Vec<FindingId>>,
}

impl FindingFilter {
    fn push(&self, statement: Statement) -> Statement {
        let statement = statement
            .push(IS_SHOWN)
            .push_condition("findings.workspace_id =", self.workspace.map(|id| id.0))
            .push_condition("findings.target_id =", self.target.map(|id| id.0))
            .push_condition("findings.scan_id =", self.scan.map(|id| id.0));
        match &self.ids {
            Some(ids) => {
                let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
                let ids = statement
                    .push(" AND findings.id IN list(")
                    .push_bind(SqlValue::Ids(ids));
                ids.push(")")
            }
            None => statement,
        }
    }

    /// Reads the ids of the findings, in their order.
    pub(super) fn select_ids(&self) -> Statement {
        self.push(sql("SELECT findings.id FROM findings WHERE "))
            .push(" ORDER BY findings.id")
    }
}

impl Store {
    /// The ids of findings, in their order.
    pub async fn finding_ids(&self, filter: &FindingFilter) -> StoreResult<Vec<i64>> {
        let bulk = self.bulk().await;
        filter.select_ids().all(bulk.read()).await
    }

    /// Findings in the order of their ids, as JSON for clients. Deleted ones are missing.
    pub async fn findings(&self, ids: &[i64]) -> StoreResult<Vec<String>> {
        let bulk = self.bulk().await;
        let findings = sql(SELECT)
            .push(IS_SHOWN)
            .push(" AND findings.id IN list($1) ORDER BY findings.id");
        let rows: Vec<FindingRow> = findings.bind_ids(ids).all(bulk.read()).await?;
        Ok(rows.into_iter().filter_map(FindingRow::into_json).collect())
    }

    pub async fn finding(&self, id: FindingId) -> StoreResult<Option<Box<RawValue>>> {
        let found = self.findings(&[id.0]).await?.pop();
        Ok(found.and_then(|json| RawValue::from_string(json).ok()))
    }

    /// For each finding the older findings of its duplicate group, newest first.
    pub async fn histories(&self, ids: &[i64]) -> StoreResult<HashMap<FindingId, Vec<Earlier>>> {
        let mut histories = HashMap::<FindingId, Vec<Earlier>>::new();
        for batch in ids.chunks(BATCH) {
            let bulk = self.bulk().await;
            let rows: Vec<(i64, i64, i64, Option<i64>)> = sql(
                "SELECT this.id, older.id, older.risk, scans.started_at FROM findings AS this
                    JOIN findings AS older
                        ON older.workspace_id = this.workspace_id AND older.target_id = this.target_id
                        AND older.vuln_id = this.vuln_id AND older.protocol = this.protocol
                        AND older.port = this.port AND older.place = this.place AND older.id < this.id
                    JOIN scans ON scans.id = older.scan_id AND scans.status <> 'importing'
                 WHERE this.id IN list($1) ORDER BY this.id, older.id DESC",
            )
            .bind_ids(batch)
            .all(bulk.read())
            .await?;
            for (id, older, risk, started) in rows {
                let earlier = Earlier {
                    id: FindingId(older),
                    found_at: started.map(stamp),
                    risk: Risk::from(risk),
                };
                histories.entry(FindingId(id)).or_default().push(earlier);
            }
        }
        Ok(histories)
    }
}

/// Writes a finding unless the scan has one of the same duplicate group. The second value is true
/// for a new finding.
pub(super) async fn write(
    change: &mut WriteTransaction,
    scan: ScanId,
    finding: &NewFinding,
) -> StoreResult<(FindingId, bool)> {
    let place = without_nul(&finding.place);
    // Before the insertion, which would use up an id on PostgreSQL.
    let existing: Option<i64> = sql(
        "SELECT id FROM findings WHERE scan_id = $1 AND vuln_id = $2 AND protocol = $3 AND port = $4 AND place = $5",
    )
    .bind(scan.0)
    .bind(&finding.vuln_id)
    .bind(&finding.protocol)
    .bind(i64::from(finding.port))
    .bind(&*place)
    .optional(&mut *change)
    .await?;
    if let Some(id) = existing {
        return Ok((FindingId(id), false));
    }
    let new: i64 = sql(
        "INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body)
         SELECT id, target_id, workspace_id, $1, $2, $3, $4, $5, $6 FROM scans WHERE id = $7 RETURNING id",
    )
    .bind(&finding.vuln_id)
    .bind(&finding.protocol)
    .bind(i64::from(finding.port))
    .bind(&*place)
    .bind(finding.risk.level())
    .bind(body(finding).to_string())
    .bind(scan.0)
    .one(change)
    .await?;
    Ok((FindingId(new), true))
}

/// The fields of the contract that have no column.
fn body(finding: &NewFinding) -> Value {
    let mut body = serde_json::to_value(finding).unwrap_or_default();
    body["test_finished"] = true.into();
    body
}

#[cfg(test)]
mod tests {
    use super::super::testing::open_sqlite;
    use super::*;

    #[tokio::test]
    async fn ids_of_a_workspace_are_read_from_the_index_alone() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let filter = FindingFilter {
            workspace: Some(WorkspaceId(1)),
            ..FindingFilter::default()
        };
        let plan: Vec<(i64, i64, i64, String)> = filter
            .push(sql(
                "EXPLAIN QUERY PLAN SELECT findings.id FROM findings WHERE ",
            ))
            .push(" ORDER BY findings.id")
            .all(store.read())
            .await
            .unwrap();
        assert!(
            plan.iter()
                .any(|step| step.3.contains("COVERING INDEX findings_by_workspace")),
            "{plan:?}"
        );
    }
}
