//! The task that owns the archive of captures and the payload book: every capture passes through it before it is shown.
//!
//! ```text
//!   captures of the poller ─► pieces, each ─► one synced transaction ─► recognised ─► Captures ─► hits kept ─► Hits
//!   payloads ─► kept
//!   another workspace ─► Hits, its newest captures ─► Recalled ─► older ones, a piece at a time
//!   every second ─► what others wrote ─► Payloads, Captures, Hits
//!   nothing else to do ─► what nobody looked through for payloads, a piece at a time ─► Hits
//! ```
//!
//! Wishes are carried out in their order, none is dropped: the end of the dashboard waits for them. While another program
//! holds the archive they wait; when it cannot be written that is told, and captures are shown all the same.

pub mod hits;
pub mod inlet;
pub mod recall;
#[cfg(test)]
mod tests;

use crate::client::Problem;
use crate::contract::{Capture, Logger, Shared, Stamp};
use crate::dashboard::base::{Caught, Generation};
use crate::dashboard::core::Msg;
use crate::dashboard::data::{OobKept, OobNews};
use crate::dashboard::model::Model;
use crate::dashboard::runtime::{Memory, Recalling, TaskReport};
use crate::oob::recognize::mentions;
use crate::oob::store::pieces;
use crate::oob::{ArchivedCapture, Hit, OpenedArchive, Payload, PayloadBook, RowRange, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep, timeout};

/// How often others are looked for.
const OTHERS: Duration = Duration::from_secs(1);
/// How long after an attempt that found the archive held the next one follows; SQLite waited before it gave up.
const AGAIN: Duration = Duration::from_millis(100);
/// How long the end waits for what is still to be written: longer than a lock of another is waited for.
const GOODBYE: Duration = Duration::from_secs(8);
/// Captures that may wait to be archived before no more are taken.
const MOST_BEHIND: usize = 20_000;

/// One thing to do.
#[derive(Debug)]
pub(crate) enum ArchiveRequest {
    /// Captures came in.
    Take {
        workspace: Shared,
        logger: Arc<Logger>,
        seen_at: Stamp,
        captures: Vec<Arc<Capture>>,
        /// Who waits for them to be archived, and is told how many are.
        kept: Option<oneshot::Sender<Result<usize, Problem>>>,
    },
    /// This is the workspace worked in.
    Recall(Generation, Shared),
    /// Payloads were made or changed.
    Plant(Vec<Arc<Payload>>),
}

/// The desk's hold on the task.
pub(crate) struct ArchiveHandle {
    wishes: UnboundedSender<ArchiveRequest>,
    task: JoinHandle<()>,
    /// The workspace that was recalled last.
    recalled: Option<(Generation, Shared)>,
    /// Captures that wait to be archived.
    behind: Arc<AtomicUsize>,
}

impl ArchiveHandle {
    /// Begins; what the archive tells goes to `answers`.
    pub fn start(memory: &Memory, answers: UnboundedSender<TaskReport>) -> Self {
        let (wishes, waiting) = mpsc::unbounded_channel();
        let behind = Arc::<AtomicUsize>::default();
        let mut task = Task {
            memory: memory.clone(),
            store: None,
            book: PayloadBook::default(),
            recalling: None,
            workspace: None,
            looking: false,
            held: false,
            behind: Arc::clone(&behind),
            answers,
        };
        let task = tokio::spawn(async move {
            task.open().await;
            task.run(waiting).await;
        });
        Self { wishes, task, recalled: None, behind }
    }

    /// Wishes something to be done.
    pub fn wish(&self, wish: ArchiveRequest) {
        // A task that has ended has said why.
        let _ = self.wishes.send(wish);
    }

    /// The model may work in another workspace now: its captures are wanted.
    pub fn recall(&mut self, model: &Model) {
        let Some(workspace) = model.workspace().map(|workspace| workspace.name.clone()) else { return };
        let here = (model.connection.generation, workspace);
        if self.recalled.as_ref() != Some(&here) {
            self.wish(ArchiveRequest::Recall(here.0, here.1.clone()));
            self.recalled = Some(here);
        }
    }

