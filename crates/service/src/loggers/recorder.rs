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

use tokio::sync::{mpsc, oneshot};

use crate::store::captures::{LoggerQuota, NewCapture};
use crate::store::{DatabaseError, Store};

/// Largest number of requests per transaction; with bodies of 1 MiB it limits the memory of a
/// batch.
const BATCH: usize = 64;

/// Why a request was not recorded.
#[derive(Debug)]
pub enum NotRecorded {
    /// The logger is full or was deleted.
    Refused,
    /// The database failed.
    Failed(String),
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
        let written = store.record_captures(&captures, quota).await;
        for (index, (_, answer)) in entries.drain(..).enumerate() {
            // A closed channel means that the sender hung up; its request is recorded.
            let _ = answer.send(outcome(&written, index));
        }
    }
}

fn outcome(written: &Result<Vec<bool>, DatabaseError>, index: usize) -> Result<(), NotRecorded> {
    match written {
        Ok(recorded) if recorded.get(index) == Some(&true) => Ok(()),
        Ok(_) => Err(NotRecorded::Refused),
        Err(error) => Err(NotRecorded::Failed(error.to_string())),
    }
}
