//! Nodes in the store: claims end with their node, and no node joins with another key.

use jiff::SignedDuration;

use super::super::jobs::{ClaimedScan, QueuePoll, ScanUpdate, StopRequest};
use super::super::testing::{
    claim_scan, open, open_process, open_sqlite, queue_scan, silence, two_nodes, two_processes,
};
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

async fn register(store: &Store) {
    let registered = store.register(after(0)).await.unwrap();
    assert_eq!(registered, NodeRegistration::Done);
}

async fn beat(store: &Store) -> NodeBeat {
    store.beat(true, 0, after(0)).await.unwrap()
}

fn with_keys(store: Store, secrets_key: &str, callback_key: &str) -> Store {
    store.of_node(NodeDetails {
        name: "build7".to_owned(),
        secrets_key: secrets_key.to_owned(),
        callback_key: callback_key.to_owned(),
        ..NodeDetails::default()
    })
}

#[tokio::test]
async fn second_process_leaves_scans_of_a_live_process() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    let scan = queue_scan(&one, "a").await;
    let claim = claim_scan(&one, after(0)).await.unwrap();
    assert_eq!(
        one.request_stop(scan, after(0)).await.unwrap(),
        StopRequest::Running
    );
    silence(&one, 10).await;
    register(&other).await;
    assert!(claim_scan(&other, after(0)).await.is_none());
    assert!(
        one.record(&claim.attempt, &ScanUpdate::default(), after(0))
            .await
            .unwrap()
    );
    let renewed = beat(&one).await;
    assert!(!renewed.is_lost && renewed.has_others, "{renewed:?}");
    silence(&one, 10).await;
    assert!(!beat(&other).await.has_ended_nodes, "renewed 10 s ago");
    assert_eq!(status(&other, scan).await.0, ScanStatus::Running);
}

#[tokio::test]
async fn scan_of_a_silent_process_is_claimed_by_another_and_its_writes_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    register(&other).await;
    let scan = queue_scan(&one, "a").await;
    let lost = claim_scan(&one, after(0)).await.unwrap().attempt;
    silence(&one, 16).await;
    assert!(beat(&other).await.has_ended_nodes);
    assert!(
        !one.record(&lost, &ScanUpdate::default(), after(15))
            .await
            .unwrap()
    );
    let taken = claim_scan(&other, after(15)).await.unwrap().attempt;
    assert_eq!((lost.number, taken.number), (1, 2));
    assert!(beat(&one).await.is_lost);
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
async fn lease_of_a_node_is_its_own() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    let details = |seconds| NodeDetails {
        lease: Duration::from_secs(seconds),
        ..NodeDetails::default()
    };
    let (one, other) = (one.of_node(details(120)), other.of_node(details(60)));
    register(&one).await;
    register(&other).await;
    for (silent, seconds) in [(&one, 100), (&other, 50)] {
        silence(silent, seconds).await;
    }
    assert!(!beat(&one).await.has_ended_nodes);
    silence(&other, 20).await;
    assert!(beat(&one).await.has_ended_nodes);
}

#[tokio::test]
async fn node_that_was_silent_itself_ends_no_claims_of_others() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    register(&other).await;
    queue_scan(&other, "a").await;
    claim_scan(&other, after(0)).await.unwrap();
    // As after an hour in which the database was away.
    for store in [&one, &other] {
        silence(store, 3600).await;
    }
    assert!(!beat(&one).await.has_ended_nodes);
    assert!(!beat(&other).await.is_lost);
    assert!(!beat(&one).await.has_ended_nodes);
    assert_eq!(other.claimed_scans().await.unwrap().len(), 1);
}

/// Tests with `SCANDECK_TEST_DATABASE` only: all writes of a file wait for each other.
#[tokio::test]
async fn beat_on_a_server_waits_for_no_other_write() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    if matches!(one.engine, StoreEngine::Sqlite(_)) {
        return;
    }
    silence(&one, 10).await;
    // The claims of a silent node end with a write, which fails here.
    silence(&other, 20).await;
    let mut writing = other.change().await.unwrap();
    // The server ends a write that pauses.
    let busy = sql("SELECT CAST(1 AS BIGINT) FROM pg_sleep(4)").optional::<i64>(&mut writing);
    let (beat, written) = tokio::join!(beat(&one), busy);
    assert!(
        written.is_ok() && beat.has_others && !beat.has_ended_nodes,
        "{beat:?}"
    );
    let nodes = other.nodes().await.unwrap();
    let oldest = nodes.iter().map(|node| node.seconds_since_beat).max();
    assert!(oldest < Some(10), "{nodes:?}");
    drop(writing);
}

#[tokio::test]
async fn beat_of_the_future_ends_claims() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    register(&other).await;
    silence(&one, -3600).await;
    assert!(beat(&other).await.has_ended_nodes, "the clock was set back");
}

#[tokio::test]
async fn node_that_has_just_started_ends_no_claims_of_others() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    silence(&one, 3600).await;
    register(&other).await;
    let first = other.beat(false, 0, after(0)).await.unwrap();
    assert!(!first.has_ended_nodes && first.has_others, "{first:?}");
    assert!(beat(&other).await.has_ended_nodes);
}

#[tokio::test]
async fn ended_node_claims_nothing_before_its_next_beat() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    queue_scan(&one, "a").await;
    silence(&one, 16).await;
    assert!(beat(&other).await.has_ended_nodes);
    assert!(claim_scan(&one, after(0)).await.is_none());
    assert!(beat(&one).await.is_lost);
    assert!(claim_scan(&one, after(0)).await.is_some());
}

