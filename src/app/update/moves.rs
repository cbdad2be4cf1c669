//! Moving between panes, views and tabs; scope chips. Steps in a list or a detail are in `steps`.

use super::super::detail::Tab;
use super::super::modal::Modal;
use super::super::model::{Model, Pane, Scope};
use super::super::notices::Tone;
use super::super::plan::Noun;
use super::super::remote::Remote;
use super::steps;
use crate::contract::WorkspaceId;
use crate::input::Action;

/// Carries out an action that moves.
pub(super) fn perform(model: &mut Model, action: Action) -> bool {
    match action {
        Action::Workspaces => go(model, Pane::Workspaces),
        Action::Targets => go(model, Pane::Targets),
        Action::Findings => go(model, Pane::Findings),
        Action::Scans => go(model, Pane::Scans),
        Action::Captures => go(model, Pane::Captures),
        Action::Reports => go(model, Pane::Reports),
        Action::Wordlists => go(model, Pane::Wordlists),
        Action::NextPane => go(model, beside(model, 1)),
        Action::PreviousPane => go(model, beside(model, -1)),
        Action::PreviousView => previous_view(model),
        Action::Zoom => model.focus.zoomed = !model.focus.zoomed,
        Action::Back => back(model),
        Action::PreviousTab => walk_tabs(model, -1),
        Action::NextTab => walk_tabs(model, 1),
        Action::TabLeft => tab_left(model),
        Action::TabRight => walk_tabs(model, 1),
        Action::OtherDown => other(model, 1),
        Action::OtherUp => other(model, -1),
        Action::In => go_in(model),
        Action::Out => go_out(model),
        _ if model.focus.in_detail => steps::in_detail(model, action),
        _ => steps::in_list(model, action),
    }
    true
}

/// Focuses a pane's list. Pane 5 shows the loggers while there is none.
pub(super) fn go(model: &mut Model, pane: Pane) {
    let no_logger = model.data.loggers.value().is_some_and(|loggers| loggers.is_empty());
    let pane = if pane == Pane::Captures && no_logger { Pane::Loggers } else { pane };
    let before = (model.focus, model.scope.clone());
    if model.focus.pane != pane || model.focus.in_detail {
        model.previous = Some(before);
    }
    if model.focus.pane != pane {
        model.keep_no_rows(model.focus.pane);
    }
    model.focus.pane = pane;
    model.focus.in_detail = false;
    if pane == Pane::Payloads {
        model.show_rows(pane);
    }
    if matches!(pane, Pane::Captures | Pane::Loggers) {
        model.fifth = pane;
    }
}

/// The pane before or after the focused one.
fn beside(model: &Model, by: isize) -> Pane {
    let ring = [Pane::Workspaces, Pane::Targets, Pane::Findings, Pane::Scans, model.fifth];
    let at = ring.iter().position(|&pane| pane == model.focus.pane);
    match at {
        Some(at) => ring[(at as isize + by).rem_euclid(ring.len() as isize) as usize],
        None => Pane::Findings,
    }
}

fn previous_view(model: &mut Model) {
    let Some((focus, scope)) = model.previous.take() else {
        return model.say(Tone::Plain, "there is no view before this one");
    };
    let now = (model.focus, model.scope.clone());
    model.previous = Some(now);
    model.focus = focus;
    if scope.workspace == model.scope.workspace {
        set_scope(model, scope);
    }
}

/// esc: search, range, zoom, detail, in this order. Never marks, never a filter.
fn back(model: &mut Model) {
    let pane = model.focus.pane;
    if model.detail.search.take().is_some() {
        return;
    }
    if model.cursor(pane).range().is_some() {
        model.cursor(pane).end_range();
    } else if model.focus.zoomed {
        model.focus.zoomed = false;
    } else if model.focus.in_detail {
        model.focus.in_detail = false;
    } else if model.since.put_away() {
        // The line is away: that was all.
    } else if pane.is_full_view() {
        go(model, Pane::Findings);
    } else if super::payloads::came_from_book(model) {
        super::payloads::back_to_book(model);
    } else {
        model.say(Tone::Plain, "nothing is open here; q leaves");
    }
}

/// In the list of the findings the saved queries, else the tabs of the detail.
fn walk_tabs(model: &mut Model, by: isize) {
    if model.focus.pane == Pane::Findings && !model.focus.in_detail {
        return model.walk_saved(by);
    }
    let pane = model.detail_pane();
    if Tab::of(pane).len() < 2 {
        return model.say(Tone::Plain, "this has no tabs");
    }
    model.detail.walk_tabs(pane, by);
}

