//! The guarantees of the archive task. Each test has its own archive.

use crate::data::{Recalled, Stream};
use crate::runtime::archive::*;
use jiff::Timestamp;
use scandeck_client::CaptureArchive;
use scandeck_domain::oob::Token;
use scandeck_wire::contract::{CaptureId, LoggerId};
use std::collections::BTreeMap;

pub(crate) struct ArchiveTester {
    pub archive: ArchiveHandle,
    answers: UnboundedReceiver<TaskReport>,
    /// The last reported hits of each payload by its number, and whether they are complete.
    hits: BTreeMap<u64, u64>,
    all: bool,
}

impl ArchiveTester {
    pub fn open(directory: &std::path::Path, keep_days: Option<u16>) -> Self {
        let (sender, answers) = mpsc::unbounded_channel();
        let memory = memory(directory, keep_days);
        let beat = Beat::since(Instant::now());
        let mut archive = ArchiveHandle::start(&memory, beat, sender, LocalWrites::default());
        archive.recalled = Some((1, "Acme".into()));
        archive.send(ArchiveRequest::Recall(1, "Acme".into()));
        Self {
            archive,
            answers,
            hits: BTreeMap::new(),
            all: false,
        }
    }

    /// The next report that is not about hits, which are collected.
    async fn next_report(&mut self) -> OobNews {
        loop {
            match self.next_message().await {
                OobNews::Hits { .. } => {}
                other => return other,
            }
        }
    }

    async fn next_message(&mut self) -> OobNews {
        let Some(TaskReport::Msg(msg)) = self.answers.recv().await else {
            panic!("the task ended")
        };
        let Msg::Oob(news) = *msg else {
            panic!("{msg:?}")
        };
        if let OobNews::Hits {
            generation: 1,
            hits,
            all,
        } = &news
        {
            self.hits.extend(
                hits.iter()
                    .map(|(token, hits)| (token.number(), hits.count)),
            );
            self.all |= all;
        }
        news
    }

    /// Waits until the complete hits are these.
    pub async fn counted(&mut self, hits: impl IntoIterator<Item = (u64, u64)>) {
        let hits = hits.into_iter().collect();
        while !(self.all && self.hits == hits) {
            self.next_message().await;
        }
    }

    pub async fn opened(&mut self) -> StoredArchive {
        match self.next_report().await {
            OobNews::Opened(stored) => *stored,
            other => panic!("{other:?}"),
        }
    }

    /// All recalled chunks, up to the last.
    pub async fn recalled(&mut self) -> Vec<Recalled> {
        let mut chunks = Vec::new();
        loop {
            match self.next_report().await {
                OobNews::Recalled(chunk) => chunks.push(*chunk),
                other => panic!("{other:?}"),
            }
            if chunks.last().is_some_and(|chunk| chunk.older.is_some()) {
                return chunks;
            }
        }
    }

    pub async fn captures(&mut self) -> Vec<CaptureRow> {
        match self.next_report().await {
            OobNews::Captures { generation: 1, new } => new,
            other => panic!("{other:?}"),
        }
    }

    fn take(&self, captures: Vec<Arc<Capture>>) {
        let logger = Logger {
            id: LoggerId(1),
            label: "probe".into(),
            ..Logger::default()
        };
        self.archive
            .take(Arc::new(logger), Stamp(Timestamp::now()), captures);
    }
}

fn memory(directory: &std::path::Path, keep_days: Option<u16>) -> Memory {
    Memory {
        directory: directory.to_owned(),
        cache: None,
        who: "ann".into(),
        keep_days,
    }
}

/// A capture with the token of this number, one second after the previous one.
pub(crate) fn capture(id: i64) -> Arc<Capture> {
    Arc::new(Capture {
        id: CaptureId(id),
        url_params: format!("t={}", Token::of(id as u64)).into(),
        request_date: Some(Stamp(Timestamp::from_second(1_800_000_000 + id).unwrap())),
        ..Capture::default()
    })
}

pub(crate) fn payload(number: u64) -> Arc<Payload> {
    Arc::new(Payload {
        token: Token::of(number),
        workspace: "Acme".into(),
        ..Payload::default()
    })
}

pub(crate) fn ids(captured: &[CaptureRow]) -> Vec<i64> {
    captured
        .iter()
        .map(|captured| captured.capture.id.0)
        .collect()
}

