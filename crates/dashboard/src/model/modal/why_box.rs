//! The open explanation of a finding.

use crate::input::{Action, ItemAction, ListAction, VerdictAction};
use scandeck_domain::triage::IssueId;
use scandeck_domain::triage::explain::{ExplanationLine, SettlingStep};

/// Why a finding is new, changed, absent, reappeared or not retested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyBox {
    pub issue: IssueId,
    /// Not sanitised yet.
    pub title: String,
    pub lines: Vec<ExplanationLine>,
    pub steps: Vec<SettlingStep>,
    /// First visible line.
    pub scroll: u32,
}

impl WhyBox {
    /// The step of an action, if it settles this finding.
    pub fn step(&self, action: Action) -> Option<SettlingStep> {
        let is_named = |step: &&SettlingStep| action_of(**step) == action;
        self.steps.iter().find(is_named).copied()
    }
}

/// The action whose key carries out a step.
pub fn action_of(step: SettlingStep) -> Action {
    match step {
        SettlingStep::Confirm => Action::Verdict(VerdictAction::Confirm),
        SettlingStep::Fix => Action::Verdict(VerdictAction::Fix),
        SettlingStep::Prove => Action::Item(ItemAction::Prove),
        SettlingStep::Retest(_) => Action::Item(ItemAction::Retest),
        SettlingStep::OpenScan(_) => Action::List(ListAction::In),
        SettlingStep::Compare { .. } => Action::Item(ItemAction::Compare),
    }
}
