//! Two services on one database, each with a data directory of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::database::database_of;
use super::runner::{ScriptedRunner, typical_events};
use super::{TestService, settings};

/// A service in the directory `one` below `dir`, whose events are [`typical_events`].
async fn first_service(dir: &Path) -> TestService {
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    std::fs::create_dir(dir.join("one")).unwrap();
    TestService::with_parts(settings(&dir.join("one")), None, runner).await
}

/// A service in the directory `other` below `dir`, on the database of the first one.
async fn second_service(dir: &Path) -> TestService {
    let other = dir.join("other");
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(dir.join("one/scandeck.db"), other.join("scandeck.db")).unwrap();
    let mut settings = settings(&other);
    settings.database = database_of(&dir.join("one"));
    TestService::with_settings(settings).await
}

#[tokio::test]
async fn start_of_a_second_service_leaves_scans_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let one = first_service(dir.path()).await;
    let scan = one.scan(one.target("127.0.0.1").await).await;
    one.runner.job(0).await;
    let other = second_service(dir.path()).await;
    let path = format!("/scans/{scan}");
    let running = other
        .until(&path, |scan| scan["num_finished_tests"] == 7)
        .await;
    assert_eq!(
        (&running["status_name"], &running["info_text_lines"]),
        (&json!("running"), &json!(["connected to 127.0.0.1"])),
        "not started again"
    );
    one.runner.finish_scans(1);
    other.until_status(scan, "finished").await;
    assert_eq!((one.runner.jobs().len(), other.runner.jobs().len()), (1, 0));
    other.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn stop_through_a_second_service_ends_scan_of_the_first_within_two_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let one = first_service(dir.path()).await;
    let scan = one.scan(one.target("127.0.0.1").await).await;
    one.runner.job(0).await;
    let other = second_service(dir.path()).await;
    let requested = Instant::now();
    let stopped = other.post(&format!("/scans/{scan}/stop"), json!({})).await;
    assert_eq!(stopped.status, 204);
    let ended = other.until_status(scan, "stopped").await;
    assert!(
        requested.elapsed() < Duration::from_secs(2),
        "{:?}",
        requested.elapsed()
    );
    assert_eq!(
        ended["status_message"],
        "stopped by the user; partial results"
    );
    other.stop().await;
    one.stop().await;
}
