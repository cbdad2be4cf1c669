//! The keys of the decide menu, of the note (`e`) and of the tags (`T`): see [`crate::app::decide::menu`].

use std::collections::{BTreeSet, HashSet};

use crossterm::event::KeyEvent;

use super::super::decide::menu::{Choice, DecideMenu, Entry, Offer, Value};
use super::super::decide::{Deed, Scope};
use super::super::effect::Effect;
use super::super::modal::Modal;
use super::super::model::{Model, Pane};
use super::super::notices::Tone;
use super::super::typing::type_key;
use super::decide;
use crate::contract::Shared;
use crate::input::Action;
use crate::query::{Bits, Kind, Query};
use crate::triage::case::Source;
use crate::triage::verdict::Verdict;
use crate::triage::{CaseId, Key};

/// Findings offered as what another one duplicates.
const OFFERED: usize = 50;

/// `t`, or with one option alone `e` and `T`.
pub(super) fn open(model: &mut Model, alone: Option<Choice>) {
    if let Some(why) = model.cannot_decide() {
        return model.say(Tone::Bad, why);
    }
    let chosen = model.chosen(Pane::Findings);
    if chosen.ids.is_empty() {
        let hidden = chosen.hidden.len();
        let why = if hidden == 0 { "nothing is selected here" } else { "what is marked is not shown" };
        return model.say(Tone::Plain, why);
    }
    let ids = |ids: Vec<i64>| ids.into_iter().map(CaseId).collect();
    let mut menu = DecideMenu::new(ids(chosen.ids), ids(chosen.hidden));
    if let Some(choice) = alone {
        menu.alone = true;
        menu.open(choice);
    }
    model.modals.push(Modal::Decide(Box::new(menu)));
    offer(model);
}

/// A key while the menu is up.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
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
        Some(Action::Close) => {
            model.modals.pop();
            return model.say(Tone::Plain, "left as it is");
        }
        Some(Action::Down) => return walk_scope(model, 1),
        Some(Action::Up) => return walk_scope(model, -1),
        Some(Action::TakeBack) => {
            if !menu.take_back() {
                model.say(Tone::Plain, "nothing is chosen yet");
            }
            return preview(model);
        }
        Some(Action::Accept) => return finish(model, None, effects),
        Some(Action::TakeOver) => {
            menu.choose(|draft| (draft.take_over, draft.scope) = (true, Scope::Findings));
            return finish(model, None, effects);
        }
        Some(Action::Reason) => Choice::Reason,
        Some(Action::Note) => Choice::Note,
        Some(Action::Severity) => Choice::Severity,
        Some(Action::Tags) => Choice::Tags,
        Some(Action::DuplicateOf) => Choice::Duplicate,
        Some(Action::Until) => Choice::Until,
        Some(action) => {
            if let Some((verdict, _)) = action.verdict() {
                finish(model, Some(verdict), effects);
            }
            return;
        }
        None => return model.say(Tone::Plain, "this key does nothing here; esc leaves it alone"),
    };
    menu.open(choice);
    offer(model);
}

fn handle_entry(model: &mut Model, choice: Choice, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(menu) = menu(model) else { return };
    let alone = menu.alone;
    let Some(entry) = &mut menu.entry else { return };
    match action {
        Some(Action::Close) if alone => {
            model.modals.pop();
            model.say(Tone::Plain, "left as it is");
        }
        Some(Action::Close) => menu.entry = None,
        Some(Action::Accept | Action::Send) => take(model, effects),
        Some(Action::Editor) => effects.push(Effect::Edit(entry.text())),
        Some(Action::LineDown) if choice != Choice::Note => entry.walk(1),
        Some(Action::LineUp) if choice != Choice::Note => entry.walk(-1),
        Some(Action::Complete | Action::CompleteBack) if choice != Choice::Tags => {
            entry.walk(if action == Some(Action::Complete) { 1 } else { -1 });
        }
        Some(Action::Complete) => {
            entry.complete();
            offer(model);
        }
        _ => {
            type_key(&mut entry.input, event);
            (entry.at, entry.error) = (None, None);
            offer(model);
        }
    }
}

