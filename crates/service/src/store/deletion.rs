//! Deletion of many rows in batches, so that captures and other writes are recorded between them.
//!
//! ```text
//!   request ─► decision (one transaction): active? ─► 409, nothing is deleted
//!                                          ended ───► row in `deletions` ─► batches ─► the row itself
//! ```
//!
//! Beside the row in `deletions`, no process adds a scan to a target, or a target, scan or logger to
//! a workspace. An interrupted deletion ends with its process: the rest accepts additions again, and
//! a second request deletes it.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::captures::CAPTURE_BYTES;
use super::sql::{Statement, per_engine, sql};
use super::{DatabaseError, Durability, Store, StoreResult, WriteTransaction, nodes};
use scandeck_wire::contract::{TargetId, WorkspaceId};

/// Rows of the first transaction.
const FIRST_ROWS: i64 = 8;
/// Fewest rows of results, shared decisions and payloads in a transaction: they are small. On a
/// machine without free processors even one row takes longer than a batch should; so does each
/// search for rows behind hundreds of scans whose results are deleted already.
const FEWEST_SMALL: i64 = 32;
/// Scans that are deleted before the next ones: a batch searches for its rows in all of them, also
/// in those that have none left.
const SCANS_OF_BATCHES: usize = 50;
/// Most rows of a transaction.
const MOST_ROWS: i64 = 500;
/// How long a transaction of a file should take, because captures wait for it.
const FILE_TIME: Duration = Duration::from_micros(500);
/// The same on a server, where a statement that deletes one row takes longer than [`FILE_TIME`].
const SERVER_TIME: Duration = Duration::from_millis(20);
/// The pause after a batch while others write: their syncs wait for the disk, which writes each
/// batch twice (log and file).
const PAUSE: Duration = Duration::from_millis(5);
/// How long the shutdown waits for deletions; then each deletion stops after its batch.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The deletions of this process.
#[derive(Clone, Debug, Default)]
pub(super) struct DeletionTasks {
    tasks: TaskTracker,
    end: CancellationToken,
}

/// The row of a deletion that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeletionRow(i64);

/// What a deletion deletes last.
#[derive(Clone, Copy, Debug)]
pub(super) enum DeletedNoun {
    Target(TargetId),
    Workspace(WorkspaceId),
}

impl DeletionTasks {
    /// Stops each deletion after its next batch, as the end of the service does.
    #[cfg(test)]
    pub fn interrupt(&self) {
        self.end.cancel();
    }

    /// Whether each deletion stops now, because the service ends.
    pub fn is_ending(&self) -> bool {
        self.end.is_cancelled()
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

/// Whether a target or its workspace is being deleted.
pub(super) async fn is_deleting(
    change: &mut WriteTransaction,
    target: TargetId,
) -> StoreResult<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM deletions WHERE target_id = $1
            OR workspace_id = (SELECT workspace_id FROM targets WHERE id = $1))")
    .bind(target.0)
    .one(change)
    .await
}

impl Store {
    /// Commits the decision to delete: from then on nothing is added to what is deleted.
    pub(super) async fn begin_deletion(
        &self,
        mut decision: WriteTransaction,
        noun: DeletedNoun,
    ) -> StoreResult<DeletionRow> {
        if !nodes::renew(&mut decision, &self.node).await? {
            // The client tries again, and the next beat adds the row.
            return Err(DatabaseError::PoolTimedOut);
        }
        let (target, workspace) = match noun {
            DeletedNoun::Target(id) => (Some(id.0), None),
            DeletedNoun::Workspace(id) => (None, Some(id.0)),
        };
        let row = sql(
            "INSERT INTO deletions (target_id, workspace_id, owner) VALUES ($1, $2, $3) RETURNING id",
        )
        .bind(target)
        .bind(workspace)
        .bind(&self.node.id)
        .one(&mut decision)
        .await?;
        decision.commit().await?;
        Ok(DeletionRow(row))
    }

    /// Ends a deletion. The row remains after an error only: it is deleted with what it names.
    pub(super) async fn end_deletion(
        &self,
        row: DeletionRow,
        deleted: StoreResult<u64>,
    ) -> StoreResult<bool> {
        if deleted.is_err() {
            let delete = sql("DELETE FROM deletions WHERE id = $1").bind(row.0);
            self.execute(delete).await?;
        }
        Ok(deleted? > 0)
    }

