//! Keys of a review: starting and pausing it, going from card to card, excluding findings, the
//! summary.
//!
//! A verdict is recorded like any other (`findings/decide/keys.rs`), for the included findings of
//! the card. Afterwards `Model::reviewed` shows the next card.

pub mod draw;
#[cfg(test)]
mod tests;

use crate::base::{Effect, Focus, Pane, Tab, Tone};
use crate::input::{Action, Context, MoveAction, ReviewAction};
use crate::model::review::open::{close, pause};
use crate::model::{Card, Cards, Decided, Model, Review, ReviewFacts, ReviewedList, TABS, UNDOES};
use crate::prompts::{Prompt, Then};
use scandeck_domain::table::Table;
use scandeck_domain::triage::{Change, EventId, Issue, IssueId, Subject, Verdict};
use scandeck_wire::contract::Shared;
use scandeck_wire::text::plural;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The setting that stores the cards.
const CARDS: &str = "review";
/// The setting that stores the progress.
const PROGRESS: &str = "review_progress";
/// How the notices about a pause and about its end begin: each replaces the other.
const PAUSED: &str = "review paused";
const RESUMED: &str = "review resumed";

pub(crate) fn handle_review(model: &mut Model, action: ReviewAction, effects: &mut Vec<Effect>) {
    match action {
        ReviewAction::Open => resume_or_start(model, effects),
        ReviewAction::Skip => skip(model, effects),
        ReviewAction::Back => step(model, -1, effects),
        ReviewAction::Exclude => leave_out(model, effects),
        ReviewAction::Summary => to_summary(model, effects),
        ReviewAction::End => match model
            .reviewing()
            .is_some_and(|review| review.card().is_none())
        {
            true => end(model, effects),
            false => {
                let key = model.key_label(Context::Review, Action::Review(ReviewAction::Summary));
                model.notify(
                    Tone::Plain,
                    format!("press a verdict key to decide · {key} shows the summary"),
                );
            }
        },
    }
}

/// `B`: resumes the paused review, also one of an earlier session; else starts one with the shown
/// findings. Marks name the findings of a new review, which replaces the paused one only after a
/// prompt. With another filter, scope or grouping than that of the paused review, a prompt offers
/// both.
fn resume_or_start(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.reviewing().is_some() {
        return model.notify(Tone::Plain, "the review is already open");
    }
    if let Some(why) = model.findings_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let marked =
        model.lists.count_marks(Pane::Findings) > 0 || model.lists.findings.range_from.is_some();
    let paused = model
        .findings
        .review
        .take()
        .or_else(|| saved(model).map(Box::new));
    let ids: Vec<IssueId> = match (marked, &model.data.findings.value().cloned()) {
        (true, _) => model.chosen(Pane::Findings).issues().concat(),
        (false, Some(table)) => matching(model, table).collect(),
        (false, None) => Vec::new(),
    };
    match paused {
        Some(review) if !marked && !ids.is_empty() && review.cards.list != listed(model) => {
            let prompt = resume_prompt(model, &review, ids);
            model.findings.review = Some(review);
            model.open_prompt(prompt);
        }
        // Marks remain while their review is paused.
        Some(review) if !marked || ids_of(&review) == ids.iter().map(|id| id.0).collect() => {
            resume(model, review)
        }
        Some(review) => {
            model.open_prompt(replace_prompt(model, &review, ids, "marked"));
            model.findings.review = Some(review);
        }
        None => start(model, ids, effects),
    }
}

fn ids_of(review: &Review) -> HashSet<i64> {
    review
        .cards
        .cards
        .iter()
        .flat_map(|card| card.ids.iter().copied())
        .collect()
}

fn resume(model: &mut Model, review: Box<Review>) {
    model.overlay.notices.remove_starting(&[PAUSED]);
    let notice = format!("{RESUMED}, {}", plural(review.len(), "card"));
    let not_on_cards = count_not_on_cards(model, &review);
    model.findings.review = Some(review);
    open(model);
    match not_on_cards {
        0 => model.notify(Tone::Plain, notice),
        _ => {
            let [summary, end] = [ReviewAction::Summary, ReviewAction::End]
                .map(|action| model.key_label(Context::Review, Action::Review(action)));
            let excluded = plural(not_on_cards, "shown finding");
            model.notify(
                Tone::Bad,
                format!(
                    "{notice} · {excluded} not included · {summary}, then {end} ends this review"
                ),
            )
        }
    }
}

/// Resumes the review in memory, after a prompt.
pub(crate) fn resume_paused(model: &mut Model) {
    if let Some(review) = model.findings.review.take() {
        resume(model, review);
    }
}

