//! The service wing: a local implementation of the scanning service's HTTP API v2.
//!
//! ```text
//!   client ─HTTP─► net ─► api (router) ─► guards ─► routes ─► store ◄─ runs (worker) ◄─ engine ─► targets in the scope
//!   any sender ─HTTP─► net ─► loggers ─────────────────────►   │
//!                                                              └─► runs (reports, callbacks)
//! ```
//!
//! [`start()`] takes [`Settings`] and returns [`Running`]; its cancellation token stops every task.
//! `routes` contain HTTP, `store` contains SQL, `engine` neither; the worker connects engine and
//! store. `scope_check` decides which targets the engine may contact, `monitor` shows operators
//! what happens, `data` has the data directory. The contract is api-v2.md; hosted-service.md
//! documents the behaviour that it leaves open.
//!
//! Two ways through these modules:
//!
//! ```text
//!   POST /scans   routes/new_scan ─► store/scans: a row, and one in the queue (store/jobs)
//!                 runs/worker claims it ─► engine/run ─► events ─► runs/worker ─► store/jobs
//!   a node dies   runs/lease: its own scans end, if it lives ─► store/nodes: another node
//!                 deletes its row, which ends its claims ─► its scans wait in store/jobs
//! ```

mod api;
pub mod clock;
mod data;
pub mod engine;
pub mod errors;
mod guards;
mod loggers;
mod monitor;
mod net;
mod openapi;
mod place;
mod request_reader;
mod routes;
mod runs;
pub mod scope;
pub mod scope_check;
mod settings;
mod start;
mod state;
mod store;
mod wordlist_words;

pub use data::activity::{Activity, EndedScan, RunningScans, activity};
pub use data::data_dir::{DataDir, Holder, ServiceInfo};
pub use data::formats::data_formats;
pub use data::service_scope::ServiceScope;
pub use data::{backup, data_dir, migrate, wordlists};
pub use engine::ScanLimits;
pub use errors::StartError;
pub use guards::quotas::KeyQuotas;
pub use guards::{audit, keys};
pub use net::connections::ConnectionLimits;
pub use net::tls::{ServerIdentity, TlsFiles};
pub use net::{address, dns, resolver};
pub use place::WorkerPlace;
pub use runs::remote::{WorkerSettings, is_loopback_url, run_worker};
pub use runs::worker::Runner;
pub use settings::{NodeRole, RateLimit, Settings};
pub use start::{Parts, Running, start, start_with};
pub use store::DatabaseAddress;

/// The OpenAPI document of the API, as at `/api/v2/openapi.json`.
pub fn openapi_document() -> serde_json::Value {
    openapi::document(&routes::endpoints())
}
