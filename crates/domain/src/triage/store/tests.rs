//! Tests of the store, each on its own files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::*;
use crate::triage::testing::Replica;
use crate::triage::{Change, TriageState, Verdict};
use scandeck_wire::sqlite;

async fn open(directory: &Path) -> OpenedDecisions {
    Store::open(directory).await.unwrap()
}

fn ids(events: &[Arc<Event>]) -> Vec<String> {
    let mut ids: Vec<_> = events.iter().map(|event| event.id.to_string()).collect();
    ids.sort();
    ids
}

fn many(app: &mut Replica, number: u128) -> Vec<Arc<Event>> {
    (1..=number)
        .map(|key| app.decides(key, Verdict::FalsePositive))
        .collect()
}

/// True if any file of a directory contains a word.
fn holds(directory: &Path, word: &str) -> bool {
    let files = fs::read_dir(directory).unwrap().flatten();
    let mut held = files.map(|entry| fs::read(entry.path()).unwrap());
    held.any(|bytes| {
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    })
}

#[tokio::test]
async fn recorded_events_survive_restart_without_close() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("a/b");
    let mut ann = Replica::new("ann", 1);
    let events = many(&mut ann, 30);
    let OpenedDecisions {
        mut store,
        events: none,
        notes,
    } = open(&folder).await;
    assert!(none.is_empty() && notes.is_empty());
    store.record(&events).await.unwrap();
    store.record(&events[..3]).await.unwrap();
    // As after a kill: nothing is closed, the log remains.
    let copy = temp.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    assert_eq!(ids(&open(&copy).await.events), ids(&events));
    store.close().await;
    let again = open(&folder).await;
    assert_eq!(again.events, events, "in the order of recording, each once");
}

#[tokio::test]
async fn store_files_are_private() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("state");
    let mut store = open(&folder).await.store;
    store
        .record(&many(&mut Replica::new("ann", 1), 1))
        .await
        .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn concurrent_writers_see_events_of_each_other() {
    let temp = tempfile::tempdir().unwrap();
    let (first, second) = tokio::join!(open(temp.path()), open(temp.path()));
    let writer = |mut store: Store, instance: u64| async move {
        let mut app = Replica::new("ann", instance);
        for event in many(&mut app, 60) {
            store.record(&[event]).await.unwrap();
        }
        store
    };
    let first = tokio::spawn(writer(first.store, 1));
    let second = tokio::spawn(writer(second.store, 2));
    let (mut first, mut second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first.news(1).await.unwrap().len(), 60, "of the other alone");
    assert_eq!(second.news(2).await.unwrap().len(), 60);
    assert!(first.news(1).await.unwrap().is_empty(), "once");
    assert_eq!(open(temp.path()).await.events.len(), 120);
}

#[tokio::test]
async fn batch_is_stored_atomically() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    store.record(&many(&mut ann, 5)).await.unwrap();
    // A full disk.
    sqlx::query("PRAGMA max_page_count = 12")
        .execute(&mut store.file.connection)
        .await
        .unwrap();
    let error = store.record(&many(&mut ann, 2000)).await.unwrap_err();
    assert!(
        error.to_string().contains("full") && error.hint().contains("disk"),
        "{error}"
    );
    assert!(error.is_disk_full());
    store.close().await;
    assert_eq!(open(temp.path()).await.events.len(), 5);
    let reader = Store::open_for_reading(temp.path()).await.unwrap();
    assert!(reader.store.is_writable(), "the disk has room again");
    assert_eq!(reader.events.len(), 5);
}

/// A file with decisions, settings and marks of which one page, of decisions, is broken; its bytes.
async fn broken(directory: &Path) -> Vec<u8> {
    static BROKEN: OnceCell<Vec<u8>> = OnceCell::const_new();
    let bytes = BROKEN.get_or_init(broken_file).await;
    let file = directory.join("decisions.db");
    fs::write(&file, bytes).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    bytes.clone()
}

