//! Keys of the list of rules. Every change is an event, so undo restores the rule.

use crate::base::{Effect, Tone};
use crate::findings::decide::undo;
use crate::input::{
    Action, Context, DecideAction, EditAction, ItemAction, KeyChord, KeyEvent, MoveAction,
};
use crate::model::{Modal, Model, RuleEdit, RulesBox};
use crate::text::TextInput;
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::triage::{Change, Draft, RuleState, Subject};
use scandeck_wire::contract::Shared;

/// Opens the list.
pub(crate) fn open(model: &mut Model) {
    if model.rules().is_empty() {
        let more = model.key_label(Context::Findings, Action::Decide(DecideAction::More));
        let down = model.key_label(Context::Decide, Action::Move(MoveAction::Down));
        return model.notify(
            Tone::Plain,
            format!("no rules · in findings: {more}, then {down}, then a verdict"),
        );
    }
    model.overlay.modals.push(Modal::Rules(Box::default()));
}

/// A key while the list is up.
pub(crate) fn handle_key(
    model: &mut Model,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(rules) = rules(model) else { return };
    match rules.edit.is_some() {
        true => handle_edit(model, event, action, effects),
        false => handle_list(model, KeyChord::from(event), action, effects),
    }
}

fn handle_list(
    model: &mut Model,
    key: KeyChord,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let rows = model.rules().len();
    let Some(shown) = rules(model) else { return };
    shown.list.walk(0, rows);
    match action {
        Some(Action::Edit(EditAction::Close)) => _ = model.overlay.modals.pop(),
        Some(Action::Move(MoveAction::Down)) => shown.list.walk(1, rows),
        Some(Action::Move(MoveAction::Up)) => shown.list.walk(-1, rows),
        Some(Action::Decide(DecideAction::SwitchRule)) => {
            change(model, |rule| Change::Off(!rule.off), effects)
        }
        Some(Action::Decide(DecideAction::Undo)) => undo::prompt(model, true, effects),
        Some(Action::Decide(DecideAction::Redo)) => undo::prompt(model, false, effects),
        Some(Action::Item(ItemAction::Delete)) => delete(model, effects),
        Some(Action::Item(ItemAction::Edit)) => {
            let Some(rule) = selected(model) else { return };
            let edit = RuleEdit {
                input: TextInput::line(&rule.query),
                finds: Ok(0),
            };
            if let Some(shown) = rules(model) {
                shown.edit = Some(edit);
            }
            count(model);
        }
        Some(Action::Verdict(action)) => {
            let (verdict, _) = action.verdict();
            let today = model.today();
            let new_verdict = move |rule: &RuleState| {
                let decision = Draft::of(verdict)
                    .decision(rule.decision.reason, today)
                    .unwrap_or_default();
                Change::Rule {
                    query: rule.query.clone(),
                    decision,
                }
            };
            change(model, new_verdict, effects);
        }
        // The list has no other actions.
        Some(_) => {}
        None => model.notify(
            Tone::Plain,
            format!("{key} does nothing here · the bottom line shows the keys"),
        ),
    }
}

fn handle_edit(
    model: &mut Model,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(shown) = rules(model) else { return };
    let Some(edit) = &mut shown.edit else { return };
    match action {
        Some(Action::Edit(EditAction::Close)) => shown.edit = None,
        Some(Action::Edit(EditAction::Accept)) if edit.finds.is_err() => {}
        Some(Action::Edit(EditAction::Accept)) => {
            let query = Shared::from(edit.input.text().trim());
            shown.edit = None;
            change(
                model,
                |rule| Change::Rule {
                    query: query.clone(),
                    decision: rule.decision.clone(),
                },
                effects,
            );
        }
        // Any other key types.
        Some(_) | None => {
            edit.input.type_key(event);
            count(model);
        }
    }
}

fn change(model: &mut Model, change_of: impl Fn(&RuleState) -> Change, effects: &mut Vec<Effect>) {
    if let Some(why) = model.cannot_decide() {
        return model.notify(Tone::Bad, why);
    }
    let Some(rule) = selected(model) else { return };
    let change = change_of(&rule);
    let is_unchanged = match &change {
        Change::Rule { query, decision } => (query, decision) == (&rule.query, &rule.decision),
        _ => false,
    };
    if is_unchanged {
        return model.notify(
            Tone::Plain,
            format!("the rule already gives {}", rule.decision.verdict.phrase()),
        );
    }
    let batch = model.record(vec![(Subject::Rule(rule.id), change)], effects);
    if let Some(batch) = batch {
        model.notify_decided(batch, "");
    }
}

/// Deletes the selected rule. The list closes with its last rule.
fn delete(model: &mut Model, effects: &mut Vec<Effect>) {
    change(
        model,
        |rule| Change::DeleteRule(rule.query.clone()),
        effects,
    );
    match model.rules().len() {
        0 => model
            .overlay
            .modals
            .retain(|modal| !matches!(modal, Modal::Rules(_))),
        rows => {
            if let Some(shown) = rules(model) {
                shown.list.walk(0, rows);
            }
        }
    }
}

/// Counts the findings that the edited query matches.
pub(crate) fn count(model: &mut Model) {
    let Some(text) = rules(model).and_then(|rules| Some(rules.edit.as_ref()?.input.text())) else {
        return;
    };
    let finds = match Query::parse(&text, QueryKind::Findings) {
        _ if text.trim().is_empty() => {
            Err("a rule needs a query: an empty query would decide all findings".to_owned())
        }
        Err(error) => Err(error.to_string()),
        Ok(query) => Ok(model
            .data
            .findings
            .value()
            .map_or(0, |table| query.matches(&model.listed(table)).count())),
    };
    if let Some(edit) = rules(model).and_then(|rules| rules.edit.as_mut()) {
        edit.finds = finds;
    }
}

fn selected(model: &mut Model) -> Option<RuleState> {
    let at = rules(model)?.list.at;
    model.rules().get(at).map(|rule| (*rule).clone())
}

fn rules(model: &mut Model) -> Option<&mut Box<RulesBox>> {
    model.overlay.modals.last_mut()?.try_as_rules_mut()
}
