//! A draft of a decision and the changes that follow from it.
//!
//! ```text
//!   key, menu, command line ─► Draft ─┬─ these findings ─► Decide, Note, Severity, Tag, one after another, for each
//!                                     └─ their classes  ─► a Rule for each class (and target)
//! ```

use std::fmt::Display;

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use super::issue::VerdictSource;
use super::{Assessment, Change, Decision, FindingKey, Issue, Reason, Verdict};
use crate::query::lex;
use scandeck_wire::contract::{Risk, Shared};

/// Default number of days for which a risk is accepted.
const ACCEPTED_FOR: i64 = 90;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftValue<T> {
    /// Default: the reason of the last decision on the class, no note, 90 days for accepted risks,
    /// unchanged severity.
    #[default]
    Default,
    /// No value.
    Empty,
    /// A given value.
    Set(T),
}

impl<T> DraftValue<T> {
    /// The given value, otherwise the default.
    pub fn or(self, defaults: impl FnOnce() -> Option<T>) -> Option<T> {
        match self {
            Self::Default => defaults(),
            Self::Empty => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T> From<Option<T>> for DraftValue<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Self::Set)
    }
}

impl<T: Clone + PartialEq> DraftValue<T> {
    /// The value after the change, if it differs from the one before.
    fn new_value(&self, before: Option<&T>) -> Option<Option<T>> {
        let value = match self {
            Self::Default => return None,
            Self::Empty => None,
            Self::Set(value) => Some(value),
        };
        (value != before).then(|| value.cloned())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecisionScope {
    /// The selected findings.
    #[default]
    Findings,
    /// Their classes on their targets, as a rule.
    ClassOnTarget,
    /// Their classes on any target, as a rule.
    Class,
}

impl DecisionScope {
    /// All, in the order of menus.
    pub const ALL: [DecisionScope; 3] = [
        DecisionScope::Findings,
        DecisionScope::ClassOnTarget,
        DecisionScope::Class,
    ];
}

/// A decision that is being prepared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Verdict; `None` leaves it unchanged.
    pub verdict: Option<Verdict>,
    /// Reason, if it fits the verdict.
    pub reason: DraftValue<Reason>,
    /// Note to append.
    pub note: DraftValue<Shared>,
    /// Last day it holds.
    pub until: DraftValue<Date>,
    /// Severity override; an empty value restores the severity of the scanner.
    pub severity: DraftValue<Risk>,
    /// Who works on it; an empty value: nobody.
    pub assignee: DraftValue<Shared>,
    /// Due date of the decision or fix.
    pub due: DraftValue<Date>,
    /// Tags to add.
    pub tag: Vec<Shared>,
    /// Tags to remove.
    pub untag: Vec<Shared>,
    /// Key of the original.
    pub duplicate_of: Option<FindingKey>,
    /// The field or flag described.
    pub scope: DecisionScope,
    /// True to reuse the offered decision: the earlier one, else that of the imported file.
    pub reuses_offered: bool,
}

impl Draft {
    /// A verdict with defaults.
    pub fn of(verdict: Verdict) -> Self {
        Self {
            verdict: Some(verdict),
            ..Self::default()
        }
    }

    /// Reuses the offered decision.
    pub fn reusing_offered() -> Self {
        Self {
            reuses_offered: true,
            ..Self::default()
        }
    }

    /// What it changes in these findings besides a verdict, such as `assign 27 findings to bob`.
    pub fn phrase(&self, findings: &str) -> String {
        let has_note = matches!(self.note, DraftValue::Set(_));
        let changes = [
            value_phrase(
                ["set the severity of", "restore the severity of"],
                &self.severity,
            ),
            value_phrase(["assign", "unassign"], &self.assignee),
            value_phrase(["set the due date of", "remove the due date of"], &self.due),
            tags_phrase(["add", "to"], &self.tag),
            tags_phrase(["remove", "from"], &self.untag),
            has_note.then(|| ["add a note to".to_owned(), String::new()]),
        ];
        let (mut object, mut phrases) = (findings, Vec::new());
        for [verb, value] in changes.into_iter().flatten() {
            phrases.push(format!("{verb} {object}{value}"));
            object = "them";
        }
        match phrases.is_empty() {
            true => format!("change {findings}"),
            false => phrases.join(", "),
        }
    }

    /// The changes for one finding; empty if nothing changes.
    pub fn changes(
        &self,
        issue: &Issue,
        assessment: &Assessment,
        default_reason: Option<Reason>,
        today: Date,
    ) -> Vec<Change> {
        let mut changes = self.reused(issue, assessment, today);
        if let Some(decision) = self.decision(default_reason, today)
            && (self.has_more(&decision, assessment) || !holds(&decision, assessment))
        {
            changes.push(Change::Decide(Decision {
                seen: Some(issue.sighting()),
                ..decision
            }));
        }
        if let DraftValue::Set(note) = &self.note
            && !note.trim().is_empty()
        {
            changes.push(Change::Note(note.clone()));
        }
        let severity = self.severity.new_value(assessment.severity.as_ref());
        changes.extend(severity.map(Change::Severity));
        let assignee = self.assignee.new_value(assessment.assignee.as_ref());
        changes.extend(assignee.map(Change::Assign));
        let due = self.due.new_value(assessment.due.as_ref());
        changes.extend(due.map(Change::Due));
        let add: Vec<Shared> = self
            .tag
            .iter()
            .filter(|tag| !assessment.tags.contains(tag))
            .cloned()
            .collect();
        let remove: Vec<Shared> = self
            .untag
            .iter()
            .filter(|tag| assessment.tags.contains(tag))
            .cloned()
            .collect();
        if !add.is_empty() || !remove.is_empty() {
            changes.push(Change::Tag { add, remove });
        }
        // A finding cannot be a duplicate of itself.
        if self.duplicate_of == Some(issue.key()) {
            changes.retain(|change| !matches!(change, Change::Decide(_)));
        }
        changes
    }

