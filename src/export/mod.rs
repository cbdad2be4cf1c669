//! What leaves the program: findings with what was decided about them, in the forms that other tools read.
//!
//! ```text
//!   Case + Stance + names ─► Row ─► json (one object a finding)
//! ```
//!
//! Everything here is pure: rows in, bytes out.

pub mod json;
pub mod row;

pub use row::Row;
