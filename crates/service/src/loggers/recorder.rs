//! Writes captured requests: one task writes all queued requests in one transaction.
//!
//! ```text
//!   request ─┐
//!   request ─┼─► channel ─► one transaction ─► a response to each
//!   request ─┘      further requests are queued during its sync
//! ```
//!
//! The task never waits for a larger batch: the sync of one transaction gives the next batch time
//! to grow.

use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::store::captures::{LoggerQuota, NewCapture};
use crate::store::{DatabaseError, Store, unavailability};

/// Largest number of requests per transaction; with bodies of 1 MiB it limits the memory of a
/// batch.
const BATCH: usize = 64;

/// How long senders wait for a database that is away.
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Why a request was not recorded.
#[derive(Debug)]
pub enum NotRecorded {
    /// The logger is full or was deleted.
    Refused,
    /// The database failed.
    Failed(String),
    /// The database cannot be used at the moment.
    Unavailable(String),
}

type QueuedCapture = (NewCapture, oneshot::Sender<Result<(), NotRecorded>>);

/// Sends captured requests to the writing task.
#[derive(Clone, Debug)]
pub struct Recorder(mpsc::Sender<QueuedCapture>);

impl Recorder {
    /// A recorder and its writing task, which ends when all recorders are dropped.
    pub fn new(store: Store, quota: LoggerQuota) -> (Self, impl Future<Output = ()> + Send) {
        let (sender, receiver) = mpsc::channel(BATCH);
        (Self(sender), write(store, quota, receiver))
    }

    /// Returns when the request is on disk.
    ///
    /// # Errors
    /// When the request was not recorded.
    pub async fn record(&self, capture: NewCapture) -> Result<(), NotRecorded> {
        let ended = || NotRecorded::Failed("the service is stopping".to_owned());
        let (answer, recorded) = oneshot::channel();
        self.0.send((capture, answer)).await.map_err(|_| ended())?;
        recorded.await.map_err(|_| ended())?
    }
}

async fn write(store: Store, quota: LoggerQuota, mut receiver: mpsc::Receiver<QueuedCapture>) {
    let mut entries: Vec<QueuedCapture> = Vec::with_capacity(BATCH);
    while receiver.recv_many(&mut entries, BATCH).await > 0 {
        let captures: Vec<&NewCapture> = entries.iter().map(|entry| &entry.0).collect();
        let written = record_in(&store, &captures, quota).await;
        for (index, (_, answer)) in entries.drain(..).enumerate() {
            // A closed channel means that the sender hung up; its request is recorded.
            let _ = answer.send(outcome(&written, index));
        }
    }
}

/// Records a batch, and repeats it while the database is away: its restart must lose no request.
/// A batch whose commit was done, but not answered, is recorded twice.
async fn record_in(
    store: &Store,
    captures: &[&NewCapture],
    quota: LoggerQuota,
) -> Result<Vec<bool>, DatabaseError> {
    let began = Instant::now();
    loop {
        match store.record_captures(captures, quota).await {
            Err(error) if unavailability(&error).is_some() && began.elapsed() < PATIENCE => {
                tracing::warn!(%error, "requests to loggers wait for the database");
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            written => return written,
        }
    }
}

fn outcome(written: &Result<Vec<bool>, DatabaseError>, index: usize) -> Result<(), NotRecorded> {
    match written {
        Ok(recorded) if recorded.get(index) == Some(&true) => Ok(()),
        Ok(_) => Err(NotRecorded::Refused),
        Err(error) if unavailability(error).is_some() => {
            Err(NotRecorded::Unavailable(error.to_string()))
        }
        Err(error) => Err(NotRecorded::Failed(error.to_string())),
    }
}
