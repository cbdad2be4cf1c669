//! Targets: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form
//! ```
//!
//! The findings and scans of a target are counted in `ui/facts`.

pub mod draw;
pub mod form;
