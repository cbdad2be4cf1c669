//! When the detail follows the selection: 30 ms after the last step through a list, so that moving
//! through a list only draws the list.
//!
//! ```text
//!   step ─► the detail shows the row before ─► 30 ms without a step ─► it shows the selected row
//!   another key, pane, tab or view ──────────────────────────────────► at once
//! ```
//!
//! Drawing, the reading of texts and the poll plan wait for it. Keys always act on the selected
//! row.

use crate::base::{Pane, Tab};
use crate::text::DetailSubject;
use std::time::Duration;

/// The detail follows so long after the last step.
const FOLLOWS_AFTER: Duration = Duration::from_millis(30);

/// The row that the detail shows, and the time at which it shows the selected one.
#[derive(Clone, Debug, Default)]
pub struct DetailDelay {
    shown: Option<(Pane, DetailSubject, Tab)>,
    /// None while the detail shows the selected row.
    follows_at: Option<Duration>,
    has_stepped: bool,
}

impl DetailDelay {
    /// A key moves the selection through its list.
    pub(crate) fn step(&mut self) {
        self.has_stepped = true;
    }

    /// The end of a message: `selected` is the detail of the selected row, if the screen has room
    /// for one.
    pub(crate) fn settle(
        &mut self,
        now: Duration,
        by_hand: bool,
        selected: Option<(Pane, DetailSubject, Tab)>,
    ) {
        let has_stepped = std::mem::take(&mut self.has_stepped);
        let only_row_differs = match (self.shown, selected) {
            (Some((pane, row, tab)), Some((now_pane, now_row, now_tab))) => {
                (pane, tab) == (now_pane, now_tab) && row != now_row
            }
            _ => false,
        };
        self.follows_at = match self.follows_at {
            _ if !only_row_differs => None,
            _ if has_stepped => Some(now + FOLLOWS_AFTER),
            waiting => waiting.filter(|&at| !by_hand && now < at),
        };
        if self.follows_at.is_none() {
            self.shown = selected;
        }
    }

    /// When the detail will show the selected row, if it shows another one.
    pub fn follows_at(&self) -> Option<Duration> {
        self.follows_at
    }

    /// Whether the detail shows another row than the selected one.
    pub fn is_behind(&self) -> bool {
        self.follows_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RowRef;

    fn row(id: i64) -> Option<(Pane, DetailSubject, Tab)> {
        Some((
            Pane::Findings,
            DetailSubject::Row(RowRef::Item(id)),
            Tab::Overview,
        ))
    }

    fn stepped_at(now: u64, delay: &mut DetailDelay, id: i64) {
        delay.step();
        delay.settle(Duration::from_millis(now), true, row(id));
    }

    #[test]
    fn detail_follows_after_the_last_step() {
        let mut delay = DetailDelay::default();
        stepped_at(0, &mut delay, 1);
        assert!(!delay.is_behind(), "the first detail is shown at once");
        stepped_at(10, &mut delay, 2);
        stepped_at(20, &mut delay, 3);
        let at = Duration::from_millis(20) + FOLLOWS_AFTER;
        assert_eq!(delay.follows_at(), Some(at));
        delay.settle(at - Duration::from_millis(1), false, row(3));
        assert_eq!(delay.follows_at(), Some(at), "data changes nothing");
        delay.settle(at, false, row(3));
        assert!(!delay.is_behind());
    }

    #[test]
    fn other_key_or_tab_and_return_show_selected_row_at_once() {
        let mut delay = DetailDelay::default();
        for (by_hand, selected) in [
            (true, row(2)),
            (false, row(1)),
            (
                false,
                Some((
                    Pane::Findings,
                    DetailSubject::Row(RowRef::Item(2)),
                    Tab::Evidence,
                )),
            ),
            (false, None),
        ] {
            delay.settle(Duration::ZERO, true, row(1));
            stepped_at(1, &mut delay, 2);
            assert!(delay.is_behind());
            delay.settle(Duration::from_millis(2), by_hand, selected);
            assert!(!delay.is_behind(), "{selected:?}");
        }
    }
}