    /// Runs a deletion to its end, even if the client closes its connection meanwhile. The end of
    /// the service waits for it, and ends it after a batch if it takes long; a second request then
    /// deletes the rest.
    pub(super) async fn to_its_end<T, F>(&self, work: impl FnOnce(Store) -> F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        let work = self.deletions.tasks.spawn(work(self.clone()));
        work.await.unwrap_or(Err(DatabaseError::WorkerCrashed))
    }

    /// Deletes the ended scans that a query with one parameter selects, some at a time: first their
    /// results, then the scans themselves. The next ones keep their results until then, so a client
    /// never sees many scans that seem to have found nothing, also not after an interruption.
    pub(super) async fn delete_scans(
        &self,
        scans: &'static str,
        parameter: i64,
    ) -> StoreResult<()> {
        let ended: Vec<i64> = sql(format!(
            "SELECT id FROM scans WHERE id IN ({scans})
                AND id NOT IN (SELECT scan_id FROM jobs) ORDER BY id"
        ))
        .bind(parameter)
        .all(self.read())
        .await?;
        for some in ended.chunks(SCANS_OF_BATCHES) {
            self.delete_results(some).await?;
            let numbers: Vec<String> = (1..=some.len()).map(|at| format!("${at}")).collect();
            let rows = format!("id IN ({})", numbers.join(", "));
            self.delete_in_batches("scans", &rows, some).await?;
        }
        Ok(())
    }

    /// Deletes the targets of a workspace that have no scans.
    pub(super) async fn delete_unscanned_targets(&self, workspace: WorkspaceId) -> StoreResult<()> {
        let rows = "workspace_id = $1
            AND id NOT IN (SELECT target_id FROM scans WHERE workspace_id = $1)";
        self.delete_in_batches("targets", rows, &[workspace.0])
            .await
            .map(drop)
    }

    /// Deletes findings, tests and raw lines of ended scans. Those that have none wait for no other
    /// write.
    pub(super) async fn delete_results(&self, scans: &[i64]) -> StoreResult<()> {
        for table in ["findings", "tests", "raw_lines"] {
            let [sqlite, postgres] = rows_of_scans(table);
            let any = per_engine(
                format!("SELECT scan_id {sqlite} LIMIT 1"),
                format!("SELECT scan_id {postgres} LIMIT 1"),
            );
            let first: Option<i64> = any.bind_ids(scans).optional(self.read()).await?;
            if first.is_some() {
                let delete = per_engine(
                    format!("DELETE FROM {table} WHERE rowid IN (SELECT rowid {sqlite} LIMIT $2)"),
                    format!(
                        "DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid {postgres} LIMIT $2))"
                    ),
                );
                self.run_in_batches(&[delete.bind_ids(scans)], fewest_rows(table))
                    .await?;
            }
        }
        Ok(())
    }

    /// Deletes the captures of the loggers that a query with one parameter selects. The loggers
    /// count those that an interruption leaves.
    pub(super) async fn delete_captures(
        &self,
        loggers: &'static str,
        parameter: i64,
    ) -> StoreResult<()> {
        let ids: Vec<i64> = sql(loggers).bind(parameter).all(self.read()).await?;
        for logger in ids {
            self.delete_captures_until(logger, i64::MAX).await?;
        }
        Ok(())
    }

    /// Deletes the captures of a logger up to an id. Each batch changes the counters of the logger
    /// too, so they count the rest after an interruption.
    pub(super) async fn delete_captures_until(&self, logger: i64, last: i64) -> StoreResult<()> {
        let rows = "logger_id = $1 AND id <= $2";
        if !self.has_rows("captures", rows, &[logger, last]).await? {
            return Ok(());
        }
        let batch = format!("FROM captures WHERE {rows} ORDER BY id LIMIT $3");
        let uncount = sql(format!(
            "UPDATE loggers SET num_requests = num_requests - requests, body_bytes = body_bytes - bytes
             FROM (SELECT count(*) AS requests, coalesce(sum(size), 0) AS bytes
                FROM (SELECT {CAPTURE_BYTES} AS size {batch}) AS batch) AS deleted
             WHERE loggers.id = $1"
        ));
        let delete = per_engine(
            format!("DELETE FROM captures WHERE id IN (SELECT id {batch})"),
            format!("DELETE FROM captures WHERE id = ANY(ARRAY(SELECT id {batch}))"),
        );
        let statements = [uncount, delete].map(|statement| statement.bind(logger).bind(last));
        self.run_in_batches(&statements, 1).await.map(drop)
    }

