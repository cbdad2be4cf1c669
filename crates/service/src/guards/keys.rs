//! API keys: the key file, and named keys with roles.
//!
//! ```text
//!   scandeck keys add ci --role scan ─► SHA-256 in the database         the key itself is printed once
//!   request ─► key ─► KeyRing ─► KeyIdentity { name, role } ─► role of the request? ─► 403, or the handler
//! ```
//!
//! A command changes the keys while the service runs, so the ring reads them again after a second.
//! The key of the key file has the role `admin`.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;
use base64::Engine as _;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::api::router::PREFIX;
use crate::data::data_dir::DataDir;
use crate::errors::StartError;
use crate::place::WorkerPlace;
use crate::routes::team;
use crate::runs::remote::protocol::WORKER_ROOT;
use crate::store::Store;
pub use crate::store::keys::KeyRow;
use crate::store::keys::KeyUse;
use scandeck_wire::contract::import::FINDINGS_IMPORT;
use scandeck_wire::contract::schedule::SCHEDULES_ROOT;
use scandeck_wire::contract::target_tags::TAGGED_TARGETS_ROOT;

/// How long the keys that were read are used.
const FRESH: Duration = Duration::from_secs(1);
/// How exact the last use is stored, in milliseconds.
const USE_INTERVAL: i64 = 60_000;
/// The name of the key file in logs.
const KEY_FILE: &str = "key file";

/// The permissions of a key; each role from `read` on includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Runs scans of one place, and reads nothing (`routes/worker.rs`).
    Worker,
    /// Reads everything.
    Read,
    /// Also reports, HTTP loggers and decisions.
    Triage,
    /// Also targets, scans and wordlists.
    Scan,
    /// Also workspaces, and the deletion of decisions.
    Admin,
}

impl Role {
    pub const ALL: [Role; 5] = [
        Role::Worker,
        Role::Read,
        Role::Triage,
        Role::Scan,
        Role::Admin,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Read => "read",
            Role::Triage => "triage",
            Role::Scan => "scan",
            Role::Admin => "admin",
        }
    }

    /// The role that a request requires.
    pub fn required(method: &Method, path: &str) -> Self {
        if matches!(*method, Method::GET | Method::HEAD) {
            return Role::Read;
        }
        if path.starts_with(SCHEDULES_ROOT) || path.starts_with(TAGGED_TARGETS_ROOT) {
            return Role::Scan;
        }
        if path.starts_with(WORKER_ROOT) {
            return Role::Worker;
        }
        if path.starts_with(team::PREFIX) {
            return match *method {
                Method::POST => Role::Triage,
                _ => Role::Admin,
            };
        }
        let path = path.strip_prefix(PREFIX).unwrap_or(path);
        match path.split('/').nth(1).unwrap_or_default() {
            "reports" | "http_loggers" => Role::Triage,
            "targets" | "scans" | "wordlists" | "imports" => Role::Scan,
            "findings" if path == FINDINGS_IMPORT => Role::Scan,
            _ => Role::Admin,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Role::ALL.map(Role::as_str).join(", ");
        Role::ALL
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| format!("use one of {}", known()))
    }
}

/// Who sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyIdentity {
    pub name: String,
    pub role: Role,
    /// The place of the worker that uses the key.
    pub place: Option<WorkerPlace>,
}

impl KeyIdentity {
    /// The key that created a schedule, by its name. A revoked one counts as a key with the role
    /// `scan`, which it needed.
    pub fn of_creator(name: &str, stored: &[KeyRow]) -> Self {
        let role = match stored.iter().find(|key| key.name == name) {
            Some(key) => key.role,
            None if name == KEY_FILE => Role::Admin,
            None => Role::Scan,
        };
        Self {
            name: name.to_owned(),
            role,
            place: None,
        }
    }

    /// The name of the key; `None` for the key file, which belongs to no member.
    pub fn member(&self) -> Option<&str> {
        // No name of a key has a space.
        Some(self.name.as_str()).filter(|name| *name != KEY_FILE)
    }
}

/// The keys that the service accepts.
pub struct KeyRing {
    /// SHA-256 of the key in the key file.
    key_file: [u8; 32],
    stored: Mutex<StoredKeys>,
}

#[derive(Default)]
struct StoredKeys {
    read_at: Option<Instant>,
    keys: Vec<KeyRow>,
}

impl KeyRing {
    /// Accepts this key, and those in the store.
    pub fn new(key_file: &str) -> Self {
        Self {
            key_file: hash(key_file),
            stored: Mutex::default(),
        }
    }

    /// Who has this key; `None` for an unknown one. Records its use. With `may_read`, an unknown
    /// key causes a query.
    pub async fn identify(
        &self,
        store: &Store,
        key: &str,
        may_read: bool,
        now: Timestamp,
    ) -> Option<KeyIdentity> {
        let hash = hash(key);
        // Both sides are hashes of equal length, so the comparison reveals nothing about the key.
        if bool::from(hash.ct_eq(&self.key_file)) {
            return Some(KeyIdentity {
                name: KEY_FILE.to_owned(),
                role: Role::Admin,
                place: None,
            });
        }
        if self.is_old() {
            self.read(store).await;
        }
        let (found, is_use_due) = match self.find(&hash, now) {
            Some(found) => found,
            None if !may_read => return None,
            // It may have been added just now.
            None => {
                self.read(store).await;
                self.find(&hash, now)?
            }
        };
        if is_use_due {
            let (store, id) = (store.clone(), found.id);
            tokio::spawn(async move {
                if let Err(error) = store.set_key_used(id, now).await {
                    tracing::warn!(%error, "last use of a key not stored");
                }
            });
        }
        Some(KeyIdentity {
            name: found.name,
            role: found.role,
            place: found.place,
        })
    }

