//! Result files of other scanners: what they contain, their content for the service, and the names
//! that complete a path.

use crate::base::{FileToImport, FolderNames, ImportPreview};
use scandeck_client::{Problem, UploadFile};
use scandeck_import::FilePreview;
use scandeck_wire::base_dirs::home;
use scandeck_wire::input_files::open_regular;
use scandeck_wire::text::{clean, io_cause};
use std::fs::{DirEntry, File, OpenOptions, read_dir};
use std::io;
use std::path::{Path, PathBuf};

/// Names that are offered of one folder.
const MOST_NAMES: usize = 2_000;

/// Reads what a file contains.
///
/// # Errors
/// When it cannot be read.
pub fn read(typed: &str) -> Result<ImportPreview, Problem> {
    let path = expanded(typed);
    let file = open(&path)?;
    let length = file
        .metadata()
        .map_err(|error| unread(&path, &error))?
        .len();
    let files = FilePreview::read(typed, file, None);
    Ok(ImportPreview {
        path,
        length,
        files,
    })
}

/// The content of a file that was shown.
///
/// # Errors
/// When it cannot be read, or is another one.
pub fn upload(file: &FileToImport) -> Result<UploadFile, Problem> {
    let upload = UploadFile::new(open(&file.path)?);
    let upload = upload.map_err(|error| unread(&file.path, &error))?;
    if upload.length() == file.length {
        return Ok(upload);
    }
    let changed = format!("{} has changed since it was read", file.path.display());
    Err(Problem::local(changed).with_hint("close the form and import the file again"))
}

/// Lists a folder; nothing if it cannot be listed. Names that the line cannot show are left out.
pub fn names_in(folder: String) -> FolderNames {
    let path = match folder.as_str() {
        "" => PathBuf::from("."),
        folder => expanded(folder),
    };
    let entries = read_dir(path).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| name_of(&entry));
    let mut names: Vec<String> = names.take(MOST_NAMES).collect();
    names.sort();
    FolderNames {
        folder,
        names: Some(names),
    }
}

fn name_of(entry: &DirEntry) -> Option<String> {
    let name = entry.file_name().into_string().ok()?;
    let slash = if entry.path().is_dir() { "/" } else { "" };
    let is_shown = clean(&name).is_unchanged(&name);
    is_shown.then(|| format!("{name}{slash}"))
}

/// The path with the home directory for `~`.
fn expanded(typed: &str) -> PathBuf {
    match typed.strip_prefix("~/").zip(home().ok()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(typed),
    }
}

fn open(path: &Path) -> Result<File, Problem> {
    open_regular(path, OpenOptions::new().read(true)).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> Problem {
    Problem::local(format!("{} not read: {}", path.display(), io_cause(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::import::NewImport;

    #[test]
    fn names_of_a_folder_mark_folders() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("results")).unwrap();
        for name in ["a.json", "b\u{1b}[2J.json", ".hidden"] {
            std::fs::write(temp.path().join(name), "{}").unwrap();
        }
        let folder = format!("{}/", temp.path().display());
        let names = names_in(folder.clone()).names.unwrap();
        assert_eq!(names, [".hidden", "a.json", "results/"]);
        assert_eq!(names_in(format!("{folder}none/")).names.unwrap().len(), 0);
    }

    #[test]
    fn changed_file_is_not_sent() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.jsonl");
        std::fs::write(&path, "nothing that is known").unwrap();
        let shown = read(&path.display().to_string()).unwrap();
        assert_eq!((shown.length, shown.known().count()), (21, 0));
        let mut file = FileToImport {
            path,
            length: shown.length,
            new: NewImport::default(),
        };
        assert_eq!(upload(&file).unwrap().length(), 21);
        file.length = 20;
        assert!(upload(&file).unwrap_err().message.contains("has changed"));
    }
}
