//! The scan queue: one row per scan that has not ended. Workers claim and end rows.
//!
//! ```text
//!   queued ──claim──► attempt 1 ──────────────► ended (row and secrets deleted)
//!     ▲                  │ failed: panic, results refused, process ended
//!     └──────────────────┘          third attempt failed, or service interrupted twice ──► aborted
//! ```
//!
//! A scan that returns to the queue waits like a new one. Its results and the time of its start
//! remain until the next attempt begins: a scan that ends before has partial results.
//!
//! A claim ends with its process ([`super::nodes`]). An attempt counts unless its process lives and
//! was only suspended or cut off: then it claims the scan again, or returns to the nodes after
//! another one has taken the scan over. A clean stop of the service is no interruption either: it
//! returns its scans to the queue.
//!
//! A scan of a schedule waits while another scan of its target runs ([`super::schedules`]).
//!
//! Every write of a worker carries its [`Attempt`] and has no effect without its claim: a suspended
//! worker must not overwrite the results of the next attempt.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteJournalMode;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::sql::{Executor, ReadRow, SqlRow, per_engine, sql};
use super::{
    Durability, Store, StoreEngine, StoreResult, WriteTransaction, json, millis, nodes, without_nul,
};
use crate::engine::{ScanJob, SecretDigests, TestDone};
use crate::guards::secrets::ScanSecrets;
use scandeck_wire::contract::node::place_in_note;
use scandeck_wire::contract::{RedirectLevel, ScanId, ScanOutput, ScanStatus, Tool, WorkspaceId};
use scandeck_wire::sqlite::{is_database, private_options, schema_version};

/// Attempts per scan that count: those that ended by a fault of the scan, or with their process.
const TRIES: i64 = 3;

/// The end of a stopped scan that no worker runs.
pub(super) const STOPPED_BY_USER: &str = "stopped by the user";

/// The right of this process to write the results of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub scan: ScanId,
    /// No two attempts of a scan have the same.
    pub number: i64,
}

/// A claimed scan with the data that its run needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    pub attempt: Attempt,
    pub job: ScanJob,
    pub max_minutes: i64,
}

/// The result of polling the queue.
#[derive(Debug)]
pub enum QueuePoll {
    Claimed(Box<Claim>),
    /// A scan ended without another attempt: the last one was lost, or the scan was stopped.
    Aborted,
    Empty,
}

/// The results of a scan since the last write.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanUpdate {
    /// Numbers of one attempt grow: results that are sent twice are stored once. 0 for results that
    /// are not repeated.
    pub number: i64,
    pub planned: Option<u32>,
    pub tests: Vec<TestDone>,
    pub raw: Vec<String>,
    pub info: Vec<String>,
    pub step: Option<String>,
    pub output: Option<ScanOutput>,
}

/// The result of a request to stop a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    NotFound,
    /// The scan has ended; a waiting scan ends at once.
    Ended,
    /// The process of its worker reads the request within a second.
    Running,
}

/// A scan that this process has claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedScan {
    pub id: ScanId,
    pub is_stop_requested: bool,
}

