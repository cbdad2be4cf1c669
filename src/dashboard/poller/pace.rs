//! The polling intervals and the call budget.
//!
//! Two paces (`quality.md`, polling): *brisk* for a service without a limit or with at least 1000 calls a minute, *sparing*
//! for the rest. In addition the call_budget spends at most a quarter of the announced budget, so that other users of the account
//! and the actions of this user have calls left.

use crate::dashboard::base::ListKind;
use std::time::Duration;
use tokio::time::Instant;

/// Limits from this on allow the brisk pace.
const BRISK_LIMIT: u32 = 1000;
/// Assumed limit of a remote service that announces none.
const ASSUMED_LIMIT: u32 = 250;
/// Calls a minute for a local service without a limit.
const UNLIMITED: u32 = 6000;
/// Calls that can be made at once after a pause.
const BURST: f64 = 16.0;

/// The parts of the state that determine the interval of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Scans wait or run.
    pub moving: bool,
    /// Captures or loggers are visible, and there is a logger.
    pub captures_shown: bool,
    /// The list is visible.
    pub shown: bool,
    /// A report is not ready yet.
    pub report_waits: bool,
    /// A workspace is open.
    pub in_workspace: bool,
    /// Less than 30 % of the announced budget is left.
    pub scarce: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollPace {
    Brisk,
    Sparing,
}

impl PollPace {
    /// Derives the pace from the announced limit; a local service without one is unlimited.
    pub fn of(limit: Option<u32>, here: bool) -> Self {
        match limit {
            Some(BRISK_LIMIT..) => PollPace::Brisk,
            None if here => PollPace::Brisk,
            _ => PollPace::Sparing,
        }
    }

    /// The interval between two polls of a list. For scans it applies to the active ones.
    pub fn interval(self, list: ListKind, demand: Demand) -> Duration {
        let (brisk, sparing) = match list {
            ListKind::Scans => (if demand.moving { 1 } else { 5 }, 5),
            ListKind::Loggers => (if demand.captures_shown { 1 } else { 4 }, 4),
            // The counts of the workspaces reveal scans that no other poll shows.
            ListKind::Workspaces if demand.in_workspace => (5, 10),
            ListKind::Reports if demand.report_waits => (1, 10),
            _ => (if demand.shown { 10 } else { 60 }, 60),
        };
        self.pick(brisk, sparing, demand)
    }

    /// The interval between two fetches of the findings, or of the visible part, of a moving scan.
    pub fn scan_detail(self, demand: Demand) -> Duration {
        self.pick(1, 10, demand)
    }

    fn pick(self, brisk: u64, sparing: u64, demand: Demand) -> Duration {
        let seconds = if self == PollPace::Brisk { brisk } else { sparing };
        Duration::from_secs(if demand.scarce { seconds * 2 } else { seconds })
    }
}

/// A token bucket over all calls of the poller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBudget {
    per_minute: u32,
    tokens: f64,
    filled: Instant,
    /// The cost of the last refused request.
    refused: u32,
}

impl CallBudget {
    pub fn new(now: Instant) -> Self {
        Self { per_minute: ASSUMED_LIMIT / 4, tokens: BURST, filled: now, refused: 1 }
    }

    /// Sets the announced limit.
    pub fn set_limit(&mut self, limit: Option<u32>, here: bool) {
        self.per_minute = match limit {
            Some(limit) => (limit / 4).max(1),
            None if here => UNLIMITED,
            None => ASSUMED_LIMIT / 4,
        };
    }

    /// Takes `calls` tokens, if there are enough.
    pub fn spend(&mut self, calls: u32, now: Instant) -> bool {
        self.fill(now);
        let enough = self.tokens >= f64::from(calls);
        if enough {
            self.tokens -= f64::from(calls);
        } else {
            self.refused = calls;
        }
        enough
    }

    /// The time at which the last refused request can be paid.
    pub fn next(&self) -> Instant {
        let missing = (f64::from(self.refused) - self.tokens).max(0.0);
        // Slightly late, so that rounding never wakes the poller too early.
        self.filled + Duration::from_secs_f64(missing * 60.0 / f64::from(self.per_minute) + 0.001)
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + passed * f64::from(self.per_minute) / 60.0).min(BURST);
        self.filled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_follows_announced_limit() {
        assert_eq!(PollPace::of(Some(250), true), PollPace::Sparing);
        assert_eq!(PollPace::of(Some(3000), false), PollPace::Brisk);
        assert_eq!(PollPace::of(None, true), PollPace::Brisk);
        assert_eq!(PollPace::of(None, false), PollPace::Sparing);
        let moving = Demand { moving: true, ..Demand::default() };
        assert_eq!(PollPace::Brisk.interval(ListKind::Scans, moving).as_secs(), 1);
        assert_eq!(PollPace::Brisk.interval(ListKind::Scans, Demand::default()).as_secs(), 5);
        assert_eq!(PollPace::Sparing.interval(ListKind::Scans, moving).as_secs(), 5);
        assert_eq!(PollPace::Sparing.interval(ListKind::Scans, Demand { scarce: true, ..moving }).as_secs(), 10);
    }

    #[test]
    fn purse_spends_quarter_of_limit() {
        let start = Instant::now();
        let mut call_budget = CallBudget::new(start);
        call_budget.set_limit(Some(250), false);
        let mut made = 0;
        for millisecond in 0..120_000 {
            if call_budget.spend(1, start + Duration::from_millis(millisecond)) {
                made += 1;
            }
        }
        // Two minutes with 62 calls each, and the initial burst.
        assert!((124..=124 + 17).contains(&made), "{made}");
    }

    #[test]
    fn empty_purse_returns_time_of_next_call() {
        let start = Instant::now();
        let mut call_budget = CallBudget::new(start);
        assert!(call_budget.spend(16, start) && !call_budget.spend(2, start));
        let next = call_budget.next();
        assert!(call_budget.spend(2, next), "{:?}", next - start);
    }
}
