//! The line of tabs of a detail: `▌Overview▐  Evidence 2  References 3`.

use crate::ui::Theme;
use ratatui::text::{Line, Span};

/// The tabs, with the chosen one between bars; each tab has the same position whichever is chosen.
/// In less than the required width the tabs after the chosen one are omitted first, then those
/// before it.
pub fn tab_line(
    theme: Theme,
    titles: &[String],
    chosen: impl Into<Option<usize>>,
    width: u16,
) -> Line<'static> {
    let chosen = chosen.into();
    let visible = chosen.unwrap_or(0);
    let widths: Vec<usize> = titles
        .iter()
        .map(|title| scandeck_wire::text::width(title) + 2)
        .collect();
    let (mut first, mut end) = (0, titles.len());
    let room = width as usize;
    while widths[first..end].iter().sum::<usize>() > room && end > visible + 1 {
        end -= 1;
    }
    while widths[first..end].iter().sum::<usize>() > room && first < visible {
        first += 1;
    }
    let mut line = Line::default();
    for (i, title) in titles.iter().enumerate().take(end).skip(first) {
        if Some(i) == chosen {
            line.push_span(Span::styled(theme.glyphs.tab_open, theme.key()));
            line.push_span(Span::styled(title.clone(), theme.strong()));
            line.push_span(Span::styled(theme.glyphs.tab_close, theme.key()));
        } else {
            line.push_span(Span::styled(format!(" {title} "), theme.dim()));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_tab_is_always_visible() {
        let titles = ["Overview", "Evidence 2", "References 3"].map(String::from);
        let text = |chosen, width| tab_line(Theme::default(), &titles, chosen, width).to_string();
        assert_eq!(text(0, 60), "▌Overview▐ Evidence 2  References 3 ");
        assert_eq!(text(2, 60), " Overview  Evidence 2 ▌References 3▐");
        assert_eq!(text(2, 15), "▌References 3▐");
        assert_eq!(text(0, 12), "▌Overview▐");
    }
}
