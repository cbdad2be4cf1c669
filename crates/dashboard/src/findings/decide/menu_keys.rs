//! Keys of the decide menu, and of its note and tags alone. The menu itself is a modal of the
//! model.

use crate::base::{Effect, Pane, Tone};
use crate::findings::decide::keys as decide;
use crate::input::{
    Action, Context, DecideAction, EditAction, FormAction, KeyEvent, ListAction, MoveAction,
};
use crate::model::{DecideMenu, MenuChoice, MenuEntry, MenuOffer, MenuValue, Modal, Model};
use crate::prompts::PendingDecision;
use crate::text::Ends;
use scandeck_domain::query::{Query, QueryKind, RowSet};
use scandeck_domain::triage::{
    DecisionScope, Draft, DraftValue, FindingKey, Issue, IssueId, Verdict, VerdictSource,
};
use scandeck_wire::contract::Shared;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Most findings offered as the original of a duplicate.
const OFFERED: usize = 50;

/// The scopes of so many findings are counted when the menu opens: each class needs a query.
const COUNTED: usize = 20;

/// Opens the menu, or one option of it alone.
pub(crate) fn open(model: &mut Model, alone: Option<MenuChoice>) {
    if let Some(why) = model.cannot_decide() {
        return model.notify(Tone::Bad, why);
    }
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let [ids, hidden] = model.chosen(Pane::Findings).issues();
    if ids.is_empty() {
        let why = if hidden.is_empty() {
            "nothing selected"
        } else {
            "all marked findings are hidden"
        };
        return model.notify(Tone::Plain, why);
    }
    let counts = if alone.is_none() && ids.len() <= COUNTED {
        count_scopes(model, &ids)
    } else {
        Vec::new()
    };
    let classes = count_classes(model, &ids);
    let menu = DecideMenu {
        alone: alone.is_some(),
        counts,
        classes,
        ..DecideMenu::new(ids, hidden)
    };
    model.overlay.modals.push(Modal::Decide(Box::new(menu)));
    if let Some(choice) = alone {
        open_option(model, choice);
    }
}

/// Opens an option with its value, and a note with the text that was typed for these findings
/// before.
fn open_option(model: &mut Model, choice: MenuChoice) {
    let Some(menu) = menu(model) else { return };
    menu.open(choice);
    if choice == MenuChoice::Note && !menu.has_note() {
        let ids = menu.ids.clone();
        let typed = model.overlay.notes.remove(&ids);
        if let Some((entry, typed)) = self::menu(model)
            .and_then(|menu| menu.entry.as_mut())
            .zip(typed)
        {
            entry.input.set(&typed);
        }
    }
    offer(model);
}

/// Keeps a note that is closed without recording it, for the next one on the same findings. Returns
/// whether there is one.
fn keep_note(model: &mut Model, note: &str) -> bool {
    let Some(ids) = menu(model)
        .map(|menu| menu.ids.clone())
        .filter(|_| !note.trim().is_empty())
    else {
        return false;
    };
    model.overlay.notes.insert(ids, note.to_owned());
    model.notify(Tone::Plain, "note: draft kept");
    true
}

pub(crate) fn handle_key(
    model: &mut Model,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(menu) = menu(model) else { return };
    match &menu.entry {
        Some(entry) => {
            let choice = entry.choice;
            handle_entry(model, choice, event, action, effects);
        }
        None => handle_choice(model, action, effects),
    }
}

