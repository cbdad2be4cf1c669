//! The capture of a received request: its logger, and its parts as text.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::TOKEN_LENGTH;
use crate::request_reader::{HeaderLine, ReceivedRequest, RequestHead, RequestVersion};
use crate::store::captures::NewCapture;
use scandeck_wire::contract::LoggerId;

/// How often a path is percent-decoded: each program that forwards a URL may encode it again.
const MOST_DECODINGS: usize = 3;

/// The part of a logger's URL in the bytes of a request: `/l/<22 letters and digits>`.
struct LoggerMark<'a> {
    /// Where the slash before the `l` is.
    at: usize,
    token: &'a [u8],
}

impl<'a> LoggerMark<'a> {
    /// The first one. Programs that join paths double the slashes, and some write backslashes.
    fn find(bytes: &'a [u8]) -> Option<Self> {
        let pairs = bytes.windows(2).enumerate();
        let mut starts =
            pairs.filter(|(_, pair)| is_slash(pair[0]) && matches!(pair[1], b'l' | b'L'));
        starts.find_map(|(at, _)| {
            let token = Self::token_behind(&bytes[at + 2..])?;
            Some(Self { at, token })
        })
    }

    /// The token behind slashes, among which a segment `.` may be.
    fn token_behind(bytes: &[u8]) -> Option<&[u8]> {
        let is_between = |byte: u8| is_slash(byte) || byte == b'.';
        let end = bytes.iter().take_while(|byte| is_between(**byte)).count();
        let (slashes, rest) = bytes.split_at(end);
        let has_ends = is_slash(*slashes.first()?) && is_slash(*slashes.last()?);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric());
        (has_ends && length.count() == TOKEN_LENGTH).then(|| &rest[..TOKEN_LENGTH])
    }
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// The secret part of a logger's URL in a request: in the path, or anywhere in bytes without a
/// readable path.
pub fn token(request: &ReceivedRequest) -> Option<String> {
    let mut bytes: Cow<'_, [u8]> = Cow::Borrowed(match request.head.is_request() {
        true => target_parts(&request.head.target).0,
        false => request.raw_head.as_slice(),
    });
    for _ in 0..MOST_DECODINGS {
        if let Some(mark) = LoggerMark::find(&bytes) {
            return String::from_utf8(mark.token.to_vec()).ok();
        }
        let Cow::Owned(decoded) = Cow::from(percent_decode(&bytes)) else {
            return None;
        };
        bytes = Cow::Owned(decoded);
    }
    let mark = LoggerMark::find(&bytes)?;
    String::from_utf8(mark.token.to_vec()).ok()
}

/// Path and query of a target. A proxy sends the whole URL.
fn target_parts(target: &[u8]) -> (&[u8], &[u8]) {
    let local = match target.windows(3).position(|window| window == b"://") {
        Some(scheme) if target[0] != b'/' && !target[..scheme].contains(&b'?') => {
            let rest = &target[scheme + 3..];
            rest.iter()
                .position(|byte| matches!(byte, b'/' | b'?'))
                .map_or(&b"/"[..], |path| &rest[path..])
        }
        _ => target,
    };
    match local.iter().position(|&byte| byte == b'?') {
        Some(mark) => (&local[..mark], &local[mark + 1..]),
        None => (local, &[]),
    }
}

/// A request to record.
pub fn new_capture(
    request: ReceivedRequest,
    logger: LoggerId,
    received_at: i64,
    client: std::net::SocketAddr,
) -> NewCapture {
    let head = &request.head;
    let (path, query) = match head.target.is_empty() {
        false => target_parts(&head.target),
        true => (mentioned_path(&request.raw_head), &[][..]),
    };
    let mut capture = NewCapture {
        logger,
        received_at,
        ip_address: client.ip().to_canonical().to_string(),
        remote_port: client.port(),
        method: text(&head.method),
        path: text(path),
        query: text(query),
        http_version: version(head),
        headers: head.lines.iter().map(line_text).collect(),
        body: Vec::new(),
        raw: None,
        problems: Vec::new(),
    };
    let is_exact = request.framed_body.is_none() && capture.head() == request.raw_head;
    capture.raw = (!is_exact).then(|| request.raw());
    capture.problems = request.problems;
    capture.body = request.body;
    capture
}

/// The URL of a logger in bytes that are no request.
fn mentioned_path(bytes: &[u8]) -> &[u8] {
    let Some(mark) = LoggerMark::find(bytes) else {
        return &[];
    };
    let path = &bytes[mark.at..];
    let end = path
        .iter()
        .position(|byte| !byte.is_ascii_graphic() || b"\"'<>".contains(byte));
    &path[..end.unwrap_or(path.len())]
}

fn version(head: &RequestHead) -> String {
    match &head.version {
        RequestVersion::Http11 => "HTTP/1.1".to_owned(),
        RequestVersion::Http10 => "HTTP/1.0".to_owned(),
        RequestVersion::Other(version) => text(version),
        RequestVersion::Missing if head.is_request() => "HTTP/0.9".to_owned(),
        RequestVersion::Missing => String::new(),
    }
}

/// `Name: value`, or the line when it has no colon.
fn line_text(line: &HeaderLine) -> String {
    match &line.name {
        Some(name) => format!("{}: {}", text(name), text(&line.value)),
        None => text(&line.value),
    }
}

