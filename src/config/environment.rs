//! The environment variables that the configuration reads.

use std::path::PathBuf;

use super::StateDir;
use crate::login::login;

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
    /// `HOME`, for `~/` in paths.
    pub home: PathBuf,
    /// `login@host`: the person, unless the configuration names one.
    pub login: String,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let text = |name| std::env::var(name).ok().filter(|text: &String| !text.trim().is_empty());
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let folder = |name, fallback: &str| {
            // Relative paths in these variables must be ignored (XDG base directory specification).
            let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            path.unwrap_or_else(|| home.join(fallback))
        };
        Self {
            base_url: text("SCANDECK_BASE_URL"),
            api_key: text("SCANDECK_API_KEY"),
            config_home: folder("XDG_CONFIG_HOME", ".config"),
            state_home: folder("XDG_STATE_HOME", ".local/state"),
            home,
            login: login(|name| std::env::var(name).ok()),
        }
    }

    /// The default configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config_home.join("scandeck/config.toml")
    }

    pub fn state_dir(&self) -> StateDir {
        StateDir::new(self.state_home.join("scandeck"))
    }
}