fn handle_choice(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(menu) = menu(model) else { return };
    let choice = match action {
        Some(Action::Edit(EditAction::Close)) => {
            let note = menu.note().map(ToString::to_string).unwrap_or_default();
            let is_kept = keep_note(model, &note);
            model.overlay.modals.pop();
            if !is_kept {
                model
                    .overlay
                    .notices
                    .notify_until_key(model.now.mono, "cancelled");
            }
            return;
        }
        Some(Action::Move(MoveAction::Down)) => return walk_scope(model, 1),
        Some(Action::Move(MoveAction::Up)) => return walk_scope(model, -1),
        Some(Action::List(ListAction::TakeBack)) => {
            match menu.has_choice() {
                true => menu.undo_choice(),
                false => model.notify(Tone::Plain, "no verdict or option selected yet"),
            }
            return preview(model);
        }
        Some(Action::Edit(EditAction::Accept)) => return finish(model, None, effects),
        Some(Action::Decide(DecideAction::ReuseOffered)) => {
            menu.choose(|draft| {
                (draft.reuses_offered, draft.scope) = (true, DecisionScope::Findings)
            });
            return finish(model, None, effects);
        }
        Some(Action::Decide(DecideAction::Reason)) => MenuChoice::Reason,
        Some(Action::Decide(DecideAction::Note)) => MenuChoice::Note,
        Some(Action::Decide(DecideAction::Severity)) => MenuChoice::Severity,
        Some(Action::Decide(DecideAction::Tags)) => MenuChoice::Tags,
        Some(Action::Decide(DecideAction::DuplicateOf)) => MenuChoice::Duplicate,
        Some(Action::Decide(DecideAction::Until)) => MenuChoice::Until,
        Some(Action::Decide(DecideAction::Assignee)) => MenuChoice::Assignee,
        Some(Action::Decide(DecideAction::Due)) => MenuChoice::Due,
        Some(Action::Verdict(action)) => return finish(model, Some(action.verdict().0), effects),
        // The menu has no other actions.
        Some(_) => return,
        None => return model.notify(Tone::Plain, "not a key of this menu"),
    };
    open_option(model, choice);
}

fn handle_entry(
    model: &mut Model,
    choice: MenuChoice,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(menu) = menu(model) else { return };
    let (alone, has_note) = (menu.alone, menu.has_note());
    let Some(entry) = &mut menu.entry else { return };
    match action {
        Some(Action::Edit(EditAction::Close)) => {
            let typed = (choice == MenuChoice::Note && !has_note).then(|| entry.input.text());
            menu.entry = None;
            let is_kept = keep_note(model, &typed.unwrap_or_default());
            if alone {
                model.overlay.modals.pop();
                if !is_kept {
                    model
                        .overlay
                        .notices
                        .notify_until_key(model.now.mono, "cancelled");
                }
            }
        }
        Some(Action::Edit(EditAction::Accept) | Action::Form(FormAction::Send)) => {
            take(model, effects)
        }
        Some(Action::Form(FormAction::Editor)) => effects.push(Effect::Edit(entry.input.text())),
        Some(Action::Edit(EditAction::LineDown)) if choice != MenuChoice::Note => {
            entry.offers.walk(1, Ends::Around)
        }
        Some(Action::Edit(EditAction::LineUp)) if choice != MenuChoice::Note => {
            entry.offers.walk(-1, Ends::Around)
        }
        Some(Action::Edit(EditAction::Complete)) if choice != MenuChoice::Tags => {
            entry.offers.walk(1, Ends::Around)
        }
        Some(Action::Edit(EditAction::CompleteBack)) if choice != MenuChoice::Tags => {
            entry.offers.walk(-1, Ends::Around)
        }
        Some(Action::Edit(EditAction::Complete)) => {
            entry.complete();
            offer(model);
        }
        // Any other key types.
        Some(_) | None => {
            entry.input.type_key(event);
            handle_typed(model);
        }
    }
}

/// Updates the offers after text was typed or pasted into the option.
pub(crate) fn handle_typed(model: &mut Model) {
    if let Some(entry) = menu(model).and_then(|menu| menu.entry.as_mut()) {
        (entry.offers.at, entry.error) = (None, None);
        offer(model);
    }
}

