//! The scope file of a data directory: the scope itself, or a copy of the scope in the database.
//!
//! A copy begins with a line that says so. It is written again when it differs from the database,
//! so commands refuse to change it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Pattern, ReplacedEntry, ScanScope, ScopeEntry, ScopeError};
use scandeck_wire::input_files::{InputKind, open_regular, read_text};

/// The beginning of a copy.
const COPY: &str = "# Copy of the scope in the database";

/// The beginning of a file that a command wrote.
const HEADER: &str = "# Targets beyond this machine that may be scanned. Edit this file or use `scandeck scope`.\n\n";

/// The scope file, with the edits of the command line.
#[derive(Clone, Debug)]
pub struct ScopeFile {
    path: PathBuf,
}

impl ScopeFile {
    /// The file may be missing; a missing file allows nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub fn load(&self) -> Result<ScanScope, ScopeError> {
        self.parse(&self.text()?.unwrap_or_default())
    }

    /// Reads the file; `None` if it is missing or a copy.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub(crate) fn load_own(&self) -> Result<Option<ScanScope>, ScopeError> {
        let own = self.text()?.filter(|text| !text.starts_with(COPY));
        own.map(|text| self.parse(&text)).transpose()
    }

    /// Adds allowances; see [`ScanScope::add`].
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn add(&self, entries: Vec<ScopeEntry>) -> Result<Vec<ReplacedEntry>, ScopeError> {
        self.edit(|scope| scope.add(entries))
    }

    /// Adds denials; see [`ScanScope::add_denials`].
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn deny(&self, entries: Vec<ScopeEntry>) -> Result<Vec<ReplacedEntry>, ScopeError> {
        self.edit(|scope| scope.add_denials(entries))
    }

    /// Removes all entries for these patterns, and returns them.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove(&self, patterns: &[Pattern]) -> Result<ScanScope, ScopeError> {
        self.edit(|scope| scope.remove(patterns))
    }

    /// Makes the file a copy of a scope in the database, unless it is that copy.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn copy(&self, version: i64, entries: &str) -> Result<(), ScopeError> {
        let copy = format!(
            "{COPY} (version {version}), which all nodes share. Change it with `scandeck scope`.\n\n{entries}"
        );
        if self.text().is_ok_and(|text| text.as_ref() == Some(&copy)) {
            return Ok(());
        }
        self.replace(&copy)
            .map_err(|source| self.not_written(source))
    }

    /// The same for a file that is a copy already, perhaps of an earlier version.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn copy_again(&self, version: i64, entries: &str) -> Result<(), ScopeError> {
        match self.text()?.is_some_and(|text| text.starts_with(COPY)) {
            true => self.copy(version, entries),
            false => Ok(()),
        }
    }

    /// Renames the file to `scope.toml.bak`.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(crate) fn move_away(&self) -> Result<(), ScopeError> {
        fs::rename(&self.path, self.path.with_extension("toml.bak"))
            .map_err(|source| self.not_written(source))
    }

    /// Locks the file against concurrent edits until the result is dropped. The lock is a separate
    /// file, because the scope file is replaced.
    ///
    /// # Errors
    /// When the lock file cannot be created or locked.
    pub(crate) fn lock(&self) -> Result<File, ScopeError> {
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = open_regular(&self.path.with_extension("toml.lock"), options)
            .map_err(|source| self.not_written(source))?;
        lock.lock().map_err(|source| self.not_written(source))?;
        Ok(lock)
    }

    fn edit<T>(&self, change: impl FnOnce(&mut ScanScope) -> T) -> Result<T, ScopeError> {
        // Concurrent commands must not lose an entry.
        let _lock = self.lock()?;
        let old = self.text()?.unwrap_or_default();
        if old.starts_with(COPY) {
            let path = self.path.clone();
            return Err(ScopeError::Copy { path });
        }
        let mut scope = self.parse(&old)?;
        let result = change(&mut scope);
        let entries = scope
            .to_text()
            .map_err(|error| self.not_written(io::Error::other(error)))?;
        self.replace(&format!("{HEADER}{entries}"))
            .map_err(|source| self.not_written(source))?;
        Ok(result)
    }

    /// The text of the file; `None` if it is missing.
    fn text(&self) -> Result<Option<String>, ScopeError> {
        match read_text(&self.path, InputKind::Scope) {
            Ok(text) => Ok(Some(text)),
            // A link without its file is an error: its deny entries would be missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.path.is_symlink() => {
                Ok(None)
            }
            Err(source) => Err(ScopeError::Read {
                path: self.path.clone(),
                source,
            }),
        }
    }

    fn parse(&self, text: &str) -> Result<ScanScope, ScopeError> {
        ScanScope::parse(text).map_err(|source| ScopeError::Invalid {
            path: self.path.clone(),
            source,
        })
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    fn not_written(&self, source: io::Error) -> ScopeError {
        ScopeError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_is_read_and_written_again_but_not_edited() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        let entries = "[[allow]]\ntarget = \"b.test\"\n";
        let inode = || {
            let found = fs::metadata(file.path()).unwrap();
            std::os::unix::fs::MetadataExt::ino(&found)
        };
        file.copy_again(2, entries).unwrap();
        assert!(!file.path().exists(), "there is no copy");
        file.copy(2, "").unwrap();
        file.copy_again(3, entries).unwrap();
        assert_eq!(file.load().unwrap().allow.len(), 1);
        assert_eq!(file.load_own().unwrap(), None);
        let refused = file.remove(&["b.test".parse().unwrap()]).unwrap_err();
        assert!(refused.to_string().contains("--database-file"), "{refused}");

        let first = inode();
        file.copy(3, entries).unwrap();
        assert_eq!(inode(), first, "unchanged");
        // A user has edited it, or put another file in its place.
        for text in ["", "deny = [", "# Copy of the scope in the database\n"] {
            fs::write(file.path(), text).unwrap();
            file.copy(3, entries).unwrap();
            assert_eq!(file.load().unwrap().allow.len(), 1, "{text}");
        }
    }

    #[test]
    fn file_that_is_no_copy_has_entries_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        assert_eq!(file.load_own().unwrap(), None, "missing");
        fs::write(file.path(), "deny = [{ target = '10.0.4.9' }]").unwrap();
        assert_eq!(file.load_own().unwrap().unwrap().deny.len(), 1);
        file.move_away().unwrap();
        assert!(!file.path().exists() && folder.path().join("scope.toml.bak").exists());
        fs::write(file.path(), "deny = [").unwrap();
        assert!(file.load_own().is_err());
    }
}
