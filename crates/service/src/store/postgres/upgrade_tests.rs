//! Databases of other schemas on a server: an older one is migrated with all its rows, a newer one is
//! refused as it is.
//!
//! Without `SCANDECK_TEST_DATABASE` (`.ci/postgres`) there is no server to test.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use super::migrations::MIGRATIONS;
use crate::errors::StartError;
use crate::store::testing::{claim_scan, database_url};
use crate::store::{DatabaseAddress, OpenedStore, Store};
use scandeck_wire::contract::{ScanId, ScanStatus};

/// Rows of the tables that a migration adds, in the order of the migrations.
const ROWS: [&str; MIGRATIONS.len()] = [
    "INSERT INTO nodes (id, home, beat_at) VALUES ('n1', '/srv/one', 0);
     INSERT INTO targets (workspace_id, name, type)
        VALUES (1, '127.0.0.1', 'ip_address'), (1, '127.0.0.2', 'ip_address');
     INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, started_at, params, redirect_level,
            scan_original_url, vpn_scan, max_minutes)
        VALUES (1, 1, 70, 'running', 0, 0, '{}', 'same_domain', false, false, 5);
     INSERT INTO jobs (scan_id, attempt, tries, owner, params) VALUES (1, 1, 1, 'n1', '{}');
     INSERT INTO tests (scan_id, uid, description, metadata, performed_at) VALUES (1, 'a', '', '{}', 0);
     INSERT INTO raw_lines (scan_id, line) VALUES (1, 'GET / 200');
     INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body)
        VALUES (1, 1, 1, 'v', 'tcp', 80, '', 1, '{}');
     INSERT INTO reports (format, status, created_at, expires_at, workspace_id, owner)
        VALUES ('csv', 'finished', 0, 4102444800000, 1, 'n1');
     INSERT INTO report_parts (report_id, position, bytes) VALUES (1, 0, 'ab');
     INSERT INTO wordlists (name, description, num_words, predefined, contents) VALUES ('mine', '', 1, false, 'admin');
     INSERT INTO loggers (workspace_id, label, token, created_at) VALUES (1, 'a', 't0', 0);
     INSERT INTO captures (logger_id, received_at, ip_address, remote_port, method, path, query, http_version,
            headers, body)
        VALUES (1, 0, '127.0.0.1', 1, 'GET', '/', '', '1.1', '[]', '');
     INSERT INTO deliveries (url, subject, content_type, body, next_at, owner)
        VALUES ('http://127.0.0.1:9/', 'scan 1', 'text/csv', '', 4102444800000, 'n1');
     INSERT INTO api_keys (name, role, hash, created_at, created_by)
        VALUES ('anna', 'admin', decode(repeat('0', 64), 'hex'), 0, 'ana@box');
     INSERT INTO deletions (target_id, owner) VALUES (2, 'n1');
     INSERT INTO event_logs (workspace_id, last) VALUES (1, 1);
     INSERT INTO shared_events (workspace_id, position, instance, number, key_name, json)
        VALUES (1, 1, 7, 1, 'anna', '{\"who\":\"anna\"}');
     INSERT INTO shared_payloads (workspace_id, position, token, version, key_name, json)
        VALUES (1, 1, 't', 1, 'anna', '{}');
     INSERT INTO viewers (workspace_id, key_name, dashboard, since, seen_at) VALUES (1, 'anna', 'd', 0, 0);
     INSERT INTO purges (workspace_id, epoch, key_name, at, events, payloads) VALUES (1, 0, 'anna', 0, 0, 0)",
    "INSERT INTO schedules (workspace_id, name, first_start, every, window_seconds, all_targets, created_by,
            created_at, done_at, next_at)
        VALUES (1, 'nightly', '2026-11-01T00:00:00Z', '1d', 3600, false, 'anna', 0, 0, 4102444800000);
     INSERT INTO schedule_targets (schedule_id, target_id) VALUES (1, 1);
     INSERT INTO schedule_scans (schedule_id, position, tool_id, params, shown_params, redirect_level,
            scan_original_url, max_minutes)
        VALUES (1, 0, 70, '{}', '{}', 'same_domain', false, 5)",
    "INSERT INTO imports (workspace_id, state, file_name, digest, target_name, format, is_complete, imported_by,
            created_at)
        VALUES (1, 'done', 'a.xml', 'd', '127.0.0.1', 'nmap', true, 'anna', 0);
     INSERT INTO import_parts (import_id, position, bytes) VALUES (1, 0, 'ab')",
    "",
    "",
    "",
    "INSERT INTO lanes (host, node) VALUES ('127.0.0.1', 'n1');
     INSERT INTO key_windows (node, key_name, kind, ends, used) VALUES ('n1', 'anna', 'get', 0, 1)",
    "",
    "",
    "",
];

/// A database that another version of the program has made.
pub(super) struct OtherDatabase {
    dir: TempDir,
    url: String,
}

impl OtherDatabase {
    /// A database without tables; `None` without a server.
    pub(super) fn empty() -> Option<Self> {
        let server = std::env::var("SCANDECK_TEST_DATABASE").ok()?;
        let dir = tempfile::tempdir().unwrap();
        let url = database_url(&server, &dir.path().join("scandeck.db"));
        Some(Self { dir, url })
    }

