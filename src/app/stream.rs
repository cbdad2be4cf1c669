//! The captures: a ring of what the loggers recorded, merged in the order of time, and the list that shows it.
//!
//! ```text
//!   archive ─► older ones in front ─┐
//!                                   ├─► ring ─► rows
//!   loggers ─► archive ─► at the end┘     └─► the oldest leave when it is full; the archive keeps them
//! ```
//!
//! Rows are numbered once and for all: row number − `first` is the place in memory.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use crate::oob::recognize::mentions;
use crate::oob::{Archived, Book, Mention, Token};
use crate::query::{Bits, Builder, Field, Kind, Others, Query, Recognised, Row, Source};

/// Most captures held in memory.
pub const MOST: usize = 100_000;

/// Most bytes of captures held in memory, about.
pub const MOST_BYTES: usize = 128 << 20;

/// The number of the first row: older ones count down from it.
const START: u64 = 1 << 32;

/// A captured request with the logger that recorded it, and what it mentions.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Caught {
    pub logger: LoggerId,
    /// Label of the logger: the archive knows loggers that are gone.
    pub label: Shared,
    pub capture: Arc<Capture>,
    /// The tokens in it; known ones first.
    pub mentions: Arc<[Mention]>,
    /// Lower-case text that `/` searches.
    pub text: Box<str>,
}

/// A capture's id. Ids are unique a logger, but for services that begin anew after a clear: so the date belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct CaughtId {
    pub logger: LoggerId,
    pub capture: CaptureId,
    pub date: Option<Stamp>,
}

impl Caught {
    /// A capture as it was archived.
    pub fn new(archived: &Archived, mentions: Arc<[Mention]>) -> Self {
        let capture = Arc::clone(&archived.capture);
        let mut text = String::new();
        capture.search_text(&mut text);
        let text = text.to_lowercase().into_boxed_str();
        Self { logger: archived.logger, label: archived.label.clone(), capture, mentions, text }
    }

    /// Its id.
    pub fn id(&self) -> CaughtId {
        CaughtId { logger: self.logger, capture: self.capture.id, date: self.capture.request_date }
    }

    /// What it mentions now that the book has grown by some tokens; nothing when it mentions none of them.
    pub fn mentions_of(&self, grown: &Book) -> Option<Arc<[Mention]>> {
        let found: Vec<Mention> = mentions(&self.capture, grown).into_iter().filter(|mention| mention.known).collect();
        if found.is_empty() {
            return None;
        }
        let others = self.mentions.iter().filter(|old| !found.iter().any(|new| new.token == old.token));
        let (known, unknown): (Vec<Mention>, Vec<Mention>) = others.cloned().partition(|mention| mention.known);
        Some(known.into_iter().chain(found.clone()).chain(unknown).collect())
    }

    /// The payload it mentions first, if that is known.
    pub fn known(&self) -> Option<&Mention> {
        self.mentions.first().filter(|mention| mention.known)
    }

    /// The tokens of payloads in it, each once.
    pub fn tokens(&self) -> impl Iterator<Item = Token> + '_ {
        let known = self.mentions.iter().enumerate().filter(|(_, mention)| mention.known);
        let first = |at: usize, token| self.mentions[..at].iter().all(|mention| mention.token != token);
        known.filter(move |(at, mention)| first(*at, mention.token)).map(|(_, mention)| mention.token)
    }

    /// As a row of queries.
    pub fn recognised(&self) -> Recognised<'_> {
        Recognised { capture: &self.capture, label: &self.label, mentions: &self.mentions }
    }

    /// The order of the stream.
    fn key(&self) -> (Option<Stamp>, CaptureId, LoggerId) {
        (self.capture.request_date, self.capture.id, self.logger)
    }

    /// What it takes in memory, about.
    pub fn bytes(&self) -> usize {
        let capture = &self.capture;
        let headers: usize = capture.http_headers.iter().map(|line| line.len() + 32).sum();
        512 + self.text.len() + headers + capture.request_body_base64.len() + capture.url_params.len()
    }
}

