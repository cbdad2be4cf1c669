//! Hits of payloads, stored separately because captures are deleted by age.
//!
//! ```text
//!   captures ─► recognised ─► hits ─► counts, by a trigger          looked: up to here captures were searched
//! ```
//!
//! Whoever archives keeps the hits in them right after. What was archived without, by an older
//! program, one that ended in between, or before its payload was known, is after `looked`;
//! [`Store::search_chunk`] searches it. A hit is stored once, whoever finds it and however often.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use super::archived::{digest, read};
use super::chunks::MOST;
use super::{CHUNK, Store, StoreError};
use crate::oob::{ArchivedCapture, Hit, Hits, Mention, Payload, PayloadBook, Token, mentions};
use scandeck_wire::contract::{CaptureId, LoggerId, Shared, Stamp};

/// Captures in the order of archiving: those behind a row, up to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowRange {
    pub(super) after: i64,
    pub(super) last: i64,
}

impl RowRange {
    /// With the next ones, unless others archived in between.
    pub(super) fn and(self, next: Self) -> Self {
        if self.last == next.after {
            Self {
                last: next.last,
                ..self
            }
        } else {
            self
        }
    }
}

/// Hits of a payload in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitCount {
    pub workspace: Shared,
    pub token: Token,
    pub hits: Hits,
}

/// Result of searching one chunk of the archive.
#[derive(Debug, Default)]
pub struct SearchedCaptures {
    /// Payloads that others made; they were searched for too.
    pub payloads: Vec<Arc<Payload>>,
    /// The end was reached.
    pub ended: bool,
}

impl ArchivedCapture {
    /// The hits among what it mentions, one a payload.
    pub fn hits(&self, mentions: &[Mention]) -> BTreeSet<Hit> {
        let hit = |token| Hit {
            token,
            workspace: self.workspace.clone(),
            logger: self.logger,
            id: self.capture.id,
            digest: digest(&self.capture),
            at: self.capture.request_date,
        };
        mentions
            .iter()
            .filter(|mention| mention.known)
            .map(|mention| hit(mention.token))
            .collect()
    }
}

fn stamp(row: &SqliteRow, name: &str) -> Option<Stamp> {
    // Read as a number, a null would be 1970.
    Timestamp::from_microsecond(row.try_get::<Option<i64>, _>(name).ok()??)
        .ok()
        .map(Stamp)
}

impl Hit {
    pub(super) fn from_row(row: &SqliteRow) -> Option<Self> {
        Some(Self {
            token: row.try_get::<&str, _>("token").ok()?.parse().ok()?,
            workspace: row.try_get::<&str, _>("workspace").ok()?.into(),
            logger: LoggerId(row.try_get("logger").ok()?),
            id: CaptureId(row.try_get("id").ok()?),
            digest: row.try_get("digest").ok()?,
            at: stamp(row, "at"),
        })
    }
}

impl HitCount {
    fn from_row(row: &SqliteRow) -> Option<Self> {
        let count: i64 = row.try_get("count").ok()?;
        Some(Self {
            workspace: row.try_get::<&str, _>("workspace").ok()?.into(),
            token: row.try_get::<&str, _>("token").ok()?.parse().ok()?,
            hits: Hits {
                count: count.unsigned_abs(),
                first: stamp(row, "first"),
                last: stamp(row, "last"),
            },
        })
    }
}

