//! Payloads: the payload book, the creation of payloads, and their hits.
//!
//! ```text
//!   p ─► Effect::DrawPayloadNumbers(request) ─► Msg::PayloadNumbers(request, numbers) ─► Payload ─► Effect::Plant, Effect::Copy
//!   captures ─► Mentions ─► alerts, waits          archive ─► hits ─► Payloads pane
//! ```
//!
//! Tokens must not be guessable, but `update` is deterministic: the runtime draws the random
//! numbers of the tokens. The recognition of tokens and the archive are in `oob` of the
//! crate `scandeck_domain`.

#[cfg(test)]
mod alerts_tests;
pub mod commands;
pub mod draw;
pub mod form;
pub mod keys;
#[cfg(test)]
mod tests;
