//! The store of decisions: one SQLite file a service, written by any number of dashboards and
//! commands at once.
//!
//! ```text
//!   decisions.db      events (append-only), settings, seen          *.bak-N      before a migration
//!   in-use.lock       held by who has it open                       *.broken-N   the corrupt file, set aside
//! ```
//!
//! Every batch is one synced transaction.

mod open;
mod purge;
mod team;
#[cfg(test)]
mod tests;
pub mod texts;

use std::path::Path;
use std::sync::Arc;

use sqlx::{QueryBuilder, Sqlite};

use super::event::{Event, Subject};
use super::settings::StoredSettings;
use crate::finding::FindingKey;
use scandeck_wire::contract::Shared;
use scandeck_wire::sqlite::{FileKind, SharedFile};

pub use open::OpenedDecisions;
pub use scandeck_wire::sqlite::StoreError;
pub use team::{ArrivedEvent, TeamLog};
pub use texts::TextStore;

/// Rows a statement may carry; SQLite takes 32,766 bound values.
const CHUNK: usize = 1000;

const KIND: FileKind = FileKind {
    name: "decisions.db",
    contents: "decisions",
    opening: "opening.lock",
    in_use: "in-use.lock",
};

/// The store of decisions: events, seen findings and settings.
#[derive(Debug)]
pub struct Store {
    file: SharedFile,
    /// The last row of the events that was read.
    last: i64,
}

impl Store {
    /// The database.
    pub fn file(&self) -> &Path {
        &self.file.path
    }

    /// True if the file is writable.
    pub fn is_writable(&self) -> bool {
        self.file.writable
    }

    /// True if the file was opened for reading, because the disk is full.
    pub fn is_on_full_disk(&self) -> bool {
        self.file.on_full_disk
    }

    /// Whether a file that was opened for reading could be opened for writing now.
    pub fn has_become_writable(&self) -> bool {
        self.file.has_become_writable()
    }

    /// Keeps a batch: all of it or nothing. Events that are there already are left as they are.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing of the batch was stored.
    pub async fn record(&mut self, events: &[Arc<Event>]) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        for chunk in events.chunks(CHUNK) {
            let mut query =
                QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO events (id, workspace, json) ");
            query.push_values(chunk, |mut row, event| {
                let batch = match &event.subject {
                    Subject::Batch(batch) => Some(batch.to_string()),
                    _ => None,
                };
                row.push_bind(event.id.to_string());
                // An undo belongs to the workspace of its batch, which may have another name now.
                row.push("coalesce((SELECT workspace FROM events AS undone WHERE undone.id = ")
                    .push_bind_unseparated(batch)
                    .push_unseparated("), ")
                    .push_bind_unseparated(event.workspace.as_str())
                    .push_unseparated(")");
                row.push_bind(serde_json::to_string(event).unwrap_or_default());
            });
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)
    }

    /// Events of other instances since the last call.
    ///
    /// # Errors
    /// When the file cannot be read, or is another than the one that was opened.
    pub async fn news(&mut self, instance: u64) -> Result<Vec<Arc<Event>>, StoreError> {
        if !self.file.has_foreign_writes().await? {
            return Ok(Vec::new());
        }
        let own = format!("{instance:016x}-*");
        Ok(self.read_events(&own).await?.0)
    }

    /// Events behind the last row read whose names are not like `but_not`, and how many more rows
    /// hold no event.
    async fn read_events(&mut self, but_not: &str) -> Result<(Vec<Arc<Event>>, usize), StoreError> {
        let failed = self.file.failed();
        let query =
            "SELECT row, json, sender FROM events WHERE row > ? AND id NOT GLOB ? ORDER BY row";
        let rows: Vec<EventRow> = sqlx::query_as(query)
            .bind(self.last)
            .bind(but_not.to_owned())
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        self.last = rows.last().map_or(self.last, |row| row.0);
        parsed(rows).await
    }

    /// Every setting, by name and workspace, as JSON.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn settings(&mut self) -> Result<StoredSettings, StoreError> {
        let failed = self.file.failed();
        let rows: Vec<(String, String, String)> =
            sqlx::query_as("SELECT key, workspace, json FROM settings")
                .fetch_all(&mut self.file.connection)
                .await
                .map_err(failed)?;
        Ok(rows
            .into_iter()
            .map(|(key, workspace, json)| ((key.into(), workspace.into()), json))
            .collect())
    }

    /// Keeps a setting in place of its old value.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn put_setting(
        &mut self,
        key: &str,
        workspace: &str,
        json: &str,
    ) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let query =
            "INSERT INTO settings VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json";
        let query = sqlx::query(query)
            .bind(key.to_owned())
            .bind(workspace.to_owned())
            .bind(json.to_owned());
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// Findings that were seen.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn seen(&mut self) -> Result<Vec<FindingKey>, StoreError> {
        let failed = self.file.failed();
        let rows: Vec<String> = sqlx::query_scalar("SELECT key FROM seen")
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.iter().filter_map(|key| key.parse().ok()).collect())
    }

    /// Findings of a workspace that were seen.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn seen_in(&mut self, workspace: &str) -> Result<Vec<FindingKey>, StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query_scalar("SELECT key FROM seen WHERE workspace = ? ORDER BY key");
        let rows: Vec<String> = query
            .bind(workspace.to_owned())
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.iter().filter_map(|key| key.parse().ok()).collect())
    }

    /// Names of the workspaces with stored data.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn workspaces(&mut self) -> Result<Vec<Shared>, StoreError> {
        let failed = self.file.failed();
        let query = "SELECT workspace FROM events UNION SELECT workspace FROM settings UNION SELECT workspace FROM seen";
        let rows: Vec<String> = sqlx::query_scalar(query)
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.into_iter().map(Shared::from).collect())
    }

    /// Keeps that findings were seen.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn mark_seen(
        &mut self,
        workspace: &str,
        keys: &[FindingKey],
    ) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        for chunk in keys.chunks(CHUNK) {
            let mut query =
                QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO seen (key, workspace) ");
            query.push_values(chunk, |mut row, key| {
                row.push_bind(key.to_string())
                    .push_bind(workspace.to_owned());
            });
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)
    }

    /// Closes the file; stored data is durable without it too.
    pub async fn close(self) {
        self.file.close().await;
    }
}

/// Number, JSON and sender of a stored event.
type EventRow = (i64, String, Option<String>);

/// The events of rows, and how many rows hold no event that this program can read.
async fn parsed(rows: Vec<EventRow>) -> Result<(Vec<Arc<Event>>, usize), StoreError> {
    let parsed = tokio::task::spawn_blocking(move || {
        let number = rows.len();
        let events: Vec<_> = rows
            .iter()
            .filter_map(|(_, json, sender)| {
                let mut event: Event = serde_json::from_str(json).ok()?;
                let sender = sender.as_deref().filter(|sender| *sender != &*event.who);
                event.sent_by = sender.map(Shared::from);
                Some(event)
            })
            .map(Arc::new)
            .collect();
        let unread = number - events.len();
        (events, unread)
    });
    parsed.await.map_err(|error| StoreError::Interrupted {
        why: error.to_string(),
    })
}
