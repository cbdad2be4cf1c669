//! The worker: claims scans from the queue, runs them with the engine, and stores their events.
//!
//! ```text
//!   queue ──claim──► Runner::run ──events──► CredentialMask ─► store (each write carries the attempt)
//!                       ▲   └──outcome────► finished, failed to start, connection error, auth failed
//!                                                                          out of scope: stopped
//!   stop, time limit ───┘ token             stopped, timed out
//!   claim or lease lost ┘                   nothing stored: another node runs the scan
//!   service stops ──────┘                   nothing stored: the next start runs the scan again
//!   panic, results refused                  returned to the queue
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::SignedDuration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::Clock;
use crate::engine::{Engine, ScanEvent, ScanJob, ScanOutcome};
use crate::guards::credential_mask::CredentialMask;
use crate::runs::lease::NodeLease;
use crate::runs::queue::{AttemptEnd, QueueResult, ScanQueue};
use crate::state::App;
use crate::store::DatabaseError;
use crate::store::jobs::{Attempt, Claim, ClaimedScan, QueuePoll, ScanUpdate, StopRequest};
use scandeck_wire::contract::{ScanId, ScanStatus, WorkspaceId};

/// Time for a cancelled scan to end before its task is aborted; clients see it as stopped within 2
/// s.
const GRACE: Duration = Duration::from_millis(1200);

/// How often the queue is polled without a notification: other processes queue scans too.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Largest number of events per transaction.
const EVENT_BATCH: usize = 256;

/// The beginning of `status_message` of a scan that a change of the scope ended.
pub const ENDED_BY_SCOPE: &str = "ended by the scope: ";

/// Runs scans: the engine, or a replacement in tests.
pub trait Runner: Send + Sync + 'static {
    /// Runs one scan until it ends or `stop` is cancelled.
    fn run(
        &self,
        job: ScanJob,
        events: mpsc::Sender<ScanEvent>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ScanOutcome>;
}

impl Runner for Engine {
    fn run(
        &self,
        job: ScanJob,
        events: mpsc::Sender<ScanEvent>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ScanOutcome> {
        let engine = self.clone();
        Box::pin(async move { Engine::run(&engine, job, events, stop).await })
    }
}

/// The worker's interface for the routes, and for the task that reads its claims.
#[derive(Debug, Default)]
pub struct Worker {
    queued: Notify,
    /// Notified when the claims may say more than the running scans: a claim, or a stop.
    claims: Notify,
    running: Mutex<HashMap<ScanId, CancellationToken>>,
}

impl Worker {
    /// Notifies the worker of a queued scan.
    pub fn wake(&self) {
        self.queued.notify_one();
    }

    /// Stops a scan; false when it does not exist. An ended scan is unchanged.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stop(&self, app: &App, scan: ScanId) -> Result<bool, DatabaseError> {
        let stop = app.store.request_stop(scan, app.now()).await?;
        // If the scan runs in another process, that process reads the request.
        self.claims.notify_one();
        app.deliveries.notify_one();
        Ok(stop != StopRequest::NotFound)
    }

    /// Stops every scan of a workspace.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stop_workspace(
        &self,
        app: &App,
        workspace: WorkspaceId,
    ) -> Result<(), DatabaseError> {
        for scan in app.store.active_in(workspace).await? {
            self.stop(app, scan).await?;
        }
        Ok(())
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<ScanId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scans that run in this process.
    pub fn running_scans(&self) -> Vec<ScanId> {
        self.running().keys().copied().collect()
    }

    /// Returns when a scan was claimed or a stop was requested.
    pub async fn claims_changed(&self) {
        self.claims.notified().await;
    }

    /// Cancels those of the `running` scans that were stopped, or whose claim was lost.
    pub fn cancel_ended(&self, running: &[ScanId], claims: &[ClaimedScan]) {
        let tokens = self.running();
        for scan in running {
            let claim = claims.iter().find(|claim| claim.id == *scan);
            let may_run = claim.is_some_and(|claim| !claim.is_stop_requested);
            if !may_run && let Some(token) = tokens.get(scan) {
                token.cancel();
            }
        }
    }
}

