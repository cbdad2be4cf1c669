//! Helpers of the tests of the store.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use serde_json::json;
use tokio::sync::OnceCell;
use url::Url;

use super::captures::{LoggerQuota, NewCapture};
use super::jobs::{Claim, QueuePoll};
use super::loggers::AddedLogger;
use super::scans::{ScanTarget, ScanToAdd};
use super::sql::sql;
use super::targets::{AddedTarget, TargetToAdd};
use super::{DatabaseAddress, Store};
use crate::engine::NewFinding;
use scandeck_wire::contract::{LoggerId, RedirectLevel, ScanId, TargetId, TargetType, WorkspaceId};

/// Two nodes on one database, each with a directory of its own below `dir`.
pub async fn two_nodes(dir: &Path) -> (Store, Store) {
    let (one, other) = two_processes(dir).await;
    join(&one).await;
    join(&other).await;
    (one, other)
}

/// The same without their rows.
pub async fn two_processes(dir: &Path) -> (Store, Store) {
    let (one, other) = (dir.join("one"), dir.join("other"));
    for home in [&one, &other] {
        std::fs::create_dir(home).unwrap();
    }
    std::os::unix::fs::symlink(one.join("scandeck.db"), other.join("scandeck.db")).unwrap();
    (open_process(&one).await, open_process(&other).await)
}

/// Makes the last beat of a process older.
pub async fn silence(store: &Store, seconds: i64) {
    let update = sql("UPDATE nodes SET beat_at = beat_at - $1 WHERE id = $2")
        .bind(seconds * 1000)
        .bind(&store.node.id);
    store.execute(update).await.unwrap();
}

/// A node on the database of a directory.
pub async fn open(home: &Path) -> Store {
    let store = open_process(home).await;
    join(&store).await;
    store
}

/// Adds the row of a process, which ends no claims of earlier ones.
async fn join(store: &Store) {
    store.beat(false, 0, Timestamp::now()).await.unwrap();
}

/// A process without a row on the database of a directory: a file, or with this variable, which has
/// the URL of a server, a PostgreSQL database for each directory (`.ci/postgres`).
pub async fn open_process(home: &Path) -> Store {
    match std::env::var("SCANDECK_TEST_DATABASE") {
        Ok(server) => {
            let new = NEW_ON_SERVER.get_or_init(|| migrated_on(&server)).await;
            open_url(&copy_url(new, &server, &home.join("scandeck.db")), home).await
        }
        Err(_) => open_sqlite(home).await,
    }
}

/// A new database, whose migrations take longer than most tests.
static NEW: OnceCell<Vec<u8>> = OnceCell::const_new();

/// A process on the database file of a directory; a new file is a copy of the same one.
pub async fn open_sqlite(home: &Path) -> Store {
    let file = home.join("scandeck.db");
    if file.symlink_metadata().is_err() {
        std::fs::write(&file, NEW.get_or_init(migrated).await).unwrap();
    }
    Store::open(&file).await.unwrap().store
}

async fn migrated() -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("scandeck.db");
    Store::open(&file).await.unwrap().store.close().await;
    std::fs::read(&file).unwrap()
}

async fn open_url(url: &str, home: &Path) -> Store {
    let address = DatabaseAddress::parse(url, "test".to_owned()).unwrap();
    let opened = Store::open_postgres(&address, home).await;
    opened.unwrap().store
}

/// The name of a new database of the server, whose migrations run once too.
static NEW_ON_SERVER: OnceCell<String> = OnceCell::const_new();

async fn migrated_on(server: &str) -> String {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("scandeck.db");
    let url = database_url(server, &file);
    open_url(&url, temp.path()).await.close().await;
    let name = database_name(&file);
    // A pooler keeps its connections, and a database in use is not copied.
    let end =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    psql(server, &end);
    name
}

/// The database that replaces a file; created without tables if it does not exist.
pub fn database_url(server: &str, file: &Path) -> String {
    copy_url("template1", server, file)
}

/// The same, created as a copy of another database.
fn copy_url(original: &str, server: &str, file: &Path) -> String {
    let name = database_name(file);
    // It exists when the directory is opened again.
    let create = format!("CREATE DATABASE {name} TEMPLATE {original}");
    psql(server, &create);
    let mut url = Url::parse(server).unwrap();
    url.set_path(&name);
    url.to_string()
}

