//! The data directory of one service.
//!
//! ```text
//!   scandeck.db    data of the API                   key           the API key (0600)
//!   scope.toml     targets that may be scanned       callback.key  signs callbacks (0600)
//!                                                    secrets.key   encrypts the credentials of scans (0600)
//!   audit.jsonl    who changed what
//!   service.json   URLs and process id               lock          held by the running service (flock)
//!   last.json      service.json of the last service
//! ```
//!
//! The lock shows whether a service runs, `service.json` under which URLs. That file remains after
//! the service has stopped, and as `last.json` after a failed start. The next service can then use
//! the same ports, so that planted handler URLs remain valid.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::errors::StartError;
use crate::store::{DatabaseAddress, OpenedStore, Store};
use scandeck_wire::base_dirs::{NoHomeError, state_home};
use scandeck_wire::input_files::{InputError, InputKind, open_regular, read, read_text};
use scandeck_wire::login::is_private_group;
use scandeck_wire::sqlite::is_present;
use scandeck_wire::text::plural;

const INFO_FILE: &str = "service.json";
/// The least characters of an API key; one that the service creates has 43.
const MIN_KEY: usize = 16;

/// An existing data directory.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
    /// The PostgreSQL database that the service uses instead of `scandeck.db`.
    postgres: Option<DatabaseAddress>,
}

/// The contents of `service.json`: the running service, or the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceInfo {
    /// Base URL of the API, `http://ADDR:PORT/api/v2`.
    pub base_url: Url,
    /// Base of every `handler_url`.
    pub logger_url: Url,
    /// The base of the last service if it differs: handler URLs planted then no longer work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_logger_url: Option<String>,
    /// Process id of the service.
    pub pid: u32,
    /// The file with the API key, if it is not `key` in the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    /// The file with the address of the PostgreSQL database, if the service uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_file: Option<PathBuf>,
    /// Days a logger records.
    pub logger_days: i64,
}

