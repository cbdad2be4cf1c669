//! Verdict keys: the prompts before a decision, and the list after it.
//!
//! ```text
//!   key ─► too soon? ─► chosen findings ─┬─ up to 20, all shown ─► apply_decision ─► Model::decide ─► Effect::Record
//!                                        └─ more, or hidden ones ─► one enter ──┘
//! ```
//!
//! Up to 20 findings are decided without a prompt, because undo restores them. A decided row keeps
//! its place until the filter is applied again.

use crate::base::{Effect, Pane, RowRef, Tone};
use crate::data::GUARDED;
use crate::findings::changed;
use crate::findings::decide::{menu_keys, rules_keys, undo};
use crate::findings::retest::keys as board;
use crate::input::Context;
use crate::input::action::{Action, DecideAction, EditAction, ReviewAction, VerdictAction};
use crate::model::outcomes::capitalized;
use crate::model::{MenuChoice, Model};
use crate::prompts::{PendingDecision, Prompt, Then};
use scandeck_domain::triage::{
    Change, DecisionScope, Draft, DraftValue, EventId, Issue, IssueId, Reason, RuleState, Subject,
    Verdict, VerdictSource,
};
use scandeck_wire::contract::Shared;
use scandeck_wire::text::plural;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// More findings than this need a prompt.
const MOST_WITHOUT_PROMPT: usize = 20;

/// Gives a verdict to the chosen rows of the retest board or of the findings.
pub(crate) fn handle_verdict(model: &mut Model, action: VerdictAction, effects: &mut Vec<Effect>) {
    let (verdict, next) = action.verdict();
    match model.navigation.focus.pane {
        Pane::Board => board::decide(model, verdict, effects),
        _ => decide(model, Draft::of(verdict), next, effects),
    }
}

pub(crate) fn handle_decide(model: &mut Model, action: DecideAction, effects: &mut Vec<Effect>) {
    match action {
        DecideAction::ReuseOffered => decide(model, Draft::reusing_offered(), false, effects),
        DecideAction::More => menu_keys::open(model, None),
        DecideAction::Note => menu_keys::open(model, Some(MenuChoice::Note)),
        DecideAction::Tags => menu_keys::open(model, Some(MenuChoice::Tags)),
        DecideAction::Again => again(model, effects),
        DecideAction::PreviousChanged => changed::walk(model, false),
        DecideAction::NextChanged => changed::walk(model, true),
        DecideAction::Rules => rules_keys::open(model),
        DecideAction::Undo => undo::prompt(model, true, effects),
        DecideAction::Redo => undo::prompt(model, false, effects),
        // These work in the menu and in the list of rules.
        DecideAction::Reason
        | DecideAction::Severity
        | DecideAction::DuplicateOf
        | DecideAction::Until
        | DecideAction::Assignee
        | DecideAction::Due
        | DecideAction::SwitchRule => model.notify_no_effect(Action::Decide(action)),
    }
}

/// Repeats the last decision and selects the next row.
fn again(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.findings.triage.last.clone() {
        Some(draft) => decide(model, draft, true, effects),
        None => model.notify(Tone::Plain, "no earlier decision to repeat"),
    }
}

/// Decides the selected or marked findings, with a prompt where one is needed.
pub(crate) fn decide(model: &mut Model, draft: Draft, next: bool, effects: &mut Vec<Effect>) {
    if let Some(why) = model.cannot_decide() {
        return model.notify(Tone::Bad, why);
    }
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    if let Some(why) = too_early(model, Pane::Findings) {
        return model.notify(Tone::Plain, why);
    }
    let [shown, hidden] = model.chosen(Pane::Findings).issues();
    if shown.is_empty() && hidden.is_empty() {
        let is_card = model
            .reviewing()
            .is_some_and(|review| review.card().is_some());
        let include = model.key_label(Context::Review, Action::Review(ReviewAction::Exclude));
        return match is_card {
            true => {
                let why = format!(
                    "all findings of this card are excluded · {include} includes a finding"
                );
                model.notify(Tone::Plain, why)
            }
            false => model.notify(Tone::Plain, "nothing selected"),
        };
    }
    prompt_or_execute(
        model,
        PendingDecision {
            draft,
            ids: shown,
            next,
        },
        hidden,
        effects,
    );
}

