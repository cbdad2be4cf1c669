//! What a worker claims scans from, and writes their results to: the store of this process, or the
//! service of a worker at another place ([`super::remote`]).
//!
//! ```text
//!   worker ─► ScanQueue ─┬─► LocalQueue ─► StoreQueue ─► store
//!                        └─► RemoteQueue ─HTTPS─► routes/worker ─► StoreQueue ─► store
//! ```

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::engine::ScanJob;
use crate::guards::secrets::WRONG_KEY;
use crate::state::App;
use crate::store::jobs::{Attempt, Claim, QueuePoll, ScanUpdate};
use crate::store::{DatabaseError, Store, StoreResult};
use scandeck_wire::contract::{ScanId, ScanStatus};

/// How long the same results are repeated: they may be refused each time, while beats pass.
pub const LONGEST_REPEAT: Duration = Duration::from_secs(180);

/// Why a queue could not be used.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("{0}")]
    Service(String),
}

pub type QueueResult<T> = Result<T, QueueError>;

/// How an attempt ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    Outcome {
        status: ScanStatus,
        message: String,
    },
    /// The worker stops: another attempt follows.
    Shutdown,
    /// The scan crashed, or its results were refused: another attempt follows, if not too many have
    /// failed.
    Panicked,
}

/// The queue of a worker.
pub trait ScanQueue: Send + Sync + 'static {
    /// Claims the next scan. `running` are the scans that run in this process.
    fn claim<'a>(&'a self, running: &'a [ScanId]) -> BoxFuture<'a, QueueResult<QueuePoll>>;

    /// Writes results; false when the claim was lost.
    fn record<'a>(
        &'a self,
        attempt: &'a Attempt,
        update: ScanUpdate,
    ) -> BoxFuture<'a, QueueResult<bool>>;

    /// Ends an attempt unless its claim was lost.
    fn end<'a>(&'a self, attempt: &'a Attempt, end: AttemptEnd) -> BoxFuture<'a, QueueResult<()>>;
}

/// The queue of the store, as the node of `store` uses it.
pub struct StoreQueue {
    pub app: App,
    pub store: Store,
}

impl StoreQueue {
    /// Claims the next scan, with its credentials.
    pub async fn claim_scan(&self, running: &[ScanId]) -> StoreResult<QueuePoll> {
        let claim = match self.store.claim(running, self.app.now()).await? {
            QueuePoll::Claimed(claim) => *claim,
            QueuePoll::Aborted => {
                // It may have a callback.
                self.app.deliveries.notify_one();
                return Ok(QueuePoll::Aborted);
            }
            QueuePoll::Empty => return Ok(QueuePoll::Empty),
        };
        let Some(params) = self.app.secrets.open(claim.job.params.clone()) else {
            self.refuse(&claim, ScanStatus::FailedToStart, WRONG_KEY)
                .await?;
            return Ok(QueuePoll::Aborted);
        };
        let job = ScanJob {
            params,
            secret_digests: self.app.secrets.digests_of(claim.job.workspace),
            ..claim.job
        };
        Ok(QueuePoll::Claimed(Box::new(Claim { job, ..claim })))
    }

    /// Ends a claimed scan that cannot run.
    pub async fn refuse(&self, claim: &Claim, status: ScanStatus, why: &str) -> StoreResult<()> {
        let end = AttemptEnd::Outcome {
            status,
            message: why.to_owned(),
        };
        self.end_attempt(&claim.attempt, end).await
    }

    pub async fn record_update(&self, attempt: &Attempt, update: &ScanUpdate) -> StoreResult<bool> {
        self.store.record(attempt, update, self.app.now()).await
    }

    pub async fn end_attempt(&self, attempt: &Attempt, end: AttemptEnd) -> StoreResult<()> {
        match end {
            AttemptEnd::Outcome { status, message } => {
                let now = self.app.now();
                self.store.finish(attempt, &status, &message, now).await?;
            }
            AttemptEnd::Panicked => self.store.release(attempt).await?,
            AttemptEnd::Shutdown => self.store.requeue(attempt).await?,
        }
        self.app.deliveries.notify_one();
        Ok(())
    }
}
