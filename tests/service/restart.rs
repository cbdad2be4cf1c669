//! Acknowledged data survives a stop and a kill at any moment, and no scan runs forever.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::runtime::Runtime;

use super::clock::ManualClock;
use super::database::use_file;
use super::runner::{ScriptedRunner, typical_events};
use super::{TestService, settings};

/// Runs `work` on a service in a runtime of its own, then drops the runtime without a shutdown.
/// Connections and the lock of the directory are released as by a killed process.
fn run_and_kill<T: Send + 'static>(
    dir: &Path,
    runner: &ScriptedRunner,
    work: impl AsyncFnOnce(&TestService) -> T + Send + 'static,
) -> T {
    let runtime = Runtime::new().unwrap();
    let (settings, runner) = (settings(dir), runner.clone());
    let result = runtime.block_on(async move {
        let service = TestService::with_parts(settings, None, runner).await;
        let result = work(&service).await;
        std::mem::forget(service);
        result
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    result
}

#[test]
fn acknowledged_data_survives_kill() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    let (logger, url) = run_and_kill(dir.path(), &runner, async |service| {
        let acme = service
            .post("/workspaces", json!({"name": "Acme"}))
            .await
            .created();
        service
            .post(
                "/targets",
                json!({"name": "127.0.0.1", "workspace_id": acme}),
            )
            .await
            .created();
        let logger = service
            .form("/http_loggers", &[("label", "a")])
            .await
            .created();
        let url = service.get(&format!("/http_loggers/{logger}")).await.data()["handler_url"]
            .as_str()
            .unwrap()
            .to_owned();
        for number in 0..20 {
            assert_eq!(
                service
                    .client
                    .get(format!("{url}{number}"))
                    .send()
                    .await
                    .unwrap()
                    .status(),
                200
            );
        }
        (logger, url)
    });
    run_and_kill(dir.path(), &runner, async move |service| {
        assert_eq!(service.count("/workspaces").await, 2);
        assert_eq!(service.get("/targets").await.data()[0]["name"], "127.0.0.1");
        let recorded = service.get(&format!("/http_loggers/{logger}/data")).await;
        assert_eq!(recorded.data()["requests"].as_array().unwrap().len(), 20);
        let shown = service.get(&format!("/http_loggers/{logger}")).await;
        let token = |url: &str| url.split("/l/").nth(1).unwrap().to_owned();
        assert_eq!(
            token(shown.data()["handler_url"].as_str().unwrap()),
            token(&url)
        );
    });
}

#[test]
fn interrupted_scan_restarts_once_and_replaces_partial_results() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let scan = run_and_kill(dir.path(), &runner, async |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service
            .until(&format!("/scans/{scan}"), |scan| {
                scan["num_finished_tests"] == 7
            })
            .await;
        scan
    });
    runner.finish_scans(1);
    run_and_kill(dir.path(), &runner, async move |service| {
        let ended = service.until_status(scan, "finished").await;
        assert_eq!(
            (
                &ended["num_finished_tests"],
                &ended["result_summary"]["critical"]
            ),
            (&json!(7), &json!(1))
        );
        assert_eq!(service.count("/findings").await, 2);
        assert_eq!(service.count(&format!("/scans/{scan}/tests")).await, 4);
    });
    assert_eq!(runner.jobs().len(), 2);
}

#[test]
fn scan_interrupted_twice_is_aborted() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    // A scan is `running` once the worker has claimed it, and has started once the runner has its
    // job.
    let running = runner.clone();
    let scan = run_and_kill(dir.path(), &runner, async move |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service.until("/scans", |_| running.jobs().len() == 1).await;
        scan
    });
    let running = runner.clone();
    run_and_kill(dir.path(), &runner, async move |service| {
        service.until("/scans", |_| running.jobs().len() == 2).await;
    });
    run_and_kill(dir.path(), &runner, async move |service| {
        let ended = service.until_status(scan, "aborted").await;
        assert!(
            ended["status_message"]
                .as_str()
                .unwrap()
                .contains("interrupted twice"),
            "{ended}"
        );
        assert!(ended["end_time"].is_string());
    });
}

