//! Wordlists: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update
//! ```
//!
//! Importing a wordlist is a command of the service wing (`scandeck wordlists import`), because the
//! API has no upload.

pub mod draw;
