//! Loggers in the store; their captures are in [`super::captures`].

use jiff::Timestamp;

use super::sql::{ReadRow, SqlRow, per_engine, sql};
use super::{Store, StoreResult, millis};
use scandeck_wire::contract::{LoggerId, WorkspaceId};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A stored logger; its limits are settings of the service.
#[derive(Clone, Debug)]
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

impl ReadRow for LoggerRow {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            id: row.get("id")?,
            label: row.get("label")?,
            token: row.get("token")?,
            created_at: row.get("created_at")?,
            num_requests: row.get("num_requests")?,
            stored_bytes: row.get("stored_bytes")?,
        })
    }
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

const SELECT: &str = "SELECT id, label, token, created_at, num_requests, body_bytes AS stored_bytes FROM loggers WHERE ";

impl Store {
    /// Loggers in the order of their ids.
    pub async fn loggers(&self, workspace: Option<WorkspaceId>) -> StoreResult<Vec<LoggerRow>> {
        let loggers = sql(SELECT).push("true");
        let loggers = loggers.push_condition("workspace_id =", workspace.map(|id| id.0));
        loggers.push(" ORDER BY id").all(self.read()).await
    }

    pub async fn logger(&self, id: LoggerId) -> StoreResult<Option<LoggerRow>> {
        let logger = sql(SELECT).push("id = ").push_bind(id.0);
        logger.optional(self.read()).await
    }

    /// The logger whose URL contains this secret part, in upper or lower case: targets change the
    /// case of a URL.
    pub async fn logger_by_token(&self, token: &str) -> StoreResult<Option<LoggerRow>> {
        let logger = per_engine(
            format!("{SELECT} token = $1 COLLATE NOCASE LIMIT 1"),
            format!("{SELECT} lower(token) = lower($1) LIMIT 1"),
        );
        logger.bind(token).optional(self.read()).await
    }

    pub async fn add_logger(
        &self,
        workspace: WorkspaceId,
        label: &str,
        token: &str,
        now: Timestamp,
    ) -> StoreResult<AddedLogger> {
        let mut change = self.change().await?;
        let exists: bool = sql("SELECT EXISTS (SELECT 1 FROM workspaces WHERE id = $1
                AND NOT EXISTS (SELECT 1 FROM deletions WHERE workspace_id = $1))")
        .bind(workspace.0)
        .one(&mut change)
        .await?;
        if !exists {
            return Ok(AddedLogger::NoWorkspace);
        }
        // Before the insertion, which would use up an id on PostgreSQL.
        let is_taken: bool =
            sql("SELECT EXISTS (SELECT 1 FROM loggers WHERE label = $1 OR token = $2)")
                .bind(label)
                .bind(token)
                .one(&mut change)
                .await?;
        if is_taken {
            return Ok(AddedLogger::LabelTaken);
        }
        let id: i64 = sql(
            "INSERT INTO loggers (workspace_id, label, token, created_at) VALUES ($1, $2, $3, $4) RETURNING id",
        )
        .bind(workspace.0)
        .bind(label)
        .bind(token)
        .bind(millis(now))
        .one(&mut change)
        .await?;
        change.commit().await?;
        Ok(AddedLogger::New(LoggerId(id)))
    }

    /// Deletes a logger and its captures, in batches; false when it does not exist.
    pub async fn delete_logger(&self, id: LoggerId) -> StoreResult<bool> {
        self.to_its_end(|store| async move {
            store
                .delete_captures("SELECT id FROM loggers WHERE id = $1", id.0)
                .await?;
            Ok(store
                .execute(sql("DELETE FROM loggers WHERE id = $1").bind(id.0))
                .await?
                > 0)
        })
        .await
    }

    /// Deletes the captures of a logger, in batches, and resets its quota; false when it does not
    /// exist. Captures that arrive meanwhile are kept.
    pub async fn clear_logger(&self, id: LoggerId) -> StoreResult<bool> {
        let last: Option<i64> = sql("SELECT max(id) FROM captures WHERE logger_id = $1")
            .bind(id.0)
            .one(self.read())
            .await?;
        self.to_its_end(move |store| async move {
            store
                .delete_captures_until(id.0, last.unwrap_or_default())
                .await?;
            store.recount_captures(id).await
        })
        .await
    }

    /// The number of loggers.
    pub async fn logger_count(&self) -> StoreResult<i64> {
        sql("SELECT count(*) FROM loggers").one(self.read()).await
    }

