//! Connections to PostgreSQL.
//!
//! ```text
//!   begin ─► idle connection, or a new one ─► BEGIN, limits, lock ─► statements ─► COMMIT ─► idle
//!                 │ ended meanwhile: the next one                        └─ limit exceeded ─► closed
//! ```
//!
//! Nothing but hints ([`listen`]) depends on a session, so a pooler in transaction mode may be in
//! between: each statement runs in a transaction that sets its own limits, no statement is prepared
//! for later, and locks end with their transaction. The pool of sqlx is not used, because it sends a
//! query when a connection is returned, which waits for ever when the network is cut.
//!
//! `READ WRITE` at the start refuses a server that became a standby; its reads would be old. `jit` is
//! off: the server would compile the statement of a long list each time, before its first row.

pub(super) mod listen;
mod migrations;
mod months;
pub(super) mod open;
#[cfg(test)]
mod rolling_tests;
#[cfg(test)]
mod upgrade_tests;

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::sql::SqlRow;
use super::{DatabaseError, Durability, StoreResult};

/// Connections of a pool for small reads, and of one for writes.
const CONNECTIONS: usize = 4;
/// The longest wait for a connection of the pool.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);
/// The same for many rows: longer than a statement whose client is gone occupies a connection.
const BULK_ACQUIRE_LIMIT: Duration = Duration::from_secs(10);
/// The longest wait for a new connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The longest wait for a lock.
const LOCK_LIMIT: Duration = Duration::from_secs(3);
/// How much longer the service waits than the server works.
const GRACE: Duration = Duration::from_millis(2500);
/// `pg_advisory_xact_lock` of writes; an arbitrary number.
const WRITE_LOCK: i64 = 0x7363_616e_6465_636b;

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionKind {
    Read,
    /// All statements see the same state.
    Snapshot,
    /// Alone: no other write runs.
    Write(Durability),
    /// Beside others of its kind: it locks the rows that it counts.
    SharedWrite,
    /// Of one row: it waits for no other write of the service.
    RowWrite,
    /// Of the tables of captures: it reads beside all writes, and then waits for them ([`months`]).
    Months,
}

impl TransactionKind {
    /// The longest time of a statement on the server.
    fn limit(self) -> Duration {
        match self {
            Self::Read | Self::Snapshot | Self::Months => Duration::from_secs(10),
            Self::Write(_) | Self::SharedWrite | Self::RowWrite => Duration::from_secs(5),
        }
    }

    /// The longest pause between two statements. The server ends a write sooner than others stop
    /// waiting for its lock: a node that was suspended or cut off keeps no other from its beat.
    fn idle_limit(self) -> Duration {
        match self {
            Self::Read | Self::Snapshot | Self::Months => Duration::from_secs(10),
            Self::Write(_) | Self::SharedWrite | Self::RowWrite => {
                LOCK_LIMIT - Duration::from_secs(1)
            }
        }
    }

    fn begin(self) -> String {
        let isolation = match self {
            Self::Snapshot => "REPEATABLE READ",
            _ => "READ COMMITTED",
        };
        let rest = match self {
            Self::Read | Self::Snapshot | Self::RowWrite | Self::Months => String::new(),
            Self::Write(Durability::AtOnce) => {
                format!("; SELECT pg_advisory_xact_lock({WRITE_LOCK})")
            }
            Self::Write(Durability::WithNext) => format!(
                "; SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock({WRITE_LOCK})"
            ),
            Self::SharedWrite => format!("; SELECT pg_advisory_xact_lock_shared({WRITE_LOCK})"),
        };
        format!(
            "BEGIN ISOLATION LEVEL {isolation} READ WRITE; SET LOCAL jit = off; \
             SET LOCAL statement_timeout = {}; SET LOCAL lock_timeout = {}; \
             SET LOCAL idle_in_transaction_session_timeout = {}{rest}",
            self.limit().as_millis(),
            LOCK_LIMIT.as_millis(),
            self.idle_limit().as_millis()
        )
    }

