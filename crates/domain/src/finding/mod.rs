//! The words about a finding that queries, payloads and decisions share: its key, its verdict, its
//! presence.
//!
//! ```text
//!   triage ──┐
//!   oob ─────┼─► finding: Key, Verdict, Reason, Presence
//!   query ───┘
//! ```
//!
//! `triage` computes keys and presence and folds decisions. `volatile` is about their evidence.

pub(crate) use scandeck_wire::contract::named_enum;

mod key;
mod presence;
mod presence_reason;
mod retest_gap;
mod volatile;

pub use key::FindingKey;
pub use presence::Presence;
pub use presence_reason::PresenceReason;
pub use retest_gap::RetestGap;
pub use scandeck_wire::contract::verdict::{Reason, Verdict};
pub use volatile::{is_stamped, steady_line, without_volatile};