async fn broken_file() -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .record(&many(&mut Replica::new("ann", 1), 2000))
        .await
        .unwrap();
    store.put_setting("queries", "acme", "[1]").await.unwrap();
    store.put_setting("queries", "lab", "[2]").await.unwrap();
    store
        .mark_seen("acme", &[FindingKey(7), FindingKey(8)])
        .await
        .unwrap();
    store.mark_seen("lab", &[FindingKey(9)]).await.unwrap();
    store.close().await;
    let mut bytes = fs::read(temp.path().join("decisions.db")).unwrap();
    let word = br#""id":"0000000000000001-1000""#;
    let at = bytes
        .windows(word.len())
        .position(|part| part == word)
        .unwrap()
        / 4096
        * 4096;
    bytes[at..at + 4096].fill(0xa5);
    bytes
}

#[tokio::test]
async fn broken_page_loses_only_its_rows() {
    let temp = tempfile::tempdir().unwrap();
    let bytes = broken(temp.path()).await;
    let opened = open(temp.path()).await;
    let number = opened.events.len();
    assert!((1500..2000).contains(&number), "{number}");
    assert!(
        opened.notes[0].contains("decisions.db.broken-1"),
        "{:?}",
        opened.notes
    );
    assert_eq!(
        fs::read(temp.path().join("decisions.db.broken-1")).unwrap(),
        bytes,
        "untouched"
    );
    opened.store.close().await;
    let mut again = open(temp.path()).await;
    assert_eq!(
        (again.events.len(), again.notes.len()),
        (number, 0),
        "reported once"
    );
    let settings = again.store.settings().await.unwrap();
    assert_eq!(settings.into_values().collect::<Vec<_>>(), ["[1]", "[2]"]);
    assert_eq!(
        again.store.seen_in("acme").await.unwrap(),
        [FindingKey(7), FindingKey(8)]
    );
    assert_eq!(again.store.seen_in("lab").await.unwrap(), [FindingKey(9)]);
}

#[tokio::test]
async fn truncated_file_loses_only_rows_of_missing_page() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    for key in 1..=100 {
        let text = format!("{key} {}", "long note ".repeat(200));
        let note = ann.does(
            crate::triage::testing::finding(key),
            Change::Note(text.as_str().into()),
        );
        store.record(&[note]).await.unwrap();
    }
    store.close().await;
    let file = fs::OpenOptions::new()
        .write(true)
        .open(temp.path().join("decisions.db"))
        .unwrap();
    file.set_len(file.metadata().unwrap().len() - 4096).unwrap();
    let opened = open(temp.path()).await;
    assert!(
        (95..100).contains(&opened.events.len()),
        "{}",
        opened.events.len()
    );
    assert!(
        opened.notes[0].contains("decisions.db.broken-1"),
        "{:?}",
        opened.notes
    );
}

/// `SCANDECK_SUITES=full` damages 500 files, otherwise 25.
#[tokio::test]
async fn damaged_file_is_rescued_or_reported() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let events = many(&mut Replica::new("ann", 1), 300);
    store.record(&events).await.unwrap();
    store.close().await;
    let whole = fs::read(temp.path().join("decisions.db")).unwrap();
    let is_full = std::env::var("SCANDECK_SUITES").is_ok_and(|suites| suites == "full");
    let number = if is_full { 500 } else { 25 };
    let mut seed = 1u64;
    let mut random = |below: usize| {
        // Knuth's linear congruential generator (MMIX).
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut complete, mut rescued, mut refused) = (0, 0, 0);
    for _ in 0..number {
        let mut damaged = whole.clone();
        let damage = random(3);
        match damage {
            0 => damaged.truncate(1 + random(whole.len() - 1)),
            1 => {
                let (start, length) = (random(whole.len()), 1 + random(4 * 4096));
                damaged
                    .iter_mut()
                    .skip(start)
                    .take(length)
                    .for_each(|byte| *byte = 0);
            }
            _ => (0..1 + random(64)).for_each(|_| damaged[random(whole.len())] ^= 1 << random(8)),
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("decisions.db"), &damaged).unwrap();
        match Store::open(folder.path()).await {
            Ok(opened) => {
                let mut known = opened
                    .events
                    .iter()
                    .filter(|event| events.iter().any(|one| one.id == event.id));
                let lost = events.len() - known.by_ref().count();
                // SQLite has no checksums, so a changed bit in a text is not detected.
                assert!(
                    lost == 0 || damage == 2 || !opened.notes.is_empty(),
                    "{lost} decisions lost without a notice"
                );
                if lost == 0 {
                    complete += 1
                } else {
                    rescued += 1
                }
                opened.store.close().await;
            }
            Err(_) => refused += 1,
        }
    }
    println!(
        "{number} damaged files: {complete} complete, {rescued} rescued in part, {refused} refused with a reason"
    );
}

