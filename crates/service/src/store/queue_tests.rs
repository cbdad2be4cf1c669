//! Polls of the queues.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::timeout;

use super::jobs::QueuePoll;
use super::testing::two_nodes;

/// Longer than any wait of these tests.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn polls_without_work_wait_for_no_other_write() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let now = Timestamp::now();
    let writing = other.change().await.unwrap();
    let polls = async {
        let polled = one.claim(&[], now).await.unwrap();
        assert!(matches!(polled, QueuePoll::Empty), "{polled:?}");
        assert!(one.claim_report().await.unwrap().is_none());
        assert!(one.claim_import().await.unwrap().is_none());
        assert!(one.claim_delivery(&[], now).await.unwrap().is_none());
        assert!(one.due_schedules(now).await.unwrap().is_empty());
        one.purge_reports(now).await.unwrap();
        one.purge_imports(now).await.unwrap();
    };
    timeout(PATIENCE, polls).await.expect("no poll waits");
    drop(writing);
}
