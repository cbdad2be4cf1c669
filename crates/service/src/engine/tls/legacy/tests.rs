//! The client against `openssl s_server`, and against bytes that no server would send. Without
//! openssl, the tests that need it are skipped.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use proptest::prelude::*;
use rcgen::{
    CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, SignatureAlgorithm,
};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, duplex};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::{Barrier, mpsc};
use url::Url;

use super::record::MAX_RECORD;
use super::*;
use crate::engine::hostile_tests::server;
use crate::engine::http::Web;
use crate::engine::legacy_http::LegacyHttp;
use crate::engine::pace::Lanes;
use crate::engine::params::Authentication;
use crate::engine::run::ScanRun;
use crate::engine::testing::TestScan;
use crate::engine::{ScanEvent, ScanOutcome};
use crate::net::address::Address;
use scandeck_wire::contract::Tool;

/// Certificates with their keys, made once for all tests.
static CERTIFICATES: LazyLock<[(&str, String); 2]> = LazyLock::new(|| {
    [
        ("rsa", certificate_pem(&PKCS_RSA_SHA256)),
        ("ec", certificate_pem(&PKCS_ECDSA_P256_SHA256)),
    ]
});

fn certificate_pem(algorithm: &'static SignatureAlgorithm) -> String {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    certificate.pem() + &key.serialize_pem()
}

/// Files for `openssl s_server`.
struct ServerFiles {
    folder: TempDir,
}

impl ServerFiles {
    /// None without openssl.
    fn create() -> Option<Self> {
        if std::process::Command::new("openssl")
            .arg("version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            let _ = writeln!(io::stderr(), "skipped: openssl is not installed");
            return None;
        }
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, pem) in CERTIFICATES.iter() {
            std::fs::write(files.path(name, "pem"), pem).unwrap();
        }
        Some(files)
    }

    fn path(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.path().join(name).with_extension(extension)
    }

    /// A server that answers every request with a page about the connection (`-www`), or with a
    /// file (`-HTTP`).
    async fn serve(&self, certificate: &str, options: &str) -> (u16, Child) {
        let mut server = Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-cert"])
            .arg(self.path(certificate, "pem"))
            .args(options.split(' '))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        // `ACCEPT 127.0.0.1:41234`
        let (mut output, mut text) = (server.stdout.take().unwrap(), Vec::new());
        while !text.ends_with(b"\n") || !text.windows(6).any(|part| part == b"ACCEPT") {
            output
                .read_buf(&mut text)
                .await
                .ok()
                .filter(|count| *count > 0)
                .expect("openssl listens");
        }
        tokio::spawn(async move { tokio::io::copy(&mut output, &mut tokio::io::sink()).await });
        let text = String::from_utf8_lossy(&text).trim_end().to_owned();
        (text.rsplit(':').next().unwrap().parse().unwrap(), server)
    }
}

async fn read_page(port: u16, hello: Version) -> io::Result<(String, String)> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let mut stream = connect(stream, "localhost", hello).await?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    let mut page = Vec::new();
    stream.read_to_end(&mut page).await?;
    Ok((
        stream.negotiated.to_string(),
        String::from_utf8_lossy(&page).into_owned(),
    ))
}

