//! The number of writes of a store, by which its task wakes the exchange with a team.

use tokio::sync::watch;

/// Counts writes; 0 until the store is open. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalWrites(watch::Sender<u64>);

impl LocalWrites {
    /// Notes that the store was opened or written.
    pub fn note(&self) {
        self.0.send_modify(|number| *number += 1);
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
