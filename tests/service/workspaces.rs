//! `/workspaces`.

use serde_json::json;

use super::World;

#[tokio::test]
async fn a_new_service_has_the_workspace_default_and_it_is_the_current_one() {
    let world = World::new().await;
    let listed = world.get("/workspaces").await;
    assert_eq!(
        listed.data(),
        &json!([{"id": 1, "name": "Default", "description": "", "scan_count": 0, "target_count": 0}])
    );
    world.delete("/workspaces/1").await.refused(409, "current workspace");
    world.stop().await;
}

#[tokio::test]
async fn workspaces_are_made_changed_and_deleted() {
    let world = World::new().await;
    let acme = world.form("/workspaces", &[("name", " Acme "), ("description", "external")]).await.created();
    let beta = world.post("/workspaces", json!({"name": "Beta"})).await.created();
    assert_eq!(world.get(&format!("/workspaces/{acme}")).await.data()["name"], "Acme");

    let path = format!("/workspaces/{beta}");
    world.put(&path, json!({"description": "internal"})).await.gone();
    world.put(&path, json!({"name": "BETA"})).await.gone();
    let shown = world.get(&path).await;
    assert_eq!((&shown.data()["name"], &shown.data()["description"]), (&json!("BETA"), &json!("internal")));

    world.delete(&path).await.gone();
    world.get(&path).await.refused(404, "no workspace");
    world.delete(&path).await.refused(404, "no workspace");
    world.stop().await;
}

#[tokio::test]
async fn names_are_unique_without_case_and_blanks() {
    let world = World::new().await;
    let acme = world.post("/workspaces", json!({"name": "Acme"})).await.created();
    world.post("/workspaces", json!({"name": " aCME "})).await.refused(409, "already exists");
    world.put(&format!("/workspaces/{acme}"), json!({"name": "default"})).await.refused(409, "already exists");
    world.stop().await;
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named() {
    let world = World::new().await;
    world.post("/workspaces", json!({})).await.refused(400, "name is required");
    world.post("/workspaces", json!({"name": "  "})).await.refused(400, "must not be empty");
    world.post("/workspaces", json!({"name": 7})).await.refused(400, "a string is expected");
    world.put("/workspaces/1", json!({})).await.refused(400, "must be given");
    world.put("/workspaces/99", json!({"name": "x"})).await.refused(404, "no workspace 99");
    world.get("/workspaces/one").await.refused(400, "ids are integers");
    world.stop().await;
}

#[tokio::test]
async fn deleting_a_workspace_stops_its_scans_and_takes_all_that_is_in_it() {
    let world = World::new().await;
    let acme = world.post("/workspaces", json!({"name": "Acme"})).await.created();
    let target = world.post("/targets", json!({"name": "127.0.0.1", "workspace_id": acme})).await.created();
    let logger = world.post(&format!("/http_loggers?workspace_id={acme}"), json!({"label": "a"})).await.created();
    let scan = world.scan(target).await;
    world.until_status(scan, "running").await;
    let counted = world.get(&format!("/workspaces/{acme}")).await;
    assert_eq!((&counted.data()["scan_count"], &counted.data()["target_count"]), (&json!(1), &json!(1)));

    world.delete(&format!("/workspaces/{acme}")).await.gone();
    world.get(&format!("/scans/{scan}")).await.refused(404, "no scan");
    world.get(&format!("/targets/{target}")).await.refused(404, "no target");
    world.get(&format!("/http_loggers/{logger}")).await.refused(404, "no logger");
    world.stop().await;
}
