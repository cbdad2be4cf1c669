//! Shares the rate limits and the quotas of API keys between the nodes of a database.
//!
//! ```text
//!   once a second: windows of this node ─► rows, if they have changed
//!                  rows of other nodes  ─► added to the windows of this node (guards)
//! ```
//!
//! So a key that uses several nodes exceeds its limit for about a second at most.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::StoreResult;
use crate::store::key_windows::KeyWindow;

const INTERVAL: Duration = Duration::from_secs(1);

/// Shares the windows until `stop`.
pub async fn share_key_windows(app: App, stop: CancellationToken) {
    let mut stored = Vec::new();
    while !stop.is_cancelled() {
        let shared = stop.run_until_cancelled(step(&app, &mut stored)).await;
        if let Some(Err(error)) = shared {
            // The limits hold at each node meanwhile; the beat reports a database that is away.
            tracing::debug!(%error, "counts of API keys not shared with other nodes");
        }
        stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await;
    }
}

/// `stored` are the windows of this node that have a row.
async fn step(app: &App, stored: &mut Vec<KeyWindow>) -> StoreResult<()> {
    let now = app.now();
    let mut own = app.limiter.own_windows(now);
    own.extend(app.key_usage.own_windows(now));
    own.sort_unstable();
    if own != *stored {
        app.store.store_windows(&own, now).await?;
        *stored = own;
    }
    let others = app.store.windows_of_others(now).await?;
    app.limiter.count_others(&others, now);
    app.key_usage.count_others(&others, now);
    Ok(())
}
