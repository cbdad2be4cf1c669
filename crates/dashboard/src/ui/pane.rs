//! How a pane is drawn: the functions of its feature.

use crate::base::ShownRows;
use crate::model::Stored;
use crate::ui::{Cx, DetailPane, Slot, ViewCache};
use ratatui::prelude::{Buffer, Line};

/// An item whose list is a pane.
pub(crate) trait DrawnPane: Stored {
    const DRAWING: PaneDrawing;
}

/// How a pane is drawn.
pub(crate) struct PaneDrawing {
    pub list: DrawList,
    pub detail: DetailOf,
    pub summary: Summary,
}

/// Draws a list; where its rows are.
type DrawList = fn(&Cx<'_>, &mut Buffer, &Slot, &mut ViewCache) -> ShownRows;
/// The detail of the selected row.
type DetailOf = for<'a> fn(&Cx<'a>, &mut ViewCache) -> Option<DetailPane<'a>>;
/// A pane in one line, in layouts that have no more room for it.
type Summary = for<'a> fn(&Cx<'a>) -> Line<'a>;

impl PaneDrawing {
    pub const fn new(list: DrawList, detail: DetailOf) -> Self {
        Self {
            list,
            detail,
            summary: |_| Line::default(),
        }
    }

    pub const fn summary(self, summary: Summary) -> Self {
        Self { summary, ..self }
    }
}
