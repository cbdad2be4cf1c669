//! The question before private decisions are shared with a team, and the requests of the dashboard
//! to the sync task.

use scandeck_domain::finding::FindingKey;
use scandeck_wire::contract::{Shared, WorkspaceId};

/// Effects of sharing the private decisions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstJoin {
    pub workspace: WorkspaceId,
    pub name: Shared,
    /// Decisions on this machine that the service does not have.
    pub own: usize,
    /// Decisions of the team that this machine does not have.
    pub others: usize,
    /// Findings with decisions of both.
    pub findings: usize,
    /// Findings with different decisions of both.
    pub conflicts: usize,
    pub payloads: usize,
}

/// Requests to the sync task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamRequest {
    /// The answer to the question: share the decisions of the workspace, or keep them private.
    Join {
        workspace: WorkspaceId,
        is_shared: bool,
    },
    /// Send the refused decisions and payloads of the workspace again.
    Retry { workspace: WorkspaceId },
    /// Exchange at once, if the next attempt waits: the service responds again.
    Resume,
    /// The workspace on the screen, by id and name, and the finding on the screen.
    Look {
        workspace: Option<(WorkspaceId, Shared)>,
        finding: Option<FindingKey>,
    },
}