/// The grouping, the filter and the scope of the list of findings. Cards of a list without groups
/// are those of its classes.
fn listed(model: &Model) -> ReviewedList {
    let scope = &model.navigation.scope;
    ReviewedList {
        by: model.lists.finding_groups.by.unwrap_or_default(),
        filter: model.lists.findings.filter.clone(),
        target: scope.target,
        scan: scope.scan,
    }
}

/// The question when the list shows other findings than those of the paused review.
fn resume_prompt(model: &Model, review: &Review, ids: Vec<IssueId>) -> Prompt {
    let on_cards = ids_of(review);
    let not_on_cards = ids.iter().filter(|id| !on_cards.contains(&id.0)).count();
    let (cards, findings) = (
        plural(review.len(), "card"),
        plural(on_cards.len(), "finding"),
    );
    let shown = plural(ids.len(), "shown finding");
    let line = match not_on_cards {
        0 => "Its filter, scope or grouping was different; its cards include all shown findings."
            .to_owned(),
        _ => format!(
            "Its filter, scope or grouping was different; not on its cards: {not_on_cards} of {shown}."
        ),
    };
    let replace = replace_prompt(model, review, ids, "shown");
    // Without decisions nothing would be lost: no second prompt.
    let has_decisions = review.outcome(&model.findings.triage.state).decided() > 0;
    let replace = if has_decisions {
        replace
    } else {
        replace.with_enter()
    };
    Prompt::new(
        format!("Resume the paused review of {cards} with {findings}?"),
        Then::ResumeReview,
    )
    .with_line(line)
    .with_other("start a new review", replace)
}

/// The question before a paused review is replaced. Its decisions remain, its cards do not.
fn replace_prompt(model: &Model, review: &Review, ids: Vec<IssueId>, chosen: &str) -> Prompt {
    let cards = plural(review.len(), "card");
    let state = match review.outcome(&model.findings.triage.state).decided() {
        0 => format!("It has {cards}, none decided."),
        decided => format!("It has {cards}, {decided} decided. The decisions remain."),
    };
    let new = format!(
        "The new review has {}.",
        plural(ids.len(), &format!("{chosen} finding"))
    );
    Prompt::new("Replace the paused review?", Then::StartReview(ids))
        .with_line(state)
        .with_line(new)
}

/// Starts a review of these findings, which replaces a paused one.
pub(crate) fn start(model: &mut Model, ids: Vec<IssueId>, effects: &mut Vec<Effect>) {
    let Some(cards) = cards(model, ids) else {
        return model.notify(
            Tone::Plain,
            "findings are still being grouped: try again in a moment",
        );
    };
    let cards = Cards {
        begun: model.now.wall.as_second(),
        list: listed(model),
        cards,
    };
    if cards.cards.is_empty() {
        return model.notify(Tone::Plain, "no findings to review");
    }
    model.remember_here(CARDS, &cards, effects);
    model.findings.review = Some(Box::new(Review::new(cards)));
    save(model, effects);
    open(model);
}

/// The number of shown findings that are on no card.
fn count_not_on_cards(model: &Model, review: &Review) -> usize {
    let Some(table) = model.data.findings.value() else {
        return 0;
    };
    let on_cards = ids_of(review);
    matching(model, table)
        .filter(|id| !on_cards.contains(&id.0))
        .count()
}

/// The shown findings without those that the filter would hide because a decision on them was
/// recorded.
fn matching<'a>(model: &'a Model, table: &'a Table<Issue>) -> impl Iterator<Item = IssueId> + 'a {
    let list = &model.lists.findings;
    let retained: HashSet<IssueId> = list.retained_only.iter().copied().collect();
    list.shown(table).filter(move |id| !retained.contains(id))
}

/// The saved review of this workspace, if it has not ended.
fn saved(model: &Model) -> Option<Review> {
    let workspace = &model.workspace()?.name;
    Review::restored(
        model.setting(CARDS, workspace)?,
        model.setting(PROGRESS, workspace)?,
    )
}

/// These findings as cards: a card for each group, for each class while there are no groups. None
/// until the groups of many findings are built.
fn cards(model: &mut Model, ids: Vec<IssueId>) -> Option<Vec<Card>> {
    let Some(table) = &model.data.findings.value().cloned() else {
        return Some(Vec::new());
    };
    let by = model.lists.finding_groups.by.unwrap_or_default();
    let keys = model.groups_of(by)?;
    let mut cards: Vec<Card> = Vec::new();
    let mut card_of: HashMap<u32, usize> = HashMap::new();
    for (id, position) in ids
        .into_iter()
        .filter_map(|id| Some((id, table.position(id)?)))
    {
        let Some(&group) = keys.of.get(position) else {
            continue;
        };
        let Some(name) = keys.names.get(group as usize) else {
            continue;
        };
        let at = *card_of.entry(group).or_insert(cards.len());
        if at == cards.len() {
            cards.push(Card {
                by: Some(by),
                key: name.key.clone(),
                title: name.title.clone(),
                ids: Vec::new(),
            });
        }
        cards[at].ids.push(id.0);
    }
    // A single finding is shown as such, with its place.
    if model.lists.finding_groups.by.is_none() {
        for card in cards.iter_mut().filter(|card| card.ids.len() == 1) {
            let issue = card.ids.first().and_then(|&id| table.get(IssueId(id)));
            *card = Card {
                by: None,
                key: Shared::default(),
                title: issue.map(|issue| issue.name.clone()).unwrap_or_default(),
                ids: std::mem::take(&mut card.ids),
            };
        }
    }
    Some(cards)
}

