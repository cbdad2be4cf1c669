//! Focusing a pane, changing the scope, and changing the workspace.

use crate::base::{ListKind, Pane, Scope, Tone};
use crate::model::{Modal, Model};
use scandeck_wire::contract::WorkspaceId;
use std::sync::Arc;

/// Focuses the list of a pane. The loggers are shown in place of captures while there are neither.
pub(crate) fn go(model: &mut Model, pane: Pane) {
    let pane = if pane == Pane::Captures && model.has_no_captures() {
        Pane::Loggers
    } else {
        pane
    };
    let before = (model.navigation.focus, model.navigation.scope.clone());
    if model.navigation.focus.pane != pane || model.navigation.focus.in_detail {
        model.navigation.previous = Some(before);
    }
    let left = model.navigation.focus.pane;
    let is_of_findings = |pane: Pane| matches!(pane, Pane::Findings | Pane::Board);
    // Going to the retest board and back keeps the retained rows.
    if left != pane && !(is_of_findings(left) && is_of_findings(pane)) {
        model.keep_no_rows(left);
        if left == Pane::Board {
            model.keep_no_rows(Pane::Findings);
        }
    }
    model.navigation.focus.pane = pane;
    model.navigation.focus.in_detail = false;
    if pane == Pane::Payloads {
        model.show_rows(pane);
    }
    if matches!(pane, Pane::Captures | Pane::Loggers) {
        model.navigation.fifth = pane;
    }
}

/// Changes the scope and updates the rows that depend on it.
pub(crate) fn set_scope(model: &mut Model, scope: Scope) {
    let old = std::mem::replace(&mut model.navigation.scope, scope);
    if (old.target, old.scan) != (model.navigation.scope.target, model.navigation.scope.scan) {
        model.lists.findings.retained = Arc::default();
        model.show_rows(Pane::Findings);
        model.show_rows(Pane::Scans);
    }
    if old.logger != model.navigation.scope.logger {
        model.show_rows(Pane::Captures);
    }
}

impl Model {
    /// Changes to a workspace: clears the data of the previous one and ignores late responses for
    /// it.
    pub(crate) fn work_in(&mut self, workspace: WorkspaceId) {
        if self.navigation.scope.workspace == Some(workspace) {
            return;
        }
        // The review is saved in its workspace.
        crate::model::review::open::close(self);
        self.navigation.scope = Scope {
            workspace: Some(workspace),
            ..Scope::default()
        };
        self.connection.generation += 1;
        self.connection.unanswered = None;
        if self.findings.view.has_next() {
            self.findings.triage.is_correlating = false;
        }
        self.findings.view.leave_workspace();
        self.navigation.previous = None;
        let mut data = std::mem::take(&mut self.data);
        self.data.take_shared(&mut data);
        self.data.payloads = data.payloads;
        self.data.missing_scanners = data.missing_scanners;
        self.data.nodes = data.nodes;
        self.data.calls = data.calls;
        self.captures.oob.hosts = Default::default();
        self.findings.triage.assessments = Arc::default();
        self.findings.triage.again = Default::default();
        self.findings.board = None;
        self.findings.is_retest_running = false;
        self.findings.requested_retest = None;
        if !std::mem::take(&mut self.captures.exports).is_empty() {
            self.notify(
                Tone::Bad,
                "export of captures cancelled: the workspace changed",
            );
        }
        let mut lists = std::mem::take(&mut self.lists);
        self.lists.take_shared(&mut lists);
        self.lists.finding_groups.requested = lists.finding_groups.requested;
        self.lists.workspaces.selected = Some(workspace);
        self.load_tabs();
        self.overlay
            .modals
            .retain(|modal| !matches!(modal, Modal::Alerts(_)));
        self.captures.payloads.hits = Default::default();
        self.captures.payloads.counted = false;
        self.list_payloads();
        self.show_rows(Pane::Workspaces);
        self.scans = Default::default();
        self.captures.new_captures = 0;
        self.captures.seen_requests.clear();
        self.captures.payloads.unseen.clear();
        self.findings.looking = None;
    }

    /// Requests a list from the poller now.
    pub(crate) fn request_refresh(&mut self, list: ListKind) {
        *self.connection.refreshes.entry(list).or_default() += 1;
    }
}

/// Selects an item of a pane. If filter or scope hide it, they are removed, and a notice says so.
pub(crate) fn reveal(model: &mut Model, pane: Pane, id: i64) {
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
    set_scope(
        model,
        Scope {
            target: None,
            scan: None,
            logger: None,
            ..model.navigation.scope.clone()
        },
    );
    model.show_rows(pane);
    let found = model.cursor(pane).select_id(id);
    match found {
        true => model.notify(Tone::Plain, "filter and scope removed to show this row"),
        false => model.notify(Tone::Plain, format!("{id} not found in {}", pane.title())),
    }
}
