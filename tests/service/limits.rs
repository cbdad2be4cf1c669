//! Limits of connections, heads, bodies and loggers, and the errors that are raised below the
//! router.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use scandeck::contract::{Risk, ScanOutput};
use scandeck::service::engine::ScanEvent;
use scandeck::service::{ConnectionLimits, Parts, start_with};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;

use super::network::{client, write_certificate};
use super::runner::{finding, tested};
use super::{JsonResponse, PATIENCE, TestService, http_client, settings};

/// A service with these limits of its connections.
async fn service(change: impl FnOnce(&mut ConnectionLimits)) -> TestService {
    TestService::with(|settings| change(&mut settings.connections)).await
}

async fn connect(base: &str) -> TcpStream {
    let base: url::Url = base.parse().unwrap();
    TcpStream::connect(("127.0.0.1", base.port().unwrap()))
        .await
        .unwrap()
}

/// Sends this text, and reads until the service closes the connection.
async fn exchange(base: &str, text: &str) -> String {
    let mut stream = connect(base).await;
    // The service may respond and close before it has read everything.
    let _ = stream.write_all(text.as_bytes()).await;
    closed(stream).await
}

async fn closed(mut stream: TcpStream) -> String {
    let mut response = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response))
        .await
        .expect("connection is closed");
    String::from_utf8(response).unwrap()
}

/// Asserts a raw error response with the error body.
#[track_caller]
fn assert_error(response: &str, status: u16, message: &str) {
    let (head, body) = response
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no response: {response:?}"));
    assert!(
        head.starts_with(&format!("HTTP/1.1 {status} ")),
        "{response}"
    );
    assert!(
        head.to_ascii_lowercase()
            .contains("content-type: application/json"),
        "{response}"
    );
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["status"], status);
    assert!(
        body["message"].as_str().unwrap().contains(message),
        "{body}"
    );
}

#[tokio::test]
async fn half_sent_requests_to_a_logger_do_not_delay_the_api() {
    let service = service(|limits| (limits.connections, limits.per_client) = (20, 10)).await;
    let mut held = Vec::new();
    for _ in 0..60 {
        let mut stream = connect(&service.logger_base).await;
        let _ = stream.write_all(b"GET /l/").await;
        held.push(stream);
    }
    let requested = Instant::now();
    assert_eq!(service.get("/workspaces").await.status, 200);
    // Each further connection displaces the oldest of this address.
    let (_, url) = service.logger("a").await;
    assert_eq!(service.client.get(&url).send().await.unwrap().status(), 200);
    assert!(
        requested.elapsed() < Duration::from_secs(1),
        "{:?}",
        requested.elapsed()
    );
    assert_eq!(closed(held.remove(0)).await, "");
    service.stop().await;
}

#[tokio::test]
async fn responses_in_progress_keep_their_connections() {
    let service = service(|limits| (limits.connections, limits.per_client) = (20, 1)).await;
    let (_, url) = service.logger("a").await;
    let head = format!("POST {url} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n");
    let mut first = connect(&service.logger_base).await;
    first.write_all(head.as_bytes()).await.unwrap();
    // Young, and of an address with few connections: it is not closed.
    let second = connect(&service.logger_base).await;
    assert_error(&closed(second).await, 503, "too many connections");
    first.write_all(b"ok").await.unwrap();
    assert_eq!(next_status(&mut first).await, "HTTP/1.1 200 OK");
    service.stop().await;
}

/// A connection from another address of this machine.
async fn connect_from(last: u8, base: &str) -> TcpStream {
    let base: url::Url = base.parse().unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, last], 0).into()).unwrap();
    socket
        .connect(([127, 0, 0, 1], base.port().unwrap()).into())
        .await
        .unwrap()
}

