//! Storage of payloads.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use sqlx::{QueryBuilder, Sqlite};

use super::{CHUNK, Store, StoreError, last_row};
use crate::oob::Payload;
use crate::oob::payload::canonical;

/// A payload to store.
pub(super) struct PayloadRow {
    pub(super) token: String,
    pub(super) workspace: String,
    pub(super) version: i64,
    pub(super) json: String,
    /// Its position at the service, if it comes from there.
    pub(super) position: Option<i64>,
}

impl Store {
    /// Stores payloads in one transaction. A greater stored version remains.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing was stored.
    pub async fn plant(&mut self, payloads: &[Arc<Payload>]) -> Result<(), StoreError> {
        let row = |payload: &Arc<Payload>| PayloadRow {
            token: payload.token.to_string(),
            workspace: payload.workspace.to_string(),
            version: payload.version,
            json: payload.line(),
            position: None,
        };
        self.put_payloads(payloads.iter().map(row).collect())
            .await
            .map(drop)
    }

    /// Stores each row that is greater than the stored one of its token, and returns how many are.
    /// A row that is there already gets its position.
    pub(super) async fn put_payloads(
        &mut self,
        rows: Vec<PayloadRow>,
    ) -> Result<usize, StoreError> {
        let mut stored_rows = 0;
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        let before = last_row("payloads")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        for chunk in rows.chunks(CHUNK) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT token, version, json FROM payloads WHERE token IN (",
            );
            let mut tokens = query.separated(", ");
            for row in chunk {
                tokens.push_bind(row.token.as_str());
            }
            query.push(")");
            let stored: Vec<(String, i64, String)> = query
                .build_query_as()
                .fetch_all(&mut *change)
                .await
                .map_err(&failed)?;
            let rank = |version: i64, json: &str| (version, canonical(json));
            let mut greatest: HashMap<String, (i64, String)> = stored
                .into_iter()
                .map(|(token, version, json)| (token, rank(version, &json)))
                .collect();
            for row in chunk {
                let new = rank(row.version, &row.json);
                let order = greatest.get(&row.token).map(|old| old.cmp(&new));
                stored_rows += usize::from(order.is_none_or(Ordering::is_lt));
                let query = match order {
                    Some(Ordering::Greater) => continue,
                    Some(Ordering::Equal) => sqlx::query(
                        "UPDATE payloads SET workspace = ?1, refused = NULL, position = coalesce(?2, position)
                        WHERE token = ?3",
                    )
                    .bind(row.workspace.as_str())
                    .bind(row.position)
                    .bind(row.token.as_str()),
                    // A payload that is changed here remains under the present name of its workspace.
                    _ => sqlx::query(
                        "INSERT OR REPLACE INTO payloads (workspace, position, token, version, json)
                        VALUES (coalesce(iif(?2 IS NULL, (SELECT workspace FROM payloads WHERE token = ?3), NULL), ?1),
                            ?2, ?3, ?4, ?5)",
                    )
                    .bind(row.workspace.as_str())
                    .bind(row.position)
                    .bind(row.token.as_str())
                    .bind(row.version)
                    .bind(row.json.as_str()),
                };
                query.execute(&mut *change).await.map_err(&failed)?;
                greatest.insert(row.token.clone(), new);
            }
        }
        let last = last_row("payloads")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        change.commit().await.map_err(&failed)?;
        // No other instance added payloads in between, so there is no news before these rows.
        if before == self.last_payload {
            self.last_payload = last;
        }
        Ok(stored_rows)
    }

    /// Payloads of a workspace in order of storage.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn payloads_of(&mut self, workspace: &str) -> Result<Vec<Arc<Payload>>, StoreError> {
        let failed = self.file.failed();
        let query =
            sqlx::query_as("SELECT row, json FROM payloads WHERE workspace = ? ORDER BY row");
        let query = query.bind(workspace.to_owned());
        parsed(
            query
                .fetch_all(&mut self.file.connection)
                .await
                .map_err(failed)?,
        )
        .await
    }

    /// Payloads added or changed since the last call.
    pub(super) async fn new_payloads(&mut self) -> Result<Vec<Arc<Payload>>, StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query_as("SELECT row, json FROM payloads WHERE row > ? ORDER BY row")
            .bind(self.last_payload);
        let rows: Vec<(i64, String)> = query
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        self.last_payload = rows.last().map_or(self.last_payload, |row| row.0);
        parsed(rows).await
    }
}

/// Unreadable rows are skipped.
async fn parsed(rows: Vec<(i64, String)>) -> Result<Vec<Arc<Payload>>, StoreError> {
    let parsed = tokio::task::spawn_blocking(move || {
        rows.iter()
            .filter_map(|(_, json)| serde_json::from_str(json).ok())
            .map(Arc::new)
            .collect()
    });
    parsed.await.map_err(|error| StoreError::Interrupted {
        why: error.to_string(),
    })
}
