//! Reads of many rows: few at the same time, on connections of their own.
//!
//! ```text
//!   list, output, file ─► permit ─► connection for many rows ─► rows
//!        └─ client gone: the permit is free at once, the connection when its statement has ended
//! ```
//!
//! A client that closes its connection drops the read, but not its statement, which may take
//! seconds. Clients that do so again and again delay other reads of many rows, and never a small
//! one.

use tokio::sync::SemaphorePermit;

use super::sql::Executor;
use super::{Store, StoreEngine, StoreResult, StoreSnapshot, TransactionKind};

/// Reads of many rows at the same time, and connections for them.
pub(super) const BULK_READS: u32 = 2;

/// The permit for a read of many rows, to be held until the rows are read.
pub(super) struct BulkRead<'a> {
    engine: &'a StoreEngine,
    _permit: Option<SemaphorePermit<'a>>,
}

impl Store {
    /// Waits for the permit for a read of many rows.
    pub(super) async fn bulk(&self) -> BulkRead<'_> {
        BulkRead {
            engine: &self.engine,
            // Nobody closes the semaphore.
            _permit: self.bulk.acquire().await.ok(),
        }
    }
}

impl BulkRead<'_> {
    pub(super) fn read(&self) -> Executor<'_> {
        match self.engine {
            StoreEngine::Sqlite(engine) => Executor::SqlitePool(&engine.bulk),
            StoreEngine::Postgres(engine) => Executor::PostgresPool(&engine.bulk),
        }
    }

    pub(super) async fn snapshot(&self) -> StoreResult<StoreSnapshot> {
        Ok(match self.engine {
            StoreEngine::Sqlite(engine) => StoreSnapshot::Sqlite(engine.bulk.begin().await?),
            StoreEngine::Postgres(engine) => {
                StoreSnapshot::Postgres(engine.bulk.begin(TransactionKind::Snapshot).await?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::super::sql::sql;
    use super::super::testing::{open, open_sqlite};
    use super::BULK_READS;

    #[tokio::test]
    async fn only_reads_of_many_rows_wait_for_statements_of_clients_that_are_gone() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        if store.is_file() {
            return;
        }
        for _ in 0..4 {
            let bulk = store.bulk().await;
            let slow = sql("SELECT 'a' FROM pg_sleep(8)").one::<String>(bulk.read());
            let dropped = timeout(Duration::from_millis(200), slow).await;
            assert!(dropped.is_err(), "it has not ended");
        }
        let name = || sql("SELECT name FROM settings LIMIT 1");
        let small = name().one::<String>(store.read());
        let read = timeout(Duration::from_secs(4), small).await;
        read.expect("it is read beside them").unwrap();
        let bulk = store.bulk().await;
        name().one::<String>(bulk.read()).await.unwrap();
    }

    #[tokio::test]
    async fn small_reads_of_a_file_have_connections_of_their_own() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let bulk = &store.sqlite().bulk;
        let busy = [bulk.acquire().await.unwrap(), bulk.acquire().await.unwrap()];
        assert_eq!(busy.len(), BULK_READS as usize);
        let name = || sql("SELECT name FROM settings LIMIT 1");
        name().one::<String>(store.read()).await.unwrap();
        let permit = store.bulk().await;
        let waiting = name().one::<String>(permit.read());
        let read = timeout(Duration::from_millis(50), waiting).await;
        assert!(read.is_err(), "it waits for one of the two");
    }
}
