//! `scandeck backup` and `scandeck restore`: copies of the data directory.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::{DataDirArg, audit};
use scandeck_service::DataDir;
use scandeck_service::backup::{back_up_dir, restore_dir};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck backup /srv/backups/scandeck-2026-11-22")]
pub struct BackupArgs {
    #[command(flatten)]
    directory: DataDirArg,
    /// New directory for the backup
    #[arg(value_name = "BACKUP")]
    to: PathBuf,
    /// Exclude the API key, the callback signing key and the credential encryption key
    #[arg(long)]
    without_keys: bool,
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck restore /srv/backups/scandeck-2026-11-22")]
pub struct RestoreArgs {
    #[command(flatten)]
    directory: DataDirArg,
    /// Directory of the backup
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// Replace an existing database, of which a copy is kept
    #[arg(long)]
    replace: bool,
}

/// Makes a backup, also while the service runs.
///
/// # Errors
/// When the target exists, or a file cannot be read or written.
pub async fn back_up(args: BackupArgs) -> anyhow::Result<ExitCode> {
    let dir = args.directory.required()?;
    if let Some(address) = dir.postgres() {
        bail!(
            "the database is on the server of {address}: save it with `pg_dump --format=custom --file=scandeck.dump`, \
             and copy the key files of {}",
            dir.path().display()
        );
    }
    let copied = back_up_dir(&dir, &args.to, !args.without_keys).await?;
    audit(&dir, "backup", &args.to.display().to_string());
    note!(
        "{} copied to {}: {}",
        dir.path().display(),
        args.to.display(),
        copied.join(", ")
    );
    if !args.without_keys {
        let missing = elsewhere(&dir, &copied);
        let (files, flags) = if missing.len() == 1 {
            ("this file", "flag")
        } else {
            ("these files", "flags")
        };
        if !missing.is_empty() {
            note!(
                "not in the backup: {}; copy {files} too, and start the restored service with the same {flags}",
                missing.join(", and ")
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The key files of the service that are not in its data directory, by path, else by the flag that
/// names them.
fn elsewhere(dir: &DataDir, copied: &[&str]) -> Vec<String> {
    let api_key = dir.info().and_then(|info| info.api_key_file);
    [
        ("key", "--api-key-file", api_key),
        ("secrets.key", "--secrets-key-file", None),
    ]
    .into_iter()
    .filter(|(name, _, path)| path.is_some() || !copied.contains(name))
    .map(|(_, flag, path)| match path {
        Some(path) => format!("{} ({flag})", path.display()),
        None => format!("the file of {flag}, if this flag is used"),
    })
    .collect()
}

/// Restores a backup while no service runs.
///
/// # Errors
/// When a service runs, a database exists, or the backup cannot be used.
pub async fn restore(args: RestoreArgs) -> anyhow::Result<ExitCode> {
    let dir = args.directory.open()?;
    if let Some(address) = dir.postgres() {
        bail!(
            "the database is on the server of {address}: stop the service, restore the database with the commands \
             of PostgreSQL in docs/deploy.md, and copy the key files to {}",
            dir.path().display()
        );
    }
    if let Some(old) = restore_dir(&args.from, &dir, args.replace).await? {
        note!("previous database kept as {}", old.display());
    }
    audit(&dir, "restore", &args.from.display().to_string());
    note!(
        "{} restored from {}",
        dir.path().display(),
        args.from.display()
    );
    Ok(ExitCode::SUCCESS)
}
