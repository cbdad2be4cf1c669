//! Notices in the lower right corner, newest lowest, at most three.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::lines::draw_line;
use crate::text;

/// How many are shown at once.
pub const MOST: usize = 3;

/// Draws notices over the last rows of `area`, right-aligned. Rows in `spare` (absolute, such as the selected row)
/// are left free: a notice that would cover it goes above it.
pub fn draw_toasts(buf: &mut Buffer, area: Rect, spare: Option<u16>, notices: &[(Style, String)]) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let mut y = area.y + area.height;
    for (style, notice) in notices.iter().rev().take(MOST) {
        let Some(mut row) = y.checked_sub(1).filter(|&row| row >= area.y) else { return };
        if spare == Some(row) {
            match row.checked_sub(1).filter(|&row| row >= area.y) {
                Some(above) => row = above,
                None => return,
            }
        }
        y = row;
        let words = text::start(notice, usize::from(area.width) - 2);
        let width = text::width(&words) as u16 + 2;
        let spot = Rect::new(area.x + area.width - width, row, width, 1);
        Clear.render(spot, buf);
        draw_line(buf, spot, &Line::from(Span::styled(format!(" {words} "), *style)));
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
}
