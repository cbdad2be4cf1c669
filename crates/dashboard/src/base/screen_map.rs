//! The places of panes, rows and dividers in the last frame: for sizes that depend on the screen,
//! and for the mouse.

use crate::base::{Divider, Pane, SlotPart};

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellArea {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

/// A direction of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Columns,
    Rows,
}

impl CellArea {
    pub fn contains(self, x: u16, y: u16) -> bool {
        (self.x..self.end(Axis::Columns)).contains(&x)
            && (self.y..self.end(Axis::Rows)).contains(&y)
    }

    /// The first cell.
    pub fn start(self, axis: Axis) -> u16 {
        match axis {
            Axis::Columns => self.x,
            Axis::Rows => self.y,
        }
    }

    /// The first cell after it.
    pub fn end(self, axis: Axis) -> u16 {
        self.start(axis).saturating_add(self.length(axis))
    }

    pub fn length(self, axis: Axis) -> u16 {
        match axis {
            Axis::Columns => self.width,
            Axis::Rows => self.height,
        }
    }
}

/// The rows of a list on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownRows {
    pub area: CellArea,
    /// The place in the list of the first row.
    pub first: usize,
}

/// A pane on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedPane {
    pub pane: Pane,
    pub part: SlotPart,
    /// With the frame.
    pub area: CellArea,
    /// None for a detail, a summary and an empty list.
    pub rows: Option<ShownRows>,
}

/// A divider on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedDivider {
    pub divider: Divider,
    /// The direction in which it can be moved.
    pub axis: Axis,
    /// The panes on both of its sides.
    pub area: CellArea,
    /// The cells before it.
    pub before: u16,
    /// The least numbers of cells before and after it.
    pub least: [u16; 2],
    /// Whether the last cells before it show it too, as the edge of a frame.
    pub is_double: bool,
}

impl PlacedDivider {
    /// The nearest possible number of cells before the divider.
    pub fn clamp(&self, before: i32) -> u16 {
        let length = self.area.length(self.axis);
        let least = self.least[0].min(length);
        let most = length.saturating_sub(self.least[1]).max(least);
        before.clamp(i32::from(least), i32::from(most)) as u16
    }

    /// The first cell after it.
    pub fn at(&self) -> u16 {
        self.area.start(self.axis).saturating_add(self.before)
    }
}

/// The places of the last frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenMap {
    pub panes: Vec<PlacedPane>,
    pub dividers: Vec<PlacedDivider>,
}

impl ScreenMap {
    pub fn pane_at(&self, x: u16, y: u16) -> Option<&PlacedPane> {
        self.panes.iter().find(|pane| pane.area.contains(x, y))
    }

    /// The divider that is drawn in a cell.
    pub fn divider_at(&self, x: u16, y: u16) -> Option<&PlacedDivider> {
        self.dividers.iter().find(|placed| {
            let place = if placed.axis == Axis::Columns { x } else { y };
            let first = placed.at().saturating_sub(u16::from(placed.is_double));
            placed.area.contains(x, y) && (first..=placed.at()).contains(&place)
        })
    }

    /// The divider next to an area in a direction, and whether the area is before it. The divider
    /// after the area comes first.
    pub fn divider_beside(&self, area: CellArea, axis: Axis) -> Option<(usize, bool)> {
        let touching = |is_before: bool| {
            let edge = if is_before {
                area.end(axis)
            } else {
                area.start(axis)
            };
            let is_at_edge = |divider: &PlacedDivider| {
                divider.axis == axis
                    && divider.at() == edge
                    && divider.area.contains(area.x, area.y)
            };
            self.dividers
                .iter()
                .position(is_at_edge)
                .map(|found| (found, is_before))
        };
        touching(true).or_else(|| touching(false))
    }
}
