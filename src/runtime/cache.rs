//! The task that keeps the lists between two runs: reads them at the start and when the workspace changes, writes what
//! the poller learns.
//!
//! ```text
//!   start ─► workspaces ─► Msg::Cached        plan of another workspace ─► its lists ─► Msg::Cached
//!   update of the poller ─► waits ten seconds, the newest of each list wins ─► file
//! ```
//!
//! Reading and writing is done on blocking threads; the end of the dashboard writes what still waits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout};

use super::desk::{Answered, sleep_or_never};
use super::last_known::{LastKnown, Place};
use crate::app::cached::{Cached, KeptList};
use crate::app::model::{Data, Model};
use crate::app::msg::Msg;
use crate::app::plan::{Generation, Link, Noun, Update};
use crate::app::remote::Remote;
use crate::contract::{Stamp, WorkspaceId};

/// How long a list waits for a newer one before it is written.
const REST: Duration = Duration::from_secs(10);
/// Long lists rest longer: this many times what writing took.
const REST_FACTOR: u32 = 20;
/// How long the end waits for what is still to be written: it is only a cache.
const GOODBYE: Duration = Duration::from_secs(3);

enum Wish {
    Recall(Generation, WorkspaceId),
    Keep(Option<WorkspaceId>, KeptList, Stamp),
    Confirm(Vec<Place>, Stamp),
}

/// The desk's hold on the task.
pub(super) struct Cache {
    wishes: UnboundedSender<Wish>,
    task: JoinHandle<()>,
    /// The workspace that was recalled last.
    recalled: Option<WorkspaceId>,
}

impl Cache {
    /// Begins; lists go to `answers`. The receiver hears when the workspaces, if any are kept, have been told.
    pub fn start(directory: PathBuf, answers: UnboundedSender<Answered>) -> (Self, oneshot::Receiver<()>) {
        let (wishes, waiting) = mpsc::unbounded_channel();
        let (begun, hears) = oneshot::channel();
        let task = Task {
            files: LastKnown::new(directory),
            answers,
            waiting: BTreeMap::new(),
            written: BTreeSet::new(),
            rest: REST,
        };
        (Self { wishes, task: tokio::spawn(task.run(waiting, begun)), recalled: None }, hears)
    }

    /// The model may work in another workspace now: its lists are wanted.
    pub fn recall(&mut self, model: &Model) {
        if self.recalled != model.scope.workspace {
            self.recalled = model.scope.workspace;
            if let Some(id) = self.recalled {
                self.wish(Wish::Recall(model.generation, id));
            }
        }
    }

    /// Keeps what was learnt, if it is a list that is kept, of the workspace worked in.
    pub fn keep(&self, update: &Update, model: &Model) {
        let Some(list) = KeptList::of(&update.news) else { return };
        match (list.noun(), model.scope.workspace) {
            (Noun::Workspaces, _) => self.wish(Wish::Keep(None, list, update.at)),
            (_, Some(id)) if update.generation == model.generation => {
                self.wish(Wish::Keep(Some(id), list, update.at));
            }
            _ => {}
        }
    }

    fn wish(&self, wish: Wish) {
        // A task that has ended has said why.
        let _ = self.wishes.send(wish);
    }

    /// Waits until everything is written. What is fresh now is as good as read now.
    pub async fn end(self, model: &Model) {
        if let (Link::Live { .. }, Some(id)) = (&model.link, model.scope.workspace) {
            self.wish(Wish::Confirm(fresh(&model.data, id), Stamp(Timestamp::now())));
        }
        drop(self.wishes);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::warn!("left before the last known data was written");
        }
    }
}

