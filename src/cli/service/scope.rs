//! `scandeck scope`: targets beyond this machine that the local service may scan.
//!
//! A running service applies a change of the file within two seconds. `deny` and `remove` wait for it, and print the scans
//! that ended.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{DataDirArg, audit};
use crate::cli::value::future_date;
use crate::cli::{read_input, stdio};
use crate::contract::Stamp;
use crate::login::login;
use crate::service::scope::{Pattern, ScanScope, ScopeEntry, ScopeFile, parse_list};
use crate::service::{DataDir, RunningScans};
use crate::text;
use crate::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck scope add 10.0.4.0/24 shop.acme.test --until 2026-12-31 --note \"SOW 114\"")]
pub struct ScopeArgs {
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: ScopeCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ScopeCommand {
    /// Allow names, `*.name`, addresses or networks
    #[command(after_help = "Example:\n  scandeck scope add 10.0.4.0/24 --until 2026-12-31")]
    Add {
        /// Name, `*.name`, address or network
        #[arg(required = true, value_name = "TARGET")]
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
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
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

#[derive(Args, Clone, Debug)]
struct Terms {
    /// Last day (UTC) on which the target may be scanned
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = future_date)]
    until: Option<Date>,
    /// The reason, such as a contract number
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
}

/// Changes or shows the scope file. Only commands that add entries create the file.
///
/// # Errors
/// When the file cannot be read or written, or an entry is invalid.
pub async fn run(args: ScopeArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    let file = |dir: DataDir| ScopeFile::new(dir.scope_file());
    match args.command {
        ScopeCommand::Add { targets, terms } => {
            let dir = directory.open()?;
            let subject = listed(&targets);
            allow(&file(dir.clone()), targets, &terms)?;
            audit(&dir, "scope add", &subject);
        }
        ScopeCommand::Import { file: list, terms } => {
            let targets = parse_list(&String::from_utf8(read_input(&list)?)?)?;
            let dir = directory.open()?;
            let subject = listed(&targets);
            allow(&file(dir.clone()), targets, &terms)?;
            audit(&dir, "scope import", &subject);
        }
        ScopeCommand::Deny { targets, note } => {
            let (count, dir) = (targets.len(), directory.open()?);
            let (file, running) = (file(dir.clone()), running_scans(&dir).await);
            let subject = listed(&targets);
            file.deny(entries(targets, None, &note))?;
            audit(&dir, "scope deny", &subject);
            note!("{} denied in {}", plural(count, "target"), file.path().display());
            report_ended(running).await;
        }
        ScopeCommand::Remove { targets } => {
            let dir = directory.existing()?;
            let running = match &dir {
                Some(dir) => running_scans(dir).await,
                None => None,
            };
            let code = remove(dir.clone().map(file).as_ref(), &targets)?;
            if code == ExitCode::SUCCESS {
                dir.iter().for_each(|dir| audit(dir, "scope remove", &listed(&targets)));
                report_ended(running).await;
            }
            return Ok(code);
        }
        ScopeCommand::List => list(&match directory.existing()?.map(file) {
            Some(file) => file.load()?,
            None => ScanScope::default(),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(targets: &[Pattern]) -> String {
    targets.iter().map(Pattern::to_string).collect::<Vec<_>>().join(" ")
}

fn allow(file: &ScopeFile, targets: Vec<Pattern>, terms: &Terms) -> anyhow::Result<()> {
    let count = targets.len();
    file.add(entries(targets, terms.until, &terms.note))?;
    note!("{} allowed in {}", plural(count, "target"), file.path().display());
    Ok(())
}

fn entries(targets: Vec<Pattern>, until: Option<Date>, note: &str) -> Vec<ScopeEntry> {
    let (who, added) = (login(|name| std::env::var(name).ok()), Some(Stamp(Timestamp::now())));
    let entry = |target| ScopeEntry { target, until, note: note.to_owned(), who: who.clone(), added };
    targets.into_iter().map(entry).collect()
}

fn remove(file: Option<&ScopeFile>, targets: &[Pattern]) -> anyhow::Result<ExitCode> {
    if let Some(file) = file.filter(|file| file.path().exists())
        && let count @ 1.. = file.remove(targets)?
    {
        note!("{} removed from {}", plural(count, "target"), file.path().display());
        return Ok(ExitCode::SUCCESS);
    }
    note!("entry not found; `scandeck scope list` shows all entries");
    Ok(ExitCode::FAILURE)
}

/// The running scans before a change. The change is made even if they cannot be read.
async fn running_scans(dir: &DataDir) -> Option<RunningScans> {
    RunningScans::read(dir).await.unwrap_or_else(|error| {
        note!("running scans cannot be read: {error}");
        None
    })
}

async fn report_ended(running: Option<RunningScans>) {
    let Some(running) = running else { return };
    match running.ended_by_scope().await {
        Ok(ended) => {
            for scan in ended {
                note!("scan {} of {} ended", scan.id, text::clean(&scan.target));
            }
        }
        Err(error) => note!("running scans cannot be read: {error}"),
    }
}

fn list(scope: &ScanScope) -> anyhow::Result<()> {
    let allowed = scope.allow.iter().map(|entry| line("allow", entry));
    let text: String = allowed.chain(scope.deny.iter().map(|entry| line("deny ", entry))).collect();
    if text.is_empty() {
        note!("the scope is empty: only loopback and this host are allowed");
    }
    stdio::print(text.as_bytes())
}

fn line(verb: &str, entry: &ScopeEntry) -> String {
    let mut line = format!("{verb}  {}", entry.target);
    if let Some(until) = entry.until {
        line.push_str(&format!("  until {until}"));
    }
    for remark in [&entry.note, &entry.who].into_iter().filter(|remark| !remark.is_empty()) {
        line.push_str("  ");
        // People edit the file, so it may contain control characters.
        line.push_str(&text::clean(remark));
    }
    if let Some(added) = entry.added {
        line.push_str(&format!("  {added}"));
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_an_entry_cannot_control_the_terminal() {
        let entry: ScopeEntry =
            toml::from_str("target = \"10.0.4.0/24\"\nnote = \"SOW\\u001b[2J \\u202egpj\"").unwrap();
        assert_eq!(line("allow", &entry), "allow  10.0.4.0/24  SOW␛[2J <U+202E>gpj\n");
    }
}
