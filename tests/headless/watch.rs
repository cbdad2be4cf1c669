//! `scandeck watch`: real alerts by a program and a webhook on loopback, each event once.

use serde_json::Value;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::CliFixture;
use crate::service::http_client;
use crate::service::runner::{finding, tested};
use scandeck::contract::Risk;
use scandeck::service::engine::{NewFinding, ScanEvent, ScanOutcome};

/// What a site may choose as the text of a finding.
const HOSTILE: &str = "$(touch owned) `touch owned` \"}, <!channel>\u{1b}]9;x\u{7}";

async fn receiver() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/secret"))
        .respond_with(ResponseTemplate::new(200))
        .mount(&server)
        .await;
    server
}

/// Configures a program that appends its standard input to a file, and a webhook.
fn configure(cli: &CliFixture, server: &MockServer, rules: &str) {
    let directory = cli.home.path().join(".config/scandeck");
    std::fs::create_dir_all(&directory).unwrap();
    let text = format!(
        "[alerts]\ncommand = [\"sh\", \"-c\", \"cat >> heard\"]\n\
         [alerts.webhooks.team]\nurl = \"{}/secret\"\n{rules}",
        server.uri()
    );
    std::fs::write(directory.join("config.toml"), text).unwrap();
}

async fn scan(cli: &CliFixture, target: i64, findings: Vec<NewFinding>, outcome: ScanOutcome) {
    let events = vec![ScanEvent::Planned(1), tested("web.headers", 1, findings)];
    cli.service.runner.set_events(events);
    cli.service.runner.set_outcome(outcome);
    let scan = cli.service.scan(target).await;
    cli.service.runner.finish_scans(1);
    let path = format!("/scans/{scan}");
    let has_ended = |scan: &Value| !scan["end_time"].is_null();
    cli.service.until(&path, has_ended).await;
}

fn finished() -> ScanOutcome {
    ScanOutcome::Finished("all tests ended".into())
}

