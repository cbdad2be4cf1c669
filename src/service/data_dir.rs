//! The data directory: one directory, one service.
//!
//! ```text
//!   scandeck.db    everything the API answers        key           the API key, alone on one line (0600)
//!   scope.toml     what may be scanned               callback.key  signs callbacks (0600)
//!   service.json   URLs and process id               lock          held while a service runs (flock)
//!   last.json      service.json of the last service
//! ```
//!
//! The lock tells whether a service runs; `service.json` tells where. It stays when the service ends, and as
//! `last.json` through starts that fail, so that the next one can take the same ports: a planted `handler_url` must
//! stay good.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use url::Url;

/// A data directory that exists.
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

/// What `service.json` tells about the running service, or about the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "InfoText", into = "InfoText")]
pub struct ServiceInfo {
    /// Base of the API, `http://ADDR:PORT/api/v2`.
    pub base_url: Url,
    /// Base of every `handler_url`.
    pub logger_url: Url,
    /// Base the loggers had last time, when it was another one: URLs planted then no longer work.
    pub previous_logger_url: Option<Url>,
    /// Process id of the service.
    pub pid: u32,
    /// The file with the API key, where it is not `key` of the directory.
    pub api_key_file: Option<PathBuf>,
    /// Days a logger records.
    pub logger_days: i64,
}

/// `service.json` as it is written.
#[derive(Serialize, Deserialize)]
struct InfoText {
    base_url: String,
    logger_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous_logger_url: Option<String>,
    pid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api_key_file: Option<PathBuf>,
    logger_days: i64,
}

impl From<ServiceInfo> for InfoText {
    fn from(info: ServiceInfo) -> Self {
        Self {
            base_url: info.base_url.into(),
            logger_url: info.logger_url.into(),
            previous_logger_url: info.previous_logger_url.map(Into::into),
            pid: info.pid,
            api_key_file: info.api_key_file,
            logger_days: info.logger_days,
        }
    }
}

impl TryFrom<InfoText> for ServiceInfo {
    type Error = url::ParseError;

    fn try_from(text: InfoText) -> Result<Self, Self::Error> {
        Ok(Self {
            base_url: text.base_url.parse()?,
            logger_url: text.logger_url.parse()?,
            previous_logger_url: text.previous_logger_url.map(|url| url.parse()).transpose()?,
            pid: text.pid,
            api_key_file: text.api_key_file,
            logger_days: text.logger_days,
        })
    }
}

/// The lock of a data directory; released when dropped, also by the death of the process.
#[derive(Debug)]
pub struct Held(#[allow(dead_code)] File);

/// Whether a service holds a data directory.
#[derive(Debug)]
pub enum Holder {
    /// None does.
    Nobody,
    /// One does; its `service.json` is missing for a moment while it starts.
    Running(Option<Box<ServiceInfo>>),
}

impl DataDir {
    /// The directory used when none is named: `$XDG_STATE_HOME/scandeck/service`, or below `~/.local/state`.
    pub fn default_path() -> PathBuf {
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(".local/state");
        state.unwrap_or_else(home).join("scandeck/service")
    }

    /// Opens `path`, making it (0700) where it is missing.
    ///
    /// # Errors
    /// When it cannot be made or is no directory.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        Ok(Self(path.canonicalize()?))
    }

    /// The directory at `path`, or none where there is none: nothing is made.
    ///
    /// # Errors
    /// When it cannot be looked at or is no directory.
    pub fn existing(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        match path.as_ref().canonicalize() {
            Ok(path) if path.is_dir() => Ok(Some(Self(path))),
            Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.0.join("scandeck.db")
    }

    /// The scope file, read live by the rails.
    pub fn scope_file(&self) -> PathBuf {
        self.0.join("scope.toml")
    }

    /// The default of `--api-key-file`.
    pub fn key_file(&self) -> PathBuf {
        self.0.join("key")
    }

    /// The file with the secret that signs callbacks.
    pub fn callback_key_file(&self) -> PathBuf {
        self.0.join("callback.key")
    }

    fn info_file(&self) -> PathBuf {
        self.0.join("service.json")
    }

    fn last_info_file(&self) -> PathBuf {
        self.0.join("last.json")
    }

    /// Takes the lock, or nothing when another service has it.
    ///
    /// Waits up to half a second: who only looks whether a service runs ([`DataDir::holder`]) has the lock for a
    /// moment too.
    ///
    /// # Errors
    /// When the lock file cannot be made or locked at all.
    pub async fn hold(&self) -> io::Result<Option<Held>> {
        let file = self.lock_file()?;
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Held(file))),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(25)).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Looks whether a service runs on this directory. Nothing is made for it.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn holder(&self) -> io::Result<Holder> {
        let lock = match File::open(self.0.join("lock")) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
            Err(error) => return Err(error),
        };
        match lock.try_lock_shared() {
            Ok(()) => Ok(Holder::Nobody),
            Err(TryLockError::WouldBlock) => Ok(Holder::Running(self.info().map(Box::new))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock_file(&self) -> io::Result<File> {
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(self.0.join("lock"))
    }

    /// What `service.json` says; of the last service when none runs.
    pub fn info(&self) -> Option<ServiceInfo> {
        read_info(&self.info_file())
    }

    /// Takes `service.json` away and gives what it said: between start and readiness nobody may take the last
    /// service's URLs for this one's.
    pub(super) fn take_last_info(&self) -> Option<ServiceInfo> {
        // Without one, a start has failed since the last service ended: then what that one said is there already.
        let _ = fs::rename(self.info_file(), self.last_info_file());
        read_info(&self.last_info_file())
    }

    /// Writes `service.json` whole or not at all.
    pub(super) fn write_info(&self, info: &ServiceInfo) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        serde_json::to_writer_pretty(&mut file, info)?;
        file.write_all(b"\n")?;
        file.persist(self.info_file())?;
        Ok(())
    }
}

