//! `scandeck import` in a terminal: the progress line of a file.

use serde_json::json;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::Session;

const LINE: &str = r#"{"template-id":"t","info":{"name":"n"},"host":"a.test"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn progress_of_an_import_names_its_file_and_disappears() {
    let (server, home) = (MockServer::start().await, tempfile::tempdir().unwrap());
    std::fs::write(home.path().join("a.jsonl"), LINE).unwrap();
    let scan = json!({"id": 5, "target_name": "a.test", "findings": 1, "is_new_target": true});
    let file = json!({"file": "a.jsonl", "format": "nuclei", "findings": 1, "scans": [scan]});
    let answer = |status: u16, state: &str| {
        let import = json!({"id": 7, "state": state, "file_name": "a.jsonl", "files": [&file]});
        ResponseTemplate::new(status).set_body_json(json!({ "data": import }))
    };
    Mock::given(method("POST"))
        .and(path("/api/v2/imports"))
        .respond_with(answer(202, "waiting"))
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/api/v2/imports/7"))
        .respond_with(answer(200, "running"))
        .mount(&server)
        .await;
    let base = server.uri();
    let variables = [
        ("SCANDECK_BASE_URL", base.as_str()),
        ("SCANDECK_API_KEY", "k"),
    ];
    let mut session = Session::start(home.path(), &["import", "a.jsonl"], &variables);
    session.until("a.jsonl: the service imports the file").await;
    Mock::given(method("GET"))
        .and(path("/api/v2/imports/7"))
        .respond_with(answer(200, "finished"))
        .with_priority(1)
        .mount(&server)
        .await;
    session.until("scan 5: a.test, 1 finding, new target").await;
    assert_eq!(session.ended().await, 0);
    let shown = session.text();
    assert!(shown.starts_with("a.jsonl\n  format    nuclei"), "{shown}");
    assert!(!shown.contains("the service reads"), "{shown}");
}
