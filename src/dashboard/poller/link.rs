//! The state of the connection: what a failure means for the polling as a whole.
//!
//! ```text
//!   Connecting ──answer──► Live ──no answer, 502–504, 429──► Retrying ──answer──► Live
//!                            └──wrong key──► Down ──`r`──► one attempt
//! ```
//!
//! A refusal of one list (403, 404, 500, unreadable, a page instead of JSON) leaves the connection live: only that
//! list waits, for a service may well lack one endpoint and have the others.

use crate::client::{Error, ErrorKind, Problem};
use crate::contract::Stamp;
use crate::dashboard::base::plan;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Longest pause between two attempts.
const LONGEST: Duration = Duration::from_secs(30);
/// The same for a service on this machine, where an attempt costs nothing.
const LONGEST_HERE: Duration = Duration::from_secs(5);
/// How often the time of a live connection is told, in seconds: a screen that shows nothing else new stays as it is.
const TELL_LIVE: i64 = 60;

/// What a failure stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureScope {
    /// Everything, for a while.
    Pause,
    /// Everything, until something changes.
    Halt,
    /// Only what was asked.
    One,
}

/// What a failure stops, by its kind.
pub(crate) fn failure_scope(error: &Error) -> FailureScope {
    match (&error.kind, error.status) {
        (ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Tls, _) => FailureScope::Pause,
        (ErrorKind::RateLimited { .. } | ErrorKind::BudgetSpent { .. }, _) => FailureScope::Pause,
        (ErrorKind::Server, Some(502..=504)) => FailureScope::Pause,
        (ErrorKind::Unauthorized, _) => FailureScope::Halt,
        _ => FailureScope::One,
    }
}

/// The connection as the poller knows it.
#[derive(Debug)]
pub(crate) struct LinkState {
    here: bool,
    delays: ExponentialBackoff,
    attempt: u32,
    /// Nothing is asked before.
    paused_until: Option<Instant>,
    /// When the present pause began: what was asked before it and fails too, says nothing new.
    paused_at: Option<Instant>,
    /// When the polling was halted: answers to what was asked before do not lift that.
    halted_at: Option<Instant>,
    shown: plan::Link,
}

impl LinkState {
    pub fn new(here: bool) -> Self {
        Self {
            here,
            delays: delays(here),
            attempt: 0,
            paused_until: None,
            paused_at: None,
            halted_at: None,
            shown: plan::Link::Connecting,
        }
    }

    /// Whether questions may be asked now.
    pub fn is_open(&self, now: Instant) -> bool {
        self.halted_at.is_none() && self.paused_until.is_none_or(|until| until <= now)
    }

    /// Whether it fails at present.
    pub fn is_failing(&self) -> bool {
        self.halted_at.is_some() || self.attempt > 0
    }

    /// The end of the present pause.
    pub fn opens_at(&self) -> Option<Instant> {
        self.paused_until.filter(|_| self.halted_at.is_none())
    }

    /// A person asks: one attempt at once.
    pub fn try_now(&mut self) {
        self.halted_at = None;
        self.paused_until = None;
    }

    /// A question that was put at `asked` was answered. Returns what the screen should be told, if anything.
    pub fn succeed(&mut self, asked: Instant, wall: Timestamp) -> Option<plan::Link> {
        if self.halted_at.is_some_and(|halted| asked <= halted) {
            return None;
        }
        if self.is_failing() {
            self.delays = delays(self.here);
        }
        (self.attempt, self.paused_until, self.paused_at, self.halted_at) = (0, None, None, None);
        if let plan::Link::Live { at } = &self.shown
            && wall.as_second() - at.as_second() < TELL_LIVE
        {
            return None;
        }
        self.show(plan::Link::Live { at: Stamp(wall) })
    }

