//! Loggers in the store; what they recorded is in [`super::captures`].

use jiff::Timestamp;
use sqlx::{FromRow, QueryBuilder, Sqlite};

use super::{Store, StoreResult, is_taken, millis};
use crate::contract::{LoggerId, WorkspaceId};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A logger as it is kept; limits are the service's settings.
#[derive(Clone, Debug, FromRow)]
pub struct LoggerRow {
    pub id: i64,
    pub label: String,
    /// The secret part of its URL.
    pub token: String,
    pub created_at: i64,
    pub num_requests: i64,
}

impl LoggerRow {
    /// Days left, counting one begun as whole; 0 when it records no more.
    pub fn days_left(&self, days: i64, now: Timestamp) -> i64 {
        let left = self.created_at + days * DAY - millis(now);
        (left.max(0) + DAY - 1) / DAY
    }
}

/// What became of a new logger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedLogger {
    /// Made.
    New(LoggerId),
    /// Another one has the label.
    LabelTaken,
    /// There is no such workspace.
    NoWorkspace,
}

const SELECT: &str = "SELECT id, label, token, created_at, num_requests FROM loggers WHERE ";

impl Store {
    /// Loggers by id.
    pub async fn loggers(&self, workspace: Option<WorkspaceId>) -> StoreResult<Vec<LoggerRow>> {
        let mut query = QueryBuilder::<Sqlite>::new(SELECT);
        match workspace {
            Some(workspace) => query.push("workspace_id = ").push_bind(workspace.0),
            None => query.push("1"),
        };
        query.push(" ORDER BY id").build_query_as().fetch_all(self.read()).await
    }

    /// One logger.
    pub async fn logger(&self, id: LoggerId) -> StoreResult<Option<LoggerRow>> {
        let mut query = QueryBuilder::<Sqlite>::new(SELECT);
        query.push("id = ").push_bind(id.0).build_query_as().fetch_optional(self.read()).await
    }

    /// The logger whose URL has this secret part.
    pub async fn logger_at(&self, token: &str) -> StoreResult<Option<LoggerRow>> {
        let mut query = QueryBuilder::<Sqlite>::new(SELECT);
        query.push("token = ").push_bind(token).build_query_as().fetch_optional(self.read()).await
    }

    /// Makes a logger.
    pub async fn add_logger(
        &self,
        workspace: WorkspaceId,
        label: &str,
        token: &str,
        now: Timestamp,
    ) -> StoreResult<AddedLogger> {
        let mut change = self.change().await?;
        let added: StoreResult<Option<i64>> = sqlx::query_scalar(
            "INSERT INTO loggers (workspace_id, label, token, created_at)
             SELECT id, ?, ?, ? FROM workspaces WHERE id = ? RETURNING id",
        )
        .bind(label)
        .bind(token)
        .bind(millis(now))
        .bind(workspace.0)
        .fetch_optional(&mut *change)
        .await;
        match added {
            Ok(Some(id)) => {
                change.commit().await?;
                Ok(AddedLogger::New(LoggerId(id)))
            }
            Ok(None) => Ok(AddedLogger::NoWorkspace),
            Err(error) if is_taken(&error) => Ok(AddedLogger::LabelTaken),
            Err(error) => Err(error),
        }
    }

    /// Deletes a logger with what it recorded; false when there is none.
    pub async fn delete_logger(&self, id: LoggerId) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let done = sqlx::query("DELETE FROM loggers WHERE id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// Forgets what a logger recorded, which frees its quota; false when there is none.
    pub async fn clear_logger(&self, id: LoggerId) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let done = sqlx::query("UPDATE loggers SET num_requests = 0, body_bytes = 0 WHERE id = ?")
            .bind(id.0)
            .execute(&mut *change)
            .await?;
        sqlx::query("DELETE FROM captures WHERE logger_id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// How many loggers still record.
    pub async fn live_loggers(&self, days: i64, now: Timestamp) -> StoreResult<i64> {
        sqlx::query_scalar("SELECT count(*) FROM loggers WHERE created_at > ?")
            .bind(millis(now) - days * DAY)
            .fetch_one(self.read())
            .await
    }
}
