//! Programs of two versions on one database: the newer one upgrades it while the older ones work,
//! or is refused while they live, and commands upgrade nothing.
//!
//! Without `SCANDECK_TEST_DATABASE` (`.ci/postgres`) there is no server to test.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::migrations::{MIGRATIONS, PostgresMigration};
use super::upgrade_tests::OtherDatabase;
use crate::data::activity::activity;
use crate::data::data_dir::DataDir;
use crate::data::service_scope::ServiceScope;
use crate::engine::TestDone;
use crate::errors::StartError;
use crate::guards::keys::{Role, add_key, list_keys};
use crate::store::findings::FindingFilter;
use crate::store::jobs::{Attempt, ScanUpdate};
use crate::store::nodes::{LEASE, NodeDetails, NodeRegistration, WorkerReport};
use crate::store::scans::ScanFilter;
use crate::store::sql::sql;
use crate::store::testing::{claim_scan, finding, queue_scan, silence};
use crate::store::{OpenedStore, Store};
use scandeck_wire::contract::{ScanId, ScanStatus};

/// The schema of this program.
const KNOWN: usize = MIGRATIONS.len();

/// A later migration: it adds a column to each table, a table and an index.
const ADDITIONS: &str = "
    DO $$
    DECLARE
        one TEXT;
    BEGIN
        FOR one IN SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
                AND relnamespace = CAST('public' AS regnamespace) LOOP
            EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS later BIGINT NOT NULL DEFAULT 7', one);
        END LOOP;
    END
    $$;
    CREATE TABLE IF NOT EXISTS additions (id BIGINT);
    CREATE INDEX IF NOT EXISTS scans_by_creation ON scans (created_at)";

impl OtherDatabase {
    /// Opens it as a node of a newer program. The programs that work with each of its further
    /// migrations have at least these schemas.
    async fn open_newer(
        &self,
        node: &str,
        works_with: &[usize],
    ) -> Result<OpenedStore, StartError> {
        let mut migrations = MIGRATIONS.to_vec();
        migrations.extend(works_with.iter().map(|&oldest| PostgresMigration {
            sql: ADDITIONS,
            works_with: oldest,
        }));
        Store::open_postgres_with(&self.address(), &self.home(node), &migrations).await
    }

    /// Opens it as a command does.
    async fn open_beside(&self) -> Result<Store, StartError> {
        Store::open_postgres_beside(&self.address(), &self.home("command")).await
    }
}

/// Registers a node with this name.
async fn join(opened: OpenedStore, name: &str) -> Store {
    let store = opened.store.of_node(NodeDetails {
        name: name.to_owned(),
        version: "1.2.3".to_owned(),
        ..NodeDetails::default()
    });
    let registered = store.register(Timestamp::now()).await.unwrap();
    assert_eq!(registered, NodeRegistration::Done);
    store
}

/// Stores a finding of a claimed scan, and ends the scan.
async fn run(store: &Store, attempt: &Attempt) {
    let now = Timestamp::now();
    let test = TestDone {
        uid: "a".to_owned(),
        description: String::new(),
        metadata: Value::Null,
        weight: 1,
        findings: vec![finding("v", "/")],
    };
    let update = ScanUpdate {
        tests: vec![test],
        raw: vec!["GET / 200".to_owned()],
        ..ScanUpdate::default()
    };
    assert!(store.record(attempt, &update, now).await.unwrap());
    let finished = ScanStatus::Finished;
    store.finish(attempt, &finished, "", now).await.unwrap();
}

/// The scan has ended with its finding.
async fn assert_done(store: &Store, scan: ScanId) {
    let all = ScanFilter {
        limit: 9,
        ..ScanFilter::default()
    };
    let listed = store.scans(&all, Timestamp::now()).await.unwrap();
    let done = listed.iter().find(|one| one.id == scan).unwrap();
    assert_eq!(done.status_name, ScanStatus::Finished);
    let of_scan = FindingFilter {
        scan: Some(scan),
        ..FindingFilter::default()
    };
    assert_eq!(store.finding_ids(&of_scan).await.unwrap().len(), 1);
}

/// The directory of a command with this database.
fn command_dir(database: &OtherDatabase) -> DataDir {
    let dir = DataDir::open(database.home("command").join("data")).unwrap();
    dir.with_database(Some(database.address())).unwrap()
}

