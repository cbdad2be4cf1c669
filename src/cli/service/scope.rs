//! `scandeck scope`: targets beyond this machine that the local service may scan.
//!
//! A running service applies a change of the file within two seconds. `deny` and `remove` wait for
//! it, and print the scans that ended.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{DataDirArg, audit};
use crate::cli::input::read_input;
use crate::cli::stdio;
use crate::cli::value::future_date;
use scandeck_service::scope::{
    LineError, Pattern, ReplacedEntry, ScanScope, ScopeEntry, ScopeFile, parse_list,
};
use scandeck_service::scope_check::is_metadata;
use scandeck_service::{DataDir, RunningScans};
use scandeck_wire::contract::Stamp;
use scandeck_wire::input_files::InputKind;
use scandeck_wire::login::login;
use scandeck_wire::sqlite::is_present;
use scandeck_wire::text;
use scandeck_wire::text::plural;

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

#[derive(Args, Clone, Debug)]
struct Terms {
    /// Last day (UTC) on which the target may be scanned
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = future_date)]
    until: Option<Date>,
    /// The reason, such as a contract number
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
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
            let file = file(dir.clone());
            let replaced = file.add(entries(&targets, terms.until, &terms.note))?;
            report_added("allowed", &file, &targets, &replaced);
            warn_of_metadata(&targets);
            warn_of_denials(&file, &targets)?;
            audit(&dir, "scope add", &listed(&targets));
        }
        ScopeCommand::Import { file: list, terms } => {
            let name = list.display();
            let text = read_input(&list, InputKind::Scope)?;
            let invalid =
                |error: LineError| anyhow!("{name}:{}: {error}; nothing was imported", error.line);
            let targets = parse_list(&text).map_err(invalid)?;
            if targets.is_empty() {
                note!("no entries in {name}; the scope is unchanged");
                return Ok(ExitCode::SUCCESS);
            }
            let dir = directory.open()?;
            let file = file(dir.clone());
            let replaced = file.add(entries(&targets, terms.until, &terms.note))?;
            report_added("allowed", &file, &targets, &replaced);
            warn_of_metadata(&targets);
            warn_of_denials(&file, &targets)?;
            audit(&dir, "scope import", &listed(&targets));
        }
        ScopeCommand::Deny { targets, note } => {
            let dir = directory.open()?;
            let (file, running) = (file(dir.clone()), running_scans(&dir).await);
            let replaced = file.deny(entries(&targets, None, &note))?;
            report_added("denied", &file, &targets, &replaced);
            audit(&dir, "scope deny", &listed(&targets));
            report_ended(running).await;
        }
        ScopeCommand::Remove { targets } => {
            let dir = directory.named()?;
            let running = match &dir {
                Some(dir) => running_scans(dir).await,
                None => None,
            };
            let removed = remove(dir.clone().map(file).as_ref(), &targets)?;
            let removed: Vec<Pattern> = removed
                .allow
                .into_iter()
                .chain(removed.deny)
                .map(|entry| entry.target)
                .collect();
            if !removed.is_empty() {
                dir.iter()
                    .for_each(|dir| audit(dir, "scope remove", &listed(&removed)));
                report_ended(running).await;
            }
            let missing: Vec<&Pattern> = targets
                .iter()
                .filter(|target| !removed.contains(target))
                .collect();
            for target in &missing {
                note!(
                    "scandeck: `{target}` is not in the scope file; `scandeck scope list` shows all entries"
                );
            }
            if !missing.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
        ScopeCommand::List => list(&match directory.named()?.map(file) {
            Some(file) => file.load()?,
            None => ScanScope::default(),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(targets: &[Pattern]) -> String {
    targets
        .iter()
        .map(Pattern::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Prints what was added, and what became of earlier entries for the same targets.
fn report_added(verb: &str, file: &ScopeFile, targets: &[Pattern], replaced: &[ReplacedEntry]) {
    for entry in replaced {
        note!("{}", changed(verb, entry));
    }
    let subject = if let [target] = targets {
        target.to_string()
    } else {
        plural(targets.len(), "target")
    };
    note!("{subject} {verb} in {}", file.path().display());
}

/// Warns of addresses that give credentials to whoever reaches them.
fn warn_of_metadata(targets: &[Pattern]) {
    for target in targets.iter().filter(|target| is_metadata(target)) {
        note!(
            "warning: {target} is the metadata address of a cloud provider; its responses can contain credentials"
        );
    }
}

/// Warns of new allowances that have no effect, because a denial covers them.
fn warn_of_denials(file: &ScopeFile, targets: &[Pattern]) -> anyhow::Result<()> {
    let denials = file.load()?.deny;
    for target in targets {
        if let Some(denial) = denials.iter().find(|entry| entry.target.covers(target)) {
            let denied = &denial.target;
            note!(
                "{target} is still denied by the entry `deny {denied}`; `scandeck scope remove '{denied}'` removes it"
            );
        }
    }
    Ok(())
}

/// The expiry date and the note of an entry that was added again.
fn changed(verb: &str, ReplacedEntry { old, new }: &ReplacedEntry) -> String {
    let until = match (old.until, new.until) {
        (None, None) => None,
        (old, Some(new)) if old == Some(new) => Some(format!("expiry date {new} unchanged")),
        (_, Some(new)) => Some(format!("now until {new}")),
        (Some(old), None) => Some(format!("--until {old} is over and was removed")),
    };
    let note = match new.note == old.note {
        true if new.note.is_empty() => None,
        true => Some(format!("note unchanged: {}", text::clean(&new.note))),
        false => Some("note replaced".to_owned()),
    };
    let changes: Vec<String> = until.into_iter().chain(note).collect();
    let changes = if changes.is_empty() {
        "nothing changed".to_owned()
    } else {
        changes.join(", ")
    };
    format!("{} was already {verb}: {changes}", new.target)
}

fn entries(targets: &[Pattern], until: Option<Date>, note: &str) -> Vec<ScopeEntry> {
    let (who, added) = (
        login(|name| std::env::var(name).ok()),
        Some(Stamp(Timestamp::now())),
    );
    let entry = |target: &Pattern| ScopeEntry {
        target: target.clone(),
        until,
        note: note.to_owned(),
        who: who.clone(),
        added,
    };
    targets.iter().map(entry).collect()
}

/// Removes entries, and prints them.
fn remove(file: Option<&ScopeFile>, targets: &[Pattern]) -> anyhow::Result<ScanScope> {
    let Some(file) = file else {
        return Ok(ScanScope::default());
    };
    if !is_present(file.path())? {
        return Ok(ScanScope::default());
    }
    let removed = file.remove(targets)?;
    let entries = |verb: &'static str| move |entry: &ScopeEntry| format!("{verb} {}", entry.target);
    let named: Vec<String> = removed
        .allow
        .iter()
        .map(entries("allow"))
        .chain(removed.deny.iter().map(entries("deny")))
        .collect();
    if !named.is_empty() {
        note!(
            "removed from {}: {}",
            file.path().display(),
            named.join(", ")
        );
    }
    Ok(removed)
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
    let text: String = allowed
        .chain(scope.deny.iter().map(|entry| line("deny ", entry)))
        .collect();
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
    if !entry.note.is_empty() {
        // People edit the file, so it may contain control characters.
        line.push_str(&format!("  {}", text::clean(&entry.note)));
    }
    let added = entry.added.map(|added| format!("  added {added}"));
    line.push_str(&added.unwrap_or_else(|| {
        if entry.who.is_empty() {
            String::new()
        } else {
            "  added".to_owned()
        }
    }));
    if !entry.who.is_empty() {
        line.push_str(&format!(" by {}", text::clean(&entry.who)));
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_an_entry_cannot_control_the_terminal() {
        let entry: ScopeEntry =
            toml::from_str("target = \"10.0.4.0/24\"\nnote = \"SOW\\u001b[2J \\u202egpj\"")
                .unwrap();
        assert_eq!(
            line("allow", &entry),
            "allow  10.0.4.0/24  SOW␛[2J <U+202E>gpj\n"
        );
    }

    #[test]
    fn line_of_an_entry_names_its_dates() {
        let entry: ScopeEntry = toml::from_str(
            "target = \"b.test\"\nuntil = \"2026-12-31\"\nwho = \"ana@box\"\nadded = \"2026-11-23 01:53:56\"",
        )
        .unwrap();
        let expected = "allow  b.test  until 2026-12-31  added 2026-11-23 01:53:56 by ana@box\n";
        assert_eq!(line("allow", &entry), expected);
    }

    #[test]
    fn changed_entry_names_kept_and_lost_values() {
        let old: ScopeEntry =
            toml::from_str("target = \"b.test\"\nuntil = \"2026-12-31\"\nnote = \"SOW 1\"")
                .unwrap();
        let changed = |new: ScopeEntry| {
            changed(
                "allowed",
                &ReplacedEntry {
                    old: old.clone(),
                    new,
                },
            )
        };
        assert_eq!(
            changed(old.clone()),
            "b.test was already allowed: expiry date 2026-12-31 unchanged, note unchanged: SOW 1"
        );
        let later = ScopeEntry {
            until: Some("2027-01-31".parse().unwrap()),
            note: "SOW 2".into(),
            ..old.clone()
        };
        assert_eq!(
            changed(later),
            "b.test was already allowed: now until 2027-01-31, note replaced"
        );
        let over = changed(ScopeEntry {
            until: None,
            ..old.clone()
        });
        assert!(
            over.contains("--until 2026-12-31 is over and was removed"),
            "{over}"
        );
    }
}
