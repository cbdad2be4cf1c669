//! Candidates of the lists that the dashboard has cached: names and ids of objects of the service.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use clap_complete::engine::CompletionCandidate;

use super::{candidate, is_literal};
use scandeck_dashboard::base::ListKind;
use scandeck_dashboard::base::plan::Snapshot;
use scandeck_dashboard::config::{Config, Connection, Environment, Flags};
use scandeck_dashboard::runtime::CachedLists;
use scandeck_domain::table::Table;
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::{Scan, Tool, WorkspaceId};

/// A larger cached list takes too long to read for a completion.
const MOST_BYTES: u64 = 32 << 20;
/// Most findings that are offered, the newest first.
const MOST_FINDINGS: usize = 2_000;

/// The candidates of the configured service; none without cached lists.
pub fn cached(list: ListKind) -> Vec<CompletionCandidate> {
    let Ok(environment) = Environment::of_process() else {
        return Vec::new();
    };
    let Ok(config) = Config::load(&Flags::default(), &environment) else {
        return Vec::new();
    };
    let base = match &config.connection {
        Connection::Remote { base, .. } => base.to_string(),
        Connection::Local | Connection::Prompt => String::new(),
    };
    candidates(
        &CachedLists::new(
            environment
                .state_dir()
                .cached_lists(&config.service(), &base),
        ),
        list,
    )
}

fn candidates(lists: &CachedLists, list: ListKind) -> Vec<CompletionCandidate> {
    let Some((Snapshot::Workspaces(workspaces), _)) = lists.read((None, ListKind::Workspaces))
    else {
        return Vec::new();
    };
    let workspaces = workspaces.items().iter();
    match list {
        ListKind::Workspaces => workspaces.map(|one| named(&one.name, one.id.0)).collect(),
        list => workspaces
            .flat_map(|one| in_workspace(lists, one.id, list))
            .collect(),
    }
}

/// The candidates of a list of one workspace.
fn in_workspace(
    lists: &CachedLists,
    workspace: WorkspaceId,
    list: ListKind,
) -> Vec<CompletionCandidate> {
    match read(lists, workspace, list) {
        Some(Snapshot::Targets(table)) => {
            let targets = table.items().iter();
            targets.map(|one| named(&one.name, one.id.0)).collect()
        }
        Some(Snapshot::Loggers(table)) => {
            let loggers = table.items().iter();
            loggers.map(|one| named(&one.label, one.id.0)).collect()
        }
        Some(Snapshot::Scans(table)) => {
            let targets = read(lists, workspace, ListKind::Targets);
            scans(&table, targets)
        }
        Some(Snapshot::Findings(table)) => findings(&table),
        _ => Vec::new(),
    }
}

fn read(lists: &CachedLists, workspace: WorkspaceId, list: ListKind) -> Option<Snapshot> {
    let file = Some((Some(workspace), list)).filter(|&file| lists.bytes(file) <= MOST_BYTES)?;
    lists.read(file).map(|(snapshot, _)| snapshot)
}

/// The ids of scans with tool and target.
fn scans(table: &Table<Scan>, targets: Option<Snapshot>) -> Vec<CompletionCandidate> {
    let mut names = BTreeMap::new();
    if let Some(Snapshot::Targets(targets)) = targets {
        names.extend(targets.items().iter().map(|one| (one.id, one.name.clone())));
    }
    let described = |one: &Arc<Scan>| {
        let named = Tool(one.tool_id).scan();
        let target = names.get(&one.target_id).map(|name| format!(" of {name}"));
        let help = format!("{named}{}", target.unwrap_or_default());
        candidate(one.id.to_string(), &help)
    };
    table.items().iter().map(described).collect()
}

/// The ids of the newest findings with risk and name.
fn findings(table: &Table<ListedFinding>) -> Vec<CompletionCandidate> {
    let mut newest: Vec<_> = table.items().iter().collect();
    newest.sort_unstable_by_key(|one| Reverse(one.id));
    let described = |one: &Arc<ListedFinding>| {
        let help = format!("{}: {}", one.risk_level, one.name);
        candidate(one.id.to_string(), &help)
    };
    newest
        .into_iter()
        .take(MOST_FINDINGS)
        .map(described)
        .collect()
}

/// The name, or the id of a name that a shell does not take literally.
fn named(name: &str, id: i64) -> CompletionCandidate {
    match is_literal(name) {
        true => candidate(name.to_owned(), &format!("id {id}")),
        false => candidate(id.to_string(), name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Finding, FindingId, ScanId, Stamp, Target, TargetId, Workspace};

    fn values(lists: &CachedLists, list: ListKind) -> Vec<String> {
        candidates(lists, list)
            .iter()
            .map(|one| one.get_value().to_string_lossy().into_owned())
            .collect()
    }

    /// Lists of the workspaces Acme and Acme external, as the dashboard has cached them.
    fn cached_lists(directory: &std::path::Path) -> CachedLists {
        let lists = CachedLists::new(directory.to_owned());
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let write = |workspace: Option<i64>, snapshot: Snapshot| {
            let workspace = workspace.map(WorkspaceId);
            lists.write(workspace, &snapshot, at).unwrap();
        };
        let workspace = |id, name: &str| Workspace {
            id: WorkspaceId(id),
            name: name.into(),
            ..Workspace::default()
        };
        let workspaces = Table::new([workspace(1, "Acme"), workspace(2, "Acme external")]);
        write(None, Snapshot::Workspaces(Arc::new(workspaces)));
        let target = |id, name: &str| Target {
            id: TargetId(id),
            name: name.into(),
            ..Target::default()
        };
        let targets = [
            target(4, "https://shop.acme.test/"),
            target(5, "x$(reboot)"),
        ];
        write(Some(2), Snapshot::Targets(Arc::new(Table::new(targets))));
        let scan = Scan {
            id: ScanId(12),
            tool_id: 170,
            target_id: TargetId(4),
            ..Scan::default()
        };
        write(Some(2), Snapshot::Scans(Arc::new(Table::new([scan]))));
        let finding = |id, name: &str| Finding {
            id: FindingId(id),
            name: name.into(),
            ..Finding::default()
        };
        let findings = [finding(31, "Old banner"), finding(32, "Git repository")];
        let findings = Table::new(findings.map(ListedFinding::from));
        write(Some(2), Snapshot::Findings(Arc::new(findings)));
        lists
    }

    #[test]
    fn candidates_are_cached_names_and_ids_that_no_shell_interprets() {
        let temp = tempfile::tempdir().unwrap();
        let lists = cached_lists(&temp.path().join("last-known"));
        assert_eq!(values(&lists, ListKind::Findings), ["32", "31"]);
        assert_eq!(values(&lists, ListKind::Workspaces), ["Acme", "2"]);
        assert_eq!(
            values(&lists, ListKind::Targets),
            ["https://shop.acme.test/", "5"]
        );
        assert_eq!(values(&lists, ListKind::Scans), ["12"]);
        let help = |list| {
            let all = candidates(&lists, list);
            all[0].get_help().unwrap().to_string()
        };
        assert_eq!(help(ListKind::Findings), "info: Git repository");
        let scan = help(ListKind::Scans);
        assert!(scan.ends_with(" of https://shop.acme.test/"), "{scan}");
    }

    #[test]
    fn lists_that_are_not_cached_have_no_candidates() {
        let temp = tempfile::tempdir().unwrap();
        let lists = CachedLists::new(temp.path().join("last-known"));
        assert!(values(&lists, ListKind::Targets).is_empty());
    }
}
