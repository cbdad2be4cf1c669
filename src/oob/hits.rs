//! What a payload brought in: how often, and when.

use serde::{Deserialize, Serialize};

use super::{Delay, Payload, Token};
use crate::contract::{CaptureId, LoggerId, Shared, Stamp};

/// That a request carried the token of a payload, as the archive keeps it: longer than the request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hit {
    pub token: Token,
    /// Name of the workspace.
    pub workspace: Shared,
    pub logger: LoggerId,
    pub id: CaptureId,
    /// Of date and content: a service may give an id twice.
    pub digest: i64,
    /// When it came, by the service's clock.
    pub at: Option<Stamp>,
}

/// The requests that carried one token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// How many.
    pub count: u64,
    /// When the first came, by the service's clock.
    pub first: Option<Stamp>,
    /// When the last came.
    pub last: Option<Stamp>,
}

impl Hits {
    /// One more.
    pub fn take(&mut self, came: Option<Stamp>) {
        self.join(Self { count: 1, first: came, last: came });
    }

    /// As many more.
    pub fn join(&mut self, others: Self) {
        self.count += others.count;
        self.first = [self.first, others.first].into_iter().flatten().min();
        self.last = self.last.max(others.last);
    }

    /// From the payload to the first of them.
    pub fn delay(&self, payload: &Payload, offset: Option<i64>) -> Option<Delay> {
        payload.delay(self.first, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_are_told_by_time_and_not_by_arrival() {
        let mut hits = Hits::default();
        let [early, late] = ["2026-11-21 14:00:00", "2026-11-21 15:00:00"].map(Stamp::parse);
        [late, None, early].into_iter().for_each(|came| hits.take(came));
        assert_eq!(hits, Hits { count: 3, first: early, last: late });
    }
}
