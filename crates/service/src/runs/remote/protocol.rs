//! The requests of a worker at a place, below `/scandeck/v1/worker`. Only this program sends them.
//!
//! ```text
//!   POST beat    WorkerBeat    ─► BeatAnswer                    every second
//!   POST claim   ClaimRequest  ─► 200 Claim, 204 without one    when a scan waits
//!   POST record  RecordRequest ─► 204, 409 claim lost           repeated until it is answered
//!   POST end     EndRequest    ─► 204
//! ```

use serde::{Deserialize, Serialize};

use crate::place::WorkerPlace;
use crate::runs::queue::AttemptEnd;
use crate::store::jobs::{Attempt, ClaimedScan, ScanUpdate};
use scandeck_wire::contract::ScanId;

/// The base path, beside that of the API v2.
pub const WORKER_ROOT: &str = "/scandeck/v1/worker";

/// Most bytes of a request: results have bodies of responses as evidence.
pub const MOST_WORKER_BYTES: usize = 64 << 20;

/// Renews the claims of a worker, and adds it at first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerBeat {
    /// The random id of the process.
    pub node: String,
    pub place: WorkerPlace,
    /// The name of the machine.
    pub name: String,
    pub version: String,
    /// The lease that the worker follows, in milliseconds; 0 at first.
    pub lease_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BeatAnswer {
    /// The lease that the worker follows from now on.
    pub lease_ms: u64,
    /// The claims of the worker had ended.
    pub is_lost: bool,
    /// A scan of the place waits.
    pub has_waiting: bool,
    /// The scans that the worker has claimed, and those of them to stop.
    pub claims: Vec<ClaimedScan>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClaimRequest {
    pub node: String,
    /// The scans that run; a claim without a run is returned again.
    pub running: Vec<ScanId>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct RecordRequest {
    pub node: String,
    pub attempt: Attempt,
    pub update: ScanUpdate,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndRequest {
    pub node: String,
    /// The attempt that ended; without one, the worker ends.
    pub attempt: Option<EndedAttempt>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedAttempt {
    pub attempt: Attempt,
    pub end: AttemptEnd,
}
