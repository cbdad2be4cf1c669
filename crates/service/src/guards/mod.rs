//! Who may do what, and how often: API keys and roles, rate limits, audit log, and the secrets of
//! scans.
//!
//! ```text
//!   request ─► guard ─► keys (who) ─► limits (how often) ─► handler ─► quotas (how many) ─► audit
//!   parameters of a scan ─► secrets (encrypted at rest) ─► credential_mask (removed from results)
//! ```

pub mod audit;
pub mod credential_mask;
pub mod guard;
pub mod keys;
pub mod limits;
pub mod quotas;
pub mod secrets;
mod windows;
