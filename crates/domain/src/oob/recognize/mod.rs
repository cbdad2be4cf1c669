//! Recognition of tokens in captured requests, wherever a target placed and encoded them.
//!
//! ```text
//!   method path?query, headers, body ─► values ─► every window of a token's length ─► in the book?
//!                                         ▲                │
//!                                         └── decoded: url, base64, hex, gzip, deflate, escapes… ◄─┘  at most four layers
//! ```
//!
//! Work is limited by the size of the request, because the sender controls every byte.

use std::borrow::Cow;

use super::decode::{CompressionFormat, base64 as base64_runs, hex, percent, spellings};
use super::token::LENGTH;
use super::{Mention, MentionPlace, PayloadBook, Token, request};
use scandeck_wire::contract::{Capture, Shared};
use scandeck_wire::text;

/// Maximum number of nested encodings.
const DEEPEST: usize = 4;
/// Base budget of decoded bytes per request, and additional budget per byte of the request.
const WORK: usize = 256 << 10;
const WORK_A_BYTE: usize = 16;
/// Minimum length of a token in base64 and in hexadecimal digits.
const IN_BASE64: usize = LENGTH / 3 * 4;
const IN_HEX: usize = LENGTH * 2;
/// Maximum number of bytes shown after a token.
const ADDED: usize = 300;
/// Name of the token parameter, see `super::payload`.
const PARAMETER: &str = "t";

/// Tokens in a captured request: known tokens first, in the order path, query, headers, body.
pub fn mentions(capture: &Capture, book: &PayloadBook) -> Vec<Mention> {
    let body = request::body(capture);
    let size = capture.url_params.len()
        + body.len()
        + raw_size(capture)
        + capture
            .http_headers
            .iter()
            .map(|line| line.len())
            .sum::<usize>();
    let mut search = TokenSearch {
        book,
        work: WORK + WORK_A_BYTE * size,
        place: MentionPlace::Path,
        found: Vec::new(),
    };
    if !book.is_empty() {
        search.request(capture, &body);
    }
    let mut found = search.found;
    for unknown in unknown(capture) {
        if found.iter().all(|mention| mention.token != unknown.token) {
            found.push(unknown);
        }
    }
    found
}

/// Token search in one request.
struct TokenSearch<'a> {
    book: &'a PayloadBook,
    /// Remaining budget of decoded bytes.
    work: usize,
    place: MentionPlace,
    found: Vec<Mention>,
}

