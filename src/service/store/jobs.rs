//! The queue: one row a scan that has not ended, claimed, renewed and ended by workers.
//!
//! ```text
//!   queued ──claim──► attempt 1 ──────────────► ended (row gone, secrets with it)
//!     ▲                  │ lost: panic, lease over, service ended once
//!     └──────────────────┘          third attempt lost, or service ended twice ──► aborted
//! ```
//!
//! Every write of a worker names its [`Attempt`] and does nothing once that is no longer the current one: a paused
//! worker must not write over the results of the next attempt.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use sqlx::{FromRow, SqliteConnection};

use super::{Store, StoreResult, WriteTransaction, json, millis};
use crate::contract::{RedirectLevel, ScanId, ScanOutput, ScanStatus, Tool, WorkspaceId};
use crate::service::engine::TestDone;

/// How long a claim holds without being renewed.
pub const LEASE: SignedDuration = SignedDuration::from_secs(15);

/// Attempts a scan has.
const ATTEMPTS: i64 = 3;

/// The right to write the results of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub scan: ScanId,
    pub number: i64,
    /// Names the run of the service.
    pub owner: String,
}

/// A claimed scan with what is needed to run it.
#[derive(Clone, Debug)]
pub struct Claim {
    pub attempt: Attempt,
    pub tool: Tool,
    pub target: String,
    pub params: Value,
    pub redirect_level: RedirectLevel,
    pub scan_original_url: bool,
    pub vpn_scan: bool,
    pub max_minutes: i64,
}

/// What the queue had for a worker.
#[derive(Debug)]
pub enum QueueTurn {
    /// A scan to work on.
    Claimed(Box<Claim>),
    /// A scan that ended `aborted` because its attempts were used up.
    GivenUp,
    /// Nothing that nobody works on.
    Nothing,
}

/// What a worker learnt since its last write.
#[derive(Debug, Default)]
pub struct ScanUpdate {
    pub planned: Option<u32>,
    pub tests: Vec<TestDone>,
    pub raw: Vec<String>,
    pub info: Vec<String>,
    pub output: Option<ScanOutput>,
}

/// What became of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no such scan.
    Missing,
    /// It had ended before, or ended now because nobody worked on it.
    Ended,
    /// Who works on it has to be told.
    Running,
}

#[derive(FromRow)]
struct JobRow {
    scan_id: i64,
    attempt: i64,
    params: String,
    tool_id: i64,
    target: String,
    redirect_level: String,
    scan_original_url: bool,
    vpn_scan: bool,
    max_minutes: i64,
}

impl Store {
    /// Claims the oldest scan that nobody works on. Partial results of an earlier attempt go in the same transaction.
    ///
    /// `busy` are the scans this process works on: after a long pause of the whole machine their leases are over
    /// while their workers are well.
    pub async fn claim(&self, owner: &str, busy: &[ScanId], now: Timestamp) -> StoreResult<QueueTurn> {
        let mut change = self.change().await?;
        let Some(job) = next_job(&mut change, busy, now).await? else { return Ok(QueueTurn::Nothing) };
        let scan = ScanId(job.scan_id);
        if job.attempt >= ATTEMPTS {
            let message = format!("{ATTEMPTS} attempts were lost");
            end(&mut change, scan, &ScanStatus::Aborted, &message, now).await?;
            change.commit().await?;
            return Ok(QueueTurn::GivenUp);
        }
        let attempt = Attempt { scan, number: job.attempt + 1, owner: owner.to_owned() };
        begin(&mut change, &attempt, now).await?;
        change.commit().await?;
        Ok(QueueTurn::Claimed(Box::new(Claim {
            attempt,
            tool: Tool(job.tool_id),
            target: job.target,
            params: json(&job.params),
            redirect_level: RedirectLevel::from(job.redirect_level.as_str()),
            scan_original_url: job.scan_original_url,
            vpn_scan: job.vpn_scan,
            max_minutes: job.max_minutes,
        })))
    }

