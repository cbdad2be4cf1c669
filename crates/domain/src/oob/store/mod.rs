//! The archive of captures and the payload book: one SQLite file a service, written by any number
//! of dashboards and commands at once.
//!
//! ```text
//!   captures.db      captures, payloads, hits      *.bak-N      before a migration
//!                                                  *.broken-N   the corrupt file, set aside
//! ```
//!
//! Every batch is one synced transaction, and a big one several. A capture that is there already is
//! left as it is; of two versions of a payload the later one is used, and of equal ones always the same. Opening and recalling never
//! count or read all captures: years of them open at once.

mod archived;
mod chunks;
mod hits;
mod open;
mod payloads;
mod purge;
mod team;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sqlx::{QueryBuilder, Sqlite};

use super::Payload;
use super::archived::{ArchivedCapture, NewestCapture};
use scandeck_wire::contract::{LoggerId, Shared};
use scandeck_wire::sqlite::{FileKind, SharedFile, is_present};

pub use archived::{ArchivePage, ArchivePlace};
pub use chunks::chunks;
pub use hits::{HitCount, RowRange, SearchedCaptures};
pub use open::OpenedArchive;
pub use scandeck_wire::sqlite::StoreError;
pub use team::ArrivedPayload;

const KIND: FileKind = FileKind {
    name: "captures.db",
    contents: "captures and payloads",
    opening: "captures-opening.lock",
    in_use: "captures-in-use.lock",
};

/// Rows a statement may carry; SQLite takes 32,766 bound values.
const CHUNK: usize = 500;

/// The archive of captures and payloads.
#[derive(Debug)]
pub struct Store {
    file: SharedFile,
    /// The last rows that were read or written.
    last_capture: i64,
    last_payload: i64,
    last_count: i64,
}

/// Changes by other instances.
#[derive(Debug, Default)]
pub struct ArchiveNews {
    /// New payloads, and changed ones.
    pub payloads: Vec<Arc<Payload>>,
    /// New captures, of any workspace.
    pub captures: Vec<ArchivedCapture>,
    /// Changed hit counts of any workspace.
    pub counts: Vec<HitCount>,
    /// Something was archived that nobody looked through for payloads yet.
    pub behind: bool,
}

impl Store {
    fn of(file: SharedFile) -> Self {
        Self {
            file,
            last_capture: 0,
            last_payload: 0,
            last_count: 0,
        }
    }

    /// The database.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// True if the file is writable.
    pub fn is_writable(&self) -> bool {
        self.file.writable
    }

    /// True if the file was opened for reading, because the disk is full.
    pub fn is_on_full_disk(&self) -> bool {
        self.file.on_full_disk
    }

    /// Whether a file that was opened for reading could be opened for writing now.
    pub fn has_become_writable(&self) -> bool {
        self.file.has_become_writable()
    }