#[tokio::test]
async fn floods_from_three_addresses_delay_no_other_client() {
    let service =
        service(|limits| (limits.connections, limits.per_client, limits.reserve) = (60, 40, 10))
            .await;
    let (id, url) = service.logger("a").await;
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let half_post = format!("POST {path}half HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc");
    let whole = format!("GET {path}whole HTTP/1.1\r\nhost: a\r\n\r\n");
    let unknown = "GET /api/v2/x HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for (base, sent, recorded) in [
        (&service.logger_base, half_post.as_str(), 91),
        (&service.logger_base, "GET /l/", 92),
        (&service.logger_base, "", 93),
        (&service.logger_base, &whole, 184),
        (
            &service.base,
            "GET /api/v2/workspaces HTTP/1.1\r\nhost: loc",
            184,
        ),
        (&service.base, unknown, 184),
        (&service.base, "PRI * HTTP/2.0\r\n", 184),
    ] {
        let mut held = Vec::new();
        for n in 0..90 {
            let mut stream = connect_from(2 + n % 3, base).await;
            let _ = stream.write_all(sent.as_bytes()).await;
            held.push(stream);
        }
        let requested = Instant::now();
        let honest = http_client();
        let response = match base == &service.base {
            true => {
                honest
                    .get(format!("{base}/workspaces"))
                    .bearer_auth(&service.key)
                    .send()
                    .await
            }
            false => honest.post(&url).body("honest").send().await,
        };
        assert_eq!(response.unwrap().status(), 200, "{sent}");
        assert!(
            requested.elapsed() < Duration::from_secs(2),
            "{sent} {:?}",
            requested.elapsed()
        );
        // A request that loses its connection is recorded as far as it arrived: all of them, and
        // four honest ones.
        drop(held);
        service
            .until(&format!("/http_loggers/{id}"), |logger| {
                logger["num_requests"] == recorded
            })
            .await;
    }
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    let of_path = |name: &str| {
        recorded
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["path"] == format!("{path}{name}"))
            .count()
    };
    assert_eq!([of_path("half"), of_path("whole")], [90, 90]);
    service.stop().await;
}

