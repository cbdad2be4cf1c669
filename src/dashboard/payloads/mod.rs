//! Payloads: the payload book, making and placing payloads, and their hits.
//!
//! ```text
//!   p ─► Effect::Draw(Planting) ─► Msg::Drawn(Planting, random numbers) ─► Payload ─► Effect::Plant, Effect::Copy
//!   captures ─► Mentions ─► signals, waits          archive ─► hits ─► Payloads pane
//! ```
//!
//! Tokens must not be guessable, and `update` is deterministic: each token is made of random numbers that the runtime
//! draws. Recognition of tokens and the archive are in the top-level module `oob`.

pub mod commands;
pub mod draw;
pub mod form;
pub mod keys;
#[cfg(test)]
mod signals_tests;
#[cfg(test)]
mod tests;
