//! The store: everything the API answers, in one SQLite file. The only place that speaks SQL.
//!
//! ```text
//!   routes, worker ──► reading pool (several connections)        ┐
//!                  └─► writing pool (one connection, fsync) ──►  ├─ scandeck.db
//!                        └─ every commit moves `version`         ┘
//! ```
//!
//! One writing connection means that writers queue here instead of failing with "database is locked". Every commit
//! is synced before it is acknowledged: nothing acknowledged is ever lost. `version` moves with every commit, so
//! that a list nobody changed is answered 304 without being read.

pub mod captures;
pub mod deliveries;
pub mod findings;
pub mod jobs;
pub mod loggers;
mod open;
pub mod reports;
pub mod scans;
pub mod targets;
pub mod tests;
pub mod wordlists;
pub mod workspaces;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, SqlitePool};

use crate::contract::Stamp;

pub use open::OpenedStore;

/// What went wrong in the database; always an internal error for a client.
pub type DatabaseError = sqlx::Error;

/// The answer of a store call.
pub type StoreResult<T, E = DatabaseError> = Result<T, E>;

/// Handle to the database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    read: SqlitePool,
    write: SqlitePool,
    version: Arc<AtomicU64>,
}

/// A writing transaction; dropped without a commit it changes nothing.
///
/// It is not sqlx's own: SQLite ends a transaction by itself when the disk is full, of which sqlx learns nothing, and
/// the connection would stay useless. Here the pool rolls back whatever is open when the connection comes home.
pub struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    version: Arc<AtomicU64>,
}

impl Store {
    /// Moves with every change of what the API answers; compare only for equality.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Says that answers change without a write: the duration of a running scan does, every second.
    pub fn touch(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Starts a writing transaction, after those before it.
    pub(super) async fn change(&self) -> StoreResult<WriteTransaction> {
        // IMMEDIATE: `scandeck wordlists import` writes from another process; waiting at the start is safe, a
        // read that turns into a write half way is refused without waiting.
        let mut connection = self.write.acquire().await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        Ok(WriteTransaction { connection, version: Arc::clone(&self.version) })
    }

    /// The pool for reading.
    pub(super) fn read(&self) -> &SqlitePool {
        &self.read
    }

    /// Closes every connection; the write-ahead log goes into the database file.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

impl WriteTransaction {
    /// Makes it durable, then visible.
    pub async fn commit(mut self) -> StoreResult<()> {
        sqlx::query("COMMIT").execute(&mut *self.connection).await?;
        self.version.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

impl Deref for WriteTransaction {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for WriteTransaction {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

/// A point in time as the database keeps it.
pub(super) fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

/// A point in time as the wire shows it. What no clock could have written reads as 1970.
pub(super) fn stamp(millis: i64) -> Stamp {
    Stamp(Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// JSON the service wrote itself; text that is none reads as null.
pub(super) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Whether the error is a violated UNIQUE rule.
pub(super) fn is_taken(error: &DatabaseError) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}