impl Store {
    /// Claims the oldest scan without a worker and deletes partial results of an earlier attempt.
    ///
    /// `running` are the scans that run in this process. Others that it has claimed have no worker:
    /// their end could not be stored.
    pub async fn claim(&self, running: &[ScanId], now: Timestamp) -> StoreResult<QueuePoll> {
        // Without the lock of writes: most polls find nothing.
        if self.next_job(self.read(), running).await?.is_none() {
            return Ok(QueuePoll::Empty);
        }
        let mut change = self.change().await?;
        let Some(job) = self.next_job(&mut change, running).await? else {
            return Ok(QueuePoll::Empty);
        };
        let scan = job.scan;
        // The process lives, and the scan was no cause either: a failed attempt is released.
        let tries = job.tries + i64::from(!job.is_own);
        if job.is_stop_requested {
            end(
                &mut change,
                scan,
                &ScanStatus::Stopped,
                STOPPED_BY_USER,
                now,
            )
            .await?;
            change.commit().await?;
            return Ok(QueuePoll::Aborted);
        }
        if tries > TRIES {
            let message = format!("{TRIES} attempts failed; the log of the service shows why");
            end(&mut change, scan, &ScanStatus::Aborted, &message, now).await?;
            change.commit().await?;
            return Ok(QueuePoll::Aborted);
        }
        if !nodes::renew(&mut change, &self.node).await? {
            return Ok(QueuePoll::Empty);
        }
        let number: i64 = sql(
            "UPDATE jobs SET attempt = attempt + 1, tries = $3, batch = 0, owner = $2 WHERE scan_id = $1
             RETURNING attempt",
        )
        .bind(scan.0)
        .bind(&self.node.id)
        .bind(tries)
        .one(&mut change)
        .await?;
        let attempt = Attempt { scan, number };
        let cause = match (job.is_own, tries) {
            (true, _) => ", because its node was suspended or had no connection".to_owned(),
            (false, 1) => ", because the service was stopped".to_owned(),
            (false, number) => format!(" after an interruption, attempt {number}"),
        };
        begin(&mut change, scan, &cause, now).await?;
        change.commit().await?;
        Ok(QueuePoll::Claimed(Box::new(Claim {
            attempt,
            job: job.job,
            max_minutes: job.max_minutes,
        })))
    }

    /// Writes results; false when the claim was lost.
    pub async fn record(
        &self,
        attempt: &Attempt,
        update: &ScanUpdate,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let mut change = self.change_beside().await?;
        if !self.is_claimed(&mut change, attempt).await? {
            return Ok(false);
        }
        if update.number > 0 && !is_new(&mut change, attempt.scan, update.number).await? {
            return Ok(true);
        }
        write_update(&mut change, attempt.scan, update, now).await?;
        change.commit().await?;
        Ok(true)
    }

    /// Ends the scan unless the claim was lost.
    pub async fn finish(
        &self,
        attempt: &Attempt,
        status: &ScanStatus,
        message: &str,
        now: Timestamp,
    ) -> StoreResult<()> {
        let mut change = self.change().await?;
        if self.is_claimed(&mut change, attempt).await? {
            end(&mut change, attempt.scan, status, message, now).await?;
            change.commit().await?;
        }
        Ok(())
    }

    /// Returns a lost attempt to the queue.
    pub async fn release(&self, attempt: &Attempt) -> StoreResult<()> {
        let end = "UPDATE jobs SET owner = NULL WHERE scan_id = $1 AND attempt = $2 AND owner = $3";
        self.return_to_queue(attempt, end).await
    }

    /// Returns the scan of a service that stops to the queue; the attempt does not count.
    pub async fn requeue(&self, attempt: &Attempt) -> StoreResult<()> {
        let end = "UPDATE jobs SET owner = NULL, tries = tries - 1
             WHERE scan_id = $1 AND attempt = $2 AND owner = $3";
        self.return_to_queue(attempt, end).await
    }

    /// Ends a claim with a statement; the scan waits again unless the claim was lost.
    async fn return_to_queue(&self, attempt: &Attempt, end: &'static str) -> StoreResult<()> {
        let mut change = self.change().await?;
        let ended = sql(end)
            .bind(attempt.scan.0)
            .bind(attempt.number)
            .bind(&self.node.id)
            .execute(&mut change)
            .await?;
        if ended > 0 {
            show_waiting(&mut change, &[attempt.scan.0]).await?;
            change.commit().await?;
        }
        Ok(())
    }

    /// The scans that this process has claimed.
    pub async fn claimed_scans(&self) -> StoreResult<Vec<ClaimedScan>> {
        let rows: Vec<(i64, bool)> =
            sql("SELECT scan_id, stop_requested FROM jobs WHERE owner = $1")
                .bind(&self.node.id)
                .all(self.read())
                .await?;
        let scan = |(id, is_stop_requested)| ClaimedScan {
            id: ScanId(id),
            is_stop_requested,
        };
        Ok(rows.into_iter().map(scan).collect())
    }