fn database_name(file: &Path) -> String {
    let original = std::fs::read_link(file).unwrap_or_else(|_| file.to_owned());
    let mut hasher = DefaultHasher::new();
    original.hash(&mut hasher);
    format!("scandeck_test_{:016x}", hasher.finish())
}

fn psql(server: &str, statement: &str) {
    let run = Command::new("psql")
        .args([server, "-qc", statement])
        .output();
    run.expect("psql is installed");
}

pub async fn add_target(store: &Store, workspace: WorkspaceId, name: &str) -> TargetId {
    let target = TargetToAdd {
        workspace,
        name,
        kind: TargetType::Hostname,
        description: "",
    };
    match store.add_target(&target, 1000).await.unwrap() {
        AddedTarget::New(id) => id,
        refused => panic!("{refused:?}"),
    }
}

pub async fn add_logger(store: &Store, label: &str) -> LoggerId {
    let added = store.add_logger(WorkspaceId(1), label, label, Timestamp::UNIX_EPOCH);
    match added.await.unwrap() {
        AddedLogger::New(id) => id,
        refused => panic!("{refused:?}"),
    }
}

/// Records a capture at each of these times.
pub async fn record_at(store: &Store, logger: LoggerId, times: &[&str]) {
    let quota = LoggerQuota {
        requests: 100_000,
        bytes: 1 << 30,
    };
    let captures: Vec<NewCapture> = times.iter().map(|at| capture_at(logger, at)).collect();
    let batch: Vec<&NewCapture> = captures.iter().collect();
    let recorded = store.record_captures(&batch, quota).await.unwrap();
    assert_eq!(recorded, vec![true; times.len()]);
}

fn capture_at(logger: LoggerId, at: &str) -> NewCapture {
    let received: Timestamp = at.parse().unwrap();
    NewCapture {
        logger,
        received_at: received.as_millisecond(),
        ip_address: "127.0.0.1".into(),
        remote_port: 9,
        method: "GET".into(),
        path: "/é".into(),
        query: String::new(),
        http_version: "HTTP/1.1".into(),
        headers: vec!["Host: a".into()],
        body: at.as_bytes().to_vec(),
        raw: Some(b"raw".to_vec()),
        problems: Vec::new(),
    }
}

/// Checks that a logger has these captures, and counts them.
pub async fn assert_captures(store: &Store, logger: LoggerId, ids: &[i64]) {
    let sizes = store.capture_sizes(logger, 0).await.unwrap();
    let listed: Vec<i64> = sizes.iter().map(|(id, _)| *id).collect();
    assert_eq!(listed, ids);
    let counted = store.logger(logger).await.unwrap().unwrap();
    assert!(store.recount_captures(logger).await.unwrap());
    let expected = store.logger(logger).await.unwrap().unwrap();
    assert_eq!(
        (counted.num_requests, counted.stored_bytes),
        (expected.num_requests, expected.stored_bytes)
    );
}

/// A scan, without credentials, of a new target.
pub async fn queue_scan(store: &Store, name: &str) -> ScanId {
    let target = ScanTarget::Existing(add_target(store, WorkspaceId(1), name).await);
    let added = store.add_scan(target, &new_scan(), Timestamp::now()).await;
    added.unwrap().unwrap().0
}

pub fn new_scan() -> ScanToAdd {
    ScanToAdd {
        tool: 70,
        params: json!({}),
        shown_params: json!({}),
        redirect_level: RedirectLevel::SameDomain,
        scan_original_url: false,
        place: None,
        max_minutes: 5,
        callback: None,
    }
}

/// A finding of a kind at a place.
pub fn finding(kind: &str, place: &str) -> NewFinding {
    NewFinding {
        vuln_id: kind.to_owned(),
        place: place.to_owned(),
        ..NewFinding::default()
    }
}

/// The claim of the next waiting scan.
pub async fn claim_scan(store: &Store, now: Timestamp) -> Option<Claim> {
    match store.claim(&[], now).await.unwrap() {
        QueuePoll::Claimed(claim) => Some(*claim),
        QueuePoll::Empty => None,
        QueuePoll::Aborted => panic!("a scan was aborted"),
    }
}
