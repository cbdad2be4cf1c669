//! The polling intervals and the call budget.
//!
//! Two paces: *brisk* for a service without a limit or with at least 1000 calls a minute, *sparing*
//! for the rest. In addition the call budget spends at most a quarter of the announced budget in
//! any minute, so that other users of the account and the actions of this user have calls left.

use crate::base::ListKind;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Limits from this on allow the brisk pace.
const BRISK_LIMIT: u32 = 1000;
/// Assumed limit of a remote service that announces none.
const ASSUMED_LIMIT: u32 = 250;
/// Calls a minute for a local service without a limit.
const UNLIMITED: u32 = 6000;
/// Calls of one request to a local service without a limit.
const UNLIMITED_AT_ONCE: u32 = 2_000;
/// Most calls that a request pays before it is sent.
pub(crate) const MOST_PAID: u32 = *BURST.end();
/// Calls that can be made at once after a pause: an eighth of a minute's calls within these limits.
const BURST: std::ops::RangeInclusive<u32> = 4..=16;

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
    /// Less than 30% of the announced budget is left.
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
            // Nothing else on the screen shows them.
            ListKind::Schedules if !demand.shown => (300, 300),
            _ => (if demand.shown { 10 } else { 60 }, 60),
        };
        self.pick(brisk, sparing, demand)
    }

    /// The interval between two fetches of the findings, or of the visible part, of a moving scan.
    pub fn scan_detail(self, demand: Demand) -> Duration {
        self.pick(1, 10, demand)
    }

    /// The interval between two fetches of the nodes while they are shown: that of their beats.
    pub fn nodes(self, demand: Demand) -> Duration {
        self.pick(5, 30, demand)
    }

    fn pick(self, brisk: u64, sparing: u64, demand: Demand) -> Duration {
        let seconds = if self == PollPace::Brisk {
            brisk
        } else {
            sparing
        };
        Duration::from_secs(if demand.scarce { seconds * 2 } else { seconds })
    }
}

/// Points in time one second apart. Timers that use the same ones wake the processor together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat(Instant);

impl Beat {
    const PERIOD: Duration = Duration::from_secs(1);
    /// The timer of tokio sorts far times into slots of this length, and wakes the thread when a
    /// slot begins. A time within a slot wakes it twice, a time at its border once.
    const SLOT: Duration = Duration::from_millis(64);

    /// The beat whose first point is this one. The slots are those of the timer if the runtime was
    /// started then.
    pub fn since(start: Instant) -> Self {
        Self(start)
    }

    /// The last point before a time.
    pub fn before(self, time: Instant) -> Instant {
        self.last(Self::PERIOD, time)
    }

    /// The first border of a slot from a time on.
    pub fn slot_from(self, time: Instant) -> Instant {
        let border = self.last(Self::SLOT, time);
        if border < time {
            border + Self::SLOT
        } else {
            border
        }
    }

    fn last(self, period: Duration, time: Instant) -> Instant {
        let passed = time.saturating_duration_since(self.0).as_nanos() % period.as_nanos();
        time - Duration::from_nanos_u128(passed)
    }

    /// Points that are so many seconds apart, from the next one on. Late ones are skipped.
    pub fn every(self, seconds: u64) -> Beats {
        let next = self.before(Instant::now()) + Self::PERIOD;
        Beats {
            beat: self,
            period: Self::PERIOD * seconds as u32,
            next,
        }
    }
}

/// Points of a [`Beat`] that are more than a second apart.
#[derive(Debug)]
pub(crate) struct Beats {
    beat: Beat,
    period: Duration,
    next: Instant,
}

impl Beats {
    /// Waits for the next point. Dropping the future skips none.
    pub async fn tick(&mut self) {
        sleep_until(self.beat.slot_from(self.next)).await;
        self.next = self.after(Instant::now());
    }

    fn after(&self, now: Instant) -> Instant {
        self.beat.before(now) + self.period
    }
}

/// A token bucket over all calls of the poller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBudget {
    /// Calls that can be made at once.
    burst: u32,
    /// Calls that are added in a minute. With the burst, a minute has a quarter of the announced
    /// limit.
    per_minute: u32,
    /// Negative after requests that took more calls than they paid.
    tokens: f64,
    /// Calls that one request may take. A local service without a limit need not be spared.
    at_once: u32,
    filled: Instant,
    /// The cost of the last refused request.
    refused: u32,
}

impl CallBudget {
    pub fn new(here: bool, now: Instant) -> Self {
        let mut budget = Self {
            burst: 0,
            per_minute: 0,
            tokens: 0.0,
            at_once: 0,
            filled: now,
            refused: 1,
        };
        budget.set_limit(None, here);
        budget.tokens = f64::from(budget.burst);
        budget
    }

