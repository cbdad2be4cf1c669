//! The captures: a ring of what the loggers recorded, merged in the order of time, and the list that shows it.
//!
//! Positions in the ring are counted from the first capture ever taken, so that a row keeps its number while the
//! oldest leave: row number − `dropped` is the place in memory.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::contract::{Capture, CaptureId, LoggerId};
use crate::query::{Bits, Builder, Field, Kind, Others, Query, Row, Source};

/// Most captures held in memory.
pub const MOST: usize = 100_000;

/// Most bytes of captures held in memory, about.
pub const MOST_BYTES: usize = 128 << 20;

/// A captured request with the logger that recorded it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Caught {
    pub logger: LoggerId,
    pub capture: Arc<Capture>,
    /// Lower-case text that `/` searches.
    pub text: Box<str>,
}

/// A capture's id; ids are unique a logger.
pub type CaughtId = (LoggerId, CaptureId);

impl Caught {
    /// Its id.
    pub fn id(&self) -> CaughtId {
        (self.logger, self.capture.id)
    }

    fn new(logger: LoggerId, capture: Arc<Capture>) -> Self {
        let mut text = String::new();
        capture.search_text(&mut text);
        Self { logger, capture, text: text.to_lowercase().into_boxed_str() }
    }

    /// The order of the stream.
    fn key(&self) -> (Option<crate::contract::Stamp>, CaptureId, LoggerId) {
        (self.capture.request_date, self.capture.id, self.logger)
    }

    fn bytes(&self) -> usize {
        let capture = &self.capture;
        let headers: usize = capture.http_headers.iter().map(|line| line.len() + 32).sum();
        512 + self.text.len() + headers + capture.request_body_base64.len() + capture.url_params.len()
    }
}

/// The captures held in memory; the oldest go first when it is full, and `dropped` says how many.
#[derive(Debug, Default)]
pub struct Stream {
    /// What is held, oldest first.
    pub caught: VecDeque<Caught>,
    /// How many have left.
    pub dropped: u64,
    /// Why the last attempt to read them failed.
    pub problem: Option<Arc<crate::app::Problem>>,
    /// Those of a logger have been read at least once.
    pub read: BTreeSet<LoggerId>,
    bytes: usize,
}

/// What taking captures did to the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All came after what was there: rows from this number on are new.
    Appended(u64),
    /// Some belong between older ones: every row number may have changed.
    Merged,
}

impl Stream {
    /// The number of the row after the last.
    pub fn end(&self) -> u64 {
        self.dropped + self.caught.len() as u64
    }

    /// The capture of a row number.
    pub fn get(&self, row: u64) -> Option<&Caught> {
        self.caught.get(usize::try_from(row.checked_sub(self.dropped)?).ok()?)
    }

    /// The row number of a capture.
    pub fn row_of(&self, id: CaughtId) -> Option<u64> {
        let at = self.caught.iter().rposition(|caught| caught.id() == id)?;
        Some(self.dropped + at as u64)
    }

    /// Takes captures of one logger.
    pub fn take(&mut self, logger: LoggerId, new: Vec<Arc<Capture>>) -> Taken {
        self.read.insert(logger);
        self.problem = None;
        let first = self.end();
        let mut in_order = true;
        for capture in new {
            let caught = Caught::new(logger, capture);
            in_order &= self.caught.back().is_none_or(|last| last.key() <= caught.key());
            self.bytes += caught.bytes();
            self.caught.push_back(caught);
        }
        if !in_order {
            self.caught.make_contiguous().sort_by_key(Caught::key);
        }
        while self.caught.len() > MOST || (self.bytes > MOST_BYTES && self.caught.len() > 1) {
            if let Some(oldest) = self.caught.pop_front() {
                self.bytes -= oldest.bytes();
                self.dropped += 1;
            }
        }
        if in_order { Taken::Appended(first) } else { Taken::Merged }
    }

    /// Forgets what a logger recorded: it was cleared or deleted.
    pub fn forget(&mut self, logger: LoggerId) {
        self.caught.retain(|caught| caught.logger != logger);
        self.bytes = self.caught.iter().map(Caught::bytes).sum();
        self.read.remove(&logger);
    }
}