/// Takes the typed option into the draft. An option that was opened alone is recorded at once.
fn take(model: &mut Model, effects: &mut Vec<Effect>) {
    let (today, own_name) = (model.today(), model.own_name());
    let Some(entry) = menu(model).and_then(|menu| menu.entry.take()) else {
        return;
    };
    // The choice of an original is the verdict.
    let unfit = match entry.choice {
        MenuChoice::Duplicate => unfit_reason(model, Some(Verdict::Duplicate)),
        _ => None,
    };
    let Some(menu) = menu(model) else { return };
    let mut draft = menu.draft.clone();
    if let Err(error) = unfit.map_or_else(|| entry.take(today, &own_name, &mut draft), Err) {
        menu.entry = Some(MenuEntry {
            error: Some(error),
            ..entry
        });
        return;
    }
    let (alone, duplicate) = (
        menu.alone,
        entry.choice == MenuChoice::Duplicate && draft.duplicate_of.is_some(),
    );
    menu.choose(|chosen| *chosen = draft);
    match (alone, duplicate) {
        (true, _) => finish(model, None, effects),
        (_, true) => finish(model, Some(Verdict::Duplicate), effects),
        _ => {}
    }
}

/// Closes the menu and decides. With a reason that does not apply to the verdict, the menu stays
/// open.
fn finish(model: &mut Model, verdict: Option<Verdict>, effects: &mut Vec<Effect>) {
    if let Some(why) = unfit_reason(model, verdict) {
        return model.notify(Tone::Plain, why);
    }
    let Some(Modal::Decide(menu)) = model.overlay.modals.pop() else {
        return;
    };
    let DecideMenu {
        ids,
        hidden,
        mut draft,
        ..
    } = *menu;
    draft.verdict = verdict;
    if draft == Default::default() || (draft.scope != DecisionScope::Findings && verdict.is_none())
    {
        let why = if draft.scope == DecisionScope::Findings {
            "no verdict or option selected"
        } else {
            "a rule needs a verdict"
        };
        return model.notify(Tone::Plain, format!("cancelled: {why}"));
    }
    decide::prompt_or_execute(
        model,
        PendingDecision {
            draft,
            ids,
            next: false,
        },
        hidden,
        effects,
    );
}

/// Why the chosen reason does not apply to a verdict.
fn unfit_reason(model: &mut Model, verdict: Option<Verdict>) -> Option<String> {
    let (verdict, DraftValue::Set(reason)) = (verdict?, menu(model)?.draft.reason) else {
        return None;
    };
    let change = model.key_label(Context::Decide, Action::Decide(DecideAction::Reason));
    let why = || {
        format!(
            "reason \"{}\" does not apply to {} · {change} changes the reason",
            reason.phrase(),
            verdict.phrase()
        )
    };
    (!verdict.reasons().contains(&reason)).then(why)
}

fn walk_scope(model: &mut Model, by: isize) {
    if let Some(menu) = menu(model) {
        menu.walk_scope(by);
    }
    preview(model);
}

/// The findings that the rules of each class scope match now.
fn count_scopes(model: &Model, ids: &[IssueId]) -> Vec<(DecisionScope, usize)> {
    let found = |scope| {
        Some((
            scope,
            matches(
                model,
                ids,
                &Draft {
                    scope,
                    ..Draft::default()
                },
            )?
            .count(),
        ))
    };
    DecisionScope::ALL.into_iter().filter_map(found).collect()
}

/// The findings that the rules of a draft match now; `None` if it makes no rule.
fn matches(model: &Model, ids: &[IssueId], draft: &Draft) -> Option<RowSet> {
    let table = model.data.findings.value()?;
    let issues = ids.iter().filter_map(|&id| table.get(id));
    let queries: BTreeSet<Shared> = issues.filter_map(|issue| draft.rule(issue)).collect();
    if queries.is_empty() {
        return None;
    }
    let source = model.listed(table);
    let mut found = RowSet::none(table.len());
    for query in queries
        .iter()
        .filter_map(|query| Query::parse(query, QueryKind::Findings).ok())
    {
        found.or(&query.matches(&source));
    }
    Some(found)
}

/// The number of classes of these findings: once for each target, and once in all.
fn count_classes(model: &Model, ids: &[IssueId]) -> [usize; 2] {
    let Some(table) = model.data.findings.value() else {
        return [1, 1];
    };
    let identities = || {
        ids.iter()
            .filter_map(|&id| table.get(id))
            .map(|issue| &issue.identity)
    };
    let on_target: HashSet<_> = identities()
        .map(|identity| (&identity.class, &identity.asset))
        .collect();
    let in_all: HashSet<_> = identities().map(|identity| &identity.class).collect();
    [on_target.len(), in_all.len()]
}

