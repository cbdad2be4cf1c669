//! The command line: parses the arguments, runs one command, and returns its exit code.
//!
//! ```text
//!   argv ─► Cli ─► run of the command ─┬─► its exit code
//!                                      └─► error with causes and hint on stderr, exit code 1 (2: usage)
//! ```

#[macro_use]
mod stdio;

#[cfg(feature = "dashboard")]
mod candidates;
pub mod completions;
#[cfg(feature = "dashboard")]
pub mod dashboard;
#[cfg(all(feature = "dashboard", feature = "service"))]
pub mod demo;
#[cfg(feature = "dashboard")]
pub mod doctor;
#[cfg(feature = "dashboard")]
pub mod error;
#[cfg(feature = "dashboard")]
mod from_bundle;
#[cfg(feature = "dashboard")]
pub mod headless;
#[cfg(feature = "dashboard")]
pub mod key_table;
pub mod keys;
#[cfg(feature = "dashboard")]
pub mod live_settings;
pub mod man;
#[cfg(feature = "service")]
pub mod service;
mod value;
pub mod wordlists;

use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use tokio::time::Instant;

use scandeck_wire::input_files::{self, InputKind};
use scandeck_wire::text::{self, io_cause as cause_of};

/// Dashboard for security scans, with a built-in scanning service (HTTP API v2)
#[derive(Parser, Debug, Default)]
#[command(
    name = "scandeck",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Example:
  scandeck --base-url https://api.example.com --api-key-file ./key"
)]
#[cfg_attr(
    not(feature = "dashboard"),
    command(arg_required_else_help = true, subcommand_required = true)
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    dashboard: dashboard::DashboardArgs,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    /// Try the dashboard on a temporary service with a practice target
    #[cfg(all(feature = "dashboard", feature = "service"))]
    Demo(demo::DemoArgs),
    #[cfg(feature = "service")]
    #[command(flatten)]
    Service(service::ServiceCommand),
    /// Print the key bindings, or manage API keys of the local service: add, list, revoke
    Keys(keys::KeysArgs),
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    Headless(headless::HeadlessCommand),
    /// Check terminal, configuration, connection, local service and stored data, with a remedy for
    /// each problem; exit code 1 if a check fails
    #[cfg(feature = "dashboard")]
    Doctor(doctor::DoctorArgs),
    /// Wordlists: list, show, contents, delete, import
    Wordlists(wordlists::WordlistsArgs),
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
            0 | 1 if cfg!(feature = "dashboard") => Ok(Self::default()),
            _ => Self::try_parse(),
        }
    }
}

/// Runs the command that the arguments name.
pub fn run() -> ExitCode {
    forbid_dumps();
    match completions::answer(completed_command) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => error.exit(),
    }
    let cli = Cli::of_process().unwrap_or_else(|error| with_tip(error).exit());
    let started = Instant::now();
    let runtime = match runtime(&cli) {
        Ok(runtime) => runtime,
        Err(error) => return report(&error.into()),
    };
    let code = runtime
        .block_on(dispatch(cli, started))
        .and_then(|code| stdio::sync().map(|()| code));
    let code = code.unwrap_or_else(|error| report(&error));
    // Work that still runs on a thread of its own must not delay the exit.
    runtime.shutdown_background();
    code
}

