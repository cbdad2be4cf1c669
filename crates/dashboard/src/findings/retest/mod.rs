//! Retest and comparison: scans started again for chosen findings, or two scans side by side, as a
//! board.
//!
//! ```text
//!   s, d ─► keys ─► calls, Board ─► scans end ─► rows with BEFORE and NOW ─► draw ─► verdict keys
//! ```
//!
//! The rows of the board are in `dashboard/data/board.rs`; which finding matches which is decided
//! in `triage`.

pub mod draw;
pub mod keys;
mod selection;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod verdict_tests;

use crate::data::BoardRow;
use crate::model::{Model, PaneItem};

impl PaneItem for BoardRow {
    fn show(model: &mut Model) {
        model.show_board();
    }
}
