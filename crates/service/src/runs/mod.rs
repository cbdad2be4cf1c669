//! Work in the background: scans, reports, imports, and the callbacks that follow them.
//!
//! ```text
//!   store (queue) ─► worker ─► engine ─► store ─► callbacks
//!   store (queue) ─► report_maker ─► store
//!   store (queue) ─► importer ─► store
//!   schedules ─► store (queue)
//!   capture_months: tables for the captures of coming months, and the end of old captures
//!   claims: the beat of this node, and the scans that were stopped
//!   key_windows: the limits of a key that uses several nodes
//!   lanes: the rate of a host that several nodes scan
//!   lease: ends the scans of this node without a beat
//!   queue: what the worker claims scans from; local_queue: the store of this process
//!   queue_hints: polls a queue that another node has changed
//!   words: the words of a wordlist, which a scan carries
//!   remote: the worker of another place, which uses the API of a service
//! ```

pub mod callbacks;
pub mod capture_months;
pub mod claims;
pub mod importer;
pub mod key_windows;
pub mod lanes;
pub mod lease;
pub mod local_queue;
pub mod queue;
pub mod queue_hints;
pub mod remote;
pub mod report_maker;
pub mod schedules;
pub mod words;
pub mod worker;
