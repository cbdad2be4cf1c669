//! The files of the lists as they were read last: what a dashboard shows before the service has answered.
//!
//! ```text
//!   last-known…/  workspaces.json   worked-in   of-ID/targets.json  scans.json  loggers.json  findings.json
//! ```
//!
//! A file holds the number of its items, then each as the API sends it. It is closed to others (0600), written beside
//! and renamed, so that it is whole whoever else writes; its time says when the service told it. A damaged file counts
//! as none. Nothing here may wait on the UI thread.

mod file;
#[cfg(test)]
mod tests;

use crate::contract::{Shared, Stamp, Workspace, WorkspaceId};
use crate::dashboard::base::ListKind;
use crate::dashboard::base::plan::Snapshot;
use crate::dashboard::runtime::cached_lists::file::{read, time_of, whole, write};
use crate::table::Table;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// How the directories of last known data begin, below that of their service.
pub const PREFIX: &str = "last-known";

/// The directory of one service's lists.
#[derive(Clone, Debug)]
pub struct CachedLists(PathBuf);

/// Which file a list has: that of the workspaces belongs to none of them.
pub type ListFile = (Option<WorkspaceId>, ListKind);

impl CachedLists {
    /// At a path; it is made when something is written.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Whether anything was kept.
    pub fn exists(&self) -> bool {
        self.file((None, ListKind::Workspaces)).is_file()
    }

    fn file(&self, (workspace, list): ListFile) -> PathBuf {
        let name = format!("{list:?}.json").to_lowercase();
        match workspace {
            Some(id) => self.of(id).join(name),
            None => self.0.join(name),
        }
    }

    fn of(&self, workspace: WorkspaceId) -> PathBuf {
        self.0.join(format!("of-{workspace}"))
    }

    /// Writes a list whole or not at all, as read at a time. With the list of workspaces, what was kept about others
    /// goes.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn write(&self, workspace: Option<WorkspaceId>, snapshot: &Snapshot, at: Stamp) -> io::Result<()> {
        let file = self.file((workspace, snapshot.list_kind()));
        match snapshot {
            Snapshot::Workspaces(table) => {
                write(&file, table, at)?;
                self.drop_others(table)
            }
            Snapshot::Targets(table) => write(&file, table, at),
            Snapshot::Scans(table) => write(&file, table, at),
            Snapshot::Findings(table) => write(&file, table, at),
            Snapshot::Loggers(table) => write(&file, table, at),
            Snapshot::Reports(table) => write(&file, table, at),
            Snapshot::Wordlists(table) => write(&file, table, at),
        }
    }

    /// Reads a list and when it was read from the service; nothing where there is none, or a damaged one.
    pub fn read(&self, (workspace, list): ListFile) -> Option<(Snapshot, Stamp)> {
        let path = self.file((workspace, list));
        let read = match list {
            ListKind::Workspaces => read(&path).map(Snapshot::Workspaces),
            ListKind::Targets => read(&path).map(Snapshot::Targets),
            ListKind::Scans => read(&path).map(Snapshot::Scans),
            ListKind::Findings => read(&path).map(Snapshot::Findings),
            ListKind::Loggers => read(&path).map(Snapshot::Loggers),
            ListKind::Reports => read(&path).map(Snapshot::Reports),
            ListKind::Wordlists => read(&path).map(Snapshot::Wordlists),
            // The archive has them.
            ListKind::Captures => return None,
        };
        let read = read.and_then(|snapshot| Ok((snapshot, time_of(&path)?)));
        read.inspect_err(|error| {
            if error.kind() != ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "last known data cannot be read and is left out");
            }
        })
        .ok()
    }

    /// Notes that a list is still as it was written.
    ///
    /// # Errors
    /// When there is none.
    pub fn confirm(&self, list: ListFile, at: Stamp) -> io::Result<()> {
        File::options().write(true).open(self.file(list))?.set_modified(at.0.into())
    }

    /// The workspace worked in last.
    pub fn worked_in(&self) -> Option<WorkspaceId> {
        fs::read_to_string(self.0.join("worked-in")).ok()?.trim().parse().ok()
    }

    /// Notes the workspace worked in.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn work_in(&self, workspace: WorkspaceId) -> io::Result<()> {
        whole(&self.0.join("worked-in"), |file| writeln!(file, "{workspace}"))
    }

    fn drop_others(&self, known: &Table<Workspace>) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix("of-")?.parse::<WorkspaceId>().ok());
            if id.is_some_and(|id| known.get(id).is_none()) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// The workspaces that lists are kept of.
    fn workspaces(&self) -> io::Result<Arc<Table<Workspace>>> {
        read(&self.file((None, ListKind::Workspaces)))
    }

    /// Removes everything about a workspace; a list of workspaces that cannot be read goes with all there is.
    fn purge(&self, workspace: &str) -> io::Result<bool> {
        let Ok(table) = self.workspaces() else { return fs::remove_dir_all(&self.0).map(|()| true) };
        let (gone, left): (Vec<_>, Vec<_>) = table.items().iter().cloned().partition(|it| it.is_called(workspace));
        if !gone.is_empty() && left.is_empty() {
            return fs::remove_dir_all(&self.0).map(|()| true);
        }
        for it in &gone {
            gone_already(fs::remove_dir_all(self.of(it.id)))?;
            if self.worked_in() == Some(it.id) {
                gone_already(fs::remove_file(self.0.join("worked-in")))?;
            }
        }
        if !gone.is_empty() {
            let path = self.file((None, ListKind::Workspaces));
            write(&path, &Table::<Workspace>::new(left), time_of(&path)?)?;
        }
        Ok(!gone.is_empty())
    }
}

/// What is not there need not be removed.
fn gone_already(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What is last known of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CachedWorkspace {
    /// Lists, under this name.
    Lists(Shared),
    /// All of a directory: its list of workspaces cannot be read, so nobody can tell whose it is.
    Perhaps(PathBuf),
}

/// What is last known about a workspace, named by id or name, below the directory of a service.
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
            Err(_) => found.push(CachedWorkspace::Perhaps(files.0)),
        }
    }
    Ok(found)
}

/// The names of all workspaces of which something is last known.
///
/// # Errors
/// When the directory cannot be read.
pub fn names(of_service: &Path) -> io::Result<Vec<Shared>> {
    let tables = directories(of_service)?.into_iter().filter_map(|files| files.workspaces().ok());
    Ok(tables.flat_map(|table| table.items().iter().map(|it| it.name.clone()).collect::<Vec<_>>()).collect())
}

/// Removes the last known data about a workspace, named by id or name, from all that is kept below the directory of a
/// service; tells whether there was any. A running dashboard would write it again.
///
/// # Errors
/// When something cannot be removed.
pub fn purge(of_service: &Path, workspace: &str) -> io::Result<bool> {
    let mut found = false;
    for files in directories(of_service)? {
        found |= files.purge(workspace)?;
    }
    Ok(found)
}

/// A profile that came to name another service has several.
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
