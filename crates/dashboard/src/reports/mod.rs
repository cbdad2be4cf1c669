//! Reports: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form
//! ```
//!
//! Reports with decisions, which the dashboard writes itself, are made by `export` of the crate
//! `scandeck_domain`.

pub mod draw;
pub mod form;
