//! Installed guests against servers of this machine. They take about a minute each, so they run
//! only where `SCANDECK_GUESTS` names them: `SCANDECK_GUESTS=testssl.sh,wapiti`.

use std::env;
use std::fs;
use std::io::Write;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::Guest;
use crate::engine::ScanOutcome;
use crate::engine::testing::{ScanResult, TestScan, localhost_tls};
use scandeck_wire::contract::Tool;

fn is_wanted(guest: Guest) -> bool {
    let name = guest.program();
    let wanted = env::var("SCANDECK_GUESTS").unwrap_or_default();
    let is_named = wanted.split(',').any(|one| one == name);
    match is_named && guest.find().is_some() {
        true => true,
        false => {
            let why = "it is not installed, or SCANDECK_GUESTS does not name it";
            let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
            false
        }
    }
}

/// Answers a request with a page that repeats its query.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut bytes = vec![0; 8192];
    let count = stream.read(&mut bytes).await.unwrap_or_default();
    let request = String::from_utf8_lossy(&bytes[..count]);
    let target = request.split(' ').nth(1).unwrap_or("/");
    let encoded = target.split_once("q=").map_or("", |(_, query)| query);
    let query = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy();
    let page =
        format!("<html><body><a href=\"/search?q=a\">search</a><p>{query}</p></body></html>");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    let _ = stream.write_all((head + &page).as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[track_caller]
fn check(result: &ScanResult, program: &str) {
    let ScanOutcome::Finished(summary) = &result.outcome else {
        panic!("{:?}\n{}", result.outcome, result.raw.join("\n"))
    };
    assert!(
        summary.contains(program) && !summary.contains("incomplete"),
        "{summary}\n{}",
        result.raw.join("\n")
    );
    let _ = writeln!(
        std::io::stderr(),
        "{program}: {summary} in {:?}",
        result.elapsed
    );
}

#[tokio::test]
async fn testssl_finds_the_certificate_that_nobody_signed() {
    if !is_wanted(Guest::Testssl) {
        return;
    }
    let acceptor = TlsAcceptor::from(Arc::new(localhost_tls()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    answer(stream).await;
                }
            });
        }
    });
    let url = format!("https://127.0.0.1:{port}/");
    let result = TestScan::new(Tool::TESTSSL, &url, json!({})).run().await;
    check(&result, "testssl.sh");
    assert!(
        result
            .findings()
            .any(|finding| finding.vuln_id.starts_with("testssl:cert") && finding.port == port),
        "{:?}",
        result.raw
    );
}

#[tokio::test]
async fn wapiti_finds_the_script_that_a_page_repeats() {
    if !is_wanted(Guest::Wapiti) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let scope_file = folder.path().join("scope.toml");
    let scope = "allow = [{ target = '127.0.0.1', active = true }]";
    fs::write(&scope_file, scope).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let mut scan = TestScan::new(Tool::WAPITI, &url, json!({}));
    (scan.scope_file, scan.allow_active) = (scope_file, true);
    let result = scan.run().await;
    check(&result, "wapiti");
    let script = result.of("wapiti:reflected-cross-site-scripting");
    assert!(!script.is_empty(), "{:?}", result.raw);
}
