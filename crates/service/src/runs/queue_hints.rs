//! Polls a queue when another node has changed it.
//!
//! ```text
//!   scan, report, import or callback waits ─► hint of PostgreSQL ─► the task of its queue polls
//! ```
//!
//! A hint may be lost, so each task also polls by itself: for scans every five seconds, for the
//! others with each beat.

use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::{ChangedQueue, StoreResult};

/// Pause before another connection: a pooler refuses each, and may log it.
const PAUSE: Duration = Duration::from_secs(60);

/// Follows the hints until `stop`; a database file has none.
pub async fn follow_hints(app: App, stop: CancellationToken) {
    loop {
        match stop.run_until_cancelled(follow(&app)).await {
            None | Some(Ok(())) => return,
            // The tasks report a database that is away.
            Some(Err(error)) => {
                tracing::debug!(%error, "no hints of other nodes; the queues are polled")
            }
        }
        stop.run_until_cancelled(sleep(PAUSE)).await;
    }
}

async fn follow(app: &App) -> StoreResult<()> {
    let Some(mut listener) = app.store.listen().await? else {
        return Ok(());
    };
    loop {
        match listener.next().await? {
            ChangedQueue::Scans => app.worker.wake(),
            ChangedQueue::Reports => app.reports.notify_one(),
            ChangedQueue::Imports => app.imports.notify_one(),
            ChangedQueue::Callbacks => app.deliveries.notify_one(),
        }
    }
}
