//! A one-line input drawn by hand: the text around the cursor as far as it fits, the cursor reversed.
//!
//! The text comes from a keyboard or a paste, so it is cleaned like any other before it is shown. Characters are
//! cleaned one by one to know which cell the cursor stands on.

use ratatui::text::Span;
use tui_textarea::TextArea;

use crate::text;
use crate::view::theme::Theme;

/// The spans of an input's present line with its cursor.
pub fn input_spans(theme: Theme, input: &TextArea<'_>) -> Vec<Span<'static>> {
    let cursor = input.cursor();
    let line = input.lines().get(cursor.0).map(String::as_str).unwrap_or_default();
    spans(theme, line, cursor.1, input.mask_char())
}

/// As [`input_spans`], of at most `columns` columns: the beginning gives way so that the cursor stays visible.
pub fn input_spans_in(theme: Theme, input: &TextArea<'_>, columns: u16) -> Vec<Span<'static>> {
    let cursor = input.cursor();
    let line = input.lines().get(cursor.0).map(String::as_str).unwrap_or_default();
    let before: Vec<char> = line.chars().take(cursor.1).collect();
    let room = usize::from(columns).saturating_sub(1);
    let mut skipped = 0;
    let mut used: usize = before.iter().map(|&c| shown_width(c, input.mask_char())).sum();
    while used > room && skipped < before.len() {
        used -= shown_width(before[skipped], input.mask_char());
        skipped += 1;
    }
    let rest: String = line.chars().skip(skipped).collect();
    spans(theme, &rest, cursor.1 - skipped, input.mask_char())
}

/// Text without a cursor, masked where it must be.
pub fn still(line: &str, mask: Option<char>) -> String {
    match mask {
        Some(mask) => mask.to_string().repeat(line.chars().count()),
        None => text::clean(line).into_owned(),
    }
}

fn shown_width(c: char, mask: Option<char>) -> usize {
    if mask.is_some() { 1 } else { text::width(&text::clean(c.encode_utf8(&mut [0; 4]))) }
}

fn spans(theme: Theme, line: &str, cursor: usize, mask: Option<char>) -> Vec<Span<'static>> {
    let at = line.char_indices().nth(cursor).map_or(line.len(), |(at, _)| at);
    let next = line[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let under = if next > at { still(&line[at..next], mask) } else { " ".to_owned() };
    vec![
        Span::raw(still(&line[..at], mask)),
        Span::styled(under, theme.chosen()),
        Span::raw(still(&line[next..], mask)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> TextArea<'static> {
        let mut input = TextArea::new(vec![text.to_owned()]);
        input.move_cursor(tui_textarea::CursorMove::End);
        input
    }

    fn shown(input: &TextArea<'_>, columns: u16) -> String {
        input_spans_in(Theme::default(), input, columns).iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn the_end_with_the_cursor_stays_visible_and_hostile_letters_are_shown() {
        assert_eq!(shown(&typed("abcdefgh"), 20), "abcdefgh ");
        assert_eq!(shown(&typed("abcdefgh"), 5), "efgh ");
        assert_eq!(shown(&typed("a\u{202e}b"), 20), "a<U+202E>b ");
    }

    #[test]
    fn a_masked_input_shows_only_its_length() {
        let mut input = typed("secret");
        input.set_mask_char('•');
        assert_eq!(shown(&input, 20), "•••••• ");
    }
}