/// Pasted text goes into what is typed; false where nothing is.
pub(super) fn paste(model: &mut Model, text: &str) -> bool {
    let Some(entry) = menu(model).and_then(|menu| menu.entry.as_mut()) else { return false };
    let text = match entry.choice {
        Choice::Note => text.to_owned(),
        _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    entry.input.insert_str(text);
    offer(model);
    true
}

/// What came back from the editor; false where no note is being written.
pub(super) fn put_edited(model: &mut Model, text: &str) -> bool {
    let Some(entry) = menu(model).and_then(|menu| menu.entry.as_mut()) else { return false };
    entry.input.select_all();
    entry.input.cut();
    entry.input.insert_str(text.trim_end());
    true
}

/// Takes the typed option into the draft; alone, it is carried out at once.
fn take(model: &mut Model, effects: &mut Vec<Effect>) {
    let today = model.today();
    let Some(menu) = menu(model) else { return };
    let Some(entry) = menu.entry.take() else { return };
    let mut draft = menu.draft.clone();
    if let Err(error) = entry.take(today, &mut draft) {
        menu.entry = Some(Entry { error: Some(error), ..entry });
        return;
    }
    let (alone, duplicate) = (menu.alone, entry.choice == Choice::Duplicate && draft.duplicate_of.is_some());
    menu.choose(|chosen| *chosen = draft);
    match (alone, duplicate) {
        (true, _) => finish(model, None, effects),
        (_, true) => finish(model, Some(Verdict::Duplicate), effects),
        _ => {}
    }
}

/// The end of the menu: decides, as a verdict key would.
fn finish(model: &mut Model, verdict: Option<Verdict>, effects: &mut Vec<Effect>) {
    let Some(Modal::Decide(menu)) = model.modals.pop() else { return };
    let DecideMenu { ids, hidden, mut draft, .. } = *menu;
    draft.verdict = verdict;
    if draft == Default::default() || (draft.scope != Scope::Findings && verdict.is_none()) {
        let what = if draft.scope == Scope::Findings { "nothing was chosen" } else { "a rule needs a verdict" };
        return model.say(Tone::Plain, format!("{what}: left as it is"));
    }
    decide::ask_or_carry_out(model, Deed { draft, ids, next: false }, hidden, effects);
}

fn walk_scope(model: &mut Model, by: isize) {
    if let Some(menu) = menu(model) {
        menu.walk_scope(by);
    }
    preview(model);
}

/// How many findings the rules of the chosen scope would find now.
fn preview(model: &mut Model) {
    let found = menu(model).map(|menu| (menu.ids.clone(), menu.draft.clone())).and_then(|(ids, draft)| {
        let table = model.data.findings.value()?.clone();
        let cases = ids.iter().filter_map(|&id| table.get(id));
        let queries: BTreeSet<Shared> = cases.filter_map(|case| draft.rule(case)).collect();
        if queries.is_empty() {
            return None;
        }
        let source = model.triaged(&table);
        let mut found = Bits::none(table.len());
        for query in queries.iter().filter_map(|query| Query::parse(query, Kind::Findings).ok()) {
            found.or(&query.matches(&source));
        }
        let stances = &model.triage.stances;
        let by_hand = |&at: &usize| stances.get(at).is_some_and(|stance| stance.source == Source::Person);
        Some((found.count(), found.rows().filter(by_hand).count()))
    });
    if let Some(menu) = menu(model) {
        menu.preview = found;
    }
}

/// Offers what fits to what is typed.
fn offer(model: &mut Model) {
    let Some(entry) = menu(model).and_then(|menu| menu.entry.as_ref()) else { return };
    let (choice, word) = (entry.choice, entry.word().trim().to_lowercase());
    let fits = |offer: &Offer| offer.words.to_lowercase().contains(&word);
    let offers = match choice {
        Choice::Tags => tags_in_use(model, word.trim_start_matches(['-', '+'])),
        Choice::Duplicate => findings_with(model, &word),
        _ => choice.offers().into_iter().filter(fits).collect(),
    };
    if let Some(entry) = menu(model).and_then(|menu| menu.entry.as_mut()) {
        entry.offers = offers;
    }
}

fn tags_in_use(model: &Model, word: &str) -> Vec<Offer> {
    let used: BTreeSet<&Shared> = model.triage.stances.iter().flat_map(|stance| &stance.tags).collect();
    let fits = used.into_iter().filter(|tag| tag.to_lowercase().starts_with(word) && tag.as_str() != word);
    fits.map(|tag| Offer { words: tag.to_string(), value: Value::Tag(tag.clone()) }).collect()
}

/// Findings with a text, other than those the menu is about.
fn findings_with(model: &mut Model, word: &str) -> Vec<Offer> {
    let about: HashSet<CaseId> = menu(model).map(|menu| menu.ids.iter().copied().collect()).unwrap_or_default();
    let Some(table) = model.data.findings.value() else { return Vec::new() };
    let fits = table.items().iter().filter(|case| {
        let text = |text: &str| text.to_lowercase().contains(word);
        !about.contains(&case.id) && (text(&case.name) || text(&case.identity.asset))
    });
    let offer = |key: Key, words: String| Offer { words, value: Value::Duplicate(key) };
    fits.take(OFFERED).map(|case| offer(case.key(), format!("{} ({})", case.name, case.identity.asset))).collect()
}

fn menu(model: &mut Model) -> Option<&mut DecideMenu> {
    match model.modals.last_mut() {
        Some(Modal::Decide(menu)) => Some(menu),
        _ => None,
    }
}
