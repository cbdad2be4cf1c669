//! A query asked about the captures in pieces, the newest first: neither a full ring nor long bodies hold the screen.
//!
//! ```text
//!   new, recalled, changed ─► unasked ─► a piece ─► rows that the query takes
//!                               ▲          └─ more? ─► Effect::AskOn ─► keys that wait ─► Msg::AskOn ─┐
//!                               └─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Nothing outdated is ever under way: another query begins with everything unasked, and the next piece is its own.

use crate::contract::LoggerId;
use crate::dashboard::base::Caught;
use crate::dashboard::data::Stream;
use crate::query::{ColumnBuilder, Field, Query, QueryKind, RowSet, RowSource};
use crate::table::{OtherLists, Row};
use std::ops::Range;

/// Bytes of captures that are asked at once, about: some milliseconds' worth, whatever the query.
pub const PIECE: usize = 1 << 20;

/// What decides about captures beside the query.
#[derive(Clone, Copy)]
pub struct StreamContext<'a> {
    /// Only this logger's.
    pub only: Option<LoggerId>,
    /// What other lists tell.
    pub others: &'a dyn OtherLists,
    /// Seconds since 1970.
    pub now: i64,
}

/// What is asked about which captures.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub stream: &'a Stream,
    pub query: &'a Query,
    pub world: StreamContext<'a>,
    /// Bytes of captures that are asked at once, such as [`PIECE`].
    pub piece: usize,
}

impl Asking<'_> {
    /// Those of some row numbers that the query takes.
    pub(crate) fn taken(&self, rows: Range<u64>) -> Vec<u64> {
        let part = StreamPart { stream: self.stream, rows, world: self.world };
        let taken = if self.query.is_empty() { RowSet::all(part.len()) } else { self.query.matches(&part) };
        let here = |caught: &Caught| self.world.only.is_none_or(|only| caught.logger == only);
        let rows = taken.rows().filter(|&row| part.caught(row).is_some_and(here));
        rows.map(|row| part.rows.start + row as u64).collect()
    }
}

/// Row numbers, such as those that a query was not asked about yet: ranges, ascending and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.iter().map(|range| (range.end - range.start) as usize).sum()
    }

    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.0.iter()
    }

    /// These too.
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

    /// Only those that are within.
    pub fn keep(&mut self, kept: &Range<u64>) {
        self.0.iter_mut().for_each(|range| *range = range.start.max(kept.start)..range.end.min(kept.end));
        self.0.retain(|range| !range.is_empty());
    }

    /// Captures came in at these row numbers, ascending: those after them moved, and these are added.
    pub fn shift(&mut self, new: &[u64]) {
        self.0.iter_mut().for_each(|range| *range = shifted(range.start, new)..shifted(range.end - 1, new) + 1);
        self.add(new.iter().map(|&row| row..row + 1));
    }

    /// All of them.
    pub fn all(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.0)
    }

    /// Takes off one; false when that was asked already.
    pub fn take(&mut self, row: u64) -> bool {
        let Some(at) = self.0.iter().position(|range| range.contains(&row)) else { return false };
        let range = self.0.remove(at);
        self.add([range.start..row, row + 1..range.end]);
        true
    }

    /// Takes off the newest, of so many bytes.
    pub fn piece(&mut self, stream: &Stream, bytes: usize) -> Vec<Range<u64>> {
        let (mut room, mut piece) = (bytes, Vec::new());
        while room > 0
            && let Some(range) = self.0.pop()
        {
            let mut from = range.end;
            while room > 0 && from > range.start {
                from -= 1;
                room = room.saturating_sub(stream.get(from).map_or(0, Caught::bytes));
            }
            if from > range.start {
                self.0.push(range.start..from);
            }
            piece.push(from..range.end);
        }
        piece
    }
}

/// The number that a row has after captures came in at these numbers, ascending.
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

/// Some of the captures, to be queried.
pub(crate) struct StreamPart<'a> {
    stream: &'a Stream,
    rows: Range<u64>,
    world: StreamContext<'a>,
}

impl<'a> StreamPart<'a> {
    /// The newest, a piece of them.
    pub fn newest(stream: &'a Stream, world: StreamContext<'a>) -> Self {
        let mut unasked = Ranges::default();
        unasked.add(Some(stream.first..stream.end()));
        let rows = unasked.piece(stream, PIECE).pop().unwrap_or_default();
        Self { stream, rows, world }
    }

    fn caught(&self, row: usize) -> Option<&'a Caught> {
        self.stream.get(self.rows.start + row as u64)
    }
}

impl RowSource for StreamPart<'_> {
    fn kind(&self) -> QueryKind {
        QueryKind::Captures
    }

    fn len(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        let Some(caught) = self.caught(row) else { return };
        caught.recognised().write_field(field, self.world.others, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let has = |caught: &Caught| memchr::memmem::find(caught.text.as_bytes(), text.as_bytes()).is_some();
        RowSet::of(self.len(), |row| self.caught(row).is_some_and(has))
    }

    fn now(&self) -> i64 {
        self.world.now
    }
}
