//! Out-of-band commands: create payloads, archive and recognise captures, watch and export them.

use std::time::Duration;

use reqwest::Client;
use scandeck::demo::practice::Practice;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{CliFixture, Ended, command, run};
use crate::service::http_client;

/// A service with a logger and a practice target that requests given URLs.
pub struct Range {
    pub cli: CliFixture,
    pub practice: Practice,
    client: Client,
    _stop: DropGuard,
}

impl Range {
    pub async fn new(label: &str) -> Self {
        let (cli, stop) = (CliFixture::new().await, CancellationToken::new());
        let practice = Practice::start(stop.clone()).await.unwrap();
        let (_, url) = cli.service.logger(label).await;
        practice.report_visits_to(url.parse().unwrap());
        Self {
            cli,
            practice,
            client: http_client(),
            _stop: stop.drop_guard(),
        }
    }

    /// Plants a payload in the practice target, which requests it.
    async fn plant(&self, mode: &str, payload: &str) {
        let mut url: url::Url = format!("{}/{mode}", self.practice.fetch_url())
            .parse()
            .unwrap();
        url.query_pairs_mut()
            .append_pair("url", payload)
            .append_pair("seconds", "0");
        assert!(
            self.client
                .get(url)
                .send()
                .await
                .unwrap()
                .status()
                .is_success(),
            "{mode} {payload}"
        );
    }
}

fn texts<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one[field].as_str())
        .collect()
}

#[tokio::test]
async fn hits_name_the_payload_line_and_remain_without_the_service() {
    let range = Range::new("hunt").await;
    let cli = &range.cli;
    let new = [
        "payloads",
        "new",
        "--logger",
        "hunt",
        "--count",
        "40",
        "--technique",
        "SSRF",
        "-o",
        "urls.txt",
    ];
    let made = cli.json(&new).await;
    let lines = std::fs::read_to_string(cli.home.path().join("urls.txt")).unwrap();
    assert_eq!(lines.lines().collect::<Vec<_>>(), texts(&made, "url"));
    assert_eq!(
        (&made[39]["number"], &made[39]["id"]),
        (&40.into(), &made[39]["token"])
    );
    let modes = [
        "plain", "path", "later", "unfurl", "upper", "twice", "json", "plain",
    ];
    for (mode, line) in modes.into_iter().zip(lines.lines()) {
        range.plant(mode, line).await;
    }
    cli.service
        .until("/http_loggers", |all| all[0]["num_requests"] == modes.len())
        .await;

    let watched = cli
        .json(&[
            "captures",
            "watch",
            "--known",
            "--since",
            "5m",
            "--timeout",
            "20s",
        ])
        .await;
    assert_eq!(watched.as_array().unwrap().len(), modes.len(), "{watched}");
    let hit = cli.json(&["payloads", "list", "--hit"]).await;
    let numbers: Vec<i64> = hit
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["number"].as_i64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<i64>>(), "{hit}");
    assert!(
        hit.as_array()
            .unwrap()
            .iter()
            .all(|one| one["hits"] == 1 && one["batch"] == "urls.txt"),
        "{hit}"
    );
    assert_eq!(
        cli.json(&["payloads", "list"])
            .await
            .as_array()
            .unwrap()
            .len(),
        40
    );
    let waiting = cli
        .json(&["payloads", "list", "--query", "is:waiting technique:SSRF"])
        .await;
    assert_eq!(waiting.as_array().unwrap().len(), 32);
    let token = hit[7]["token"].as_str().unwrap();
    let last = cli
        .json(&[
            "captures",
            "list",
            "--query",
            &format!("is:known payload:{token} technique:ssrf"),
        ])
        .await;
    assert_eq!(texts(&last, "payload"), [token]);
    let table = cli.does(&["captures", "list", "--known"]).await;
    assert!(
        (1..=8).all(|number| table.contains(&format!("#{number} urls.txt"))),
        "{table}"
    );

    // The captures remain after a clear, a deletion, and without the service.
    let known = ["captures", "list", "--known", "--json"];
    let before = cli.does(&known).await;
    let id = cli.json(&["loggers", "list"]).await[0]["id"].to_string();
    cli.does(&["loggers", "clear", &id, "--yes"]).await;
    assert_eq!(cli.does(&known).await, before);
    cli.does(&["loggers", "delete", &id, "--yes"]).await;
    assert_eq!(cli.does(&known).await, before);
    let mut alone = cli.command(&known);
    range.cli.service.stop().await;
    let alone = run(&mut alone).await;
    assert_eq!((alone.code, alone.out.as_str()), (0, before.as_str()));
    assert!(alone.err.contains("service not reachable"), "{alone:?}");
}