impl Store {
    /// Stores hits and marks these captures as searched, in one transaction. Returns false, without
    /// the mark, while older captures are not searched or while payloads of other programs have not
    /// been read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn insert_hits(
        &mut self,
        hits: &[Hit],
        looked: RowRange,
    ) -> Result<bool, StoreError> {
        let none = looked.after == looked.last;
        if hits.is_empty() && none {
            return Ok(true);
        }
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        for chunk in hits.chunks(CHUNK) {
            let into = "INSERT INTO hits (token, workspace, logger, id, digest, at) ";
            let mut query = QueryBuilder::<Sqlite>::new(into);
            query.push_values(chunk, |mut row, hit| {
                row.push_bind(hit.token.to_string())
                    .push_bind(hit.workspace.as_str())
                    .push_bind(hit.logger.0);
                row.push_bind(hit.id.0)
                    .push_bind(hit.digest)
                    .push_bind(hit.at.map(|at| at.0.as_microsecond()));
            });
            // Not OR IGNORE, which would hold for the trigger too.
            query
                .push(" ON CONFLICT DO NOTHING")
                .build()
                .execute(&mut *change)
                .await
                .map_err(&failed)?;
        }
        let query = "UPDATE looked SET row = ?2
            WHERE row >= ?1 AND row < ?2 AND ?3 = (SELECT coalesce(max(row), 0) FROM payloads)";
        let query = sqlx::query(query)
            .bind(looked.after)
            .bind(looked.last)
            .bind(self.last_payload);
        let counts = query
            .execute(&mut *change)
            .await
            .map_err(&failed)?
            .rows_affected()
            > 0;
        change.commit().await.map_err(&failed)?;
        Ok(none || counts)
    }

    /// Searches the next chunk of unsearched captures for payloads. The book takes the payloads of
    /// other programs.
    ///
    /// # Errors
    /// When the file cannot be read or written; the chunk is then searched again.
    pub async fn search_chunk(
        &mut self,
        book: &mut PayloadBook,
    ) -> Result<SearchedCaptures, StoreError> {
        let before = self.last_payload;
        let looked = self.search_next_chunk(book).await;
        if looked.is_err() {
            self.last_payload = before;
        }
        looked
    }

    async fn search_next_chunk(
        &mut self,
        book: &mut PayloadBook,
    ) -> Result<SearchedCaptures, StoreError> {
        let after = self.searched().await?;
        let query = sqlx::query("SELECT * FROM captures WHERE row > ? ORDER BY row LIMIT ?");
        let (rows, _) = self.read_chunk(query.bind(after).bind(MOST as i64)).await?;
        let Some(last) = last_of(&rows) else {
            return Ok(SearchedCaptures {
                ended: true,
                ..SearchedCaptures::default()
            });
        };
        // Read after the captures: a payload is stored before it is planted, so none that these
        // carry is missing.
        let payloads = self.new_payloads().await?;
        book.take(payloads.iter().cloned());
        let hits = found(rows, book).await?;
        self.insert_hits(&hits, RowRange { after, last }).await?;
        Ok(SearchedCaptures {
            payloads,
            ended: !self.is_behind().await?,
        })
    }

    /// Searches the unsearched captures of a workspace before a time and deletes them. Returns
    /// their number.
    pub(super) async fn search_and_delete(
        &mut self,
        workspace: &str,
        time: Stamp,
        book: &PayloadBook,
    ) -> Result<u64, StoreError> {
        let failed = self.file.failed();
        let mut deleted = 0;
        loop {
            let looked = self.searched().await?;
            let query = "SELECT * FROM captures WHERE workspace = ? AND at < ? AND row > ? LIMIT ?";
            let query = sqlx::query(query)
                .bind(workspace.to_owned())
                .bind(time.0.as_microsecond())
                .bind(looked);
            let (rows, _) = self.read_chunk(query.bind(MOST as i64)).await?;
            if rows.is_empty() {
                return Ok(deleted);
            }
            let numbers: Vec<i64> = rows
                .iter()
                .filter_map(|row| row.try_get("row").ok())
                .collect();
            let hits = found(rows, book).await?;
            self.insert_hits(&hits, RowRange::default()).await?;
            let mut query = QueryBuilder::<Sqlite>::new("DELETE FROM captures WHERE row IN (");
            numbers.iter().fold(query.separated(", "), |mut list, row| {
                list.push_bind(*row);
                list
            });
            let result = query
                .push(")")
                .build()
                .execute(&mut self.file.connection)
                .await
                .map_err(&failed)?;
            deleted += result.rows_affected();
        }
    }

    /// True if captures were archived that have not been searched.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn is_behind(&mut self) -> Result<bool, StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM captures WHERE row > (SELECT row FROM looked))",
        );
        query
            .fetch_one(&mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// Marks the whole archive as not searched, because imported payloads may be older than the
    /// captures.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn look_again(&mut self) -> Result<(), StoreError> {
        let failed = self.file.failed();
        sqlx::query("UPDATE looked SET row = 0")
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// Hits of each payload in a workspace; payloads without hits are omitted.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn counts_of(&mut self, workspace: &str) -> Result<Vec<HitCount>, StoreError> {
        let failed = self.file.failed();
        let query =
            sqlx::query("SELECT * FROM counts WHERE workspace = ?").bind(workspace.to_owned());
        let rows = query
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.iter().filter_map(HitCount::from_row).collect())
    }

    /// Counts that have changed since the last call, of any workspace.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn new_counts(&mut self) -> Result<Vec<HitCount>, StoreError> {
        let failed = self.file.failed();
        let query =
            sqlx::query("SELECT * FROM counts WHERE row > ? ORDER BY row").bind(self.last_count);
        let rows = query
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        self.last_count = last_of(&rows).unwrap_or(self.last_count);
        Ok(rows.iter().filter_map(HitCount::from_row).collect())
    }

    /// Every hit of a workspace.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn hits_of(&mut self, workspace: &str) -> Result<Vec<Hit>, StoreError> {
        let failed = self.file.failed();
        let query =
            sqlx::query("SELECT * FROM hits WHERE workspace = ?").bind(workspace.to_owned());
        let rows = query
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(rows.iter().filter_map(Hit::from_row).collect())
    }

    pub(super) async fn searched(&mut self) -> Result<i64, StoreError> {
        let failed = self.file.failed();
        sqlx::query_scalar("SELECT row FROM looked")
            .fetch_one(&mut self.file.connection)
            .await
            .map_err(failed)
    }
}

fn last_of(rows: &[SqliteRow]) -> Option<i64> {
    rows.last()?.try_get("row").ok()
}

/// The hits in captures, looked for on a thread of its own.
async fn found(rows: Vec<SqliteRow>, book: &PayloadBook) -> Result<Vec<Hit>, StoreError> {
    let (captures, book) = (read(rows).await?, book.clone());
    let found = tokio::task::spawn_blocking(move || {
        let hits = |(_, one): &(_, ArchivedCapture)| one.hits(&mentions(&one.capture, &book));
        captures.iter().flat_map(hits).collect()
    });
    found.await.map_err(|error| StoreError::Interrupted {
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
