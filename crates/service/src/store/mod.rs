//! The store: all data of the API in one SQLite file, or in a PostgreSQL database. No other module
//! of the service contains SQL.
//!
//! ```text
//!   routes, worker ─► statements (sql) ─► reading pools (small reads; many rows)    ┐
//!                                     └─► writing pool (one connection, fsync) ──►  ├─ scandeck.db
//!                                           └─ triggers set `versions`              ┘  (its log: checkpoint)
//!                                     or connections of PostgreSQL (postgres)
//! ```
//!
//! A write runs alone: on SQLite by the one writing connection, on PostgreSQL by a lock that the
//! transaction takes first. Only captures and results of scans, which lock their rows, are written
//! beside each other there. A write is acknowledged after its commit is synced to disk, so no
//! acknowledged write is lost. Each list of a workspace has a version, which changes with its rows:
//! ETags contain it.
//!
//! Several processes may share the file: what two of them must agree on is a row, and a claim of a
//! row ends with its process ([`nodes`]).

mod bulk;
pub mod capture_months;
#[cfg(test)]
mod capture_months_tests;
pub mod captures;
mod checkpoint;
mod deletion;
pub mod deliveries;
pub mod duplicate_groups;
pub mod findings;
pub mod imports;
pub mod jobs;
pub mod key_windows;
pub mod keys;
mod lanes;
pub mod loggers;
pub mod migrate;
pub mod nodes;
mod open;
mod parameters;
mod postgres;
#[cfg(test)]
mod queue_tests;
pub mod reports;
pub mod scans;
pub mod schedules;
pub mod scope;
mod sql;
pub mod targets;
pub mod team;
#[cfg(test)]
mod testing;
pub mod tests;
pub mod versions;
pub mod wordlists;
pub mod workspaces;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqlitePool};
use tokio::sync::Semaphore;

use scandeck_wire::contract::{Shared, Stamp};

use bulk::BULK_READS;
use checkpoint::Checkpoints;
use deletion::DeletionTasks;
use nodes::ServiceNode;
pub use open::OpenedStore;
pub use postgres::listen::ChangedQueue;
pub use postgres::open::DatabaseAddress;
pub(crate) use postgres::unavailability;
use postgres::{PostgresPool, PostgresTransaction, TransactionKind};
use sql::{Executor, SqlRow, Statement, sql};

/// A database error; clients receive status 500.
pub type DatabaseError = sqlx::Error;

pub type StoreResult<T, E = DatabaseError> = Result<T, E>;

/// A handle to the database, cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    engine: StoreEngine,
    /// Commits of this process: a deletion pauses while others write.
    commits: Arc<AtomicU64>,
    /// Permits for reads of many rows.
    bulk: Arc<Semaphore>,
    deletions: DeletionTasks,
    node: Arc<ServiceNode>,
}

#[derive(Clone, Debug)]
enum StoreEngine {
    Sqlite(SqliteEngine),
    Postgres(PostgresEngine),
}

#[derive(Clone, Debug)]
struct SqliteEngine {
    read: SqlitePool,
    bulk: SqlitePool,
    write: SqlitePool,
    checkpoints: Checkpoints,
    /// Whether the journal is a write-ahead log.
    has_log: bool,
}

#[derive(Clone, Debug)]
struct PostgresEngine {
    read: PostgresPool,
    bulk: PostgresPool,
    write: PostgresPool,
    /// The schema of the program; that of the database may be newer.
    schema: i64,
}

/// A write transaction; it is rolled back when dropped without a commit.
///
/// It is not the transaction type of sqlx. SQLite ends a transaction itself when the disk is full;
/// sqlx does not notice, and the connection remains unusable. Here the pool rolls back any open
/// transaction when the connection is returned.
pub struct WriteTransaction {
    open: OpenTransaction,
    durability: Durability,
    commits: Arc<AtomicU64>,
}