    /// Captures of a logger of the workspace worked in came in.
    pub fn take(&self, logger: Arc<Logger>, seen_at: Stamp, captures: Vec<Arc<Capture>>) {
        let Some((_, workspace)) = &self.recalled else { return };
        self.behind.fetch_add(captures.len(), Ordering::Relaxed);
        self.wish(ArchiveRequest::Take { workspace: workspace.clone(), logger, seen_at, captures, kept: None });
    }

    /// Enough waits to be archived: what else the poller has may wait there, and at the service.
    pub fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed) > MOST_BEHIND
    }

    /// Waits until everything wished for is kept.
    pub async fn end(self) {
        drop(self.wishes);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::error!("left before every capture and payload was kept");
        }
    }
}

struct Task {
    memory: Memory,
    store: Option<Store>,
    book: PayloadBook,
    workspace: Option<(Generation, Shared)>,
    recalling: Option<Recalling>,
    /// Something archived may not have been looked through for payloads.
    looking: bool,
    /// Another holds the archive, which was told.
    held: bool,
    behind: Arc<AtomicUsize>,
    answers: UnboundedSender<TaskReport>,
}

impl Task {
    async fn open(&mut self) {
        let opened = loop {
            let opened = open(&self.memory).await;
            if !self.is_held(opened.as_ref().err()).await {
                break opened;
            }
        };
        match opened {
            Ok((store, kept)) => {
                self.book = kept.book.clone();
                self.store = Some(store);
                self.tell(OobNews::Opened(Box::new(kept)));
            }
            Err(error) => self.fail(&error),
        }
    }

    async fn run(&mut self, mut wishes: UnboundedReceiver<ArchiveRequest>) {
        let mut others = clock();
        loop {
            // What came in is never behind what is recalled, nor that behind a look at others or at what is old.
            let done = tokio::select! {
                biased;
                wish = wishes.recv() => match wish {
                    Some(wish) => self.carry_out(wish).await,
                    None => break,
                },
                () = std::future::ready(()), if self.recalling.is_some() => self.recall_more().await,
                _ = others.tick(), if self.store.is_some() => self.look_for_others().await,
                () = std::future::ready(()), if self.looking => self.look_through().await,
            };
            match done {
                // What was asked for is asked again.
                Err(error) if self.is_held(Some(&error)).await => {}
                Err(error) => self.fail(&error),
                Ok(()) => {}
            }
        }
        if let Some(store) = self.store.take() {
            store.close().await;
        }
    }

    async fn carry_out(&mut self, wish: ArchiveRequest) -> Result<(), StoreError> {
        match wish {
            ArchiveRequest::Take { workspace, logger, seen_at, captures, kept } => {
                let archived = |capture| ArchivedCapture {
                    workspace: workspace.clone(),
                    logger: logger.id,
                    label: logger.label.clone(),
                    handler_url: logger.handler_url.clone(),
                    seen_at,
                    capture,
                };
                let captures = self.young(captures.into_iter().map(archived).collect());
                let number = captures.len();
                let mut taken = Ok(());
                for piece in pieces(captures) {
                    // Also after one that could not be kept: it is shown all the same.
                    taken = taken.and(self.take(&workspace, piece).await);
                }
                // What went into a file that is gone, say, is not kept: told before anybody counts on it.
                let taken = match taken {
                    Err(error) if !matches!(error, StoreError::Held { .. }) => {
                        self.fail(&error);
                        Ok(())
                    }
                    taken => taken,
                };
                if let Some(kept) = kept {
                    // Who waited has gone.
                    let _ = kept.send(self.has_kept().map(|()| number));
                }
                taken
            }
            ArchiveRequest::Recall(generation, workspace) => {
                self.workspace = Some((generation, workspace));
                self.recalling = self.store.is_some().then(Recalling::default);
                // Its hits are not told yet.
                self.looking = self.recalling.is_some();
                Ok(())
            }
            ArchiveRequest::Plant(payloads) => {
                self.book.take(payloads.iter().cloned());
                loop {
                    let kept = match self.writable() {
                        Some(store) => store.plant(&payloads).await,
                        None => Ok(()),
                    };
                    if !self.is_held(kept.as_ref().err()).await {
                        break kept;
                    }
                }
            }
        }
    }

