//! A decision counts only for what was on the screen.
//!
//! A row (or review card) that the cursor came to without a moving key, because a decision went on to it, because the
//! row before has gone or because the board opened by itself, takes the next verdict 150 ms after it was first drawn.
//! A held key so decides one row, and no key typed ahead decides a row nobody has seen.

use crate::dashboard::base::Pane;
use std::time::Duration;

/// How long a row must have been on the screen.
pub const SEEN_FOR: Duration = Duration::from_millis(150);

/// The lists on which verdicts are given.
pub const GUARDED: [Pane; 2] = [Pane::Findings, Pane::Board];

/// A guard for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guards([Guard; 2]);

impl Guards {
    /// That of a list, where verdicts are given on it.
    pub fn of(&mut self, pane: Pane) -> Option<&mut Guard> {
        let at = GUARDED.iter().position(|&guarded| guarded == pane)?;
        self.0.get_mut(at)
    }
}

/// See the module. Rows are named by a number, as the cursor of a list does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    row: Option<i64>,
    drawn: Option<Duration>,
}

impl Guard {
    /// The cursor came to a row without a person moving it there.
    pub fn came_to(&mut self, row: Option<i64>) {
        if self.row != row {
            *self = Self { row, drawn: None };
        }
    }

    /// The cursor was moved by a person: what it is on counts.
    pub fn lift(&mut self) {
        *self = Self::default();
    }

    /// Whether this is the row that is waited for.
    pub fn holds(&self, row: Option<i64>) -> bool {
        self.row.is_some() && self.row == row
    }

    /// A frame was drawn with the cursor on this row.
    pub fn drawn(&mut self, now: Duration, row: Option<i64>) {
        if self.row.is_some() && self.row == row {
            self.drawn.get_or_insert(now);
        }
    }

    /// Whether a verdict on this row would come too soon.
    pub fn is_early(&self, now: Duration, row: i64) -> bool {
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
    fn a_row_that_came_takes_a_verdict_150_ms_after_it_was_drawn() {
        let mut guard = Guard::default();
        assert!(!guard.is_early(ms(0), 1), "a row that the person is on");
        guard.came_to(Some(2));
        assert!(guard.is_early(ms(5_000), 2), "never drawn");
        guard.drawn(ms(5_000), Some(1));
        guard.drawn(ms(6_000), Some(2));
        guard.drawn(ms(6_100), Some(2));
        assert!(guard.is_early(ms(6_149), 2) && !guard.is_early(ms(6_150), 2));
        guard.came_to(Some(3));
        guard.lift();
        assert!(!guard.is_early(ms(6_151), 3), "moved there by hand");
    }
}
