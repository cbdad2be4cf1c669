//! A draft of a decision: what a person wants to record about some findings, and the changes that follow from it.
//!
//! ```text
//!   key, menu, command line ─► Draft ─┬─ these findings ─► Decide, Note, Severity, Tag, one after another, for each
//!                                     └─ their classes  ─► a Rule for each class (and target)
//! ```

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use super::case::VerdictSource;
use super::defaults::DecisionDefault;
use super::{Assessment, Case, Change, Decision, FindingKey, Reason, Verdict};
use crate::contract::{Risk, Shared};
use crate::query::lex;

/// How long an accepted risk stays accepted unless said.
const ACCEPTED_FOR: i64 = 90;

/// One part of a draft: said, or left to what is usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftValue<T> {
    /// As usual: a reason and a note as at the last decision on the class, 90 days for what is accepted, a severity as
    /// it is.
    #[default]
    Default,
    /// None.
    Empty,
    /// This.
    Set(T),
}

impl<T> DraftValue<T> {
    /// What is said, or else what is usual.
    pub fn or(self, defaults: impl FnOnce() -> Option<T>) -> Option<T> {
        match self {
            Self::Default => defaults(),
            Self::Empty => None,
            Self::Set(said) => Some(said),
        }
    }
}

/// What a decision is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecisionScope {
    /// The findings it was made on.
    #[default]
    Findings,
    /// Their classes on their targets: a rule.
    ClassOnTarget,
    /// Their classes on any target: a rule.
    Class,
}

impl DecisionScope {
    /// All, in the order of menus.
    pub const ALL: [DecisionScope; 3] = [DecisionScope::Findings, DecisionScope::ClassOnTarget, DecisionScope::Class];
}

/// What a person wants to say about some findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The verdict; none leaves it as it is.
    pub verdict: Option<Verdict>,
    /// Why; only where the verdict has such a reason.
    pub reason: DraftValue<Reason>,
    /// Appended to the notes.
    pub note: DraftValue<Shared>,
    /// Last day it holds.
    pub until: DraftValue<Date>,
    /// A severity of one's own; nothing goes back to the scanner's.
    pub severity: DraftValue<Risk>,
    /// Tags put on.
    pub tag: Vec<Shared>,
    /// Tags taken off.
    pub untag: Vec<Shared>,
    /// What it duplicates.
    pub duplicate_of: Option<FindingKey>,
    /// What it is about.
    pub scope: DecisionScope,
    /// The decisions offered from where it was before are taken over.
    pub take_over: bool,
}

impl Draft {
    /// A verdict, all else as usual.
    pub fn of(verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// Takes over what is offered, and says nothing else.
    pub fn taking_over() -> Self {
        Self { take_over: true, ..Self::default() }
    }

    /// The changes for one finding; none where all of this is said already.
    pub fn changes(
        &self,
        case: &Case,
        assessment: &Assessment,
        defaults: Option<&DecisionDefault>,
        today: Date,
    ) -> Vec<Change> {
        let mut changes: Vec<Change> = case
            .offered
            .as_deref()
            .filter(|_| self.take_over && assessment.source != VerdictSource::Person)
            .map(|&key| Change::Inherit(key))
            .into_iter()
            .collect();
        if let Some(decision) = self.decision(defaults.and_then(|last| last.reason), today)
            && (self.says_more(&decision, assessment) || !holds(&decision, assessment))
        {
            changes.push(Change::Decide(Decision { seen: Some(case.sighting()), ..decision }));
        }
        let decides = changes.iter().any(|change| matches!(change, Change::Decide(_)));
        let note = self.note.clone().or(|| defaults?.note.clone().filter(|_| decides && assessment.notes == 0));
        changes.extend(note.filter(|note| !note.trim().is_empty()).map(Change::Note));
        match self.severity {
            DraftValue::Default => {}
            DraftValue::Empty if assessment.severity.is_none() => {}
            DraftValue::Empty => changes.push(Change::Severity(None)),
            DraftValue::Set(risk) if assessment.severity == Some(risk) => {}
            DraftValue::Set(risk) => changes.push(Change::Severity(Some(risk))),
        }
        let add: Vec<Shared> = self.tag.iter().filter(|tag| !assessment.tags.contains(tag)).cloned().collect();
        let remove: Vec<Shared> = self.untag.iter().filter(|tag| assessment.tags.contains(tag)).cloned().collect();
        if !add.is_empty() || !remove.is_empty() {
            changes.push(Change::Tag { add, remove });
        }
        // A finding is no duplicate of itself.
        if self.duplicate_of == Some(case.key()) {
            changes.retain(|change| !matches!(change, Change::Decide(_)));
        }
        changes
    }

    /// The decision without what was on the screen.
    pub fn decision(&self, defaults: Option<Reason>, today: Date) -> Option<Decision> {
        let verdict = self.verdict?;
        let fits = |reason: &Reason| verdict.reasons().contains(reason);
        let days: Span = ACCEPTED_FOR.days();
        let accepted = || (verdict == Verdict::RiskAccepted).then(|| today.saturating_add(days));
        Some(Decision {
            verdict,
            reason: self.reason.or(|| defaults).filter(fits),
            until: self.until.or(accepted).filter(|_| verdict.settles()),
            duplicate_of: self.duplicate_of.filter(|_| verdict == Verdict::Duplicate),
            seen: None,
        })
    }

    /// More than the bare verdict is said, and it is not what stands.
    fn says_more(&self, decision: &Decision, assessment: &Assessment) -> bool {
        (self.reason != DraftValue::Default && decision.reason != assessment.reason)
            || (self.until != DraftValue::Default && decision.until != assessment.until)
            || decision.duplicate_of != assessment.duplicate_of
    }

    /// The query of the rule that this draft makes of a finding's class.
    pub fn rule(&self, case: &Case) -> Option<Shared> {
        let identity = &case.identity;
        let class = format!("class={}", lex::value(&identity.class));
        match self.scope {
            DecisionScope::Findings => None,
            DecisionScope::Class => Some(class.into()),
            DecisionScope::ClassOnTarget => Some(format!("{class} asset={}", lex::value(&identity.asset)).into()),
        }
    }
}

/// A person's verdict that stands already, unquestioned: the same key again changes nothing.
fn holds(decision: &Decision, assessment: &Assessment) -> bool {
    let same = assessment.source == VerdictSource::Person && assessment.verdict == decision.verdict;
    same && assessment.reopened.is_none() && !assessment.recheck
}
