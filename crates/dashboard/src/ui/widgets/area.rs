//! Values over time as a filled area: two values and four dots in a cell of braille, or one value
//! and `#` in terminals without Unicode.

use crate::ui::Theme;
use ratatui::prelude::{Buffer, Rect, Style, Widget};
use ratatui::symbols::bar;
use ratatui::widgets::Sparkline;

/// For terminals without Unicode.
pub(crate) const ASCII: bar::Set<'static> = bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "#",
    five_eighths: "#",
    half: "#",
    three_eighths: ".",
    one_quarter: ".",
    one_eighth: ".",
    empty: " ",
};
/// The dots of the left and of the right half of a cell, filled from below.
const LEFT: [u32; 5] = [0, 0x40, 0x44, 0x46, 0x47];
const RIGHT: [u32; 5] = [0, 0x80, 0xa0, 0xb0, 0xb8];
/// The cell without dots.
const BLANK: u32 = 0x2800;

/// Number of values that fit into this number of columns.
pub(crate) fn values_in(theme: Theme, columns: u16) -> usize {
    usize::from(columns) * if theme.glyphs.boxes { 2 } else { 1 }
}

/// Draws values from the left. `most` fills the height; a value above zero has at least one dot.
pub(crate) fn draw_area(
    theme: Theme,
    buf: &mut Buffer,
    area: Rect,
    values: &[u64],
    most: u64,
    style: Style,
) {
    if area.is_empty() {
        return;
    }
    if !theme.glyphs.boxes {
        return Sparkline::default()
            .data(values)
            .max(most)
            .bar_set(ASCII)
            .style(style)
            .render(area, buf);
    }
    let levels = u64::from(area.height) * 4;
    let dots = |value: u64| {
        if value == 0 {
            0
        } else {
            (value.saturating_mul(levels) / most.max(1)).clamp(1, levels)
        }
    };
    for (x, pair) in (area.left()..area.right()).zip(values.chunks(2)) {
        let [left, right] = [0, 1].map(|half| pair.get(half).map_or(0, |value| dots(*value)));
        for (row, y) in (area.top()..area.bottom()).rev().enumerate() {
            let in_row = |dots: u64| dots.saturating_sub(row as u64 * 4).min(4) as usize;
            let cell = BLANK | LEFT[in_row(left)] | RIGHT[in_row(right)];
            if let Some(symbol) = char::from_u32(cell).filter(|_| cell != BLANK) {
                buf[(x, y)].set_char(symbol).set_style(style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(theme: Theme, values: &[u64], most: u64) -> Vec<String> {
        let area = Rect::new(0, 0, 3, 2);
        let mut buf = Buffer::empty(area);
        draw_area(theme, &mut buf, area, values, most, Style::new());
        (0..2)
            .map(|y| (0..3).map(|x| buf[(x, y)].symbol()).collect())
            .collect()
    }

    #[test]
    fn area_has_two_values_in_a_cell_and_four_dots_in_a_row() {
        assert_eq!(
            drawn(Theme::default(), &[0, 1, 2, 4, 8, 800], 8),
            ["  ⣿", "⢀⣼⣿"]
        );
        assert_eq!(
            drawn(Theme::default(), &[1], 1_000),
            ["   ", "⡀  "],
            "more than zero is at least a dot"
        );
        assert_eq!(
            drawn(Theme::default(), &[0, 0, u64::MAX], 0),
            [" ⡇ ", " ⡇ "]
        );
    }

    #[test]
    fn area_without_rows_draws_nothing() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 2));
        for theme in [Theme::default(), Theme::default().with_ascii()] {
            draw_area(
                theme,
                &mut buf,
                Rect::new(0, 0, 3, 0),
                &[1, 2],
                2,
                Style::new(),
            );
        }
        assert_eq!(buf, Buffer::empty(Rect::new(0, 0, 3, 2)));
    }

    #[test]
    fn area_without_unicode_is_ascii() {
        assert_eq!(
            drawn(Theme::default().with_ascii(), &[0, 8, 800], 8),
            [" ##", " ##"]
        );
    }
}
