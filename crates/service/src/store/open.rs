//! Opening a database of SQLite: schema version, backup before a migration, journal mode by file system.
//!
//! ```text
//!   no file ─► created     same schema ─► opened        older ─► copied to *.bak-N, migrated        newer ─► refused
//! ```
//!
//! The schema version is SQLite's `user_version`, read from the header of the file. A database of a
//! newer program is therefore refused before SQLite opens it.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context;
use futures::future::BoxFuture;
use sqlx::SqliteConnection;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqlitePoolOptions;

use super::bulk::BULK_READS;
use super::checkpoint::{Checkpoints, writing_options};
use super::{ServiceNode, SqliteEngine, Store, StoreEngine};
use crate::errors::StartError;
use scandeck_wire::sqlite::{
    back_up, is_corrupt, is_on_network, make_private, migrations, newest, private_options,
    schema_version,
};

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    migrations(&[
        (
            "first",
            include_str!("../../assets/migrations/sqlite/0001_first.sql"),
        ),
        (
            "keys",
            include_str!("../../assets/migrations/sqlite/0002_keys.sql"),
        ),
        (
            "report_workspaces",
            include_str!("../../assets/migrations/sqlite/0003_report_workspaces.sql"),
        ),
        (
            "report_parts",
            include_str!("../../assets/migrations/sqlite/0004_report_parts.sql"),
        ),
        (
            "raw_captures",
            include_str!("../../assets/migrations/sqlite/0005_raw_captures.sql"),
        ),
        (
            "counted_tests",
            include_str!("../../assets/migrations/sqlite/0006_counted_tests.sql"),
        ),
        (
            "versions",
            include_str!("../../assets/migrations/sqlite/0007_versions.sql"),
        ),
        (
            "nodes",
            include_str!("../../assets/migrations/sqlite/0008_nodes.sql"),
        ),
        (
            "deletions",
            include_str!("../../assets/migrations/sqlite/0009_deletions.sql"),
        ),
        (
            "claims",
            include_str!("../../assets/migrations/sqlite/0010_claims.sql"),
        ),
        (
            "counts",
            include_str!("../../assets/migrations/sqlite/0011_counts.sql"),
        ),
        (
            "finding_versions",
            include_str!("../../assets/migrations/sqlite/0012_finding_versions.sql"),
        ),
        (
            "team",
            include_str!("../../assets/migrations/sqlite/0013_team.sql"),
        ),
        (
            "purges",
            include_str!("../../assets/migrations/sqlite/0014_purges.sql"),
        ),
        (
            "dashboards",
            include_str!("../../assets/migrations/sqlite/0015_dashboards.sql"),
        ),
        (
            "payload_versions",
            include_str!("../../assets/migrations/sqlite/0016_payload_versions.sql"),
        ),
        (
            "schedules",
            include_str!("../../assets/migrations/sqlite/0017_schedules.sql"),
        ),
        (
            "imports",
            include_str!("../../assets/migrations/sqlite/0018_imports.sql"),
        ),
        (
            "leases",
            include_str!("../../assets/migrations/sqlite/0019_leases.sql"),
        ),
        (
            "target_tags",
            include_str!("../../assets/migrations/sqlite/0020_target_tags.sql"),
        ),
        (
            "places",
            include_str!("../../assets/migrations/sqlite/0021_places.sql"),
        ),
        (
            "callback_keys",
            include_str!("../../assets/migrations/sqlite/0022_callback_keys.sql"),
        ),
        (
            "lost_scans",
            include_str!("../../assets/migrations/sqlite/0023_lost_scans.sql"),
        ),
        (
            "finding_ids",
            include_str!("../../assets/migrations/sqlite/0024_finding_ids.sql"),
        ),
    ])
});

