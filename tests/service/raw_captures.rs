//! Requests that a strict parser would refuse, sent to a logger: all are recorded with the bytes
//! that arrived.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::network::{client, write_certificate};
use super::{PATIENCE, TestService, settings};
use scandeck::service::{Parts, start_with};
use tokio_util::sync::CancellationToken;

struct LoggerService {
    service: TestService,
    id: i64,
    /// `/l/<token>/`.
    path: String,
}

impl LoggerService {
    async fn new() -> Self {
        Self::with(TestService::new().await).await
    }

    async fn with(service: TestService) -> Self {
        let (id, url) = service.logger("a").await;
        let path = url::Url::parse(&url).unwrap().path().to_owned();
        Self { service, id, path }
    }

    async fn connect(&self) -> TcpStream {
        let base: url::Url = self.service.logger_base.parse().unwrap();
        TcpStream::connect(("127.0.0.1", base.port().unwrap()))
            .await
            .unwrap()
    }

    /// Sends bytes; returns the responses until the service closes the connection.
    async fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        let _ = stream.write_all(bytes).await;
        all_responses(&mut stream).await
    }

    async fn captures(&self, count: usize) -> Vec<Value> {
        let path = format!("/http_loggers/{}", self.id);
        self.service
            .until(&path, |logger| logger["num_requests"] == count)
            .await;
        self.service.get(&format!("{path}/data")).await.data()["requests"]
            .as_array()
            .unwrap()
            .clone()
    }

    async fn unattributed(&self, count: usize) -> Vec<Value> {
        let path = "/http_loggers/unattributed";
        self.service
            .until(path, |list| list["count"] == count)
            .await["requests"]
            .as_array()
            .unwrap()
            .clone()
    }
}

async fn all_responses(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes))
        .await
        .expect("connection is closed");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn raw(capture: &Value) -> Vec<u8> {
    STANDARD
        .decode(capture["raw_base64"].as_str().unwrap_or_default())
        .unwrap()
}