#[tokio::test]
async fn captures_are_stored_before_end_and_recalled_newest_first() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    assert!(app.opened().await.writable);
    assert!(app.recalled().await[0].newest.as_ref().unwrap().is_empty());
    app.take((1..=2_500).map(capture).collect());
    app.take((2_400..=2_501).map(capture).collect());
    app.archive.end().await;
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    let chunks = app.recalled().await;
    let newest = chunks[0].newest.as_ref().unwrap();
    assert_eq!(newest[&LoggerId(1)].0, CaptureId(2_501));
    assert_eq!(ids(&chunks[0].captures), (502..=2_501).collect::<Vec<_>>());
    assert_eq!(ids(&chunks[1].captures), (1..=501).collect::<Vec<_>>());
    assert_eq!((chunks.len(), chunks[1].older), (2, Some(false)));
}

#[tokio::test]
async fn large_response_is_reported_in_chunks() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    app.take((1..=2_500).map(capture).collect());
    for ids_of_chunk in [1..=1_000, 1_001..=2_000, 2_001..=2_500] {
        assert_eq!(ids(&app.captures().await), ids_of_chunk.collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn payload_of_command_is_recognized_in_next_capture() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    app.archive.send(ArchiveRequest::Plant(vec![payload(1)]));
    let mut command = Store::open(temp.path()).await.unwrap().store;
    command.plant(&[payload(2)]).await.unwrap();
    app.take(vec![capture(1), capture(2), capture(3)]);
    match app.next_report().await {
        OobNews::Payloads(payloads) => {
            assert!(payloads.iter().any(|payload| payload.token == Token::of(2)))
        }
        other => panic!("{other:?}"),
    }
    let known: Vec<bool> = app
        .captures()
        .await
        .iter()
        .map(|captured| captured.known().is_some())
        .collect();
    assert_eq!(known, [true, true, false]);
    app.archive.end().await;
    assert_eq!(Store::open(temp.path()).await.unwrap().book.len(), 2);
}

#[tokio::test]
async fn captures_of_other_dashboard_are_reported() {
    let temp = tempfile::tempdir().unwrap();
    let (mut ann, mut bob) = (
        ArchiveTester::open(temp.path(), None),
        ArchiveTester::open(temp.path(), None),
    );
    for app in [&mut ann, &mut bob] {
        app.opened().await;
        app.recalled().await;
    }
    ann.take(vec![capture(1)]);
    assert_eq!(
        (ids(&ann.captures().await), ids(&bob.captures().await)),
        (vec![1], vec![1])
    );
}

#[tokio::test]
async fn captures_without_archive_are_reported_with_problem_and_archived_later() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("file"), "").unwrap();
    let mut app = ArchiveTester::open(&temp.path().join("file/x"), None);
    match app.next_report().await {
        OobNews::Failed(problem) => {
            assert!(problem.message.contains("cannot be saved"), "{problem}")
        }
        other => panic!("{other:?}"),
    }
    app.take(vec![capture(1)]);
    let mut shown = Vec::new();
    while shown.is_empty() {
        match app.next_report().await {
            OobNews::Captures { new, .. } => shown = ids(&new),
            OobNews::Retrying(backlog) => assert!(backlog.captures <= 1),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(shown, [1]);
    std::fs::remove_file(temp.path().join("file")).unwrap();
    while !matches!(
        app.next_report().await,
        OobNews::Recovered { writable: true }
    ) {}
    app.archive.end().await;
    let mut store = Store::open(&temp.path().join("file/x"))
        .await
        .unwrap()
        .store;
    assert_eq!(store.captures_of("Acme").await.unwrap().len(), 1);
}

#[tokio::test]
async fn expired_captures_are_deleted_and_counted() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    let old = Capture {
        request_date: Some(Stamp(Timestamp::UNIX_EPOCH)),
        ..(*capture(7)).clone()
    };
    let fresh = |id| {
        Arc::new(Capture {
            request_date: Some(Stamp(Timestamp::now())),
            ..(*capture(id)).clone()
        })
    };
    app.take(vec![Arc::new(old.clone()), fresh(8)]);
    app.archive.end().await;
    let mut app = ArchiveTester::open(temp.path(), Some(30));
    assert_eq!(app.opened().await.forgotten, 1);
    assert_eq!(ids(&app.recalled().await[0].captures), [8]);
    // The service still has the expired capture, and sends it again.
    app.take(vec![Arc::new(old), fresh(9)]);
    assert_eq!(ids(&app.captures().await), [9]);
    app.archive.end().await;
    let stored = Store::open(temp.path())
        .await
        .unwrap()
        .store
        .captures_of("Acme")
        .await
        .unwrap();
    assert_eq!(
        stored
            .iter()
            .map(|one| one.capture.id.0)
            .collect::<Vec<_>>(),
        [8, 9]
    );
}

