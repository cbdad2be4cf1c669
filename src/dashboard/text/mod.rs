//! The state of the details: tab, scroll position, search and display mode of a text; and the text input.
//!
//! ```text
//!   key ─► Detail (tab, scroll, search) ─► ui/text wraps and draws ─► Measures ─► page size, position of a match
//!   key, paste, completion ─► TextInput of a form, filter, menu or command line      Offers, Recall: walked beside it
//! ```
//!
//! The lines of a text are made while it is drawn (`ui/text` and the `draw` files of the features), not here.

pub mod input;
pub mod offers;

use crate::dashboard::base::{Pane, RowRef, Tab, TextMode};
pub use input::TextInput;
pub use offers::{Ends, Offers, Recall};
use std::collections::BTreeMap;

/// A search in the detail's text. The view finds the matches, since it makes the lines. While `follow` holds it shows
/// the part of the text where match number `at` (counted around) is, and tells in `Measures::detail_top` where that
/// was; scrolling goes on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What is looked for, any case.
    pub words: String,
    /// Which match is the present one; negative counts from the end.
    pub at: i64,
    /// The text is shown where the match is, not where it was scrolled to.
    pub follow: bool,
}

/// The state of the details: a tab and a mode a pane, one scroll position for the one that is shown.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    tabs: BTreeMap<Pane, Tab>,
    modes: BTreeMap<Tab, TextMode>,
    /// What the scroll position belongs to: another row or tab starts at the top.
    pub of: Option<(Pane, RowRef, Tab)>,
    /// First visible line.
    pub scroll: u32,
    /// First visible column, of long lines.
    pub sideways: u16,
    /// The open search.
    pub search: Option<Search>,
}

impl Detail {
    /// The tab of a pane's detail.
    pub fn tab(&self, pane: Pane) -> Tab {
        self.tabs.get(&pane).copied().unwrap_or(Tab::of(pane)[0])
    }

    /// How a tab's text is shown.
    pub fn mode(&self, tab: Tab) -> TextMode {
        self.modes.get(&tab).copied().unwrap_or(tab.modes()[0])
    }

    /// Goes some tabs on; false when there is no further one in that direction.
    pub fn walk_tabs(&mut self, pane: Pane, by: isize) -> bool {
        let tabs = Tab::of(pane);
        let at = tabs.iter().position(|&tab| tab == self.tab(pane)).unwrap_or(0);
        match at.checked_add_signed(by).and_then(|at| tabs.get(at)) {
            Some(&tab) => {
                self.tabs.insert(pane, tab);
                true
            }
            None => false,
        }
    }

    /// Shows a tab.
    pub fn show_tab(&mut self, pane: Pane, tab: Tab) {
        if Tab::of(pane).contains(&tab) {
            self.tabs.insert(pane, tab);
        }
    }

    /// The next mode to show a tab's text.
    pub fn next_mode(&mut self, tab: Tab) -> TextMode {
        let modes = tab.modes();
        let at = modes.iter().position(|&mode| mode == self.mode(tab)).unwrap_or(0);
        let next = modes[(at + 1) % modes.len()];
        self.modes.insert(tab, next);
        self.sideways = 0;
        next
    }

    /// Belongs to this row and tab from now on; another one than before starts at the top.
    pub fn belong_to(&mut self, of: Option<(Pane, RowRef, Tab)>) {
        if self.of != of {
            self.of = of;
            self.scroll = 0;
            self.sideways = 0;
            self.search = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_end_at_both_ends_and_another_row_starts_at_the_top() {
        let mut detail = Detail::default();
        assert!(!detail.walk_tabs(Pane::Findings, -1));
        assert!(detail.walk_tabs(Pane::Findings, 1) && detail.walk_tabs(Pane::Findings, 1));
        assert!(detail.walk_tabs(Pane::Findings, 1) && !detail.walk_tabs(Pane::Findings, 1));
        assert_eq!(detail.tab(Pane::Findings), Tab::History);
        detail.belong_to(Some((Pane::Findings, RowRef::Item(1), Tab::References)));
        detail.scroll = 9;
        detail.belong_to(Some((Pane::Findings, RowRef::Item(1), Tab::References)));
        assert_eq!(detail.scroll, 9);
        detail.belong_to(Some((Pane::Findings, RowRef::Item(2), Tab::References)));
        assert_eq!(detail.scroll, 0);
    }

    #[test]
    fn a_body_is_shown_decoded_raw_and_as_hex_in_turn() {
        let mut detail = Detail::default();
        let modes: Vec<_> = (0..3).map(|_| detail.next_mode(Tab::Body)).collect();
        assert_eq!(modes, [TextMode::Raw, TextMode::Hex, TextMode::Decoded]);
    }
}
