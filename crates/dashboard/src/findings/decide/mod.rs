//! Deciding in the dashboard: verdict keys, the menu, the rules, undo. A draft of a decision is
//! [`triage::draft`](scandeck_domain::triage::draft).

#[cfg(test)]
mod deciding_tests;
pub mod draw;
pub mod keys;
pub mod menu_keys;
#[cfg(test)]
mod menu_tests;
#[cfg(test)]
mod reuse_tests;
pub mod rules_keys;
#[cfg(test)]
pub(crate) mod tests;
pub mod undo;

pub use crate::data::Guards;
