//! Other spellings of single characters: HTML entities, quoted-printable, UTF-16, and text that
//! continues on further lines.
//!
//! Each function returns the decoded text if it differs. Only ASCII is decoded: the result is
//! searched, not shown.

use super::hex;

/// Decodes one spelling; `None` if the text does not use it.
type Decoder = fn(&[u8]) -> Option<Vec<u8>>;

/// Name and decoder of each spelling.
pub const ALL: [(&str, Decoder); 4] = [
    ("html", entities),
    ("quoted-printable", quoted_printable),
    ("lines", joined_lines),
    ("utf-16", without_nul),
];

/// Decodes `&#115;` and `&#x73;`, also without the semicolon.
fn entities(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(text, b"&#")?;
    decoded(text, |rest| {
        let (radix, digits) = match rest.strip_prefix(b"&#")? {
            [b'x' | b'X', digits @ ..] => (16, digits),
            digits => (10, digits),
        };
        // Leading zeros are allowed; seven digits name every character.
        let length = digits
            .iter()
            .take(7)
            .take_while(|digit| char::from(**digit).is_digit(radix))
            .count();
        let (number, after) = digits.split_at(length);
        let byte = u8::from_str_radix(std::str::from_utf8(number).ok()?, radix)
            .ok()
            .filter(u8::is_ascii)?;
        Some((Some(byte), after.strip_prefix(b";").unwrap_or(after)))
    })
}

/// Decodes `=73` and removes soft line breaks.
fn quoted_printable(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'=', text)?;
    decoded(text, |rest| match rest {
        [b'=', b'\r', b'\n', after @ ..] | [b'=', b'\n', after @ ..] => Some((None, after)),
        [b'=', high, low, after @ ..] => {
            Some((Some(hex::byte(*high, *low).filter(u8::is_ascii)?), after))
        }
        _ => None,
    })
}

/// Removes line breaks with the blanks around them, as in folded lines.
fn joined_lines(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr2(b'\n', b'\r', text)?;
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    Some(lines.flat_map(<[u8]>::trim_ascii).copied().collect())
}

/// Removes NUL, which leaves the ASCII characters of UTF-16 and UTF-32 in either byte order.
fn without_nul(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(0, text)?;
    Some(text.iter().copied().filter(|byte| *byte != 0).collect())
}

/// The text with what `decode` finds at each position: its byte, if any, and the text after it.
fn decoded(text: &[u8], decode: impl Fn(&[u8]) -> Option<(Option<u8>, &[u8])>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, after) = decode(rest).unwrap_or((Some(first), behind));
        out.extend(byte);
        rest = after;
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_is_decoded_and_other_text_is_not() {
        assert_eq!(
            entities(b"a&#115;&#x73&#0115;b").as_deref(),
            Some(b"asssb".as_slice())
        );
        assert_eq!(
            quoted_printable(b"a=73=\r\nb=\nc").as_deref(),
            Some(b"asbc".as_slice())
        );
        assert_eq!(
            joined_lines(b"ab\r\n\t cd \ne").as_deref(),
            Some(b"abcde".as_slice())
        );
        assert_eq!(
            without_nul(b"\xff\xfea\0b\0").as_deref(),
            Some(b"\xff\xfeab".as_slice())
        );
        for plain in ["", "abc", "&#;", "&#x;", "&#9999999;", "a=", "a=zz", "&amp"] {
            assert!(
                ALL.iter()
                    .all(|(_, decode)| decode(plain.as_bytes()).is_none()),
                "{plain}"
            );
        }
    }
}
