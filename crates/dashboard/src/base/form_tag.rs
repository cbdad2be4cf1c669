//! The form that a call or a draft belongs to.

use scandeck_domain::oob::Token;
use scandeck_domain::triage::EventId;
use scandeck_wire::contract::{TargetId, WorkspaceId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormTag {
    NewWorkspace,
    EditWorkspace(WorkspaceId),
    NewTargets,
    /// The tags of this target and others.
    TargetTags(TargetId),
    NewScan,
    NewLogger,
    NewReport,
    NewSchedule,
    /// The import of a result file.
    Import,
    ManualFinding(ManualFindingOrigin),
    /// Where a payload was placed.
    Place(Token),
    /// Base URL and key, from the first-start question.
    Connect,
}

/// The origin of a manual finding: each origin has its own draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManualFindingOrigin {
    /// An empty form.
    New,
    /// The captured requests with this hash.
    Captures(u64),
    /// The finding to change.
    Finding(EventId),
}
