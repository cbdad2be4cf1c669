//! Cached lists of an earlier run, shown as stale. They never replace data of the service.

use crate::base::{CachedList, Snapshot};
use crate::core::update::poll_updates;
use crate::model::Model;
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Logger, Scan, Stamp, Workspace, WorkspaceId};
use std::sync::Arc;

/// A list was read from the cache.
pub(crate) fn handle_cached(model: &mut Model, cached: CachedList) {
    let CachedList {
        generation,
        at,
        worked_in,
        snapshot,
    } = cached;
    if generation != model.connection.generation && !matches!(snapshot, Snapshot::Workspaces(_)) {
        return;
    }
    match snapshot {
        Snapshot::Workspaces(table) => recall_workspaces(model, table, at, worked_in),
        Snapshot::Scans(table) => recall_scans(model, table, at),
        Snapshot::Loggers(table) => recall_loggers(model, table, at),
        // The rows of findings follow when they are made. When those of each scan were read is not
        // in the cache, so only counts prove that they are complete.
        other => _ = model.data.recall(other, at),
    }
}

fn recall_workspaces(
    model: &mut Model,
    table: Arc<Table<Workspace>>,
    at: Stamp,
    worked_in: Option<WorkspaceId>,
) {
    if !model.data.workspaces.recall(Arc::clone(&table), at) {
        return;
    }
    let next = match &model.session.workspace {
        // An unknown workspace may be newer than the cache: the list of the service decides.
        Some(requested) => table
            .items()
            .iter()
            .find(|it| it.is_called(requested))
            .map(|it| it.id),
        None => worked_in
            .filter(|&id| table.get(id).is_some())
            .or_else(|| poll_updates::workspace_to_work_in(model, &table)),
    };
    if let (Some(id), None) = (next, model.navigation.scope.workspace) {
        model.work_in(id);
    }
}

/// Failures in the cached list are not reported as new.
fn recall_scans(model: &mut Model, table: Arc<Table<Scan>>, at: Stamp) {
    if model.data.scans.recall(Arc::clone(&table), at) {
        model.scans.progress.take(model.now.mono, &table);
    }
}

/// Requests that were recorded after the cached list count as new.
fn recall_loggers(model: &mut Model, table: Arc<Table<Logger>>, at: Stamp) {
    if model.data.loggers.value().is_some() {
        return;
    }
    poll_updates::show_fitting_fifth(model, table.is_empty());
    poll_updates::record_loggers(model, &table);
    model.data.loggers.recall(table, at);
    poll_updates::count_unseen(model);
}
