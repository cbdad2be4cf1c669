//! `/targets`.

use serde_json::json;

use super::World;

#[tokio::test]
async fn targets_have_one_spelling_and_one_of_three_types() {
    let world = World::new().await;
    for (given, name, kind) in [
        ("LOCALHOST.", "localhost", "hostname"),
        ("[::1]", "::1", "ip_address"),
        ("http://127.0.0.1:80", "http://127.0.0.1/", "url"),
    ] {
        let id = world.form("/targets", &[("name", given), ("description", "mine")]).await.created();
        let shown = world.get(&format!("/targets/{id}")).await;
        assert_eq!(
            shown.data(),
            &json!({"id": id, "name": name, "type": kind, "description": "mine", "workspace_id": 1})
        );
        world.post("/targets", json!({"name": name})).await.refused(409, "already exists");
    }
    world.stop().await;
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = World::new().await;
    let acme = world.post("/workspaces", json!({"name": "Acme"})).await.created();
    for number in 1..=5 {
        world.target(&format!("127.0.0.{number}")).await;
    }
    world.post("/targets", json!({"name": "http://127.0.0.1/", "workspace_id": acme})).await.created();
    let count = async |query: &str| world.get(&format!("/targets{query}")).await.data().as_array().unwrap().len();
    assert_eq!(count("").await, 6);
    assert_eq!(count("?workspace_id=1").await, 5);
    assert_eq!(count("?workspace_id=99").await, 0);
    assert_eq!(count("?type=url").await, 1);
    assert_eq!(count("?limit=4").await, 4);
    assert_eq!(count("?limit=4&page=2&colour=red").await, 2);
    assert_eq!(count("?limit=4&page=3").await, 0);
    world.stop().await;
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named() {
    let world = World::new().await;
    for (query, words) in [("type=host", "type"), ("limit=0", "limit"), ("limit=1001", "limit"), ("page=0", "page")] {
        world.get(&format!("/targets?{query}")).await.refused(400, words);
    }
    world.post("/targets", json!({})).await.refused(400, "name is required");
    world.post("/targets", json!({"name": "127.0.0.1:8080"})).await.refused(400, "http://127.0.0.1:8080/");
    world.post("/targets", json!({"name": "127.0.0.0/8"})).await.refused(400, "one address a target");
    world.post("/targets", json!({"name": "127.0.0.1", "workspace_id": 99})).await.refused(404, "no workspace 99");
    world.get("/targets/99").await.refused(404, "no target 99");
    world.delete("/targets/99").await.refused(404, "no target 99");
    world.stop().await;
}

#[tokio::test]
async fn the_rails_and_the_limit_refuse_with_what_to_do() {
    let world = World::with(|settings| settings.max_targets = 2).await;
    world.post("/targets", json!({"name": "192.0.2.7"})).await.refused(403, "scandeck scope add 192.0.2.7");
    world.target("127.0.0.1").await;
    world.target("127.0.0.2").await;
    let refused = world.post("/targets", json!({"name": "127.0.0.3"})).await;
    refused.refused(403, "2 targets");
    world.stop().await;
}

#[tokio::test]
async fn a_target_goes_with_its_scans_but_not_while_one_is_active() {
    let world = World::new().await;
    let target = world.target("127.0.0.1").await;
    let scan = world.scan(target).await;
    world.until_status(scan, "running").await;
    world.delete(&format!("/targets/{target}")).await.refused(409, "running scans");
    world.script.let_end(1);
    world.until_status(scan, "finished").await;
    world.delete(&format!("/targets/{target}")).await.gone();
    world.get(&format!("/scans/{scan}")).await.refused(404, "no scan");
    world.stop().await;
}
