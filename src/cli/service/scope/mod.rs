//! `scandeck scope`: targets beyond this machine that the local service may scan.
//!
//! A running service applies a change within two seconds, and with PostgreSQL so does each node.
//! `deny` and `remove` wait for it, and print the scans that ended.

mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{DataDirArg, audit};
use crate::cli::input::read_input;
use crate::cli::value::future_date;
use scandeck_service::scope::{LineError, Pattern, ScanScope, ScopeEntry, parse_list};
use scandeck_service::{DataDir, RunningScans, ServiceScope, WorkerPlace};
use scandeck_wire::contract::Stamp;
use scandeck_wire::input_files::InputKind;
use scandeck_wire::login::login;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck scope add 10.0.4.0/24 shop.acme.test --until 2030-12-31 --note \"SOW 114\"")]
pub struct ScopeArgs {
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: ScopeCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ScopeCommand {
    /// Allow names, `*.name`, addresses or networks
    #[command(after_help = "Example:\n  scandeck scope add 10.0.4.0/24 --until 2030-12-31")]
    Add {
        /// Name, `*.name`, address or network
        #[arg(required = true, value_name = "TARGET", value_parser = Pattern::allowance)]
        targets: Vec<Pattern>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Deny names, `*.name`, addresses or networks, even if allowed
    #[command(after_help = "Example:\n  scandeck scope deny 10.0.4.1 --note printer")]
    Deny {
        /// Name, `*.name`, address or network
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<Pattern>,
        /// The reason
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true
        )]
        note: String,
    },
    /// Allow the targets of a file: one per line, `#` starts a comment
    #[command(after_help = "Example:\n  scandeck scope import scope.txt --note \"SOW 114\"")]
    Import {
        /// The file, or `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        terms: Terms,
    },
    /// Remove allow and deny entries
    #[command(after_help = "Example:\n  scandeck scope remove 10.0.4.1")]
    Remove {
        /// Target as listed
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<Pattern>,
    },
    /// Show all entries
    #[command(after_help = "Example:\n  scandeck scope list")]
    List,
}

#[derive(Args, Clone, Debug, Default)]
struct Terms {
    /// Last day (UTC) on which the target may be scanned
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = future_date)]
    until: Option<Date>,
    /// Allow active tools, which send attacks, and proofs with payloads; both also need
    /// `--allow-active`
    #[arg(long)]
    active: bool,
    /// Scan the target from this place only, by its workers (`scandeck worker`)
    #[arg(long, value_name = "NAME")]
    place: Option<WorkerPlace>,
    /// The reason, such as a contract number
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    note: String,
}

/// Changes or shows the scope. Only commands that add entries create the file.
///
/// # Errors
/// When the scope cannot be read or written, or an entry is invalid.
pub async fn run(args: ScopeArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    match args.command {
        ScopeCommand::Add { targets, terms } => {
            allow(directory, "scope add", &targets, &terms).await?;
        }
        ScopeCommand::Import { file, terms } => import(directory, &file, &terms).await?,
        ScopeCommand::Deny { targets, note } => deny(directory, &targets, &note).await?,
        ScopeCommand::Remove { targets } => return remove(directory, &targets).await,
        ScopeCommand::List => report::list(&match existing(directory)? {
            Some(dir) => ServiceScope::new(&dir).load().await?,
            None => ScanScope::default(),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The data directory, which may be missing; with a database, the scope is not in the directory.
fn existing(directory: &DataDirArg) -> anyhow::Result<Option<DataDir>> {
    match directory.database()? {
        Some(_) => directory.open().map(Some),
        None => directory.named(),
    }
}

/// Adds allowances by this command.
async fn allow(
    directory: &DataDirArg,
    command: &str,
    targets: &[Pattern],
    terms: &Terms,
) -> anyhow::Result<()> {
    let dir = directory.open()?;
    let scope = ServiceScope::new(&dir);
    let replaced = scope.add(entries(targets, terms)).await?;
    report::added("allowed", &scope, targets, &replaced);
    report::allowed_attacks(terms.active);
    report::warn_of_metadata(targets);
    report::warn_of_denials(&scope.load().await?.deny, targets);
    let flag = if terms.active { " --active" } else { "" };
    audit(&dir, &format!("{command}{flag}"), &report::joined(targets));
    Ok(())
}

async fn import(directory: &DataDirArg, list: &Path, terms: &Terms) -> anyhow::Result<()> {
    let name = list.display();
    let text = read_input(list, InputKind::Scope)?;
    let invalid =
        |error: LineError| anyhow!("{name}:{}: {error}; nothing was imported", error.line);
    let targets = parse_list(&text).map_err(invalid)?;
    if targets.is_empty() {
        note!("no entries in {name}; the scope is unchanged");
        return Ok(());
    }
    allow(directory, "scope import", &targets, terms).await
}

async fn deny(directory: &DataDirArg, targets: &[Pattern], note: &str) -> anyhow::Result<()> {
    let dir = directory.open()?;
    let (scope, running) = (ServiceScope::new(&dir), running_scans(&dir).await);
    let terms = Terms {
        note: note.to_owned(),
        ..Terms::default()
    };
    let replaced = scope.deny(entries(targets, &terms)).await?;
    report::added("denied", &scope, targets, &replaced);
    audit(&dir, "scope deny", &report::joined(targets));
    report::ended(running).await;
    Ok(())
}

/// Removes entries. Exit code 1 if the scope does not have all of them.
async fn remove(directory: &DataDirArg, targets: &[Pattern]) -> anyhow::Result<ExitCode> {
    let removed = match existing(directory)? {
        Some(dir) => remove_from(&dir, targets).await?,
        None => Vec::new(),
    };
    let mut code = ExitCode::SUCCESS;
    for target in targets.iter().filter(|target| !removed.contains(target)) {
        note!("scandeck: `{target}` is not in the scope; `scandeck scope list` shows all entries");
        code = ExitCode::FAILURE;
    }
    Ok(code)
}

/// Removes entries, and prints them and the scans that end.
async fn remove_from(dir: &DataDir, targets: &[Pattern]) -> anyhow::Result<Vec<Pattern>> {
    let scope = ServiceScope::new(dir);
    if !scope.is_present()? {
        return Ok(Vec::new());
    }
    let running = running_scans(dir).await;
    let removed = scope.remove(targets).await?;
    report::removed(&scope, &removed);
    let entries = removed.allow.into_iter().chain(removed.deny);
    let removed: Vec<Pattern> = entries.map(|entry| entry.target).collect();
    if !removed.is_empty() {
        audit(dir, "scope remove", &report::joined(&removed));
        report::ended(running).await;
    }
    Ok(removed)
}

fn entries(targets: &[Pattern], terms: &Terms) -> Vec<ScopeEntry> {
    let (who, added) = (
        login(|name| std::env::var(name).ok()),
        Some(Stamp(Timestamp::now())),
    );
    let entry = |target: &Pattern| ScopeEntry {
        target: target.clone(),
        until: terms.until,
        active: terms.active,
        place: terms.place.clone(),
        note: terms.note.clone(),
        who: who.clone(),
        added,
    };
    targets.iter().map(entry).collect()
}

/// The running scans before a change. The change is made even if they cannot be read.
async fn running_scans(dir: &DataDir) -> Option<RunningScans> {
    RunningScans::read(dir).await.unwrap_or_else(|error| {
        note!("running scans cannot be read: {error}");
        None
    })
}