    /// A database with rows in all tables of this schema; `None` without a server.
    pub(super) fn of_schema(schema: usize) -> Option<Self> {
        let database = Self::empty()?;
        for (migration, rows) in MIGRATIONS.iter().zip(ROWS).take(schema) {
            database.psql(migration.sql);
            database.psql(rows);
        }
        database.psql(&format!(
            "INSERT INTO settings (name, value) VALUES ('schema', '{schema}')"
        ));
        Some(database)
    }

    /// Runs statements; returns the rows of the answer.
    pub(super) fn psql(&self, statements: &str) -> Vec<String> {
        let mut psql = Command::new("psql");
        psql.arg(&self.url);
        psql.args(["-v", "ON_ERROR_STOP=1", "-Atqc", statements]);
        let output = psql.output().expect("psql is installed");
        assert!(output.status.success(), "{output:?}");
        let answer = String::from_utf8(output.stdout).unwrap();
        answer.lines().map(str::to_owned).collect()
    }

    /// The rows of each table. Those of a partition are rows of its table.
    pub(super) fn rows(&self) -> BTreeMap<String, Vec<Value>> {
        let tables = self.psql(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
                AND relnamespace = CAST('public' AS regnamespace)",
        );
        let select = |table: &String| {
            format!("SELECT '{table}', CAST(to_jsonb(one) AS TEXT) FROM {table} AS one")
        };
        let selects: Vec<String> = tables.iter().map(select).collect();
        let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for table in &tables {
            rows.entry(table.clone()).or_default();
        }
        for line in self.psql(&selects.join(" UNION ALL ")) {
            let (table, json) = line.split_once('|').unwrap();
            let row = serde_json::from_str(json).unwrap();
            rows.entry(table.to_owned()).or_default().push(row);
        }
        rows
    }

    pub(super) fn address(&self) -> DatabaseAddress {
        DatabaseAddress::parse(&self.url, "test".to_owned()).unwrap()
    }

    /// The directory of a node.
    pub(super) fn home(&self, node: &str) -> PathBuf {
        let home = self.dir.path().join(node);
        std::fs::create_dir_all(&home).unwrap();
        home
    }

    /// Opens it as the node of a directory.
    pub(super) async fn open(&self, node: &str) -> Result<OpenedStore, StartError> {
        Store::open_postgres(&self.address(), &self.home(node)).await
    }
}

/// Whether a row has all columns of an earlier one, with their values.
fn is_kept(before: &Value, after: &Value) -> bool {
    let mut columns = before.as_object().unwrap().iter();
    columns.all(|(name, value)| after[name.as_str()] == *value)
}

#[tokio::test]
async fn each_older_schema_is_migrated_by_one_of_two_nodes_with_all_its_rows() {
    let known = MIGRATIONS.len();
    for schema in 1..known {
        let Some(database) = OtherDatabase::of_schema(schema) else {
            return;
        };
        let before = database.rows();
        let (first, second) = tokio::join!(database.open("one"), database.open("other"));
        let (first, second) = (first.unwrap(), second.unwrap());
        let note = format!("database of test migrated from schema {schema} to {known}");
        assert_eq!([first.notes, second.notes].concat(), [note]);
        let after = database.rows();
        for (table, rows) in &before {
            assert!(!rows.is_empty(), "schema {schema}: {table} has no rows");
            for row in rows.iter().filter(|row| row["name"] != "schema") {
                let is_there = after[table].iter().any(|other| is_kept(row, other));
                assert!(is_there, "schema {schema}: {table} has lost {row}");
            }
        }

        // The node of the older version has died since: another one goes on with its scan.
        let (one, other) = (first.store, second.store);
        let now = Timestamp::now();
        one.register(now).await.unwrap();
        other.register(now).await.unwrap();
        assert!(one.beat(true, 0, now).await.unwrap().has_ended_nodes);
        let waiting = other.scan(ScanId(1), now).await.unwrap().unwrap();
        assert_eq!(waiting.status_name, ScanStatus::Waiting);
        let claim = claim_scan(&other, now).await.expect("it waits");
        assert_eq!(claim.attempt.number, 2);
        one.close().await;
        other.close().await;
    }
}

#[tokio::test]
async fn newer_schema_is_refused_with_both_numbers_and_remains_as_it_is() {
    let known = MIGRATIONS.len();
    let Some(database) = OtherDatabase::of_schema(known) else {
        return;
    };
    database.psql("UPDATE settings SET value = '9000' WHERE name = 'schema'");
    database.psql("CREATE TABLE later (id BIGINT); INSERT INTO later VALUES (1)");
    let before = database.rows();
    let refused = database.open("one").await.err().unwrap().to_string();
    assert!(
        refused.contains(&format!(
            "has schema 9000, this version supports up to {known}"
        )),
        "{refused}"
    );
    assert_eq!(database.rows(), before);
}

#[tokio::test]
async fn missing_right_to_create_tables_is_refused_with_the_remedy() {
    let Some(database) = OtherDatabase::empty() else {
        return;
    };
    database.psql(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE insufficient_privilege; END $$;
         CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
            EXECUTE FUNCTION refuse()",
    );
    let refused = database.open("one").await.err().unwrap().to_string();
    let remedy =
        "the user must own the database and its tables (ALTER DATABASE NAME OWNER TO USER)";
    assert!(refused.contains(remedy), "{refused}");
}
