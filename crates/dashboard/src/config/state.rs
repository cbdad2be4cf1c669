//! The state directory, `$XDG_STATE_HOME/scandeck` (0700): data that the program stores itself.
//!
//! ```text
//!   connection.toml   choice made on first start          key        API key typed there (0600)
//!   dashboard.log     errors                             service/   data directory of the local service
//!   background        of the terminal, light or dark
//!   of/local, of/profile-NAME, of/at-URL                 data about one service: decisions, captures, cache
//! ```

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ConfigError;
use scandeck_wire::input_files::{InputKind, read_text};

/// The choice made on first start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "lowercase")]
pub enum FirstStartChoice {
    /// The local service.
    Here,
    /// A service at a base URL; its key is in the key file.
    Hosted { base_url: String },
}

/// The name of a service in the state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceName {
    /// The local service of this user.
    Local,
    /// The service of a profile, at any base URL.
    Profile(String),
    /// A service at a base URL without a profile.
    At(String),
}

/// The path of the state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// The directory is created by the first write.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory with one directory per service.
    pub fn services_dir(&self) -> PathBuf {
        self.0.join("of")
    }

    /// The file of the API key from the first start.
    pub fn key_file(&self) -> PathBuf {
        self.0.join("key")
    }

    /// The log of the dashboard.
    pub fn log_file(&self) -> PathBuf {
        self.0.join("dashboard.log")
    }

    /// The background that the terminal reported last.
    pub fn background_file(&self) -> PathBuf {
        self.0.join("background")
    }

    /// The local service's data directory.
    pub fn service_dir(&self) -> PathBuf {
        self.0.join("service")
    }

    /// The directory with the data about a service.
    pub fn of_service(&self, service: &ServiceName) -> PathBuf {
        let folder = match service {
            ServiceName::Local => "local".to_owned(),
            ServiceName::Profile(name) => format!("profile-{}", file_name(name)),
            ServiceName::At(base) => format!("at-{}", file_name(base)),
        };
        self.services_dir().join(folder)
    }

    /// The directory with the cached lists of a service. A profile may change to another service
    /// with other ids, so its directory depends on the base URL too.
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

    /// Creates the directory with mode 0700.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn make(&self) -> Result<(), ConfigError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)
            .map_err(|error| ConfigError::io("create", &self.0, &error))
    }

    /// The choice made on first start.
    ///
    /// # Errors
    /// When the file exists but is unreadable.
    pub fn answer(&self) -> Result<Option<FirstStartChoice>, ConfigError> {
        let path = self.answer_file();
        let text = match read_text(&path, InputKind::Settings) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(ConfigError::io("read", &path, &error)),
        };
        toml::from_str(&text).map(Some).map_err(|_| {
            let message = format!(
                "cannot read the choice made on first start in {}",
                path.display()
            );
            ConfigError::new(message, "delete the file to choose again")
        })
    }

    /// Stores the choice made on first start, with the key that was typed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn remember(
        &self,
        answer: &FirstStartChoice,
        key: Option<&SecretString>,
    ) -> Result<(), ConfigError> {
        self.make()?;
        // The key first: a base URL without its key would fail at the next start.
        if let Some(key) = key {
            self.write(&self.key_file(), key.expose_secret())?;
        }
        let text = toml::to_string(answer)
            .map_err(|error| ConfigError::new(error.to_string(), "report this"))?;
        self.write(&self.answer_file(), &text)
    }

    /// Writes a file atomically; temporary files have mode 0600.
    fn write(&self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let io = |error: std::io::Error| ConfigError::io("write", path, &error);
        let mut file = tempfile::NamedTempFile::new_in(&self.0).map_err(io)?;
        writeln!(file, "{}", text.trim_end()).map_err(io)?;
        file.persist(path)
            .map(drop)
            .map_err(|error| io(error.error))
    }
}

/// A valid name for any file system. A changed name gets a digest, so that two names never become
/// the same file.
pub(crate) fn file_name(name: &str) -> String {
    let fits = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_.".contains(letter)
    };
    let fitting: String = name
        .chars()
        .map(|letter| if fits(letter) { letter } else { '_' })
        .take(60)
        .collect();
    if fitting == name {
        return fitting;
    }
    format!("{fitting}-{}", digest(name))
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_directories_are_distinct_and_below_the_state_directory() {
        let state = StateDir::new("/s");
        let at = |service: ServiceName| state.of_service(&service).display().to_string();
        assert_eq!(at(ServiceName::Local), "/s/of/local");
        assert_eq!(
            at(ServiceName::Profile("prod".into())),
            "/s/of/profile-prod"
        );
        let base = at(ServiceName::At("https://a.example.com/api/v2".into()));
        assert!(
            base.starts_with("/s/of/at-https___a.example.com_api_v2-"),
            "{base}"
        );
        let (one, other) = (
            at(ServiceName::Profile("../x".into())),
            at(ServiceName::Profile("..:x".into())),
        );
        assert!(
            one != other && !one.trim_start_matches("/s/of/").contains('/'),
            "{one} {other}"
        );
    }
}
