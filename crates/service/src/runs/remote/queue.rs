//! The queue of a worker at a place: the service by HTTPS.
//!
//! Results are repeated until the service answers. Meanwhile the engine waits, so that a cut of the
//! network costs no more memory than the events that a scan may have in flight. When the lease ends
//! before, the scan has ended here too, and its results would be refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::IgnoredAny;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::connection::{CallError, SHORT, ServiceConnection};
use super::protocol::{ClaimRequest, EndRequest, EndedAttempt, RecordRequest};
use crate::runs::lease::NodeLease;
use crate::runs::queue::{AttemptEnd, LONGEST_REPEAT, QueueError, QueueResult, ScanQueue};
use crate::store::jobs::{Attempt, Claim, QueuePoll, ScanUpdate};
use scandeck_wire::contract::ScanId;

/// Longest time of a request with results or a wordlist: they may be large, and the network slow.
const LONG: Duration = Duration::from_secs(60);

/// Pause before a request is repeated.
const PAUSE: Duration = Duration::from_millis(250);

/// How often a request is repeated when the worker stops.
const TRIES_AT_STOP: u32 = 3;

/// The queue of a service.
pub struct RemoteQueue {
    service: Arc<ServiceConnection>,
    /// The random id of this process.
    node: String,
    lease: Arc<NodeLease>,
    stop: CancellationToken,
    /// The number of the last results, of all scans.
    last_number: AtomicI64,
}

impl RemoteQueue {
    pub fn new(
        service: Arc<ServiceConnection>,
        node: String,
        lease: Arc<NodeLease>,
        stop: CancellationToken,
    ) -> Self {
        Self {
            service,
            node,
            lease,
            stop,
            last_number: AtomicI64::new(0),
        }
    }

    /// Ends the worker: the service forgets it at once.
    ///
    /// # Errors
    /// When the service does not answer; it forgets the worker when its lease ends.
    pub async fn leave(&self) -> Result<(), CallError> {
        let request = EndRequest {
            node: self.node.clone(),
            attempt: None,
        };
        let answer = self.service.call::<IgnoredAny>("end", &request, SHORT);
        answer.await.map(drop)
    }

    /// Repeats a request until the service answers, or the lease ends; for three minutes at most.
    async fn repeat(
        &self,
        name: &str,
        request: &(impl Serialize + Sync),
        limit: Duration,
    ) -> Result<(), CallError> {
        let (began, mut left) = (Instant::now(), TRIES_AT_STOP);
        loop {
            let answer = self.service.call::<IgnoredAny>(name, request, limit);
            match answer.await {
                Err(CallError::Away(why)) => {
                    left -= u32::from(self.stop.is_cancelled());
                    let is_over = began.elapsed() >= LONGEST_REPEAT;
                    if left == 0 || is_over || self.lease.has_ended() {
                        return Err(CallError::Away(why));
                    }
                }
                answered => return answered.map(drop),
            }
            sleep(PAUSE).await;
        }
    }

    async fn claim_scan(&self, running: &[ScanId]) -> QueueResult<QueuePoll> {
        let request = ClaimRequest {
            node: self.node.clone(),
            running: running.to_vec(),
        };
        let answer = self.service.call::<Claim>("claim", &request, LONG);
        match self.stop.run_until_cancelled(answer).await {
            Some(Ok(Some(claim))) => Ok(QueuePoll::Claimed(Box::new(claim))),
            // The next beat adds a lost worker again. A claim that is not answered ends with this
            // worker.
            None | Some(Ok(None) | Err(CallError::Lost)) => Ok(QueuePoll::Empty),
            Some(Err(error)) => Err(failed(&error)),
        }
    }

    async fn record_update(&self, attempt: &Attempt, update: ScanUpdate) -> QueueResult<bool> {
        let request = RecordRequest {
            node: self.node.clone(),
            attempt: attempt.clone(),
            update: ScanUpdate {
                number: self.last_number.fetch_add(1, Ordering::Relaxed) + 1,
                ..update
            },
        };
        match self.repeat("record", &request, LONG).await {
            Ok(()) => Ok(true),
            Err(CallError::Lost) => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    async fn end_attempt(&self, attempt: &Attempt, end: AttemptEnd) -> QueueResult<()> {
        let ended = EndedAttempt {
            attempt: attempt.clone(),
            end,
        };
        let request = EndRequest {
            node: self.node.clone(),
            attempt: Some(ended),
        };
        match self.repeat("end", &request, SHORT).await {
            Ok(()) | Err(CallError::Lost) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &CallError) -> QueueError {
    QueueError::Service(error.to_string())
}

impl ScanQueue for RemoteQueue {
    fn claim<'a>(&'a self, running: &'a [ScanId]) -> BoxFuture<'a, QueueResult<QueuePoll>> {
        Box::pin(self.claim_scan(running))
    }

    fn record<'a>(
        &'a self,
        attempt: &'a Attempt,
        update: ScanUpdate,
    ) -> BoxFuture<'a, QueueResult<bool>> {
        Box::pin(self.record_update(attempt, update))
    }

    fn end<'a>(&'a self, attempt: &'a Attempt, end: AttemptEnd) -> BoxFuture<'a, QueueResult<()>> {
        Box::pin(self.end_attempt(attempt, end))
    }
}
