//! Scans of servers whose HTTP is odd, cut or not HTTP/1: browsers and curl read them, so the scans
//! do too.

use std::convert::Infallible;
use std::sync::Arc;

use async_compression::tokio::bufread::{DeflateEncoder, GzipEncoder};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::Body;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::ScanOutcome;
use super::hostile_tests::{ok, server, web, website};
use super::testing::{ScanResult, TestScan, localhost_tls};
use scandeck_wire::contract::Tool;

const PAGE: &str = "<title>Shop</title><a href=/next>next</a><p>about the shop</p>";

/// The result of a scan of a site whose start page is this response; other pages are ordinary.
async fn scan(start: impl Into<Vec<u8>>) -> ScanResult {
    let start = start.into();
    let port = web(move |path, _| {
        if path == "/" {
            start.clone()
        } else {
            ok("text/html", "<p>x").into_bytes()
        }
    })
    .await;
    let checks = json!({"scan_type": "custom", "attack_active": [], "attack_passive": ["csp"], "discovery": ["robots"]});
    website(port, checks).run().await
}

fn message(result: &ScanResult) -> &str {
    match &result.outcome {
        ScanOutcome::Finished(message) | ScanOutcome::ConnectionError(message) => message,
        other => panic!("{other:?}"),
    }
}

fn has_read_link(result: &ScanResult) -> bool {
    result.raw.iter().any(|line| line.contains("/next -> 200"))
}

fn head(lines: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{lines}\r\n\r\n")
}

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

