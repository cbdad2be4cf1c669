//! The team on the service: whose key this is, who looks at what, and what the others wait for.
//!
//! ```text
//!   runtime/team ─► Msg::Team(TeamNews) ─► Team ─► header, lists, review
//!   keys         ─► Effect::Team(TeamRequest) ─► runtime/team
//! ```
//!
//! Decisions of others arrive as those of another dashboard on this machine do, by
//! `TriageNews::Events`, and payloads by `OobNews`: the sync task writes them into the stores.

use std::sync::Arc;

use crate::base::FirstJoin;
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::team::{Member, Purged, Viewer};

/// What is known of the team.
#[derive(Clone, Debug, Default)]
pub struct Team {
    /// The owner of the key. None at a service without a team, with the key file, and until the
    /// service has answered.
    pub me: Option<Member>,
    /// Other members who have the workspace open, by name.
    pub viewers: Arc<[Viewer]>,
    /// Decisions and payloads that the service does not have.
    pub unsent: usize,
    /// Why they are not sent.
    pub problem: Option<Arc<Problem>>,
    /// The question before the private decisions of a workspace are shared.
    pub question: Option<FirstJoin>,
    /// Whether the decisions of the workspace stay on this machine, because the user said so.
    pub is_private: bool,
}

impl Team {
    /// Takes news of the sync task.
    pub(crate) fn handle(&mut self, news: TeamNews) {
        match news {
            TeamNews::Member(me) => self.me = Some(me),
            TeamNews::Question(question) => self.question = Some(question),
            TeamNews::Private => self.is_private = true,
            TeamNews::Exchanged {
                viewers,
                unsent,
                problem,
            } => {
                self.viewers = viewers;
                self.unsent = unsent;
                self.problem = problem;
            }
            TeamNews::Purged { .. } | TeamNews::Refused(_) => {}
        }
    }
}

/// Messages of the sync task.
#[derive(Clone, Debug)]
pub enum TeamNews {
    /// The service has a team and the key is a member's. Decisions have this author from now on.
    Member(Member),
    /// The chosen workspace has decisions on this machine that nobody else has seen. Nothing is
    /// sent or read before the answer.
    Question(FirstJoin),
    /// The workspace stays private.
    Private,
    /// The state after an exchange with the service.
    Exchanged {
        viewers: Arc<[Viewer]>,
        unsent: usize,
        /// Why the last exchange failed.
        problem: Option<Arc<Problem>>,
    },
    /// The service did not accept decisions of this machine, reported once. They are not sent again.
    Refused(Arc<Problem>),
    /// A member deleted the shared decisions of the workspace; those on this machine remain, and
    /// none is sent any more.
    Purged { workspace: Shared, purged: Purged },
}
