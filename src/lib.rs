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
//! The two wings communicate over HTTP, so that the dashboard works with a hosted service in the same
//! way as with the embedded one. Each wing builds without the other.
//!
//! Each layer is a crate: [`scandeck_wire`], [`scandeck_report`], `scandeck_domain`,
//! `scandeck_client`, and the wings `scandeck_dashboard` and `scandeck_service`. This one composes
//! them: [`cli`] and `demo`.
//!
//! `ARCHITECTURE.md` has the tree, the rules and the reasons; `tests/imports` checks what Cargo
//! cannot. `CONTRIBUTING.md` shows which files a typical change touches.

pub mod cli;
#[cfg(feature = "service")]
pub mod demo;

// Tests, benchmarks and examples name everything from here.
pub use scandeck_import as import;
pub use scandeck_report as report;
#[cfg(feature = "service")]
pub use scandeck_service as service;
pub use scandeck_wire::{contract, text};
#[cfg(feature = "dashboard")]
pub use {
    scandeck_client as client,
    scandeck_dashboard::{self as dashboard, config},
    scandeck_domain::{
        export, finding, finding_request, mask, oob, proof, query, table, text_files, triage,
    },
};