/// The bytes of the request, which the fields give if there are no raw ones.
fn arrived(capture: &Value) -> Vec<u8> {
    if capture.get("raw_base64").is_some() {
        return raw(capture);
    }
    let text = |field: &str| capture[field].as_str().unwrap().to_owned();
    let mark = if text("url_params").is_empty() {
        ""
    } else {
        "?"
    };
    let target = format!("{}{mark}{}", text("path"), text("url_params"));
    let lines = capture["http_headers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| format!("{}\r\n", line.as_str().unwrap()));
    let head = format!(
        "{} {target} {}\r\n{}\r\n",
        text("request_method"),
        text("http_version"),
        lines.collect::<String>()
    );
    [
        head.into_bytes(),
        STANDARD.decode(text("request_body_base64")).unwrap(),
    ]
    .concat()
}

fn statuses(responses: &str) -> Vec<&str> {
    responses
        .match_indices("HTTP/1.")
        .map(|(at, _)| &responses[at + 9..at + 12])
        .collect()
}

#[tokio::test]
async fn malformed_requests_are_answered_and_recorded_as_they_arrived() {
    let logger = LoggerService::new().await;
    let path = &logger.path;
    let cases: Vec<Vec<u8>> = vec![
        format!("GET {path}?t=1&x=<b> HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").into(),
        format!("GET {path}?x=<b \"c\"> HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").into(),
        [b"GET ", path.as_bytes(), b"\x00\x01\xff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"].concat(),
        format!("GET {path} HTTP/1.1\nHost:a\nno colon\nX : y\n folded\nX: \0\nConnection: close\n\n").into(),
        format!("POST {path} HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n1234567").into(),
        format!("POST {path} HTTP/1.1\r\nContent-Length: x\r\n\r\nab").into(),
        format!("POST {path} HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX-T: secret\r\n\r\n").into(),
        format!("POST {path} HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\nab").into(),
        format!("GET http://anything.example{path}x HTTP/1.0\r\n\r\n").into(),
        format!("GET {path}\r\n").into(),
        format!("gopher {path}\r\n").into(),
        [b"\x00\x01", path.as_bytes()].concat(),
    ];
    for bytes in &cases {
        let responses = logger.exchange(bytes).await;
        assert_eq!(statuses(&responses), ["200"], "{}", bytes.escape_ascii());
    }
    let captures = logger.captures(cases.len()).await;
    for (capture, bytes) in captures.iter().zip(&cases) {
        assert_eq!(
            arrived(capture).escape_ascii().to_string(),
            bytes.escape_ascii().to_string()
        );
        assert!(
            capture["path"].as_str().unwrap().starts_with(path.as_str()),
            "{capture}"
        );
    }
    assert_eq!(captures[0]["problems"], json!(["the target contains `<>`"]));
    assert_eq!(
        captures[2]["path"],
        format!("{path}\u{fffd}\u{fffd}\u{fffd}")
    );
    assert_eq!(
        captures[3]["http_headers"],
        json!([
            "Host: a",
            "no colon",
            "X : y folded",
            "X: \u{fffd}",
            "Connection: close"
        ])
    );
    assert_eq!(
        captures[4]["request_body_base64"],
        STANDARD.encode("1234567")
    );
    let with_trailer = &captures[6];
    assert_eq!(
        with_trailer["http_headers"]
            .as_array()
            .unwrap()
            .last()
            .unwrap(),
        "X-T: secret"
    );
    assert_eq!(with_trailer["request_body_base64"], STANDARD.encode("ab"));
    assert!(
        with_trailer["problems"]
            .to_string()
            .contains("both Content-Length and Transfer-Encoding"),
        "{with_trailer}"
    );
    assert_eq!(captures[9]["http_version"], "HTTP/0.9");
    logger.service.stop().await;
}

#[tokio::test]
async fn well_formed_request_keeps_the_case_of_its_headers_and_needs_no_raw_bytes() {
    let logger = LoggerService::new().await;
    let path = logger.path.to_uppercase();
    let text =
        format!("GET {path}?A=b HTTP/1.1\r\nHost: A\r\nX-cAsE: v\r\nConnection: close\r\n\r\n");
    assert_eq!(
        statuses(&logger.exchange(text.as_bytes()).await),
        ["200"],
        "the token is found in upper case"
    );
    let capture = &logger.captures(1).await[0];
    assert_eq!(
        capture["http_headers"],
        json!(["Host: A", "X-cAsE: v", "Connection: close"])
    );
    assert_eq!(
        (capture.get("raw_base64"), capture.get("problems")),
        (None, None)
    );
    assert_eq!(capture["path"], path);
    logger.service.stop().await;
}

#[tokio::test]
async fn requests_of_one_connection_follow_each_other_in_any_split() {
    let logger = LoggerService::new().await;
    let path = &logger.path;
    let requests = [
        format!("GET {path}1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("\r\nPOST {path}2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
        format!("HEAD {path}3 HTTP/1.1\r\nHost: a\r\n\r\n"),
        "GET /favicon.ico HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        format!("POST {path}4 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"),
    ]
    .concat();
    let expected = ["200", "200", "200", "404", "200"];
    assert_eq!(
        statuses(&logger.exchange(requests.as_bytes()).await),
        expected
    );
    let mut stream = logger.connect().await;
    stream.set_nodelay(true).unwrap();
    for byte in requests.as_bytes() {
        stream.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(statuses(&all_responses(&mut stream).await), expected);
    let paths: Vec<String> = logger
        .captures(8)
        .await
        .iter()
        .map(|one| one["path"].as_str().unwrap().replace(path, ""))
        .collect();
    assert_eq!(paths, ["1", "2", "3", "4", "1", "2", "3", "4"]);
    let unattributed = logger.unattributed(2).await;
    assert_eq!(unattributed[0]["reason"], "the path names no logger");
    logger.service.stop().await;
}

#[tokio::test]
async fn bytes_after_an_ambiguous_request_are_recorded_without_an_answer() {
    let logger = LoggerService::new().await;
    let path = &logger.path;
    let first = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    );
    let smuggled = format!("GET {path}smuggled HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE");
    assert_eq!(
        statuses(
            &logger
                .exchange(format!("{first}{smuggled}").as_bytes())
                .await
        ),
        ["200"]
    );
    let captures = logger.captures(3).await;
    assert_eq!(captures[1]["path"], format!("{path}smuggled"));
    assert_eq!(raw(&captures[2]), b"GARBAGE");
    assert!(
        captures[2]["problems"]
            .to_string()
            .contains("an earlier request of the connection"),
        "{}",
        captures[2]
    );
    logger.service.stop().await;
}

#[tokio::test]
async fn half_requests_are_recorded_when_they_end() {
    let service = TestService::with(|settings| {
        let limits = &mut settings.connections;
        (limits.head_time, limits.body_time) =
            (Duration::from_millis(150), Duration::from_millis(150));
    });
    let logger = LoggerService::with(service.await).await;
    let path = &logger.path;
    // At the time limit.
    let late = logger
        .exchange(format!("GET {path}late HTTP/1.1\r\nHo").as_bytes())
        .await;
    assert_eq!(statuses(&late), ["408"]);
    // When the sender closes the connection.
    drop(
        logger
            .exchange_half(&format!("GET {path}closed HTTP/1.1\r\nHo"))
            .await,
    );
    let mut half_closed = logger
        .exchange_half(&format!(
            "POST {path} HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"
        ))
        .await;
    half_closed.shutdown().await.unwrap();
    assert_eq!(statuses(&all_responses(&mut half_closed).await), ["200"]);
    let captures = logger.captures(3).await;
    let problems: String = captures
        .iter()
        .map(|one| one["problems"].to_string())
        .collect();
    for expected in [
        "the head has no end: the rest did not arrive in time",
        "the head has no end: the sender closed the connection",
        "the body ended after 2 of 9 bytes: the sender closed the connection",
    ] {
        assert!(problems.contains(expected), "{expected}\n{problems}");
    }
    logger.service.stop().await;
}

impl LoggerService {
    async fn exchange_half(&self, text: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

#[tokio::test]
async fn half_request_is_recorded_when_the_service_stops() {
    let dir = tempfile::tempdir().unwrap();
    let logger = LoggerService::with(TestService::in_dir(dir.path()).await).await;
    let stream = logger
        .exchange_half(&format!("GET {}half HTTP/1.1\r\nHo", logger.path))
        .await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let stopped = Instant::now();
    logger.service.stop().await;
    assert!(
        stopped.elapsed() < Duration::from_secs(2),
        "{:?}",
        stopped.elapsed()
    );
    drop(stream);
    let service = TestService::in_dir(dir.path()).await;
    let shown = service
        .get(&format!("/http_loggers/{}/data", logger.id))
        .await;
    assert!(
        shown.data()["requests"][0]["problems"]
            .to_string()
            .contains("the service stopped"),
        "{:?}",
        shown.data()
    );
    service.stop().await;
}

#[tokio::test]
async fn other_protocols_are_kept_as_unattributed() {
    let logger = LoggerService::new().await;
    let requested = Instant::now();
    for (bytes, status, reason) in [
        (
            &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04"[..],
            "400",
            "an HTTP/2 connection; only HTTP/1 is read",
        ),
        (
            b"\x16\x03\x01\x02\x00\x01\x00",
            "400",
            "a TLS handshake, which this port cannot read",
        ),
        (b"nonsense\r\n\r\n", "400", "no HTTP request"),
        (
            b"GET /robots.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "404",
            "the path names no logger",
        ),
    ] {
        assert_eq!(
            statuses(&logger.exchange(bytes).await),
            [status],
            "{reason}"
        );
        let list = logger
            .service
            .get("/http_loggers/unattributed")
            .await
            .data()
            .clone();
        let newest = list["requests"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (newest["reason"].as_str().unwrap(), raw(&newest)),
            (reason, bytes.to_vec())
        );
        assert_eq!(
            (&newest["size"], &newest["ip_address"]),
            (&json!(bytes.len()), &json!("127.0.0.1"))
        );
    }
    assert!(
        requested.elapsed() < Duration::from_secs(8),
        "a pause ends them: {:?}",
        requested.elapsed()
    );
    assert_eq!(logger.unattributed(4).await.len(), 4);
    logger.service.stop().await;
}

#[tokio::test]
async fn logger_with_certificate_speaks_tls_and_plain_http() {
    let dir = tempfile::tempdir().unwrap();
    let (files, trusted) = write_certificate(dir.path());
    let mut settings = settings(dir.path());
    settings.logger_tls = Some(files);
    let stop = CancellationToken::new();
    let running = start_with(settings, stop.clone(), Parts::default())
        .await
        .unwrap();
    assert!(running.identity.is_none() && running.logger_identity.is_some());
    let logger = LoggerService::with(TestService::of(running, stop)).await;
    assert!(
        logger.service.logger_base.starts_with("https://127.0.0.1:"),
        "{}",
        logger.service.logger_base
    );
    let url = format!(
        "{}{}x",
        logger.service.logger_base.trim_end_matches('/'),
        logger.path
    );
    assert_eq!(
        client(trusted)
            .post(&url)
            .body("secret")
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(
        logger.captures(1).await[0]["request_body_base64"],
        STANDARD.encode("secret")
    );
    let plain = format!(
        "GET {}plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        logger.path
    );
    assert_eq!(statuses(&logger.exchange(plain.as_bytes()).await), ["200"]);
    assert_eq!(
        logger.captures(2).await[1]["path"],
        format!("{}plain", logger.path)
    );
    // A sender that does not trust the certificate reached the listener nevertheless.
    assert!(logger.service.client.get(&url).send().await.is_err());
    let unattributed = logger.unattributed(1).await;
    assert_eq!(unattributed[0]["reason"], "a TLS handshake that failed");
    assert!(
        raw(&unattributed[0]).starts_with(b"\x16\x03"),
        "{}",
        unattributed[0]
    );
    logger.service.stop().await;
}
