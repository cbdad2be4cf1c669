//! `scandeck watch --schedules`: schedules of the configuration at a service that has none itself.

use std::path::{Path, PathBuf};

use scandeck::client::BaseUrl;
use scandeck::config::{ServiceName, StateDir};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{CliFixture, Ended, command, run};

const SCHEDULE: &str = r#"
[[scan_profiles.host]]
tool = 70

[[scan_profiles.host]]
tool = 240

[schedules.nightly]
scan_profile = "host"
targets = ["shop.test", "gone.test"]
every = "1h"
"#;

fn configure(home: &Path, text: &str) {
    let directory = home.join(".config/scandeck");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), text).unwrap();
}

/// A service without extensions: a workspace with a target, and empty lists.
async fn foreign_service() -> MockServer {
    let server = MockServer::start().await;
    let target = json!([{"id": 4, "name": "shop.test", "type": "hostname", "workspace_id": 1}]);
    for (list, items) in [
        ("workspaces", json!([{"id": 1, "name": "Acme"}])),
        ("targets", target),
    ] {
        let response = ResponseTemplate::new(200).set_body_json(json!({ "data": items }));
        Mock::given(method("GET"))
            .and(path(format!("/api/v2/{list}")))
            .respond_with(response)
            .mount(&server)
            .await;
    }
    let created = json!({"data": {"created_id": 7}});
    Mock::given(method("POST"))
        .and(path("/api/v2/scans"))
        .respond_with(ResponseTemplate::new(201).set_body_json(created))
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": []})))
        .mount(&server)
        .await;
    server
}

async fn watch(home: &Path, server: &MockServer) -> Ended {
    let mut command = command(home, &["watch", "--once", "--schedules"]);
    command
        .env("SCANDECK_BASE_URL", server.uri())
        .env("SCANDECK_API_KEY", "key");
    let ended = run(&mut command).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    ended
}

/// The bodies of the scans that were started.
async fn started(server: &MockServer) -> Vec<Value> {
    let requests = server.received_requests().await.unwrap();
    let posts = requests.iter().filter(|one| one.method.as_str() == "POST");
    posts
        .map(|one| serde_json::from_slice(&one.body).unwrap())
        .collect()
}

fn starts_file(home: &Path, server: &MockServer) -> PathBuf {
    let base = BaseUrl::parse(&server.uri(), false).unwrap();
    let state = StateDir::new(home.join(".local/state/scandeck"));
    let directory = state.of_service(&ServiceName::At(base.to_string()));
    directory.join("alerts.db")
}

#[tokio::test]
async fn due_schedule_starts_once_and_one_scan_of_a_target_at_a_time() {
    let (home, server) = (tempfile::tempdir().unwrap(), foreign_service().await);
    configure(home.path(), SCHEDULE);
    watch(home.path(), &server).await;
    assert!(started(&server).await.is_empty(), "counted from now");
    // Two minutes pass over the first start.
    let passed = "UPDATE schedules SET done = done - 120000";
    let file = starts_file(home.path(), &server);
    scandeck_wire::sqlite::execute(&file, passed).await.unwrap();
    let first = watch(home.path(), &server).await;
    assert!(
        first.err.contains("target \"gone.test\" not found")
            && first.err.contains("schedule nightly: 2 scans due"),
        "{first:?}"
    );
    let scan = |tool: i64| json!({"tool_id": tool, "target_id": 4, "workspace_id": 1});
    assert_eq!(started(&server).await, [scan(70)]);
    // No scan of the target is active any more.
    watch(home.path(), &server).await;
    assert_eq!(started(&server).await, [scan(70), scan(240)]);
    watch(home.path(), &server).await;
    assert_eq!(started(&server).await.len(), 2, "once");
    let requests = server.received_requests().await.unwrap();
    let is_extension = |path: &str| path.starts_with("/scandeck");
    assert!(!requests.iter().any(|one| is_extension(one.url.path())));
}

#[tokio::test]
async fn service_with_schedules_and_missing_settings_are_named() {
    let cli = CliFixture::new().await;
    let watch = ["watch", "--once", "--schedules"];
    let none = cli.run(&watch).await;
    none.refused(1, "there are no schedules for this service");
    configure(cli.home.path(), SCHEDULE);
    let own = cli.run(&watch).await;
    own.refused(1, "starts schedules itself");
    let all = SCHEDULE.replace("targets = [\"shop.test\", \"gone.test\"]\n", "");
    configure(cli.home.path(), &all);
    let unnamed = cli.run(&watch).await;
    unnamed.refused(2, "all targets of a workspace");
    cli.service.stop().await;
}
