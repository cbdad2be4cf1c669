//! The task that caches the lists between two runs: it reads them at the start and when the
//! workspace changes, and writes the snapshots of the poller.
//!
//! ```text
//!   start ─► workspaces ─► Msg::Cached        plan of another workspace ─► its lists ─► Msg::Cached
//!   update of the poller ─► waits ten seconds, the newest snapshot of each list wins ─► file, or its new time
//! ```
//!
//! Files are read and written on blocking threads. The end of the dashboard writes the waiting
//! lists.

use crate::base::{
    CACHED_LISTS, CachedList, Generation, Link, ListItem, ListKind, PollEvent, Snapshot, Update,
};
use crate::core::Msg;
use crate::data::Data;
use crate::model::Model;
use crate::poller::FindingTextFiles;
use crate::runtime::{CachedLists, ListFile, TaskReport};
use jiff::Timestamp;
use scandeck_client::on_list_thread;
use scandeck_domain::table::Remote;
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::{Stamp, WorkspaceId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep_until, timeout};

/// How long a snapshot waits for a newer one before it is written.
const SNAPSHOT_DEBOUNCE: Duration = Duration::from_secs(10);
/// Long lists wait longer: so many times the duration of the last write, which is 0.2% of the time.
/// The end of the dashboard writes them in any case.
const DEBOUNCE_FACTOR: u32 = 500;
/// Limit for the remaining writes at the end: short, because they are only a cache.
const GOODBYE: Duration = Duration::from_secs(3);

/// Snapshots to be written: the newest of each list.
type WaitingLists = BTreeMap<ListFile, (Snapshot, Stamp)>;

enum CacheRequest {
    Recall(Generation, WorkspaceId),
    /// A list waits to be written.
    Keep,
    Confirm(Vec<ListFile>, Stamp),
}

/// The handle of the task.
pub(crate) struct Cache {
    requests: UnboundedSender<CacheRequest>,
    task: JoinHandle<()>,
    /// The workspace that was recalled last.
    recalled: Option<WorkspaceId>,
    texts: FindingTextFiles,
    /// Shared, so that a newer snapshot need not wake the task.
    waiting: Arc<Mutex<WaitingLists>>,
}

impl Cache {
    /// Starts the task, which reports to `answers`. The receiver is notified when the cached
    /// workspaces were reported.
    pub fn start(
        directory: PathBuf,
        files: FindingTextFiles,
        answers: UnboundedSender<TaskReport>,
    ) -> (Self, oneshot::Receiver<()>) {
        let (requests, waiting) = mpsc::unbounded_channel();
        let (begun, started) = oneshot::channel();
        let task = CacheTask::new(directory, files.clone(), answers);
        let lists = Arc::clone(&task.waiting);
        let task = tokio::spawn(task.run(waiting, begun));
        (
            Self {
                requests,
                task,
                recalled: None,
                texts: files,
                waiting: lists,
            },
            started,
        )
    }

    /// Requests the lists of the current workspace of the model, if it has changed.
    pub fn recall(&mut self, model: &Model) {
        if self.recalled != model.navigation.scope.workspace {
            self.recalled = model.navigation.scope.workspace;
            if let Some(id) = self.recalled {
                self.texts.expect(id);
                self.send(CacheRequest::Recall(model.connection.generation, id));
            }
        }
    }

    /// Caches a snapshot of the current workspace, if its list is cached at all.
    pub fn keep(&self, update: &Update, model: &Model) {
        let snapshot = match &update.event {
            PollEvent::Snapshot(snapshot) => snapshot.clone(),
            PollEvent::SomeFindings(table, unread, _) if unread.ids.is_empty() => {
                Snapshot::Findings(Arc::clone(table))
            }
            _ => return,
        };
        let list = snapshot.list_kind();
        let workspace = match model.navigation.scope.workspace {
            _ if list == ListKind::Workspaces => None,
            Some(id)
                if update.generation == model.connection.generation
                    && CACHED_LISTS.contains(&list) =>
            {
                Some(id)
            }
            _ => return,
        };
        let mut waiting = locked(&self.waiting);
        if waiting.is_empty() {
            self.send(CacheRequest::Keep);
        }
        waiting.insert((workspace, list), (snapshot, update.at));
    }

    fn send(&self, request: CacheRequest) {
        // A task that has ended has logged its error.
        let _ = self.requests.send(request);
    }

    /// Waits until everything is written. Lists that are fresh now get the current time.
    pub async fn end(self, model: &Model) {
        if let (Link::Live { .. }, Some(id)) =
            (&model.connection.link, model.navigation.scope.workspace)
        {
            self.send(CacheRequest::Confirm(
                fresh(&model.data, id),
                Stamp(Timestamp::now()),
            ));
        }
        drop(self.requests);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::warn!("ended before the cache was written");
        }
    }
}

