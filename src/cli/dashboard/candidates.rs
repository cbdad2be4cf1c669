//! Candidates of completions: names of values, profiles of the configuration, and objects in the
//! lists that the dashboard has cached.
//!
//! ```text
//!   flag (--verdict, --workspace, …) or noun of the command (scans show ID) ─► names or list ─► cached file ─► candidates
//! ```
//!
//! Only files are read: a completion must be fast, and must not call a service or read a key. A
//! shell may insert a candidate without quoting it, so a name with other characters than these is
//! offered as its id.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use scandeck_dashboard::base::ListKind;
use scandeck_dashboard::base::plan::Snapshot;
use scandeck_dashboard::config::file::ConfigFile;
use scandeck_dashboard::config::{Config, Connection, Environment, Flags};
use scandeck_dashboard::runtime::CachedLists;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::oob::{CaptureFormat, PayloadShape};
use scandeck_domain::table::Table;
use scandeck_domain::triage::{ListedFinding, Reason, Verdict};
use scandeck_import::FORMATS;
use scandeck_report::{ChapterKind, EvidenceDetail, ReportVerdict};
use scandeck_wire::contract::{
    GroupBy, RedirectLevel, ReportFormat, Risk, Scan, ScanStatus, TargetType, Tool, WorkspaceId,
};
use scandeck_wire::text;

/// A larger cached list takes too long to read for a completion.
const MOST_BYTES: u64 = 32 << 20;
/// Most findings that are offered, the newest first.
const MOST_FINDINGS: usize = 2_000;
/// Characters of names that a shell takes literally.
const LITERAL: &str = "_-.:/@%+=,";

/// The command, whose arguments know their candidates.
pub fn with_candidates(command: Command) -> Command {
    // The flags of the dashboard have no noun.
    command
        .mut_args(|arg| argument_with(arg, ""))
        .mut_subcommands(|subcommand| {
            let noun = subcommand.get_name().to_owned();
            with(subcommand, &noun)
        })
}

fn with(command: Command, noun: &str) -> Command {
    command
        .mut_args(|arg| argument_with(arg, noun))
        .mut_subcommands(|subcommand| with(subcommand, noun))
}

fn argument_with(arg: Arg, noun: &str) -> Arg {
    match (names_of(&arg, noun), list_of_argument(&arg, list_of(noun))) {
        (Some(names), _) => arg.add(ArgValueCandidates::new(move || {
            names.iter().map(CompletionCandidate::new).collect()
        })),
        (None, Some(list)) => arg.add(ArgValueCandidates::new(move || cached(list))),
        (None, None) if arg.get_long() == Some("tool") => arg.add(ArgValueCandidates::new(tools)),
        (None, None) if arg.get_long() == Some("profile") => {
            arg.add(ArgValueCandidates::new(profiles))
        }
        (None, None) if arg.get_long() == Some("scan-profile") => {
            arg.add(ArgValueCandidates::new(scan_profiles))
        }
        (None, None) => arg,
    }
}

/// The values of a flag whose parser does not list them.
fn names_of(arg: &Arg, noun: &str) -> Option<Vec<&'static str>> {
    Some(match (noun, arg.get_long()?) {
        ("findings", "format") => ExportFormat::NAMES.to_vec(),
        ("findings", "group-by") => ChapterKind::NAMES.to_vec(),
        ("findings", "verdicts") => ReportVerdict::NAMES.to_vec(),
        ("findings", "evidence") => EvidenceDetail::NAMES.to_vec(),
        ("findings", "verdict") => Verdict::NAMES.to_vec(),
        ("findings", "reason") => Reason::NAMES.to_vec(),
        ("findings", "severity") => Risk::DOWN.iter().map(|risk| risk.as_str()).collect(),
        ("captures", "format") => CaptureFormat::NAMES.to_vec(),
        ("import", "format") => FORMATS.iter().map(|format| format.name).collect(),
        ("payloads", "shape") => PayloadShape::NAMES.to_vec(),
        ("reports", "format") => ReportFormat::KNOWN
            .iter()
            .map(ReportFormat::as_str)
            .collect(),
        ("reports", "group-by") => GroupBy::KNOWN.iter().map(GroupBy::as_str).collect(),
        ("scans", "status") => ScanStatus::KNOWN.iter().map(ScanStatus::as_str).collect(),
        ("scans", "redirect-level") => RedirectLevel::KNOWN
            .iter()
            .map(RedirectLevel::as_str)
            .collect(),
        ("targets", "type") => TargetType::KNOWN.iter().map(TargetType::as_str).collect(),
        _ => return None,
    })
}

