//! scandeck: a terminal dashboard for security scans, and the scanning service's HTTP API v2 in the
//! same binary.
//!
//! ```text
//!   dashboard (feature `dashboard`)                              service (feature `service`)
//!   keys ─► input ─► core::update(&mut Model) ─► core::draw      router ─► routes ─► store ◄─ worker ◄─ engine
//!               ▲            │                                      ▲
//!   poller ─────┘            └─► effects ─► runtime                 │
//!      └──────────────► client ◄─────┘                              │
//!                         └───────────────── HTTP, contract ────────┘
//! ```
//!
//! The two wings share the wire types of [`contract`] and communicate over HTTP, so that the
//! dashboard works with a hosted service in the same way as with the embedded one. Each wing builds
//! without the other.
//!
//! The library is layered:
//!
//! - [`contract`], [`report`], [`text`]: the wire types, the reports that both wings write, and the
//!   sanitiser of outside text.
//! - `client`, `table`, `query`: data of the service, ready for lists and queries.
//! - `finding`, `triage`, `oob`, `export`: the domain: findings, decisions, payloads, captured
//!   requests, exports.
//! - `dashboard` and `service`: the wings.
//! - [`cli`] and `demo`: compose both wings. Besides them only `dashboard/runtime/local.rs` knows
//!   the service.
//!
//! `ARCHITECTURE.md` has the tree, the rules and the reasons; `tests/imports.rs` checks the rules.
//! `CONTRIBUTING.md` shows which files a typical change touches.

#[cfg(feature = "dashboard")]
pub mod dashboard;

pub mod contract;
pub mod report;
pub mod text;

#[cfg(feature = "dashboard")]
pub mod client;
#[cfg(feature = "dashboard")]
pub mod config;
#[cfg(feature = "dashboard")]
pub mod export;
#[cfg(feature = "dashboard")]
pub mod finding;
#[cfg(feature = "dashboard")]
pub mod mask;
#[cfg(feature = "dashboard")]
pub mod oob;
#[cfg(feature = "dashboard")]
pub mod query;
#[cfg(feature = "dashboard")]
pub mod table;
#[cfg(feature = "dashboard")]
pub mod text_files;
#[cfg(feature = "dashboard")]
pub mod triage;

#[cfg(any(feature = "dashboard", feature = "service"))]
mod base_dirs;
#[cfg(any(feature = "dashboard", feature = "service"))]
mod input_files;
#[cfg(any(feature = "dashboard", feature = "service"))]
mod login;
#[cfg(feature = "service")]
pub mod service;
#[cfg(any(feature = "dashboard", feature = "service"))]
mod sqlite;

#[cfg(feature = "service")]
pub mod demo;

pub mod cli;
