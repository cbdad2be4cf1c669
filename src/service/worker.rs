//! The worker: takes scans from the queue, runs them with the engine, and writes what it tells.
//!
//! ```text
//!   queue ──claim──► Runner::run ──events──► store (each write names the attempt)
//!                       ▲   └──outcome────► finished, failed to start, connection error, auth failed
//!   stop, time limit ───┘ token             stopped, timed out
//!   service ends ───────┘                   nothing written: the next start resumes it
//!   panic                                   back to the queue
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::SignedDuration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::engine::{Engine, ScanEvent, ScanJob, ScanOutcome};
use super::state::App;
use super::store::DatabaseError;
use super::store::jobs::{Attempt, Claim, QueueTurn, ScanUpdate, Stop};
use crate::contract::{ScanId, ScanStatus, WorkspaceId};

/// How often a running scan shows that time passes: its duration is part of the answers.
const TICK: Duration = Duration::from_secs(1);

/// Ticks between two renewals of the lease (15 s).
const RENEWAL: u32 = 5;

/// How long a cancelled scan may take to end before its task is ended; "stopped within 2 s" holds either way.
const GRACE: Duration = Duration::from_millis(1200);

/// How often the queue is looked at without being woken: leases run out silently.
const LOOK: Duration = Duration::from_secs(5);

/// Events written in one transaction at most.
const EVENTS: usize = 256;

/// Runs scans: the engine, or what stands for it in a test.
pub trait Runner: Send + Sync + 'static {
    /// Runs one scan to its end, or until `stop`.
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

/// What the routes know of the worker: how to wake it and how to stop a scan.
#[derive(Debug, Default)]
pub struct Worker {
    queued: Notify,
    running: Mutex<HashMap<ScanId, CancellationToken>>,
}

impl Worker {
    /// Says that something was queued.
    pub fn wake(&self) {
        self.queued.notify_one();
    }

    /// Stops a scan; false when there is none. One that has ended stays as it is.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stop(&self, app: &App, scan: ScanId) -> Result<bool, DatabaseError> {
        let stop = app.store.request_stop(scan, app.now()).await?;
        if stop == Stop::Running
            && let Some(token) = self.running().get(&scan)
        {
            token.cancel();
        }
        app.deliveries.notify_one();
        Ok(stop != Stop::Missing)
    }

    /// Stops every scan of a workspace.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stop_workspace(&self, app: &App, workspace: WorkspaceId) -> Result<(), DatabaseError> {
        for scan in app.store.active_in(workspace).await? {
            self.stop(app, scan).await?;
        }
        Ok(())
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<ScanId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy(&self) -> Vec<ScanId> {
        self.running().keys().copied().collect()
    }
}

/// Works on the queue until `stop`; running scans are then cancelled and left to the next start.
pub async fn work(app: App, runner: Arc<dyn Runner>, owner: String, stop: CancellationToken) {
    let mut scans = JoinSet::new();
    while !stop.is_cancelled() {
        step(&app, &runner, &owner, &mut scans, &stop).await;
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.worker.queued.notified() => {}
            Some(_) = scans.join_next() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    while scans.join_next().await.is_some() {}
}

/// Claims as many scans as may run at once.
async fn step(app: &App, runner: &Arc<dyn Runner>, owner: &str, scans: &mut JoinSet<()>, stop: &CancellationToken) {
    while scans.try_join_next().is_some() {}
    while scans.len() < app.settings.scans_at_once.max(1) {
        match app.store.claim(owner, &app.worker.busy(), app.now()).await {
            Ok(QueueTurn::Claimed(claim)) => {
                let token = stop.child_token();
                let scan = claim.attempt.scan;
                app.worker.running().insert(scan, token.clone());
                // A stop between the claim and this line found no token to cancel.
                if app.store.stop_requested(scan).await.unwrap_or_default() {
                    token.cancel();
                }
                scans.spawn(attempt(app.clone(), Arc::clone(runner), *claim, token, stop.clone()));
            }
            // It may owe a callback.
            Ok(QueueTurn::GivenUp) => app.deliveries.notify_one(),
            Ok(QueueTurn::Nothing) => return,
            Err(error) => {
                // Tried again with the next look; the queue is in the database and loses nothing.
                tracing::error!(%error, "the queue could not be read");
                return;
            }
        }
    }
}

/// One attempt, and the clean-up whatever becomes of it.
async fn attempt(app: App, runner: Arc<dyn Runner>, claim: Claim, token: CancellationToken, stop: CancellationToken) {
    let running = claim.attempt.clone();
    let ended = match claim.vpn_scan {
        true => Ok(End::Outcome(
            ScanStatus::VpnConnectionError,
            "there is no VPN here: leave vpn_profile_uuid out, or send null".into(),
        )),
        false => run(&app, runner, claim, token, &stop).await,
    };
    let written = match ended {
        Ok(End::Outcome(status, message)) => app.store.finish(&running, &status, &message, app.now()).await.map(|_| ()),
        Ok(End::Panicked) => app.store.release(&running).await,
        Ok(End::ServiceEnds | End::NotOurs) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        tracing::error!(scan = %running.scan, %error, "the results of a scan could not be written");
    }
    app.worker.running().remove(&running.scan);
    app.worker.wake();
    app.deliveries.notify_one();
}

/// How an attempt ended.
enum End {
    Outcome(ScanStatus, String),
    /// Left as it is for the next start.
    ServiceEnds,
    /// Another attempt runs, or the scan was deleted.
    NotOurs,
    Panicked,
}

/// Why a scan was cancelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Stop,
    TimeLimit,
    NotOurs,
}