fn open(model: &mut Model) {
    let before = model.navigation.focus;
    model.navigation.focus = Focus {
        pane: Pane::Findings,
        in_detail: true,
        zoomed: true,
    };
    model.detail.search = None;
    if let Some(review) = &mut model.findings.review {
        review.open = Some(Focus {
            pane: Pane::Findings,
            in_detail: false,
            ..before
        });
    }
    arm_card_guard(model);
}

/// Prepares a card that is shown now. It accepts a verdict only after it was seen.
fn arm_card_guard(model: &mut Model) {
    if let Some(review) = &mut model.findings.review {
        review.tab = Tab::Overview;
        review.row = 0;
    }
    // On the summary the key undoes all decisions, not only the last one.
    if model
        .reviewing()
        .is_some_and(|review| review.card().is_none())
    {
        model.overlay.notices.remove_ending(UNDOES);
    }
    model.arm_guard(Pane::Findings);
    model.detail.search = None;
    refresh(model);
}

/// esc: pauses the review; in the summary, ends it if every card is decided.
pub(crate) fn leave(model: &mut Model, effects: &mut Vec<Effect>) {
    let state = &model.findings.triage.state;
    let is_done =
        |review: &Review| review.card().is_none() && review.first_undecided(state).is_none();
    match model.reviewing().is_some_and(is_done) {
        true => end(model, effects),
        false => {
            pause(model);
            let key = model.key_label(Context::Findings, Action::Review(ReviewAction::Open));
            model.overlay.notices.remove_starting(&[RESUMED]);
            model.notify(Tone::Plain, format!("{PAUSED} · {key} resumes"));
        }
    }
}

/// Ends the review. Its decisions remain.
fn end(model: &mut Model, effects: &mut Vec<Effect>) {
    let has_decisions = model
        .reviewing()
        .is_some_and(|review| review.outcome(&model.findings.triage.state).decided() > 0);
    close(model);
    model.forget_here(CARDS, effects);
    model.forget_here(PROGRESS, effects);
    let ended = if has_decisions {
        "review ended: its decisions remain"
    } else {
        "review ended without decisions"
    };
    model.notify(Tone::Good, ended);
}

fn skip(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let at = review.progress.at;
    if at == review.len() {
        return match review.first_undecided(&model.findings.triage.state) {
            Some(card) => show(model, card, effects),
            None => model.notify(Tone::Plain, "every card is decided"),
        };
    }
    if review.decided(at, &model.findings.triage.state).is_none() {
        review.progress.skipped.insert(at);
    }
    step(model, 1, effects);
}

fn step(model: &mut Model, by: isize, effects: &mut Vec<Effect>) {
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let (at, end) = (review.progress.at, review.len());
    match at.saturating_add_signed(by).min(end) {
        _ if at == end && by < 0 => {
            let card = review.progress.before_summary.min(end.saturating_sub(1));
            show(model, card, effects);
        }
        to if to == at && by < 0 => model.notify(Tone::Plain, "first card"),
        to => show(model, to, effects),
    }
}

fn to_summary(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(end) = model.findings.review.as_ref().map(|review| review.len()) {
        show(model, end, effects);
    }
}

/// Shows a card, or the summary.
fn show(model: &mut Model, at: usize, effects: &mut Vec<Effect>) {
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let before = std::mem::replace(&mut review.progress.at, at);
    if at == review.len() && before != at {
        review.progress.before_summary = before;
    }
    save(model, effects);
    arm_card_guard(model);
}

fn save(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(progress) = model
        .findings
        .review
        .as_ref()
        .map(|review| review.progress.clone())
    {
        model.remember_here(PROGRESS, &progress, effects);
    }
}

pub(crate) fn walk_tabs(model: &mut Model, by: isize) {
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let at = TABS
        .iter()
        .position(|&tab| tab == review.tab)
        .unwrap_or(0)
        .saturating_add_signed(by);
    review.tab = TABS[at.min(TABS.len() - 1)];
    model.detail.search = None;
}

/// On the tab Where the scroll keys move through the findings.
pub(crate) fn walk_members(model: &mut Model, action: MoveAction) {
    let page = isize::from(model.screen.measures.detail_rows.max(2) as i16);
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let last = review.facts.issues.len().saturating_sub(1);
    review.row = review
        .row
        .saturating_add_signed(action.rows(page))
        .min(last);
}

