//! Conversion between captures and rows.

use std::sync::Arc;

use futures::TryStreamExt;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row as _, Sqlite};

use super::chunks::{MOST, MOST_BYTES};
use super::{Store, StoreError};
use crate::oob::{ArchivedCapture, PayloadBook};
use scandeck_wire::contract::shared::{SharedPool, SharedTexts};
use scandeck_wire::contract::{Capture, LoggerId, Shared, Stamp};

/// Position of a capture in its workspace: by time, then by order of archiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    at: i64,
    row: i64,
}

impl ArchivePlace {
    fn from_row(row: &SqliteRow) -> Option<Self> {
        Some(Self {
            at: row.try_get("at").ok()?,
            row: row.try_get("row").ok()?,
        })
    }
}

/// A page of captures with their positions.
#[derive(Debug, Default)]
pub struct ArchivePage {
    /// Newest first.
    pub captures: Vec<(ArchivePlace, ArchivedCapture)>,
    /// Position before which older captures may exist.
    pub older: Option<ArchivePlace>,
}

/// A row to write.
pub(super) struct ArchiveRow {
    pub workspace: Shared,
    pub logger: i64,
    pub label: Shared,
    pub handler_url: Shared,
    pub id: i64,
    pub at: i64,
    pub seen_at: i64,
    pub digest: i64,
    pub json: String,
}

impl ArchivedCapture {
    pub(super) fn to_row(&self) -> ArchiveRow {
        let capture = &self.capture;
        ArchiveRow {
            workspace: self.workspace.clone(),
            logger: self.logger.0,
            label: self.label.clone(),
            handler_url: self.handler_url.clone(),
            id: capture.id.0,
            at: self.at().0.as_microsecond(),
            seen_at: self.seen_at.0.as_microsecond(),
            digest: digest(capture),
            json: serde_json::to_string(capture).unwrap_or_default(),
        }
    }

    /// The capture of a row and its position; `None` if the row is unreadable.
    pub(super) fn from_row(row: &SqliteRow) -> Option<(ArchivePlace, Self)> {
        let text = |name: &str| row.try_get::<&str, _>(name).ok().map(Shared::from);
        let time = |name: &str| {
            Timestamp::from_microsecond(row.try_get(name).ok()?)
                .ok()
                .map(Stamp)
        };
        let mut capture: Capture = serde_json::from_str(row.try_get("json").ok()?).ok()?;
        // JSON has a resolution of one second.
        capture.request_date = capture.request_date.and(time("at"));
        let archived = Self {
            workspace: text("workspace")?,
            logger: LoggerId(row.try_get("logger").ok()?),
            label: text("label")?,
            handler_url: text("handler_url")?,
            seen_at: time("seen_at")?,
            capture: Arc::new(capture),
        };
        Some((ArchivePlace::from_row(row)?, archived))
    }
}

impl SharedTexts for ArchivedCapture {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        let texts = [&mut self.workspace, &mut self.label, &mut self.handler_url];
        texts.into_iter().for_each(|text| pool.share(text));
        // Nothing else has a capture that was just read.
        if let Some(capture) = Arc::get_mut(&mut self.capture) {
            capture.share_texts(pool);
        }
    }
}

/// Hash of date and contract fields, so that later versions compute the same value.
pub(super) fn digest(capture: &Capture) -> i64 {
    let mut hash = Sha256::new();
    // One second of resolution, as in JSON and bundles.
    let date = capture
        .request_date
        .map(Stamp::as_second)
        .unwrap_or_default();
    hash.update(date.to_le_bytes());
    let texts = [
        &capture.ip_address,
        &capture.request_method,
        &capture.url_params,
        &capture.request_body_type,
        &capture.request_body_base64,
    ];
    let path = capture.path.iter();
    for text in texts.into_iter().chain(path).chain(&capture.http_headers) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    let bytes = hash.finalize();
    i64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}

