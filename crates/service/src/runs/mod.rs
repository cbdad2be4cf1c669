//! Work in the background: scans, reports, and the callbacks that follow them.
//!
//! ```text
//!   store (queue) ─► worker ─► engine ─► store ─► callbacks
//!   store (queue) ─► report_maker ─► store
//! ```

pub mod callbacks;
pub mod report_maker;
pub mod words;
pub mod worker;
