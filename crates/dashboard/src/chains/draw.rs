//! The chain of an object over the panes: a tree, with the facts of each link below its object.

use crate::model::ChainBox;
use crate::ui::{Cx, LineBox, ViewCache, format, words, wrap_hanging};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::chain::ChainLine;
use scandeck_wire::text;
use std::iter;

pub(crate) fn draw_chain(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    open: &ChainBox,
    cache: &mut ViewCache,
) {
    let room = LineBox::room(area);
    let rows = usize::from(room.height);
    let wrapped = wrapped_chain(cx, open, room.width);
    let below = if wrapped.lines.len() > rows {
        let objects = open.lines.iter().filter(|line| line.object.is_some());
        let count = format::plural(objects.count(), "object");
        words(format!(" {count} "), cx.theme.dim())
    } else {
        Line::default()
    };
    let shown = LineBox {
        title: "Chain",
        below,
        lines: &wrapped.lines,
        first: wrapped.end_of_selected.saturating_sub(rows),
    };
    let inner = shown.draw(buf, area, cx.theme);
    cache.measures.plot_rows = (inner.height, 0);
}

/// The lines in the width of the screen.
struct WrappedChain {
    lines: Vec<Line<'static>>,
    /// The rows up to the end of the selected object and its facts.
    end_of_selected: usize,
}

fn wrapped_chain(cx: &Cx<'_>, open: &ChainBox, width: u16) -> WrappedChain {
    let mut wrapped = WrappedChain {
        lines: Vec::new(),
        end_of_selected: 0,
    };
    let mut is_of_selected = false;
    for (at, line) in open.lines.iter().enumerate() {
        if line.object.is_some() {
            is_of_selected = at == open.at;
        }
        wrapped
            .lines
            .extend(rows_of(cx, line, at == open.at, width));
        if is_of_selected {
            wrapped.end_of_selected = wrapped.lines.len();
        }
    }
    wrapped
}

/// A line, wrapped to the right of the tree, whose branches go on beside each row.
fn rows_of(cx: &Cx<'_>, line: &ChainLine, is_selected: bool, width: u16) -> Vec<Line<'static>> {
    let tree = text::width(&line.branch).min(usize::from(width / 2)) as u16;
    let rows = wrap_hanging(drawn(cx, line, is_selected), width - tree, 0);
    let below = line.branch.replace("├─", "│ ").replace("└─", "  ");
    let branches = iter::once(line.branch.clone()).chain(iter::repeat(below));
    let beside = |(mut row, branch): (Line<'static>, String)| {
        row.spans.insert(0, Span::styled(branch, cx.theme.dim()));
        row
    };
    rows.into_iter().zip(branches).map(beside).collect()
}

fn drawn(cx: &Cx<'_>, line: &ChainLine, is_selected: bool) -> Line<'static> {
    let theme = cx.theme;
    let style = match (is_selected, &line.object) {
        (true, _) => theme.selection(true),
        (false, None) => theme.dim(),
        (false, Some(_)) if line.is_missing => theme.warn(),
        (false, Some(_)) => theme.text(),
    };
    let shown = cx.shown(&line.text).into_owned();
    Line::from(Span::styled(shown, style))
}
