//! The clock of the service. Tests replace it, so that no test waits for a time limit.
//!
//! Several machines may serve one database, and each compares the times of its rows with a clock.
//! So the clock of the service is that of the database: [`SystemClock`] follows it.

use std::sync::atomic::{AtomicI64, Ordering};

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

/// A smaller change is not followed, in milliseconds: time would go back and forth.
const TOLERANCE: i64 = 100;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Waits until `at`.
    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()>;

    /// Follows the clock of the database; without effect on a clock of tests.
    fn follow(&self, _difference: ClockDifference) {}
}

/// By how much the clock of the database is ahead of that of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDifference {
    pub millis: i64,
    /// The largest error of the measurement, in milliseconds.
    error: i64,
}

impl ClockDifference {
    /// The difference from the time of the database, and from those of this machine before and
    /// after it was read.
    pub fn measured(database: Timestamp, before: Timestamp, after: Timestamp) -> Self {
        let half = (after.as_millisecond() - before.as_millisecond()) / 2;
        Self {
            millis: database.as_millisecond() - before.as_millisecond() - half,
            error: half.abs() + 1,
        }
    }
}

/// The clock of this machine, corrected by its difference from that of the database.
#[derive(Debug, Default)]
pub struct SystemClock {
    /// In milliseconds.
    correction: AtomicI64,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        let correction = SignedDuration::from_millis(self.correction.load(Ordering::Relaxed));
        now.checked_add(correction).unwrap_or(now)
    }

    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let left = at.duration_since(self.now());
        Box::pin(tokio::time::sleep(left.try_into().unwrap_or_default()))
    }

    fn follow(&self, difference: ClockDifference) {
        let change = difference.millis - self.correction.load(Ordering::Relaxed);
        if change.abs() > TOLERANCE.max(difference.error) {
            let milliseconds = difference.millis;
            tracing::warn!(
                milliseconds,
                "the clocks of this machine and of the database differ; the service follows that of the database"
            );
            self.correction.store(milliseconds, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference whose measurement took this long.
    fn ahead(millis: i64, took: i64) -> ClockDifference {
        let before = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
        let after = before + SignedDuration::from_millis(took);
        let database = before + SignedDuration::from_millis(millis + took / 2);
        ClockDifference::measured(database, before, after)
    }

    #[test]
    fn clock_follows_the_database_by_more_than_the_error_of_the_measurement() {
        let clock = SystemClock::default();
        let correction = || clock.correction.load(Ordering::Relaxed);
        for (difference, expected) in [
            (ahead(99, 2), 0),
            (ahead(60_000, 2), 60_000),
            (ahead(60_050, 2), 60_000),
            (ahead(58_000, 5_000), 60_000),
            (ahead(-60_000, 5_000), -60_000),
        ] {
            clock.follow(difference);
            assert_eq!(correction(), expected, "{difference:?}");
        }
        let behind = Timestamp::now().duration_since(clock.now());
        assert!((59..=61).contains(&behind.as_secs()), "{behind:?}");
    }

    #[tokio::test]
    async fn corrected_clock_waits_until_its_own_time() {
        let clock = SystemClock::default();
        clock.follow(ahead(-60_000, 2));
        let at = clock.now() + SignedDuration::from_millis(20);
        clock.until(at).await;
        let early = at.duration_since(clock.now());
        assert!(early < SignedDuration::from_millis(5), "{early:?}");
    }
}
