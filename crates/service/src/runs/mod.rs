//! Work in the background: scans, reports, and the callbacks that follow them.
//!
//! ```text
//!   store (queue) ─► worker ─► engine ─► store ─► callbacks
//!   store (queue) ─► report_maker ─► store
//!   schedules ─► store (queue)
//!   claims: the beat of this process, and the scans that were stopped
//! ```

pub mod callbacks;
pub mod claims;
pub mod report_maker;
pub mod schedules;
pub mod words;
pub mod worker;
