//! `scandeck keys add|list|revoke`: named API keys of the local service. A running service applies
//! a change within a second.

use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;

use super::{DataDirArg, audit};
use crate::cli::error::CliError;
use crate::cli::stdio;
use scandeck_service::WorkerPlace;
use scandeck_service::keys::{KeyRow, Role, add_key, add_worker_key, list_keys, revoke_key};
use scandeck_wire::login::login;
use scandeck_wire::sqlite::is_present;
use scandeck_wire::text;

/// Blanks after the name of a key.
const GAP: usize = 2;

#[derive(Subcommand, Clone, Debug)]
pub enum KeysCommand {
    /// Add an API key of the local service and print it; it cannot be shown again
    #[command(after_help = "Example:\n  (umask 077; scandeck keys add ci --role scan > ci.key)")]
    Add {
        /// Name of the key in logs
        #[arg(value_name = "NAME", value_parser = key_name)]
        name: String,
        /// read: reads everything; triage: also changes reports and loggers; scan: also targets,
        /// scans and wordlists; admin: also workspaces; worker: runs the scans of --place
        #[arg(long, value_name = "ROLE")]
        role: Role,
        /// The place of a worker (`scandeck worker`)
        #[arg(long, value_name = "NAME", required_if_eq("role", "worker"))]
        place: Option<WorkerPlace>,
    },
    /// Show all API keys of the local service with their roles and last use
    #[command(after_help = "Example:\n  scandeck keys list")]
    List,
    /// Revoke an API key of the local service
    #[command(after_help = "Example:\n  scandeck keys revoke ci")]
    Revoke {
        /// Name of the key
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Runs the command.
///
/// # Errors
/// When the database is unreadable, or the name is taken or unknown.
pub async fn run(directory: &DataDirArg, command: KeysCommand) -> anyhow::Result<ExitCode> {
    match command {
        KeysCommand::Add { name, role, place } => {
            add(directory, &name, role, place.as_ref()).await?;
        }
        KeysCommand::List => list(directory).await?,
        KeysCommand::Revoke { name } => revoke(directory, &name).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(
    directory: &DataDirArg,
    name: &str,
    role: Role,
    place: Option<&WorkerPlace>,
) -> anyhow::Result<()> {
    let who = login(|variable| std::env::var(variable).ok());
    let dir = directory.open()?;
    let added = match place {
        None => add_key(&dir, name, role, &who).await?,
        Some(place) if role == Role::Worker => add_worker_key(&dir, name, place, &who).await?,
        Some(_) => {
            let problem = format!("a key with the role {role} has no place");
            return Err(CliError::usage(problem, "use --role worker, or omit --place").into());
        }
    };
    let Some(key) = added else {
        bail!("key `{name}` already exists; choose another name, or revoke this key first");
    };
    audit(&dir, "keys add", &format!("{name} ({role})"));
    note!(
        "key `{name}` with the role {role} added to {}; only its hash is stored",
        dir.path().display()
    );
    if let Some(place) = place {
        note!(
            "place {place}: vpn_profile_uuid {} of new scans chooses it",
            place.profile_uuid()
        );
    }
    stdio::print(format!("{key}\n").as_bytes())
}

async fn list(directory: &DataDirArg) -> anyhow::Result<()> {
    let dir = directory.required()?;
    let keys = match dir.has_database()? {
        true => list_keys(&dir).await?,
        false => Vec::new(),
    };
    match keys.is_empty() {
        true if is_present(&dir.key_file())? => {
            note!("no named keys; the key in the file `key` has the role admin")
        }
        true => note!("no keys; `scandeck keys add NAME --role ROLE` adds one"),
        false => {}
    }
    let widest = keys.iter().map(|key| key.name.len()).max();
    let width = widest.unwrap_or_default();
    let lines: String = keys.iter().map(|key| line(key, width)).collect();
    stdio::print_lines(&lines, width + GAP)
}

async fn revoke(directory: &DataDirArg, name: &str) -> anyhow::Result<()> {
    let dir = directory.required()?;
    let keys = match dir.has_database()? {
        true => list_keys(&dir).await?,
        false => Vec::new(),
    };
    let key = keys.into_iter().find(|key| key.name == name);
    if key.is_none() || !revoke_key(&dir, name).await? {
        bail!(
            "key `{}` not found; `scandeck keys list` shows all keys",
            text::clean(name)
        );
    }
    audit(&dir, "keys revoke", name);
    note!("key `{name}` in {} revoked", dir.path().display());
    if let Some(place) = key.and_then(|key| key.place) {
        note!(
            "a worker with this key stops within two seconds; other workers of {place} take its scans over, which end after 30 s without one"
        );
    }
    Ok(())
}

fn line(key: &KeyRow, width: usize) -> String {
    let used = key
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    let (name, role, added, who) = (
        &key.name,
        key.role.as_str(),
        key.created_at,
        text::clean(&key.created_by),
    );
    let place = key.place.as_ref();
    let place = place.map_or_else(String::new, |place| format!("  place {place}"));
    format!("{name:width$}  {role:6}  added {added} by {who}  {used}{place}\n")
}

fn key_name(text: &str) -> Result<String, &'static str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
    match (1..=64).contains(&text.len()) && text.chars().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err("use at most 64 letters, digits and . _ @ -"),
    }
}
