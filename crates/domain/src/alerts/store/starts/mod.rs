//! The schedules that `scandeck watch` starts: when each started last, and the scans that wait
//! until their target is free.
//!
//! ```text
//!   lease: one process at a time ─► known: done ─► due ─► start: done is moved, scans are queued, in one transaction
//!   queued ─► target free? ─► take ─► scan started
//!                                └─ not reached: put back
//! ```
//!
//! The tables are additions to the file of sent alerts, which an earlier program ignores.

mod queue;

pub use queue::WaitingScan;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};
use sqlx::{Connection, Row};

use super::SentAlerts;
use scandeck_wire::contract::{NewScan, Stamp};
use scandeck_wire::recurrence::{Recurrence, StartRule};
use scandeck_wire::sqlite::StoreError;

/// Seconds for which a process that was killed keeps others from starting schedules.
const LEASE: i64 = 300;

const TABLES: [&str; 3] = [
    "CREATE TABLE IF NOT EXISTS schedules (name TEXT PRIMARY KEY, rule TEXT NOT NULL, \
     first_start TEXT NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS queued_scans (id INTEGER PRIMARY KEY, schedule TEXT NOT NULL, \
     target INTEGER NOT NULL, scan TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS schedule_lease (holder INTEGER NOT NULL, until INTEGER NOT NULL)",
];

/// The open file, while this process may start schedules.
#[derive(Debug)]
pub struct ScheduleStarts {
    file: SentAlerts,
    /// A random number, which names this process in the lease.
    holder: i64,
}

/// A schedule with its last start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSchedule {
    pub recurrence: Recurrence,
    /// No start up to here is due any more.
    pub done: Timestamp,
}

impl ScheduleStarts {
    /// Opens or makes the file in the directory of a service; `None` while another process starts
    /// schedules.
    ///
    /// # Errors
    /// When it cannot be made or read, or a newer program made it.
    pub async fn open(directory: &Path, now: Timestamp) -> Result<Option<Self>, StoreError> {
        let file = SentAlerts::open(directory, Stamp(now)).await?;
        let failed = StoreError::of(&file.path);
        let holder = random_number();
        let mut this = Self { file, holder };
        if this.take_lease(now).await.map_err(failed)? {
            return Ok(Some(this));
        }
        this.file.close().await;
        Ok(None)
    }

    async fn take_lease(&mut self, now: Timestamp) -> sqlx::Result<bool> {
        for table in TABLES {
            sqlx::query(table)
                .execute(&mut self.file.connection)
                .await?;
        }
        let (holder, until) = (self.holder, now.as_second() + LEASE);
        let mut change = self.file.connection.begin_with("BEGIN IMMEDIATE").await?;
        // A clock that was set back must not keep the lease for longer.
        let other = sqlx::query(
            "SELECT 1 FROM schedule_lease WHERE holder <> ? AND until > ? AND until <= ?",
        )
        .bind(holder)
        .bind(now.as_second())
        .bind(until)
        .fetch_optional(&mut *change)
        .await?;
        if other.is_some() {
            return Ok(false);
        }
        sqlx::query("DELETE FROM schedule_lease")
            .execute(&mut *change)
            .await?;
        sqlx::query("INSERT INTO schedule_lease (holder, until) VALUES (?, ?)")
            .bind(holder)
            .bind(until)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(true)
    }