#[tokio::test]
async fn emptied_file_is_reported_and_not_modified() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("decisions.db");
    fs::write(&file, "").unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .record(&many(&mut Replica::new("ann", 1), 3))
        .await
        .unwrap();
    store.close().await;
    fs::write(&file, "").unwrap();
    let error = Store::open(temp.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Emptied { .. }), "{error}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 0);
    fs::remove_file(&file).unwrap();
    assert!(
        open(temp.path()).await.events.is_empty(),
        "deleting it starts a new one"
    );
}

#[tokio::test]
async fn pipe_or_directory_in_place_of_file_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("decisions.db");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let error = Store::open(temp.path()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("decisions.db: not a regular file"),
        "{error}"
    );
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let error = Store::open(temp.path()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("decisions.db: not a regular file"),
        "{error}"
    );
}

#[tokio::test]
async fn store_recovers_when_the_disk_has_space_again() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    for _ in 0..2 {
        sqlx::query("PRAGMA max_page_count = 12")
            .execute(&mut store.file.connection)
            .await
            .unwrap();
        store.record(&many(&mut ann, 2000)).await.unwrap_err();
        sqlx::query("PRAGMA max_page_count = 1000000")
            .execute(&mut store.file.connection)
            .await
            .unwrap();
        store.record(&many(&mut ann, 5)).await.unwrap();
    }
    store.close().await;
    assert_eq!(open(temp.path()).await.events.len(), 10);
}

/// The migrations of a program with one more.
async fn migrations_and(sql: &str) -> sqlx::migrate::Migrator {
    let assets = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/migrations/triage"
    );
    let migrations = tempfile::tempdir().unwrap();
    let mut number = 1;
    for file in fs::read_dir(assets).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), migrations.path().join(file.file_name())).unwrap();
        number += 1;
    }
    fs::write(
        migrations.path().join(format!("{number:04}_later.sql")),
        format!("{sql} PRAGMA user_version = {number};"),
    )
    .unwrap();
    sqlx::migrate::Migrator::new(migrations.path())
        .await
        .unwrap()
}

#[tokio::test]
async fn failed_rescue_leaves_broken_file_in_place() {
    let temp = tempfile::tempdir().unwrap();
    let bytes = broken(temp.path()).await;
    let full = "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;";
    let migrator = migrations_and(full).await;
    let error = sqlite::open::<OpenedDecisions>(temp.path(), &migrator)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(
        fs::read(temp.path().join("decisions.db")).unwrap(),
        bytes,
        "as it was"
    );
    let opened = open(temp.path()).await;
    assert!(
        opened.events.len() > 1500 && opened.notes[0].contains("2 settings and 3 seen marks"),
        "{:?}",
        opened.notes
    );
}

