//! The lease of this node: how long its scans may send requests without another beat.
//!
//! ```text
//!   beat ─────────────────► 10 s ─────────────► 15 s ─► time
//!    └─ scans run            └─ scans end here    └─ other nodes take the scans over (store/nodes)
//! ```
//!
//! On PostgreSQL, a scan is stopped by the clock, and not by a message: a process that was
//! suspended, or that cannot reach the database, sends no request after another node has taken its
//! scans over. The workers of other places end their scans in the same way.
//!
//! A database file has one node, because its data directory is locked. Nobody takes its scans over,
//! so they go on after a suspension, and while the disk is too slow for a beat.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The lease of a node that is alone: longer than any process runs.
const ALONE: Duration = Duration::from_secs(30 * 365 * 86_400);

/// The lease of this node.
#[derive(Debug)]
pub struct NodeLease {
    state: Mutex<LeaseState>,
}

#[derive(Clone, Copy, Debug)]
struct LeaseState {
    /// Time from a beat to the end of the scans.
    length: Duration,
    ends: Instant,
    /// Grows when a lease ends: scans of an earlier one remain ended after the next beat.
    number: u64,
}

impl NodeLease {
    /// A lease that begins now. After `takeover` without a beat, other nodes take the scans over.
    pub fn new(takeover: Duration) -> Self {
        let length = length_of(takeover);
        Self {
            state: Mutex::new(LeaseState {
                length,
                ends: Instant::now() + length,
                number: 0,
            }),
        }
    }

    /// The lease of the only node. Its scans end only if a beat shows that they were lost.
    pub fn alone() -> Self {
        Self::new(ALONE)
    }

    /// Renews the lease by a beat that was sent at this time, or begins another one if the last one
    /// has ended, or `is_lost` says that other nodes have taken the scans over.
    pub fn renew(&self, sent: Instant, is_lost: bool) {
        let mut state = self.state();
        if is_lost || Instant::now() >= state.ends {
            state.number += 1;
        }
        state.ends = state.ends.max(sent + state.length);
    }

    /// Uses another time until a takeover from the next beat on. A shorter one holds at once.
    pub fn follow(&self, takeover: Duration) {
        let mut state = self.state();
        state.length = length_of(takeover);
        state.ends = state.ends.min(Instant::now() + state.length);
    }

    pub fn has_ended(&self) -> bool {
        Instant::now() >= self.state().ends
    }

    /// Runs a scan; drops it, and returns `None`, when the lease ends before.
    pub async fn hold<T>(&self, scan: impl Future<Output = T>) -> Option<T> {
        let LeaseState { ends, number, .. } = *self.state();
        let mut scan = pin!(scan);
        let mut timer = pin!(sleep_until(ends));
        poll_fn(|context| {
            // Before every step of the scan: a suspended process runs tasks before their timers.
            let state = *self.state();
            if state.number != number || Instant::now() >= state.ends {
                return Poll::Ready(None);
            }
            if timer.deadline() != state.ends {
                timer.as_mut().reset(state.ends);
            }
            if timer.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            scan.as_mut().poll(context).map(Some)
        })
        .await
    }

    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long scans run without a beat, if others take them over after this time.
fn length_of(takeover: Duration) -> Duration {
    takeover * 2 / 3
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::{sleep, timeout};

    use super::*;

    /// Longer than any wait of these tests.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn scan_ends_with_the_lease_and_not_before() {
        let lease = NodeLease::new(Duration::from_millis(300));
        let began = Instant::now();
        let held = timeout(PATIENCE, lease.hold(std::future::pending::<()>()));
        assert_eq!(held.await, Ok(None));
        assert!(began.elapsed() >= Duration::from_millis(190));
        assert!(lease.has_ended());
        assert_eq!(lease.hold(async { 7 }).await, None, "not even begun");
    }

    #[tokio::test]
    async fn lease_of_the_only_node_outlasts_its_scans() {
        let lease = NodeLease::alone();
        assert_eq!(lease.hold(sleep(Duration::from_millis(5))).await, Some(()));
        let year = Duration::from_secs(365 * 86_400);
        assert!(lease.state().ends > Instant::now() + 10 * year);
    }

    #[tokio::test]
    async fn renewed_lease_lets_the_scan_end_by_itself() {
        let lease = Arc::new(NodeLease::new(Duration::from_millis(300)));
        let held = tokio::spawn({
            let lease = Arc::clone(&lease);
            async move {
                let scan = sleep(Duration::from_millis(500));
                lease.hold(scan).await
            }
        });
        // It sets its timer before, to the end of the first lease.
        tokio::task::yield_now().await;
        lease.renew(Instant::now() + PATIENCE, false);
        assert_eq!(held.await.unwrap(), Some(()));
        assert!(!lease.has_ended());
    }

    #[tokio::test]
    async fn scan_of_an_ended_lease_remains_ended_after_the_next_beat() {
        let lease = NodeLease::new(Duration::from_millis(30));
        let mut held = pin!(lease.hold(sleep(PATIENCE)));
        assert!(futures::poll!(held.as_mut()).is_pending());
        // As a suspended process, which beats before the scan is polled.
        std::thread::sleep(Duration::from_millis(30));
        lease.renew(Instant::now() + PATIENCE, false);
        assert!(!lease.has_ended());
        assert_eq!(held.await, None);
    }

    #[tokio::test]
    async fn shorter_lease_holds_at_once_and_a_longer_one_from_the_next_beat_on() {
        let lease = NodeLease::new(PATIENCE);
        lease.follow(Duration::from_millis(15));
        sleep(Duration::from_millis(20)).await;
        assert!(lease.has_ended());
        lease.follow(PATIENCE);
        assert!(lease.has_ended());
        lease.renew(Instant::now(), false);
        assert!(!lease.has_ended());
    }

    #[tokio::test]
    async fn scan_ends_when_its_claim_was_lost() {
        let lease = NodeLease::new(PATIENCE);
        let mut held = pin!(lease.hold(sleep(Duration::from_millis(50))));
        assert!(futures::poll!(held.as_mut()).is_pending());
        lease.renew(Instant::now(), true);
        assert_eq!(held.await, None);
    }
}