#[tokio::test]
async fn half_handshakes_do_not_delay_an_api_with_tls() {
    let dir = tempfile::tempdir().unwrap();
    let (files, trusted) = write_certificate(dir.path());
    let mut settings = settings(dir.path());
    (
        settings.tls,
        settings.connections.handshakes,
        settings.connections.connections,
    ) = (Some(files), 12, 60);
    let stop = CancellationToken::new();
    let running = start_with(settings, stop.clone(), Parts::default())
        .await
        .unwrap();
    let base = running.base_url.to_string();
    let mut held = Vec::new();
    // The beginning of a ClientHello: one record with a part of its length.
    for n in 0..90 {
        let mut stream = connect_from(2 + n % 3, &base).await;
        let _ = stream.write_all(b"\x16\x03\x01\x00\xf0\x01\x00").await;
        held.push(stream);
    }
    let requested = Instant::now();
    let url = format!("{base}/workspaces");
    assert_eq!(
        client(trusted)
            .get(url)
            .bearer_auth(&running.api_key)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert!(
        requested.elapsed() < Duration::from_secs(3),
        "{:?}",
        requested.elapsed()
    );
    assert_eq!(closed(held.remove(0)).await, "");
    stop.cancel();
    running.stopped().await.unwrap();
}

#[tokio::test]
async fn connection_with_a_valid_key_survives_a_flood() {
    let service =
        service(|limits| (limits.connections, limits.per_client, limits.reserve) = (24, 20, 4))
            .await;
    let key = &service.key;
    let request = format!(
        "HEAD /api/v2/workspaces HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"
    );
    let mut idle = connect(&service.base).await;
    idle.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(next_status(&mut idle).await, "HTTP/1.1 200 OK");
    let mut held = Vec::new();
    for n in 0..90 {
        let mut stream = connect_from(2 + n % 3, &service.base).await;
        let _ = stream.write_all(b"GET /").await;
        held.push(stream);
    }
    idle.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(next_status(&mut idle).await, "HTTP/1.1 200 OK");
    service.stop().await;
}

#[tokio::test]
async fn address_with_a_key_does_not_wait_behind_newcomers_without_one() {
    let service =
        service(|limits| (limits.connections, limits.per_client, limits.reserve) = (10, 10, 4))
            .await;
    let key = &service.key;
    let request = format!(
        "HEAD /api/v2/workspaces HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"
    );
    let mut proven = connect(&service.base).await;
    proven.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(next_status(&mut proven).await, "HTTP/1.1 200 OK");
    // All places that are not reserved are taken by young connections, and one more waits for such
    // a place.
    let mut held = Vec::new();
    for client in 2..9 {
        held.push(connect_from(client, &service.base).await);
    }
    let start = Instant::now();
    let mut honest = connect(&service.base).await;
    honest.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(next_status(&mut honest).await, "HTTP/1.1 200 OK");
    assert!(
        start.elapsed() < Duration::from_millis(700),
        "{:?}",
        start.elapsed()
    );
    service.stop().await;
}

#[tokio::test]
async fn slow_large_bodies_of_one_address_delay_no_other_sender() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let mut held = Vec::new();
    for _ in 0..70 {
        let mut stream = connect_from(2, &service.logger_base).await;
        let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 900000\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&[b'x'; 70_000]).await.unwrap();
        held.push(stream);
    }
    let start = Instant::now();
    let mut honest = connect(&service.logger_base).await;
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
    honest.write_all(head.as_bytes()).await.unwrap();
    honest.write_all(&[b'y'; 100_000]).await.unwrap();
    assert_eq!(next_status(&mut honest).await, "HTTP/1.1 200 OK");
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        service.get(&format!("/http_loggers/{id}")).await.data()["num_requests"],
        1
    );
    service.stop().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_of_the_listener_wait() {
    let service = service(|limits| limits.connections = 2).await;
    let held = [connect(&service.base).await, connect(&service.base).await];
    let request =
        "GET /api/v2/openapi.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let base = service.base.clone();
    let waiting = tokio::spawn(async move { exchange(&base, request).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    drop(held);
    assert!(waiting.await.unwrap().starts_with("HTTP/1.1 200"));
    service.stop().await;
}

#[tokio::test]
async fn slow_heads_and_idle_connections_are_closed() {
    let service = service(|limits| {
        (limits.head_time, limits.idle_time) =
            (Duration::from_millis(100), Duration::from_millis(200));
    })
    .await;
    for base in [&service.base, &service.logger_base] {
        for sent in ["", "GET / HTTP/1.1\r\nhost: loc"] {
            assert_eq!(exchange(base, sent).await, "", "{base} {sent:?}");
        }
    }
    let kept_alive = "GET /api/v2/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    assert!(
        exchange(&service.base, kept_alive)
            .await
            .starts_with("HTTP/1.1 200")
    );
    service.stop().await;
}

/// The status line of the next response without a body.
async fn next_status(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let read = async {
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("open connection"));
        }
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("response");
    String::from_utf8(head)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn logger_connection_with_regular_requests_stays_open() {
    let service = service(|limits| limits.head_time = Duration::from_millis(200)).await;
    let (id, url) = service.logger("a").await;
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let mut stream = connect(&service.logger_base).await;
    for n in 1..=3 {
        stream
            .write_all(format!("GET {path}{n} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes())
            .await
            .unwrap();
        assert_eq!(
            next_status(&mut stream).await,
            "HTTP/1.1 200 OK",
            "request {n}"
        );
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    // The capture of a refused head has the method and path of this head, not of an earlier one.
    let large = format!(
        "POST {path}large HTTP/1.1\r\nX-Large: {}\r\n\r\n",
        "z".repeat(100_000)
    );
    let _ = stream.write_all(large.as_bytes()).await;
    assert_error(&closed(stream).await, 431, "too large");
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    let paths: Vec<&str> = recorded
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["1", "2", "3", "large"].map(|name| format!("{path}{name}"))
    );
    assert_eq!(recorded[3]["request_method"], "POST");
    service.stop().await;
}

#[tokio::test]
async fn slow_bodies_are_refused_and_loggers_record_their_part() {
    let service = service(|limits| limits.body_time = Duration::from_millis(100)).await;
    let (id, url) = service.logger("a").await;
    let head = |path: &str| {
        let key = &service.key;
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-length: 99\r\n\
             connection: close\r\n\r\n{{\"a"
        )
    };
    assert_error(
        &exchange(&service.base, &head("/api/v2/targets")).await,
        408,
        "did not arrive in time",
    );
    assert_error(
        &exchange(&service.logger_base, &head(&url)).await,
        408,
        "with the part that arrived",
    );
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    assert_eq!(recorded[0]["request_body_base64"], STANDARD.encode("{\"a"));
    service.stop().await;
}

#[tokio::test]
async fn file_that_keeps_arriving_may_take_longer_than_the_time_for_a_body() {
    let limit = Duration::from_millis(600);
    let service = service(|limits| limits.body_time = limit).await;
    let part = "x".repeat(64 << 10);
    let parts = 12;
    let head = format!(
        "POST /api/v2/imports?file_name=a HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        service.key,
        parts * part.len()
    );
    let mut stream = connect(&service.base).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let begun = Instant::now();
    for _ in 0..parts {
        tokio::time::sleep(limit / 5).await;
        stream.write_all(part.as_bytes()).await.unwrap();
    }
    assert!(begun.elapsed() > limit * 2);
    let response = closed(stream).await;
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
    service.stop().await;
}

#[tokio::test]
async fn file_that_stops_arriving_after_a_fast_beginning_is_refused_soon() {
    let service = service(|limits| limits.body_time = Duration::from_secs(1)).await;
    let beginning = "x".repeat(32 << 20);
    let head = format!(
        "POST /api/v2/imports?file_name=a HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        service.key,
        2 * beginning.len()
    );
    // A second for each 256 KB would be more than two minutes.
    let response = exchange(&service.base, &(head + &beginning)).await;
    assert_error(&response, 408, "did not arrive in time");
    service.stop().await;
}

#[tokio::test]
async fn large_head_to_a_logger_is_recorded_up_to_the_limit() {
    let service = TestService::new().await;
    let (id, url) = service.logger("a").await;
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let large = format!(
        "POST {path}x?y=1 HTTP/1.1\r\nHost: a\r\nX-Large: {}\r\n\r\n",
        "z".repeat(100_000)
    );
    assert_error(
        &exchange(&service.logger_base, &large).await,
        431,
        "too large",
    );
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    let many = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{many}\r\n");
    assert!(
        exchange(&service.logger_base, &many)
            .await
            .starts_with("HTTP/1.1 200 "),
        "no limit of header lines"
    );
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    assert_eq!(
        (
            &recorded[0]["request_method"],
            &recorded[0]["path"],
            &recorded[0]["url_params"]
        ),
        (&"POST".into(), &format!("{path}x").into(), &"y=1".into())
    );
    let last = recorded[0]["http_headers"][1].as_str().unwrap();
    assert!(
        last.starts_with("X-Large: zzz") && last.ends_with("zzz") && last.len() < 66_000,
        "{}",
        last.len()
    );
    let limit = "the head is larger than 65536 bytes; the rest was not recorded";
    assert_eq!(recorded[0]["problems"], json!([limit]));
    assert_eq!(recorded[1]["http_headers"].as_array().unwrap().len(), 202);
    // A normal request still works, and an unknown logger records nothing.
    assert_eq!(service.client.get(&url).send().await.unwrap().status(), 200);
    let unknown = large.replace(&path, "/l/aaaaaaaaaaaaaaaaaaaaaa/");
    assert_error(
        &exchange(&service.logger_base, &unknown).await,
        431,
        "too large",
    );
    assert_eq!(
        service.get(&format!("/http_loggers/{id}")).await.data()["num_requests"],
        3
    );
    service.stop().await;
}

#[tokio::test]
async fn path_of_any_length_within_the_head_is_recorded() {
    let service = service(|limits| limits.head_bytes = 100_000).await;
    let (id, url) = service.logger("a").await;
    let path = url::Url::parse(&url).unwrap().path().to_owned();
    let long = format!(
        "GET {path}x?{} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "z".repeat(70_000)
    );
    let response = exchange(&service.logger_base, &long).await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    assert_eq!(recorded[0]["path"], format!("{path}x"));
    assert_eq!(recorded[0]["url_params"].as_str().unwrap().len(), 70_000);
    service.stop().await;
}

#[tokio::test]
async fn quota_of_a_logger_counts_headers() {
    let service = TestService::with(|settings| settings.logger_bytes = 100_000).await;
    let (id, url) = service.logger("a").await;
    let send = async || {
        service
            .client
            .get(&url)
            .header("x", "y".repeat(40_000))
            .send()
            .await
            .unwrap()
    };
    let statuses = [
        send().await.status(),
        send().await.status(),
        send().await.status(),
    ];
    assert_eq!(statuses.map(|status| status.as_u16()), [200, 200, 410]);
    let shown = service.get(&format!("/http_loggers/{id}")).await;
    assert_eq!(shown.data()["num_requests"], 2);
    service
        .delete(&format!("/http_loggers/{id}/data"))
        .await
        .assert_no_content();
    assert_eq!(send().await.status(), 200);
    service.stop().await;
}

#[tokio::test]
async fn errors_below_the_router_have_the_error_body() {
    let service = TestService::new().await;
    let base = &service.base;
    assert_error(&exchange(base, "nonsense\r\n\r\n").await, 400, "malformed");
    assert_error(
        &exchange(&service.logger_base, "nonsense\r\n\r\n").await,
        400,
        "malformed",
    );
    let large = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "y".repeat(70_000)
    );
    assert_error(&exchange(base, &large).await, 431, "headers are too large");
    let after_answer =
        format!("GET /api/v2/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n{large}");
    let both = exchange(base, &after_answer).await;
    assert_error(
        &both[both.rfind("HTTP/1.1").unwrap()..],
        431,
        "headers are too large",
    );
    let long = service
        .get(&format!("/scans?x={}", "y".repeat(10_000)))
        .await;
    long.assert_refused(414, "longer than 8192");
    service.stop().await;
}

#[tokio::test]
async fn long_input_is_not_repeated_in_errors() {
    let service = TestService::new().await;
    let long = "9a".repeat(3000);
    for path in [
        format!("/{long}"),
        format!("/scans/{long}"),
        format!("/scans?limit={long}&status={long}"),
    ] {
        let response = service.get(&path).await;
        assert!(
            (400..500).contains(&response.status) && response.body.to_string().len() < 600,
            "{response:?}"
        );
    }
    let body = format!("{{\"name\": \"http://{}/\"}}", "a".repeat(100_000));
    let sent = service
        .request(Method::POST, "/targets")
        .header("content-type", "application/json")
        .body(body);
    let response = JsonResponse::read(sent.send().await.unwrap()).await;
    assert!(
        response.status == 400 && response.body.to_string().len() < 2500,
        "{}",
        response.body.to_string().len()
    );
    service.stop().await;
}

#[tokio::test]
async fn escaped_path_is_the_same_endpoint() {
    let service = TestService::new().await;
    // The client would decode the escapes itself.
    let request = format!(
        "GET /api/v2/%73cans HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        service.key
    );
    assert!(
        exchange(&service.base, &request)
            .await
            .starts_with("HTTP/1.1 200")
    );
    service.stop().await;
}

#[tokio::test]
async fn wrong_keys_are_throttled_and_the_right_key_is_not() {
    let service = TestService::with(|settings| settings.wrong_keys = 3).await;
    let url = format!("{}/workspaces", service.base);
    let send = async || {
        service
            .client
            .get(&url)
            .bearer_auth("wrong")
            .send()
            .await
            .unwrap()
    };
    for _ in 0..3 {
        assert_eq!(send().await.status(), 401);
    }
    let refused = send().await;
    for (name, expected) in [("x-ratelimit-limit", "3"), ("x-ratelimit-remaining", "0")] {
        assert_eq!(refused.headers()[name], expected);
    }
    assert!(
        refused.headers().contains_key("retry-after")
            && refused.headers().contains_key("x-ratelimit-reset")
    );
    let refused = JsonResponse::read(refused).await;
    assert!(
        refused.body["details"]
            .as_str()
            .unwrap()
            .starts_with("retry in "),
        "{refused:?}"
    );
    refused.assert_refused(429, "without a valid API key");
    assert_eq!(service.get("/workspaces").await.status, 200);
    service.stop().await;
}

#[tokio::test]
async fn lists_of_several_batches_are_complete() {
    let service = TestService::new().await;
    let places = (0..450).map(|n| finding("web.key", Risk::Low, &format!("place {n}")));
    let output = json!({"protocols": ["\"", "é"]});
    let mut events = vec![
        tested("a", 1, places.collect()),
        ScanEvent::Output(ScanOutput {
            output_type: "finding_list".into(),
            output_data: output.clone(),
        }),
    ];
    events.extend((0..450).map(|n| ScanEvent::Raw(format!("line {n} \"quoted\""))));
    service.runner.set_events(events);
    service.runner.finish_scans(1);
    let scan = service
        .post("/scans", json!({"tool_id": 70, "target_name": "127.0.0.1"}))
        .await
        .created();
    service.until_status(scan, "finished").await;
    let findings = service.get("/findings").await.data().clone();
    let ids: Vec<i64> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_i64().unwrap())
        .collect();
    assert!(ids.len() == 450 && ids.is_sorted() && findings[449]["vuln_evidence"].is_object());
    assert_eq!(
        service.get("/findings?group_duplicates=true").await.data(),
        &findings
    );
    assert_eq!(service.get("/findings?task_id=99").await.data(), &json!([]));
    let raw = service
        .get(&format!("/scans/{scan}/raw"))
        .await
        .data()
        .clone();
    assert_eq!(
        (raw.as_array().unwrap().len(), &raw[449]),
        (450, &json!("line 449 \"quoted\""))
    );
    let shown = service.get(&format!("/scans/{scan}/output")).await;
    let output = json!({"protocols": ["\"", "é"], "findings": findings});
    assert_eq!(
        shown.data(),
        &json!({"output_type": "finding_list", "output_data": output})
    );

    let (id, url) = service.logger("a").await;
    for _ in 0..3 {
        service
            .client
            .post(&url)
            .body(vec![b'x'; 400_000])
            .send()
            .await
            .unwrap();
    }
    let recorded = service
        .get(&format!("/http_loggers/{id}/data"))
        .await
        .data()["requests"]
        .clone();
    assert!(
        recorded
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["request_body_base64"].as_str().unwrap().len() > 500_000)
    );
    assert_eq!(recorded.as_array().unwrap().len(), 3);
    service.stop().await;
}
