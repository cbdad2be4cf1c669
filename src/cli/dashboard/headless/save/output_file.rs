//! A file that a user named as output: replaced at once when its content is complete.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

use super::ExistingFile;
use crate::cli::error::CliError;

/// Longest chain of symbolic links, as Linux allows.
const LINKS: usize = 40;

/// The file that a user named. Pipes and devices are written directly; links are followed only if
/// existing files may be replaced, because someone else may have made the link. A regular file is
/// replaced when its new content is complete, and keeps its mode; a new one is readable only by its
/// owner, because findings are confidential.
#[derive(Debug)]
pub enum OutputFile {
    /// The complete content, to be renamed to the path.
    Replacing(NamedTempFile, PathBuf),
    /// The same for a path that did not exist: a file that appears there meanwhile is kept.
    New(NamedTempFile, PathBuf),
    /// A pipe or a device.
    Direct(File, PathBuf),
}

impl OutputFile {
    /// Opens the file for new content.
    ///
    /// # Errors
    /// When the file or its directory is not writable, or the file exists and is not to be
    /// replaced.
    pub fn open(path: &Path, existing: ExistingFile) -> anyhow::Result<Self> {
        let found = match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found.map_err(|error| unusable(path, &error))?),
        };
        let is_direct = found.as_ref().is_some_and(|found| !found.is_file());
        let direct = || is_direct.then(|| OpenOptions::new().write(true).open(path));
        if let Some(file) = own_descriptor(path).or_else(direct) {
            let file = file.map_err(|error| unusable(path, &error))?;
            return Ok(Self::Direct(file, path.to_owned()));
        }
        let target = link_target(path);
        if !existing.force {
            refuse(path, found.is_some(), &target)?;
        }
        let part = part_of(&target)?;
        match found {
            Some(found) => keep_mode(path, &part, &found)?,
            None if !existing.force => return Ok(Self::New(part, target)),
            None => {}
        }
        Ok(Self::Replacing(part, target))
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        match self {
            Self::Replacing(part, _) | Self::New(part, _) => part.as_file(),
            Self::Direct(file, _) => file,
        }
    }

    /// Writes the content to disk and gives it its name.
    ///
    /// # Errors
    /// When the content cannot be written completely.
    pub fn keep(self) -> anyhow::Result<()> {
        match self {
            Self::Replacing(part, path) => {
                part.as_file()
                    .sync_all()
                    .with_context(|| not_written(&path))?;
                part.persist(&path)
                    .map(drop)
                    .with_context(|| not_written(&path))
            }
            Self::New(part, path) => {
                part.as_file()
                    .sync_all()
                    .with_context(|| not_written(&path))?;
                match name_new(part, &path) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        Err(already_exists(&path))
                    }
                    kept => kept.with_context(|| not_written(&path)),
                }
            }
            Self::Direct(file, path) => match file.sync_all() {
                // Pipes and terminals have no disk.
                Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
                synced => synced.with_context(|| not_written(&path)),
            },
        }
    }
}

/// Refuses to replace a file, or to follow a link.
fn refuse(path: &Path, exists: bool, target: &Path) -> anyhow::Result<()> {
    if exists {
        return Err(already_exists(path));
    }
    if path.is_symlink() {
        let message = format!("{} is a link to {}", path.display(), target.display());
        let hint = "name another file, or follow the link with --force";
        return Err(CliError::new(message, hint).into());
    }
    Ok(())
}

/// Gives new content the mode of the file that it replaces, which must be writable: renaming needs
/// no permission of the file itself, and root may write read-only files.
fn keep_mode(path: &Path, part: &NamedTempFile, found: &Metadata) -> anyhow::Result<()> {
    let cannot = || not_written(path);
    if found.permissions().readonly() {
        let hint = "choose another file, or make it writable";
        return Err(CliError::new(format!("{}: file is read-only", cannot()), hint).into());
    }
    OpenOptions::new()
        .write(true)
        .open(path)
        .with_context(cannot)?;
    part.as_file()
        .set_permissions(found.permissions())
        .with_context(cannot)
}

/// An open descriptor of this process, if the path names one. It may be a regular file that the
/// shell has open: new content then comes after the present one, as with `>>`.
fn own_descriptor(path: &Path) -> Option<io::Result<File>> {
    let by_number = || {
        ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|parent| path.starts_with(parent))
    };
    match path.to_str() {
        Some("/dev/stdout") => Some(stdout().as_fd().try_clone_to_owned().map(File::from)),
        Some("/dev/stderr") => Some(io::stderr().as_fd().try_clone_to_owned().map(File::from)),
        _ => by_number().then(|| OpenOptions::new().append(true).open(path)),
    }
}

/// The path behind symbolic links, whether it exists or not.
fn link_target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Gives a new file its name, if no file has the name.
///
/// # Errors
/// When a file has the name, or the name cannot be given.
pub fn name_new(part: NamedTempFile, path: &Path) -> io::Result<()> {
    match part.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Err(failed.error),
        // File systems without hard links, such as shared folders of virtual machines: an empty
        // file takes the name first.
        Err(failed) => {
            File::create_new(path)?;
            failed.file.persist(path).map(drop).map_err(|failed| {
                let _ = std::fs::remove_file(path);
                failed.error
            })
        }
    }
}

/// A temporary file in the same directory, to be renamed when it is complete.
///
/// # Errors
/// When the directory is not writable.
pub fn part_of(path: &Path) -> anyhow::Result<NamedTempFile> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The error of `tempfile` names the temporary file, which the user does not know.
    if matches!(std::fs::metadata(directory), Err(error) if error.kind() == ErrorKind::NotFound) {
        let message = format!(
            "{}: directory {} not found",
            not_written(path),
            directory.display()
        );
        return Err(CliError::new(message, "create the directory, or choose another file").into());
    }
    NamedTempFile::new_in(directory).map_err(|error| {
        let cause = error
            .raw_os_error()
            .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        unusable(path, &cause).into()
    })
}

/// The error about a path that cannot be a file, or may not be one.
fn unusable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(
        format!("{}: {error}", not_written(path)),
        "choose another file",
    )
}

fn already_exists(path: &Path) -> anyhow::Error {
    let message = format!("{} already exists", path.display());
    CliError::new(
        message,
        "choose another name, or replace the file with --force",
    )
    .into()
}

pub fn not_written(path: &Path) -> String {
    format!("{} not written", path.display())
}
