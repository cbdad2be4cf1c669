//! The cached lists: files that a dashboard shows before the service has answered.
//!
//! ```text
//!   last-known…/  workspaces.json   worked-in   of-ID/targets.json  scans.json  loggers.json  findings.json
//! ```
//!
//! A file has the number of its items, then each item as the API sends it. It is private (0600) and
//! written atomically; its modification time is the time at which the service sent the list. A
//! damaged file counts as missing. These functions block, so they must not run on the UI thread.

pub(crate) mod file;
#[cfg(test)]
mod tests;

use crate::base::ListKind;
use crate::base::plan::{Snapshot, each_list};
use crate::poller::FindingTextFiles;
use crate::runtime::cached_lists::file::{read, read_findings, time_of, whole, write};
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Shared, Stamp, Workspace, WorkspaceId};
use scandeck_wire::input_files::{InputKind, open_regular, read_text};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Prefix of the cache directories below the directory of their service.
pub const PREFIX: &str = "last-known";

/// The cache directory of a service.
#[derive(Clone, Debug)]
pub struct CachedLists {
    directory: PathBuf,
    /// The files of the long texts of findings that are read; without them, the texts are held in
    /// memory.
    texts: Option<FindingTextFiles>,
}

/// The key of a cache file. The list of workspaces belongs to no workspace.
pub type ListFile = (Option<WorkspaceId>, ListKind);

impl CachedLists {
    /// A directory, which is created by the first write.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            texts: None,
        }
    }

    /// The same with the long texts of findings in files.
    #[must_use]
    pub fn with_texts(self, texts: FindingTextFiles) -> Self {
        Self {
            texts: Some(texts),
            ..self
        }
    }

    /// Whether there are cached lists.
    pub fn exists(&self) -> bool {
        self.file((None, ListKind::Workspaces)).is_file()
    }

    fn file(&self, (workspace, list): ListFile) -> PathBuf {
        let name = format!("{list:?}.json").to_lowercase();
        match workspace {
            Some(id) => self.of(id).join(name),
            None => self.directory.join(name),
        }
    }

    fn of(&self, workspace: WorkspaceId) -> PathBuf {
        self.directory.join(format!("of-{workspace}"))
    }

    /// Writes a list atomically, with the time of its response. A list of workspaces also deletes
    /// the lists of other workspaces.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn write(
        &self,
        workspace: Option<WorkspaceId>,
        snapshot: &Snapshot,
        at: Stamp,
    ) -> io::Result<()> {
        let file = self.file((workspace, snapshot.list_kind()));
        write_list(&file, snapshot, at)?;
        match snapshot {
            Snapshot::Workspaces(table) => self.drop_others(table),
            _ => Ok(()),
        }
    }

    /// Reads a list with the time of its response; `None` if it is missing or damaged.
    pub fn read(&self, (workspace, list): ListFile) -> Option<(Snapshot, Stamp)> {
        let path = self.file((workspace, list));
        let read = self
            .read_list(&path, list)?
            .and_then(|snapshot| Ok((snapshot, time_of(&path)?)));
        read.inspect_err(|error| {
            if error.kind() != ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "cached list ignored");
            }
        })
        .ok()
    }

    /// The time of a list, if there is a file.
    pub fn time(&self, list: ListFile) -> Option<Stamp> {
        time_of(&self.file(list)).ok()
    }

    /// The size of the file of a list; 0 without a file.
    pub fn bytes(&self, list: ListFile) -> u64 {
        fs::metadata(self.file(list)).map_or(0, |file| file.len())
    }

    /// Sets the time of a list that has not changed.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn confirm(&self, list: ListFile, at: Stamp) -> io::Result<()> {
        open_regular(&self.file(list), OpenOptions::new().write(true))?.set_modified(at.0.into())
    }

    /// The workspace that was opened last.
    pub fn worked_in(&self) -> Option<WorkspaceId> {
        read_text(&self.directory.join("worked-in"), InputKind::Settings)
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Stores the current workspace.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn work_in(&self, workspace: WorkspaceId) -> io::Result<()> {
        whole(&self.directory.join("worked-in"), |file| {
            writeln!(file, "{workspace}")
        })
    }

    fn drop_others(&self, known: &Table<Workspace>) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name
                .to_str()
                .and_then(|name| name.strip_prefix("of-")?.parse::<WorkspaceId>().ok());
            if id.is_some_and(|id| known.get(id).is_none()) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// The workspaces with cached lists.
    fn workspaces(&self) -> io::Result<Arc<Table<Workspace>>> {
        read(&self.file((None, ListKind::Workspaces)))
    }

    /// Deletes the lists of a workspace. If the list of workspaces cannot be read, all lists are
    /// deleted.
    fn purge(&self, workspace: &str) -> io::Result<bool> {
        let Ok(table) = self.workspaces() else {
            return fs::remove_dir_all(&self.directory).map(|()| true);
        };
        let (matching, left): (Vec<_>, Vec<_>) = table
            .items()
            .iter()
            .cloned()
            .partition(|it| it.is_called(workspace));
        if !matching.is_empty() && left.is_empty() {
            return fs::remove_dir_all(&self.directory).map(|()| true);
        }
        for it in &matching {
            ignore_absent(fs::remove_dir_all(self.of(it.id)))?;
            if self.worked_in() == Some(it.id) {
                ignore_absent(fs::remove_file(self.directory.join("worked-in")))?;
            }
        }
        if !matching.is_empty() {
            let path = self.file((None, ListKind::Workspaces));
            write(&path, &Table::<Workspace>::new(left), time_of(&path)?)?;
        }
        Ok(!matching.is_empty())
    }
}

