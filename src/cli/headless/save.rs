//! Files that a command writes under the name it was given.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::Output;
use crate::cli::advised::Advised;
use crate::dashboard::runtime::files::numbered;

/// Where an export goes.
#[derive(Args, Clone, Debug)]
pub struct Destination {
    /// Into this file, over what may be there [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Writes there; of a file it is said what is in it.
    ///
    /// # Errors
    /// When the directory or the disk refuses.
    pub fn write(&self, out: Output, bytes: &[u8], what: &str) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => {
                over(path, bytes)?;
                eprintln!("scandeck: {what} in {}", path.display());
            }
            None => out.outside(bytes),
        }
        Ok(())
    }
}

/// Writes a file whole or not at all, over what may be there; others cannot read it, for findings are nobody else's.
///
/// # Errors
/// When the directory or the disk refuses.
pub fn over(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let mut part = beside(path)?;
    part.write_all(bytes).with_context(cannot)?;
    part.persist(path).with_context(cannot)?;
    Ok(())
}

/// Writes a file that must not be there yet.
///
/// # Errors
/// When it is there, and when the directory or the disk refuses.
pub fn new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = beside(path)?;
    part.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
    part.persist_noclobber(path).map(drop).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => taken(path).into(),
        _ => anyhow::Error::new(error.error).context(format!("cannot write {}", path.display())),
    })
}

/// That a file is there already.
pub fn taken(path: &Path) -> Advised {
    Advised::new(format!("{} is there already", path.display()), "take another name, or move it away")
}

/// Writes a file whose name was chosen here, never over another content: one that holds just this is left, and beside
/// one that holds something else a numbered name is taken. Returns the name.
///
/// # Errors
/// When the directory or the disk refuses.
pub fn beside_others(name: &str, bytes: &[u8]) -> anyhow::Result<String> {
    for number in 1..1000 {
        let name = numbered(name, number);
        let path = Path::new(&name);
        match std::fs::read(path) {
            Ok(there) if there == bytes => return Ok(name),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return over(path, bytes).map(|()| name),
            Err(error) => return Err(error).with_context(|| format!("{name} is there and cannot be read")),
        }
    }
    anyhow::bail!("all names like {name} are taken")
}

/// A file in the same directory, to be moved onto the path when it is whole.
///
/// # Errors
/// When the directory refuses.
pub fn beside(path: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(directory).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_chosen_here_takes_the_place_of_no_other_content() {
        let temp = tempfile::tempdir().unwrap();
        let name = temp.path().join("capture-7-body.bin").display().to_string();
        let beside = |bytes: &[u8]| beside_others(&name, bytes).unwrap();
        let second = temp.path().join("capture-7-body-2.bin").display().to_string();
        assert_eq!((beside(b"one"), beside(b"two")), (name.clone(), second.clone()));
        assert_eq!((beside(b"one"), beside(b"two")), (name.clone(), second));
        assert_eq!(std::fs::read(&name).unwrap(), b"one");
    }
}
