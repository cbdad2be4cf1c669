//! Keeps the claims of this process, and reads which of its scans were stopped.
//!
//! ```text
//!   every 5 s ──► beat ─────────► claims of ended processes are free: queue, reports, imports and callbacks are polled
//!   every 750 ms, while scans run, and after a claim or a stop
//!             ──► claimed scans ─► stopped or lost: the token of the scan is cancelled
//! ```
//!
//! A stop is a row, so it does not matter which process received the request.

use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::DatabaseError;

/// Far below the 15 s after which the claims of a silent process end.
const BEAT: Duration = Duration::from_secs(5);

/// How often stops are read. Together with the time for a cancelled scan to end, clients see a scan
/// as stopped within 2 s.
const CHECK: Duration = Duration::from_millis(750);

/// Keeps the claims until `stop`.
pub async fn keep_claims(app: App, stop: CancellationToken) {
    let mut beat = interval(BEAT);
    let mut check = interval(CHECK);
    loop {
        let is_scanning = !app.worker.running_scans().is_empty();
        tokio::select! {
            () = stop.cancelled() => return,
            _ = beat.tick() => log(renew(&app).await),
            () = app.worker.claims_changed() => log(cancel_ended(&app).await),
            _ = check.tick(), if is_scanning => log(cancel_ended(&app).await),
        }
    }
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

fn log(result: Result<(), DatabaseError>) {
    if let Err(error) = result {
        tracing::error!(%error, "claims of this process not read or renewed");
    }
}

async fn renew(app: &App) -> Result<(), DatabaseError> {
    if app.store.beat(app.now()).await? {
        app.worker.wake();
        app.reports.notify_one();
        app.imports.notify_one();
        app.deliveries.notify_one();
    }
    Ok(())
}

async fn cancel_ended(app: &App) -> Result<(), DatabaseError> {
    // Before the claims are read: a scan that is claimed in between is in neither list.
    let running = app.worker.running_scans();
    if !running.is_empty() {
        let claims = app.store.claimed_scans().await?;
        app.worker.cancel_ended(&running, &claims);
    }
    Ok(())
}