impl TokenSearch<'_> {
    fn request(&mut self, capture: &Capture, body: &[u8]) {
        if let Some(path) = &capture.path {
            self.value(MentionPlace::Path, path.as_bytes());
        }
        for (name, value) in request::pairs(capture) {
            self.value(MentionPlace::Query(Shared::default()), name.as_bytes());
            if let Some(value) = value {
                self.value(
                    MentionPlace::Query(cleaned(&percent::decoded_value(name.as_bytes()))),
                    value.as_bytes(),
                );
            }
        }
        for (name, value) in request::headers(capture) {
            self.value(
                MentionPlace::Header(cleaned(name.as_bytes())),
                value.as_bytes(),
            );
        }
        if capture.http_headers.is_empty() {
            self.value(
                MentionPlace::Header("User-Agent".into()),
                capture.user_agent.as_bytes(),
            );
        }
        self.value(MentionPlace::Body, body);
        if CompressionFormat::of(body).is_none() && declares_deflate(capture) {
            self.unwrap_compressed(CompressionFormat::Deflate, body, &[]);
        }
        // What is no part of a request, such as another protocol or a chunk extension.
        if self.found.is_empty()
            && let Some(raw) = request::raw(capture)
        {
            self.value(MentionPlace::Body, &raw);
        }
    }

    fn value(&mut self, place: MentionPlace, value: &[u8]) {
        self.place = place;
        self.text(value, &[]);
    }

    fn text(&mut self, text: &[u8], wrapped: &[&'static str]) {
        for (at, token) in Token::windows(text) {
            if self.book.get(token).is_some() {
                self.note(token, &text[at + LENGTH..], wrapped);
            }
        }
        if wrapped.len() == DEEPEST {
            return;
        }
        if let Some(how) = CompressionFormat::of(text) {
            self.unwrap_compressed(how, text, wrapped);
        }
        if let Cow::Owned(plain) = percent::decoded(text) {
            // Further encodings are complete only in the decoded text.
            return self.inside("url", &plain, wrapped);
        }
        if let Some(plain) = unescaped(text) {
            self.inside("json", &plain, wrapped);
        }
        for run in base64_runs::Base64Run::all(text, IN_BASE64) {
            for skipped in 0..4 {
                if let Some(plain) = run.decoded(skipped) {
                    self.inside(run.name(), &plain, wrapped);
                }
            }
        }
        for run in hex::runs(text, IN_HEX) {
            for digits in [run, &run[1..]] {
                if let Some(plain) = hex::decoded(digits) {
                    self.inside("hex", &plain, wrapped);
                }
            }
        }
        for (layer, decode) in spellings::ALL {
            if let Some(plain) = decode(text) {
                self.inside(layer, &plain, wrapped);
            }
        }
    }

    fn unwrap_compressed(
        &mut self,
        how: CompressionFormat,
        bytes: &[u8],
        wrapped: &[&'static str],
    ) {
        if let Some(inflated) = how.inflated(bytes, self.work) {
            self.inside(how.name(), &inflated.bytes, wrapped);
        }
    }

    /// Searches the content of a layer.
    fn inside(&mut self, layer: &'static str, plain: &[u8], wrapped: &[&'static str]) {
        let Some(left) = self.work.checked_sub(plain.len()) else {
            return;
        };
        self.work = left;
        if plain.len() >= LENGTH {
            self.text(plain, &[wrapped, &[layer]].concat());
        }
    }

    /// Records a token once per place, with the least wrapping.
    fn note(&mut self, token: Token, behind: &[u8], wrapped: &[&'static str]) {
        let mention = Mention {
            token,
            known: true,
            place: self.place.clone(),
            wrapped: wrapped.to_vec(),
            added: added(&self.place, behind, wrapped),
        };
        let same =
            |other: &&mut Mention| other.token == mention.token && other.place == mention.place;
        match self.found.iter_mut().find(same) {
            Some(known) if known.wrapped.len() > mention.wrapped.len() => *known = mention,
            Some(_) => {}
            None => self.found.push(mention),
        }
    }
}

/// The text after a token: the rest of a query value or path, otherwise up to a delimiter.
fn added(place: &MentionPlace, behind: &[u8], wrapped: &[&'static str]) -> Shared {
    let alone = matches!(place, MentionPlace::Query(_) | MentionPlace::Path)
        && wrapped.iter().all(|&layer| layer == "url");
    let ends = |at: usize| match behind[at] {
        b'"' | b'\'' | b'<' | b'>' => true,
        b'\\' => behind.get(at + 1) != Some(&b'/'),
        b';' | b',' => matches!(place, MentionPlace::Header(_)),
        b'&' => *place == MentionPlace::Body,
        byte => byte.is_ascii_whitespace(),
    };
    let most = behind.len().min(ADDED);
    let end = if alone {
        most
    } else {
        (0..most).find(|&at| ends(at)).unwrap_or(most)
    };
    match place {
        MentionPlace::Query(_) if alone => cleaned(&percent::decoded_value(&behind[..end])),
        _ => cleaned(&percent::decoded(&behind[..end]))
            .replace("\\/", "/")
            .into(),
    }
}

/// Unknown tokens at the positions of payload tokens: first in `t=` or as a path segment.
fn unknown(capture: &Capture) -> Vec<Mention> {
    let mention = |place, token, added| Mention {
        token,
        known: false,
        place,
        wrapped: Vec::new(),
        added,
    };
    let mut found: Vec<Mention> = Vec::new();
    for segment in capture.path.iter().flat_map(|path| path.split('/')) {
        // Words of twelve letters are common, tokens without a digit are rare.
        if let Some((token, b"")) =
            leading(segment.as_bytes()).filter(|_| segment.bytes().any(|b| b.is_ascii_digit()))
        {
            found.push(mention(MentionPlace::Path, token, Shared::default()));
        }
    }
    for (name, value) in request::pairs(capture) {
        if name.eq_ignore_ascii_case(PARAMETER) {
            let value = percent::decoded_value(value.unwrap_or_default().as_bytes());
            if let Some((token, behind)) = leading(&value) {
                found.push(mention(
                    MentionPlace::Query(name.into()),
                    token,
                    cleaned(&behind[..behind.len().min(ADDED)]),
                ));
            }
        }
    }
    found
}

/// The token at the start of a value and the text after it, unless a letter or digit follows.
fn leading(value: &[u8]) -> Option<(Token, &[u8])> {
    let behind = value.get(LENGTH..)?;
    let ends = behind
        .first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let (_, token) = Token::windows(&value[..LENGTH]).next().filter(|_| ends)?;
    Some((token, behind))
}

fn raw_size(capture: &Capture) -> usize {
    capture.raw_base64.as_ref().map_or(0, |raw| raw.len())
}

/// True if Content-Encoding names deflate.
fn declares_deflate(capture: &Capture) -> bool {
    request::header(capture, "content-encoding")
        .is_some_and(|value| value.to_ascii_lowercase().contains("deflate"))
}

/// The text with `\uXXXX` and `\xXX` escapes decoded, if there may be any.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', text)?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let escape = match rest {
            [b'\\', b'u' | b'U', b'0', b'0', high, low, after @ ..] => Some((high, low, after)),
            [b'\\', b'x' | b'X', high, low, after @ ..] => Some((high, low, after)),
            _ => None,
        };
        let decoded = escape.and_then(|(high, low, after)| Some((hex::byte(*high, *low)?, after)));
        let (byte, after) = decoded
            .filter(|(byte, _)| byte.is_ascii())
            .unwrap_or((byte, behind));
        out.push(byte);
        rest = after;
    }
    (out.len() < text.len()).then_some(out)
}

fn cleaned(bytes: &[u8]) -> Shared {
    text::clean(&String::from_utf8_lossy(bytes))
        .into_owned()
        .into()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) mod testing {
    use std::sync::Arc;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::{PayloadBook, Shared, Token};
    use crate::oob::Payload;

    /// Payloads with these tokens.
    pub fn book(tokens: impl IntoIterator<Item = Token>) -> PayloadBook {
        let mut book = PayloadBook::default();
        book.take(tokens.into_iter().map(|token| {
            Arc::new(Payload {
                token,
                ..Payload::default()
            })
        }));
        book
    }

    /// A body in the encoding of a capture.
    pub fn base64(bytes: &[u8]) -> Shared {
        STANDARD.encode(bytes).into()
    }
}
