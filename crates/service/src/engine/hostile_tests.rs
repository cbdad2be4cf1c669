//! Scans of misbehaving servers: each scan ends in time with a status message.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::ScanOutcome;
use super::testing::{ScanResult, TestScan, localhost_tls};
use scandeck_wire::contract::{RedirectLevel, Risk, Tool};

/// A server that runs `serve` for each connection.
pub(super) async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> u16
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    port
}

/// A web server whose responses depend on path and request head; it closes every connection.
pub(super) async fn web<A>(answer: impl Fn(&str, &str) -> A + Send + Sync + 'static) -> u16
where
    A: AsRef<[u8]> + Send + 'static,
{
    let answer = Arc::new(answer);
    server(move |mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            let head = request(&mut stream).await;
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let _ = stream.write_all(answer(&path, &head).as_ref()).await;
        }
    })
    .await
}

pub(super) async fn request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = vec![0; 8192];
    let mut length = 0;
    while !bytes[..length].windows(4).any(|part| part == b"\r\n\r\n") {
        match stream.read(&mut bytes[length..]).await {
            Ok(n @ 1..) => length += n,
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

pub(super) fn ok(kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

pub(super) fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

pub(super) fn website(port: u16, params: Value) -> TestScan {
    TestScan::new(Tool::WEBSITE, &format!("http://127.0.0.1:{port}/"), params)
}

fn connection_error(result: &ScanResult) -> &str {
    match &result.outcome {
        ScanOutcome::ConnectionError(why) => why,
        other => panic!("{other:?}"),
    }
}

fn failed_to_start(result: &ScanResult) -> &str {
    match &result.outcome {
        ScanOutcome::FailedToStart(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn closed_or_foreign_port_is_a_connection_error() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let hangs_up = server(|stream| async move { drop(stream) }).await;
    let ssh = server(|mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-x\r\n").await;
        request(&mut stream).await;
    })
    .await;
    let silent = server(|mut stream| async move {
        request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let tls = |port| {
        let target = format!("https://127.0.0.1:{port}/");
        let mut scan = TestScan::new(Tool::TLS, &target, json!({}));
        // A slow server would get more time for its first handshake.
        scan.limits.handshake_time = Some(Duration::from_secs(3));
        scan.run()
    };
    let (refused, hung_up, not_http, not_tls, no_response) = tokio::join!(
        website(closed, json!({})).run(),
        website(hangs_up, json!({})).run(),
        website(ssh, json!({})).run(),
        tls(ssh),
        tls(silent),
    );
    connection_error(&hung_up);
    connection_error(&not_http);
    for (result, cause) in [
        (refused, "refused"),
        (not_tls, "not with TLS"),
        (no_response, "no TLS response within 3 s"),
    ] {
        let error = connection_error(&result);
        assert!(error.contains(cause), "{:?}", result.outcome);
    }
}

#[tokio::test]
async fn slow_response_times_out_and_stop_does_not_wait_for_it() {
    let arrived = Arc::new(Notify::new());
    let bell = Arc::clone(&arrived);
    let drip = server(move |mut stream| {
        let bell = Arc::clone(&bell);
        async move {
            request(&mut stream).await;
            bell.notify_one();
            let mut pace = tokio::time::interval(Duration::from_millis(100));
            while stream.write_all(b"H").await.is_ok() {
                pace.tick().await;
            }
        }
    })
    .await;
    let patient = tokio::spawn(website(drip, json!({})).run());

    let scan = website(drip, json!({}));
    let stop = scan.stop.clone();
    let scan = tokio::spawn(scan.run());
    arrived.notified().await;
    let stopped = Instant::now();
    stop.cancel();
    assert_eq!(scan.await.unwrap().outcome, ScanOutcome::Cancelled);
    assert!(
        stopped.elapsed() < Duration::from_secs(1),
        "{:?}",
        stopped.elapsed()
    );

    let result = patient.await.unwrap();
    connection_error(&result);
    // The second attempt has twice the time.
    assert!(
        result.elapsed < Duration::from_secs(16),
        "{:?}",
        result.elapsed
    );
}

#[tokio::test]
async fn endless_body_is_truncated_and_scan_finishes() {
    let endless = server(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n")
            .await;
        while stream.write_all(&[b'A'; 16 * 1024]).await.is_ok() {}
    })
    .await;
    let result = website(endless, json!({})).run().await;
    result.check();
    assert!(
        result.elapsed < Duration::from_secs(10),
        "{:?}",
        result.elapsed
    );
}

/// A bomb for parsers that build a tree: each unclosed element is cloned for each further
/// paragraph.
fn html_bomb(repetitions: usize) -> String {
    let elements = (0..repetitions).map(|n| format!("<p><b a{n}>"));
    elements.collect::<String>() + "<a href=/after>"
}

#[tokio::test]
async fn html_bomb_does_not_delay_the_scan_or_the_runtime() {
    let body = html_bomb(20_000);
    let port =
        web(move |path, _| ok("text/html", if path == "/" { &body } else { "<p>page" })).await;
    let scan = tokio::spawn(website(port, json!({})).run());
    let mut slowest = Duration::ZERO;
    while !scan.is_finished() {
        let started = Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        slowest = slowest.max(started.elapsed());
    }
    let result = scan.await.unwrap();
    result.check();
    assert!(
        result.raw.iter().any(|line| line.contains("/after -> 200")),
        "{:?}",
        result.raw
    );
    assert!(
        slowest < Duration::from_millis(500),
        "the runtime was blocked for {slowest:?}"
    );
    assert!(
        result.elapsed < Duration::from_secs(20),
        "{:?}",
        result.elapsed
    );
}

#[tokio::test]
async fn page_beyond_html_time_is_read_in_part() {
    let body = format!(
        "<p {}>",
        (0..50_000).map(|n| format!(" a{n}")).collect::<String>()
    );
    let port = web(move |_, _| ok("text/html", &body)).await;
    let mut scan = website(port, json!({}));
    scan.limits.html_time = Duration::from_millis(20);
    let result = scan.run().await;
    result.check();
    let ScanOutcome::Finished(message) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(
        message.ends_with("limits reached: pages read in part: 1"),
        "{message}"
    );
}

#[tokio::test]
async fn findings_and_raw_lines_beyond_the_limits_are_dropped_and_reported() {
    let cookies: String = (0..40)
        .map(|n| format!("set-cookie: session{n}=1\r\n"))
        .collect();
    let long = "x".repeat(30_000);
    let port = web(move |_, _| {
        format!(
            "HTTP/1.1 200 OK\r\nserver: a/1 {long}\r\n{cookies}content-type: text/html\r\nconnection: close\r\n\r\n"
        )
    })
    .await;
    let mut scan = website(port, json!({}));
    scan.limits.evidence_bytes = 2048;
    let result = scan.run().await;
    result.check();
    let cookie = result.of("web.cookie.http_only");
    assert_eq!(
        (cookie.len(), cookie[0].place.as_str()),
        (1, "cookie session*")
    );
    assert!(result.of("web.server.version")[0].evidence.as_json().len() < 3000);

    let mut scan = website(port, json!({}));
    (scan.limits.findings, scan.limits.raw_lines) = (3, 5);
    let result = scan.run().await;
    result.check();
    assert_eq!((result.findings().count(), result.raw.len()), (3, 5));
    assert_eq!(result.output.as_ref().unwrap().output_type, "finding_list");
    let ScanOutcome::Finished(message) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(
        message.contains("findings dropped") && message.contains("raw lines dropped"),
        "{message}"
    );
    assert_eq!(
        result
            .info
            .iter()
            .filter(|line| line.contains("limit of"))
            .count(),
        2,
        "{:?}",
        result.info
    );
}

#[tokio::test]
async fn unresponsive_server_gets_few_requests_and_is_reported() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let dying = server(move |mut stream| {
        let nth = seen.fetch_add(1, Ordering::Relaxed);
        async move {
            request(&mut stream).await;
            if nth == 0 {
                let _ = stream
                    .write_all(ok("text/html", "<p>hello</p>").as_bytes())
                    .await;
            }
        }
    })
    .await;
    let result = website(dying, json!({})).run().await;
    result.check();
    assert!(
        result
            .info
            .iter()
            .any(|line| line.contains("stopped responding")),
        "{:?}",
        result.info
    );
    assert!(count.load(Ordering::Relaxed) < 60, "{count:?} connections");
}

#[tokio::test]
async fn redirects_follow_their_level() {
    let looping = web(|_, _| redirect("/again")).await;
    let result = website(looping, json!({})).run().await;
    assert!(
        failed_to_start(&result).contains("more than 10 redirects"),
        "{:?}",
        result.outcome
    );

    let redirecting = web(|_, _| redirect("http://192.0.2.1/")).await;
    let result = website(redirecting, json!({})).run().await;
    assert!(
        failed_to_start(&result).contains("same_domain does not allow"),
        "{:?}",
        result.outcome
    );
    let mut scan = website(redirecting, json!({}));
    scan.job.redirect_level = RedirectLevel::AllowAll;
    let result = scan.run().await;
    assert!(
        failed_to_start(&result).contains("`scandeck scope add 192.0.2.1`"),
        "{:?}",
        result.outcome
    );

    let inside = web(|path, _| {
        if path == "/" {
            redirect("/in")
        } else {
            ok("text/html", "<p>in</p>")
        }
    })
    .await;
    let mut scan = website(inside, json!({}));
    scan.job.redirect_level = RedirectLevel::CheckAccessibility;
    assert!(failed_to_start(&scan.run().await).contains("does not allow"));
    let followed = |(level, original, start): (&'static str, bool, &'static str)| async move {
        let mut scan = website(inside, json!({}));
        scan.job.redirect_level = level.into();
        scan.job.scan_original_url = original;
        let result = scan.run().await;
        result.check();
        let first = result.tests[0].metadata["url"].as_str().unwrap().to_owned();
        assert!(
            first.ends_with(&format!("{inside}{start}")),
            "{level} {original}: {first}"
        );
    };
    let levels = [
        ("same_host", false, "/in"),
        ("same_host", true, "/"),
        ("none", false, "/"),
    ];
    futures::future::join_all(levels.map(followed)).await;
}

fn login(key: &str) -> Value {
    json!({"authentication": {"headers": {"Authorization": format!("Bearer {key}")}}})
}

#[tokio::test]
async fn refused_login_is_an_auth_failure() {
    let guarded = web(|_, head| {
        match head
            .to_ascii_lowercase()
            .contains("authorization: bearer s3cret")
        {
            true => ok("text/html", "<p>welcome</p>"),
            false => "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                .to_owned(),
        }
    })
    .await;
    let result = website(guarded, login("s3cret")).run().await;
    result.check();
    assert!(!result.raw.join("\n").contains("s3cret"));

    let result = website(guarded, login("wrong")).run().await;
    let ScanOutcome::AuthFailed(why) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(why.contains("401") && !why.contains("wrong"), "{why}");

    // Without a login, 401 is an ordinary page.
    website(guarded, json!({})).run().await.check();
}

#[tokio::test]
async fn login_is_sent_to_the_origin_of_the_target_only() {
    let (visits, leaks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen, leaked) = (Arc::clone(&visits), Arc::clone(&leaks));
    let elsewhere = web(move |_, head| {
        seen.fetch_add(1, Ordering::Relaxed);
        leaked.fetch_add(usize::from(head.contains("s3cret")), Ordering::Relaxed);
        ok("text/html", "<p>elsewhere</p>")
    })
    .await;
    // The scanner treats localhost and 127.0.0.1 as different hosts. Another port is another
    // server.
    for host in ["localhost", "127.0.0.1"] {
        let before = visits.load(Ordering::Relaxed);
        let home = web(move |_, _| redirect(&format!("http://{host}:{elsewhere}/"))).await;
        let mut scan = website(home, login("s3cret"));
        scan.job.redirect_level = RedirectLevel::AllowAll;
        scan.run().await.check();
        assert!(visits.load(Ordering::Relaxed) > before + 1);
        assert_eq!(leaks.load(Ordering::Relaxed), 0, "{host}");
    }
}

#[tokio::test]
async fn server_with_same_file_for_every_name_exposes_nothing() {
    let scan = |body: &'static str| async move {
        let port = web(move |_, _| ok("text/plain", body)).await;
        let result = website(port, json!({})).run().await;
        result.check();
        let exposed: Vec<_> = result
            .findings()
            .filter(|one| one.vuln_id.starts_with("web.exposed"))
            .collect();
        assert!(exposed.is_empty(), "{body:?}: {exposed:?}");
    };
    let bodies = [
        "ref: refs/heads/main\n",
        "APP_KEY=1\nDB_PASSWORD=2\n",
        "-- MySQL dump\nCREATE TABLE a",
        "PK\u{3}\u{4}",
    ];
    futures::future::join_all(bodies.map(scan)).await;
}

#[tokio::test]
async fn vulnerable_versions_and_write_methods_are_not_confirmed() {
    let port = web(|_, _| {
        "HTTP/1.1 200 OK\r\nserver: Apache/2.4.49 (Unix)\r\nallow: GET, PUT\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            .to_owned()
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let outdated = result.of("web.server.outdated");
    assert_eq!(
        (
            outdated.len(),
            outdated[0].confirmed,
            outdated[0].in_cisa_catalog
        ),
        (1, false, true)
    );
    assert_eq!(outdated[0].cve[..2], ["CVE-2021-41773", "CVE-2021-42013"]);
    let methods = result.of("web.method.write");
    // Every path has the same list, so it is that of the server.
    assert_eq!(
        (methods.len(), methods[0].confirmed, methods[0].risk),
        (1, false, Risk::Info)
    );
    assert_eq!(outdated[0].risk, Risk::Medium, "known to be exploited");
}

#[tokio::test]
async fn write_methods_of_one_path_are_a_risk() {
    let port = web(|path, _| {
        let allow = if path == "/" { "GET, PUT" } else { "GET" };
        format!(
            "HTTP/1.1 200 OK\r\nallow: {allow}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(result.of("web.method.write")[0].risk, Risk::Low);
}

#[tokio::test]
async fn deep_scan_reads_paths_of_scripts_that_only_show() {
    let requested = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requested);
    let port = web(move |path, _| {
        seen.lock().unwrap().push(path.to_owned());
        match path {
            "/" => ok("text/html", "<script src=/app.js></script>"),
            "/app.js" => ok(
                "text/javascript",
                r#"get("/api/orders"); get("/cart/delete/7"); get("/gone"); "//cdn.test/x""#,
            ),
            "/api/orders" => ok("application/json\r\nset-cookie: sid=1", "[]"),
            _ => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                .to_owned(),
        }
    })
    .await;
    let custom = json!({"scan_type": "custom", "attack_active": [], "discovery": []});
    for (params, is_read) in [(json!({}), false), (custom, true)] {
        requested.lock().unwrap().clear();
        let result = website(port, params).run().await;
        result.check();
        assert_eq!(
            result.of("web.cookie.http_only").len(),
            usize::from(is_read),
            "{:?}",
            result.raw
        );
        assert!(
            !result
                .findings()
                .any(|finding| finding.vuln_id.starts_with("coverage."))
        );
        let requested = requested.lock().unwrap();
        assert_eq!(
            requested.iter().any(|path| path == "/gone"),
            is_read,
            "{requested:?}"
        );
        assert!(
            !requested
                .iter()
                .any(|path| path.contains("delete") || path.contains("cdn")),
            "{requested:?}"
        );
    }
}

/// Implements enough of TLS 1.0 and 1.1 to be recognised.
async fn old_tls(mut stream: TcpStream, certificate: Vec<u8>) {
    let mut head = [0; 5];
    if stream.read_exact(&mut head).await.is_err() {
        return;
    }
    let mut hello = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
    if stream.read_exact(&mut hello).await.is_err() {
        return;
    }
    // Another record than a hello: an alert.
    let Some(&minor) = hello.get(5) else { return };
    let minor = minor.min(2);
    if minor == 0 {
        let _ = stream.write_all(&[21, 3, 0, 0, 2, 2, 40]).await;
        return;
    }
    let sized = |bytes: &[u8]| [&(bytes.len() as u32).to_be_bytes()[1..], bytes].concat();
    let server_hello = [vec![3, minor], vec![9; 32], vec![0, 0, 0x2f, 0]].concat();
    let messages = [
        vec![2],
        sized(&server_hello),
        vec![11],
        sized(&sized(&sized(&certificate))),
    ]
    .concat();
    // Two records, so that the scanner must reassemble the messages.
    for part in messages.chunks(messages.len() / 2 + 1) {
        let record = [
            &[22, 3, minor][..],
            &(part.len() as u16).to_be_bytes(),
            part,
        ]
        .concat();
        let _ = stream.write_all(&record).await;
    }
    // The scanner closes the connection after the certificates.
    let _ = stream.read(&mut head).await;
}

#[tokio::test]
async fn scan_of_single_tests_of_tls_reports_these_alone() {
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params
        .self_signed(&KeyPair::generate().unwrap())
        .unwrap()
        .der()
        .to_vec();
    let port = server(move |stream| old_tls(stream, certificate.clone())).await;
    let target = format!("https://127.0.0.1:{port}/");
    let only = json!({"only_tests": ["tls.certificate.self_signed", "tls.protocol.tls10"]});
    let result = TestScan::new(Tool::TLS, &target, only).run().await;
    result.check();
    let uids: Vec<&str> = result.tests.iter().map(|test| test.uid.as_str()).collect();
    assert_eq!(uids, ["tls.protocol.tls10", "tls.certificate.trust"]);
    let kinds: Vec<&str> = result.findings().map(|one| one.vuln_id.as_str()).collect();
    assert_eq!(kinds, ["tls.protocol.tls10", "tls.certificate.self_signed"]);
}

#[tokio::test]
async fn old_versions_are_found_with_their_certificate() {
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params
        .self_signed(&KeyPair::generate().unwrap())
        .unwrap()
        .der()
        .to_vec();
    let port = server(move |stream| old_tls(stream, certificate.clone())).await;
    let result = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}))
        .run()
        .await;
    result.check();
    let kinds: Vec<&str> = result.findings().map(|one| one.vuln_id.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "tls.protocol.tls10",
            "tls.protocol.tls11",
            "tls.certificate.self_signed",
            "tls.cipher.rsa_exchange",
            "tls.cipher.no_forward_secrecy",
            "tls.renegotiation.insecure",
            "tls.protocol.old_only"
        ]
    );
    let message = format!("{:?}", result.outcome);
    assert!(
        message.contains("; 7 findings: TLS 1.0 supported, TLS 1.1 supported, "),
        "{message}"
    );
    let output = result.output.unwrap().output_data;
    let tls10 = &output["protocols"][2];
    assert_eq!(
        (&tls10["name"], &tls10["accepted"]),
        (&json!("TLS 1.0"), &json!(true))
    );
    assert_eq!(tls10["cipher_suites"], json!(["RSA_AES_128_CBC_SHA"]));
    assert_eq!(output["certificates"][0]["names"], json!(["127.0.0.1"]));
}

#[tokio::test]
async fn service_without_starttls_response_is_reported() {
    let port = server(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let params = json!({"port": port, "starttls": "smtp"});
    let result = TestScan::new(Tool::TLS, "127.0.0.1", params).run().await;
    let expected = format!("127.0.0.1:{port}: connection accepted, but no smtp response");
    assert_eq!(result.outcome, ScanOutcome::ConnectionError(expected));
}

/// A mail server that takes this number of connections, and then only says that it is busy.
async fn busy_mail_server(connections: usize) -> u16 {
    let (acceptor, count) = (
        TlsAcceptor::from(Arc::new(localhost_tls())),
        Arc::new(AtomicUsize::new(0)),
    );
    server(move |mut stream| {
        let (acceptor, is_busy) = (
            acceptor.clone(),
            count.fetch_add(1, Ordering::Relaxed) >= connections,
        );
        async move {
            if is_busy {
                let _ = stream
                    .write_all(b"421 4.7.0 Too many connections\r\n")
                    .await;
                return;
            }
            let mut line = [0; 512];
            for answer in ["220 mail\r\n", "250-mail\r\n250 STARTTLS\r\n", "220 go\r\n"] {
                let _ = stream.write_all(answer.as_bytes()).await;
                if !answer.ends_with("go\r\n") && !matches!(stream.read(&mut line).await, Ok(1..)) {
                    return;
                }
            }
            let _ = acceptor.accept(stream).await;
        }
    })
    .await
}

#[tokio::test]
async fn handshakes_that_a_busy_server_refuses_are_no_result() {
    for (connections, is_finished) in [(0, false), (1, false), (12, true)] {
        let port = busy_mail_server(connections).await;
        let result = TestScan::new(
            Tool::TLS,
            "127.0.0.1",
            json!({"port": port, "starttls": "smtp"}),
        )
        .run()
        .await;
        let line = "smtp refuses the connection: 421 4.7.0 Too many connections";
        match &result.outcome {
            ScanOutcome::Finished(message) if is_finished => {
                assert!(
                    message.contains("; incomplete: ") && message.ends_with(line),
                    "{message}"
                );
                let accepted = message.contains("TLS 1.3");
                assert!(
                    accepted || result.of("tls.protocol.no_tls13").is_empty(),
                    "{message}"
                );
                let tests = result
                    .tests
                    .iter()
                    .filter(|test| test.uid.starts_with("tls.protocol"));
                assert!(
                    tests.clone().count() > 0
                        && tests.clone().all(|test| test.metadata["judged"] == false)
                );
            }
            ScanOutcome::ConnectionError(message) if !is_finished => {
                assert!(message.ends_with(line), "{message}")
            }
            other => panic!("{connections}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn telling_answer_of_one_address_is_not_hidden_by_the_other() {
    // `localhost` is 127.0.0.1 and ::1; this server has only the first.
    let port = busy_mail_server(0).await;
    let result = TestScan::new(
        Tool::TLS,
        "localhost",
        json!({"port": port, "starttls": "smtp"}),
    )
    .run()
    .await;
    assert!(
        connection_error(&result).contains("421 4.7.0 Too many connections"),
        "{:?}",
        result.outcome
    );
}

#[tokio::test]
async fn port_without_http_names_the_https_url() {
    let port = server(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 40]).await;
    })
    .await;
    let result = website(port, json!({})).run().await;
    let expected = format!(
        "http://127.0.0.1:{port}/: no HTTP response; if the port uses TLS, scan https://127.0.0.1:{port}/"
    );
    assert_eq!(result.outcome, ScanOutcome::ConnectionError(expected));
}

#[tokio::test]
async fn custom_scan_runs_selected_checks_and_reads_selected_pages() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let requested = Arc::clone(&paths);
    let port = web(move |path, _| {
        requested.lock().unwrap().push(path.to_owned());
        match path {
            "/" => ok("text/html", "<a href=/a>a</a><a href=/private/b>b</a>"),
            "/a" => ok("text/html", "<a href=/a/deep>deep</a>"),
            _ => ok("text/html", ""),
        }
    })
    .await;
    let params = json!({
        "attack_active": [], "attack_passive": ["csp", "header.hsts", "xss"], "discovery": ["web.robots"],
        "spider": {"approach": "spa", "depth": 1, "include_urls": ["/hidden", "http://evil.test/"], "exclude_urls": ["/private/"]},
    });
    let result = website(port, params).run().await;
    result.check();
    let mut uids: Vec<&str> = result.tests.iter().map(|test| test.uid.as_str()).collect();
    uids.sort_unstable();
    assert_eq!(
        uids,
        [
            "coverage",
            "web.crawl",
            "web.header.csp",
            "web.header.hsts",
            "web.robots",
            "web.start"
        ]
    );
    let mut paths = paths.lock().unwrap().clone();
    // Without the requests of the control.
    paths.retain(|path| !path.starts_with("/sd"));
    paths.sort_unstable();
    assert_eq!(paths, ["/", "/a", "/hidden", "/robots.txt"]);
    assert!(
        result.info[0]
            .starts_with("Ignored: unknown check `xss` in `attack_passive`, `spider.approach` spa"),
        "{:?}",
        result.info
    );
    let skipped = "`include_urls`: http://evil.test/ is not on the target and was skipped.";
    assert!(
        result.info.iter().any(|line| line == skipped),
        "{:?}",
        result.info
    );
}
