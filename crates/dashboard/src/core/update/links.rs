//! `g`, then where to: from a row to related rows.

use crate::base::{Pane, Scope};
use crate::core::update::steps;
use crate::input::action::{GoAction, MoveAction};
pub(crate) use crate::model::navigation::reveal;
use crate::model::{Model, navigation};
use scandeck_wire::contract::{ScanId, TargetId};

/// Goes to the rows that belong to the selected row.
pub(crate) fn handle_go(model: &mut Model, action: GoAction) {
    match action {
        GoAction::Top => steps::handle_move(model, MoveAction::Top),
        GoAction::Target => {
            let target = model.target_at_hand().map(|id| id.0);
            go_to(model, Pane::Targets, target);
        }
        GoAction::Scan => {
            let scan = scan_at_hand(model).map(|id| id.0);
            go_to(model, Pane::Scans, scan);
        }
        GoAction::Findings => to_findings(model),
        GoAction::Logger => {
            let of_capture = model
                .lists
                .captures
                .selected
                .map(|id| id.logger)
                .or(model.navigation.scope.logger);
            let logger = of_capture
                .filter(|_| model.navigation.focus.pane == Pane::Captures)
                .map(|id| id.0);
            go_to(model, Pane::Loggers, logger);
        }
        GoAction::Payloads => {
            // From a capture to its payload; from elsewhere to the latest payload.
            let payload = model.payload_at_hand().map(|payload| payload.token.into());
            go_to(model, Pane::Payloads, payload);
        }
        GoAction::Workspace => {
            let workspace = model.navigation.scope.workspace.map(|id| id.0);
            go_to(model, Pane::Workspaces, workspace);
        }
    }
}

/// Shows a pane, and in it a row.
fn go_to(model: &mut Model, pane: Pane, row: Option<i64>) {
    navigation::go(model, pane);
    if let Some(id) = row {
        reveal(model, pane, id);
    }
}

/// The scan of the selected finding, or the newest scan of the selected target.
fn scan_at_hand(model: &Model) -> Option<ScanId> {
    match model.navigation.focus.pane {
        Pane::Findings | Pane::Board => model.issue_at_hand()?.task_id(),
        Pane::Targets => newest_scan(model, model.lists.targets.selected?),
        _ => None,
    }
}

fn newest_scan(model: &Model, target: TargetId) -> Option<ScanId> {
    let scans = model.data.scans.value()?;
    let of = scans.of_target(target)?;
    of.positions
        .iter()
        .map(|&position| scans.items()[position as usize].id)
        .max()
}

/// From a target or a scan to its findings, by the scope.
fn to_findings(model: &mut Model) {
    let scope = match model.navigation.focus.pane {
        Pane::Targets => Scope {
            target: model.lists.targets.selected,
            scan: None,
            ..model.navigation.scope.clone()
        },
        Pane::Scans => Scope {
            target: None,
            scan: model.lists.scans.selected,
            ..model.navigation.scope.clone()
        },
        Pane::Payloads => return crate::payloads::keys::to_finding(model),
        _ => model.navigation.scope.clone(),
    };
    navigation::go(model, Pane::Findings);
    navigation::set_scope(model, scope);
}
