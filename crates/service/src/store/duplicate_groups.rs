//! The latest finding of each duplicate group, found target by target while a list is sent.
//!
//! ```text
//!   ids of a batch ─► their targets ─► not seen yet: the latest finding of each group of the target
//!         └──────────► only the latest ones ◄────────────────────────┘
//!                            └─► rows
//! ```
//!
//! All findings of a group have one target. A list of a workspace therefore begins before all of its
//! findings are read, and no statement reads more than those of the targets of a batch.

use std::collections::{HashMap, HashSet};

use tokio::sync::Mutex;

use super::bulk::BulkRead;
use super::findings::FindingFilter;
use super::sql::{Statement, per_engine, sql};
use super::{Store, StoreResult};

/// The latest findings of targets up to an id.
const LATEST: &str = "SELECT max(id) FROM findings WHERE target_id IN list($1) AND id <= $2 AND ";

/// Without those of some scans. An index has the ids and not the scans, and SQLite reads it alone.
const NOT_OF_SCANS: &str = "id NOT IN (SELECT id FROM findings WHERE scan_id IN list($3))";

/// The same on PostgreSQL, which reads the rows anyway. The ids of a large import would not fit
/// into the memory of a statement, and each row would then be compared with all of them.
const NOT_OF_SCANS_ON_SERVER: &str = "scan_id NOT IN list($3)";

/// In the order of an index, so that nothing is sorted.
const GROUPS: &str = " GROUP BY target_id, vuln_id, protocol, port, place";

/// The duplicate groups of a list of findings.
#[derive(Debug)]
pub struct DuplicateGroups {
    store: Store,
    scan: Option<i64>,
    /// The scans of each target from imports that had not ended when the list began: it has none of
    /// their findings.
    importing: HashMap<i64, Vec<i64>>,
    /// The last finding of the list.
    last: i64,
    found: Mutex<FoundGroups>,
}

#[derive(Debug, Default)]
struct FoundGroups {
    targets: HashSet<i64>,
    /// The latest findings that the list has not reached.
    latest: HashSet<i64>,
}

impl Store {
    /// The ids of all findings of a workspace, target or scan, in their order, and their groups,
    /// which know the latest ones.
    pub async fn duplicate_groups(
        &self,
        filter: &FindingFilter,
    ) -> StoreResult<(Vec<i64>, DuplicateGroups)> {
        let bulk = self.bulk().await;
        // An import that ends in between would hide the older findings of its groups.
        let mut snapshot = bulk.snapshot().await?;
        let scans: Vec<(i64, i64)> =
            sql("SELECT target_id, id FROM scans WHERE status = 'importing'")
                .all(&mut snapshot)
                .await?;
        let mut importing = HashMap::<i64, Vec<i64>>::new();
        for (target, scan) in scans {
            importing.entry(target).or_default().push(scan);
        }
        let ids: Vec<i64> = filter.select_ids().all(&mut snapshot).await?;
        let groups = DuplicateGroups {
            store: self.clone(),
            scan: filter.scan.map(|id| id.0),
            importing,
            last: ids.last().copied().unwrap_or_default(),
            found: Mutex::default(),
        };
        Ok((ids, groups))
    }
}

impl DuplicateGroups {
    /// The latest findings among these of the list, as JSON for clients. Each may be requested once.
    pub async fn latest(&self, ids: &[i64]) -> StoreResult<Vec<String>> {
        let latest = self.latest_ids(ids).await?;
        self.store.findings(&latest).await
    }

    async fn latest_ids(&self, ids: &[i64]) -> StoreResult<Vec<i64>> {
        let bulk = self.store.bulk().await;
        let mut found = self.found.lock().await;
        let mut targets: Vec<i64> =
            sql("SELECT DISTINCT target_id FROM findings WHERE id IN list($1)")
                .bind_ids(ids)
                .all(bulk.read())
                .await?;
        targets.retain(|target| !found.targets.contains(target));
        if !targets.is_empty() {
            found.latest.extend(self.latest_of(&targets, &bulk).await?);
            found.targets.extend(targets);
        }
        let latest = ids.iter().copied().filter(|id| found.latest.remove(id));
        Ok(latest.collect())
    }

