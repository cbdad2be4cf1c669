//! The captures: a ring of what the loggers recorded, merged in the order of time, and the list that shows it.
//!
//! ```text
//!   archive ─► older ones in front ─┐
//!                                   ├─► ring ─► rows
//!   loggers ─► archive ─► at the end┘     └─► the oldest leave when it is full; the archive keeps them
//! ```
//!
//! Row number − `first` is the place in memory. Numbers stay as they are when something comes in front or at the end; a
//! capture that comes late moves those after it.

mod asking;
mod gathering;
mod groups;
mod list;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use crate::oob::recognize::mentions;
use crate::oob::{Archived, Book, Mention, Token};
use crate::query::{Recognised, Row};

pub(super) use asking::Part;
pub use asking::{Asking, PIECE, World};
pub use gathering::Gathering;
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
/// Ids are ordered as the captures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct CaughtId {
    pub date: Option<Stamp>,
    pub capture: CaptureId,
    pub logger: LoggerId,
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

    /// What it takes in memory, about.
    pub fn bytes(&self) -> usize {
        let capture = &self.capture;
        let headers: usize = capture.http_headers.iter().map(|line| line.len() + 32).sum();
        512 + self.text.len() + headers + capture.request_body_base64.len() + capture.url_params.len()
    }
}

/// The captures held in memory, each once; the oldest go first when it is full.
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
    bytes: usize,
    /// How many came from each address.
    sources: HashMap<Shared, usize>,
    /// So many are held at most.
    most: usize,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            caught: VecDeque::new(),
            first: START,
            dropped: 0,
            older: false,
            problem: None,
            bytes: 0,
            sources: HashMap::new(),
            most: MOST,
        }
    }
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
        self.row_of(id).is_some()
    }

    /// How many came from an address.
    pub fn count_from(&self, address: &Shared) -> usize {
        self.sources.get(address).copied().unwrap_or_default()
    }

    /// Whether a capture was not held before. One older than all that are here may have been, and left.
    pub fn is_new(&self, caught: &Caught) -> bool {
        let full = self.dropped > 0 || self.older;
        let before_all = self.caught.front().is_some_and(|first| caught.id() < first.id());
        !(full && before_all || self.holds(caught.id()))
    }

    /// The row number of a capture.
    pub fn row_of(&self, id: CaughtId) -> Option<u64> {
        let at = self.caught.binary_search_by_key(&id, Caught::id).ok()?;
        Some(self.first + at as u64)
    }

    /// The row number that a capture has or would have.
    pub fn row_near(&self, id: CaughtId) -> u64 {
        self.first + self.place_of(id) as u64
    }

    /// How many captures are before an id.
    fn place_of(&self, id: CaughtId) -> usize {
        self.caught.partition_point(|caught| caught.id() < id)
    }

    /// Takes captures that came in. One that is held is not taken twice, nor one older than what has left. Tells the row
    /// numbers of those that did not come in front of all, ascending: each moved what is after it by one.
    pub fn take(&mut self, mut new: Vec<Caught>) -> Vec<u64> {
        self.problem = None;
        new.retain(|caught| self.is_new(caught));
        let rows = self.insert(new);
        while self.is_over() {
            self.drop_oldest();
            self.dropped += 1;
        }
        rows
    }

    /// Takes older captures from the archive, as many as fit. Tells the same as [`Stream::take`].
    pub fn recall(&mut self, older: Vec<Caught>) -> Vec<u64> {
        let rows = self.insert(older);
        while self.is_over() {
            self.drop_oldest();
            self.older = true;
        }
        rows
    }

    /// Puts captures in their places: those in front count down, and nothing moves.
    fn insert(&mut self, mut new: Vec<Caught>) -> Vec<u64> {
        new.sort_by_key(Caught::id);
        new.dedup_by_key(|caught| caught.id());
        new.retain(|caught| !self.holds(caught.id()));
        for caught in &new {
            self.bytes += caught.bytes();
            *self.sources.entry(caught.capture.ip_address.clone()).or_default() += 1;
        }
        let first = self.caught.front().map(Caught::id);
        let later = new.split_off(first.map_or(0, |first| new.partition_point(|caught| caught.id() < first)));
        self.first -= new.len() as u64;
        new.into_iter().rev().for_each(|caught| self.caught.push_front(caught));
        let places: Vec<usize> = later.iter().map(|caught| self.place_of(caught.id())).collect();
        let mut at = places.first().copied().unwrap_or(self.caught.len());
        let mut tail = self.caught.split_off(at).into_iter();
        let mut rows = Vec::with_capacity(later.len());
        for (caught, place) in later.into_iter().zip(places) {
            self.caught.extend(tail.by_ref().take(place - at));
            at = place;
            rows.push(self.end());
            self.caught.push_back(caught);
        }
        self.caught.extend(tail);
        rows
    }

    /// Some of the captures mention something else now; their row numbers, ascending.
    pub fn mention(&mut self, changed: &[(CaughtId, Arc<[Mention]>)]) -> Vec<u64> {
        let mut rows = Vec::new();
        for (id, now) in changed {
            if let Ok(at) = self.caught.binary_search_by_key(id, Caught::id) {
                self.caught[at].mentions = Arc::clone(now);
                rows.push(self.first + at as u64);
            }
        }
        rows.sort_unstable();
        rows
    }

    /// Those that came after a time, oldest first.
    pub fn since(&self, time: Stamp) -> impl Iterator<Item = &Caught> {
        let from = self.caught.partition_point(|caught| caught.capture.request_date.is_none_or(|date| date <= time));
        self.caught.range(from..)
    }

    fn is_over(&self) -> bool {
        self.caught.len() > self.most || (self.bytes > MOST_BYTES && self.caught.len() > 1)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.caught.pop_front() {
            self.bytes -= oldest.bytes();
            self.first += 1;
            match self.sources.get_mut(&oldest.capture.ip_address) {
                Some(count) if *count > 1 => *count -= 1,
                _ => _ = self.sources.remove(&oldest.capture.ip_address),
            }
        }
    }
}
