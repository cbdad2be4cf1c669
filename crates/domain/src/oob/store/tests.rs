//! Tests of the archive, each on its own files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use proptest::prelude::*;
use sqlx::Connection;
use tokio::sync::OnceCell;

use super::*;
use crate::oob::{PayloadBook, Token};
use scandeck_wire::contract::{Capture, CaptureId, Stamp};
use scandeck_wire::sqlite;

pub(super) async fn open(directory: &Path) -> OpenedArchive {
    Store::open(directory).await.unwrap()
}

pub(super) fn stamp(second: i64) -> Stamp {
    Stamp(Timestamp::from_second(1_800_000_000 + second).unwrap())
}

pub(super) fn archived(workspace: &str, logger: i64, id: i64) -> ArchivedCapture {
    let capture = Capture {
        id: CaptureId(id),
        url_params: format!("t={id}").as_str().into(),
        request_date: Some(Stamp(
            Timestamp::from_microsecond(1_800_000_000_250_000 + id * 1_000_000).unwrap(),
        )),
        http_headers: vec!["Host: probe".into(), "X-Needle: straw".into()],
        ..Capture::default()
    };
    ArchivedCapture {
        workspace: workspace.into(),
        logger: LoggerId(logger),
        label: "probe".into(),
        handler_url: "http://127.0.0.1:1/l/x/".into(),
        seen_at: stamp(id),
        capture: Arc::new(capture),
    }
}

pub(super) fn payload(number: u64, workspace: &str, version: i64, note: &str) -> Arc<Payload> {
    let (token, workspace, note) = (Token::of(number), workspace.into(), note.into());
    Arc::new(Payload {
        token,
        workspace,
        version,
        note,
        ..Payload::default()
    })
}

async fn ids(store: &mut Store, workspace: &str) -> Vec<i64> {
    let all = store
        .captures(workspace, None, 1000)
        .await
        .unwrap()
        .captures;
    all.iter()
        .map(|(_, archived)| archived.capture.id.0)
        .collect()
}

impl Store {
    /// Counts what it commits from here on.
    async fn transactions(&mut self) -> Arc<AtomicUsize> {
        let counted = Arc::<AtomicUsize>::default();
        let counts = Arc::clone(&counted);
        self.file
            .connection
            .lock_handle()
            .await
            .unwrap()
            .set_commit_hook(move || {
                counts.fetch_add(1, Ordering::Relaxed);
                true
            });
        counted
    }
}

/// True if any file of a directory contains a word.
pub(super) fn holds(directory: &Path, word: &str) -> bool {
    let files = fs::read_dir(directory).unwrap().flatten();
    let mut held = files.map(|entry| fs::read(entry.path()).unwrap());
    held.any(|bytes| {
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    })
}

#[tokio::test]
async fn archived_captures_survive_restart_without_close() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("a/b");
    let mut store = open(&folder).await.store;
    let all: Vec<ArchivedCapture> = (1..=1200).map(|id| archived("Acme", 1, id)).collect();
    store.archive(all.clone()).await.unwrap();
    store
        .plant(&[payload(7, "Acme", 1, "first")])
        .await
        .unwrap();
    // As after a kill: nothing is closed, the log remains.
    let copy = temp.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let mut again = open(&copy).await;
    assert_eq!(again.book.get(Token::of(7)).unwrap().note.as_str(), "first");
    let read = again.store.captures_of("Acme").await.unwrap();
    assert!(read == all, "each as it was seen, to the microsecond");
}

#[tokio::test]
async fn store_files_are_private() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("state");
    let mut store = open(&folder).await.store;
    store.archive(vec![archived("Acme", 1, 1)]).await.unwrap();
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        assert_eq!(
            entry.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{entry:?}"
        );
    }
}

#[tokio::test]
async fn repeated_capture_is_one_and_reused_id_is_two() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let first = archived("Acme", 1, 5);
    let seen_later = ArchivedCapture {
        seen_at: stamp(90),
        ..first.clone()
    };
    let mut later = first.clone();
    later.capture = Arc::new(Capture {
        request_date: Some(stamp(60)),
        ..(*first.capture).clone()
    });
    let elsewhere = ArchivedCapture {
        logger: LoggerId(2),
        ..first.clone()
    };
    store
        .archive(vec![first.clone(), seen_later])
        .await
        .unwrap();
    assert_eq!(ids(&mut store, "Acme").await, [5]);
    store.archive(vec![first, later, elsewhere]).await.unwrap();
    assert_eq!(ids(&mut store, "Acme").await, [5, 5, 5]);
}

