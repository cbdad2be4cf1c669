//! ETags of lists: what changes them, and what does not.

use jiff::SignedDuration;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::TestService;
use super::clock::ManualClock;
use super::runner::ScriptedRunner;

/// The lists of a workspace that a dashboard polls.
const POLLED: [&str; 5] = ["scans", "targets", "findings", "http_loggers", "workspaces"];

/// A client that polls lists with the ETags that it received.
struct Poller<'a> {
    service: &'a TestService,
    paths: Vec<String>,
    tags: Vec<String>,
}

impl<'a> Poller<'a> {
    async fn start(service: &'a TestService, workspace: i64) -> Self {
        let paths = POLLED.map(|list| match list {
            "workspaces" => "/workspaces".to_owned(),
            list => format!("/{list}?workspace_id={workspace}"),
        });
        let mut poller = Self {
            service,
            paths: paths.to_vec(),
            tags: vec![String::new(); POLLED.len()],
        };
        poller.changed().await;
        poller
    }

    /// Polls all lists; returns the names of those that have changed.
    async fn changed(&mut self) -> Vec<&'static str> {
        let mut changed = Vec::new();
        let lists = POLLED.iter().zip(&self.paths).zip(&mut self.tags);
        for ((name, path), tag) in lists {
            let request = self.service.request(Method::GET, path);
            let response = request.header("if-none-match", &*tag).send().await.unwrap();
            if response.status() != StatusCode::NOT_MODIFIED {
                changed.push(*name);
            }
            if let Some(new) = response.headers().get("etag") {
                *tag = new.to_str().unwrap().to_owned();
            }
        }
        changed
    }
}

#[tokio::test]
async fn running_scan_changes_the_scans_of_its_own_workspace_only() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new("2026-11-21T12:00:00Z".parse().unwrap());
    let runner = ScriptedRunner::default();
    let service = TestService::with_clock(dir.path(), &clock, runner.clone()).await;
    let other = service
        .post("/workspaces", json!({"name": "other"}))
        .await
        .created();
    let target = service.target("127.0.0.1").await;
    let scan = service.scan(target).await;
    service.until_status(scan, "running").await;
    let mut own = Poller::start(&service, 1).await;
    let mut foreign = Poller::start(&service, other).await;
    for _ in 0..3 {
        clock.advance(SignedDuration::from_secs(1));
        assert_eq!(own.changed().await, ["scans"], "the duration changes");
        assert_eq!(foreign.changed().await, [""; 0]);
    }
    runner.finish_scans(1);
    service.until_status(scan, "finished").await;
    assert_eq!(own.changed().await, ["scans"]);
    clock.advance(SignedDuration::from_secs(1));
    assert_eq!(own.changed().await, [""; 0], "no scan is running");
    service.stop().await;
}

#[tokio::test]
async fn results_change_scans_and_findings_of_their_workspace_only() {
    let service = TestService::new().await;
    let other = service
        .post("/workspaces", json!({"name": "other"}))
        .await
        .created();
    let mut own = Poller::start(&service, 1).await;
    let mut foreign = Poller::start(&service, other).await;
    let target = service.target("127.0.0.1").await;
    assert_eq!(own.changed().await, ["targets", "workspaces"]);
    assert_eq!(foreign.changed().await, ["workspaces"]);
    service.logger("a").await;
    assert_eq!(own.changed().await, ["http_loggers"]);
    let scan = service.scan(target).await;
    service.until_status(scan, "running").await;
    assert_eq!(own.changed().await, ["scans", "workspaces"]);
    assert_eq!(foreign.changed().await, ["workspaces"]);
    service
        .delete(&format!("/workspaces/{other}"))
        .await
        .assert_no_content();
    assert_eq!(foreign.changed().await, POLLED, "the workspace is deleted");
    service.stop().await;
}

#[tokio::test]
async fn etag_is_valid_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    service.target("127.0.0.1").await;
    let path = "/targets?workspace_id=1";
    let before = service.request(Method::GET, path).send().await.unwrap();
    let tag = before.headers()["etag"].clone();
    service.stop().await;
    let service = TestService::in_dir(dir.path()).await;
    let again = service
        .request(Method::GET, path)
        .header("if-none-match", &tag);
    assert_eq!(
        again.send().await.unwrap().status(),
        StatusCode::NOT_MODIFIED
    );
    service.target("127.0.0.2").await;
    let again = service
        .request(Method::GET, path)
        .header("if-none-match", &tag);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::OK);
    service.stop().await;
}
