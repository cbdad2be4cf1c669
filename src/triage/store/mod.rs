//! The store of decisions: one SQLite file a service, written by any number of dashboards and commands at once.
//!
//! ```text
//!   decisions.db      events (append-only), settings, seen          *.bak-N      before a migration
//!   in-use.lock       held by who has it open                       *.broken-N   what could not be read, kept aside
//! ```
//!
//! Every batch is one synced transaction. One connection reads and writes, so SQLite's `data_version` moves exactly
//! when somebody else has written; the files are looked at before it is asked, which costs no wake-up of its thread.

mod aside;
mod error;
mod open;
pub mod purge;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{Connection, QueryBuilder, Sqlite, SqliteConnection};

use super::event::{Event, Key};
use crate::contract::Shared;

pub use error::StoreError;
pub use open::Opened;

/// Rows a statement may carry; SQLite takes 32,766 bound values.
const CHUNK: usize = 1000;

/// See the module.
#[derive(Debug)]
pub struct Store {
    connection: SqliteConnection,
    file: PathBuf,
    writable: bool,
    /// The last row of the events that was read.
    last: i64,
    /// What others have written counts from here.
    data_version: i64,
    /// The files as they were when it was last asked.
    looks: Looks,
    /// Tells others that the file is in use.
    _in_use: Option<File>,
}

/// What the file system tells without opening anything: inode of the database, and times and sizes of it and its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Looks {
    inode: u64,
    files: [(i64, i64, u64); 2],
}

impl Looks {
    fn of(file: &Path) -> Self {
        let look = |path: &Path| fs::metadata(path).ok();
        let words = |found: Option<fs::Metadata>| {
            found.map(|found| (found.mtime(), found.mtime_nsec(), found.len())).unwrap_or_default()
        };
        let database = look(file);
        let inode = database.as_ref().map(MetadataExt::ino).unwrap_or_default();
        Self { inode, files: [words(database), words(look(&beside(file, "-wal")))] }
    }
}

/// A file that SQLite keeps beside the database.
fn beside(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", file.display()))
}

impl Store {
    /// The database.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether anything can be kept.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Keeps a batch: all of it or nothing. Events that are there already are left as they are.
    ///
    /// # Errors
    /// When the file cannot be written; nothing of the batch was kept then.
    pub async fn record(&mut self, events: &[Arc<Event>]) -> Result<(), StoreError> {
        let rows = events.iter().map(|event| {
            let json = serde_json::to_string(event).unwrap_or_default();
            (event.id.to_string(), event.workspace.to_string(), json)
        });
        self.insert(rows.collect()).await
    }

    async fn insert(&mut self, rows: Vec<(String, String, String)>) -> Result<(), StoreError> {
        let failed = StoreError::of(&self.file);
        // The lock is taken at once: one that is only asked for at the first write is not waited for.
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        for chunk in rows.chunks(CHUNK) {
            let mut query = QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO events (id, workspace, json) ");
            query.push_values(chunk, |mut row, (id, workspace, json)| {
                row.push_bind(id).push_bind(workspace).push_bind(json);
            });
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)
    }

    /// What was recorded since this was last asked, but not by this instance: empty where nobody else writes.
    ///
    /// # Errors
    /// When the file cannot be read, or is another than the one that was opened.
    pub async fn news(&mut self, instance: u64) -> Result<Vec<Arc<Event>>, StoreError> {
        let looks = Looks::of(&self.file);
        if looks == self.looks {
            return Ok(Vec::new());
        }
        if looks.inode != self.looks.inode {
            return Err(StoreError::Replaced { path: self.file.clone() });
        }
        self.looks = looks;
        let version = self.ask_data_version().await?;
        if version == std::mem::replace(&mut self.data_version, version) {
            return Ok(Vec::new());
        }
        let own = format!("{instance:016x}-*");
        Ok(self.read_events(&own).await?.0)
    }

