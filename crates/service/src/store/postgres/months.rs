//! The tables of captures: one for each month.
//!
//! ```text
//!   start, and each hour ─► tables of this month and the next one
//!   a month to drop ─► one node, by a lock of its own ─► its captures are counted, in chunks
//!                        └─► no other write runs ─► counters of loggers ─► DROP TABLE    (a moment)
//! ```
//!
//! To add or drop a table locks `captures`, and whoever reads or records waits behind the lock. So
//! the wait for it is short, and a table that is in use, such as by a backup, is left for the next
//! attempt. All reads of many rows come before.
//!
//! Nodes of earlier versions use the function `keep_months` of the database, which adds the same
//! tables.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::{LOCK_LIMIT, TransactionKind, WRITE_LOCK};
use crate::store::capture_months::CaptureMonth;
use crate::store::captures::CAPTURE_BYTES;
use crate::store::sql::{Executor, SqlValue, sql};
use crate::store::{DatabaseError, Store, StoreResult, WriteTransaction};

/// `pg_try_advisory_xact_lock` of the node that drops a month; an arbitrary number.
const MONTHS_LOCK: i64 = 0x7363_616e_6d6f_6e74;

/// Captures that a statement counts.
const CHUNK: i64 = 50_000;

/// The longest wait for a table while no other write runs. A server interrupts its own vacuum after
/// a second.
const TABLE_WAIT: Duration = Duration::from_millis(1500);

/// The longest statement, and the longest pause, while no other write runs: others give up later.
const LOCKED_LIMIT: Duration = LOCK_LIMIT.saturating_sub(Duration::from_secs(1));

impl Store {
    /// Adds the tables for the captures of the month of a time, and of the next one. SQLite has one
    /// table.
    pub async fn add_months(&self, at: Timestamp) -> StoreResult<()> {
        if self.is_file() {
            return Ok(());
        }
        let month = CaptureMonth::of(at);
        self.add_month(month).await?;
        self.add_month(month.following()).await
    }