#[tokio::test]
async fn pages_list_newest_captures_of_one_workspace() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mixed = (1..=9).map(|id| archived(if id % 3 == 0 { "Lab" } else { "Acme" }, id % 2, id));
    store.archive(mixed.collect()).await.unwrap();
    let page = store.captures("Acme", None, 4).await.unwrap();
    let older = page.older;
    let page = page.captures;
    let ids = |page: &[(ArchivePlace, ArchivedCapture)]| {
        page.iter()
            .map(|(_, it)| it.capture.id.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&page), [8, 7, 5, 4]);
    let rest = store.captures("Acme", older, 4).await.unwrap();
    assert_eq!((ids(&rest.captures), rest.older), (vec![2, 1], None));
    // A capture without tokens is dropped, and those before it still have ids.
    let broken = "UPDATE captures SET json = 'x' WHERE id = 5";
    sqlx::query(broken)
        .execute(&mut store.file.connection)
        .await
        .unwrap();
    let first = store.captures("Acme", None, 3).await.unwrap();
    assert_eq!(ids(&first.captures), [8, 7]);
    assert_eq!(
        ids(&store
            .captures("Acme", first.older, 9)
            .await
            .unwrap()
            .captures),
        [4, 2, 1]
    );
    assert_eq!(store.workspaces().await.unwrap(), ["Acme", "Lab"]);
}

#[tokio::test]
async fn newest_capture_of_logger_follows_archive_order() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    assert!(
        store.newest().await.unwrap().is_empty() && store.workspaces().await.unwrap().is_empty()
    );
    store
        .archive((1..=8).map(|id| archived("Acme", 1 + id % 2, id)).collect())
        .await
        .unwrap();
    // The logger was cleared, and its ids begin later.
    store
        .archive(vec![archived("Acme", 1, 2).with_date(stamp(500))])
        .await
        .unwrap();
    let newest = store.newest().await.unwrap();
    let ids: Vec<_> = newest
        .iter()
        .map(|(logger, (id, date))| (logger.0, id.0, *date))
        .collect();
    assert_eq!(ids[0], (1, 2, Some(stamp(500))));
    assert_eq!((ids[1].0, ids[1].1, ids.len()), (2, 7, 2));
}

impl ArchivedCapture {
    fn with_date(mut self, date: Stamp) -> Self {
        self.capture = Arc::new(Capture {
            request_date: Some(date),
            ..(*self.capture).clone()
        });
        self
    }
}

#[tokio::test]
async fn concurrent_payload_versions_keep_latest() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .plant(&[
            payload(1, "Acme", 2, "later"),
            payload(2, "Acme", 1, "other"),
        ])
        .await
        .unwrap();
    store
        .plant(&[payload(1, "Acme", 1, "earlier")])
        .await
        .unwrap();
    let book = open(temp.path()).await.book;
    assert_eq!(
        (book.len(), book.get(Token::of(1)).unwrap().note.as_str()),
        (2, "later")
    );
    store.plant(&[payload(1, "Acme", 3, "last")]).await.unwrap();
    assert_eq!(
        open(temp.path())
            .await
            .book
            .get(Token::of(1))
            .unwrap()
            .note
            .as_str(),
        "last"
    );
    assert_eq!(store.payloads_of("Acme").await.unwrap().len(), 2);
}

#[tokio::test]
async fn second_instance_receives_only_foreign_news() {
    let temp = tempfile::tempdir().unwrap();
    let (mut ann, mut bob) = (open(temp.path()).await.store, open(temp.path()).await.store);
    ann.plant(
        &(0..700)
            .map(|number| payload(number, "Acme", 1, ""))
            .collect::<Vec<_>>(),
    )
    .await
    .unwrap();
    let news = bob.news().await.unwrap();
    assert_eq!((news.payloads.len(), news.captures.len()), (700, 0));
    ann.plant(&[payload(3, "Acme", 2, "changed")])
        .await
        .unwrap();
    ann.archive(vec![archived("Acme", 1, 1)]).await.unwrap();
    let news = bob.news().await.unwrap();
    assert_eq!((news.payloads.len(), news.captures.len()), (1, 1));
    let news = bob.news().await.unwrap();
    assert!(news.payloads.is_empty() && news.captures.is_empty());
    bob.archive(vec![archived("Acme", 1, 2)]).await.unwrap();
    ann.archive(vec![archived("Acme", 1, 3)]).await.unwrap();
    let ids: Vec<i64> = bob
        .news()
        .await
        .unwrap()
        .captures
        .iter()
        .map(|one| one.capture.id.0)
        .collect();
    assert_eq!(ids, [3], "not what was written here");
}

