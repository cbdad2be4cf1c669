//! The last calls made, for the person to see: what was asked, what came back, how long it took. Never the key.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;

/// How many calls are remembered.
const KEPT: usize = 256;

/// One call, with all its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Ascending from 1.
    pub number: u64,
    /// When the first attempt began.
    pub at: Timestamp,
    /// `GET`, `POST`, …
    pub method: String,
    /// Path below the base URL, with its query.
    pub path: String,
    /// Of the last answer; none when there was none.
    pub status: Option<u16>,
    /// From the first attempt to the end of the answer.
    pub took: Duration,
    /// Attempts after the first.
    pub retries: u32,
    /// Why it failed, in one line.
    pub error: Option<String>,
}

/// A ring of the last calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    kept: VecDeque<CallRecord>,
    made: u64,
}

impl Calls {
    pub(super) fn push(&mut self, mut call: CallRecord) {
        self.made += 1;
        call.number = self.made;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(call);
    }

    /// Oldest first.
    pub(super) fn to_vec(&self) -> Vec<CallRecord> {
        self.kept.iter().cloned().collect()
    }
}
