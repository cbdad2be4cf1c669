//! Parts of a captured request: target, headers, body.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::mask::Mask;
use scandeck_wire::contract::Capture;

/// Path and query as sent; some services record only the query.
pub fn target(capture: &Capture) -> String {
    let path = capture.path.as_deref().unwrap_or_default();
    let mark = if capture.url_params.is_empty() {
        ""
    } else {
        "?"
    };
    format!("{path}{mark}{}", capture.url_params)
}

/// Query pairs in order: name and value as sent; the value is `None` without `=`.
pub fn pairs(capture: &Capture) -> impl Iterator<Item = (&str, Option<&str>)> {
    let pairs = capture
        .url_params
        .split('&')
        .filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        pair.split_once('=')
            .map_or((pair, None), |(name, value)| (name, Some(value)))
    })
}

/// Headers in order with duplicates; a line without a colon has an empty name.
pub fn headers(capture: &Capture) -> impl Iterator<Item = (&str, &str)> {
    capture
        .http_headers
        .iter()
        .map(|line| match line.split_once(':') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => ("", line.trim()),
        })
}

/// The first header of a name.
pub fn header<'a>(capture: &'a Capture, header_name: &str) -> Option<&'a str> {
    headers(capture)
        .find(|(name, _)| name.eq_ignore_ascii_case(header_name))
        .map(|(_, value)| value)
}

/// The content type that the service reports, otherwise the header.
pub fn content_type(capture: &Capture) -> &str {
    match capture.request_body_type.as_str() {
        "" => header(capture, "content-type").unwrap_or_default(),
        reported => reported,
    }
}

/// The body; invalid base64 is used as it is.
pub fn body(capture: &Capture) -> Cow<'_, [u8]> {
    bytes(capture.request_body_base64.as_bytes())
}

/// About the first `most` bytes of the body; the rest is not decoded.
pub fn body_start(capture: &Capture, most: usize) -> Cow<'_, [u8]> {
    let base64 = capture.request_body_base64.as_bytes();
    bytes(&base64[..base64.len().min(most.div_ceil(3) * 4)])
}

/// The body in base64 with stand-ins; empty if it is no text, because nothing can be recognised in
/// it.
pub fn masked_base64(capture: &Capture, mask: &Mask) -> String {
    std::str::from_utf8(&body(capture))
        .map(|text| STANDARD.encode(&*mask.text(text)))
        .unwrap_or_default()
}

fn bytes(base64: &[u8]) -> Cow<'_, [u8]> {
    STANDARD
        .decode(base64)
        .map_or(Cow::Borrowed(base64), Cow::Owned)
}

/// The bytes of the request as they arrived, if the service reports them. It does so if the other
/// parts do not give them.
pub fn raw(capture: &Capture) -> Option<Vec<u8>> {
    STANDARD
        .decode(capture.raw_base64.as_ref()?.as_bytes())
        .ok()
}

/// Size of the body, computed without decoding.
pub fn body_size(capture: &Capture) -> usize {
    let base64 = &capture.request_body_base64;
    let padding = base64
        .bytes()
        .rev()
        .take_while(|&byte| byte == b'=')
        .count();
    (base64.len() / 4 * 3).saturating_sub(padding.min(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_size_is_computed_without_decoding() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"abcd"] {
            let capture = Capture {
                request_body_base64: STANDARD.encode(bytes).into(),
                ..Capture::default()
            };
            assert_eq!(
                (body_size(&capture), &*body(&capture)),
                (bytes.len(), bytes)
            );
            assert_eq!(&*body_start(&capture, 3), &bytes[..bytes.len().min(3)]);
        }
    }

    #[test]
    fn request_parts_keep_their_order() {
        let capture = Capture {
            url_params: "a=1=2&flag&a=".into(),
            http_headers: vec!["X-A: 1".into(), "x-a:2".into(), "odd".into()],
            ..Capture::default()
        };
        assert_eq!(target(&capture), "?a=1=2&flag&a=");
        assert_eq!(
            pairs(&capture).collect::<Vec<_>>(),
            [("a", Some("1=2")), ("flag", None), ("a", Some(""))]
        );
        assert_eq!(
            headers(&capture).collect::<Vec<_>>(),
            [("X-A", "1"), ("x-a", "2"), ("", "odd")]
        );
        assert_eq!(header(&capture, "X-a"), Some("1"));
    }
}