#[tokio::test]
async fn older_nodes_work_while_a_newer_one_upgrades_and_start_again_afterwards() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let now = Timestamp::now();
    let older = join(database.open("older").await.unwrap(), "build7").await;
    // The node of the rows has died.
    assert!(older.beat(true, 0, now).await.unwrap().has_ended_nodes);
    let begun = claim_scan(&older, now).await.expect("it waits").attempt;

    let opened = database.open_newer("newer", &[KNOWN]).await.unwrap();
    let next = KNOWN + 1;
    let note = format!("database of test migrated from schema {KNOWN} to {next}");
    assert_eq!(opened.notes, [note]);
    let newer = join(opened, "build8").await;

    run(&older, &begun).await;
    assert!(!older.beat(true, 0, now).await.unwrap().is_lost);
    for (queueing, running, target) in [(&older, &newer, "a"), (&newer, &older, "b")] {
        let scan = queue_scan(queueing, target).await;
        let attempt = claim_scan(running, now).await.expect("it waits").attempt;
        assert_eq!(attempt.scan, scan);
        run(running, &attempt).await;
        assert_done(queueing, scan).await;
    }

    let again = database.open("again").await.unwrap();
    let note = format!(
        "database of test has schema {next} of a newer version; this version has {KNOWN} and works with it"
    );
    assert_eq!(again.notes, [note]);
    let again = join(again, "build9").await;
    let command = database.open_beside().await.unwrap();
    assert_eq!(command.nodes().await.unwrap().len(), 3);
    database.address().check().await.unwrap();
    for store in [older, newer, again, command] {
        store.close().await;
    }
}

#[tokio::test]
async fn program_that_does_not_work_with_a_newer_schema_changes_nothing() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let now = Timestamp::now();
    let early = database.open("early").await.unwrap().store;
    let next = KNOWN + 1;
    let newer = database.open_newer("newer", &[next]).await.unwrap().store;
    let before = database.rows();
    let refusals = [
        database.open("other").await.err(),
        database.open_beside().await.err(),
        database.address().check().await.err(),
    ];
    for refused in refusals {
        let message = refused.unwrap().to_string();
        let numbers = format!("has schema {next}, this version supports up to {KNOWN}");
        assert!(message.contains(&numbers), "{message}");
    }
    // It was opened before the upgrade.
    let registered = early.register(now).await.unwrap();
    assert_eq!(registered, NodeRegistration::NewerSchema(next as i64));
    assert_eq!(database.rows(), before);
    early.close().await;
    newer.close().await;
}

#[tokio::test]
async fn newer_program_is_refused_while_nodes_live_that_its_schema_excludes() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let older = join(database.open("older").await.unwrap(), "build7").await;
    let silent = join(database.open("silent").await.unwrap(), "build8").await;
    silence(&silent, 16).await;
    let worker = WorkerReport {
        id: "w1".to_owned(),
        key: "anna".to_owned(),
        place: "office".parse().unwrap(),
        name: "pc1".to_owned(),
        version: "1.2.3".to_owned(),
        lease: Duration::ZERO,
    };
    assert!(older.worker_beat(&worker, LEASE).await.unwrap().is_some());
    let before = database.rows();
    let next = KNOWN + 1;
    let refused = database.open_newer("newer", &[next]).await.err().unwrap();
    let expected = format!(
        "the database of test has schema {KNOWN}, and live nodes do not work with schema {next} of this version \
         (nothing was changed): stop build7 (version 1.2.3), then start this node again"
    );
    assert_eq!(refused.to_string(), expected);
    assert_eq!(database.rows(), before);

    // A node that starts in the directory of another one replaces it: the directory has a lock.
    let replaced = database.open_newer("older", &[next]).await.unwrap();
    let note = format!("database of test migrated from schema {KNOWN} to {next}");
    assert_eq!(replaced.notes, [note]);
    let beat = silent.beat(true, 0, Timestamp::now()).await.unwrap_err();
    let expected = format!(
        "a newer version has changed the database to schema {next}: stop this node, and start the newer version"
    );
    assert_eq!(beat.to_string(), expected);
    // It is not ready for requests either.
    let check = silent.check().await.unwrap_err();
    assert_eq!(check.to_string(), expected);
    for store in [older, silent, replaced.store] {
        store.close().await;
    }
}

