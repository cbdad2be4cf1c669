//! The keys of the list of alert rules (`:alerts`): off and on, delete.

use super::super::effect::Effect;
use super::super::modal::Modal;
use super::super::model::Model;
use super::super::notices::Tone;
use crate::input::Action;

/// A key while the list is up.
pub(super) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let last = model.signals.alerts.len().saturating_sub(1);
    let Some(Modal::Alerts(at)) = model.modals.last_mut() else { return };
    *at = (*at).min(last);
    let chosen = *at;
    match action {
        Some(Action::Close) => _ = model.modals.pop(),
        Some(Action::Down) => *at = (chosen + 1).min(last),
        Some(Action::Up) => *at = chosen.saturating_sub(1),
        Some(Action::SwitchRule) => {
            if let Some(alert) = model.signals.alerts.get_mut(chosen) {
                alert.off = !alert.off;
            }
            model.keep_alerts(effects);
        }
        Some(Action::Delete) => {
            let gone = model.signals.alerts.remove(chosen);
            model.keep_alerts(effects);
            model.say(Tone::Plain, format!("no alert any more for {0}; :alert {0} brings it back", gone.query));
            if model.signals.alerts.is_empty() {
                model.modals.pop();
            }
        }
        _ => {}
    }
}
