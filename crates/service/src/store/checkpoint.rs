//! Moves the write-ahead log into the database file beside the writes.
//!
//! SQLite does this in the commit that makes the log long enough, so after large writes one commit
//! in several waits for tens of milliseconds. Here a connection of its own does it, in SQLite's
//! passive mode, which waits for nobody and lets nobody wait.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use scandeck_wire::sqlite::private_options;

/// Commits between two checkpoints. A commit waits while the file takes the pages of a checkpoint,
/// so each is small.
const COMMITS: u64 = 8;
/// Pages (4 KiB) of the log at which a commit moves it all the same, so that it does not grow
/// without limit: 64 MiB.
const MOST_PAGES: &str = "16384";
/// Bytes of the log file that remain after a checkpoint.
const LOG_BYTES: &str = "67108864";
/// Cache of the writing connection: 16 MiB, in KiB with a minus. The default of 2 MiB has no room
/// for the indexes of findings, whose pages each batch of an import would read again.
const CACHE: &str = "-16384";

/// Attempts to empty the log while others read it.
const EMPTY_TRIES: usize = 3;

/// The connection for checkpoints.
#[derive(Clone, Debug)]
pub(super) struct Checkpoints {
    pool: SqlitePool,
    commits: Arc<AtomicU64>,
}

/// Options of the writing connection.
pub(super) fn writing_options(file: &Path) -> SqliteConnectOptions {
    private_options(file)
        .pragma("wal_autocheckpoint", MOST_PAGES)
        .pragma("journal_size_limit", LOG_BYTES)
        .pragma("cache_size", CACHE)
}

impl Checkpoints {
    pub async fn open(file: &Path) -> sqlx::Result<Self> {
        let options = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None);
        let pool = options.connect_with(private_options(file)).await?;
        Ok(Self {
            pool,
            commits: Arc::default(),
        })
    }

    /// Counts a commit, and starts a checkpoint when it is due.
    pub fn count(&self) {
        if self.commits.fetch_add(1, Ordering::Relaxed) % COMMITS == COMMITS - 1 {
            self.start();
        }
    }

    /// Starts a checkpoint unless one is running.
    pub fn start(&self) {
        if let Some(mut connection) = self.pool.try_acquire() {
            tokio::spawn(async move {
                let checkpoint = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)")
                    .execute(&mut *connection)
                    .await;
                if let Err(error) = checkpoint {
                    tracing::warn!(%error, "write-ahead log not checkpointed");
                }
            });
        }
    }

    /// Moves the whole log into the file and empties it: it contains deleted texts until it is
    /// overwritten.
    pub async fn empty_log(&self) -> bool {
        let mut is_busy = true;
        for _ in 0..EMPTY_TRIES {
            // Each waits for the readers of the log, for as long as SQLite waits for a lock.
            let emptied: sqlx::Result<(bool, i64, i64)> =
                sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)")
                    .fetch_one(&self.pool)
                    .await;
            match emptied {
                Ok((busy, _, _)) => is_busy = busy,
                Err(error) => tracing::warn!(%error, "write-ahead log not emptied"),
            }
            if !is_busy {
                return true;
            }
        }
        tracing::warn!(
            "write-ahead log not emptied: it contains deleted texts until the service ends"
        );
        false
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::sql::sql;

    #[tokio::test]
    async fn many_commits_reach_the_database_file_before_the_end() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("scandeck.db");
        let store = Store::open(&file).await.unwrap().store;
        let size = || std::fs::metadata(&file).unwrap().len();
        let before = size();
        let add = "INSERT INTO wordlists (name, contents, description, num_words, predefined) VALUES ($1, $2, '', 1, false)";
        for number in 0.. {
            store
                .execute(sql(add).bind(format!("{number}")).bind("x".repeat(9_000)))
                .await
                .unwrap();
            if size() > before {
                return;
            }
            assert!(number < 1_000, "no checkpoint after {number} commits");
        }
    }
}
