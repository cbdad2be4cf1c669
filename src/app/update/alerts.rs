//! The keys of the list of alert rules (`:alerts`): off and on, delete.

use super::super::effect::Effect;
use super::super::modal::Modal;
use super::super::model::Model;
use super::super::notices::Tone;
use crate::input::Action;

/// A key while the list is up. It closes with its last rule, whoever took that away.
pub(super) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let last = model.signals.alerts.len().saturating_sub(1);
    let Some(Modal::Alerts(at)) = model.modals.last_mut() else { return };
    *at = (*at).min(last);
    let Some(chosen) = model.signals.alerts.get(*at).cloned() else {
        model.modals.pop();
        return;
    };
    match action {
        Some(Action::Close) => _ = model.modals.pop(),
        Some(Action::Down) => *at = (*at + 1).min(last),
        Some(Action::Up) => *at = at.saturating_sub(1),
        Some(Action::SwitchRule) => model.keep_alert(&chosen.query, Some(!chosen.off), effects),
        Some(Action::Delete) => {
            model.keep_alert(&chosen.query, None, effects);
            model.say(Tone::Plain, format!("no alert any more for {0}; :alert {0} brings it back", chosen.query));
            if model.signals.alerts.is_empty() {
                model.modals.pop();
            }
        }
        _ => {}
    }
}
