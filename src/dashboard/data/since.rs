//! What changed in the workspace since this person last looked.

use crate::contract::Stamp;

/// Name under which it is remembered.
pub(crate) const LOOKED: &str = "looked";

/// A decision that ends within this many days is named.
pub(crate) const SOON: i64 = 7;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// The store is open: what is remembered is known.
    pub(crate) opened: bool,
    /// When this person last looked; nothing the first time, and once the line is put away.
    pub last: Option<Stamp>,
    /// What came since.
    pub what: What,
}

/// What came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct What {
    /// Findings that no scan ended before had seen, by risk, from critical down.
    pub risks: [u32; 5],
    /// Scans that finished.
    pub done: usize,
    /// Scans that ended otherwise.
    pub failed: usize,
    /// Decisions that hold for another week at most.
    pub expiring: usize,
    /// Captured requests, as far as they are in memory.
    pub captures: usize,
    /// Payloads that were called by one of them.
    pub payloads: usize,
}

impl Since {
    /// Whether there is something to tell.
    pub fn is_shown(&self) -> bool {
        self.last.is_some() && self.what != What::default()
    }

    /// Puts the line away; false when there is none.
    pub(crate) fn put_away(&mut self) -> bool {
        let shown = self.is_shown();
        if shown {
            self.last = None;
        }
        shown
    }
}