#[tokio::test]
async fn invalid_file_is_set_aside_and_replaced() {
    for rubbish in [vec![b'x'; 5000], b"{}".to_vec()] {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("decisions.db"), &rubbish).unwrap();
        let mut opened = open(temp.path()).await;
        assert!(opened.notes[0].contains(".broken-1"), "{:?}", opened.notes);
        assert_eq!(
            fs::read(temp.path().join("decisions.db.broken-1")).unwrap(),
            rubbish
        );
        opened
            .store
            .record(&many(&mut Replica::new("ann", 1), 3))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn unreadable_row_is_reported_and_remains() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .record(&many(&mut Replica::new("ann", 1), 2))
        .await
        .unwrap();
    sqlx::query("UPDATE events SET json = '{}' WHERE row = 1")
        .execute(&mut store.file.connection)
        .await
        .unwrap();
    store.close().await;
    let opened = open(temp.path()).await;
    assert_eq!(opened.events.len(), 1);
    assert!(
        opened.notes[0].starts_with("1 decision in") && !opened.notes[0].contains("broken"),
        "{:?}",
        opened.notes
    );
}

#[tokio::test]
async fn unusable_directory_is_reported_with_remedy() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    let error = Store::open(&temp.path().join("file/state"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Unwritable { .. }) && error.hint().contains("XDG_STATE_HOME"),
        "{error}"
    );
}

#[tokio::test]
async fn file_of_newer_version_is_not_opened() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    sqlx::query("PRAGMA user_version = 9000")
        .execute(&mut store.file.connection)
        .await
        .unwrap();
    store.close().await;
    let before = fs::read(temp.path().join("decisions.db")).unwrap();
    let error = Store::open(temp.path()).await.unwrap_err();
    assert!(error.to_string().contains("schema 9000"), "{error}");
    assert_eq!(fs::read(temp.path().join("decisions.db")).unwrap(), before);
}

#[tokio::test]
async fn older_file_is_backed_up_before_migration() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let events = many(&mut Replica::new("ann", 1), 3);
    store.record(&events).await.unwrap();
    store.close().await;
    let migrator = migrations_and("CREATE TABLE later (id INTEGER);").await;
    let opened: OpenedDecisions = sqlite::open(temp.path(), &migrator).await.unwrap();
    assert_eq!(opened.events, events);
    assert!(
        opened.notes[0].contains("decisions.db.bak-1")
            && temp.path().join("decisions.db.bak-1").exists()
    );
}

#[tokio::test]
async fn file_on_full_disk_is_opened_for_reading() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let events = many(&mut Replica::new("ann", 1), 3);
    store.record(&events).await.unwrap();
    store.close().await;
    // The migration has no room for its rows.
    let full = "PRAGMA max_page_count = 1;
        CREATE TABLE later (id INTEGER);
        INSERT INTO later WITH RECURSIVE numbers(id) AS
            (SELECT 1 UNION ALL SELECT id + 1 FROM numbers LIMIT 100000) SELECT id FROM numbers;";
    let migrator = migrations_and(full).await;
    let refused = sqlite::open::<OpenedDecisions>(temp.path(), &migrator).await;
    assert!(refused.unwrap_err().is_disk_full());
    let opened: OpenedDecisions = sqlite::open_for_reading(temp.path(), &migrator)
        .await
        .unwrap();
    assert_eq!(opened.events, events);
    assert!(!opened.store.is_writable());
    assert!(
        opened.notes[0]
            .ends_with("is on a full disk: new decisions cannot be saved until it has space"),
        "{:?}",
        opened.notes
    );
    assert!(opened.store.has_become_writable(), "this disk has room");
}

#[tokio::test]
async fn log_of_a_file_on_full_disk_is_never_ignored() {
    let temp = tempfile::tempdir().unwrap();
    open(temp.path()).await.store.close().await;
    let reading = || sqlite::open_on_full_disk::<OpenedDecisions>(temp.path());
    assert!(reading().await.is_some());
    fs::write(temp.path().join("decisions.db-wal"), "rows").unwrap();
    assert!(reading().await.is_none());
}