    /// Deletes the parts of reports that meet a condition.
    pub(super) async fn delete_parts(
        &self,
        rows: &'static str,
        parameters: &[i64],
    ) -> StoreResult<()> {
        self.delete_in_batches("report_parts", rows, parameters)
            .await
            .map(drop)
    }

    /// Deletes the parts of imported files that meet a condition.
    pub(super) async fn delete_import_parts(
        &self,
        rows: &'static str,
        parameters: &[i64],
    ) -> StoreResult<()> {
        self.delete_in_batches("import_parts", rows, parameters)
            .await
            .map(drop)
    }

    /// Deletes the events and payloads of ended epochs of a workspace.
    pub(super) async fn delete_purged(&self, workspace: WorkspaceId) -> StoreResult<()> {
        for (table, purged) in [
            ("shared_events", "purged"),
            ("shared_payloads", "purged_payload"),
        ] {
            let rows = format!(
                "workspace_id = $1
                 AND position <= (SELECT {purged} FROM event_logs WHERE workspace_id = $1)
                 ORDER BY position"
            );
            // On a server, those that another request is deleting count as deleted in a batch.
            while self.has_rows(table, &rows, &[workspace.0]).await? {
                self.delete_in_batches(table, &rows, &[workspace.0]).await?;
            }
        }
        Ok(())
    }

