//! A captured request as a curl command for a POSIX shell. The command sends the bytes that were
//! captured: the target, the headers but those of the connection, and the body.

use sha2::{Digest, Sha256};

use super::{CaptureRecord, bytes_sent_again};
use crate::oob::request;
use scandeck_wire::contract::Capture;
use scandeck_wire::text;
use scandeck_wire::text::quoted;

/// Headers that curl adds unless they are given.
const BY_ITSELF: &[&str] = &["User-Agent", "Accept"];
/// Size from which some versions of curl ask for permission to send a body.
const EXPECT_SIZE: usize = 1024;
/// Largest body in a command, in bytes. Linux limits one argument to 128 KiB.
const LARGEST_ARGUMENT: usize = 64 * 1024;

/// Name of the file for a body that is long or not plain text. Ids restart with each logger and
/// each service, so the name contains a hash of the body.
pub fn body_file(sent: &CaptureRecord) -> Option<String> {
    let body = request::body(&sent.capture);
    let plain = std::str::from_utf8(&body).is_ok_and(|body| *text::clean_text(body) == *body);
    (!plain || body.len() > LARGEST_ARGUMENT).then(|| {
        let digest: String = Sha256::digest(&body)
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        text::file_name(&format!(
            "capture-{}-{}-{digest}.bin",
            sent.logger, sent.capture.id
        ))
    })
}

/// The command; `file` contains the body if [`body_file`] returns a name.
pub fn curl(sent: &CaptureRecord, file: Option<&str>) -> String {
    let capture = &*sent.capture;
    let has = |name: &str| request::header(capture, name).is_some();
    let body = request::body(capture);
    // curl sends the length of an empty body only with data.
    let has_data = !body.is_empty() || has("content-length");
    let mut words = notes(sent);
    // curl must not expand `[1-9]` in the URL or normalize `/a/../b`.
    words.extend(["curl", "--globoff", "--path-as-is"].map(str::to_owned));
    if capture.http_version.as_deref() == Some("HTTP/1.0") {
        words.push("--http1.0".to_owned());
    }
    match capture.request_method.as_str() {
        // curl rejects --head together with data.
        "HEAD" if !has_data => words.push("--head".to_owned()),
        method => words.extend(["-X".to_owned(), quoted(method)]),
    }
    words.extend(header_words(capture, has_data));
    if body.len() > EXPECT_SIZE {
        words.extend(["-H", "'Expect:'"].map(str::to_owned));
    }
    match file {
        Some(file) => words.extend(["--data-binary".to_owned(), quoted(format!("@{file}"))]),
        None if has_data => words.extend(["--data-raw".to_owned(), quoted(&body)]),
        None => {}
    }
    words.extend(url_words(&sent.request_url().url));
    words.join(" ")
}

/// What the command cannot repeat, as commands without effect.
fn notes(sent: &CaptureRecord) -> Vec<String> {
    let path_unknown =
        ": 'path unknown: the service does not report it; this is the path of the logger';";
    let malformed = ": 'malformed request: curl sends it as HTTP; the form raw has its bytes';";
    let notes = [
        (!sent.request_url().path_known).then_some(path_unknown),
        (!sent.capture.problems.is_empty()).then_some(malformed),
    ];
    notes.into_iter().flatten().map(str::to_owned).collect()
}

/// The headers of the request, without those that curl would add.
fn header_words(capture: &Capture, has_data: bool) -> Vec<String> {
    let has = |name: &str| request::header(capture, name).is_some();
    let mut words = Vec::new();
    for (name, value) in bytes_sent_again(capture) {
        let header = if value.is_empty() {
            format!("{name};").into_bytes()
        } else {
            [format!("{name}: ").as_bytes(), &value].concat()
        };
        words.extend(["-H".to_owned(), quoted(header)]);
    }
    if has("accept-encoding") {
        // Decodes the response, which a terminal could not show.
        words.push("--compressed".to_owned());
    }
    if !capture.http_headers.is_empty() {
        let with_data = has_data.then_some(&"Content-Type");
        for name in BY_ITSELF.iter().chain(with_data).filter(|name| !has(name)) {
            words.extend(["-H".to_owned(), quoted(format!("{name}:"))]);
        }
    }
    words
}

