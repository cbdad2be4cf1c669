//! The files of the lists as they were read last: what a dashboard shows before the service has answered.
//!
//! ```text
//!   last-known…/  workspaces.json   worked-in   of-ID/targets.json  scans.json  loggers.json  findings.json
//! ```
//!
//! A file holds the number of its items, then each as the API sends it. It is closed to others (0600), written beside
//! and renamed, so that it is whole whoever else writes; its time says when the service told it. A damaged file counts
//! as none. Nothing here may wait on the UI thread.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;

use crate::app::cached::KeptList;
use crate::app::plan::Noun;
use crate::app::table::{Item, Table};
use crate::contract::shared::interned;
use crate::contract::{Shared, Stamp, Workspace, WorkspaceId};

/// How the directories of last known data begin, below that of their service.
pub const PREFIX: &str = "last-known";

/// The directory of one service's lists.
#[derive(Clone, Debug)]
pub struct LastKnown(PathBuf);

/// Where a list belongs: that of the workspaces to none of them.
pub type Place = (Option<WorkspaceId>, Noun);

impl LastKnown {
    /// At a path; it is made when something is written.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Whether anything was kept.
    pub fn exists(&self) -> bool {
        self.file((None, Noun::Workspaces)).is_file()
    }

    fn file(&self, (workspace, noun): Place) -> PathBuf {
        let name = format!("{noun:?}.json").to_lowercase();
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
    pub fn write(&self, workspace: Option<WorkspaceId>, list: &KeptList, at: Stamp) -> io::Result<()> {
        let file = self.file((workspace, list.noun()));
        match list {
            KeptList::Workspaces(table) => {
                write(&file, table, at)?;
                self.drop_others(table)
            }
            KeptList::Targets(table) => write(&file, table, at),
            KeptList::Scans(table) => write(&file, table, at),
            KeptList::Findings(table) => write(&file, table, at),
            KeptList::Loggers(table) => write(&file, table, at),
        }
    }

    /// Reads a list and when it was read from the service; nothing where there is none, or a damaged one.
    pub fn read(&self, (workspace, noun): Place) -> Option<(KeptList, Stamp)> {
        let path = self.file((workspace, noun));
        let read = match noun {
            Noun::Workspaces => read(&path).map(KeptList::Workspaces),
            Noun::Targets => read(&path).map(KeptList::Targets),
            Noun::Scans => read(&path).map(KeptList::Scans),
            Noun::Findings => read(&path).map(KeptList::Findings),
            Noun::Loggers => read(&path).map(KeptList::Loggers),
            Noun::Captures | Noun::Reports | Noun::Wordlists => return None,
        };
        let told = read.and_then(|list| Ok((list, time_of(&path)?)));
        told.inspect_err(|error| {
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
    pub fn confirm(&self, place: Place, at: Stamp) -> io::Result<()> {
        File::options().write(true).open(self.file(place))?.set_modified(at.0.into())
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
        read(&self.file((None, Noun::Workspaces)))
    }

    /// Removes everything about a workspace; a list of workspaces that cannot be read goes with all there is.
    fn purge(&self, workspace: &str) -> io::Result<bool> {
        let Ok(table) = self.workspaces() else { return fs::remove_dir_all(&self.0).map(|()| true) };
        let (gone, left): (Vec<_>, Vec<_>) = table.items().iter().cloned().partition(|it| is_it(it, workspace));
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
            let path = self.file((None, Noun::Workspaces));
            write(&path, &Table::<Workspace>::new(left), time_of(&path)?)?;
        }
        Ok(!gone.is_empty())
    }
}

/// Whether a workspace goes by this name or id.
fn is_it(workspace: &Workspace, asked: &str) -> bool {
    let asked = asked.trim().to_lowercase();
    workspace.id.to_string() == asked || workspace.name.trim().to_lowercase() == asked
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
pub enum Known {
    /// Lists, under this name.
    Lists(Shared),
    /// All of a directory: its list of workspaces cannot be read, so nobody can tell whose it is.
    Perhaps(PathBuf),
}

/// What is last known about a workspace, named by id or name, below the directory of a service.
///
/// # Errors
/// When the directory cannot be read.
pub fn about(of_service: &Path, workspace: &str) -> io::Result<Vec<Known>> {
    let mut found = Vec::new();
    for files in directories(of_service)? {
        match files.workspaces() {
            Ok(table) => {
                let its = table.items().iter().filter(|it| is_it(it, workspace));
                found.extend(its.map(|it| Known::Lists(it.name.clone())));
            }
            Err(_) => found.push(Known::Perhaps(files.0)),
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
fn directories(of_service: &Path) -> io::Result<Vec<LastKnown>> {
    let entries = match fs::read_dir(of_service) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && entry.file_type()?.is_dir() {
            found.push(LastKnown::new(entry.path()));
        }
    }
    Ok(found)
}

fn write<T: Item + Serialize>(path: &Path, table: &Table<T>, at: Stamp) -> io::Result<()> {
    whole(path, |file| {
        let mut to = BufWriter::with_capacity(1 << 16, &mut *file);
        write!(to, "{}", table.len())?;
        for item in table.items() {
            to.write_all(b"\n")?;
            serde_json::to_writer(&mut to, &**item)?;
        }
        to.flush()?;
        drop(to);
        file.set_modified(at.0.into())
    })
}

/// Makes a file beside and renames it; temporary files are made 0600.
fn whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    fill(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Equal texts are stored once, as when an answer of the service is decoded.
fn read<T: Item + DeserializeOwned>(path: &Path) -> io::Result<Arc<Table<T>>> {
    let bytes = fs::read(path)?;
    let items = interned(|| -> serde_json::Result<Vec<T>> {
        let mut from = Deserializer::from_slice(&bytes);
        let count: usize = serde::Deserialize::deserialize(&mut from)?;
        let items = (0..count).map(|_| T::deserialize(&mut from)).collect::<Result<_, _>>()?;
        from.end()?;
        Ok(items)
    })?;
    Ok(Arc::new(Table::new(items)))
}

/// When the service told what a file holds.
fn time_of(path: &Path) -> io::Result<Stamp> {
    Timestamp::try_from(fs::metadata(path)?.modified()?).map(Stamp).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::contract::{Evidence, Finding, FindingId, Scan};

    fn stamp() -> Stamp {
        Stamp::parse("2026-11-21 12:00:00").unwrap()
    }

    fn workspaces(all: &[(i64, &str)]) -> KeptList {
        let one =
            |&(id, name): &(i64, &str)| Workspace { id: WorkspaceId(id), name: name.into(), ..Workspace::default() };
        KeptList::Workspaces(Arc::new(Table::new(all.iter().map(one))))
    }

    fn findings() -> Vec<Finding> {
        let evidence: Evidence = serde_json::from_str("{\"type\": \"text\",\n \"data\": \"GET /\\u0007\"}").unwrap();
        let one = |id| Finding {
            id: FindingId(id),
            name: "Private key".into(),
            vuln_evidence: evidence.clone(),
            cvss: Some(7.5),
            ..Finding::default()
        };
        vec![one(1), one(2)]
    }

    /// Two workspaces with findings.
    fn kept() -> (tempfile::TempDir, LastKnown) {
        let temp = tempfile::tempdir().unwrap();
        let files = LastKnown::new(temp.path().join("last-known-x"));
        files.write(None, &workspaces(&[(1, "Acme"), (2, "Lab")]), stamp()).unwrap();
        for id in [1, 2] {
            let list = KeptList::Findings(Arc::new(Table::new(findings())));
            files.write(Some(WorkspaceId(id)), &list, stamp()).unwrap();
        }
        (temp, files)
    }

    const FINDINGS: Place = (Some(WorkspaceId(1)), Noun::Findings);

    #[test]
    fn a_list_is_read_as_it_was_written_with_its_time_and_equal_texts_once() {
        let (_temp, files) = kept();
        let Some((KeptList::Findings(read), at)) = files.read(FINDINGS) else { panic!("nothing was kept") };
        assert_eq!(read.items().iter().map(|item| (**item).clone()).collect::<Vec<_>>(), findings());
        assert!(read.items()[0].name.same(&read.items()[1].name));
        assert_eq!(at, stamp());
        let later = Stamp::parse("2026-11-21 13:00:00").unwrap();
        files.confirm(FINDINGS, later).unwrap();
        assert_eq!(files.read(FINDINGS).unwrap().1, later);
    }

    #[test]
    fn the_workspace_worked_in_is_remembered() {
        let (_temp, files) = kept();
        assert_eq!(files.worked_in(), None);
        files.work_in(WorkspaceId(2)).unwrap();
        assert_eq!(files.worked_in(), Some(WorkspaceId(2)));
    }

    #[test]
    fn files_and_directories_are_closed_to_others() {
        let (_temp, files) = kept();
        files.work_in(WorkspaceId(1)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&files.0), mode(&files.of(WorkspaceId(1)))), (0o700, 0o700));
        for path in [files.file(FINDINGS), files.file((None, Noun::Workspaces)), files.0.join("worked-in")] {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }

    #[test]
    fn a_damaged_file_counts_as_none() {
        let (_temp, files) = kept();
        let path = files.file(FINDINGS);
        let whole = fs::read(&path).unwrap();
        let longer = [&whole, &b"{}"[..]].concat();
        let damages: [&[u8]; 6] = [&whole[..whole.len() / 2], b"", b"3", b"{}", b"\xff\xfe", &longer];
        for damaged in damages {
            fs::write(&path, damaged).unwrap();
            assert!(files.read(FINDINGS).is_none(), "{}", String::from_utf8_lossy(damaged));
        }
        assert!(files.read((Some(WorkspaceId(7)), Noun::Scans)).is_none());
    }

    #[test]
    fn what_a_service_takes_in_confidence_is_not_written() {
        let (_temp, files) = kept();
        let scan: Scan = serde_json::from_str(r#"{"id":1,"tool_params":{"authentication":{"pw":"hunter2"}}}"#).unwrap();
        files.write(Some(WorkspaceId(1)), &KeptList::Scans(Arc::new(Table::new([scan]))), stamp()).unwrap();
        let text = fs::read_to_string(files.file((Some(WorkspaceId(1)), Noun::Scans))).unwrap();
        assert!(text.contains("tool_params") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn a_workspace_that_does_not_exist_any_more_goes_with_the_next_list() {
        let (_temp, files) = kept();
        files.write(None, &workspaces(&[(2, "Lab")]), stamp()).unwrap();
        assert!(!files.of(WorkspaceId(1)).exists() && files.of(WorkspaceId(2)).exists());
    }

    #[test]
    fn a_purge_leaves_no_byte_about_the_workspace_and_all_about_others() {
        for asked in ["1", "ACME"] {
            let (temp, files) = kept();
            assert!(purge(temp.path(), asked).unwrap());
            assert!(!files.of(WorkspaceId(1)).exists() && files.of(WorkspaceId(2)).exists());
            let left = fs::read_to_string(files.file((None, Noun::Workspaces))).unwrap();
            assert!(left.contains("Lab") && !left.contains("Acme"), "{left}");
            assert!(!purge(temp.path(), asked).unwrap(), "there is none any more");
            assert!(!purge(&temp.path().join("none"), asked).unwrap());
        }
    }

    #[test]
    fn what_is_known_is_named_before_it_goes_and_the_last_one_leaves_nothing() {
        let (temp, files) = kept();
        files.work_in(WorkspaceId(1)).unwrap();
        let all = |asked| about(temp.path(), asked).unwrap();
        assert_eq!((all("acme"), all("2")), (vec![Known::Lists("Acme".into())], vec![Known::Lists("Lab".into())]));
        assert_eq!((all("none"), names(temp.path()).unwrap()), (vec![], vec!["Acme".into(), "Lab".into()]));
        assert!(purge(temp.path(), "Acme").unwrap());
        assert_eq!((all("acme"), files.worked_in()), (vec![], None));
        assert!(purge(temp.path(), "Lab").unwrap() && !files.0.exists());
    }

    #[test]
    fn a_purge_takes_all_where_nobody_can_tell_whose_it_is() {
        let (temp, files) = kept();
        fs::write(files.file((None, Noun::Workspaces)), "damaged").unwrap();
        assert_eq!(about(temp.path(), "Acme").unwrap(), [Known::Perhaps(files.0.clone())]);
        assert!(purge(temp.path(), "Acme").unwrap());
        assert!(!files.0.exists());
    }
}
