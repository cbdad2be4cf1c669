//! A short list in a pop-up: rules, alerts. Only the selection is here; the rows are read from
//! their owner.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopUpList {
    /// Index of the selected row.
    pub at: usize,
}

impl PopUpList {
    /// Moves the selection. A step of 0 restores it after rows were removed.
    pub fn walk(&mut self, by: isize, rows: usize) {
        let last = rows.saturating_sub(1);
        self.at = self.at.min(last).saturating_add_signed(by).min(last);
    }

    /// The first visible row, so that the selected row is visible.
    pub fn first(self, lines: usize) -> usize {
        (self.at + 1).saturating_sub(lines)
    }
}