    /// True if the directory of a service contains an archive.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn exists(directory: &Path) -> std::io::Result<bool> {
        is_present(&directory.join(KIND.name))
    }

    /// Archives captures in chunks. Captures that are already archived remain unchanged, so a
    /// failed call can be repeated. Returns the rows of the new captures, provided no other process
    /// archived between two chunks.
    ///
    /// # Errors
    /// If the file cannot be written; nothing of the failed chunk is archived then.
    pub async fn archive(
        &mut self,
        captures: Vec<ArchivedCapture>,
    ) -> Result<RowRange, StoreError> {
        let mut all: Option<RowRange> = None;
        for chunk in chunks(captures) {
            let range = self.archive_chunk(chunk).await?;
            all = Some(all.map_or(range, |before| before.and(range)));
        }
        Ok(all.unwrap_or_default())
    }

    async fn archive_chunk(
        &mut self,
        captures: Vec<ArchivedCapture>,
    ) -> Result<RowRange, StoreError> {
        let rows = tokio::task::spawn_blocking(move || {
            captures
                .iter()
                .map(ArchivedCapture::to_row)
                .collect::<Vec<_>>()
        });
        let rows = rows.await.map_err(|error| StoreError::Interrupted {
            why: error.to_string(),
        })?;
        let failed = self.file.failed();
        // The lock is taken at once: SQLite does not wait for a lock that is requested at the first
        // write.
        let known = self.file.data_version();
        let mut change = self.file.begin().await?;
        let version: i64 = sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        let after = last_row("captures")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        for chunk in rows.chunks(CHUNK) {
            let columns = "(workspace, logger, label, handler_url, id, at, seen_at, digest, json) ";
            let mut query =
                QueryBuilder::<Sqlite>::new(format!("INSERT OR IGNORE INTO captures {columns}"));
            query.push_values(chunk, |mut to, row| {
                to.push_bind(row.workspace.as_str())
                    .push_bind(row.logger)
                    .push_bind(row.label.as_str());
                to.push_bind(row.handler_url.as_str())
                    .push_bind(row.id)
                    .push_bind(row.at)
                    .push_bind(row.seen_at);
                to.push_bind(row.digest).push_bind(row.json.as_str());
            });
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        let last = last_row("captures")
            .fetch_one(&mut *change)
            .await
            .map_err(&failed)?;
        change.commit().await.map_err(&failed)?;
        // No other instance wrote in between, so there is no news before these rows.
        if version == known {
            self.last_capture = last;
        }
        Ok(RowRange { after, last })
    }

    /// Changes since the last call; may include changes of this instance.
    ///
    /// # Errors
    /// When the file cannot be read, or is another than the one that was opened.
    pub async fn news(&mut self) -> Result<ArchiveNews, StoreError> {
        if !self.file.has_foreign_writes().await? {
            return Ok(ArchiveNews::default());
        }
        let before = (self.last_capture, self.last_payload, self.last_count);
        let news = self.read_news().await;
        if news.is_err() {
            (self.last_capture, self.last_payload, self.last_count) = before;
            self.file.invalidate();
        }
        news
    }

    async fn read_news(&mut self) -> Result<ArchiveNews, StoreError> {
        // An error here will be reported again when captures are searched, and must not suppress
        // the other news.
        let counts = self.new_counts().await;
        Ok(ArchiveNews {
            payloads: self.new_payloads().await?,
            captures: self.new_captures().await?,
            behind: counts.is_err() || self.is_behind().await.unwrap_or(true),
            counts: counts.unwrap_or_default(),
        })
    }

    /// The last archived capture of each logger by order of archiving, because ids may restart.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn newest(&mut self) -> Result<BTreeMap<LoggerId, NewestCapture>, StoreError> {
        let failed = self.file.failed();
        // From one logger to the next by the index: the rows between are not looked at.
        let query = "WITH RECURSIVE loggers (logger) AS (
                SELECT min(logger) FROM captures UNION
                SELECT (SELECT min(logger) FROM captures WHERE logger > loggers.logger) FROM loggers
                WHERE loggers.logger IS NOT NULL
            ) SELECT captures.* FROM loggers JOIN captures
            ON captures.row = (SELECT max(row) FROM captures AS last WHERE last.logger = loggers.logger)";
        let rows = sqlx::query(query)
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        let newest = rows.iter().filter_map(ArchivedCapture::from_row);
        Ok(newest
            .map(|(_, it)| (it.logger, (it.capture.id, it.capture.request_date)))
            .collect())
    }

    /// Names of the workspaces with stored data.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn workspaces(&mut self) -> Result<Vec<Shared>, StoreError> {
        let failed = self.file.failed();
        // From one name to the next by the index: the rows between are not looked at.
        let query = "WITH RECURSIVE names (name) AS (
                SELECT min(workspace) FROM captures UNION
                SELECT (SELECT min(workspace) FROM captures WHERE workspace > name) FROM names WHERE name IS NOT NULL
            ) SELECT name FROM names WHERE name IS NOT NULL
            UNION SELECT workspace FROM payloads UNION SELECT workspace FROM counts";
        let rows: Vec<String> = sqlx::query_scalar(query)
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.into_iter().map(Shared::from).collect())
    }

    /// Closes the file; stored data is durable without it too.
    pub async fn close(self) {
        self.file.close().await;
    }
}

/// The last number of a table.
fn last_row(
    table: &str,
) -> sqlx::query::QueryScalar<'static, Sqlite, i64, sqlx::sqlite::SqliteArguments> {
    sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
        "SELECT coalesce(max(row), 0) FROM {table}"
    )))
}
