//! Workspaces: the list, with the current workspace and its counts.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells)        keys: core/update     form
//! ```
//!
//! The current workspace is in `Scope` (`dashboard/base`); it is changed in `model/navigation`.

pub mod draw;
pub mod form;