enum OpenTransaction {
    Sqlite(PoolConnection<Sqlite>, Checkpoints),
    Postgres(PostgresTransaction),
}

/// Reads that see the same state.
enum StoreSnapshot {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    Postgres(PostgresTransaction),
}

/// When a commit is synced to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// Before it returns.
    AtOnce,
    /// With the next commit that is synced at once.
    WithNext,
}

impl Store {
    fn new(engine: StoreEngine, node: ServiceNode) -> Self {
        Self {
            engine,
            commits: Arc::default(),
            bulk: Arc::new(Semaphore::new(BULK_READS as usize)),
            deletions: DeletionTasks::default(),
            node: Arc::new(node),
        }
    }

    /// The commits of this process.
    fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Starts a write transaction after the previous ones have ended.
    async fn change(&self) -> StoreResult<WriteTransaction> {
        self.change_with(Durability::AtOnce).await
    }

    async fn change_with(&self, durability: Durability) -> StoreResult<WriteTransaction> {
        self.begin(TransactionKind::Write(durability)).await
    }

    /// Starts a write transaction that may run beside others of its kind, and locks the rows that it
    /// counts.
    async fn change_beside(&self) -> StoreResult<WriteTransaction> {
        self.begin(TransactionKind::SharedWrite).await
    }

    async fn begin(&self, kind: TransactionKind) -> StoreResult<WriteTransaction> {
        let durability = match kind {
            TransactionKind::Write(durability) => durability,
            _ => Durability::AtOnce,
        };
        let open = match &self.engine {
            StoreEngine::Sqlite(engine) => {
                let connection = engine.begin(durability).await?;
                OpenTransaction::Sqlite(connection, engine.checkpoints.clone())
            }
            StoreEngine::Postgres(engine) => {
                OpenTransaction::Postgres(engine.write.begin(kind).await?)
            }
        };
        Ok(WriteTransaction {
            open,
            durability,
            commits: Arc::clone(&self.commits),
        })
    }

    /// Runs one statement in its own transaction; returns the number of changed rows.
    async fn execute(&self, statement: Statement) -> StoreResult<u64> {
        let mut change = self.change().await?;
        let changed = statement.execute(&mut change).await?;
        if changed > 0 {
            change.commit().await?;
        }
        Ok(changed)
    }

    fn read(&self) -> Executor<'_> {
        match &self.engine {
            StoreEngine::Sqlite(engine) => Executor::SqlitePool(&engine.read),
            StoreEngine::Postgres(engine) => Executor::PostgresPool(&engine.read),
        }
    }

    async fn snapshot(&self) -> StoreResult<StoreSnapshot> {
        Ok(match &self.engine {
            StoreEngine::Sqlite(engine) => StoreSnapshot::Sqlite(engine.read.begin().await?),
            StoreEngine::Postgres(engine) => {
                StoreSnapshot::Postgres(engine.read.begin(TransactionKind::Snapshot).await?)
            }
        })
    }

    /// Checks that the database can be read and written, and that this program works with its
    /// schema; changes nothing.
    pub async fn check(&self) -> StoreResult<()> {
        sql("SELECT name FROM settings LIMIT 1")
            .optional::<String>(self.read())
            .await?;
        // The lock for a write; dropping the transaction releases it.
        let mut change = self.change().await?;
        self.refuse_newer_schema(&mut change).await
    }

    /// Removes deleted texts from the log of the database, which contains them until it is
    /// overwritten; false when that failed. PostgreSQL keeps its log by rules of its own.
    async fn empty_log(&self) -> bool {
        match &self.engine {
            StoreEngine::Sqlite(engine) => engine.checkpoints.empty_log().await,
            StoreEngine::Postgres(_) => true,
        }
    }

    /// Whether the database is a file, of which this process is the only node.
    pub const fn is_file(&self) -> bool {
        matches!(self.engine, StoreEngine::Sqlite(_))
    }

    /// The engine of tests that need a file.
    #[cfg(test)]
    fn sqlite(&self) -> &SqliteEngine {
        match &self.engine {
            StoreEngine::Sqlite(engine) => engine,
            StoreEngine::Postgres(_) => panic!("the test opens a file"),
        }
    }

    /// Waits for deletions, ends the claims of this process, then closes all connections, which
    /// moves the write-ahead log into the database file.
    pub async fn close(&self) {
        self.deletions.end().await;
        if let Err(error) = self.leave().await {
            tracing::warn!(%error, "claims of this process not ended; they end with the next start");
        }
        match &self.engine {
            StoreEngine::Sqlite(engine) => {
                engine.read.close().await;
                engine.bulk.close().await;
                engine.checkpoints.close().await;
                engine.write.close().await;
            }
            StoreEngine::Postgres(engine) => {
                engine.read.close().await;
                engine.bulk.close().await;
                engine.write.close().await;
            }
        }
    }
}

