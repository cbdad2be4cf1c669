//! Activity: the calls of the API that this dashboard makes, with the rate budget and its memory.
//!
//! ```text
//!   client (records every call) ─► runtime, while the view is open ─► RecordedCalls ─► draw (columns, cells, detail)
//!                         ▲ Effect::CancelCall                                           keys (cancel, curl)
//! ```
//!
//! A record has no header, and secrets in bodies are replaced, so neither screen nor copies contain
//! the key.

pub mod draw;
pub mod keys;
#[cfg(test)]
mod tests;
