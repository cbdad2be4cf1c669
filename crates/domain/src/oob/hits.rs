//! Hits of a payload: number and times, and waits for one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Delay, Payload, Token};
use scandeck_wire::contract::{CaptureId, LoggerId, Shared, Stamp};

/// A captured request that contains the token of a payload. The archive keeps hits longer than
/// captures.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hit {
    pub token: Token,
    /// Name of the workspace.
    pub workspace: Shared,
    pub logger: LoggerId,
    pub id: CaptureId,
    /// Hash of date and content, because a service may reuse an id.
    pub digest: i64,
    /// Arrival time by the service's clock.
    pub at: Option<Stamp>,
}

/// The hits of each payload that has some. A clone is cheap.
pub type HitCounts = imbl::OrdMap<Token, Hits>;

/// A wait for a hit of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub token: Token,
    /// The timeout, on the monotonic clock.
    pub until: Option<Duration>,
}

/// Summary of the hits of one token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// How many.
    pub count: u64,
    /// Time of the first hit by the service's clock.
    pub first: Option<Stamp>,
    /// Time of the last hit.
    pub last: Option<Stamp>,
}

impl Hits {
    /// Adds one hit.
    pub fn take(&mut self, at: Option<Stamp>) {
        self.join(Self {
            count: 1,
            first: at,
            last: at,
        });
    }

    /// Adds other hits.
    pub fn join(&mut self, others: Self) {
        self.count += others.count;
        self.first = [self.first, others.first].into_iter().flatten().min();
        self.last = self.last.max(others.last);
    }

    /// Time from the payload to its first hit.
    pub fn delay(&self, payload: &Payload, offset: Option<i64>) -> Option<Delay> {
        payload.delay(self.first, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_first_and_last_follow_time_not_arrival() {
        let mut hits = Hits::default();
        let [early, late] = ["2026-11-21 14:00:00", "2026-11-21 15:00:00"].map(Stamp::parse);
        [late, None, early].into_iter().for_each(|at| hits.take(at));
        assert_eq!(
            hits,
            Hits {
                count: 3,
                first: early,
                last: late
            }
        );
    }
}
