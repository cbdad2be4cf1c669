//! The curl command of a capture sends the request that was captured: the real curl runs each
//! command against a socket, and the bytes that arrive are compared.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use scandeck::contract::Capture;
use scandeck::oob::CaptureRecord;
use scandeck::oob::out::{body_file, curl, har, raw_bytes};
use scandeck::text::quoted;
use serde_json::Value;

/// A request: method, target, header lines, body.
#[derive(Clone, Debug)]
struct SentRequest {
    method: String,
    target: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl SentRequest {
    fn new(method: &str, target: &str, headers: &[&str], body: &[u8]) -> Self {
        let headers = headers.iter().map(|line| (*line).to_owned()).collect();
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            body: body.to_owned(),
        }
    }

    /// The capture of this request by a logger at this address.
    fn captured(&self, authority: &str) -> CaptureRecord {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let length =
            (!self.body.is_empty()).then(|| format!("Content-Length: {}", self.body.len()));
        let lines = [format!("Host: {authority}")]
            .into_iter()
            .chain(self.headers.clone())
            .chain(length);
        let capture = Capture {
            id: 7.into(),
            request_method: self.method.as_str().into(),
            path: Some(path.into()),
            url_params: query.into(),
            http_version: Some("HTTP/1.1".into()),
            http_headers: lines.map(|line| line.as_str().into()).collect(),
            request_body_base64: STANDARD.encode(&self.body).into(),
            ..Capture::default()
        };
        CaptureRecord {
            capture: Arc::new(capture),
            body: None,
            logger: 3.into(),
            label: "hunt".into(),
            handler_url: format!("http://{authority}/l/x/").into(),
            mentions: Arc::default(),
        }
    }
}

/// Reads one request: its head without the empty line, and its body.
fn receive(mut stream: TcpStream) -> (Vec<u8>, Vec<u8>) {
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let (mut bytes, mut chunk) = (Vec::new(), [0; 65_536]);
    let head_end = |bytes: &[u8]| {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
        let length = text
            .split("\r\ncontent-length: ")
            .nth(1)
            .map_or("0", |rest| rest.split("\r\n").next().unwrap());
        (bytes.len() >= head + 4 + length.parse::<usize>().unwrap()).then_some(head)
    };
    loop {
        if let Some(head) = head_end(&bytes) {
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
                .unwrap();
            return (bytes[..head].to_vec(), bytes[head + 4..].to_vec());
        }
        let count = stream.read(&mut chunk).unwrap();
        assert!(
            count > 0,
            "the request ended early: {:?}",
            String::from_utf8_lossy(&bytes)
        );
        bytes.extend_from_slice(&chunk[..count]);
    }
}

/// Runs the command of a capture as a user does: in a shell, with the body file beside it.
fn replay(record: &CaptureRecord, directory: &Path) {
    let file = body_file(record);
    if let Some(name) = &file {
        let body = STANDARD
            .decode(record.capture.request_body_base64.as_str())
            .unwrap();
        std::fs::write(directory.join(name), body).unwrap();
    }
    let command = curl(record, file.as_deref());
    let mut shell = Command::new("sh");
    // A proxy and a configuration of the user would change the request.
    shell
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", directory)
        .env("no_proxy", "*");
    let ended = shell
        .current_dir(directory)
        .args(["-c", &command])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success(),
        "curl is a Debian package that .ci/guests installs: {errors}\n{command:.2000}"
    );
}

/// What arrives when the command of the capture of this request runs.
fn arrived(request: &SentRequest) -> (Vec<u8>, Vec<u8>) {
    let (listener, directory) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let record = request.captured(&listener.local_addr().unwrap().to_string());
    let server = thread::spawn(move || receive(listener.accept().unwrap().0));
    replay(&record, directory.path());
    server.join().unwrap()
}

/// The lines of a head in an order of their own, because curl writes some of them first.
fn sorted(head: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = String::from_utf8_lossy(head)
        .split("\r\n")
        .map(str::to_owned)
        .collect();
    lines[1..].sort();
    lines
}

