//! Targets: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form
//! ```
//!
//! Counts of findings and scans per target are computed in `ui/facts`.

pub mod draw;
pub mod form;
