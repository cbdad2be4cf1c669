//! The words about a finding that queries, payloads and decisions share: its key, its verdict, its presence.
//!
//! ```text
//!   triage ──┐
//!   oob ─────┼─► finding: Key, Verdict, Reason, Presence
//!   query ───┘
//! ```
//!
//! Types only: `triage` computes keys and presence and folds decisions.

mod key;
mod presence;
mod verdict;

pub use key::FindingKey;
pub use presence::Presence;
pub use verdict::{Reason, Verdict};
