//! The captures of all loggers in a ring buffer, merged by time.
//!
//! ```text
//!   archive ─► older ones in front ─┐
//!                                   ├─► ring ─► rows
//!   loggers ─► archive ─► at the end┘     └─► the oldest leave when it is full; the archive keeps them
//! ```
//!
//! Row number − `first` is the index in memory. Numbers do not change when captures are added in
//! front or at the end; a late capture moves those after it by one.

use crate::base::{CaptureKey, CaptureRow};
use scandeck_domain::oob::Mention;
use scandeck_wire::contract::{LoggerId, Shared, Stamp};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

/// Most captures in memory.
pub const MOST: usize = 100_000;

/// Most bytes of the loaded captures, approximately: of their rows in memory and of their bodies in
/// files.
pub const MOST_BYTES: usize = 128 << 20;

/// The number of the first row. Older captures have lower numbers.
pub(crate) const START: u64 = 1 << 32;

/// The captures in memory, each once. When it is full, the oldest are dropped.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Oldest first.
    pub rows: VecDeque<CaptureRow>,
    /// The number of the first row.
    pub first: u64,
    /// The number of dropped captures.
    pub dropped: u64,
    /// The archive has older captures that were not loaded.
    pub older: bool,
    /// Why the captures of loggers cannot be fetched.
    pub problem: Option<Arc<scandeck_domain::problem::Problem>>,
    /// Raised when captures come in.
    pub(crate) revision: u64,
    pub(crate) bytes: usize,
    /// The number of captures by source address.
    pub(crate) sources: HashMap<Shared, usize>,
    /// The number of captures by logger.
    pub(crate) loggers: HashMap<LoggerId, usize>,
    /// The limit; [`MOST`] except in tests.
    pub(crate) most: usize,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            rows: VecDeque::new(),
            first: START,
            dropped: 0,
            older: false,
            problem: None,
            revision: 0,
            bytes: 0,
            sources: HashMap::new(),
            loggers: HashMap::new(),
            most: MOST,
        }
    }
}

impl Stream {
    /// The number of the row after the last.
    pub fn end(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    /// The capture of a row number.
    pub fn get(&self, row: u64) -> Option<&CaptureRow> {
        self.rows
            .get(usize::try_from(row.checked_sub(self.first)?).ok()?)
    }

    /// Whether a capture is in memory.
    pub fn holds(&self, id: CaptureKey) -> bool {
        self.row_of(id).is_some()
    }

    pub fn count_from(&self, address: &Shared) -> usize {
        self.sources.get(address).copied().unwrap_or_default()
    }

    /// The number of captures of a logger, or of all.
    pub fn count_of(&self, logger: Option<LoggerId>) -> usize {
        logger.map_or(self.rows.len(), |logger| {
            self.loggers.get(&logger).copied().unwrap_or_default()
        })
    }

    /// Whether a capture was never here. One that is older than all may have been dropped before.
    pub fn is_new(&self, captured: &CaptureRow) -> bool {
        let full = self.dropped > 0 || self.older;
        let before_all = self
            .rows
            .front()
            .is_some_and(|first| captured.id() < first.id());
        !(full && before_all || self.holds(captured.id()))
    }

    /// The row number of a capture.
    pub fn row_of(&self, id: CaptureKey) -> Option<u64> {
        let at = self.rows.binary_search_by_key(&id, CaptureRow::id).ok()?;
        Some(self.first + at as u64)
    }

    /// The row number that a capture has or would have.
    pub fn row_near(&self, id: CaptureKey) -> u64 {
        self.first + self.place_of(id) as u64
    }

    fn place_of(&self, id: CaptureKey) -> usize {
        self.rows.partition_point(|captured| captured.id() < id)
    }

    /// Adds new captures, except those that are here or were dropped. Returns the row numbers,
    /// ascending, of those that were not added in front: each moved the rows after it by one.
    pub fn take(&mut self, mut new: Vec<CaptureRow>) -> Vec<u64> {
        new.retain(|captured| self.is_new(captured));
        let rows = self.insert(new);
        while self.is_over() {
            self.drop_oldest();
            self.dropped += 1;
        }
        rows
    }

    /// Adds older captures from the archive, as many as fit. Returns the same as [`Stream::take`].
    pub fn recall(&mut self, older: Vec<CaptureRow>) -> Vec<u64> {
        let rows = self.insert(older);
        while self.is_over() {
            self.drop_oldest();
            self.older = true;
        }
        rows
    }

    /// Inserts captures by time. Those in front get lower numbers, so that no row moves.
    fn insert(&mut self, mut new: Vec<CaptureRow>) -> Vec<u64> {
        self.revision += 1;
        new.sort_by_key(CaptureRow::id);
        new.dedup_by_key(|captured| captured.id());
        new.retain(|captured| !self.holds(captured.id()));
        for captured in &mut new {
            captured.release_body();
            self.bytes += captured.bytes();
            *self
                .sources
                .entry(captured.capture.ip_address.clone())
                .or_default() += 1;
            *self.loggers.entry(captured.logger).or_default() += 1;
        }
        let first = self.rows.front().map(CaptureRow::id);
        let later = new.split_off(first.map_or(0, |first| {
            new.partition_point(|captured| captured.id() < first)
        }));
        self.first -= new.len() as u64;
        new.into_iter()
            .rev()
            .for_each(|captured| self.rows.push_front(captured));
        let places: Vec<usize> = later
            .iter()
            .map(|captured| self.place_of(captured.id()))
            .collect();
        let mut at = places.first().copied().unwrap_or(self.rows.len());
        let mut tail = self.rows.split_off(at).into_iter();
        let mut rows = Vec::with_capacity(later.len());
        for (captured, place) in later.into_iter().zip(places) {
            self.rows.extend(tail.by_ref().take(place - at));
            at = place;
            rows.push(self.end());
            self.rows.push_back(captured);
        }
        self.rows.extend(tail);
        rows
    }

    /// Changes the mentioned payloads of some captures. Returns their row numbers, ascending.
    pub fn mention(&mut self, changed: &[(CaptureKey, Arc<[Mention]>)]) -> Vec<u64> {
        let mut rows = Vec::new();
        for (id, now) in changed {
            if let Ok(at) = self.rows.binary_search_by_key(id, CaptureRow::id) {
                self.rows[at].mentions = Arc::clone(now);
                rows.push(self.first + at as u64);
            }
        }
        rows.sort_unstable();
        rows
    }

    /// Captures after a time, oldest first.
    pub fn since(&self, time: Stamp) -> impl Iterator<Item = &CaptureRow> {
        self.rows.range(self.place_after(time)..)
    }

    /// The row number of the first capture after a time.
    pub fn row_after(&self, time: Stamp) -> u64 {
        self.first + self.place_after(time) as u64
    }

    fn place_after(&self, time: Stamp) -> usize {
        self.rows.partition_point(|captured| {
            captured
                .capture
                .request_date
                .is_none_or(|date| date <= time)
        })
    }

    fn is_over(&self) -> bool {
        self.rows.len() > self.most || (self.bytes > MOST_BYTES && self.rows.len() > 1)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.rows.pop_front() {
            self.bytes -= oldest.bytes();
            self.first += 1;
            remove_one(&mut self.sources, &oldest.capture.ip_address);
            remove_one(&mut self.loggers, &oldest.logger);
        }
    }
}

fn remove_one<K: Eq + Hash>(counts: &mut HashMap<K, usize>, of: &K) {
    match counts.get_mut(of) {
        Some(count) if *count > 1 => *count -= 1,
        _ => _ = counts.remove(of),
    }
}