/// Writes the lists of [`Snapshot`], and reads them by their kind.
macro_rules! list_files {
    ($($list:ident($item:ty) $field:ident $of_workspace:literal;)*) => {
        fn write_list(path: &Path, snapshot: &Snapshot, at: Stamp) -> io::Result<()> {
            match snapshot {
                $(Snapshot::$list(table) => write(path, table, at),)*
            }
        }

        impl CachedLists {
            fn read_list(&self, path: &Path, list: ListKind) -> Option<io::Result<Snapshot>> {
                match list {
                    ListKind::Findings if self.texts.is_some() => {
                        Some(read_findings(path, self.texts.as_ref()?).map(Snapshot::Findings))
                    }
                    $(ListKind::$list => Some(read(path).map(Snapshot::$list)),)*
                    // Captures are in the archive.
                    ListKind::Captures => None,
                }
            }
        }
    };
}
each_list!(list_files);

/// Ignores that a file did not exist.
fn ignore_absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The cached data of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CachedWorkspace {
    /// The lists of the workspace with this name.
    Lists(Shared),
    /// A directory whose list of workspaces cannot be read, so that its workspaces are unknown.
    Perhaps(PathBuf),
}

/// The cached data of a workspace, given by id or name, below the directory of a service.
///
/// # Errors
/// When the directory cannot be read.
pub fn about(of_service: &Path, workspace: &str) -> io::Result<Vec<CachedWorkspace>> {
    let mut found = Vec::new();
    for files in directories(of_service)? {
        match files.workspaces() {
            Ok(table) => {
                let its = table.items().iter().filter(|it| it.is_called(workspace));
                found.extend(its.map(|it| CachedWorkspace::Lists(it.name.clone())));
            }
            Err(_) => found.push(CachedWorkspace::Perhaps(files.directory)),
        }
    }
    Ok(found)
}

/// The names of all workspaces with cached lists.
///
/// # Errors
/// When the directory cannot be read.
pub fn names(of_service: &Path) -> io::Result<Vec<Shared>> {
    let tables = directories(of_service)?
        .into_iter()
        .filter_map(|files| files.workspaces().ok());
    Ok(tables
        .flat_map(|table| {
            table
                .items()
                .iter()
                .map(|it| it.name.clone())
                .collect::<Vec<_>>()
        })
        .collect())
}

/// Deletes the cached data of a workspace, given by id or name, below the directory of a service.
/// Returns whether there was any. A running dashboard would write it again.
///
/// # Errors
/// When a file cannot be deleted.
pub fn purge(of_service: &Path, workspace: &str) -> io::Result<bool> {
    let mut found = false;
    for files in directories(of_service)? {
        found |= files.purge(workspace)?;
    }
    Ok(found)
}

/// The cache directories of a service; there are several if a profile has named different services.
fn directories(of_service: &Path) -> io::Result<Vec<CachedLists>> {
    let entries = match fs::read_dir(of_service) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && entry.file_type()?.is_dir() {
            found.push(CachedLists::new(entry.path()));
        }
    }
    Ok(found)
}