    /// The latest finding of each group of these targets.
    async fn latest_of(&self, targets: &[i64], bulk: &BulkRead<'_>) -> StoreResult<Vec<i64>> {
        // Of these targets only: each statement reads all findings of the scans that it names.
        let scans = targets
            .iter()
            .filter_map(|target| self.importing.get(target));
        let importing: Vec<i64> = scans.flatten().copied().collect();
        latest_without()
            .bind_ids(targets)
            .bind(self.last)
            .bind_ids(&importing)
            .push_condition("scan_id =", self.scan)
            .push(GROUPS)
            .all(bulk.read())
            .await
    }
}

/// Reads the latest findings of targets, without those of some scans.
fn latest_without() -> Statement {
    per_engine(
        format!("{LATEST}{NOT_OF_SCANS}"),
        format!("{LATEST}{NOT_OF_SCANS_ON_SERVER}"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::sql::SqlValue;
    use super::super::testing::{open, open_sqlite};
    use super::*;
    use scandeck_wire::contract::{ScanId, TargetId, WorkspaceId};

    const SCANS: i64 = 6;

    /// Two workspaces: scans 1 to 6 are of the targets 1, 2, 3, 1, 2 and 3.
    fn target_of(scan: i64) -> i64 {
        (scan - 1) % 3 + 1
    }

    fn workspace_of(target: i64) -> i64 {
        if target < 3 { 1 } else { 2 }
    }

    /// A finding of a scan: kind, port and place.
    type SampleRow = (i64, &'static str, i64, &'static str);

    fn row() -> impl Strategy<Value = SampleRow> {
        let kind = prop_oneof![Just("a"), Just("b")];
        let place = prop_oneof![Just(""), Just("GET /ä")];
        (1..=SCANS, kind, 80..82_i64, place)
    }

    async fn fill(store: &Store, importing: &[i64], rows: &[SampleRow]) {
        let mut change = store.change().await.unwrap();
        sql("INSERT INTO workspaces (id, name, name_key) VALUES (2, 'b', 'b')")
            .execute(&mut change)
            .await
            .unwrap();
        let targets = (1..=3).map(|target: i64| -> [SqlValue; 4] {
            [
                target.into(),
                workspace_of(target).into(),
                target.to_string().into(),
                "url".into(),
            ]
        });
        sql("INSERT INTO targets (id, workspace_id, name, type) ")
            .push_rows(targets)
            .execute(&mut change)
            .await
            .unwrap();
        for scan in 1..=SCANS {
            let status = match importing.contains(&scan) {
                true => "importing",
                false => "finished",
            };
            sql(
                "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                    scan_original_url, vpn_scan, max_minutes)
                 VALUES ($1, $2, $3, 70, $4, 0, '{}', 'same_domain', false, false, 5)",
            )
            .bind(scan)
            .bind(workspace_of(target_of(scan)))
            .bind(target_of(scan))
            .bind(status)
            .execute(&mut change)
            .await
            .unwrap();
        }
        if !rows.is_empty() {
            let values = rows.iter().map(|row| -> [SqlValue; 9] {
                let (scan, kind, port, place) = *row;
                [
                    scan.into(),
                    target_of(scan).into(),
                    workspace_of(target_of(scan)).into(),
                    kind.into(),
                    "tcp".into(),
                    port.into(),
                    place.into(),
                    1_i64.into(),
                    r#"{"name":"a"}"#.into(),
                ]
            });
            sql("INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body) ")
                .push_rows(values)
                // A scan has one finding of a group.
                .push(" ON CONFLICT DO NOTHING")
                .execute(&mut change)
                .await
                .unwrap();
        }
        change.commit().await.unwrap();
    }

    /// Compares the lists of several filters, read in batches of this size, with a fold over all rows.
    async fn check(importing: Vec<i64>, rows: Vec<SampleRow>, batch: usize) {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        fill(&store, &importing, &rows).await;
        let all: Vec<(i64, i64, String, i64, String)> =
            sql("SELECT id, scan_id, vuln_id, port, place FROM findings ORDER BY id")
                .all(store.read())
                .await
                .unwrap();
        let filters = [
            FindingFilter::default(),
            FindingFilter {
                workspace: Some(WorkspaceId(1)),
                ..FindingFilter::default()
            },
            FindingFilter {
                target: Some(TargetId(1)),
                ..FindingFilter::default()
            },
            FindingFilter {
                scan: Some(ScanId(1)),
                ..FindingFilter::default()
            },
        ];
        for filter in filters {
            let is_listed = |scan: i64| {
                let target = target_of(scan);
                !importing.contains(&scan)
                    && filter.scan.is_none_or(|id| id.0 == scan)
                    && filter.target.is_none_or(|id| id.0 == target)
                    && filter
                        .workspace
                        .is_none_or(|id| id.0 == workspace_of(target))
            };
            let newest: BTreeMap<_, i64> = all
                .iter()
                .filter(|(_, scan, ..)| is_listed(*scan))
                .map(|(id, scan, kind, port, place)| ((target_of(*scan), kind, port, place), *id))
                .collect();
            let mut expected: Vec<i64> = newest.into_values().collect();
            expected.sort_unstable();
            let (ids, groups) = store.duplicate_groups(&filter).await.unwrap();
            let mut latest = Vec::new();
            for batch_of_ids in ids.chunks(batch) {
                for json in groups.latest(batch_of_ids).await.unwrap() {
                    let finding: Value = serde_json::from_str(&json).unwrap();
                    latest.push(finding["id"].as_i64().unwrap());
                }
            }
            assert_eq!(latest, expected, "{filter:?}");
        }
        store.close().await;
    }

    proptest! {
        // Each case opens a database.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn list_has_the_latest_finding_of_each_group(
            importing in proptest::collection::vec(1..=SCANS, 0..3),
            rows in proptest::collection::vec(row(), 0..40),
            batch in 1..20_usize,
        ) {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(check(importing, rows, batch));
        }
    }

    #[tokio::test]
    async fn latest_findings_are_read_from_the_index_alone_and_not_sorted() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let plan: Vec<(i64, i64, i64, String)> =
            sql(format!("EXPLAIN QUERY PLAN {LATEST}{NOT_OF_SCANS}{GROUPS}"))
                .bind_ids(&[1])
                .bind(1_i64)
                .bind_ids(&[])
                .all(store.read())
                .await
                .unwrap();
        let steps: Vec<&str> = plan.iter().map(|step| step.3.as_str()).collect();
        let has = |text: &str| steps.iter().any(|step| step.contains(text));
        assert!(has("COVERING INDEX findings_by_group"), "{steps:?}");
        assert!(!has("TEMP B-TREE"), "{steps:?}");
    }

    #[tokio::test]
    async fn server_reads_the_findings_of_an_import_only_where_it_looks_for_the_latest() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if store.is_file() {
            return;
        }
        let explain = format!("EXPLAIN {LATEST}{NOT_OF_SCANS_ON_SERVER}{GROUPS}");
        let plan: Vec<String> = sql(explain)
            .bind_ids(&[1])
            .bind(1_i64)
            .bind_ids(&[4])
            .all(store.read())
            .await
            .unwrap();
        let reads = plan.iter().filter(|step| step.contains(" on findings "));
        assert_eq!(reads.count(), 1, "{plan:?}");
    }

    #[tokio::test]
    async fn findings_after_the_beginning_of_a_list_do_not_change_it() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let rows = [(1, "a", 80, ""), (4, "a", 80, ""), (2, "b", 80, "")];
        fill(&store, &[4], &rows).await;
        let (ids, groups) = store
            .duplicate_groups(&FindingFilter::default())
            .await
            .unwrap();
        for update in [
            "UPDATE scans SET status = 'finished' WHERE id = 4",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes)
             VALUES (7, 1, 1, 70, 'finished', 0, '{}', 'same_domain', false, false, 5)",
            "INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body)
             VALUES (7, 1, 1, 'a', 'tcp', 80, '', 1, '{}')",
        ] {
            store.execute(sql(update)).await.unwrap();
        }
        assert_eq!(groups.latest(&ids).await.unwrap().len(), 2);
    }
}