/// The list of the captures. It follows the end as long as the selection is there and it is not paused.
#[derive(Clone, Debug)]
pub struct StreamList {
    /// The selected capture.
    pub selected: Option<CaughtId>,
    /// Place of the selection among the rows.
    pub at: usize,
    /// Marked captures.
    pub marks: BTreeSet<CaughtId>,
    /// Where `v` began a range.
    pub range_from: Option<CaughtId>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// Row numbers shown, oldest first.
    pub rows: VecDeque<u64>,
    /// The selection goes along when something comes.
    pub follow: bool,
    /// `=`: nothing moves, what comes is counted.
    pub paused: bool,
    /// Rows that came below since it stopped following: `▼ N new`.
    pub below: usize,
}

impl Default for StreamList {
    fn default() -> Self {
        Self {
            selected: None,
            at: 0,
            marks: BTreeSet::new(),
            range_from: None,
            filter: String::new(),
            earlier: Vec::new(),
            rows: VecDeque::new(),
            follow: true,
            paused: false,
            below: 0,
        }
    }
}

impl StreamList {
    /// Makes the rows anew.
    pub fn show(&mut self, stream: &Stream, query: &Query, world: World<'_>) {
        self.rows = stream.matching(stream.dropped, query, world).collect();
        self.settle(stream);
    }

    /// Adds the rows from a number on, and takes off those that have left the ring.
    pub fn extend(&mut self, stream: &Stream, from: u64, query: &Query, world: World<'_>) {
        let mut left = 0;
        while self.rows.front().is_some_and(|&row| row < stream.dropped) {
            self.rows.pop_front();
            left += 1;
        }
        self.at = self.at.saturating_sub(left);
        let before = self.rows.len();
        self.rows.extend(stream.matching(from, query, world));
        self.below += self.rows.len() - before;
        match self.id_at(stream, self.at) {
            id if id == self.selected && !self.goes_along() => {}
            _ => self.settle(stream),
        }
    }

    /// Puts the selection on its capture, on the last one when following, else where it was.
    fn settle(&mut self, stream: &Stream) {
        let kept = self.selected.filter(|_| !self.goes_along()).and_then(|id| stream.row_of(id));
        match kept.and_then(|row| self.rows.binary_search(&row).ok()) {
            Some(at) => self.at = at,
            None if self.goes_along() => self.select_at(stream, usize::MAX),
            None => self.select_at(stream, self.at),
        }
        if self.goes_along() {
            self.below = 0;
        }
        let held: BTreeSet<CaughtId> =
            if self.marks.is_empty() { BTreeSet::new() } else { stream.caught.iter().map(Caught::id).collect() };
        self.marks.retain(|id| held.contains(id));
    }

    /// The selection goes along with the end.
    pub fn goes_along(&self) -> bool {
        self.follow && !self.paused && self.marks.is_empty() && self.range_from.is_none()
    }

    /// Selects a place, or the last one.
    pub fn select_at(&mut self, stream: &Stream, at: usize) {
        self.at = at.min(self.rows.len().saturating_sub(1));
        self.selected = self.id_at(stream, self.at);
        self.follow = !self.paused && self.at + 1 >= self.rows.len();
        if self.follow {
            self.below = 0;
        }
    }

    /// The capture at a place of the list.
    pub fn id_at(&self, stream: &Stream, at: usize) -> Option<CaughtId> {
        stream.get(*self.rows.get(at)?).map(Caught::id)
    }

    /// The selected capture.
    pub fn current<'a>(&self, stream: &'a Stream) -> Option<&'a Caught> {
        let there = self.rows.get(self.at).and_then(|&row| stream.get(row));
        there.filter(|caught| Some(caught.id()) == self.selected)
    }
}

/// What decides about captures beside the query.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Only this logger's.
    pub only: Option<LoggerId>,
    /// What other lists tell.
    pub others: &'a dyn Others,
    /// Seconds since 1970.
    pub now: i64,
}

