//! The command line: parses the arguments, runs one command, and returns its exit code.
//!
//! ```text
//!   argv ─► Cli ─► run of the command ─┬─► its exit code
//!                                      └─► error with causes and hint on stderr, exit code 1 (2: usage)
//! ```
//!
//! Each wing has its commands in a module of its own. In a program without the wing a module of the
//! same form replaces it, without commands and flags, so that the code that composes both names no
//! feature.

#[macro_use]
mod stdio;

pub mod completions;
#[cfg_attr(not(feature = "dashboard"), path = "no_dashboard.rs")]
pub mod dashboard;
pub mod error;
pub mod import;
mod input;
pub mod keys;
pub mod man;
mod progress;
#[cfg_attr(not(feature = "service"), path = "no_service.rs")]
pub mod service;
mod value;
mod version;
pub mod wordlists;

use std::process::ExitCode;
use std::time::SystemTime;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use jiff::Timestamp;
use tokio::time::Instant;

use self::error::CliError;

/// Dashboard for security scans, with a built-in scanning service (HTTP API v2)
#[derive(Parser, Debug, Default)]
#[command(
    name = "scandeck",
    version,
    arg(version::verbose_flag()),
    args_conflicts_with_subcommands = true,
    after_help = "Example:
  scandeck --base-url https://api.example.com --api-key-file ./key"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    dashboard: dashboard::DashboardArgs,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    #[command(flatten)]
    Demo(dashboard::demo::DemoCommand),
    #[command(flatten)]
    Service(service::ServiceCommand),
    /// Print the key bindings, or manage API keys of the local service: add, list, revoke
    Keys(keys::KeysArgs),
    #[command(flatten)]
    Dashboard(dashboard::DashboardCommand),
    /// Wordlists: list, show, contents, delete, import
    Wordlists(wordlists::WordlistsArgs),
    /// Import result files of other scanners, or show what they contain
    Import(import::ImportArgs),
    /// Print the script that completes commands, flags, names and ids in a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    Man(man::ManArgs),
}

impl Cli {
    /// The parsed arguments. Without arguments the tree of commands is not built: that takes as
    /// long as drawing a frame.
    fn of_process() -> Result<Self, clap::Error> {
        match std::env::args_os().len() {
            0 | 1 if dashboard::IS_DEFAULT => Ok(Self::default()),
            _ => Self::try_parse(),
        }
    }
}

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    forbid_dumps();
    if let Err(error) = check_clock(SystemTime::now()) {
        return error::report(&error.into());
    }
    match completions::answer(completed_command) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => error.exit(),
    }
    let cli = match Cli::of_process() {
        Ok(cli) => cli,
        Err(error) if version::is_verbose(&error) => {
            return version::run().unwrap_or_else(|error| error::report(&error));
        }
        Err(error) => with_tip(error).exit(),
    };
    let started = Instant::now();
    let runtime = match runtime(&cli) {
        Ok(runtime) => runtime,
        Err(error) => return error::report(&error.into()),
    };
    let code = runtime
        .block_on(dispatch(cli, started))
        .and_then(|code| stdio::sync().map(|()| code));
    let code = code.unwrap_or_else(|error| error::report(&error));
    // Work that still runs on a thread of its own must not delay the exit.
    runtime.shutdown_background();
    code
}

/// Refuses a time that the program cannot write: every part of it reads the clock.
fn check_clock(now: SystemTime) -> Result<(), CliError> {
    let message = "the clock of this machine is past the year 9999";
    match Timestamp::try_from(now) {
        Ok(_) => Ok(()),
        Err(_) => Err(CliError::new(message, "set the date of this machine")),
    }
}

/// Core dumps and debuggers of the user would see API keys and credentials in memory.
fn forbid_dumps() {
    // Not every kernel has the setting; the program does not depend on it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// The command line with candidates for names and ids.
fn completed_command() -> clap::Command {
    dashboard::with_candidates(Cli::command())
}

/// Adds the remedy to the error about options of the dashboard before a command.
fn with_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::ArgumentConflict
        && let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand)
    {
        let tip = format!("put the options after the command: scandeck {command} …");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// The dashboard has one worker beside the thread of the screen. With more workers every response
/// would move from thread to thread, which wakes the processor once a second even when nothing
/// happens.
fn runtime(cli: &Cli) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if cli.command.is_none() {
        builder.worker_threads(1);
    }
    builder.enable_all().build()
}

async fn dispatch(cli: Cli, started: Instant) -> anyhow::Result<ExitCode> {
    match cli.command {
        Some(CliCommand::Demo(command)) => dashboard::demo::run(command).await,
        Some(CliCommand::Service(command)) => service::run(command).await,
        Some(CliCommand::Keys(args)) => keys::run(args).await,
        Some(CliCommand::Dashboard(command)) => dashboard::run(command).await,
        Some(CliCommand::Wordlists(args)) => wordlists::run(args).await,
        Some(CliCommand::Import(args)) => import::run(args).await,
        Some(CliCommand::Completions(args)) => completions::run(&args),
        Some(CliCommand::Man(args)) => man::run(&args, Cli::command()),
        None => dashboard::show(cli.dashboard, started).await,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn clock_past_the_year_9999_is_refused() {
        assert!(check_clock(SystemTime::now()).is_ok());
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(300_000_000_000);
        let error = check_clock(far).unwrap_err().to_string();
        assert!(error.contains("year 9999"), "{error}");
    }

    #[test]
    fn default_command_line_is_the_one_without_arguments() {
        let parsed = Cli::try_parse_from(["scandeck"]).unwrap();
        assert_eq!(format!("{parsed:?}"), format!("{:?}", Cli::default()));
    }
}
