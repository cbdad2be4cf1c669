//! Operation of a service: health, request ids, audit log, metrics.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use scandeck::service::keys::{Role, add_key};
use serde_json::{Value, json};

use super::database::use_file;
use super::{JsonResponse, PATIENCE, TestService, settings};

fn audit_log(dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join("audit.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn health_needs_neither_key_nor_host() {
    let service = TestService::new().await;
    let root = service.base.trim_end_matches("/api/v2");
    for (path, body) in [("healthz", "ok\n"), ("readyz", "ready\n")] {
        let request = service
            .client
            .get(format!("{root}/{path}"))
            .header("host", "scans.example.net");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.text().await.unwrap(), body);
        let post = service
            .client
            .post(format!("{root}/{path}"))
            .send()
            .await
            .unwrap();
        JsonResponse::read(post).await.assert_refused(405, "POST");
    }
    service.stop().await;
}

#[tokio::test]
async fn audit_log_names_the_key_of_every_change_and_refusal() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let key = add_key(
        &super::database::data_dir(temp.path()),
        "ci",
        Role::Scan,
        "ana@box",
    )
    .await
    .unwrap()
    .unwrap();
    let send = async |method: Method, path: &str, key: &str| {
        let request = service
            .client
            .request(method, format!("{}{path}", service.base))
            .bearer_auth(key);
        request
            .json(&json!({"name": "127.0.0.1"}))
            .send()
            .await
            .unwrap()
    };
    let created = send(Method::POST, "/targets?note=secret", &key).await;
    let id = created.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(created.status(), 201);
    assert_eq!(send(Method::GET, "/targets", &key).await.status(), 200);
    assert_eq!(
        send(Method::DELETE, "/workspaces/1", &key).await.status(),
        403
    );
    assert_eq!(send(Method::GET, "/targets", "wrong").await.status(), 401);
    let log = audit_log(temp.path());
    let requests: Vec<Value> = log
        .iter()
        .map(|entry| json!([entry["key"], entry["role"], entry["status"]]))
        .collect();
    assert_eq!(
        requests,
        [
            json!(["ci", "scan", 201]),
            json!(["ci", "scan", 403]),
            json!([null, null, 401])
        ]
    );
    let first = &log[0];
    assert_eq!(
        (&first["event"], &first["request_id"]),
        (&json!("request"), &json!(id))
    );
    assert_eq!(
        (&first["method"], &first["path"]),
        (&json!("POST"), &json!("/api/v2/targets"))
    );
    assert_eq!(first["client"], "127.0.0.1");
    let text = std::fs::read_to_string(temp.path().join("audit.jsonl")).unwrap();
    assert!(
        !text.contains(&key) && !text.contains("secret") && !text.contains("wrong"),
        "{text}"
    );
    service.stop().await;
}

/// Tests a file only: its lock delays the change.
#[tokio::test]
async fn audit_log_has_a_change_whose_client_left_before_the_response() {
    let temp = tempfile::tempdir().unwrap();
    use_file(temp.path());
    let service = TestService::in_dir(temp.path()).await;
    let dir = super::database::data_dir(temp.path());
    let key = add_key(&dir, "chief", Role::Admin, "ana@box").await;
    let key = key.unwrap().unwrap();
    let file = temp.path().join("scandeck.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let mut blocking = pool.acquire().await.unwrap();
    let begin = sqlx::query("BEGIN IMMEDIATE");
    begin.execute(&mut *blocking).await.unwrap();
    let request = service
        .client
        .post(format!("{}/workspaces", service.base))
        .bearer_auth(&key)
        .json(&json!({"name": "Acme"}))
        .timeout(Duration::from_millis(500));
    assert!(request.send().await.unwrap_err().is_timeout());
    let written = async {
        while !temp.path().join("audit.jsonl").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let is_written = tokio::time::timeout(PATIENCE, written).await;
    assert!(is_written.is_ok(), "no entry");
    let end = sqlx::query("ROLLBACK");
    end.execute(&mut *blocking).await.unwrap();
    drop(blocking);
    pool.close().await;
    service.stop().await;
    let log = audit_log(temp.path());
    let entries: Vec<Value> = log
        .iter()
        .map(|entry| {
            json!([
                entry["key"],
                entry["role"],
                entry["method"],
                entry["status"]
            ])
        })
        .collect();
    assert_eq!(entries, [json!(["chief", "admin", "POST", 499])]);
}

#[tokio::test]
async fn request_id_of_a_trusted_proxy_is_used() {
    for (proxies, is_used) in [
        (vec!["127.0.0.0/8".parse().unwrap()], true),
        (Vec::new(), false),
    ] {
        let service = TestService::with(|settings| settings.behind_proxy = proxies).await;
        let send = async |id: &str| {
            let request = service
                .request(Method::GET, "/workspaces")
                .header("x-request-id", id);
            request.send().await.unwrap().headers()["x-request-id"]
                .to_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(send("edge-7").await == "edge-7", is_used);
        assert_ne!(send("not valid").await, "not valid");
        assert_ne!(send("not valid").await, send("not valid").await);
        service.stop().await;
    }
}

#[tokio::test]
async fn metrics_have_a_listener_of_their_own() {
    let temp = tempfile::tempdir().unwrap();
    let mut settings = settings(temp.path());
    settings.metrics_listen = Some("127.0.0.1:0".parse().unwrap());
    let stop = tokio_util::sync::CancellationToken::new();
    let running = scandeck::service::start(settings, stop.clone())
        .await
        .unwrap();
    let note = running
        .notes
        .iter()
        .find_map(|note| note.strip_prefix("metrics at "))
        .expect("the address")
        .to_owned();
    let service = TestService::of(running, stop);
    service.get("/workspaces").await.data();
    service
        .post("/http_loggers", json!({"label": "a"}))
        .await
        .created();
    let url = service.get("/http_loggers").await.data()[0]["handler_url"]
        .as_str()
        .unwrap()
        .to_owned();
    service.client.get(&url).send().await.unwrap();
    let response = service.client.get(&note).send().await.unwrap();
    assert!(
        response.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    let text = response.text().await.unwrap();
    for line in [
        "scandeck_http_requests_total{method=\"GET\",status=\"200\"} 2",
        "scandeck_logger_requests_total{status=\"200\"} 1",
        "scandeck_scans{state=\"running\"} 0",
        "scandeck_loggers_recording 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    service
        .get("/metrics")
        .await
        .assert_refused(404, "/metrics");
    service.stop().await;
}