/// The ids of the tools with their names.
fn tools() -> Vec<CompletionCandidate> {
    let named = |tool: Tool| Some(candidate(tool.0.to_string(), tool.name()?));
    Tool::all().filter_map(named).collect()
}

/// The cached list of a noun. Reports and wordlists are not cached.
fn list_of(noun: &str) -> Option<ListKind> {
    match noun {
        "workspaces" => Some(ListKind::Workspaces),
        "targets" => Some(ListKind::Targets),
        "scans" => Some(ListKind::Scans),
        "findings" => Some(ListKind::Findings),
        "loggers" => Some(ListKind::Loggers),
        _ => None,
    }
}

/// The list of a flag, or of an argument that takes an id of the command's noun.
fn list_of_argument(arg: &Arg, noun: Option<ListKind>) -> Option<ListKind> {
    let takes_id = || {
        let is_named = arg
            .get_value_names()
            .unwrap_or_default()
            .iter()
            .any(|name| name.contains("ID"));
        is_named || matches!(arg.get_id().as_str(), "id" | "ids")
    };
    match arg.get_long() {
        Some("workspace") => Some(ListKind::Workspaces),
        Some("target") => Some(ListKind::Targets),
        Some("logger") => Some(ListKind::Loggers),
        Some("scan") => Some(ListKind::Scans),
        None if takes_id() => noun,
        _ => None,
    }
}

fn profiles() -> Vec<CompletionCandidate> {
    let file = configuration();
    literal(file.profile_names())
}

fn scan_profiles() -> Vec<CompletionCandidate> {
    let file = configuration();
    literal(file.scan_profiles.iter().map(|one| one.name.as_str()))
}

/// The configuration file; an empty one if it cannot be read.
fn configuration() -> ConfigFile {
    let file = Environment::of_process()
        .ok()
        .and_then(|environment| ConfigFile::read(&environment.config_file(), false).ok());
    file.unwrap_or_default()
}

fn literal<'a>(names: impl Iterator<Item = &'a str>) -> Vec<CompletionCandidate> {
    names
        .filter(|name| is_literal(name))
        .map(CompletionCandidate::new)
        .collect()
}

/// The candidates of the configured service; none without cached lists.
fn cached(list: ListKind) -> Vec<CompletionCandidate> {
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
        let tool = Tool(one.tool_id).short_name().unwrap_or("scan");
        let target = names.get(&one.target_id).map(|name| format!(" of {name}"));
        let help = format!("{tool}{}", target.unwrap_or_default());
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

fn candidate(value: String, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(text::clean(help).into_owned().into()))
}

fn is_literal(name: &str) -> bool {
    let is_literal = |letter: char| letter.is_ascii_alphanumeric() || LITERAL.contains(letter);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_literal)
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

    #[test]
    fn only_arguments_that_take_a_name_or_id_have_candidates() {
        let id = Arg::new("target").value_name("NAME|ID");
        assert_eq!(
            list_of_argument(&id, Some(ListKind::Targets)),
            Some(ListKind::Targets)
        );
        assert_eq!(
            list_of_argument(&Arg::new("names"), Some(ListKind::Targets)),
            None,
            "new targets have new names"
        );
        assert_eq!(
            list_of_argument(
                &Arg::new("tool").long("tool").value_name("ID"),
                Some(ListKind::Scans)
            ),
            None
        );
        assert_eq!(
            list_of_argument(&Arg::new("x").long("workspace"), None),
            Some(ListKind::Workspaces)
        );
    }

    #[test]
    fn flags_with_names_offer_all_of_them() {
        let names = |noun, flag| names_of(&Arg::new(flag).long(flag), noun).unwrap_or_default();
        assert_eq!(
            names("reports", "format"),
            ["pdf", "html", "json", "csv", "xlsx", "docx"]
        );
        assert!(
            names("payloads", "shape").contains(&"xxe")
                && names("scans", "status").contains(&"running")
        );
        assert_eq!(names("scans", "format"), [""; 0], "scans have no formats");
        let tls = tools()
            .into_iter()
            .find(|tool| tool.get_value() == "450")
            .unwrap();
        assert_eq!(tls.get_help().unwrap().to_string(), "SSL/TLS Scanner");
    }
}