#[tokio::test]
async fn scan_that_starts_again_counts_from_its_new_start() {
    let (dir, runner) = (tempfile::tempdir().unwrap(), ScriptedRunner::default());
    let clock = ManualClock::new(Timestamp::from_second(1_700_000_000).unwrap());
    let service = TestService::with_clock(dir.path(), &clock, runner.clone()).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    runner.job(0).await;
    service.stop().await;
    clock.advance(SignedDuration::from_hours(9));
    let service = TestService::with_clock(dir.path(), &clock, runner.clone()).await;
    runner.job(1).await;
    clock.advance(SignedDuration::from_secs(5));
    let response = service.get(&format!("/scans/{scan}")).await;
    let running = response.data();
    assert_eq!(
        (&running["start_time"], &running["duration"]),
        (&json!("2023-11-15 07:13:20"), &json!(5))
    );
    service.stop().await;
}

#[tokio::test]
async fn clean_stops_requeue_scan_with_its_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
    let params = json!({"authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    runner.job(0).await;
    service.stop().await;
    for stops in 1..4 {
        let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
        runner.job(stops).await;
        service.stop().await;
    }
    runner.finish_scans(1);
    let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(
        ended["num_finished_tests"], 7,
        "only the results of the last attempt"
    );
    assert!(runner.job(4).await.params.to_string().contains("x1secret"));
    service.stop().await;
    let mut database = Vec::new();
    for file in std::fs::read_dir(dir.path()).unwrap() {
        database.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let occurrences = database
        .windows(8)
        .filter(|window| window == b"x1secret")
        .count();
    assert_eq!(
        occurrences, 0,
        "the credential is deleted from the files too"
    );
}

/// How often the text occurs in the files of a directory.
fn occurrences(dir: &Path, text: &str) -> usize {
    let files = std::fs::read_dir(dir)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file());
    let count = |bytes: Vec<u8>| {
        bytes
            .windows(text.len())
            .filter(|window| *window == text.as_bytes())
            .count()
    };
    files.map(|file| count(std::fs::read(file).unwrap())).sum()
}

#[tokio::test]
async fn credentials_of_a_scan_are_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    use_file(dir.path());
    let runner = ScriptedRunner::default();
    let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
    let params = json!({"authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = service.post("/scans", body.clone()).await.created();
    service.until_status(scan, "running").await;
    assert!(
        dir.path().join("scandeck.db-wal").exists(),
        "the log is searched too"
    );
    assert_eq!(
        occurrences(dir.path(), "x1secret"),
        0,
        "while the scan runs"
    );
    assert!(occurrences(dir.path(), "sealed") > 0);
    assert!(
        runner.job(0).await.params.to_string().contains("x1secret"),
        "the engine receives the credentials"
    );
    runner.finish_scans(1);
    service.until_status(scan, "finished").await;
    assert_eq!(
        occurrences(dir.path(), "x1secret"),
        0,
        "after the end of the scan"
    );
    service.stop().await;
    assert_eq!(
        occurrences(dir.path(), "sealed"),
        0,
        "the sealed form is deleted too"
    );
    let mode = std::fs::metadata(dir.path().join("secrets.key"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn scan_whose_key_file_is_lost_fails_to_start() {
    let dir = tempfile::tempdir().unwrap();
    let shared = dir.path().join("shared.key");
    let with_key_file = || {
        let mut settings = settings(dir.path());
        settings.secrets_key_file = Some(shared.clone());
        settings
    };
    let runner = ScriptedRunner::default();
    let service = TestService::with_parts(with_key_file(), None, runner.clone()).await;
    let params = json!({"authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    service.until_status(scan, "running").await;
    service.stop().await;
    assert!(!dir.path().join("secrets.key").exists());
    std::fs::remove_file(&shared).unwrap();
    let service = TestService::with_parts(with_key_file(), None, runner.clone()).await;
    let ended = service.until_status(scan, "failed to start").await;
    assert!(
        ended["status_message"]
            .as_str()
            .unwrap()
            .contains("cannot be decrypted"),
        "{ended}"
    );
    assert_eq!(runner.jobs().len(), 1);
    service.stop().await;
}

#[test]
fn waiting_report_is_generated_after_restart() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    runner.finish_scans(1);
    let report = run_and_kill(dir.path(), &runner, async |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service.until_status(scan, "finished").await;
        let body =
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": [scan]});
        service.post("/reports", body).await.body["data"]["report_id"]
            .as_i64()
            .unwrap()
    });
    run_and_kill(dir.path(), &runner, async move |service| {
        service
            .until(&format!("/reports/{report}"), |report| {
                report["status"] == "finished"
            })
            .await;
        assert_eq!(
            service
                .get(&format!("/reports/{report}/download"))
                .await
                .status,
            200
        );
    });
}
