//! Widths and shortening in terminal columns, by grapheme cluster as the cells are filled.
//!
//! Names are shortened in the middle (`stag…acme.test`), because both ends identify them; sentences
//! at the end.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns the text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.graphemes(true).map(UnicodeWidthStr::width).sum()
    }
}

/// At most `columns` of the text, shortened in the middle with a one-column ellipsis.
pub fn middle_with(text: &str, columns: usize, ellipsis: char) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    if columns < 3 {
        return start_with(text, columns, ellipsis);
    }
    // The end of host names and paths is more significant: it gets the odd column.
    let head = take(text.graphemes(true), (columns - 1) / 2);
    let tail = take(text.graphemes(true).rev(), columns - 1 - head.1);
    Cow::Owned(format!(
        "{}{ellipsis}{}",
        &text[..head.0],
        &text[text.len() - tail.0..]
    ))
}

/// At most `columns` of the text, shortened at the end with `…`.
pub fn start(text: &str, columns: usize) -> Cow<'_, str> {
    start_with(text, columns, '…')
}

/// Like [`start`], with another one-column ellipsis.
pub fn start_with(text: &str, columns: usize, ellipsis: char) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        1 => Cow::Owned(ellipsis.to_string()),
        _ => Cow::Owned(format!(
            "{}{ellipsis}",
            &text[..take(text.graphemes(true), columns - 1).0]
        )),
    }
}

/// Bytes and columns of the graphemes that fit.
fn take<'a>(graphemes: impl Iterator<Item = &'a str>, columns: usize) -> (usize, usize) {
    let (mut bytes, mut used) = (0, 0);
    for grapheme in graphemes {
        let next = used + grapheme.width();
        if next > columns {
            break;
        }
        bytes += grapheme.len();
        used = next;
    }
    (bytes, used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn middle(text: &str, columns: usize) -> Cow<'_, str> {
        middle_with(text, columns, '…')
    }

    #[test]
    fn names_shorten_in_middle_and_sentences_at_end() {
        assert_eq!(middle("staging.acme.test", 14), "stagin…me.test");
        assert_eq!(middle("short", 5), "short");
        assert_eq!(middle("日本語テスト", 7), "日…スト");
        assert_eq!(start("Directory listing", 10), "Directory…");
        assert_eq!(
            (middle("abc", 1), middle("abc", 2), middle("abc", 0)),
            ("…".into(), "a…".into(), "".into())
        );
    }

    proptest! {
        #[test]
        fn shortened_text_fits_columns(text in any::<String>(), columns in 0usize..40) {
            let text = crate::text::clean(&text);
            prop_assert!(width(&middle(&text, columns)) <= columns);
            prop_assert!(width(&start(&text, columns)) <= columns);
        }
    }
}
