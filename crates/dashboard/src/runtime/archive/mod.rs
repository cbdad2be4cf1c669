//! The task that owns the archive of captures and the payload book. It archives every capture
//! before it is shown.
//!
//! ```text
//!   captures of the poller ─► chunks, each ─► one synced transaction ─► tokens recognised ─► Captures ─► hits stored ─► Hits
//!   payloads ─► stored
//!   another workspace ─► Hits, its newest captures ─► Recalled ─► older captures in chunks
//!   every second ─► rows of other programs ─► Payloads, Captures, Hits
//!   idle ─► captures that nobody has searched for payloads, in chunks ─► Hits
//! ```
//!
//! Requests are executed in their order, and none is dropped: the end of the dashboard waits for
//! them. They wait while another program locks the archive. While the disk is full, captures are
//! shown and wait in the `Backlog`; the archive is read. If it cannot be used at all, that is
//! reported and captures are still shown.

pub mod archiver;
pub mod backlog;
pub mod hits;
pub mod recall;
#[cfg(test)]
mod tests;

pub(crate) use backlog::Backlog;

use crate::base::{CaptureRow, Generation};
use crate::core::Msg;
use crate::data::{OobNews, StoredArchive};
use crate::model::Model;
use crate::poller::{Beat, Beats};
use crate::runtime::{LocalWrites, Memory, Recalling, TaskReport};
use scandeck_domain::oob::store::chunks;
use scandeck_domain::oob::{
    ArchivedCapture, BodyStore, Hit, OpenedArchive, Payload, PayloadBook, RowRange, Store,
    StoreError, mentions,
};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::{Capture, Logger, Shared, Stamp};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Interval of the look at the rows of other programs.
const OTHERS: u64 = 1;
/// Pause before the next attempt on a locked archive; SQLite has waited before.
const AGAIN: Duration = Duration::from_millis(100);
/// Limit for the remaining requests at the end: longer than the wait for the lock of another
/// program.
const GOODBYE: Duration = Duration::from_secs(8);
/// While more captures wait to be archived, the dashboard accepts no updates of the poller.
const MOST_BEHIND: usize = 20_000;

#[derive(Debug)]
pub(crate) enum ArchiveRequest {
    /// Archive these captures.
    Archive {
        workspace: Shared,
        logger: Arc<Logger>,
        seen_at: Stamp,
        captures: Vec<Arc<Capture>>,
        /// Receives the number of archived captures.
        reply: Option<oneshot::Sender<Result<usize, Problem>>>,
    },
    /// Read the captures of this workspace.
    Recall(Generation, Shared),
    /// Store new or changed payloads.
    Plant(Vec<Arc<Payload>>),
    /// Report payloads and captures of others now.
    ReadOthers,
}

/// The handle of the task.
pub(crate) struct ArchiveHandle {
    requests: UnboundedSender<ArchiveRequest>,
    task: JoinHandle<()>,
    /// The workspace that was recalled last.
    recalled: Option<(Generation, Shared)>,
    /// Captures that wait to be archived.
    behind: Arc<AtomicUsize>,
}

impl ArchiveHandle {
    /// Starts the task, which reports to `answers`.
    pub fn start(
        memory: &Memory,
        beat: Beat,
        answers: UnboundedSender<TaskReport>,
        writes: LocalWrites,
    ) -> Self {
        let (requests, waiting) = mpsc::unbounded_channel();
        let behind = Arc::<AtomicUsize>::default();
        let mut task = Task {
            memory: memory.clone(),
            bodies: Arc::new(Mutex::new(BodyStore::new(memory.text_directory()))),
            store: None,
            book: PayloadBook::default(),
            recalling: None,
            workspace: None,
            looking: false,
            held: false,
            is_uncounted: false,
            recount_at: None,
            backlog: Backlog::default(),
            behind: Arc::clone(&behind),
            answers,
            writes,
        };
        let task = tokio::spawn(async move {
            task.open().await;
            task.run(waiting, beat.every(OTHERS)).await;
        });
        Self {
            requests,
            task,
            recalled: None,
            behind,
        }
    }

    /// A sender that does not keep the task alive.
    pub fn sender(&self) -> WeakUnboundedSender<ArchiveRequest> {
        self.requests.downgrade()
    }

    pub fn send(&self, request: ArchiveRequest) {
        // A task that has ended has reported its error.
        let _ = self.requests.send(request);
    }

