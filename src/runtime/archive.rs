//! The task that owns the archive of captures and the payload book: every capture passes through it before it is shown.
//!
//! ```text
//!   captures of the poller ─► one synced transaction ─► recognised ─► Captures        payloads ─► kept
//!   another workspace ─► its newest captures ─► Recalled ─► older ones, a piece at a time
//!   every two seconds ─► what others wrote ─► Payloads, Captures
//! ```
//!
//! Wishes are carried out in their order, none is dropped: the end of the dashboard waits for them. When the archive
//! cannot be written that is told, and captures are shown all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::Memory;
use super::desk::Answered;
use crate::app::model::Model;
use crate::app::msg::{Msg, OobKept, OobNews, Recalled};
use crate::app::plan::Generation;
use crate::app::problem::Problem;
use crate::app::stream::{Caught, MOST, MOST_BYTES};
use crate::contract::{Capture, Logger, Shared, Stamp};
use crate::oob::recognize::mentions;
use crate::oob::store::{Opened, Place, Store, StoreError};
use crate::oob::{Archived, Book, Payload};

/// How often others are looked for.
const OTHERS: Duration = Duration::from_secs(1);
/// How long the end waits for what is still to be written: longer than a lock of another is waited for.
const GOODBYE: Duration = Duration::from_secs(8);
/// Captures recalled at first: a screen many times over, at once.
const FIRST: usize = 2_000;
/// Captures of each further piece.
const PIECE: usize = 5_000;
/// Captures that may wait to be archived before no more are taken.
const MOST_BEHIND: usize = 20_000;

/// One thing to do.
#[derive(Debug)]
pub(super) enum Wish {
    /// Captures came in.
    Take { generation: Generation, captures: Vec<Archived> },
    /// This is the workspace worked in.
    Recall(Generation, Shared),
    /// Payloads were made or changed.
    Plant(Vec<Arc<Payload>>),
}

/// The desk's hold on the task.
pub(super) struct Archivist {
    wishes: UnboundedSender<Wish>,
    task: JoinHandle<()>,
    /// The workspace that was recalled last.
    recalled: Option<(Generation, Shared)>,
    /// Captures that wait to be archived.
    behind: Arc<AtomicUsize>,
}

impl Archivist {
    /// Begins; what the archive tells goes to `answers`.
    pub fn start(memory: &Memory, answers: UnboundedSender<Answered>) -> Self {
        let (wishes, waiting) = mpsc::unbounded_channel();
        let (memory, behind) = (memory.clone(), Arc::<AtomicUsize>::default());
        let mut task = Task {
            store: None,
            book: Book::default(),
            recalling: None,
            workspace: None,
            behind: Arc::clone(&behind),
            answers,
        };
        let task = tokio::spawn(async move {
            task.open(&memory).await;
            task.run(waiting).await;
        });
        Self { wishes, task, recalled: None, behind }
    }

    /// Wishes something to be done.
    pub fn wish(&self, wish: Wish) {
        // A task that has ended has said why.
        let _ = self.wishes.send(wish);
    }

    /// The model may work in another workspace now: its captures are wanted.
    pub fn recall(&mut self, model: &Model) {
        let Some(workspace) = model.workspace().map(|workspace| workspace.name.clone()) else { return };
        let here = (model.generation, workspace);
        if self.recalled.as_ref() != Some(&here) {
            self.wish(Wish::Recall(here.0, here.1.clone()));
            self.recalled = Some(here);
        }
    }

