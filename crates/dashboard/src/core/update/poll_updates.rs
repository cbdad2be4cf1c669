//! Updates of the poller. Every list keeps its selection by id.

use crate::base::{
    Link, ListKind, Pane, PartData, PollEvent, ScanPart, Snapshot, Tone, UnreadScans, Update,
};
use crate::data::ScanParts;
use crate::input::{Action, AppAction, Context};
use crate::model::Model;
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Table;
use scandeck_domain::triage::ReadTimes;
use scandeck_wire::contract::{
    Logger, Report, ReportStatus, ScanId, Stamp, Unreadable, Workspace, WorkspaceId,
};
use scandeck_wire::text::plural;
use std::sync::Arc;

/// The poller reported something. Events of a workspace that is no longer shown are dropped.
pub(crate) fn handle_update(model: &mut Model, update: Update) {
    let Update {
        generation,
        at,
        event,
    } = update;
    if generation != model.connection.generation && is_of_a_workspace(&event) {
        return;
    }
    match event {
        PollEvent::Link(link) => handle_link(model, link),
        PollEvent::Budget(budget) => model.connection.budget = budget,
        PollEvent::ClockOffset(seconds) => model.connection.clock_offset = Some(seconds),
        PollEvent::MissingScanners(missing) => {
            model.data.missing_scanners = missing;
            model.check_form();
        }
        PollEvent::Snapshot(snapshot) => handle_snapshot(model, snapshot, at),
        PollEvent::SomeFindings(table, unread, read) => {
            model.data.unread_scans = unread;
            model.data.findings_read = read;
            model.data.occurrences.succeed(table, at);
        }
        // They come from the archive.
        PollEvent::Captures { .. } => {}
        PollEvent::ScanPart(scan, part) => handle_part(model, scan, part, at),
        PollEvent::Confirmed(list, at) => model.confirm(list, at),
        PollEvent::Unanswered(since) => model.connection.unanswered = since,
        PollEvent::Failed(list, problem) => model.fail(list, problem),
        PollEvent::CapturesFailed(problem) => model.data.captures.problem = problem,
        PollEvent::Unreadable(list, items) => handle_unreadable(model, list, items),
        PollEvent::PartFailed(scan, part, problem) => {
            handle_part_failed(model, scan, part, problem)
        }
        PollEvent::Nodes(nodes) => {
            model.data.nodes.succeed(nodes, at);
            model.check_form();
        }
        PollEvent::NodesFailed(problem) => model.data.nodes.fail(problem),
    }
}

fn is_of_a_workspace(event: &PollEvent) -> bool {
    use PollEvent::{Budget, ClockOffset, Link, MissingScanners};
    match event {
        PollEvent::Snapshot(snapshot) => snapshot.list_kind().is_of_workspace(),
        event => !matches!(
            event,
            Link(_) | Budget(_) | ClockOffset(_) | MissingScanners(_)
        ),
    }
}

fn handle_snapshot(model: &mut Model, snapshot: Snapshot, at: Stamp) {
    match snapshot {
        Snapshot::Workspaces(table) => handle_workspaces(model, table, at),
        Snapshot::Scans(table) => {
            model.scans.progress.take(model.now.mono, &table);
            model.data.scans.succeed(table, at);
        }
        // The rows follow when they are made.
        Snapshot::Findings(table) => {
            model.data.unread_scans = UnreadScans::default();
            model.data.findings_read = ReadTimes {
                all: Some(at),
                ..ReadTimes::default()
            };
            model.data.occurrences.succeed(table, at);
        }
        Snapshot::Loggers(table) => {
            show_fitting_fifth(model, table.is_empty());
            model.warn_of_ends(&table);
            record_loggers(model, &table);
            model.data.loggers.succeed(table, at);
            count_unseen(model);
        }
        Snapshot::Reports(table) => handle_reports(model, table, at),
        other => model.data.succeed(other, at),
    }
}

/// Some items of a list cannot be decoded. A notice shows where the first one is; the pane shows
/// their number.
fn handle_unreadable(model: &mut Model, list: ListKind, items: Arc<Unreadable>) {
    match items.reasons.first() {
        Some(first) => {
            let count = plural(items.count, "item");
            let pane = Pane::of_list(list).title().to_lowercase();
            model.notify(
                Tone::Bad,
                format!(
                    "{pane}: {count} not readable · {}",
                    scandeck_wire::text::clean(first)
                ),
            );
            model.data.unreadable.insert(list, items);
        }
        None => _ = model.data.unreadable.remove(&list),
    }
}

/// The link changed. A notice is shown when it breaks and when it recovers; the header always shows
/// it.
fn handle_link(model: &mut Model, link: Link) {
    match &link {
        Link::Live { .. } if model.is_disconnected() => model.notify(Tone::Good, "connected again"),
        Link::Down { problem } if model.connection.link != link => {
            let mut problem = Problem::clone(problem);
            if let (Some(401), Some(hint)) = (problem.status, &mut problem.hint) {
                let refresh = model.key_label(Context::Everywhere, Action::App(AppAction::Refresh));
                hint.push_str(&match model.session.reads_key_again {
                    true => format!("; {refresh} reads it again"),
                    false => "; then restart scandeck".to_owned(),
                });
            }
            match model.session.bundled {
                true => model.notify(Tone::Plain, problem.message.clone()),
                false if problem.status == Some(401) => {
                    model.notify_problem("polling paused", &problem)
                }
                false => model.notify_problem("not connected", &problem),
            }
        }
        _ => {}
    }
    model
        .scans
        .progress
        .record_link(model.now.mono, matches!(link, Link::Live { .. }));
    model.connection.link = link;
}

