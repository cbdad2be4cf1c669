//! The store: all data of the API in one SQLite file. No other module of the service contains SQL.
//!
//! ```text
//!   routes, worker ──► reading pool (several connections)        ┐
//!                  └─► writing pool (one connection, fsync) ──►  ├─ scandeck.db
//!                        └─ triggers set `versions`              ┘
//!                           (its log: checkpoint)
//! ```
//!
//! With one writing connection, writers wait in a queue instead of failing with "database is
//! locked". A write is acknowledged after its commit is synced to disk, so no acknowledged write is
//! lost. Each list of a workspace has a version, which changes with its rows: ETags contain it.
//!
//! Several processes may share the file: what two of them must agree on is a row, and a claim of a
//! row ends with its process ([`nodes`]).

pub mod captures;
mod checkpoint;
mod deletion;
pub mod deliveries;
pub mod findings;
pub mod jobs;
pub mod keys;
pub mod loggers;
mod nodes;
mod open;
pub mod reports;
pub mod scans;
pub mod targets;
pub mod team;
#[cfg(test)]
mod testing;
pub mod tests;
pub mod versions;
pub mod wordlists;
pub mod workspaces;

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Encode, QueryBuilder, Row, Sqlite, SqliteConnection, SqlitePool, Type};
use tokio::sync::{Semaphore, SemaphorePermit};

use scandeck_wire::contract::{Shared, Stamp};

use checkpoint::Checkpoints;
use deletion::DeletionTasks;
use nodes::ServiceNode;
pub use open::OpenedStore;

/// A database error; clients receive status 500.
pub type DatabaseError = sqlx::Error;

pub type StoreResult<T, E = DatabaseError> = Result<T, E>;

/// A handle to the database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    read: SqlitePool,
    write: SqlitePool,
    /// Commits of this process: a deletion pauses while others write.
    commits: Arc<AtomicU64>,
    checkpoints: Checkpoints,
    /// Permits for reads of many rows.
    bulk: Arc<Semaphore>,
    deletions: DeletionTasks,
    node: Arc<ServiceNode>,
    /// Whether the journal is a write-ahead log.
    has_log: bool,
}

/// Reads of many rows at the same time. The reading pool has more connections, so small reads never
/// wait for them.
const BULK_READS: usize = 2;

/// A write transaction; it is rolled back when dropped without a commit.
///
/// It is not the transaction type of sqlx. SQLite ends a transaction itself when the disk is full;
/// sqlx does not notice, and the connection remains unusable. Here the pool rolls back any open
/// transaction when the connection is returned.
pub struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    durability: Durability,
    commits: Arc<AtomicU64>,
    checkpoints: Checkpoints,
}

/// When a commit is synced to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// Before it returns.
    AtOnce,
    /// With the next commit that is synced at once.
    WithNext,
}

impl Store {
    /// The commits of this process.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Starts a write transaction after the previous ones have ended.
    pub(super) async fn change(&self) -> StoreResult<WriteTransaction> {
        self.change_with(Durability::AtOnce).await
    }

