//! Sizes of panes: moving the dividers of the last frame, saved for all workspaces.
//!
//! ```text
//!   keys, mouse ─► divider of `ScreenMap` ─► PaneSizes ─► ui/layout        store opened ─► PaneSizes
//!                                                └─► Effect::Remember(`pane_sizes`)
//! ```

use crate::base::{Axis, CellArea, Effect, PlacedDivider, SlotPart, Tone};
use crate::input::{Action, Context, ViewAction};
use crate::model::Model;
use scandeck_wire::contract::Shared;

const PANE_SIZES: &str = "pane_sizes";

impl Model {
    /// Makes the focused pane larger by some cells, or smaller.
    pub(crate) fn resize_pane(&mut self, axis: Axis, by: i32, effects: &mut Vec<Effect>) {
        let map = &self.screen.measures.map;
        let beside = self
            .focused_area()
            .and_then(|area| map.divider_beside(area, axis));
        let Some((at, is_before)) = beside else {
            let where_to = match axis {
                Axis::Rows => "above or below",
                Axis::Columns => "beside this one",
            };
            return self.notify(
                Tone::Plain,
                format!("no pane {where_to}; nothing to resize"),
            );
        };
        let before =
            i32::from(self.cells_before(map.dividers[at])) + if is_before { by } else { -by };
        match self.move_divider(map.dividers[at], before) {
            true => self.remember_pane_sizes(effects),
            false => self.notify(
                Tone::Plain,
                "a pane has its minimum size; nothing to resize",
            ),
        }
    }

    /// Returns the panes on the screen to their automatic sizes.
    pub(crate) fn reset_pane_sizes(&mut self, effects: &mut Vec<Effect>) {
        if self.screen.measures.map.dividers.is_empty() {
            let zoom = match self.navigation.focus.zoomed {
                true => format!(
                    " · {} shows the others",
                    self.key_label(Context::Everywhere, Action::View(ViewAction::Zoom))
                ),
                false => String::new(),
            };
            return self.notify(
                Tone::Plain,
                format!("pane sizes not reset: only one pane is shown{zoom}"),
            );
        }
        let mut is_reset = false;
        for placed in &self.screen.measures.map.dividers {
            is_reset |= self.screen.sizes.reset(placed.divider);
        }
        match is_reset {
            true => self.remember_pane_sizes(effects),
            false => self.notify(Tone::Plain, "pane sizes are already reset"),
        }
    }

    /// Moves a divider of the last frame behind so many cells. False if the divider is there.
    pub(crate) fn move_divider(&mut self, placed: PlacedDivider, before: i32) -> bool {
        let is_moved = placed.clamp(before) != self.cells_before(placed);
        if is_moved {
            self.screen.sizes.set(
                placed.divider,
                placed.clamp(before),
                placed.area.length(placed.axis),
            );
        }
        is_moved
    }

    /// The cells before a divider now: several keys can come before the next frame.
    fn cells_before(&self, placed: PlacedDivider) -> u16 {
        let moved = self
            .screen
            .sizes
            .cells(placed.divider, placed.area.length(placed.axis));
        moved.map_or(placed.before, |cells| placed.clamp(i32::from(cells)))
    }

    pub(crate) fn remember_pane_sizes(&mut self, effects: &mut Vec<Effect>) {
        let sizes = self.screen.sizes.clone();
        self.remember(PANE_SIZES, &Shared::default(), &sizes, effects);
    }

    pub(crate) fn restore_pane_sizes(&mut self) {
        self.screen.sizes = self
            .setting(PANE_SIZES, &Shared::default())
            .unwrap_or_default();
    }

    /// The area of the focused list or detail in the last frame.
    fn focused_area(&self) -> Option<CellArea> {
        let pane = self.navigation.focus.pane;
        let part = if self.navigation.focus.in_detail {
            SlotPart::Detail
        } else {
            SlotPart::List
        };
        let mut panes = self.screen.measures.map.panes.iter();
        panes
            .find(|placed| (placed.pane, placed.part) == (pane, part))
            .map(|placed| placed.area)
    }
}