    async fn add_month(&self, month: CaptureMonth) -> StoreResult<()> {
        if has_table(self.read(), month).await? {
            return Ok(());
        }
        let mut change = self.begin(TransactionKind::Months).await?;
        lock_writes(&mut change).await?;
        let create = sql(format!(
            "CREATE TABLE IF NOT EXISTS {} PARTITION OF captures FOR VALUES FROM ({}) TO ({})",
            month.table(),
            month.begins_at(),
            month.following().begins_at()
        ));
        let created = create.execute(&mut change).await;
        match created {
            Ok(_) => change.commit().await,
            // `captures_other` has captures of this month already.
            Err(error) if is_check_violation(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The months before this one that have a table, the oldest first; none on SQLite.
    pub(in crate::store) async fn months_before(
        &self,
        end: CaptureMonth,
    ) -> StoreResult<Vec<CaptureMonth>> {
        if self.is_file() {
            return Ok(Vec::new());
        }
        let tables: Vec<String> = sql(
            "SELECT CAST(relname AS TEXT) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
             WHERE inhparent = CAST('captures' AS regclass) ORDER BY relname",
        )
        .all(self.read())
        .await?;
        let months = tables
            .iter()
            .filter_map(|table| CaptureMonth::of_table(table));
        Ok(months.filter(|month| *month < end).collect())
    }

    /// Drops the table of a month with its captures; returns their number, `None` when another node
    /// drops a month.
    pub(in crate::store) async fn drop_month(
        &self,
        month: CaptureMonth,
    ) -> StoreResult<Option<i64>> {
        let Some(mut dropping) = MonthDrop::begin(self, month).await? else {
            return Ok(None);
        };
        dropping.count().await?;
        dropping.finish().await.map(Some)
    }

    /// Drops the tables of the months before that of a time which have no captures.
    pub async fn drop_empty_months(&self, now: Timestamp) -> StoreResult<()> {
        for month in self.months_before(CaptureMonth::of(now)).await? {
            if let Some(dropping) = MonthDrop::begin(self, month).await? {
                dropping.finish_if_empty().await?;
            }
        }
        Ok(())
    }
}

/// A transaction that drops the table of a month; it is rolled back when dropped before its end.
struct MonthDrop {
    change: WriteTransaction,
    month: CaptureMonth,
    counts: BTreeMap<i64, CaptureCount>,
    /// The last capture that was counted.
    last: i64,
}

/// The captures of a logger in a month.
#[derive(Default)]
struct CaptureCount {
    requests: i64,
    bytes: i64,
}

impl MonthDrop {
    /// `None` when another node drops a month, or has just dropped this one.
    async fn begin(store: &Store, month: CaptureMonth) -> StoreResult<Option<Self>> {
        let mut change = store.begin(TransactionKind::Months).await?;
        let is_alone: bool = sql("SELECT pg_try_advisory_xact_lock($1)")
            .bind(MONTHS_LOCK)
            .one(&mut change)
            .await?;
        if !is_alone || !has_table((&mut change).into(), month).await? {
            change.commit().await?;
            return Ok(None);
        }
        Ok(Some(Self {
            change,
            month,
            counts: BTreeMap::new(),
            last: 0,
        }))
    }

    /// By the index: after many deletions the table is long, although it has no rows.
    async fn is_empty(&mut self) -> StoreResult<bool> {
        let table = self.month.table();
        let first: Option<i64> = sql(format!("SELECT id FROM {table} ORDER BY id LIMIT 1"))
            .optional(&mut self.change)
            .await?;
        Ok(first.is_none())
    }

    /// Counts the captures that were not counted yet. Captures are recorded meanwhile.
    async fn count(&mut self) -> StoreResult<()> {
        while self.count_chunk().await? == CHUNK {}
        Ok(())
    }

    /// Counts the next captures; returns their number.
    async fn count_chunk(&mut self) -> StoreResult<i64> {
        let table = self.month.table();
        let counted: Vec<(i64, i64, i64, i64)> = sql(format!(
            "SELECT logger_id, count(*), CAST(sum(size) AS BIGINT), max(id)
             FROM (SELECT id, logger_id, {CAPTURE_BYTES} AS size FROM {table}
                WHERE id > $1 ORDER BY id LIMIT $2) AS chunk
             GROUP BY logger_id"
        ))
        .bind(self.last)
        .bind(CHUNK)
        .all(&mut self.change)
        .await?;
        let mut rows = 0;
        for (logger, requests, bytes, last) in counted {
            let count = self.counts.entry(logger).or_default();
            count.requests += requests;
            count.bytes += bytes;
            self.last = self.last.max(last);
            rows += requests;
        }
        Ok(rows)
    }

    /// Subtracts the captures from the counters of their loggers, and drops the table. Returns the
    /// number of the captures.
    async fn finish(mut self) -> StoreResult<i64> {
        lock_writes(&mut self.change).await?;
        // A node whose clock was wrong may have recorded some meanwhile.
        self.count().await?;
        self.subtract().await?;
        let captures = self.counts.values().map(|count| count.requests).sum();
        self.drop_table().await?;
        Ok(captures)
    }

    /// Drops the table if it has no captures.
    async fn finish_if_empty(mut self) -> StoreResult<()> {
        if !self.is_empty().await? {
            return self.change.commit().await;
        }
        lock_writes(&mut self.change).await?;
        // Again: one may have been recorded meanwhile.
        match self.is_empty().await? {
            true => self.drop_table().await,
            false => self.change.commit().await,
        }
    }

    /// A logger that was cleared since its captures were counted has none left in the month, and
    /// counters without them. One that is being cleared is counted again at the end; until then,
    /// and in one whose deletion is interrupted, some may be subtracted twice.
    async fn subtract(&mut self) -> StoreResult<()> {
        let counts = || self.counts.values();
        let loggers: Vec<i64> = self.counts.keys().copied().collect();
        let requests: Vec<i64> = counts().map(|count| count.requests).collect();
        let bytes: Vec<i64> = counts().map(|count| count.bytes).collect();
        let table = self.month.table();
        sql(format!(
            "UPDATE loggers SET num_requests = greatest(num_requests - requests, 0),
                body_bytes = greatest(body_bytes - bytes, 0)
             FROM unnest($1, $2, $3) AS dropped (logger, requests, bytes)
             WHERE loggers.id = logger
                AND (SELECT min(id) FROM {table} WHERE logger_id = loggers.id) IS NOT NULL"
        ))
        .bind(SqlValue::Ids(loggers))
        .bind(SqlValue::Ids(requests))
        .bind(SqlValue::Ids(bytes))
        .execute(&mut self.change)
        .await
        .map(drop)
    }

    async fn drop_table(mut self) -> StoreResult<()> {
        sql(format!("DROP TABLE {}", self.month.table()))
            .execute(&mut self.change)
            .await?;
        self.change.commit().await
    }
}

/// Waits for the other writes of all nodes. They wait until the end of the transaction, so it is
/// short from here on.
async fn lock_writes(change: &mut WriteTransaction) -> StoreResult<()> {
    sql("SELECT pg_advisory_xact_lock($1)")
        .bind(WRITE_LOCK)
        .execute(&mut *change)
        .await?;
    sql(
        "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
            set_config('idle_in_transaction_session_timeout', $2, true)",
    )
    .bind(TABLE_WAIT.as_millis().to_string())
    .bind(LOCKED_LIMIT.as_millis().to_string())
    .execute(change)
    .await
    .map(drop)
}

async fn has_table(on: Executor<'_>, month: CaptureMonth) -> StoreResult<bool> {
    sql("SELECT to_regclass($1) IS NOT NULL")
        .bind(month.table())
        .one(on)
        .await
}

fn is_check_violation(error: &DatabaseError) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_check_violation())
}

#[cfg(test)]
mod tests {
    use super::super::upgrade_tests::OtherDatabase;
    use super::super::{Unavailability, unavailability};
    use super::*;
    use crate::store::testing::{add_logger, assert_captures, open, record_at, two_nodes};

