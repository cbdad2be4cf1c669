//! A progress bar in eighths of a cell: `███████▎░░░░`.

use crate::ui::Theme;
use ratatui::text::Span;

/// A bar of `width` columns at `percent` (clamped to 0..=100). It is empty only at 0% and full only
/// at 100%.
pub fn bar(theme: Theme, percent: i64, width: u16) -> [Span<'static>; 2] {
    let percent = percent.clamp(0, 100) as usize;
    let (glyphs, cells) = (theme.glyphs, width as usize);
    let steps = glyphs.eighths.len();
    let mut filled = cells * steps * percent / 100;
    if percent > 0 && cells > 0 {
        filled = filled.max(1);
    }
    if percent < 100 {
        filled = filled.min((cells * steps).saturating_sub(1));
    }
    let mut done = glyphs.eighths[steps - 1].repeat(filled / steps);
    if !filled.is_multiple_of(steps) {
        done.push_str(glyphs.eighths[filled % steps - 1]);
    }
    let left = cells - filled.div_ceil(steps);
    [
        Span::styled(done, theme.active()),
        Span::styled(glyphs.empty.repeat(left), theme.dim()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::text::width;

    #[test]
    fn bar_at_any_percentage_has_its_width() {
        for theme in [Theme::default(), Theme::default().with_ascii()] {
            for columns in 0..20 {
                for percent in -5..110 {
                    let drawn: usize = bar(theme, percent, columns)
                        .iter()
                        .map(|span| width(&span.content))
                        .sum();
                    assert_eq!(drawn, columns as usize, "{percent}% of {columns}");
                }
            }
        }
    }

    #[test]
    fn bar_shows_eighths_and_is_full_only_at_end() {
        let text = |percent| {
            bar(Theme::default(), percent, 4)
                .map(|span| span.content.into_owned())
                .concat()
        };
        assert_eq!(
            [text(0), text(1), text(50), text(61)],
            ["░░░░", "▏░░░", "██░░", "██▍░"]
        );
        assert_eq!([text(99), text(100)], ["███▉", "████"]);
    }
}