#[tokio::test]
async fn pages_of_openssl_are_read_with_each_version_and_suite() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    for (certificate, options, expected) in [
        (
            "rsa",
            "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0",
            "TLS 1.0 with RSA_AES_128_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1 -cipher DHE-RSA-AES256-SHA:@SECLEVEL=0",
            "TLS 1.0 with DHE_RSA_AES_256_CBC_SHA",
        ),
        (
            "ec",
            "-www -tls1 -cipher ALL:@SECLEVEL=0",
            "TLS 1.0 with ECDHE_ECDSA_AES_128_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1_1 -cipher AES256-SHA:@SECLEVEL=0",
            "TLS 1.1 with RSA_AES_256_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1_1 -cipher ECDHE-RSA-AES128-SHA:@SECLEVEL=0",
            "TLS 1.1 with ECDHE_RSA_AES_128_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1_2 -cipher AES128-SHA256",
            "TLS 1.2 with RSA_AES_128_CBC_SHA256",
        ),
        (
            "rsa",
            "-www -tls1_2 -cipher AES256-GCM-SHA384",
            "TLS 1.2 with RSA_AES_256_GCM_SHA384",
        ),
        (
            "rsa",
            "-www -tls1_2 -cipher DHE-RSA-AES128-GCM-SHA256",
            "TLS 1.2 with DHE_RSA_AES_128_GCM_SHA256",
        ),
        (
            "rsa",
            "-www -tls1_2 -cipher ECDHE-RSA-AES256-SHA384",
            "TLS 1.2 with ECDHE_RSA_AES_256_CBC_SHA384",
        ),
        (
            "ec",
            "-www -tls1_2 -groups P-521",
            "TLS 1.2 with ECDHE_ECDSA_AES_128_GCM_SHA256",
        ),
        // Without encryption, without authentication, without both.
        (
            "rsa",
            "-www -tls1_2 -cipher NULL-SHA256:@SECLEVEL=0",
            "TLS 1.2 with RSA_NULL_SHA256",
        ),
        (
            "rsa",
            "-www -tls1 -cipher ECDHE-RSA-NULL-SHA:@SECLEVEL=0",
            "TLS 1.0 with ECDHE_RSA_NULL_SHA",
        ),
        (
            "rsa",
            "-www -tls1_2 -cipher ADH-AES128-GCM-SHA256:@SECLEVEL=0",
            "TLS 1.2 with DH_anon_AES_128_GCM_SHA256",
        ),
        (
            "rsa",
            "-www -tls1 -cipher AECDH-AES256-SHA:@SECLEVEL=0",
            "TLS 1.0 with ECDH_anon_AES_256_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1_1 -cipher AECDH-NULL-SHA:@SECLEVEL=0",
            "TLS 1.1 with ECDH_anon_NULL_SHA",
        ),
        // Asks for a certificate, and accepts that there is none.
        (
            "rsa",
            "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0 -verify 1",
            "TLS 1.0 with RSA_AES_128_CBC_SHA",
        ),
        (
            "rsa",
            "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0 -max_send_frag 512",
            "TLS 1.0 with RSA_AES_128_CBC_SHA",
        ),
    ] {
        let (port, _server) = files.serve(certificate, options).await;
        let (negotiated, page) = read_page(port, Version::Tls12).await.unwrap();
        assert_eq!(negotiated, expected, "{options}");
        assert!(
            page.starts_with("HTTP/1.0 200 ok") && page.trim_end().ends_with("</HTML>"),
            "{options}: {page}"
        );
    }
    let (port, _server) = files
        .serve("rsa", "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    assert_eq!(
        read_page(port, Version::Tls10).await.unwrap().0,
        "TLS 1.0 with RSA_AES_128_CBC_SHA"
    );
    let (port, _server) = files.serve("rsa", "-www -tls1_3").await;
    let error = read_page(port, Version::Tls12).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server refused the TLS handshake (alert 70)"
    );
}

#[tokio::test]
async fn renegotiation_is_accepted_by_servers_that_allow_it() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    for (certificate, options, expected) in [
        ("ec", "-www -tls1_2 -client_renegotiation", true),
        (
            "rsa",
            "-www -tls1_2 -client_renegotiation -cipher DHE-RSA-AES256-SHA256",
            true,
        ),
        (
            "rsa",
            "-www -tls1_1 -client_renegotiation -cipher ALL:@SECLEVEL=0",
            true,
        ),
        (
            "rsa",
            "-www -tls1 -client_renegotiation -cipher AES128-SHA:@SECLEVEL=0",
            true,
        ),
        // The default of OpenSSL 3 is a warning, `-no_renegotiation` also refuses its own.
        ("ec", "-www -tls1_2", false),
        (
            "rsa",
            "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0 -no_renegotiation",
            false,
        ),
    ] {
        let (port, _server) = files.serve(certificate, options).await;
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let stream = connect(stream, "localhost", Version::Tls12).await.unwrap();
        assert!(!stream.renegotiation_proof.is_empty(), "{options}");
        assert_eq!(
            stream.accepts_renegotiation("localhost").await.unwrap(),
            expected,
            "{options}"
        );
    }
}