#[tokio::test]
async fn clock_of_the_database_that_goes_back_ends_no_claims() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    register(&one).await;
    register(&other).await;
    for store in [&one, &other] {
        silence(store, -3600).await;
    }
    assert!(!beat(&one).await.has_ended_nodes);
    assert!(!beat(&other).await.is_lost);
    assert!(!beat(&one).await.has_ended_nodes);
}

#[test]
fn home_of_a_node_is_a_directory_and_not_its_path() {
    let temp = tempfile::tempdir().unwrap();
    let (path, moved) = (temp.path().join("data"), temp.path().join("moved"));
    let home = || ServiceNode::of_directory(&path).home;
    std::fs::create_dir(&path).unwrap();
    let first = home();
    assert_eq!(home(), first);
    std::fs::rename(&path, &moved).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_ne!(home(), first);
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
    let again = open_process(&temp.path().join("one")).await;
    register(&again).await;
    assert_eq!(status(&again, stopped).await.0, ScanStatus::Stopped);
    assert_eq!(status(&again, first).await.0, ScanStatus::Waiting);
    assert_eq!(
        claim_scan(&again, after(1)).await.unwrap().attempt.number,
        2
    );
    let third = open_process(&temp.path().join("one")).await;
    register(&third).await;
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
async fn node_with_another_key_is_refused_while_a_node_with_the_first_one_lives() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    let one = with_keys(one, "a", "c");
    register(&one).await;
    for (secrets_key, callback_key, key) in [
        ("b", "c", SharedKey::Secrets),
        ("a", "d", SharedKey::Callbacks),
    ] {
        let wrong = with_keys(other.clone(), secrets_key, callback_key);
        let refused = wrong.register(after(0)).await.unwrap();
        let name = "build7".to_owned();
        assert_eq!(refused, NodeRegistration::OtherKey { key, name });
    }
    assert_eq!(one.nodes().await.unwrap().len(), 1, "no row was added");
    register(&with_keys(other, "a", "c")).await;
    one.close().await;
    let restored = open_process(&temp.path().join("other")).await;
    register(&with_keys(restored, "b", "d")).await;
}

#[tokio::test]
async fn nodes_show_their_load_and_clock() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_processes(temp.path()).await;
    let one = one.of_node(NodeDetails {
        name: "build7".to_owned(),
        roles: "api,worker".to_owned(),
        version: "1.2.3".to_owned(),
        ..NodeDetails::default()
    });
    register(&one).await;
    queue_scan(&one, "a").await;
    claim_scan(&one, after(0)).await.unwrap();
    one.beat(true, 250, after(0)).await.unwrap();
    silence(&one, 7).await;
    register(&other).await;
    let nodes = other.nodes().await.unwrap();
    assert_eq!(nodes.len(), 2);
    let shown = nodes.iter().find(|node| node.name == "build7").unwrap();
    assert_eq!(shown.roles, ["api", "worker"]);
    assert_eq!((shown.version.as_str(), shown.running_scans), ("1.2.3", 1));
    assert_eq!(shown.clock_ahead_ms, 250);
    assert!((7..12).contains(&shown.seconds_since_beat), "{shown:?}");
    let now = one.time().await.unwrap();
    let started = shown.started_at.unwrap().0;
    assert!((now.as_second() - started.as_second()).abs() < 60, "{now}");
}

#[tokio::test]
async fn beat_of_a_process_that_is_alone_without_claims_writes_nothing_to_a_file() {
    let temp = tempfile::tempdir().unwrap();
    let store = open_sqlite(temp.path()).await;
    register(&store).await;
    queue_scan(&store, "a").await;
    let attempt = claim_scan(&store, after(0)).await.unwrap().attempt;
    let commits = store.commits();
    beat(&store).await;
    assert_eq!(store.commits(), commits + 1);
    store.release(&attempt).await.unwrap();
    let commits_without_claims = store.commits();
    assert_eq!(beat(&store).await, NodeBeat::default());
    assert_eq!(store.commits(), commits_without_claims);
    silence(&store, 99).await;
    let shown = store.nodes().await.unwrap();
    assert_eq!(shown[0].seconds_since_beat, 0, "it answers");
}

#[tokio::test]
async fn restored_database_has_no_claims_of_its_original() {
    let temp = tempfile::tempdir().unwrap();
    let store = open_sqlite(temp.path()).await;
    register(&store).await;
    let scan = queue_scan(&store, "a").await;
    claim_scan(&store, after(0)).await.unwrap();
    let file = temp.path().join("scandeck.db");
    Store::begin_epochs(&file, after(0)).await.unwrap();
    assert_eq!(store.nodes().await.unwrap(), []);
    assert_eq!(status(&store, scan).await.0, ScanStatus::Waiting);
    assert_eq!(store.claimed_scans().await.unwrap(), []);
}

#[tokio::test]
async fn polls_of_empty_queues_do_not_wait_for_a_write() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let write = store.change().await.unwrap();
    let polls = async {
        assert!(claim_scan(&store, after(0)).await.is_none());
        assert!(store.claim_report().await.unwrap().is_none());
        assert!(store.claim_import().await.unwrap().is_none());
        let delivery = store.claim_delivery(&[], after(0)).await;
        assert!(delivery.unwrap().is_none());
    };
    // A poll that waits for the lock of writes ends after two seconds or more.
    let polled = timeout(Duration::from_millis(1500), polls).await;
    assert!(polled.is_ok());
    drop(write);
}
