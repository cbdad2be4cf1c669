//! Which form a call or a draft belongs to.

use crate::contract::WorkspaceId;
use crate::oob::Token;
use crate::triage::EventId;

/// Which form; a draft is kept under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormTag {
    NewWorkspace,
    EditWorkspace(WorkspaceId),
    NewTargets,
    NewScan,
    NewLogger,
    NewReport,
    /// A finding of one's own.
    Own(OwnOf),
    /// Where a payload went.
    Place(Token),
    /// Base URL and key, from the first-start question.
    Connect,
}

/// What a finding of one's own is made of: what is typed about one is not about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnOf {
    /// Of nothing yet.
    New,
    /// Of these captured requests, told by a hash of them.
    Captures(u64),
    /// Of the one to change.
    Finding(EventId),
}
