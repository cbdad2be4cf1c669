//! A column of a list as one value: its title and width, how the shown rows change the width, and
//! its cells.
//!
//! ```text
//!   COLUMNS ─┬─ layout, fitted to the shown rows ─► widths      when the rows change
//!            └─ cell of each visible row in its width ─► line   in each frame
//! ```

use crate::base::ShownRows;
use crate::model::Stored;
use crate::ui::list::{GridRow, draw_grouped};
use crate::ui::{Cx, ListPane, Slot, TableColumn, ViewCache, columns_of};
use ratatui::prelude::{Buffer, Line};

/// A column of the rows `T`.
pub(crate) struct ListColumn<T: 'static> {
    /// Title and width.
    layout: TableColumn,
    fit: FitColumn,
    cell: CellOfColumn<T>,
    /// Its cell in the header of a group is the name of the group.
    pub is_group_name: bool,
}

/// The width for the shown rows, the scope and the groups: whether the column gives way, and the
/// content of its widest cell.
type FitColumn = fn(TableColumn, &Cx<'_>) -> TableColumn;
/// The cell of a row.
type CellOfColumn<T> = for<'a> fn(&Cx<'a>, &'a T, Room<'_>) -> Line<'a>;

/// The widths of a row, for one of its cells.
#[derive(Clone, Copy)]
pub(crate) struct Room<'w> {
    widths: &'w [u16],
    at: usize,
}

impl Room<'_> {
    /// The columns of the cell.
    pub fn width(self) -> u16 {
        self.widths.get(self.at).copied().unwrap_or_default()
    }

    /// Whether the table has room for its last column.
    pub fn shows_last(self) -> bool {
        self.widths.last().is_some_and(|&width| width > 0)
    }
}

impl<T: 'static> ListColumn<T> {
    pub const fn new(layout: TableColumn, cell: CellOfColumn<T>) -> Self {
        Self {
            layout,
            fit: |layout, _| layout,
            cell,
            is_group_name: false,
        }
    }

    pub const fn fit(self, fit: FitColumn) -> Self {
        Self { fit, ..self }
    }

    pub const fn group_name(self) -> Self {
        Self {
            is_group_name: true,
            ..self
        }
    }

    /// Title and width for the shown rows.
    pub fn layout(&self, cx: &Cx<'_>) -> TableColumn {
        (self.fit)(self.layout, cx)
    }
}

/// The cells of a row.
pub(crate) fn cells<'a, T>(
    columns: &[ListColumn<T>],
    cx: &Cx<'a>,
    row: &'a T,
    widths: &[u16],
) -> Vec<Line<'a>> {
    let cell = |(at, column): (usize, &ListColumn<T>)| (column.cell)(cx, row, Room { widths, at });
    columns.iter().enumerate().map(cell).collect()
}

/// As `draw_list_pane`, for a list of a table with these columns.
pub(crate) fn draw_columns<'a, T: Stored + 'static>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    pane: ListPane<'a>,
    columns: &[ListColumn<T>],
) -> ShownRows {
    let layouts = columns_of::<T>(cx, cache, || {
        columns.iter().map(|column| column.layout(cx)).collect()
    });
    let pane = ListPane {
        columns: &layouts,
        ..pane
    };
    let style = cx.freshness(T::remote(&cx.model.data));
    draw_grouped(cx, buf, slot, cache, pane, |row, widths| match row {
        GridRow::Item { item, .. } => (cells(columns, cx, item, widths), style),
        GridRow::Header(_) => (Vec::new(), style),
    })
}
