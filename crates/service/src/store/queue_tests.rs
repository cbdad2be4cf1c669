//! Purges of the queues, which attempts of a scan count, and what a scan shows that returns to its
//! queue.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use super::Store;
use super::jobs::{Attempt, ScanUpdate, StopRequest};
use super::scans::ScanFilter;
use super::testing::{claim_scan, open, queue_scan, silence, two_nodes};
use super::versions::ListNoun;
use crate::engine::TestDone;
use scandeck_wire::contract::{ScanId, ScanStatus};

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

/// Claims the only scan, and stores the first of its four tests.
async fn begin_scan(store: &Store, now: Timestamp) -> Attempt {
    let attempt = claim_scan(store, now).await.expect("it waits").attempt;
    let test = TestDone {
        uid: "a".to_owned(),
        description: String::new(),
        metadata: Value::Null,
        weight: 1,
        findings: Vec::new(),
    };
    let update = ScanUpdate {
        planned: Some(4),
        tests: vec![test],
        step: Some("crawling".to_owned()),
        ..ScanUpdate::default()
    };
    assert!(store.record(&attempt, &update, now).await.unwrap());
    assert!(store.is_scanning(None).await.unwrap());
    attempt
}

/// The scan waits like a new one, and has the results of the lost attempt.
async fn assert_waits(store: &Store, scan: ScanId, now: Timestamp) {
    let shown = store.scan(scan, now).await.unwrap().unwrap();
    assert_eq!(shown.status_name, ScanStatus::Waiting);
    assert!(shown.start_time.is_some(), "clients order results by it");
    let later = now + Duration::from_secs(60);
    let after_a_minute = store.scan(scan, later).await.unwrap().unwrap();
    assert_eq!(after_a_minute.duration, 0);
    assert_eq!(&*shown.status_message, "");
    assert_eq!((shown.num_finished_tests, shown.num_tests), (1, 4));
    let waiting = ScanFilter {
        status: Some(ScanStatus::Waiting),
        limit: 9,
        ..ScanFilter::default()
    };
    let listed = store.scans(&waiting, now).await.unwrap();
    assert_eq!(listed.len(), 1, "in the list of waiting scans");
    assert!(!store.is_scanning(None).await.unwrap());
}

#[tokio::test]
async fn scan_that_returns_to_the_queue_waits_again_with_its_results() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let now = Timestamp::now();
    let scan = queue_scan(&one, "a").await;
    let version = async || other.list_version(ListNoun::Scans, None).await.unwrap();

    let failed = begin_scan(&one, now).await;
    let running = version().await;
    one.release(&failed).await.unwrap();
    assert_ne!(version().await, running, "its list has changed");
    assert_waits(&other, scan, now).await;

    let interrupted = begin_scan(&one, now).await;
    one.requeue(&interrupted).await.unwrap();
    assert_waits(&other, scan, now).await;

    begin_scan(&one, now).await;
    silence(&one, 16).await;
    assert!(other.beat(true, 0, now).await.unwrap().has_ended_nodes);
    assert_waits(&other, scan, now).await;
    assert!(one.beat(true, 0, now).await.unwrap().is_lost);

    begin_scan(&one, now).await;
    one.leave().await.unwrap();
    assert_waits(&other, scan, now).await;
    one.release(&failed).await.unwrap();

    let stop = other.request_stop(scan, now).await.unwrap();
    assert_eq!(stop, StopRequest::Ended);
    let stopped = other.scan(scan, now).await.unwrap().unwrap();
    assert_eq!(stopped.status_name, ScanStatus::Stopped);
    assert!(stopped.start_time.is_some(), "of its partial results");
    assert_eq!(stopped.num_finished_tests, 1);
}

#[tokio::test]
async fn release_of_a_lost_attempt_leaves_the_scan_of_another_node_running() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let now = Timestamp::now();
    let scan = queue_scan(&one, "a").await;
    let lost = begin_scan(&one, now).await;
    silence(&one, 16).await;
    assert!(other.beat(true, 0, now).await.unwrap().has_ended_nodes);
    begin_scan(&other, now).await;
    one.release(&lost).await.unwrap();
    one.requeue(&lost).await.unwrap();
    one.leave().await.unwrap();
    let shown = other.scan(scan, now).await.unwrap().unwrap();
    assert_eq!(shown.status_name, ScanStatus::Running);
    assert_eq!(&*shown.status_message, "crawling");
}
