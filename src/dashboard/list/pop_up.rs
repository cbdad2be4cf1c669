//! A short list in a pop-up: rules, alerts. One row is selected; the rows themselves are read where they are kept.

/// Which row is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopUpList {
    /// Counted from the first.
    pub at: usize,
}

impl PopUpList {
    /// Selects another of so many rows; 0 holds the selection among those that are left.
    pub fn walk(&mut self, by: isize, rows: usize) {
        let last = rows.saturating_sub(1);
        self.at = self.at.min(last).saturating_add_signed(by).min(last);
    }

    /// The first row to show of those that fit into so many lines, with the selected one among them.
    pub fn first(self, lines: usize) -> usize {
        (self.at + 1).saturating_sub(lines)
    }
}
