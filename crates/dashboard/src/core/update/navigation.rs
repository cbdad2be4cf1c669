//! Keys that move between panes, views and tabs.

use crate::base::{Axis, Effect, Pane, Scope, Tone};
use crate::core::update::{prompts, steps};
use crate::input::Context;
use crate::input::action::{Action, ListAction, ViewAction};
use crate::model::navigation::{go, set_scope};
use crate::model::{Help, Modal, Model};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::text::plural;

/// Rows and columns by which a key resizes a pane.
const ROWS: i32 = 2;
const COLUMNS: i32 = 4;

/// Handles an action on views and panes.
pub(crate) fn handle_view(model: &mut Model, action: ViewAction, effects: &mut Vec<Effect>) {
    match action {
        ViewAction::Help => model.overlay.modals.push(Modal::Help(Help::default())),
        ViewAction::Back => back(model),
        ViewAction::Quit => quit(model, effects),
        ViewAction::NextPane => go(model, beside(model, 1)),
        ViewAction::PreviousPane => go(model, beside(model, -1)),
        ViewAction::PreviousTab => walk_tabs(model, -1),
        ViewAction::NextTab => walk_tabs(model, 1),
        ViewAction::OtherDown => other(model, 1),
        ViewAction::OtherUp => other(model, -1),
        ViewAction::Zoom => model.navigation.focus.zoomed = !model.navigation.focus.zoomed,
        ViewAction::PreviousView => previous_view(model),
        ViewAction::Taller => model.resize_pane(Axis::Rows, ROWS, effects),
        ViewAction::Lower => model.resize_pane(Axis::Rows, -ROWS, effects),
        ViewAction::Wider => model.resize_pane(Axis::Columns, COLUMNS, effects),
        ViewAction::Narrower => model.resize_pane(Axis::Columns, -COLUMNS, effects),
        ViewAction::ResetSizes => model.reset_pane_sizes(effects),
        other => match Pane::shown_by(other) {
            Some(pane) => go(model, pane),
            None => model.notify_no_effect(Action::View(other)),
        },
    }
}

/// The pane before or after the focused one.
fn beside(model: &Model, by: isize) -> Pane {
    let ring = [
        Pane::Workspaces,
        Pane::Targets,
        Pane::Findings,
        Pane::Scans,
        model.navigation.fifth,
    ];
    let at = ring
        .iter()
        .position(|&pane| pane == model.navigation.focus.pane);
    match at {
        Some(at) => ring[(at as isize + by).rem_euclid(ring.len() as isize) as usize],
        None => Pane::Findings,
    }
}

fn previous_view(model: &mut Model) {
    let Some((focus, scope)) = model.navigation.previous.take() else {
        return model.notify(Tone::Plain, "no previous view");
    };
    let now = (model.navigation.focus, model.navigation.scope.clone());
    model.navigation.previous = Some(now);
    model.navigation.focus = focus;
    if scope.workspace == model.navigation.scope.workspace {
        set_scope(model, scope);
        model.drop_lost_scope();
    }
}

/// Leaves this view; at top level, quits the dashboard.
fn quit(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.navigation.focus.in_detail {
        model.navigation.focus.in_detail = false;
    } else if model.navigation.focus.pane.is_full_view() {
        leave_full_view(model);
    } else if let Some(prompt) = prompts::before_leaving(model) {
        model.open_prompt(prompt);
    } else {
        effects.push(Effect::Quit);
    }
}

/// Leaves a full view for the pane that opened it. From another full view, or without one, it goes
/// to the findings.
fn leave_full_view(model: &mut Model) {
    let opener = model
        .navigation
        .previous
        .as_ref()
        .map(|(focus, _)| focus.pane);
    match opener.is_some_and(|opener| !opener.is_full_view()) {
        true => previous_view(model),
        false => go(model, Pane::Findings),
    }
}