impl Stream {
    /// Row numbers that a query takes, from one on.
    fn matching(&self, from: u64, query: &Query, world: World<'_>) -> impl Iterator<Item = u64> + '_ {
        let from = from.max(self.dropped);
        let part = Part { stream: self, from, world };
        let only = world.only;
        let taken = if query.is_empty() { Bits::all(part.len()) } else { query.matches(&part) };
        let here = move |row: &usize| {
            only.is_none_or(|logger| self.caught(from, *row).is_some_and(|caught| caught.logger == logger))
        };
        (0..taken.len()).filter(move |&row| taken.has(row)).filter(here).map(move |row| from + row as u64)
    }

    fn caught(&self, from: u64, row: usize) -> Option<&Caught> {
        self.get(from + row as u64)
    }
}

/// The captures from a row number on, to be queried.
pub(super) struct Part<'a> {
    stream: &'a Stream,
    from: u64,
    world: World<'a>,
}

impl<'a> Part<'a> {
    /// All of them.
    pub(super) fn all(stream: &'a Stream, world: World<'a>) -> Self {
        Self { stream, from: stream.dropped, world }
    }
}

impl Source for Part<'_> {
    fn kind(&self) -> Kind {
        Kind::Captures
    }

    fn len(&self) -> usize {
        self.stream.end().saturating_sub(self.from) as usize
    }

    fn tell(&self, row: usize, field: Field, to: &mut Builder) {
        let Some(caught) = self.stream.caught(self.from, row) else { return };
        match field {
            Field::Logger => {
                self.world.others.logger_label(caught.logger).into_iter().for_each(|label| to.shared(label))
            }
            _ => caught.capture.tell(field, self.world.others, to),
        }
    }

    fn with_text(&self, text: &str) -> Bits {
        let has = |caught: &Caught| memchr::memmem::find(caught.text.as_bytes(), text.as_bytes()).is_some();
        Bits::of(self.len(), |row| self.stream.caught(self.from, row).is_some_and(has))
    }

    fn now(&self) -> i64 {
        self.world.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Stamp;

    fn capture(id: i64) -> Arc<Capture> {
        let date = jiff::Timestamp::from_second(1_800_000_000 + id).unwrap();
        let query = if id % 2 == 0 { "even" } else { "odd" };
        Arc::new(Capture {
            id: CaptureId(id),
            url_params: query.into(),
            request_date: Some(Stamp(date)),
            ..Capture::default()
        })
    }

    #[test]
    fn a_full_ring_drops_the_oldest_counts_them_and_keeps_the_selection() {
        let (mut stream, mut list) = (Stream::default(), StreamList::default());
        let query = Query::parse("even", Kind::Captures).unwrap();
        let world = World { only: None, others: &crate::query::Alone, now: 0 };
        let most = MOST as i64;
        let from = stream.take(LoggerId(1), (1..=most).map(capture).collect());
        assert_eq!(from, Taken::Appended(0));
        list.show(&stream, &query, world);
        list.select_at(&stream, 2_000);
        let selected = list.selected;
        let Taken::Appended(from) = stream.take(LoggerId(1), (most + 1..=most + 10).map(capture).collect()) else {
            panic!("out of order");
        };
        list.extend(&stream, from, &query, world);
        assert_eq!((stream.caught.len(), stream.dropped), (MOST, 10));
        assert_eq!((list.selected, list.at, list.below), (selected, 1_995, 5));
        assert_eq!(list.current(&stream).map(Caught::id), selected);
    }

    #[test]
    fn big_bodies_fill_the_ring_before_its_number_does() {
        let mut stream = Stream::default();
        let big = |id| {
            let body = "x".repeat(1 << 20).as_str().into();
            Arc::new(Capture { request_body_base64: body, ..(*capture(id)).clone() })
        };
        stream.take(LoggerId(1), (1..=140).map(big).collect());
        assert!(stream.dropped >= 12 && stream.bytes <= MOST_BYTES, "{}", stream.dropped);
    }

    #[test]
    fn what_a_cleared_logger_recorded_is_forgotten() {
        let mut stream = Stream::default();
        stream.take(LoggerId(1), vec![capture(1), capture(2)]);
        stream.take(LoggerId(2), vec![capture(3)]);
        stream.forget(LoggerId(1));
        assert_eq!(stream.caught.iter().map(|caught| caught.logger).collect::<Vec<_>>(), [LoggerId(2)]);
    }
}