    /// Requests a stop. The request is stored, and the process that runs the scan reads it: if that
    /// process ends before the scan does, the scan ends with its claim.
    pub async fn request_stop(&self, id: ScanId, now: Timestamp) -> StoreResult<StopRequest> {
        let mut change = self.change().await?;
        let job: Option<Option<String>> = sql("SELECT owner FROM jobs WHERE scan_id = $1")
            .bind(id.0)
            .optional(&mut change)
            .await?;
        let stop = match job {
            None => {
                let scan: Option<i64> = sql("SELECT id FROM scans WHERE id = $1")
                    .bind(id.0)
                    .optional(&mut change)
                    .await?;
                return Ok(if scan.is_some() {
                    StopRequest::Ended
                } else {
                    StopRequest::NotFound
                });
            }
            Some(None) => {
                end(&mut change, id, &ScanStatus::Stopped, STOPPED_BY_USER, now).await?;
                StopRequest::Ended
            }
            Some(Some(_)) => {
                sql("UPDATE jobs SET stop_requested = true WHERE scan_id = $1")
                    .bind(id.0)
                    .execute(&mut change)
                    .await?;
                StopRequest::Running
            }
        };
        change.commit().await?;
        Ok(stop)
    }

    /// The waiting and running scans of a workspace.
    pub async fn active_in(&self, workspace: WorkspaceId) -> StoreResult<Vec<ScanId>> {
        let ids: Vec<i64> = sql(
            "SELECT scan_id FROM jobs JOIN scans ON scans.id = scan_id WHERE scans.workspace_id = $1",
        )
        .bind(workspace.0)
        .all(self.read())
        .await?;
        Ok(ids.into_iter().map(ScanId).collect())
    }

    /// At the start of the service: encrypts the parameters that an earlier version stored as plain
    /// text, and removes them from the log of the database.
    pub async fn seal_jobs(&self, secrets: &ScanSecrets) -> StoreResult<()> {
        // No earlier version used another engine.
        let StoreEngine::Sqlite(engine) = &self.engine else {
            return Ok(());
        };
        let mut connection = engine.begin(Durability::AtOnce).await?;
        if seal(&mut connection, secrets).await? > 0 {
            for statement in ["COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                sql(statement).execute(&mut *connection).await?;
            }
        }
        Ok(())
    }

    async fn next_job(
        &self,
        on: impl Into<Executor<'_>>,
        running: &[ScanId],
    ) -> StoreResult<Option<QueuedJob>> {
        let running: Vec<i64> = running.iter().map(|scan| scan.0).collect();
        sql(
            "SELECT scan_id, jobs.tries, owner IS NOT NULL AS is_own, stop_requested, jobs.params, tool_id,
                scans.workspace_id, targets.name AS target, redirect_level, scan_original_url, max_minutes
             FROM jobs JOIN scans ON scans.id = scan_id JOIN targets ON targets.id = target_id
             WHERE (owner IS NULL OR owner = $1) AND jobs.place = $3 AND scan_id NOT IN list($2)
                AND (jobs.schedule_id IS NULL OR scans.target_id NOT IN (
                    SELECT others.target_id FROM jobs AS running JOIN scans AS others ON others.id = running.scan_id
                    WHERE running.owner <> $1 OR running.scan_id IN list($2)))
             ORDER BY scan_id LIMIT 1",
        )
        .bind(&self.node.id)
        .bind_ids(&running)
        .bind(&self.node.details.place)
        .optional(on)
        .await
    }

    /// Whether an attempt still has its claim: the first statement of each write of a worker. The
    /// claim remains until the end of the transaction.
    async fn is_claimed(
        &self,
        change: &mut WriteTransaction,
        attempt: &Attempt,
    ) -> StoreResult<bool> {
        let claim: Option<i64> = sql(
            "SELECT scan_id FROM jobs WHERE scan_id = $1 AND attempt = $2 AND owner = $3 FOR UPDATE",
        )
        .bind(attempt.scan.0)
        .bind(attempt.number)
        .bind(&self.node.id)
        .optional(change)
        .await?;
        Ok(claim.is_some())
    }
}

