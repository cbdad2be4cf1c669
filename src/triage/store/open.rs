//! Opening the file of decisions: one that is broken is put aside, and a new file takes what can be read of it.

use std::path::Path;
use std::sync::Arc;

use sqlx::Row;
use sqlx::migrate::Migrator;

use super::{Event, KIND, Store, StoreError};
use crate::sqlite::{Aside, SharedFile, Turn};

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
    let Some(turn) = Turn::wait(directory, &KIND).await? else {
        let mut opened = read(SharedFile::open_read_only(directory, &KIND).await?).await?;
        let file = opened.store.file.path.display();
        opened.notes.push(format!("{file} cannot be written: what is decided now is not kept"));
        return Ok(opened);
    };
    let opened = match opened(directory, migrations).await {
        Err(StoreError::Broken { path, source }) => {
            let mut aside = Aside::put(&path, KIND.what).await?;
            let event = |row: &sqlx::sqlite::SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
            let events: Vec<Arc<Event>> = aside.rows("events", event).await.into_iter().map(Arc::new).collect();
            let told = aside.close(&path, &source, &format!("{} decisions", events.len())).await;
            let mut opened = opened(directory, migrations).await?;
            opened.store.record(&events).await?;
            opened.notes.push(told);
            opened.events = events;
            Ok(opened)
        }
        other => other,
    };
    drop(turn);
    opened
}

async fn opened(directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    read(SharedFile::open(directory, &KIND, migrations).await?).await
}

/// Reads the events; rows that hold none stay where they are.
async fn read((file, mut notes): (SharedFile, Vec<String>)) -> Result<Opened, StoreError> {
    let mut store = Store { file, last: 0 };
    store.check().await?;
    store.file.begin_to_look().await?;
    let (events, unread) = store.read_events("").await?;
    if unread > 0 {
        let file = store.file.path.display();
        notes.push(format!("{unread} decisions in {file} cannot be read and count for nothing; they are left there"));
    }
    Ok(Opened { store, events, notes })
}

impl Store {
    /// Looks at every page: a broken one would be met at a key press otherwise.
    async fn check(&mut self) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let word: String =
            sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut self.file.connection).await.map_err(failed)?;
        match word.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Broken { path: self.file.path.clone(), source: sqlx::Error::Protocol(word) }),
        }
    }
}
