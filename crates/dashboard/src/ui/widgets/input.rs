//! A one-line input: the text around the cursor as far as it fits, with the cursor reversed.
//!
//! The text comes from a keyboard or a paste, so it is sanitised before it is shown, character by
//! character to know the cell of the cursor.

use crate::text::TextInput;
use crate::ui::Theme;
use ratatui::text::Span;
use scandeck_wire::text;
use std::ops::Range;

/// The current line of an input with its cursor.
pub fn input_spans(theme: Theme, input: &TextInput) -> Vec<Span<'static>> {
    input_spans_in(theme, input, u16::MAX)
}

/// As [`input_spans`], in at most `columns` columns: the beginning is cut so that the cursor
/// remains visible.
pub fn input_spans_in(theme: Theme, input: &TextInput, columns: u16) -> Vec<Span<'static>> {
    marked_spans(theme, input, None, columns)
}

/// As [`input_spans_in`], with an invalid part marked.
pub fn marked_spans(
    theme: Theme,
    input: &TextInput,
    invalid: Option<Range<usize>>,
    columns: u16,
) -> Vec<Span<'static>> {
    let (line, cursor) = (input.row(), input.cursor().1);
    let shown = |letter: char| still(letter.encode_utf8(&mut [0; 4]), input.mask());
    let mut letters: Vec<(usize, String)> = line
        .char_indices()
        .map(|(at, letter)| (at, shown(letter)))
        .collect();
    letters.push((line.len(), " ".to_owned()));
    let widths: Vec<usize> = letters
        .iter()
        .map(|(_, letter)| text::width(letter))
        .collect();
    let mut used: usize = widths.iter().take(cursor).sum();
    let mut first = 0;
    while used > usize::from(columns.saturating_sub(1)) && first < cursor {
        used -= widths[first];
        first += 1;
    }
    let style = |at: usize, byte: usize| match &invalid {
        _ if at == cursor => theme.chosen(),
        Some(invalid) if invalid.contains(&byte) || invalid.is_empty() && invalid.start == byte => {
            theme.bad()
        }
        _ => theme.text(),
    };
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (at, (byte, letter)) in letters.into_iter().enumerate().skip(first) {
        let style = style(at, byte);
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&letter),
            _ => spans.push(Span::styled(letter, style)),
        }
    }
    spans
}

/// Text without a cursor, masked if the input is masked.
pub fn still(line: &str, mask: Option<char>) -> String {
    match mask {
        Some(mask) => mask.to_string().repeat(line.chars().count()),
        None => text::clean(line).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: &TextInput, columns: u16) -> String {
        input_spans_in(Theme::default(), input, columns)
            .iter()
            .map(|span| span.content.as_ref())
            .collect()
    }

    #[test]
    fn long_input_shows_end_with_cursor_and_sanitised_letters() {
        assert_eq!(shown(&TextInput::line("abcdefgh"), 20), "abcdefgh ");
        assert_eq!(shown(&TextInput::line("abcdefgh"), 5), "efgh ");
        assert_eq!(shown(&TextInput::line("a\u{202e}b"), 20), "a<U+202E>b ");
    }

    #[test]
    fn masked_input_shows_only_its_length() {
        let mut input = TextInput::masked();
        input.set("secret");
        assert_eq!(shown(&input, 20), "•••••• ");
    }

    #[test]
    fn invalid_part_and_cursor_are_marked() {
        let theme = Theme::default();
        let marked = |text: &str, invalid: Option<Range<usize>>, columns| {
            let spans = marked_spans(theme, &TextInput::line(text), invalid, columns);
            spans
                .iter()
                .map(|span| span.content.to_string())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(marked("risc>1 x", Some(0..4), 40), "risc|>1 x| ");
        assert_eq!(marked("abcdefgh", None, 5), "efgh| ");
        assert_eq!(marked("a\u{202e}", None, 40), "a<U+202E>| ");
    }
}