#[tokio::test]
async fn purge_removes_every_byte_of_one_workspace() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .archive((1..=50).map(|id| archived("Topsecret", 1, id)).collect())
        .await
        .unwrap();
    store.archive(vec![archived("Lab", 2, 1)]).await.unwrap();
    store
        .plant(&[
            payload(1, "Topsecret", 1, "hushhush"),
            payload(2, "Lab", 1, "open"),
        ])
        .await
        .unwrap();
    let stored = store.stored_rows("Topsecret").await.unwrap();
    assert_eq!(stored.counts[..2], [("capture", 50), ("payload", 1)]);
    let other = open(temp.path()).await.store;
    let refused = store.purge("Topsecret").await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    other.purge("Topsecret").await.unwrap();
    assert!(!holds(temp.path(), "Topsecret") && !holds(temp.path(), "hushhush"));
    let mut again = open(temp.path()).await;
    assert_eq!(
        (ids(&mut again.store, "Lab").await, again.book.len()),
        (vec![1], 1)
    );
}

/// An archive of which the root page of the payloads, which every opening reads, is broken; its
/// bytes.
async fn broken(directory: &Path) -> Vec<u8> {
    static BROKEN: OnceCell<Vec<u8>> = OnceCell::const_new();
    let bytes = BROKEN.get_or_init(broken_file).await;
    let file = directory.join("captures.db");
    fs::write(&file, bytes).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    bytes.clone()
}

async fn broken_file() -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .archive((1..=2000).map(|id| archived("Acme", 1, id)).collect())
        .await
        .unwrap();
    store.plant(&[payload(1, "Acme", 1, "kept")]).await.unwrap();
    break_payloads(store, temp.path()).await
}

pub(super) async fn break_payloads(store: Store, directory: &Path) -> Vec<u8> {
    store.close().await;
    let file = directory.join("captures.db");
    let page = root_page(directory, "payloads").await as usize;
    let mut bytes = fs::read(&file).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xff);
    fs::write(&file, &bytes).unwrap();
    bytes
}

#[tokio::test]
async fn broken_file_is_set_aside_and_readable_rows_are_rescued() {
    let temp = tempfile::tempdir().unwrap();
    let bytes = broken(temp.path()).await;
    let mut opened = open(temp.path()).await;
    assert!(
        opened
            .notes
            .iter()
            .any(|note| note.contains("2,000 captures and 0 payloads")),
        "{:?}",
        opened.notes
    );
    assert_eq!(opened.store.captures_of("Acme").await.unwrap().len(), 2000);
    assert_eq!(
        fs::read(temp.path().join("captures.db.broken-1")).unwrap(),
        bytes,
        "untouched"
    );
}

#[tokio::test]
async fn failed_rescue_leaves_broken_file_in_place() {
    let temp = tempfile::tempdir().unwrap();
    let bytes = broken(temp.path()).await;
    let migrations = tempfile::tempdir().unwrap();
    let first = include_str!("../../../assets/migrations/oob/0001_first.sql");
    let full = "CREATE TRIGGER full BEFORE INSERT ON captures BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;";
    let team = include_str!("../../../assets/migrations/oob/0002_team.sql");
    fs::write(migrations.path().join("0001_first.sql"), first).unwrap();
    fs::write(
        migrations.path().join("0002_team.sql"),
        format!("{team}{full}"),
    )
    .unwrap();
    let migrator = sqlx::migrate::Migrator::new(migrations.path())
        .await
        .unwrap();
    let error = sqlite::open::<OpenedArchive>(temp.path(), &migrator)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(
        fs::read(temp.path().join("captures.db")).unwrap(),
        bytes,
        "as it was"
    );
    let mut opened = open(temp.path()).await;
    assert_eq!(opened.store.captures_of("Acme").await.unwrap().len(), 2000);
}

async fn root_page(directory: &Path, table: &str) -> u64 {
    use sqlx::ConnectOptions;
    let mut connection = sqlite::options(&directory.join("captures.db"))
        .connect()
        .await
        .unwrap();
    let query = sqlx::query_scalar("SELECT rootpage FROM sqlite_master WHERE name = ?").bind(table);
    let page: i64 = query.fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    page as u64
}

