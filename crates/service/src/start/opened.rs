//! The data directory with what it needs before the first request: lock, store, keys, row of the
//! node.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use super::scans::scope_check_settings;
use super::sockets::{Sockets, local_url};
use crate::clock::Clock;
use crate::data::data_dir::{DataDir, DirLock, ServiceInfo, api_key, secret};
use crate::data::service_scope::ServiceScope;
use crate::errors::StartError;
use crate::guards::secrets::{ScanSecrets, fingerprint};
use crate::runs::claims;
use crate::scope_check::ScopeCheck;
use crate::settings::Settings;
use crate::store::jobs::seal_copy;
use crate::store::nodes::{NodeDetails, NodeRegistration, SharedKey};
use crate::store::{DatabaseAddress, OpenedStore, Store};
use crate::wordlist_words::{PREDEFINED, WordlistWords};
use scandeck_wire::login::login;

/// The data directory, locked, with its store and its keys.
pub(super) struct OpenedDir {
    pub dir: DataDir,
    pub lock: DirLock,
    /// What an earlier process wrote for clients.
    pub last: Option<ServiceInfo>,
    pub store: Store,
    pub keys: ServiceKeys,
    pub scope_check: Arc<ScopeCheck>,
    /// Notices for the user.
    pub notes: Vec<String>,
}

impl OpenedDir {
    pub async fn open(settings: &Settings) -> Result<Self, StartError> {
        let dir = DataDir::open(&settings.data_dir).map_err(files(&settings.data_dir))?;
        let dir = dir.of_service(settings.database.clone());
        let Some(lock) = dir.lock().await.map_err(files(dir.path()))? else {
            return Err(StartError::Held {
                dir: dir.path().to_owned(),
                info: dir.info().map(Box::new),
            });
        };
        let last = dir.take_last_info();
        let scope_check = Arc::new(ScopeCheck::new(scope_check_settings(settings, &dir)?));
        let OpenedStore { store, notes } = dir.open_store().await?;
        let keys = ServiceKeys::read(settings, &dir)?;
        seal_credentials(&store, &dir, &keys.scans).await?;
        Ok(Self {
            dir,
            lock,
            last,
            store: store.of_node(node_details(settings, &keys)),
            keys,
            scope_check,
            notes,
        })
    }

    /// Adds this node to those of the database, takes over the scans of nodes that have ended, and
    /// prepares the store and the scope. A refused node changes nothing. Returns a notice if the
    /// scope file was stored.
    pub async fn register(
        &self,
        settings: &Settings,
        clock: &dyn Clock,
    ) -> Result<Option<String>, StartError> {
        let difference = claims::clock_difference(&self.store).await;
        clock.follow(difference.map_err(StartError::Store)?);
        let registered = self.store.register(clock.now()).await;
        match registered.map_err(StartError::Store)? {
            NodeRegistration::Done => {
                prepare(&self.store, settings).await?;
                ServiceScope::new(&self.dir).share(&self.store).await
            }
            NodeRegistration::OtherKey { key, name } => Err(self.other_key(settings, key, name)),
            NodeRegistration::NewerSchema(found) => Err(self.newer_schema(found)),
        }
    }

    fn other_key(&self, settings: &Settings, key: SharedKey, node: String) -> StartError {
        let (file, other_remedy) = match key {
            SharedKey::Secrets => (
                secrets_file(settings, &self.dir),
                ", or name it with --secrets-key-file",
            ),
            SharedKey::Callbacks => (self.dir.callback_key_file(), ""),
        };
        StartError::OtherKey {
            file,
            node,
            other_remedy,
        }
    }

    fn newer_schema(&self, found: i64) -> StartError {
        let postgres = self.dir.postgres().map(DatabaseAddress::database);
        StartError::Newer {
            path: postgres.unwrap_or_else(|| self.dir.database()),
            found,
            known: Store::postgres_schema(),
        }
    }

