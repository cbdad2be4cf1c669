//! Settings that a user changes in the dashboard: the alert rules, and the line of changes since
//! the last visit.
//!
//! ```text
//!   data::alerts ─► alerts (keys) ─► effects        data::last_visit ─► draw/last_visit
//! ```
//!
//! Saved queries are in `model/tabs`. The configuration file is read by
//! `config`.

pub mod alerts;
pub mod draw;
#[cfg(test)]
mod last_visit_tests;
