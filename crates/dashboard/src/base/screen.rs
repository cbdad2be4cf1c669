//! The screen's size, and which of the four layouts that makes.

use crate::base::{RowRef, ScreenMap};
use std::sync::Arc;

/// Size of the terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// The layouts, by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All five panes at once: from 160 columns.
    Wide,
    /// List beside detail: 100 to 159 columns.
    Beside,
    /// List over detail: under 100 columns, 36 rows or more.
    Portrait,
    /// One pane at a time.
    Stacked,
}

impl Layout {
    /// The layout for a size.
    pub fn of(size: Size) -> Self {
        match (size.columns, size.rows) {
            (160.., 24..) => Self::Wide,
            (100.., 12..) => Self::Beside,
            (40.., 36..) => Self::Portrait,
            _ => Self::Stacked,
        }
    }

    /// Whether the detail is on the screen beside its list.
    pub fn shows_detail(self) -> bool {
        self != Self::Stacked
    }
}

/// The part of a pane that an area shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPart {
    List,
    Detail,
    /// A summary in one line.
    Line,
}

/// The measures of the last frame; the runtime puts them into the model after drawing. Paging and
/// the clamping of scrolled text use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Rows of the focused list that were visible.
    pub list_rows: u16,
    /// The selected row of the focused pane, if it was on the screen: in its list, or as the
    /// detail.
    pub row: Option<RowRef>,
    /// First visible line of the shown detail.
    pub detail_top: u32,
    /// Lines of the shown detail that were visible.
    pub detail_rows: u16,
    /// Lines the shown detail has at its width.
    pub detail_lines: u32,
    /// The line of the cursor of the shown detail: the match that it follows, or its own.
    pub detail_cursor: u32,
    /// Columns the shown detail has beyond its width when not wrapped.
    pub detail_overhang: u16,
    /// The fold at each line of the shown detail, stored because keys can arrive before the next
    /// frame. Empty unless the detail has JSON and the focus: only then it has a cursor.
    pub folds: Arc<[Option<JsonFold>]>,
    pub map: ScreenMap,
    /// Visible rows of a plot or an explanation with more rows than the screen, and its greatest
    /// first row.
    pub plot_rows: (u16, u32),
    /// As `plot_rows`, of the columns.
    pub plot_columns: (u16, u32),
}

/// An object or array of JSON in the shown detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonFold {
    /// Its first line in the text without folds.
    pub first: u32,
    /// Its first line on the screen.
    pub line: u32,
}