#[tokio::test]
async fn clear_and_delete_archive_unread_captures() {
    let cli = CliFixture::new().await;
    let visitor = http_client();
    let (here, other) = ("1", cli.does(&["workspaces", "create", "Other"]).await);
    let labels = [
        ("cleared", here),
        ("deleted", here),
        ("of-workspace", other.trim()),
    ];
    for ((label, workspace), count) in labels.into_iter().zip(1..) {
        cli.does(&["loggers", "create", label, "--workspace", workspace])
            .await;
        let url = cli.json(&["loggers", "show", label]).await["handler_url"]
            .as_str()
            .unwrap()
            .to_owned();
        for _ in 0..count {
            visitor
                .get(format!("{url}?from={label}"))
                .send()
                .await
                .unwrap();
        }
    }
    let reports = async |args: &[&str], words: &str| {
        let ended = cli.run(args).await;
        assert!(
            ended.code == 0 && ended.err.contains(words),
            "{args:?}: {ended:?}"
        );
    };
    reports(
        &["loggers", "clear", "cleared", "--yes"],
        "logger cleared cleared, 1 capture archived",
    )
    .await;
    reports(
        &["loggers", "clear", "cleared", "--yes"],
        "logger cleared cleared, 0 captures archived",
    )
    .await;
    reports(
        &["loggers", "delete", "deleted", "--yes"],
        "logger deleted deleted, 2 captures archived",
    )
    .await;
    cli.run(&["loggers", "delete", "deleted", "--yes"])
        .await
        .refused(1, "logger \"deleted\" not found");
    reports(
        &["workspaces", "delete", other.trim(), "--yes"],
        "workspace Other deleted: 3 captures archived",
    )
    .await;
    let mut alone = cli.command(&["captures", "list", "--json"]);
    cli.service.stop().await;
    let archived = run(&mut alone).await;
    let archived: Value =
        serde_json::from_str(&archived.out).unwrap_or_else(|error| panic!("{error}: {archived:?}"));
    let mut of: Vec<&str> = texts(&archived, "label");
    of.sort_unstable();
    assert_eq!(
        of,
        [
            "cleared",
            "deleted",
            "deleted",
            "of-workspace",
            "of-workspace",
            "of-workspace"
        ]
    );
}

