//! A column of a list as one value: its title and width, how the shown rows change the width, and
//! its cells.
//!
//! ```text
//!   COLUMNS ─┬─ layout, fitted to the shown rows ─► widths               when the rows change
//!            └─ cell of each visible item, header of each group ─► line  in each frame
//! ```

use crate::base::ShownRows;
use crate::list::Group;
use crate::model::Stored;
use crate::ui::list::{GridRow, columns_of, draw_grouped};
use crate::ui::{Cx, ListPane, Slot, TableColumn, ViewCache, cell, dimmed};
use ratatui::prelude::{Buffer, Line};
use scandeck_domain::table::columns::NounColumn;
use scandeck_wire::text;
use std::borrow::Cow;

/// A column of the rows `T`.
pub(crate) struct ListColumn<T: 'static> {
    /// Title and width.
    layout: TableColumn,
    fit: FitColumn,
    cell: CellOfColumn<T>,
    /// Its cell in the header of a group, where it has one.
    header: Option<HeaderOfColumn>,
}

/// How a column makes its cells.
enum CellOfColumn<T: 'static> {
    /// The text that the command of the noun prints too.
    Text(for<'a> fn(&'a T) -> Cow<'a, str>),
    Drawn(DrawCell<T>),
}

/// The title and the width for the shown rows, the scope and the groups: whether the column gives
/// way, and the content of its widest cell.
type FitColumn = fn(TableColumn, &Cx<'_>) -> TableColumn;
/// The cell of a row.
type DrawCell<T> = for<'a> fn(&Cx<'a>, &'a T, Room<'_>) -> Line<'a>;
/// The cell of the header of a group.
type HeaderOfColumn = for<'a> fn(&Cx<'a>, &'a Group, Room<'_>) -> Line<'a>;

/// The widths of a row, for one of its cells, and its group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room<'r> {
    widths: &'r [u16],
    at: usize,
    pub group: Option<&'r Group>,
}

impl<'r> Room<'r> {
    /// The room of an item without a group, or of a header.
    pub fn of(widths: &'r [u16]) -> Self {
        Self {
            widths,
            ..Self::default()
        }
    }

    /// The columns of the cell.
    pub fn width(self) -> u16 {
        self.widths.get(self.at).copied().unwrap_or_default()
    }

    /// The columns of the cell and of the next one, with the blank between them.
    pub fn width_with_next(self) -> u16 {
        let next = self.widths.get(self.at + 1).copied();
        self.width() + 1 + next.unwrap_or_default()
    }

    /// The columns of the cell and of so many next ones, with the blanks between them.
    pub fn width_with(self, number: usize) -> usize {
        let next = self.widths.iter().skip(self.at + 1).take(number);
        let next = next.filter(|&&width| width > 0);
        usize::from(self.width()) + next.map(|&width| usize::from(width) + 1).sum::<usize>()
    }

    /// Whether the table has room for its last column.
    pub fn shows_last(self) -> bool {
        self.widths.last().is_some_and(|&width| width > 0)
    }

    fn cell(self, at: usize) -> Self {
        Self { at, ..self }
    }
}

impl<T: 'static> ListColumn<T> {
    pub const fn new(title: &'static str, layout: TableColumn, cell: DrawCell<T>) -> Self {
        Self::with(title, layout, CellOfColumn::Drawn(cell))
    }

    /// A column with title and text of its noun.
    pub const fn of(column: NounColumn<T>, layout: TableColumn) -> Self {
        Self::with(column.title, layout, CellOfColumn::Text(column.text))
    }

    const fn with(title: &'static str, layout: TableColumn, cell: CellOfColumn<T>) -> Self {
        Self {
            layout: layout.titled(title),
            fit: |layout, _| layout,
            cell,
            header: None,
        }
    }

    pub const fn fit(self, fit: FitColumn) -> Self {
        Self { fit, ..self }
    }

    pub const fn header(self, header: HeaderOfColumn) -> Self {
        Self {
            header: Some(header),
            ..self
        }
    }
}

impl<T> CellOfColumn<T> {
    fn line<'a>(&self, cx: &Cx<'a>, row: &'a T, room: Room<'_>) -> Line<'a> {
        match self {
            Self::Drawn(draw) => draw(cx, row, room),
            Self::Text(text) => match text(row) {
                Cow::Borrowed(outside) => cell(outside),
                Cow::Owned(outside) => Line::from(text::clean(&outside).into_owned()),
            },
        }
    }
}

/// Titles and widths for the shown rows.
pub(crate) fn layouts<T>(columns: &[ListColumn<T>], cx: &Cx<'_>) -> Vec<TableColumn> {
    let layout = |column: &ListColumn<T>| (column.fit)(column.layout, cx);
    columns.iter().map(layout).collect()
}

/// The cells of a row.
pub(crate) fn cells<'a, T>(
    columns: &[ListColumn<T>],
    cx: &Cx<'a>,
    row: &'a T,
    room: Room<'_>,
) -> Vec<Line<'a>> {
    let cell = |(at, column): (usize, &ListColumn<T>)| column.cell.line(cx, row, room.cell(at));
    columns.iter().enumerate().map(cell).collect()
}

/// The cells of the header of a group. Where a column has none, that of `sample`.
pub(crate) fn header_cells<'a, T>(
    columns: &[ListColumn<T>],
    cx: &Cx<'a>,
    group: &'a Group,
    sample: Option<&'a T>,
    widths: &[u16],
) -> Vec<Line<'a>> {
    let cell = |(at, column): (usize, &ListColumn<T>)| {
        let room = Room::of(widths).cell(at);
        match (column.header, sample) {
            (Some(header), _) => header(cx, group, room),
            (None, Some(sample)) => column.cell.line(cx, sample, room),
            (None, None) => Line::default(),
        }
    };
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
    draw_columns_dimming(cx, buf, slot, cache, pane, columns, |_| false)
}

/// As [`draw_columns`], with dim rows.
pub(crate) fn draw_columns_dimming<'a, T: Stored + 'static>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    pane: ListPane<'a>,
    columns: &[ListColumn<T>],
    is_dim: impl Fn(&GridRow<'_, T>) -> bool,
) -> ShownRows {
    let layouts = columns_of(cx, slot, cache, columns);
    let pane = ListPane {
        columns: &layouts,
        ..pane
    };
    let fresh = cx.freshness(T::remote(&cx.model.data));
    draw_grouped(cx, buf, slot, cache, pane, |row, widths| {
        let is_dim = is_dim(&row);
        let style = if is_dim { cx.theme.dim() } else { fresh };
        let cells = match row {
            GridRow::Header(group) => header_cells(columns, cx, group, None, widths),
            GridRow::Item { item, group } => {
                let room = Room {
                    group,
                    ..Room::of(widths)
                };
                dimmed_if(is_dim, cx, cells(columns, cx, item, room))
            }
        };
        (cells, style)
    })
}

/// Cells without their colours, if the row is dim.
pub(crate) fn dimmed_if<'a>(is_dim: bool, cx: &Cx<'_>, cells: Vec<Line<'a>>) -> Vec<Line<'a>> {
    if !is_dim {
        return cells;
    }
    let dimmed = |cell| dimmed(cx.theme, cell);
    cells.into_iter().map(dimmed).collect()
}
