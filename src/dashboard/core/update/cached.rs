//! Lists of an earlier dashboard, taken into the model as stale: what the service told meanwhile is never replaced.

use crate::contract::{Logger, Scan, Stamp, Workspace, WorkspaceId};
use crate::dashboard::base::plan::Snapshot;
use crate::dashboard::base::{CachedList, Pane};
use crate::dashboard::core::update::news;
use crate::dashboard::model::Model;
use crate::table::Table;
use std::sync::Arc;

/// A list was read from the cache.
pub(crate) fn handle_cached(model: &mut Model, cached: CachedList) {
    let CachedList { generation, at, worked_in, snapshot } = cached;
    if generation != model.connection.generation && !matches!(snapshot, Snapshot::Workspaces(_)) {
        return;
    }
    model.screen.dirty = true;
    match snapshot {
        Snapshot::Workspaces(table) => recall_workspaces(model, table, at, worked_in),
        Snapshot::Targets(table) => {
            if model.data.targets.recall(table, at) {
                model.learn_hosts();
                model.show_rows(Pane::Targets);
            }
        }
        Snapshot::Scans(table) => recall_scans(model, table, at),
        // The rows follow when they are made.
        Snapshot::Findings(table) => _ = model.data.occurrences.recall(table, at),
        Snapshot::Loggers(table) => recall_loggers(model, table, at),
        // These are not cached.
        Snapshot::Reports(_) | Snapshot::Wordlists(_) => {}
    }
}

fn recall_workspaces(model: &mut Model, table: Arc<Table<Workspace>>, at: Stamp, worked_in: Option<WorkspaceId>) {
    if !model.data.workspaces.recall(Arc::clone(&table), at) {
        return;
    }
    let next = match &model.session.workspace {
        // One that is not known here may have been made since: the service's answer decides.
        Some(asked) => table.items().iter().find(|it| it.is_called(asked)).map(|it| it.id),
        None => worked_in.filter(|&id| table.get(id).is_some()).or_else(|| news::workspace_to_work_in(model, &table)),
    };
    if let (Some(id), None) = (next, model.navigation.scope.workspace) {
        model.work_in(id);
    }
    model.show_rows(Pane::Workspaces);
}

/// Failures that were known are old news, what failed since then is not.
fn recall_scans(model: &mut Model, table: Arc<Table<Scan>>, at: Stamp) {
    if model.data.scans.recall(Arc::clone(&table), at) {
        model.scans.watch.take(model.now.mono, &table);
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