    /// A question that was put at `asked` failed for the connection as a whole.
    pub fn fail(
        &mut self,
        error: &Error,
        problem: Arc<Problem>,
        asked: Instant,
        now: Instant,
        wall: Timestamp,
    ) -> Option<plan::Link> {
        let told = [self.halted_at, self.paused_at].into_iter().flatten().any(|since| asked <= since);
        if told {
            return None;
        }
        if failure_scope(error) == FailureScope::Halt {
            self.halted_at = Some(now);
            return self.show(plan::Link::Down { problem });
        }
        let wait = self.wait(error, wall);
        self.attempt += 1;
        self.paused_at = Some(now);
        self.paused_until = Some(now + wait);
        self.show(plan::Link::Retrying { attempt: self.attempt, next: Stamp(wall + wait), problem })
    }

    fn wait(&mut self, error: &Error, wall: Timestamp) -> Duration {
        let backoff = self.delays.next().unwrap_or(LONGEST);
        match error.kind {
            ErrorKind::RateLimited { retry_after: Some(wait) } => wait + backoff,
            ErrorKind::RateLimited { retry_after: None } => LONGEST + backoff,
            ErrorKind::BudgetSpent { until } => {
                Duration::try_from(until.duration_since(wall)).unwrap_or_default() + backoff
            }
            _ => backoff,
        }
    }

    fn show(&mut self, link: plan::Link) -> Option<plan::Link> {
        self.shown = link.clone();
        Some(link)
    }
}

fn delays(here: bool) -> ExponentialBackoff {
    // Jitter keeps many dashboards from coming back in one wave.
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(500))
        .with_max_delay(if here { LONGEST_HERE } else { LONGEST })
        .without_max_times()
        .with_jitter()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Error {
        Error::new(ErrorKind::Connect, "refused")
    }

    #[test]
    fn a_wave_of_failures_counts_once_and_pauses_grow() {
        let (mut link, start, wall) = (LinkState::new(false), Instant::now(), Timestamp::UNIX_EPOCH);
        let problem = Arc::new(Problem::local("refused"));
        let second = Duration::from_secs(1);
        assert!(link.fail(&refused(), Arc::clone(&problem), start, start + second, wall).is_some());
        assert!(link.fail(&refused(), Arc::clone(&problem), start, start + second, wall).is_none());
        assert!(!link.is_open(start + second) && link.opens_at().is_some());
        let mut last = start + second;
        for attempt in 2..12 {
            let asked = link.opens_at().unwrap();
            assert!(link.is_open(asked) && asked > last);
            last = asked + second;
            let told = link.fail(&refused(), Arc::clone(&problem), asked, last, wall);
            assert!(matches!(told, Some(plan::Link::Retrying { attempt: n, .. }) if n == attempt));
        }
        assert!(link.opens_at().unwrap() - last <= 2 * LONGEST);
        assert!(matches!(link.succeed(last, wall), Some(plan::Link::Live { .. })));
        assert!(!link.is_failing() && link.is_open(last));
    }

    #[test]
    fn a_wrong_key_halts_until_a_person_asks() {
        let (mut link, now, wall) = (LinkState::new(true), Instant::now(), Timestamp::UNIX_EPOCH);
        let wrong = Error::new(ErrorKind::Unauthorized, "no such key");
        let told = link.fail(&wrong, Arc::new(Problem::local("no")), now, now, wall);
        assert!(matches!(told, Some(plan::Link::Down { .. })));
        assert!(!link.is_open(now + Duration::from_secs(3600)) && link.opens_at().is_none());
        link.try_now();
        assert!(link.is_open(now));
    }

    #[test]
    fn a_refused_list_does_not_touch_the_connection() {
        for kind in
            [ErrorKind::Forbidden, ErrorKind::NotFound, ErrorKind::Decode, ErrorKind::TooLarge, ErrorKind::Invalid]
        {
            assert_eq!(failure_scope(&Error::new(kind, "")), FailureScope::One);
        }
    }

    #[test]
    fn a_named_pause_is_kept() {
        let (mut link, now, wall) = (LinkState::new(true), Instant::now(), Timestamp::UNIX_EPOCH);
        let limited = Error::new(ErrorKind::RateLimited { retry_after: Some(Duration::from_secs(40)) }, "slow");
        link.fail(&limited, Arc::default(), now, now, wall);
        assert!(link.opens_at().unwrap() >= now + Duration::from_secs(40));
    }
}