    /// Sets the announced limit.
    pub fn set_limit(&mut self, limit: Option<u32>, here: bool) {
        let calls = match limit {
            Some(limit) => (limit / 4).max(1),
            None if here => UNLIMITED,
            None => ASSUMED_LIMIT / 4,
        };
        self.burst = (calls / 8).clamp(*BURST.start(), *BURST.end());
        self.per_minute = calls.saturating_sub(self.burst).max(1);
        self.at_once = if limit.is_none() && here {
            UNLIMITED_AT_ONCE
        } else {
            self.burst
        };
    }

    /// The number of calls that one request may take.
    pub fn at_once(&self) -> usize {
        self.at_once as usize
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

    /// Corrects the price of a request by the calls that it took.
    pub fn settle(&mut self, paid: u32, made: u32) {
        let made = if self.at_once > self.burst {
            made.min(paid.max(self.burst))
        } else {
            made
        };
        self.tokens = (self.tokens + f64::from(paid) - f64::from(made)).min(f64::from(self.burst));
    }

    /// The time at which the last refused request can be paid.
    pub fn next(&self) -> Instant {
        let missing = (f64::from(self.refused) - self.tokens).max(0.0);
        // Slightly late, so that rounding never wakes the poller too early.
        self.filled + Duration::from_secs_f64(missing * 60.0 / f64::from(self.per_minute) + 0.001)
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens =
            (self.tokens + passed * f64::from(self.per_minute) / 60.0).min(f64::from(self.burst));
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
        let moving = Demand {
            moving: true,
            ..Demand::default()
        };
        assert_eq!(
            PollPace::Brisk.interval(ListKind::Scans, moving).as_secs(),
            1
        );
        assert_eq!(
            PollPace::Brisk
                .interval(ListKind::Scans, Demand::default())
                .as_secs(),
            5
        );
        assert_eq!(
            PollPace::Sparing
                .interval(ListKind::Scans, moving)
                .as_secs(),
            5
        );
        assert_eq!(
            PollPace::Sparing
                .interval(
                    ListKind::Scans,
                    Demand {
                        scarce: true,
                        ..moving
                    }
                )
                .as_secs(),
            10
        );
    }

    #[test]
    fn timers_end_at_the_border_of_a_slot() {
        let start = Instant::now();
        let beat = Beat::since(start);
        let slot =
            |time: u64| (beat.slot_from(start + Duration::from_millis(time)) - start).as_millis();
        assert_eq!([0, 1, 64, 1000].map(slot), [0, 64, 64, 1024]);
        assert_eq!(
            beat.before(start + Duration::from_millis(1024)),
            start + Beat::PERIOD,
            "the same point"
        );
    }

    #[test]
    fn late_points_are_skipped() {
        let start = Instant::now();
        let (beat, period) = (Beat::since(start), Beat::PERIOD * 2);
        let beats = Beats {
            beat,
            period,
            next: start + Beat::PERIOD,
        };
        let next = |now: u64| (beats.after(start + Duration::from_millis(now)) - start).as_secs();
        assert_eq!([1_024, 3_008, 6_500].map(next), [3, 5, 8]);
    }

    #[test]
    fn budget_spends_quarter_of_limit_in_any_minute() {
        for (limit, quarter) in [(250, 62), (1000, 250), (100, 25), (40, 10)] {
            let start = Instant::now();
            let mut call_budget = CallBudget::new(false, start);
            call_budget.set_limit(Some(limit), false);
            // Pauses of a quarter of a minute fill the burst again.
            let times = (0..180_000_u64).filter(|millisecond| millisecond / 15_000 % 3 != 2);
            let spent: Vec<u64> = times
                .filter(|at| call_budget.spend(1, start + Duration::from_millis(*at)))
                .collect();
            let most = (0..120_u64).map(|second| {
                let minute = second * 1000..second * 1000 + 60_000;
                spent.iter().filter(|at| minute.contains(*at)).count()
            });
            let most = most.max().unwrap_or_default();
            assert!(
                most <= quarter && most * 4 >= quarter * 3,
                "{most} of {quarter}"
            );
        }
    }

    #[test]
    fn extra_calls_reduce_later_budget() {
        let start = Instant::now();
        let mut call_budget = CallBudget::new(false, start);
        assert!(call_budget.spend(1, start));
        call_budget.settle(1, 20);
        assert!(!call_budget.spend(1, start + Duration::from_secs(10)));
        assert!(call_budget.spend(1, start + Duration::from_secs(20)));
    }

    #[test]
    fn empty_budget_returns_time_of_next_call() {
        let start = Instant::now();
        let mut call_budget = CallBudget::new(true, start);
        assert!(call_budget.spend(16, start) && !call_budget.spend(2, start));
        let next = call_budget.next();
        assert!(call_budget.spend(2, next), "{:?}", next - start);
    }
}
