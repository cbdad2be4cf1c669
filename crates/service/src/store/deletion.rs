//! Deletion of many rows in batches, so that captures and other writes are recorded between them.
//!
//! ```text
//!   request ─► decision (one transaction): active? ─► 409, nothing is deleted
//!                                          ended ───► no new scans ─► batches ─► the row itself
//! ```

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::AssertSqlSafe;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{DatabaseError, Durability, Store, StoreResult};
use scandeck_wire::contract::TargetId;

/// Rows of the first transaction.
const FIRST_ROWS: i64 = 8;
/// Most rows of a transaction.
const MOST_ROWS: i64 = 500;
/// How long a transaction should take, because captures wait for it.
const BATCH_TIME: Duration = Duration::from_micros(500);
/// The pause after a batch while others write: their syncs wait for the disk, which writes each
/// batch twice (log and file).
const PAUSE: Duration = Duration::from_millis(5);
/// How long the shutdown waits for deletions; then each deletion stops after its batch.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The deletions that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Deletions {
    tasks: TaskTracker,
    end: CancellationToken,
    targets: Arc<Mutex<HashSet<TargetId>>>,
}

/// A target that is being deleted: it receives no new scans.
pub(super) struct DeletingTarget(Deletions, TargetId);

impl Deletions {
    /// Marks a target; the caller is in a write transaction, so no scan is added at the same time.
    pub fn begin(&self, target: TargetId) -> DeletingTarget {
        self.targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(target);
        DeletingTarget(self.clone(), target)
    }

    /// Whether a target is being deleted.
    pub fn contains(&self, target: TargetId) -> bool {
        self.targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&target)
    }

    /// Waits until all deletions have ended.
    pub async fn end(&self) {
        self.tasks.close();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, self.tasks.wait())
            .await
            .is_err()
        {
            self.end.cancel();
            self.tasks.wait().await;
        }
    }
}

impl Drop for DeletingTarget {
    fn drop(&mut self) {
        self.0
            .targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.1);
    }
}

impl Store {
    /// Runs a deletion to its end, even if the client closes its connection meanwhile. The end of
    /// the service waits for it, and ends it after a batch if it takes long; a second request then
    /// deletes the rest.
    pub(super) async fn to_its_end<T, F>(&self, work: impl FnOnce(Store) -> F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        let work = self.deletions.tasks.spawn(work(self.clone()));
        work.await
            .unwrap_or_else(|error| Err(DatabaseError::Io(std::io::Error::other(error))))
    }

    /// Deletes findings, tests and raw lines of the ended scans that a query with one parameter
    /// selects.
    pub(super) async fn delete_results(
        &self,
        scans: &'static str,
        parameter: i64,
    ) -> StoreResult<()> {
        for table in ["findings", "tests", "raw_lines"] {
            let rows = format!(
                "SELECT id FROM {table} WHERE scan_id IN ({scans})
                 AND scan_id NOT IN (SELECT scan_id FROM jobs)"
            );
            self.delete_in_batches(
                &format!("DELETE FROM {table} WHERE id IN ({rows} LIMIT ?)"),
                &[parameter],
            )
            .await?;
        }
        Ok(())
    }

    /// Deletes the captures of the loggers that a query with one parameter selects.
    pub(super) async fn delete_captures(
        &self,
        loggers: &'static str,
        parameter: i64,
    ) -> StoreResult<()> {
        let rows = format!("SELECT id FROM captures WHERE logger_id IN ({loggers})");
        self.delete_in_batches(
            &format!("DELETE FROM captures WHERE id IN ({rows} LIMIT ?)"),
            &[parameter],
        )
        .await
    }

    /// Deletes the captures of a logger up to an id.
    pub(super) async fn delete_captures_until(&self, logger: i64, last: i64) -> StoreResult<()> {
        let rows = "SELECT id FROM captures WHERE logger_id = ? AND id <= ?";
        self.delete_in_batches(
            &format!("DELETE FROM captures WHERE id IN ({rows} LIMIT ?)"),
            &[logger, last],
        )
        .await
    }

    /// Deletes the parts of reports that a query selects.
    pub(super) async fn delete_parts(
        &self,
        rows: &'static str,
        parameters: &[i64],
    ) -> StoreResult<()> {
        let delete = format!("DELETE FROM report_parts WHERE rowid IN ({rows} LIMIT ?)");
        self.delete_in_batches(&delete, parameters).await
    }

