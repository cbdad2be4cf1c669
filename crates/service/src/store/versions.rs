//! The versions of lists: an unchanged list is answered with 304 without reading it.
//!
//! ```text
//!   write ─► trigger of the table ─► new version of (workspace, list)
//!   GET ───► version of the list in its workspace, or in all of them ─► ETag
//! ```
//!
//! The versions are in the database, so that a restart and a second process agree on them. Triggers
//! set them (`0007_versions.sql`), so that no write can forget one.

use super::sql::sql;
use super::{Store, StoreResult};
use scandeck_wire::contract::WorkspaceId;

/// A list of the API with versions of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListNoun {
    Workspaces,
    Targets,
    /// Scans with their tests.
    Scans,
    Findings,
    /// Loggers with their captures.
    Loggers,
    Reports,
    Wordlists,
}

impl ListNoun {
    fn as_str(self) -> &'static str {
        match self {
            Self::Workspaces => "workspaces",
            Self::Targets => "targets",
            Self::Scans => "scans",
            Self::Findings => "findings",
            Self::Loggers => "loggers",
            Self::Reports => "reports",
            Self::Wordlists => "wordlists",
        }
    }
}

impl Store {
    /// Changes whenever the list of a workspace changes, or the lists of all workspaces and the
    /// current workspace; compare for equality only.
    pub async fn list_version(
        &self,
        list: ListNoun,
        workspace: Option<WorkspaceId>,
    ) -> StoreResult<i64> {
        let version = match workspace {
            Some(workspace) => sql(
                "SELECT CAST(coalesce(sum(version), 0) AS BIGINT) FROM versions WHERE workspace_id = $1 AND list = $2",
            )
            .bind(workspace.0),
            None => sql(
                "SELECT CAST(coalesce(sum(version), 0) AS BIGINT) FROM versions WHERE list IN ('current', $1)",
            ),
        };
        version.bind(list.as_str()).one(self.read()).await
    }

    /// Whether a scan of a workspace, or of any, is running: its duration changes every second.
    pub async fn is_scanning(&self, workspace: Option<WorkspaceId>) -> StoreResult<bool> {
        sql(
            "SELECT EXISTS (SELECT 1 FROM jobs JOIN scans ON scans.id = scan_id
                WHERE status = 'running' AND ($1 IS NULL OR workspace_id = $1))",
        )
        .bind(workspace.map(|id| id.0))
        .one(self.read())
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;

    use super::super::jobs::ScanUpdate;
    use super::super::testing::{claim_scan, finding, open, queue_scan};
    use super::*;
    use crate::engine::TestDone;
    use ListNoun::{Findings, Loggers, Reports, Scans, Targets, Wordlists, Workspaces};

    const LISTS: [ListNoun; 7] = [
        Workspaces, Targets, Scans, Findings, Loggers, Reports, Wordlists,
    ];

    /// The lists of a workspace, or those of all workspaces, whose version a statement changes.
    async fn changed(
        store: &Store,
        workspace: Option<i64>,
        statement: &'static str,
    ) -> BTreeSet<String> {
        let versions = async || {
            let mut versions = Vec::new();
            for list in LISTS {
                let id = workspace.map(WorkspaceId);
                versions.push(store.list_version(list, id).await.unwrap());
            }
            versions
        };
        let before = versions().await;
        let changed = store.execute(sql(statement)).await.unwrap();
        assert!(changed > 0, "{statement}");
        let after = versions().await;
        let lists = LISTS.iter().zip(before.iter().zip(&after));
        lists
            .filter(|(_, (old, new))| old != new)
            .map(|(list, _)| list.as_str().to_owned())
            .collect()
    }

