//! Guard against type-ahead: a verdict counts only for a row that was on the screen.
//!
//! A row (or review card) that was selected without a moving key, because a decision selected the
//! next row, because the previous row disappeared or because the board opened by itself, accepts a
//! verdict 150 ms after it was first drawn. A held key therefore decides one row, and no key typed
//! ahead decides a row that nobody has seen.

use crate::base::{Pane, RowRef};
use std::time::Duration;

/// How long a row must have been on the screen.
pub const SEEN_FOR: Duration = Duration::from_millis(150);

/// The lists in which verdicts are given.
pub const GUARDED: [Pane; 2] = [Pane::Findings, Pane::Board];

/// A guard for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guards([Guard; 2]);

impl Guards {
    pub fn of(&mut self, pane: Pane) -> Option<&mut Guard> {
        let at = GUARDED.iter().position(|&guarded| guarded == pane)?;
        self.0.get_mut(at)
    }
}

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    row: Option<RowRef>,
    drawn: Option<Duration>,
}

impl Guard {
    /// A row was selected without a key of the user.
    pub fn arm(&mut self, row: Option<RowRef>) {
        if self.row != row {
            *self = Self { row, drawn: None };
        }
    }

    /// The user moved the selection.
    pub fn lift(&mut self) {
        *self = Self::default();
    }

    /// Whether the guard protects this row.
    pub fn holds(&self, row: Option<RowRef>) -> bool {
        self.row.is_some() && self.row == row
    }

    /// A frame with this row selected was drawn.
    pub fn drawn(&mut self, now: Duration, row: Option<RowRef>) {
        if self.row.is_some() && self.row == row {
            self.drawn.get_or_insert(now);
        }
    }

    /// Whether a verdict on this row would come too soon.
    pub fn is_early(&self, now: Duration, row: RowRef) -> bool {
        self.row == Some(row) && self.drawn.is_none_or(|drawn| now < drawn + SEEN_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn automatically_selected_row_accepts_verdict_after_150_ms() {
        let [one, two, three] = [1, 2, 3].map(RowRef::Item);
        let mut guard = Guard::default();
        assert!(!guard.is_early(ms(0), one), "the user selected this row");
        guard.arm(Some(two));
        assert!(guard.is_early(ms(5_000), two), "never drawn");
        guard.drawn(ms(5_000), Some(one));
        guard.drawn(ms(6_000), Some(two));
        guard.drawn(ms(6_100), Some(two));
        assert!(guard.is_early(ms(6_149), two) && !guard.is_early(ms(6_150), two));
        guard.arm(Some(three));
        guard.lift();
        assert!(
            !guard.is_early(ms(6_151), three),
            "the user moved to this row"
        );
    }
}
