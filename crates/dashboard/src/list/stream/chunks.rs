//! A query on captures runs in chunks, the newest first, so that neither many captures nor long
//! bodies block a key.
//!
//! ```text
//!   new, recalled, changed ─► pending ─► chunk ─► rows that match
//!                               ▲          └─ more? ─► Effect::NextChunk ─► queued keys ─► Msg::NextChunk ─┐
//!                               └──────────────────────────────────────────────────────────────────┘
//! ```
//!
//! No outdated result is ever in flight: a new query starts with all captures pending. A query on
//! bodies waits for each chunk until the bodies of its captures were read from their files, off the
//! UI thread.

use crate::base::{CaptureKey, CaptureRow};
use crate::data::Stream;
use scandeck_domain::query::{ColumnBuilder, Field, Query, QueryKind, RowSet, RowSource};
use scandeck_domain::table::{OtherLists, Row};
use scandeck_wire::contract::Capture;
use scandeck_wire::contract::LoggerId;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Approximate bytes of captures per chunk: some milliseconds of work for any query.
pub const CHUNK: usize = 1 << 20;

/// Captures with the bodies that were read for a chunk.
pub type ReadCaptures = HashMap<CaptureKey, Arc<Capture>>;

/// Inputs of a query beside the captures.
#[derive(Clone, Copy)]
pub struct StreamContext<'a> {
    /// Only captures of this logger.
    pub only: Option<LoggerId>,
    /// The captures of the present chunk whose bodies were read.
    pub read: Option<&'a ReadCaptures>,
    /// Data of other lists.
    pub others: &'a dyn OtherLists,
    /// Seconds since 1970.
    pub now: i64,
}

/// Whether a query on captures searches their bodies.
pub fn needs_bodies(query: &Query) -> bool {
    query.has_field(Field::Body) || query.has_field(Field::Target)
}

/// A query on captures.
#[derive(Clone, Copy)]
pub struct ChunkQuery<'a> {
    pub stream: &'a Stream,
    pub query: &'a Query,
    pub context: StreamContext<'a>,
    /// Bytes of captures per chunk, such as [`CHUNK`].
    pub bytes: usize,
}

impl<'a> ChunkQuery<'a> {
    /// The captures among some row numbers whose bodies have to be read before the query can run on
    /// them.
    pub(crate) fn unread(&self, rows: impl IntoIterator<Item = Range<u64>>) -> Vec<&'a CaptureRow> {
        let needs_bodies = needs_bodies(self.query);
        let is_read = |captured: &CaptureRow| {
            self.context
                .read
                .is_some_and(|read| read.contains_key(&captured.id()))
        };
        let of = rows.into_iter().filter(|_| needs_bodies).flatten();
        let captures = of.filter_map(|row| self.stream.get(row));
        captures
            .filter(|captured| captured.unread_body().is_some() && !is_read(captured))
            .collect()
    }

    /// The matches among some row numbers.
    pub(crate) fn matches(&self, rows: Range<u64>) -> Vec<u64> {
        let part = StreamChunk {
            stream: self.stream,
            rows,
            context: self.context,
        };
        let matches = if self.query.is_empty() {
            RowSet::all(part.len())
        } else {
            self.query.matches(&part)
        };
        let here =
            |captured: &CaptureRow| self.context.only.is_none_or(|only| captured.logger == only);
        let rows = matches
            .rows()
            .filter(|&row| part.capture_at(row).is_some_and(here));
        rows.map(|row| part.rows.start + row as u64).collect()
    }
}

/// Row numbers as ranges, ascending and disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub fn len(&self) -> usize {
        self.0
            .iter()
            .map(|range| (range.end - range.start) as usize)
            .sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.0.iter()
    }

    pub fn add(&mut self, more: impl IntoIterator<Item = Range<u64>>) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(more);
        all.sort_by_key(|range| range.start);
        for range in all.into_iter().filter(|range| !range.is_empty()) {
            match self.0.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => self.0.push(range),
            }
        }
    }

    /// Removes the row numbers outside of a range.
    pub fn clip(&mut self, to: &Range<u64>) {
        self.0
            .iter_mut()
            .for_each(|range| *range = range.start.max(to.start)..range.end.min(to.end));
        self.0.retain(|range| !range.is_empty());
    }

    /// Adds new row numbers, ascending. Those after them move.
    pub fn shift(&mut self, new: &[u64]) {
        self.0
            .iter_mut()
            .for_each(|range| *range = shifted(range.start, new)..shifted(range.end - 1, new) + 1);
        self.add(new.iter().map(|&row| row..row + 1));
    }

    /// Removes and returns all ranges.
    pub fn take_all(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.0)
    }

    /// Removes a row number. False if it is not there.
    pub fn take(&mut self, row: u64) -> bool {
        let Some(at) = self.0.iter().position(|range| range.contains(&row)) else {
            return false;
        };
        let range = self.0.remove(at);
        self.add([range.start..row, row + 1..range.end]);
        true
    }

    /// Removes and returns the newest row numbers, up to this many bytes of captures.
    pub fn take_chunk(&mut self, stream: &Stream, bytes: usize) -> Vec<Range<u64>> {
        let (mut room, mut chunk) = (bytes, Vec::new());
        while room > 0
            && let Some(range) = self.0.pop()
        {
            let mut from = range.end;
            while room > 0 && from > range.start {
                from -= 1;
                room = room.saturating_sub(stream.get(from).map_or(0, CaptureRow::bytes));
            }
            if from > range.start {
                self.0.push(range.start..from);
            }
            chunk.push(from..range.end);
        }
        chunk
    }
}

/// The number of a row after captures were inserted at these numbers, ascending.
pub(crate) fn shifted(row: u64, new: &[u64]) -> u64 {
    let (mut low, mut high) = (0, new.len());
    while low < high {
        let middle = (low + high) / 2;
        match new[middle] - middle as u64 <= row {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    row + low as u64
}

/// A chunk of captures as a source of queries.
pub(crate) struct StreamChunk<'a> {
    stream: &'a Stream,
    rows: Range<u64>,
    context: StreamContext<'a>,
}

impl<'a> StreamChunk<'a> {
    pub fn newest(stream: &'a Stream, context: StreamContext<'a>) -> Self {
        let mut pending = Ranges::default();
        pending.add(Some(stream.first..stream.end()));
        let rows = pending.take_chunk(stream, CHUNK).pop().unwrap_or_default();
        Self {
            stream,
            rows,
            context,
        }
    }

    fn capture_at(&self, row: usize) -> Option<&'a CaptureRow> {
        self.stream.get(self.rows.start + row as u64)
    }
}

impl RowSource for StreamChunk<'_> {
    fn kind(&self) -> QueryKind {
        QueryKind::Captures
    }

    fn len(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        let Some(captured) = self.capture_at(row) else {
            return;
        };
        let whole = self.context.read.and_then(|read| read.get(&captured.id()));
        captured
            .recognized(whole)
            .write_field(field, self.context.others, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let has = |captured: &CaptureRow| {
            memchr::memmem::find(captured.text.as_bytes(), text.as_bytes()).is_some()
        };
        RowSet::of(self.len(), |row| self.capture_at(row).is_some_and(has))
    }

    fn now(&self) -> i64 {
        self.context.now
    }
}