/// The next scan of the queue.
struct QueuedJob {
    scan: ScanId,
    tries: i64,
    /// This process had claimed it, and does not run it.
    is_own: bool,
    is_stop_requested: bool,
    job: ScanJob,
    max_minutes: i64,
}

impl ReadRow for QueuedJob {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        let scan = ScanId(row.get("scan_id")?);
        Ok(Self {
            scan,
            tries: row.get("tries")?,
            is_own: row.get("is_own")?,
            is_stop_requested: row.get("stop_requested")?,
            job: ScanJob {
                scan,
                tool: Tool(row.get("tool_id")?),
                target: row.get("target")?,
                params: json(row.get("params")?),
                redirect_level: RedirectLevel::from(row.get::<&str>("redirect_level")?),
                scan_original_url: row.get("scan_original_url")?,
                denials: Vec::new(),
                workspace: WorkspaceId(row.get("workspace_id")?),
                secret_digests: SecretDigests::default(),
            },
            max_minutes: row.get("max_minutes")?,
        })
    }
}

/// Whether results with this number are not stored yet; then they count as stored.
async fn is_new(change: &mut WriteTransaction, scan: ScanId, number: i64) -> StoreResult<bool> {
    let updated = sql("UPDATE jobs SET batch = $2 WHERE scan_id = $1 AND batch < $2")
        .bind(scan.0)
        .bind(number)
        .execute(change)
        .await?;
    Ok(updated > 0)
}

/// Shows scans whose claims have ended as waiting.
pub(super) async fn show_waiting(change: &mut WriteTransaction, scans: &[i64]) -> StoreResult<()> {
    sql("UPDATE scans SET status = 'waiting', message = '' WHERE id IN list($1)")
        .bind_ids(scans)
        .execute(change)
        .await?;
    Ok(())
}