pub struct OpenedStore {
    pub store: Store,
    /// Notices for the log: a migration with its backup, a network file system.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens or creates the database `file`.
    ///
    /// # Errors
    /// [`StartError::Newer`] for an unknown schema, [`StartError::Damaged`] for a file that is no
    /// database, [`StartError::Database`] for all other errors.
    pub fn open(file: &Path) -> BoxFuture<'_, Result<OpenedStore, StartError>> {
        Box::pin(open_with(file, &MIGRATIONS))
    }

    /// The schema of this program.
    pub fn schema() -> i64 {
        newest(&MIGRATIONS)
    }

    /// Opens a database that a running service may have open; the schema must be that of this
    /// program.
    ///
    /// # Errors
    /// [`StartError::OtherSchema`] for another schema, [`StartError::Database`] when it cannot be
    /// opened.
    pub async fn open_beside(file: &Path) -> Result<Self, StartError> {
        let failed = |source| open_error(file, source);
        let known = newest(&MIGRATIONS);
        let found = schema_version(file).map_err(|error| failed(error.into()))?;
        if found != known {
            return Err(StartError::OtherSchema {
                path: file.to_owned(),
                found,
                known,
            });
        }
        connect(file, &MIGRATIONS, false).await.map_err(failed)
    }

    /// Opens a database that no service has open, without a migration.
    pub(super) async fn open_as_it_is(file: &Path) -> Result<Self, StartError> {
        let opened = connect(file, &MIGRATIONS, false).await;
        opened.map_err(|source| open_error(file, source))
    }
}

/// Why a database was not opened. A damaged one needs another remedy.
fn open_error(file: &Path, source: anyhow::Error) -> StartError {
    let path = file.to_owned();
    match is_corrupt(&source) {
        true => StartError::Damaged { path, source },
        false => StartError::Database { path, source },
    }
}

async fn open_with(file: &Path, migrations: &Migrator) -> Result<OpenedStore, StartError> {
    let known = newest(migrations);
    let failed = |source| open_error(file, source);
    let found = schema_version(file).map_err(|error| failed(error.into()))?;
    if found > known {
        return Err(StartError::Newer {
            path: file.to_owned(),
            found,
            known,
        });
    }
    make_private(file).map_err(|error| failed(error.into()))?;
    let mut notes = Vec::new();
    if 0 < found && found < known {
        let backup = back_up(file).await.map_err(failed)?.display().to_string();
        notes.push(format!(
            "database migrated from schema {found} to {known}; backup: {backup}"
        ));
    }
    if is_on_network(file) {
        notes.push(
            "data directory is on a network file system: SQLite uses the slower rollback journal"
                .to_owned(),
        );
    }
    let store = connect(file, migrations, found < known)
        .await
        .map_err(failed)?;
    Ok(OpenedStore { store, notes })
}

async fn connect(file: &Path, migrations: &Migrator, migrate: bool) -> anyhow::Result<Store> {
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .after_release(|connection, _| Box::pin(roll_back(connection)));
    let write = write.connect_with(writing_options(file)).await?;
    if migrate {
        if !is_on_network(file) {
            // The checkpoint syncs all migrations; each write sets this again.
            sqlx::query("PRAGMA synchronous = NORMAL")
                .execute(&write)
                .await?;
        }
        migrations
            .run(&write)
            .await
            .context("the migration failed and was rolled back")?;
        // The header of the file contains the schema version only after a checkpoint.
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&write)
            .await?;
    }
    let read = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(private_options(file).read_only(true))
        .await?;
    let bulk = SqlitePoolOptions::new()
        .max_connections(BULK_READS)
        .connect_lazy_with(private_options(file).read_only(true));
    let checkpoints = Checkpoints::open(file).await?;
    let engine = SqliteEngine {
        read,
        bulk,
        write,
        checkpoints,
        has_log: !is_on_network(file),
    };
    Ok(Store::new(
        StoreEngine::Sqlite(engine),
        ServiceNode::new(file),
    ))
}