    /// Requests the captures of the current workspace of the model, if it has changed.
    pub fn recall(&mut self, model: &Model) {
        let Some(workspace) = model.workspace().map(|workspace| workspace.name.clone()) else {
            return;
        };
        let here = (model.connection.generation, workspace);
        if self.recalled.as_ref() != Some(&here) {
            self.send(ArchiveRequest::Recall(here.0, here.1.clone()));
            self.recalled = Some(here);
        }
    }

    /// Archives captures of a logger of the current workspace.
    pub fn take(&self, logger: Arc<Logger>, seen_at: Stamp, captures: Vec<Arc<Capture>>) {
        let Some((_, workspace)) = &self.recalled else {
            return;
        };
        self.behind.fetch_add(captures.len(), Ordering::Relaxed);
        self.send(ArchiveRequest::Archive {
            workspace: workspace.clone(),
            logger,
            seen_at,
            captures,
            reply: None,
        });
    }

    /// Whether so many captures wait that the poller, and with it the service, should keep further
    /// ones.
    pub fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed) > MOST_BEHIND
    }

    /// Waits until all requests are executed.
    pub async fn end(self) {
        drop(self.requests);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::error!("ended before all captures and payloads were stored");
        }
    }
}

struct Task {
    memory: Memory,
    /// The files of the bodies of captures.
    bodies: Arc<Mutex<BodyStore>>,
    store: Option<Store>,
    book: PayloadBook,
    workspace: Option<(Generation, Shared)>,
    recalling: Option<Recalling>,
    /// Whether archived captures may not have been searched for payloads.
    looking: bool,
    /// Whether another program locks the archive, which was reported.
    held: bool,
    /// Whether counting hits failed, which was reported.
    is_uncounted: bool,
    /// The time of the next attempt to count them.
    recount_at: Option<Instant>,
    /// Writes that wait for the archive.
    backlog: Backlog,
    behind: Arc<AtomicUsize>,
    answers: UnboundedSender<TaskReport>,
    /// Openings and stored payloads.
    writes: LocalWrites,
}

impl Task {
    async fn open(&mut self) {
        while let Err(error) = self.open_store().await {
            if self.is_held(Some(&error)).await {
                continue;
            }
            if !error.is_disk_full() || !self.read_on_full_disk().await {
                self.fail(&error);
            }
            if error.is_temporary() {
                self.suspend(&error);
            }
            return;
        }
    }

    /// Uses the archive for reading, because the disk is full; false when it cannot be read so.
    async fn read_on_full_disk(&mut self) -> bool {
        let Some(opened) = Store::open_on_full_disk(&self.memory.directory).await else {
            return false;
        };
        let (store, stored) = parts(opened);
        self.use_store(store, stored).await.is_ok()
    }

    async fn open_store(&mut self) -> Result<(), StoreError> {
        let (store, stored) = open(&self.memory).await?;
        self.use_store(store, stored).await
    }

    /// Opens an archive for writing that could only be read before.
    async fn reopen(&mut self) -> Result<(), StoreError> {
        if let Some(store) = self.store.take() {
            store.close().await;
        }
        self.open().await;
        self.recalling = self
            .workspace
            .as_ref()
            .and(self.store.as_ref())
            .map(|_| Recalling::default());
        Ok(())
    }

    /// Uses an opened archive; refuses a read-only one while writes wait, so that they are not
    /// lost. On a full disk they wait further.
    async fn use_store(
        &mut self,
        store: Store,
        mut stored: StoredArchive,
    ) -> Result<(), StoreError> {
        if !store.is_writable() && !store.is_on_full_disk() && self.backlog.has_writes() {
            let path = store.path().to_owned();
            store.close().await;
            return Err(StoreError::ReadOnly { path });
        }
        // After a failed opening, payloads may be waiting.
        self.book.take(stored.book.payloads().cloned());
        stored.book = self.book.clone();
        if let Some(replaced) = self.store.replace(store) {
            replaced.close().await;
        }
        self.writes.note();
        self.report(OobNews::Opened(Box::new(stored)));
        Ok(())
    }

