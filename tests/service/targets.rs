//! `/targets`.

use serde_json::json;

use super::TestService;

#[tokio::test]
async fn created_target_has_normalized_name_and_type() {
    let service = TestService::new().await;
    for (given, name, kind) in [
        ("LOCALHOST.", "localhost", "hostname"),
        ("[::1]", "::1", "ip_address"),
        ("http://127.0.0.1:80", "http://127.0.0.1/", "url"),
    ] {
        let id = service
            .form("/targets", &[("name", given), ("description", "mine")])
            .await
            .created();
        let shown = service.get(&format!("/targets/{id}")).await;
        assert_eq!(
            shown.data(),
            &json!({"id": id, "name": name, "type": kind, "description": "mine", "workspace_id": 1})
        );
        service
            .post("/targets", json!({"name": name}))
            .await
            .assert_refused(409, "already exists");
    }
    service.stop().await;
}

#[tokio::test]
async fn target_list_filters_and_pages() {
    let service = TestService::new().await;
    let acme = service
        .post("/workspaces", json!({"name": "Acme"}))
        .await
        .created();
    for number in 1..=5 {
        service.target(&format!("127.0.0.{number}")).await;
    }
    service
        .post(
            "/targets",
            json!({"name": "http://127.0.0.1/", "workspace_id": acme}),
        )
        .await
        .created();
    let count = async |query: &str| service.count(&format!("/targets{query}")).await;
    assert_eq!(count("").await, 6);
    assert_eq!(count("?workspace_id=1").await, 5);
    assert_eq!(count("?workspace_id=99").await, 0);
    assert_eq!(count("?type=url").await, 1);
    assert_eq!(count("?limit=4").await, 4);
    assert_eq!(count("?limit=4&page=2&colour=red").await, 2);
    assert_eq!(count("?limit=4&page=3").await, 0);
    service.stop().await;
}

#[tokio::test]
async fn invalid_target_request_names_field() {
    let service = TestService::new().await;
    for (query, message) in [
        ("type=host", "type"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("page=0", "page"),
    ] {
        service
            .get(&format!("/targets?{query}"))
            .await
            .assert_refused(400, message);
    }
    service
        .post("/targets", json!({}))
        .await
        .assert_refused(400, "name is required");
    service
        .post("/targets", json!({"name": "127.0.0.1:8080"}))
        .await
        .assert_refused(400, "http://127.0.0.1:8080/");
    let over_tls = json!({"tool_id": 450, "target_name": "127.0.0.1:8080"});
    service
        .post("/scans", over_tls)
        .await
        .assert_refused(400, "https://127.0.0.1:8080/");
    service
        .post("/targets", json!({"name": "127.0.0.0/8"}))
        .await
        .assert_refused(400, "use one address per target");
    service
        .post("/targets", json!({"name": "127.0.0.1", "workspace_id": 99}))
        .await
        .assert_refused(404, "workspace 99 not found");
    service
        .get("/targets/99")
        .await
        .assert_refused(404, "target 99 not found");
    service
        .delete("/targets/99")
        .await
        .assert_refused(404, "target 99 not found");
    service.stop().await;
}

#[tokio::test]
async fn target_outside_scope_or_above_limit_is_refused_with_remedy() {
    let service = TestService::with(|settings| settings.max_targets = 2).await;
    service
        .post("/targets", json!({"name": "192.0.2.7"}))
        .await
        .assert_refused(403, "scandeck scope add 192.0.2.7");
    service.target("127.0.0.1").await;
    service.target("127.0.0.2").await;
    let refused = service.post("/targets", json!({"name": "127.0.0.3"})).await;
    refused.assert_refused(403, "2 targets");
    service.stop().await;
}

#[tokio::test]
async fn target_deletion_removes_scans_unless_one_is_active() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    let scan = service.scan(target).await;
    service.until_status(scan, "running").await;
    service
        .delete(&format!("/targets/{target}"))
        .await
        .assert_refused(409, "running scans");
    service.runner.finish_scans(1);
    service.until_status(scan, "finished").await;
    service
        .delete(&format!("/targets/{target}"))
        .await
        .assert_no_content();
    service
        .get(&format!("/scans/{scan}"))
        .await
        .assert_refused(404, "not found");
    service.stop().await;
}
