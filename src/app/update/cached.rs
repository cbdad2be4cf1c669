//! Lists of an earlier dashboard, taken into the model as stale: what the service told meanwhile is never replaced.

use std::sync::Arc;

use super::super::cached::{Cached, KeptList};
use super::super::model::{Model, Pane};
use super::super::table::Table;
use super::news;
use crate::contract::{Logger, Scan, Stamp, Workspace, WorkspaceId};

/// A list was read from this machine's files.
pub(super) fn handle_cached(model: &mut Model, cached: Cached) {
    let Cached { generation, at, worked_in, list } = cached;
    if generation != model.generation && !matches!(list, KeptList::Workspaces(_)) {
        return;
    }
    model.dirty = true;
    match list {
        KeptList::Workspaces(table) => recall_workspaces(model, table, at, worked_in),
        KeptList::Targets(table) => {
            if model.data.targets.recall(table, at) {
                model.learn_hosts();
                model.show_rows(Pane::Targets);
            }
        }
        KeptList::Scans(table) => recall_scans(model, table, at),
        // The rows follow when they are made.
        KeptList::Findings(table) => _ = model.data.occurrences.recall(table, at),
        KeptList::Loggers(table) => recall_loggers(model, table, at),
    }
}

fn recall_workspaces(model: &mut Model, table: Arc<Table<Workspace>>, at: Stamp, worked_in: Option<WorkspaceId>) {
    if !model.data.workspaces.recall(Arc::clone(&table), at) {
        return;
    }
    let next = match &model.session.workspace {
        // One that is not known here may have been made since: the service's answer decides.
        Some(asked) => table.items().iter().find(|it| news::is_called(it, asked)).map(|it| it.id),
        None => worked_in.filter(|&id| table.get(id).is_some()).or_else(|| news::workspace_to_work_in(model, &table)),
    };
    if let (Some(id), None) = (next, model.scope.workspace) {
        model.work_in(id);
    }
    model.show_rows(Pane::Workspaces);
}

/// Failures that were known are old news, what failed since then is not.
fn recall_scans(model: &mut Model, table: Arc<Table<Scan>>, at: Stamp) {
    if model.data.scans.recall(Arc::clone(&table), at) {
        model.watch.take(model.now.mono, &table);
        model.show_rows(Pane::Scans);
        model.make_board();
    }
}

/// Requests that were recorded since then are news.
fn recall_loggers(model: &mut Model, table: Arc<Table<Logger>>, at: Stamp) {
    if model.data.loggers.value().is_some() {
        return;
    }
    news::show_fitting_fifth(model, table.is_empty());
    news::hear_of_loggers(model, &table);
    model.data.loggers.recall(table, at);
    news::count_unseen(model);
    model.show_rows(Pane::Loggers);
}
