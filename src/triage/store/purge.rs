//! Deleting everything that is kept about a workspace, so that no byte of it stays in the file or beside it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sqlx::Connection;

use super::{Store, StoreError};

/// What there is about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Events.
    pub events: i64,
    /// Settings, such as tabs and saved queries.
    pub settings: i64,
    /// Findings marked as seen.
    pub seen: i64,
    /// Copies from before a migration or of a broken file: they go whole, whatever workspace they tell about.
    pub copies: Vec<PathBuf>,
}

impl Kept {
    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Counts what is kept about a workspace.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn kept_about(&mut self, workspace: &str) -> Result<Kept, StoreError> {
        let mut counts = [0; 3];
        for (count, table) in counts.iter_mut().zip(["events", "settings", "seen"]) {
            let failed = StoreError::of(&self.file);
            let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE workspace = ?"));
            *count = sqlx::query_scalar(query).bind(workspace).fetch_one(&mut self.connection).await.map_err(failed)?;
        }
        let [events, settings, seen] = counts;
        Ok(Kept { events, settings, seen, copies: copies(&self.file) })
    }

    /// Deletes it. Nobody else may have the store open: what they know they would write again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody has it open; when the file cannot be written.
    pub async fn purge(mut self, workspace: &str) -> Result<(), StoreError> {
        if let Some(lock) = &self._in_use
            && flock(lock, FlockOperation::NonBlockingLockExclusive).is_err()
        {
            return Err(StoreError::InUse { path: self.file });
        }
        let failed = StoreError::of(&self.file);
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        for table in ["events", "settings", "seen"] {
            let query = sqlx::AssertSqlSafe(format!("DELETE FROM {table} WHERE workspace = ?"));
            sqlx::query(query).bind(workspace).execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)?;
        // The file is written anew without its free pages, then the log is emptied.
        for statement in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            sqlx::query(statement).execute(&mut self.connection).await.map_err(&failed)?;
        }
        for copy in copies(&self.file) {
            fs::remove_file(&copy).map_err(|source| StoreError::Unwritable { path: copy, source })?;
        }
        self.close().await;
        Ok(())
    }
}

/// Copies of the database beside it.
fn copies(file: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (file.parent(), file.file_name()) else { return Vec::new() };
    let name = name.to_string_lossy();
    let is_copy = |path: &Path| {
        let other = path.file_name().unwrap_or_default().to_string_lossy();
        other.strip_prefix(&*name).is_some_and(|rest| rest.starts_with(".bak") || rest.starts_with(".broken"))
    };
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_copy(path))
        .collect();
    found.sort();
    found
}
