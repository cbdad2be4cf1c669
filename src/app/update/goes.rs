//! `g`, then where to: from a row to what belongs to it.

use super::super::model::{Model, Pane, Scope};
use super::super::notices::Tone;
use super::moves;
use crate::contract::{LoggerId, ScanId, TargetId};
use crate::input::Action;
use crate::triage::CaseId;

/// Goes to what belongs to the present row; false when the action is none of these.
pub(super) fn perform(model: &mut Model, action: Action) -> bool {
    match action {
        Action::GoTarget => to_target(model),
        Action::GoScan => to_scan(model),
        Action::GoFindings => to_findings(model),
        Action::GoLogger => to_logger(model),
        Action::GoWorkspace => to_workspace(model),
        Action::Payloads => to_payloads(model),
        _ => return false,
    }
    true
}

fn to_target(model: &mut Model) {
    let target = model.target_at_hand();
    moves::go(model, Pane::Targets);
    if let Some(TargetId(id)) = target {
        reveal(model, Pane::Targets, id);
    }
}

/// From a finding its scan, from a target its newest one.
fn to_scan(model: &mut Model) {
    let scan = match model.focus.pane {
        Pane::Findings | Pane::Board => {
            let selected = model.selected_id(model.focus.pane).map(CaseId);
            let finding = selected.and_then(|id| model.data.findings.value()?.get(id));
            finding.and_then(|finding| finding.task_id)
        }
        Pane::Targets => newest_scan(model, model.lists.targets.selected),
        _ => None,
    };
    moves::go(model, Pane::Scans);
    if let Some(ScanId(id)) = scan {
        reveal(model, Pane::Scans, id);
    }
}

fn newest_scan(model: &Model, target: Option<TargetId>) -> Option<ScanId> {
    let scans = model.data.scans.value()?;
    let of = scans.of_target(target?)?;
    of.positions.iter().map(|&position| scans.items()[position as usize].id).max()
}

/// From a target or a scan its findings, by a chip.
fn to_findings(model: &mut Model) {
    let scope = match model.focus.pane {
        Pane::Targets => Scope { target: model.lists.targets.selected, scan: None, ..model.scope.clone() },
        Pane::Scans => Scope { target: None, scan: model.lists.scans.selected, ..model.scope.clone() },
        Pane::Payloads => return super::payloads::to_finding(model),
        _ => model.scope.clone(),
    };
    moves::go(model, Pane::Findings);
    moves::set_scope(model, scope);
}

fn to_logger(model: &mut Model) {
    let logger = match model.focus.pane {
        Pane::Captures => model.lists.captures.selected.map(|id| id.logger).or(model.scope.logger),
        _ => None,
    };
    moves::go(model, Pane::Loggers);
    if let Some(LoggerId(id)) = logger {
        reveal(model, Pane::Loggers, id);
    }
}

fn to_workspace(model: &mut Model) {
    let workspace = model.scope.workspace;
    moves::go(model, Pane::Workspaces);
    if let Some(id) = workspace {
        reveal(model, Pane::Workspaces, id.0);
    }
}

/// From a capture the payload it carries; from elsewhere the one made last.
fn to_payloads(model: &mut Model) {
    let payload = model.payload_at_hand().map(|payload| payload.token);
    moves::go(model, Pane::Payloads);
    if let Some(token) = payload {
        reveal(model, Pane::Payloads, token.into());
    }
}

/// Selects a row of a pane. What hides it is taken off, and that is said.
pub(super) fn reveal(model: &mut Model, pane: Pane, id: i64) {
    if model.cursor(pane).select_id(id) {
        return;
    }
    let mut cursor = model.cursor(pane);
    let (filter, earlier) = cursor.filter();
    let had = std::mem::take(filter);
    if !had.is_empty() {
        earlier.push(had);
    }
    drop(cursor);
    moves::set_scope(model, Scope { target: None, scan: None, logger: None, ..model.scope.clone() });
    model.show_rows(pane);
    let found = model.cursor(pane).select_id(id);
    match found {
        true => model.say(Tone::Plain, "filter and chips were taken off: they hid this row"),
        false => model.say(Tone::Plain, format!("{id} is not (or no longer) in {}", pane.title())),
    }
}