#[tokio::test]
async fn node_has_the_schema_of_its_program_on_a_newer_database_too() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let older = join(database.open("older").await.unwrap(), "build7").await;
    let opened = database.open_newer("newer", &[KNOWN]).await.unwrap();
    let newer = join(opened, "build8").await;
    let newest = [KNOWN, KNOWN + 1];
    let refused = database.open_newer("newest", &newest).await.err().unwrap();
    let message = refused.to_string();
    assert!(
        message.contains(": stop build7 (version 1.2.3), then"),
        "{message}"
    );

    older.close().await;
    let upgraded = database.open_newer("newest", &newest).await.unwrap();
    let [from, to] = [KNOWN + 1, KNOWN + 2];
    let note = format!("database of test migrated from schema {from} to {to}");
    assert_eq!(upgraded.notes, [note]);
    let beat = newer.beat(true, 0, Timestamp::now()).await.unwrap();
    assert!(!beat.is_lost);
    newer.close().await;
    upgraded.store.close().await;
}

#[tokio::test]
async fn migration_that_waits_for_a_backup_lets_other_nodes_read() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let older = join(database.open("older").await.unwrap(), "build7").await;
    let mut backup = older.snapshot().await.unwrap();
    let scans: i64 = sql("SELECT count(*) FROM scans")
        .one(&mut backup)
        .await
        .unwrap();
    assert_eq!(scans, 1);
    let read = async {
        // Longer than a migration waits for a lock.
        tokio::time::sleep(Duration::from_millis(2500)).await;
        let scan = older.scan(ScanId(1), Timestamp::now()).await.unwrap();
        assert!(scan.is_some());
        drop(backup);
    };
    let (newer, ()) = tokio::join!(database.open_newer("newer", &[KNOWN]), read);
    newer.unwrap().store.close().await;
    older.close().await;
}

#[tokio::test]
async fn migration_of_a_dead_process_does_not_stop_the_writes_of_others() {
    let Some(database) = OtherDatabase::of_schema(KNOWN) else {
        return;
    };
    let older = join(database.open("older").await.unwrap(), "build7").await;
    let mut migrations = MIGRATIONS.to_vec();
    migrations.push(PostgresMigration {
        sql: "SELECT pg_sleep(60)",
        works_with: KNOWN,
    });
    let (address, home) = (database.address(), database.home("newer"));
    let opening = Store::open_postgres_with(&address, &home, &migrations);
    let refused = async { while older.check().await.is_ok() {} };
    // The connection is closed in the middle of the migration, as when the process dies.
    tokio::select! {
        _ = opening => panic!("the migration has ended"),
        () = refused => {}
    }
    let written = async { while older.check().await.is_err() {} };
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, written).await.unwrap();
    let schema = database.psql("SELECT value FROM settings WHERE name = 'schema'");
    assert_eq!(schema, [KNOWN.to_string()]);
    older.close().await;
}

#[tokio::test]
async fn commands_upgrade_no_database_and_name_both_schemas() {
    let Some(database) = OtherDatabase::of_schema(KNOWN - 1) else {
        return;
    };
    let before = database.rows();
    let dir = command_dir(&database);
    let refusals = [
        list_keys(&dir).await.err(),
        add_key(&dir, "berta", Role::Scan, "ana@box").await.err(),
        ServiceScope::new(&dir).load().await.err(),
        activity(&dir, 30).await.err(),
        database.address().check().await.err(),
    ];
    let expected = format!(
        "has schema {}, this version uses {KNOWN}: `scandeck serve` of this version upgrades it",
        KNOWN - 1
    );
    for refused in refusals {
        let message = refused.unwrap().to_string();
        assert!(message.contains(&expected), "{message}");
    }
    assert_eq!(database.rows(), before);
}

#[tokio::test]
async fn command_creates_the_tables_of_an_empty_database() {
    let Some(database) = OtherDatabase::empty() else {
        return;
    };
    let dir = command_dir(&database);
    let refused = activity(&dir, 30).await.err().unwrap().to_string();
    assert!(
        refused.contains("has no tables yet: `scandeck serve` creates them"),
        "{refused}"
    );
    let added = add_key(&dir, "berta", Role::Scan, "ana@box").await.unwrap();
    assert!(added.is_some());
    assert_eq!(list_keys(&dir).await.unwrap().len(), 1);
    let stored =
        database.psql("SELECT value FROM settings WHERE name LIKE 'schema%' ORDER BY name");
    let oldest = MIGRATIONS.iter().map(|one| one.works_with).max().unwrap();
    assert_eq!(stored, [KNOWN.to_string(), oldest.to_string()]);
}