    /// Archives a piece of what came in to a workspace, tells it, and keeps the hits in it.
    async fn take(&mut self, workspace: &Shared, captures: Vec<ArchivedCapture>) -> Result<(), StoreError> {
        let number = captures.len();
        let kept = loop {
            let kept = match self.writable() {
                Some(store) => store.archive(captures.clone()).await,
                None => Ok(RowRange::default()),
            };
            if !self.is_held(kept.as_ref().err()).await {
                break kept;
            }
        };
        let stretch = kept.unwrap_or_else(|error| {
            self.fail(&error);
            RowRange::default()
        });
        // A payload is kept before it is planted, so the book of now has whatever can be mentioned.
        let others = self.look_for_others().await;
        let new = self.recognised(captures.clone()).await;
        let hits: Vec<Hit> = captures.iter().zip(&new).flat_map(|(one, caught)| one.hits(&caught.mentions)).collect();
        let whole = others.is_ok() && new.len() == captures.len();
        self.behind.fetch_sub(number, Ordering::Relaxed);
        if let Some((generation, _)) = self.workspace.as_ref().filter(|(_, here)| here == workspace) {
            self.tell(OobNews::Captures { generation: *generation, new });
        }
        self.keep_hits(&hits, if whole { stretch } else { RowRange::default() }).await;
        self.looking |= !whole && self.writable().is_some();
        others
    }

    fn writable(&mut self) -> Option<&mut Store> {
        self.store.as_mut().filter(|store| store.is_writable())
    }

    async fn look_for_others(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let news = store.news().await?;
        self.looking |= news.behind && store.is_writable();
        self.hear_payloads(news.payloads);
        self.tell_hits(news.counts, false);
        let Some((generation, workspace)) = self.workspace.clone() else { return Ok(()) };
        for piece in pieces(news.captures.into_iter().filter(|one| one.workspace == workspace).collect()) {
            let new = self.recognised(piece).await;
            self.tell(OobNews::Captures { generation, new });
        }
        Ok(())
    }

    /// Others made payloads.
    fn hear_payloads(&mut self, payloads: Vec<Arc<Payload>>) {
        if !payloads.is_empty() {
            self.book.take(payloads.iter().cloned());
            self.tell(OobNews::Payloads(payloads));
        }
    }

    /// What captures mention, off this thread.
    async fn recognised(&self, captures: Vec<ArchivedCapture>) -> Vec<Caught> {
        let book = self.book.clone();
        let work = move || captures.iter().map(|one| Caught::new(one, mentions(&one.capture, &book).into())).collect();
        // Only a panic or the end of the program takes an answer away.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }

    /// Whether another program holds the archive: then, after a moment, it is to be tried again.
    async fn is_held(&mut self, error: Option<&StoreError>) -> bool {
        let held = error.filter(|error| matches!(error, StoreError::Held { .. }));
        if let Some(error) = held {
            if !self.held {
                tracing::warn!(%error, "captures wait");
                self.tell(OobNews::Waits(Arc::new(problem(error))));
            }
            sleep(AGAIN).await;
        }
        self.held = held.is_some();
        self.held
    }

    /// The archive is not used any more: what is shown from here on is told not to be kept.
    fn fail(&mut self, error: &StoreError) {
        tracing::error!(%error, "captures cannot be kept");
        (self.store, self.recalling, self.looking) = (None, None, false);
        self.tell(OobNews::Failed(Arc::new(problem(error))));
    }

    fn tell(&self, news: OobNews) {
        // The desk is gone: nobody waits for it.
        let _ = self.answers.send(TaskReport::Msg(Box::new(Msg::Oob(news))));
    }
}

fn problem(error: &StoreError) -> Problem {
    Problem::local(error.to_string()).with_hint(error.hint())
}

/// Opens the archive; what is older than it is to be kept leaves it.
async fn open(memory: &Memory) -> Result<(Store, OobKept), StoreError> {
    let OpenedArchive { mut store, book, notes } = Store::open(&memory.directory).await?;
    let problem = (!notes.is_empty()).then(|| Arc::new(Problem::local(notes.join("; "))));
    let forgotten = match memory.oldest_kept().filter(|_| store.is_writable()) {
        Some(oldest) => store.forget_before(oldest, &book).await?,
        None => 0,
    };
    if forgotten > 0 {
        tracing::info!(forgotten, "captures left the archive for their age");
    }
    let writable = store.is_writable();
    Ok((store, OobKept { book, writable, problem, forgotten }))
}

fn clock() -> Interval {
    let mut clock = interval_at(Instant::now() + OTHERS, OTHERS);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    clock
}