/// Requests the stop of each scan of a workspace.
pub(super) async fn request_stops(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
) -> StoreResult<()> {
    sql("UPDATE jobs SET stop_requested = true
         WHERE scan_id IN (SELECT id FROM scans WHERE workspace_id = $1)")
    .bind(workspace.0)
    .execute(&mut *change)
    .await?;
    Ok(())
}

/// Ends the scans without a worker that were stopped, or interrupted too often.
pub(super) async fn end_lost(change: &mut WriteTransaction, now: Timestamp) -> StoreResult<()> {
    let lost: Vec<(i64, bool)> = sql("SELECT scan_id, stop_requested FROM jobs
         WHERE owner IS NULL AND (stop_requested OR service_ends >= 2)")
    .all(&mut *change)
    .await?;
    for (scan, stopped) in lost {
        let (status, message) = match stopped {
            true => (ScanStatus::Stopped, STOPPED_BY_USER),
            false => (
                ScanStatus::Aborted,
                "the service was interrupted twice during this scan",
            ),
        };
        end(change, ScanId(scan), &status, message, now).await?;
    }
    Ok(())
}

/// Starts a scan. `cause` is why one that has begun starts again.
async fn begin(
    change: &mut WriteTransaction,
    scan: ScanId,
    cause: &str,
    now: Timestamp,
) -> StoreResult<()> {
    let scan = scan.0;
    let (has_begun, info): (bool, String) =
        sql("SELECT started_at IS NOT NULL, info FROM scans WHERE id = $1")
            .bind(scan)
            .one(&mut *change)
            .await?;
    if has_begun {
        for statement in [
            "DELETE FROM tests WHERE scan_id = $1",
            "DELETE FROM raw_lines WHERE scan_id = $1",
            "DELETE FROM findings WHERE scan_id = $1",
        ] {
            sql(statement).bind(scan).execute(&mut *change).await?;
        }
        sql(
            "UPDATE scans SET planned = 0, finished = 0, message = '', risk0 = 0, risk1 = 0, risk2 = 0, risk3 = 0, risk4 = 0,
                output_type = '', output_data = '{}' WHERE id = $1",
        )
        .bind(scan)
        .execute(&mut *change)
        .await?;
    }
    let notes = match has_begun {
        true => vec![format!("started again{cause}")],
        false => notes_of_start(&info),
    };
    // All results are from this attempt, so the scan starts now: the time without a service does
    // not count.
    sql("UPDATE scans SET status = 'running', started_at = $1, info = $2 WHERE id = $3")
        .bind(millis(now))
        .bind(json_lines(&notes))
        .bind(scan)
        .execute(&mut *change)
        .await?;
    Ok(())
}

/// The notes of a waiting scan that it keeps. Its worker names the place itself.
fn notes_of_start(info: &str) -> Vec<String> {
    let mut notes: Vec<String> = serde_json::from_str(info).unwrap_or_default();
    notes.retain(|note| place_in_note(note).is_none());
    notes
}

/// Ends a scan.
pub(super) async fn end(
    change: &mut WriteTransaction,
    scan: ScanId,
    status: &ScanStatus,
    message: &str,
    now: Timestamp,
) -> StoreResult<()> {
    // A test without a result is not a finished test. It counts as one while the scan runs, for its
    // progress.
    per_engine(
        "UPDATE scans SET status = $1, message = $2, ended_at = $3,
            finished = max(0, finished - (SELECT coalesce(sum(counted), 0) FROM tests
                WHERE scan_id = scans.id AND json_extract(metadata, '$.judged') = 0))
         WHERE id = $4",
        // Without its JSON functions, which refuse an escaped NUL anywhere in the text.
        "UPDATE scans SET status = $1, message = $2, ended_at = $3,
            finished = greatest(0, finished - (SELECT count(*) FROM tests
                WHERE scan_id = scans.id AND counted AND position('\"judged\":false' IN metadata) > 0))
         WHERE id = $4",
    )
    .bind(status.as_str())
    .bind(without_nul(message))
    .bind(millis(now))
    .bind(scan.0)
    .execute(&mut *change)
    .await?;
    sql("DELETE FROM jobs WHERE scan_id = $1")
        .bind(scan.0)
        .execute(&mut *change)
        .await?;
    Ok(())
}

async fn write_update(
    change: &mut WriteTransaction,
    scan: ScanId,
    update: &ScanUpdate,
    now: Timestamp,
) -> StoreResult<()> {
    for line in &update.raw {
        sql("INSERT INTO raw_lines (scan_id, line) VALUES ($1, $2)")
            .bind(scan.0)
            .bind(without_nul(line))
            .execute(&mut *change)
            .await?;
    }
    let mut found = [0_i64; 5];
    let mut finished = 0_i64;
    for test in &update.tests {
        finished += i64::from(test.weight);
        for risk in super::tests::write(change, scan, test, now).await? {
            found[risk as usize] += 1;
        }
    }
    let info = match update.info.is_empty() {
        true => None,
        false => Some(with_info(&mut *change, scan, &update.info).await?),
    };
    sql(
        "UPDATE scans SET
            planned = CASE WHEN coalesce($1, planned) > finished + $2 THEN coalesce($1, planned) ELSE finished + $2 END,
            finished = finished + $3,
            risk0 = risk0 + $4, risk1 = risk1 + $5, risk2 = risk2 + $6, risk3 = risk3 + $7, risk4 = risk4 + $8,
            info = coalesce($9, info), message = coalesce($10, message),
            output_type = coalesce($11, output_type), output_data = coalesce($12, output_data)
         WHERE id = $13",
    )
    .bind(update.planned.map(i64::from))
    .bind(finished)
    .bind(finished)
    .bind(found[0])
    .bind(found[1])
    .bind(found[2])
    .bind(found[3])
    .bind(found[4])
    .bind(info)
    .bind(update.step.as_deref().map(without_nul))
    .bind(update.output.as_ref().map(|output| output.output_type.as_str().to_owned()))
    .bind(update.output.as_ref().map(|output| output.output_data.to_string()))
    .bind(scan.0)
    .execute(change)
    .await?;
    Ok(())
}

/// The info lines of a scan with further ones, as JSON.
pub(super) async fn with_info(
    change: &mut WriteTransaction,
    scan: ScanId,
    new: &[String],
) -> StoreResult<String> {
    let stored: String = sql("SELECT info FROM scans WHERE id = $1 FOR UPDATE")
        .bind(scan.0)
        .one(change)
        .await?;
    let mut lines: Vec<String> = serde_json::from_str(&stored).unwrap_or_default();
    lines.extend_from_slice(new);
    Ok(json_lines(&lines))
}

/// The information lines of a scan, as they are stored.
pub(super) fn json_lines(lines: &[String]) -> String {
    serde_json::to_string(lines).unwrap_or_else(|_| "[]".to_owned())
}

/// Encrypts the parameters of a scan that was waiting or running when an upgrade copied the
/// database. Restored, the copy needs the same key file. A file that is no database of scandeck,
/// but has the name of a copy, has no scans.
///
/// # Errors
/// When the copy cannot be read or written.
pub async fn seal_copy(copy: &Path, secrets: &ScanSecrets) -> StoreResult<()> {
    if !is_database(copy)? || schema_version(copy)? == 0 {
        return Ok(());
    }
    // A rollback journal, because nobody moves the log of a copy into its file.
    let options = private_options(copy)
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Delete);
    let mut connection = options.connect().await?;
    sql("BEGIN IMMEDIATE").execute(&mut connection).await?;
    seal(&mut connection, secrets).await?;
    sql("COMMIT").execute(&mut connection).await?;
    connection.close().await
}

/// Encrypts the parameters with plain credentials; returns their number.
async fn seal(connection: &mut SqliteConnection, secrets: &ScanSecrets) -> StoreResult<usize> {
    let jobs: Vec<(i64, String)> =
        sql("SELECT scan_id, params FROM jobs WHERE json_extract(params, '$.authentication') IS NOT NULL")
            .all(&mut *connection)
            .await?;
    let number = jobs.len();
    for (scan, params) in jobs {
        let Some(sealed) = secrets.seal(&json(&params)) else {
            tracing::error!(
                scan,
                "credentials of an earlier version remain unencrypted until the scan ends"
            );
            continue;
        };
        let update = sql("UPDATE jobs SET params = $1 WHERE scan_id = $2")
            .bind(sealed.to_string())
            .bind(scan);
        update.execute(&mut *connection).await?;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::findings::FindingFilter;
    use super::super::testing::{claim_scan, finding, open, queue_scan};
    use super::*;

    #[tokio::test]
    async fn nul_in_results_is_stored_as_replacement_character() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        let scan = queue_scan(&store, "a").await;
        let attempt = claim_scan(&store, now).await.unwrap().attempt;
        let test = TestDone {
            uid: "web.a".to_owned(),
            description: "de\0scription".to_owned(),
            metadata: json!({"sent": "a\0b"}),
            weight: 1,
            findings: vec![finding("web.a", "/a\0b")],
        };
        let update = ScanUpdate {
            tests: vec![test],
            raw: vec!["GET /\0 200".to_owned()],
            info: vec!["in\0fo".to_owned()],
            step: Some("st\0ep".to_owned()),
            ..ScanUpdate::default()
        };
        assert!(store.record(&attempt, &update, now).await.unwrap());
        let running = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(&*running.status_message, "st\u{fffd}ep");
        assert_eq!(&*running.info_text_lines[0], "in\0fo", "in JSON");
        let lines = store.raw_line_ids(scan).await.unwrap();
        assert_eq!(
            store.raw_lines(&lines).await.unwrap(),
            ["GET /\u{fffd} 200"]
        );
        let tests = store.tests(scan, None).await.unwrap();
        assert_eq!(&*tests[0].description, "de\u{fffd}scription");
        let place: String = sql("SELECT place FROM findings")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(place, "/a\u{fffd}b");
        assert!(store.record(&attempt, &update, now).await.unwrap());
        let all = store.finding_ids(&FindingFilter::default()).await.unwrap();
        assert_eq!(all.len(), 1, "found as an equal finding");
        let failed = ScanStatus::FailedToStart;
        store
            .finish(&attempt, &failed, "no\0thing", now)
            .await
            .unwrap();
        let ended = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(&*ended.status_message, "no\u{fffd}thing");
    }

    #[tokio::test]
    async fn stopped_scan_that_its_worker_lost_is_not_claimed_again() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        let scan = queue_scan(&store, "a").await;
        let attempt = claim_scan(&store, now).await.unwrap().attempt;
        store.request_stop(scan, now).await.unwrap();
        store.release(&attempt).await.unwrap();
        let polled = store.claim(&[], now).await.unwrap();
        assert!(matches!(polled, QueuePoll::Aborted), "{polled:?}");
        let ended = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(ended.status_name, ScanStatus::Stopped);
        assert_eq!(&*ended.status_message, "stopped by the user");
    }
}

