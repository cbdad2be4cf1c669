//! A result file of another scanner: what it contains, and what is sent of it.

use scandeck_import::FilePreview;
use scandeck_wire::contract::import::NewImport;
use std::path::PathBuf;
use std::time::Duration;

/// A file that is being read before its import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReading {
    /// As typed.
    pub path: String,
    pub began: Duration,
}

/// A file that was read before its import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportPreview {
    pub path: PathBuf,
    /// Bytes of the file. Another length means that it was not the one that was shown.
    pub length: u64,
    /// One for each file of an archive.
    pub files: Vec<FilePreview>,
}

/// A file to send.
#[derive(Clone, Debug, PartialEq)]
pub struct FileToImport {
    pub path: PathBuf,
    /// Its length when it was shown.
    pub length: u64,
    pub new: NewImport,
}

/// Names in a folder, for the completion of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderNames {
    /// As typed, with a slash at its end; empty is the current directory.
    pub folder: String,
    /// Folders have a slash at their end. None until they are listed.
    pub names: Option<Vec<String>>,
}

impl ImportPreview {
    /// The name of the file without folders.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The files whose format is known.
    pub fn known(&self) -> impl Iterator<Item = &FilePreview> {
        self.files.iter().filter(|file| file.format.is_some())
    }

    pub fn findings(&self) -> u64 {
        self.known().map(|file| file.findings).sum()
    }
}