/// Prompts for more than 20 findings, and where marked findings are hidden; otherwise decides at
/// once.
pub(crate) fn prompt_or_execute(
    model: &mut Model,
    mut pending: PendingDecision,
    mut hidden: Vec<IssueId>,
    effects: &mut Vec<Effect>,
) {
    if pending.draft.reuses_offered {
        let has_offer = |&id: &IssueId| model.offered_verdict(id).is_some();
        pending.ids.retain(has_offer);
        hidden.retain(has_offer);
        if pending.ids.is_empty() && hidden.is_empty() {
            return model.notify(Tone::Plain, "no earlier or imported decision to reuse");
        }
    }
    let needs_prompt =
        pending.ids.len() > MOST_WITHOUT_PROMPT && pending.draft.scope == DecisionScope::Findings;
    match !needs_prompt && hidden.is_empty() {
        true => model.apply_decision(pending, effects),
        false => {
            let prompt = question(model, pending, hidden);
            model.open_prompt(prompt);
        }
    }
}

/// Why a decision is refused: the selected row was not on the screen long enough. Marked rows were
/// seen before.
pub(crate) fn too_early(model: &mut Model, pane: Pane) -> Option<String> {
    let (now, row) = (model.now.mono, model.selected_row(pane)?);
    let cursor = model.cursor(pane);
    let by_hand = cursor.marked().0 > 0 || cursor.range().is_some();
    drop(cursor);
    let guard = model
        .findings
        .guards
        .of(pane)
        .filter(|guard| guard.is_early(now, row));
    guard.filter(|_| model.navigation.focus.in_detail || !by_hand)?;
    let key = model
        .keyboard
        .key
        .map(|key| key.to_string())
        .unwrap_or_default();
    Some(format!(
        "{key} ignored: pressed too soon after the row appeared"
    ))
}

fn question(model: &Model, pending: PendingDecision, hidden: Vec<IssueId>) -> Prompt {
    let asks = |findings: String| match pending.draft.verdict {
        Some(verdict) => format!("Mark {findings} as {}", verdict.phrase()),
        None if pending.draft.reuses_offered => format!("Reuse the offered decision on {findings}"),
        None => capitalized(&pending.draft.phrase(&findings)),
    };
    let kinds = kinds(
        model,
        if pending.ids.is_empty() {
            &hidden
        } else {
            &pending.ids
        },
    );
    let (count, absent) = (
        pending.ids.len(),
        model.count_absent_beside_present(&pending.ids),
    );
    if hidden.is_empty() {
        let question = format!("{}: {kinds}?", asks(plural(count, "finding")));
        let mut prompt = Prompt::new(question, Then::Decide(Box::new(pending))).with_enter();
        if absent > 0 {
            prompt = prompt.with_line(match absent {
                1 => "1 of these findings is absent.".to_owned(),
                _ => format!("{absent} of these findings are absent."),
            });
        }
        return match model.reviewing() {
            Some(_) => {
                let exclude =
                    model.key_label(Context::Review, Action::Review(ReviewAction::Exclude));
                prompt.with_line(format!(
                    "On the tab Affected, {exclude} excludes single findings."
                ))
            }
            None => prompt,
        };
    }
    let (many, all) = (hidden.len(), [pending.ids.clone(), hidden].concat());
    let wider = Prompt::new(
        "",
        Then::Decide(Box::new(PendingDecision {
            ids: all,
            ..pending.clone()
        })),
    );
    let question = format!(
        "{}: {kinds}?",
        asks(format!("the {}", plural(count, "shown finding")))
    );
    let include = model.key_label(Context::Prompt, Action::Edit(EditAction::IncludeHidden));
    let mut prompt = Prompt::new(question, Then::Decide(Box::new(pending)))
        .with_line(format!(
            "{include} includes {}.",
            plural(many, "hidden marked finding")
        ))
        .with_enter();
    prompt.wider = Some(Box::new(wider));
    prompt
}