impl SqliteEngine {
    async fn begin(&self, durability: Durability) -> StoreResult<PoolConnection<Sqlite>> {
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
        Ok(connection)
    }
}

impl WriteTransaction {
    pub async fn commit(self) -> StoreResult<()> {
        // In a task of its own: a client that closes its connection drops this future, and a commit
        // that the database still finishes would not be counted.
        let commit = tokio::spawn(async move {
            match self.open {
                OpenTransaction::Sqlite(mut connection, checkpoints) => {
                    sqlx::query("COMMIT").execute(&mut *connection).await?;
                    match self.durability {
                        Durability::AtOnce => checkpoints.count(),
                        // Checkpoint now: together with the pages of the next commits it would take
                        // long.
                        Durability::WithNext => checkpoints.start(),
                    }
                }
                OpenTransaction::Postgres(transaction) => transaction.commit().await?,
            }
            self.commits.fetch_add(1, Ordering::AcqRel);
            Ok(())
        });
        commit.await.unwrap_or(Err(DatabaseError::WorkerCrashed))
    }
}

impl<'a> From<&'a mut WriteTransaction> for Executor<'a> {
    fn from(transaction: &'a mut WriteTransaction) -> Self {
        match &mut transaction.open {
            OpenTransaction::Sqlite(connection, _) => Self::Sqlite(connection),
            OpenTransaction::Postgres(transaction) => Self::Postgres(transaction),
        }
    }
}

impl<'a> From<&'a mut StoreSnapshot> for Executor<'a> {
    fn from(snapshot: &'a mut StoreSnapshot) -> Self {
        match snapshot {
            StoreSnapshot::Sqlite(transaction) => Self::Sqlite(transaction),
            StoreSnapshot::Postgres(transaction) => Self::Postgres(transaction),
        }
    }
}

/// A time as stored in the database.
fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

/// A stored time as sent to clients; values out of range become 1970.
fn stamp(millis: i64) -> Stamp {
    Stamp(Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Text from outside as it is stored: U+FFFD instead of NUL, which ends a text for the functions of
/// SQLite and for C programs, and which PostgreSQL refuses.
///
/// Names and labels with NUL are refused ([`crate::api::request::Fields`]); JSON escapes it.
fn without_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// Parses JSON that the service wrote; invalid text becomes null.
fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Reads a text column.
fn text(row: &SqlRow, column: &str) -> StoreResult<Shared> {
    row.get(column).map(|text: &str| Shared::from(text))
}

/// Whether a UNIQUE constraint failed.
fn is_duplicate(error: &DatabaseError) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

#[cfg(test)]
mod commit_tests {
    use std::time::Duration;

    use super::testing::open;
    use super::*;

    #[tokio::test]
    async fn commit_after_disconnect_is_counted() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let before = store.commits();
        let mut change = store.change().await.unwrap();
        sql("INSERT INTO settings (name, value) VALUES ('a', 'b')")
            .execute(&mut change)
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
        let value: String = sql("SELECT value FROM settings WHERE name = 'a'")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(value, "b");
    }
}
