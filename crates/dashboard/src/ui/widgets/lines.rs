//! One-line drawing: a left and a right part.

use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_wire::text;

/// Draws a line into the first row of an area, clipped to the area.
pub fn draw_line(buf: &mut Buffer, area: Rect, line: &Line<'_>) {
    if area.height > 0 && area.width > 0 {
        set_line(buf, area.x, area.y, line, area.width);
    }
}

/// Lines below each other, as far as there is room.
pub fn draw_lines(buf: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    for (y, line) in (0..area.height).zip(lines) {
        draw_line(buf, row_of(area, y), line);
    }
}

/// The columns of a line.
pub fn width_of(line: &Line<'_>) -> usize {
    line.spans
        .iter()
        .map(|span| text::width(&span.content))
        .sum()
}

/// As the function of ratatui, but without segmenting ASCII text into graphemes: most text is
/// ASCII.
fn set_line(buf: &mut Buffer, mut x: u16, y: u16, line: &Line<'_>, width: u16) {
    let end = x.saturating_add(width).min(buf.area.right());
    for span in line.spans.iter().filter(|span| !span.content.is_empty()) {
        if x >= end {
            return;
        }
        let (room, style) = (usize::from(end - x), line.style.patch(span.style));
        if !span
            .content
            .bytes()
            .all(|byte| (b' '..=b'~').contains(&byte))
        {
            x = buf.set_stringn(x, y, &span.content, room, style).0;
            continue;
        }
        let (from, shown) = (buf.index_of(x, y), span.content.len().min(room));
        for (cell, byte) in buf.content[from..from + shown]
            .iter_mut()
            .zip(span.content.bytes())
        {
            cell.set_char(char::from(byte)).set_style(style);
        }
        x += shown as u16;
    }
}

/// The row with this index; empty if the area has fewer rows.
pub fn row_of(area: Rect, row: u16) -> Rect {
    if row < area.height {
        Rect::new(area.x, area.y + row, area.width, 1)
    } else {
        Rect::new(area.x, area.y, 0, 0)
    }
}

/// Draws `left` and `right` in one row. The right part keeps its width as long as the row has it;
/// the left part is cut.
pub fn draw_sides(buf: &mut Buffer, area: Rect, left: &Line<'_>, right: &Line<'_>) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    let right_width = width_of(right) as u16;
    let shown = if right_width < area.width {
        right_width
    } else {
        0
    };
    if shown > 0 {
        set_line(buf, area.x + area.width - shown, area.y, right, shown);
    }
    let room = area.width - shown - u16::from(shown > 0);
    set_line(buf, area.x, area.y, left, room);
}

/// The line; one that is too wide ends in an ellipsis.
pub fn cut_line<'a>(line: Line<'a>, room: usize, ellipsis: char) -> Line<'a> {
    if width_of(&line) <= room {
        return line;
    }
    let (mut left, mut cut) = (room, Line::default());
    for span in line.spans {
        let width = text::width(&span.content);
        if width >= left {
            let start = text::start_with(&span.content, left, ellipsis).into_owned();
            cut.push_span(Span::styled(start, span.style));
            break;
        }
        left -= width;
        cut.push_span(span);
    }
    cut
}

/// Styles a whole area over what is drawn.
pub fn restyle(buf: &mut Buffer, area: Rect, style: Style) {
    buf.set_style(area.intersection(buf.area), style);
}

/// Joins the groups that are not empty with a separator.
pub fn joined<'a>(
    groups: impl IntoIterator<Item = Vec<Span<'a>>>,
    between: &'static str,
) -> Line<'a> {
    let mut line = Line::default();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !line.spans.is_empty() {
            line.push_span(Span::raw(between));
        }
        line.extend(group);
    }
    line
}

/// As many parts of a text as fit, from the left, but at least the first one.
pub fn parts_within<'a>(text: &'a str, separator: &str, room: usize) -> &'a str {
    let between = format!(" {separator} ");
    let mut shown = text;
    while Span::raw(shown).width() > room {
        let Some((fewer, _)) = shown.rsplit_once(&between) else {
            break;
        };
        shown = fewer;
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ratatui::style::Stylize;

    proptest! {
        #[test]
        fn line_is_drawn_as_by_ratatui(texts in proptest::collection::vec("[a-z ~é漢👍🏽\u{300}]{0,9}", 0..4), width in 0u16..24) {
            let styles = [Style::new(), Style::new().bold(), Style::new().red().on_blue()];
            let spans = texts.iter().zip(styles.iter().cycle()).map(|(text, style)| Span::styled(text.as_str(), *style));
            let line = Line::from(spans.collect::<Vec<_>>()).dim();
            let area = Rect::new(0, 0, 20, 1);
            let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
            draw_line(&mut ours, Rect { x: 1, width, ..area }, &line);
            theirs.set_line(1, 0, &line, width);
            prop_assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn parts_without_room_are_omitted_from_right() {
        let text = "1 logger · 600 captures · 400 payloads waiting";
        let shown = |room| parts_within(text, "·", room);
        assert_eq!(
            (shown(46), shown(45), shown(22)),
            (text, "1 logger · 600 captures", "1 logger")
        );
        assert_eq!(shown(3), "1 logger");
    }
}
