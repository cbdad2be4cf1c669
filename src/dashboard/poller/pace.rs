//! How often to ask, and how much may be asked at all.
//!
//! Two rhythms (`quality.md`, polling): *brisk* for a service without a limit or with 1000 calls a minute and more,
//! *sparing* for the rest. Over both stands the purse: at most a quarter of the announced budget is ever spent, so
//! that other users of the account and the person's own actions find something left.

use std::time::Duration;
use tokio::time::Instant;

/// From this budget on, the rhythm is brisk.
const BRISK_LIMIT: u32 = 1000;
/// Assumed of a service elsewhere that announces none.
const ASSUMED_LIMIT: u32 = 250;
/// Calls a minute where nothing limits them.
const UNLIMITED: u32 = 6000;
/// Calls that may be made at once after a rest.
const BURST: f64 = 16.0;

/// What of the screen decides about the rhythm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Something waits or runs.
    pub moving: bool,
    /// Captures or loggers are on the screen, and there is a logger.
    pub captures_shown: bool,
    /// The list is on the screen.
    pub shown: bool,
    /// A report is being made.
    pub report_waits: bool,
    /// Less than 30 % of the announced budget is left.
    pub scarce: bool,
}

/// The rhythm in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollPace {
    Brisk,
    Sparing,
}

impl PollPace {
    /// By the announced limit; without one, a service on this machine is taken as unlimited.
    pub fn of(limit: Option<u32>, here: bool) -> Self {
        match limit {
            Some(BRISK_LIMIT..) => PollPace::Brisk,
            None if here => PollPace::Brisk,
            _ => PollPace::Sparing,
        }
    }

    /// Between two looks at the scans that wait or run.
    pub fn active_scans(self, demand: Demand) -> Duration {
        self.pick(if demand.moving { 1 } else { 5 }, 5, demand)
    }

    /// Between two looks at the list of loggers.
    pub fn loggers(self, demand: Demand) -> Duration {
        self.pick(if demand.captures_shown { 1 } else { 4 }, 4, demand)
    }

    /// Between two looks at how many scans the workspaces count.
    pub fn counts(self, demand: Demand) -> Duration {
        self.pick(5, 10, demand)
    }

    /// Between two looks at the list of reports.
    pub fn reports(self, demand: Demand) -> Duration {
        if demand.report_waits { self.pick(1, 10, demand) } else { self.others(demand) }
    }

    /// Between two looks at any other list.
    pub fn others(self, demand: Demand) -> Duration {
        self.pick(if demand.shown { 10 } else { 60 }, 60, demand)
    }

    /// Between two looks at the findings of one moving scan, or at the part of it that is shown.
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
pub(crate) struct Purse {
    per_minute: u32,
    tokens: f64,
    filled: Instant,
    /// What the last refused wish would have cost.
    wish: u32,
}

impl Purse {
    pub fn new(now: Instant) -> Self {
        Self { per_minute: ASSUMED_LIMIT / 4, tokens: BURST, filled: now, wish: 1 }
    }

    /// Takes over the announced limit.
    pub fn set_limit(&mut self, limit: Option<u32>, here: bool) {
        self.per_minute = match limit {
            Some(limit) => (limit / 4).max(1),
            None if here => UNLIMITED,
            None => ASSUMED_LIMIT / 4,
        };
    }

    /// Takes `calls` out, if they are there.
    pub fn spend(&mut self, calls: u32, now: Instant) -> bool {
        self.fill(now);
        let enough = self.tokens >= f64::from(calls);
        if enough {
            self.tokens -= f64::from(calls);
        } else {
            self.wish = calls;
        }
        enough
    }

    /// When the wish that was refused last can be paid.
    pub fn next(&self) -> Instant {
        let missing = (f64::from(self.wish) - self.tokens).max(0.0);
        // A hair later than exact, so that rounding never wakes the poller for nothing.
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
    fn the_rhythm_follows_the_announced_limit() {
        assert_eq!(PollPace::of(Some(250), true), PollPace::Sparing);
        assert_eq!(PollPace::of(Some(3000), false), PollPace::Brisk);
        assert_eq!(PollPace::of(None, true), PollPace::Brisk);
        assert_eq!(PollPace::of(None, false), PollPace::Sparing);
        let moving = Demand { moving: true, ..Demand::default() };
        assert_eq!(PollPace::Brisk.active_scans(moving).as_secs(), 1);
        assert_eq!(PollPace::Brisk.active_scans(Demand::default()).as_secs(), 5);
        assert_eq!(PollPace::Sparing.active_scans(moving).as_secs(), 5);
        assert_eq!(PollPace::Sparing.active_scans(Demand { scarce: true, ..moving }).as_secs(), 10);
    }

    #[test]
    fn a_minute_of_a_hosted_service_pays_a_quarter_of_its_limit() {
        let start = Instant::now();
        let mut purse = Purse::new(start);
        purse.set_limit(Some(250), false);
        let mut made = 0;
        for millisecond in 0..120_000 {
            if purse.spend(1, start + Duration::from_millis(millisecond)) {
                made += 1;
            }
        }
        // Two minutes at 62, and the burst of the rest before them.
        assert!((124..=124 + 17).contains(&made), "{made}");
    }

    #[test]
    fn an_empty_purse_tells_when_it_can_pay_again() {
        let start = Instant::now();
        let mut purse = Purse::new(start);
        assert!(purse.spend(16, start) && !purse.spend(2, start));
        let next = purse.next();
        assert!(purse.spend(2, next), "{:?}", next - start);
    }
}
