//! A captured request in raw HTTP form.

use super::CaptureRecord;
use crate::oob::request;

/// Request line, headers in order and body. An unknown path is replaced by the path of the logger.
pub fn raw(sent: &CaptureRecord) -> String {
    let capture = &*sent.capture;
    let url = sent.request_url().url;
    let behind_host = url.find("//").map_or(0, |at| at + 2);
    let target = url[behind_host..].find(['/', '?']).map_or("/", |at| &url[behind_host + at..]);
    let version = capture.http_version.as_deref().unwrap_or("HTTP/1.1");
    let mut text = format!("{} {target} {version}\n", capture.request_method);
    for line in &capture.http_headers {
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(&request::body(capture)));
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sent, with};
    use super::*;

    #[test]
    fn raw_request_keeps_header_order() {
        let text = raw(&sent());
        assert!(text.starts_with("POST /l/x/y?t=k7f2aaaabbbb/latest&t=2 HTTP/1.1\nHost: 127.0.0.1:8081\n"), "{text}");
        assert!(text.ends_with("X-Twice: 1\nX-Twice: 2\n\n{\"a\":\"it's\"}"), "{text}");
        assert!(raw(&with(|capture| capture.path = None)).starts_with("POST /l/x/?t="));
    }
}
