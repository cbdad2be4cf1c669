//! `(` and `)`: to the previous or next finding that a scan changed.

use crate::base::{Pane, Tone};
use crate::model::Model;
use scandeck_domain::triage::{IssueId, Presence};

pub(crate) fn walk(model: &mut Model, down: bool) {
    let Some(table) = model.data.findings.value().cloned() else {
        return model.notify(Tone::Plain, "findings are still loading");
    };
    let mut cursor = model.cursor(Pane::Findings);
    let is_changed = |&at: &usize| {
        let issue = cursor.id_at(at).and_then(|id| table.get(IssueId(id)));
        issue.is_some_and(|issue| issue.presence != Presence::Unchanged)
    };
    let (at, rows) = (cursor.at(), cursor.len());
    let found = if down {
        (at + 1..rows).find(is_changed)
    } else {
        (0..at.min(rows)).rev().find(is_changed)
    };
    match found {
        Some(at) => cursor.select(at),
        None => {
            drop(cursor);
            let side = if down { "below" } else { "above" };
            model.notify(Tone::Plain, format!("no changed finding {side}"));
        }
    }
}
