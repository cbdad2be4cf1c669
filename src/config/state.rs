//! The state directory, `$XDG_STATE_HOME/scandeck` (0700): what the program remembers by itself.
//!
//! ```text
//!   connection.toml   the answer of the first start      key    the key typed there (0600)
//!   dashboard.log     what went wrong                    service/   the local service's data directory
//!   of/local, of/profile-NAME, of/at-URL                 what is kept about one service: decisions, last known data
//! ```

use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ConfigError;

/// The answer of the first start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "lowercase")]
pub enum FirstStartChoice {
    /// The local service.
    Here,
    /// A service elsewhere; its key is in the file beside.
    Hosted {
        /// As typed.
        base_url: String,
    },
}

/// Which service something is kept about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceName {
    /// The local service of this user.
    Local,
    /// That of a profile, wherever it moves.
    Profile(String),
    /// One at a base URL.
    At(String),
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// At a path; it is made when something is written.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
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

    /// What is kept about a service.
    pub fn of_service(&self, service: &ServiceName) -> PathBuf {
        let folder = match service {
            ServiceName::Local => "local".to_owned(),
            ServiceName::Profile(name) => format!("profile-{}", file_name(name)),
            ServiceName::At(base) => format!("at-{}", file_name(base)),
        };
        self.0.join("of").join(folder)
    }

    /// Where the lists of a service are kept as they were read last. A profile may come to name another service, whose
    /// ids mean other things: there the base URL counts too.
    pub fn cached_lists(&self, service: &ServiceName, base: &str) -> PathBuf {
        let folder = match service {
            ServiceName::Profile(_) => format!("last-known-{}", digest(base)),
            ServiceName::Local | ServiceName::At(_) => "last-known".to_owned(),
        };
        self.of_service(service).join(folder)
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
    pub fn answer(&self) -> Result<Option<FirstStartChoice>, ConfigError> {
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
    pub fn remember(&self, answer: &FirstStartChoice, key: Option<&SecretString>) -> Result<(), ConfigError> {
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

/// A name that any file system takes; one that had to be changed carries a digest, so that two never become one.
pub(crate) fn file_name(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_.".contains(letter);
    let fitting: String = name.chars().map(|letter| if fits(letter) { letter } else { '_' }).take(60).collect();
    if fitting == name {
        return fitting;
    }
    format!("{fitting}-{}", digest(name))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_has_a_directory_of_its_own_below_the_state_directory() {
        let state = StateDir::new("/s");
        let at = |service: ServiceName| state.of_service(&service).display().to_string();
        assert_eq!(at(ServiceName::Local), "/s/of/local");
        assert_eq!(at(ServiceName::Profile("prod".into())), "/s/of/profile-prod");
        let base = at(ServiceName::At("https://a.example.com/api/v2".into()));
        assert!(base.starts_with("/s/of/at-https___a.example.com_api_v2-"), "{base}");
        let (one, other) = (at(ServiceName::Profile("../x".into())), at(ServiceName::Profile("..:x".into())));
        assert!(one != other && !one.trim_start_matches("/s/of/").contains('/'), "{one} {other}");
    }
}