    async fn run(&mut self, mut requests: UnboundedReceiver<ArchiveRequest>, mut others: Beats) {
        loop {
            let (retry_at, is_readable) = (self.backlog.retry_at(), !self.backlog.is_unreadable);
            let recount_at = self.recount_at;
            // In this order: new captures, failed work, older captures of the workspace, rows of
            // other programs, unsearched captures.
            let done = tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(request) => self.execute(request).await,
                    None => break,
                },
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => self.retry().await,
                () = std::future::ready(()), if self.recalling.is_some() && is_readable => self.recall_more().await,
                () = others.tick(), if self.store.is_some() && is_readable => self.read_others().await,
                () = sleep_until(recount_at.unwrap_or_else(Instant::now)), if recount_at.is_some() => self.count_again(),
                () = std::future::ready(()), if self.looking && retry_at.is_none() => self.search_chunk().await,
            };
            match done {
                // The next round repeats the work.
                Err(error) if self.is_held(Some(&error)).await => {}
                // Failed writes are in the backlog: this work has only read.
                Err(error) => self.stop_reading(&error),
                Ok(()) => {}
            }
        }
        if self.backlog.outage.is_some()
            && let Err(error) = self.write_backlog().await
        {
            tracing::error!(%error, "ended before all captures and payloads were stored");
        }
        if let Some(store) = self.store.take() {
            store.close().await;
        }
    }

    async fn execute(&mut self, request: ArchiveRequest) -> Result<(), StoreError> {
        match request {
            // They remain on the service, because the deletion is refused.
            ArchiveRequest::Archive {
                captures,
                reply: Some(reply),
                ..
            } if self.backlog.outage.is_some() => {
                self.behind.fetch_sub(captures.len(), Ordering::Relaxed);
                // The receiver may have ended.
                let _ = reply.send(self.check_usable().map(|()| 0));
                Ok(())
            }
            ArchiveRequest::Archive {
                workspace,
                logger,
                seen_at,
                captures,
                reply,
            } => {
                let read = captures.len();
                let oldest = self.memory.oldest_retained();
                let captures =
                    ArchivedCapture::of_logger(&workspace, &logger, captures, seen_at, oldest);
                let number = captures.len();
                self.behind.fetch_sub(read - number, Ordering::Relaxed);
                let mut result = Ok(());
                for chunk in chunks(captures) {
                    // A chunk that is not archived is still shown, so the loop continues after an
                    // error.
                    result = result.and(self.take(&workspace, chunk).await);
                }
                // Captures in a deleted file, for example, are not archived: reported before
                // anybody relies on them.
                let result = match result {
                    Err(error) if !matches!(error, StoreError::Held { .. }) => {
                        self.stop_reading(&error);
                        Ok(())
                    }
                    result => result,
                };
                if let Some(reply) = reply {
                    // The receiver may have ended.
                    let _ = reply.send(self.check_usable().map(|()| number));
                }
                result
            }
            ArchiveRequest::Recall(generation, workspace) => {
                self.workspace = Some((generation, workspace));
                self.recalling = self.store.is_some().then(Recalling::default);
                // Its hits are not reported yet.
                self.looking = self.recalling.is_some();
                Ok(())
            }
            ArchiveRequest::Plant(payloads) => {
                self.book.take(payloads.iter().cloned());
                self.plant(payloads).await;
                self.writes.note();
                Ok(())
            }
            ArchiveRequest::ReadOthers if self.backlog.is_unreadable => Ok(()),
            ArchiveRequest::ReadOthers => self.read_others().await,
        }
    }

    /// Archives a chunk of new captures of a workspace, reports it, and stores its hits.
    async fn take(
        &mut self,
        workspace: &Shared,
        captures: Vec<ArchivedCapture>,
    ) -> Result<(), StoreError> {
        let number = captures.len();
        let written = self.archive(&captures).await;
        // A payload is stored before its URL is used, so the book contains every token that can
        // occur.
        let others = if self.backlog.is_unreadable {
            Ok(())
        } else {
            self.read_others().await
        };
        let new = self.recognized(captures.clone()).await;
        let hits: Vec<Hit> = captures
            .iter()
            .zip(&new)
            .flat_map(|(one, captured)| one.hits(&captured.mentions))
            .collect();
        let whole = others.is_ok() && new.len() == captures.len();
        self.behind.fetch_sub(number, Ordering::Relaxed);
        if let Some((generation, _)) = self
            .workspace
            .as_ref()
            .filter(|(_, here)| here == workspace)
        {
            self.report(OobNews::Captures {
                generation: *generation,
                new,
            });
        }
        // The hits of deferred captures are found when these are archived.
        if let Some(range) = written {
            self.store_hits(&hits, if whole { range } else { RowRange::default() })
                .await;
            self.looking |= !whole && self.writable().is_some();
        }
        others
    }

    fn writable(&mut self) -> Option<&mut Store> {
        self.store.as_mut().filter(|store| store.is_writable())
    }

    /// Reports the payloads, hits and captures that other programs wrote.
    async fn read_others(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        // While captures wait for a full disk, the next attempt to write opens it.
        let waits_for_room = store.is_on_full_disk() && self.backlog.outage.is_some();
        if !waits_for_room && store.has_become_writable() {
            return self.reopen().await;
        }
        let news = store.news().await?;
        self.looking |= news.behind && store.is_writable();
        self.take_payloads(news.payloads);
        self.report_hits(news.counts, false);
        let Some((generation, workspace)) = self.workspace.clone() else {
            return Ok(());
        };
        for chunk in chunks(
            news.captures
                .into_iter()
                .filter(|one| one.workspace == workspace)
                .collect(),
        ) {
            let new = self.recognized(chunk).await;
            self.report(OobNews::Captures { generation, new });
        }
        Ok(())
    }

    fn take_payloads(&mut self, payloads: Vec<Arc<Payload>>) {
        if !payloads.is_empty() {
            self.book.take(payloads.iter().cloned());
            self.report(OobNews::Payloads(payloads));
        }
    }

    /// Recognises the tokens in captures, on a blocking thread.
    async fn recognized(&self, captures: Vec<ArchivedCapture>) -> Vec<CaptureRow> {
        let (book, bodies) = (self.book.clone(), Arc::clone(&self.bodies));
        let work = move || {
            let row = |one: &ArchivedCapture| CaptureRow::new(one, mentions(&one.capture, &book));
            store_bodies(captures.iter().map(row).collect(), &bodies)
        };
        // The task fails only with a panic or at the end of the program.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }

    /// Whether another program locks the archive. Then this waits a moment, and the caller tries
    /// again.
    async fn is_held(&mut self, error: Option<&StoreError>) -> bool {
        let held = error.filter(|error| matches!(error, StoreError::Held { .. }));
        if let Some(error) = held {
            if !self.held {
                tracing::warn!(%error, "archive locked, captures wait");
                self.report(OobNews::Waits(Arc::new(problem(error))));
            }
            sleep(AGAIN).await;
        }
        self.held = held.is_some();
        self.held
    }

    /// Stops to use the archive, and reports that further captures are not archived.
    fn fail(&mut self, error: &StoreError) {
        tracing::error!(%error, "captures not archived");
        (self.store, self.recalling, self.looking) = (None, None, false);
        let mut problem = problem(error);
        if let Some(lost) = std::mem::take(&mut self.backlog).lost() {
            tracing::error!(lost, "deferred writes discarded");
            problem.message = format!("{}; {lost} not archived", problem.message);
        }
        self.report(OobNews::Failed(Arc::new(problem)));
    }

    fn report(&self, news: OobNews) {
        // At the end of the dashboard nobody receives it.
        let _ = self.answers.send(TaskReport::Msg(Box::new(Msg::Oob(news))));
    }
}

