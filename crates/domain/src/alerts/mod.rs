//! Alerts about findings, scans and decisions: which events there are, which rule wants them, and
//! which were sent before.
//!
//! ```text
//!   findings, scans, decisions ─► AlertSource ─► rule: kinds and query ─► EventAlert ─► SentAlerts: new? ─► channels
//! ```
//!
//! An event is a fact with a stable key, found in the present data: there is no history of
//! messages. So a dashboard and `scandeck watch` find the same events, and the file of sent alerts
//! decides which of them sends one, and when one that failed is tried again. The module is pure
//! except for `store`.

mod claim;
mod event;
mod kind;
mod rule;
mod source;
pub mod store;
#[cfg(test)]
mod tests;

pub use claim::{AlertClaim, EventKey};
pub use event::{AlertEvent, EventAlert};
pub use kind::AlertKind;
pub use rule::{AlertRoutes, EventRule, EventRuleError};
pub use source::AlertSource;
pub use store::starts::{ScheduleStarts, WaitingScan};
pub use store::{ClaimedEvents, SentAlerts};

/// Seconds after which an event is too old for an alert, because nobody was here to send one.
pub const ALERT_WINDOW: i64 = 24 * 3600;

/// Decisions that expire within so many days are events.
pub const EXPIRES_SOON: i64 = 7;
