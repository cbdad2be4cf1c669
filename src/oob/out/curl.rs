//! A captured request as a curl command for a POSIX shell.

use sha2::{Digest, Sha256};

use super::{CaptureRecord, sent_again};
use crate::oob::request;
use crate::text;
use crate::text::quoted;

/// Headers that curl adds unless they are given.
const BY_ITSELF: &[&str] = &["User-Agent", "Accept"];

/// Name of the file for a body that is not plain text. Ids restart with each logger and each service, so the name
/// contains a hash of the body.
pub fn body_file(sent: &CaptureRecord) -> Option<String> {
    let body = request::body(&sent.capture);
    let plain = std::str::from_utf8(&body).is_ok_and(|body| text::clean_text(body) == body);
    (!plain).then(|| {
        let digest: String = Sha256::digest(&body).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        text::file_name(&format!("capture-{}-{}-{digest}.bin", sent.logger, sent.capture.id))
    })
}

/// The command; `file` contains the body if [`body_file`] returns a name.
pub fn curl(sent: &CaptureRecord, file: Option<&str>) -> String {
    let capture = &*sent.capture;
    let request_url = sent.request_url();
    let mut words: Vec<String> = Vec::new();
    if !request_url.path_known {
        words.push(": 'path unknown: the service does not report it; this is the path of the logger';".to_owned());
    }
    let body = request::body(capture);
    // curl must not expand `[1-9]` in the URL or normalize `/a/../b`.
    words.extend(["curl", "--globoff", "--path-as-is"].map(str::to_owned));
    match capture.request_method.as_str() {
        // curl rejects --head together with a body.
        "HEAD" if body.is_empty() => words.push("--head".to_owned()),
        method => words.extend(["-X".to_owned(), quoted(method)]),
    }
    for (name, value) in sent_again(capture).filter(|(name, _)| !name.eq_ignore_ascii_case("accept-encoding")) {
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        words.extend(["-H".to_owned(), quoted(&header)]);
    }
    let has = |name: &str| request::header(capture, name).is_some();
    let unwanted = BY_ITSELF.iter().chain((!body.is_empty()).then_some(&"Content-Type"));
    if !capture.http_headers.is_empty() {
        for name in unwanted.filter(|name| !has(name)) {
            words.extend(["-H".to_owned(), quoted(&format!("{name}:"))]);
        }
    }
    match (file, std::str::from_utf8(&body)) {
        (Some(file), _) => words.extend(["--data-binary".to_owned(), quoted(&format!("@{file}"))]),
        (None, Ok(body)) if !body.is_empty() => words.extend(["--data-raw".to_owned(), quoted(body)]),
        (None, _) => {}
    }
    words.push(quoted(&request_url.url));
    words.join(" ")
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
        assert!(body_file(&other).is_some_and(|other| other != file), "the same id and another body");
        assert_eq!(body_file(&sent()), None);
        let head = with(|capture| (capture.request_method, capture.request_body_base64) = ("HEAD".into(), "".into()));
        assert!(curl(&head, None).contains("--head") && !curl(&head, None).contains("--data"));
    }

    #[test]
    fn curl_keeps_dotted_path_and_head_with_body() {
        let dots = with(|capture| capture.path = Some("/a/../../etc/passwd".into()));
        assert!(curl(&dots, None).contains("--path-as-is ") && curl(&dots, None).contains(":8081/a/../../etc/passwd?"));
        let head = curl(&with(|capture| capture.request_method = "HEAD".into()), None);
        assert!(head.contains("-X 'HEAD'") && !head.contains("--head") && head.contains("--data-raw"), "{head}");
    }

    /// The words a POSIX shell makes of a command of quoted words and plain ones.
    fn shell_words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        let mut chars = command.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => quoted = !quoted,
                '\\' if !quoted => word.extend(chars.next()),
                ' ' if !quoted => words.push(std::mem::take(&mut word)),
                c => {
                    assert!(quoted || c.is_ascii_alphanumeric() || c == '-', "{c:?} is unquoted in {command}");
                    word.push(c);
                }
            }
        }
        assert!(!quoted, "{command}");
        words.push(word);
        words
    }

    proptest! {
        #[test]
        fn curl_quotes_any_request_safely(method: String, query: String, header: String, value: String, body: String) {
            let odd = with(|capture| {
                capture.request_method = method.as_str().into();
                capture.url_params = query.as_str().into();
                capture.http_headers = vec![format!("X-A: {value}").into(), header.as_str().into()];
                capture.request_body_base64 = base64(body.as_bytes());
            });
            let command = curl(&odd, body_file(&odd).as_deref());
            let words = shell_words(&command);
            prop_assert_eq!(&words[0], "curl");
            let url = words.last().unwrap();
            prop_assert!(url.starts_with("http://127.0.0.1:8081/l/x/y"), "{}", url);
            prop_assert!(!command.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
