//! `b`, then by what: groups of findings and captures.

use crate::base::Pane;
use crate::data::BY_NOW;
use crate::input::action::GroupAction;
use crate::list::{CaptureGroupBy, FindingGroupBy};
use crate::model::Model;

/// Groups or ungroups the findings or captures; the board has a sort order instead, and opens in it
/// from the findings.
pub(crate) fn handle_group(model: &mut Model, action: GroupAction) {
    match action {
        GroupAction::Class => group(model, Some(FindingGroupBy::Class)),
        GroupAction::Target => group(model, Some(FindingGroupBy::Target)),
        GroupAction::Cve => group(model, Some(FindingGroupBy::Cve)),
        GroupAction::Cwe => group(model, Some(FindingGroupBy::Cwe)),
        GroupAction::Owasp => group(model, Some(FindingGroupBy::Owasp)),
        GroupAction::Port => group(model, Some(FindingGroupBy::Port)),
        GroupAction::Weakness => group(model, Some(FindingGroupBy::Weakness)),
        GroupAction::Now => order_by_now(model),
        GroupAction::Payload => group_captures(model, Some(CaptureGroupBy::Payload)),
        GroupAction::Source => group_captures(model, Some(CaptureGroupBy::Source)),
        GroupAction::Logger => group_captures(model, Some(CaptureGroupBy::Logger)),
        GroupAction::None => match model.navigation.focus.pane {
            Pane::Board => order_board(model, 0),
            Pane::Captures => group_captures(model, None),
            _ => group(model, None),
        },
    }
}

fn order_by_now(model: &mut Model) {
    match model.navigation.focus.pane {
        Pane::Board => order_board(model, BY_NOW),
        _ => {
            model.open_retest();
            if model.navigation.focus.pane == Pane::Board {
                order_board(model, BY_NOW);
                model.cursor(Pane::Board).select(0);
                // The header accepts a verdict only after it was seen.
                model.arm_guard(Pane::Board);
            }
        }
    }
}

fn order_board(model: &mut Model, sort: usize) {
    model.lists.board.sort = sort;
    model.show_rows(Pane::Board);
}

/// Groups or ungroups the captures. The cursor stays on its capture, or moves to its group header.
fn group_captures(model: &mut Model, by: Option<CaptureGroupBy>) {
    model.navigation.focus.pane = Pane::Captures;
    model.navigation.focus.in_detail = false;
    model.lists.captures.group(by);
    model.show_rows(Pane::Captures);
}

/// Groups or ungroups the findings. The cursor stays on its finding, or moves to its group header;
/// from a group header it follows the first row of the group.
pub(crate) fn group(model: &mut Model, by: Option<FindingGroupBy>) {
    model.lists.finding_groups.requested = by;
    if model.data.findings.value().is_none() {
        return;
    }
    model.navigation.focus.pane = Pane::Findings;
    model.navigation.focus.in_detail = false;
    model.show_rows(Pane::Findings);
}
