//! Tags of targets (`/scandeck/v1/targets/{id}/tags`): changes, refusals, roles, the list.

use reqwest::Method;
use scandeck::service::keys::{Role, add_key};
use serde_json::{Value, json};

use super::{JsonResponse, TestService};

/// Changes the tags of a target with a key.
async fn change(service: &TestService, key: &str, target: i64, body: Value) -> JsonResponse {
    let root = service.base.replace("/api/v2", "/scandeck/v1/targets");
    let request = service
        .client
        .request(Method::POST, format!("{root}/{target}/tags"))
        .bearer_auth(key)
        .json(&body);
    JsonResponse::read(request.send().await.unwrap()).await
}

#[tokio::test]
async fn tags_are_changed_and_shown_with_their_target() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    service.target("127.0.0.2").await;
    let added = json!({"add": ["prod", "#Web"]});
    let added = change(&service, &service.key, target, added).await;
    assert_eq!(
        (added.status, &added.body),
        (200, &json!({"target_id": target, "tags": ["prod", "web"]}))
    );
    let changed = json!({"add": ["api"], "remove": ["web", "unknown"]});
    let changed = change(&service, &service.key, target, changed).await;
    assert_eq!(changed.body["tags"], json!(["api", "prod"]));
    let list = service.get("/targets").await;
    assert_eq!(list.data()[0]["tags"], json!(["api", "prod"]));
    assert_eq!(list.data()[1].get("tags"), None, "absent without tags");
    let shown = service.get(&format!("/targets/{target}")).await;
    assert_eq!(shown.data()["tags"], json!(["api", "prod"]));
    service.stop().await;
}

#[tokio::test]
async fn change_of_tags_changes_the_version_of_the_list() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    let version = async || {
        let request = service.request(Method::GET, "/targets?workspace_id=1");
        let response = request.send().await.unwrap();
        response.headers()["etag"].to_str().unwrap().to_owned()
    };
    let before = version().await;
    assert_eq!(version().await, before);
    change(&service, &service.key, target, json!({"add": ["prod"]})).await;
    assert_ne!(version().await, before);
    service.stop().await;
}

#[tokio::test]
async fn invalid_changes_of_tags_are_refused() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    let many: Vec<String> = (0..21).map(|number| format!("t{number}")).collect();
    for (body, message) in [
        (json!({"add": ["a b"]}), "add: `a b` is not valid"),
        (json!({"remove": [""]}), "remove: `` is not valid"),
        (json!({"add": "prod"}), "add must be a list of strings"),
        (json!({ "add": many }), "at most 20 tags"),
    ] {
        let refused = change(&service, &service.key, target, body).await;
        refused.assert_refused(400, message);
    }
    let missing = change(&service, &service.key, 99, json!({"add": ["prod"]})).await;
    missing.assert_refused(404, "target");
    service.stop().await;
}

#[tokio::test]
async fn tags_need_the_role_scan() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let target = service.target("127.0.0.1").await;
    let dir = super::database::data_dir(temp.path());
    for (name, role, status) in [("look", Role::Triage, 403), ("ci", Role::Scan, 200)] {
        let key = add_key(&dir, name, role, "ana@box").await.unwrap().unwrap();
        let response = change(&service, &key, target, json!({"add": ["prod"]})).await;
        assert_eq!(response.status, status, "{response:?}");
    }
    service.stop().await;
}
