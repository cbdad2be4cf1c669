//! The store: all data of the API in one SQLite file. No other module of the service contains SQL.
//!
//! ```text
//!   routes, worker ──► reading pool (several connections)        ┐
//!                  └─► writing pool (one connection, fsync) ──►  ├─ scandeck.db
//!                        └─ every commit increments `version`    ┘
//! ```
//!
//! With one writing connection, writers wait in a queue instead of failing with "database is locked". A write is
//! acknowledged after its commit is synced to disk, so no acknowledged write is lost. `version` changes with every
//! commit; an unchanged list is answered with 304 without a query.

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
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Encode, QueryBuilder, Row, Sqlite, SqliteConnection, SqlitePool, Type};

use crate::contract::{Shared, Stamp};

pub use open::OpenedStore;

/// A database error; clients receive status 500.
pub type DatabaseError = sqlx::Error;

pub type StoreResult<T, E = DatabaseError> = Result<T, E>;

/// A handle to the database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    read: SqlitePool,
    write: SqlitePool,
    version: Arc<AtomicU64>,
}

/// A write transaction; it is rolled back when dropped without a commit.
///
/// It is not the transaction type of sqlx. SQLite ends a transaction itself when the disk is full; sqlx does not notice,
/// and the connection remains unusable. Here the pool rolls back any open transaction when the connection is returned.
pub struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    version: Arc<AtomicU64>,
}

impl Store {
    /// Changes whenever a response of the API may change; compare for equality only.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Marks responses as changed without a write: the duration of a running scan changes every second.
    pub fn touch(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Starts a write transaction after the previous ones have ended.
    pub(super) async fn change(&self) -> StoreResult<WriteTransaction> {
        // IMMEDIATE: `scandeck wordlists import` writes from another process. SQLite waits for the lock at the start of
        // a transaction, but refuses at once to upgrade a read to a write.
        let mut connection = self.write.acquire().await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        Ok(WriteTransaction { connection, version: Arc::clone(&self.version) })
    }

    /// Runs one statement in its own transaction; returns the number of changed rows.
    pub(super) async fn execute(&self, statement: Query<'_, Sqlite, SqliteArguments>) -> StoreResult<u64> {
        let mut change = self.change().await?;
        let changed = statement.execute(&mut *change).await?.rows_affected();
        if changed > 0 {
            change.commit().await?;
        }
        Ok(changed)
    }

    pub(super) fn read(&self) -> &SqlitePool {
        &self.read
    }

    /// Closes all connections, which moves the write-ahead log into the database file.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

impl WriteTransaction {
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

/// A time as stored in the database.
pub(super) fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

/// A stored time as sent to clients; values out of range become 1970.
pub(super) fn stamp(millis: i64) -> Stamp {
    Stamp(Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Parses JSON that the service wrote; invalid text becomes null.
pub(super) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Adds a condition with its value, such as `target_id =`, when there is a value.
pub(super) fn push_condition<'t, T>(query: &mut QueryBuilder<Sqlite>, condition: &str, value: Option<T>)
where
    T: Encode<'t, Sqlite> + Type<Sqlite>,
{
    if let Some(value) = value {
        query.push(" AND ").push(condition).push(" ").push_bind(value);
    }
}

/// Reads a text column.
pub(super) fn text(row: &SqliteRow, column: &str) -> StoreResult<Shared> {
    row.try_get(column).map(|text: &str| Shared::from(text))
}

/// Whether a UNIQUE constraint failed.
pub(super) fn is_duplicate(error: &DatabaseError) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}