    /// The schedule of this name. A new one, and one whose rule has changed, is counted from now.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub async fn known(
        &mut self,
        name: &str,
        rule: StartRule,
        now: &Zoned,
    ) -> Result<KnownSchedule, StoreError> {
        let failed = StoreError::of(&self.file.path);
        self.read_or_add(name, rule, now).await.map_err(failed)
    }

    async fn read_or_add(
        &mut self,
        name: &str,
        rule: StartRule,
        now: &Zoned,
    ) -> sqlx::Result<KnownSchedule> {
        let stored =
            sqlx::query("SELECT first_start, done FROM schedules WHERE name = ? AND rule = ?")
                .bind(name)
                .bind(rule.to_string())
                .fetch_optional(&mut self.file.connection)
                .await?;
        if let Some(row) = stored {
            let first = row.try_get::<String, _>(0)?.parse::<DateTime>();
            let done = Timestamp::from_millisecond(row.try_get(1)?);
            if let (Ok(first), Ok(done)) = (first, done) {
                let recurrence = rule.with_first(first);
                return Ok(KnownSchedule { recurrence, done });
            }
        }
        let (recurrence, done) = (rule.counted_from(now), now.timestamp());
        sqlx::query(
            "INSERT OR REPLACE INTO schedules (name, rule, first_start, done) VALUES (?, ?, ?, ?)",
        )
        .bind(name)
        .bind(rule.to_string())
        .bind(recurrence.first.to_string())
        .bind(done.as_millisecond())
        .execute(&mut self.file.connection)
        .await?;
        Ok(KnownSchedule { recurrence, done })
    }

    /// Moves a schedule to a start and queues its scans; returns their number, which is 0 when
    /// another process moved it. A target that waits for scans of an earlier start is left out.
    ///
    /// # Errors
    /// When the file cannot be written; then nothing is started.
    pub async fn start(
        &mut self,
        name: &str,
        known: &KnownSchedule,
        done: Timestamp,
        scans: &[NewScan],
    ) -> Result<usize, StoreError> {
        let failed = StoreError::of(&self.file.path);
        let moved = self.move_and_queue(name, known, done, scans).await;
        moved.map_err(failed)
    }

    async fn move_and_queue(
        &mut self,
        name: &str,
        known: &KnownSchedule,
        done: Timestamp,
        scans: &[NewScan],
    ) -> sqlx::Result<usize> {
        let mut change = self.file.connection.begin_with("BEGIN IMMEDIATE").await?;
        let moved = sqlx::query("UPDATE schedules SET done = ? WHERE name = ? AND done = ?")
            .bind(done.as_millisecond())
            .bind(name)
            .bind(known.done.as_millisecond())
            .execute(&mut *change)
            .await?;
        if moved.rows_affected() == 0 {
            return Ok(0);
        }
        let rows = sqlx::query("SELECT DISTINCT target FROM queued_scans WHERE schedule = ?")
            .bind(name)
            .fetch_all(&mut *change)
            .await?;
        let targets = rows.iter().map(|row| row.try_get::<i64, _>(0));
        let waiting = targets.collect::<sqlx::Result<BTreeSet<i64>>>()?;
        let mut queued = 0;
        for scan in scans {
            let Some(target) = scan.target_id.filter(|id| !waiting.contains(&id.0)) else {
                continue;
            };
            sqlx::query("INSERT INTO queued_scans (schedule, target, scan) VALUES (?, ?, ?)")
                .bind(name)
                .bind(target.0)
                .bind(serde_json::to_string(scan).unwrap_or_default())
                .execute(&mut *change)
                .await?;
            queued += 1;
        }
        change.commit().await?;
        Ok(queued)
    }

    /// Gives the lease to the next process, and closes the file.
    pub async fn close(mut self) {
        // Without this, the lease ends by itself.
        let _ = sqlx::query("DELETE FROM schedule_lease WHERE holder = ?")
            .bind(self.holder)
            .execute(&mut self.file.connection)
            .await;
        self.file.close().await;
    }
}

