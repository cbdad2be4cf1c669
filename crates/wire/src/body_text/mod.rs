//! The body of an HTTP response as text, as a browser reads it. Scans and proofs read bodies alike,
//! so that their texts can be compared.
//!
//! ```text
//!   Content-Type ─► media_type.rs: type, charset ─┬─► encoding.rs ─► text
//!   first bytes of a body without a type ─────────┘
//! ```

mod encoding;
mod media_type;

use std::borrow::Cow;

pub use media_type::{media_type, values};

/// The headers that say what a body is; the lines of each are joined by commas, and it is empty if
/// it is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyHeaders<'h> {
    pub content_type: &'h str,
    pub content_type_options: &'h str,
}

/// The body as text, in the encoding that a browser would choose.
pub fn text<'b>(body: &'b [u8], headers: BodyHeaders<'_>) -> Cow<'b, str> {
    let declared = media_type::charset(headers.content_type);
    encoding::decode(body, declared.as_deref(), is_html(body, headers))
}

/// Whether the content type is HTML; without a type, whether a browser would take the body for
/// HTML.
pub fn is_html(body: &[u8], headers: BodyHeaders<'_>) -> bool {
    match media_type(headers.content_type).as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "*/*" | "unknown/unknown" | "application/unknown" => {
            let options = headers.content_type_options.trim().to_ascii_lowercase();
            !options.starts_with("nosniff") && encoding::looks_like_html(body)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_element_counts_in_html_and_in_a_body_that_begins_like_it() {
        let body = b"<html><meta charset=latin1>\xf6";
        let last = |content_type, content_type_options| {
            let headers = BodyHeaders {
                content_type,
                content_type_options,
            };
            text(body, headers).chars().last()
        };
        assert_eq!(last("text/html", ""), Some('ö'));
        assert_eq!(last("text/html; charset=windows-1251", ""), Some('ц'));
        assert_eq!(last("", ""), Some('ö'));
        assert_eq!(last("", "nosniff"), Some('\u{fffd}'));
        assert_eq!(last("text/plain", ""), Some('\u{fffd}'));
    }
}