#[tokio::test]
async fn failed_archive_prevents_clear_and_names_the_api_call() {
    let cli = CliFixture::new().await;
    let id = cli.does(&["loggers", "create", "hunt"]).await;
    let url = cli.json(&["loggers", "show", "hunt"]).await["handler_url"]
        .as_str()
        .unwrap()
        .to_owned();
    http_client().get(url).send().await.unwrap();
    let nowhere = cli.home.path().join("file");
    std::fs::write(&nowhere, "").unwrap();
    for (verb, done, call) in [
        (
            "clear",
            "cleared",
            format!("/http_loggers/{}/data", id.trim()),
        ),
        ("delete", "deleted", format!("/http_loggers/{}", id.trim())),
    ] {
        let mut command = cli.command(&["loggers", verb, "hunt", "--yes"]);
        let ended = run(command.env("XDG_STATE_HOME", nowhere.join("x"))).await;
        let refusal = format!("logger \"hunt\" not {done}: captures cannot be archived");
        ended.refused(1, &refusal);
        let ended = run(&mut command).await;
        assert!(
            ended.err.contains(&format!(
                "or without archiving: `scandeck api DELETE {call}`"
            )),
            "{ended:?}"
        );
    }
    assert_eq!(
        cli.json(&["loggers", "captures", "hunt"])
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn watch_ends_at_the_first_match_or_with_code_3_after_the_timeout() {
    let range = Range::new("hunt").await;
    let cli = &range.cli;
    let [first, second] = [
        cli.does(&["payloads", "new", "--logger", "hunt"]).await,
        cli.does(&["payloads", "new", "--logger", "hunt"]).await,
    ];
    range.plant("plain", first.trim()).await;
    let nothing = ["captures", "watch", "--timeout", "1s"];
    let ended = cli
        .run(&[&nothing[..], &["--query", "method:POST", "--since", "5m"]].concat())
        .await;
    ended.refused(3, "no matching capture before the timeout");
    cli.run(&[&nothing[..], &["--logger", "hnut"]].concat())
        .await
        .refused(1, "loggers: hunt");
    cli.run(&[&nothing[..], &["--logger", "hunt"]].concat())
        .await
        .refused(3, "no matching capture");
    let token = first.trim().split("?t=").nth(1).unwrap();
    let hit = cli
        .json(&[
            "captures",
            "watch",
            "--payload",
            token,
            "--since",
            "5m",
            "--timeout",
            "20s",
        ])
        .await;
    assert_eq!(texts(&hit, "payload"), [token]);
    assert_eq!(
        cli.json(&["captures", "list", "--query", "method:GET logger:hunt"])
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );

    // Without --since only new requests match.
    let mut watch = cli.command(&["captures", "watch", "--known", "--timeout", "30s", "--json"]);
    let watching = tokio::spawn(async move { run(&mut watch).await });
    while !watching.is_finished() {
        range.plant("plain", second.trim()).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let ended = watching.await.unwrap();
    let hits: Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let token = second.trim().split("?t=").nth(1).unwrap();
    assert!(
        ended.code == 0 && texts(&hits, "payload").iter().all(|one| *one == token),
        "{ended:?}"
    );
    range.cli.service.stop().await;
}

#[tokio::test]
async fn capture_is_shown_and_exported_in_every_form() {
    let range = Range::new("hunt").await;
    let cli = &range.cli;
    let svg = cli
        .does(&[
            "payloads",
            "new",
            "--logger",
            "hunt",
            "--shape",
            "svg",
            "--path",
            "--parameter",
            "avatar",
        ])
        .await;
    assert!(svg.starts_with("<svg "), "{svg}");
    range.plant("unfurl", svg.trim()).await;
    let all = cli.json(&["captures", "list"]).await;
    let id = all[0]["id"].to_string();
    let shown = cli.json(&["captures", "show", &id]).await;
    assert_eq!(
        (&shown["payload"], &shown["label"]),
        (&all[0]["payload"], &"hunt".into())
    );
    assert!(
        shown["path"]
            .as_str()
            .unwrap()
            .ends_with(shown["payload"].as_str().unwrap()),
        "{shown}"
    );
    let raw = cli.does(&["captures", "show", &id, "--as", "raw"]).await;
    assert!(
        raw.starts_with("GET /l/") && raw.contains("\nuser-agent: scandeck-practice/"),
        "{raw}"
    );
    let curl = cli
        .does(&["captures", "show", &id, "--logger", "hunt", "--as", "curl"])
        .await;
    assert!(
        curl.starts_with("curl --globoff --path-as-is -X 'GET'")
            || curl.starts_with("curl --globoff --path-as-is -X GET"),
        "{curl}"
    );
    cli.run(&["captures", "show", "99999"])
        .await
        .refused(1, "captures list");

    let har: Value =
        serde_json::from_str(&cli.does(&["captures", "export", "--format", "har"]).await).unwrap();
    assert_eq!(
        (
            &har["log"]["version"],
            &har["log"]["entries"][0]["_payload"]
        ),
        (&"1.2".into(), &shown["payload"])
    );
    cli.does(&[
        "captures",
        "export",
        "--format",
        "jsonl",
        "--known",
        "-o",
        "hits.jsonl",
    ])
    .await;
    let lines = std::fs::read_to_string(cli.home.path().join("hits.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 1);
    cli.run(&["captures", "export", "--format", "pcap"])
        .await
        .refused(2, "har, jsonl");
    range.cli.service.stop().await;
}

#[tokio::test]
async fn invalid_logger_count_or_shape_is_rejected() {
    let range = Range::new("hunt").await;
    let cli = &range.cli;
    cli.run(&["payloads", "new", "--logger", "gone"])
        .await
        .refused(1, "loggers: hunt");
    cli.run(&["payloads", "new", "--logger", "hunt", "--count", "0"])
        .await
        .refused(2, "--count");
    cli.run(&["payloads", "new", "--logger", "hunt", "--shape", "round"])
        .await
        .refused(2, "plain, schemeless");
    cli.run(&["captures", "watch", "--timeout", "soon"])
        .await
        .refused(2, "90s, 10m");
    assert_eq!(cli.does(&["payloads", "list"]).await, "");
    range.cli.service.stop().await;
}

/// A mocked service and an empty home directory.
pub struct MockService {
    pub server: MockServer,
    pub home: tempfile::TempDir,
}

impl MockService {
    pub async fn new(loggers: Value) -> Self {
        let service = Self {
            server: MockServer::start().await,
            home: tempfile::tempdir().unwrap(),
        };
        service
            .mock("/workspaces", 200, json!([{"id": 1, "name": "Acme"}]))
            .await;
        service.mock("/http_loggers", 200, loggers).await;
        service
    }

    pub async fn mock(&self, at: &str, status: u16, data: Value) {
        let body = if status == 200 {
            json!({"data": data})
        } else {
            json!({"status": status, "message": "no"})
        };
        let body = ResponseTemplate::new(status).set_body_json(body);
        Mock::given(path(format!("/api/v2{at}")))
            .respond_with(body)
            .mount(&self.server)
            .await;
    }

    pub async fn run(&self, args: &[&str]) -> Ended {
        let mut command = command(self.home.path(), args);
        run(command
            .env("SCANDECK_BASE_URL", self.server.uri())
            .env("SCANDECK_API_KEY", "k"))
        .await
    }
}

pub fn logger(id: i64, label: &str, active_days: i64) -> Value {
    json!({"id": id, "label": label, "handler_url": "http://127.0.0.1:9/l/x/", "active_days": active_days,
           "num_requests": 1, "requests_left": 99})
}

#[tokio::test]
async fn unattributed_requests_are_listed_if_the_service_keeps_them() {
    let list = ["captures", "list", "--unattributed"];
    let other = MockService::new(json!([])).await;
    other
        .mock("/http_loggers/unattributed", 404, json!(null))
        .await;
    other
        .run(&list)
        .await
        .refused(1, "the service keeps no unattributed requests");
    let service = MockService::new(json!([])).await;
    let request = |id: i64, bytes: &str| {
        json!({"id": id, "ip_address": "203.0.113.9", "remote_port": 4711, "request_date": "2026-11-21 12:00:00",
               "reason": "no HTTP request", "size": 900, "raw_base64": bytes})
    };
    let all = json!({"count": 9, "requests": [request(8, "YQ=="), request(9, "FgMb")]});
    service.mock("/http_loggers/unattributed", 200, all).await;
    let shown = service.run(&[&list[..], &["--last", "1"]].concat()).await;
    assert!(
        shown.code == 0
            && shown
                .out
                .contains("203.0.113.9:4711   900  no HTTP request"),
        "{shown:?}"
    );
    assert!(
        shown.out.contains(r"\x16\x03\x1b") && shown.out.lines().count() == 2,
        "{shown:?}"
    );
    let json: Value =
        serde_json::from_str(&service.run(&[&list[..], &["--json"]].concat()).await.out).unwrap();
    assert_eq!(
        (json.as_array().unwrap().len(), &json[1]["raw_base64"]),
        (2, &json!("FgMb"))
    );
}

#[tokio::test]
async fn captures_of_one_logger_remain_when_the_next_one_fails() {
    let all = json!([logger(1, "one", 9), logger(2, "two", 9)]);
    let service = MockService::new(all.clone()).await;
    let capture = json!({"id": 7, "request_method": "GET", "url_params": "a=KEPT", "request_date": "2026-11-21 12:00:00"});
    service
        .mock("/http_loggers/1/data", 200, json!({"requests": [capture]}))
        .await;
    service.mock("/http_loggers/2/data", 403, json!(null)).await;
    service.run(&["captures", "list"]).await.refused(1, "403");

    // In the meantime one logger was cleared; the other is deleted during the read.
    service.server.reset().await;
    service
        .mock("/workspaces", 200, json!([{"id": 1, "name": "Acme"}]))
        .await;
    service.mock("/http_loggers", 200, all).await;
    service
        .mock("/http_loggers/1/data", 200, json!({"requests": []}))
        .await;
    service.mock("/http_loggers/2/data", 404, json!(null)).await;
    let list = service.run(&["captures", "list"]).await;
    assert!(list.code == 0 && list.out.contains("a=KEPT"), "{list:?}");
}

#[tokio::test]
async fn new_payload_needs_one_recording_logger() {
    let labels = [
        (1, "old", 0),
        (2, "old", 9),
        (3, "twice", 9),
        (4, "twice", 9),
        (5, "over", 0),
        (6, "\u{1b}[31m", 9),
    ];
    let loggers: Vec<Value> = labels
        .into_iter()
        .map(|(id, label, days)| logger(id, label, days))
        .collect();
    let service = MockService::new(json!(loggers)).await;
    let new = async |logger: &str| {
        service
            .run(&[
                "payloads",
                "new",
                "--logger",
                logger,
                "--json",
                "-o",
                &format!("{logger}.txt"),
            ])
            .await
    };
    let live = new("old").await;
    assert!(
        live.code == 0 && live.out.contains("\"logger\": 2"),
        "{live:?}"
    );
    new("twice").await.refused(2, "3 (Acme), 4 (Acme)");
    assert_eq!(new("3").await.code, 0);
    let planted = std::fs::read(service.home.path().join("3.txt")).unwrap();
    new("3").await.refused(1, "3.txt already exists");
    assert_eq!(
        std::fs::read(service.home.path().join("3.txt")).unwrap(),
        planted
    );
    new("over").await.refused(1, "no days left");
    new("1").await.refused(1, "no days left");
    let odd = new("6").await;
    assert!(odd.code == 0 && odd.err.contains("[31m"), "{odd:?}");
}

#[tokio::test]
async fn imported_bundle_is_listed_without_a_service() {
    let range = Range::new("hunt").await;
    let cli = &range.cli;
    cli.does(&["targets", "add", "127.0.0.1"]).await;
    let payload = cli
        .does(&[
            "payloads",
            "new",
            "--logger",
            "hunt",
            "--target",
            "shop.test",
        ])
        .await;
    range.plant("plain", payload.trim()).await;
    let by_target = [
        "captures",
        "list",
        "--json",
        "--query",
        "target:127.0.0.1 target:shop",
    ];
    let listed = cli.does(&by_target).await;
    assert!(listed.contains("\"label\": \"hunt\""), "{listed}");
    assert_eq!(
        cli.does(&["captures", "list", "--query", "target:127.0.0.2"])
            .await,
        ""
    );
    let workspace = cli.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    cli.does(&["bundle", "--workspace", &workspace, "-o", "w.bundle"])
        .await;

    let elsewhere = tempfile::tempdir().unwrap();
    let alone = async |args: &[&str]| run(&mut command(elsewhere.path(), args)).await;
    alone(&["captures", "list"])
        .await
        .refused(1, "no service is configured");
    let bundle = cli.home.path().join("w.bundle");
    assert_eq!(alone(&["unbundle", bundle.to_str().unwrap()]).await.code, 0);
    let list = alone(&by_target).await;
    assert_eq!(
        (list.code, list.out.as_str()),
        (0, listed.as_str()),
        "{list:?}"
    );
    assert!(list.err.contains(
        "no service is configured, and no local service is running; showing archived captures"
    ));
    let har = alone(&["captures", "export", "--format", "har", "-o", "hits.har"]).await;
    assert!(
        har.code == 0 && har.err.contains("1 capture written to hits.har"),
        "{har:?}"
    );
    let payloads = alone(&["payloads", "list", "--hit"]).await;
    assert!(
        payloads.code == 0 && payloads.out.contains("shop.test"),
        "{payloads:?}"
    );
    assert_eq!(alone(&["findings", "list"]).await.code, 0);
    for needs in [
        &["captures", "watch"][..],
        &["payloads", "new", "--logger", "hunt"],
        &["targets", "list"],
    ] {
        alone(needs).await.refused(1, "or run `scandeck serve`");
    }
    range.cli.service.stop().await;
}
