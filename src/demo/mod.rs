//! The throw-away world of `scandeck demo`: everything in it is real, on loopback, and gone at the end.
//!
//! ```text
//!   practice target ◄── scans ── service ◄── client ── dashboard, or plain lines
//!          └── requests ──► logger of the service
//! ```
//!
//! [`world`] starts and seeds it, [`plain`] runs it without a screen, [`practice`] is the target with weaknesses that
//! can be mended and broken while it runs.

#[cfg(feature = "dashboard")]
pub mod plain;
pub mod practice;
#[cfg(feature = "dashboard")]
pub mod world;

#[cfg(feature = "dashboard")]
pub use world::{DemoWorld, Tempo};
