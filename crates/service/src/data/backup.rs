//! Backup and restore of a data directory (`scandeck backup`, `scandeck restore`).
//!
//! ```text
//!   data directory, also while the service runs ─► new directory (0700): scandeck.db, scope.toml, keys
//!   backup ─► complete? known schema? nobody runs? ─► data directory; its database becomes *.bak-N
//! ```

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use jiff::Timestamp;

use crate::data::data_dir::DataDir;
use crate::errors::cause_of;
use crate::store::Store;
use scandeck_wire::input_files::open_regular;
use scandeck_wire::sqlite::{
    back_up, check, copy, is_corrupt, is_database, make_private, merge_log, move_aside,
    schema_version,
};

pub(super) const DATABASE: &str = "scandeck.db";
const SCOPE: &str = "scope.toml";
const KEYS: [&str; 3] = ["key", "callback.key", "secrets.key"];

/// Copies the data directory to the new directory `to`; returns the names of the copied files.
///
/// # Errors
/// When `to` exists, or a file cannot be read or written; nothing is left then.
pub async fn back_up_dir(
    dir: &DataDir,
    to: &Path,
    with_keys: bool,
) -> anyhow::Result<Vec<&'static str>> {
    ensure!(
        to.symlink_metadata().is_err(),
        "{} already exists; choose a new directory",
        to.display()
    );
    ensure!(
        dir.database().exists(),
        "{} contains no database; use --data-dir",
        dir.path().display()
    );
    let parent = parent_of(to)?;
    let unwritable = |error| {
        anyhow!(
            "cannot write in {}: {}; choose another directory",
            parent.display(),
            cause_of(&error)
        )
    };
    // Complete, or absent: the directory gets its name at the end.
    let partial = tempfile::Builder::new()
        .prefix(".scandeck-backup-")
        .tempdir_in(parent)
        .map_err(unwritable)?;
    fs::set_permissions(partial.path(), Permissions::from_mode(0o700))?;
    let database = partial.path().join(DATABASE);
    make_private(&database)?;
    copy(&dir.database(), &database)
        .await
        .context("database not copied")?;
    File::open(&database)?.sync_all()?;
    let keys = if with_keys { &KEYS[..] } else { &[] };
    let mut copied = vec![DATABASE];
    for &name in keys.iter().chain(&[SCOPE]) {
        if copy_file(&dir.path().join(name), partial.path(), name)? {
            copied.push(name);
        }
    }
    fs::rename(partial.path(), to).map_err(unwritable)?;
    // It has another name now, and is not deleted.
    let _ = partial.keep();
    File::open(parent)?.sync_all()?;
    Ok(copied)
}

/// The existing directory that a new directory belongs to.
fn parent_of(to: &Path) -> anyhow::Result<&Path> {
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    ensure!(
        parent.exists(),
        "{} does not exist; create it",
        parent.display()
    );
    ensure!(
        parent.is_dir(),
        "{} is not a directory; choose another directory for the backup",
        parent.display()
    );
    Ok(parent)
}

/// Replaces the data directory by a backup; returns the copy of the database that it had. With
/// `replace`, an existing database is replaced.
///
/// # Errors
/// When a service runs, a database exists, or the backup is incomplete or of a newer version.
pub async fn restore_dir(
    from: &Path,
    dir: &DataDir,
    replace: bool,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(_lock) = dir.lock().await? else {
        bail!(
            "a service is running with data directory {}; stop it with `scandeck stop{}`",
            dir.path().display(),
            dir.command_suffix()
        );
    };
    let (backup, database) = (from.join(DATABASE), dir.database());
    ensure!(
        backup.is_file(),
        "{} is not a backup: it contains no {DATABASE}",
        from.display()
    );
    let (found, known) = (schema_version(&backup)?, Store::schema());
    ensure!(
        is_database(&backup)? && found > 0,
        "{} is not a scandeck database",
        backup.display()
    );
    ensure!(
        found <= known,
        "{} has schema {found}, this version supports up to {known}: use the scandeck that made it",
        backup.display()
    );
    check(&backup).await?;
    let is_replaced = database.exists();
    ensure!(
        replace || !is_replaced,
        "{} exists; use --replace to overwrite it (a copy is kept)",
        database.display()
    );
    // Complete before a damaged database is moved: on a full disk, nothing is replaced.
    let partial = copy_partial(&backup, dir.path(), DATABASE)?
        .with_context(|| format!("cannot read {}", backup.display()))?;
    let old = match is_replaced {
        true => Some(keep(&database).await?),
        false => None,
    };
    put_in_place(&partial, dir.path(), DATABASE)?;
    Store::begin_epochs(&database, Timestamp::now()).await?;
    for name in KEYS.iter().chain(&[SCOPE]) {
        copy_file(&from.join(name), dir.path(), name)?;
    }
    Ok(old)
}

/// Keeps a copy of a database that is replaced. A damaged one is moved: it is the reason for the
/// restore, and cannot be copied.
async fn keep(database: &Path) -> anyhow::Result<PathBuf> {
    let copied = async {
        let copy = back_up(database).await?;
        // A log must never meet another database.
        merge_log(database).await?;
        anyhow::Ok(copy)
    };
    match copied.await {
        Err(error) if is_corrupt(&error) => Ok(move_aside(database)?),
        result => result,
    }
}

/// Copies a file (0600) atomically; false if it does not exist.
fn copy_file(from: &Path, folder: &Path, name: &str) -> anyhow::Result<bool> {
    let Some(partial) = copy_partial(from, folder, name)? else {
        return Ok(false);
    };
    put_in_place(&partial, folder, name)?;
    Ok(true)
}

/// Copies a file (0600) beside its place; `None` if it does not exist.
fn copy_partial(from: &Path, folder: &Path, name: &str) -> anyhow::Result<Option<PathBuf>> {
    let mut source = match open_regular(from, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        source => source.with_context(|| format!("cannot read {}", from.display()))?,
    };
    let partial = folder.join(format!("{name}.partial"));
    let mut options = OpenOptions::new();
    let mut target = open_regular(
        &partial,
        options.create(true).truncate(true).write(true).mode(0o600),
    )?;
    io::copy(&mut source, &mut target)
        .with_context(|| format!("cannot write {}", partial.display()))?;
    target.flush()?;
    target.sync_all()?;
    Ok(Some(partial))
}

fn put_in_place(partial: &Path, folder: &Path, name: &str) -> io::Result<()> {
    fs::rename(partial, folder.join(name))?;
    File::open(folder)?.sync_all()
}