#[track_caller]
fn assert_same(request: &SentRequest) {
    let (head, body) = arrived(request);
    let text = String::from_utf8_lossy(&head).into_owned();
    let host = text
        .split("\r\nHost: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    let expected = raw_bytes(&request.captured(host));
    let end = expected
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    assert_eq!(sorted(&head), sorted(&expected[..end]), "{request:?}");
    assert!(
        body == request.body && expected[end + 4..] == body,
        "other body: {request:?}"
    );
    assert!(
        body_in_har(request.captured(host)) == body,
        "other body in the archive: {request:?}"
    );
}

/// The body in an HTTP archive.
fn body_in_har(record: CaptureRecord) -> Vec<u8> {
    let archive: Value = serde_json::from_str(&har(&[record], None)).unwrap();
    let body = &archive["log"]["entries"][0]["request"]["postData"];
    match body["_base64"].as_str() {
        Some(bytes) => STANDARD.decode(bytes).unwrap(),
        None => body["text"]
            .as_str()
            .unwrap_or_default()
            .as_bytes()
            .to_owned(),
    }
}

#[test]
fn curl_sends_the_captured_requests_of_bug_reports() {
    let odd_headers = [
        "X-Tab: a\tb",
        "X-Odd: é\u{1b}[31m",
        "X-Quote: it's $(id) `id`",
    ];
    for request in [
        SentRequest::new(
            "POST",
            "/l/x",
            &["Content-Type: application/json"],
            b"{\"a\":1}\n",
        ),
        SentRequest::new("POST", "/l/x", &[], &b"a=1&".repeat(50_000)),
        SentRequest::new("POST", "/l/x", &[], &b"it's ".repeat(12_000)),
        SentRequest::new("POST", "/l/x", &["Content-Length: 0"], b""),
        SentRequest::new(
            "GET",
            "/l/x?t=1&x=<b> \"c\"#d|{e}[1-9]",
            &["User-Agent: a"],
            b"",
        ),
        SentRequest::new(
            "GET",
            "/l/../../etc/passwd?%zz",
            &["Accept: */*", "Accept-Encoding: gzip, br"],
            b"",
        ),
        SentRequest::new("HEAD", "/l/x", &["X-Empty:"], b""),
        SentRequest::new("PUT", "/l/x?é=\u{202e}", &odd_headers, b"\0\xff\r\n"),
    ] {
        assert_same(&request);
    }
}

fn request() -> impl Strategy<Value = SentRequest> {
    let method = select(&["GET", "POST", "PUT", "DELETE", "OPTIONS", "M-SEARCH"][..]);
    // Bytes that HTTP allows in a target and in a value, and some that it does not.
    let target = "[!-\"$-~ ]{0,40}";
    let value = "[!-~\u{e9}\u{4e2d}\u{1}]([ -~\u{202e}\u{7f}\t]{0,30}[!-~])?";
    let body = prop_oneof![
        any::<Vec<u8>>(),
        any::<String>().prop_map(String::into_bytes),
        "[ -~\n\t']{0,200}".prop_map(String::into_bytes),
        // Up to more than one argument of a program can have.
        (any::<[u8; 7]>(), 1..20_000usize).prop_map(|(part, count)| part.repeat(count)),
    ];
    (method, target, vec(value, 0..4), body).prop_map(|(method, target, values, body)| {
        let headers: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(at, value)| format!("X-{at}: {value}"))
            .collect();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        SentRequest::new(method, &format!("/l/{target}"), &headers, &body)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn shell_passes_the_bytes_of_any_quoted_word(bytes in any::<Vec<u8>>(), text in any::<String>()) {
        for bytes in [bytes, text.into_bytes()] {
            let word = quoted(&bytes);
            prop_assert!(word.chars().all(|c| c == '\n' || !c.is_control()), "{word:?}");
            let shell = Command::new("sh").args(["-c", &format!("printf %s {word}")]).output().unwrap();
            // A shell cannot pass U+0000.
            let kept: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0).collect();
            prop_assert_eq!(shell.stdout, kept);
        }
    }

    #[test]
    fn curl_sends_the_bytes_of_any_captured_request(request in request()) {
        assert_same(&request);
    }
}
