//! One script of requests on both engines: the answers are equal, byte for byte, except ids of
//! requests, versions of lists, tokens and ports.
//!
//! Without a PostgreSQL server (`.ci/postgres`) both services use files, so that the script itself
//! is tested: it must not depend on chance.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use regex::Regex;
use reqwest::Method;
use scandeck::contract::Risk;
use scandeck::service::engine::ScanEvent;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::clock::ManualClock;
use super::runner::{ScriptedRunner, finding, tested, typical_events};
use super::{TestService, settings};

/// Headers that differ between two services.
const OTHER_HEADERS: [&str; 3] = ["x-request-id", "date", "etag"];

/// Fields whose values differ between two services.
static OTHER_FIELDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""(remote_port|service_id)":("[0-9a-f]{32}"|\d+)"#).unwrap());
static RAW_CAPTURE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""raw_base64":"([^"]*)""#).unwrap());

/// A service that writes down its answers.
struct RecordedService {
    service: TestService,
    /// Handler URLs by the order of their loggers.
    handlers: Vec<String>,
    answers: Vec<String>,
    _dir: TempDir,
}

impl RecordedService {
    async fn start(with_file: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::new(Timestamp::from_second(1_795_000_000).unwrap());
        let mut settings = settings(dir.path());
        if with_file {
            settings.database = None;
        }
        settings.logger_days = 30;
        let runner = ScriptedRunner::default();
        Self {
            service: TestService::with_parts(settings, Some(&clock), runner).await,
            handlers: Vec::new(),
            answers: Vec::new(),
            _dir: dir,
        }
    }

    async fn send(&mut self, method: Method, path: &str, body: Option<Value>) -> Value {
        let mut request = self.service.request(method.clone(), path);
        if let Some(body) = &body {
            request = request.json(body);
        }
        let response = request.send().await.unwrap();
        let mut answer = format!(
            "{method} {path} {} -> {}\n",
            body.unwrap_or_default(),
            response.status()
        );
        let mut headers: Vec<String> = response
            .headers()
            .iter()
            .filter(|(name, _)| !OTHER_HEADERS.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        headers.sort();
        answer.extend(headers);
        let bytes = response.bytes().await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parsed = serde_json::from_slice(&bytes).unwrap_or_default();
        answer.push_str(&text);
        let answer = with_raw_text(&answer);
        self.answers.push(self.without_chance(&answer));
        parsed
    }

    /// Replaces tokens and ports.
    fn without_chance(&self, answer: &str) -> String {
        let mut answer = answer.to_owned();
        for (number, handler) in self.handlers.iter().enumerate() {
            answer = answer.replace(handler, &format!("HANDLER{number}"));
            let token = handler.trim_end_matches('/').rsplit('/').next().unwrap();
            answer = answer.replace(token, &format!("TOKEN{number}"));
        }
        let answer = answer
            .replace(&self.service.logger_base, "LOGGERS/")
            .replace(&self.service.base, "BASE");
        let address = |base: &str| base.split('/').nth(2).unwrap().to_owned();
        let answer = answer
            .replace(&address(&self.service.logger_base), "LOGGER-ADDRESS")
            .replace(&address(&self.service.base), "ADDRESS");
        OTHER_FIELDS.replace_all(&answer, "\"$1\":0").into_owned()
    }

    async fn get(&mut self, path: &str) -> Value {
        self.send(Method::GET, path, None).await
    }

    async fn post(&mut self, path: &str, body: Value) -> Value {
        self.send(Method::POST, path, Some(body)).await
    }

    async fn delete(&mut self, path: &str) -> Value {
        self.send(Method::DELETE, path, None).await
    }

    /// Waits without recording the answers.
    async fn until(&self, path: &str, is_met: impl Fn(&Value) -> bool) {
        self.service.until(path, is_met).await;
    }

    async fn lists(&mut self) {
        for path in [
            "/workspaces",
            "/targets",
            "/targets?limit=1&offset=1",
            "/targets?type=url",
            "/targets?workspace_id=2",
            "/scans",
            "/scans?limit=1",
            "/scans?offset=1",
            "/scans?status=finished",
            "/scans?tool_id=70&workspace_id=1",
            "/scans?start_date=2026-11-01T00:00:00Z",
            "/findings",
            "/findings?workspace_id=1&group_duplicates=true",
            "/findings?scan_id=1",
            "/findings?target_id=2",
            "/findings?finding_ids=1,2",
            "/reports",
            "/wordlists",
            "/http_loggers",
            "/http_loggers?workspace_id=2",
            "/http_loggers/1/data",
            "/http_loggers/unattributed",
        ] {
            self.get(path).await;
        }
    }

    async fn run(&mut self) {
        self.lists().await;
        self.workspaces().await;
        self.targets().await;
        self.lists().await;
        self.scans().await;
        self.lists().await;
        self.reports().await;
        self.loggers().await;
        self.lists().await;
        self.deletions().await;
        self.lists().await;
    }

    async fn workspaces(&mut self) {
        for name in [
            "Second",
            " second ",
            "𝔘nicode 🛰 \u{202e}",
            "nul\u{0}",
            "",
            &"x".repeat(300),
        ] {
            self.post("/workspaces", json!({"name": name, "description": "d"}))
                .await;
        }
        self.post("/workspaces", json!({"title": 1})).await;
        for (id, body) in [
            (2, json!({"name": "Third"})),
            (2, json!({"name": "default"})),
            (2, json!({"description": "quote ' and \\ and %"})),
            (99, json!({"name": "Fourth"})),
        ] {
            let path = format!("/workspaces/{id}");
            self.send(Method::PUT, &path, Some(body)).await;
            self.get(&path).await;
        }
    }

    async fn targets(&mut self) {
        for (name, workspace) in [
            ("127.0.0.1", 1),
            ("127.0.0.1", 2),
            ("http://127.0.0.1:8080/päth?x=1", 1),
            ("localhost", 1),
            ("127.0.0.0/30", 1),
            ("127.0.0.1", 99),
            ("not a target", 1),
            ("", 1),
            ("nul\u{0}", 1),
        ] {
            let body = json!({"name": name, "workspace_id": workspace, "description": "🛰 d"});
            self.post("/targets", body.clone()).await;
            self.post("/targets", body).await;
        }
        for id in [1, 3, 99] {
            self.get(&format!("/targets/{id}")).await;
        }
    }

    async fn scans(&mut self) {
        let mut events = typical_events();
        events.push(ScanEvent::Raw("nul \0 and 🛰".into()));
        events.push(ScanEvent::Info("second \0 line".into()));
        events.push(tested(
            "web.more",
            2,
            vec![
                finding("web.csp", Risk::Info, ""),
                finding("web.long", Risk::High, &"/p".repeat(3_000)),
                finding("web.nul", Risk::Low, "/a\0b"),
            ],
        ));
        self.service.runner.set_events(events);
        for (number, body) in [
            json!({"tool_id": 70, "target_id": 1}),
            json!({"tool_id": 170, "target_id": 3}),
            json!({"tool_id": 70, "target_name": "127.0.0.2"}),
        ]
        .into_iter()
        .enumerate()
        {
            let id = number + 1;
            self.post("/scans", body).await;
            let path = format!("/scans/{id}");
            let running = |scan: &Value| scan["result_summary"]["critical"] == 1;
            self.until(&path, running).await;
            self.get(&path).await;
            self.get("/scans").await;
            self.delete(&path).await;
            if id == 1 {
                // Its scan runs: refused.
                self.delete("/targets/1").await;
            }
            match id {
                2 => {
                    self.post("/scans/2/stop", json!({})).await;
                }
                _ => self.service.runner.finish_scans(1),
            }
            self.until(&path, |scan| !scan["end_time"].is_null()).await;
            for part in ["", "/output", "/raw", "/tests"] {
                self.get(&format!("{path}{part}")).await;
            }
            self.get(&format!("{path}/tests?resource_type=finding"))
                .await;
            self.get(&format!("{path}/tests?resource_type=finding&resource_id=1"))
                .await;
        }
        for body in [
            json!({"tool_id": 70, "target_id": 99}),
            json!({"tool_id": 1, "target_id": 1}),
            json!({"target_id": 1}),
            json!({"tool_id": 70, "target_id": 1, "max_scan_time": -1}),
        ] {
            self.post("/scans", body).await;
        }
        for path in [
            "/scans/99",
            "/scans/99/raw",
            "/findings/1",
            "/findings/3",
            "/findings/99",
        ] {
            self.get(path).await;
        }
        self.post("/scans/1/stop", json!({})).await;
        self.post("/scans/99/stop", json!({})).await;
    }

    async fn reports(&mut self) {
        for (number, body) in [
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": [1, 2]}),
            json!({"format": "csv", "group_by": "vulnerability", "source": "findings", "resources": [1, 2, 3]}),
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": [3],
                "filters": {"include_finding_history": true}}),
        ]
        .into_iter()
        .enumerate()
        {
            let created = self.post("/reports", body).await;
            assert_eq!(created["data"]["report_id"], number + 1, "{created}");
            let path = format!("/reports/{}", number + 1);
            self.until(&path, |report| report["status"] == "finished").await;
            self.get(&path).await;
            self.get(&format!("{path}/download")).await;
        }
        for body in [
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": [1, 98, 99]}),
            json!({"format": "json", "group_by": "target", "source": "findings", "resources": [1, 77]}),
            json!({"format": "odt", "group_by": "target", "source": "scans", "resources": [1]}),
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": []}),
        ] {
            self.post("/reports", body).await;
        }
        self.delete("/reports/2").await;
        self.delete("/reports/2").await;
        self.get("/reports/2/download").await;
    }

    async fn loggers(&mut self) {
        for label in ["first", "first", "second-🛰", "nul\u{0}", "", "third"] {
            // The answer has the id, and the token only afterwards.
            let created = self.post("/http_loggers", json!({"label": label})).await;
            if let Some(id) = created["data"]["created_id"].as_i64() {
                let path = format!("/http_loggers/{id}");
                let shown = self.service.get(&path).await;
                let handler = shown.data()["handler_url"].as_str().unwrap();
                self.handlers.push(handler.to_owned());
                self.get(&path).await;
            }
        }
        let handler = self.handlers[0].clone();
        for (method, path, body) in [
            (Method::GET, "", ""),
            (Method::GET, "path%00/é?q=%00&b=1", ""),
            (Method::POST, "body", "text with \0 and 🛰"),
            (Method::PUT, "x/y/z?", ""),
        ] {
            let request = self
                .service
                .client
                .request(method, format!("{handler}{path}"));
            let answer = request.body(body).send().await.unwrap();
            self.answers.push(answer.status().to_string());
        }
        for path in [
            "/http_loggers/1",
            "/http_loggers/1/data",
            "/http_loggers/1/data?since_id=2",
            "/http_loggers/1/data?limit=1",
            "/http_loggers/2/data",
            "/http_loggers/99/data",
        ] {
            self.get(path).await;
        }
        self.delete("/http_loggers/1/data").await;
        self.get("/http_loggers/1").await;
        self.get("/http_loggers/1/data").await;
        self.delete("/http_loggers/2").await;
        self.delete("/http_loggers/2").await;
    }

    async fn deletions(&mut self) {
        for path in [
            "/scans/1",
            "/scans/1",
            "/targets/3",
            "/targets/99",
            "/wordlists/1",
            "/wordlists/99",
            "/workspaces/2",
            "/workspaces/2",
            "/workspaces/99",
        ] {
            self.delete(path).await;
            self.get(path).await;
        }
    }
}

/// Decodes raw captures, which contain the token and the port of their logger.
fn with_raw_text(answer: &str) -> String {
    let decoded = RAW_CAPTURE.replace_all(answer, |found: &regex::Captures<'_>| {
        let bytes = STANDARD.decode(&found[1]).unwrap();
        format!("\"raw\":{:?}", String::from_utf8_lossy(&bytes))
    });
    decoded.into_owned()
}

#[tokio::test]
async fn answers_of_a_script_are_equal_on_both_engines() {
    let mut answers = Vec::new();
    for with_file in [true, false] {
        let mut recorded = RecordedService::start(with_file).await;
        recorded.run().await;
        answers.push(recorded.answers);
        recorded.service.stop().await;
    }
    assert!(answers[0].len() >= 200, "{} answers", answers[0].len());
    for (first, second) in answers[0].iter().zip(&answers[1]) {
        assert_eq!(first, second);
    }
    assert_eq!(answers[0].len(), answers[1].len());
}
