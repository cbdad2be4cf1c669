//! A text to read: the words of a list, or what could not be copied.

use crate::model::TextBox;
use crate::ui::{Cx, draw_box, draw_lines, format, plain, popup, words, wrap};
use ratatui::prelude::{Buffer, Rect};
use scandeck_wire::text;

pub(crate) fn draw_text_box(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, shown: &TextBox) {
    let body = text::clean_text(&shown.body);
    let body = cx.shown(&body);
    let spot = popup(area, area.width, area.height.saturating_sub(2));
    let title = text::clean(&shown.title);
    // Whole lines before the scrolled one are skipped unwrapped: a list of a million words is drawn
    // at once.
    let total = body.split('\n').count();
    let height = usize::from(spot.height);
    let first = (shown.scroll as usize).min(total.saturating_sub(height.saturating_sub(2)));
    let below = words(
        format!(" {} of {} ", first + 1, format::plural(total, "line")),
        cx.theme.dim(),
    );
    let inner = draw_box(buf, spot, cx.theme, &title, below);
    let window: String = body
        .split('\n')
        .skip(first)
        .take(height)
        .collect::<Vec<_>>()
        .join("\n");
    let lines = wrap(plain(&window, cx.theme.text()), inner.width);
    draw_lines(buf, inner, &lines);
}
