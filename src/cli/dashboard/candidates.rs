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

use std::collections::BTreeMap;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use scandeck_dashboard::base::ListKind;
use scandeck_dashboard::base::plan::Snapshot;
use scandeck_dashboard::config::file::ConfigFile;
use scandeck_dashboard::config::{Config, Connection, Environment, Flags};
use scandeck_dashboard::runtime::CachedLists;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::oob::{CaptureFormat, PayloadShape};
use scandeck_domain::triage::{ListedFinding, Reason, Verdict};
use scandeck_wire::contract::{
    GroupBy, RedirectLevel, ReportFormat, Risk, ScanStatus, TargetType, Tool, WorkspaceId,
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
        (None, None) => arg,
    }
}

/// The values of a flag whose parser does not list them.
fn names_of(arg: &Arg, noun: &str) -> Option<Vec<&'static str>> {
    Some(match (noun, arg.get_long()?) {
        ("findings", "format") => ExportFormat::NAMES.to_vec(),
        ("findings", "verdict") => Verdict::NAMES.to_vec(),
        ("findings", "reason") => Reason::NAMES.to_vec(),
        ("findings", "severity") => Risk::DOWN.iter().map(|risk| risk.as_str()).collect(),
        ("captures", "format") => CaptureFormat::NAMES.to_vec(),
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
    let Ok(environment) = Environment::of_process() else {
        return Vec::new();
    };
    let file = ConfigFile::read(&environment.config_file(), false).unwrap_or_default();
    file.profile_names()
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
    let named = |name: &str, id: i64| match is_literal(name) {
        true => candidate(name.to_owned(), &format!("id {id}")),
        false => candidate(id.to_string(), name),
    };
    let Some((Snapshot::Workspaces(workspaces), _)) = lists.read((None, ListKind::Workspaces))
    else {
        return Vec::new();
    };
    if list == ListKind::Workspaces {
        return workspaces
            .items()
            .iter()
            .map(|one| named(&one.name, one.id.0))
            .collect();
    }
    let read = |id: WorkspaceId, list: ListKind| {
        let file = Some((Some(id), list)).filter(|&file| lists.bytes(file) <= MOST_BYTES)?;
        lists.read(file).map(|(snapshot, _)| snapshot)
    };
    let mut all = Vec::new();
    for workspace in workspaces.items() {
        match read(workspace.id, list) {
            Some(Snapshot::Targets(table)) => {
                all.extend(table.items().iter().map(|one| named(&one.name, one.id.0)))
            }
            Some(Snapshot::Loggers(table)) => {
                all.extend(table.items().iter().map(|one| named(&one.label, one.id.0)))
            }
            Some(Snapshot::Scans(table)) => {
                let mut names = BTreeMap::new();
                if let Some(Snapshot::Targets(targets)) = read(workspace.id, ListKind::Targets) {
                    names.extend(targets.items().iter().map(|one| (one.id, one.name.clone())));
                }
                all.extend(table.items().iter().map(|one| {
                    let tool = Tool(one.tool_id).short_name().unwrap_or("scan");
                    let target = names
                        .get(&one.target_id)
                        .map(|name| format!(" of {name}"))
                        .unwrap_or_default();
                    candidate(one.id.to_string(), &format!("{tool}{target}"))
                }));
            }
            Some(Snapshot::Findings(table)) => {
                let mut newest: Vec<_> = table.items().iter().collect();
                newest.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
                let help = |one: &ListedFinding| format!("{}: {}", one.risk_level, one.name);
                all.extend(
                    newest
                        .iter()
                        .take(MOST_FINDINGS)
                        .map(|one| candidate(one.id.to_string(), &help(one))),
                );
            }
            _ => {}
        }
    }
    all
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
    use std::sync::Arc;

    use super::*;
    use scandeck_domain::table::Table;
    use scandeck_wire::contract::{
        Finding, FindingId, Scan, ScanId, Stamp, Target, TargetId, Workspace,
    };

    fn values(lists: &CachedLists, list: ListKind) -> Vec<String> {
        candidates(lists, list)
            .iter()
            .map(|one| one.get_value().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn candidates_are_cached_names_and_ids_that_no_shell_interprets() {
        let temp = tempfile::tempdir().unwrap();
        let lists = CachedLists::new(temp.path().join("last-known"));
        assert!(
            values(&lists, ListKind::Targets).is_empty(),
            "nothing is cached yet"
        );
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let workspace = |id, name: &str| Workspace {
            id: WorkspaceId(id),
            name: name.into(),
            ..Workspace::default()
        };
        let workspaces = Table::new([workspace(1, "Acme"), workspace(2, "Acme external")]);
        lists
            .write(None, &Snapshot::Workspaces(Arc::new(workspaces)), at)
            .unwrap();
        let target = |id, name: &str| Target {
            id: TargetId(id),
            name: name.into(),
            ..Target::default()
        };
        let targets = Table::new([
            target(4, "https://shop.acme.test/"),
            target(5, "x$(reboot)"),
        ]);
        lists
            .write(
                Some(WorkspaceId(2)),
                &Snapshot::Targets(Arc::new(targets)),
                at,
            )
            .unwrap();
        let scan = Scan {
            id: ScanId(12),
            tool_id: 170,
            target_id: TargetId(4),
            ..Scan::default()
        };
        lists
            .write(
                Some(WorkspaceId(2)),
                &Snapshot::Scans(Arc::new(Table::new([scan]))),
                at,
            )
            .unwrap();
        let finding = |id, name: &str| Finding {
            id: FindingId(id),
            name: name.into(),
            ..Finding::default()
        };
        let findings = Table::new(
            [finding(31, "Old banner"), finding(32, "Git repository")].map(ListedFinding::from),
        );
        lists
            .write(
                Some(WorkspaceId(2)),
                &Snapshot::Findings(Arc::new(findings)),
                at,
            )
            .unwrap();
        assert_eq!(values(&lists, ListKind::Findings), ["32", "31"]);
        let help = candidates(&lists, ListKind::Findings)[0]
            .get_help()
            .unwrap()
            .to_string();
        assert_eq!(help, "info: Git repository");
        assert_eq!(values(&lists, ListKind::Workspaces), ["Acme", "2"]);
        assert_eq!(
            values(&lists, ListKind::Targets),
            ["https://shop.acme.test/", "5"]
        );
        assert_eq!(values(&lists, ListKind::Scans), ["12"]);
        let help = candidates(&lists, ListKind::Scans)[0]
            .get_help()
            .unwrap()
            .to_string();
        assert!(help.ends_with(" of https://shop.acme.test/"), "{help}");
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
