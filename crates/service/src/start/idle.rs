//! Stops an idle service: no scan, no import, no recording logger, no active schedule and no client
//! for the given time.
//!
//! Only the service that the dashboard starts in the background has this; `scandeck serve` runs
//! until it is stopped.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::DatabaseError;

/// Cancels `stop` when the service was idle for `after`.
pub async fn watch(app: App, after: Duration, stop: CancellationToken) {
    let after = SignedDuration::try_from(after).unwrap_or(SignedDuration::MAX);
    let later = |from: Timestamp, by| from.saturating_add(by).unwrap_or(Timestamp::MAX);
    loop {
        let idle = is_idle(&app).await.unwrap_or_default();
        // Read afterwards: a client that ends the last scan or logger in between is a recent
        // client.
        let now = app.now();
        let last =
            Timestamp::from_millisecond(app.last_client.load(Ordering::Relaxed)).unwrap_or(now);
        let deadline = later(last, after);
        if idle && now >= deadline {
            tracing::info!("service is idle: stopping");
            stop.cancel();
            return;
        }
        // Without a client but with a scan, an import, a logger or a schedule, the check is repeated.
        let next = deadline.max(later(now, after / 8));
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.clock.until(next) => {}
        }
    }
}

async fn is_idle(app: &App) -> Result<bool, DatabaseError> {
    let scans = app.store.active_scans().await?;
    let imports = app.store.unfinished_imports().await?;
    let next_schedule = app.store.next_schedule_at().await?;
    Ok(scans == 0
        && imports == 0
        && next_schedule.is_none()
        && app
            .store
            .live_loggers(app.settings.logger_days, app.now())
            .await?
            == 0)
}
