//! Keeps the claims of this node, and reads which of its scans were stopped.
//!
//! ```text
//!   every 5 s ──► beat ─► lease renewed; claims of ended nodes are free: what waits is polled
//!   every 750 ms, while scans run, and after a claim or a stop
//!             ──► claimed scans ─► stopped or lost: the token of the scan is cancelled
//! ```
//!
//! Scans that wait for a place without a worker end after two leases.
//!
//! With PostgreSQL, the scope is a row too, which each node copies to its scope file twice a second.
//! A node that cannot follow the scope does not beat: it ends its scans with its lease.
//!
//! A stop is a row, so it does not matter which node received the request. So are all requests for
//! background work: beside other nodes, each beat polls for what they have queued.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::clock::ClockDifference;
use crate::data::service_scope::follow_scope;
use crate::state::App;
use crate::store::{DatabaseError, Store};

/// Beats within the time after which the claims of a silent node end.
const BEATS: u32 = 3;

/// How much sooner a failed beat is repeated.
const SOONER: u32 = 5;

/// How long scans wait for a worker of their place, in leases: it may start again meanwhile.
const PLACE_LEASES: u32 = 2;

/// How often stops are read. Together with the time for a cancelled scan to end, clients see a scan
/// as stopped within 2 s.
const CHECK: Duration = Duration::from_millis(750);

/// How often the scope of the database is copied. Together with the interval in which a scan checks
/// its target, and the time for a cancelled scan to end, a change ends scans within 2 s.
const SCOPE_INTERVAL: Duration = Duration::from_millis(500);

/// Keeps the lease until `stop`.
pub async fn keep_lease(app: App, stop: CancellationToken) {
    let lease = app.settings.lease;
    let interval = lease / BEATS;
    let mut last_beat: Option<Instant> = None;
    while !stop.is_cancelled() {
        let sent = Instant::now();
        let may_judge = last_beat.is_some_and(|last| last.elapsed() < lease);
        let pause = match stop.run_until_cancelled(renew(&app, may_judge)).await {
            Some(Err(error)) => {
                tracing::error!(%error, "claims of this node not renewed");
                interval / SOONER
            }
            _ => {
                last_beat = Some(sent);
                interval
            }
        };
        stop.run_until_cancelled(tokio::time::sleep(pause)).await;
    }
}

/// `may_judge`: see [`Store::beat`].
async fn renew(app: &App, may_judge: bool) -> anyhow::Result<()> {
    follow_scope(&app.store, app.scope_check.file()).await?;
    let difference = clock_difference(&app.store).await?;
    app.clock.follow(difference);
    let (sent, had_ended) = (Instant::now(), app.lease.has_ended());
    let beat = app.store.beat(may_judge, -difference.millis, app.now());
    let beat = beat.await?;
    app.lease.renew(sent, beat.is_lost);
    if beat.has_ended_nodes || beat.has_others || beat.is_lost || had_ended {
        app.worker.wake();
        app.reports.notify_one();
        app.imports.notify_one();
        app.deliveries.notify_one();
    }
    Ok(())
}

/// By how much the clock of the database is ahead.
///
/// # Errors
/// When the database fails.
pub async fn clock_difference(store: &Store) -> Result<ClockDifference, DatabaseError> {
    let before = Timestamp::now();
    let database = store.time().await?;
    Ok(ClockDifference::measured(
        database,
        before,
        Timestamp::now(),
    ))
}

/// Cancels the scans of this node that were stopped, or lost, until `stop`.
pub async fn watch_claims(app: App, stop: CancellationToken) {
    let mut check = tokio::time::interval(CHECK);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_scanning = !app.worker.running_scans().is_empty();
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.worker.claims_changed() => {}
            _ = check.tick(), if is_scanning => {}
        }
        if let Err(error) = cancel_ended(&app).await {
            tracing::error!(%error, "claims of this node not read");
        }
    }
}

/// Follows the scope of the database until `stop`.
pub async fn watch_scope(app: App, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let followed = follow_scope(&app.store, app.scope_check.file());
        if let Some(Err(error)) = stop.run_until_cancelled(followed).await {
            // The next beat fails too, and reports it as an error.
            tracing::debug!(%error, "scope in the database not read");
        }
        stop.run_until_cancelled(tokio::time::sleep(SCOPE_INTERVAL))
            .await;
    }
}

/// Ends the scans that wait for a place without a worker, until `stop`.
pub async fn watch_places(app: App, stop: CancellationToken) {
    let mut without_worker = HashMap::new();
    while !stop.is_cancelled() {
        let ended = end_unreachable(&app, &mut without_worker);
        if let Some(Err(error)) = stop.run_until_cancelled(ended).await {
            tracing::error!(%error, "scans that wait for a place not read");
        }
        let pause = tokio::time::sleep(app.settings.lease / BEATS);
        stop.run_until_cancelled(pause).await;
    }
}

/// `without_worker` are the places without a worker, since when.
async fn end_unreachable(
    app: &App,
    without_worker: &mut HashMap<String, Instant>,
) -> Result<(), DatabaseError> {
    let places = app.store.unreachable_places().await?;
    without_worker.retain(|place, _| places.contains(place));
    for place in places {
        let since = *without_worker
            .entry(place.clone())
            .or_insert_with(Instant::now);
        if since.elapsed() >= app.settings.lease * PLACE_LEASES
            && app.store.end_unreachable(&place, app.now()).await? > 0
        {
            // They may have callbacks.
            app.deliveries.notify_one();
        }
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
