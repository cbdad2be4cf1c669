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

mod cached;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use cached::cached;
use scandeck_dashboard::base::ListKind;
use scandeck_dashboard::config::Environment;
use scandeck_dashboard::config::file::ConfigFile;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::oob::{CaptureFormat, PayloadShape};
use scandeck_domain::triage::{Reason, Verdict};
use scandeck_import::FORMATS;
use scandeck_report::{ChapterKind, EvidenceDetail, ReportVerdict};
use scandeck_wire::contract::{
    GroupBy, RedirectLevel, ReportFormat, Risk, ScanStatus, TargetType, Tool,
};
use scandeck_wire::text;

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