fn random_number() -> i64 {
    let hash = RandomState::new().build_hasher().finish();
    i64::from_ne_bytes(hash.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;
    use scandeck_wire::contract::TargetId;
    use scandeck_wire::recurrence::DueStart;

    fn at(text: &str) -> Zoned {
        format!("{text}[UTC]").parse().unwrap()
    }

    fn rule(every: &str) -> StartRule {
        StartRule {
            every: every.parse().unwrap(),
            at: None,
            first: None,
            window: SignedDuration::from_hours(6),
        }
    }

    fn scan(target: i64, tool_id: i64) -> NewScan {
        NewScan {
            tool_id,
            target_id: Some(TargetId(target)),
            ..NewScan::default()
        }
    }

    async fn open(directory: &Path, now: &Zoned) -> ScheduleStarts {
        let opened = ScheduleStarts::open(directory, now.timestamp()).await;
        opened.unwrap().unwrap()
    }

    #[tokio::test]
    async fn start_is_remembered_and_a_changed_rule_is_counted_again() {
        let temp = tempfile::tempdir().unwrap();
        let now = at("2026-11-30T12:00:00");
        let mut starts = open(temp.path(), &now).await;
        let known = starts.known("web", rule("1h"), &now).await.unwrap();
        assert_eq!(known.done, now.timestamp());
        let later = at("2026-11-30T15:30:00");
        let again = starts.known("web", rule("1h"), &later).await.unwrap();
        assert_eq!(again, known);
        let due = |known: &KnownSchedule| {
            let zone = later.time_zone();
            known.recurrence.due(known.done, later.timestamp(), zone)
        };
        let (start, times) = due(&known);
        assert!(
            matches!(start, DueStart::Start { missed: 2, .. }),
            "{start:?}"
        );
        for (target, queued) in [(1, 1), (2, 0)] {
            let scans = [scan(target, 170)];
            let started = starts.start("web", &known, times.done, &scans).await;
            assert_eq!(started.unwrap(), queued, "it is moved once");
        }
        starts.close().await;

        let mut reopened = open(temp.path(), &later).await;
        let moved = reopened.known("web", rule("1h"), &later).await.unwrap();
        assert_eq!(due(&moved).0, DueStart::Wait, "started once");
        let changed = reopened.known("web", rule("2h"), &later).await.unwrap();
        assert_eq!(changed.done, later.timestamp());
        reopened.close().await;
    }

    #[tokio::test]
    async fn queue_keeps_its_order_and_leaves_out_targets_that_wait() {
        let temp = tempfile::tempdir().unwrap();
        let now = at("2026-11-30T12:00:00");
        let mut starts = open(temp.path(), &now).await;
        let known = starts.known("web", rule("1h"), &now).await.unwrap();
        let done = now.timestamp();
        let scans = [scan(1, 170), scan(1, 450), scan(2, 170)];
        let started = starts.start("web", &known, done, &scans).await;
        assert_eq!(started.unwrap(), 3);
        let queued = starts.queued().await.unwrap();
        assert_eq!(
            (
                queued[0].schedule.as_str(),
                queued[0].target,
                &queued[0].scan
            ),
            ("web", TargetId(1), &scans[0])
        );
        assert!(starts.take(&queued[0], done).await.unwrap());
        assert!(!starts.take(&queued[0], done).await.unwrap(), "taken twice");
        starts.put_back(&queued[0]).await.unwrap();
        assert_eq!(starts.queued().await.unwrap(), queued);
        starts.take(&queued[2], done).await.unwrap();
        let again = starts.start("web", &known, done, &scans).await;
        assert_eq!(again.unwrap(), 1);
        let left = starts.queued().await.unwrap();
        assert_eq!((left.len(), left[2].target), (3, TargetId(2)));
        starts.close().await;
    }

    #[tokio::test]
    async fn lease_of_another_process_ends() {
        let temp = tempfile::tempdir().unwrap();
        let now = at("2026-11-30T12:00:00").timestamp();
        let mut starts = ScheduleStarts::open(temp.path(), now)
            .await
            .unwrap()
            .unwrap();
        let second = ScheduleStarts::open(temp.path(), now).await.unwrap();
        assert!(second.is_none(), "each open file is a holder of its own");
        sqlx::query("UPDATE schedule_lease SET holder = -1")
            .execute(&mut starts.file.connection)
            .await
            .unwrap();
        starts.file.close().await;
        let held = ScheduleStarts::open(temp.path(), now).await.unwrap();
        assert!(held.is_none());
        let later = now + SignedDuration::from_secs(LEASE);
        let taken = ScheduleStarts::open(temp.path(), later).await.unwrap();
        taken.unwrap().close().await;
    }
}
