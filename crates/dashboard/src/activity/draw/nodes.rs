//! The nodes of the service above the calls, if there are several:
//!
//! ```text
//!   NODE    ROLES              SCANS VERSION    SEEN   CLOCK
//!   build7  api,logger,worker      1 1.2.0   2 s ago   -4 ms
//!   pc1     worker at office       0 1.2.0   4 s ago +250 ms
//! ```

use crate::activity::draw::FEWEST_ROWS;
use crate::ui::{
    Cx, GUTTER, Slot, TableColumn, TableRow, draw_header_row, draw_line, draw_rows, stale_reason,
    take_top, widths, words,
};
use ratatui::prelude::{Buffer, Line, Rect};
use scandeck_wire::contract::node::{NodeState, with_unique_names};
use scandeck_wire::text;

/// Rows of the titles and of two nodes.
const FEWEST_NODE_ROWS: u16 = 3;
/// Seconds without a beat after which a node sends no requests to targets.
const SILENT: i64 = 10;
/// Milliseconds by which a clock is far off.
const CLOCK_LIMIT: u64 = 1_000;

/// A column of the nodes.
struct NodeColumn {
    layout: TableColumn,
    /// Its widest text is never cut.
    is_whole: bool,
    text: fn(&NodeState) -> String,
    warns: fn(&NodeState) -> bool,
}

impl NodeColumn {
    const fn new(
        title: &'static str,
        layout: TableColumn,
        is_whole: bool,
        text: fn(&NodeState) -> String,
    ) -> Self {
        Self {
            layout: layout.titled(title),
            is_whole,
            text,
            warns: |_| false,
        }
    }

    const fn warning_if(self, warns: fn(&NodeState) -> bool) -> Self {
        Self { warns, ..self }
    }

    fn fitted(&self, nodes: &[NodeState]) -> TableColumn {
        let texts = nodes.iter().map(|node| text::width(&(self.text)(node)));
        let widest = texts.max().unwrap_or(0).max(self.layout.title.len());
        match self.is_whole {
            true => self.layout.at_least(widest as u16),
            false => self.layout.content(widest, 0).at_most(widest as u16),
        }
    }

    fn cell(&self, cx: &Cx<'_>, node: &NodeState) -> Line<'static> {
        let style = match (self.warns)(node) {
            true => cx.theme.warn(),
            false => cx.theme.text(),
        };
        words((self.text)(node), style)
    }
}

const COLUMNS: &[NodeColumn] = &[
    NodeColumn::new("NODE", TableColumn::flex(4, 1), false, |node| {
        text::clean(&node.name).into_owned()
    }),
    NodeColumn::new("ROLES", TableColumn::flex(5, 1), false, |node| {
        text::clean(&node.duties()).into_owned()
    }),
    NodeColumn::new("SCANS", TableColumn::fixed(5).right(), true, |node| {
        node.running_scans.to_string()
    }),
    NodeColumn::new(
        "VERSION",
        TableColumn::fixed(7).expendable(1),
        true,
        |node| text::clean(&node.version).into_owned(),
    ),
    NodeColumn::new("SEEN", TableColumn::fixed(7).right(), true, NodeState::seen)
        .warning_if(|node| node.seconds_since_beat >= SILENT),
    NodeColumn::new(
        "CLOCK",
        TableColumn::fixed(7).right(),
        true,
        NodeState::clock,
    )
    .warning_if(|node| node.clock_ahead_ms.unsigned_abs() >= CLOCK_LIMIT),
];

/// Draws the nodes where there is room, and why they could not be read; returns the room below
/// them.
pub(super) fn below_nodes(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot) -> Slot {
    let slot = &below_problem(cx, buf, slot);
    let remote = &cx.model.data.nodes;
    let nodes = remote.value().map(|list| list.nodes.as_slice());
    let nodes = nodes.unwrap_or_default();
    let height = slot.area.height;
    let room = height.saturating_sub(FEWEST_ROWS).min(height / 2);
    if nodes.len() < 2 || room < FEWEST_NODE_ROWS {
        return *slot;
    }
    let rows = u16::try_from(nodes.len() + 1).unwrap_or(u16::MAX);
    let (area, below) = take_top(slot.area, rows.min(room));
    draw_nodes(cx, buf, area, &with_unique_names(nodes));
    Slot {
        area: below,
        ..*slot
    }
}

/// `nodes stale · 503 Service Unavailable · retry in 4s`
fn below_problem(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot) -> Slot {
    let has_room = slot.area.height > FEWEST_ROWS;
    let Some(problem) = cx.model.nodes_problem().filter(|_| has_room) else {
        return *slot;
    };
    let state = match cx.model.data.nodes.value() {
        Some(_) => "nodes stale",
        None => "nodes not loaded",
    };
    let begin = format!("{state} {} ", cx.theme.glyphs.separator);
    let room = usize::from(slot.area.width).saturating_sub(text::width(&begin));
    let line = match stale_reason(cx, problem, room).as_str() {
        "" => state.to_owned(),
        why => format!("{begin}{why}"),
    };
    let (area, below) = take_top(slot.area, 1);
    draw_line(buf, area, &words(line, cx.theme.warn()));
    Slot {
        area: below,
        ..*slot
    }
}

/// The titles, the nodes, and in the last row the number of those without a row.
fn draw_nodes(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, nodes: &[NodeState]) {
    let columns: Vec<TableColumn> = COLUMNS.iter().map(|one| one.fitted(nodes)).collect();
    let room = widths(&columns, area.width.saturating_sub(GUTTER));
    let (titles, area) = take_top(area, 1);
    draw_header_row(buf, titles, cx.theme, &columns, &room);
    let is_cut = nodes.len() > usize::from(area.height);
    let (area, last) = take_top(area, area.height - u16::from(is_cut));
    let style = cx.freshness(&cx.model.data.nodes);
    let row = |node: &NodeState| {
        cx.shown_row(TableRow {
            cells: COLUMNS.iter().map(|one| one.cell(cx, node)).collect(),
            style,
            ..TableRow::default()
        })
    };
    let shown = usize::from(area.height);
    let rows = nodes.iter().take(shown).map(row);
    draw_rows(buf, area, cx.theme, &columns, &room, false, (0..).zip(rows));
    if is_cut {
        let more = text::plural(nodes.len() - shown, "more node");
        draw_line(buf, last, &words(format!("  {more}"), cx.theme.dim()));
    }
}
