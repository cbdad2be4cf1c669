//! HTML character references, decoded once: `&lt;`, `&#27;`, `&#x1b;`.
//!
//! Only references that end with `;` are decoded, so query strings (`a=1&lt=2`) remain. Names are
//! those that encoders produce for text; unknown names remain. The result is not decoded again.
//!
//! Table cells of evidence contain character references on the wire (`hosted-service.md`,
//! Findings).

use std::borrow::Cow;

/// Longest reference looked at, without `&` and `;`.
const LONGEST: usize = 10;

#[rustfmt::skip]
const NAMES: &[(&str, char)] = &[
    ("amp", '&'), ("apos", '\''), ("bull", '•'), ("cent", '¢'), ("copy", '©'), ("deg", '°'), ("euro", '€'),
    ("gt", '>'), ("hellip", '…'), ("laquo", '«'), ("ldquo", '“'), ("lpar", '('), ("lsquo", '‘'), ("lt", '<'),
    ("mdash", '—'), ("middot", '·'), ("nbsp", ' '), ("ndash", '–'), ("NewLine", '\n'), ("para", '¶'),
    ("pound", '£'), ("quot", '"'), ("raquo", '»'), ("rdquo", '”'), ("reg", '®'), ("rlm", '\u{200f}'),
    ("lrm", '\u{200e}'), ("rpar", ')'), ("rsquo", '’'), ("sect", '§'), ("shy", '\u{ad}'), ("sol", '/'),
    ("Tab", '\t'), ("times", '×'), ("trade", '™'), ("yen", '¥'), ("zwj", '\u{200d}'), ("zwnj", '\u{200c}'),
];

/// The text with its character references replaced; borrowed when there is none. Controls are *not*
/// cleaned.
pub fn decode_entities(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        match reference(&rest[at + 1..]) {
            Some((c, length)) => {
                out.push_str(&rest[..at]);
                out.push(c);
                rest = &rest[at + 1 + length..];
            }
            // Left in place; the next search starts behind it.
            None if out.is_empty() && !rest[at + 1..].contains('&') => break,
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of a reference, and its length with `;`.
fn reference(after: &str) -> Option<(char, usize)> {
    let end = after
        .bytes()
        .take(LONGEST + 1)
        .position(|byte| byte == b';')?;
    let name = &after[..end];
    let c = match name.strip_prefix('#') {
        Some(number) => numeric(number)?,
        None => NAMES.iter().find(|known| known.0 == name)?.1,
    };
    Some((c, end + 1))
}

fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    // Invalid code points become the replacement character, as in browsers.
    code.ok()
        .map(|code| char::from_u32(code).unwrap_or('\u{fffd}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_decode_once() {
        assert_eq!(
            decode_entities("&lt;a href=&quot;x&quot;&gt;&#39;&#x27;"),
            "<a href=\"x\">''"
        );
        assert_eq!(decode_entities("&amp;lt;"), "&lt;");
        assert_eq!(decode_entities("&lt;b&gt; &quot;&#39;&#x41;"), "<b> \"'A");
        assert_eq!(decode_entities("?a=1&b=2;&&"), "?a=1&b=2;&&");
        assert_eq!(decode_entities("&#xD800;é&"), "\u{fffd}é&");
        assert_eq!(decode_entities("&éééééééé;"), "&éééééééé;");
    }

    #[test]
    fn invalid_entities_remain() {
        for text in [
            "a=1&lt=2",
            "&",
            "&;",
            "&#;",
            "&nosuch;",
            "R&D",
            "&#xzz;",
            "&&&",
            "a & b & c",
        ] {
            assert_eq!(decode_entities(text), text);
        }
        assert_eq!(decode_entities("& &lt;"), "& <");
        assert_eq!(decode_entities("&#55555555;"), "\u{fffd}");
    }
}
