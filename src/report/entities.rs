//! Decodes HTML entities in evidence before a report escapes it for its format.
//!
//! Table cells of evidence contain entities on the wire (`hosted-service.md`, Findings); escaping them again would show
//! `&amp;` instead of `&`. Evidence that is one text is unchanged, because entities may be part of the proof.

use crate::contract::EvidenceView;

/// Decodes the cells of a table; other evidence is unchanged.
pub fn decoded(view: EvidenceView) -> EvidenceView {
    let all = |cells: Vec<String>| cells.iter().map(|cell| decode(cell)).collect::<Vec<_>>();
    match view {
        EvidenceView::Table { headers, rows } => {
            EvidenceView::Table { headers: all(headers), rows: rows.into_iter().map(all).collect() }
        }
        other => other,
    }
}

/// Decodes `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and numeric references; other text is unchanged.
fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // A longer search for the semicolon would be quadratic for a text of ampersands.
        let end = rest.bytes().take(12).position(|b| b == b';');
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, c)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_replaces_entities_once() {
        for (given, plain) in [
            ("a&amp;b", "a&b"),
            ("&lt;b&gt; &quot;&#39;&#x41;", "<b> \"'A"),
            ("&amp;lt;", "&lt;"),
            ("?a=1&b=2;&&", "?a=1&b=2;&&"),
            ("&#xD800;é&", "&#xD800;é&"),
            ("&éééééééé;", "&éééééééé;"),
        ] {
            assert_eq!(decode(given), plain);
        }
    }
}
