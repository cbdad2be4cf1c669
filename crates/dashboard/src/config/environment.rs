//! The environment variables that the configuration reads.

use std::env::VarError;
use std::path::PathBuf;

use super::{ConfigError, StateDir};
use scandeck_wire::base_dirs::{self, NoHomeError};
use scandeck_wire::login::login;

/// The environment as data, so that tests can set it.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `SCANDECK_BASE_URL`.
    pub base_url: Option<String>,
    /// `SCANDECK_API_KEY`.
    pub api_key: Option<String>,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    pub config_home: PathBuf,
    /// `XDG_STATE_HOME`, or `~/.local/state`.
    pub state_home: PathBuf,
    /// The home directory, for `~/` in paths; `/` for a user without one.
    pub home: PathBuf,
    /// `login@host`: the person, unless the configuration names one.
    pub login: String,
}

impl Environment {
    /// The environment of this process.
    ///
    /// # Errors
    /// When a directory is below the home directory, and the user has none. When a variable is not
    /// UTF-8 text: without it, a command would use another service.
    pub fn of_process() -> Result<Self, ConfigError> {
        Ok(Self {
            base_url: text_of("SCANDECK_BASE_URL")?,
            api_key: text_of("SCANDECK_API_KEY")?,
            config_home: base_dirs::config_home()?,
            state_home: base_dirs::state_home()?,
            home: base_dirs::home().unwrap_or_else(|_| PathBuf::from("/")),
            login: login(|name| std::env::var(name).ok()),
        })
    }

    /// The default configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config_home.join("scandeck/config.toml")
    }

    pub fn state_dir(&self) -> StateDir {
        StateDir::new(self.state_home.join("scandeck"))
    }
}

/// A variable, unless it is blank.
fn text_of(name: &str) -> Result<Option<String>, ConfigError> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(ConfigError::new(
            format!("the variable {name} is not UTF-8 text"),
            "set it to UTF-8 text, or unset it",
        )),
    }
}

impl From<NoHomeError> for ConfigError {
    fn from(error: NoHomeError) -> Self {
        Self::new(error.to_string(), NoHomeError::HINT)
    }
}
