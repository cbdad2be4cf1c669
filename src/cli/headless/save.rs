//! Files that commands write.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::Output;
use crate::cli::error::CliError;
use crate::dashboard::runtime::files::numbered;

/// The output of an export.
#[derive(Args, Clone, Debug)]
pub struct Destination {
    /// Write to this file; overwrites an existing file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Writes the bytes; `content` describes them in the message about a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, out: Output, bytes: &[u8], content: &str) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => {
                overwrite(path, bytes)?;
                eprintln!("scandeck: {content} in {}", path.display());
            }
            None => out.outside(bytes),
        }
        Ok(())
    }
}

/// Writes a file atomically, also over an existing one. Only its owner may read it, because findings are confidential.
///
/// # Errors
/// When the file cannot be written.
pub fn overwrite(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = part_of(path)?;
    part.write_all(bytes).with_context(|| not_written(path))?;
    part.persist(path).map(drop).with_context(|| not_written(path))
}

/// Writes a new file.
///
/// # Errors
/// When the file exists or cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = part_of(path)?;
    part.write_all(bytes).with_context(|| not_written(path))?;
    part.persist_noclobber(path).map(drop).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => exists(path).into(),
        _ => anyhow::Error::new(error.error).context(not_written(path)),
    })
}

/// The error about an existing file.
pub fn exists(path: &Path) -> CliError {
    CliError::new(format!("{} exists already", path.display()), "choose another name, or move the file")
}

pub fn not_written(path: &Path) -> String {
    format!("{} not written", path.display())
}

/// Writes a file under the given or a numbered name. Reuses a file with the same content and never overwrites another
/// one. Returns the name.
///
/// # Errors
/// When the file cannot be written.
pub fn numbered_file(name: &str, bytes: &[u8]) -> anyhow::Result<String> {
    for number in 1..1000 {
        let name = numbered(name, number);
        let path = Path::new(&name);
        match std::fs::read(path) {
            Ok(there) if there == bytes => return Ok(name),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return overwrite(path, bytes).map(|()| name),
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        }
    }
    anyhow::bail!("all numbered names of {name} exist already")
}

/// A temporary file in the same directory, to be renamed when it is complete.
///
/// # Errors
/// When the directory is not writable.
pub fn part_of(path: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(directory).with_context(|| not_written(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_file_never_overwrites_other_content() {
        let temp = tempfile::tempdir().unwrap();
        let name = temp.path().join("capture-7-body.bin").display().to_string();
        let save = |bytes: &[u8]| numbered_file(&name, bytes).unwrap();
        let second = temp.path().join("capture-7-body-2.bin").display().to_string();
        assert_eq!((save(b"one"), save(b"two")), (name.clone(), second.clone()));
        assert_eq!((save(b"one"), save(b"two")), (name.clone(), second));
        assert_eq!(std::fs::read(&name).unwrap(), b"one");
    }
}
