//! A text to read: the words of a list, or what could not be copied.

use crate::dashboard::model::TextBox;
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::layout::popup;
use crate::dashboard::ui::widgets::lines::{draw_line, row_of};
use crate::dashboard::ui::widgets::pop_up::draw_box;
use crate::dashboard::ui::widgets::wrap::{plain, wrap};
use crate::dashboard::ui::{Cx, format};
use crate::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) fn draw_text_box(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, shown: &TextBox) {
    let body = text::clean_text(&shown.body);
    let spot = popup(area, area.width, area.height.saturating_sub(2));
    let title = text::clean(&shown.title);
    // Whole lines before the scrolled one are skipped unwrapped: a list of a million words is drawn at once.
    let total = body.split('\n').count();
    let height = usize::from(spot.height);
    let first = (shown.scroll as usize).min(total.saturating_sub(height.saturating_sub(2)));
    let below = words(format!(" {} of {} ", first + 1, format::plural(total, "line")), cx.theme.dim());
    let inner = draw_box(buf, spot, cx.theme, &title, below);
    let window: String = body.split('\n').skip(first).take(height).collect::<Vec<_>>().join("\n");
    let lines = wrap(plain(&window, cx.theme.text()), inner.width);
    for (y, line) in lines.iter().enumerate().take(usize::from(inner.height)) {
        draw_line(buf, row_of(inner, y as u16), line);
    }
}
