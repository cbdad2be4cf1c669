//! Deciding in the dashboard: the menu, the guard against type-ahead, and what a key is about. What a draft says is
//! [`triage::draft`](crate::triage::draft).

#[cfg(test)]
mod deciding_tests;
pub mod draw;
pub mod keys;
pub mod menu_keys;
#[cfg(test)]
mod menu_tests;
pub mod rules_keys;
#[cfg(test)]
mod take_over_tests;
#[cfg(test)]
pub(crate) mod tests;
pub mod undo;

pub use crate::dashboard::data::Guards;
