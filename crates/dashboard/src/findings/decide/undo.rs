//! Undo and redo of decisions: a batch at a time, without limit, across restarts. Both show a
//! notice and select the finding.

use crate::base::group_keys::common_start;
use crate::base::{Effect, Pane, RowRef, Tone};
use crate::input::{Action, Context, DecideAction};
use crate::model::{Model, UNDOES, navigation};
use crate::prompts::{Prompt, Then};
use scandeck_domain::triage::{
    Baseline, Change, Event, EventId, IssueId, Subject, TriageState, Verdict,
};
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::workspace::is_same_name;
use scandeck_wire::text::plural;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Undoes or redoes the last batch. A batch of another workspace needs a prompt.
pub(crate) fn prompt(model: &mut Model, undo: bool, effects: &mut Vec<Effect>) {
    let Some(writer) = &model.findings.triage.writer else {
        let why = model.cannot_decide().unwrap_or_default();
        return model.notify(Tone::Bad, why);
    };
    let state = &model.findings.triage.state;
    let batch = if undo {
        state.last_done(&writer.who)
    } else {
        state.last_undone(&writer.who)
    };
    let Some(batch) = batch else {
        return model.notify(
            Tone::Plain,
            if undo {
                "nothing to undo"
            } else {
                "nothing to redo"
            },
        );
    };
    let here = model.workspace_name();
    let there = state
        .event(batch)
        .map(|event| event.workspace.clone())
        .unwrap_or_default();
    if there.is_empty() || there == here || model.is_renamed(batch, &there) {
        return model.undo_or_redo(batch, undo, effects);
    }
    let verb = if undo { "Undo" } else { "Redo" };
    let question = format!("{verb} in workspace {there}: {}?", model.described(batch));
    model.open_prompt(Prompt::new(question, Then::UndoOrRedo { batch, undo }));
}

impl Model {
    /// Undoes or redoes a batch, restores its marks and selects its finding.
    pub(crate) fn undo_or_redo(&mut self, batch: EventId, undo: bool, effects: &mut Vec<Effect>) {
        let change = if undo { Change::Undo } else { Change::Redo };
        if self
            .record(vec![(Subject::Batch(batch), change)], effects)
            .is_none()
        {
            let why = self.cannot_decide().unwrap_or_default();
            return self.notify(Tone::Bad, why);
        }
        let done = if undo { "undone" } else { "redone" };
        let what = self.described(batch);
        self.overlay
            .notices
            .remove_starting(&["undone: ", "redone: "]);
        self.notify(Tone::Good, format!("{done}: {what}"));
        let marks = self
            .findings
            .triage
            .used_marks
            .get(&batch)
            .cloned()
            .unwrap_or_default();
        let list = &mut self.lists.findings;
        match self.data.findings.value().filter(|_| undo) {
            Some(table) => list.marks.extend(table, marks),
            None => marks.into_iter().for_each(|id| _ = list.marks.remove(id)),
        }
        match self.card_of(batch) {
            Some(card) => self.go_to_card(card, effects),
            None => self.go_to_batch(batch),
        }
    }

    /// Whether a batch from a workspace that no longer has this name belongs to the open one:
    /// events keep the name from before it was renamed.
    fn is_renamed(&self, batch: EventId, earlier_name: &str) -> bool {
        let Some(workspaces) = self.data.workspaces.value() else {
            return false;
        };
        let mut names = workspaces.items().iter().map(|workspace| &workspace.name);
        let is_used = names.any(|name| is_same_name(name, earlier_name));
        !is_used && !self.listed_issues(batch).is_empty()
    }

    /// The findings of a batch in the open workspace.
    fn listed_issues(&self, batch: EventId) -> Vec<IssueId> {
        let Some(table) = self.data.findings.value() else {
            return Vec::new();
        };
        let events = self.findings.triage.state.batch(batch);
        let ids = events.iter().filter_map(issue_of);
        ids.filter(|&id| table.position(id).is_some()).collect()
    }

    /// Selects a finding of a batch, if it is in this workspace.
    fn go_to_batch(&mut self, batch: EventId) {
        let Some(table) = self.data.findings.value().cloned() else {
            return;
        };
        let present = self.listed_issues(batch);
        let Some(&first) = present.first() else {
            return;
        };
        if self.navigation.focus.pane != Pane::Findings {
            navigation::go(self, Pane::Findings);
        }
        self.retain_rows(&present);
        self.show_rows(Pane::Findings);
        let at_one = self
            .cursor(Pane::Findings)
            .chosen()
            .ids
            .iter()
            .any(|&id| present.contains(&IssueId(id)));
        // Several findings of a group: its header is selected.
        let group = self
            .lists
            .findings
            .group_of(&table, first)
            .filter(|_| present.len() > 1);
        let row = group.map_or(RowRef::Item(first.0), |group| RowRef::Group(group.id));
        if !at_one && !self.cursor(Pane::Findings).select_row(row) {
            self.notify(Tone::Plain, "finding hidden by the scope");
            return;
        }
        self.arm_guard(Pane::Findings);
    }

    /// A batch as a phrase: `false positive on 57 findings (Untrusted certificate …)`.
    pub fn described(&self, batch: EventId) -> String {
        let state = &self.findings.triage.state;
        described(state, &state.batch(batch))
    }

    /// Whether this person has a decision to undo.
    pub fn can_undo(&self) -> bool {
        let writer = self.findings.triage.writer.as_ref();
        writer.is_some_and(|writer| self.findings.triage.state.last_done(&writer.who).is_some())
    }

