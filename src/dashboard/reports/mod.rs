//! Reports: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form
//! ```
//!
//! Reports that the dashboard writes itself, with the decisions, are made by the top-level module `export`.

pub mod draw;
pub mod form;
