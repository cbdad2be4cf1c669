//! One-line drawing: left part, right part, never a cut word on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Draws a line into the first row of an area, clipped to it.
pub fn draw_line(buf: &mut Buffer, area: Rect, line: &Line<'_>) {
    if area.height > 0 && area.width > 0 {
        buf.set_line(area.x, area.y, line, area.width);
    }
}

/// The `row`th row of an area; empty when it has fewer.
pub fn row_of(area: Rect, row: u16) -> Rect {
    if row < area.height { Rect::new(area.x, area.y + row, area.width, 1) } else { Rect::new(area.x, area.y, 0, 0) }
}

/// Draws `left` and `right` in one row. The right one keeps its width as long as the row has it; the left one ends
/// before it.
pub fn draw_sides(buf: &mut Buffer, area: Rect, left: &Line<'_>, right: &Line<'_>) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    let wanted = right.width() as u16;
    let shown = if wanted < area.width { wanted } else { 0 };
    if shown > 0 {
        buf.set_line(area.x + area.width - shown, area.y, right, shown);
    }
    let room = area.width - shown - u16::from(shown > 0);
    buf.set_line(area.x, area.y, left, room);
}

/// Styles a whole area over what is drawn.
pub fn restyle(buf: &mut Buffer, area: Rect, style: Style) {
    buf.set_style(area.intersection(buf.area), style);
}

/// Joins groups of spans with a separator between those that are there.
pub fn joined<'a>(groups: impl IntoIterator<Item = Vec<Span<'a>>>, between: &'static str) -> Line<'a> {
    let mut line = Line::default();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !line.spans.is_empty() {
            line.push_span(Span::raw(between));
        }
        line.extend(group);
    }
    line
}

/// As many parts of a text as there is room for, from the left; the first one in any case.
pub fn parts_within<'a>(text: &'a str, separator: &str, room: usize) -> &'a str {
    let between = format!(" {separator} ");
    let mut shown = text;
    while Span::raw(shown).width() > room {
        let Some((fewer, _)) = shown.rsplit_once(&between) else { break };
        shown = fewer;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_without_room_are_left_out_whole_from_the_right() {
        let text = "1 logger · 600 captures · 400 payloads waiting";
        let shown = |room| parts_within(text, "·", room);
        assert_eq!((shown(46), shown(45), shown(22)), (text, "1 logger · 600 captures", "1 logger"));
        assert_eq!(shown(3), "1 logger");
    }
}