#[tokio::test]
async fn settings_and_seen_marks_are_stored_by_workspace() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store.put_setting("tabs", "acme", "[1]").await.unwrap();
    store.put_setting("tabs", "lab", "[2]").await.unwrap();
    store.put_setting("tabs", "acme", "[3]").await.unwrap();
    store
        .mark_seen("acme", &[FindingKey(7), FindingKey(8), FindingKey(7)])
        .await
        .unwrap();
    store.close().await;
    let mut store = open(temp.path()).await.store;
    let settings = store.settings().await.unwrap();
    let of = |workspace: &str| settings[&("tabs".into(), workspace.into())].as_str();
    assert_eq!((of("acme"), of("lab")), ("[3]", "[2]"));
    assert_eq!(store.seen().await.unwrap(), [FindingKey(7), FindingKey(8)]);
}

#[tokio::test]
async fn purge_leaves_no_byte_of_workspace_in_any_file() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    let note = |app: &mut Replica, text: &str| {
        app.does(
            crate::triage::testing::finding(1),
            Change::Note(text.into()),
        )
    };
    let here = note(&mut ann, "MARK-of-acme");
    ann.writer.workspace = "lab".into();
    let there = note(&mut ann, "MARK-of-lab");
    store.record(&[here, Arc::clone(&there)]).await.unwrap();
    store
        .put_setting("queries", "acme", "\"MARK-of-acme\"")
        .await
        .unwrap();
    store.mark_seen("acme", &[FindingKey(9)]).await.unwrap();
    fs::write(temp.path().join("decisions.db.broken-1"), "MARK-of-acme").unwrap();
    fs::write(temp.path().join("decisions.db.bak-1"), "MARK-of-acme").unwrap();
    assert!(holds(temp.path(), "MARK-of-acme"));

    let stored_rows = store.stored_rows("acme").await.unwrap();
    assert_eq!(
        (stored_rows.counts, stored_rows.copies.len()),
        (vec![("decision", 1), ("setting", 1), ("seen mark", 1)], 2)
    );
    let second = open(temp.path()).await.store;
    let error = store.purge("acme").await.unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    second.purge("acme").await.unwrap();
    assert!(!holds(temp.path(), "MARK-of-acme") && !holds(temp.path(), &FindingKey(9).to_string()));
    assert!(holds(temp.path(), "MARK-of-lab"));
    let opened = open(temp.path()).await;
    assert_eq!(opened.events, [there]);
    assert!(
        TriageState::from_events(opened.events).len() == 1
            && !temp.path().join("decisions.db.broken-1").exists()
    );
}

fn log(workspace: &str, last: i64) -> TeamLog {
    TeamLog {
        service: "5e".into(),
        id: 7.into(),
        workspace: workspace.into(),
        epoch: 1,
        last,
        last_payload: 0,
        is_shared: true,
    }
}

fn arrived(position: i64, event: &Event) -> ArrivedEvent {
    let line = crate::triage::jsonl::line(event);
    ArrivedEvent::parse(position, &event.who, &line).unwrap()
}

#[tokio::test]
async fn event_is_sent_once_and_gets_its_position() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    let events = many(&mut ann, 3);
    store.record(&events).await.unwrap();
    let unsent = store.unsent_events("acme").await.unwrap();
    assert_eq!(unsent.len(), 3);
    assert_eq!(unsent[0].key, events[0].id.to_string());
    let id = unsent[1].key.clone();
    let refused = [(id.as_str(), "too late")].into();
    store.mark_events(&unsent[..2], &refused).await.unwrap();
    assert_eq!(store.count_unsent("acme").await.unwrap(), 1, "the last one");
    // Read back, with one of another member.
    let other = Replica::new("bob", 2).decides(9, Verdict::Fixed);
    let page = [
        arrived(1, &events[0]),
        arrived(2, &other),
        arrived(3, &events[2]),
    ];
    assert_eq!(store.take_events(&log("acme", 3), &page).await.unwrap(), 1);
    assert_eq!(store.count_unsent("acme").await.unwrap(), 0);
    assert_eq!(
        store.team_log("5e", 7.into()).await.unwrap(),
        Some(log("acme", 3))
    );
    assert_eq!(
        store.team_log("5f", 7.into()).await.unwrap(),
        None,
        "another service"
    );
    // Another service has none of them.
    store.forget_positions("acme").await.unwrap();
    assert_eq!(store.count_unsent("acme").await.unwrap(), 4);
    store.rename_workspace("acme", "acme 2").await.unwrap();
    assert_eq!(store.count_unsent("acme").await.unwrap(), 0);
    assert_eq!(ids(&store.events_in("acme 2").await.unwrap()).len(), 4);
}

