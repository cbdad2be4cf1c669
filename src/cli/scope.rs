//! `scandeck scope`: what the local service may scan beyond this machine. The file is read live: a running service
//! follows at its next check.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::civil::Date;

use super::data_dir::DataDirArg;
use crate::contract::Stamp;
use crate::login::login;
use crate::service::DataDir;
use crate::service::scope::{Pattern, ScanScope, ScopeEntry, ScopeFile, parse_list};

/// `scandeck scope …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck scope add 10.0.4.0/24 shop.acme.test --until 2026-12-31 --note \"SOW 114\"
  scandeck scope deny 10.0.4.1
  scandeck scope list

Loopback and this host may always be scanned. A denial wins over everything that allows. Scan only what you may.")]
pub struct ScopeArgs {
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: ScopeCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ScopeCommand {
    /// Allows names, `*.name`, addresses or networks
    Add(AddArgs),
    /// Denies them, whatever else allows them
    Deny(DenyArgs),
    /// Allows what a file lists, one a line, `#` begins a comment; `-` reads standard input
    Import(ScopeImportArgs),
    /// Takes entries and denials out again
    Remove {
        /// As they are listed
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<Pattern>,
    },
    /// Shows every entry
    List,
}

#[derive(Args, Clone, Debug)]
struct AddArgs {
    /// A name, `*.name`, an address or a network
    #[arg(required = true, value_name = "TARGET")]
    targets: Vec<Pattern>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Clone, Debug)]
struct DenyArgs {
    /// A name, `*.name`, an address or a network
    #[arg(required = true, value_name = "TARGET")]
    targets: Vec<Pattern>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

#[derive(Args, Clone, Debug)]
struct ScopeImportArgs {
    /// The file, or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Clone, Debug)]
struct Terms {
    /// The last day (UTC) on which it may be scanned
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<Date>,
    /// Why, such as the number of the contract
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

/// Edits or shows the scope file. Only what adds to it makes it.
///
/// # Errors
/// When it cannot be read or written, or an entry makes no sense.
pub async fn run(args: ScopeArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    let file = |dir: DataDir| ScopeFile::new(dir.scope_file());
    match args.command {
        ScopeCommand::Add(add) => allow(&file(directory.open()?), add.targets, &add.terms)?,
        ScopeCommand::Import(import) => {
            let targets = parse_list(&read(&import.file)?)?;
            allow(&file(directory.open()?), targets, &import.terms)?;
        }
        ScopeCommand::Deny(deny) => {
            let (count, file) = (deny.targets.len(), file(directory.open()?));
            file.deny(entries(deny.targets, None, &deny.note))?;
            eprintln!("denied {count} in {}", file.path().display());
        }
        ScopeCommand::Remove { targets } => return remove(directory.existing()?.map(file).as_ref(), &targets),
        ScopeCommand::List => list(&match directory.existing()?.map(file) {
            Some(file) => file.load()?,
            None => ScanScope::default(),
        }),
    }
    Ok(ExitCode::SUCCESS)
}

fn allow(file: &ScopeFile, targets: Vec<Pattern>, terms: &Terms) -> anyhow::Result<()> {
    let count = targets.len();
    file.add(entries(targets, terms.until, &terms.note))?;
    eprintln!("allowed {count} in {}", file.path().display());
    Ok(())
}

fn entries(targets: Vec<Pattern>, until: Option<Date>, note: &str) -> Vec<ScopeEntry> {
    let (who, added) = (login(|name| std::env::var(name).ok()), Some(Stamp(Timestamp::now())));
    targets
        .into_iter()
        .map(|target| ScopeEntry { target, until, note: note.to_owned(), who: who.clone(), added })
        .collect()
}

fn read(file: &PathBuf) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

fn remove(file: Option<&ScopeFile>, targets: &[Pattern]) -> anyhow::Result<ExitCode> {
    if let Some(file) = file.filter(|file| file.path().exists())
        && let count @ 1.. = file.remove(targets)?
    {
        eprintln!("removed {count} from {}", file.path().display());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("nothing removed: no such entry; `scandeck scope list` shows them");
    Ok(ExitCode::FAILURE)
}

fn list(scope: &ScanScope) {
    let mut text = String::new();
    for (verb, entries) in [("allow", &scope.allow), ("deny ", &scope.deny)] {
        for entry in entries {
            text.push_str(&line(verb, entry));
        }
    }
    if text.is_empty() {
        eprintln!("the scope is empty: only loopback and this host may be scanned");
    }
    // Who closed our output has read enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn line(verb: &str, entry: &ScopeEntry) -> String {
    let mut line = format!("{verb}  {}", entry.target);
    if let Some(until) = entry.until {
        line.push_str(&format!("  until {until}"));
    }
    for text in [&entry.note, &entry.who].into_iter().filter(|text| !text.is_empty()) {
        line.push_str("  ");
        // The file may hold anything.
        line.push_str(&super::shown(text));
    }
    if let Some(added) = entry.added {
        line.push_str(&format!("  {added}"));
    }
    line + "\n"
}
