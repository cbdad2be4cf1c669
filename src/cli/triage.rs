//! `scandeck triage`: decisions as JSON lines, out of the store and into it. The service is not asked.
//!
//! ```text
//!   store ─► State ─► jsonl::write ─► file          file ─► jsonl::read ─► good lines ─► store
//!                                                                    └──► bad lines: number and reason
//! ```

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::advised::Advised;
use super::headless::decisions::{advised, read, writable};
use super::headless::save::Destination;
use super::headless::session::place;
use super::headless::{Output, ServiceArgs};
use super::kept;
use crate::text::plural;
use crate::triage::{BadLine, jsonl};

/// `scandeck triage …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck triage export -o decisions.jsonl
  scandeck triage import theirs.jsonl --strict

A line is one thing a person did. Importing twice or in any order gives one state, so a shared file can be merged by \
git line by line (`decisions.jsonl merge=union` in .gitattributes). The service is not asked; --base-url or --profile \
says whose decisions are meant.")]
pub struct TriageArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: TriageCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum TriageCommand {
    /// Writes what was decided
    Export(Destination),
    /// Takes in what was decided elsewhere
    Import {
        /// The file; `-` is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Take nothing where a line is bad [default: the good lines]
        #[arg(long)]
        strict: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read or written, or a line is bad and `--strict` was said.
pub async fn run(args: TriageArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        TriageCommand::Export(to) => export(&args.service, to).await?,
        TriageCommand::Import { file, strict } => import(&args.service, file, *strict).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn export(service: &ServiceArgs, to: &Destination) -> anyhow::Result<()> {
    let place = place(service)?;
    let workspace = match &service.workspace {
        Some(named) => Some(kept::workspace(&place, named).await?),
        None => None,
    };
    let (state, _) = read(&place.memory).await?;
    let text = match &workspace {
        Some(workspace) => jsonl::write(&state.events_of(workspace)),
        None => jsonl::write(state.events()),
    };
    to.write(Output::new(service.json), text.as_bytes(), &plural(text.lines().count(), "event"))
}

async fn import(service: &ServiceArgs, file: &Path, strict: bool) -> anyhow::Result<()> {
    let read = of_bytes(&bytes_of(file)?);
    for bad in &read.bad {
        eprintln!("{}:{}: {}", file.display(), bad.line, bad.reason);
    }
    if strict && !read.bad.is_empty() {
        let what = format!("{} of the lines are bad: nothing was taken", read.bad.len());
        return Err(Advised::new(what, "mend them, or leave --strict out").into());
    }
    let (mut store, state) = writable(&place(service)?.memory).await?;
    let mut fresh = read.events.clone();
    fresh.retain(|event| !state.knows(event.id));
    fresh.sort_by_key(|event| event.id);
    fresh.dedup_by_key(|event| event.id);
    fresh.sort_by_key(|event| (event.clock, event.id));
    store.record(&fresh).await.map_err(advised)?;
    store.close().await;
    let out = Output::new(service.json);
    let (taken, known, bad) = (fresh.len(), read.events.len() - fresh.len(), read.bad.len());
    if out.json {
        return out.value(&serde_json::json!({"taken": taken, "known": known, "bad": bad}));
    }
    out.line(&format!("{} taken, {known} known already, {} bad", plural(taken, "event"), plural(bad, "line")));
    Ok(())
}

/// The whole of a file, or of standard input.
///
/// # Errors
/// When it cannot be read.
pub(super) fn bytes_of(file: &Path) -> anyhow::Result<Vec<u8>> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("standard input cannot be read")?;
        return Ok(bytes);
    }
    std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Reads lines of which some may be no text at all.
fn of_bytes(bytes: &[u8]) -> jsonl::Read {
    let mut no_text = Vec::new();
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().map(|(at, line)| {
        std::str::from_utf8(line).unwrap_or_else(|_| {
            no_text.push(BadLine { line: at + 1, reason: "it is no UTF-8 text".to_owned() });
            ""
        })
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut read = jsonl::read(&text);
    read.bad.append(&mut no_text);
    read.bad.sort_by_key(|bad| bad.line);
    read
}
