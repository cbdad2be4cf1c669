//! The processes that share the database (nodes), and the end of their claims.
//!
//! ```text
//!   claim ─► row of the node ─► beat while it has claims
//!                │
//!                └─ node stopped, silent for 15 s, or started again ─► row deleted ─► its claims end
//! ```
//!
//! A claim is a column `owner` of a scan, report, import, callback or deletion, with a foreign key that ends
//! it when the row of the node is deleted: no claim outlives its node, and no statement can forget
//! one. A node without claims has no row, so an idle service only reads that there is none.
//!
//! All nodes of a database are on one machine and read one clock.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::sql::sql;
use super::{Durability, Store, StoreResult, WriteTransaction, jobs, millis};
use scandeck_wire::login::login;

/// How long the claims of a silent node last, in milliseconds.
const LEASE: i64 = 15_000;

/// This process.
#[derive(Debug)]
pub(super) struct ServiceNode {
    /// Random: a process that starts again does not own what it left.
    pub id: String,
    /// The directory of the database. A service holds its lock, so other nodes of it have ended.
    home: String,
}

impl ServiceNode {
    /// The node of a database file.
    pub fn new(database: &Path) -> Self {
        let home = database.parent().unwrap_or(Path::new("."));
        Self::with_home(home.canonicalize().unwrap_or_else(|_| home.to_owned()), "")
    }

    /// The node of a data directory, whose database may have nodes on other machines.
    pub fn of_directory(dir: &Path) -> Self {
        let home = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let host = login(|name| std::env::var(name).ok());
        Self::with_home(home, &format!("{host}:"))
    }

    fn with_home(home: PathBuf, host: &str) -> Self {
        Self {
            id: format!("{:016x}", rand::random::<u64>()),
            home: format!("{host}{}", home.display()),
        }
    }
}

impl Store {
    /// At the start of the service: queues the scans of ended nodes again, or ends them.
    pub async fn recover(&self, now: Timestamp) -> StoreResult<()> {
        let mut change = self.change().await?;
        end_nodes(&mut change, &self.node, now).await?;
        jobs::end_lost(&mut change, now).await?;
        change.commit().await
    }

    /// Renews the claims of this node, and ends those of nodes that have ended; true when there were
    /// such nodes.
    pub async fn beat(&self, now: Timestamp) -> StoreResult<bool> {
        let has_nodes: bool = sql("SELECT EXISTS (SELECT 1 FROM nodes)")
            .one(self.read())
            .await?;
        if !has_nodes {
            return Ok(false);
        }
        let mut change = self.change_with(Durability::WithNext).await?;
        let renewed = sql("UPDATE nodes SET beat_at = $2 WHERE id = $1")
            .bind(&self.node.id)
            .bind(millis(now))
            .execute(&mut change)
            .await?;
        sql("DELETE FROM nodes WHERE id = $1
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE owner = $1)
                AND NOT EXISTS (SELECT 1 FROM deletions WHERE owner = $1)
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE owner = $1)
                AND NOT EXISTS (SELECT 1 FROM reports WHERE owner = $1)
                AND NOT EXISTS (SELECT 1 FROM imports WHERE owner = $1)")
        .bind(&self.node.id)
        .execute(&mut change)
        .await?;
        let ended = end_nodes(&mut change, &self.node, now).await?;
        if ended > 0 {
            jobs::end_lost(&mut change, now).await?;
        }
        if renewed + ended > 0 {
            change.commit().await?;
        }
        Ok(ended > 0)
    }

    /// Ends the claims of this node.
    pub(super) async fn leave(&self) -> StoreResult<()> {
        let has_row: bool = sql("SELECT EXISTS (SELECT 1 FROM nodes WHERE id = $1)")
            .bind(&self.node.id)
            .one(self.read())
            .await?;
        if has_row {
            let delete = sql("DELETE FROM nodes WHERE id = $1").bind(&self.node.id);
            self.execute(delete).await?;
        }
        Ok(())
    }
}

/// Adds the row of this node, or renews it, before a claim in the same transaction.
pub(super) async fn join(
    change: &mut WriteTransaction,
    node: &ServiceNode,
    now: Timestamp,
) -> StoreResult<()> {
    sql("INSERT INTO nodes (id, home, beat_at) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at")
    .bind(&node.id)
    .bind(&node.home)
    .bind(millis(now))
    .execute(change)
    .await?;
    Ok(())
}