/// The lock of a data directory; released when dropped, and when the process dies.
#[derive(Debug)]
pub struct DirLock(#[allow(dead_code)] File);

/// Whether a service is running on a data directory.
#[derive(Debug)]
pub enum Holder {
    Nobody,
    /// `service.json` is missing while the service starts or stops.
    Running(Option<Box<ServiceInfo>>),
}

impl DataDir {
    /// The default directory: `$XDG_STATE_HOME/scandeck/service`, or below `~/.local/state`.
    ///
    /// # Errors
    /// When the user has no home directory.
    pub fn default_path() -> Result<PathBuf, NoHomeError> {
        Ok(state_home()?.join("scandeck/service"))
    }

    /// Opens `path`, and creates it (0700) if necessary.
    ///
    /// # Errors
    /// When it cannot be created, is not a directory, or other users can write in it or replace it.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                "not a directory",
            ));
        }
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)?;
        let path = path.canonicalize()?;
        let mode = fs::metadata(&path)?.permissions().mode();
        if mode & 0o022 != 0 {
            let (mode, shown) = (mode & 0o7777, path.display());
            let why =
                format!("other users can write in it (mode {mode:04o}): `chmod go-w {shown}`");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        path.ancestors().skip(1).try_for_each(refuse_open_parent)?;
        Ok(Self::at(path))
    }

    /// The directory at `path` if it exists; creates nothing.
    ///
    /// # Errors
    /// When it cannot be read or is not a directory.
    pub fn existing(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        match path.as_ref().canonicalize() {
            Ok(path) if path.is_dir() => Ok(Some(Self::at(path))),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                "not a directory",
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn at(path: PathBuf) -> Self {
        Self {
            path,
            postgres: None,
        }
    }

    /// The directory with a PostgreSQL database: the given one, or that of the service that runs, or
    /// ran last, in the directory.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn with_database(self, address: Option<DatabaseAddress>) -> Result<Self, StartError> {
        let last = self.info().and_then(|info| info.database_file);
        let postgres = match (address, last) {
            (Some(address), _) => Some(address),
            (None, Some(file)) => Some(DatabaseAddress::read(&file)?),
            (None, None) => None,
        };
        Ok(Self { postgres, ..self })
    }

    /// The directory of a service with this database.
    pub(crate) fn of_service(self, postgres: Option<DatabaseAddress>) -> Self {
        Self { postgres, ..self }
    }

    /// The address of the database, if it is not a file of the directory.
    pub fn postgres(&self) -> Option<&DatabaseAddress> {
        self.postgres.as_ref()
    }

    /// Opens the database for a service, and migrates it.
    pub(crate) async fn open_store(&self) -> Result<OpenedStore, StartError> {
        let Some(address) = &self.postgres else {
            return Store::open(&self.database()).await;
        };
        let opened = Store::open_postgres(address, &self.path).await?;
        refuse_partial_copy(&opened.store, address).await?;
        Ok(opened)
    }

    /// Opens the database for a command while no service uses the directory. An older file is
    /// migrated. An older PostgreSQL database is refused: nodes of other machines may use it.
    pub(crate) async fn open_store_alone(&self) -> Result<Store, StartError> {
        let Some(address) = &self.postgres else {
            return Ok(Store::open(&self.database()).await?.store);
        };
        let store = Store::open_postgres_as_it_is(address, &self.path).await?;
        refuse_partial_copy(&store, address).await?;
        Ok(store)
    }

    /// Opens the database that a running service uses.
    pub(crate) async fn open_store_beside(&self) -> Result<Store, StartError> {
        match &self.postgres {
            Some(address) => Store::open_postgres_beside(address, &self.path).await,
            None => Store::open_beside(&self.database()).await,
        }
    }

    /// Opens the database for a command, with or without a running service. The lock prevents a
    /// service from starting, and migrating, meanwhile.
    pub(crate) async fn open_store_for_command(
        &self,
    ) -> Result<(Store, Option<DirLock>), StartError> {
        let files = |cause| StartError::Files {
            path: self.path.clone(),
            cause,
        };
        match self.holder().map_err(files)? {
            Holder::Running(_) => Ok((self.open_store_beside().await?, None)),
            Holder::Nobody => {
                let lock = self.lock().await.map_err(files)?;
                Ok((self.open_store_alone().await?, lock))
            }
        }
    }

    /// Whether there is a database, of which only the file may be missing.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn has_database(&self) -> io::Result<bool> {
        Ok(self.postgres.is_some() || is_present(&self.database())?)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The option that makes a command use this directory, with a blank before it; empty for the
    /// default directory.
    pub fn command_suffix(&self) -> String {
        match Self::default_path().map(|path| path.canonicalize()) {
            Ok(Ok(default)) if default == self.path => String::new(),
            _ => format!(" --data-dir {}", self.path.display()),
        }
    }

    /// The copies of the database that upgrades and restores left.
    pub fn database_copies(&self) -> Vec<PathBuf> {
        let is_copy = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_prefix("scandeck.db.bak-"));
            number.is_some_and(is_number) && path.is_file()
        };
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(is_copy).collect()
    }

    pub fn database(&self) -> PathBuf {
        self.path.join("scandeck.db")
    }

    /// The scope file, which the scope check reads again after every change.
    pub fn scope_file(&self) -> PathBuf {
        self.path.join("scope.toml")
    }

    /// The default of `--api-key-file`.
    pub fn key_file(&self) -> PathBuf {
        self.path.join("key")
    }

    /// The default of `--secrets-key-file`.
    pub fn secrets_key_file(&self) -> PathBuf {
        self.path.join("secrets.key")
    }

    pub fn audit_log(&self) -> PathBuf {
        self.path.join("audit.jsonl")
    }

    pub fn callback_key_file(&self) -> PathBuf {
        self.path.join("callback.key")
    }

    /// Takes the lock; `None` when another service holds it.
    ///
    /// Waits up to half a second, because [`DataDir::holder`] also holds the lock for a moment.
    ///
    /// # Errors
    /// When the lock file cannot be created or locked.
    pub async fn lock(&self) -> io::Result<Option<DirLock>> {
        let options = &mut OpenOptions::new();
        let file = self.open_lock(options.create(true).truncate(false).write(true).mode(0o600))?;
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Some(DirLock(file))),
                Err(TryLockError::WouldBlock) => {
                    tokio::time::sleep(Duration::from_millis(25)).await
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Checks whether a service is running on this directory; creates nothing.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn holder(&self) -> io::Result<Holder> {
        let lock = match self.open_lock(OpenOptions::new().read(true)) {
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

    /// Behind a link, the lock would be one of another directory.
    fn open_lock(&self, options: &mut OpenOptions) -> io::Result<File> {
        let path = self.path.join("lock");
        if path.is_symlink() {
            return Err(io::Error::other(format!(
                "its lock is a link: remove it with `rm {}`",
                path.display()
            )));
        }
        open_regular(&path, options).map_err(|error| match InputError::in_error(&error) {
            Some(InputError { problem, .. }) => io::Error::other(format!(
                "its lock is {problem}: remove it with `rm {}`",
                path.display()
            )),
            None => error,
        })
    }

    /// The contents of `service.json`; those of the last service when none is running.
    pub fn info(&self) -> Option<ServiceInfo> {
        read_info(&self.path.join(INFO_FILE))
    }

    /// Renames `service.json` and returns its contents: until the new service is ready, no client
    /// must read the URLs of the last one.
    pub(crate) fn take_last_info(&self) -> Option<ServiceInfo> {
        // The file is missing after a failed start, which has renamed it already.
        let last = self.path.join("last.json");
        let _ = fs::rename(self.path.join(INFO_FILE), &last);
        read_info(&last)
    }

    /// Writes `service.json` atomically.
    pub(crate) fn write_info(&self, info: &ServiceInfo) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        serde_json::to_writer_pretty(&mut file, info)?;
        file.write_all(b"\n")?;
        file.persist(self.path.join(INFO_FILE))?;
        Ok(())
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn read_info(file: &Path) -> Option<ServiceInfo> {
    serde_json::from_slice(&read(file, InputKind::Settings).ok()?).ok()
}

/// Reads the secret in `file`, or creates a new one (0600) if the file is missing.
///
/// # Errors
/// When the file cannot be read or created, or is empty.
pub(crate) fn secret(file: &Path) -> io::Result<String> {
    match read_text(file, InputKind::Secret) {
        Ok(text) => match text.trim() {
            "" => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "file is empty; delete it to create a new key",
            )),
            secret => {
                restrict_mode(file)?;
                Ok(secret.to_owned())
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_secret(file),
        Err(error) => Err(error),
    }
}

fn create_secret(file: &Path) -> io::Result<String> {
    let bytes: [u8; 32] = rand::random();
    let secret = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let mut created = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(file)?;
    writeln!(created, "{secret}")?;
    created.sync_all()?;
    Ok(secret)
}

/// The API key in `file`, as [`secret`].
///
/// # Errors
/// Those of [`secret`], and when the key is short enough to be guessed.
pub(crate) fn api_key(file: &Path) -> Result<String, StartError> {
    let key = secret(file).map_err(|cause| StartError::Files {
        path: file.to_owned(),
        cause,
    })?;
    match key.chars().count() {
        MIN_KEY.. => Ok(key),
        length => Err(StartError::Settings(format!(
            "cannot use {}: the key has {} and can be guessed; use at least {MIN_KEY} characters, \
             or delete the file for a new key",
            file.display(),
            plural(length, "character")
        ))),
    }
}

async fn refuse_partial_copy(store: &Store, address: &DatabaseAddress) -> Result<(), StartError> {
    match store.is_partial_copy().await.map_err(StartError::Store)? {
        true => Err(StartError::Settings(format!(
            "the database of {address} is an incomplete copy: repeat `scandeck migrate`"
        ))),
        false => Ok(()),
    }
}

/// Whoever can write in a directory above can put another one in the place of the data directory,
/// unless the sticky bit protects it. The administrators and a group of this user alone are no
/// others.
fn refuse_open_parent(parent: &Path) -> io::Result<()> {
    let found = fs::metadata(parent)?;
    let mode = found.mode() & 0o7777;
    let is_open_to_group = mode & 0o020 != 0 && found.gid() != 0 && !is_private_group(found.gid());
    if mode & 0o1000 != 0 || (mode & 0o002 == 0 && !is_open_to_group) {
        return Ok(());
    }
    let shown = parent.display();
    let why = format!(
        "other users can replace it, they can write in {shown} (mode {mode:04o}): `chmod go-w {shown}`"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Removes the access of others; the file of another owner is left unchanged.
fn restrict_mode(file: &Path) -> io::Result<()> {
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
    fn service_info_survives_writing_and_failed_starts() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        let url = |text: &str| Url::parse(text).unwrap();
        let info = ServiceInfo {
            base_url: url("http://127.0.0.1:1/api/v2"),
            logger_url: url("http://127.0.0.1:2/"),
            previous_logger_url: Some("http://127.0.0.1:3/".into()),
            pid: 7,
            api_key_file: Some("/etc/scandeck/key".into()),
            database_file: Some("/etc/scandeck/database".into()),
            logger_days: 5,
        };
        dir.write_info(&info).unwrap();
        assert_eq!(dir.info().as_ref(), Some(&info));
        for _ in 0..2 {
            assert_eq!(
                dir.take_last_info().as_ref(),
                Some(&info),
                "a failed start loses nothing"
            );
            assert_eq!(dir.info(), None);
        }
    }

    #[test]
    fn opening_an_existing_directory_creates_no_files() {
        let temp = tempfile::tempdir().unwrap();
        assert!(
            DataDir::existing(temp.path().join("none"))
                .unwrap()
                .is_none()
        );
        let dir = DataDir::existing(temp.path()).unwrap().unwrap();
        assert!(matches!(dir.holder().unwrap(), Holder::Nobody));
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
        fs::write(temp.path().join("file"), "").unwrap();
        for error in [
            DataDir::existing(temp.path().join("file")).err(),
            DataDir::open(temp.path().join("file")).err(),
        ] {
            assert_eq!(error.unwrap().to_string(), "not a directory");
        }
    }

    #[test]
    fn copies_of_the_database_are_files_with_its_name_and_a_number() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        for other in [
            "secrets.key.bak-1",
            "scandeck.db.bak-",
            "scandeck.db.bak-1-wal",
        ] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        fs::create_dir(dir.path().join("scandeck.db.bak-2")).unwrap();
        assert!(dir.database_copies().is_empty());
        let copy = dir.path().join("scandeck.db.bak-10");
        fs::write(&copy, "").unwrap();
        assert_eq!(dir.database_copies(), [copy]);
    }

    #[test]
    fn directory_that_others_can_write_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let open_with = |mode: u32| {
            fs::set_permissions(temp.path(), fs::Permissions::from_mode(mode)).unwrap();
            DataDir::open(temp.path())
        };
        for mode in [0o720, 0o702, 0o1777] {
            let error = open_with(mode).unwrap_err().to_string();
            assert!(
                error.contains("other users can write") && error.contains("chmod go-w /"),
                "{error}"
            );
        }
        assert!(open_with(0o755).is_ok());
    }

    #[test]
    fn directory_that_others_can_replace_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let open_below = |mode: u32| {
            fs::set_permissions(temp.path(), fs::Permissions::from_mode(mode)).unwrap();
            DataDir::open(temp.path().join("state/data"))
        };
        let error = open_below(0o777).unwrap_err().to_string();
        let remedy = format!(
            "`chmod go-w {}`",
            temp.path().canonicalize().unwrap().display()
        );
        assert!(
            error.contains("other users can replace it") && error.ends_with(&remedy),
            "{error}"
        );
        for mode in [0o1777, 0o755, 0o700] {
            assert!(open_below(mode).is_ok(), "{mode:o}");
        }
    }

    #[tokio::test]
    async fn lock_that_is_a_link_or_pipe_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path().join("data")).unwrap();
        let lock = dir.path().join("lock");
        let elsewhere = temp.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        for error in [dir.lock().await.unwrap_err(), dir.holder().unwrap_err()] {
            assert!(
                error
                    .to_string()
                    .starts_with("its lock is a link: remove it with `rm /"),
                "{error}"
            );
        }
        assert!(!elsewhere.exists());
        fs::remove_file(&lock).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &lock, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for error in [dir.lock().await.unwrap_err(), dir.holder().unwrap_err()] {
            assert!(
                error
                    .to_string()
                    .starts_with("its lock is a named pipe, not a file: remove it"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn lock_is_exclusive_and_released_on_drop() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path().join("a/b")).unwrap();
        assert!(matches!(dir.holder().unwrap(), Holder::Nobody));
        let lock = dir.lock().await.unwrap();
        assert!(lock.is_some());
        assert!(matches!(dir.holder().unwrap(), Holder::Running(None)));
        assert!(dir.lock().await.unwrap().is_none());
        drop(lock);
        assert!(dir.lock().await.unwrap().is_some());
    }

    #[test]
    fn secret_is_created_once_and_made_private() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("key");
        let first = secret(&file).unwrap();
        assert!(first.len() >= 40);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(secret(&file).unwrap(), first);
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::write(&file, "\n").unwrap();
        assert!(secret(&file).is_err());
    }

    #[test]
    fn api_key_that_can_be_guessed_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("key");
        assert!(api_key(&file).unwrap().len() >= MIN_KEY);
        fs::write(&file, "x\n").unwrap();
        let refusal = api_key(&file).unwrap_err().to_string();
        assert!(
            refusal.ends_with("use at least 16 characters, or delete the file for a new key"),
            "{refusal}"
        );
        fs::write(&file, "0123456789abcdef\n").unwrap();
        assert_eq!(api_key(&file).unwrap(), "0123456789abcdef");
    }
}