/// Counts the findings that the rules of the chosen scope match now.
fn preview(model: &mut Model) {
    let found = menu(model)
        .map(|menu| (menu.ids.clone(), menu.draft.clone()))
        .and_then(|(ids, draft)| {
            let found = matches(model, &ids, &draft)?;
            let assessments = &model.findings.triage.assessments;
            let by_hand = |&at: &usize| {
                assessments
                    .get(at)
                    .is_some_and(|assessment| assessment.source == VerdictSource::Person)
            };
            Some((found.count(), found.rows().filter(by_hand).count()))
        });
    if let Some(menu) = menu(model) {
        menu.preview = found;
    }
}

/// Updates the offers for the typed text.
fn offer(model: &mut Model) {
    let Some(entry) = menu(model).and_then(|menu| menu.entry.as_ref()) else {
        return;
    };
    let (choice, word) = (entry.choice, entry.word().trim().to_lowercase());
    let fits = |offer: &MenuOffer| offer.words.to_lowercase().contains(&word);
    let offers = match choice {
        MenuChoice::Tags => tags_in_use(model, word.trim_start_matches(['-', '+'])),
        MenuChoice::Duplicate => findings_with(model, &word),
        MenuChoice::Assignee => members_with(model, &word),
        MenuChoice::Reason
        | MenuChoice::Note
        | MenuChoice::Severity
        | MenuChoice::Until
        | MenuChoice::Due => {
            let mut offers: Vec<MenuOffer> = choice.offers().into_iter().filter(fits).collect();
            // Enter takes the first offer: `l` is low, not critical.
            offers.sort_by_key(|offer| !offer.words.to_lowercase().starts_with(&word));
            offers
        }
    };
    if let Some(entry) = menu(model).and_then(|menu| menu.entry.as_mut()) {
        entry.offers.all = offers;
    }
}

fn members_with(model: &Model, word: &str) -> Vec<MenuOffer> {
    let members = model.known_members().into_iter();
    let fits = members.filter(|name| name.to_lowercase().starts_with(word));
    fits.map(|name| MenuOffer {
        value: MenuValue::Member(name.as_str().into()),
        words: name,
    })
    .collect()
}

fn tags_in_use(model: &Model, word: &str) -> Vec<MenuOffer> {
    let used = model.findings.triage.tags_in_use().into_iter();
    let fits = used.filter(|tag| tag.to_lowercase().starts_with(word) && tag.as_str() != word);
    fits.map(|tag| MenuOffer {
        words: tag.to_string(),
        value: MenuValue::Tag(tag.clone()),
    })
    .collect()
}

/// Findings with a text, except those that the menu decides.
fn findings_with(model: &mut Model, word: &str) -> Vec<MenuOffer> {
    let about: HashSet<IssueId> = menu(model)
        .map(|menu| menu.ids.iter().copied().collect())
        .unwrap_or_default();
    let Some(table) = model.data.findings.value() else {
        return Vec::new();
    };
    let others = || {
        table
            .items()
            .iter()
            .filter(|issue| !about.contains(&issue.id))
    };
    let any = |issue: &Arc<Issue>, fits: fn(&str, &str) -> bool| {
        [&*issue.name, &*issue.identity.asset]
            .into_iter()
            .any(|text| fits(&text.to_lowercase(), word))
    };
    let starts = |text: &str, word: &str| text.starts_with(word);
    let contains = |text: &str, word: &str| text.contains(word);
    let first = others().filter(|issue| any(issue, starts));
    let fits = first.chain(others().filter(|issue| !any(issue, starts) && any(issue, contains)));
    let offer = |key: FindingKey, words: String| MenuOffer {
        words,
        value: MenuValue::Duplicate(key),
    };
    fits.take(OFFERED)
        .map(|issue| {
            offer(
                issue.key(),
                format!("{} ({})", issue.name, issue.identity.asset),
            )
        })
        .collect()
}

fn menu(model: &mut Model) -> Option<&mut Box<DecideMenu>> {
    model.overlay.modals.last_mut()?.try_as_decide_mut()
}
