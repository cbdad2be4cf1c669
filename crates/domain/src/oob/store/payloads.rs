//! Storage of payloads.

use std::sync::Arc;

use sqlx::{QueryBuilder, Sqlite};

use super::{CHUNK, Store, StoreError, last_row};
use crate::oob::Payload;

impl Store {
    /// Stores payloads in one transaction. A later stored version remains.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing was stored.
    pub async fn plant(&mut self, payloads: &[Arc<Payload>]) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        let before = last_row("payloads")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        for chunk in payloads.chunks(CHUNK) {
            let into =
                "INSERT OR REPLACE INTO payloads (token, workspace, version, json) SELECT * FROM (";
            let mut query = QueryBuilder::<Sqlite>::new(into);
            query.push_values(chunk, |mut row, payload| {
                row.push_bind(payload.token.to_string())
                    .push_bind(payload.workspace.as_str());
                row.push_bind(payload.version)
                    .push_bind(serde_json::to_string(payload).unwrap_or_default());
            });
            query.push(
                ") AS new WHERE NOT EXISTS (
                    SELECT 1 FROM payloads AS old WHERE old.token = new.column1 AND old.version > new.column3
                )",
            );
            query.build().execute(&mut *change).await.map_err(&failed)?;
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
        Ok(())
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
