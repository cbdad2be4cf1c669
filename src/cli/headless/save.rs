//! Files that a command writes under the name it was given.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

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

/// A file in the same directory, to be moved onto the path when it is whole.
///
/// # Errors
/// When the directory refuses.
pub fn beside(path: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(directory).with_context(|| format!("cannot write {}", path.display()))
}