/// The name of the first finding and the number of other classes.
fn kinds(model: &Model, ids: &[IssueId]) -> String {
    let Some(table) = model.data.findings.value() else {
        return String::new();
    };
    let issues: Vec<&Arc<Issue>> = ids.iter().filter_map(|&id| table.get(id)).collect();
    let kinds: HashSet<&Shared> = issues.iter().map(|issue| issue.class()).collect();
    let first = issues
        .first()
        .map(|issue| issue.name.to_string())
        .unwrap_or_default();
    match kinds.len() {
        0 | 1 => first,
        2 => format!("{first} and 1 other class"),
        more => format!("{first} and {} other classes", more - 1),
    }
}

/// The selected rows of the lists in which verdicts are given.
pub(crate) fn rows(model: &Model) -> [Option<RowRef>; 2] {
    GUARDED.map(|pane| model.lists.selected_row(pane))
}

/// Starts the guard of a list whose selection changed without a key of the user.
pub(crate) fn guard(model: &mut Model, before: [Option<RowRef>; 2], by_hand: bool) {
    let now = rows(model);
    for ((pane, before), now) in GUARDED.into_iter().zip(before).zip(now) {
        let Some(guard) = model.findings.guards.of(pane) else {
            continue;
        };
        match now {
            row if now == before || guard.holds(row) => {}
            _ if by_hand => guard.lift(),
            row => guard.arm(row),
        }
    }
}

impl Model {
    /// The reason why decisions are not possible now.
    pub fn cannot_decide(&self) -> Option<String> {
        if self.may_only_read() {
            let why = "this key may only read: a decision needs a key with the role triage";
            return Some(why.to_owned());
        }
        if self.findings.triage.writer.is_some() {
            return None;
        }
        Some(match &self.findings.triage.problem {
            Some(problem) => match &problem.hint {
                Some(hint) => format!("{problem} · {hint}"),
                None => format!("decisions cannot be saved: {problem}"),
            },
            None => "decisions are still loading".to_owned(),
        })
    }

    /// Records a draft for these findings as one batch. None when nothing changes or decisions
    /// cannot be saved.
    pub fn decide(
        &mut self,
        ids: &[IssueId],
        draft: &Draft,
        effects: &mut Vec<Effect>,
    ) -> Option<EventId> {
        let drafts = self.drafted(ids, draft);
        if drafts.is_empty() {
            return None;
        }
        self.record(drafts, effects)
    }

    fn drafted(&self, ids: &[IssueId], draft: &Draft) -> Vec<(Subject, Change)> {
        let Some(table) = self.data.findings.value() else {
            return Vec::new();
        };
        let today = self.today();
        let workspace = self.workspace_name();
        let default_reason = |issue: &Issue| -> Option<Reason> {
            self.findings.triage.defaults.reason(
                &self.findings.triage.state,
                &workspace,
                issue.class(),
                draft.verdict?,
            )
        };
        let mut by_class: std::collections::HashMap<&Shared, Option<Reason>> = Default::default();
        let (mut drafts, mut queries) = (Vec::new(), BTreeSet::new());
        let details = Draft {
            verdict: draft
                .verdict
                .filter(|_| draft.scope == DecisionScope::Findings),
            ..draft.clone()
        };
        for &id in ids {
            let Some(at) = table.position(id) else {
                continue;
            };
            let issue = &table.items()[at];
            let assessment = self
                .findings
                .triage
                .assessments
                .get(at)
                .cloned()
                .unwrap_or_default();
            let reason = *by_class
                .entry(issue.class())
                .or_insert_with(|| default_reason(issue));
            if let Some(query) = draft
                .rule(issue)
                .filter(|query| queries.insert(query.clone()))
            {
                let decision = draft.decision(reason, today);
                drafts.extend(decision.map(|decision| self.rule(drafts.len(), query, decision)));
            }
            let changes = details.changes(issue, &assessment, reason, today);
            drafts.extend(
                changes
                    .into_iter()
                    .map(|change| (Subject::Finding(issue.identity.clone()), change)),
            );
        }
        drafts
    }