    /// Renews the lease; false when the attempt is no longer the current one.
    pub async fn renew(&self, attempt: &Attempt, now: Timestamp) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let current = hold(&mut change, attempt, now).await?;
        if current {
            change.commit().await?;
        }
        Ok(current)
    }

    /// Writes what a worker learnt; false when the attempt is no longer the current one.
    pub async fn record(&self, attempt: &Attempt, batch: &ScanUpdate, now: Timestamp) -> StoreResult<bool> {
        let mut change = self.change().await?;
        if !hold(&mut change, attempt, now).await? {
            return Ok(false);
        }
        write_batch(&mut change, attempt.scan, batch, now).await?;
        change.commit().await?;
        Ok(true)
    }

    /// Ends the scan; false when the attempt is no longer the current one.
    pub async fn finish(
        &self,
        attempt: &Attempt,
        status: &ScanStatus,
        message: &str,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let mut change = self.change().await?;
        if !hold(&mut change, attempt, now).await? {
            return Ok(false);
        }
        end(&mut change, attempt.scan, status, message, now).await?;
        change.commit().await?;
        Ok(true)
    }

    /// Gives a lost attempt back to the queue.
    pub async fn release(&self, attempt: &Attempt) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query("UPDATE jobs SET owner = NULL WHERE scan_id = ? AND attempt = ? AND owner = ?")
            .bind(attempt.scan.0)
            .bind(attempt.number)
            .bind(&attempt.owner)
            .execute(&mut *change)
            .await?;
        change.commit().await
    }

    /// Asks for a stop. Stops are remembered: a service that ends in between ends the scan at its next start.
    pub async fn request_stop(&self, id: ScanId, now: Timestamp) -> StoreResult<Stop> {
        let mut change = self.change().await?;
        let job: Option<Option<String>> = sqlx::query_scalar("SELECT owner FROM jobs WHERE scan_id = ?")
            .bind(id.0)
            .fetch_optional(&mut *change)
            .await?;
        let stop = match job {
            None => {
                let known: Option<i64> = sqlx::query_scalar("SELECT id FROM scans WHERE id = ?")
                    .bind(id.0)
                    .fetch_optional(&mut *change)
                    .await?;
                return Ok(if known.is_some() { Stop::Ended } else { Stop::Missing });
            }
            Some(None) => {
                end(&mut change, id, &ScanStatus::Stopped, "stopped by the user", now).await?;
                Stop::Ended
            }
            Some(Some(_)) => {
                sqlx::query("UPDATE jobs SET stop_requested = 1 WHERE scan_id = ?")
                    .bind(id.0)
                    .execute(&mut *change)
                    .await?;
                Stop::Running
            }
        };
        change.commit().await?;
        Ok(stop)
    }

    /// Whether somebody asked for the end of a scan that has not ended.
    pub async fn stop_requested(&self, id: ScanId) -> StoreResult<bool> {
        let asked: Option<bool> = sqlx::query_scalar("SELECT stop_requested FROM jobs WHERE scan_id = ?")
            .bind(id.0)
            .fetch_optional(self.read())
            .await?;
        Ok(asked.unwrap_or_default())
    }

    /// The scans of a workspace that have not ended.
    pub async fn active_in(&self, workspace: WorkspaceId) -> StoreResult<Vec<ScanId>> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT scan_id FROM jobs JOIN scans ON scans.id = scan_id WHERE scans.workspace_id = ?",
        )
        .bind(workspace.0)
        .fetch_all(self.read())
        .await?;
        Ok(ids.into_iter().map(ScanId).collect())
    }

    /// At the start of a service: what the last one was working on is queued again, or ends.
    pub async fn recover(&self, now: Timestamp) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query("UPDATE jobs SET service_ends = service_ends + 1, owner = NULL WHERE owner IS NOT NULL")
            .execute(&mut *change)
            .await?;
        let over: Vec<(i64, bool)> =
            sqlx::query_as("SELECT scan_id, stop_requested FROM jobs WHERE stop_requested OR service_ends >= 2")
                .fetch_all(&mut *change)
                .await?;
        for (scan, stopped) in over {
            let (status, message) = match stopped {
                true => (ScanStatus::Stopped, "stopped by the user"),
                false => (ScanStatus::Aborted, "the service ended twice while this scan ran"),
            };
            end(&mut change, ScanId(scan), &status, message, now).await?;
        }
        change.commit().await
    }
}

async fn next_job(change: &mut WriteTransaction, busy: &[ScanId], now: Timestamp) -> StoreResult<Option<JobRow>> {
    let busy = serde_json::to_string(busy).unwrap_or_else(|_| "[]".to_owned());
    sqlx::query_as(
        "SELECT scan_id, jobs.attempt, jobs.params, tool_id, targets.name AS target, redirect_level,
            scan_original_url, vpn_scan, max_minutes
         FROM jobs JOIN scans ON scans.id = scan_id JOIN targets ON targets.id = target_id
         WHERE (owner IS NULL OR lease_until < ?) AND scan_id NOT IN (SELECT value FROM json_each(?))
         ORDER BY scan_id LIMIT 1",
    )
    .bind(millis(now))
    .bind(busy)
    .fetch_optional(&mut **change)
    .await
}

