//! A captured request in raw HTTP form: as text to read, and as the bytes to send. Bytes that the
//! service reports as they arrived come first.

use super::CaptureRecord;
use crate::oob::request;

/// Request line, headers in order and body as text. An unknown path is replaced by the path of the
/// logger.
pub fn raw(sent: &CaptureRecord) -> String {
    if let Some(arrived) = request::raw(&sent.capture) {
        return String::from_utf8_lossy(&arrived).replace("\r\n", "\n");
    }
    let body = request::body(&sent.capture);
    format!(
        "{}\n\n{}",
        head(sent).join("\n"),
        String::from_utf8_lossy(&body)
    )
}

/// The bytes that arrived, if the service reports them, else the same as the bytes of HTTP (RFC
/// 9112 §2.1).
pub fn raw_bytes(sent: &CaptureRecord) -> Vec<u8> {
    if let Some(arrived) = request::raw(&sent.capture) {
        return arrived;
    }
    let mut bytes = format!("{}\r\n\r\n", head(sent).join("\r\n")).into_bytes();
    bytes.extend_from_slice(&request::body(&sent.capture));
    bytes
}

/// Request line and headers.
fn head(sent: &CaptureRecord) -> Vec<String> {
    let capture = &*sent.capture;
    let url = sent.request_url().url;
    let behind_host = url.find("//").map_or(0, |at| at + 2);
    let target = url[behind_host..]
        .find(['/', '?'])
        .map_or("/", |at| &url[behind_host + at..]);
    let version = capture.http_version.as_deref().unwrap_or("HTTP/1.1");
    let line = format!("{} {target} {version}", capture.request_method);
    [line]
        .into_iter()
        .chain(capture.http_headers.iter().map(ToString::to_string))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sent, with};
    use super::*;
    use crate::oob::recognize::testing::base64;

    #[test]
    fn bytes_that_arrived_come_before_the_parts() {
        let arrived = b"GET /\0\xff HTTP/1.1\r\nx : 1\n\n";
        let odd = with(|capture| capture.raw_base64 = Some(base64(arrived)));
        assert_eq!(raw_bytes(&odd), arrived);
        assert_eq!(raw(&odd), "GET /\0\u{fffd} HTTP/1.1\nx : 1\n\n");
    }

    #[test]
    fn raw_request_keeps_header_order_and_bytes() {
        let text = raw(&sent());
        assert!(
            text.starts_with(
                "POST /l/x/y?t=k7f2aaaabbbb/latest&t=2 HTTP/1.1\nHost: 127.0.0.1:8081\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with("X-Twice: 1\nX-Twice: 2\n\n{\"a\":\"it's\"}"),
            "{text}"
        );
        let binary = with(|capture| capture.request_body_base64 = base64(b"\xff\0\n"));
        let bytes = raw_bytes(&binary);
        assert!(
            bytes.starts_with(b"POST /l/x/y?t=k7f2aaaabbbb/latest&t=2 HTTP/1.1\r\nHost: "),
            "{bytes:?}"
        );
        assert!(bytes.ends_with(b"X-Twice: 2\r\n\r\n\xff\0\n"), "{bytes:?}");
        let arrived = with(|capture| capture.raw_base64 = Some(base64(b"GET /l/x\n\xff:\n\n")));
        assert_eq!(raw_bytes(&arrived), b"GET /l/x\n\xff:\n\n");
        assert!(raw(&with(|capture| capture.path = None)).starts_with("POST /l/x/?t="));
    }
}