/// The URL. A target that curl would change or refuse, such as one with blanks or `#`, is an option
/// of its own.
fn url_words(url: &str) -> Vec<String> {
    let is_kept =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=%[]{}".contains(&byte);
    if url.bytes().all(is_kept) {
        return vec![quoted(url)];
    }
    let host = url.find("//").map_or(0, |at| at + 2);
    match url[host..].find('/') {
        Some(path) if host > 0 => {
            let (origin, target) = url.split_at(host + path);
            vec![
                "--request-target".to_owned(),
                quoted(target),
                quoted(format!("{origin}/")),
            ]
        }
        _ => vec![quoted(url)],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{sent, with};
    use super::*;
    use crate::oob::recognize::testing::base64;

    #[test]
    fn curl_command_omits_connection_headers() {
        let expected = r#"curl --globoff --path-as-is -X 'POST' -H 'User-Agent: curl/8.5.0' -H 'Cookie: a=1; b=it'\''s' -H 'Content-Type: application/json' -H 'X-Empty;' -H 'X-Twice: 1' -H 'X-Twice: 2' -H 'Accept:' --data-raw '{"a":"it'\''s"}' 'http://127.0.0.1:8081/l/x/y?t=k7f2aaaabbbb/latest&t=2'"#;
        assert_eq!(curl(&sent(), None), expected);
    }

    #[test]
    fn curl_command_marks_unknown_path() {
        let unknown = with(|capture| capture.path = None);
        assert!(curl(&unknown, None).starts_with(": 'path unknown: "));
    }

    #[test]
    fn curl_binary_body_is_read_from_file() {
        let binary = with(|capture| capture.request_body_base64 = base64(b"\x00\xff\x1b["));
        let file = body_file(&binary).unwrap();
        assert_eq!(file, "capture-3-118-046abae2.bin");
        assert!(curl(&binary, Some("other-2.bin")).contains("--data-binary '@other-2.bin'"));
        let other = with(|capture| capture.request_body_base64 = base64(b"\x00\xfe"));
        assert!(
            body_file(&other).is_some_and(|other| other != file),
            "the same id and another body"
        );
        assert_eq!(body_file(&sent()), None);
        let head = with(|capture| {
            (capture.request_method, capture.request_body_base64) = ("HEAD".into(), "".into())
        });
        assert!(curl(&head, None).contains("--head") && !curl(&head, None).contains("--data"));
    }

    #[test]
    fn curl_keeps_dotted_path_and_head_with_body() {
        let dots = with(|capture| capture.path = Some("/a/../../etc/passwd".into()));
        assert!(
            curl(&dots, None).contains("--path-as-is ")
                && curl(&dots, None).contains(":8081/a/../../etc/passwd?")
        );
        let head = curl(
            &with(|capture| capture.request_method = "HEAD".into()),
            None,
        );
        assert!(
            head.contains("-X 'HEAD'") && !head.contains("--head") && head.contains("--data-raw"),
            "{head}"
        );
    }

    #[test]
    fn long_body_is_read_from_file() {
        let long = |length: usize| {
            with(|capture| capture.request_body_base64 = base64("x".repeat(length).as_bytes()))
        };
        assert_eq!(body_file(&long(LARGEST_ARGUMENT)), None);
        assert!(body_file(&long(LARGEST_ARGUMENT + 1)).is_some());
    }

    #[test]
    fn odd_target_is_an_option_of_its_own() {
        let odd = with(|capture| capture.url_params = "x=<b> #1".into());
        let command = curl(&odd, None);
        assert!(
            command.ends_with("--request-target '/l/x/y?x=<b> #1' 'http://127.0.0.1:8081/'"),
            "{command}"
        );
    }

    #[test]
    fn bytes_of_headers_that_arrived_are_sent() {
        let odd = with(|capture| {
            capture.raw_base64 =
                Some(base64(b"POST /l/x HTTP/1.1\r\nHost: h\r\nX-Odd:\xff\x01\nno colon\r\nX-None: \r\n\r\nX-Body: 1"));
            capture.problems = vec!["header line without a colon".into()];
        });
        let command = curl(&odd, None);
        let headers = r#"-X 'POST' -H 'X-Odd: '"$(printf '\377\001')" -H 'X-None;' -H 'Accept:'"#;
        assert!(
            command.contains(headers) && command.starts_with(": 'malformed request: "),
            "{command}"
        );
    }

    #[test]
    fn length_of_empty_body_is_sent() {
        let empty = with(|capture| {
            capture.request_body_base64 = "".into();
            capture.http_headers = vec!["Content-Length: 0".into(), "Accept-Encoding: gzip".into()];
        });
        let command = curl(&empty, None);
        let expected = "-H 'Accept-Encoding: gzip' --compressed -H 'User-Agent:' -H 'Accept:' -H 'Content-Type:' --data-raw '' 'http";
        assert!(command.contains(expected), "{command}");
    }

    proptest! {
        #[test]
        fn curl_command_of_any_request_acts_on_no_terminal(method: String, query: String, header: String, value: String, body: String) {
            let odd = with(|capture| {
                capture.request_method = method.as_str().into();
                capture.url_params = query.as_str().into();
                capture.http_headers = vec![format!("X-A: {value}").into(), header.as_str().into()];
                capture.request_body_base64 = base64(body.as_bytes());
            });
            let command = curl(&odd, body_file(&odd).as_deref());
            prop_assert_eq!(&*text::clean_text(&command), command.as_str());
        }
    }
}
