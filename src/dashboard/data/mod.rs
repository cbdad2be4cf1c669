//! Data that the service and the local stores reported, in the form in which the dashboard keeps it.
//!
//! ```text
//!   poller, stores, cache ─► core::update ─► snapshots, stream, decisions, archive ─► lists, details, counts
//! ```
//!
//! `snapshots` holds one table per list of the service, `stream` the captured requests, `decisions` the folded events.
//! Selection, filters and scroll positions are not here: they belong to `list`, `text` and `model`.

pub mod guard;
pub mod signals;
pub mod since;
pub mod tabs;

pub mod board;
pub mod payloads;
pub mod snapshots;
pub mod stream;
pub mod watch;

pub mod archive;
pub mod decisions;
