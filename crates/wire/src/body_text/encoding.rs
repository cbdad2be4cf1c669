//! The text of a body, in the encoding that a browser would choose: byte order mark, then the
//! charset of the header, then that of a `meta` element (HTML §13.2.3), else UTF-8.

use std::borrow::Cow;
use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use regex::bytes::Regex;

/// Bytes in which a `meta` element names the encoding.
const PRESCAN: usize = 1024;

static META: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i-u)<meta\s[^>]*charset\s*=\s*["']?\s*([a-z0-9_:.-]+)"#).ok());

/// Decodes a body. `charset` is that of the header; `meta` elements count in HTML only.
pub(super) fn decode<'b>(body: &'b [u8], charset: Option<&str>, is_html: bool) -> Cow<'b, str> {
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(&body[length..]).0;
    }
    let declared = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = declared
        .or_else(|| is_html.then(|| of_meta(body)).flatten())
        .unwrap_or(UTF_8);
    encoding.decode_without_bom_handling(body).0
}

/// Whether a body without a type begins like HTML (MIME Sniffing §7.1).
pub(super) fn looks_like_html(body: &[u8]) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style",
        "<title", "<b", "<body", "<br", "<p",
    ];
    let start = body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii_start();
    let begins = |tag: &&str| {
        start
            .get(..tag.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(tag.as_bytes()))
    };
    let is_tag = |tag: &&str| matches!(start.get(tag.len()), Some(b' ' | b'>'));
    start.starts_with(b"<!--") || STARTS.iter().any(|tag| begins(tag) && is_tag(tag))
}

/// The encoding in a `meta` element. An element that can be read as ASCII is not in UTF-16,
/// whatever it says.
fn of_meta(body: &[u8]) -> Option<&'static Encoding> {
    let found = META.as_ref()?.captures(&body[..body.len().min(PRESCAN)])?;
    let encoding = Encoding::for_label(found.get(1)?.as_bytes())?;
    Some(if [UTF_16LE, UTF_16BE].contains(&encoding) {
        UTF_8
    } else {
        encoding
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn byte_order_mark_beats_header_beats_meta_element() {
        let marked = utf_16("\u{feff}<a href=/ö>", u16::to_le_bytes);
        assert_eq!(decode(&marked, Some("utf-8"), true), "<a href=/ö>");
        let big = utf_16("<a href=/ö>", u16::to_be_bytes);
        assert_eq!(decode(&big, Some("utf-16be"), false), "<a href=/ö>");
        let little = utf_16("<a href=/ö>", u16::to_le_bytes);
        assert_eq!(decode(&little, Some("utf-16"), false), "<a href=/ö>");
        assert_eq!(
            decode(b"<meta charset=latin1>\xf6", Some("utf-8"), true),
            "<meta charset=latin1>\u{fffd}"
        );
        assert_eq!(
            decode(
                b"<META http-equiv=a content='text/html; CHARSET=latin1'>\xf6",
                None,
                true
            )
            .chars()
            .last(),
            Some('ö')
        );
        assert_eq!(
            decode(b"<meta charset=\"utf-16\">\xc3\xb6", None, true)
                .chars()
                .last(),
            Some('ö')
        );
        assert_eq!(
            decode(b"<meta charset=latin1>\xc3\xb6", None, false)
                .chars()
                .last(),
            Some('ö')
        );
        assert_eq!(
            decode(b"\xef\xbb\xbfDisallow: /", None, false),
            "Disallow: /"
        );
        assert_eq!(
            decode(b"a\xff", Some("no-such-charset"), false),
            "a\u{fffd}"
        );
    }

    #[test]
    fn body_without_type_is_html_by_its_first_tag() {
        for (body, expected) in [
            ("<!DOCTYPE html><p>", true),
            ("\n\t<HTML lang=en>", true),
            ("\u{feff}<title>a", true),
            ("<!-- a -->", true),
            ("<abbr>", false),
            ("<?xml version='1.0'?><a>", false),
            ("<html", false),
            ("{\"a\": \"<p>\"}", false),
            ("", false),
        ] {
            assert_eq!(looks_like_html(body.as_bytes()), expected, "{body}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_text(body: Vec<u8>, charset: Option<String>, is_html: bool) {
            decode(&body, charset.as_deref(), is_html);
        }
    }
}