#[tokio::test]
async fn tls_scan_finds_renegotiation_by_clients() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let files = &files;
    let scan = |(options, expected): (&'static str, bool)| async move {
        let (port, _server) = files.serve("ec", options).await;
        let result = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}))
            .run()
            .await;
        result.check();
        let found = result.of("tls.renegotiation.client");
        let evidence = found
            .first()
            .map_or_else(String::new, |one| one.evidence.as_json().to_owned());
        assert_eq!(
            evidence.contains(r#"[["TLS 1.2","second ClientHello accepted"]]"#),
            expected,
            "{:?}",
            result.raw
        );
        assert_eq!(found.is_empty(), !expected);
    };
    let servers = [("-www -client_renegotiation", true), ("-www", false)];
    futures::future::join_all(servers.map(scan)).await;
}

#[tokio::test]
async fn scan_of_another_test_does_not_try_renegotiation() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let files = &files;
    let scan = |(test, is_tried): (&'static str, bool)| async move {
        let (port, _server) = files.serve("ec", "-www").await;
        let params = json!({"only_tests": [test]});
        let result = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), params)
            .run()
            .await;
        let mut lines = result.raw.iter();
        assert_eq!(
            lines.any(|line| line.contains("renegotiation by the client")),
            is_tried,
            "{test} {:?}",
            result.raw
        );
    };
    let scans = [
        ("tls.certificate.expired", false),
        ("tls.renegotiation.client", true),
    ];
    futures::future::join_all(scans.map(scan)).await;
}

/// The answer of a server that sends these records after the handshake.
async fn renegotiation_with(records: &[(u8, &[u8])]) -> io::Result<bool> {
    let mut server = cipher(Direction::Seal);
    let bytes = records
        .iter()
        .flat_map(|(kind, body)| server.seal(*kind, body).unwrap())
        .collect::<Vec<_>>();
    let negotiated = NegotiatedTls {
        version: Version::Tls11,
        suite: 0x002f,
    };
    let stream = tokio::io::join(&bytes[..], tokio::io::sink());
    let stream = LegacyStream::new(
        stream,
        negotiated,
        cipher(Direction::Open),
        cipher(Direction::Seal),
    );
    stream.accepts_renegotiation("localhost").await
}

#[tokio::test]
async fn only_a_server_hello_accepts_renegotiation() {
    for (records, expected) in [
        (&[(HANDSHAKE, &[2, 0, 0, 9][..])][..], true),
        // A greeting, and a HelloRequest.
        (
            &[
                (DATA, b"220 mail.test\r\n"),
                (HANDSHAKE, &[0, 0, 0, 0]),
                (HANDSHAKE, &[2, 0, 0, 9]),
            ],
            true,
        ),
        (&[(ALERT, &[WARNING, NO_RENEGOTIATION])], false),
        (&[(ALERT, &[2, 40])], false),
        (&[(DATA, b"220 mail.test\r\n")], false),
        (&[], false),
        (&[(DATA, &b"."[..]); 1000], false),
    ] {
        assert_eq!(
            renegotiation_with(records).await.unwrap(),
            expected,
            "{records:?}"
        );
    }
}

#[tokio::test]
async fn second_hello_repeats_the_proof_of_the_first_handshake() {
    let contents = |proof: Vec<u8>| async move {
        let (client, mut server) = duplex(4096);
        let negotiated = NegotiatedTls {
            version: Version::Tls11,
            suite: 0x002f,
        };
        let mut stream = LegacyStream::new(
            client,
            negotiated,
            cipher(Direction::Open),
            cipher(Direction::Seal),
        );
        stream.renegotiation_proof = proof;
        let ask = tokio::spawn(async move { stream.accepts_renegotiation("localhost").await });
        let (kind, body) = hello::read_record(&mut server).await.unwrap();
        drop(server);
        assert!(!ask.await.unwrap().unwrap());
        (kind, cipher(Direction::Open).open(kind, body).unwrap())
    };
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let (kind, hello) = contents(vec![7; 12]).await;
    assert_eq!((kind, hello[0]), (HANDSHAKE, 1));
    assert!(
        has(&hello, &[&[0xff, 1, 0, 13, 12][..], &[7; 12]].concat()),
        "{hello:?}"
    );
    // One suite, without the signal of a first hello.
    assert!(has(&hello, &[0, 0, 2, 0, 0x2f, 1, 0]), "{hello:?}");
    // A server without RFC 5746 gets no extension.
    let (_, hello) = contents(Vec::new()).await;
    assert!(
        !has(&hello, &[0xff, 1, 0, 1, 0]) && has(&hello, &[0, 0, 2, 0, 0x2f, 1, 0]),
        "{hello:?}"
    );
}

