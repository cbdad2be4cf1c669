//! API keys in the store: names, roles and hashes, never the keys.

use jiff::Timestamp;

use super::sql::{SqlRow, sql};
use super::{DatabaseError, Store, StoreResult, is_duplicate, millis, stamp};
use crate::guards::keys::Role;
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
}

fn key_of(row: &SqlRow) -> StoreResult<KeyRow> {
    let role: &str = row.get("role")?;
    let hash: Vec<u8> = row.get("hash")?;
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
    })
}

impl Store {
    /// All keys in the order of their names.
    pub async fn keys(&self) -> StoreResult<Vec<KeyRow>> {
        sql("SELECT id, name, role, hash, created_at, created_by, last_used_at FROM api_keys ORDER BY name")
            .all_as(self.read(), key_of)
            .await
    }

    /// Adds a key; false when the name is taken.
    pub async fn add_key(
        &self,
        name: &str,
        role: Role,
        hash: [u8; 32],
        created_by: &str,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let insert =
            sql("INSERT INTO api_keys (name, role, hash, created_at, created_by) VALUES ($1, $2, $3, $4, $5)")
                .bind(name)
                .bind(role.as_str())
                .bind(hash.to_vec())
                .bind(millis(now))
                .bind(created_by);
        match self.execute(insert).await {
            Ok(_) => Ok(true),
            Err(error) if is_duplicate(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes a key; false when it does not exist.
    pub async fn delete_key(&self, name: &str) -> StoreResult<bool> {
        let deleted = self
            .execute(sql("DELETE FROM api_keys WHERE name = $1").bind(name))
            .await?;
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
