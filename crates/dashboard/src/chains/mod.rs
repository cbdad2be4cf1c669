//! `&` and `:chain`: how a finding, capture, payload or target is connected to others.
//!
//! ```text
//!   key ─► ChainRequest (Effect::Chain) ─► chain of the domain ─► Modal::Chain ─► draw
//!                                              an object: its list, its own chain, or the form that creates it
//! ```

pub mod commands;
pub mod draw;
pub mod keys;
#[cfg(test)]
mod tests;
