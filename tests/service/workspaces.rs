//! `/workspaces`.

use serde_json::json;

use super::TestService;

#[tokio::test]
async fn new_service_has_current_workspace_default() {
    let service = TestService::new().await;
    let listed = service.get("/workspaces").await;
    assert_eq!(
        listed.data(),
        &json!([{"id": 1, "name": "Default", "description": "", "scan_count": 0, "target_count": 0}])
    );
    service
        .delete("/workspaces/1")
        .await
        .assert_refused(409, "current workspace");
    service.stop().await;
}

#[tokio::test]
async fn workspace_created_updates_and_deletes() {
    let service = TestService::new().await;
    let acme = service
        .form(
            "/workspaces",
            &[("name", " Acme "), ("description", "external")],
        )
        .await
        .created();
    let beta = service
        .post("/workspaces", json!({"name": "Beta"}))
        .await
        .created();
    assert_eq!(
        service.get(&format!("/workspaces/{acme}")).await.data()["name"],
        "Acme"
    );

    let path = format!("/workspaces/{beta}");
    service
        .put(&path, json!({"description": "internal"}))
        .await
        .assert_no_content();
    service
        .put(&path, json!({"name": "BETA"}))
        .await
        .assert_no_content();
    let shown = service.get(&path).await;
    assert_eq!(
        (&shown.data()["name"], &shown.data()["description"]),
        (&json!("BETA"), &json!("internal"))
    );

    service.delete(&path).await.assert_no_content();
    service.get(&path).await.assert_refused(404, "not found");
    service.delete(&path).await.assert_refused(404, "not found");
    service.stop().await;
}

#[tokio::test]
async fn workspace_name_differing_in_case_or_blanks_conflicts() {
    let service = TestService::new().await;
    let acme = service
        .post("/workspaces", json!({"name": "Acme"}))
        .await
        .created();
    service
        .post("/workspaces", json!({"name": " aCME "}))
        .await
        .assert_refused(409, "already exists");
    service
        .put(&format!("/workspaces/{acme}"), json!({"name": "default"}))
        .await
        .assert_refused(409, "already exists");
    service.stop().await;
}

#[tokio::test]
async fn invalid_workspace_request_names_field() {
    let service = TestService::new().await;
    service
        .post("/workspaces", json!({}))
        .await
        .assert_refused(400, "name is required");
    service
        .post("/workspaces", json!({"name": "  "}))
        .await
        .assert_refused(400, "must not be empty");
    service
        .post("/workspaces", json!({"name": 7}))
        .await
        .assert_refused(400, "must be a string");
    service
        .post("/workspaces", json!({"name": "a\u{0}b"}))
        .await
        .assert_refused(400, "NUL is not allowed");
    service
        .put("/workspaces/1", json!({"description": "a\u{0}b"}))
        .await
        .assert_refused(400, "NUL is not allowed");
    service
        .put("/workspaces/1", json!({}))
        .await
        .assert_refused(400, "is required");
    service
        .put("/workspaces/99", json!({"name": "x"}))
        .await
        .assert_refused(404, "workspace 99 not found");
    service
        .get("/workspaces/one")
        .await
        .assert_refused(400, "ids are integers");
    service.stop().await;
}

#[tokio::test]
async fn workspace_deletion_stops_scans_and_removes_contents() {
    let service = TestService::new().await;
    let acme = service
        .post("/workspaces", json!({"name": "Acme"}))
        .await
        .created();
    let target = service
        .post(
            "/targets",
            json!({"name": "127.0.0.1", "workspace_id": acme}),
        )
        .await
        .created();
    let logger = service
        .post(
            &format!("/http_loggers?workspace_id={acme}"),
            json!({"label": "a"}),
        )
        .await
        .created();
    let scan = service.scan(target).await;
    service.until_status(scan, "running").await;
    let counted = service.get(&format!("/workspaces/{acme}")).await;
    assert_eq!(
        (
            &counted.data()["scan_count"],
            &counted.data()["target_count"]
        ),
        (&json!(1), &json!(1))
    );

    service
        .delete(&format!("/workspaces/{acme}"))
        .await
        .assert_no_content();
    service
        .get(&format!("/scans/{scan}"))
        .await
        .assert_refused(404, "not found");
    service
        .get(&format!("/targets/{target}"))
        .await
        .assert_refused(404, "not found");
    service
        .get(&format!("/http_loggers/{logger}"))
        .await
        .assert_refused(404, "not found");
    service.stop().await;
}
