//! Tests of the end of old captures: both engines keep the same ones, and count them.

use super::Store;
use super::capture_months::CaptureMonth;
use super::sql::sql;
use super::testing::{add_logger, assert_captures, open, open_sqlite, record_at, two_nodes};
use super::versions::ListNoun;
use scandeck_wire::contract::{LoggerId, WorkspaceId};

const NOW: &str = "2026-11-30T12:00:00Z";

/// The first month that remains.
fn august() -> CaptureMonth {
    CaptureMonth::of(NOW.parse().unwrap()).earlier(3)
}

/// Records a capture at each of these times, in the table of its month.
async fn record_in_months(store: &Store, logger: LoggerId, times: &[&str]) {
    let mut months = times.to_vec();
    months.dedup();
    for at in months {
        store.add_months(at.parse().unwrap()).await.unwrap();
    }
    record_at(store, logger, times).await;
}

async fn version(store: &Store, workspace: WorkspaceId) -> i64 {
    let read = store.list_version(ListNoun::Loggers, Some(workspace));
    read.await.unwrap()
}

#[tokio::test]
async fn captures_of_months_before_the_first_one_are_deleted_and_no_longer_counted() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let one = add_logger(&store, "one").await;
    let other = add_logger(&store, "other").await;
    let new = add_logger(&store, "new").await;
    let times = [
        "2026-05-01T00:00:00Z",
        "2026-05-31T23:59:59.999Z",
        "2026-07-31T23:59:59.999Z",
        "2026-08-01T00:00:00Z",
        NOW,
    ];
    record_in_months(&store, one, &times).await;
    record_in_months(&store, other, &["2026-05-02T00:00:00Z"]).await;
    record_in_months(&store, new, &["2026-10-01T00:00:00Z"]).await;
    // Without a month.
    record_at(&store, one, &["2020-01-01T00:00:00Z"]).await;
    let foreign = store.add_workspace("b", "").await.unwrap().unwrap();
    let before = [
        version(&store, WorkspaceId(1)).await,
        version(&store, foreign).await,
    ];

    assert!(store.delete_captures_before(august()).await.unwrap());
    assert_ne!(version(&store, WorkspaceId(1)).await, before[0]);
    assert_eq!(version(&store, foreign).await, before[1]);
    assert_captures(&store, one, &[4, 5]).await;
    assert_captures(&store, other, &[]).await;
    assert_captures(&store, new, &[7]).await;
    assert_eq!(store.months_before(august()).await.unwrap(), []);

    let after = version(&store, WorkspaceId(1)).await;
    assert!(store.delete_captures_before(august()).await.unwrap());
    assert_eq!(version(&store, WorkspaceId(1)).await, after);
    record_in_months(&store, other, &[NOW]).await;
    assert_captures(&store, other, &[9]).await;
}

#[tokio::test]
async fn month_turns_old_when_time_passes() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let logger = add_logger(&store, "a").await;
    record_in_months(&store, logger, &["2026-10-31T23:59:59Z", NOW]).await;
    for (now, left) in [
        (NOW, vec![1, 2]),
        ("2026-11-30T23:59:59Z", vec![1, 2]),
        ("2026-12-01T00:00:00Z", vec![2]),
        ("2026-12-31T23:59:59Z", vec![2]),
        ("2027-01-01T00:00:00Z", vec![]),
    ] {
        let first_kept = CaptureMonth::of(now.parse().unwrap()).earlier(1);
        assert!(store.delete_captures_before(first_kept).await.unwrap());
        assert_captures(&store, logger, &left).await;
    }
}

#[tokio::test]
async fn old_captures_far_behind_new_ones_are_found() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let logger = add_logger(&store, "a").await;
    let old = "2020-01-01T00:00:00Z";
    record_at(&store, logger, &[old, NOW, old, NOW]).await;
    // More ids than a statement searches are between two captures.
    let spread = sql("UPDATE captures SET id = id * 130000");
    store.execute(spread).await.unwrap();
    assert!(store.delete_captures_before(august()).await.unwrap());
    assert_captures(&store, logger, &[260_000, 520_000]).await;
}

#[tokio::test]
async fn old_captures_among_new_ones_are_deleted() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let logger = add_logger(&store, "a").await;
    // More old ones than batches search together.
    let times = ["2020-01-01T00:00:00Z", NOW].repeat(600);
    record_at(&store, logger, &times).await;
    assert!(store.delete_captures_before(august()).await.unwrap());
    let left: Vec<i64> = (1..=600).map(|pair| 2 * pair).collect();
    assert_captures(&store, logger, &left).await;
}

#[tokio::test]
async fn searched_captures_are_searched_again_for_a_later_month_only() {
    const MAY: &str = "2026-05-01T00:00:00Z";
    let temp = tempfile::tempdir().unwrap();
    let store = open_sqlite(temp.path()).await;
    let logger = add_logger(&store, "a").await;
    record_at(&store, logger, &[MAY, NOW, NOW]).await;
    assert!(store.delete_captures_before(august()).await.unwrap());
    assert_captures(&store, logger, &[2, 3]).await;
    let change = sql("UPDATE captures SET received_at = 0 WHERE id = 2");
    store.execute(change).await.unwrap();
    record_at(&store, logger, &[MAY]).await;
    assert!(store.delete_captures_before(august()).await.unwrap());
    assert_captures(&store, logger, &[2, 3]).await;
    let september = august().following();
    assert!(store.delete_captures_before(september).await.unwrap());
    assert_captures(&store, logger, &[3]).await;
}

#[tokio::test]
async fn captures_that_two_nodes_delete_are_subtracted_once() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let logger = add_logger(&one, "a").await;
    for month in ["2026-04-01T00:00:00Z", "2026-06-30T00:00:00Z", NOW] {
        record_in_months(&one, logger, &[month; 100]).await;
    }
    let (by_one, by_other) = tokio::join!(
        one.delete_captures_before(august()),
        other.delete_captures_before(august())
    );
    // A node that meets the other one leaves the rest for the next time.
    for done in [by_one, by_other] {
        done.unwrap();
    }
    assert!(other.delete_captures_before(august()).await.unwrap());
    let left: Vec<i64> = (201..=300).collect();
    assert_captures(&one, logger, &left).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn captures_are_recorded_and_cleared_while_old_ones_are_deleted() {
    const NEW: usize = 40;
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let kept = add_logger(&store, "kept").await;
    let cleared = add_logger(&store, "cleared").await;
    for month in ["2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"] {
        record_in_months(&store, kept, &[month; 500]).await;
        record_in_months(&store, cleared, &[month; 500]).await;
    }
    record_in_months(&store, kept, &[NOW]).await;
    let recorder = tokio::spawn({
        let store = store.clone();
        async move {
            for _ in 0..NEW {
                record_at(&store, kept, &[NOW]).await;
            }
        }
    });
    let (deleted, clear) = tokio::join!(
        store.delete_captures_before(august()),
        store.clear_logger(cleared)
    );
    assert!(deleted.unwrap() && clear.unwrap());
    recorder.await.unwrap();
    let left: Vec<i64> = (2001..).take(NEW + 1).collect();
    assert_captures(&store, kept, &left).await;
    assert_captures(&store, cleared, &[]).await;
}