    /// The change that adds a rule with this query, or changes the rule of this workspace that has
    /// it.
    pub(crate) fn rule(
        &self,
        place: usize,
        query: Shared,
        decision: scandeck_domain::triage::Decision,
    ) -> (Subject, Change) {
        let here = self
            .workspace()
            .map_or("", |workspace| workspace.name.as_str());
        let same =
            |rule: &&RuleState| rule.query == query && !rule.off && rule.workspace.as_str() == here;
        let known = self.findings.triage.state.rules().into_iter().find(same);
        let next = self
            .findings
            .triage
            .writer
            .as_ref()
            .map(|writer| writer.next())
            .unwrap_or_default();
        let new = EventId {
            number: next.number + place as u64,
            ..next
        };
        (
            Subject::Rule(known.map_or(new, |rule| rule.id)),
            Change::Rule { query, decision },
        )
    }

    /// Decides, then removes the used marks and selects the next row. Decided rows keep their
    /// places.
    pub(crate) fn apply_decision(&mut self, pending: PendingDecision, effects: &mut Vec<Effect>) {
        let PendingDecision { draft, ids, next } = pending;
        if let Some(why) = self.cannot_decide() {
            return self.notify(Tone::Bad, why);
        }
        let is_rule = draft.scope != DecisionScope::Findings;
        let details = if is_rule {
            String::new()
        } else {
            self.details_of_decision(&ids, &draft)
        };
        let batch = self.decide(&ids, &draft, effects);
        match batch {
            None => self.notify(Tone::Plain, standing_already(&draft, ids.len())),
            Some(batch) => {
                self.use_marks(batch, &ids);
                self.use_board_marks(&ids);
                let selected = self.selected_id(self.navigation.focus.pane);
                let is_of_row =
                    ids.len() == 1 && selected == Some(ids[0].0) && !draft.reuses_offered;
                if is_rule || !is_of_row || !details.is_empty() {
                    self.notify_decided(batch, &details);
                }
            }
        }
        let verdict = draft.verdict;
        if verdict.is_some() {
            self.findings.triage.last = Some(draft);
        }
        // A rule does not change manual decisions.
        let is_manual = |id: &&IssueId| {
            is_rule
                && self
                    .assessment(**id)
                    .is_some_and(|known| known.source == VerdictSource::Person)
        };
        let manual = ids.iter().filter(is_manual).count();
        match verdict {
            Some(_) if self.decides_card(&ids) && manual > 0 && manual == ids.len() => {
                self.notify(
                    Tone::Plain,
                    "the rule does not change these findings: they are decided manually",
                );
            }
            Some(verdict) if self.decides_card(&ids) => {
                self.reviewed(verdict, ids.len() - manual, batch, effects)
            }
            _ if next => self.select_next(&ids),
            _ => {}
        }
    }

    /// What the screen does not show of a decision: that it replaces others, and that some of its
    /// findings are absent.
    fn details_of_decision(&self, ids: &[IssueId], draft: &Draft) -> String {
        let decided = |id: &IssueId| {
            let before = self.assessment(*id).filter(|known| !known.is_undecided())?;
            draft
                .verdict
                .filter(|verdict| *verdict != before.verdict)
                .map(|_| before.verdict)
        };
        let replaced: Vec<Verdict> = ids.iter().filter_map(decided).collect();
        let mut details = match (replaced.as_slice(), ids.len()) {
            ([], _) => String::new(),
            ([before], 1) => format!(", was {}", before.phrase()),
            (some, _) => format!(", replaces {}", plural(some.len(), "decision")),
        };
        match self.count_absent_beside_present(ids) {
            0 => {}
            absent => details.push_str(&format!(", {absent} of them absent")),
        }
        details
    }

