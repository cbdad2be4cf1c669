//! Files that the dashboard writes for a user: into the current or a typed directory, under a
//! sanitised name, never over an existing file, and private, because findings and captures are
//! confidential.

use scandeck_domain::problem::Problem;
use scandeck_wire::text;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Greatest number in a file name.
const TRIES: u32 = 1000;

/// A file in progress. Dropping it deletes the file unless it was completed.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    path: TempPath,
}

impl NewFile {
    /// Creates a file that did not exist: `name`, or `name-2`, `name-3` … before the ending.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn create(directory: &Path, name: &str) -> Result<Self, Problem> {
        let name = text::file_name(name);
        for number in 1..=TRIES {
            let path = directory.join(numbered(&name, number));
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
            {
                Ok(file) => {
                    let path =
                        TempPath::try_from_path(&path).map_err(|error| refused(&path, &error))?;
                    return Ok(Self { file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(&path, &error)),
            }
        }
        let message = format!(
            "{} and {TRIES} numbered names exist",
            directory.join(name).display()
        );
        Err(Problem::local(message).with_hint("move the older files away"))
    }

    /// The current directory.
    ///
    /// # Errors
    /// When it no longer exists.
    pub fn here() -> Result<PathBuf, Problem> {
        std::env::current_dir()
            .map_err(|error| Problem::local(format!("no current directory: {error}")))
    }

    /// Writes the content and keeps the file.
    ///
    /// # Errors
    /// When the content cannot be written.
    pub fn write(mut self, content: &[u8]) -> Result<PathBuf, Problem> {
        // Some file systems report a full disk only here.
        let written = self
            .file
            .write_all(content)
            .and_then(|()| self.file.sync_all());
        written.map_err(|error| refused(&self.path, &error))?;
        Ok(self.keep())
    }

    /// A second handle, for content that arrives in chunks.
    ///
    /// # Errors
    /// When the system has no free handles.
    pub fn writer(&self) -> Result<tokio::fs::File, Problem> {
        let clone = self
            .file
            .try_clone()
            .map_err(|error| refused(&self.path, &error))?;
        Ok(tokio::fs::File::from_std(clone))
    }

    /// Keeps the complete file. Returns its path.
    pub fn keep(self) -> PathBuf {
        let path = self.path.to_path_buf();
        // On Unix this only disarms the deletion and cannot fail.
        let _ = self.path.keep();
        path
    }
}

/// Writes a file into the current directory, or into the directory of a typed path.
///
/// # Errors
/// When the directory takes no files.
pub fn save(name: &str, content: &[u8]) -> Result<PathBuf, Problem> {
    let (directory, name) = place_of(name)?;
    NewFile::create(&directory, name)?.write(content)
}

/// Directory and name of a typed path.
fn place_of(path: &str) -> Result<(PathBuf, &str), Problem> {
    let here = NewFile::here()?;
    Ok(match path.rsplit_once('/') {
        Some((directory, name)) => (here.join(format!("{directory}/")), name),
        None => (here, path),
    })
}

/// Checks that [`save`] can write a file of this name.
///
/// # Errors
/// When the directory takes no files.
pub fn can_save(name: &str) -> Result<(), Problem> {
    place_of(name)
        .and_then(|(directory, name)| NewFile::create(&directory, name))
        .map(drop)
}

/// As [`save`], unless a file with this name and content exists.
///
/// # Errors
/// When the directory takes no files.
pub fn save_once(name: &str, content: &[u8]) -> Result<PathBuf, Problem> {
    write_once(&NewFile::here()?, name, content)
}

/// Writes a file into a directory, unless a file with this name and content exists.
///
/// # Errors
/// When the directory cannot be written.
pub fn write_once(directory: &Path, name: &str, content: &[u8]) -> Result<PathBuf, Problem> {
    let there = directory.join(text::file_name(name));
    // Only regular files are read: a pipe would block.
    let is_alike = std::fs::symlink_metadata(&there)
        .is_ok_and(|it| it.is_file() && it.len() == content.len() as u64);
    if is_alike && std::fs::read(&there).is_ok_and(|other| other == content) {
        return Ok(there);
    }
    NewFile::create(directory, name)?.write(content)
}

/// `name`, `name-2`, `name-3` … before the ending.
pub fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    }
}

fn refused(path: &Path, error: &io::Error) -> Problem {
    let (cause, hint) = match error.kind() {
        ErrorKind::NotFound => ("no such directory".to_owned(), "create the directory first"),
        _ => (error.to_string(), "choose a writable directory"),
    };
    Problem::local(format!("{} not written: {cause}", path.display())).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_file_never_overwrites_and_never_leaves_directory() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            NewFile::create(home.path(), name)
                .unwrap()
                .write(text.as_bytes())
                .unwrap()
        };
        assert_eq!(write("report.csv", "1"), home.path().join("report.csv"));
        assert_eq!(write("report.csv", "2"), home.path().join("report-2.csv"));
        assert_eq!(
            std::fs::read_to_string(home.path().join("report.csv")).unwrap(),
            "1"
        );
        let escaped = write("../../etc/passwd", "3");
        assert_eq!(escaped.parent(), Some(home.path()));
        assert_eq!(numbered(".bashrc", 2), ".bashrc-2");
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&escaped).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn write_once_writes_same_content_once() {
        let home = tempfile::tempdir().unwrap();
        let write = |content: &[u8]| write_once(home.path(), "body.bin", content).unwrap();
        assert_eq!(
            (write(b"\x00"), write(b"\x00")),
            (home.path().join("body.bin"), home.path().join("body.bin"))
        );
        assert_eq!(write(b"\x01"), home.path().join("body-2.bin"));
        assert_eq!(
            std::fs::read(home.path().join("body.bin")).unwrap(),
            b"\x00"
        );
    }

    #[test]
    fn unfinished_file_is_deleted() {
        let home = tempfile::tempdir().unwrap();
        drop(NewFile::create(home.path(), "half").unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn unwritable_directory_is_error_with_hint() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let problem = NewFile::create(&home.path().join("file"), "a").unwrap_err();
        assert!(problem.message.contains("not written") && problem.hint.is_some());
    }

    #[test]
    fn typed_path_is_directory_of_saved_file() {
        let temp = tempfile::tempdir().unwrap();
        let named = |name: &str| format!("{}/{name}", temp.path().display());
        assert_eq!(
            save(&named("hits.csv"), b"1").unwrap(),
            temp.path().join("hits.csv")
        );
        assert!(can_save(&named("new.txt")).is_ok() && !temp.path().join("new.txt").exists());
        assert!(can_save(&named("none/new.txt")).is_err());
        let refused = save(&named("none/hits.csv"), b"1").unwrap_err();
        assert!(
            refused
                .hint
                .is_some_and(|hint| hint.contains("create the directory")),
            "{}",
            refused.message
        );
    }
}