#[tokio::test]
async fn undo_is_stored_under_the_present_name_of_the_workspace_of_its_batch() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let mut ann = Replica::new("ann", 1);
    let decided = ann.decides(1, Verdict::Confirmed);
    store.record(&[Arc::clone(&decided)]).await.unwrap();
    store.rename_workspace("acme", "acme 2").await.unwrap();
    let undone = ann.undoes(decided.batch);
    assert_eq!(undone.workspace.as_str(), "acme");
    store.record(&[Arc::clone(&undone)]).await.unwrap();
    assert_eq!(store.count_unsent("acme").await.unwrap(), 0);
    let unsent = store.unsent_events("acme 2").await.unwrap();
    let keys: Vec<String> = unsent.into_iter().map(|row| row.key).collect();
    assert_eq!(keys, [decided.id.to_string(), undone.id.to_string()]);
    // The undo of a batch that is not here keeps its own workspace.
    let unknown = Replica::new("bob", 2).undoes(crate::triage::EventId::default());
    store.record(&[unknown]).await.unwrap();
    assert_eq!(store.count_unsent("acme").await.unwrap(), 1);
}

#[tokio::test]
async fn events_of_a_team_are_news_once() {
    let temp = tempfile::tempdir().unwrap();
    let mut dashboard = open(temp.path()).await.store;
    let mut exchange = Store::open_beside(temp.path()).await.unwrap();
    let mut ann = Replica::new("ann", 1);
    let own = ann.decides(1, Verdict::Confirmed);
    dashboard.record(&[Arc::clone(&own)]).await.unwrap();
    let other = Replica::new("bob", 2).decides(1, Verdict::Fixed);
    let page = [arrived(4, &own), arrived(5, &other)];
    for news in [vec![Arc::clone(&other)], vec![]] {
        exchange.take_events(&log("acme", 5), &page).await.unwrap();
        assert_eq!(dashboard.news(1).await.unwrap(), news);
    }
}

#[tokio::test]
async fn event_of_newer_program_is_kept_and_absurd_clock_is_not() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    let event = Replica::new("bob", 2).decides(1, Verdict::Fixed);
    let line = crate::triage::jsonl::line(&event);
    let newer = line.replace("-1\"", "-2\"").replace("decide", "delegate");
    let late = line.replace("\"clock\":1", "\"clock\":281474976710657");
    let page = [
        (1, line.as_str()),
        (2, &newer),
        (3, &late),
        (4, "7"),
        (5, "{}"),
    ]
    .into_iter()
    .filter_map(|(position, line)| ArrivedEvent::parse(position, &"bob".into(), line));
    let page: Vec<ArrivedEvent> = page.collect();
    assert_eq!(page.len(), 2);
    store.take_events(&log("acme", 5), &page).await.unwrap();
    store.close().await;
    let opened = open(temp.path()).await;
    assert_eq!(opened.events, [event]);
    assert!(
        opened.notes[0].contains("1 decision in"),
        "{:?}",
        opened.notes
    );
    assert!(holds(temp.path(), "delegate"), "a newer program reads it");
}
