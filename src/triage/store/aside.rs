//! A broken file of decisions: renamed, never deleted, and read row by row for what is left of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{Event, StoreError, beside};
use crate::sqlite::{free_name, options};

/// Rows looked for where the table does not tell how many it has.
const BLIND: i64 = 1_000_000;
/// Rows without an answer after which a blind search ends.
const PATIENCE: i64 = 20_000;

/// What was saved.
pub(super) struct Rescued {
    pub events: Vec<Arc<Event>>,
    kept_as: PathBuf,
}

impl Rescued {
    /// For a person.
    pub fn told(&self, file: &Path, why: &sqlx::Error) -> String {
        let (file, kept) = (file.display(), self.kept_as.display());
        let number = self.events.len();
        format!("{file} was broken ({why}) and is kept as {kept}; {number} decisions could be read from it")
    }
}

/// Puts the file and its log aside, and reads what can be read.
pub(super) async fn rescue(file: &Path) -> Result<Rescued, StoreError> {
    let unwritable = |source| StoreError::Unwritable { path: file.to_owned(), source };
    let kept_as = free_name(file, "broken").unwrap_or_else(|| beside(file, ".broken"));
    // The log first: a database without its log is whole, a log without its database is nothing.
    for ending in ["-wal", "-shm", ""] {
        match fs::rename(beside(file, ending), beside(&kept_as, ending)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritable(error)),
        }
    }
    let events = match options(&kept_as).read_only(true).connect().await {
        Ok(mut connection) => {
            let events = events(&mut connection).await;
            let _ = connection.close().await;
            events
        }
        Err(_) => Vec::new(),
    };
    Ok(Rescued { events, kept_as })
}

async fn events(connection: &mut SqliteConnection) -> Vec<Arc<Event>> {
    let known = sqlx::query_scalar("SELECT max(row) FROM events").fetch_one(&mut *connection).await.ok();
    let last = known.unwrap_or(BLIND);
    let mut events = Vec::new();
    let mut silent = 0;
    for row in 1..=last {
        let query = sqlx::query_scalar("SELECT json FROM events WHERE row = ?").bind(row);
        let found: Result<Option<String>, _> = query.fetch_optional(&mut *connection).await;
        match found.ok().flatten().and_then(|json| serde_json::from_str(&json).ok()) {
            Some(event) => {
                events.push(Arc::new(event));
                silent = 0;
            }
            None if known.is_none() && silent > PATIENCE => break,
            None => silent += 1,
        }
    }
    events
}