/// What a worker works with.
#[derive(Clone)]
pub struct WorkerParts {
    pub queue: Arc<dyn ScanQueue>,
    pub worker: Arc<Worker>,
    pub lease: Arc<NodeLease>,
    pub clock: Arc<dyn Clock>,
    /// Scans at the same time.
    pub scans_at_once: usize,
}

/// Processes the queue until `stop`, which cancels running scans; the next start runs them again.
pub async fn work(parts: WorkerParts, runner: Arc<dyn Runner>, stop: CancellationToken) {
    let mut scans = JoinSet::new();
    while !stop.is_cancelled() {
        step(&parts, &runner, &mut scans, &stop).await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = parts.worker.queued.notified() => {}
            Some(_) = scans.join_next() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
    while scans.join_next().await.is_some() {}
}

/// Claims scans up to the limit of concurrent scans.
async fn step(
    parts: &WorkerParts,
    runner: &Arc<dyn Runner>,
    scans: &mut JoinSet<()>,
    stop: &CancellationToken,
) {
    while scans.try_join_next().is_some() {}
    // A scan would end as soon as it starts.
    if parts.lease.has_ended() {
        return;
    }
    while scans.len() < parts.scans_at_once.max(1) {
        let running = parts.worker.running_scans();
        match parts.queue.claim(&running).await {
            Ok(QueuePoll::Claimed(claim)) => {
                let token = stop.child_token();
                let scan = claim.attempt.scan;
                parts.worker.running().insert(scan, token.clone());
                // A stop before this line found no token to cancel.
                parts.worker.claims.notify_one();
                scans.spawn(attempt(
                    parts.clone(),
                    Arc::clone(runner),
                    *claim,
                    token,
                    stop.clone(),
                ));
            }
            Ok(QueuePoll::Aborted) => {}
            Ok(QueuePoll::Empty) => return,
            Err(error) => {
                // The next poll tries again; the queue is in the database and loses nothing.
                tracing::error!(%error, "scan queue not read");
                return;
            }
        }
    }
}

/// Runs one attempt and cleans up afterwards.
async fn attempt(
    parts: WorkerParts,
    runner: Arc<dyn Runner>,
    claim: Claim,
    token: CancellationToken,
    stop: CancellationToken,
) {
    let running = claim.attempt.clone();
    let written = match run(&parts, runner, claim, token, &stop).await {
        Ok(Some(end)) => parts.queue.end(&running, end).await,
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        tracing::error!(scan = %running.scan, %error, "scan results not stored");
        // The queue repeats results until they are stored or refused, or the lease ends: then this
        // node claims the scan again, and the attempt does not count.
        if !parts.lease.has_ended() && !stop.is_cancelled() {
            let counted = parts.queue.end(&running, AttemptEnd::Panicked).await;
            if let Err(cause) = counted {
                tracing::error!(scan = %running.scan, %cause, "failed attempt not counted");
            }
        }
    }
    parts.worker.running().remove(&running.scan);
    parts.worker.wake();
}

/// Why a scan was cancelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Stop,
    TimeLimit,
    Superseded,
}

/// Runs one attempt. `None` when the claim or the lease was lost, or the scan was deleted.
async fn run(
    parts: &WorkerParts,
    runner: Arc<dyn Runner>,
    claim: Claim,
    token: CancellationToken,
    service_stop: &CancellationToken,
) -> QueueResult<Option<AttemptEnd>> {
    let attempt = claim.attempt.clone();
    let mask = Mutex::new(CredentialMask::new(&claim.job.params));
    let results = ResultWriter {
        queue: parts.queue.as_ref(),
        attempt: &attempt,
        mask: &mask,
        has_findings: AtomicBool::new(false),
    };
    let minutes = claim.max_minutes;
    let limit = parts
        .clock
        .until(parts.clock.now() + SignedDuration::from_mins(minutes));
    let (sender, mut events) = mpsc::channel(EVENT_BATCH);
    let (job, scan_token, lease) = (claim.job, token.clone(), Arc::clone(&parts.lease));
    // A separate task: a panic in a check ends this scan and not the worker.
    let mut task = AbortOnDropHandle::new(tokio::spawn(async move {
        let scan = runner.run(job, sender, scan_token);
        lease.hold(scan).await
    }));
    let cause = results.watch(&mut events, limit, &token).await?;
    token.cancel();
    if !results.drain_in_time(&mut events, cause).await {
        task.abort();
    }
    let outcome = (&mut task).await;
    Ok(match (cause, outcome) {
        (Some(Cause::Superseded), _) => None,
        (Some(Cause::TimeLimit), _) => {
            let why = format!("time limit of {minutes} min exceeded");
            Some(results.cut_short(ScanStatus::TimedOut, &why))
        }
        (Some(Cause::Stop), _) if service_stop.is_cancelled() => Some(AttemptEnd::Shutdown),
        (Some(Cause::Stop), _) => {
            Some(results.cut_short(ScanStatus::Stopped, "stopped by the user"))
        }
        (None, Ok(Some(outcome))) => {
            let mask = mask.into_inner().unwrap_or_else(PoisonError::into_inner);
            Some(end_of(outcome, &mask))
        }
        (None, Ok(None)) => {
            tracing::warn!(scan = %attempt.scan, "scan ended here: the lease of this node ended; it starts again on this node or on another one");
            None
        }
        (None, Err(_)) => Some(AttemptEnd::Panicked),
    })
}

