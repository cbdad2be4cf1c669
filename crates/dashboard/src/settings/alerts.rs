//! The keys of the list of alert rules (`:alerts`): switch on and off, delete.

use crate::base::{Effect, Tone};
use crate::input::{Action, DecideAction, EditAction, ItemAction, MoveAction};
use crate::model::{Modal, Model};
use crate::prompts::{Prompt, Then};

/// Handles a key while the list is open. The list closes with its last rule, also when another
/// dashboard deleted it.
pub(crate) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let rows = model.captures.alerts.rules.len();
    let Some(Modal::Alerts(list)) = model.overlay.modals.last_mut() else {
        return;
    };
    list.walk(0, rows);
    let Some(chosen) = model.captures.alerts.rules.get(list.at).cloned() else {
        model.overlay.modals.pop();
        return;
    };
    match action {
        Some(Action::Edit(EditAction::Close)) => _ = model.overlay.modals.pop(),
        Some(Action::Move(MoveAction::Down)) => list.walk(1, rows),
        Some(Action::Move(MoveAction::Up)) => list.walk(-1, rows),
        Some(Action::Decide(DecideAction::SwitchRule)) => {
            model.keep_alert(&chosen.query, Some(!chosen.off), effects)
        }
        Some(Action::Item(ItemAction::Delete)) => {
            let question = format!("Delete alert rule {}?", chosen.query);
            let prompt = Prompt::new(question, Then::DeleteAlert(chosen.query));
            model.open_prompt(prompt.with_line("Matching captures no longer alert."));
        }
        // The list has no other actions.
        Some(_) | None => {}
    }
}

/// Deletes a rule after its prompt.
pub(crate) fn delete(model: &mut Model, query: &str, effects: &mut Vec<Effect>) {
    model.keep_alert(query, None, effects);
    model.notify(Tone::Plain, format!("alert rule deleted: {query}"));
    if model.captures.alerts.rules.is_empty() {
        model
            .overlay
            .modals
            .retain(|modal| !matches!(modal, Modal::Alerts(_)));
    }
}
