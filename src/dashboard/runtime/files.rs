//! Files the dashboard writes for a person: into the current directory or the one that was typed, under a cleaned name,
//! never over another, and closed to others, for findings and captures hold what others should not read.

use crate::client::Problem;
use crate::text;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How many numbered names are tried.
const TRIES: u32 = 1000;

/// A file being written. Unless it is kept, dropping it removes it.
#[derive(Debug)]
pub struct NewFile {
    file: Option<File>,
    path: PathBuf,
}

impl NewFile {
    /// Makes a file that was not there: `name`, or `name-2`, `name-3` … before the ending.
    ///
    /// # Errors
    /// When the directory takes no files.
    pub fn create(directory: &Path, name: &str) -> Result<Self, Problem> {
        let name = text::file_name(name);
        for number in 1..=TRIES {
            let path = directory.join(numbered(&name, number));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Self { file: Some(file), path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(&path, &error)),
            }
        }
        let message = format!("{} and {TRIES} names like it are taken", directory.join(name).display());
        Err(Problem::local(message).with_hint("move the older ones away"))
    }

    /// The current directory.
    ///
    /// # Errors
    /// When it no longer exists.
    pub fn here() -> Result<PathBuf, Problem> {
        std::env::current_dir().map_err(|error| Problem::local(format!("there is no current directory: {error}")))
    }

    /// Writes all of it and keeps it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(mut self, content: &[u8]) -> Result<PathBuf, Problem> {
        if let Some(file) = &mut self.file {
            file.write_all(content).map_err(|error| refused(&self.path, &error))?;
        }
        Ok(self.keep())
    }

    /// A second handle, for writing as the content arrives.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub fn writer(&self) -> Result<tokio::fs::File, Problem> {
        let clone = self.file.as_ref().map(File::try_clone).transpose().map_err(|error| refused(&self.path, &error))?;
        clone.map(tokio::fs::File::from_std).ok_or_else(|| Problem::local("the file was closed"))
    }

    /// It is whole: it stays. Returns its full path.
    pub fn keep(mut self) -> PathBuf {
        self.file = None;
        self.path.clone()
    }
}

/// Writes a file into a directory, unless it is there already with this very content; another of its name stays.
///
/// # Errors
/// When the directory takes no files.
pub fn write_once(directory: &Path, name: &str, content: &[u8]) -> Result<PathBuf, Problem> {
    let there = directory.join(text::file_name(name));
    // Nothing but a plain file is read: a pipe would be waited for.
    let is_alike = std::fs::symlink_metadata(&there).is_ok_and(|it| it.is_file() && it.len() == content.len() as u64);
    if is_alike && std::fs::read(&there).is_ok_and(|other| other == content) {
        return Ok(there);
    }
    NewFile::create(directory, name)?.write(content)
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Half a file would pass for a whole one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// `name`, `name-2`, `name-3` … before the ending.
pub(crate) fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    }
}

fn refused(path: &Path, error: &io::Error) -> Problem {
    let hint = match error.kind() {
        ErrorKind::NotFound => "make the directory first",
        _ => "name a directory you can write to",
    };
    Problem::local(format!("cannot write {}: {error}", path.display())).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_names_cannot_leave_the_directory() {
        let home = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| NewFile::create(home.path(), name).unwrap().write(text.as_bytes()).unwrap();
        assert_eq!(write("report.csv", "1"), home.path().join("report.csv"));
        assert_eq!(write("report.csv", "2"), home.path().join("report-2.csv"));
        assert_eq!(std::fs::read_to_string(home.path().join("report.csv")).unwrap(), "1");
        let escaped = write("../../etc/passwd", "3");
        assert_eq!(escaped.parent(), Some(home.path()));
        assert_eq!(numbered(".bashrc", 2), ".bashrc-2");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&escaped).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_is_there_already_is_not_written_again_and_another_file_of_its_name_stays() {
        let home = tempfile::tempdir().unwrap();
        let write = |content: &[u8]| write_once(home.path(), "body.bin", content).unwrap();
        assert_eq!((write(b"\x00"), write(b"\x00")), (home.path().join("body.bin"), home.path().join("body.bin")));
        assert_eq!(write(b"\x01"), home.path().join("body-2.bin"));
        assert_eq!(std::fs::read(home.path().join("body.bin")).unwrap(), b"\x00");
    }

    #[test]
    fn a_file_that_was_not_finished_is_removed() {
        let home = tempfile::tempdir().unwrap();
        drop(NewFile::create(home.path(), "half").unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_takes_no_files_is_told() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let problem = NewFile::create(&home.path().join("file"), "a").unwrap_err();
        assert!(problem.message.contains("cannot write") && problem.hint.is_some());
    }
}