    /// Captures of a logger came in.
    pub fn take(&self, generation: Generation, logger: &Logger, seen_at: Stamp, captures: Vec<Arc<Capture>>) {
        let Some((_, workspace)) = &self.recalled else { return };
        let archived = |capture| Archived {
            workspace: workspace.clone(),
            logger: logger.id,
            label: logger.label.clone(),
            handler_url: logger.handler_url.clone(),
            seen_at,
            capture,
        };
        self.behind.fetch_add(captures.len(), Ordering::Relaxed);
        self.wish(Wish::Take { generation, captures: captures.into_iter().map(archived).collect() });
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

/// A workspace whose older captures are still to be read.
struct Recalling {
    before: Option<Place>,
    read: usize,
    bytes: usize,
}

struct Task {
    store: Option<Store>,
    book: Book,
    workspace: Option<(Generation, Shared)>,
    recalling: Option<Recalling>,
    behind: Arc<AtomicUsize>,
    answers: UnboundedSender<Answered>,
}

impl Task {
    async fn open(&mut self, memory: &Memory) {
        match open(memory).await {
            Ok((store, kept)) => {
                self.book = kept.book.clone();
                self.store = Some(store);
                self.tell(OobNews::Opened(Box::new(kept)));
            }
            Err(error) => self.fail(&error),
        }
    }

    async fn run(&mut self, mut wishes: UnboundedReceiver<Wish>) {
        let mut others = clock();
        loop {
            // What came in is never behind what is recalled, nor that behind a look at others.
            let done = tokio::select! {
                biased;
                wish = wishes.recv() => match wish {
                    Some(wish) => self.carry_out(wish).await,
                    None => break,
                },
                () = std::future::ready(()), if self.recalling.is_some() => self.recall_more().await,
                _ = others.tick(), if self.store.is_some() => self.look_for_others().await,
            };
            if let Err(error) = done {
                self.fail(&error);
            }
        }
        if let Some(store) = self.store.take() {
            store.close().await;
        }
    }

    async fn carry_out(&mut self, wish: Wish) -> Result<(), StoreError> {
        match wish {
            Wish::Take { generation, captures } => {
                let number = captures.len();
                let kept = match &mut self.store {
                    Some(store) if store.is_writable() => store.archive(captures.clone()).await,
                    _ => Ok(()),
                };
                // A payload is kept before it is planted, so the book of now has whatever can be mentioned.
                let looked = self.look_for_others().await;
                let new = self.recognised(captures).await;
                self.behind.fetch_sub(number, Ordering::Relaxed);
                self.tell(OobNews::Captures { generation, new });
                kept.and(looked)
            }
            Wish::Recall(generation, workspace) => {
                self.workspace = Some((generation, workspace));
                self.recalling = self.store.is_some().then_some(Recalling { before: None, read: 0, bytes: 0 });
                Ok(())
            }
            Wish::Plant(payloads) => {
                self.book.take(payloads.iter().cloned());
                match &mut self.store {
                    Some(store) if store.is_writable() => store.plant(&payloads).await,
                    _ => Ok(()),
                }
            }
        }
    }

    /// The next piece of the workspace's captures, the newest first.
    async fn recall_more(&mut self) -> Result<(), StoreError> {
        let Some(mut recalling) = self.recalling.take() else { return Ok(()) };
        let (Some((generation, workspace)), Some(store)) = (self.workspace.clone(), &mut self.store) else {
            return Ok(());
        };
        let first = recalling.before.is_none();
        let newest = if first { Some(Arc::new(store.newest().await?)) } else { None };
        let most = if first { FIRST } else { PIECE.min(MOST - recalling.read) };
        let mut piece = store.captures(&workspace, recalling.before, most).await?;
        let ended = piece.len() < most;
        recalling.before = piece.last().map(|(place, _)| *place);
        piece.reverse();
        let captures = self.recognised(piece.into_iter().map(|(_, archived)| archived).collect()).await;
        recalling.read += captures.len();
        recalling.bytes += captures.iter().map(Caught::bytes).sum::<usize>();
        let full = recalling.read >= MOST || recalling.bytes >= MOST_BYTES;
        let older = (ended || full).then_some(!ended);
        self.tell(OobNews::Recalled(Box::new(Recalled { generation, captures, newest, older })));
        self.recalling = older.is_none().then_some(recalling);
        Ok(())
    }

    async fn look_for_others(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let news = store.news().await?;
        if !news.payloads.is_empty() {
            self.book.take(news.payloads.iter().cloned());
            self.tell(OobNews::Payloads(news.payloads));
        }
        let Some((generation, workspace)) = self.workspace.clone() else { return Ok(()) };
        let here: Vec<Archived> = news.captures.into_iter().filter(|one| one.workspace == workspace).collect();
        if !here.is_empty() {
            let new = self.recognised(here).await;
            self.tell(OobNews::Captures { generation, new });
        }
        Ok(())
    }

    /// What captures mention, off this thread.
    async fn recognised(&self, captures: Vec<Archived>) -> Vec<Caught> {
        let book = self.book.clone();
        let work = move || captures.iter().map(|one| Caught::new(one, mentions(&one.capture, &book).into())).collect();
        // Only a panic or the end of the program takes an answer away.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }

    /// The archive is not used any more: what is shown from here on is told not to be kept.
    fn fail(&mut self, error: &StoreError) {
        tracing::error!(%error, "captures cannot be kept");
        (self.store, self.recalling) = (None, None);
        self.tell(OobNews::Failed(Arc::new(Problem::local(error.to_string()).with_hint(error.hint()))));
    }

    fn tell(&self, news: OobNews) {
        // The desk is gone: nobody waits for it.
        let _ = self.answers.send(Answered::Msg(Box::new(Msg::Oob(news))));
    }
}

/// Opens the archive; what is older than it is to be kept leaves it.
async fn open(memory: &Memory) -> Result<(Store, OobKept), StoreError> {
    let Opened { mut store, book, notes } = Store::open(&memory.directory).await?;
    let problem = (!notes.is_empty()).then(|| Arc::new(Problem::local(notes.join("; "))));
    let days = memory.keep_days.filter(|_| store.is_writable());
    let oldest =
        days.and_then(|days| Timestamp::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days))).ok());
    let forgotten = match oldest {
        Some(oldest) => store.forget_before(Stamp(oldest)).await?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{CaptureId, LoggerId};
    use crate::oob::Token;

    struct Desk {
        archivist: Archivist,
        answers: UnboundedReceiver<Answered>,
    }

    impl Desk {
        fn open(directory: &std::path::Path, keep_days: Option<u16>) -> Self {
            let (sender, answers) = mpsc::unbounded_channel();
            let memory = Memory { directory: directory.to_owned(), last_known: None, who: "ann".into(), keep_days };
            let mut archivist = Archivist::start(&memory, sender);
            archivist.recalled = Some((1, "Acme".into()));
            archivist.wish(Wish::Recall(1, "Acme".into()));
            Self { archivist, answers }
        }

        async fn hears(&mut self) -> OobNews {
            match self.answers.recv().await {
                Some(Answered::Msg(msg)) => match *msg {
                    Msg::Oob(news) => news,
                    other => panic!("{other:?}"),
                },
                _ => panic!("the task ended"),
            }
        }

        async fn opened(&mut self) -> OobKept {
            match self.hears().await {
                OobNews::Opened(kept) => *kept,
                other => panic!("{other:?}"),
            }
        }

        /// Every piece that is recalled, up to the last.
        async fn recalled(&mut self) -> Vec<Recalled> {
            let mut pieces = Vec::new();
            loop {
                match self.hears().await {
                    OobNews::Recalled(piece) => pieces.push(*piece),
                    other => panic!("{other:?}"),
                }
                if pieces.last().is_some_and(|piece| piece.older.is_some()) {
                    return pieces;
                }
            }
        }

        async fn caught(&mut self) -> Vec<Caught> {
            match self.hears().await {
                OobNews::Captures { generation: 1, new } => new,
                other => panic!("{other:?}"),
            }
        }

        fn take(&self, captures: Vec<Arc<Capture>>) {
            let logger = Logger { id: LoggerId(1), label: "probe".into(), ..Logger::default() };
            self.archivist.take(1, &logger, Stamp(Timestamp::now()), captures);
        }
    }

    /// One that calls a payload, a second after the one before it.
    fn capture(id: i64) -> Arc<Capture> {
        Arc::new(Capture {
            id: CaptureId(id),
            url_params: format!("t={}", Token::of(id as u64)).into(),
            request_date: Some(Stamp(Timestamp::from_second(1_800_000_000 + id).unwrap())),
            ..Capture::default()
        })
    }

    fn payload(number: u64) -> Arc<Payload> {
        Arc::new(Payload { token: Token::of(number), workspace: "Acme".into(), ..Payload::default() })
    }

    fn ids(caught: &[Caught]) -> Vec<i64> {
        caught.iter().map(|caught| caught.capture.id.0).collect()
    }

    #[tokio::test]
    async fn what_came_in_is_kept_when_the_dashboard_is_left_at_once_and_recalled_the_newest_first() {
        let temp = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(temp.path(), None);
        assert!(desk.opened().await.writable);
        assert!(desk.recalled().await[0].newest.as_ref().unwrap().is_empty());
        desk.take((1..=2_500).map(capture).collect());
        desk.take((2_400..=2_501).map(capture).collect());
        desk.archivist.end().await;
        let mut desk = Desk::open(temp.path(), None);
        desk.opened().await;
        let pieces = desk.recalled().await;
        let newest = pieces[0].newest.as_ref().unwrap();
        assert_eq!(newest[&LoggerId(1)].0, CaptureId(2_501));
        assert_eq!(ids(&pieces[0].captures), (502..=2_501).collect::<Vec<_>>());
        assert_eq!(ids(&pieces[1].captures), (1..=501).collect::<Vec<_>>());
        assert_eq!((pieces.len(), pieces[1].older), (2, Some(false)));
    }

    #[tokio::test]
    async fn a_payload_that_a_command_made_is_known_to_the_capture_that_calls_it_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(temp.path(), None);
        desk.opened().await;
        desk.recalled().await;
        desk.archivist.wish(Wish::Plant(vec![payload(1)]));
        let mut command = Store::open(temp.path()).await.unwrap().store;
        command.plant(&[payload(2)]).await.unwrap();
        desk.take(vec![capture(1), capture(2), capture(3)]);
        match desk.hears().await {
            OobNews::Payloads(payloads) => assert!(payloads.iter().any(|payload| payload.token == Token::of(2))),
            other => panic!("{other:?}"),
        }
        let known: Vec<bool> = desk.caught().await.iter().map(|caught| caught.known().is_some()).collect();
        assert_eq!(known, [true, true, false]);
        desk.archivist.end().await;
        assert_eq!(Store::open(temp.path()).await.unwrap().book.len(), 2);
    }