/// The captures with their bodies in files. Where these cannot be written, the bodies remain in
/// memory.
fn store_bodies(captures: Vec<CaptureRow>, bodies: &Mutex<BodyStore>) -> Vec<CaptureRow> {
    let mut bodies = bodies.lock().unwrap_or_else(PoisonError::into_inner);
    let stored: io::Result<Vec<CaptureRow>> = captures
        .iter()
        .map(|one| one.clone().stored(&mut bodies))
        .collect();
    match stored.and_then(|stored| bodies.flush().map(|()| stored)) {
        Ok(stored) => stored,
        Err(error) => {
            tracing::warn!(%error, "bodies of captures remain in memory");
            captures
        }
    }
}

fn problem(error: &StoreError) -> Problem {
    Problem {
        brief: error.brief().into(),
        ..Problem::local(error.to_string()).with_hint(error.hint())
    }
}

/// Opens the archive and deletes expired captures.
async fn open(memory: &Memory) -> Result<(Store, StoredArchive), StoreError> {
    let opened = Store::open_retaining(&memory.directory, memory.oldest_retained()).await?;
    Ok(parts(opened))
}

/// The archive, and what the screen needs of it.
fn parts(opened: OpenedArchive) -> (Store, StoredArchive) {
    let OpenedArchive {
        store,
        book,
        notes,
        forgotten,
    } = opened;
    let problem = (!notes.is_empty()).then(|| Arc::new(Problem::local(notes.join("; "))));
    if forgotten > 0 {
        tracing::info!(forgotten, "expired captures deleted from the archive");
    }
    let writable = store.is_writable();
    let stored = StoredArchive {
        book,
        writable,
        problem,
        forgotten,
    };
    (store, stored)
}