/// The lists that are as the service has them.
fn fresh(data: &Data, id: WorkspaceId) -> Vec<Place> {
    fn is<T>(remote: &Remote<T>) -> bool {
        matches!(remote, Remote::Fresh { .. })
    }
    let lists = [
        ((None, Noun::Workspaces), is(&data.workspaces)),
        ((Some(id), Noun::Targets), is(&data.targets)),
        ((Some(id), Noun::Scans), is(&data.scans)),
        ((Some(id), Noun::Loggers), is(&data.loggers)),
        ((Some(id), Noun::Findings), is(&data.occurrences)),
    ];
    lists.into_iter().filter(|(_, fresh)| *fresh).map(|(place, _)| place).collect()
}

struct Task {
    files: LastKnown,
    answers: UnboundedSender<Answered>,
    /// What is to be written.
    waiting: BTreeMap<Place, (KeptList, Stamp)>,
    /// What this task wrote.
    written: BTreeSet<Place>,
    rest: Duration,
}

impl Task {
    async fn run(mut self, mut wishes: UnboundedReceiver<Wish>, begun: oneshot::Sender<()>) {
        self.tell_workspaces().await;
        // The desk is gone: nobody waits for it.
        let _ = begun.send(());
        let mut due = None;
        loop {
            tokio::select! {
                wish = wishes.recv() => match wish {
                    Some(Wish::Recall(generation, id)) => self.recall(generation, id).await,
                    Some(Wish::Keep(workspace, list, at)) => {
                        self.waiting.insert((workspace, list.noun()), (list, at));
                        due.get_or_insert_with(|| Instant::now() + self.rest);
                    }
                    Some(Wish::Confirm(places, at)) => {
                        self.write().await;
                        self.confirm(places, at).await;
                    }
                    None => break,
                },
                () = sleep_or_never(due) => {
                    due = None;
                    self.write().await;
                }
            }
        }
        self.write().await;
    }

    async fn tell_workspaces(&self) {
        let files = self.files.clone();
        let read = spawn_blocking(move || (files.read((None, Noun::Workspaces)), files.worked_in())).await;
        if let Ok((Some((list, at)), worked_in)) = read {
            self.tell(Cached { generation: 0, at, worked_in, list });
        }
    }

    async fn recall(&self, generation: Generation, id: WorkspaceId) {
        let files = self.files.clone();
        self.attempt(spawn_blocking(move || files.work_in(id)).await);
        for noun in KeptList::OF_WORKSPACE {
            let place = (Some(id), noun);
            let files = self.files.clone();
            let known = match self.waiting.get(&place) {
                Some(newer) => Some(newer.clone()),
                None => spawn_blocking(move || files.read(place)).await.ok().flatten(),
            };
            if let Some((list, at)) = known {
                self.tell(Cached { generation, at, worked_in: None, list });
            }
        }
    }

    fn tell(&self, cached: Cached) {
        // The desk is gone: nobody waits for it.
        let _ = self.answers.send(Answered::Msg(Box::new(Msg::Cached(cached))));
    }

    async fn write(&mut self) {
        let begun = Instant::now();
        for (place, (list, at)) in std::mem::take(&mut self.waiting) {
            let files = self.files.clone();
            let written = spawn_blocking(move || files.write(place.0, &list, at)).await;
            if self.attempt(written) {
                self.written.insert(place);
            }
        }
        self.rest = REST.max(begun.elapsed() * REST_FACTOR);
    }

    async fn confirm(&self, places: Vec<Place>, at: Stamp) {
        let (files, written) = (self.files.clone(), self.written.clone());
        let confirm = move || {
            places.iter().filter(|place| written.contains(place)).try_for_each(|&place| files.confirm(place, at))
        };
        self.attempt(spawn_blocking(confirm).await);
    }

    /// Whether it was done; it is only a cache, so that it is not goes to the log.
    fn attempt(&self, done: Result<std::io::Result<()>, tokio::task::JoinError>) -> bool {
        let done = done.map_err(std::io::Error::other).flatten();
        done.inspect_err(|error| tracing::warn!(%error, "last known data cannot be kept")).is_ok()
    }
}
