//! Scans: their list and detail, and the commands `:retest` and `:compare`.
//!
//! ```text
//!   data::snapshots ─────┐
//!   data::scan_progress ─┴─► draw (progress, time left, changes, failures, detail)
//!   data::snapshots ───────► estimate (how long new scans take) ──► form ──► tool_params
//! ```
//!
//! Whether a scan is stalled is decided in `dashboard/data/scan_progress.rs`. Starting, stopping
//! and deleting scans is in `core/update`; retests and comparisons are in `findings/retest`.

pub mod commands;
pub mod draw;
pub(crate) mod estimate;
pub mod form;
mod tool_params;
