//! The files of an import: named ones, those of folders, and standard input, which waits in a
//! private file without a name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use super::reading::ShownReading;
use crate::cli::error::CliError;
use scandeck_import::{FilePreview, ImportLimits};
use scandeck_wire::input_files::open_regular;
use scandeck_wire::text::{self, io_cause};

const FOLDER: &str = "is a directory; `--recursive` reads the files in it";

/// What a file contains, or why it cannot be read.
pub fn preview(path: &Path, format: Option<&str>) -> Vec<FilePreview> {
    let shown = path.display().to_string();
    match open(path) {
        Ok(file) => FilePreview::read(&shown, ShownReading::new(&file), format),
        Err(error) => vec![FilePreview::failed(&shown, io_cause(&error))],
    }
}

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// When it cannot be opened, or standard input is too large.
pub fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return spooled(io::stdin().lock());
    }
    let opened = open_regular(path, OpenOptions::new().read(true));
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => io::Error::new(error.kind(), FOLDER),
        _ => error,
    })
}

/// The files that the paths name, those of a folder in the order of their names.
///
/// # Errors
/// When a folder cannot be listed, or has no file.
pub fn listed(paths: &[PathBuf], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !is_recursive || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = files_in(path)?;
        if found.is_empty() {
            let shown = path.display().to_string();
            let message = format!("no files in {}", text::clean(&shown));
            return Err(
                CliError::new(message, "check the directory; links are not followed").into(),
            );
        }
        files.extend(found);
    }
    Ok(files)
}

/// The files below a folder. Links are not followed.
fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = |error: io::Error| {
        let shown = folder.display().to_string();
        anyhow::anyhow!("cannot list {}: {}", text::clean(&shown), io_cause(&error))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut entries = entries
        .collect::<io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            files.extend(files_in(&entry.path())?);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// A stream as a file, because it is read twice: to show what it contains or to recognise it, and
/// to send it.
fn spooled(stream: impl Read) -> io::Result<File> {
    let most = ImportLimits::default().bytes;
    let mut file = tempfile::tempfile()?;
    let length = io::copy(&mut stream.take(most + 1), &mut file)?;
    if length > most {
        let message = format!("larger than {} MB; split it", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_is_read_twice_from_its_file() {
        let mut file = spooled(&b"{}"[..]).unwrap();
        for _ in 0..2 {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "{}");
            file.rewind().unwrap();
        }
    }
}