/// Excludes the selected finding from the decision, or includes it again.
fn leave_out(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let Some(id) = review.facts.issues.get(review.row).map(|issue| issue.id.0) else {
        return;
    };
    let out = review.progress.out.entry(review.progress.at).or_default();
    if !out.remove(&id) {
        out.insert(id);
    }
    review.row = (review.row + 1).min(review.facts.issues.len().saturating_sub(1));
    save(model, effects);
}

pub(crate) fn prompt_undo_all(model: &mut Model) {
    let Some(review) = &model.findings.review else {
        return;
    };
    let outcome = review.outcome(&model.findings.triage.state);
    if outcome.batches.is_empty() {
        return model.notify(Tone::Plain, "no decisions in this review");
    }
    let findings: usize = outcome
        .verdicts
        .iter()
        .map(|(_, _, findings)| findings)
        .sum();
    let question = format!(
        "Undo all decisions of this review: {}, {}?",
        plural(outcome.decided(), "card"),
        plural(findings, "finding")
    );
    model.open_prompt(
        Prompt::new(question, Then::UndoAll(outcome.batches))
            .with_line("Redo restores them one by one."),
    );
}

/// From the prompt before a large decision: shows the findings, to exclude some of them.
pub(crate) fn pick(model: &mut Model) {
    if let Some(review) = &mut model.findings.review {
        review.tab = Tab::Where;
    }
}

/// After every message: updates the facts of the card, and pauses a review that lost the focus.
pub(crate) fn refresh_or_pause(model: &mut Model) {
    if model.reviewing().is_none() {
        return;
    }
    if !(model.navigation.focus.pane == Pane::Findings && model.navigation.focus.in_detail) {
        return pause(model);
    }
    refresh(model);
}

fn refresh(model: &mut Model) {
    let Some(table) = model.data.findings.value() else {
        return;
    };
    let Some(review) = &mut model.findings.review else {
        return;
    };
    let shown = &model.findings.shown;
    if !review.facts.fit(
        review.progress.at,
        table,
        &model.findings.triage.state,
        shown,
    ) {
        review.facts = Arc::new(ReviewFacts::of(
            review,
            table,
            &model.findings.triage,
            shown,
        ));
        review.row = review.row.min(review.facts.issues.len().saturating_sub(1));
    }
}

impl Model {
    /// Shows the next card after a decision on the current one.
    pub(crate) fn reviewed(
        &mut self,
        verdict: Verdict,
        count: usize,
        batch: Option<EventId>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(review) = &mut self.findings.review else {
            return;
        };
        let at = review.progress.at;
        review
            .progress
            .decided
            .entry(at)
            .or_default()
            .push(Decided {
                verdict,
                count,
                batch,
            });
        review.progress.skipped.remove(&at);
        step(self, 1, effects);
    }

    /// Undoes batches in one step, the newest first.
    pub(crate) fn undo_all(&mut self, batches: Vec<EventId>, effects: &mut Vec<Effect>) {
        let count = batches.len();
        let drafts = batches
            .into_iter()
            .map(|batch| (Subject::Batch(batch), Change::Undo))
            .collect();
        match self.record(drafts, effects) {
            Some(_) => self.notify(Tone::Good, format!("undone: {}", plural(count, "decision"))),
            None => {
                let why = self.cannot_decide().unwrap_or_default();
                self.notify(Tone::Bad, why);
            }
        }
        refresh(self);
    }

    /// The card of the open review on which a batch was decided.
    pub(crate) fn card_of(&self, batch: EventId) -> Option<usize> {
        let of =
            |(_, all): &(&usize, &Vec<Decided>)| all.iter().any(|one| one.batch == Some(batch));
        self.reviewing()?
            .progress
            .decided
            .iter()
            .find(of)
            .map(|(&at, _)| at)
    }

    /// Shows a card whose decision was undone or redone.
    pub(crate) fn go_to_card(&mut self, at: usize, effects: &mut Vec<Effect>) {
        if let Some(review) = &mut self.findings.review {
            review.progress.at = at;
        }
        save(self, effects);
        arm_card_guard(self);
    }

    /// Whether a decision on these decides the current card. A command can decide others too, and
    /// the explanation of a finding one of several.
    pub(crate) fn decides_card(&self, ids: &[IssueId]) -> bool {
        let Some(review) = self.reviewing() else {
            return false;
        };
        let is_one_of_many = ids.len() == 1 && review.included().len() > 1;
        review.card().is_some_and(|card| {
            let on_it: HashSet<i64> = card.ids.iter().copied().collect();
            !is_one_of_many && ids.iter().all(|id| on_it.contains(&id.0))
        })
    }
}
