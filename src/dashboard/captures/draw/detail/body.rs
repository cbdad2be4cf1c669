//! The body: decoded step by step, as it came, or its bytes.

use crate::contract::Capture;
use crate::dashboard::base::TextMode;
use crate::dashboard::captures::draw::detail::steps;
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::widgets::hex::hex_lines;
use crate::dashboard::ui::widgets::wrap::plain;
use crate::dashboard::ui::{Theme, format};
use crate::oob::BodyHints;
use crate::oob::decode::chain;
use crate::oob::request::{content_type, header};
use crate::text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::text::Line;

/// Bytes shown of a body; of the rest its size is told. Saved and copied it is whole.
const SHOWN: usize = 1 << 20;

pub(crate) fn lines(theme: Theme, capture: &Capture, width: u16, shown: TextMode) -> Vec<Line<'static>> {
    let encoded = &capture.request_body_base64;
    if encoded.is_empty() {
        let announced = header(capture, "content-length").and_then(|length| length.trim().parse::<usize>().ok());
        return vec![match announced {
            Some(1..) => words(
                "The service kept no body of what the request announced: it was too large, or broke off.",
                theme.warn(),
            ),
            _ => words("The request had no body.", theme.dim()),
        }];
    }
    let Ok(bytes) = STANDARD.decode(encoded.as_bytes()) else {
        let mut lines = vec![words("The service sent a body that is no base64:", theme.warn())];
        lines.extend(plain(&text::clean_text(encoded), theme.text()));
        return lines;
    };
    let seen = &bytes[..bytes.len().min(SHOWN)];
    let mut lines = vec![words(sizes(capture, &bytes), theme.dim())];
    match shown {
        TextMode::Hex => lines.extend(hex_lines(theme, seen, width)),
        TextMode::Decoded => lines.extend(decoded(theme, capture, &bytes, width)),
        TextMode::Raw | TextMode::Wrapped | TextMode::Long => {
            lines.extend(plain(&text::clean_bytes(seen), theme.text()))
        }
    }
    lines
}

/// `text/plain, 1.2 kB`, and what is left out.
fn sizes(capture: &Capture, bytes: &[u8]) -> String {
    let kind = match content_type(capture) {
        "" => "no content type".to_owned(),
        kind => text::clean(kind).into_owned(),
    };
    let left_out = match bytes.len().saturating_sub(SHOWN) {
        0 => String::new(),
        left => format!(", the last {} not shown", format::bytes(left)),
    };
    format!("{kind}, {}{left_out}", format::bytes(bytes.len()))
}

fn decoded(theme: Theme, capture: &Capture, bytes: &[u8], width: u16) -> Vec<Line<'static>> {
    let told = BodyHints {
        content_type: content_type(capture),
        encoding: header(capture, "content-encoding").unwrap_or_default(),
    };
    let steps = chain(bytes, told);
    let seen = &bytes[..bytes.len().min(SHOWN)];
    match steps.is_empty() {
        false => steps::lines(theme, &steps, 0),
        true if is_binary(seen) => hex_lines(theme, seen, width),
        true => plain(&text::clean_bytes(seen), theme.text()),
    }
}

/// More than one byte in ten of the beginning is no text.
fn is_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1_000)];
    let odd = |byte: &&u8| (**byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t')) || **byte >= 0x80;
    std::str::from_utf8(bytes).is_err() && start.iter().filter(odd).count() * 10 > start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &[u8], how: TextMode) -> Vec<String> {
        let capture = Capture { request_body_base64: STANDARD.encode(body).into(), ..Capture::default() };
        lines(Theme::default(), &capture, 60, how).iter().map(Line::to_string).collect()
    }

    #[test]
    fn bodies_are_told_by_their_size_and_decoded_step_by_step() {
        let json = shown(br#"{"b":1,"a":"b%2Fc"}"#, TextMode::Decoded);
        assert_eq!(json[0], "no content type, 19 B");
        assert!(json[1].contains("json   it parses"), "{json:?}");
        assert_eq!(json[2..6], ["  {", r#"    "b": 1,"#, r#"    "a": "b%2Fc""#, "  }"]);
        assert!(json[7].contains("url   has 1 %XX escape"), "{json:?}");
        assert_eq!(json[8].trim(), "b/c");
        assert_eq!(shown(br#"{"b":1,"a":[2]}"#, TextMode::Raw)[1..], [r#"{"b":1,"a":[2]}"#]);
        assert_eq!(shown(b"some words\nand more", TextMode::Decoded)[1..], ["some words", "and more"]);
        assert!(shown(b"\x00\x01\xff\xfe", TextMode::Decoded)[1].starts_with("00000000  00 01 ff fe"));
        assert_eq!(shown(b"", TextMode::Decoded), ["The request had no body."]);
        let cut = Capture { http_headers: vec!["Content-Length: 3000000".into()], ..Capture::default() };
        let told = lines(Theme::default(), &cut, 60, TextMode::Decoded)[0].to_string();
        assert!(told.contains("kept no body"), "{told}");
    }

    #[test]
    fn of_a_body_beyond_the_limit_the_rest_is_told() {
        let lines = shown(&vec![b'a'; SHOWN + 10_000], TextMode::Raw);
        assert_eq!(lines[0], "no content type, 1.1 MB, the last 10.0 kB not shown");
    }

    #[test]
    fn of_what_a_body_stands_for_no_more_is_shown_than_is_read() {
        let long = format!("{{\"a\":\"{}\",\"b\":\"x%2Fy\"}}", "ä".repeat(SHOWN));
        let lines = shown(long.as_bytes(), TextMode::Decoded);
        assert!(lines.iter().map(String::len).sum::<usize>() < 300_000);
        assert!(lines.last().is_some_and(|last| last.trim_start().starts_with("the last 1.8 MB not shown")));
        assert!(!lines.iter().any(|line| line.contains("has 1 %XX escape")), "strings of so much are not looked into");
        let percent = shown(format!("{}%20", "a".repeat(SHOWN)).as_bytes(), TextMode::Decoded);
        assert!(percent.iter().map(String::len).sum::<usize>() < 300_000);
    }

    #[test]
    fn a_web_token_is_never_said_to_be_good() {
        let part = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
        let token = format!("{}.{}.c2ln", part(r#"{"alg":"HS256"}"#), part(r#"{"sub":"ann"}"#));
        let text = shown(token.as_bytes(), TextMode::Decoded).join("\n");
        assert!(text.contains("signature not checked") && !text.to_lowercase().contains("verified"), "{text}");
    }
}
