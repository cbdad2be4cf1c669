//! Notices in the lower right corner, newest lowest, at most three.
//!
//! ```text
//!   ▌ the rows above scroll up to make room         connected again
//!    p payload  enter open  ? keys     payload hit: q, SSRF, +12s, GET from …
//! ```

use crate::ui::{draw_line, plain, take_bottom, wrap};
use ratatui::prelude::{Buffer, Line, Rect, Style};
use ratatui::widgets::{Clear, Widget};
use scandeck_wire::text;

/// Notices on the screen at once.
pub const MOST: usize = 3;
/// Greatest number of lines of a notice; the rest is cut, and the last line ends with an ellipsis.
const LINES: usize = 3;
/// Columns between two notices.
const GAP: u16 = 1;
/// Between two notices: not `|`, which is a key that a notice can name.
const BETWEEN: &str = "│";
/// Notices take at most one in so many rows of a screen, but at least one.
const PART: u16 = 3;

/// The rows of the notices.
#[derive(Debug, Default)]
pub struct Toasts {
    rows: Vec<Vec<ToastLine>>,
}

/// A line of a notice, with its style and its width.
#[derive(Debug)]
struct ToastLine(Style, Line<'static>, u16);

impl Toasts {
    /// Lays out notices, oldest first. Short notices share a line. Long ones are wrapped, because
    /// the next step is at their end.
    pub fn of(notices: &[(Style, String)], screen: Rect, ellipsis: char) -> Self {
        let newest = notices.len().saturating_sub(MOST);
        let mut rows: Vec<Vec<ToastLine>> = Vec::new();
        for notice in &notices[newest..] {
            let mut lines = lines(notice, screen.width, ellipsis);
            let beside = |row: &&mut Vec<ToastLine>| {
                let used = columns(row) + lines.iter().map(|line| line.2).sum::<u16>();
                lines.len() == 1 && used < screen.width / 3 * 2
            };
            match rows.last_mut().filter(beside) {
                Some(row) => row.append(&mut lines),
                None => rows.extend(lines.into_iter().map(|line| vec![line])),
            }
        }
        let most = usize::from((screen.height / PART).max(1));
        rows.drain(..rows.len().saturating_sub(most));
        Self { rows }
    }

    pub fn rows(&self) -> u16 {
        self.rows.len() as u16
    }

    /// Columns of the last row.
    pub fn columns(&self) -> u16 {
        self.rows.last().map_or(0, |row| columns(row))
    }

    /// Draws the notices over the last rows of a screen.
    pub fn draw(&self, buf: &mut Buffer, screen: Rect) {
        let (_, rows) = take_bottom(screen, self.rows());
        for (y, row) in (rows.y..).zip(&self.rows) {
            let mut right = rows.right();
            for (place, ToastLine(style, line, columns)) in row.iter().enumerate().rev() {
                let spot = Rect {
                    x: right - columns,
                    y,
                    width: *columns,
                    height: 1,
                };
                Clear.render(spot, buf);
                buf.set_style(spot, *style);
                draw_line(
                    buf,
                    Rect {
                        x: spot.x + 1,
                        width: columns.saturating_sub(1),
                        ..spot
                    },
                    line,
                );
                right = spot.x.saturating_sub(GAP);
                if place > 0 {
                    draw_line(
                        buf,
                        Rect {
                            x: right,
                            width: GAP,
                            ..spot
                        },
                        &Line::styled(BETWEEN, *style),
                    );
                }
            }
        }
    }
}

fn columns(row: &[ToastLine]) -> u16 {
    let gaps = row.len().saturating_sub(1) as u16 * GAP;
    row.iter().map(|line| line.2).sum::<u16>() + gaps
}

/// A notice wrapped to a screen; all its lines are as wide as the longest one.
fn lines((style, notice): &(Style, String), columns: u16, ellipsis: char) -> Vec<ToastLine> {
    let width = columns.saturating_sub(2);
    let mut lines = wrap(plain(notice, *style), width);
    if lines.len() > LINES {
        lines.truncate(LINES);
        // A command that is cut must not look complete.
        let last = lines
            .last()
            .map(|line| format!("{}{ellipsis}", line.to_string().trim_end()))
            .unwrap_or_default();
        lines[LINES - 1] = Line::styled(
            text::start_with(&last, usize::from(width), ellipsis).into_owned(),
            *style,
        );
    }
    let widest = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 2;
    lines
        .into_iter()
        .map(|line| ToastLine(*style, line, widest.min(columns)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(notices: &[&str], columns: u16, rows: u16) -> Vec<String> {
        let screen = Rect::new(0, 0, columns, rows);
        let mut buf = Buffer::empty(screen);
        let notices: Vec<_> = notices
            .iter()
            .map(|text| (Style::new(), (*text).to_owned()))
            .collect();
        Toasts::of(&notices, screen, '…').draw(&mut buf, screen);
        let line = |y| {
            (0..columns)
                .map(|x| buf[(x, y)].symbol())
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        (0..rows).map(line).collect()
    }

    #[test]
    fn newest_three_notices_are_shown_with_short_ones_side_by_side() {
        let lines = shown(&["one", "two", "three of it", "four"], 20, 9);
        assert_eq!(
            lines[6..],
            [
                "                two",
                "        three of it",
                "               four"
            ]
        );
        assert!(lines[..6].iter().all(String::is_empty));
        assert_eq!(
            shown(&["one", "two"], 30, 2),
            ["".to_owned(), format!("{}one │ two", " ".repeat(20))]
        );
    }

    #[test]
    fn cut_notice_ends_with_an_ellipsis() {
        let lines = shown(
            &["the disk is full: make room and start again, or add a larger disk"],
            20,
            9,
        );
        assert_eq!(
            lines[6..],
            [" the disk is full:", " make room and", " start again, or…"]
        );
        let lines = shown(&["one two three four five"], 7, 9);
        assert_eq!(lines[6..], [" one", " two", " thre…"]);
    }

    #[test]
    fn long_notice_is_wrapped_and_leaves_most_of_screen() {
        let long = "the disk is full: make room and start again";
        let lines = shown(&[long], 20, 9);
        assert_eq!(
            lines[6..],
            [" the disk is full:", " make room and", " start again"]
        );
        assert_eq!(shown(&["one", long], 20, 3), ["", "", " start again"]);
        assert_eq!(shown(&[long], 1, 1), [""]);
    }
}
