//! The service wing: a local implementation of the scanning service's HTTP API v2.
//!
//! ```text
//!   client ─HTTP─► router ─► guard ─► routes ─► store ◄─ worker ◄─ engine ─► targets that the scope check allows
//!   any sender ─HTTP─► loggers ──────────────►   │
//!                                                └─► reports, callbacks
//! ```
//!
//! [`start()`] takes [`Settings`] and returns [`Running`]; its cancellation token stops every task.
//! `routes` contain HTTP, `store` contains SQL, `engine` neither; the worker connects engine and
//! store. The contract is api-v2.md; hosted-service.md documents the behaviour that it leaves open.

mod activity;
pub mod address;
pub mod audit;
pub mod backup;
mod callbacks;
pub mod clock;
mod connection_io;
mod connection_table;
mod connections;
mod credential_mask;
pub mod data_dir;
mod descriptors;
pub mod dns;
mod endpoint;
pub mod engine;
pub mod errors;
mod guard;
mod health;
mod idle;
pub mod import;
pub mod keys;
mod limits;
mod list_stream;
mod loggers;
mod metrics;
mod observe;
mod openapi;
mod proxies;
mod recorder;
mod report_maker;
mod request;
mod request_reader;
pub mod resolver;
mod router;
mod routes;
pub mod scope;
pub mod scope_check;
mod secrets;
mod settings;
mod start;
mod state;
mod store;
mod tls;
mod words;
mod worker;

pub use activity::{Activity, EndedScan, RunningScans, activity};
pub use connections::ConnectionLimits;
pub use data_dir::{DataDir, Holder, ServiceInfo};
pub use engine::ScanLimits;
pub use errors::StartError;
pub use limits::KeyQuotas;
pub use settings::{RateLimit, Settings};
pub use start::{Parts, Running, start, start_with};
pub use tls::{ServerIdentity, TlsFiles};
pub use worker::Runner;

/// The OpenAPI document of the API, as at `/api/v2/openapi.json`.
pub fn openapi_document() -> serde_json::Value {
    openapi::document(&routes::endpoints())
}
