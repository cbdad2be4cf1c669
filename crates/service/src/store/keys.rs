//! API keys in the store: names, roles and hashes, never the keys.

use jiff::Timestamp;
use sqlx::Row;

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

impl Store {
    /// All keys in the order of their names.
    pub async fn keys(&self) -> StoreResult<Vec<KeyRow>> {
        let rows = sqlx::query(
            "SELECT id, name, role, hash, created_at, created_by, last_used_at FROM api_keys ORDER BY name",
        )
        .fetch_all(self.read())
        .await?;
        rows.iter()
            .map(|row| {
                let role: &str = row.try_get("role")?;
                let hash: Vec<u8> = row.try_get("hash")?;
                Ok(KeyRow {
                    id: row.try_get("id")?,
                    name: row.try_get("name")?,
                    role: role
                        .parse()
                        .map_err(|error: String| DatabaseError::Decode(error.into()))?,
                    hash: hash
                        .try_into()
                        .map_err(|_| DatabaseError::Decode("a hash has 32 bytes".into()))?,
                    created_at: stamp(row.try_get("created_at")?),
                    created_by: row.try_get("created_by")?,
                    last_used_at: row.try_get::<Option<i64>, _>("last_used_at")?.map(stamp),
                })
            })
            .collect()
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
            sqlx::query("INSERT INTO api_keys (name, role, hash, created_at, created_by) VALUES ($1, $2, $3, $4, $5)")
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
            .execute(sqlx::query("DELETE FROM api_keys WHERE name = $1").bind(name))
            .await?;
        Ok(deleted > 0)
    }

    /// Stores the last use of a key. The version of the store is unchanged, because no list of the
    /// API contains it.
    pub async fn set_key_used(&self, id: i64, now: Timestamp) -> StoreResult<()> {
        let mut connection = self.write.acquire().await?;
        sqlx::query("UPDATE api_keys SET last_used_at = $1 WHERE id = $2")
            .bind(millis(now))
            .bind(id)
            .execute(&mut *connection)
            .await
            .map(drop)
    }
}