/// The lock protects plain values, which stay usable after a panic of another holder.
fn locked(waiting: &Mutex<WaitingLists>) -> MutexGuard<'_, WaitingLists> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lists that are as recent as the service.
fn fresh(data: &Data, id: WorkspaceId) -> Vec<ListFile> {
    fn is_fresh<T>(remote: &Remote<T>) -> bool {
        matches!(remote, Remote::Fresh { .. })
    }
    let is_listed = |list: &ListKind| match list {
        ListKind::Targets => is_fresh(&data.targets),
        ListKind::Scans => is_fresh(&data.scans),
        ListKind::Loggers => is_fresh(&data.loggers),
        ListKind::Findings => is_fresh(&data.occurrences),
        _ => false,
    };
    let workspaces = is_fresh(&data.workspaces).then_some((None, ListKind::Workspaces));
    workspaces
        .into_iter()
        .chain(
            CACHED_LISTS
                .into_iter()
                .filter(is_listed)
                .map(|list| (Some(id), list)),
        )
        .collect()
}

struct CacheTask {
    files: CachedLists,
    texts: FindingTextFiles,
    answers: UnboundedSender<TaskReport>,
    waiting: Arc<Mutex<WaitingLists>>,
    /// The tables in the files, by their revisions, and the times of the files.
    written: BTreeMap<ListFile, (u64, Stamp)>,
    rest: Duration,
}

impl CacheTask {
    fn new(
        directory: PathBuf,
        texts: FindingTextFiles,
        answers: UnboundedSender<TaskReport>,
    ) -> Self {
        Self {
            files: CachedLists::new(directory).with_texts(texts.clone()),
            texts,
            answers,
            waiting: Arc::default(),
            written: BTreeMap::new(),
            rest: SNAPSHOT_DEBOUNCE,
        }
    }