#[tokio::test]
async fn website_with_outdated_tls_is_scanned_and_the_scan_says_so() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    for (options, negotiated) in [
        (
            "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0",
            "TLS 1.0 with RSA_AES_128_CBC_SHA",
        ),
        (
            "-www -tls1_2 -cipher AES128-SHA",
            "TLS 1.2 with RSA_AES_128_CBC_SHA",
        ),
    ] {
        let (port, _server) = files.serve("rsa", options).await;
        // The server answers one connection at a time, and GET only.
        let params = json!({"scan_type": "custom", "attack_active": [], "discovery": []});
        let result = TestScan::new(Tool::WEBSITE, &format!("https://127.0.0.1:{port}/"), params)
            .run()
            .await;
        result.check();
        assert!(
            result
                .findings()
                .any(|finding| finding.vuln_id.starts_with("web.header.")),
            "{:?}",
            result.raw
        );
        assert!(
            !result
                .findings()
                .any(|finding| finding.vuln_id.starts_with("coverage.")),
            "{:?}",
            result.raw
        );
        let expected =
            format!("https://127.0.0.1:{port} refuses current TLS; it is read over {negotiated}.");
        assert_eq!(
            result
                .info
                .iter()
                .filter(|line| line.starts_with(&expected))
                .count(),
            1,
            "{:?}",
            result.info
        );
    }
}

#[tokio::test]
async fn port_scan_names_the_web_server_inside_outdated_tls() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let (port, _server) = files
        .serve("rsa", "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    let params = json!({"port_list": [port]});
    let result = TestScan::new(Tool::PORTS, "127.0.0.1", params).run().await;
    result.check();
    assert_eq!(
        result.output.unwrap().output_data["ports"][0]["service"],
        "https",
        "{:?}",
        result.raw
    );
}

#[tokio::test]
async fn cut_page_of_a_server_with_outdated_tls_is_judged_and_reported() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let head = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n";
    std::fs::write(
        files.folder.path().join("cut"),
        format!("{head}Content-Length: 99\r\n\r\n<html>"),
    )
    .unwrap();
    std::fs::write(
        files.folder.path().join("whole"),
        format!("{head}\r\n<html>"),
    )
    .unwrap();
    let (port, _server) = files
        .serve("rsa", "-HTTP -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    let scan = |path: &str| {
        let params = json!({"scan_type": "custom", "attack_active": [], "discovery": []});
        TestScan::new(
            Tool::WEBSITE,
            &format!("https://127.0.0.1:{port}/{path}"),
            params,
        )
        .run()
    };
    scan("whole").await.check();
    let result = scan("cut").await;
    let ScanOutcome::Finished(message) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(message.ends_with("; 1 response incomplete"), "{message}");
    assert!(
        result
            .info
            .iter()
            .any(|line| line.contains("after 6 of 99 bytes")),
        "{:?}",
        result.info
    );
}

/// The server accepts current TLS, but closes the first connection.
#[tokio::test]
async fn closed_connection_does_not_make_a_current_server_outdated() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let (behind, _server) = files
        .serve("rsa", "-www -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256")
        .await;
    let port = closing_first(1, behind).await;
    let params = json!({"scan_type": "custom", "attack_active": [], "discovery": []});
    let result = TestScan::new(Tool::WEBSITE, &format!("https://127.0.0.1:{port}/"), params)
        .run()
        .await;
    result.check();
    assert!(
        !result
            .info
            .iter()
            .any(|line| line.contains("refuses current TLS")),
        "{:?}",
        result.info
    );
}