#[tokio::test]
async fn locked_archive_is_reported_and_retried() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store.with_no_patience().await;
    let mut other = open(temp.path()).await.store;
    other.hold().await;
    let refused = store
        .archive(vec![archived("Acme", 1, 1)])
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::Held { .. }), "{refused}");
    other.close().await;
    store.archive(vec![archived("Acme", 1, 1)]).await.unwrap();
    assert_eq!(ids(&mut store, "Acme").await, [1]);
}

#[tokio::test]
async fn large_batches_are_written_and_deleted_in_short_transactions() {
    let temp = tempfile::tempdir().unwrap();
    let (mut store, mut other) = (open(temp.path()).await.store, open(temp.path()).await.store);
    let transactions = store.transactions().await;
    store
        .archive((1..=4_500).map(|id| archived("Acme", 1, id)).collect())
        .await
        .unwrap();
    assert_eq!(transactions.load(Ordering::Relaxed), 5);
    assert_eq!(other.news().await.unwrap().captures.len(), 4_500);
    assert_eq!(
        store
            .forget_before(stamp(4_490), &PayloadBook::default())
            .await
            .unwrap(),
        4_489
    );
    // The last finds none.
    assert_eq!(transactions.load(Ordering::Relaxed), 11);
    assert_eq!(ids(&mut store, "Acme").await.len(), 11);
}

fn arrived(position: i64, payload: &Payload) -> ArrivedPayload {
    ArrivedPayload::parse(position, &payload.line()).unwrap()
}

fn version(version: i64, note: &str) -> Arc<Payload> {
    Arc::new(Payload {
        token: Token::of(1),
        workspace: "acme".into(),
        version,
        note: note.into(),
        ..Payload::default()
    })
}

#[tokio::test]
async fn payload_is_sent_once_for_each_version() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = Store::open(temp.path()).await.unwrap().store;
    let unsent = async |store: &mut Store| store.count_unsent("acme").await.unwrap();
    store.plant(&[version(0, "a")]).await.unwrap();
    let rows = store.unsent_payloads("acme").await.unwrap();
    assert_eq!(rows[0].json, version(0, "a").line());
    // Changed while it was sent.
    store.plant(&[version(1, "b")]).await.unwrap();
    store
        .mark_payloads(&rows, &Default::default())
        .await
        .unwrap();
    assert_eq!(unsent(&mut store).await, 1);
    let page = [arrived(1, &version(0, "a"))];
    assert_eq!(store.take_payloads("acme", &page).await.unwrap(), 0);
    assert_eq!(unsent(&mut store).await, 1, "the service has an older one");
    let page = [arrived(2, &version(1, "b"))];
    assert_eq!(store.take_payloads("acme", &page).await.unwrap(), 0);
    assert_eq!(unsent(&mut store).await, 0, "it has this one");
    let page = [arrived(3, &version(1, "c"))];
    assert_eq!(store.take_payloads("acme", &page).await.unwrap(), 1);
    store.plant(&[version(1, "b")]).await.unwrap();
    assert_eq!(unsent(&mut store).await, 0, "the smaller text loses");
    assert_eq!(store.payloads_of("acme").await.unwrap(), [version(1, "c")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn payloads_in_any_order_give_one_book_and_one_store(
        (versions, other) in proptest::collection::vec((0..3i64, 0..3usize), 1..8)
            .prop_flat_map(|versions| (Just(versions.clone()), Just(versions).prop_shuffle())),
        stored in 0..8usize,
    ) {
        let payloads = |versions: Vec<(i64, usize)>| -> Vec<Arc<Payload>> {
            let notes = ["a", "b", "c"];
            versions.into_iter().map(|(number, note)| version(number, notes[note])).collect()
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let result = |payloads: Vec<Arc<Payload>>| runtime.block_on(async {
            let temp = tempfile::tempdir().unwrap();
            let mut store = Store::open(temp.path()).await.unwrap().store;
            let mut book = PayloadBook::default();
            book.take(payloads.iter().cloned());
            let (own, others) = payloads.split_at(stored.min(payloads.len()));
            store.plant(own).await.unwrap();
            for (position, one) in (1..).zip(others) {
                store.take_payloads("acme", &[arrived(position, one)]).await.unwrap();
            }
            store.close().await;
            let opened = Store::open(temp.path()).await.unwrap();
            prop_assert_eq!(&opened.book, &book);
            Ok(book)
        });
        prop_assert_eq!(result(payloads(versions))?, result(payloads(other))?);
    }
}