fn end_of(outcome: ScanOutcome, mask: &CredentialMask) -> AttemptEnd {
    let (status, message) = match outcome {
        ScanOutcome::Finished(message) => (ScanStatus::Finished, message),
        ScanOutcome::FailedToStart(message) => (ScanStatus::FailedToStart, message),
        ScanOutcome::ConnectionError(message) => (ScanStatus::ConnectionError, message),
        ScanOutcome::AuthFailed(message) => (ScanStatus::AuthFailed, message),
        ScanOutcome::OutOfScope(refusal) => {
            (ScanStatus::Stopped, format!("{ENDED_BY_SCOPE}{refusal}"))
        }
        // The worker did not cancel this scan.
        ScanOutcome::Cancelled => (
            ScanStatus::Aborted,
            "the scan ended with an internal error; see the log of the service".to_owned(),
        ),
    };
    AttemptEnd::Outcome {
        status,
        message: mask.text(message),
    }
}

/// The only way of the results of a scan into the store.
struct ResultWriter<'a> {
    queue: &'a dyn ScanQueue,
    attempt: &'a Attempt,
    mask: &'a Mutex<CredentialMask>,
    has_findings: AtomicBool,
}

impl ResultWriter<'_> {
    /// The end of a scan before all of its tests have ended.
    fn cut_short(&self, status: ScanStatus, why: &str) -> AttemptEnd {
        let results = match self.has_findings.load(Ordering::Relaxed) {
            true => "partial results",
            false => "no findings",
        };
        AttemptEnd::Outcome {
            status,
            message: format!("{why}; {results}"),
        }
    }

    /// Stores events until the scan ends by itself (`None`) or must be cancelled.
    async fn watch(
        &self,
        events: &mut mpsc::Receiver<ScanEvent>,
        limit: BoxFuture<'static, ()>,
        token: &CancellationToken,
    ) -> QueueResult<Option<Cause>> {
        let mut cancelled: BoxFuture<'_, Cause> = Box::pin(async move {
            tokio::select! {
                biased;
                () = token.cancelled() => Cause::Stop,
                () = limit => Cause::TimeLimit,
            }
        });
        let mut buffer = Vec::with_capacity(EVENT_BATCH);
        loop {
            // Biased: a flood of events must not delay a stop.
            tokio::select! {
                biased;
                cause = &mut cancelled => return Ok(Some(cause)),
                count = events.recv_many(&mut buffer, EVENT_BATCH) => {
                    if count == 0 {
                        return Ok(None);
                    }
                    let cause = self.write_unless(&mut buffer, &mut cancelled).await?;
                    if cause.is_some() {
                        return Ok(cause);
                    }
                }
            }
        }
    }

    /// Stores events; the cause if the scan must be cancelled. A cancelled scan does not wait for
    /// results that the service of a worker never accepts.
    async fn write_unless(
        &self,
        events: &mut Vec<ScanEvent>,
        cancelled: &mut BoxFuture<'_, Cause>,
    ) -> QueueResult<Option<Cause>> {
        let mut write = Box::pin(self.write(events));
        let cause = tokio::select! {
            biased;
            written = &mut write => return Ok((!written?).then_some(Cause::Superseded)),
            cause = cancelled => cause,
        };
        // Most writes take milliseconds, and their results belong to the scan.
        let is_lost = match tokio::time::timeout(GRACE, write).await {
            Ok(written) => !written?,
            Err(_) => false,
        };
        Ok(Some(if is_lost { Cause::Superseded } else { cause }))
    }

    /// [`Self::drain`]; false when the scan does not end in time.
    async fn drain_in_time(
        &self,
        events: &mut mpsc::Receiver<ScanEvent>,
        cause: Option<Cause>,
    ) -> bool {
        let drained = tokio::time::timeout(GRACE, self.drain(events, cause));
        drained.await.is_ok()
    }

    /// Stores the remaining events of a cancelled scan.
    async fn drain(&self, events: &mut mpsc::Receiver<ScanEvent>, cause: Option<Cause>) {
        let mut buffer = Vec::new();
        while events.recv_many(&mut buffer, EVENT_BATCH).await > 0 {
            if cause == Some(Cause::Superseded) {
                buffer.clear();
            } else if let Err(error) = self.write(&mut buffer).await {
                tracing::error!(scan = %self.attempt.scan, %error, "last scan results not stored");
            }
        }
    }

    async fn write(&self, events: &mut Vec<ScanEvent>) -> QueueResult<bool> {
        let update = self.masked(events);
        let finds = update.tests.iter().any(|test| !test.findings.is_empty());
        let is_recorded = self.queue.record(self.attempt, update).await?;
        if finds && is_recorded {
            self.has_findings.store(true, Ordering::Relaxed);
        }
        Ok(is_recorded)
    }

    /// The events without credentials, as they are stored.
    fn masked(&self, events: &mut Vec<ScanEvent>) -> ScanUpdate {
        let mut update = ScanUpdate::default();
        let mut mask = self.mask.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events.drain(..) {
            match mask.event(event) {
                ScanEvent::Planned(tests) => update.planned = Some(tests),
                ScanEvent::Tested(test) => update.tests.push(test),
                ScanEvent::Raw(line) => update.raw.push(line),
                ScanEvent::Info(line) => update.info.push(line),
                ScanEvent::Step(step) => update.step = Some(step),
                ScanEvent::Output(output) => update.output = Some(output),
                ScanEvent::Learned(secrets) => mask.learn(&secrets),
            }
        }
        update
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// The queue of a service that never answers.
    struct SilentQueue;

    impl ScanQueue for SilentQueue {
        fn claim<'a>(&'a self, _: &'a [ScanId]) -> BoxFuture<'a, QueueResult<QueuePoll>> {
            Box::pin(pending())
        }

        fn record<'a>(&'a self, _: &'a Attempt, _: ScanUpdate) -> BoxFuture<'a, QueueResult<bool>> {
            Box::pin(pending())
        }

        fn end<'a>(&'a self, _: &'a Attempt, _: AttemptEnd) -> BoxFuture<'a, QueueResult<()>> {
            Box::pin(pending())
        }
    }

    #[tokio::test]
    async fn results_that_are_never_accepted_delay_neither_stop_nor_time_limit() {
        let attempt = Attempt {
            scan: ScanId(1),
            number: 1,
        };
        let mask = Mutex::new(CredentialMask::new(&serde_json::json!({})));
        let results = ResultWriter {
            queue: &SilentQueue,
            attempt: &attempt,
            mask: &mask,
            has_findings: AtomicBool::new(false),
        };
        for (stop_after, limit_after, expected) in
            [(50, 60_000, Cause::Stop), (60_000, 50, Cause::TimeLimit)]
        {
            let (sender, mut events) = mpsc::channel(1);
            let sent = sender.send(ScanEvent::Raw("GET / 200".to_owned())).await;
            sent.unwrap();
            let limit = Box::pin(tokio::time::sleep(Duration::from_millis(limit_after)));
            let token = CancellationToken::new();
            let stop = token.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(stop_after)).await;
                stop.cancel();
            });
            let cause = results.watch(&mut events, limit, &token).await;
            assert!(
                cause.unwrap() == Some(expected),
                "stop after {stop_after} ms"
            );
        }
    }
}
