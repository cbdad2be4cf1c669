//! The captures: a ring of what the loggers recorded, merged in the order of time, and the list that shows it.
//!
//! ```text
//!   archive ─► older ones in front ─┐
//!                                   ├─► ring ─► rows
//!   loggers ─► archive ─► at the end┘     └─► the oldest leave when it is full; the archive keeps them
//! ```
//!
//! Rows are numbered once and for all: row number − `first` is the place in memory.

mod groups;
mod list;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use crate::oob::recognize::mentions;
use crate::oob::{Archived, Book, Mention, Token};
use crate::query::{Bits, Builder, Field, Kind, Others, Query, Recognised, Row, Source};

pub use groups::{By, Group, Groups, Key};
pub use list::StreamList;

/// Most captures held in memory.
pub const MOST: usize = 100_000;

/// Most bytes of captures held in memory, about.
pub const MOST_BYTES: usize = 128 << 20;

/// The number of the first row: older ones count down from it.
const START: u64 = 1 << 32;

/// A captured request with the logger that recorded it, and what it mentions. A copy shares everything.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Caught {
    pub logger: LoggerId,
    /// Label of the logger: the archive knows loggers that are gone.
    pub label: Shared,
    /// Its URL when this was recorded.
    pub handler_url: Shared,
    pub capture: Arc<Capture>,
    /// The tokens in it; known ones first.
    pub mentions: Arc<[Mention]>,
    /// Lower-case text that `/` searches.
    pub text: Arc<str>,
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
        let text = text.to_lowercase().into();
        let (label, handler_url) = (archived.label.clone(), archived.handler_url.clone());
        Self { logger: archived.logger, label, handler_url, capture, mentions, text }
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

    /// Whether a capture is in memory.
    pub fn holds(&self, id: CaughtId) -> bool {
        self.held.contains(&id)
    }

    /// Whether a capture was not held before. One older than all that are here may have been, and left.
    pub fn is_new(&self, caught: &Caught) -> bool {
        let full = self.dropped > 0 || self.older;
        let before_all = self.caught.front().is_some_and(|first| caught.key() < first.key());
        !(full && before_all || self.holds(caught.id()))
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
        let mut in_order = true;
        for caught in new {
            if !self.is_new(&caught) {
                continue;
            }
            self.held.insert(caught.id());
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
