//! The state of the details (tab, scroll position, search, mode of the text), and the text input.
//!
//! ```text
//!   key ─► Detail (tab, scroll, search) ─► ui/text wraps and draws ─► Measures ─► page size, position of a match
//!   key, paste, completion ─► TextInput of a form, filter, menu or command line      with Offers and Recall
//! ```
//!
//! The lines of a text are made while it is drawn (`ui/text` and the `draw` files of the features).

pub mod input;
pub mod offers;

use crate::base::{JsonFold, Pane, RowRef, Tab, TextMode};
pub use input::{CLEAR_KEY, TextInput};
pub use offers::{Ends, Offers, Recall};
use std::collections::{BTreeMap, BTreeSet};

/// A search in the text of the detail. Drawing finds the matches, because it makes the lines. While
/// `follow` is set it shows match number `at` (modulo the number of matches) and reports its
/// position in `Measures::detail_top`, from which scrolling continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The searched text, in any case.
    pub words: String,
    /// Index of the current match; negative indices count from the end.
    pub at: i64,
    /// Whether the text is shown at the match instead of the scroll position.
    pub follow: bool,
}

/// The object of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailSubject {
    Row(RowRef),
    /// The page after the last card of a review.
    ReviewSummary,
}

/// The state of the details: a tab and a mode per pane, and the scroll position of the visible
/// detail.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    tabs: BTreeMap<Pane, Tab>,
    modes: BTreeMap<Tab, TextMode>,
    /// The row and tab of the scroll position; another row or tab starts at the top.
    pub of: Option<(Pane, DetailSubject, Tab)>,
    /// First visible line.
    pub scroll: u32,
    /// The line of the cursor. Only texts with JSON have one.
    pub cursor: u32,
    /// The folded objects and arrays of JSON, by their first lines.
    pub folded: BTreeSet<u32>,
    /// First visible column, of long lines.
    pub sideways: u16,
    /// The open search.
    pub search: Option<Search>,
}

impl Detail {
    pub fn tab(&self, pane: Pane) -> Tab {
        self.tabs.get(&pane).copied().unwrap_or(pane.tabs()[0])
    }

    /// The mode in which the text of a tab is shown.
    pub fn mode(&self, tab: Tab) -> TextMode {
        self.modes.get(&tab).copied().unwrap_or(tab.modes()[0])
    }

    /// The tab that is so many further on, if there is one.
    pub fn tab_beside(&self, pane: Pane, by: isize) -> Option<Tab> {
        let tabs = pane.tabs();
        let at = tabs
            .iter()
            .position(|&tab| tab == self.tab(pane))
            .unwrap_or(0);
        at.checked_add_signed(by)
            .and_then(|at| tabs.get(at))
            .copied()
    }

    pub fn show_tab(&mut self, pane: Pane, tab: Tab) {
        if pane.tabs().contains(&tab) {
            self.tabs.insert(pane, tab);
        }
    }

    /// Switches to the next mode of the text of a tab.
    pub fn next_mode(&mut self, tab: Tab) -> TextMode {
        let modes = tab.modes();
        let at = modes
            .iter()
            .position(|&mode| mode == self.mode(tab))
            .unwrap_or(0);
        let next = modes[(at + 1) % modes.len()];
        self.modes.insert(tab, next);
        self.sideways = 0;
        next
    }

    /// Folds or unfolds the object or array at the cursor, whose first line is then the cursor.
    pub fn fold(&mut self, at: JsonFold) {
        if !self.folded.remove(&at.first) {
            self.folded.insert(at.first);
        }
        self.cursor = at.line;
        self.scroll = self.scroll.min(at.line);
    }

    /// Sets the row and tab of the detail; a change scrolls to the top, or to the end of a text
    /// that grows.
    pub fn belong_to(&mut self, of: Option<(Pane, DetailSubject, Tab)>, grows: bool) {
        if self.of != of {
            self.of = of;
            self.scroll = if grows { u32::MAX } else { 0 };
            self.cursor = 0;
            self.folded.clear();
            self.sideways = 0;
            self.search = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_stop_at_both_ends_and_new_row_starts_at_top() {
        let mut detail = Detail::default();
        assert_eq!(detail.tab_beside(Pane::Findings, -1), None);
        for tab in [Tab::Evidence, Tab::References, Tab::History] {
            assert_eq!(detail.tab_beside(Pane::Findings, 1), Some(tab));
            detail.show_tab(Pane::Findings, tab);
        }
        assert_eq!(detail.tab_beside(Pane::Findings, 1), None);
        assert_eq!(detail.tab(Pane::Findings), Tab::History);
        detail.belong_to(
            Some((
                Pane::Findings,
                DetailSubject::Row(RowRef::Item(1)),
                Tab::References,
            )),
            false,
        );
        detail.scroll = 9;
        detail.belong_to(
            Some((
                Pane::Findings,
                DetailSubject::Row(RowRef::Item(1)),
                Tab::References,
            )),
            false,
        );
        assert_eq!(detail.scroll, 9);
        detail.belong_to(
            Some((
                Pane::Findings,
                DetailSubject::Row(RowRef::Item(2)),
                Tab::References,
            )),
            false,
        );
        assert_eq!(detail.scroll, 0);
        detail.belong_to(
            Some((Pane::Scans, DetailSubject::Row(RowRef::Item(2)), Tab::Raw)),
            true,
        );
        assert_eq!(
            detail.scroll,
            u32::MAX,
            "the newest lines of a log that grows"
        );
    }

    #[test]
    fn modes_of_body_cycle_raw_hex_decoded() {
        let mut detail = Detail::default();
        let modes: Vec<_> = (0..3).map(|_| detail.next_mode(Tab::Body)).collect();
        assert_eq!(modes, [TextMode::Raw, TextMode::Hex, TextMode::Decoded]);
    }
}
