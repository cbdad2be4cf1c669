//! Divides the rate of each host between the nodes that scan it.
//!
//! ```text
//!   scan opens a lane ─► row (host, node) ─► every node with a lane of the host counts the rows
//!     └─ waits meanwhile                       └─► its part of the rate: 1 / number of nodes
//! ```
//!
//! The rows of a node end with its claims. So the parts of a dead node are free when other nodes
//! take its scans over, and not before. Requests need no row: they cost the database nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::engine::pace::Lanes;
use crate::state::App;
use crate::store::StoreResult;

/// How often the rows are counted while scans have lanes.
const INTERVAL: Duration = Duration::from_millis(500);

/// How long a new lane waits: an interval until its row is stored, another one until all nodes have
/// counted it, and the time of their statements.
pub const JOIN: Duration = Duration::from_millis(1500);

/// Divides the rates until `stop`.
pub async fn share_lanes(app: App, lanes: Arc<Lanes>, stop: CancellationToken) {
    let mut stored = Vec::new();
    while !stop.is_cancelled() {
        let counted = step(&app, &lanes, &mut stored);
        if let Some(Err(error)) = stop.run_until_cancelled(counted).await {
            // The beat reports a database that is away, and ends the scans.
            tracing::debug!(%error, "nodes that scan the same hosts not counted");
        }
        stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await;
    }
}

/// `stored` are the hosts with a row of this node.
async fn step(app: &App, lanes: &Lanes, stored: &mut Vec<IpAddr>) -> StoreResult<()> {
    let mut hosts = lanes.hosts();
    hosts.sort_unstable();
    if hosts.is_empty() && stored.is_empty() {
        return Ok(());
    }
    let names: HashMap<String, IpAddr> = hosts.iter().map(|ip| (ip.to_string(), *ip)).collect();
    let counted = app
        .store
        .share_hosts(names.keys().cloned().collect())
        .await?;
    for (host, nodes) in counted {
        if let Some(ip) = names.get(&host) {
            lanes.divide(*ip, u32::try_from(nodes).unwrap_or(u32::MAX));
        }
    }
    *stored = hosts;
    Ok(())
}
