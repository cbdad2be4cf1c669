//! Ends a service that nobody uses: no scan, no logger that still records, no client for as long as was asked.
//!
//! Only a service that the dashboard started by itself has this; who starts `scandeck serve` by hand ends it by hand.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::state::App;
use super::store::DatabaseError;

/// Watches until `stop`, and cancels it when the service was idle for `after`.
pub async fn watch(app: App, after: Duration, stop: CancellationToken) {
    let after = SignedDuration::try_from(after).unwrap_or(SignedDuration::MAX);
    let later = |from: Timestamp, by| from.saturating_add(by).unwrap_or(Timestamp::MAX);
    loop {
        let quiet = is_quiet(&app).await.unwrap_or_default();
        // Read after the look: a client that ends the last scan or logger in between has been here just now.
        let now = app.now();
        let last = Timestamp::from_millisecond(app.last_client.load(Ordering::Relaxed)).unwrap_or(now);
        let over = later(last, after);
        if quiet && now >= over {
            tracing::info!("nobody uses the service: it ends");
            stop.cancel();
            return;
        }
        // No client, but a scan or a logger: looked at again in a while.
        let next = over.max(later(now, after / 8));
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.clock.until(next) => {}
        }
    }
}

async fn is_quiet(app: &App) -> Result<bool, DatabaseError> {
    let scans = app.store.active_scans().await?;
    Ok(scans == 0 && app.store.live_loggers(app.settings.logger_days, app.now()).await? == 0)
}
