//! What helps with a query: the line it is typed in, under it why it is none, what can be written, or what each part of
//! it hides; and for an empty list the parts that hide its rows.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui_textarea::TextArea;

use super::list::ListPane;
use crate::app::modal::{Line as Typed, LinePurpose, Modal};
use crate::query::explain::Why;
use crate::text;
use crate::view::context::{Cx, words};
use crate::view::format;
use crate::view::layout::indented;
use crate::view::theme::Theme;
use crate::view::widgets::lines::{draw_line, draw_sides, restyle, row_of};

/// Most parts of a query that are explained.
const PARTS: usize = 6;

/// The line in which a pane's filter is being typed.
pub(super) fn typed<'a>(cx: &Cx<'a>, pane: &ListPane<'_>) -> Option<&'a Typed> {
    match cx.model.modals.last() {
        Some(Modal::Line(typed)) if typed.purpose == LinePurpose::Filter(pane.pane) => Some(typed),
        _ => None,
    }
}

/// What is typed, with what is wrong in it marked: as much around the cursor as fits.
pub(super) fn typed_spans(theme: Theme, typed: &Typed, columns: u16) -> Vec<Span<'static>> {
    query_spans(theme, &typed.input, typed.help.error.as_ref().map(|error| error.at.clone()), columns)
}

fn query_spans(theme: Theme, input: &TextArea<'_>, wrong: Option<Range<usize>>, columns: u16) -> Vec<Span<'static>> {
    let line = input.lines().first().map(String::as_str).unwrap_or_default();
    let cursor = input.cursor().1;
    let shown = |letter: char| text::clean(letter.encode_utf8(&mut [0; 4])).into_owned();
    let mut letters: Vec<(usize, String)> = line.char_indices().map(|(at, letter)| (at, shown(letter))).collect();
    letters.push((line.len(), " ".to_owned()));
    let width = |part: &[(usize, String)]| part.iter().map(|(_, letter)| text::width(letter)).sum::<usize>();
    let mut first = 0;
    while first < cursor && width(&letters[first..=cursor.min(letters.len() - 1)]) > usize::from(columns.max(1)) {
        first += 1;
    }
    let style = |at: usize, byte: usize| match &wrong {
        _ if at == cursor => theme.chosen(),
        Some(wrong) if wrong.contains(&byte) || wrong.is_empty() && wrong.start == byte => theme.bad(),
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

/// Draws what helps over the last rows of the list while its filter is typed; over the first where the selected row is
/// among the last. `selected` is its place on the screen.
pub(super) fn draw_help(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: &ListPane<'_>, selected: usize) {
    let Some(typed) = typed(cx, pane) else { return };
    let (theme, help) = (cx.theme, &typed.help);
    let rows: Vec<(Line<'static>, Line<'static>)> = if let Some(error) = &help.error {
        vec![(
            words(format!("{} {}", theme.glyphs.failed, text::clean(&error.to_string())), theme.bad()),
            Line::default(),
        )]
    } else if !help.offers.is_empty() {
        let taken = help.taken.as_ref().map(|(_, at)| *at);
        let row = |(at, offer): (usize, &crate::query::complete::Completion)| {
            let (mark, style) =
                if taken == Some(at) { (theme.glyphs.selected, theme.strong()) } else { (" ", theme.text()) };
            (
                words(format!("{mark}{}", text::clean(&offer.text)), style),
                words(text::clean(&offer.note).into_owned(), theme.dim()),
            )
        };
        help.offers.iter().enumerate().map(row).collect()
    } else {
        let hides = |why: &&Why| why.hides > 0;
        pane.why
            .iter()
            .filter(hides)
            .take(PARTS)
            .map(|why| (words(hidden_by(why), theme.text()), Line::default()))
            .collect()
    };
    let count = rows.len().min(usize::from(area.height / 2));
    let last = usize::from(area.height) - count;
    let top = if selected < last { last } else { 0 };
    for (y, (left, right)) in rows.into_iter().take(count).enumerate() {
        let row = row_of(area, (top + y) as u16);
        draw_line(buf, row, &words(" ".repeat(usize::from(row.width)), theme.text()));
        draw_sides(buf, indented(row), &left, &right);
        restyle(buf, row, theme.field(false));
    }
}

/// `risk>=high hides 12`
fn hidden_by(why: &Why) -> String {
    format!("{} hides {}", text::clean(&why.part), format::thousands(why.hides as u64))
}

/// What an empty list says of the parts of its query that hide rows which would be there without them.
pub(super) fn why_lines(cx: &Cx<'_>, why: &[Why]) -> Vec<Line<'static>> {
    let alone = why.iter().filter(|why| why.hides > 0).take(PARTS);
    alone
        .map(|why| {
            let rows = format::thousands(why.hides as u64);
            words(format!("Without {} there would be {rows}.", text::clean(&why.part)), cx.theme.text())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::modal::line_with;

    #[test]
    fn the_cursor_and_what_is_wrong_are_marked_and_the_end_stays_visible() {
        let theme = Theme::default();
        let shown = |text: &str, wrong: Option<Range<usize>>, columns| {
            let spans = query_spans(theme, &line_with(text), wrong, columns);
            spans.iter().map(|span| span.content.to_string()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(shown("risc>1 x", Some(0..4), 40), "risc|>1 x| ");
        assert_eq!(shown("abcdefgh", None, 5), "efgh| ");
        assert_eq!(shown("a\u{202e}", None, 40), "a<U+202E>| ");
    }
}
