//! Captures: the stream of all loggers, its groups and detail, and the list of the loggers.
//!
//! ```text
//!   poller, archive ─► messages ─► data::stream ─► list::stream (query, groups) ─► draw (cells, detail)
//!   key ─► keys, commands ─► Effect: compare, export, send again
//! ```
//!
//! Tokens, decoding and the archive are in `oob` of the crate `scandeck_domain`; payloads are
//! in `payloads`.

#[cfg(test)]
mod archive_tests;
pub mod commands;
pub mod draw;
pub mod keys;
pub mod loggers;
pub mod messages;
#[cfg(test)]
mod tests;

pub(crate) use loggers::draw::HTTP_ONLY;
