//! Months of captures: tables for those that come, and the end of those that are too old.
//!
//! ```text
//!   start, and each hour ─► tables of this month and the next one
//!                        ─► months before the first that is kept: deleted
//!                        ─► earlier months without captures: dropped
//! ```
//!
//! Nothing depends on the time at which this is done, so a step that fails, such as beside a backup,
//! is tried again in the next hour. Of several nodes, one does it.

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::capture_months::CaptureMonth;

const INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// Keeps the months of captures until `stop`.
pub async fn keep_months(app: App, stop: CancellationToken) {
    let mut deleted_before = None;
    loop {
        let now = app.now();
        let done = stop.run_until_cancelled(step(&app, now, &mut deleted_before));
        if done.await.is_none() {
            return;
        }
        let next = now.saturating_add(INTERVAL).unwrap_or(Timestamp::MAX);
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.clock.until(next) => {}
        }
    }
}

/// `deleted_before`: the month before which all captures are deleted.
async fn step(app: &App, now: Timestamp, deleted_before: &mut Option<CaptureMonth>) {
    if let Err(error) = app.store.add_months(now).await {
        tracing::warn!(%error, "no table added for captures of a coming month; tried again in an hour");
    }
    if let Some(months) = app.settings.capture_months {
        let first_kept = CaptureMonth::of(now).earlier(months);
        if *deleted_before != Some(first_kept) {
            match app.store.delete_captures_before(first_kept).await {
                Ok(true) => *deleted_before = Some(first_kept),
                Ok(false) => tracing::debug!("another node deletes old captures"),
                Err(error) => {
                    tracing::warn!(
                        %error,
                        before = %first_kept,
                        "old captures not deleted; tried again in an hour. A backup or another long transaction may use them"
                    );
                }
            }
        }
    }
    if let Err(error) = app.store.drop_empty_months(now).await {
        tracing::warn!(%error, "months without captures not dropped; tried again in an hour");
    }
}
