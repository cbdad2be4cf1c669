//! What every handler and background task of one service shares.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use tokio::sync::Notify;
use url::Url;

use super::clock::Clock;
use super::limits::Limiter;
use super::rails::Rails;
use super::settings::Settings;
use super::store::Store;
use super::worker::Worker;

/// Handle to the shared state, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppState>);

/// The shared state itself.
pub struct AppState {
    pub settings: Settings,
    pub store: Store,
    pub rails: Arc<Rails>,
    pub clock: Arc<dyn Clock>,
    pub limiter: Limiter,
    /// SHA-256 of the API key; the key itself is not kept.
    pub key_hash: [u8; 32],
    /// Base of every `handler_url`, ending in `/`.
    pub logger_base: Url,
    /// Differs between two runs of a service, so that an ETag of the last run never matches.
    pub boot: u64,
    /// Queue and running scans.
    pub worker: Worker,
    /// Woken when a report was asked for.
    pub reports: Notify,
    /// Woken when a callback is to be delivered, or a scan has ended that may owe one.
    pub deliveries: Notify,
    /// When the last request with the right key came, in milliseconds since 1970.
    pub last_client: AtomicI64,
}

impl App {
    /// Wraps the state.
    pub fn new(shared: AppState) -> Self {
        Self(Arc::new(shared))
    }

    /// Now, by the service's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Notes that a client is there.
    pub fn note_client(&self) {
        self.last_client.store(self.now().as_millisecond(), Ordering::Relaxed);
    }
}

impl Deref for App {
    type Target = AppState;
    fn deref(&self) -> &AppState {
        &self.0
    }
}
