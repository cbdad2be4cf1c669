//! The queue of the worker in the process of a service: its store.
//!
//! Results are repeated while the database is away, so that its restart does not cost a scan the
//! work of hours. When the lease of this node ends before, the scan has ended here too, and its
//! results would be refused.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::lease::NodeLease;
use super::queue::{AttemptEnd, LONGEST_REPEAT, QueueResult, ScanQueue, StoreQueue};
use crate::state::App;
use crate::store::jobs::{Attempt, QueuePoll, ScanUpdate};
use crate::store::{StoreResult, unavailability};
use scandeck_wire::contract::ScanId;

/// Pause before a write is repeated.
const PAUSE: Duration = Duration::from_millis(250);

/// The queue of this process.
pub struct LocalQueue {
    queue: StoreQueue,
    /// The number of the last results, of all scans: a commit may be done, but not answered.
    last_number: AtomicI64,
}

impl LocalQueue {
    pub fn new(app: App) -> Self {
        let store = app.store.clone();
        Self {
            queue: StoreQueue { app, store },
            last_number: AtomicI64::new(0),
        }
    }

    async fn record_update(&self, attempt: &Attempt, update: ScanUpdate) -> StoreResult<bool> {
        let update = ScanUpdate {
            number: self.last_number.fetch_add(1, Ordering::Relaxed) + 1,
            ..update
        };
        let write = || self.queue.record_update(attempt, &update);
        repeat(&self.queue.app.lease, write).await
    }

    async fn end_attempt(&self, attempt: &Attempt, end: AttemptEnd) -> StoreResult<()> {
        let write = || self.queue.end_attempt(attempt, end.clone());
        match end {
            // The service stops, and does not wait: its claims end with its lease.
            AttemptEnd::Shutdown => write().await,
            AttemptEnd::Outcome { .. } | AttemptEnd::Panicked => {
                repeat(&self.queue.app.lease, write).await
            }
        }
    }
}

impl ScanQueue for LocalQueue {
    fn claim<'a>(&'a self, running: &'a [ScanId]) -> BoxFuture<'a, QueueResult<QueuePoll>> {
        Box::pin(async move { Ok(self.queue.claim_scan(running).await?) })
    }

    fn record<'a>(
        &'a self,
        attempt: &'a Attempt,
        update: ScanUpdate,
    ) -> BoxFuture<'a, QueueResult<bool>> {
        Box::pin(async move { Ok(self.record_update(attempt, update).await?) })
    }

    fn end<'a>(&'a self, attempt: &'a Attempt, end: AttemptEnd) -> BoxFuture<'a, QueueResult<()>> {
        Box::pin(async move { Ok(self.end_attempt(attempt, end).await?) })
    }
}

/// Repeats a write while the database is away, until the lease ends; for three minutes at most.
async fn repeat<T, F>(lease: &NodeLease, write: impl Fn() -> F) -> StoreResult<T>
where
    F: Future<Output = StoreResult<T>>,
{
    let began = Instant::now();
    loop {
        match write().await {
            Err(error)
                if unavailability(&error).is_some()
                    && began.elapsed() < LONGEST_REPEAT
                    && !lease.has_ended() =>
            {
                tracing::warn!(%error, "results of a scan wait for the database");
                sleep(PAUSE).await;
            }
            written => return written,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::store::DatabaseError;

    /// The result of a write that fails this often, and how often it was made.
    async fn repeated(lease: &NodeLease, error: fn() -> DatabaseError) -> (bool, usize) {
        let writes = AtomicUsize::new(0);
        let written = repeat(lease, || async {
            match writes.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(error()),
                _ => Ok(()),
            }
        });
        let is_written = written.await.is_ok();
        (is_written, writes.into_inner())
    }

    #[tokio::test]
    async fn results_wait_for_a_database_that_is_away_until_the_lease_ends() {
        let lease = NodeLease::new(Duration::from_secs(600));
        let away = || DatabaseError::PoolTimedOut;
        assert_eq!(repeated(&lease, away).await, (true, 3));
        let wrong = || DatabaseError::RowNotFound;
        assert_eq!(repeated(&lease, wrong).await, (false, 1), "not away");
        let ended = NodeLease::new(Duration::ZERO);
        assert_eq!(repeated(&ended, away).await, (false, 1));
    }
}
