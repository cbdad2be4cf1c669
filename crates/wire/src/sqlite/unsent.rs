//! Rows that a service does not have yet, and rows that it refused, of tables with the columns
//! `workspace`, `position` and `refused`.

use std::collections::HashMap;
use std::path::Path;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use super::options;

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
    /// The first rows of a workspace that the service does not have, in the order of recording.
    /// `name` is the column of their names at the service.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn read(
        table: &str,
        name: &str,
        workspace: &str,
        most: usize,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<Vec<Self>> {
        let query = format!(
            "SELECT row, {name}, json FROM {table}
            WHERE workspace = ? AND position IS NULL AND refused IS NULL ORDER BY row LIMIT ?"
        );
        let rows: Vec<(i64, String, String)> = sqlx::query_as(AssertSqlSafe(query))
            .bind(workspace.to_owned())
            .bind(most as i64)
            .fetch_all(connection)
            .await?;
        let unsent = rows.into_iter();
        let unsent = unsent.map(|(row, key, json)| Self { row, key, json });
        Ok(unsent.collect())
    }

    /// How many rows of a workspace the service does not have, without refused ones.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn count(
        table: &str,
        workspace: &str,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<usize> {
        let query = format!(
            "SELECT count(*) FROM {table}
            WHERE workspace = ? AND position IS NULL AND refused IS NULL"
        );
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(query))
            .bind(workspace.to_owned())
            .fetch_one(connection)
            .await?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Forgets which rows of a workspace a service has, and which it refused: all are unsent.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn forget_positions(
        table: &str,
        workspace: &str,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<()> {
        let query =
            format!("UPDATE {table} SET position = NULL, refused = NULL WHERE workspace = ?");
        sqlx::query(AssertSqlSafe(query))
            .bind(workspace.to_owned())
            .execute(connection)
            .await
            .map(drop)
    }

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
        let mut rows_of = HashMap::<Option<&str>, Vec<i64>>::new();
        for one in sent {
            let reason = refused.get(one.key.as_str()).copied();
            rows_of.entry(reason).or_default().push(one.row);
        }
        // Position 0: not read back yet.
        let query = format!(
            "UPDATE {table} SET position = iif(?1 IS NULL, 0, NULL), refused = ?1
            WHERE row IN (SELECT value FROM json_each(?2)) AND position IS NULL"
        );
        for (reason, rows) in rows_of {
            sqlx::query(AssertSqlSafe(query.clone()))
                .bind(reason.map(str::to_owned))
                .bind(serde_json::to_string(&rows).ok())
                .execute(&mut *change)
                .await?;
        }
        change.commit().await
    }
}

/// The rows that a service refused for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedRows {
    pub reason: String,
    pub rows: usize,
}

impl RefusedRows {
    /// The refused rows of a workspace, or of all.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn read(
        table: &str,
        workspace: Option<&str>,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<Vec<Self>> {
        let query = format!(
            "SELECT refused, count(*) FROM {table}
            WHERE coalesce(workspace = ?1, true) AND position IS NULL AND refused IS NOT NULL
            GROUP BY refused"
        );
        let groups: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(query))
            .bind(workspace.map(str::to_owned))
            .fetch_all(connection)
            .await?;
        let group = |(reason, rows)| Self {
            reason,
            rows: usize::try_from(rows).unwrap_or_default(),
        };
        Ok(groups.into_iter().map(group).collect())
    }

    /// The refused rows of a file that other processes may have open. The file is not changed.
    ///
    /// # Errors
    /// When the file cannot be read, or is of a program before teams.
    pub async fn of_file(table: &str, file: &Path) -> sqlx::Result<Vec<Self>> {
        let mut connection = options(file).read_only(true).connect().await?;
        let refused = Self::read(table, None, &mut connection).await;
        connection.close().await?;
        refused
    }

    /// The refused rows of a workspace are to be sent again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn retry(
        table: &str,
        workspace: &str,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<()> {
        let query = format!(
            "UPDATE {table} SET refused = NULL WHERE workspace = ? AND refused IS NOT NULL"
        );
        sqlx::query(AssertSqlSafe(query))
            .bind(workspace.to_owned())
            .execute(connection)
            .await
            .map(drop)
    }

    /// Groups of several tables, those with the most rows first.
    pub fn merged(groups: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for group in groups {
            match merged.iter_mut().find(|one| one.reason == group.reason) {
                Some(one) => one.rows += group.rows,
                None => merged.push(group),
            }
        }
        merged.sort_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.reason.cmp(&b.reason)));
        merged
    }

    /// The number of rows of all groups.
    pub fn count(groups: &[Self]) -> usize {
        groups.iter().map(|group| group.rows).sum()
    }
}
