//! `g`, then where to: from a row to related rows.

use crate::contract::{LoggerId, ScanId, TargetId};
use crate::dashboard::base::{Pane, Scope};
use crate::dashboard::core::update::steps;
use crate::dashboard::input::action::{GoAction, MoveAction};
pub(crate) use crate::dashboard::model::navigation::reveal;
use crate::dashboard::model::{Model, navigation};
use crate::triage::IssueId;

/// Goes to the rows that belong to the selected row.
pub(crate) fn handle_go(model: &mut Model, action: GoAction) {
    match action {
        GoAction::Top => steps::handle_move(model, MoveAction::Top),
        GoAction::Target => to_target(model),
        GoAction::Scan => to_scan(model),
        GoAction::Findings => to_findings(model),
        GoAction::Logger => to_logger(model),
        GoAction::Payloads => to_payloads(model),
        GoAction::Workspace => to_workspace(model),
    }
}

fn to_target(model: &mut Model) {
    let target = model.target_at_hand();
    navigation::go(model, Pane::Targets);
    if let Some(TargetId(id)) = target {
        reveal(model, Pane::Targets, id);
    }
}

/// From a finding to its scan, from a target to its newest scan.
fn to_scan(model: &mut Model) {
    let scan = match model.navigation.focus.pane {
        Pane::Findings | Pane::Board => {
            let selected = model.selected_id(model.navigation.focus.pane).map(IssueId);
            let finding = selected.and_then(|id| model.data.findings.value()?.get(id));
            finding.and_then(|finding| finding.task_id)
        }
        Pane::Targets => newest_scan(model, model.lists.targets.selected),
        _ => None,
    };
    navigation::go(model, Pane::Scans);
    if let Some(ScanId(id)) = scan {
        reveal(model, Pane::Scans, id);
    }
}

fn newest_scan(model: &Model, target: Option<TargetId>) -> Option<ScanId> {
    let scans = model.data.scans.value()?;
    let of = scans.of_target(target?)?;
    of.positions.iter().map(|&position| scans.items()[position as usize].id).max()
}

/// From a target or a scan to its findings, by the scope.
fn to_findings(model: &mut Model) {
    let scope = match model.navigation.focus.pane {
        Pane::Targets => Scope { target: model.lists.targets.selected, scan: None, ..model.navigation.scope.clone() },
        Pane::Scans => Scope { target: None, scan: model.lists.scans.selected, ..model.navigation.scope.clone() },
        Pane::Payloads => return crate::dashboard::payloads::keys::to_finding(model),
        _ => model.navigation.scope.clone(),
    };
    navigation::go(model, Pane::Findings);
    navigation::set_scope(model, scope);
}

fn to_logger(model: &mut Model) {
    let logger = match model.navigation.focus.pane {
        Pane::Captures => model.lists.captures.selected.map(|id| id.logger).or(model.navigation.scope.logger),
        _ => None,
    };
    navigation::go(model, Pane::Loggers);
    if let Some(LoggerId(id)) = logger {
        reveal(model, Pane::Loggers, id);
    }
}

fn to_workspace(model: &mut Model) {
    let workspace = model.navigation.scope.workspace;
    navigation::go(model, Pane::Workspaces);
    if let Some(id) = workspace {
        reveal(model, Pane::Workspaces, id.0);
    }
}

/// From a capture to its payload; from elsewhere to the latest payload.
fn to_payloads(model: &mut Model) {
    let payload = model.payload_at_hand().map(|payload| payload.token);
    navigation::go(model, Pane::Payloads);
    if let Some(token) = payload {
        reveal(model, Pane::Payloads, token.into());
    }
}