    #[tokio::test]
    async fn each_write_changes_the_versions_of_its_lists_in_its_workspace_only() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let other = "INSERT INTO workspaces (id, name, name_key) VALUES (2, 'b', 'b')";
        assert_eq!(changed(&store, Some(1), other).await, BTreeSet::new());
        const WRITES: &[(&str, &[ListNoun])] = &[
            ("UPDATE workspaces SET name = 'c' WHERE id = 1", &[Workspaces]),
            (
                "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'url')",
                &[Workspaces, Targets],
            ),
            ("UPDATE targets SET description = 'd'", &[Targets]),
            (
                "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                    scan_original_url, vpn_scan, max_minutes)
                 VALUES (1, 1, 1, 70, 'running', 0, '{}', 'same_domain', false, false, 5)",
                &[Workspaces, Scans],
            ),
            ("UPDATE scans SET finished = 1", &[Scans]),
            (
                "INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body)
                 VALUES (1, 1, 1, 'v', 'tcp', 1, '', 1, '{}')",
                &[],
            ),
            ("UPDATE scans SET risk1 = risk1 + 1", &[Scans, Findings]),
            ("UPDATE findings SET verified = true", &[Findings]),
            ("DELETE FROM findings", &[Findings]),
            (
                "INSERT INTO loggers (id, workspace_id, label, token, created_at) VALUES (1, 1, 'a', 'b', 0)",
                &[Loggers],
            ),
            ("UPDATE loggers SET num_requests = 1", &[Loggers]),
            (
                "INSERT INTO reports (format, status, created_at, expires_at, workspace_id)
                 VALUES ('pdf', 'waiting', 0, 1, 1)",
                &[Reports],
            ),
            ("UPDATE reports SET status = 'ready'", &[Reports]),
            ("DELETE FROM reports", &[Reports]),
            ("DELETE FROM scans", &[Workspaces, Scans]),
            ("DELETE FROM targets", &[Workspaces, Targets]),
            (
                "INSERT INTO captures (logger_id, received_at, ip_address, remote_port, method, path, query, http_version,
                    headers, body) VALUES (1, 0, '', 1, 'GET', '/', '', '', '', '')",
                &[],
            ),
            ("DELETE FROM captures", &[Loggers]),
            ("DELETE FROM loggers", &[Loggers]),
        ];
        for (statement, lists) in WRITES {
            let expected = lists.iter().map(|list| list.as_str().to_owned()).collect();
            assert_eq!(
                changed(&store, Some(1), statement).await,
                expected,
                "{statement}"
            );
        }
        let foreign = "INSERT INTO targets (workspace_id, name, type) VALUES (2, 'a', 'url')";
        assert_eq!(changed(&store, Some(1), foreign).await, BTreeSet::new());
        let deleted = "DELETE FROM workspaces WHERE id = 1";
        let all = LISTS[..6].iter().map(|list| list.as_str().to_owned());
        assert_eq!(changed(&store, Some(1), deleted).await, all.collect());
    }

    #[tokio::test]
    async fn new_findings_of_a_scan_change_the_version_of_findings() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        queue_scan(&store, "a").await;
        let attempt = claim_scan(&store, now).await.unwrap().attempt;
        let version = async || store.list_version(Findings, None).await.unwrap();
        let before = version().await;
        let mut update = ScanUpdate::default();
        assert!(store.record(&attempt, &update, now).await.unwrap());
        assert_eq!(version().await, before);
        update.tests.push(TestDone {
            uid: "a".to_owned(),
            description: String::new(),
            metadata: serde_json::Value::Null,
            weight: 1,
            findings: vec![finding("a", "/"), finding("a", "/b")],
        });
        assert!(store.record(&attempt, &update, now).await.unwrap());
        let after = version().await;
        assert_ne!(after, before);
        assert!(store.record(&attempt, &update, now).await.unwrap());
        assert_eq!(version().await, after, "no finding is new");
    }

    #[tokio::test]
    async fn versions_of_all_workspaces_follow_each_of_them_and_the_current_one() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let targets = "INSERT INTO targets (workspace_id, name, type) VALUES (1, 'a', 'url')";
        assert!(changed(&store, None, targets).await.contains("targets"));
        let report = "INSERT INTO reports (format, status, created_at, expires_at) VALUES ('pdf', 'waiting', 0, 1)";
        assert_eq!(
            changed(&store, None, report).await,
            BTreeSet::from(["reports".to_owned()])
        );
        let wordlist = "INSERT INTO wordlists (name, description, num_words, predefined, contents)
            VALUES ('a', '', 1, false, 'a')";
        assert_eq!(
            changed(&store, None, wordlist).await,
            BTreeSet::from(["wordlists".to_owned()])
        );
        let current = "UPDATE settings SET value = '1' WHERE name = 'current_workspace'";
        assert_eq!(changed(&store, None, current).await.len(), LISTS.len());
    }

    #[tokio::test]
    async fn versions_remain_when_the_store_is_opened_again() {
        let temp = tempfile::tempdir().unwrap();
        let mut versions = Vec::new();
        for _ in 0..2 {
            let store = open(temp.path()).await;
            versions.push(store.list_version(Scans, None).await.unwrap());
            store.close().await;
        }
        assert_eq!(versions[0], versions[1]);
        assert_ne!(versions[0], 0);
    }
}
