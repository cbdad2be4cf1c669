//! All captures that match a query, collected in chunks: an export is complete and never blocks a
//! key.

use crate::base::{CaptureKey, CaptureRow};
use crate::list::{ChunkQuery, Ranges};
use scandeck_domain::query::Query;
use scandeck_wire::contract::LoggerId;
use std::ops::Range;

/// An export in progress. It works with ids, because rows move when captures arrive late or are
/// dropped. Captures that are newer than its start are excluded.
#[derive(Clone, Debug)]
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
        Self {
            query,
            only,
            before: None,
            found: Vec::new(),
        }
    }

    /// The captures of the next chunk whose bodies have to be read first.
    pub fn unread<'a>(&self, query: &ChunkQuery<'a>) -> Vec<&'a CaptureRow> {
        query.unread([self.chunk(query).0])
    }

    /// The next chunk, and the row numbers after it.
    fn chunk(&self, query: &ChunkQuery<'_>) -> (Range<u64>, Ranges) {
        let stream = query.stream;
        let end = self
            .before
            .map_or(stream.end(), |before| stream.row_near(before));
        let mut pending = Ranges::default();
        pending.add(Some(stream.first..end));
        let chunk = pending
            .take_chunk(stream, query.bytes)
            .pop()
            .unwrap_or_default();
        (chunk, pending)
    }

    /// Searches the next chunk, unless bodies have to be read first. After the last one returns all
    /// matches, oldest first.
    pub fn next_chunk(&mut self, query: &ChunkQuery<'_>) -> Option<Vec<CaptureRow>> {
        let stream = query.stream;
        let (chunk, pending) = self.chunk(query);
        if !query.unread([chunk.clone()]).is_empty() {
            return None;
        }
        self.before = stream.get(chunk.start).map(CaptureRow::id);
        let matches = query.matches(chunk);
        self.found.extend(
            matches
                .into_iter()
                .rev()
                .filter_map(|row| stream.get(row))
                .cloned(),
        );
        let done = pending.len() == 0;
        done.then(|| std::mem::take(&mut self.found).into_iter().rev().collect())
    }
}