    fn end(self) -> &'static str {
        match self {
            // No list of clients shows the row.
            Self::Read | Self::Snapshot | Self::RowWrite => "COMMIT",
            Self::Write(_) | Self::SharedWrite | Self::Months => "SELECT write_versions(); COMMIT",
        }
    }
}

/// Connections to one database, cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct PostgresPool {
    options: Arc<PgConnectOptions>,
    idle: Arc<Mutex<Vec<PgConnection>>>,
    permits: Arc<Semaphore>,
    /// The longest wait for a permit.
    acquire_limit: Duration,
}

impl PostgresPool {
    pub fn new(options: PgConnectOptions, connections: usize, acquire_limit: Duration) -> Self {
        Self {
            options: Arc::new(options),
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(connections)),
            acquire_limit,
        }
    }

    pub async fn begin(&self, kind: TransactionKind) -> StoreResult<PostgresTransaction> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        let permit = timeout(self.acquire_limit, permit)
            .await
            .map_err(|_| DatabaseError::PoolTimedOut)?
            .map_err(|_| DatabaseError::PoolClosed)?;
        loop {
            let idle = self.idle().pop();
            let is_new = idle.is_none();
            let mut connection = match idle {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            let begin = sqlx::raw_sql(AssertSqlSafe(kind.begin())).execute(&mut connection);
            let error = match timeout(kind.limit() + GRACE, begin).await {
                Ok(Ok(_)) => {
                    return Ok(PostgresTransaction {
                        connection: Some(connection),
                        pool: self.clone(),
                        kind,
                        permit: Some(permit),
                    });
                }
                Ok(Err(error)) => begin_error(error),
                // The others are as old.
                Err(_) => {
                    self.idle().clear();
                    return Err(timed_out());
                }
            };
            // The server has started again since the connection was used.
            if is_new || unavailability(&error) != Some(Unavailability::Gone) {
                return Err(error);
            }
        }
    }

    async fn connect(&self) -> StoreResult<PgConnection> {
        timeout(CONNECT_LIMIT, PgConnection::connect_with(&self.options))
            .await
            .map_err(|_| timed_out())?
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<PgConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn close(&self) {
        self.permits.close();
        let idle = mem::take(&mut *self.idle());
        for connection in idle {
            let _ = timeout(GRACE, connection.close()).await;
        }
    }
}

/// A transaction; it is rolled back when dropped without a commit.
#[derive(Debug)]
pub(super) struct PostgresTransaction {
    /// None after an error of the connection.
    connection: Option<PgConnection>,
    pool: PostgresPool,
    kind: TransactionKind,
    permit: Option<OwnedSemaphorePermit>,
}

impl PostgresTransaction {
    pub async fn execute(&mut self, text: String, arguments: PgArguments) -> StoreResult<u64> {
        let limit = self.kind.limit() + GRACE;
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(false);
        let done = timeout(limit, query.execute(self.connection()?)).await;
        Ok(self.settle(done)?.rows_affected())
    }

    pub async fn fetch(
        &mut self,
        text: String,
        arguments: PgArguments,
        each: &mut (dyn FnMut(&SqlRow) -> StoreResult<bool> + Send),
    ) -> StoreResult<()> {
        let limit = self.kind.limit() + GRACE;
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(false);
        let mut rows = query.fetch(self.connection()?);
        let read = async {
            while let Some(row) = rows.try_next().await? {
                if !each(&SqlRow::Postgres(row))? {
                    break;
                }
            }
            Ok(())
        };
        let done = timeout(limit, read).await;
        drop(rows);
        self.settle(done)
    }

    pub async fn commit(mut self) -> StoreResult<()> {
        let limit = self.kind.limit() + GRACE;
        let end = sqlx::raw_sql(self.kind.end());
        let done = timeout(limit, end.execute(self.connection()?)).await;
        self.settle(done)?;
        // Nothing remains to roll back.
        if let Some(connection) = self.connection.take() {
            self.pool.idle().push(connection);
        }
        Ok(())
    }

