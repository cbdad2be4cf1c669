//! `(` and `)`: from one row that a scan changed to the next.

use super::super::model::{Model, Pane};
use super::super::notices::Tone;
use crate::input::Action;
use crate::triage::{CaseId, Presence};

/// Goes to the changed row before or after; false when the action is none of these.
pub(super) fn perform(model: &mut Model, action: Action) -> bool {
    match action {
        Action::PreviousChanged => walk(model, false),
        Action::NextChanged => walk(model, true),
        _ => return false,
    }
    true
}

fn walk(model: &mut Model, down: bool) {
    let Some(table) = model.data.findings.value().cloned() else {
        return model.say(Tone::Plain, "the findings are not known yet");
    };
    let mut cursor = model.cursor(Pane::Findings);
    let is_changed = |&at: &usize| {
        let case = cursor.id_at(at).filter(|_| !cursor.is_head(at)).and_then(|id| table.get(CaseId(id)));
        case.is_some_and(|case| case.presence != Presence::Unchanged)
    };
    let (at, rows) = (cursor.at(), cursor.len());
    let found = if down { (at + 1..rows).find(is_changed) } else { (0..at.min(rows)).rev().find(is_changed) };
    match found {
        Some(at) => cursor.select(at),
        None => {
            drop(cursor);
            let side = if down { "below" } else { "above" };
            model.say(Tone::Plain, format!("no row {side} was changed by a scan"));
        }
    }
}
