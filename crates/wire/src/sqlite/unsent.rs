//! Rows that a service does not have yet, of tables with the columns `position` and `refused`.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, Sqlite, Transaction};

/// A row to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsentRow {
    /// Number of the row. A changed row has another one.
    pub row: i64,
    /// Its name at the service: the id of an event, the token of a payload.
    pub key: String,
    pub json: String,
}

impl UnsentRow {
    /// Notes that these rows were sent, or refused with a reason by key, and commits. Rows that
    /// were changed meanwhile remain unsent.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn mark(
        table: &str,
        sent: &[Self],
        refused: &HashMap<&str, &str>,
        mut change: Transaction<'_, Sqlite>,
    ) -> sqlx::Result<()> {
        // Position 0: not read back yet.
        let query = format!(
            "UPDATE {table} SET position = iif(?1 IS NULL, 0, NULL), refused = ?1
            WHERE row = ?2 AND position IS NULL"
        );
        for one in sent {
            sqlx::query(AssertSqlSafe(query.clone()))
                .bind(
                    refused
                        .get(one.key.as_str())
                        .map(|reason| (*reason).to_owned()),
                )
                .bind(one.row)
                .execute(&mut *change)
                .await?;
        }
        change.commit().await
    }
}