    /// Runs a statement, whose last parameter is the number of rows, until it deletes no row. The
    /// next synced write of the caller syncs these deletions too.
    async fn delete_in_batches(&self, sql: &str, parameters: &[i64]) -> StoreResult<()> {
        let mut rows = FIRST_ROWS;
        let mut seen = self.commits();
        loop {
            // All parts of the statement are constants of this module and its callers.
            let statement = sqlx::query(AssertSqlSafe(sql.to_owned()));
            let statement = parameters
                .iter()
                .fold(statement, |statement, parameter| statement.bind(*parameter));
            let mut change = self.change_with(Durability::WithNext).await?;
            let others_write = self.commits() != seen;
            // Without the wait for other writes.
            let start = Instant::now();
            let deleted = statement
                .bind(rows)
                .execute(&mut *change)
                .await?
                .rows_affected();
            let took = start.elapsed();
            if deleted > 0 {
                change.commit().await?;
            }
            if i64::try_from(deleted).unwrap_or(i64::MAX) < rows {
                return Ok(());
            }
            if self.deletions.end.is_cancelled() {
                return Err(DatabaseError::PoolClosed);
            }
            rows = next_rows(rows, took);
            seen = self.commits();
            if others_write {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The rows of the next transaction, from the time of the last one: at most twice as many.
fn next_rows(rows: i64, took: Duration) -> i64 {
    let fitting = rows as f64 * BATCH_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
    (fitting as i64).min(rows * 2).clamp(1, MOST_ROWS)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::scans::{ScanTarget, ScanToAdd};
    use super::super::targets::{AddedTarget, Deletion};
    use super::*;
    use scandeck_wire::contract::{RedirectLevel, ScanId};

    /// A target with an ended scan of 2,000 raw lines and a running scan of 10.
    async fn store_with_scans(file: &std::path::Path) -> Store {
        let store = Store::open(file).await.unwrap().store;
        for sql in [
            "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'hostname')",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes) VALUES (1, 1, 1, 70, 'finished', 0, '{}', 'none', 0, 0, 1),
                (2, 1, 1, 70, 'running', 0, '{}', 'none', 0, 0, 1)",
            "INSERT INTO jobs (scan_id, params) VALUES (2, '{}')",
            "INSERT INTO raw_lines (scan_id, line) SELECT 1 + (value > 2000), 'x'
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2010)
                SELECT value FROM n)",
        ] {
            store.execute(sqlx::query(sql)).await.unwrap();
        }
        store
    }

    async fn raw_lines(store: &Store) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM raw_lines")
            .fetch_one(store.read())
            .await
            .unwrap()
    }

    #[test]
    fn rows_of_a_batch_follow_its_time() {
        assert_eq!(next_rows(8, Duration::from_micros(100)), 16);
        assert_eq!(next_rows(100, Duration::from_millis(5)), 10);
        assert_eq!(next_rows(400, Duration::ZERO), MOST_ROWS);
        assert_eq!(
            next_rows(1, Duration::from_secs(9)),
            1,
            "a capture with a large body"
        );
    }

    #[tokio::test]
    async fn results_are_deleted_in_batches() {
        let temp = tempfile::tempdir().unwrap();
        let store = store_with_scans(&temp.path().join("scandeck.db")).await;
        let before = store.commits();
        store
            .delete_results("SELECT id FROM scans WHERE target_id = ?", 1)
            .await
            .unwrap();
        let sync: i64 = sqlx::query_scalar("PRAGMA synchronous")
            .fetch_one(&mut *store.change().await.unwrap())
            .await
            .unwrap();
        assert_eq!(sync, 2, "the next write is synced (FULL)");
        assert!(
            store.commits() - before > 4,
            "at most {MOST_ROWS} rows, and {FIRST_ROWS} in the first batch"
        );
        assert_eq!(
            raw_lines(&store).await,
            10,
            "an active scan keeps its results"
        );
    }

    #[tokio::test]
    async fn refused_deletion_of_target_deletes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let store = store_with_scans(&temp.path().join("scandeck.db")).await;
        assert_eq!(
            store.delete_target(TargetId(1)).await.unwrap(),
            Deletion::Active
        );
        assert_eq!(raw_lines(&store).await, 2010);
        assert_eq!(
            store.delete_target(TargetId(9)).await.unwrap(),
            Deletion::NotFound
        );
        assert_eq!(
            store.delete_scan(ScanId(2)).await.unwrap(),
            Deletion::Active
        );
        assert_eq!(store.delete_scan(ScanId(1)).await.unwrap(), Deletion::Done);
    }

    #[tokio::test]
    async fn target_that_is_being_deleted_receives_no_scan() {
        let temp = tempfile::tempdir().unwrap();
        let store = store_with_scans(&temp.path().join("scandeck.db")).await;
        let add = |target| {
            let scan = ScanToAdd {
                tool: 70,
                params: serde_json::json!({}),
                shown_params: serde_json::json!({}),
                redirect_level: RedirectLevel::None,
                scan_original_url: false,
                vpn_scan: false,
                max_minutes: 1,
                callback: None,
            };
            let store = store.clone();
            async move {
                store
                    .add_scan(target, &scan, Timestamp::now())
                    .await
                    .unwrap()
            }
        };
        let deleting = store.deletions.begin(TargetId(1));
        assert_eq!(
            add(ScanTarget::Existing(TargetId(1))).await,
            Err(AddedTarget::Existing(TargetId(1)))
        );
        drop(deleting);
        assert!(add(ScanTarget::Existing(TargetId(1))).await.is_ok());
    }

    #[tokio::test]
    async fn close_waits_for_deletion_of_disconnected_client() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let store = store_with_scans(&file).await;
        {
            let deletion = std::pin::pin!(store.delete_scan(ScanId(1)));
            assert!(futures::poll!(deletion).is_pending());
        }
        store.close().await;
        let store = Store::open(&file).await.unwrap().store;
        assert_eq!(raw_lines(&store).await, 10);
        assert!(
            store
                .scan(ScanId(1), Timestamp::now())
                .await
                .unwrap()
                .is_none()
        );
    }
}
