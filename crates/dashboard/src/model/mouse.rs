//! The mouse: whether it is on, what a pressed button holds, and scrolled lists.

use crate::base::{Effect, Pane, PlacedDivider, RowRef, Tone};
use crate::model::Model;
use std::time::Duration;

/// State of the mouse.
#[derive(Clone, Debug, Default)]
pub struct Mouse {
    pub is_on: bool,
    /// The list that the wheel scrolled last.
    pub scroll: Option<ListScroll>,
    pub(crate) held: Option<Held>,
    /// The row and the time of the last press.
    pub(crate) clicked: Option<(Pane, RowRef, Duration)>,
}

/// A request to draw a list from another row on. The selected row must be among the rows that are
/// visible then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListScroll {
    pub pane: Pane,
    /// The first visible row.
    pub first: usize,
    /// Raised with each request, so that each is drawn once.
    pub number: u64,
}

/// The object that the pressed button holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    /// A divider, and the cells between it and the pointer.
    Divider {
        placed: PlacedDivider,
        offset: i32,
        is_moved: bool,
    },
    /// Rows of the focused list, from this place on.
    Rows { from: usize, is_range: bool },
}

impl Model {
    /// Turns the mouse on or off.
    pub(crate) fn switch_mouse(&mut self, is_on: bool, effects: &mut Vec<Effect>) {
        (self.screen.mouse.is_on, self.screen.mouse.held) = (is_on, None);
        effects.push(Effect::Mouse(is_on));
        let state = if is_on {
            "mouse on; hold shift to select text"
        } else {
            "mouse off"
        };
        self.overlay.notices.remove_starting(&["mouse "]);
        self.notify(Tone::Plain, state);
    }

    /// The request to scroll a list, if it was not drawn yet.
    pub(crate) fn scroll_of(&self, pane: Pane, drawn: u64) -> Option<ListScroll> {
        self.screen
            .mouse
            .scroll
            .filter(|scroll| scroll.pane == pane && scroll.number != drawn)
    }
}
