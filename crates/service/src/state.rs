//! State shared by all handlers and background tasks of one service.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use tokio::sync::{Notify, Semaphore};
use url::Url;

use crate::clock::Clock;
use crate::guards::audit::AuditLog;
use crate::guards::keys::KeyRing;
use crate::guards::limits::{ClientLimiter, Limiter};
use crate::guards::quotas::KeyUsage;
use crate::guards::secrets::ScanSecrets;
use crate::loggers::UnattributedList;
use crate::monitor::health::Readiness;
use crate::monitor::metrics::Metrics;
use crate::monitor::observe::RequestCounter;
use crate::net::proxies::TrustedProxies;
use crate::net::resolver::Resolver;
use crate::runs::lease::NodeLease;
use crate::runs::worker::Worker;
use crate::scope_check::ScopeCheck;
use crate::settings::Settings;
use crate::store::Store;

/// A handle to the shared state, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppState>);

pub struct AppState {
    pub settings: Settings,
    pub store: Store,
    pub proxies: TrustedProxies,
    pub scope_check: Arc<ScopeCheck>,
    pub resolver: Arc<dyn Resolver>,
    pub clock: Arc<dyn Clock>,
    /// Encrypts the credentials of scans.
    pub secrets: ScanSecrets,
    pub limiter: Limiter,
    pub wrong_keys: ClientLimiter,
    /// Requests to the health checks, by client.
    pub health_checks: ClientLimiter,
    pub key_usage: KeyUsage,
    pub keys: KeyRing,
    pub audit: AuditLog,
    pub metrics: Metrics,
    pub requests: RequestCounter,
    pub readiness: Readiness,
    pub unattributed: UnattributedList,
    /// Base of every `handler_url`, ending in `/`.
    pub logger_base: Url,
    /// A random number per process, a part of request ids.
    pub boot: u64,
    pub worker: Arc<Worker>,
    pub lease: Arc<NodeLease>,
    /// One permit: large documents are copied to a file one after the other.
    pub large_documents: Semaphore,
    /// Notified when a report was requested.
    pub reports: Notify,
    /// Notified when a file was sent to import.
    pub imports: Notify,
    /// Notified when a schedule was added or resumed.
    pub schedules: Notify,
    /// Notified when a callback was queued, or a scan has ended that may have one.
    pub deliveries: Notify,
    /// Time of the last request with a valid key, in milliseconds since 1970.
    pub last_client: AtomicI64,
}

impl App {
    pub fn new(shared: AppState) -> Self {
        Self(Arc::new(shared))
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Records the time of a client's request.
    pub fn record_client(&self) {
        self.last_client
            .store(self.now().as_millisecond(), Ordering::Relaxed);
    }
}

impl Deref for App {
    type Target = AppState;
    fn deref(&self) -> &AppState {
        &self.0
    }
}
