//! Opening the database: schema number, backup before a migration, journal by file system.
//!
//! ```text
//!   no file ─► made        same schema ─► opened        older ─► copied to *.bak-N, migrated        newer ─► refused
//! ```
//!
//! The schema number is SQLite's `user_version`, read from the file's header: a database of a newer program is
//! refused without SQLite ever opening it.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sqlx::SqliteConnection;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use super::Store;
use crate::service::errors::StartError;
use crate::sqlite::{back_up, close_to_others, on_network, options, schema_number};

static MIGRATIONS: Migrator = sqlx::migrate!("assets/migrations/sqlite");

/// An opened store, and what a person should know about the opening.
pub struct OpenedStore {
    /// The store.
    pub store: Store,
    /// Sentences for the log: a migration with its backup, a network file system.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens or makes the database `file`.
    ///
    /// # Errors
    /// [`StartError::Newer`] for a schema this program does not know, [`StartError::Database`] for anything else.
    pub async fn open(file: &Path) -> Result<OpenedStore, StartError> {
        open_with(file, &MIGRATIONS).await
    }
}

impl Store {
    /// Opens a database that a running service may have open too: it must have the schema of this program.
    ///
    /// # Errors
    /// [`StartError::OtherSchema`] for any other, [`StartError::Database`] when it cannot be opened.
    pub async fn open_beside(file: &Path) -> Result<Self, StartError> {
        let failed = |source: anyhow::Error| StartError::Database { path: file.to_owned(), source };
        let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default();
        let found = schema_number(file).map_err(|error| failed(error.into()))?;
        if found != known {
            return Err(StartError::OtherSchema { path: file.to_owned(), found, known });
        }
        let journal = if on_network(file) { SqliteJournalMode::Delete } else { SqliteJournalMode::Wal };
        connect(file, journal, &MIGRATIONS, false).await.map_err(failed)
    }
}

async fn open_with(file: &Path, migrations: &Migrator) -> Result<OpenedStore, StartError> {
    let known = migrations.iter().map(|migration| migration.version).max().unwrap_or_default();
    let failed = |source: anyhow::Error| StartError::Database { path: file.to_owned(), source };
    let found = schema_number(file).map_err(|error| failed(error.into()))?;
    if found > known {
        return Err(StartError::Newer { path: file.to_owned(), found, known });
    }
    close_to_others(file).map_err(|error| failed(error.into()))?;
    let mut notes = Vec::new();
    if 0 < found && found < known {
        let backup = back_up(file).await.map_err(failed)?;
        notes.push(format!(
            "the database moves from schema {found} to {known}; the old one is kept as {}",
            backup.display()
        ));
    }
    let journal = if on_network(file) {
        notes.push(
            "the data directory is on a network file system: SQLite uses the rollback journal, which is slower".into(),
        );
        SqliteJournalMode::Delete
    } else {
        SqliteJournalMode::Wal
    };
    let store = connect(file, journal, migrations, found < known).await.map_err(failed)?;
    Ok(OpenedStore { store, notes })
}

async fn connect(
    file: &Path,
    journal: SqliteJournalMode,
    migrations: &Migrator,
    migrate: bool,
) -> anyhow::Result<Store> {
    let options = options(file)
        .create_if_missing(true)
        .journal_mode(journal)
        .synchronous(SqliteSynchronous::Full)
        // Passwords of ended scans must be gone from the file, not only from its index.
        .pragma("secure_delete", "ON");
    let write =
        SqlitePoolOptions::new().max_connections(1).after_release(|connection, _| Box::pin(end_open(connection)));
    let write = write.connect_with(options.clone()).await?;
    if migrate {
        migrations.run(&write).await.context("the migration failed; nothing of it was kept")?;
        // The header of the file tells the schema number only once the log is in it.
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&write).await?;
    }
    let read = SqlitePoolOptions::new().max_connections(4).connect_with(options.read_only(true)).await?;
    Ok(Store { read, write, version: Arc::default() })
}

/// Ends what a dropped or failed write transaction left open; without one the statement fails, which says the same.
async fn end_open(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    let _ = sqlx::query("ROLLBACK").execute(connection).await;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The migrations of this program and one that does not exist yet.
    async fn newer_program(dir: &Path) -> Migrator {
        for migration in MIGRATIONS.iter() {
            let name = format!("{:04}_known.sql", migration.version);
            std::fs::write(dir.join(name), migration.sql.as_str()).unwrap();
        }
        std::fs::write(dir.join("9000_later.sql"), "CREATE TABLE later (id INTEGER); PRAGMA user_version = 9000;")
            .unwrap();
        let mut migrator = Migrator::new(dir).await.unwrap();
        migrator.set_ignore_missing(true);
        migrator
    }

    #[tokio::test]
    async fn an_older_database_is_copied_and_migrated_and_a_newer_one_is_refused_untouched() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let opened = Store::open(&file).await.unwrap();
        assert!(opened.notes.is_empty());
        opened.store.close().await;

        let migrations = tempfile::tempdir().unwrap();
        let newer = newer_program(migrations.path()).await;
        let opened = open_with(&file, &newer).await.unwrap();
        assert!(opened.notes[0].contains(".bak-1"), "{:?}", opened.notes);
        let name: String =
            sqlx::query_scalar("SELECT name FROM workspaces").fetch_one(opened.store.read()).await.unwrap();
        assert_eq!(name, "Default");
        opened.store.close().await;
        assert!(temp.path().join("scandeck.db.bak-1").exists());

        let before = std::fs::read(&file).unwrap();
        let error = Store::open(&file).await.err().unwrap().to_string();
        assert!(error.contains("9000") && error.contains("scandeck.db"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}
