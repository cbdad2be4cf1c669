//! The list of alert rules: whether each is on, and its query.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw_box;
use crate::app::signals::Alert;
use crate::text;
use crate::view::context::{Cx, words};
use crate::view::layout::popup;
use crate::view::widgets::lines::{draw_line, row_of};

/// Columns of the list.
const COLUMNS: u16 = 72;

pub(super) fn draw_alerts(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, at: usize) {
    let alerts = &cx.model.signals.alerts;
    let spot = popup(area, COLUMNS.min(area.width), alerts.len() as u16 + 4);
    let title = format!("Alerts {}", alerts.len());
    let inner = draw_box(buf, spot, cx.theme, &title, words(" a capture they take is heard ", cx.theme.dim()));
    let rows = usize::from(inner.height).max(1);
    let first = (at + 1).saturating_sub(rows);
    for (y, (row, alert)) in alerts.iter().enumerate().skip(first).take(rows).enumerate() {
        draw_line(buf, row_of(inner, y as u16), &alert_line(cx, alert, row == at, inner.width));
    }
}

fn alert_line(cx: &Cx<'_>, alert: &Alert, selected: bool, width: u16) -> Line<'static> {
    let theme = cx.theme;
    let room = usize::from(width).saturating_sub(5);
    let query = text::start(&text::clean(&alert.query), room).into_owned();
    let (word, style) = if alert.off { ("off", theme.dim()) } else { ("on ", theme.good()) };
    Line::from(vec![
        Span::styled(if selected { theme.glyphs.selected } else { " " }, theme.key()),
        Span::styled(format!("{word} "), style),
        Span::styled(query, if alert.off { theme.dim() } else { theme.text() }),
    ])
}