    pub(super) async fn change_with(
        &self,
        durability: Durability,
    ) -> StoreResult<WriteTransaction> {
        let mut connection = self.write.acquire().await?;
        let synchronous = match durability {
            Durability::AtOnce => "PRAGMA synchronous = FULL",
            Durability::WithNext if self.has_log => "PRAGMA synchronous = NORMAL",
            // A rollback journal that is not synced could damage the database.
            Durability::WithNext => "PRAGMA synchronous = FULL",
        };
        sqlx::query(synchronous).execute(&mut *connection).await?;
        // IMMEDIATE: `scandeck wordlists import` writes from another process. SQLite waits for the
        // lock at the start of a transaction, but refuses at once to upgrade a read to a write.
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut *connection)
            .await?;
        let (commits, checkpoints) = (Arc::clone(&self.commits), self.checkpoints.clone());
        Ok(WriteTransaction {
            connection,
            durability,
            commits,
            checkpoints,
        })
    }

    /// Runs one statement in its own transaction; returns the number of changed rows.
    pub(super) async fn execute(
        &self,
        statement: Query<'_, Sqlite, SqliteArguments>,
    ) -> StoreResult<u64> {
        let mut change = self.change().await?;
        let changed = statement.execute(&mut *change).await?.rows_affected();
        if changed > 0 {
            change.commit().await?;
        }
        Ok(changed)
    }

    /// The permit for a read of many rows, to be held until the rows are read.
    pub(super) async fn bulk(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes the semaphore.
        self.bulk.acquire().await.ok()
    }

    pub(super) fn read(&self) -> &SqlitePool {
        &self.read
    }

    /// Checks that the database can be read and written; changes nothing.
    pub async fn check(&self) -> StoreResult<()> {
        sqlx::query("SELECT 1 FROM settings LIMIT 1")
            .fetch_optional(self.read())
            .await?;
        // The lock for a write; dropping the transaction releases it.
        self.change().await.map(drop)
    }

    /// Waits for deletions, ends the claims of this process, then closes all connections, which
    /// moves the write-ahead log into the database file.
    pub async fn close(&self) {
        self.deletions.end().await;
        if let Err(error) = self.leave().await {
            tracing::warn!(%error, "claims of this process not ended; they end with the next start");
        }
        self.read.close().await;
        self.checkpoints.close().await;
        self.write.close().await;
    }
}

impl WriteTransaction {
    pub async fn commit(mut self) -> StoreResult<()> {
        // In a task of its own: a client that closes its connection drops this future, and a commit
        // that SQLite still finishes would not be counted.
        let commit = tokio::spawn(async move {
            sqlx::query("COMMIT").execute(&mut *self.connection).await?;
            self.commits.fetch_add(1, Ordering::AcqRel);
            match self.durability {
                Durability::AtOnce => self.checkpoints.count(),
                // Checkpoint now: together with the pages of the next commits it would take long.
                Durability::WithNext => self.checkpoints.start(),
            }
            Ok(())
        });
        commit
            .await
            .unwrap_or_else(|error| Err(DatabaseError::Io(std::io::Error::other(error))))
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

/// Ids as a JSON array, the form in which a query takes many of them.
pub(super) fn json_ids(ids: &[i64]) -> String {
    serde_json::to_string(ids).unwrap_or_else(|_| "[]".to_owned())
}

/// Text from outside as it is stored: U+FFFD instead of NUL, which ends a text for the functions of
/// SQLite and for C programs, and which other databases refuse.
///
/// Names and labels with NUL are refused ([`crate::api::request::Fields`]); JSON escapes it.
pub(super) fn without_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// Parses JSON that the service wrote; invalid text becomes null.
pub(super) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Adds a condition with its value, such as `target_id =`, when there is a value.
pub(super) fn push_condition<'t, T>(
    query: &mut QueryBuilder<Sqlite>,
    condition: &str,
    value: Option<T>,
) where
    T: Encode<'t, Sqlite> + Type<Sqlite>,
{
    if let Some(value) = value {
        query
            .push(" AND ")
            .push(condition)
            .push(" ")
            .push_bind(value);
    }
}

/// Reads a text column.
pub(super) fn text(row: &SqliteRow, column: &str) -> StoreResult<Shared> {
    row.try_get(column).map(|text: &str| Shared::from(text))
}

/// Whether a UNIQUE constraint failed.
pub(super) fn is_duplicate(error: &DatabaseError) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

#[cfg(test)]
mod commit_tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn commit_after_disconnect_is_counted() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("scandeck.db"))
            .await
            .unwrap()
            .store;
        let before = store.commits();
        let mut change = store.change().await.unwrap();
        sqlx::query("INSERT INTO settings (name, value) VALUES ('a', 'b')")
            .execute(&mut *change)
            .await
            .unwrap();
        {
            let commit = std::pin::pin!(change.commit());
            assert!(futures::poll!(commit).is_pending());
        }
        let committed = async {
            while store.commits() == before {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), committed)
            .await
            .expect("the commit is counted");
        let value: String = sqlx::query_scalar("SELECT value FROM settings WHERE name = 'a'")
            .fetch_one(store.read())
            .await
            .unwrap();
        assert_eq!(value, "b");
    }
}
