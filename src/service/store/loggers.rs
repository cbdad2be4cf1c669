//! Loggers in the store; their captures are in [`super::captures`].

use jiff::Timestamp;
use sqlx::{FromRow, QueryBuilder};

use super::{Store, StoreResult, is_duplicate, millis, push_condition};
use crate::contract::{LoggerId, WorkspaceId};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A stored logger; its limits are settings of the service.
#[derive(Clone, Debug, FromRow)]
pub struct LoggerRow {
    pub id: i64,
    pub label: String,
    /// The secret part of its URL.
    pub token: String,
    pub created_at: i64,
    pub num_requests: i64,
    /// Bytes of its captures, with their headers.
    pub stored_bytes: i64,
}

impl LoggerRow {
    /// Days left, rounded up; 0 when it no longer records.
    pub fn days_left(&self, days: i64, now: Timestamp) -> i64 {
        let left = self.created_at + days * DAY - millis(now);
        (left.max(0) + DAY - 1) / DAY
    }
}

/// The result of adding a logger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedLogger {
    New(LoggerId),
    LabelTaken,
    NoWorkspace,
}

const SELECT: &str =
    "SELECT id, label, token, created_at, num_requests, body_bytes AS stored_bytes FROM loggers WHERE ";

impl Store {
    /// Loggers in the order of their ids.
    pub async fn loggers(&self, workspace: Option<WorkspaceId>) -> StoreResult<Vec<LoggerRow>> {
        let mut query = QueryBuilder::new(SELECT);
        push_condition(query.push("1"), "workspace_id =", workspace.map(|id| id.0));
        query.push(" ORDER BY id").build_query_as().fetch_all(self.read()).await
    }

    pub async fn logger(&self, id: LoggerId) -> StoreResult<Option<LoggerRow>> {
        QueryBuilder::new(SELECT).push("id = ").push_bind(id.0).build_query_as().fetch_optional(self.read()).await
    }

    /// The logger whose URL contains this secret part.
    pub async fn logger_by_token(&self, token: &str) -> StoreResult<Option<LoggerRow>> {
        let mut query = QueryBuilder::new(SELECT);
        query.push("token = ").push_bind(token).build_query_as().fetch_optional(self.read()).await
    }

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
            Err(error) if is_duplicate(&error) => Ok(AddedLogger::LabelTaken),
            Err(error) => Err(error),
        }
    }

    /// Deletes a logger and its captures, in batches; false when it does not exist.
    pub async fn delete_logger(&self, id: LoggerId) -> StoreResult<bool> {
        self.to_its_end(|store| async move {
            store.delete_captures("SELECT id FROM loggers WHERE id = ?", id.0).await?;
            Ok(store.execute(sqlx::query("DELETE FROM loggers WHERE id = ?").bind(id.0)).await? > 0)
        })
        .await
    }

    /// Deletes the captures of a logger, in batches, and resets its quota; false when it does not exist.
    pub async fn clear_logger(&self, id: LoggerId) -> StoreResult<bool> {
        self.to_its_end(|store| async move {
            store.delete_captures("SELECT id FROM loggers WHERE id = ?", id.0).await?;
            store.reset_logger(id).await
        })
        .await
    }

    /// Deletes the captures that arrived meanwhile, and resets the quota.
    async fn reset_logger(&self, id: LoggerId) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let done = sqlx::query("UPDATE loggers SET num_requests = 0, body_bytes = 0 WHERE id = ?")
            .bind(id.0)
            .execute(&mut *change)
            .await?;
        sqlx::query("DELETE FROM captures WHERE logger_id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// The number of loggers that still record.
    pub async fn live_loggers(&self, days: i64, now: Timestamp) -> StoreResult<i64> {
        sqlx::query_scalar("SELECT count(*) FROM loggers WHERE created_at > ?")
            .bind(millis(now) - days * DAY)
            .fetch_one(self.read())
            .await
    }
}