/// Rolls back a dropped or failed write transaction. Without one the statement fails, which is
/// harmless.
async fn roll_back(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    let _ = sqlx::query("ROLLBACK").execute(connection).await;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::sql::sql;
    use super::*;
    use scandeck_wire::contract::ReportId;

    /// The migrations of this program and a newer one.
    async fn newer_program(dir: &Path) -> Migrator {
        for migration in MIGRATIONS.iter() {
            let name = format!("{:04}_known.sql", migration.version);
            std::fs::write(dir.join(name), migration.sql.as_str()).unwrap();
        }
        std::fs::write(
            dir.join("9000_later.sql"),
            "CREATE TABLE later (id INTEGER); PRAGMA user_version = 9000;",
        )
        .unwrap();
        let mut migrator = Migrator::new(dir).await.unwrap();
        migrator.set_ignore_missing(true);
        migrator
    }

    #[tokio::test]
    async fn older_database_is_backed_up_and_migrated_and_newer_one_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let opened = Store::open(&file).await.unwrap();
        assert!(opened.notes.is_empty());
        opened.store.close().await;

        let migrations = tempfile::tempdir().unwrap();
        let newer = newer_program(migrations.path()).await;
        let opened = open_with(&file, &newer).await.unwrap();
        assert!(opened.notes[0].contains(".bak-1"), "{:?}", opened.notes);
        let name: String = sql("SELECT name FROM workspaces")
            .one(opened.store.read())
            .await
            .unwrap();
        assert_eq!(name, "Default");
        opened.store.close().await;
        assert!(temp.path().join("scandeck.db.bak-1").exists());

        let before = std::fs::read(&file).unwrap();
        let error = Store::open(&file).await.err().unwrap().to_string();
        assert!(
            error.contains("9000") && error.contains("scandeck.db"),
            "{error}"
        );
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }

    #[tokio::test]
    async fn first_write_after_migrations_is_synced() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let store = Store::open(&file).await.unwrap().store;
        let mut change = store.change().await.unwrap();
        let synchronous: i64 = sql("PRAGMA synchronous").one(&mut change).await.unwrap();
        assert_eq!(synchronous, 2, "FULL");
    }

    #[tokio::test]
    async fn scan_that_lost_its_node_waits_after_the_migration() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let older = MIGRATIONS.iter().filter(|one| one.version < 24).cloned();
        let older = Migrator::with_migrations(older.collect());
        let store = open_with(&file, &older).await.unwrap().store;
        for statement in [
            "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'hostname')",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes) VALUES (1, 1, 1, 70, 'running', 0, '{}', 'none', false, false, 1)",
            "INSERT INTO jobs (scan_id, params) VALUES (1, '{}')",
        ] {
            store.execute(sql(statement)).await.unwrap();
        }
        store.close().await;
        let store = Store::open(&file).await.unwrap().store;
        let status: String = sql("SELECT status FROM scans")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(status, "waiting");
        store.close().await;
    }

    #[tokio::test]
    async fn damaged_database_is_refused_with_the_way_back() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        std::fs::write(&file, "this file is no database").unwrap();
        let error = Store::open(&file).await.err().unwrap();
        assert!(matches!(error, StartError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("`scandeck restore`"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), b"this file is no database");
    }

    #[tokio::test]
    async fn lists_of_a_workspace_are_read_in_the_order_of_an_index() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("scandeck.db"))
            .await
            .unwrap()
            .store;
        for table in ["findings", "targets", "scans", "loggers", "reports"] {
            let explain = format!(
                "EXPLAIN QUERY PLAN SELECT id FROM {table} WHERE workspace_id = 1 ORDER BY id LIMIT 9"
            );
            let plan: Vec<(i64, i64, i64, String)> = sql(explain).all(store.read()).await.unwrap();
            let index = format!(
                "SEARCH {table} USING COVERING INDEX {table}_by_workspace (workspace_id=?)"
            );
            assert_eq!(plan.len(), 1, "{plan:?}");
            assert_eq!(plan[0].3, index);
        }
    }

    #[tokio::test]
    async fn documents_of_an_earlier_version_become_parts() {
        let (temp, migrations) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for migration in MIGRATIONS.iter().filter(|migration| migration.version < 4) {
            let name = format!("{:04}_known.sql", migration.version);
            std::fs::write(migrations.path().join(name), migration.sql.as_str()).unwrap();
        }
        let file = temp.path().join("scandeck.db");
        let older = open_with(&file, &Migrator::new(migrations.path()).await.unwrap())
            .await
            .unwrap()
            .store;
        let insert = "INSERT INTO reports (format, status, created_at, expires_at, content)
                      VALUES ('csv', 'finished', 0, 1, x'6162'), ('csv', 'finished', 0, 1, NULL)";
        older.execute(sql(insert)).await.unwrap();
        older.close().await;

        let store = Store::open(&file).await.unwrap().store;
        assert_eq!(store.report_size(ReportId(1)).await.unwrap(), (1, 2));
        assert_eq!(store.report_part(ReportId(1), 0).await.unwrap(), b"ab");
        assert_eq!(
            store.report_size(ReportId(2)).await.unwrap(),
            (0, 0),
            "an empty report"
        );
    }
}
