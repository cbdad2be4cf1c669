//! Hints that rows of a queue wait, which the triggers of `0008_queues.sql` send to all nodes.
//!
//! ```text
//!   new row, or claim ended ─► trigger ─► commit ─► NOTIFY ─► a connection of each node ─► ChangedQueue
//! ```
//!
//! A hint only shortens the wait for the next poll: those of a lost connection are lost, and through
//! a pooler there are none. It would keep the subscription in a session that it gives to others, where sqlx
//! takes a notification for an error.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::timeout;

use super::{CONNECT_LIMIT, GRACE, timed_out};
use crate::store::{DatabaseError, Store, StoreEngine, StoreResult};

/// The channel of the triggers.
const CHANNEL: &str = "scandeck_queue";

/// A setting of the session, which poolers refuse or leave out.
const DIRECT_SETTING: &str = "scandeck.listener";

/// Fails in a session without the setting.
const IS_DIRECT: &str = "SELECT current_setting('scandeck.listener')";

/// How long a connection may be silent before it is tested: nothing else reports a cut.
const SILENCE: Duration = Duration::from_secs(60);

/// A queue in which a row waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedQueue {
    Scans,
    Reports,
    Imports,
    Callbacks,
}

impl ChangedQueue {
    fn of_table(table: &str) -> Option<Self> {
        match table {
            "jobs" => Some(Self::Scans),
            "reports" => Some(Self::Reports),
            "imports" => Some(Self::Imports),
            "deliveries" => Some(Self::Callbacks),
            _ => None,
        }
    }
}

/// A connection that receives the hints.
#[derive(Debug)]
pub struct QueueListener(PgListener);

impl Store {
    /// Receives the hints from now on; `None` for a file, which sends none.
    ///
    /// # Errors
    /// When the database cannot be used, or a pooler is in between.
    pub async fn listen(&self) -> StoreResult<Option<QueueListener>> {
        let StoreEngine::Postgres(engine) = &self.engine else {
            return Ok(None);
        };
        let connected = timeout(CONNECT_LIMIT, connect(&engine.read.options));
        let listener = connected.await.map_err(|_| timed_out())??;
        Ok(Some(QueueListener(listener)))
    }
}

impl QueueListener {
    /// Waits for the next hint.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn next(&mut self) -> StoreResult<ChangedQueue> {
        loop {
            match timeout(SILENCE, self.0.try_recv()).await {
                Ok(received) => {
                    let hint = received?.ok_or_else(lost)?;
                    if let Some(queue) = ChangedQueue::of_table(hint.payload()) {
                        return Ok(queue);
                    }
                }
                Err(_) => self.test().await?,
            }
        }
    }

    async fn test(&mut self) -> StoreResult<()> {
        let answer = sqlx::raw_sql(IS_DIRECT).execute(&mut self.0);
        timeout(GRACE, answer).await.map_err(|_| timed_out())??;
        Ok(())
    }
}

async fn connect(options: &PgConnectOptions) -> StoreResult<PgListener> {
    // Only the listener uses the pool, which has no limits of time then.
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_with(options.clone().options([(DIRECT_SETTING, "1")]))
        .await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    // The caller connects again, after a pause.
    listener.eager_reconnect(false);
    sqlx::raw_sql(IS_DIRECT).execute(&mut listener).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

fn lost() -> DatabaseError {
    DatabaseError::Io(std::io::ErrorKind::ConnectionReset.into())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::store::sql::sql;
    use crate::store::testing::{claim_scan, open, open_sqlite, queue_scan, two_nodes};
    use scandeck_wire::contract::ReportFormat;

    /// Longer than any wait of these tests.
    const PATIENCE: Duration = Duration::from_secs(60);

    async fn next(hints: &mut QueueListener) -> ChangedQueue {
        timeout(PATIENCE, hints.next()).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn database_file_sends_no_hints() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        assert!(store.listen().await.unwrap().is_none());
    }

    /// Whether the tests use PgBouncer (`.ci/postgres`).
    fn has_pooler() -> bool {
        let server = std::env::var("SCANDECK_TEST_DATABASE").unwrap_or_default();
        server.contains(":6432/")
    }

    #[tokio::test]
    async fn node_does_not_listen_through_a_pooler() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        assert_eq!(store.listen().await.is_err(), has_pooler());
    }

    /// Tests with `SCANDECK_TEST_DATABASE` only: a file sends no hints.
    #[tokio::test]
    async fn waiting_work_of_another_node_is_heard_and_a_claim_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        if has_pooler() {
            return;
        }
        let Some(mut hints) = one.listen().await.unwrap() else {
            return;
        };
        let through_a_pooler = sql(IS_DIRECT).one::<String>(one.read()).await;
        assert!(through_a_pooler.is_err(), "it leaves the setting out");
        let now = Timestamp::now();
        queue_scan(&other, "a").await;
        assert_eq!(next(&mut hints).await, ChangedQueue::Scans);
        claim_scan(&other, now).await.unwrap();
        let name = |_| "report".to_owned();
        let report = other.add_report(&ReportFormat::Json, "{}", None, None, name, now);
        report.await.unwrap();
        assert_eq!(next(&mut hints).await, ChangedQueue::Reports);
        other.close().await;
        assert_eq!(next(&mut hints).await, ChangedQueue::Scans, "handed over");
        assert!(claim_scan(&one, now).await.is_some());
    }
}