    /// Stores the address of the service for clients of this machine; returns a notice if the
    /// logger URLs have changed.
    pub fn announce(
        &self,
        settings: &Settings,
        sockets: &Sockets,
        logger_base: &Url,
    ) -> Result<Option<String>, StartError> {
        let last = self.last.as_ref().map(|last| &last.logger_url);
        let previous = last.filter(|last| *last != logger_base);
        let key_file = settings.api_key_file.as_ref();
        let info = ServiceInfo {
            // Only processes of this machine read the file.
            base_url: local_url(settings, sockets.api_address)?,
            logger_url: logger_base.clone(),
            previous_logger_url: previous.map(Url::to_string),
            pid: std::process::id(),
            api_key_file: key_file.and_then(|file| file.canonicalize().ok()),
            database_file: settings.database.as_ref().and_then(DatabaseAddress::file),
            logger_days: settings.logger_days,
        };
        self.dir.write_info(&info).map_err(files(self.dir.path()))?;
        Ok(previous.map(|previous| {
            format!(
                "logger URLs changed from {previous} to {logger_base}; old URLs no longer record"
            )
        }))
    }
}

pub(super) struct ServiceKeys {
    /// The API key of the data directory.
    pub admin: String,
    /// Signs callbacks.
    pub callback: String,
    /// Encrypts the credentials of scans.
    pub scans: ScanSecrets,
}

impl ServiceKeys {
    fn read(settings: &Settings, dir: &DataDir) -> Result<Self, StartError> {
        let key_file = settings.api_key_file.clone();
        let admin = api_key(&key_file.unwrap_or_else(|| dir.key_file()))?;
        let callback_file = dir.callback_key_file();
        let callback = secret(&callback_file).map_err(files(&callback_file))?;
        let scans = scan_secrets(settings, dir)?;
        Ok(Self {
            admin,
            callback,
            scans,
        })
    }
}

/// Encrypts the credentials of scans that earlier versions stored as text, also in copies.
async fn seal_credentials(
    store: &Store,
    dir: &DataDir,
    secrets: &ScanSecrets,
) -> Result<(), StartError> {
    store.seal_jobs(secrets).await.map_err(StartError::Store)?;
    for copy in dir.database_copies() {
        if let Err(error) = seal_copy(&copy, secrets).await {
            tracing::warn!(copy = %copy.display(), %error, "credentials of scans in this copy not encrypted");
        }
    }
    Ok(())
}

/// The key of the credentials of scans. It has a file of its own: a copy of the database does not
/// contain it.
fn scan_secrets(settings: &Settings, dir: &DataDir) -> Result<ScanSecrets, StartError> {
    let file = secrets_file(settings, dir);
    let secret = secret(&file).map_err(files(&file))?;
    ScanSecrets::new(&secret)
        .ok_or_else(|| StartError::Settings(format!("{} has no usable key", file.display())))
}

fn secrets_file(settings: &Settings, dir: &DataDir) -> PathBuf {
    let file = settings.secrets_key_file.clone();
    file.unwrap_or_else(|| dir.secrets_key_file())
}

/// What the other nodes of the database see of this one.
fn node_details(settings: &Settings, keys: &ServiceKeys) -> NodeDetails {
    let user = login(|name| std::env::var(name).ok());
    let (_, host) = user.rsplit_once('@').unwrap_or_default();
    let roles: Vec<&str> = settings.roles.iter().map(|role| role.as_str()).collect();
    NodeDetails {
        name: host.to_owned(),
        roles: roles.join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        secrets_key: keys.scans.fingerprint().to_owned(),
        callback_key: fingerprint(&keys.callback),
        place: String::new(),
        lease: settings.lease,
    }
}

/// Prepares the store before the first request: current workspace, predefined wordlists.
async fn prepare(store: &Store, settings: &Settings) -> Result<(), StartError> {
    if let Some(id) = settings.current_workspace
        && !store
            .set_current_workspace(id)
            .await
            .map_err(StartError::Store)?
    {
        return Err(StartError::Settings(format!(
            "--current-workspace {id}: workspace {id} not found"
        )));
    }
    for list in PREDEFINED {
        let words = WordlistWords::parse(list.file);
        store
            .upsert_predefined_wordlist(list.name, list.description, &words)
            .await
            .map_err(StartError::Store)?;
    }
    Ok(())
}

fn files(path: &Path) -> impl FnOnce(std::io::Error) -> StartError + use<> {
    let path = path.to_owned();
    move |cause| StartError::Files { path, cause }
}