/// Refuses every write into these tables as a full disk does.
async fn fill_disk(directory: &std::path::Path, is_full: bool) {
    let file = directory.join("captures.db");
    let statements = if is_full {
        [
            "CREATE TRIGGER full_c BEFORE INSERT ON captures BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
            "CREATE TRIGGER full_p BEFORE INSERT ON payloads BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
        ]
    } else {
        ["DROP TRIGGER full_c", "DROP TRIGGER full_p"]
    };
    for statement in statements {
        scandeck_wire::sqlite::execute(&file, statement)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn captures_on_full_disk_are_shown_and_archived_in_order_when_it_has_space() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    fill_disk(temp.path(), true).await;
    app.take(vec![capture(1), capture(2)]);
    app.take(vec![capture(3)]);
    app.archive.send(ArchiveRequest::Plant(vec![payload(2)]));
    let (mut shown, mut last) = (Vec::new(), None);
    while last
        .as_ref()
        .is_none_or(|last: &crate::data::ArchiveBacklog| last.payloads == 0)
    {
        match app.next_report().await {
            OobNews::Captures { new, .. } => shown.extend(ids(&new)),
            OobNews::Retrying(backlog) => last = Some(backlog),
            other => panic!("{other:?}"),
        }
    }
    let last = last.unwrap();
    assert_eq!(
        (shown.as_slice(), last.captures, last.is_full),
        ([1, 2, 3].as_slice(), 3, false)
    );
    assert_eq!(last.problem.brief(), "the disk is full");
    let unread = vec![Capture::clone(&capture(9))];
    let refused = app
        .archive
        .archiver()
        .archive(&"Acme".into(), &Logger::default(), unread)
        .await
        .unwrap_err();
    assert!(
        refused.message.contains("the disk is full"),
        "nothing is deleted while captures wait: {refused}"
    );
    fill_disk(temp.path(), false).await;
    loop {
        match app.next_report().await {
            OobNews::Recovered { writable: true } => break,
            // The look at other programs can report a capture again.
            OobNews::Captures { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    app.counted([(2, 1)]).await;
    assert_eq!(
        app.archive
            .archiver()
            .archive(&"Acme".into(), &Logger::default(), Vec::new())
            .await,
        Ok(0)
    );
    app.archive.end().await;
    let mut stored = Store::open(temp.path()).await.unwrap();
    let archived = stored.store.captures_of("Acme").await.unwrap();
    assert_eq!(
        archived
            .iter()
            .map(|one| one.capture.id.0)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(stored.book.len(), 1);
}

#[tokio::test]
async fn archive_that_cannot_be_opened_on_full_disk_is_opened_later() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("captures.db");
    Store::open(temp.path()).await.unwrap().store.close().await;
    scandeck_wire::sqlite::execute(&file, "ALTER TABLE captures RENAME TO away")
        .await
        .unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    assert!(matches!(app.next_report().await, OobNews::Failed(_)));
    assert!(matches!(app.next_report().await, OobNews::Retrying(_)));
    app.take(vec![capture(1)]);
    assert!(matches!(app.next_report().await, OobNews::Retrying(backlog) if backlog.captures == 1));
    assert_eq!(ids(&app.captures().await), [1]);
    scandeck_wire::sqlite::execute(&file, "ALTER TABLE away RENAME TO captures")
        .await
        .unwrap();
    assert!(app.opened().await.writable);
    assert!(matches!(
        app.next_report().await,
        OobNews::Recovered { writable: true }
    ));
    assert_eq!(ids(&app.recalled().await[0].captures), [1]);
}

fn task(
    directory: &std::path::Path,
    store: Option<Store>,
    answers: UnboundedSender<TaskReport>,
) -> Task {
    Task {
        memory: memory(directory, None),
        bodies: Arc::new(Mutex::new(BodyStore::new(directory))),
        store,
        book: PayloadBook::default(),
        workspace: Some((1, "Acme".into())),
        recalling: None,
        looking: false,
        held: false,
        is_uncounted: false,
        recount_at: None,
        backlog: Backlog::default(),
        behind: Arc::default(),
        answers,
        writes: LocalWrites::default(),
    }
}

/// A request to archive one capture.
fn request(id: i64) -> ArchiveRequest {
    let logger = Arc::new(Logger {
        id: LoggerId(1),
        ..Logger::default()
    });
    let (seen_at, captures) = (Stamp(Timestamp::now()), vec![capture(id)]);
    ArchiveRequest::Archive {
        workspace: "Acme".into(),
        logger,
        seen_at,
        captures,
        reply: None,
    }
}

/// The last report besides hits and captures.
fn last_report(news: &mut UnboundedReceiver<TaskReport>) -> OobNews {
    let mut last = None;
    while let Ok(TaskReport::Msg(msg)) = news.try_recv() {
        match *msg {
            Msg::Oob(OobNews::Hits { .. } | OobNews::Captures { .. }) => {}
            Msg::Oob(news) => last = Some(news),
            other => panic!("{other:?}"),
        }
    }
    last.unwrap()
}

#[tokio::test]
async fn captures_of_unreadable_archive_do_not_postpone_next_attempt() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("captures.db");
    let (answers, _news) = mpsc::unbounded_channel();
    let store = Store::open(temp.path()).await.unwrap().store;
    let mut task = task(temp.path(), Some(store), answers);
    scandeck_wire::sqlite::execute(&file, "ALTER TABLE captures RENAME TO away")
        .await
        .unwrap();
    task.execute(request(1)).await.unwrap();
    let first = task.backlog.retry_at().unwrap();
    assert!(task.backlog.is_unreadable);
    sleep(Duration::from_millis(20)).await;
    task.execute(request(2)).await.unwrap();
    assert_eq!(task.backlog.retry_at(), Some(first));
    task.retry().await.unwrap();
    assert!(
        task.backlog.retry_at().unwrap() > first,
        "a failed attempt does"
    );
    scandeck_wire::sqlite::execute(&file, "ALTER TABLE away RENAME TO captures")
        .await
        .unwrap();
    task.retry().await.unwrap();
    assert_eq!(task.backlog.retry_at(), None);
    assert_eq!(
        task.store.unwrap().captures_of("Acme").await.unwrap().len(),
        2
    );
}

#[tokio::test]
async fn archive_on_full_disk_is_read_while_writes_wait() {
    let temp = tempfile::tempdir().unwrap();
    let (answers, mut news) = mpsc::unbounded_channel();
    let store = Store::open(temp.path()).await.unwrap().store;
    let mut before = task(temp.path(), Some(store), answers.clone());
    before.execute(request(1)).await.unwrap();
    before.store.unwrap().close().await;
    let mut task = task(temp.path(), None, answers);
    assert!(task.read_on_full_disk().await);
    assert!(matches!(
        last_report(&mut news),
        OobNews::Opened(stored) if !stored.writable && stored.problem.is_some()
    ));
    task.suspend(&StoreError::ReadOnly {
        path: temp.path().to_owned(),
    });
    task.execute(request(2)).await.unwrap();
    assert!(matches!(last_report(&mut news), OobNews::Retrying(backlog) if backlog.captures == 1));
    let store = task.store.as_mut().unwrap();
    assert_eq!(store.captures_of("Acme").await.unwrap().len(), 1);
    // This disk has room.
    task.retry().await.unwrap();
    assert!(matches!(
        last_report(&mut news),
        OobNews::Recovered { writable: true }
    ));
    let store = task.store.as_mut().unwrap();
    assert_eq!(store.captures_of("Acme").await.unwrap().len(), 2);
}

#[tokio::test]
async fn deferred_writes_wait_until_archive_is_writable() {
    let temp = tempfile::tempdir().unwrap();
    Store::open(temp.path()).await.unwrap().store.close().await;
    let (answers, mut news) = mpsc::unbounded_channel();
    let mut task = task(temp.path(), None, answers);
    task.suspend(&StoreError::ReadOnly {
        path: temp.path().to_owned(),
    });
    task.execute(request(1)).await.unwrap();
    let refused = task
        .use_store(
            Store::open_read_only(temp.path()).await,
            StoredArchive::default(),
        )
        .await;
    assert!(
        refused.unwrap_err().is_temporary() && task.store.is_none() && task.backlog.has_writes()
    );
    assert!(matches!(last_report(&mut news), OobNews::Retrying(backlog) if backlog.captures == 1));
    task.retry().await.unwrap();
    assert!(matches!(
        last_report(&mut news),
        OobNews::Recovered { writable: true }
    ));
    assert_eq!(
        task.store
            .take()
            .unwrap()
            .captures_of("Acme")
            .await
            .unwrap()
            .len(),
        1
    );

    // Nothing waits for an archive that was read-only before it could not be read.
    task.store = Some(Store::open_read_only(temp.path()).await);
    task.stop_reading(&StoreError::ReadOnly {
        path: temp.path().to_owned(),
    });
    task.execute(request(2)).await.unwrap();
    assert!(!task.backlog.has_writes());
    // It is opened again, since its directory is writable.
    task.retry().await.unwrap();
    assert!(matches!(
        last_report(&mut news),
        OobNews::Recovered { writable: true }
    ));
}

#[tokio::test]
async fn discarded_writes_are_counted_in_problem() {
    let temp = tempfile::tempdir().unwrap();
    let (answers, mut news) = mpsc::unbounded_channel();
    let mut task = task(temp.path(), None, answers);
    task.suspend(&StoreError::ReadOnly {
        path: temp.path().to_owned(),
    });
    for request in [
        request(1),
        request(2),
        ArchiveRequest::Plant(vec![payload(1)]),
    ] {
        task.execute(request).await.unwrap();
    }
    task.suspend_or_fail(&StoreError::Replaced {
        path: temp.path().to_owned(),
    });
    let OobNews::Failed(problem) = last_report(&mut news) else {
        panic!()
    };
    assert!(
        problem
            .message
            .ends_with("; 2 captures and 1 payload not archived"),
        "{problem}"
    );
}

#[tokio::test]
async fn captures_wait_while_archive_is_locked() {
    let temp = tempfile::tempdir().unwrap();
    let mut other = Store::open(temp.path()).await.unwrap().store;
    let store = Store::open(temp.path())
        .await
        .unwrap()
        .store
        .with_no_patience()
        .await;
    let (answers, news) = mpsc::unbounded_channel();
    let (requests, waiting) = mpsc::unbounded_channel();
    let mut task = task(temp.path(), Some(store), answers);
    let task = tokio::spawn(async move {
        task.run(waiting, Beat::since(Instant::now()).every(OTHERS))
            .await
    });
    let archive = ArchiveHandle {
        requests,
        task,
        recalled: Some((1, "Acme".into())),
        behind: Arc::default(),
    };
    let mut app = ArchiveTester {
        archive,
        answers: news,
        hits: BTreeMap::new(),
        all: false,
    };
    other.hold().await;
    app.take(vec![capture(1)]);
    app.archive.send(ArchiveRequest::Plant(vec![payload(1)]));
    match app.next_report().await {
        OobNews::Waits(problem) => {
            assert!(problem.message.contains("locked by another"), "{problem}")
        }
        other => panic!("{other:?}"),
    }
    other.close().await;
    assert_eq!(
        ids(&app.captures().await),
        [1],
        "reported once, without a failure"
    );
    app.archive.end().await;
    let mut stored = Store::open(temp.path()).await.unwrap();
    assert_eq!(
        (
            stored.store.captures_of("Acme").await.unwrap().len(),
            stored.book.len()
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn hits_are_reported_before_recalled_captures_and_survive_restart() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    assert!(app.all && app.hits.is_empty());
    app.archive
        .send(ArchiveRequest::Plant(vec![payload(1), payload(2)]));
    app.take(vec![capture(1), capture(2), capture(3)]);
    let again = Capture {
        id: CaptureId(9),
        ..(*capture(1)).clone()
    };
    app.take(vec![capture(1), Arc::new(again)]);
    app.counted([(1, 2), (2, 1)]).await;
    app.archive.end().await;
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    assert!(matches!(
        app.next_message().await,
        OobNews::Hits { all: true, .. }
    ));
    assert_eq!(app.hits, [(1, 2), (2, 1)].into());
    app.recalled().await;
}

#[tokio::test]
async fn parallel_dashboards_count_same_hits() {
    let temp = tempfile::tempdir().unwrap();
    let (mut ann, mut bob) = (
        ArchiveTester::open(temp.path(), None),
        ArchiveTester::open(temp.path(), None),
    );
    for app in [&mut ann, &mut bob] {
        app.opened().await;
        app.recalled().await;
    }
    ann.archive
        .send(ArchiveRequest::Plant(vec![payload(1), payload(2)]));
    let shift = |id, token| {
        Arc::new(Capture {
            id: CaptureId(id),
            ..(*capture(token)).clone()
        })
    };
    ann.take(vec![shift(1, 1), shift(2, 1), shift(3, 2)]);
    ann.counted([(1, 2), (2, 1)]).await;
    bob.take(vec![shift(2, 1), shift(3, 2), shift(4, 2)]);
    ann.take(vec![shift(4, 2)]);
    ann.counted([(1, 2), (2, 2)]).await;
    bob.counted([(1, 2), (2, 2)]).await;
}

#[tokio::test]
async fn unsearched_captures_are_searched_after_recall() {
    let temp = tempfile::tempdir().unwrap();
    let mut command = Store::open(temp.path()).await.unwrap().store;
    command.plant(&[payload(1), payload(2_400)]).await.unwrap();
    command
        .archive((1..=2_500).map(|id| of_acme(capture(id))).collect())
        .await
        .unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    assert!(!app.all, "incomplete before all captures are searched");
    app.counted([(1, 1), (2_400, 1)]).await;
    // A further capture, while this dashboard runs.
    command
        .archive(vec![of_acme(Arc::new(Capture {
            id: CaptureId(9_000),
            ..(*capture(1)).clone()
        }))])
        .await
        .unwrap();
    app.counted([(1, 2), (2_400, 1)]).await;
    // A bundle contains a payload with captures in this archive.
    command.plant(&[payload(3)]).await.unwrap();
    command.look_again().await.unwrap();
    app.counted([(1, 2), (3, 1), (2_400, 1)]).await;
}

fn of_acme(capture: Arc<Capture>) -> ArchivedCapture {
    ArchivedCapture {
        workspace: "Acme".into(),
        logger: LoggerId(1),
        capture,
        ..ArchivedCapture::default()
    }
}

#[tokio::test]
async fn hits_of_expired_capture_remain_counted() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.archive.send(ArchiveRequest::Plant(vec![payload(7)]));
    app.take(vec![capture(7)]);
    app.counted([(7, 1)]).await;
    app.archive.end().await;
    // The other captures are of the year 2027.
    let later = Capture {
        request_date: Some(Stamp(Timestamp::UNIX_EPOCH)),
        id: CaptureId(8),
        ..(*capture(7)).clone()
    };
    let mut command = Store::open(temp.path()).await.unwrap().store;
    command
        .archive(vec![of_acme(Arc::new(later))])
        .await
        .unwrap();
    let mut app = ArchiveTester::open(temp.path(), Some(30));
    assert_eq!(app.opened().await.forgotten, 1);
    app.counted([(7, 2)]).await;
}

#[tokio::test]
async fn failing_hits_are_reported_and_captures_still_archived() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    app.archive.send(ArchiveRequest::Plant(vec![payload(1)]));
    Store::open(temp.path())
        .await
        .unwrap()
        .store
        .refuse_hits()
        .await;
    app.take(vec![capture(1)]);
    assert_eq!(ids(&app.captures().await), [1]);
    let problem = loop {
        match app.next_report().await {
            // The look at other programs can report the capture again.
            OobNews::Captures { .. } => {}
            OobNews::Uncounted(problem) => break problem,
            other => panic!("{other:?}"),
        }
    };
    assert!(problem.message.contains("the disk is full"), "{problem}");
    app.take(vec![capture(2)]);
    assert_eq!(ids(&app.captures().await), [2]);
    app.archive.end().await;
    let mut store = Store::open(temp.path()).await.unwrap().store;
    assert_eq!(store.captures_of("Acme").await.unwrap().len(), 2);
    assert!(store.is_behind().await.unwrap(), "to be searched again");
}

#[tokio::test]
async fn long_body_is_in_file_when_its_capture_is_listed() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = ArchiveTester::open(temp.path(), None);
    app.opened().await;
    app.recalled().await;
    let whole = Capture {
        request_body_base64: "QUJD".repeat(1_000).as_str().into(),
        ..Capture::clone(&capture(1))
    };
    app.take(vec![Arc::new(whole.clone())]);
    let mut stream = Stream::default();
    stream.take(app.captures().await);
    let row = &stream.rows[0];
    assert!(row.capture.request_body_base64.is_empty() && row.body_size() == 3_000);
    assert_eq!(*row.whole().unwrap(), whole);
}