/// A server that closes the first connections together, and passes the others on.
async fn closing_first(count: usize, behind: u16) -> u16 {
    let (left, both) = (AtomicUsize::new(count), Arc::new(Barrier::new(count)));
    server(move |mut stream| {
        let is_closed = left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok();
        let both = Arc::clone(&both);
        async move {
            if is_closed {
                let _ = stream.read(&mut [0; 16]).await;
                both.wait().await;
            } else if let Ok(mut server) = TcpStream::connect(("127.0.0.1", behind)).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn concurrent_first_requests_are_read_and_reported_once() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let (behind, _server) = files
        .serve("rsa", "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    let port = closing_first(2, behind).await;
    let scan = TestScan::new(
        Tool::WEBSITE,
        &format!("https://127.0.0.1:{port}/"),
        json!({}),
    );
    let (job, lanes, (sender, mut events)) = (scan.job.clone(), Lanes::new(64), mpsc::channel(64));
    let settings = scan.engine_settings();
    let run = ScanRun::new(
        &job,
        Address::parse(&job.target).unwrap(),
        &settings,
        &lanes,
        sender,
    );
    let (web, url) = (
        Web::new(&run, None, Authentication::default(), 10),
        Url::parse(&job.target).unwrap(),
    );
    let (first, second) = tokio::join!(web.get(&url), web.get(&url));
    assert_eq!((first.unwrap().status, second.unwrap().status), (200, 200));
    let events = std::iter::from_fn(|| events.try_recv().ok()).collect::<Vec<_>>();
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, ScanEvent::Info(_)))
            .count(),
        1,
        "{events:?}"
    );
}

/// Two servers on one host, of which the second ends the connection on a hello of TLS 1.2.
#[tokio::test]
async fn each_port_has_its_own_version_of_the_hello() {
    let Some(files) = ServerFiles::create() else {
        return;
    };
    let (first, _server) = files
        .serve("rsa", "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    let (behind, _server) = files
        .serve("rsa", "-www -tls1 -cipher AES128-SHA:@SECLEVEL=0")
        .await;
    let second = server(move |mut stream| async move {
        // The header of the record, the header of the message, the version.
        let mut start = [0; 11];
        let is_read = stream.read_exact(&mut start).await.is_ok() && start[9..] == [3, 1];
        let Ok(mut server) = TcpStream::connect(("127.0.0.1", behind)).await else {
            return;
        };
        if is_read && server.write_all(&start).await.is_ok() {
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
        }
    })
    .await;
    let client = LegacyHttp::new(
        &[Ipv4Addr::LOCALHOST.into()],
        Duration::from_secs(9),
        4,
        "scandeck".to_owned(),
    );
    for port in [first, second, first] {
        let url = Url::parse(&format!("https://127.0.0.1:{port}/")).unwrap();
        let (_, negotiated) = client
            .send(Method::GET, &url, HeaderMap::new())
            .await
            .unwrap();
        assert_eq!(negotiated.to_string(), "TLS 1.0 with RSA_AES_128_CBC_SHA");
    }
}

#[test]
fn outdated_is_a_version_or_a_suite() {
    for (version, suite, expected) in [
        (Version::Tls12, 0xc02f, false),
        (Version::Tls12, 0xc02c, false),
        (Version::Tls11, 0xc013, true),
        (Version::Tls12, 0xc027, true),
        (Version::Tls12, 0x009c, true),
        (Version::Tls12, 0x009e, true),
    ] {
        assert_eq!(
            NegotiatedTls { version, suite }.is_outdated(),
            expected,
            "{suite:#06x}"
        );
    }
}

/// A connection whose server sends these bytes.
async fn answer_of(bytes: &[u8]) -> io::Result<()> {
    let stream = tokio::io::join(bytes, tokio::io::sink());
    connect(stream, "localhost", Version::Tls12)
        .await
        .map(|_| ())
}

fn records(kinds_and_bodies: &[(u8, Vec<u8>)]) -> Vec<u8> {
    kinds_and_bodies
        .iter()
        .flat_map(|(kind, body)| record(*kind, Version::Tls12, body))
        .collect()
}

#[tokio::test]
async fn endless_handshake_is_cut() {
    // A message that claims 16 MB, and warnings without end.
    let claim = [vec![11, 0xff, 0xff, 0xff], vec![0; 1000]].concat();
    let long = records(
        &std::iter::once((HANDSHAKE, claim))
            .chain(vec![(HANDSHAKE, vec![0; 10_000]); 20])
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        answer_of(&long).await.unwrap_err().to_string(),
        "handshake too long"
    );
    let warnings = records(&vec![(ALERT, vec![WARNING, 112]); 50_000]);
    assert_eq!(
        answer_of(&warnings).await.unwrap_err().to_string(),
        "handshake too long"
    );
}

#[tokio::test]
async fn choice_that_was_not_offered_is_refused() {
    let hello = |minor: u8, suite: [u8; 2], compression: u8| {
        let body = [
            vec![3, minor],
            vec![9; 32],
            vec![0],
            suite.to_vec(),
            vec![compression],
        ]
        .concat();
        let mut message = vec![2];
        push(&mut message, 3, &body);
        records(&[(HANDSHAKE, message)])
    };
    for (answer, expected) in [
        (hello(4, [0, 0x2f], 0), "version not offered"),
        (hello(1, [0, 3], 0), "suite not offered"),
        (hello(1, [0, 0x2f], 1), "compression not offered"),
        (hello(0, [0, 0x2f], 0), "the server ended the TLS handshake"),
        (hello(1, [0, 0x2f], 0), "the server ended the TLS handshake"),
    ] {
        assert_eq!(answer_of(&answer).await.unwrap_err().to_string(), expected);
    }
}

proptest! {
    #[test]
    fn any_records_are_read_without_panic(
        records_of_server in prop::collection::vec((20_u8..25, prop::collection::vec(any::<u8>(), 0..80)), 0..6),
        rest in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let bytes = [records(&records_of_server), rest].concat();
        prop_assert!(runtime.block_on(answer_of(&bytes)).is_err());
    }

    /// Whole messages in a sensible order, with bodies that are not.
    #[test]
    fn any_bodies_of_messages_are_read_without_panic(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 4),
        suite in proptest::sample::select(LegacySuite::offered(Version::Tls12)), minor in 1_u8..4,
        certificate in any::<bool>(),
    ) {
        let hello = [vec![3, minor], vec![9; 32], vec![0], suite.to_be_bytes().to_vec(), vec![0], bodies[0].clone()].concat();
        let mut messages = Vec::new();
        for (kind, body) in [(2, &hello), (11, &bodies[1]), (12, &bodies[2]), (13, &bodies[3]), (14, &Vec::new())] {
            if kind != 11 || certificate {
                messages.push(kind);
                push(&mut messages, 3, body);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let bytes = records(&[(HANDSHAKE, messages), (CHANGE_CIPHER_SPEC, vec![1]), (HANDSHAKE, bodies[0].clone())]);
        prop_assert!(runtime.block_on(answer_of(&bytes)).is_err());
    }
}

/// The keys that both ends of a test connection share.
fn cipher(direction: Direction) -> RecordCipher {
    let (mac, key, iv) = ([1; 20], [2; 16], [3; 16]);
    let keys = RecordKeys {
        mac: &mac,
        key: &key,
        iv: &iv,
    };
    RecordCipher::new(
        LegacySuite::of(0x002f).unwrap(),
        Version::Tls11,
        &keys,
        direction,
    )
    .unwrap()
}

/// Reads everything from a server that sends these bytes after the handshake; also what the client
/// sent.
async fn read_all(bytes: &[u8]) -> (io::Result<Vec<u8>>, Vec<u8>) {
    let (mut sent, mut content) = (Vec::new(), Vec::new());
    let negotiated = NegotiatedTls {
        version: Version::Tls11,
        suite: 0x002f,
    };
    let stream = tokio::io::join(bytes, &mut sent);
    let mut stream = LegacyStream::new(
        stream,
        negotiated,
        cipher(Direction::Open),
        cipher(Direction::Seal),
    );
    let read = stream.read_to_end(&mut content).await;
    (read.map(|_| content), sent)
}

#[tokio::test]
async fn end_of_connection_with_or_without_close_notify_is_the_end_of_the_content() {
    let mut server = cipher(Direction::Seal);
    let parts = [&b"<html>"[..], b"", &[b'x'; 9000], b"</html>"]
        .map(|part| server.seal(DATA, part).unwrap())
        .concat();
    let content = [&b"<html>"[..], &[b'x'; 9000], b"</html>"].concat();
    assert_eq!(read_all(&parts).await.0.unwrap(), content);
    let closed = [
        parts.clone(),
        server.seal(ALERT, &[WARNING, CLOSE_NOTIFY]).unwrap(),
        vec![0; 9],
    ]
    .concat();
    assert_eq!(read_all(&closed).await.0.unwrap(), content);
    // In the middle of a record.
    let error = read_all(&parts[..parts.len() - 3]).await.0.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[tokio::test]
async fn damaged_and_hostile_records_are_errors() {
    let mut damaged = cipher(Direction::Seal).seal(DATA, b"<html>").unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(
        read_all(&damaged).await.0.unwrap_err().to_string(),
        "damaged record"
    );
    let length = ((MAX_RECORD + 1) as u16).to_be_bytes();
    let long = [&[DATA, 3, 2][..], &length, &[0; 20]].concat();
    assert_eq!(
        read_all(&long).await.0.unwrap_err().to_string(),
        "record of impossible length"
    );
    let fatal = cipher(Direction::Seal).seal(ALERT, &[2, 80]).unwrap();
    assert_eq!(
        read_all(&fatal).await.0.unwrap_err().to_string(),
        "alert 80"
    );
}

#[tokio::test]
async fn request_of_server_for_renegotiation_is_refused_and_content_goes_on() {
    let mut server = cipher(Direction::Seal);
    let bytes = [
        server.seal(HANDSHAKE, &[0, 0, 0, 0]).unwrap(),
        server.seal(DATA, b"page").unwrap(),
    ]
    .concat();
    let (content, sent) = read_all(&bytes).await;
    assert_eq!(content.unwrap(), b"page");
    let refusal = cipher(Direction::Open)
        .open(ALERT, sent[5..].to_vec())
        .unwrap();
    assert_eq!(
        (sent[0], &refusal[..]),
        (ALERT, &[WARNING, NO_RENEGOTIATION][..])
    );
}

#[tokio::test]
async fn only_one_unread_refusal_is_queued() {
    let mut server = cipher(Direction::Seal);
    let mut bytes = Vec::new();
    (0..500).for_each(|_| bytes.extend(server.seal(HANDSHAKE, &[0, 0, 0, 0]).unwrap()));
    bytes.extend(server.seal(DATA, b"page").unwrap());
    let negotiated = NegotiatedTls {
        version: Version::Tls11,
        suite: 0x002f,
    };
    let (client, mut other_end) = duplex(16);
    let stream = tokio::io::join(&bytes[..], client);
    let mut stream = LegacyStream::new(
        stream,
        negotiated,
        cipher(Direction::Open),
        cipher(Direction::Seal),
    );
    let mut page = [0; 4];
    stream.read_exact(&mut page).await.unwrap();
    assert_eq!(&page, b"page");
    let (mut sent, length) = (
        Vec::new(),
        cipher(Direction::Seal)
            .seal(ALERT, &[WARNING, NO_RENEGOTIATION])
            .unwrap()
            .len(),
    );
    let (_, read) = tokio::join!(stream.shutdown(), other_end.read_to_end(&mut sent));
    assert_eq!((read.unwrap(), sent.len()), (length, length));
}

#[tokio::test]
async fn endless_records_without_content_are_an_error() {
    for (kind, body) in [
        (HANDSHAKE, &[0, 0, 0, 0][..]),
        (DATA, &[]),
        (ALERT, &[WARNING, 112]),
    ] {
        let mut server = cipher(Direction::Seal);
        let bytes = (0..10_000)
            .flat_map(|_| server.seal(kind, body).unwrap())
            .collect::<Vec<_>>();
        assert_eq!(
            read_all(&bytes).await.0.unwrap_err().to_string(),
            "too many records without content",
            "{kind}"
        );
    }
    // Content between them.
    let mut server = cipher(Direction::Seal);
    let mut bytes = Vec::new();
    for _ in 0..3 {
        (0..900).for_each(|_| bytes.extend(server.seal(DATA, b"").unwrap()));
        bytes.extend(server.seal(DATA, b"page").unwrap());
    }
    assert_eq!(read_all(&bytes).await.0.unwrap(), b"pagepagepage");
}
