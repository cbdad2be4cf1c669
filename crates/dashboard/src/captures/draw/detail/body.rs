//! The body of a capture: decoded step by step, raw, or as a hex dump.

use crate::base::TextMode;
use crate::captures::draw::detail::steps;
use crate::ui::{Theme, body_lines, format, hex_lines, plain, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::text::Line;
use scandeck_domain::oob::decode::chain;
use scandeck_domain::oob::request::{content_type, header};
use scandeck_domain::oob::{BodyHints, DecodeStep};
use scandeck_wire::contract::Capture;
use scandeck_wire::text;

/// Bytes of a body that are shown, followed by the size of the rest. Copies and files contain the
/// whole body.
const SHOWN: usize = 1 << 20;

pub(crate) fn lines(
    theme: Theme,
    capture: &Capture,
    width: u16,
    shown: TextMode,
) -> Vec<Line<'static>> {
    let encoded = &capture.request_body_base64;
    if encoded.is_empty() {
        let announced = header(capture, "content-length")
            .and_then(|length| length.trim().parse::<usize>().ok());
        return vec![match announced {
            Some(1..) => words("body not recorded: too large or interrupted", theme.warn()),
            _ => words("no body", theme.dim()),
        }];
    }
    let Ok(bytes) = STANDARD.decode(encoded.as_bytes()) else {
        let mut lines = vec![words("body is not valid base64:", theme.warn())];
        lines.extend(plain(&text::clean_text(encoded), theme.text()));
        return lines;
    };
    let seen = &bytes[..bytes.len().min(SHOWN)];
    let steps = match shown {
        TextMode::Decoded => decode_steps(capture, &bytes),
        TextMode::Wrapped | TextMode::Long | TextMode::Raw | TextMode::Hex => Vec::new(),
    };
    if !steps.is_empty() {
        // The size of the part that is not shown is below the decoded text.
        let mut lines = vec![words(sizes(capture, bytes.len(), 0), theme.dim())];
        lines.extend(steps::lines(theme, &steps, 0));
        return lines;
    }
    let cut = bytes.len() - seen.len();
    let mut lines = vec![words(sizes(capture, bytes.len(), cut), theme.dim())];
    match shown {
        TextMode::Hex => lines.extend(hex_lines(theme, seen, width)),
        TextMode::Decoded if is_binary(seen) => lines.extend(hex_lines(theme, seen, width)),
        TextMode::Decoded | TextMode::Raw | TextMode::Wrapped | TextMode::Long => {
            lines.extend(body_lines(theme, &text::clean_bytes(seen)))
        }
    }
    lines
}

/// `text/plain, 1.2 kB`, and the size of the part that is not shown.
fn sizes(capture: &Capture, size: usize, cut: usize) -> String {
    let kind = match content_type(capture) {
        "" => "no content type".to_owned(),
        kind => text::clean(kind).into_owned(),
    };
    let excluded = match cut {
        0 => String::new(),
        left => format!(", the last {} not shown", format::bytes(left)),
    };
    format!("{kind}, {}{excluded}", format::bytes(size))
}

fn decode_steps(capture: &Capture, bytes: &[u8]) -> Vec<DecodeStep> {
    let encoding = header(capture, "content-encoding").unwrap_or_default();
    chain(
        bytes,
        BodyHints {
            content_type: content_type(capture),
            encoding,
        },
    )
}

/// Whether more than one byte in ten of the beginning is not text.
fn is_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1_000)];
    let odd =
        |byte: &&u8| (**byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t')) || **byte >= 0x80;
    std::str::from_utf8(bytes).is_err() && start.iter().filter(odd).count() * 10 > start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &[u8], how: TextMode) -> Vec<String> {
        let capture = Capture {
            request_body_base64: STANDARD.encode(body).into(),
            ..Capture::default()
        };
        lines(Theme::default(), &capture, 60, how)
            .iter()
            .map(Line::to_string)
            .collect()
    }

    #[test]
    fn body_shows_size_and_decoded_steps() {
        let json = shown(br#"{"b":1,"a":"b%2Fc"}"#, TextMode::Decoded);
        assert_eq!(json[0], "no content type, 19 B");
        assert!(
            json[1].ends_with("json   valid JSON"),
            "without the size of the formatted text: {json:?}"
        );
        assert_eq!(
            json[2..6],
            ["  {", r#"    "b": 1,"#, r#"    "a": "b%2Fc""#, "  }"]
        );
        assert!(json[7].contains("url   contains 1 %XX escape"), "{json:?}");
        assert_eq!(json[8].trim(), "b/c");
        assert_eq!(
            shown(br#"{"b":1,"a":[2]}"#, TextMode::Raw)[1..],
            [r#"{"b":1,"a":[2]}"#]
        );
        assert_eq!(
            shown(b"some words\nand more", TextMode::Decoded)[1..],
            ["some words", "and more"]
        );
        assert!(
            shown(b"\x00\x01\xff\xfe", TextMode::Decoded)[1].starts_with("00000000  00 01 ff fe")
        );
        assert_eq!(shown(b"", TextMode::Decoded), ["no body"]);
        let cut = Capture {
            http_headers: vec!["Content-Length: 3000000".into()],
            ..Capture::default()
        };
        let line = lines(Theme::default(), &cut, 60, TextMode::Decoded)[0].to_string();
        assert!(line.contains("body not recorded"), "{line}");
    }

    #[test]
    fn body_beyond_limit_shows_size_of_rest() {
        let lines = shown(&vec![b'a'; SHOWN + 10_000], TextMode::Raw);
        assert_eq!(
            lines[0],
            "no content type, 1.1 MB, the last 10.0 kB not shown"
        );
    }

    #[test]
    fn decoded_body_beyond_limit_is_cut() {
        let long = format!("{{\"a\":\"{}\",\"b\":\"x%2Fy\"}}", "ä".repeat(SHOWN));
        let lines = shown(long.as_bytes(), TextMode::Decoded);
        assert!(lines.iter().map(String::len).sum::<usize>() < 300_000);
        assert!(
            lines
                .last()
                .is_some_and(|last| last.trim_start().starts_with("the last 1.8 MB not shown"))
        );
        let cuts = lines.iter().filter(|line| line.contains("the last "));
        assert_eq!(cuts.count(), 1, "{}", lines[0]);
        assert!(
            !lines
                .iter()
                .any(|line| line.contains("contains 1 %XX escape")),
            "strings of this length are not decoded"
        );
        let percent = shown(
            format!("{}%20", "a".repeat(SHOWN)).as_bytes(),
            TextMode::Decoded,
        );
        assert!(percent.iter().map(String::len).sum::<usize>() < 300_000);
    }

    #[test]
    fn decoded_web_token_is_never_called_verified() {
        let part = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
        let token = format!(
            "{}.{}.c2ln",
            part(r#"{"alg":"HS256"}"#),
            part(r#"{"sub":"ann"}"#)
        );
        let text = shown(token.as_bytes(), TextMode::Decoded).join("\n");
        assert!(
            text.contains("signature not checked") && !text.to_lowercase().contains("verified"),
            "{text}"
        );
    }
}
