//! Findings: the triage table, its detail, and every action on findings.
//!
//! ```text
//!   data::decisions (rows with decisions) ─► draw (list, groups, detail)
//!   key ─► decide (verdicts, rules, undo) · review (card by card) · retest (board) · manual ─► Effect::Record, calls
//! ```
//!
//! The sub-features `decide`, `review`, `retest` and `manual` are folders of the same shape.
//! Fingerprints, events and rules of decisions are in `triage` of the crate `scandeck_domain`;
//! grouping is in `list/finding_groups`.

#[cfg(test)]
mod groups_tests;
pub mod review;
#[cfg(test)]
mod texts_tests;

pub mod changed;
#[cfg(test)]
mod changed_tests;
pub mod commands;
#[cfg(test)]
mod commands_tests;
pub mod decide;
pub mod draw;
pub mod export;
pub mod manual;
#[cfg(test)]
mod retained_rows_tests;
pub mod retest;
#[cfg(test)]
mod seen_tests;
