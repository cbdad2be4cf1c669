//! Several services on one database: takeover, leases, roles, keys.
//!
//! Leases are shorter than the 15 s of `scandeck serve`, so that no test waits for long.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use scandeck::contract::WorkspaceId;
use scandeck::service::scope::{ScanScope, ScopeFile};
use scandeck::service::{NodeRole, RateLimit, start};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::database::{database_url, use_file};
use super::process::program;
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

/// Tests a file only; `database_faults.rs` has the node of a server that is cut off.
#[tokio::test]
async fn scan_of_the_only_node_goes_on_while_it_cannot_beat() {
    let dir = tempfile::tempdir().unwrap();
    use_file(&dir.path().join("one"));
    let mut settings = first_settings(dir.path());
    settings.lease = Duration::from_millis(300);
    let service = typical_service(settings).await;
    let scan = running_scan(&service).await;

    let file = dir.path().join("one/scandeck.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let mut blocking = pool.acquire().await.unwrap();
    let begin = sqlx::query("BEGIN IMMEDIATE");
    begin.execute(&mut *blocking).await.unwrap();
    // Several leases.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(service.runner.running(), 1);
    let end = sqlx::query("ROLLBACK");
    end.execute(&mut *blocking).await.unwrap();
    drop(blocking);
    pool.close().await;

    service.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7);
    assert_eq!(service.runner.jobs().len(), 1, "it was not started again");
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
            && error.ends_with("copy the file from that node"),
        "{error}"
    );
    std::fs::copy(dir.path().join("one/callback.key"), &file).unwrap();
    let other = typical_service(settings).await;
    other.stop().await;
    one.stop().await;
}

/// Tests PostgreSQL only: a file has one node.
#[tokio::test]
async fn rate_limit_of_a_key_holds_for_all_nodes_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = first_settings(dir.path());
    if settings.database.is_none() {
        return;
    }
    settings.rate_limit = RateLimit::PerMinute(1000);
    let one = typical_service(settings).await;
    let mut settings = second_settings(dir.path());
    settings.rate_limit = RateLimit::PerMinute(1000);
    let other = typical_service(settings).await;
    let remaining = async |service: &TestService| {
        let request = service.request(Method::GET, "/workspaces");
        let response = request.send().await.unwrap();
        let header = response.headers()["x-ratelimit-remaining"].to_str();
        header.unwrap().parse::<i64>().unwrap()
    };
    for _ in 0..100 {
        remaining(&one).await;
    }
    let counted = async {
        let mut own = 1;
        while remaining(&other).await + own > 900 {
            own += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let counted = tokio::time::timeout(PATIENCE, counted).await;
    counted.expect("the requests of the other node are counted");
    other.stop().await;
    one.stop().await;
}

/// The scope file of one of two services.
fn scope_file(dir: &Path, service: &str) -> ScopeFile {
    ScopeFile::new(dir.join(service).join("scope.toml"))
}

fn targets_of(scope: &ScanScope) -> [Vec<String>; 2] {
    [&scope.allow, &scope.deny].map(|entries| {
        let targets = entries.iter().map(|entry| entry.target.to_string());
        targets.collect()
    })
}

/// Tests PostgreSQL only: a service with a file has a scope of its own.
#[tokio::test]
async fn scope_changed_at_one_node_holds_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let settings = first_settings(dir.path());
    let Some(url) = database_url(&dir.path().join("one")) else {
        return;
    };
    let one = typical_service(settings).await;
    let other = typical_service(second_settings(dir.path())).await;
    let command = |service: &str, args: &[&str]| {
        let mut scope = program("scope", &dir.path().join(service));
        scope.args(args).env("SCANDECK_DATABASE_URL", &url);
        scope
    };
    let body = json!({"name": "192.0.2.7"});
    let refused = other.post("/targets", body.clone()).await;
    refused.assert_refused(403, "scandeck scope add 192.0.2.7");
    let allowed = command("one", &["add", "192.0.2.7"]).output().unwrap();
    assert!(allowed.status.success(), "{allowed:?}");
    // The node of the command uses it at once.
    let target = one.post("/targets", body.clone()).await.created();
    let deleted = one.delete(&format!("/targets/{target}")).await;
    deleted.assert_no_content();
    let copy = scope_file(dir.path(), "other");
    let copied = || targets_of(&copy.load().unwrap());
    until(|| copied()[0] == ["192.0.2.7"]).await;
    let target = other.post("/targets", body.clone()).await.created();
    let deleted = other.delete(&format!("/targets/{target}")).await;
    deleted.assert_no_content();

    let denied = command("other", &["deny", "192.0.2.7"]).output().unwrap();
    assert!(denied.status.success(), "{denied:?}");
    let refused = other.post("/targets", body).await;
    refused.assert_refused(403, "is denied by the scope file");
    // A copy that was edited by hand is written again, and commands do not edit it.
    std::fs::write(copy.path(), "").unwrap();
    until(|| copied()[1] == ["192.0.2.7"]).await;
    let mut without_database = command("other", &["remove", "192.0.2.7"]);
    let refused = without_database
        .env_remove("SCANDECK_DATABASE_URL")
        .output();
    let message = String::from_utf8(refused.unwrap().stderr).unwrap();
    assert!(
        message.contains("is a copy of the scope in the database"),
        "{message}"
    );
    other.stop().await;
    one.stop().await;
}

/// Tests PostgreSQL only: on a file, the scope file remains the scope.
#[tokio::test]
async fn scope_files_are_stored_when_their_nodes_start() {
    let dir = tempfile::tempdir().unwrap();
    let settings = first_settings(dir.path());
    if settings.database.is_none() {
        return;
    }
    let first = scope_file(dir.path(), "one");
    std::fs::write(first.path(), "allow = [{ target = 'a.test' }]").unwrap();
    let one = typical_service(settings).await;
    let settings = second_settings(dir.path());
    let second = scope_file(dir.path(), "other");
    let entries = "allow = [{ target = 'b.test' }]\ndeny = [{ target = 'c.test' }]";
    std::fs::write(second.path(), entries).unwrap();
    let other = typical_service(settings).await;
    let expected = [vec!["a.test".to_owned()], vec!["c.test".to_owned()]];
    assert_eq!(targets_of(&second.load().unwrap()), expected);
    until(|| targets_of(&first.load().unwrap()) == expected).await;
    let kept = std::fs::read_to_string(second.path().with_extension("toml.bak"));
    assert_eq!(kept.unwrap(), entries);
    let notes = &other.running.notes;
    let has_notice = notes
        .iter()
        .any(|note| note.contains("1 denial of the file added, 1 allowance not"));
    assert!(has_notice, "{notes:?}");
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

#[tokio::test]
async fn scan_of_a_stopped_node_waits_for_another_worker() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = first_settings(dir.path());
    settings.roles = [NodeRole::Api, NodeRole::Logger].into();
    let api = typical_service(settings).await;
    let worker = typical_service(second_settings(dir.path())).await;
    let scan = running_scan(&api).await;
    worker.stop().await;
    let waiting = api.until_status(scan, "waiting").await;
    assert_eq!(
        (&waiting["num_finished_tests"], &waiting["duration"]),
        (&json!(7), &json!(0))
    );
    assert_eq!(api.count("/scans?status=waiting").await, 1);
    assert_eq!(api.count("/scans?status=running").await, 0);
    api.stop().await;
}