    #[tokio::test]
    async fn what_another_dashboard_saw_and_the_service_forgot_is_shown_here_too() {
        let temp = tempfile::tempdir().unwrap();
        let (mut ann, mut bob) = (Desk::open(temp.path(), None), Desk::open(temp.path(), None));
        for desk in [&mut ann, &mut bob] {
            desk.opened().await;
            desk.recalled().await;
        }
        ann.take(vec![capture(1)]);
        assert_eq!((ids(&ann.caught().await), ids(&bob.caught().await)), (vec![1], vec![1]));
    }

    #[tokio::test]
    async fn without_an_archive_captures_are_shown_all_the_same_and_that_is_said() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        let mut desk = Desk::open(&temp.path().join("file/x"), None);
        match desk.hears().await {
            OobNews::Failed(problem) => assert!(problem.message.contains("cannot be kept"), "{problem}"),
            other => panic!("{other:?}"),
        }
        desk.take(vec![capture(1)]);
        assert_eq!(ids(&desk.caught().await), [1]);
    }

    #[tokio::test]
    async fn captures_older_than_they_are_to_be_kept_leave_the_archive_and_that_is_said() {
        let temp = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(temp.path(), None);
        desk.opened().await;
        desk.recalled().await;
        let old = Capture { request_date: Some(Stamp(Timestamp::UNIX_EPOCH)), ..(*capture(7)).clone() };
        desk.take(vec![Arc::new(old), capture(8)]);
        desk.archivist.end().await;
        let mut desk = Desk::open(temp.path(), Some(30));
        assert_eq!(desk.opened().await.forgotten, 1);
        assert_eq!(ids(&desk.recalled().await[0].captures), [8]);
    }
}
