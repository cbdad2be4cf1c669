//! scandeck: a terminal dashboard for security scans, and the scanning service's HTTP API v2 in the same binary.
//!
//! ```text
//!             keys ─► input ─► Action ─┐
//!                                      ▼
//!  service ◄─HTTP─ client ◄─ poller ─► channel ─► app::update(&mut Model, Msg) -> Vec<Effect> ─► view::draw(&Model)
//!  (own wing)        ▲          ▲                        │
//!                    │          └── watch<PollPlan> ◄────┤
//!                    └───────────── runtime::effects ◄───┘
//! ```
//!
//! Two wings share only the wire types of [`contract`]: the **dashboard** and the **service**. Each builds alone
//! (features `dashboard` and `service`); only `cli` and `runtime::local` know both. A test reads the imports of
//! every file and holds these rules; `ARCHITECTURE.md` tells why they are so.

#[cfg(feature = "dashboard")]
pub mod app;
pub mod contract;
#[cfg(feature = "dashboard")]
pub mod input;
pub mod report;

#[cfg(feature = "dashboard")]
pub mod client;
#[cfg(feature = "dashboard")]
pub mod config;
#[cfg(feature = "dashboard")]
pub mod export;
#[cfg(feature = "dashboard")]
pub mod oob;
#[cfg(feature = "dashboard")]
pub mod poller;
#[cfg(feature = "dashboard")]
pub mod query;
#[cfg(feature = "dashboard")]
pub mod runtime;
#[cfg(feature = "dashboard")]
pub mod text;
#[cfg(feature = "dashboard")]
pub mod triage;
#[cfg(feature = "dashboard")]
pub mod view;

#[cfg(any(feature = "dashboard", feature = "service"))]
mod login;
#[cfg(feature = "service")]
pub mod service;
#[cfg(any(feature = "dashboard", feature = "service"))]
mod sqlite;

#[cfg(feature = "service")]
pub mod demo;

pub mod cli;