    /// The changes that reuse the offered decision. A reason in words of the file becomes a note.
    fn reused(&self, issue: &Issue, assessment: &Assessment, today: Date) -> Vec<Change> {
        if !self.reuses_offered {
            return Vec::new();
        }
        let is_open = assessment.source != VerdictSource::Person;
        if let Some(earlier) = issue.earlier_decision().filter(|_| is_open) {
            return vec![Change::Inherit(earlier)];
        }
        let Some(proposed) = assessment.proposal(issue) else {
            return Vec::new();
        };
        let reason = proposed.reason_code();
        let decision = Self::of(proposed.verdict).decision(reason, today);
        let decide = decision.map(|decision| {
            Change::Decide(Decision {
                seen: Some(issue.sighting()),
                ..decision
            })
        });
        let is_in_words = reason.is_none() && !proposed.reason.trim().is_empty();
        let note = is_in_words.then(|| Change::Note(proposed.reason.clone()));
        decide.into_iter().chain(note).collect()
    }

    /// The decision without a sighting.
    pub fn decision(&self, default_reason: Option<Reason>, today: Date) -> Option<Decision> {
        let verdict = self.verdict?;
        let fits = |reason: &Reason| verdict.reasons().contains(reason);
        let days: Span = ACCEPTED_FOR.days();
        let accepted = || (verdict == Verdict::RiskAccepted).then(|| today.saturating_add(days));
        Some(Decision {
            verdict,
            reason: self.reason.or(|| default_reason).filter(fits),
            until: self.until.or(accepted).filter(|_| verdict.settles()),
            duplicate_of: self.duplicate_of.filter(|_| verdict == Verdict::Duplicate),
            seen: None,
        })
    }

    /// True if the draft contains more than the verdict and differs from the assessment.
    fn has_more(&self, decision: &Decision, assessment: &Assessment) -> bool {
        (self.reason != DraftValue::Default && decision.reason != assessment.reason)
            || (self.until != DraftValue::Default && decision.until != assessment.until)
            || decision.duplicate_of != assessment.duplicate_of
    }

    /// The query of the rule for the class of a finding.
    pub fn rule(&self, issue: &Issue) -> Option<Shared> {
        let identity = &issue.identity;
        let class = format!("class={}", lex::value(&identity.class));
        match self.scope {
            DecisionScope::Findings => None,
            DecisionScope::Class => Some(class.into()),
            DecisionScope::ClassOnTarget => {
                Some(format!("{class} asset={}", lex::value(&identity.asset)).into())
            }
        }
    }
}

/// True if the same verdict of a person already holds: the same key again changes nothing.
fn holds(decision: &Decision, assessment: &Assessment) -> bool {
    let same = assessment.source == VerdictSource::Person && assessment.verdict == decision.verdict;
    same && assessment.reopened.is_none() && !assessment.recheck
}

/// The words before and after the findings; `verbs`: for a value, for none.
fn value_phrase<T: Display>(verbs: [&str; 2], value: &DraftValue<T>) -> Option<[String; 2]> {
    let [set, remove] = verbs.map(str::to_owned);
    match value {
        DraftValue::Default => None,
        DraftValue::Empty => Some([remove, String::new()]),
        DraftValue::Set(to) => Some([set, format!(" to {to}")]),
    }
}

fn tags_phrase([verb, preposition]: [&str; 2], tags: &[Shared]) -> Option<[String; 2]> {
    let names: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
    let words = || format!("{verb} {} {preposition}", names.join(", "));
    (!names.is_empty()).then(|| [words(), String::new()])
}

/// Most characters in the name of an assignee.
const LONGEST_NAME: usize = 100;

/// The name of an assignee.
///
/// # Errors
/// When it is longer than the name of any member.
pub fn assignee_name(text: &str) -> Result<Shared, String> {
    match text.chars().nth(LONGEST_NAME) {
        None => Ok(text.into()),
        Some(_) => Err(format!("the name is longer than {LONGEST_NAME} characters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrase_names_each_change() {
        let assigned = Draft {
            assignee: DraftValue::Set("bob".into()),
            ..Draft::default()
        };
        assert_eq!(assigned.phrase("27 findings"), "assign 27 findings to bob");
        let several = Draft {
            severity: DraftValue::Empty,
            tag: vec!["a".into(), "b".into()],
            untag: vec!["c".into()],
            note: DraftValue::Set("text".into()),
            ..Draft::default()
        };
        assert_eq!(
            several.phrase("2 findings"),
            "restore the severity of 2 findings, add a, b to them, remove c from them, add a note to them"
        );
        assert_eq!(Draft::default().phrase("2 findings"), "change 2 findings");
    }
}