    const MAY: &str = "2026-05-15T00:00:00Z";
    const NOW: &str = "2026-11-30T12:00:00Z";

    fn month(at: &str) -> CaptureMonth {
        CaptureMonth::of(at.parse().unwrap())
    }

    /// Adds the tables of the months of these times.
    async fn add(store: &Store, times: &[&str]) {
        for at in times {
            store.add_months(at.parse().unwrap()).await.unwrap();
        }
    }

    async fn tables(store: &Store) -> Vec<String> {
        let all = store.months_before(month("2100-01-01T00:00:00Z"));
        all.await.unwrap().iter().map(|one| one.table()).collect()
    }

    #[tokio::test]
    async fn months_without_captures_are_dropped_and_the_others_remain() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if store.is_file() {
            return;
        }
        let logger = add_logger(&store, "a").await;
        add(&store, &[MAY, NOW]).await;
        record_at(&store, logger, &[MAY]).await;
        let at: Timestamp = NOW.parse().unwrap();
        store.drop_empty_months(at).await.unwrap();
        let left = tables(&store).await;
        assert!(left.contains(&month(MAY).table()), "{left:?}");
        assert!(left.contains(&month(NOW).table()), "{left:?}");
        assert!(!left.contains(&month(MAY).following().table()), "{left:?}");
        assert_captures(&store, logger, &[1]).await;

        assert!(store.clear_logger(logger).await.unwrap());
        store.drop_empty_months(at).await.unwrap();
        assert!(!tables(&store).await.contains(&month(MAY).table()));
        record_at(&store, logger, &[NOW]).await;
        assert_captures(&store, logger, &[2]).await;
    }

    #[tokio::test]
    async fn captures_cleared_after_they_were_counted_are_not_subtracted_again() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        if one.is_file() {
            return;
        }
        let kept = add_logger(&one, "kept").await;
        let cleared = add_logger(&one, "cleared").await;
        add(&one, &[MAY, NOW]).await;
        for logger in [kept, cleared] {
            record_at(&one, logger, &[MAY, MAY]).await;
        }
        let begun = MonthDrop::begin(&one, month(MAY)).await.unwrap();
        let mut dropping = begun.expect("no other node drops it");
        dropping.count().await.unwrap();
        let refused = MonthDrop::begin(&other, month(MAY)).await.unwrap();
        assert!(refused.is_none(), "one node drops months at a time");
        assert!(other.clear_logger(cleared).await.unwrap());
        record_at(&other, cleared, &[NOW]).await;
        record_at(&other, kept, &[MAY, NOW]).await;
        assert_eq!(dropping.finish().await.unwrap(), 5);
        assert_captures(&one, kept, &[7]).await;
        assert_captures(&one, cleared, &[5]).await;
        let again = MonthDrop::begin(&other, month(MAY)).await.unwrap();
        assert!(again.is_none(), "it is dropped");
    }

    #[tokio::test]
    async fn month_that_a_backup_reads_is_dropped_by_a_later_attempt() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if store.is_file() {
            return;
        }
        let logger = add_logger(&store, "a").await;
        add(&store, &[MAY, NOW]).await;
        record_at(&store, logger, &[MAY]).await;
        let mut backup = store.snapshot().await.unwrap();
        let read: i64 = sql("SELECT count(*) FROM captures")
            .one(&mut backup)
            .await
            .unwrap();
        assert_eq!(read, 1);
        let (failed, ()) = tokio::join!(
            store.delete_captures_before(month(NOW)),
            record_at(&store, logger, &[NOW])
        );
        let error = failed.unwrap_err();
        assert_eq!(unavailability(&error), Some(Unavailability::Busy));
        assert_captures(&store, logger, &[1, 2]).await;
        drop(backup);
        assert!(store.delete_captures_before(month(NOW)).await.unwrap());
        assert_captures(&store, logger, &[2]).await;
    }

    #[tokio::test]
    async fn service_starts_while_a_backup_prevents_new_tables() {
        let Some(database) = OtherDatabase::empty() else {
            return;
        };
        let first = database.open("first").await.unwrap().store;
        for table in tables(&first).await {
            database.psql(&format!("DROP TABLE {table}"));
        }
        let mut backup = first.snapshot().await.unwrap();
        let read: i64 = sql("SELECT count(*) FROM captures")
            .one(&mut backup)
            .await
            .unwrap();
        assert_eq!(read, 0);
        let opened = database.open("second").await.unwrap();
        let [note] = &opened.notes[..] else {
            panic!("{:?}", opened.notes)
        };
        assert!(note.contains("the service tries again each hour"), "{note}");
        drop(backup);
        let now = Timestamp::now();
        opened.store.add_months(now).await.unwrap();
        let this = CaptureMonth::of(now);
        let expected = [this.table(), this.following().table()];
        assert_eq!(tables(&first).await, expected);
        first.close().await;
        opened.store.close().await;
    }
}
