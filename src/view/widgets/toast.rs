//! Notices in the lower right corner, newest lowest, at most three.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use super::lines::draw_line;
use super::wrap::{plain, wrap};

/// How many are shown at once.
pub const MOST: usize = 3;
/// Lines of one; what has no room in them is cut.
const LINES: usize = 3;

/// Draws notices over the last rows of `area`, right-aligned. Rows in `spare` (absolute, such as the selected row)
/// are left free: a notice that would cover it goes above it. A long one is wrapped: what to do next stands at its end.
pub fn draw_toasts(buf: &mut Buffer, area: Rect, spare: Option<u16>, notices: &[(Style, String)]) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let mut y = area.y + area.height;
    for (style, notice) in notices.iter().rev().take(MOST) {
        let mut lines = wrap(plain(notice, *style), area.width - 2);
        lines.truncate(LINES.min(usize::from(area.height)));
        let rows = lines.len() as u16;
        let covers = |top: u16| spare.is_some_and(|spare| (top..top + rows).contains(&spare));
        let above = |bottom: u16| bottom.checked_sub(rows).filter(|&top| top >= area.y);
        let free = match (above(y), spare) {
            (Some(top), Some(spare)) if covers(top) => above(spare),
            (top, _) => top,
        };
        let Some(top) = free else { return };
        y = top;
        let width = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 2;
        let spot = Rect::new(area.x + area.width - width, top, width, rows);
        Clear.render(spot, buf);
        buf.set_style(spot, *style);
        for (row, line) in (top..).zip(lines) {
            let inner = Rect { x: spot.x + 1, y: row, width: width - 1, height: 1 };
            draw_line(buf, inner, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_stand_at_the_end_and_never_over_the_selection() {
        let area = Rect::new(0, 0, 20, 4);
        let mut buf = Buffer::empty(area);
        let notices = ["one", "two", "three", "four"].map(|text| (Style::new(), text.to_owned()));
        draw_toasts(&mut buf, area, Some(2), &notices);
        let lines: Vec<String> =
            (0..4).map(|y| (0..20).map(|x| buf[(x, y)].symbol()).collect::<String>().trim().to_owned()).collect();
        assert_eq!(lines, ["two", "three", "", "four"]);
    }

    #[test]
    fn a_long_notice_is_wrapped_so_that_its_end_is_read() {
        let area = Rect::new(0, 0, 20, 5);
        let mut buf = Buffer::empty(area);
        let long = "the disk is full: make room and start again".to_owned();
        draw_toasts(&mut buf, area, Some(3), &[(Style::new(), long)]);
        let lines: Vec<String> =
            (0..5).map(|y| (0..20).map(|x| buf[(x, y)].symbol()).collect::<String>().trim().to_owned()).collect();
        assert_eq!(lines, ["the disk is full:", "make room and", "start again", "", ""], "above the selected row");
    }
}
