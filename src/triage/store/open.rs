//! Opening the file of decisions.
//!
//! ```text
//!   no file ─► made      older ─► copied to *.bak-N, migrated      newer ─► refused
//!   broken ─► renamed *.broken-N, a new file takes what can be read of it      cannot be written ─► only read
//! ```
//!
//! Openings wait for each other, so that two dashboards started at once neither migrate nor rescue twice.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};
use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use super::{Event, Looks, Store, StoreError, aside};
use crate::sqlite::{back_up, close_to_others, on_network, options, schema_number};

static MIGRATIONS: Migrator = sqlx::migrate!("assets/migrations/triage");

/// An opened store.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Every event it held.
    pub events: Vec<Arc<Event>>,
    /// What a person should know, a sentence each: a rescue, a migration, that nothing can be kept.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens or makes the file of decisions in a directory, which is made too, and reads its events.
    ///
    /// # Errors
    /// When there is none and none can be made, it is of a newer program, or SQLite refuses it for another reason than
    /// that it is broken.
    pub async fn open(directory: &Path) -> Result<Opened, StoreError> {
        open_with(directory, &MIGRATIONS).await
    }
}

pub(super) async fn open_with(directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    let file = directory.join("decisions.db");
    let turn = match make(directory, &file) {
        Ok(turn) => turn,
        Err(_) if file.is_file() => return read_only(&file).await,
        Err(source) => return Err(StoreError::Unwritable { path: directory.to_owned(), source }),
    };
    let waited = tokio::task::spawn_blocking(move || flock(&turn, FlockOperation::LockExclusive).map(|()| turn));
    // A file system without locks has no two dashboards either.
    let turn = waited.await.map_err(|error| StoreError::Interrupted { why: error.to_string() })?.ok();
    let opened = match opened(&file, migrations).await {
        Err(StoreError::Broken { source, .. }) => {
            let rescued = aside::rescue(&file).await?;
            let mut opened = opened(&file, migrations).await?;
            opened.store.record(&rescued.events).await?;
            opened.notes.push(rescued.told(&file, &source));
            opened.events = rescued.events;
            Ok(opened)
        }
        other => other,
    };
    drop(turn);
    opened
}

/// Makes the directory and the files that SQLite does not make closed to others; returns the lock of openings.
fn make(directory: &Path, file: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let turn = lock_file(&directory.join("opening.lock"))?;
    close_to_others(file)?;
    Ok(turn)
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

async fn opened(file: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    let failed = StoreError::of(file);
    let known = migrations.iter().map(|migration| migration.version).max().unwrap_or_default();
    close_to_others(file).map_err(|source| StoreError::Unwritable { path: file.to_owned(), source })?;
    let found = schema_number(file).map_err(|source| StoreError::Unwritable { path: file.to_owned(), source })?;
    if found > known {
        // Four bytes of rubbish are no number either.
        if is_database(file) {
            return Err(StoreError::Newer { path: file.to_owned(), found, known });
        }
        let source = sqlx::Error::Protocol("it is no database".to_owned());
        return Err(StoreError::Broken { path: file.to_owned(), source });
    }
    let mut notes = Vec::new();
    if 0 < found && found < known {
        let backup = back_up(file).await.map_err(|error| failed(broken_or(error)))?;
        notes.push(format!(
            "the decisions move from schema {found} to {known}; the old file is kept as {}",
            backup.display()
        ));
    }
    let journal = if on_network(file) { SqliteJournalMode::Delete } else { SqliteJournalMode::Wal };
    let options = options(file)
        .create_if_missing(true)
        .journal_mode(journal)
        .synchronous(SqliteSynchronous::Full)
        // What is purged must be gone from the file, not only from its index.
        .pragma("secure_delete", "ON");
    if found < known {
        migrate(migrations, options.clone()).await.map_err(&failed)?;
    }
    let mut connection = options.connect().await.map_err(&failed)?;
    if found < known {
        // The header of the file tells the schema number only once the log is in it.
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.map_err(&failed)?;
    }
    let in_use = lock_file(&file.with_file_name("in-use.lock")).ok();
    let in_use = in_use.filter(|lock| flock(lock, FlockOperation::NonBlockingLockShared).is_ok());
    let store = Store {
        connection,
        file: file.to_owned(),
        writable: true,
        last: 0,
        data_version: 0,
        looks: Looks::default(),
        _in_use: in_use,
    };
    read(store, notes).await
}

/// Over a pool that is closed again: with a borrowed connection rustc cannot prove this future `Send`.
async fn migrate(migrations: &Migrator, options: SqliteConnectOptions) -> sqlx::Result<()> {
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    let migrated = migrations.run(&pool).await;
    pool.close().await;
    Ok(migrated?)
}

/// SQLite's error, where there is one in the chain.
fn broken_or(error: anyhow::Error) -> sqlx::Error {
    error.downcast().unwrap_or_else(|error| sqlx::Error::Protocol(format!("{error:#}")))
}

fn is_database(file: &Path) -> bool {
    let mut start = [0; 16];
    let read = File::open(file).and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

/// The file is there and cannot be written: what it holds is shown.
async fn read_only(file: &Path) -> Result<Opened, StoreError> {
    // Immutable: beside a file that cannot be written no index of its log can be made.
    let options = options(file).read_only(true).immutable(true);
    let connection = options.connect().await.map_err(StoreError::of(file))?;
    let store = Store {
        connection,
        file: file.to_owned(),
        writable: false,
        last: 0,
        data_version: 0,
        looks: Looks::default(),
        _in_use: None,
    };
    read(store, vec![format!("{} cannot be written: what is decided now is not kept", file.display())]).await
}

/// Reads the events; rows that hold none stay where they are.
async fn read(mut store: Store, mut notes: Vec<String>) -> Result<Opened, StoreError> {
    store.check().await?;
    // Before the events: what is written between the two is read twice, which changes nothing.
    store.looks = Looks::of(&store.file);
    store.data_version = store.ask_data_version().await?;
    let (events, unread) = store.read_events("").await?;
    if unread > 0 {
        let file = store.file.display();
        notes.push(format!("{unread} decisions in {file} cannot be read and count for nothing; they are left there"));
    }
    Ok(Opened { store, events, notes })
}

impl Store {
    /// Looks at every page: a broken one would be met at a key press otherwise.
    async fn check(&mut self) -> Result<(), StoreError> {
        let failed = StoreError::of(&self.file);
        let word: String =
            sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut self.connection).await.map_err(failed)?;
        match word.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Broken { path: self.file.clone(), source: sqlx::Error::Protocol(word) }),
        }
    }
}
