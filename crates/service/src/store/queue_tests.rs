//! Purges of the queues, and which attempts of a scan count.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::timeout;

use super::testing::{claim_scan, open, queue_scan, silence, two_nodes};

/// Longer than any wait of these tests.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn purges_without_rows_wait_for_no_other_write() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let now = Timestamp::now();
    let writing = other.change().await.unwrap();
    let purges = async {
        one.purge_reports(now).await.unwrap();
        one.purge_imports(now).await.unwrap();
    };
    timeout(PATIENCE, purges).await.expect("no purge waits");
    drop(writing);
}

#[tokio::test]
async fn attempt_that_ended_without_its_node_does_not_count() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let now = Timestamp::now();
    let scan = queue_scan(&store, "a").await;
    // As after an outage of the database: the node has the scan, and does not run it.
    for number in 1..=5 {
        let attempt = claim_scan(&store, now).await.unwrap().attempt;
        assert_eq!(attempt.number, number);
    }
    let again = store.scan(scan, now).await.unwrap().unwrap();
    assert_eq!(
        &*again.info_text_lines[0],
        "started again, because its node was suspended or had no connection"
    );
}

#[tokio::test]
async fn attempt_that_another_node_took_over_does_not_count_if_the_first_one_lives() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let now = Timestamp::now();
    queue_scan(&one, "a").await;
    for (slow, taking) in [(&one, &other), (&other, &one)].repeat(2) {
        claim_scan(slow, now).await.expect("it was not aborted");
        silence(slow, 16).await;
        assert!(taking.beat(true, 0, now).await.unwrap().has_ended_nodes);
        claim_scan(taking, now).await.expect("it was not aborted");
        assert!(slow.beat(true, 0, now).await.unwrap().is_lost);
    }
}
