//! Several services on one database: takeover, leases, roles, keys.
//!
//! Leases are shorter than the 15 s of `scandeck serve`, so that no test waits for long.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use scandeck::contract::WorkspaceId;
use scandeck::service::{NodeRole, start};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::database::use_file;
use super::shared::{first_settings, second_settings, typical_service};
use super::{JsonResponse, PATIENCE, TestService};

/// Long enough for beats on a busy machine.
const LEASE: Duration = Duration::from_secs(3);

/// Waits until a condition is met.
async fn until(is_met: impl Fn() -> bool) {
    let met = async {
        while !is_met() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let met = tokio::time::timeout(PATIENCE, met).await;
    met.expect("the condition is met");
}

/// A response of a path beside the API v2.
async fn beside(service: &TestService, path: &str) -> JsonResponse {
    let url = service.base.replace("/api/v2", path);
    let request = service.client.get(url).bearer_auth(&service.key);
    JsonResponse::read(request.send().await.unwrap()).await
}

/// Starts a scan, and waits until its results are stored.
async fn running_scan(service: &TestService) -> i64 {
    let id = service.scan(service.target("127.0.0.1").await).await;
    let has_results = |scan: &Value| scan["num_finished_tests"] == 7;
    service.until(&format!("/scans/{id}"), has_results).await;
    id
}

/// Runs a scan on a service in a runtime of its own; then drops the runtime, as a kill of the
/// process does. Meanwhile another service starts.
fn run_scan_and_kill(dir: &Path, start_other: impl FnOnce()) -> i64 {
    let runtime = Runtime::new().unwrap();
    let mut settings = first_settings(dir);
    settings.lease = LEASE;
    let (service, scan) = runtime.block_on(async {
        let service = typical_service(settings).await;
        let scan = running_scan(&service).await;
        (service, scan)
    });
    start_other();
    assert_eq!(service.runner.jobs().len(), 1);
    std::mem::forget(service);
    runtime.shutdown_timeout(Duration::from_secs(5));
    scan
}

#[test]
fn scan_of_a_killed_service_is_finished_once_by_another() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let mut other = None;
    let scan = run_scan_and_kill(dir.path(), || {
        let mut settings = second_settings(dir.path());
        settings.lease = LEASE;
        other = Some(runtime.block_on(typical_service(settings)));
    });
    let other = other.expect("it has started");
    runtime.block_on(async {
        other.runner.finish_scans(2);
        let ended = other.until_status(scan, "finished").await;
        assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
        assert_eq!(
            ended["info_text_lines"],
            json!([
                "started again after an interruption, attempt 2",
                "connected to 127.0.0.1"
            ])
        );
        assert_eq!(other.count("/findings").await, 2);
        assert_eq!(other.runner.jobs().len(), 1);
        let nodes = beside(&other, "/scandeck/v1/nodes").await;
        assert_eq!(nodes.body["nodes"].as_array().unwrap().len(), 1);
        other.stop().await;
    });
}

#[tokio::test]
async fn clean_stop_hands_scans_over_without_waiting_for_the_lease() {
    let dir = tempfile::tempdir().unwrap();
    let one = typical_service(first_settings(dir.path())).await;
    let scan = running_scan(&one).await;
    let mut settings = second_settings(dir.path());
    // Far above the time that a test may take.
    settings.lease = Duration::from_secs(600);
    let other = typical_service(settings).await;
    other.runner.finish_scans(1);
    one.stop().await;
    let ended = other.until_status(scan, "finished").await;
    assert_eq!(
        ended["info_text_lines"][0],
        "started again, because the service was stopped"
    );
    other.stop().await;
}

#[tokio::test]
async fn scan_of_a_service_that_cannot_beat_ends_and_starts_again() {
    let dir = tempfile::tempdir().unwrap();
    use_file(&dir.path().join("one"));
    let mut settings = first_settings(dir.path());
    settings.lease = LEASE;
    let service = typical_service(settings).await;
    let scan = running_scan(&service).await;

    let file = dir.path().join("one/scandeck.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let mut blocking = pool.acquire().await.unwrap();
    let begin = sqlx::query("BEGIN IMMEDIATE");
    begin.execute(&mut *blocking).await.unwrap();
    until(|| service.runner.running() == 0).await;
    let end = sqlx::query("ROLLBACK");
    end.execute(&mut *blocking).await.unwrap();
    drop(blocking);
    pool.close().await;

    service.runner.job(1).await;
    service.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
    service.stop().await;
}

#[tokio::test]
async fn service_with_another_secrets_key_does_not_start_beside_a_live_one() {
    let dir = tempfile::tempdir().unwrap();
    let one = typical_service(first_settings(dir.path())).await;
    let acme = one.post("/workspaces", json!({"name": "Acme"})).await;
    let mut settings = second_settings(dir.path());
    settings.secrets_key_file = None;
    settings.current_workspace = Some(WorkspaceId(acme.created()));
    let refused = start(settings, CancellationToken::new()).await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("other/secrets.key is not the key file of the node on")
            && error.ends_with("or name it with --secrets-key-file"),
        "{error}"
    );
    // It is not the current one.
    let path = format!("/workspaces/{}", acme.created());
    one.delete(&path).await.assert_no_content();
    one.stop().await;
}

#[tokio::test]
async fn service_with_another_callback_key_does_not_start_beside_a_live_one() {
    let dir = tempfile::tempdir().unwrap();
    let one = typical_service(first_settings(dir.path())).await;
    let settings = second_settings(dir.path());
    let file = dir.path().join("other/callback.key");
    std::fs::remove_file(&file).unwrap();
    let refused = start(settings.clone(), CancellationToken::new()).await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("other/callback.key is not the key file of the node on")
            && error.ends_with("copy the file of that node"),
        "{error}"
    );
    std::fs::copy(dir.path().join("one/callback.key"), &file).unwrap();
    let other = typical_service(settings).await;
    other.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn scan_of_a_node_without_worker_runs_on_a_node_without_api() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = first_settings(dir.path());
    settings.roles = [NodeRole::Api, NodeRole::Logger].into();
    let api = typical_service(settings).await;
    let mut settings = second_settings(dir.path());
    settings.roles = [NodeRole::Worker].into();
    settings.logger_url = Some(api.logger_base.parse().unwrap());
    let worker = typical_service(settings).await;

    let nodes = beside(&api, "/scandeck/v1/nodes").await;
    let listed = nodes.body["nodes"].as_array().unwrap();
    let roles: Vec<&Value> = listed.iter().map(|node| &node["roles"]).collect();
    assert_eq!(roles, [&json!(["api", "logger"]), &json!(["worker"])]);
    let refused = worker.request(Method::GET, "/scans").send().await.unwrap();
    let refused = JsonResponse::read(refused).await;
    refused.assert_refused(404, "this node does not serve /api/v2/scans");
    assert_eq!(beside(&worker, "/readyz").await.status, 200);

    worker.runner.finish_scans(1);
    let scan = api.scan(api.target("127.0.0.1").await).await;
    api.until_status(scan, "finished").await;
    assert_eq!(
        (api.runner.jobs().len(), worker.runner.jobs().len()),
        (0, 1)
    );
    worker.stop().await;
    api.stop().await;
}
