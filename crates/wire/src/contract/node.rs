//! The processes that serve one database (nodes): an extension of the service beside the API v2.
//!
//! ```text
//!   GET /scandeck/v1/nodes   NodeList
//! ```

use serde::{Deserialize, Serialize};

use super::{Shared, Stamp};

/// The path of the nodes, beside that of the API v2.
pub const NODES_ROOT: &str = "/scandeck/v1/nodes";

/// A process that serves the database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// Random: a process that starts again has another one.
    pub id: Shared,
    /// The name of its machine.
    pub name: Shared,
    /// `api`, `logger` and `worker`, or some of them.
    pub roles: Vec<Shared>,
    pub version: Shared,
    /// By the clock of the database.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub started_at: Option<Stamp>,
    /// Seconds since the node last renewed its claims; after 15 they end, and after 120 those of the
    /// only worker of a place.
    pub seconds_since_beat: i64,
    pub running_scans: i64,
    /// By how many milliseconds the clock of the machine is ahead of that of the database.
    pub clock_ahead_ms: i64,
    /// The place whose scans a worker runs that uses the API; none for a process with a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Shared>,
    /// The id of the place, with which a new scan chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpn_profile_uuid: Option<Shared>,
}

/// The nodes, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeList {
    pub nodes: Vec<NodeState>,
}
