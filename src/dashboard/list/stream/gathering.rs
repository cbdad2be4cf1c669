//! All captures that a query takes, gathered in pieces: what goes into a file is never a part, and holds no key.

use crate::contract::LoggerId;
use crate::dashboard::base::{Caught, CaughtId};
use crate::dashboard::list::{Asking, Ranges};
use crate::query::Query;

/// See the module. It goes by ids, not by rows: what comes late or leaves meanwhile takes nothing away. What is newer than
/// what was there at the start is left out.
#[derive(Debug)]
pub struct Gathering {
    /// What is asked.
    pub query: Query,
    /// Only this logger's.
    pub only: Option<LoggerId>,
    /// Only older ones are left to be asked about.
    before: Option<CaughtId>,
    /// What was found, the newest first.
    found: Vec<Caught>,
}

impl Gathering {
    /// Nothing is gathered yet.
    pub fn new(query: Query, only: Option<LoggerId>) -> Self {
        Self { query, only, before: None, found: Vec::new() }
    }

    /// Asks about a piece; everything that was found, oldest first, once all are asked.
    pub fn go_on(&mut self, asking: &Asking<'_>) -> Option<Vec<Caught>> {
        let stream = asking.stream;
        let end = self.before.map_or(stream.end(), |before| stream.row_near(before));
        let mut unasked = Ranges::default();
        unasked.add(Some(stream.first..end));
        let piece = unasked.piece(stream, asking.piece).pop().unwrap_or_default();
        self.before = stream.get(piece.start).map(Caught::id);
        let taken = asking.taken(piece);
        self.found.extend(taken.into_iter().rev().filter_map(|row| stream.get(row)).cloned());
        let done = unasked.len() == 0;
        done.then(|| std::mem::take(&mut self.found).into_iter().rev().collect())
    }
}