/// Deletes the rows of nodes that have ended; returns their number.
async fn end_nodes(
    change: &mut WriteTransaction,
    node: &ServiceNode,
    now: Timestamp,
) -> StoreResult<u64> {
    // A beat of the future is from before the clock was set back.
    let ended: Vec<String> =
        sql("SELECT id FROM nodes WHERE id <> $1 AND (home = $2 OR abs(beat_at - $3) >= $4)")
            .bind(&node.id)
            .bind(&node.home)
            .bind(millis(now))
            .bind(LEASE)
            .all(&mut *change)
            .await?;
    for id in &ended {
        for statement in [
            "UPDATE jobs SET service_ends = service_ends + 1 WHERE owner = $1",
            "DELETE FROM nodes WHERE id = $1",
        ] {
            sql(statement).bind(id).execute(&mut *change).await?;
        }
    }
    Ok(ended.len() as u64)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::super::jobs::{ClaimedScan, QueuePoll, ScanUpdate, StopRequest};
    use super::super::testing::{claim_scan, open, queue_scan, two_nodes};
    use super::*;
    use scandeck_wire::contract::{ScanId, ScanStatus};

    fn after(seconds: i64) -> Timestamp {
        let start = Timestamp::from_second(1_700_000_000).unwrap();
        start + SignedDuration::from_secs(seconds)
    }

    async fn status(store: &Store, scan: ScanId) -> (ScanStatus, String) {
        let scan = store.scan(scan, after(0)).await.unwrap().unwrap();
        (scan.status_name, scan.status_message.to_string())
    }

    #[tokio::test]
    async fn second_process_leaves_scans_of_a_live_process() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let scan = queue_scan(&one, "a").await;
        let claim = claim_scan(&one, after(0)).await.unwrap();
        assert_eq!(
            one.request_stop(scan, after(0)).await.unwrap(),
            StopRequest::Running
        );
        other.recover(after(14)).await.unwrap();
        assert!(claim_scan(&other, after(14)).await.is_none());
        assert!(
            one.record(&claim.attempt, &ScanUpdate::default(), after(14))
                .await
                .unwrap()
        );
        assert!(!one.beat(after(14)).await.unwrap());
        assert!(!other.beat(after(28)).await.unwrap(), "renewed 14 s ago");
        assert_eq!(status(&other, scan).await.0, ScanStatus::Running);
    }

    #[tokio::test]
    async fn scan_of_a_silent_process_is_claimed_by_another_and_its_writes_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let scan = queue_scan(&one, "a").await;
        let lost = claim_scan(&one, after(0)).await.unwrap().attempt;
        assert!(other.beat(after(15)).await.unwrap());
        assert!(
            !one.record(&lost, &ScanUpdate::default(), after(15))
                .await
                .unwrap()
        );
        let taken = claim_scan(&other, after(15)).await.unwrap().attempt;
        assert_eq!((lost.number, taken.number), (1, 2));
        one.finish(&lost, &ScanStatus::Finished, "late", after(16))
            .await
            .unwrap();
        one.release(&lost).await.unwrap();
        assert_eq!(one.claimed_scans().await.unwrap(), []);
        assert_eq!(status(&one, scan).await.0, ScanStatus::Running);
        other
            .finish(&taken, &ScanStatus::Finished, "done", after(17))
            .await
            .unwrap();
        assert_eq!(
            status(&one, scan).await,
            (ScanStatus::Finished, "done".to_owned())
        );
    }

    #[tokio::test]
    async fn process_that_starts_again_takes_its_scans_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        queue_scan(&one, "a").await;
        let stopped = queue_scan(&one, "b").await;
        let first = claim_scan(&one, after(0)).await.unwrap().attempt.scan;
        let second = one.claim(&[first], after(0)).await.unwrap();
        assert!(matches!(second, QueuePoll::Claimed(claim) if claim.attempt.scan == stopped));
        assert!(claim_scan(&other, after(0)).await.is_none());
        one.request_stop(stopped, after(0)).await.unwrap();
        let again = open(&temp.path().join("one")).await;
        again.recover(after(1)).await.unwrap();
        assert_eq!(status(&again, stopped).await.0, ScanStatus::Stopped);
        assert_eq!(
            claim_scan(&again, after(1)).await.unwrap().attempt.number,
            2
        );
        let third = open(&temp.path().join("one")).await;
        third.recover(after(2)).await.unwrap();
        let aborted = status(&third, first).await;
        assert_eq!(aborted.0, ScanStatus::Aborted);
        assert!(aborted.1.contains("interrupted twice"), "{aborted:?}");
    }

    #[tokio::test]
    async fn claims_end_with_a_clean_stop_and_attempts_only_grow() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        queue_scan(&one, "a").await;
        for number in 1..=4 {
            let attempt = claim_scan(&one, after(0)).await.unwrap().attempt;
            assert_eq!(attempt.number, number);
            one.requeue(&attempt).await.unwrap();
        }
        claim_scan(&one, after(0)).await.unwrap();
        assert!(claim_scan(&other, after(0)).await.is_none());
        one.close().await;
        for number in 6..=7 {
            let attempt = claim_scan(&other, after(0)).await.unwrap().attempt;
            assert_eq!(attempt.number, number);
            other.release(&attempt).await.unwrap();
        }
        assert!(
            matches!(
                other.claim(&[], after(0)).await.unwrap(),
                QueuePoll::Aborted
            ),
            "three tries count, the requeued ones do not"
        );
    }

    #[tokio::test]
    async fn stop_through_another_process_is_read_by_the_process_of_the_scan() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let id = queue_scan(&one, "a").await;
        claim_scan(&one, after(0)).await.unwrap();
        for is_stop_requested in [false, true] {
            let claimed = one.claimed_scans().await.unwrap();
            assert_eq!(
                claimed,
                [ClaimedScan {
                    id,
                    is_stop_requested
                }]
            );
            assert_eq!(other.claimed_scans().await.unwrap(), []);
            other.request_stop(id, after(0)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn beat_of_a_process_without_claims_writes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        queue_scan(&store, "a").await;
        let attempt = claim_scan(&store, after(0)).await.unwrap().attempt;
        let rows = async || -> i64 {
            let count = sql("SELECT count(*) FROM nodes");
            count.one(store.read()).await.unwrap()
        };
        store.beat(after(1)).await.unwrap();
        assert_eq!(rows().await, 1);
        store.release(&attempt).await.unwrap();
        store.beat(after(2)).await.unwrap();
        assert_eq!(rows().await, 0);
        let commits = store.commits();
        assert!(!store.beat(after(99)).await.unwrap());
        assert_eq!(store.commits(), commits);
    }
}