async fn packed(encoding: &str) -> Vec<u8> {
    let mut encoder: Box<dyn AsyncRead + Unpin> = match encoding {
        "gzip" => Box::new(GzipEncoder::new(PAGE.as_bytes())),
        _ => Box::new(DeflateEncoder::new(PAGE.as_bytes())),
    };
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn odd_response_is_read_like_an_ordinary_one() {
    let cookies = |count: usize| {
        (0..count)
            .map(|n| format!("set-cookie: c{n}=1\r\n"))
            .collect::<String>()
    };
    let length = PAGE.len();
    let plain = head("connection: close");
    let deflated = packed("deflate").await;
    let sized = format!(
        "content-encoding: deflate\r\ncontent-length: {}",
        deflated.len()
    );
    for (kind, response) in [
        (
            "120 cookies",
            format!(
                "{}{PAGE}",
                head(&format!("{}connection: close", cookies(120)))
            ),
        ),
        (
            "2000 cookies",
            format!(
                "{}{PAGE}",
                head(&format!("{}connection: close", cookies(2000)))
            ),
        ),
        (
            "nmap 573, blank before the colon",
            format!("{}{PAGE}", head("X-Powered-By : PHP\r\nconnection: close")),
        ),
        (
            "folded line",
            format!("{}{PAGE}", head("X-A: a\r\n  b\r\nconnection: close")),
        ),
        (
            "curl 11802, line that is no header",
            format!("{}{PAGE}", head("nonsense\r\nconnection: close")),
        ),
        (
            "header with a null byte",
            format!("{}{PAGE}", head("X-A: a\0b\r\nconnection: close")),
        ),
        (
            "chunks in HTTP/1.0",
            head("transfer-encoding: chunked").replacen("1.1", "1.0", 1) + &chunked(PAGE),
        ),
        ("line feeds only", plain.replace("\r\n", "\n") + PAGE),
        (
            "chunks with line feeds only",
            head("transfer-encoding: chunked") + &chunked(PAGE).replace("\r\n", "\n"),
        ),
        (
            "chunked and length",
            head("transfer-encoding: chunked\r\ncontent-length: 5") + &chunked(PAGE),
        ),
        (
            "unlike lengths",
            format!(
                "{}{PAGE}",
                head(&format!("content-length: {length}\r\ncontent-length: 3"))
            ),
        ),
        (
            "length below zero",
            format!("{}{PAGE}", head("content-length: -1")),
        ),
        (
            "lower case version",
            plain.replacen("HTTP", "http", 1) + PAGE,
        ),
        (
            "version of HTTP/2 in text",
            plain.replacen("HTTP/1.1", "HTTP/2", 1) + PAGE,
        ),
        ("no reason", plain.replacen("200 OK", "200", 1) + PAGE),
        ("empty lines first", format!("\r\n\r\n{plain}{PAGE}")),
        (
            "nmap 573, blank in a header name",
            format!("{}{PAGE}", head("Last Modified: Fri\r\nconnection: close")),
        ),
        (
            "nuclei 7363, second status line",
            format!("{}{PAGE}", head("HTTP/1.0 200 OK\r\nconnection: close")),
        ),
        (
            "hyper 2879, cookie with a control byte",
            format!(
                "{}{PAGE}",
                head("set-cookie: a=b\u{1}c; path=/\r\nconnection: close")
            ),
        ),
        (
            "zaproxy 3849, no content type",
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\n {PAGE}"),
        ),
        (
            "interim response",
            format!("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n{plain}{PAGE}"),
        ),
        (
            "unknown encoding",
            format!(
                "{}{PAGE}",
                head("content-encoding: utf-8\r\nconnection: close")
            ),
        ),
    ] {
        let result = scan(response).await;
        result.check();
        assert!(has_read_link(&result), "{kind}: {}", result.raw.join("\n"));
        assert!(
            !message(&result).contains("incomplete"),
            "{kind}: {}\n{}",
            message(&result),
            result.raw.join("\n")
        );
        assert_eq!(result.of("web.header.csp_missing").len(), 1, "{kind}");
    }
    let result = scan([head(&sized).as_bytes(), &deflated].concat()).await;
    assert!(
        has_read_link(&result) && !message(&result).contains("incomplete"),
        "raw deflate: {}",
        message(&result)
    );
}

#[tokio::test]
async fn addresses_that_browsers_follow_are_followed() {
    let page =
        |lines: &str, body: &str| format!("{}{body}", head(&format!("{lines}connection: close")));
    for (kind, response, expected) in [
        (
            "zaproxy 7135, refresh header",
            page("refresh: 0; url=/next\r\n", "<p>x"),
            "/next",
        ),
        (
            "refresh header in quotes",
            page("Refresh: 5;URL='/next'\r\n", "<p>x"),
            "/next",
        ),
        (
            "zaproxy 1473, refresh element",
            page("", "<meta http-equiv=Refresh content='0;url=/next'>"),
            "/next",
        ),
        (
            "refresh element without a name",
            page("", "<meta http-equiv=refresh content='3, /next'>"),
            "/next",
        ),
        (
            "isahc 315, UTF-8 in the location",
            "HTTP/1.1 302 Found\r\nlocation: /caf\u{e9}\r\ncontent-length: 0\r\n\r\n".into(),
            "/caf%C3%A9",
        ),
        (
            "curl 12147, tabs in the location",
            "HTTP/1.1 302 Found\r\nlocation: /ne\txt\t\t\r\ncontent-length: 0\r\n\r\n".into(),
            "/next",
        ),
        (
            "blank in the location",
            "HTTP/1.1 302 Found\r\nlocation: /a b\r\ncontent-length: 0\r\n\r\n".into(),
            "/a%20b",
        ),
        (
            "wapiti 690, links that are no addresses",
            page(
                "",
                "<a href='http://[::1'><a href='//'><a href='http://a b/'><a href=/next>",
            ),
            "/next",
        ),
    ] {
        let result = scan(response).await;
        result.check();
        let line = format!("{expected} -> 200");
        assert!(
            result.raw.iter().any(|one| one.contains(&line)),
            "{kind}: {}",
            result.raw.join("\n")
        );
    }
}

#[tokio::test]
async fn cut_response_is_judged_and_reported() {
    let gzip = packed("gzip").await;
    let sized = |length: usize| format!("content-encoding: gzip\r\ncontent-length: {length}");
    let first_chunk = format!("{:x}\r\n{PAGE}\r\n", PAGE.len());
    let half = &gzip[..gzip.len() - 6];
    for (kind, response, reason) in [
        (
            "no last chunk",
            (head("transfer-encoding: chunked") + &first_chunk).into_bytes(),
            "before the last chunk",
        ),
        (
            "short body",
            format!("{}{PAGE}", head("content-length: 150")).into_bytes(),
            "62 of 150 bytes",
        ),
        (
            "cut gzip",
            [head(&sized(half.len())).as_bytes(), half].concat(),
            "data ends early",
        ),
        (
            "cut gzip body",
            [head(&sized(gzip.len())).as_bytes(), half].concat(),
            "the connection ended after",
        ),
    ] {
        let result = scan(response).await;
        result.check();
        assert!(has_read_link(&result), "{kind}: {}", result.raw.join("\n"));
        assert_eq!(result.of("web.header.csp_missing").len(), 1, "{kind}");
        assert_eq!(result.of("coverage.errors").len(), 1, "{kind}");
        let text = message(&result);
        assert!(
            text.contains("incomplete (response incomplete)")
                && text.ends_with("; 1 response incomplete"),
            "{text}"
        );
        let lines = result.info.join("\n");
        assert!(
            lines.contains("/: the response is incomplete: ") && lines.contains(reason),
            "{kind}: {lines}"
        );
    }
}

#[tokio::test]
async fn incomplete_page_is_named_once_however_often_it_is_requested() {
    let page = format!("{}{PAGE}", head("content-length: 150"));
    let port = web(move |path, _| {
        if path == "/" {
            page.clone()
        } else {
            ok("text/html", "<p>x")
        }
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let requests = result
        .raw
        .iter()
        .filter(|line| line.contains(&format!(":{port}/ -> 200")))
        .count();
    let notes = result
        .info
        .iter()
        .filter(|line| line.contains("the response is incomplete"))
        .count();
    assert!(
        requests > 2 && notes == 1,
        "{requests} requests: {:?}",
        result.info
    );
    assert!(
        message(&result).ends_with("; 1 response incomplete"),
        "{}",
        message(&result)
    );
}

#[tokio::test]
async fn body_that_cannot_be_decoded_leaves_the_headers() {
    let result = scan(format!(
        "{}{PAGE}",
        head("content-encoding: gzip\r\nconnection: close")
    ))
    .await;
    result.check();
    assert_eq!(result.of("web.header.csp_missing").len(), 1);
    assert!(
        message(&result).contains("incomplete (body not decodable)"),
        "{}",
        message(&result)
    );
}

#[tokio::test]
async fn status_message_has_the_reason() {
    let wide = "x".repeat(500 * 1024);
    for (response, reason) in [
        (
            "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
            "the response is not HTTP: it begins with \"SSH-2.0-OpenSSH_9.2\\r\\n\"",
        ),
        (
            PAGE.to_owned(),
            "the response is not HTTP: it begins with \"<title>Shop",
        ),
        (
            String::new(),
            "the server closed the connection without a response; if the port uses TLS, scan https://",
        ),
        (
            "HTTP/1.1 okay\r\n\r\n".to_owned(),
            "invalid HTTP response: status line \"HTTP/1.1 okay\"",
        ),
        (
            head(&format!("x-a: {wide}")),
            "invalid HTTP response: a head of more than 300 KiB",
        ),
    ] {
        let result = scan(response).await;
        assert!(
            message(&result).contains(reason),
            "{reason}: {}",
            message(&result)
        );
    }
}

async fn serve_http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let answer = service_fn(|request: Request<hyper::body::Incoming>| async move {
        let body = if request.uri().path() == "/" {
            PAGE
        } else {
            "<p>x"
        };
        Ok::<_, Infallible>(
            Response::builder()
                .header("content-type", "text/html")
                .body(Body::from(body))
                .unwrap(),
        )
    });
    let _ = http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

/// A server of HTTP/2 inside TLS; without `protocols`, it takes no part in their negotiation.
async fn http2_server(protocols: &[&[u8]]) -> u16 {
    let mut config = localhost_tls();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    server(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve_http2(stream).await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn server_with_http2_only_is_read_over_http2() {
    let plain = server(serve_http2).await;
    for target in [
        format!("https://127.0.0.1:{}/", http2_server(&[b"h2"]).await),
        format!("https://127.0.0.1:{}/", http2_server(&[]).await),
        format!("http://127.0.0.1:{plain}/"),
    ] {
        let params = json!({"scan_type": "custom", "attack_active": [], "discovery": ["robots"]});
        let result = TestScan::new(Tool::WEBSITE, &target, params).run().await;
        result.check();
        assert!(
            has_read_link(&result),
            "{target}: {}",
            result.raw.join("\n")
        );
        assert!(
            !message(&result).contains("incomplete"),
            "{target}: {}",
            message(&result)
        );
        let notes = result
            .info
            .iter()
            .filter(|line| line.contains("speaks HTTP/2 only"))
            .count();
        assert_eq!(notes, 1, "{:?}", result.info);
    }
}

#[tokio::test]
async fn other_server_that_closes_tls_connections_is_named() {
    let acceptor = TlsAcceptor::from(Arc::new(localhost_tls()));
    let port = server(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.read(&mut [0; 1024]).await;
            }
        }
    })
    .await;
    let result = TestScan::new(
        Tool::WEBSITE,
        &format!("https://127.0.0.1:{port}/"),
        json!({}),
    )
    .run()
    .await;
    let ScanOutcome::ConnectionError(why) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(
        why.ends_with("the server closed the connection without a response"),
        "{why}"
    );
}
