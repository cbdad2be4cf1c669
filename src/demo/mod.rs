//! The temporary environment of `scandeck demo`: a real service and a practice target on loopback.
//!
//! ```text
//!   practice target ◄── scans ── service ◄── client ── dashboard, or plain lines
//!          └── requests ──► logger of the service
//! ```
//!
//! `environment` starts and fills it, and runs it without a terminal; [`practice`] is the target,
//! whose weaknesses can be switched on and off.

#[cfg(feature = "dashboard")]
pub mod environment;
pub mod practice;
