//! `scandeck triage`: exports and imports decisions as JSON lines, which sends no request, and
//! exchanges them with a team.
//!
//! ```text
//!   store ─► State ─► jsonl::write ─► file          file ─► jsonl::read ─► valid lines ─► store
//!                                                                    └──► invalid lines: number and reason
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::save::Destination;
use super::session::stored_service;
use super::sync::SyncArgs;
use super::{HeadlessSession, Output, ServiceArgs, decisions, stored, sync};
use crate::cli::error::CliError;
use crate::cli::input::read_bytes;
use scandeck_domain::triage::{BadLine, jsonl};
use scandeck_wire::input_files::InputKind;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck triage import theirs.jsonl --strict")]
pub struct TriageArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: TriageCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum TriageCommand {
    /// Export decisions
    #[command(after_help = "Example:\n  scandeck triage export -o decisions.jsonl")]
    Export(Destination),
    /// Import decisions; importing the same file again changes nothing
    #[command(after_help = "Example:\n  scandeck triage import theirs.jsonl --strict")]
    Import {
        /// The file, or `-` for standard input
        file: PathBuf,
        /// Import nothing if a line is invalid [default: import the valid lines]
        #[arg(long)]
        strict: bool,
    },
    /// Exchange decisions and payloads with the team; exit code 1 if the service refuses some
    Sync(SyncArgs),
}

/// Reported lines of a file without a valid line.
const FIRST_LINES: usize = 3;

/// Runs the command.
///
/// # Errors
/// When a file cannot be read or written, or a line is invalid with `--strict`; those of the service.
pub async fn run(args: TriageArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        TriageCommand::Export(to) => export(&args.service, to).await?,
        TriageCommand::Import { file, strict } => import(&args.service, file, *strict).await?,
        TriageCommand::Sync(sync) => {
            sync::run(&HeadlessSession::open(&args.service).await?, sync).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn export(args: &ServiceArgs, to: &Destination) -> anyhow::Result<()> {
    let service = stored_service(args)?;
    let workspace = match &args.workspace {
        Some(name) => Some(stored::workspace(&service, name).await?),
        None => None,
    };
    let text = match &workspace {
        Some(workspace) => {
            jsonl::write(&decisions::of_workspace(&service.memory, workspace).await?)
        }
        None => jsonl::write(decisions::read(&service.memory).await?.0.events()),
    };
    to.write(
        Output::new(args.json),
        text.as_bytes(),
        &plural(text.lines().count(), "decision"),
    )
}

async fn import(args: &ServiceArgs, file: &Path, strict: bool) -> anyhow::Result<()> {
    let read = parse(&read_bytes(file, InputKind::Decisions)?);
    report_bad(file, &read);
    let (events, bad) = (read.events, plural(read.bad.len(), "line"));
    if strict && !read.bad.is_empty() {
        let message = format!("{bad} invalid: nothing was imported");
        return Err(CliError::new(message, "correct the lines, or remove --strict").into());
    }
    if events.is_empty() && !read.bad.is_empty() {
        let hint = "use a file written by `scandeck triage export`";
        return Err(CliError::new("no valid line: nothing was imported", hint).into());
    }
    let (mut store, state) = decisions::open_writable(&stored_service(args)?.memory).await?;
    let mut new = events.clone();
    new.retain(|event| !state.knows(event.id));
    new.sort_by_key(|event| event.id);
    new.dedup_by_key(|event| event.id);
    new.sort_by_key(|event| (event.clock, event.id));
    store.record(&new).await?;
    store.close().await;
    let (out, known) = (Output::new(args.json), events.len() - new.len());
    if out.json {
        let counts = json!({"taken": new.len(), "known": known, "bad": read.bad.len()});
        return out.value(&counts);
    }
    let imported = plural(new.len(), "decision");
    out.line(&format!(
        "{imported} imported, {known} already stored, {bad} invalid"
    ))
}

/// Prints the invalid lines. A file of another kind has no valid line: its first lines say so.
fn report_bad(file: &Path, read: &jsonl::Read) {
    let shown = match read.events.is_empty() {
        true => FIRST_LINES,
        false => usize::MAX,
    };
    for bad in read.bad.iter().take(shown) {
        note!("{}:{}: {}", file.display(), bad.line, bad.reason);
    }
    if read.bad.len() > shown {
        let more = plural(read.bad.len() - shown, "more invalid line");
        note!("and {more}");
    }
}

/// Parses lines, of which some may not be UTF-8.
fn parse(bytes: &[u8]) -> jsonl::Read {
    let mut not_text = Vec::new();
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(at, line)| {
            std::str::from_utf8(line).unwrap_or_else(|_| {
                not_text.push(BadLine {
                    line: at + 1,
                    reason: "not UTF-8 text".to_owned(),
                });
                ""
            })
        });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut read = jsonl::read(&text);
    read.bad.append(&mut not_text);
    read.bad.sort_by_key(|bad| bad.line);
    read
}