    async fn has_rows(
        &self,
        table: &str,
        condition: &str,
        parameters: &[i64],
    ) -> StoreResult<bool> {
        let any = sql(format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE {condition})"
        ));
        let each = parameters.iter();
        let bound = each.fold(any, |statement, parameter| statement.bind(*parameter));
        bound.one(self.read()).await
    }

    /// Deletes the rows of a table that meet a condition; returns their number. The next synced write
    /// of the caller syncs these deletions too. Without such rows it waits for no other write.
    pub(super) async fn delete_in_batches(
        &self,
        table: &str,
        condition: &str,
        parameters: &[i64],
    ) -> StoreResult<u64> {
        let bind = |unbound: Statement| {
            let each = parameters.iter();
            each.fold(unbound, |statement, parameter| statement.bind(*parameter))
        };
        if !self.has_rows(table, condition, parameters).await? {
            return Ok(0);
        }
        let limit = parameters.len() + 1;
        let sqlite = format!(
            "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE {condition} LIMIT ${limit})"
        );
        let postgres = format!(
            "DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT ${limit}))"
        );
        let delete = bind(per_engine(sqlite, postgres));
        self.run_in_batches(&[delete], fewest_rows(table)).await
    }

    /// Runs statements in a transaction for each batch, with its number of rows as their last
    /// parameter, at least `fewest`. The last statement deletes the rows; returns how many it deleted.
    pub(super) async fn run_in_batches(
        &self,
        statements: &[Statement],
        fewest: i64,
    ) -> StoreResult<u64> {
        let batch_time = if self.is_file() {
            FILE_TIME
        } else {
            SERVER_TIME
        };
        let (mut rows, mut all) = (FIRST_ROWS.max(fewest), 0);
        let mut seen = self.commits();
        loop {
            let mut change = self.change_with(Durability::WithNext).await?;
            let others_write = self.commits() != seen;
            // Without the wait for other writes.
            let start = Instant::now();
            let mut deleted = 0;
            for statement in statements {
                deleted = statement.clone().bind(rows).execute(&mut change).await?;
            }
            let took = start.elapsed();
            if deleted > 0 {
                change.commit().await?;
            }
            all += deleted;
            if i64::try_from(deleted).unwrap_or(i64::MAX) < rows {
                return Ok(all);
            }
            if self.deletions.is_ending() {
                return Err(DatabaseError::PoolClosed);
            }
            rows = next_rows(rows, took, batch_time, fewest);
            seen = self.commits();
            if others_write {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The rest of a statement, after its columns, that reads the results of the scans of a list: a
/// text for SQLite and one for PostgreSQL.
///
/// The order is that of an index. Without it, a server which expects that many rows of the table
/// meet the condition reads the table from its beginning, in each batch: past all deleted rows, and
/// past those of other scans, for longer than a statement may take. With `IN` a list of one scan
/// would be an equality, for which the server ignores the order.
fn rows_of_scans(table: &str) -> [String; 2] {
    [
        format!("FROM {table} WHERE scan_id IN list($1)"),
        format!("FROM {table} WHERE scan_id = ANY($1) ORDER BY scan_id"),
    ]
}

/// The fewest rows of a transaction that deletes rows of this table.
fn fewest_rows(table: &str) -> i64 {
    match table {
        "findings" | "tests" | "raw_lines" | "shared_events" | "shared_payloads" => FEWEST_SMALL,
        _ => 1,
    }
}

/// The rows of the next transaction, from the time of the last one: at most twice as many, and not
/// fewer than `fewest`.
fn next_rows(rows: i64, took: Duration, batch_time: Duration, fewest: i64) -> i64 {
    let fitting = rows as f64 * batch_time.as_secs_f64() / took.as_secs_f64().max(1e-6);
    (fitting as i64).min(rows * 2).clamp(fewest, MOST_ROWS)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::loggers::AddedLogger;
    use super::super::scans::ScanTarget;
    use super::super::targets::{AddedTarget, Deletion, TargetToAdd};
    use super::super::testing::{
        add_target, claim_scan, new_scan, open, open_sqlite, queue_scan, silence, two_nodes,
    };
    use super::*;
    use scandeck_wire::contract::{ScanId, TargetType};

    const SCANS_OF_TARGET: &str = "SELECT id FROM scans WHERE target_id = $1";

    /// A target with an ended scan of 2,000 raw lines and a running scan of 10.
    async fn add_scans(store: &Store) {
        for statement in [
            "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'hostname')",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes) VALUES (1, 1, 1, 70, 'finished', 0, '{}', 'none', false, false, 1),
                (2, 1, 1, 70, 'running', 0, '{}', 'none', false, false, 1)",
            "INSERT INTO jobs (scan_id, params) VALUES (2, '{}')",
            "INSERT INTO raw_lines (scan_id, line) SELECT CASE WHEN value > 2000 THEN 2 ELSE 1 END, 'x'
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2010)
                SELECT value FROM n) AS numbers",
        ] {
            store.execute(sql(statement)).await.unwrap();
        }
    }

    /// Ended scans with the ids from 1, each third of target 2 and the others of target 1, with a
    /// row in each of these tables.
    async fn add_ended_scans(store: &Store, scans: i64, tables: &[&str]) {
        let scan_rows = sql(
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes)
             SELECT value, 1, CASE WHEN value % 3 = 0 THEN 2 ELSE 1 END, 70, 'finished', 0, '{}', 'none', false, false, 1
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < $1)
                SELECT value FROM n) AS numbers",
        );
        let targets = sql("INSERT INTO targets (id, workspace_id, name, type)
             VALUES (1, 1, 'a', 'hostname'), (2, 1, 'b', 'hostname')");
        for statement in [targets, scan_rows.bind(scans)] {
            store.execute(statement).await.unwrap();
        }
        for table in tables {
            let (columns, values) = match *table {
                "findings" => (
                    "target_id, workspace_id, vuln_id, protocol, port, place, risk, body",
                    "target_id, workspace_id, 'a', 'tcp', 80, '', 1, '{}'",
                ),
                "tests" => (
                    "uid, description, metadata, performed_at",
                    "'a', '', '{}', 0",
                ),
                _ => ("line", "'x'"),
            };
            let insert =
                format!("INSERT INTO {table} (scan_id, {columns}) SELECT id, {values} FROM scans");
            store.execute(sql(insert)).await.unwrap();
        }
    }

    async fn raw_lines(store: &Store) -> i64 {
        sql("SELECT count(*) FROM raw_lines")
            .one(store.read())
            .await
            .unwrap()
    }

    #[test]
    fn rows_of_a_batch_follow_its_time() {
        let of_file = |rows, took| next_rows(rows, took, FILE_TIME, fewest_rows("captures"));
        assert_eq!(of_file(8, Duration::from_micros(100)), 16);
        assert_eq!(of_file(100, Duration::from_millis(5)), 10);
        assert_eq!(of_file(400, Duration::ZERO), MOST_ROWS);
        assert_eq!(
            of_file(1, Duration::from_secs(9)),
            1,
            "a capture with a large body"
        );
        assert_eq!(
            next_rows(8, Duration::from_millis(2), SERVER_TIME, 1),
            16,
            "a statement of a server takes milliseconds"
        );
        let starved = Duration::from_millis(300);
        assert_eq!(
            next_rows(64, starved, FILE_TIME, fewest_rows("shared_events")),
            FEWEST_SMALL,
            "a purge ends on a machine without free processors"
        );
        for table in ["findings", "tests", "raw_lines"] {
            let searched = Duration::from_millis(40);
            assert_eq!(
                next_rows(FEWEST_SMALL, searched, SERVER_TIME, fewest_rows(table)),
                FEWEST_SMALL,
                "a search behind deleted rows takes as long for one row"
            );
        }
    }

    #[tokio::test]
    async fn results_are_deleted_in_batches() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        add_scans(&store).await;
        let before = store.commits();
        store.delete_scans(SCANS_OF_TARGET, 1).await.unwrap();
        let sync: i64 = sql("PRAGMA synchronous")
            .one(&mut store.change().await.unwrap())
            .await
            .unwrap();
        assert_eq!(sync, 2, "the next write is synced (FULL)");
        assert!(
            store.commits() - before > 4,
            "at most {MOST_ROWS} rows, and {FEWEST_SMALL} in the first batch"
        );
        assert_eq!(
            raw_lines(&store).await,
            10,
            "an active scan keeps its results"
        );
    }

    #[tokio::test]
    async fn all_of_many_scans_are_deleted_and_no_result_of_another_one() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let tables = ["findings", "tests", "raw_lines"];
        // Of target 1 are more than twice as many as are deleted before the next ones.
        let scans = 3 * SCANS_OF_BATCHES as i64 + 3;
        add_ended_scans(&store, scans, &tables).await;
        let active = sql("INSERT INTO jobs (scan_id, params) VALUES (1, '{}')");
        store.execute(active).await.unwrap();
        store.delete_scans(SCANS_OF_TARGET, 1).await.unwrap();
        let expected: Vec<i64> = (1..=scans)
            .filter(|scan| *scan == 1 || scan % 3 == 0)
            .collect();
        let left = async |scan: &str, table: &str| {
            let ids = sql(format!("SELECT {scan} FROM {table} ORDER BY {scan}"));
            ids.all::<i64>(store.read()).await.unwrap()
        };
        assert_eq!(left("id", "scans").await, expected);
        for table in tables {
            assert_eq!(left("scan_id", table).await, expected, "{table}");
        }
    }

    #[tokio::test]
    async fn interrupted_deletion_leaves_the_results_of_the_next_scans() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let scans = 3 * SCANS_OF_BATCHES as i64;
        add_ended_scans(&store, scans, &["raw_lines"]).await;
        // The first scans of target 1 have no results, so their deletion gets as far as the scans.
        let first = sql("DELETE FROM raw_lines WHERE scan_id IN
             (SELECT id FROM scans WHERE target_id = 1 ORDER BY id LIMIT $1)");
        let first = first.bind(SCANS_OF_BATCHES as i64);
        store.execute(first).await.unwrap();
        let before = raw_lines(&store).await;
        store.deletions.interrupt();
        let interrupted = store.delete_scans(SCANS_OF_TARGET, 1).await;
        assert!(interrupted.is_err(), "after its first batch");
        assert_eq!(raw_lines(&store).await, before);
    }

    #[tokio::test]
    async fn server_searches_results_by_an_index_when_most_rows_are_deleted() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if store.is_file() {
            return;
        }
        add_scans(&store).await;
        let mut change = store.change().await.unwrap();
        let analyze = sql("ANALYZE raw_lines");
        analyze.execute(&mut change).await.unwrap();
        let [_, rows] = rows_of_scans("raw_lines");
        let explain = sql(format!("EXPLAIN SELECT ctid {rows} LIMIT 100"));
        let plan: Vec<String> = explain.bind_ids(&[1]).all(&mut change).await.unwrap();
        let by_index = |step: &String| step.contains("raw_lines_by_scan");
        assert!(plan.iter().any(by_index), "{plan:?}");
    }

    #[tokio::test]
    async fn refused_deletion_of_target_deletes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        add_scans(&store).await;
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
    async fn target_or_workspace_that_another_process_deletes_receives_no_scan() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        let target = add_target(&one, WorkspaceId(1), "a").await;
        let add = async || {
            let existing = ScanTarget::Existing(target);
            let added = one.add_scan(existing, &new_scan(), now).await.unwrap();
            added.map(|(_, target)| target)
        };
        for noun in [
            DeletedNoun::Target(target),
            DeletedNoun::Workspace(WorkspaceId(1)),
        ] {
            assert_eq!(add().await, Ok(target));
            let decision = other.change().await.unwrap();
            let row = other.begin_deletion(decision, noun).await.unwrap();
            assert_eq!(add().await, Err(AddedTarget::Existing(target)), "{noun:?}");
            one.beat(true, 0, now).await.unwrap();
            assert_eq!(add().await, Err(AddedTarget::Existing(target)), "{noun:?}");
            let failed = other.end_deletion(row, Err(DatabaseError::PoolClosed));
            assert!(failed.await.is_err());
        }
        assert_eq!(add().await, Ok(target));
    }

    #[tokio::test]
    async fn deletion_of_a_workspace_refuses_additions_until_its_process_ends() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        add_target(&one, WorkspaceId(1), "a").await;
        let decision = other.change().await.unwrap();
        let workspace = DeletedNoun::Workspace(WorkspaceId(1));
        other.begin_deletion(decision, workspace).await.unwrap();
        silence(&other, 10).await;
        other.beat(true, 0, now).await.unwrap();
        silence(&other, 10).await;
        let beat = one.beat(true, 0, now).await.unwrap();
        assert!(!beat.has_ended_nodes, "the deletion is under way");
        let named = TargetToAdd {
            workspace: WorkspaceId(1),
            name: "b",
            kind: TargetType::Hostname,
            description: "",
        };
        assert_eq!(
            one.add_target(&named, 9).await.unwrap(),
            AddedTarget::NoWorkspace
        );
        let logger = one.add_logger(WorkspaceId(1), "a", "token", now);
        assert_eq!(logger.await.unwrap(), AddedLogger::NoWorkspace);
        silence(&other, 10).await;
        assert!(one.beat(true, 0, now).await.unwrap().has_ended_nodes);
        queue_scan(&one, "b").await;
    }

    #[tokio::test]
    async fn deleted_workspace_leaves_no_claim_and_no_row() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        let id = store.add_workspace("b", "").await.unwrap().unwrap();
        let target = add_target(&store, id, "a").await;
        let new = new_scan();
        let scan = store.add_scan(ScanTarget::Existing(target), &new, now);
        scan.await.unwrap().unwrap();
        assert!(claim_scan(&store, now).await.is_some());
        assert!(store.delete_workspace(id).await.unwrap());
        assert_eq!(store.claimed_scans().await.unwrap(), []);
        assert!(!store.delete_workspace(id).await.unwrap());
        let rows: i64 = sql("SELECT count(*) FROM deletions")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(rows, 0);
    }

    #[tokio::test]
    async fn scans_and_targets_of_a_workspace_are_deleted_in_batches() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let id = store.add_workspace("b", "").await.unwrap().unwrap();
        let targets = sql(
            "INSERT INTO targets (workspace_id, name, type) SELECT $1, CAST(value AS TEXT), 'hostname'
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < $2)
                SELECT value FROM n) AS numbers",
        );
        let targets = targets.bind(id.0).bind(2 * MOST_ROWS + 1);
        store.execute(targets).await.unwrap();
        store
            .execute(sql(
                "INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                    scan_original_url, vpn_scan, max_minutes)
                 SELECT workspace_id, id, 70, 'finished', 0, '{}', 'none', false, false, 1 FROM targets",
            ))
            .await
            .unwrap();
        let before = store.commits();
        assert!(store.delete_workspace(id).await.unwrap());
        assert!(
            store.commits() - before > 2 * 3,
            "at most {MOST_ROWS} rows of each table in a batch"
        );
        let rows: i64 = sql("SELECT (SELECT count(*) FROM scans) + (SELECT count(*) FROM targets)")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(rows, 0);
    }

    #[tokio::test]
    async fn scans_of_a_target_are_deleted_in_batches() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let target = add_target(&store, WorkspaceId(1), "a").await;
        let scans = sql(
            "INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes)
             SELECT 1, $1, 70, 'finished', 0, '{}', 'none', false, false, 1
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < $2)
                SELECT value FROM n) AS numbers",
        );
        let scans = scans.bind(target.0).bind(2 * MOST_ROWS + 1);
        store.execute(scans).await.unwrap();
        let before = store.commits();
        let deleted = store.delete_target(target).await.unwrap();
        assert_eq!(deleted, Deletion::Done);
        assert!(
            store.commits() - before > 3,
            "at most {MOST_ROWS} scans in a batch"
        );
    }

    #[tokio::test]
    async fn close_waits_for_deletion_of_disconnected_client() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        add_scans(&store).await;
        // Few rows: their deletion ends within the limit of the shutdown on a busy machine too.
        let most = sql("DELETE FROM raw_lines WHERE scan_id = 1 AND id > 20");
        store.execute(most).await.unwrap();
        {
            let deletion = std::pin::pin!(store.delete_scan(ScanId(1)));
            assert!(futures::poll!(deletion).is_pending());
        }
        store.close().await;
        let store = open(temp.path()).await;
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
