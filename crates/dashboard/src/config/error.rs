//! An error of the configuration, with its remedy.

use std::path::Path;

use scandeck_client::{BaseUrl, BaseUrlError, Problem};
use scandeck_wire::input_files::InputError;
use scandeck_wire::text::io_cause;

/// Cause and remedy. Never contains a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    message: String,
    hint: String,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn io(verb: &str, path: &Path, error: &std::io::Error) -> Self {
        let (cause, remedy) = match InputError::in_error(error) {
            Some(InputError { problem, remedy }) => (problem.clone(), remedy.as_str()),
            None => (io_cause(error), "check the path and its permissions"),
        };
        Self::new(format!("cannot {verb} {}: {cause}", path.display()), remedy)
    }

    pub(super) fn no_key(base: &BaseUrl) -> Self {
        Self::new(
            format!("no API key for {base}"),
            "set SCANDECK_API_KEY or --api-key-file, or add a key to the profile",
        )
    }

    /// The remedy.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl From<BaseUrlError> for ConfigError {
    fn from(error: BaseUrlError) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        Self::local(error.message).with_hint(error.hint)
    }
}
