//! The panes: their lists, details and summaries in the slots of the layout.
//!
//! The `draw` of a feature has the columns of its list, the cells of a row, and its detail. How a
//! list or a detail is framed, scrolled and filtered is in `ui/list` and `ui/text`, once for all.

use crate::base::{Pane, PlacedPane, ShownRows, SlotPart};
use crate::list::{of, registry};
pub(crate) use crate::ui::labels::numbered;
use crate::ui::{Cx, DetailPane, DrawnPane, PaneDrawing, Slot, ViewCache, draw_sides};
use ratatui::prelude::{Buffer, Line, Span};

/// Draws a slot. What it measured goes into the cache.
pub(crate) fn draw_slot(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) {
    let mut placed = PlacedPane {
        pane: slot.pane,
        part: slot.part,
        area: slot.area.into(),
        rows: None,
    };
    match slot.part {
        SlotPart::List => {
            placed.rows = draw_list(cx, buf, slot, cache);
            let rows = placed.rows.unwrap_or_default();
            if slot.pane == cx.model.navigation.focus.pane {
                cache.measures.list_rows = rows.area.height;
                cache.measures.row = cx
                    .model
                    .selected_row(slot.pane)
                    .filter(|_| placed.rows.is_some());
            }
        }
        SlotPart::Detail => draw_detail(cx, buf, slot, cache),
        SlotPart::Line => draw_summary(cx, buf, slot),
    }
    cache.measures.map.panes.push(placed);
}

/// Draws a list. Where its rows are, if it has any.
pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> Option<ShownRows> {
    Some((drawing_of(slot.pane).list)(cx, buf, slot, cache)).filter(|rows| rows.area.height > 0)
}

/// Draws the detail of the selected row; until it follows the selection, the one that was drawn
/// last.
fn draw_detail(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) {
    if cx.model.screen.detail.is_behind() && cache.draw_last_detail(buf, slot.pane, slot.area) {
        return;
    }
    match cx.model.reviewing() {
        Some(review) => crate::findings::review::draw::draw(cx, buf, slot.area, review, cache),
        None => {
            let free = crate::ui::text::draw_detail(cx, buf, slot, cache, detail_of);
            crate::plots::draw::draw_in_detail(cx, buf, free, slot.pane, cache);
        }
    }
    if cx.model.navigation.focus.in_detail {
        cache.measures.row = cx.model.selected_row(slot.pane);
    }
    cache
        .detail
        .keep(slot.pane, slot.area, buf, &cache.measures);
}

/// How a pane is drawn.
fn drawing_of(pane: Pane) -> PaneDrawing {
    registry!(of [pane, T => T::DRAWING, captures => crate::captures::draw::DRAWING])
}

/// The detail of the selected row of a pane, if there is one.
pub(crate) fn detail_of<'a>(
    cx: &Cx<'a>,
    pane: Pane,
    cache: &mut ViewCache,
) -> Option<DetailPane<'a>> {
    (drawing_of(pane).detail)(cx, cache)
}

/// The head and the text of the detail of the focused pane for a pager: tables and dumps have the
/// width of the screen, longer lines are wrapped by the pager.
pub(crate) fn detail_text(cx: &Cx<'_>, cache: &mut ViewCache) -> Option<String> {
    let pane = cx.model.navigation.focus.pane;
    let detail = detail_of(cx, pane, cache)?;
    let mode = cx.model.detail.mode(cx.model.detail.tab(pane));
    let text = (detail.text.make)(cx.theme, cx.model.screen.size.columns, mode);
    let lines = detail.head.into_iter().chain([Line::default()]).chain(text);
    let shown = cx.shown_lines(lines.collect());
    Some(shown.iter().map(|line| line.to_string() + "\n").collect())
}

/// A pane in one line: `─ 4 scans ── ▶ 3 running  ✗ 1 failed ───`.
fn draw_summary(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot) {
    let theme = cx.theme;
    let summary = (drawing_of(slot.pane).summary)(cx);
    let rule = theme.glyphs.rule;
    let mut line = Line::from(Span::styled(format!("{rule} "), theme.dim()));
    line.push_span(Span::styled(numbered(slot.pane), theme.strong()));
    line.push_span(Span::styled(format!(" {rule}{rule} "), theme.dim()));
    line.extend(summary.spans);
    line.push_span(Span::raw(" "));
    let rest = usize::from(slot.area.width).saturating_sub(line.width());
    line.push_span(Span::styled(rule.repeat(rest), theme.dim()));
    draw_sides(buf, slot.area, &line, &Line::default());
}
