//! The client of a host, and the origins that receive credentials.

use std::time::Instant;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::*;
use crate::engine::hostile_tests::server;
use crate::engine::pace::Lanes;
use crate::engine::testing::{ChangingResolver, TestScan};
use crate::engine::{EngineSettings, ScanJob};
use crate::net::address::Address;
use scandeck_wire::contract::Tool;

/// What a run borrows.
struct RunParts {
    job: ScanJob,
    settings: EngineSettings,
    lanes: Lanes,
}

impl RunParts {
    fn of(scan: &TestScan) -> Self {
        Self {
            job: scan.job.clone(),
            settings: scan.engine_settings(),
            lanes: Lanes::new(64),
        }
    }

    fn run(&self) -> ScanRun<'_> {
        let address = Address::parse(&self.job.target).unwrap();
        let events = mpsc::channel(16).0;
        ScanRun::new(&self.job, address, &self.settings, &self.lanes, events)
    }
}

#[tokio::test]
async fn rate_limit_and_credentials_belong_to_the_host_of_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut scan = TestScan::new(Tool::WEBSITE, "http://127.0.0.1:8080/", json!({}));
    scan.scope_file = folder.path().join("scope.toml");
    std::fs::write(&scan.scope_file, "allow = [{ target = 'shop.acme.test' }]").unwrap();
    // No request is sent to this address.
    scan.resolver = ChangingResolver::new(&["192.0.2.1"]);
    let parts = RunParts::of(&scan);
    let run = parts.run();
    let web = Web::new(&run, None, Authentication::default(), 10);
    for (url, rate, is_home) in [
        ("http://127.0.0.1:8080/a", 200, true),
        ("http://127.0.0.1/", 200, false),
        ("https://127.0.0.1:8080/", 200, false),
        ("http://shop.acme.test:8080/", 10, false),
    ] {
        let url = Url::parse(url).unwrap();
        assert_eq!(
            web.client(&url)
                .await
                .unwrap()
                .lane
                .limits
                .requests_per_second,
            rate,
            "{url}"
        );
        assert_eq!(web.is_home(&url), is_home, "{url}");
    }
}

#[tokio::test]
async fn credentials_of_host_without_scheme_settle_on_the_first_origin_that_responds() {
    let scan = TestScan::new(Tool::WEBSITE, "localhost", json!({}));
    let parts = RunParts::of(&scan);
    let run = parts.run();
    let web = Web::new(&run, None, Authentication::default(), 10);
    let [http, https, other] = [
        "http://localhost/",
        "https://localhost/",
        "http://localhost:8080/",
    ]
    .map(|url| Url::parse(url).unwrap());
    assert!(web.is_home(&http) && web.is_home(&https) && !web.is_home(&other));
    web.settle(&https);
    assert!(!web.is_home(&http) && web.is_home(&https));
}

#[tokio::test]
async fn attempt_with_outdated_tls_keeps_the_rate_of_the_scan() {
    // Refuses every handshake.
    let port = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 40]).await;
    })
    .await;
    let scan = TestScan::new(
        Tool::WEBSITE,
        &format!("https://127.0.0.1:{port}/"),
        json!({}),
    );
    let parts = RunParts::of(&scan);
    let run = parts.run();
    let web = Web::new(&run, Some(4), Authentication::default(), 10);
    let (start, url) = (Instant::now(), Url::parse(&scan.job.target).unwrap());
    assert!(matches!(web.get(&url).await, Err(WebError::Connect(_))));
    assert!(
        start.elapsed() >= Duration::from_secs(1) / 4,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        web.client(&url).await.unwrap().legacy.tried(&url),
        Some(false)
    );
}
