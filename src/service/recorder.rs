//! Writes captured requests: one task, as many requests in a transaction as have come.
//!
//! ```text
//!   request ─┐
//!   request ─┼─► channel ─► one transaction ─► each is answered
//!   request ─┘      while it is synced, the next ones gather
//! ```
//!
//! There is no waiting for more: the sync of one transaction is what lets the next one gather.

use tokio::sync::{mpsc, oneshot};

use super::store::captures::NewCapture;
use super::store::{DatabaseError, Store};

/// Requests written in one transaction at most; with bodies of 1 MiB this bounds what one holds in memory.
const BATCH: usize = 64;

/// Why a request was not recorded.
#[derive(Debug)]
pub enum NotRecorded {
    /// Its logger is full, or was deleted just now.
    Refused,
    /// The database failed.
    Failed(String),
}

type QueuedCapture = (NewCapture, oneshot::Sender<Result<(), NotRecorded>>);

/// Takes captured requests to the writer.
#[derive(Clone, Debug)]
pub struct Recorder(mpsc::Sender<QueuedCapture>);

impl Recorder {
    /// A recorder and the task that writes for it; the task ends once every recorder is gone.
    pub fn new(store: Store, quota: i64) -> (Self, impl Future<Output = ()> + Send) {
        let (sender, receiver) = mpsc::channel(BATCH);
        (Self(sender), write(store, quota, receiver))
    }

    /// Returns once the request is on disk.
    ///
    /// # Errors
    /// When it is not.
    pub async fn record(&self, capture: NewCapture) -> Result<(), NotRecorded> {
        let ended = || NotRecorded::Failed("the service is ending".to_owned());
        let (answer, recorded) = oneshot::channel();
        self.0.send((capture, answer)).await.map_err(|_| ended())?;
        recorded.await.map_err(|_| ended())?
    }
}

async fn write(store: Store, quota: i64, mut receiver: mpsc::Receiver<QueuedCapture>) {
    let mut entries: Vec<QueuedCapture> = Vec::with_capacity(BATCH);
    while receiver.recv_many(&mut entries, BATCH).await > 0 {
        let captures: Vec<&NewCapture> = entries.iter().map(|entry| &entry.0).collect();
        let written = store.record_captures(&captures, quota).await;
        for (index, (_, answer)) in entries.drain(..).enumerate() {
            // Who no longer waits for the answer has closed its connection; the request stays recorded.
            let _ = answer.send(verdict(&written, index));
        }
    }
}

fn verdict(written: &Result<Vec<bool>, DatabaseError>, index: usize) -> Result<(), NotRecorded> {
    match written {
        Ok(recorded) if recorded.get(index) == Some(&true) => Ok(()),
        Ok(_) => Err(NotRecorded::Refused),
        Err(error) => Err(NotRecorded::Failed(error.to_string())),
    }
}
