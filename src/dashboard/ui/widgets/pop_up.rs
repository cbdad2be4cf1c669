//! The box of a pop-up, and a short list in one.

use crate::dashboard::list::PopUpList;
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::layout::popup;
use crate::dashboard::ui::widgets::frame::draw_frame;
use crate::dashboard::ui::widgets::lines::{draw_line, row_of};
use crate::dashboard::ui::{Cx, Edges, Theme};
use crate::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

/// Clears an area and frames it; on small screens without a frame, so that nothing is lost to it.
pub(crate) fn draw_box(buf: &mut Buffer, area: Rect, theme: Theme, title: &str, below: Line<'_>) -> Rect {
    Clear.render(area, buf);
    let title = words(format!(" {title} "), theme.title(true));
    if area.width < 30 || area.height < 5 {
        return area;
    }
    let inner = draw_frame(buf, area, theme, true, Edges { title, below, ..Edges::default() });
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

/// `─ decide 2 findings ─────`: the head of what lies over the lower rows.
pub(crate) fn draw_head(buf: &mut Buffer, area: Rect, theme: Theme, title: &str) {
    let rule = theme.glyphs.rule;
    let fill = usize::from(area.width).saturating_sub(text::width(title) + 3);
    let parts = vec![
        Span::styled(format!("{rule} "), theme.border(true)),
        Span::styled(title, theme.title(true)),
        Span::styled(format!(" {}", rule.repeat(fill)), theme.border(true)),
    ];
    draw_line(buf, area, &Line::from(parts));
}

/// A pop-up as it looks beside its rows.
pub(crate) struct PopUp {
    /// Its head, before the number of rows.
    pub title: &'static str,
    /// On its lower edge.
    pub note: &'static str,
    /// At most so many columns.
    pub columns: u16,
    /// Lines it has beside the rows, its frame among them.
    pub lines: u16,
    /// Those of them that the rows leave free at its end.
    pub below: u16,
}

impl PopUp {
    /// Draws it with its rows, each told by `spans` for so many columns. Returns the area within the frame.
    pub(crate) fn draw<T>(
        &self,
        cx: &Cx<'_>,
        buf: &mut Buffer,
        area: Rect,
        (list, rows): (PopUpList, &[T]),
        spans: impl Fn(&T, u16) -> Vec<Span<'static>>,
    ) -> Rect {
        let spot = popup(area, self.columns.min(area.width), rows.len() as u16 + self.lines);
        let title = format!("{} {}", self.title, rows.len());
        let inner = draw_box(buf, spot, cx.theme, &title, words(self.note, cx.theme.dim()));
        let shown = usize::from(inner.height.saturating_sub(self.below)).max(1);
        for (y, (at, row)) in rows.iter().enumerate().skip(list.first(shown)).take(shown).enumerate() {
            let bar = if at == list.at { cx.theme.glyphs.selected } else { " " };
            let mut line = Line::from(Span::styled(bar, cx.theme.key()));
            line.extend(spans(row, inner.width));
            draw_line(buf, row_of(inner, y as u16), &line);
        }
        inner
    }
}
