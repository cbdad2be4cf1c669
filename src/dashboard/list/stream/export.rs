//! All captures that match a query, collected in chunks: an export is complete and never blocks a key.

use crate::contract::LoggerId;
use crate::dashboard::base::{CaptureKey, CaptureRow};
use crate::dashboard::list::{ChunkQuery, Ranges};
use crate::query::Query;

/// An export in progress. It works with ids, because rows move when captures arrive late or are dropped. Captures that are
/// newer than its start are excluded.
#[derive(Debug)]
pub struct CaptureExport {
    pub query: Query,
    /// Only captures of this logger.
    pub only: Option<LoggerId>,
    /// The captures before this one are still to be searched.
    before: Option<CaptureKey>,
    /// The matches, the newest first.
    found: Vec<CaptureRow>,
}

impl CaptureExport {
    pub fn new(query: Query, only: Option<LoggerId>) -> Self {
        Self { query, only, before: None, found: Vec::new() }
    }

    /// Searches the next chunk. After the last one returns all matches, oldest first.
    pub fn next_chunk(&mut self, query: &ChunkQuery<'_>) -> Option<Vec<CaptureRow>> {
        let stream = query.stream;
        let end = self.before.map_or(stream.end(), |before| stream.row_near(before));
        let mut pending = Ranges::default();
        pending.add(Some(stream.first..end));
        let chunk = pending.take_chunk(stream, query.bytes).pop().unwrap_or_default();
        self.before = stream.get(chunk.start).map(CaptureRow::id);
        let matches = query.matches(chunk);
        self.found.extend(matches.into_iter().rev().filter_map(|row| stream.get(row)).cloned());
        let done = pending.len() == 0;
        done.then(|| std::mem::take(&mut self.found).into_iter().rev().collect())
    }
}