async fn begin(change: &mut WriteTransaction, attempt: &Attempt, now: Timestamp) -> StoreResult<()> {
    let scan = attempt.scan.0;
    sqlx::query("UPDATE jobs SET attempt = ?, owner = ?, lease_until = ? WHERE scan_id = ?")
        .bind(attempt.number)
        .bind(&attempt.owner)
        .bind(millis(now + LEASE))
        .bind(scan)
        .execute(&mut **change)
        .await?;
    if attempt.number > 1 {
        for sql in [
            "DELETE FROM tests WHERE scan_id = ?",
            "DELETE FROM raw_lines WHERE scan_id = ?",
            "DELETE FROM findings WHERE scan_id = ?",
        ] {
            sqlx::query(sql).bind(scan).execute(&mut **change).await?;
        }
        sqlx::query(
            "UPDATE scans SET planned = 0, finished = 0, risk0 = 0, risk1 = 0, risk2 = 0, risk3 = 0, risk4 = 0,
                output_type = '', output_data = '{}', info = json_array(?) WHERE id = ?",
        )
        .bind(format!("interrupted and begun again: attempt {} of {ATTEMPTS}", attempt.number))
        .bind(scan)
        .execute(&mut **change)
        .await?;
    }
    sqlx::query("UPDATE scans SET status = 'running', started_at = coalesce(started_at, ?) WHERE id = ?")
        .bind(millis(now))
        .bind(scan)
        .execute(&mut **change)
        .await?;
    Ok(())
}

/// Renews the lease as the first statement of a write, and tells whether the attempt is still the current one.
async fn hold(change: &mut WriteTransaction, attempt: &Attempt, now: Timestamp) -> StoreResult<bool> {
    let held = sqlx::query("UPDATE jobs SET lease_until = ? WHERE scan_id = ? AND attempt = ? AND owner = ?")
        .bind(millis(now + LEASE))
        .bind(attempt.scan.0)
        .bind(attempt.number)
        .bind(&attempt.owner)
        .execute(&mut **change)
        .await?;
    Ok(held.rows_affected() == 1)
}

async fn end(
    change: &mut WriteTransaction,
    scan: ScanId,
    status: &ScanStatus,
    message: &str,
    now: Timestamp,
) -> StoreResult<()> {
    sqlx::query("UPDATE scans SET status = ?, message = ?, ended_at = ? WHERE id = ?")
        .bind(status.as_str())
        .bind(message)
        .bind(millis(now))
        .bind(scan.0)
        .execute(&mut **change)
        .await?;
    sqlx::query("DELETE FROM jobs WHERE scan_id = ?").bind(scan.0).execute(&mut **change).await?;
    Ok(())
}

async fn write_batch(
    change: &mut WriteTransaction,
    scan: ScanId,
    batch: &ScanUpdate,
    now: Timestamp,
) -> StoreResult<()> {
    let connection: &mut SqliteConnection = change;
    for line in &batch.raw {
        sqlx::query("INSERT INTO raw_lines (scan_id, line) VALUES (?, ?)")
            .bind(scan.0)
            .bind(line)
            .execute(&mut *connection)
            .await?;
    }
    let mut found = [0_i64; 5];
    let mut finished = 0_i64;
    for test in &batch.tests {
        finished += i64::from(test.weight);
        for risk in super::tests::write(connection, scan, test, now).await? {
            found[risk as usize] += 1;
        }
    }
    let info: Vec<&String> = batch.info.iter().collect();
    sqlx::query(
        "UPDATE scans SET planned = max(coalesce(?, planned), finished + ?), finished = finished + ?,
            risk0 = risk0 + ?, risk1 = risk1 + ?, risk2 = risk2 + ?, risk3 = risk3 + ?, risk4 = risk4 + ?,
            info = (SELECT json_group_array(value) FROM
                (SELECT value FROM json_each(info) UNION ALL SELECT value FROM json_each(?))),
            output_type = coalesce(?, output_type), output_data = coalesce(?, output_data)
         WHERE id = ?",
    )
    .bind(batch.planned.map(i64::from))
    .bind(finished)
    .bind(finished)
    .bind(found[0])
    .bind(found[1])
    .bind(found[2])
    .bind(found[3])
    .bind(found[4])
    .bind(serde_json::to_string(&info).unwrap_or_else(|_| "[]".to_owned()))
    .bind(batch.output.as_ref().map(|output| output.output_type.as_str().to_owned()))
    .bind(batch.output.as_ref().map(|output| output.output_data.to_string()))
    .bind(scan.0)
    .execute(connection)
    .await?;
    Ok(())
}