    fn connection(&mut self) -> StoreResult<&mut PgConnection> {
        let closed = std::io::ErrorKind::NotConnected;
        self.connection
            .as_mut()
            .ok_or_else(|| DatabaseError::Io(closed.into()))
    }

    /// The result of a statement; its connection is closed when the limit was exceeded.
    fn settle<T>(&mut self, done: Result<Result<T, DatabaseError>, Elapsed>) -> StoreResult<T> {
        let done = done.unwrap_or_else(|_| Err(timed_out()));
        if let Err(error) = &done
            && unavailability(error) == Some(Unavailability::Gone)
        {
            self.connection = None;
        }
        done
    }
}

impl Drop for PostgresTransaction {
    fn drop(&mut self) {
        let (Some(mut connection), Ok(runtime)) = (self.connection.take(), Handle::try_current())
        else {
            return;
        };
        let (pool, permit) = (self.pool.clone(), self.permit.take());
        runtime.spawn(async move {
            let rollback = sqlx::raw_sql("ROLLBACK").execute(&mut connection);
            if let Ok(Ok(_)) = timeout(ACQUIRE_LIMIT + GRACE, rollback).await {
                pool.idle().push(connection);
            }
            drop(permit);
        });
    }
}

/// Why the database cannot be used at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailability {
    /// No connection, or one that has ended.
    Gone,
    /// A limit of the time or of the connections was exceeded.
    Busy,
}

/// Whether a later attempt can succeed.
pub(crate) fn unavailability(error: &DatabaseError) -> Option<Unavailability> {
    match error {
        DatabaseError::Io(_) | DatabaseError::Tls(_) | DatabaseError::Protocol(_) => {
            Some(Unavailability::Gone)
        }
        DatabaseError::PoolTimedOut => Some(Unavailability::Busy),
        DatabaseError::Database(error) => match error.code()?.as_ref() {
            // admin_shutdown, crash_shutdown, cannot_connect_now, read_only_sql_transaction,
            // idle_in_transaction_session_timeout
            "57P01" | "57P02" | "57P03" | "25006" | "25P03" => Some(Unavailability::Gone),
            // connection_exception
            code if code.len() == 5 && code.starts_with("08") => Some(Unavailability::Gone),
            // lock_not_available, query_canceled, too_many_connections, deadlock_detected
            "55P03" | "57014" | "53300" | "40P01" => Some(Unavailability::Busy),
            _ => None,
        },
        _ => None,
    }
}

/// A standby refuses `READ WRITE` as a feature that it does not support.
fn begin_error(error: DatabaseError) -> DatabaseError {
    let is_standby = error
        .as_database_error()
        .is_some_and(|error| error.code().as_deref() == Some("0A000"));
    match is_standby {
        true => DatabaseError::Io(std::io::Error::other("the server is read-only (a standby)")),
        false => error,
    }
}

fn timed_out() -> DatabaseError {
    DatabaseError::Io(std::io::ErrorKind::TimedOut.into())
}

#[cfg(test)]
mod tests {
    use super::super::StoreEngine;
    use super::super::sql::sql;
    use super::super::testing::open;
    use super::*;

    #[tokio::test]
    async fn write_of_a_suspended_node_gives_way_to_those_that_wait() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if !matches!(store.engine, StoreEngine::Postgres(_)) {
            return;
        }
        let mut suspended = store.change().await.unwrap();
        let other = store.change().await;
        other.unwrap().commit().await.unwrap();
        let update = sql("UPDATE nodes SET beat_at = beat_at");
        let error = update.execute(&mut suspended).await.unwrap_err();
        assert_eq!(unavailability(&error), Some(Unavailability::Gone));
    }

    #[tokio::test]
    async fn statements_are_not_compiled() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if !matches!(store.engine, StoreEngine::Postgres(_)) {
            return;
        }
        let jit: String = sql("SELECT current_setting('jit')")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(jit, "off");
    }
}