async fn run(
    app: &App,
    runner: Arc<dyn Runner>,
    claim: Claim,
    token: CancellationToken,
    service_stop: &CancellationToken,
) -> Result<End, DatabaseError> {
    let attempt = claim.attempt.clone();
    let limit = app.clock.until(app.now() + SignedDuration::from_mins(claim.max_minutes));
    let minutes = claim.max_minutes;
    let (sender, mut events) = mpsc::channel(EVENTS);
    let (job, scan_token) = (job(claim), token.clone());
    // A task of its own: a panic in a check ends this scan and not the worker.
    let mut task = AbortOnDropHandle::new(tokio::spawn(async move { runner.run(job, sender, scan_token).await }));
    let cause = watch(app, &attempt, &mut events, limit, &token).await?;
    token.cancel();
    if tokio::time::timeout(GRACE, drain(app, &attempt, &mut events, cause)).await.is_err() {
        task.abort();
    }
    let outcome = (&mut task).await;
    Ok(match (cause, outcome) {
        (Some(Cause::NotOurs), _) => End::NotOurs,
        (Some(Cause::TimeLimit), _) => End::Outcome(
            ScanStatus::TimedOut,
            format!("max_scan_time ({minutes} min) has passed; the results so far are kept"),
        ),
        (Some(Cause::Stop), _) if service_stop.is_cancelled() => End::ServiceEnds,
        (Some(Cause::Stop), _) => {
            End::Outcome(ScanStatus::Stopped, "stopped by the user; the results so far are kept".into())
        }
        (None, Ok(outcome)) => end_of(outcome),
        (None, Err(_)) => End::Panicked,
    })
}

fn job(claim: Claim) -> ScanJob {
    ScanJob {
        scan: claim.attempt.scan,
        tool: claim.tool,
        target: claim.target,
        params: claim.params,
        redirect_level: claim.redirect_level,
        scan_original_url: claim.scan_original_url,
    }
}

fn end_of(outcome: ScanOutcome) -> End {
    let (status, message) = match outcome {
        ScanOutcome::Finished(message) => (ScanStatus::Finished, message),
        ScanOutcome::FailedToStart(message) => (ScanStatus::FailedToStart, message),
        ScanOutcome::ConnectionError(message) => (ScanStatus::ConnectionError, message),
        ScanOutcome::AuthFailed(message) => (ScanStatus::AuthFailed, message),
        // Without a cause of ours the scan gave itself up.
        ScanOutcome::Cancelled => (ScanStatus::Aborted, "the scan gave up".to_owned()),
    };
    End::Outcome(status, message)
}

/// Writes events until the scan ends by itself (no cause) or has to be cancelled.
async fn watch(
    app: &App,
    attempt: &Attempt,
    events: &mut mpsc::Receiver<ScanEvent>,
    limit: BoxFuture<'static, ()>,
    token: &CancellationToken,
) -> Result<Option<Cause>, DatabaseError> {
    let mut limit = limit;
    let mut tick = tokio::time::interval(TICK);
    let mut ticks = 0;
    let mut buffer = Vec::with_capacity(EVENTS);
    loop {
        // Biased: a flood of events must not keep a stop waiting.
        tokio::select! {
            biased;
            () = token.cancelled() => return Ok(Some(Cause::Stop)),
            () = &mut limit => return Ok(Some(Cause::TimeLimit)),
            _ = tick.tick() => {
                app.store.touch();
                ticks += 1;
                if ticks % RENEWAL == 0 && !app.store.renew(attempt, app.now()).await? {
                    return Ok(Some(Cause::NotOurs));
                }
            }
            count = events.recv_many(&mut buffer, EVENTS) => {
                if count == 0 {
                    return Ok(None);
                }
                if !write(app, attempt, &mut buffer).await? {
                    return Ok(Some(Cause::NotOurs));
                }
            }
        }
    }
}

/// Writes what a cancelled scan still tells, until it has ended.
async fn drain(app: &App, attempt: &Attempt, events: &mut mpsc::Receiver<ScanEvent>, cause: Option<Cause>) {
    let mut buffer = Vec::new();
    while events.recv_many(&mut buffer, EVENTS).await > 0 {
        if cause == Some(Cause::NotOurs) {
            buffer.clear();
        } else if let Err(error) = write(app, attempt, &mut buffer).await {
            tracing::error!(scan = %attempt.scan, %error, "the last results of a scan were not written");
        }
    }
}

async fn write(app: &App, attempt: &Attempt, events: &mut Vec<ScanEvent>) -> Result<bool, DatabaseError> {
    let mut batch = ScanUpdate::default();
    for event in events.drain(..) {
        match event {
            ScanEvent::Planned(tests) => batch.planned = Some(tests),
            ScanEvent::Tested(test) => batch.tests.push(test),
            ScanEvent::Raw(line) => batch.raw.push(line),
            ScanEvent::Info(line) => batch.info.push(line),
            ScanEvent::Output(output) => batch.output = Some(output),
        }
    }
    app.store.record(attempt, &batch, app.now()).await
}
