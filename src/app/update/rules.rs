//! The keys of the list of rules. Every change is an event, so `u` takes it back.

use crossterm::event::KeyEvent;

use super::super::decide::rules::{Edit, RulesBox};
use super::super::decide::{self, Draft};
use super::super::effect::Effect;
use super::super::modal::{Modal, line_text, line_with};
use super::super::model::Model;
use super::super::notices::Tone;
use super::super::typing::type_key;
use super::undo;
use crate::contract::Shared;
use crate::input::Action;
use crate::query::{Kind, Query};
use crate::triage::{Change, RuleState, Subject};

/// Opens the list.
pub(super) fn open(model: &mut Model) {
    if model.rules().is_empty() {
        return model.say(Tone::Plain, "no rules yet: t, j to a class, then a verdict makes one");
    }
    model.modals.push(Modal::Rules(Box::default()));
}

/// A key while the list is up.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(rules) = rules(model) else { return };
    match rules.edit.is_some() {
        true => handle_edit(model, event, action, effects),
        false => handle_list(model, action, effects),
    }
}

fn handle_list(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let most = model.rules().len().saturating_sub(1);
    let Some(shown) = rules(model) else { return };
    shown.at = shown.at.min(most);
    match action {
        Some(Action::Close) => _ = model.modals.pop(),
        Some(Action::Down) => shown.at = (shown.at + 1).min(most),
        Some(Action::Up) => shown.at = shown.at.saturating_sub(1),
        Some(Action::SwitchRule) => change(model, |rule| Change::Off(!rule.off), effects),
        Some(Action::Undo | Action::Redo) => {
            if let Some(action) = action {
                undo::perform(model, action, effects);
            }
        }
        Some(Action::Edit) => {
            let Some(rule) = selected(model) else { return };
            let edit = Edit { rule: rule.id, input: line_with(&rule.query), finds: Ok(0) };
            if let Some(shown) = rules(model) {
                shown.edit = Some(edit);
            }
            count(model);
        }
        Some(action) => {
            let Some((verdict, _)) = action.verdict() else { return };
            let today = model.today();
            let said = move |rule: &RuleState| {
                let decision = Draft::of(verdict).decision(rule.decision.reason, today).unwrap_or_default();
                Change::Rule { query: rule.query.clone(), decision }
            };
            change(model, said, effects);
        }
        None => {}
    }
}

fn handle_edit(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(shown) = rules(model) else { return };
    let Some(edit) = &mut shown.edit else { return };
    match action {
        Some(Action::Close) => shown.edit = None,
        Some(Action::Accept) if edit.finds.is_err() => {}
        Some(Action::Accept) => {
            let query = Shared::from(line_text(&edit.input).trim());
            shown.edit = None;
            change(model, |rule| Change::Rule { query: query.clone(), decision: rule.decision.clone() }, effects);
        }
        _ => {
            type_key(&mut edit.input, event);
            count(model);
        }
    }
}

/// Pasted text goes into the query; false where none is edited.
pub(super) fn paste(model: &mut Model, text: &str) -> bool {
    let Some(edit) = rules(model).and_then(|rules| rules.edit.as_mut()) else { return false };
    edit.input.insert_str(text.replace(['\n', '\r', '\t'], " "));
    count(model);
    true
}

/// Records a change of the selected rule.
fn change(model: &mut Model, said: impl Fn(&RuleState) -> Change, effects: &mut Vec<Effect>) {
    if let Some(why) = model.cannot_decide() {
        return model.say(Tone::Bad, why);
    }
    let Some(rule) = selected(model) else { return };
    let change = said(&rule);
    let as_it_is = match &change {
        Change::Rule { query, decision } => (query, decision) == (&rule.query, &rule.decision),
        _ => false,
    };
    if as_it_is {
        return model.say(Tone::Plain, format!("this rule says {} already", decide::words(rule.decision.verdict)));
    }
    let batch = model.record(vec![(Subject::Rule(rule.id), change)], effects);
    if let Some(batch) = batch {
        let what = model.described(batch);
        model.say(Tone::Good, format!("{what}; {} undoes", model.undo_key()));
    }
}

/// How many findings the edited query finds, with every key.
fn count(model: &mut Model) {
    let Some(text) = rules(model).and_then(|rules| Some(line_text(&rules.edit.as_ref()?.input))) else { return };
    let finds = match Query::parse(&text, Kind::Findings) {
        _ if text.trim().is_empty() => Err("a rule needs a query: an empty one would decide everything".to_owned()),
        Err(error) => Err(error.to_string()),
        Ok(query) => Ok(model.data.findings.value().map_or(0, |table| query.matches(&model.triaged(table)).count())),
    };
    if let Some(edit) = rules(model).and_then(|rules| rules.edit.as_mut()) {
        edit.finds = finds;
    }
}

fn selected(model: &mut Model) -> Option<RuleState> {
    let at = rules(model)?.at;
    model.rules().get(at).map(|rule| (*rule).clone())
}

fn rules(model: &mut Model) -> Option<&mut RulesBox> {
    match model.modals.last_mut() {
        Some(Modal::Rules(rules)) => Some(rules),
        _ => None,
    }
}