/// Core dumps and debuggers of the user would see API keys and credentials in memory.
fn forbid_dumps() {
    // Not every kernel has the setting; the program does not depend on it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// The command line with candidates for names and ids.
fn completed_command() -> clap::Command {
    #[cfg(feature = "dashboard")]
    return candidates::with_candidates(Cli::command());
    #[cfg(not(feature = "dashboard"))]
    Cli::command()
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

#[cfg_attr(not(feature = "dashboard"), expect(unused_variables))]
async fn dispatch(cli: Cli, started: Instant) -> anyhow::Result<ExitCode> {
    match cli.command {
        #[cfg(all(feature = "dashboard", feature = "service"))]
        Some(CliCommand::Demo(args)) => demo::run(args).await,
        #[cfg(feature = "service")]
        Some(CliCommand::Service(command)) => service::run(command).await,
        Some(CliCommand::Keys(args)) => keys::run(args).await,
        #[cfg(feature = "dashboard")]
        Some(CliCommand::Headless(command)) => headless::run(command).await,
        #[cfg(feature = "dashboard")]
        Some(CliCommand::Doctor(args)) => doctor::run(args).await,
        Some(CliCommand::Wordlists(args)) => wordlists::run(args).await,
        Some(CliCommand::Completions(args)) => completions::run(&args),
        Some(CliCommand::Man(args)) => man::run(&args, Cli::command()),
        #[cfg(feature = "dashboard")]
        None => dashboard::run(cli.dashboard, started).await,
        #[cfg(not(feature = "dashboard"))]
        None => anyhow::bail!("no command; `scandeck --help` lists the commands"),
    }
}

/// Reads a text from a file, or from standard input for `-`.
fn read_input(file: &Path, kind: InputKind) -> anyhow::Result<String> {
    input_files::text(read_bytes(file, kind)?).map_err(|error| unreadable(file, error))
}

/// Reads a text that need not be valid UTF-8.
fn read_bytes(file: &Path, kind: InputKind) -> anyhow::Result<Vec<u8>> {
    let read = match file == Path::new("-") {
        true => input_files::read_limited(std::io::stdin().lock(), kind),
        false => input_files::read(file, kind),
    };
    read.and_then(input_files::without_mark)
        .map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: std::io::Error) -> anyhow::Error {
    let file = if file == Path::new("-") {
        "standard input".into()
    } else {
        file.display().to_string()
    };
    anyhow::Error::new(error).context(format!("cannot read {file}"))
}

/// Prints the error with its causes.
fn report(error: &anyhow::Error) -> ExitCode {
    note!("{}", message(error));
    #[cfg(feature = "dashboard")]
    return error::exit_code(error);
    #[cfg(not(feature = "dashboard"))]
    ExitCode::FAILURE
}

/// The error with its causes on one line, and its hint on a second line. Messages of the service
/// are sanitised.
fn message(error: &anyhow::Error) -> String {
    #[cfg(feature = "dashboard")]
    let hint = error::hint(error)
        .map(|hint| format!("\n  {hint}"))
        .unwrap_or_default();
    #[cfg(not(feature = "dashboard"))]
    let hint = "";
    text::clean_text(&format!("scandeck: {}{hint}", with_causes(error))).into_owned()
}

/// The messages of an error and its causes. Many messages contain their cause already, which is not
/// repeated.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Without the number of the operating system: `(os error 2)`.
        let cause = match cause.rsplit_once(" (os error ") {
            Some((text, number)) if number.ends_with(')') => match text.rsplit_once(": ") {
                Some((subject, cause)) => format!("{subject}: {}", cause.to_lowercase()),
                None => text.to_lowercase(),
            },
            _ => cause,
        };
        if !text.contains(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(all(test, feature = "dashboard"))]
mod tests {
    use anyhow::Context;

    use super::error::CliError;
    use super::*;

    #[test]
    fn default_command_line_is_the_one_without_arguments() {
        let parsed = Cli::try_parse_from(["scandeck"]).unwrap();
        assert_eq!(format!("{parsed:?}"), format!("{:?}", Cli::default()));
    }

    #[test]
    fn error_with_hint_prints_causes_and_hint_on_two_lines() {
        let error = anyhow::Result::<()>::Err(CliError::new("file not found", "create it").into());
        let error = error.context("cannot start").unwrap_err();
        assert_eq!(
            message(&error),
            "scandeck: cannot start: file not found\n  create it"
        );
        let denied = anyhow::anyhow!("cannot read /Srv/Key: Permission denied (os error 13)");
        assert_eq!(
            message(&denied),
            "scandeck: cannot read /Srv/Key: permission denied"
        );
        assert_eq!(message(&anyhow::anyhow!("plain")), "scandeck: plain");
        assert_eq!(
            message(&CliError::new("file not found", "").into()),
            "scandeck: file not found"
        );
    }

    #[test]
    fn cause_that_a_message_contains_is_printed_once() {
        let cause = std::io::Error::from(std::io::ErrorKind::AddrInUse);
        let expected = format!("scandeck: cannot listen: {cause}; choose another port");
        let error = anyhow::Error::from(cause)
            .context("cannot listen: address in use; choose another port");
        assert_eq!(message(&error), expected);
    }

    #[test]
    fn message_of_a_service_cannot_control_the_terminal() {
        let text = message(&CliError::new("\x1b]52;c;eA==\x07 exe\u{202e}gpj", "").into());
        assert!(
            !text.contains(char::is_control) && !text.contains('\u{202e}'),
            "{text:?}"
        );
    }
}