fn heard(cli: &CliFixture) -> Vec<Value> {
    let text = std::fs::read_to_string(cli.home.path().join("heard")).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn posted(server: &MockServer) -> Vec<Value> {
    let requests = server.received_requests().await.unwrap().into_iter();
    requests
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect()
}

#[tokio::test]
async fn program_and_webhook_receive_each_event_once() {
    let (cli, server) = (CliFixture::new().await, receiver().await);
    let rules = "[alerts.rules.all]\non = [\"finding\", \"regression\"]\nquery = \"risk>=high\"\n\
                 quiet = \"0s\"\n[alerts.rules.scans]\non = [\"scan_ended\"]\nquiet = \"0s\"\n";
    configure(&cli, &server, rules);
    // Nothing is sent about the time before the first look.
    assert_eq!(cli.does(&["watch", "--once"]).await, "");
    let target = cli.service.target("127.0.0.1").await;
    let hostile = NewFinding {
        name: HOSTILE.into(),
        ..finding("web.key", Risk::Critical, "GET /key")
    };
    scan(&cli, target, vec![hostile], finished()).await;
    let out = cli.does(&["watch", "--once"]).await;
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(
        out.contains("new critical finding: $(touch owned)"),
        "{out}"
    );
    let (programs, webhooks) = (heard(&cli), posted(&server).await);
    assert_eq!((programs.len(), webhooks.len()), (2, 2), "{programs:?}");
    for alert in [&programs[0], &webhooks[0]] {
        assert_eq!(alert["event"], "finding", "{alert}");
        assert_eq!(alert["rule"], "all");
        assert_eq!(alert["risk"], "critical");
        assert_eq!(alert["target"], "127.0.0.1");
        assert_eq!(alert["events"][0]["class"], "web.key");
        let name = alert["name"].as_str().unwrap();
        assert!(name.starts_with("$(touch owned) `touch owned` \"}, <!channel>"));
        assert!(!name.contains('\u{1b}'), "{name:?}");
    }
    assert_eq!(programs[1]["event"], "scan_ended");
    assert!(!cli.home.path().join("owned").exists());
    assert_eq!(cli.does(&["watch", "--once"]).await, "", "each event once");
    assert_eq!((heard(&cli).len(), posted(&server).await.len()), (2, 2));
    cli.service.stop().await;
}

#[tokio::test]
async fn failed_scan_and_finding_that_is_back_alert() {
    let (cli, server) = (CliFixture::new().await, receiver().await);
    let rules = "[alerts.rules.all]\non = [\"regression\", \"scan_failed\"]\nquiet = \"0s\"\n";
    configure(&cli, &server, rules);
    cli.does(&["watch", "--once"]).await;
    let target = cli.service.target("127.0.0.1").await;
    let key = || finding("web.key", Risk::Critical, "GET /key");
    for findings in [vec![key()], vec![], vec![key()]] {
        scan(&cli, target, findings, finished()).await;
        // Starts of scans are in seconds.
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    }
    let out = cli.does(&["watch", "--once", "--json"]).await;
    let alert: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(alert["title"], "was absent, is back", "{alert}");
    assert_eq!(heard(&cli).len(), 1);
    cli.service.stop().await;
}

#[tokio::test]
async fn failing_webhook_is_reported_without_its_url() {
    let (cli, server) = (CliFixture::new().await, MockServer::start().await);
    configure(
        &cli,
        &server,
        "[alerts.rules.scans]\non = [\"scan_ended\"]\nto = [\"team\"]\n",
    );
    cli.does(&["watch", "--once"]).await;
    let target = cli.service.target("127.0.0.1").await;
    scan(&cli, target, vec![], finished()).await;
    let ended = cli.run(&["watch", "--once"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.err.contains("webhook team"), "{ended:?}");
    assert!(ended.err.contains("404 Not Found"), "{ended:?}");
    assert!(!ended.err.contains("secret"), "{ended:?}");
    cli.service.stop().await;
}

#[tokio::test]
async fn alert_that_was_not_delivered_is_sent_by_a_later_look() {
    let (cli, server) = (CliFixture::new().await, MockServer::start().await);
    configure(
        &cli,
        &server,
        "[alerts.rules.scans]\non = [\"scan_ended\"]\nto = [\"team\"]\n",
    );
    cli.does(&["watch", "--once"]).await;
    let target = cli.service.target("127.0.0.1").await;
    scan(&cli, target, vec![], finished()).await;
    let failed = cli.run(&["watch", "--once"]).await;
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.err.contains("next attempt in 1m"), "{failed:?}");
    Mock::given(path("/secret"))
        .respond_with(ResponseTemplate::new(200))
        .mount(&server)
        .await;
    assert_eq!(cli.does(&["watch", "--once"]).await, "", "not due yet");
    assert_eq!(posted(&server).await.len(), 1);
    // A minute passes.
    let file = cli.stores().join("alerts.db");
    let passed = "UPDATE failed SET due = due - 60";
    scandeck_wire::sqlite::execute(&file, passed).await.unwrap();
    let out = cli.does(&["watch", "--once"]).await;
    assert!(out.contains("scan ended: "), "{out}");
    assert_eq!(posted(&server).await.len(), 2);
    assert_eq!(cli.does(&["watch", "--once"]).await, "", "once");
    assert_eq!(posted(&server).await.len(), 2);
    cli.service.stop().await;
}

#[tokio::test]
async fn capture_with_a_payload_alerts_once_and_others_do_not() {
    let (cli, server) = (CliFixture::new().await, receiver().await);
    configure(&cli, &server, "");
    cli.does(&["watch", "--once"]).await;
    let (_, logger) = cli.service.logger("hunt").await;
    let new = ["payloads", "new", "--logger", "hunt", "--technique", "SSRF"];
    let made = cli.json(&new).await;
    let (token, url) = (&made[0]["token"], made[0]["url"].as_str().unwrap());
    let client = http_client();
    for request in [
        client.get(url),
        client.get(&logger),
        client.get(url).header("user-agent", "Slackbot 1.0"),
    ] {
        assert!(request.send().await.unwrap().status().is_success());
    }
    let has_all = |all: &Value| all[0]["num_requests"] == 3;
    cli.service.until("/http_loggers", has_all).await;
    let out = cli.does(&["watch", "--once"]).await;
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(out.contains("payload hit: "), "{out}");
    for alerts in [heard(&cli), posted(&server).await] {
        let [alert] = &alerts[..] else {
            panic!("{alerts:?}")
        };
        assert_eq!(
            (&alert["event"], &alert["token"]),
            (&"payload".into(), token)
        );
        assert_eq!(alert["logger"], "hunt");
        assert_eq!(alert["technique"], "SSRF");
    }
    assert_eq!(
        cli.does(&["watch", "--once"]).await,
        "",
        "each capture once"
    );
    assert_eq!(posted(&server).await.len(), 1);
    cli.service.stop().await;
}

#[tokio::test]
async fn watch_without_rules_is_refused() {
    let (cli, server) = (CliFixture::new().await, MockServer::start().await);
    configure(&cli, &server, "");
    let file = cli.home.path().join(".config/scandeck/config.toml");
    std::fs::write(file, "[alerts]\ndefault_rules = false\n").unwrap();
    let ended = cli.run(&["watch", "--once"]).await;
    ended.refused(1, "there are no alert rules");
    cli.service.stop().await;
}
