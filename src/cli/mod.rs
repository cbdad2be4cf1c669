//! The command line: reads the arguments, runs one command, and turns its end into an exit code.
//!
//! ```text
//!   argv ─► Cli ─► command::run ─┬─► its own exit code
//!                                └─► error with its causes on standard error, exit code 1 (2: typed wrongly)
//! ```

#[cfg(feature = "dashboard")]
pub mod advised;
#[cfg(feature = "dashboard")]
pub mod bundle;
#[cfg(feature = "dashboard")]
pub mod dashboard;
#[cfg(feature = "service")]
mod data_dir;
#[cfg(all(feature = "dashboard", feature = "service"))]
pub mod demo;
#[cfg(feature = "dashboard")]
mod from_bundle;
#[cfg(feature = "dashboard")]
pub mod headless;
#[cfg(feature = "dashboard")]
mod kept;
#[cfg(feature = "dashboard")]
pub mod purge;
#[cfg(feature = "service")]
pub mod scope;
#[cfg(feature = "service")]
pub mod serve;
#[cfg(feature = "service")]
pub mod status;
#[cfg(feature = "service")]
pub mod stop;
#[cfg(feature = "dashboard")]
pub mod triage;
#[cfg(feature = "dashboard")]
pub mod unbundle;
pub mod wordlists;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(feature = "service")]
pub use data_dir::DataDirArg;

/// A dashboard for security scans, and the scanning service's HTTP API v2 on this machine.
#[derive(Parser, Debug)]
#[command(
    name = "scandeck",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Without a command it opens the dashboard.

Examples:
  scandeck                                          on the configured service, or it asks
  scandeck --base-url https://api.example.com       on a service elsewhere, key in SCANDECK_API_KEY
  scandeck demo                                     a throw-away world on loopback"
)]
#[cfg_attr(not(feature = "dashboard"), command(arg_required_else_help = true, subcommand_required = true))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    dashboard: dashboard::DashboardArgs,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    /// Shows everything in a throw-away world on loopback
    #[cfg(all(feature = "dashboard", feature = "service"))]
    Demo(demo::DemoArgs),
    /// Runs the service alone, in the foreground
    #[cfg(feature = "service")]
    Serve(serve::ServeArgs),
    /// Tells whether a local service runs, where, and what it is doing
    #[cfg(feature = "service")]
    Status(status::StatusArgs),
    /// Ends the local service; its scans go on with the next start
    #[cfg(feature = "service")]
    Stop(stop::StopArgs),
    /// What the local service may scan beyond this machine
    #[cfg(feature = "service")]
    Scope(scope::ScopeArgs),
    /// Workspaces of the service: list, show, create, edit, delete
    #[cfg(feature = "dashboard")]
    Workspaces(headless::workspaces::WorkspacesArgs),
    /// Targets: list, show, add, delete
    #[cfg(feature = "dashboard")]
    Targets(headless::targets::TargetsArgs),
    /// Scans: list, show, start, watch, stop, delete, output, raw, tests, diff
    #[cfg(feature = "dashboard")]
    Scans(headless::scans::ScansArgs),
    /// Findings with their decisions: list, show, decide, export
    #[cfg(feature = "dashboard")]
    Findings(headless::findings::FindingsArgs),
    /// Reports: list, show, create, download, delete
    #[cfg(feature = "dashboard")]
    Reports(headless::reports::ReportsArgs),
    /// HTTP loggers and what they captured: list, show, create, captures, clear, delete
    #[cfg(feature = "dashboard")]
    Loggers(headless::loggers::LoggersArgs),
    /// Captured requests, archived and with the payloads in them: list, show, export, watch
    #[cfg(feature = "dashboard")]
    Captures(headless::captures::CapturesArgs),
    /// The payload book: new, list
    #[cfg(feature = "dashboard")]
    Payloads(headless::payloads::PayloadsArgs),
    /// Word lists: list, show, contents, delete, and import into the local service
    Wordlists(wordlists::WordlistsArgs),
    /// Decisions as JSON lines: export, import
    #[cfg(feature = "dashboard")]
    Triage(triage::TriageArgs),
    /// Writes everything about a workspace into one file
    #[cfg(feature = "dashboard")]
    Bundle(bundle::BundleArgs),
    /// Takes up what such a file holds
    #[cfg(feature = "dashboard")]
    Unbundle(unbundle::UnbundleArgs),
    /// Deletes everything that this machine keeps about a workspace
    #[cfg(feature = "dashboard")]
    Purge(purge::PurgeArgs),
    /// Any call of the API, for what has no command
    #[cfg(feature = "dashboard")]
    Api(headless::api::ApiArgs),
}

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match runtime(&cli) {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    let code = runtime.block_on(dispatch(cli)).unwrap_or_else(|error| failed(&error));
    // A thread that still reads the terminal must not hold up the end.
    runtime.shutdown_background();
    code
}