    /// The key with this hash, and whether its use is to be stored.
    fn find(&self, hash: &[u8; 32], now: Timestamp) -> Option<(KeyRow, bool)> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stored
            .keys
            .iter_mut()
            .find(|key| bool::from(key.hash.ct_eq(hash)))?;
        let since = found
            .last_used_at
            .map(|last| now.as_millisecond() - last.0.as_millisecond());
        let is_use_due = since.is_none_or(|since| !(0..USE_INTERVAL).contains(&since));
        if is_use_due {
            found.last_used_at = Some(scandeck_wire::contract::Stamp(now));
        }
        Some((found.clone(), is_use_due))
    }

    /// Whether a command may have changed the keys.
    fn is_old(&self) -> bool {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.read_at.is_none_or(|at| at.elapsed() > FRESH)
    }

    async fn read(&self, store: &Store) {
        let read_at = Some(Instant::now());
        match store.keys().await {
            Ok(keys) => {
                let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
                // A slow query must not bring a revoked key back that a later one did not find.
                if stored.read_at < read_at {
                    *stored = StoredKeys { read_at, keys };
                }
            }
            Err(error) => tracing::error!(%error, "API keys not read"),
        }
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Adds a key with or without a running service; returns it, or `None` when the name is taken. Only
/// its hash is stored.
///
/// # Errors
/// When the database cannot be opened or written.
pub async fn add_key(
    dir: &DataDir,
    name: &str,
    role: Role,
    who: &str,
) -> Result<Option<String>, StartError> {
    add_key_of(dir, name, KeyUse { role, place: None }, who).await
}

/// [`add_key`] for a worker of a place.
///
/// # Errors
/// The errors of [`add_key`].
pub async fn add_worker_key(
    dir: &DataDir,
    name: &str,
    place: &WorkerPlace,
    who: &str,
) -> Result<Option<String>, StartError> {
    let key_use = KeyUse {
        role: Role::Worker,
        place: Some(place),
    };
    add_key_of(dir, name, key_use, who).await
}

async fn add_key_of(
    dir: &DataDir,
    name: &str,
    key_use: KeyUse<'_>,
    who: &str,
) -> Result<Option<String>, StartError> {
    let bytes: [u8; 32] = rand::random();
    // The prefix lets secret scanners recognise a key.
    let key = format!(
        "scandeck_{}",
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
    );
    let (store, _lock) = dir.open_store_for_command().await?;
    let added = store
        .add_key(name, key_use, hash(&key), who, Timestamp::now())
        .await
        .map_err(StartError::Store);
    store.close().await;
    Ok(added?.then_some(key))
}

/// The stored keys.
///
/// # Errors
/// When the database cannot be opened or read.
pub async fn list_keys(dir: &DataDir) -> Result<Vec<KeyRow>, StartError> {
    let (store, _lock) = dir.open_store_for_command().await?;
    let keys = store.keys().await.map_err(StartError::Store);
    store.close().await;
    keys
}

/// Deletes a key; a running service refuses it within a second, and other workers take over the
/// scans of the workers that used it. False when it does not exist.
///
/// # Errors
/// When the database cannot be opened or written.
pub async fn revoke_key(dir: &DataDir, name: &str) -> Result<bool, StartError> {
    let (store, _lock) = dir.open_store_for_command().await?;
    let deleted = store.delete_key(name).await.map_err(StartError::Store);
    store.close().await;
    deleted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoked_creator_of_a_schedule_has_the_role_scan() {
        let role = |name| KeyIdentity::of_creator(name, &[]).role;
        assert_eq!([role(KEY_FILE), role("gone")], [Role::Admin, Role::Scan]);
    }

    #[test]
    fn each_change_requires_its_role() {
        for (method, path, role) in [
            (Method::GET, "/api/v2/workspaces", Role::Read),
            (Method::POST, "/api/v2/reports", Role::Triage),
            (Method::DELETE, "/api/v2/http_loggers/7/data", Role::Triage),
            (Method::POST, "/api/v2/scans/7/stop", Role::Scan),
            (Method::POST, "/api/v2/targets", Role::Scan),
            (Method::DELETE, "/api/v2/wordlists/7", Role::Scan),
            (Method::POST, "/api/v2/imports", Role::Scan),
            (Method::GET, "/api/v2/imports/7", Role::Read),
            (Method::POST, "/api/v2/findings/import", Role::Scan),
            (Method::POST, "/api/v2/findings/7", Role::Admin),
            (Method::PUT, "/api/v2/workspaces/7", Role::Admin),
            (Method::POST, "/api/v2/unknown", Role::Admin),
            (Method::GET, "/scandeck/v1/me", Role::Read),
            (Method::GET, "/scandeck/v1/nodes", Role::Read),
            (Method::POST, "/scandeck/v1/worker/claim", Role::Worker),
            (
                Method::POST,
                "/scandeck/v1/workspaces/7/events",
                Role::Triage,
            ),
            (
                Method::DELETE,
                "/scandeck/v1/workspaces/7/events",
                Role::Admin,
            ),
            (Method::POST, "/scandeck/v1/schedules", Role::Scan),
            (Method::DELETE, "/scandeck/v1/schedules/7", Role::Scan),
            (Method::POST, "/scandeck/v1/targets/7/tags", Role::Scan),
        ] {
            assert_eq!(Role::required(&method, path), role, "{method} {path}");
        }
        assert!(Role::Admin > Role::Scan && Role::Scan > Role::Triage && Role::Triage > Role::Read);
        assert!(Role::Read > Role::Worker);
        assert!(
            "root"
                .parse::<Role>()
                .unwrap_err()
                .contains("read, triage, scan, admin")
        );
    }
}