/// Bytes as text without control characters, which the raw bytes keep.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let is_odd = |c: char| c.is_control() && c != '\t';
    if text.contains(is_odd) {
        text.replace(is_odd, "\u{fffd}")
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_reader::{EndCause, ReaderLimits, RequestReader};

    const TOKEN: &str = "0123456789abcdefghijkl";

    fn received(bytes: &[u8]) -> ReceivedRequest {
        let mut reader = RequestReader::new(ReaderLimits {
            head: 1000,
            body: 1000,
        });
        reader.feed(bytes);
        reader
            .next()
            .or_else(|| reader.end(EndCause::Closed))
            .unwrap()
    }

    fn captured(bytes: &[u8]) -> NewCapture {
        new_capture(received(bytes), 1.into(), 0, "127.0.0.1:9".parse().unwrap())
    }

    #[test]
    fn token_is_found_in_the_path_and_in_bytes_without_one() {
        let upper = TOKEN.to_uppercase();
        for (line, expected) in [
            (format!("GET /l/{TOKEN}/a/b?x HTTP/1.1"), true),
            (format!("GET /l/{TOKEN} HTTP/1.1"), true),
            (format!("GET /L/{upper}/ HTTP/1.1"), true),
            (format!("GET //in/l/{TOKEN}/ HTTP/1.0"), true),
            (format!("GET http://h:1/l/{TOKEN}/ HTTP/1.1"), true),
            (format!("GET h:1/l/{TOKEN}/ HTTP/1.1"), true),
            (format!("GET /%6C/{TOKEN}%2F HTTP/1.1"), true),
            (format!("GET /l/{TOKEN}"), true),
            (format!("/l/{TOKEN}/x"), true),
            (format!("\x16\x03 gopher /l/{TOKEN}/"), true),
            (format!("GET //l//{TOKEN}/x HTTP/1.1"), true),
            (format!("GET /l/./{TOKEN} HTTP/1.1"), true),
            (format!("GET \\l\\{TOKEN} HTTP/1.1"), true),
            (format!("GET /a%5Cl%5C{TOKEN} HTTP/1.1"), true),
            (format!("GET /a%252Fl%252F{TOKEN}%252F HTTP/1.1"), true),
            (format!("GET /a%2525252Fl%2525252F{TOKEN} HTTP/1.1"), false),
            (format!("GET /l.{TOKEN}/ HTTP/1.1"), false),
            (format!("GET /l/.{TOKEN}/ HTTP/1.1"), false),
            (format!("GET /l{TOKEN}/ HTTP/1.1"), false),
            (format!("GET /?next=/l/{TOKEN}/ HTTP/1.1"), false),
            (
                format!("GET / HTTP/1.1\r\nReferer: http://h/l/{TOKEN}/"),
                false,
            ),
            (format!("GET /l/{TOKEN}x/ HTTP/1.1"), false),
            ("GET /l/short/ HTTP/1.1".to_owned(), false),
            ("nonsense".to_owned(), false),
        ] {
            let found = token(&received(format!("{line}\r\n\r\n").as_bytes()));
            assert_eq!(
                found.is_some_and(|found| found.eq_ignore_ascii_case(TOKEN)),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn regular_request_needs_no_raw_bytes() {
        let plain = captured(
            b"POST /l/x?y=1 HTTP/1.1\r\nHost: a\r\nX-Case: v\r\nContent-Length: 2\r\n\r\nab",
        );
        assert_eq!(
            (plain.raw, plain.problems.len(), plain.body),
            (None, 0, b"ab".to_vec())
        );
        assert_eq!(plain.headers, ["Host: a", "X-Case: v", "Content-Length: 2"]);
        for odd in [
            &b"GET /l/x? HTTP/1.1\r\nHost: a\r\n\r\n"[..],
            b"GET /l/x HTTP/1.1\r\nHost:a\r\n\r\n",
            b"GET http://h/l/x HTTP/1.1\r\nHost: a\r\n\r\n",
            b"GET /l/x HTTP/1.1\nHost: a\n\n",
            b"POST /l/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            b"GET /l/\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert_eq!(captured(odd).raw.as_deref(), Some(odd), "{}", odd.escape_ascii());
        }
    }

    #[test]
    fn parts_of_odd_requests_are_clean_text() {
        let odd = captured(
            b"GET http://h/l/x\0?<b c> HTTP/1.1\r\nHost: a\r\nno colon\r\nX\x1b: a\tb\xff\r\n\r\n",
        );
        assert_eq!(
            (odd.path.as_str(), odd.query.as_str()),
            ("/l/x\u{fffd}", "<b c>")
        );
        assert_eq!(
            odd.headers,
            ["Host: a", "no colon", "X\u{fffd}: a\tb\u{fffd}"]
        );
        let foreign = captured(format!("\x16\x03 \"/l/{TOKEN}/p7\" x").as_bytes());
        assert_eq!(
            (foreign.method, foreign.path, foreign.http_version),
            ("".into(), format!("/l/{TOKEN}/p7"), "".into())
        );
        assert_eq!(captured(b"GET /l/x\r\n").http_version, "HTTP/0.9");
        assert_eq!(captured(b"GET http://h?a=1 HTTP/1.0\r\n\r\n").query, "a=1");
    }
}