#[cfg(test)]
mod seal_tests {
    use serde_json::json;

    use super::*;
    use crate::store::scans::{ScanTarget, ScanToAdd};
    use crate::store::targets::TargetToAdd;
    use scandeck_wire::contract::TargetType;

    #[tokio::test]
    async fn credentials_of_an_earlier_version_are_sealed_at_the_start() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let store = Store::open(&file).await.unwrap().store;
        let params = json!({"authentication": {"cookies": "sid=x1secret"}});
        let target = TargetToAdd {
            workspace: WorkspaceId(1),
            name: "http://127.0.0.1/",
            kind: TargetType::Url,
            description: "",
        };
        let scan = ScanToAdd {
            tool: 170,
            params: params.clone(),
            shown_params: json!({}),
            redirect_level: RedirectLevel::SameDomain,
            scan_original_url: false,
            place: None,
            max_minutes: 5,
            callback: None,
        };
        store
            .add_scan(ScanTarget::Named(target, 10), &scan, Timestamp::now())
            .await
            .unwrap()
            .unwrap();
        let secrets = ScanSecrets::new("key").unwrap();
        let copy = scandeck_wire::sqlite::back_up(&file).await.unwrap();
        let is_plain = |path: &Path| {
            std::fs::read(path)
                .unwrap()
                .windows(8)
                .any(|window| window == b"x1secret")
        };
        assert!(is_plain(&copy));
        seal_copy(&copy, &secrets).await.unwrap();
        store.seal_jobs(&secrets).await.unwrap();
        for one in std::fs::read_dir(temp.path()).unwrap() {
            let path = one.unwrap().path();
            assert!(!is_plain(&path), "{}", path.display());
        }
        let stored: Vec<String> = {
            let mut connection = scandeck_wire::sqlite::options(&copy)
                .connect()
                .await
                .unwrap();
            sql("SELECT params FROM jobs")
                .all(&mut connection)
                .await
                .unwrap()
        };
        assert_eq!(secrets.open(json(&stored[0])), Some(params.clone()));
        store.register(Timestamp::now()).await.unwrap();
        let QueuePoll::Claimed(claim) = store.claim(&[], Timestamp::now()).await.unwrap() else {
            panic!("a waiting scan")
        };
        assert_eq!(secrets.open(claim.job.params), Some(params));
        store.close().await;
    }

    #[tokio::test]
    async fn file_that_is_no_copy_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db.bak-1");
        let secrets = ScanSecrets::new("key").unwrap();
        for text in [
            "",
            "x1secret",
            "notes of the last upgrade, which are no database",
        ] {
            std::fs::write(&file, text).unwrap();
            seal_copy(&file, &secrets).await.unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
