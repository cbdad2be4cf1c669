//! Two services on one database, each with a data directory of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use scandeck::service::Settings;
use serde_json::json;

use super::database::database_of;
use super::runner::{ScriptedRunner, typical_events};
use super::{TestService, settings};

/// Settings of a service in the directory `one` below `dir`.
pub fn first_settings(dir: &Path) -> Settings {
    let one = dir.join("one");
    std::fs::create_dir_all(&one).unwrap();
    settings(&one)
}

/// Settings of a service in the directory `other` below `dir`, with the database and the secrets
/// of the first one.
pub fn second_settings(dir: &Path) -> Settings {
    let (one, other) = (dir.join("one"), dir.join("other"));
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(one.join("scandeck.db"), other.join("scandeck.db")).unwrap();
    let mut settings = settings(&other);
    settings.database = database_of(&one);
    settings.secrets_key_file = Some(one.join("secrets.key"));
    std::os::unix::fs::symlink(one.join("callback.key"), other.join("callback.key")).unwrap();
    settings
}

/// A service whose scans report [`typical_events`].
pub async fn typical_service(settings: Settings) -> TestService {
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    TestService::with_parts(settings, None, runner).await
}

async fn first_service(dir: &Path) -> TestService {
    typical_service(first_settings(dir)).await
}

async fn second_service(dir: &Path) -> TestService {
    TestService::with_settings(second_settings(dir)).await
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