    /// How many of these findings are absent, if others are present: group headers count only
    /// those.
    fn count_absent_beside_present(&self, ids: &[IssueId]) -> usize {
        let Some(table) = self.data.findings.value() else {
            return 0;
        };
        let issues = || ids.iter().filter_map(|&id| table.get(id));
        let absent = issues().filter(|issue| !issue.is_present()).count();
        if absent < issues().count() { absent } else { 0 }
    }

    /// Selects the next row that was not decided just now. It accepts a verdict only after it was
    /// seen.
    fn select_next(&mut self, decided: &[IssueId]) {
        let decided: HashSet<i64> = decided.iter().map(|id| id.0).collect();
        let mut cursor = self.cursor(Pane::Findings);
        let mut after = cursor.at() + 1..cursor.len();
        let is_next = |&at: &usize| cursor.id_at(at).is_none_or(|id| !decided.contains(&id));
        let Some(next) = after.find(is_next) else {
            drop(cursor);
            return self.notify(Tone::Plain, "no further row");
        };
        cursor.select(next);
        drop(cursor);
        self.arm_guard(Pane::Findings);
    }

    /// Starts the guard of a list: its selected row accepts a verdict only after it was seen.
    pub(crate) fn arm_guard(&mut self, pane: Pane) {
        let row = self.selected_row(pane);
        if let Some(guard) = self.findings.guards.of(pane) {
            guard.arm(row);
        }
    }

    fn use_marks(&mut self, batch: EventId, ids: &[IssueId]) {
        let list = &mut self.lists.findings;
        list.range_from = None;
        let used: Vec<IssueId> = ids
            .iter()
            .copied()
            .filter(|&id| list.marks.remove(id))
            .collect();
        if !used.is_empty() {
            self.findings.triage.used_marks.insert(batch, used);
        }
    }

    /// Removes the marks of decided rows. Marks of hidden rows remain, unless these were decided
    /// too.
    fn use_board_marks(&mut self, ids: &[IssueId]) {
        if self.navigation.focus.pane != Pane::Board || self.lists.board.marks.is_empty() {
            return;
        }
        let decided: HashSet<IssueId> = ids.iter().copied().collect();
        if self.navigation.focus.in_detail {
            return self.lists.board.marks.retain(|id| !decided.contains(&id));
        }
        let [_, hidden] = self.chosen(Pane::Board).issues();
        let hidden: HashSet<IssueId> = hidden.into_iter().collect();
        self.lists
            .board
            .marks
            .retain(|id| hidden.contains(&id) && !decided.contains(&id));
    }
}

/// The fields that a draft without a verdict does not change.
fn standing_details(draft: &Draft) -> String {
    match (&draft.assignee, &draft.due) {
        (DraftValue::Set(member), _) => return format!("assigned to {member}"),
        (DraftValue::Empty, _) => return "assigned to nobody".to_owned(),
        (_, DraftValue::Set(day)) => return format!("due {day}"),
        (_, DraftValue::Empty) => return "without due date".to_owned(),
        (DraftValue::Default, DraftValue::Default) => {}
    }
    match (draft.tag.as_slice(), draft.untag.as_slice()) {
        ([], []) => "set".to_owned(),
        (added, []) => format!("tagged {}", added.join(" ")),
        (_, _) => "without these tags".to_owned(),
    }
}

fn standing_already(draft: &Draft, count: usize) -> String {
    let what = draft
        .verdict
        .map_or_else(|| standing_details(draft), Verdict::phrase);
    match count {
        1 => format!("already {what}"),
        _ => format!("all {count} findings are already {what}"),
    }
}
