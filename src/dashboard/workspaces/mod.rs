//! Workspaces: the list, with the workspace in use and its counts.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells)        keys: core/update     form
//! ```
//!
//! Which workspace is in use is `Scope` in `dashboard/base`; changing it is in `model/navigation`.

pub mod draw;
pub mod form;
