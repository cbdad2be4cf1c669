//! `/http_loggers`, and the listener that captures requests.

use super::clock::ManualClock;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::runner::ScriptedRunner;
use super::{JsonResponse, TestService};

impl TestService {
    /// Creates a logger and returns its id and handler URL.
    pub async fn logger(&self, label: &str) -> (i64, String) {
        let id = self
            .form("/http_loggers", &[("label", label)])
            .await
            .created();
        let shown = self.get(&format!("/http_loggers/{id}")).await;
        (id, shown.data()["handler_url"].as_str().unwrap().to_owned())
    }

    async fn recorded(&self, id: i64, query: &str) -> Vec<Value> {
        self.get(&format!("/http_loggers/{id}/data{query}"))
            .await
            .data()["requests"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// Opens a connection to the loggers and sends this text.
    async fn send_to_loggers(&self, text: &str) -> TcpStream {
        let base: url::Url = self.logger_base.parse().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", base.port().unwrap()))
            .await
            .unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

#[tokio::test]
async fn new_logger_shows_handler_url_and_quota() {
    let service = TestService::new().await;
    let (id, url) = service.logger("oob.test-1").await;
    assert!(
        url.starts_with(&format!("{}l/", service.logger_base)) && url.ends_with('/'),
        "{url}"
    );
    let shown = service
        .get(&format!("/http_loggers/{id}"))
        .await
        .data()
        .clone();
    assert_eq!(
        shown,
        json!({"id": id, "label": "oob.test-1", "handler_url": url, "active_days": 30, "num_requests": 0, "requests_left": 10000})
    );
    assert_eq!(service.get("/http_loggers").await.data(), &json!([shown]));
    assert_eq!(
        service.get("/http_loggers?workspace_id=99").await.data(),
        &json!([])
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_logger_request_returns_422() {
    let service = TestService::new().await;
    service.logger("taken").await;
    service
        .form("/http_loggers", &[("label", "taken")])
        .await
        .assert_refused(422, "already exists");
    service
        .form("/http_loggers", &[])
        .await
        .assert_refused(422, "label is required");
    service
        .form("/http_loggers", &[("label", "a b")])
        .await
        .assert_refused(422, "letters, digits");
    service
        .form("/http_loggers", &[("label", "a\u{0}b")])
        .await
        .assert_refused(422, "NUL is not allowed");
    service
        .post("/http_loggers", json!({"label": 7}))
        .await
        .assert_refused(422, "label");
    service
        .form("/http_loggers", &[("label", "x"), ("workspace_id", "99")])
        .await
        .assert_refused(422, "workspace 99 not found");
    service
        .form("/http_loggers?workspace_id=99", &[("label", "x")])
        .await
        .assert_refused(422, "workspace 99 not found");
    for path in ["/http_loggers/99", "/http_loggers/99/data"] {
        service
            .get(path)
            .await
            .assert_refused(404, "logger 99 not found");
        service
            .delete(path)
            .await
            .assert_refused(404, "logger 99 not found");
    }
    service.stop().await;
}

#[tokio::test]
async fn request_below_handler_url_is_recorded_completely() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let response = service
        .client
        .request(
            Method::from_bytes(b"PROPFIND").unwrap(),
            format!("{url}some/path?x=1&y=%20"),
        )
        .header("user-agent", "Mozilla/5.0 (Windows NT 10.0)")
        .header("content-type", "text/plain")
        .header("host", "anything.example")
        .body("caf\u{e9}\0")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let recorded = service.recorded(id, "").await;
    let first = &recorded[0];
    for (field, value) in [
        ("request_method", json!("PROPFIND")),
        ("url_params", json!("x=1&y=%20")),
        ("ip_address", json!("127.0.0.1")),
        ("user_agent", json!("Mozilla/5.0 (Windows NT 10.0)")),
        ("os", json!("Windows")),
        ("request_body_type", json!("text/plain")),
        ("request_body_base64", json!("Y2Fmw6kA")),
        ("http_version", json!("HTTP/1.1")),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert!(first["path"].as_str().unwrap().ends_with("/some/path"));
    assert!(
        first["http_headers"]
            .as_array()
            .unwrap()
            .contains(&json!("host: anything.example"))
    );
    assert_eq!(
        service.get(&format!("/http_loggers/{id}")).await.data()["num_requests"],
        1
    );
    service.stop().await;
}

#[tokio::test]
async fn cleared_logger_regains_quota_and_continues_ids() {
    let service = TestService::with(|settings| settings.logger_quota = 3).await;
    let (id, url) = service.logger("a").await;
    for number in 0..3 {
        assert_eq!(
            service
                .client
                .get(format!("{url}{number}"))
                .send()
                .await
                .unwrap()
                .status(),
            200
        );
    }
    let full = service.client.get(&url).send().await.unwrap();
    JsonResponse::read(full)
        .await
        .assert_refused(410, "is full");
    let ids: Vec<i64> = service
        .recorded(id, "")
        .await
        .iter()
        .map(|one| one["id"].as_i64().unwrap())
        .collect();
    assert!(ids.len() == 3 && ids.is_sorted());
    let newer = service.recorded(id, &format!("?since_id={}", ids[1])).await;
    assert_eq!((newer.len(), &newer[0]["id"]), (1, &json!(ids[2])));

    service
        .delete(&format!("/http_loggers/{id}/data"))
        .await
        .assert_no_content();
    assert_eq!(service.recorded(id, "").await.len(), 0);
    assert_eq!(
        service.get(&format!("/http_loggers/{id}")).await.data()["requests_left"],
        3
    );
    service.client.get(&url).send().await.unwrap();
    let next = service.recorded(id, "").await[0]["id"].as_i64().unwrap();
    assert!(next > ids[2], "an id is never reused");
    service
        .delete(&format!("/http_loggers/{id}"))
        .await
        .assert_no_content();
    let deleted = service.client.get(&url).send().await.unwrap();
    JsonResponse::read(deleted)
        .await
        .assert_refused(404, "logger not found");
    service.stop().await;
}

#[tokio::test]
async fn oversized_body_is_refused_and_recorded_up_to_the_limit() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let most = service
        .client
        .post(&url)
        .body(vec![b'x'; 1024 * 1024])
        .send()
        .await
        .unwrap();
    assert_eq!(most.status(), 200);
    let more = service
        .client
        .post(&url)
        .body(vec![b'x'; 1024 * 1024 + 1])
        .send()
        .await
        .unwrap();
    JsonResponse::read(more)
        .await
        .assert_refused(413, "up to the limit");
    let recorded = service.recorded(id, "").await;
    for capture in recorded {
        let body = capture["request_body_base64"].as_str().unwrap();
        assert_eq!(body.len(), 1_398_104);
    }
    service.stop().await;
}

#[tokio::test]
async fn expired_logger_records_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let service = TestService::with_clock(dir.path(), &clock, ScriptedRunner::default()).await;
    let (id, url) = service.logger("a").await;
    clock.advance(SignedDuration::from_hours(29 * 24 + 1));
    assert_eq!(
        service.get(&format!("/http_loggers/{id}")).await.data()["active_days"],
        1
    );
    assert_eq!(service.client.get(&url).send().await.unwrap().status(), 200);
    clock.advance(SignedDuration::from_hours(23));
    JsonResponse::read(service.client.get(&url).send().await.unwrap())
        .await
        .assert_refused(410, "has expired");
    let listed = service.get("/http_loggers").await;
    assert_eq!(
        (
            &listed.data()[0]["active_days"],
            &listed.data()[0]["num_requests"]
        ),
        (&json!(0), &json!(1))
    );
    service.stop().await;
}

#[tokio::test]
async fn logger_list_after_a_day_has_a_new_etag() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new("2026-11-21T12:00:00Z".parse().unwrap());
    let service = TestService::with_clock(dir.path(), &clock, ScriptedRunner::default()).await;
    service.logger("a").await;
    clock.advance(SignedDuration::from_mins(24 * 60 - 1));
    let before = service
        .request(Method::GET, "/http_loggers")
        .send()
        .await
        .unwrap();
    let tag = before.headers()["etag"].clone();
    assert_eq!(
        JsonResponse::read(before).await.data()[0]["active_days"],
        30
    );
    clock.advance(SignedDuration::from_mins(2));
    let after = service
        .request(Method::GET, "/http_loggers")
        .header("if-none-match", tag)
        .send()
        .await
        .unwrap();
    assert_eq!(JsonResponse::read(after).await.data()[0]["active_days"], 29);
    service.stop().await;
}

#[tokio::test]
async fn burst_of_requests_is_recorded_completely() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let sent = futures::future::join_all(
        (0..200).map(|number| service.client.get(format!("{url}{number}")).send()),
    )
    .await;
    assert!(
        sent.into_iter()
            .all(|response| response.unwrap().status() == 200)
    );
    assert_eq!(service.recorded(id, "").await.len(), 200);
    service.stop().await;
}

#[tokio::test]
async fn sender_closing_before_response_is_recorded() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    for _ in 0..40 {
        drop(
            service
                .send_to_loggers(&format!("GET {url} HTTP/1.1\r\nHost: a\r\n\r\n"))
                .await,
        );
    }
    service
        .until(&format!("/http_loggers/{id}"), |logger| {
            logger["num_requests"] == 40
        })
        .await;
    service.stop().await;
}

#[tokio::test]
async fn half_closed_connection_is_answered() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let mut stream = service
        .send_to_loggers(&format!("GET {url} HTTP/1.0\r\n\r\n"))
        .await;
    stream.shutdown().await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.0 200"), "{response:?}");
    assert_eq!(service.recorded(id, "").await.len(), 1);
    service.stop().await;
}

#[tokio::test]
async fn sender_hanging_in_body_does_not_delay_shutdown() {
    let service = TestService::new().await;
    let (_, url) = service.logger("a").await;
    let head = format!(
        "POST {url} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
    );
    let mut stream = service.send_to_loggers(&head).await;
    // The service sends 100 Continue once it waits for the body.
    let mut status_line = [0; 12];
    stream.read_exact(&mut status_line).await.unwrap();
    assert_eq!(&status_line, b"HTTP/1.1 100");
    service.stop().await;
    drop(stream);
}

#[tokio::test]
async fn handler_url_behind_proxy_uses_configured_base() {
    let service = TestService::with(|settings| {
        settings.logger_url = Some("https://oob.example.net/in".parse().unwrap())
    })
    .await;
    let (_, url) = service.logger("a").await;
    assert!(url.starts_with("https://oob.example.net/in/l/"), "{url}");
    service.stop().await;
}