    /// Reports a batch of decisions with some details, and the key that undoes it.
    pub(crate) fn notify_decided(&mut self, batch: EventId, details: &str) {
        let done = format!(
            "{}{details} · {}{UNDOES}",
            self.described(batch),
            self.undo_key()
        );
        self.notify(Tone::Good, done);
    }

    pub(crate) fn undo_key(&self) -> String {
        self.key_label(Context::Everywhere, Action::Decide(DecideAction::Undo))
    }
}

fn issue_of(event: &Arc<Event>) -> Option<IssueId> {
    match &event.subject {
        Subject::Finding(identity) => Some(identity.key.into()),
        _ => None,
    }
}

fn described(state: &TriageState, events: &[Arc<Event>]) -> String {
    // A batch is named by its most important change: a verdict before the note that belongs to it.
    let rank = |event: &&Arc<Event>| match event.change {
        Change::Rule { .. } => 0,
        Change::Decide(_) => 1,
        _ => 2,
    };
    let Some(first) = events.iter().min_by_key(rank) else {
        return "nothing".to_owned();
    };
    let of_kind = events.iter().filter(|event| rank(event) == rank(&first));
    let what = what(of_kind.clone().map(|event| &event.change));
    let subjects: BTreeSet<IssueId> = of_kind.clone().filter_map(issue_of).collect();
    let names: BTreeSet<&Shared> = of_kind
        .filter_map(|event| match &event.subject {
            Subject::Finding(identity) => Some(&identity.name),
            _ => None,
        })
        .collect();
    let rule = |event: &Arc<Event>| match &event.change {
        Change::Rule { decision, .. } => Some(decision.verdict),
        _ => None,
    };
    let rules: Vec<Verdict> = events.iter().filter_map(rule).collect();
    match (&first.subject, subjects.len()) {
        (Subject::Finding(identity), 1) if !identity.asset.is_empty() => {
            format!("{what} on {} ({})", identity.name, identity.asset)
        }
        (Subject::Finding(identity), 1) => format!("{what} on {}", identity.name),
        (Subject::Finding(_), many) => {
            let (findings, name) = (plural(many, "finding"), common_name(&names));
            format!("{what} on {findings}{name}")
        }
        (Subject::Manual(_), _) if matches!(first.change, Change::Off(_)) => {
            deleted_or_restored(events)
        }
        (Subject::Rule(_), _) if rules.len() > 1 => rules_with_verdicts(&rules),
        (Subject::Rule(rule), _) if matches!(first.change, Change::Off(_)) => {
            let query = state
                .rule(*rule)
                .map(|rule| format!(" {}", rule.query))
                .unwrap_or_default();
            format!("rule{query} {what}")
        }
        _ => what,
    }
}

/// ` (Cookie without)`: the beginning of all names, if there is any.
fn common_name(names: &BTreeSet<&Shared>) -> String {
    let names = names.iter().map(|name| name.as_str());
    let common = names.reduce(common_start).unwrap_or_default();
    match common.is_empty() {
        true => String::new(),
        false => format!(" ({common})"),
    }
}

fn deleted_or_restored(events: &[Arc<Event>]) -> String {
    let is_deleted = |event: &&Arc<Event>| matches!(event.change, Change::Off(true));
    match (events.iter().filter(is_deleted).count(), events.len()) {
        (0, count) => format!("{} restored", plural(count, "manual finding")),
        (count, _) => format!("{} deleted", plural(count, "manual finding")),
    }
}

/// `2 rules (confirmed, false positive)`.
fn rules_with_verdicts(rules: &[Verdict]) -> String {
    let verdicts: BTreeSet<String> = rules.iter().map(|verdict| verdict.phrase()).collect();
    let verdicts: Vec<String> = verdicts.into_iter().collect();
    format!("{} ({})", plural(rules.len(), "rule"), verdicts.join(", "))
}

fn what<'a>(changes: impl Iterator<Item = &'a Change>) -> String {
    let mut words: Vec<String> = Vec::new();
    for change in changes {
        let word = word(change);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

fn word(change: &Change) -> String {
    let verdict = |verdict: Verdict| verdict.phrase();
    match change {
        Change::Decide(decision) => verdict(decision.verdict),
        Change::Note(_) => "note".to_owned(),
        Change::Proof(_) => "proof".to_owned(),
        Change::Tag { .. } => "tags".to_owned(),
        Change::Severity(_) => "severity".to_owned(),
        Change::Assign(_) => "assignee".to_owned(),
        Change::Due(_) => "due date".to_owned(),
        Change::Inherit(_) => "earlier decision reused".to_owned(),
        Change::Rule { query, decision } => format!("rule {query}: {}", verdict(decision.verdict)),
        Change::Off(true) => "turned off".to_owned(),
        Change::Off(false) => "turned on".to_owned(),
        Change::DeleteRule(query) => format!("rule {query} deleted"),
        Change::Manual(manual) => format!("manual finding \"{}\"", manual.name),
        Change::Link(link) => format!("link {} to {}", link.from, link.to),
        Change::Baseline(None) => "baseline removed".to_owned(),
        Change::Baseline(Some(Baseline::Day(day))) => format!("baseline {day}"),
        Change::Baseline(Some(Baseline::Scans(scans))) => {
            let ids: Vec<String> = scans.iter().map(ToString::to_string).collect();
            format!(
                "baseline {} {}",
                if ids.len() == 1 { "scan" } else { "scans" },
                ids.join(", ")
            )
        }
        Change::Undo => "undo".to_owned(),
        Change::Redo => "redo".to_owned(),
    }
}