fn tab_left(model: &mut Model) {
    let pane = model.focus.pane;
    if !model.detail.walk_tabs(pane, -1) {
        model.focus.in_detail = false;
    }
}

/// J and K: from a list the detail beside it scrolls, from a detail the list walks.
fn other(model: &mut Model, by: isize) {
    if model.focus.in_detail {
        steps::step(model, by);
    } else if model.shown_detail().is_some() {
        steps::scroll(model, by as i64);
    } else {
        model.say(Tone::Plain, "no detail is on the screen; enter opens it");
    }
}

fn go_in(model: &mut Model) {
    let pane = model.focus.pane;
    let Some(id) = model.selected_id(pane) else {
        return model.say(Tone::Plain, "nothing is selected here");
    };
    match pane {
        Pane::Workspaces => {
            model.work_in(WorkspaceId(id));
            go(model, Pane::Targets);
        }
        Pane::Targets => {
            let target = model.lists.targets.selected;
            go(model, Pane::Findings);
            set_scope(model, Scope { target, scan: None, ..model.scope.clone() });
        }
        Pane::Loggers => {
            let logger = model.lists.loggers.selected;
            go(model, Pane::Captures);
            set_scope(model, Scope { logger, ..model.scope.clone() });
        }
        Pane::Payloads => super::payloads::to_captures(model),
        Pane::Findings | Pane::Scans | Pane::Captures | Pane::Reports | Pane::Wordlists | Pane::Board => {
            model.focus.in_detail = true;
        }
    }
}

fn go_out(model: &mut Model) {
    match model.focus.pane {
        Pane::Captures => go(model, Pane::Loggers),
        Pane::Findings | Pane::Scans => go(model, Pane::Targets),
        Pane::Targets => go(model, Pane::Workspaces),
        Pane::Reports | Pane::Wordlists | Pane::Board => go(model, Pane::Findings),
        Pane::Payloads => go(model, Pane::Captures),
        Pane::Workspaces | Pane::Loggers => model.say(Tone::Plain, "this is the outermost list; q leaves"),
    }
}

/// Changes the scope chips and makes the rows that depend on them anew.
pub(super) fn set_scope(model: &mut Model, scope: Scope) {
    let old = std::mem::replace(&mut model.scope, scope);
    if (old.target, old.scan) != (model.scope.target, model.scope.scan) {
        model.lists.findings.kept.clear();
        model.show_rows(Pane::Findings);
        model.show_rows(Pane::Scans);
    }
    if old.logger != model.scope.logger {
        model.show_rows(Pane::Captures);
    }
}

impl Model {
    /// Works in a workspace: everything of the one before is put away, late answers for it are dropped.
    pub(in crate::app) fn work_in(&mut self, workspace: WorkspaceId) {
        if self.scope.workspace == Some(workspace) {
            return;
        }
        // It is kept in its own workspace.
        super::review::put_away(self);
        self.scope = Scope { workspace: Some(workspace), ..Scope::default() };
        self.generation += 1;
        self.previous = None;
        self.data.targets = Remote::Unknown;
        self.oob.hosts = Default::default();
        self.data.scans = Remote::Unknown;
        self.data.occurrences = Remote::Unknown;
        self.data.findings = Remote::Unknown;
        self.triage.stances.clear();
        self.triage.again = Default::default();
        self.data.board = Remote::Unknown;
        self.board = None;
        self.data.loggers = Remote::Unknown;
        self.data.captures = Default::default();
        if !std::mem::take(&mut self.exports).is_empty() {
            self.say(Tone::Bad, "the file of captures was not written: it was of the other workspace");
        }
        self.data.scan_parts = Default::default();
        let lists = std::mem::take(&mut self.lists);
        self.lists.workspaces = lists.workspaces;
        self.lists.reports = lists.reports;
        self.lists.wordlists = lists.wordlists;
        self.lists.groups.by = lists.groups.by;
        self.lists.workspaces.selected = Some(workspace);
        self.load_tabs();
        self.modals.retain(|modal| !matches!(modal, Modal::Alerts(_)));
        self.payloads.hits = Default::default();
        self.payloads.counted = false;
        self.list_payloads();
        self.show_rows(Pane::Workspaces);
        self.watch = Default::default();
        self.tally = Default::default();
        self.new_captures = 0;
        self.seen_requests.clear();
        self.looking = None;
    }

    /// Asks the poller for a list now.
    pub(in crate::app) fn ask(&mut self, noun: Noun) {
        *self.asked.entry(noun).or_default() += 1;
    }
}