/// The dashboard alone gets by with one thread beside that of the screen: an answer that hops from thread to thread
/// wakes the processor at every hop, once a second for as long as nothing happens.
fn runtime(cli: &Cli) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if cli.command.is_none() {
        builder.worker_threads(1);
    }
    builder.enable_all().build()
}

async fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let Some(command) = cli.command else {
        #[cfg(feature = "dashboard")]
        return dashboard::run(cli.dashboard).await;
        #[cfg(not(feature = "dashboard"))]
        anyhow::bail!("name a command; `scandeck --help` lists them");
    };
    match command {
        #[cfg(all(feature = "dashboard", feature = "service"))]
        CliCommand::Demo(args) => demo::run(args).await,
        #[cfg(feature = "service")]
        CliCommand::Serve(args) => serve::run(args).await,
        #[cfg(feature = "service")]
        CliCommand::Status(args) => status::run(args).await,
        #[cfg(feature = "service")]
        CliCommand::Stop(args) => stop::run(args).await,
        #[cfg(feature = "service")]
        CliCommand::Scope(args) => scope::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Workspaces(args) => headless::workspaces::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Targets(args) => headless::targets::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Scans(args) => headless::scans::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Findings(args) => headless::findings::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Reports(args) => headless::reports::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Loggers(args) => headless::loggers::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Captures(args) => headless::captures::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Payloads(args) => headless::payloads::run(args).await,
        CliCommand::Wordlists(args) => wordlists::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Triage(args) => triage::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Bundle(args) => bundle::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Unbundle(args) => unbundle::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Purge(args) => purge::run(args).await,
        #[cfg(feature = "dashboard")]
        CliCommand::Api(args) => headless::api::run(args).await,
    }
}

/// Text from outside as one visible line. Without the dashboard there is no door for outside text, and what is no
/// printable ASCII is told by its code.
#[cfg(feature = "service")]
fn shown(text: &str) -> String {
    #[cfg(feature = "dashboard")]
    {
        crate::text::clean(text).into_owned()
    }
    #[cfg(not(feature = "dashboard"))]
    {
        let code = |c: char| if matches!(c, ' '..='~') { c.to_string() } else { c.escape_unicode().to_string() };
        text.chars().map(code).collect()
    }
}

/// The error with its causes, once, where the program ends.
fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("{}", told(error));
    #[cfg(feature = "dashboard")]
    return advised::code_of(error);
    #[cfg(not(feature = "dashboard"))]
    ExitCode::FAILURE
}

/// The error with its causes in one line, and what to do about it on a line of its own. The service's words are among
/// them, so they pass the one door for outside text where the wing that hears them is built.
fn told(error: &anyhow::Error) -> String {
    let what = format!("scandeck: {error:#}");
    #[cfg(feature = "dashboard")]
    {
        let hint = advised::hint_of(error).map(|hint| format!("\n  {hint}")).unwrap_or_default();
        crate::text::clean_text(&format!("{what}{hint}")).into_owned()
    }
    #[cfg(not(feature = "dashboard"))]
    what
}

#[cfg(all(test, feature = "dashboard"))]
mod tests {
    use anyhow::Context;

    use super::*;
    use crate::client::Problem;

    #[test]
    fn what_to_do_stands_on_a_line_of_its_own_behind_all_causes() {
        let advised = advised::Advised::from(Problem::local("no such thing").with_hint("make it first"));
        let error = anyhow::Result::<()>::Err(advised.into()).context("cannot begin").unwrap_err();
        assert_eq!(told(&error), "scandeck: cannot begin: no such thing\n  make it first");
        assert_eq!(told(&anyhow::anyhow!("plain")), "scandeck: plain");
        let unadvised = advised::Advised::from(Problem::local("no such thing"));
        assert_eq!(told(&unadvised.into()), "scandeck: no such thing");
    }

    #[cfg(feature = "service")]
    #[test]
    fn words_of_a_scope_file_cannot_act_on_the_terminal() {
        assert_eq!(shown("SOW\x1b[2J \u{202e}gpj"), "SOW␛[2J <U+202E>gpj");
    }

    #[test]
    fn words_of_a_service_cannot_act_on_the_terminal() {
        let hostile = advised::Advised::from(Problem::local("\x1b]52;c;eA==\x07 exe\u{202e}gpj"));
        let text = told(&hostile.into());
        assert!(!text.contains(char::is_control) && !text.contains('\u{202e}'), "{text:?}");
    }
}
