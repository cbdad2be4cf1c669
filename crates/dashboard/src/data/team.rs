//! The team on the service: owner of the key, viewers, and the state of the exchange.
//!
//! ```text
//!   runtime/team ─► Msg::Team(TeamNews) ─► model/team ─► Team ─► header, lists, review
//!   keys         ─► Effect::Team(TeamRequest) ─► runtime/team
//! ```
//!
//! Decisions of others arrive as those of another dashboard on this machine do, by
//! `TriageNews::Events`, and payloads by `OobNews`: the sync task writes them into the stores.
//! Messages about a workspace name it, because another one may be open when they arrive.

use std::sync::Arc;

use crate::base::FirstJoin;
use scandeck_domain::finding::FindingKey;
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::team::{Member, Purged, Viewer};
use scandeck_wire::contract::{Shared, WorkspaceId};
use scandeck_wire::sqlite::RefusedRows;

/// State of the team.
#[derive(Clone, Debug, Default)]
pub struct Team {
    /// The owner of the key. None at a service without a team, with the key file, and until the
    /// service has answered.
    pub me: Option<Member>,
    /// The service is one of scandeck: it has schedules and tags.
    pub has_extensions: bool,
    /// Other members who have the workspace open, by name.
    pub viewers: Arc<[Viewer]>,
    /// Decisions and payloads that the service does not have.
    pub unsent: usize,
    /// Decisions and payloads that the service refused, by reason.
    pub refused: Arc<[RefusedRows]>,
    /// Why they are not sent.
    pub problem: Option<Arc<Problem>>,
    /// The question before the private decisions of a workspace are shared.
    pub question: Option<FirstJoin>,
    /// The prompt with the question was shown.
    pub is_asked: bool,
    /// Whether the user keeps the decisions of the workspace private.
    pub is_private: bool,
    /// Who deleted the shared decisions of the open workspace.
    pub purged: Option<(Shared, Purged)>,
    /// The author of decisions before the name of the key was known.
    pub earlier_name: Option<Shared>,
    /// The last report to the sync task.
    pub looked: Option<LookedAt>,
}

/// The workspace and the finding on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedAt {
    pub workspace: Option<(WorkspaceId, Shared)>,
    pub finding: Option<FindingKey>,
}

/// Messages of the sync task.
#[derive(Clone, Debug)]
pub enum TeamNews {
    /// The service has a team and the key is a member's. Decisions have this author from now on.
    Member(Member),
    /// The open workspace has decisions on this machine that the service does not have. Nothing is
    /// sent or read before the answer.
    Question(FirstJoin),
    /// The workspace remains private.
    Private(WorkspaceId),
    /// The state after an exchange with the service.
    Exchanged {
        workspace: WorkspaceId,
        viewers: Arc<[Viewer]>,
        unsent: usize,
        refused: Arc<[RefusedRows]>,
        /// Why the last exchange failed.
        problem: Option<Arc<Problem>>,
    },
    /// The service did not accept some decisions or payloads; they remain on this machine.
    Refused(Arc<Problem>),
    /// A member deleted the shared decisions of the workspace; those on this machine remain, and
    /// sending ends.
    Purged {
        workspace: WorkspaceId,
        name: Shared,
        purged: Purged,
    },
}
