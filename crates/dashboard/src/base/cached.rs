//! Lists from the cache of an earlier run: what the screen shows before the service has answered.

use crate::base::{Generation, ListKind, Snapshot};
use scandeck_wire::contract::{Stamp, WorkspaceId};

/// The lists of a workspace that are cached, in the order they are of use: rows are made of
/// findings last. The list of the workspaces themselves is cached too.
pub const CACHED_LISTS: [ListKind; 4] = [
    ListKind::Targets,
    ListKind::Scans,
    ListKind::Loggers,
    ListKind::Findings,
];

/// A list as an earlier dashboard read it.
#[derive(Clone, Debug)]
pub struct CachedList {
    /// Of the workspace it was requested for.
    pub generation: Generation,
    /// When it was read from the service.
    pub at: Stamp,
    /// The workspace worked in last, with the list of workspaces.
    pub worked_in: Option<WorkspaceId>,
    pub snapshot: Snapshot,
}