fn read_info(file: &Path) -> Option<ServiceInfo> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Reads the secret in `file`, or makes one (0600) where the file is missing.
///
/// # Errors
/// When the file cannot be read or made, or is empty.
pub(super) fn secret(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => match text.trim() {
            "" => Err(io::Error::new(io::ErrorKind::InvalidData, "the file is empty: remove it to get a new key")),
            secret => {
                close_to_others(file)?;
                Ok(secret.to_owned())
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_secret(file),
        Err(error) => Err(error),
    }
}

fn make_secret(file: &Path) -> io::Result<String> {
    let bytes: [u8; 32] = rand::random();
    let secret = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let mut made = OpenOptions::new().create_new(true).write(true).mode(0o600).open(file)?;
    writeln!(made, "{secret}")?;
    made.sync_all()?;
    Ok(secret)
}

/// A key that others can read is closed; a file of another owner stays as it is.
fn close_to_others(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.permissions().mode();
    if mode & 0o077 != 0 {
        let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o600));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_about_a_service_is_read_again() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        let url = |text: &str| Url::parse(text).unwrap();
        let info = ServiceInfo {
            base_url: url("http://127.0.0.1:1/api/v2"),
            logger_url: url("http://127.0.0.1:2/"),
            previous_logger_url: Some(url("http://127.0.0.1:3/")),
            pid: 7,
            api_key_file: Some("/etc/scandeck/key".into()),
            logger_days: 5,
        };
        dir.write_info(&info).unwrap();
        assert_eq!(dir.info().as_ref(), Some(&info));
        for _ in 0..2 {
            assert_eq!(dir.take_last_info().as_ref(), Some(&info), "a start that fails forgets nothing");
            assert_eq!(dir.info(), None);
        }
    }

    #[test]
    fn who_only_looks_makes_nothing() {
        let temp = tempfile::tempdir().unwrap();
        assert!(DataDir::existing(temp.path().join("none")).unwrap().is_none());
        let dir = DataDir::existing(temp.path()).unwrap().unwrap();
        assert!(matches!(dir.holder().unwrap(), Holder::Nobody));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
        fs::write(temp.path().join("file"), "").unwrap();
        let error = DataDir::existing(temp.path().join("file")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    }

    #[tokio::test]
    async fn a_directory_is_held_once_and_free_again_after_the_drop() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path().join("a/b")).unwrap();
        assert!(matches!(dir.holder().unwrap(), Holder::Nobody));
        let held = dir.hold().await.unwrap();
        assert!(held.is_some());
        assert!(matches!(dir.holder().unwrap(), Holder::Running(None)));
        assert!(dir.hold().await.unwrap().is_none());
        drop(held);
        assert!(dir.hold().await.unwrap().is_some());
    }

    #[test]
    fn a_secret_is_made_once_and_closed_to_others() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("key");
        let first = secret(&file).unwrap();
        assert!(first.len() >= 40);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(secret(&file).unwrap(), first);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&file, "\n").unwrap();
        assert!(secret(&file).is_err());
    }
}
