//! Nothing acknowledged is lost, and no scan runs forever: stops and kills at any moment.

use serde_json::json;
use tokio::runtime::Runtime;

use super::runner::{Script, usual};
use super::{World, settings};

/// Runs `work` in a world of its own runtime, which then dies without any shutdown: no destructor of the service is
/// waited for, its connections and its lock are dropped as a killed process drops them.
fn killed<T: Send + 'static>(
    dir: &std::path::Path,
    script: &Script,
    work: impl AsyncFnOnce(&World) -> T + Send + 'static,
) -> T {
    let runtime = Runtime::new().unwrap();
    let (settings, script) = (settings(dir), script.clone());
    let done = runtime.block_on(async move {
        let world = World::at(settings, None, script).await;
        let done = work(&world).await;
        std::mem::forget(world);
        done
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    done
}

#[test]
fn everything_acknowledged_is_there_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    let (logger, url) = killed(dir.path(), &script, async |world| {
        let acme = world.post("/workspaces", json!({"name": "Acme"})).await.created();
        world.post("/targets", json!({"name": "127.0.0.1", "workspace_id": acme})).await.created();
        let logger = world.form("/http_loggers", &[("label", "a")]).await.created();
        let url =
            world.get(&format!("/http_loggers/{logger}")).await.data()["handler_url"].as_str().unwrap().to_owned();
        for number in 0..20 {
            assert_eq!(world.client.get(format!("{url}{number}")).send().await.unwrap().status(), 200);
        }
        (logger, url)
    });
    killed(dir.path(), &script, async move |world| {
        assert_eq!(world.get("/workspaces").await.data().as_array().unwrap().len(), 2);
        assert_eq!(world.get("/targets").await.data()[0]["name"], "127.0.0.1");
        let recorded = world.get(&format!("/http_loggers/{logger}/data")).await;
        assert_eq!(recorded.data()["requests"].as_array().unwrap().len(), 20);
        let shown = world.get(&format!("/http_loggers/{logger}")).await;
        let token = |url: &str| url.split("/l/").nth(1).unwrap().to_owned();
        assert_eq!(token(shown.data()["handler_url"].as_str().unwrap()), token(&url));
    });
}

#[test]
fn an_interrupted_scan_is_resumed_once_and_its_partial_results_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    script.tells(usual());
    let scan = killed(dir.path(), &script, async |world| {
        let scan = world.scan(world.target("127.0.0.1").await).await;
        world.until(&format!("/scans/{scan}"), |scan| scan["num_finished_tests"] == 7).await;
        scan
    });
    script.let_end(1);
    killed(dir.path(), &script, async move |world| {
        let ended = world.until_status(scan, "finished").await;
        assert_eq!((&ended["num_finished_tests"], &ended["result_summary"]["critical"]), (&json!(7), &json!(1)));
        assert_eq!(world.get("/findings").await.data().as_array().unwrap().len(), 2);
        assert_eq!(world.get(&format!("/scans/{scan}/tests")).await.data().as_array().unwrap().len(), 4);
    });
    assert_eq!(script.jobs().len(), 2);
}

#[test]
fn a_scan_under_which_the_service_ended_twice_is_aborted() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    // A scan is `running` from its claim on; it has begun once its job is there.
    let running = script.clone();
    let scan = killed(dir.path(), &script, async move |world| {
        let scan = world.scan(world.target("127.0.0.1").await).await;
        world.until("/scans", |_| running.jobs().len() == 1).await;
        scan
    });
    let running = script.clone();
    killed(dir.path(), &script, async move |world| {
        world.until("/scans", |_| running.jobs().len() == 2).await;
    });
    killed(dir.path(), &script, async move |world| {
        let ended = world.until_status(scan, "aborted").await;
        assert!(ended["status_message"].as_str().unwrap().contains("ended twice"), "{ended}");
        assert!(ended["end_time"].is_string());
    });
}

#[tokio::test]
async fn a_clean_stop_leaves_scans_to_the_next_start_with_their_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    let world = World::at(settings(dir.path()), None, script.clone()).await;
    let params = json!({"authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = world.post("/scans", body).await.created();
    world.until_status(scan, "running").await;
    world.stop().await;
    script.let_end(1);
    let world = World::at(settings(dir.path()), None, script.clone()).await;
    world.until_status(scan, "finished").await;
    assert!(script.jobs()[1].params.to_string().contains("x1secret"));
    world.stop().await;
    let mut database = Vec::new();
    for file in std::fs::read_dir(dir.path()).unwrap() {
        database.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let left = database.windows(8).filter(|window| window == b"x1secret").count();
    assert_eq!(left, 0, "the secret is gone from the files too");
}

#[test]
fn waiting_reports_are_made_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::default();
    script.tells(usual());
    script.let_end(1);
    let report = killed(dir.path(), &script, async |world| {
        let scan = world.scan(world.target("127.0.0.1").await).await;
        world.until_status(scan, "finished").await;
        let body = json!({"format": "json", "group_by": "target", "source": "scans", "resources": [scan]});
        world.post("/reports", body).await.body["data"]["report_id"].as_i64().unwrap()
    });
    killed(dir.path(), &script, async move |world| {
        world.until(&format!("/reports/{report}"), |report| report["status"] == "finished").await;
        assert_eq!(world.get(&format!("/reports/{report}/download")).await.status, 200);
    });
}
