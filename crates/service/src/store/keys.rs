//! API keys in the store: names, roles and hashes, never the keys.

use jiff::Timestamp;

use super::nodes::{delete_rows, worker_home};
use super::sql::{SqlRow, sql};
use super::{DatabaseError, Store, StoreResult, is_duplicate, millis, stamp};
use crate::guards::keys::Role;
use crate::place::WorkerPlace;
use scandeck_wire::contract::Stamp;

/// A stored key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    pub id: i64,
    pub name: String,
    pub role: Role,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    pub created_at: Stamp,
    /// `login@host` of the user who added it.
    pub created_by: String,
    /// The last use, exact to a minute.
    pub last_used_at: Option<Stamp>,
    /// The place of the worker that uses the key.
    pub place: Option<WorkerPlace>,
}

/// What a new key is for.
#[derive(Clone, Copy, Debug)]
pub struct KeyUse<'a> {
    pub role: Role,
    pub place: Option<&'a WorkerPlace>,
}

fn key_of(row: &SqlRow) -> StoreResult<KeyRow> {
    let role: &str = row.get("role")?;
    let hash: Vec<u8> = row.get("hash")?;
    let place: &str = row.get("place")?;
    Ok(KeyRow {
        id: row.get("id")?,
        name: row.get("name")?,
        role: role
            .parse()
            .map_err(|error: String| DatabaseError::Decode(error.into()))?,
        hash: hash
            .try_into()
            .map_err(|_| DatabaseError::Decode("a hash has 32 bytes".into()))?,
        created_at: stamp(row.get("created_at")?),
        created_by: row.get("created_by")?,
        last_used_at: row.get::<Option<i64>>("last_used_at")?.map(stamp),
        // Empty for a key of another role.
        place: place.parse().ok(),
    })
}

impl Store {
    /// All keys in the order of their names.
    pub async fn keys(&self) -> StoreResult<Vec<KeyRow>> {
        sql("SELECT id, name, role, hash, created_at, created_by, last_used_at, place FROM api_keys ORDER BY name")
            .all_as(self.read(), key_of)
            .await
    }

    /// Adds a key; false when the name is taken.
    pub async fn add_key(
        &self,
        name: &str,
        key_use: KeyUse<'_>,
        hash: [u8; 32],
        created_by: &str,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let insert =
            sql("INSERT INTO api_keys (name, role, hash, created_at, created_by, place) VALUES ($1, $2, $3, $4, $5, $6)")
                .bind(name)
                .bind(key_use.role.as_str())
                .bind(hash.to_vec())
                .bind(millis(now))
                .bind(created_by)
                .bind(key_use.place.map_or("", WorkerPlace::as_str));
        match self.execute(insert).await {
            Ok(_) => Ok(true),
            Err(error) if is_duplicate(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes a key, and ends the claims of its workers; false when it does not exist.
    pub async fn delete_key(&self, name: &str) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let deleted = sql("DELETE FROM api_keys WHERE name = $1")
            .bind(name)
            .execute(&mut change)
            .await?;
        let workers: Vec<String> = sql("SELECT id FROM nodes WHERE home = $1")
            .bind(worker_home(name))
            .all(&mut change)
            .await?;
        delete_rows(&mut change, &workers).await?;
        change.commit().await?;
        Ok(deleted > 0)
    }

    /// Stores the last use of a key.
    pub async fn set_key_used(&self, id: i64, now: Timestamp) -> StoreResult<()> {
        let update = sql("UPDATE api_keys SET last_used_at = $1 WHERE id = $2");
        self.execute(update.bind(millis(now)).bind(id))
            .await
            .map(drop)
    }
}
