//! `Y` and `:why`: why a finding is new, changed, absent, reappeared or not retested, in one
//! screen.
//!
//! ```text
//!   key ─► texts of the compared findings (Effect::ReadFindings) ─► explanation of the domain ─► Modal::Why ─► draw
//!                                                                        a step: retest, tests of a scan, board of two scans
//! ```

pub mod draw;
pub mod keys;
#[cfg(test)]
mod tests;
