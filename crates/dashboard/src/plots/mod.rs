//! Plots of stored data: findings by risk over time, decisions per day, captures per minute,
//! classes and targets.
//!
//! ```text
//!   :plot ─► Modal::Plot ─► draw ◄── data (from findings, events, captures) ──► CSV by `y`
//! ```

pub mod data;
pub mod draw;
pub mod keys;
#[cfg(test)]
mod tests;