    async fn run(
        mut self,
        mut requests: UnboundedReceiver<CacheRequest>,
        begun: oneshot::Sender<()>,
    ) {
        self.report_workspaces().await;
        // At the end of the dashboard nobody receives it.
        let _ = begun.send(());
        let mut due = None;
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(CacheRequest::Recall(generation, id)) => self.recall(generation, id).await,
                    Some(CacheRequest::Keep) => _ = due.get_or_insert_with(|| Instant::now() + self.rest),
                    Some(CacheRequest::Confirm(lists, at)) => {
                        self.write().await;
                        self.confirm(lists, at).await;
                    }
                    None => break,
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    due = None;
                    self.write().await;
                }
            }
        }
        self.write().await;
    }

    async fn report_workspaces(&self) {
        let files = self.files.clone();
        let read =
            spawn_blocking(move || (files.read((None, ListKind::Workspaces)), files.worked_in()))
                .await;
        if let Ok((Some((snapshot, at)), worked_in)) = read {
            self.report(CachedList {
                generation: 0,
                at,
                worked_in,
                snapshot,
            });
        }
    }

    async fn recall(&mut self, generation: Generation, id: WorkspaceId) {
        let files = self.files.clone();
        self.attempt(spawn_blocking(move || files.work_in(id)).await);
        for list in CACHED_LISTS {
            let file = (Some(id), list);
            let files = self.files.clone();
            let newer = locked(&self.waiting).get(&file).cloned();
            let known = match newer {
                Some(newer) => Some(newer),
                None => on_list_thread(move || files.read(file))
                    .await
                    .flatten()
                    .inspect(|(snapshot, at)| {
                        self.written.insert(file, (snapshot.revision(), *at));
                    }),
            };
            if list == ListKind::Findings {
                self.texts.remember(
                    id,
                    known
                        .as_ref()
                        .and_then(|(snapshot, _)| ListedFinding::table_in(snapshot)),
                );
            }
            if let Some((snapshot, at)) = known {
                self.report(CachedList {
                    generation,
                    at,
                    worked_in: None,
                    snapshot,
                });
            }
        }
    }

    fn report(&self, cached: CachedList) {
        // At the end of the dashboard nobody receives it.
        let _ = self
            .answers
            .send(TaskReport::Msg(Box::new(Msg::Cached(cached))));
    }

    async fn write(&mut self) {
        let begun = Instant::now();
        let waiting = std::mem::take(&mut *locked(&self.waiting));
        for (file, (snapshot, at)) in waiting {
            let (files, revision) = (self.files.clone(), snapshot.revision());
            // An unchanged list only gets a new time, unless another dashboard has written the
            // file.
            let known = self
                .written
                .remove(&file)
                .filter(|&(written, _)| written == revision);
            let write = move || match known {
                Some((_, time)) if files.time(file).is_some_and(|now| now == time) => {
                    files.confirm(file, at)
                }
                _ => files.write(file.0, &snapshot, at),
            };
            if self.attempt(spawn_blocking(write).await) {
                self.written.insert(file, (revision, at));
            }
        }
        self.rest = SNAPSHOT_DEBOUNCE.max(begun.elapsed() * DEBOUNCE_FACTOR);
    }

    async fn confirm(&self, lists: Vec<ListFile>, at: Stamp) {
        let (files, written) = (self.files.clone(), self.written.clone());
        let is_written = move |list: &&ListFile| written.contains_key(list);
        let confirm = move || {
            lists
                .iter()
                .filter(is_written)
                .try_for_each(|&list| files.confirm(list, at))
        };
        self.attempt(spawn_blocking(confirm).await);
    }

    /// Returns whether the work succeeded. An error is only logged, because the files are only a
    /// cache.
    fn attempt(&self, done: Result<std::io::Result<()>, tokio::task::JoinError>) -> bool {
        let done = done.map_err(std::io::Error::other).flatten();
        done.inspect_err(|error| tracing::warn!(%error, "cache not written"))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::UnreadScans;
    use crate::testing::TestDashboard;
    use scandeck_domain::table::Table;
    use scandeck_domain::triage::ReadTimes;
    use scandeck_wire::contract::{Finding, FindingId, ScanId};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    const FINDINGS: ListFile = (Some(WorkspaceId(1)), ListKind::Findings);

    fn task(directory: &Path) -> (CacheTask, UnboundedReceiver<TaskReport>) {
        let (answers, reports) = mpsc::unbounded_channel();
        let texts = FindingTextFiles::new(directory.join("texts"));
        (
            CacheTask::new(directory.join("lists"), texts, answers),
            reports,
        )
    }

    fn findings(name: &str) -> Snapshot {
        let finding = Finding {
            id: FindingId(1),
            name: name.into(),
            ..Finding::default()
        };
        Snapshot::Findings(Arc::new(Table::new([finding])))
    }

    #[tokio::test]
    async fn findings_of_single_scans_are_cached_with_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let (answers, _reports) = mpsc::unbounded_channel();
        let texts = FindingTextFiles::new(directory.path().join("texts"));
        let (cache, _begun) = Cache::start(directory.path().join("lists"), texts, answers);
        let model = TestDashboard::new().model;
        let Snapshot::Findings(table) = findings("Open port") else {
            unreachable!()
        };
        let file = (model.navigation.scope.workspace, ListKind::Findings);
        for (unread, is_kept) in [(vec![ScanId(1)], false), (vec![], true)] {
            let unread = UnreadScans {
                ids: Arc::new(unread.into_iter().collect()),
                ..UnreadScans::default()
            };
            let event = PollEvent::SomeFindings(Arc::clone(&table), unread, ReadTimes::default());
            let at = Stamp(Timestamp::UNIX_EPOCH);
            cache.keep(
                &Update {
                    generation: model.connection.generation,
                    at,
                    event,
                },
                &model,
            );
            assert_eq!(locked(&cache.waiting).contains_key(&file), is_kept);
        }
    }

    #[tokio::test]
    async fn unchanged_list_only_gets_a_new_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lists/of-1/findings.json");
        let inode = || std::fs::metadata(&path).unwrap().ino();
        let at = |second: i64| Stamp(Timestamp::from_second(1_800_000_000 + second).unwrap());
        let (mut first, _reports) = task(directory.path());
        let list = findings("Open port");
        for (second, is_kept) in [(0, false), (1, true)] {
            let before = is_kept.then(inode);
            locked(&first.waiting).insert(FINDINGS, (list.clone(), at(second)));
            first.write().await;
            assert_eq!(
                (
                    first.files.time(FINDINGS),
                    before.is_none_or(|one| one == inode())
                ),
                (Some(at(second)), true)
            );
        }
        // The next run: what it recalled is in the file already.
        let (mut next, mut reports) = task(directory.path());
        next.recall(0, WorkspaceId(1)).await;
        let Some(TaskReport::Msg(msg)) = reports.recv().await else {
            panic!("nothing recalled")
        };
        let Msg::Cached(CachedList { snapshot, .. }) = *msg else {
            panic!("another message")
        };
        let before = inode();
        locked(&next.waiting).insert(FINDINGS, (snapshot, at(2)));
        next.write().await;
        assert_eq!((next.files.time(FINDINGS), inode()), (Some(at(2)), before));
        // The file is now newer than the first run knows.
        locked(&first.waiting).insert(FINDINGS, (list, at(3)));
        first.write().await;
        assert!(inode() != before && first.files.time(FINDINGS) == Some(at(3)));
        let before = inode();
        locked(&first.waiting).insert(FINDINGS, (findings("Banner"), at(4)));
        first.write().await;
        assert!(inode() != before);
    }
}