impl Store {
    /// Captures of a workspace before a position, newest first: at most `most` and at most one
    /// chunk of bytes. Unreadable rows are skipped.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn captures(
        &mut self,
        workspace: &str,
        before: Option<ArchivePlace>,
        most: usize,
    ) -> Result<ArchivePage, StoreError> {
        let ArchivePlace { at, row } = before.unwrap_or(ArchivePlace {
            at: i64::MAX,
            row: i64::MAX,
        });
        let query = "SELECT * FROM captures WHERE workspace = ? AND (at, row) < (?, ?)
            ORDER BY at DESC, row DESC LIMIT ?";
        let query = sqlx::query(query)
            .bind(workspace.to_owned())
            .bind(at)
            .bind(row)
            .bind(most as i64);
        let (rows, ended) = self.read_chunk(query).await?;
        let older = if ended && rows.len() < most {
            None
        } else {
            rows.last().and_then(ArchivePlace::from_row)
        };
        Ok(ArchivePage {
            captures: read(rows).await?,
            older,
        })
    }

    /// Every capture of a workspace, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn captures_of(
        &mut self,
        workspace: &str,
    ) -> Result<Vec<ArchivedCapture>, StoreError> {
        let mut page = self.captures(workspace, None, MOST).await?;
        let mut all = page.captures;
        while let Some(older) = page.older {
            page = self.captures(workspace, Some(older), MOST).await?;
            all.append(&mut page.captures);
        }
        Ok(all
            .into_iter()
            .rev()
            .map(|(_, archived)| archived)
            .collect())
    }

    /// The captures of a workspace since a time, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn captures_since(
        &mut self,
        workspace: &str,
        time: Stamp,
    ) -> Result<Vec<ArchivedCapture>, StoreError> {
        let first = time.0.as_microsecond();
        let mut page = self.captures(workspace, None, MOST).await?;
        let mut all = page.captures;
        while let Some(older) = page.older.filter(|older| older.at >= first) {
            page = self.captures(workspace, Some(older), MOST).await?;
            all.append(&mut page.captures);
        }
        let recent = all.into_iter().rev().filter(|(place, _)| place.at >= first);
        Ok(recent.map(|(_, archived)| archived).collect())
    }

    /// Deletes captures before a time in batches and returns their number. Payloads (all of which
    /// are in `book`) and hits remain.
    ///
    /// # Errors
    /// If the file cannot be written; earlier deletions remain.
    pub async fn forget_before(
        &mut self,
        time: Stamp,
        book: &PayloadBook,
    ) -> Result<u64, StoreError> {
        let failed = self.file.failed();
        let mut deleted = 0;
        // By workspace, to use the index.
        for workspace in self.workspaces().await? {
            deleted += self.search_and_delete(&workspace, time, book).await?;
            loop {
                // Captures archived by others in the meantime have not been searched yet.
                let query = "DELETE FROM captures WHERE row IN (
                    SELECT row FROM captures WHERE workspace = ? AND at < ? AND row <= (SELECT row FROM looked) LIMIT ?
                )";
                let query = sqlx::query(query)
                    .bind(workspace.as_str().to_owned())
                    .bind(time.0.as_microsecond())
                    .bind(MOST as i64);
                let some = query
                    .execute(&mut self.file.connection)
                    .await
                    .map_err(&failed)?
                    .rows_affected();
                deleted += some;
                if some < MOST as u64 {
                    break;
                }
            }
        }
        Ok(deleted)
    }

    /// Rows of captures up to one chunk, and whether these were all rows.
    pub(super) async fn read_chunk(
        &mut self,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<(Vec<SqliteRow>, bool), StoreError> {
        let failed = self.file.failed();
        let mut found = query.fetch(&mut self.file.connection);
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while bytes < MOST_BYTES {
            let Some(row) = found.try_next().await.map_err(&failed)? else {
                return Ok((rows, true));
            };
            bytes += row.try_get::<&str, _>("json").map_or(0, str::len);
            rows.push(row);
        }
        Ok((rows, false))
    }

    /// Captures archived since the last call.
    pub(super) async fn new_captures(&mut self) -> Result<Vec<ArchivedCapture>, StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query("SELECT * FROM captures WHERE row > ? ORDER BY row")
            .bind(self.last_capture);
        let rows = query
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        let read = read(rows).await?;
        self.last_capture = read
            .last()
            .map_or(self.last_capture, |(place, _)| place.row);
        Ok(read.into_iter().map(|(_, archived)| archived).collect())
    }
}

/// On a blocking thread, because 100,000 rows take long. Equal short texts of the rows share their
/// memory.
pub(super) async fn read(
    rows: Vec<SqliteRow>,
) -> Result<Vec<(ArchivePlace, ArchivedCapture)>, StoreError> {
    let read = move || {
        let mut pool = SharedPool::brief();
        let share = |(place, mut capture): (ArchivePlace, ArchivedCapture)| {
            capture.share_texts(&mut pool);
            (place, capture)
        };
        let captures = rows.iter().filter_map(ArchivedCapture::from_row);
        captures.map(share).collect()
    };
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| StoreError::Interrupted {
            why: error.to_string(),
        })
}
