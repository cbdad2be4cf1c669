//! Deletion of many rows in batches, so that captures and other writes are recorded between them.

use std::future::Future;

use sqlx::AssertSqlSafe;

use super::{DatabaseError, Store, StoreResult};

/// Rows of one transaction.
const ROWS: i64 = 500;
/// Captures of one transaction; their bodies have up to 1 MiB.
const CAPTURES: i64 = 50;

impl Store {
    /// Runs a deletion to its end, even if the client closes its connection meanwhile. The end of the service ends it
    /// after a batch; the client then receives an error or no response, and a second request deletes the rest.
    pub(super) async fn to_its_end<T, F>(&self, work: impl FnOnce(Store) -> F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        let work = tokio::spawn(work(self.clone()));
        work.await.unwrap_or_else(|error| Err(DatabaseError::Io(std::io::Error::other(error))))
    }

    /// Deletes findings, tests and raw lines of the ended scans that a query with one parameter selects.
    pub(super) async fn delete_results(&self, scans: &'static str, parameter: i64) -> StoreResult<()> {
        for table in ["findings", "tests", "raw_lines"] {
            let rows = format!(
                "SELECT id FROM {table} WHERE scan_id IN ({scans})
                 AND scan_id NOT IN (SELECT scan_id FROM jobs) LIMIT {ROWS}"
            );
            self.delete_in_batches(&format!("DELETE FROM {table} WHERE id IN ({rows})"), &[parameter], ROWS).await?;
        }
        Ok(())
    }

    /// Deletes the captures of the loggers that a query with one parameter selects.
    pub(super) async fn delete_captures(&self, loggers: &'static str, parameter: i64) -> StoreResult<()> {
        let rows = format!("SELECT id FROM captures WHERE logger_id IN ({loggers}) LIMIT {CAPTURES}");
        self.delete_in_batches(&format!("DELETE FROM captures WHERE id IN ({rows})"), &[parameter], CAPTURES).await
    }

    /// Deletes the captures of a logger up to an id.
    pub(super) async fn delete_captures_until(&self, logger: i64, last: i64) -> StoreResult<()> {
        let rows = format!("SELECT id FROM captures WHERE logger_id = ? AND id <= ? LIMIT {CAPTURES}");
        self.delete_in_batches(&format!("DELETE FROM captures WHERE id IN ({rows})"), &[logger, last], CAPTURES).await
    }

    async fn delete_in_batches(&self, sql: &str, parameters: &[i64], batch: i64) -> StoreResult<()> {
        loop {
            // All parts of the statement are constants of this module and its callers.
            let statement = sqlx::query(AssertSqlSafe(sql.to_owned()));
            let statement = parameters.iter().fold(statement, |statement, parameter| statement.bind(*parameter));
            let deleted = self.execute(statement).await?;
            if i64::try_from(deleted).unwrap_or(i64::MAX) < batch {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_are_deleted_in_batches() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("scandeck.db")).await.unwrap().store;
        for sql in [
            "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'hostname')",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes) VALUES (1, 1, 1, 70, 'finished', 0, '{}', 'none', 0, 0, 1),
                (2, 1, 1, 70, 'running', 0, '{}', 'none', 0, 0, 1)",
            "INSERT INTO jobs (scan_id, params) VALUES (2, '{}')",
            "INSERT INTO raw_lines (scan_id, line) SELECT 1 + (value > 2000), 'x'
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2010)
                SELECT value FROM n)",
        ] {
            store.execute(sqlx::query(sql)).await.unwrap();
        }
        let before = store.version();
        store.delete_results("SELECT id FROM scans WHERE target_id = ?", 1).await.unwrap();
        assert_eq!(store.version() - before, 4, "one commit per batch");
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM raw_lines").fetch_one(store.read()).await.unwrap();
        assert_eq!(left, 10, "an active scan keeps its results");
    }
}
