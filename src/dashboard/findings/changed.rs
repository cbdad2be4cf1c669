//! `(` and `)`: from one row that a scan changed to the next.

use crate::dashboard::base::{Pane, Tone};
use crate::dashboard::model::Model;
use crate::triage::{CaseId, Presence};

/// Goes to the changed row below, or above.
pub(crate) fn walk(model: &mut Model, down: bool) {
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