fn handle_workspaces(model: &mut Model, table: Arc<Table<Workspace>>, at: Stamp) {
    let known = model
        .navigation
        .scope
        .workspace
        .is_some_and(|id| table.get(id).is_some());
    let first = model.navigation.scope.workspace.is_none();
    let next = (!known)
        .then(|| workspace_to_work_in(model, &table))
        .flatten();
    if let (true, Some(requested), false) = (first, &model.session.workspace, table.is_empty())
        && !table
            .items()
            .iter()
            .any(|workspace| workspace.is_called(requested))
    {
        let shown = next
            .and_then(|id| table.get(id))
            .map_or("another workspace", |workspace| &workspace.name);
        let words = format!("workspace {requested} not found; showing {shown}");
        model.notify(Tone::Bad, words);
    }
    model.data.workspaces.succeed(table, at);
    if let Some(id) = next {
        let shown = model
            .data
            .workspaces
            .value()
            .and_then(|table| table.get(id))
            .map(|one| one.name.clone());
        model.work_in(id);
        if !first {
            let shown = shown.unwrap_or_default();
            model.notify(
                Tone::Bad,
                format!("workspace deleted at the service; showing {shown}"),
            );
        }
    }
}

/// The requested workspace, else the first one with targets, else the first one.
pub(crate) fn workspace_to_work_in(model: &Model, table: &Table<Workspace>) -> Option<WorkspaceId> {
    let named = |requested: &String| {
        table
            .items()
            .iter()
            .find(|workspace| workspace.is_called(requested))
            .map(|workspace| workspace.id)
    };
    let requested = model.session.workspace.as_ref().and_then(named);
    let by_id = || {
        let mut all: Vec<&Arc<Workspace>> = table.items().iter().collect();
        all.sort_by_key(|workspace| (workspace.target_count == 0, workspace.id));
        all.first().map(|workspace| workspace.id)
    };
    requested.or_else(by_id)
}

/// A notice is shown when a report is finished or failed.
fn handle_reports(model: &mut Model, table: Arc<Table<Report>>, at: Stamp) {
    let before = model.data.reports.value().cloned();
    let waited = |report: &&Arc<Report>| {
        let was = before.as_ref().and_then(|before| before.get(report.id));
        was.is_some_and(|was| was.status == ReportStatus::Waiting)
    };
    for report in table.items().iter().filter(waited) {
        match report.status {
            ReportStatus::Finished => {
                model.notify(
                    Tone::Good,
                    format!(
                        "report {} is ready · {}",
                        report.download_name,
                        model.report_keys()
                    ),
                );
            }
            ReportStatus::Failed => {
                model.notify(Tone::Bad, format!("report {} failed", report.download_name))
            }
            _ => {}
        }
    }
    model.data.reports.succeed(table, at);
}

/// Pane 5 shows the loggers while there is no logger and no archived capture, unless it has the
/// focus.
pub(crate) fn show_fitting_fifth(model: &mut Model, no_logger: bool) {
    let was_empty = model
        .data
        .loggers
        .value()
        .is_none_or(|before| before.is_empty());
    if matches!(model.navigation.focus.pane, Pane::Captures | Pane::Loggers)
        || !was_empty && !no_logger
    {
        return;
    }
    let has_none = no_logger && model.data.captures.rows.is_empty();
    model.navigation.fifth = if has_none {
        Pane::Loggers
    } else {
        Pane::Captures
    };
}

/// Notes how many requests of each logger were seen. Requests of a logger that appears for the
/// first time are not new.
pub(crate) fn record_loggers(model: &mut Model, table: &Table<Logger>) {
    let first = model.data.loggers.value().is_none();
    model
        .captures
        .seen_requests
        .retain(|id, _| table.get(*id).is_some());
    for logger in table.items() {
        let there = if first { logger.num_requests } else { 0 };
        let seen = model
            .captures
            .seen_requests
            .entry(logger.id)
            .or_insert(there);
        // A cleared logger restarts its count.
        *seen = (*seen).min(logger.num_requests);
    }
}

/// Counts the requests that were not seen yet.
pub(crate) fn count_unseen(model: &mut Model) {
    let loggers = model
        .data
        .loggers
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let new = |logger: &Arc<Logger>| {
        logger.num_requests
            - model
                .captures
                .seen_requests
                .get(&logger.id)
                .copied()
                .unwrap_or(0)
    };
    model.captures.new_captures = loggers.iter().map(new).sum::<i64>().max(0) as u64;
}

fn handle_part(model: &mut Model, scan: ScanId, part: PartData, at: Stamp) {
    let parts = parts_of(model, scan);
    match part {
        PartData::Tests(tests) => parts.tests.succeed(tests, at),
        PartData::Output(output) => parts.output.succeed(output, at),
        PartData::Raw(lines) => parts.raw.succeed(lines, at),
    }
}

fn handle_part_failed(model: &mut Model, scan: ScanId, part: ScanPart, problem: Arc<Problem>) {
    let parts = parts_of(model, scan);
    match part {
        ScanPart::Tests => parts.tests.fail(problem),
        ScanPart::Output => parts.output.fail(problem),
        ScanPart::Raw => parts.raw.fail(problem),
    }
}

/// The parts of a scan; those of another one are dropped.
fn parts_of(model: &mut Model, scan: ScanId) -> &mut ScanParts {
    let parts = &mut model.data.scan_parts;
    if parts.scan != Some(scan) {
        *parts = ScanParts {
            scan: Some(scan),
            ..ScanParts::default()
        };
    }
    parts
}