    /// The number of loggers that still record.
    pub async fn live_loggers(&self, days: i64, now: Timestamp) -> StoreResult<i64> {
        sql("SELECT count(*) FROM loggers WHERE created_at > $1")
            .bind(millis(now) - days * DAY)
            .one(self.read())
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::captures::{LoggerQuota, NewCapture};
    use crate::store::testing::{add_logger, assert_captures, open, open_sqlite, record_at};

    #[tokio::test]
    async fn interrupted_clearing_or_deletion_counts_the_captures_that_are_left() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let logger = add_logger(&store, "a").await;
        record_at(&store, logger, &["2026-11-30T12:00:00Z"; 40]).await;
        store.deletions.interrupt();
        let left = |first: i64| -> Vec<i64> { (first..=40).collect() };
        let cleared = store.clear_logger(logger).await;
        assert!(cleared.is_err(), "after its first batch");
        assert_captures(&store, logger, &left(9)).await;
        let deleted = store.delete_logger(logger).await;
        assert!(deleted.is_err(), "after its first batch");
        assert_captures(&store, logger, &left(17)).await;
        let workspace_deleted = store.delete_workspace(WorkspaceId(1)).await;
        assert!(workspace_deleted.is_err(), "after its first batch");
        assert_captures(&store, logger, &left(25)).await;
    }

    #[tokio::test]
    async fn token_is_found_in_any_case_by_its_index() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        store
            .add_logger(WorkspaceId(1), "a", "Token1", Timestamp::now())
            .await
            .unwrap();
        for token in ["Token1", "token1", "TOKEN1"] {
            assert_eq!(
                store.logger_by_token(token).await.unwrap().unwrap().label,
                "a",
                "{token}"
            );
        }
        assert!(store.logger_by_token("token2").await.unwrap().is_none());
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let plan =
            "EXPLAIN QUERY PLAN SELECT id FROM loggers WHERE token = 'x' COLLATE NOCASE LIMIT 1";
        let plan: (i64, i64, i64, String) = sql(plan).one(store.read()).await.unwrap();
        assert!(
            plan.3.contains("USING") && plan.3.contains("loggers_by_token"),
            "{plan:?}"
        );
    }

    #[tokio::test]
    async fn captures_that_arrive_during_a_clear_are_kept_and_counted() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let added = store
            .add_logger(WorkspaceId(1), "a", "token", Timestamp::now())
            .await
            .unwrap();
        let AddedLogger::New(logger) = added else {
            panic!("{added:?}")
        };
        let capture = NewCapture {
            logger,
            received_at: 1,
            ip_address: "127.0.0.1".into(),
            remote_port: 9,
            method: "GET".into(),
            path: "/é".into(),
            query: String::new(),
            http_version: "HTTP/1.1".into(),
            headers: vec!["Host: a".into()],
            body: b"body".to_vec(),
            raw: Some(b"raw".to_vec()),
            problems: vec!["problem".into()],
        };
        let quota = LoggerQuota {
            requests: 1000,
            bytes: 1_000_000,
        };
        store
            .record_captures(&[&capture; 200], quota)
            .await
            .unwrap();
        let of_one = store.logger(logger).await.unwrap().unwrap().stored_bytes / 200;
        let last = store
            .capture_sizes(logger, 0)
            .await
            .unwrap()
            .last()
            .unwrap()
            .0;
        // One capture arrives before the first batch is deleted, and one before the recount.
        store.record_captures(&[&capture], quota).await.unwrap();
        store.delete_captures_until(logger.0, last).await.unwrap();
        store.record_captures(&[&capture], quota).await.unwrap();
        assert!(store.recount_captures(logger).await.unwrap());
        let row = store.logger(logger).await.unwrap().unwrap();
        assert_eq!((row.num_requests, row.stored_bytes), (2, 2 * of_one));
        let left = store.capture_sizes(logger, 0).await.unwrap();
        assert!(
            left.len() == 2 && left.iter().all(|(id, _)| *id > last),
            "{left:?}"
        );

        // Both together, while captures arrive.
        let more = [&capture];
        let (cleared, recorded) = tokio::join!(
            store.clear_logger(logger),
            store.record_captures(&more, quota)
        );
        assert!(cleared.unwrap() && recorded.unwrap()[0]);
        let row = store.logger(logger).await.unwrap().unwrap();
        let left = store.capture_sizes(logger, 0).await.unwrap().len();
        assert_eq!(
            (row.num_requests, row.stored_bytes),
            (left as i64, left as i64 * of_one)
        );
        assert!(!store.clear_logger(LoggerId(99)).await.unwrap());
    }
}
