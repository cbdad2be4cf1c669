//! The state directory, `$XDG_STATE_HOME/scandeck` (0700): what the program remembers by itself.
//!
//! ```text
//!   connection.toml   the answer of the first start      key    the key typed there (0600)
//!   dashboard.log     what went wrong                    service/   the local service's data directory
//! ```

use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The answer of the first start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "lowercase")]
pub enum Answer {
    /// The local service.
    Here,
    /// A service elsewhere; its key is in the file beside.
    Hosted {
        /// As typed.
        base_url: String,
    },
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// At a path; it is made when something is written.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The key typed at the first start.
    pub fn key_file(&self) -> PathBuf {
        self.0.join("key")
    }

    /// What the dashboard logs.
    pub fn log_file(&self) -> PathBuf {
        self.0.join("dashboard.log")
    }

    /// The local service's data directory.
    pub fn service_dir(&self) -> PathBuf {
        self.0.join("service")
    }

    fn answer_file(&self) -> PathBuf {
        self.0.join("connection.toml")
    }

    /// Makes the directory, closed to others.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self) -> Result<(), ConfigError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)
            .map_err(|error| ConfigError::io("make", &self.0, &error))
    }

    /// The answer of the first start, if one was given.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn answer(&self) -> Result<Option<Answer>, ConfigError> {
        let path = self.answer_file();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(ConfigError::io("read", &path, &error)),
        };
        toml::from_str(&text).map(Some).map_err(|_| {
            let message = format!("{} does not hold an answer of the first start", path.display());
            ConfigError::new(message, "remove the file to be asked again")
        })
    }

    /// Remembers an answer, and the key that was typed with it.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn remember(&self, answer: &Answer, key: Option<&SecretString>) -> Result<(), ConfigError> {
        self.make()?;
        // The key first: an address without its key would be asked for in vain at the next start.
        if let Some(key) = key {
            self.write(&self.key_file(), key.expose_secret())?;
        }
        let text = toml::to_string(answer).map_err(|error| ConfigError::new(error.to_string(), "report this"))?;
        self.write(&self.answer_file(), &text)
    }

    /// Writes a file whole or not at all; temporary files are made 0600.
    fn write(&self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let io = |error: &std::io::Error| ConfigError::io("write", path, error);
        let mut file = tempfile::NamedTempFile::new_in(&self.0).map_err(|error| io(&error))?;
        writeln!(file, "{}", text.trim_end()).map_err(|error| io(&error))?;
        file.persist(path).map_err(|error| io(&error.error))?;
        Ok(())
    }
}