    /// Events behind the last row read whose names are not like `but_not`, and how many more rows hold no event.
    async fn read_events(&mut self, but_not: &str) -> Result<(Vec<Arc<Event>>, usize), StoreError> {
        let failed = StoreError::of(&self.file);
        let query = "SELECT row, json FROM events WHERE row > ? AND id NOT GLOB ? ORDER BY row";
        let rows: Vec<(i64, String)> = sqlx::query_as(query)
            .bind(self.last)
            .bind(but_not.to_owned())
            .fetch_all(&mut self.connection)
            .await
            .map_err(failed)?;
        self.last = rows.last().map_or(self.last, |row| row.0);
        let parsed = tokio::task::spawn_blocking(move || {
            let number = rows.len();
            let events: Vec<_> =
                rows.iter().filter_map(|(_, json)| serde_json::from_str(json).ok()).map(Arc::new).collect();
            let unread = number - events.len();
            (events, unread)
        });
        parsed.await.map_err(|error| StoreError::Interrupted { why: error.to_string() })
    }

    async fn ask_data_version(&mut self) -> Result<i64, StoreError> {
        let failed = StoreError::of(&self.file);
        sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut self.connection).await.map_err(failed)
    }

    /// Every setting, by name and workspace, as JSON.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn settings(&mut self) -> Result<BTreeMap<(Shared, Shared), String>, StoreError> {
        let failed = StoreError::of(&self.file);
        let rows: Vec<(String, String, String)> = sqlx::query_as("SELECT key, workspace, json FROM settings")
            .fetch_all(&mut self.connection)
            .await
            .map_err(failed)?;
        Ok(rows.into_iter().map(|(key, workspace, json)| ((key.into(), workspace.into()), json)).collect())
    }

    /// Keeps a setting in place of its old value.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn put_setting(&mut self, key: &str, workspace: &str, json: &str) -> Result<(), StoreError> {
        let failed = StoreError::of(&self.file);
        let query = "INSERT INTO settings VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json";
        let query = sqlx::query(query).bind(key.to_owned()).bind(workspace.to_owned()).bind(json.to_owned());
        query.execute(&mut self.connection).await.map(drop).map_err(failed)
    }

    /// Findings that were seen.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn seen(&mut self) -> Result<Vec<Key>, StoreError> {
        let failed = StoreError::of(&self.file);
        let rows: Vec<String> =
            sqlx::query_scalar("SELECT key FROM seen").fetch_all(&mut self.connection).await.map_err(failed)?;
        Ok(rows.iter().filter_map(|key| key.parse().ok()).collect())
    }

    /// Findings of a workspace that were seen.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn seen_in(&mut self, workspace: &str) -> Result<Vec<Key>, StoreError> {
        let failed = StoreError::of(&self.file);
        let query = sqlx::query_scalar("SELECT key FROM seen WHERE workspace = ? ORDER BY key");
        let rows: Vec<String> =
            query.bind(workspace.to_owned()).fetch_all(&mut self.connection).await.map_err(failed)?;
        Ok(rows.iter().filter_map(|key| key.parse().ok()).collect())
    }

    /// Names of the workspaces of which something is kept.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn workspaces(&mut self) -> Result<Vec<Shared>, StoreError> {
        let failed = StoreError::of(&self.file);
        let query =
            "SELECT workspace FROM events UNION SELECT workspace FROM settings UNION SELECT workspace FROM seen";
        let rows: Vec<String> = sqlx::query_scalar(query).fetch_all(&mut self.connection).await.map_err(failed)?;
        Ok(rows.into_iter().map(Shared::from).collect())
    }

    /// Keeps that findings were seen.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn mark_seen(&mut self, workspace: &str, keys: &[Key]) -> Result<(), StoreError> {
        let failed = StoreError::of(&self.file);
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        for chunk in keys.chunks(CHUNK) {
            let mut query = QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO seen (key, workspace) ");
            query.push_values(chunk, |mut row, key| {
                row.push_bind(key.to_string()).push_bind(workspace.to_owned());
            });
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)
    }

    /// Closes the file; what was kept is kept without it too.
    pub async fn close(self) {
        // The log goes into the database at the next opening otherwise.
        let _ = self.connection.close().await;
    }
}