/// esc: closes search, range, zoom and detail, in this order; at top level it removes the marks. It
/// keeps filters.
fn back(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    if model.detail.search.take().is_some() {
        return;
    }
    if model.cursor(pane).range().is_some() {
        model.cursor(pane).set_range(false);
    } else if model.navigation.focus.zoomed {
        model.navigation.focus.zoomed = false;
    } else if model.navigation.focus.in_detail {
        model.navigation.focus.in_detail = false;
    } else if model.settings.last_visit.is_shown() {
        model.settings.last_visit.last = None;
        // esc only closed the line.
    } else if pane.is_full_view() {
        leave_full_view(model);
    } else if crate::payloads::keys::is_opened_from_book(model) {
        crate::payloads::keys::back_to_book(model);
    } else if model.lists.count_marks(pane) > 0 {
        let count = model.lists.count_marks(pane);
        model.cursor(pane).clear_marks();
        model.notify(Tone::Plain, format!("{} removed", plural(count, "mark")));
    } else {
        let undo = model.key_label(Context::Lists, Action::List(ListAction::TakeBack));
        let hint = match steps::wider_scope(model).is_some() {
            true if steps::takes_back_filter(model) => {
                format!("{undo} undoes the filter, then the scope")
            }
            true => format!("{undo} removes the scope"),
            false => format!(
                "{} quits",
                model.key_label(Context::Everywhere, Action::View(ViewAction::Quit))
            ),
        };
        model
            .overlay
            .notices
            .notify_until_key(model.now.mono, format!("nothing to close · {hint}"));
    }
}

/// Walks the saved queries in the list of findings, else the tabs of the detail.
pub(crate) fn walk_tabs(model: &mut Model, by: isize) {
    if model.navigation.focus.pane == Pane::Findings && !model.navigation.focus.in_detail {
        if by < 0 && model.show_found_since() {
            return;
        }
        return model.walk_saved(by);
    }
    let pane = model.navigation.focus.pane;
    if pane.tabs().len() < 2 {
        return model.notify(Tone::Plain, "no tabs here");
    }
    if let Some(tab) = model.detail.tab_beside(pane, by) {
        model.detail.show_tab(pane, tab);
    }
}

pub(crate) fn tab_left(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    match model.detail.tab_beside(pane, -1) {
        Some(tab) => model.detail.show_tab(pane, tab),
        None => model.navigation.focus.in_detail = false,
    }
}

/// J and K: scroll the detail from a list, move in the list from a detail.
fn other(model: &mut Model, by: isize) {
    if model.navigation.focus.in_detail {
        steps::step(model, by);
    } else if model.shown_detail().is_some() {
        steps::scroll(model, by as i64);
    } else {
        let open = model.key_label(Context::Lists, Action::List(ListAction::In));
        model.notify(
            Tone::Plain,
            format!("no detail shown · {open} opens the detail"),
        );
    }
}

pub(crate) fn go_in(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    let Some(id) = model.selected_id(pane) else {
        return model.notify(Tone::Plain, "nothing selected");
    };
    match pane {
        Pane::Workspaces => {
            model.work_in(WorkspaceId(id));
            go(model, Pane::Targets);
        }
        Pane::Targets => {
            let target = model.lists.targets.selected;
            go(model, Pane::Findings);
            set_scope(
                model,
                Scope {
                    target,
                    scan: None,
                    ..model.navigation.scope.clone()
                },
            );
        }
        Pane::Loggers => {
            let logger = model.lists.loggers.selected;
            go(model, Pane::Captures);
            set_scope(
                model,
                Scope {
                    logger,
                    ..model.navigation.scope.clone()
                },
            );
        }
        Pane::Payloads => crate::payloads::keys::to_captures(model),
        _ => model.navigation.focus.in_detail = true,
    }
}

pub(crate) fn go_out(model: &mut Model) {
    match model.navigation.focus.pane.parent() {
        Some(parent) => go(model, parent),
        None => {
            let quit = model.key_label(Context::Everywhere, Action::View(ViewAction::Quit));
            model.notify(Tone::Plain, format!("top level · {quit} quits"));
        }
    }
}
