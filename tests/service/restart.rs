//! Nothing acknowledged is lost, and no scan runs forever: stops and kills at any moment.

use serde_json::json;
use tokio::runtime::Runtime;

use super::runner::{ScriptedRunner, typical_events};
use super::{TestService, settings};

/// Runs `work` in a world of its own runtime, which then dies without any shutdown: no destructor of the service is
/// waited for, its connections and its lock are dropped as a killed process drops them.
fn killed<T: Send + 'static>(
    dir: &std::path::Path,
    runner: &ScriptedRunner,
    work: impl AsyncFnOnce(&TestService) -> T + Send + 'static,
) -> T {
    let runtime = Runtime::new().unwrap();
    let (settings, runner) = (settings(dir), runner.clone());
    let done = runtime.block_on(async move {
        let service = TestService::with_parts(settings, None, runner).await;
        let done = work(&service).await;
        std::mem::forget(service);
        done
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    done
}

#[test]
fn everything_acknowledged_is_there_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    let (logger, url) = killed(dir.path(), &runner, async |service| {
        let acme = service.post("/workspaces", json!({"name": "Acme"})).await.created();
        service.post("/targets", json!({"name": "127.0.0.1", "workspace_id": acme})).await.created();
        let logger = service.form("/http_loggers", &[("label", "a")]).await.created();
        let url =
            service.get(&format!("/http_loggers/{logger}")).await.data()["handler_url"].as_str().unwrap().to_owned();
        for number in 0..20 {
            assert_eq!(service.client.get(format!("{url}{number}")).send().await.unwrap().status(), 200);
        }
        (logger, url)
    });
    killed(dir.path(), &runner, async move |service| {
        assert_eq!(service.get("/workspaces").await.data().as_array().unwrap().len(), 2);
        assert_eq!(service.get("/targets").await.data()[0]["name"], "127.0.0.1");
        let recorded = service.get(&format!("/http_loggers/{logger}/data")).await;
        assert_eq!(recorded.data()["requests"].as_array().unwrap().len(), 20);
        let shown = service.get(&format!("/http_loggers/{logger}")).await;
        let token = |url: &str| url.split("/l/").nth(1).unwrap().to_owned();
        assert_eq!(token(shown.data()["handler_url"].as_str().unwrap()), token(&url));
    });
}

#[test]
fn an_interrupted_scan_is_resumed_once_and_its_partial_results_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let scan = killed(dir.path(), &runner, async |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service.until(&format!("/scans/{scan}"), |scan| scan["num_finished_tests"] == 7).await;
        scan
    });
    runner.finish_scans(1);
    killed(dir.path(), &runner, async move |service| {
        let ended = service.until_status(scan, "finished").await;
        assert_eq!((&ended["num_finished_tests"], &ended["result_summary"]["critical"]), (&json!(7), &json!(1)));
        assert_eq!(service.get("/findings").await.data().as_array().unwrap().len(), 2);
        assert_eq!(service.get(&format!("/scans/{scan}/tests")).await.data().as_array().unwrap().len(), 4);
    });
    assert_eq!(runner.jobs().len(), 2);
}

#[test]
fn a_scan_under_which_the_service_ended_twice_is_aborted() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    // A scan is `running` from its claim on; it has begun once its job is there.
    let running = runner.clone();
    let scan = killed(dir.path(), &runner, async move |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service.until("/scans", |_| running.jobs().len() == 1).await;
        scan
    });
    let running = runner.clone();
    killed(dir.path(), &runner, async move |service| {
        service.until("/scans", |_| running.jobs().len() == 2).await;
    });
    killed(dir.path(), &runner, async move |service| {
        let ended = service.until_status(scan, "aborted").await;
        assert!(ended["status_message"].as_str().unwrap().contains("ended twice"), "{ended}");
        assert!(ended["end_time"].is_string());
    });
}

#[tokio::test]
async fn a_clean_stop_leaves_scans_to_the_next_start_with_their_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let runner = ScriptedRunner::default();
    let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
    let params = json!({"authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    service.until_status(scan, "running").await;
    service.stop().await;
    runner.finish_scans(1);
    let service = TestService::with_parts(settings(dir.path()), None, runner.clone()).await;
    service.until_status(scan, "finished").await;
    assert!(runner.jobs()[1].params.to_string().contains("x1secret"));
    service.stop().await;
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
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    runner.finish_scans(1);
    let report = killed(dir.path(), &runner, async |service| {
        let scan = service.scan(service.target("127.0.0.1").await).await;
        service.until_status(scan, "finished").await;
        let body = json!({"format": "json", "group_by": "target", "source": "scans", "resources": [scan]});
        service.post("/reports", body).await.body["data"]["report_id"].as_i64().unwrap()
    });
    killed(dir.path(), &runner, async move |service| {
        service.until(&format!("/reports/{report}"), |report| report["status"] == "finished").await;
        assert_eq!(service.get(&format!("/reports/{report}/download")).await.status, 200);
    });
}
