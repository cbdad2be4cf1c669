//! Commands for scripts and CI: every endpoint of the API without a screen, one file per noun, and
//! the data on this machine.
//!
//! ```text
//!   arguments ─► HeadlessSession (client, workspace, read-only?) ─► calls ─► Output: table, JSON array or JSON object
//! ```
//!
//! Standard output contains only the result; errors and progress go to standard error. With
//! `--json` a list is an array and a single item an object: fields of the contract first, then
//! those of scandeck. The output has no colours. Commands that change the service fail with a
//! read-only profile, and commands that delete need `--yes`.

pub mod alert_watch;
pub mod api;
pub mod archive;
pub mod bundle;
pub mod bundles;
pub mod captures;
pub mod case;
mod chain;
pub mod decide;
pub mod decisions;
pub mod diff;
mod explain;
pub mod findings;
pub mod gate;
pub mod import;
pub mod logger;
pub mod loggers;
pub mod payloads;
pub mod print;
mod prove;
pub mod purge;
pub mod report_options;
mod reports;
pub mod rows;
pub mod save;
pub mod scans;
pub mod schedules;
pub mod session;
pub mod start;
pub mod stored;
pub mod sync;
pub mod target_choice;
pub mod targets;
pub mod triage;
pub mod unbundle;
pub mod watch;
pub mod wordlists;
mod workspace_lists;
pub mod workspaces;

use std::process::ExitCode;

use clap::Subcommand;

pub use print::{Output, PrintTable};
pub use session::{HeadlessSession, ServiceArgs};

use crate::cli::error::CliError;
use scandeck_client::{Error, ErrorKind};
use scandeck_domain::query::{Query, QueryKind};

/// Exit codes of the commands.
pub mod exit {
    /// `--fail-on` matched a finding.
    pub const MATCHED: u8 = 3;
    /// `findings prove` found a weakness that is still there.
    pub const STILL_THERE: u8 = 3;
    /// `captures watch` saw no request before the timeout.
    pub const TIMED_OUT: u8 = 3;
    /// The scan ended with another status than `finished`.
    pub const UNFINISHED: u8 = 4;
}

#[derive(Subcommand, Debug)]
pub enum HeadlessCommand {
    /// Workspaces of the service: list, show, create, edit, delete
    Workspaces(workspaces::WorkspacesArgs),
    /// Targets: list, show, add, tag, delete
    Targets(targets::TargetsArgs),
    /// Scans: list, show, start, watch, stop, delete, diff, output, raw, tests
    Scans(scans::ScansArgs),
    /// Schedules of scans: list, show, add, pause, resume, delete
    Schedules(schedules::SchedulesArgs),
    /// Findings with their decisions: list, show, explain, chain, link, prove, decide, export
    Findings(findings::FindingsArgs),
    /// Reports: list, show, create, download, delete
    Reports(reports::ReportsArgs),
    /// HTTP loggers: list, show, create, captures, clear, delete
    Loggers(loggers::LoggersArgs),
    /// Captured requests and their payloads: list, show, export, watch
    Captures(captures::CapturesArgs),
    /// Payload book: new, list
    Payloads(payloads::PayloadsArgs),
    /// Decisions: export and import as JSON lines, sync with a team
    Triage(triage::TriageArgs),
    /// Send alerts about findings, scans, decisions and captures by the rules of the configuration
    Watch(alert_watch::AlertWatchArgs),
    /// Write all data about a workspace to one file, without API keys
    Bundle(bundle::BundleArgs),
    /// Import a bundle
    Unbundle(unbundle::UnbundleArgs),
    /// Sealed timeline of a workspace or of findings: new, show, verify
    Case(case::CaseArgs),
    /// Delete a workspace's data from this machine, and as an admin its shared decisions
    Purge(purge::PurgeArgs),
    /// Call any endpoint of the API
    Api(api::ApiArgs),
}

/// Runs a command.
///
/// # Errors
/// Those of the command.
pub async fn run(command: HeadlessCommand) -> anyhow::Result<ExitCode> {
    match command {
        HeadlessCommand::Workspaces(args) => listed("workspaces", workspaces::run(args).await),
        HeadlessCommand::Targets(args) => listed("targets", targets::run(args).await),
        HeadlessCommand::Scans(args) => listed("scans", scans::run(args).await),
        HeadlessCommand::Schedules(args) => schedules::run(args).await,
        HeadlessCommand::Findings(args) => listed("findings", findings::run(args).await),
        HeadlessCommand::Reports(args) => listed("reports", reports::run(args).await),
        HeadlessCommand::Loggers(args) => listed("loggers", loggers::run(args).await),
        HeadlessCommand::Captures(args) => captures::run(args).await,
        HeadlessCommand::Payloads(args) => payloads::run(args).await,
        HeadlessCommand::Triage(args) => triage::run(args).await,
        HeadlessCommand::Watch(args) => alert_watch::run(args).await,
        HeadlessCommand::Bundle(args) => bundle::run(args).await,
        HeadlessCommand::Unbundle(args) => unbundle::run(args).await,
        HeadlessCommand::Case(args) => case::run(args).await,
        HeadlessCommand::Purge(args) => purge::run(args).await,
        HeadlessCommand::Api(args) => api::run(args).await,
    }
}

/// The remedy for a path that the service does not know.
const UNKNOWN_PATH: &str =
    "check the path of the base URL, or update scandeck on the machine of the service";

/// Adds the command that lists the objects of this noun to the error of an object that does not
/// exist.
pub fn listed<T>(nouns: &str, result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.map_err(|error| match error.downcast_ref::<Error>() {
        Some(cause) if is_unknown_path(cause) => CliError::new(&error, UNKNOWN_PATH).into(),
        Some(Error {
            kind: ErrorKind::NotFound,
            ..
        }) => CliError::new(&error, format!("`scandeck {nouns} list` lists {nouns}")).into(),
        _ => error,
    })
}

/// Explains the error of a service of an earlier version, which lacks the path of these objects.
fn of_earlier_version(error: anyhow::Error, nouns: &str) -> anyhow::Error {
    if !error.downcast_ref::<Error>().is_some_and(is_unknown_path) {
        return error;
    }
    let hint = "update scandeck on the machine of the service";
    CliError::new(format!("this version of the service has no {nouns}"), hint).into()
}

/// Whether the service has no such path, and not only no such object.
fn is_unknown_path(error: &Error) -> bool {
    error.kind == ErrorKind::NotFound && error.message.starts_with("unknown path")
}

/// An id of the service.
fn id(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "use the id, a number")
}

/// Parses a query argument.
fn query(text: &str, kind: QueryKind) -> Result<Query, String> {
    Query::parse(text, kind).map_err(|error| error.to_string())
}
