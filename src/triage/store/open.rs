//! Opening the file of decisions: one that is broken is put aside, and a new file takes what can be read of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteRow;

use super::{Event, KIND, Key, Store, StoreError};
use crate::sqlite::{Aside, SharedFile, Turn};
use crate::text::plural;

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
        Err(StoreError::Broken { path, source }) => rescued(directory, migrations, &path, &source).await,
        other => other,
    };
    drop(turn);
    opened
}

/// What could be read of a broken file.
struct Left {
    events: Vec<Arc<Event>>,
    /// Name, workspace, JSON.
    settings: BTreeSet<(String, String, String)>,
    /// Workspace and key.
    seen: BTreeSet<(String, Key)>,
}

impl Left {
    async fn of(aside: &mut Aside) -> Self {
        let event = |row: &SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
        let setting = |row: &SqliteRow| {
            Some((row.try_get("key").ok()?, row.try_get("workspace").ok()?, row.try_get("json").ok()?))
        };
        let mark = |row: &SqliteRow| {
            let key = row.try_get::<String, _>("key").ok()?;
            Some((row.try_get("workspace").ok()?, key.parse().ok()?))
        };
        let order = ["key", "workspace"];
        Self {
            events: aside.rows("events", event).await.into_iter().map(Arc::new).collect(),
            settings: aside.ordered("settings", order, setting).await,
            seen: aside.ordered("seen", order, mark).await,
        }
    }

    async fn keep_in(&self, store: &mut Store) -> Result<(), StoreError> {
        store.record(&self.events).await?;
        for (key, workspace, json) in &self.settings {
            store.put_setting(key, workspace, json).await?;
        }
        for marks in self.seen.iter().collect::<Vec<_>>().chunk_by(|a, b| a.0 == b.0) {
            let keys: Vec<Key> = marks.iter().map(|(_, key)| *key).collect();
            store.mark_seen(&marks[0].0, &keys).await?;
        }
        Ok(())
    }

    fn told(&self) -> String {
        let (events, settings, seen) = (self.events.len(), self.settings.len(), self.seen.len());
        let (decisions, settings) = (plural(events, "decision"), plural(settings, "setting"));
        format!("{decisions}, {settings} and {} on seen findings", plural(seen, "mark"))
    }
}

async fn rescued(
    directory: &Path,
    migrations: &Migrator,
    path: &Path,
    why: &sqlx::Error,
) -> Result<Opened, StoreError> {
    let mut aside = Aside::put(path, KIND.what).await?;
    let left = Left::of(&mut aside).await;
    match begun_with(&left, directory, migrations).await {
        Ok(mut opened) => {
            opened.notes.push(aside.close(path, why, &left.told()).await);
            opened.events = left.events;
            Ok(opened)
        }
        // An empty file in its place would look as if nothing had ever been decided.
        Err(error) => {
            aside.back(path).await;
            Err(error)
        }
    }
}

/// A new file with what is left of the old one; closed again where that cannot be kept.
async fn begun_with(left: &Left, directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    let mut opened = opened(directory, migrations).await?;
    match left.keep_in(&mut opened.store).await {
        Ok(()) => Ok(opened),
        Err(error) => {
            opened.store.close().await;
            Err(error)
        }
    }
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
        notes.push(format!(
            "{} in {file} not to be read: left there, and counted for nothing",
            plural(unread, "decision")
        ));
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
