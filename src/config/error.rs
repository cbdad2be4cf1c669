//! A mistake in the configuration, with what to do about it.

use std::path::Path;

use crate::client::BaseUrl;

/// What is wrong and what to do. Never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    message: String,
    hint: String,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    pub(super) fn io(what: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {what} {}: {error}", path.display()), "check the path and its permissions")
    }

    pub(super) fn no_key(base: &BaseUrl) -> Self {
        Self::new(
            format!("there is no API key for {base}"),
            "set SCANDECK_API_KEY, or api_key_command or api_key_file in the profile that has this base URL, \
             or give --api-key-file",
        )
    }

    /// What to do next.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
