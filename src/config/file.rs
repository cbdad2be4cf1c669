//! `config.toml`: profiles by name. Unknown keys are mistakes, told with file and line.
//!
//! ```toml
//! default_profile = "prod"
//!
//! [profiles.prod]
//! base_url = "https://api.example.com"
//! api_key_command = ["pass", "show", "scandeck"]   # or api_key_file = "~/keys/prod", mode 0600
//! workspace = "Acme external"                      # name or id
//! read_only = true
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::ConfigError;
use crate::oob::Network;

/// The file as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    default_profile: Option<String>,
    /// Who decides, in the events of triage.
    pub user: Option<String>,
    /// Addresses that captured requests of one's own come from.
    pub own_addresses: Vec<Network>,
    /// What is kept of captured requests.
    pub captures: Captures,
    /// What is done when something comes in.
    pub signals: SignalSettings,
    profiles: BTreeMap<String, Profile>,
    #[serde(skip)]
    path: String,
}

/// How long captured requests are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Captures {
    /// Older ones are deleted from the archive when it is opened; for ever without it.
    pub keep_days: Option<u16>,
}

/// What is done when something comes in, beside the bell.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignalSettings {
    /// A program that is told; no shell is involved.
    pub command: Option<CommandWords>,
}

impl SignalSettings {
    /// Program and arguments; none where it is empty.
    pub fn command(&self) -> Vec<String> {
        self.command.as_ref().map(CommandWords::split).unwrap_or_default()
    }
}

/// One service and how to work with it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// With or without `/api/v2`.
    pub base_url: Option<String>,
    /// The local service of this user, in place of a base URL.
    pub local: bool,
    /// A program that prints the key; no shell is involved.
    pub api_key_command: Option<CommandWords>,
    /// A file (0600) with the key.
    pub api_key_file: Option<String>,
    /// Workspace to begin in, by name or id.
    pub workspace: Option<String>,
    /// What stands for the workspace in fingerprints, where a file of decisions is shared between services.
    pub workspace_alias: Option<String>,
    /// Actions that leave the machine are off.
    pub read_only: bool,
    /// Plain http to other machines is allowed.
    pub insecure_http: bool,
}

/// A command: a list of words, or one string that is split at blanks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum CommandWords {
    /// Split already.
    List(Vec<String>),
    /// To be split at blanks.
    Line(String),
}

impl CommandWords {
    /// Program and arguments.
    pub fn split(&self) -> Vec<String> {
        match self {
            CommandWords::List(words) => words.clone(),
            CommandWords::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

impl ConfigFile {
    /// Reads the file; one that is not there is empty, unless it was named.
    ///
    /// # Errors
    /// When it cannot be read, is no TOML, or has unknown keys.
    pub fn read(path: &Path, named: bool) -> Result<Self, ConfigError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && !named => return Ok(Self::default()),
            Err(error) => return Err(ConfigError::io("read", path, &error)),
        };
        let mut file: Self = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let why = error.message().lines().next().unwrap_or_default().to_owned();
            ConfigError::new(format!("{}:{line}: {why}", path.display()), "correct that line, or take it out")
        })?;
        file.path = path.display().to_string();
        file.check()
    }

    fn check(self) -> Result<Self, ConfigError> {
        if self.signals.command.as_ref().is_some_and(|words| words.split().is_empty()) {
            let message = format!("{}: command of [signals] is empty", self.path);
            return Err(ConfigError::new(message, "name a program, or take the line out"));
        }
        for (name, profile) in &self.profiles {
            if profile.local && profile.base_url.is_some() {
                let message = format!("{}: profile {name} has local and base_url", self.path);
                return Err(ConfigError::new(message, "keep one of them"));
            }
            if profile.api_key_command.as_ref().is_some_and(|words| words.split().is_empty()) {
                let message = format!("{}: api_key_command of profile {name} is empty", self.path);
                return Err(ConfigError::new(message, "name a program, or take the line out"));
            }
        }
        Ok(self)
    }

    /// The profile of this name, or the default one.
    ///
    /// # Errors
    /// When it is named and not there.
    pub fn profile(&self, name: Option<&str>) -> Result<Option<(Option<String>, Profile)>, ConfigError> {
        let Some(name) = name.or(self.default_profile.as_deref()) else { return Ok(None) };
        match self.profiles.get(name) {
            Some(profile) => Ok(Some((Some(name.to_owned()), profile.clone()))),
            None => {
                let names: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
                let hint = match names.as_slice() {
                    [] => "no profile is configured yet: add [profiles.NAME] to config.toml".to_owned(),
                    names => format!("there are: {}", names.join(", ")),
                };
                Err(ConfigError::new(format!("there is no profile {name:?}"), hint))
            }
        }
    }
}
