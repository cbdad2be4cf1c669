//! The local service: found by its lock and `service.json`, or started as a separate process.
//!
//! ```text
//!   lock held? ──yes──► service.json ─► address, key
//!      └──no──► scandeck serve --detached ─► wait for both
//! ```
//!
//! It continues to run when the dashboard ends, so that scans and loggers are not interrupted.
//! In a build without the service `no_service.rs` replaces `service.rs`.

#[cfg_attr(not(feature = "service"), path = "no_service.rs")]
mod service;

use scandeck_client::{BaseUrl, ClientSettings, ServiceLocator};
use secrecy::SecretString;

pub use service::{add_to_scope, find, find_or_start, proof_scope};

use crate::config::KeySource;

#[derive(Clone, Debug)]
pub struct LocalService {
    /// The URL of its API.
    pub base: BaseUrl,
    pub key: SecretString,
    pub key_source: KeySource,
    /// Finds the URL of its API, which can change when the service starts again.
    locator: ServiceLocator,
    /// A warning, for example that the URL of the loggers has changed.
    pub note: Option<String>,
}

impl LocalService {
    /// The settings of a client that follows the service. Its key is sent only while the service
    /// runs.
    pub fn client_settings(&self) -> ClientSettings {
        ClientSettings::new(self.base.clone(), self.key.clone())
            .with_key_source(&self.key_source.to_string())
            .with_locator(self.locator.clone())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct LocalError {
    why: String,
    hint: String,
}

impl LocalError {
    fn new(why: impl std::fmt::Display, hint: impl Into<String>) -> Self {
        Self {
            why: why.to_string(),
            hint: hint.into(),
        }
    }

    /// The next step for the user.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