/// The captures held in memory; the oldest go first when it is full.
#[derive(Debug)]
pub struct Stream {
    /// What is held, oldest first.
    pub caught: VecDeque<Caught>,
    /// The number of the first row.
    pub first: u64,
    /// How many have left.
    pub dropped: u64,
    /// The archive has older ones, which were not read.
    pub older: bool,
    /// Why the last attempt to read them failed.
    pub problem: Option<Arc<crate::app::Problem>>,
    held: HashSet<CaughtId>,
    bytes: usize,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            caught: VecDeque::new(),
            first: START,
            dropped: 0,
            older: false,
            problem: None,
            held: HashSet::new(),
            bytes: 0,
        }
    }
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
        self.first + self.caught.len() as u64
    }

    /// The capture of a row number.
    pub fn get(&self, row: u64) -> Option<&Caught> {
        self.caught.get(usize::try_from(row.checked_sub(self.first)?).ok()?)
    }

    /// The row number of a capture.
    pub fn row_of(&self, id: CaughtId) -> Option<u64> {
        if !self.held.contains(&id) {
            return None;
        }
        let at = self.caught.iter().rposition(|caught| caught.id() == id)?;
        Some(self.first + at as u64)
    }

    /// Takes captures that came in. One that is held is not taken twice, nor one older than what has left.
    pub fn take(&mut self, new: Vec<Caught>) -> Taken {
        self.problem = None;
        let from = self.end();
        let left = (self.dropped > 0 || self.older).then(|| self.caught.front().map(Caught::key)).flatten();
        let mut in_order = true;
        for caught in new {
            if left.is_some_and(|left| caught.key() < left) || !self.held.insert(caught.id()) {
                continue;
            }
            in_order &= self.caught.back().is_none_or(|last| last.key() <= caught.key());
            self.bytes += caught.bytes();
            self.caught.push_back(caught);
        }
        if !in_order {
            self.caught.make_contiguous().sort_by_key(Caught::key);
        }
        while self.is_over() {
            self.drop_oldest();
        }
        if in_order { Taken::Appended(from) } else { Taken::Merged }
    }

    /// Takes older captures from the archive, in order. True when all of them came before what was there.
    pub fn recall(&mut self, older: Vec<Caught>) -> bool {
        let mut before = true;
        for caught in older.into_iter().rev() {
            if !self.held.insert(caught.id()) {
                continue;
            }
            before &= self.caught.front().is_none_or(|first| caught.key() <= first.key());
            self.bytes += caught.bytes();
            self.caught.push_front(caught);
            self.first -= 1;
            if self.is_over() {
                self.drop_oldest();
                self.older = true;
                break;
            }
        }
        if !before {
            self.caught.make_contiguous().sort_by_key(Caught::key);
        }
        before
    }

    /// Some of the captures mention something else now.
    pub fn mention(&mut self, changed: &[(CaughtId, Arc<[Mention]>)]) {
        let changed: HashMap<CaughtId, &Arc<[Mention]>> = changed.iter().map(|(id, now)| (*id, now)).collect();
        for caught in &mut self.caught {
            if let Some(now) = changed.get(&caught.id()) {
                caught.mentions = Arc::clone(now);
            }
        }
    }

    /// Those that came after a time, oldest first.
    pub fn since(&self, time: Stamp) -> impl Iterator<Item = &Caught> {
        let from = self.caught.partition_point(|caught| caught.capture.request_date.is_none_or(|date| date <= time));
        self.caught.range(from..)
    }

    fn is_over(&self) -> bool {
        self.caught.len() > MOST || (self.bytes > MOST_BYTES && self.caught.len() > 1)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.caught.pop_front() {
            self.bytes -= oldest.bytes();
            self.held.remove(&oldest.id());
            self.first += 1;
            self.dropped += 1;
        }
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
        self.rows = stream.matching(stream.first, query, world).collect();
        self.settle(stream);
    }

    /// Adds the rows from a number on, and takes off those that have left the ring.
    pub fn extend(&mut self, stream: &Stream, from: u64, query: &Query, world: World<'_>) {
        let mut left = 0;
        while self.rows.front().is_some_and(|&row| row < stream.first) {
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
        let from = from.max(self.first);
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
        Self { stream, from: stream.first, world }
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
        caught.recognised().tell(field, self.world.others, to);
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

    fn capture(id: i64) -> Capture {
        let date = jiff::Timestamp::from_second(1_800_000_000 + id).unwrap();
        let query = if id % 2 == 0 { "even" } else { "odd" };
        Capture { id: CaptureId(id), url_params: query.into(), request_date: Some(Stamp(date)), ..Capture::default() }
    }

    fn caught(capture: Capture) -> Caught {
        let archived = Archived {
            workspace: "Acme".into(),
            logger: LoggerId(1),
            label: "probe".into(),
            handler_url: Shared::default(),
            seen_at: Stamp(jiff::Timestamp::UNIX_EPOCH),
            capture: Arc::new(capture),
        };
        Caught::new(&archived, Arc::default())
    }

    fn some(ids: impl IntoIterator<Item = i64>) -> Vec<Caught> {
        ids.into_iter().map(|id| caught(capture(id))).collect()
    }

    fn ids(stream: &Stream) -> Vec<i64> {
        stream.caught.iter().map(|caught| caught.capture.id.0).collect()
    }

    #[test]
    fn a_full_ring_drops_the_oldest_counts_them_and_keeps_the_selection() {
        let (mut stream, mut list) = (Stream::default(), StreamList::default());
        let query = Query::parse("even", Kind::Captures).unwrap();
        let world = World { only: None, others: &crate::query::Alone, now: 0 };
        let most = MOST as i64;
        let from = stream.take(some(1..=most));
        assert_eq!(from, Taken::Appended(START));
        list.show(&stream, &query, world);
        list.select_at(&stream, 2_000);
        let selected = list.selected;
        let Taken::Appended(from) = stream.take(some(most + 1..=most + 10)) else {
            panic!("out of order");
        };
        list.extend(&stream, from, &query, world);
        assert_eq!((stream.caught.len(), stream.dropped), (MOST, 10));
        assert_eq!((list.selected, list.at, list.below), (selected, 1_995, 5));
        assert_eq!(list.current(&stream).map(Caught::id), selected);
        stream.take(some(3..=5));
        assert_eq!((stream.caught.len(), stream.dropped), (MOST, 10), "what has left does not come back");
    }

    #[test]
    fn big_bodies_fill_the_ring_before_its_number_does() {
        let mut stream = Stream::default();
        let big = |id| {
            let body = "x".repeat(1 << 20).as_str().into();
            caught(Capture { request_body_base64: body, ..capture(id) })
        };
        stream.take((1..=140).map(big).collect());
        assert!(stream.dropped >= 12 && stream.bytes <= MOST_BYTES, "{}", stream.dropped);
    }

    #[test]
    fn older_ones_come_in_front_under_numbers_of_their_own_and_none_is_held_twice() {
        let mut stream = Stream::default();
        stream.take(some([7, 8, 9]));
        let seven = stream.row_of(caught(capture(7)).id());
        assert!(stream.recall(some([4, 5, 6, 7])));
        assert_eq!((ids(&stream), stream.row_of(caught(capture(7)).id())), ((4..=9).collect(), seven));
        stream.take(some([5, 9, 10]));
        assert_eq!(ids(&stream), (4..=10).collect::<Vec<_>>());
        assert!(!stream.recall(some([3, 11])), "one came in meanwhile");
        assert_eq!(ids(&stream), (3..=11).collect::<Vec<_>>());
    }

    #[test]
    fn an_id_that_is_given_twice_is_two_captures() {
        let mut stream = Stream::default();
        let anew = caught(Capture { request_date: capture(50).request_date, ..capture(2) });
        stream.take(some([1, 2]));
        stream.take(vec![anew.clone()]);
        assert_eq!(ids(&stream), [1, 2, 2]);
        assert_eq!(stream.row_of(anew.id()), Some(START + 2));
    }
}
