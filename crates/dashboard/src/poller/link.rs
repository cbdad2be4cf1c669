//! The state of the connection: the effect of failures on the polling as a whole.
//!
//! ```text
//!   Connecting ──response──► Live ──no connection, 429──► Retrying ──response──► Live
//!                              └──wrong key──► Down ──`r`──► one attempt
//! ```
//!
//! When one request fails after it was sent (refused, 5xx, no response in time, unreadable, a page
//! instead of JSON), the connection is still live and only that request waits (`backoff`): one
//! endpoint can fail while the others work.

use crate::base::plan;
use crate::poller::backoff;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use jiff::Timestamp;
use scandeck_client::{Error, ErrorKind, Problem};
use scandeck_wire::contract::Stamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Longest pause between two attempts.
const LONGEST: Duration = Duration::from_secs(30);
/// The same for a service on this machine, where an attempt costs nothing.
const LONGEST_HERE: Duration = Duration::from_secs(5);
/// Seconds between two events of a live connection: a screen without other news is not drawn again.
const LIVE_INTERVAL: i64 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureScope {
    /// All requests, for a while.
    Pause,
    /// All requests, until the user refreshes.
    Halt,
    /// Only the failed request.
    One,
}

pub(crate) fn failure_scope(error: &Error) -> FailureScope {
    match error.kind {
        ErrorKind::Connect if error.is_sent => FailureScope::One,
        ErrorKind::Connect | ErrorKind::Tls => FailureScope::Pause,
        ErrorKind::RateLimited { .. } | ErrorKind::BudgetSpent { .. } => FailureScope::Pause,
        ErrorKind::Unauthorized => FailureScope::Halt,
        _ => FailureScope::One,
    }
}

/// The connection as the poller sees it.
#[derive(Debug)]
pub(crate) struct LinkState {
    here: bool,
    delays: ExponentialBackoff,
    attempt: u32,
    /// No request is sent before this time.
    paused_until: Option<Instant>,
    /// Start of the pause. Failures of requests before it are no news.
    paused_at: Option<Instant>,
    /// Time of the halt. Responses to earlier requests do not end it.
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

    /// Whether requests can be sent now.
    pub fn is_open(&self, now: Instant) -> bool {
        self.halted_at.is_none() && self.paused_until.is_none_or(|until| until <= now)
    }

    pub fn is_failing(&self) -> bool {
        self.halted_at.is_some() || self.attempt > 0
    }

    /// The end of the pause.
    pub fn opens_at(&self) -> Option<Instant> {
        self.paused_until.filter(|_| self.halted_at.is_none())
    }

    /// Allows one attempt at once, requested by the user.
    pub fn try_now(&mut self) {
        self.halted_at = None;
        self.paused_until = None;
    }

    /// Takes the success of a request sent at `sent`. Returns the news for the screen, if any.
    pub fn succeed(&mut self, sent: Instant, wall: Timestamp) -> Option<plan::Link> {
        // A response to an earlier request does not end a pause that the service requested.
        let is_old = self.halted_at.is_some_and(|halted| sent <= halted)
            || self.paused_at.is_some_and(|paused| sent < paused);
        if is_old {
            return None;
        }
        if self.is_failing() {
            self.delays = delays(self.here);
        }
        (
            self.attempt,
            self.paused_until,
            self.paused_at,
            self.halted_at,
        ) = (0, None, None, None);
        if let plan::Link::Live { at } = &self.shown
            && wall.as_second() - at.as_second() < LIVE_INTERVAL
        {
            return None;
        }
        self.show(plan::Link::Live { at: Stamp(wall) })
    }

    /// Takes a failure of the connection by a request sent at `sent`. Returns the news for the
    /// screen, if any.
    pub fn fail(
        &mut self,
        error: &Error,
        problem: Arc<Problem>,
        sent: Instant,
        now: Instant,
        wall: Timestamp,
    ) -> Option<plan::Link> {
        let is_old = [self.halted_at, self.paused_at]
            .into_iter()
            .flatten()
            .any(|since| sent <= since);
        if is_old {
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
        self.show(plan::Link::Retrying {
            attempt: self.attempt,
            next: Stamp(wall + wait),
            problem,
        })
    }

    fn wait(&mut self, error: &Error, wall: Timestamp) -> Duration {
        let delay = self.delays.next().unwrap_or(LONGEST);
        let wait = match error.kind {
            ErrorKind::RateLimited {
                retry_after: Some(wait),
            } => wait + delay,
            ErrorKind::RateLimited { retry_after: None } => LONGEST + delay,
            ErrorKind::BudgetSpent { until } => {
                Duration::try_from(until.duration_since(wall)).unwrap_or_default() + delay
            }
            _ => delay,
        };
        wait.min(backoff::LONGEST)
    }

    fn show(&mut self, link: plan::Link) -> Option<plan::Link> {
        self.shown = link.clone();
        Some(link)
    }
}

fn delays(here: bool) -> ExponentialBackoff {
    // Jitter spreads the attempts of many dashboards.
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
    fn simultaneous_failures_count_once_and_pauses_grow() {
        let (mut link, start, wall) =
            (LinkState::new(false), Instant::now(), Timestamp::UNIX_EPOCH);
        let problem = Arc::new(Problem::local("refused"));
        let second = Duration::from_secs(1);
        assert!(
            link.fail(
                &refused(),
                Arc::clone(&problem),
                start,
                start + second,
                wall
            )
            .is_some()
        );
        assert!(
            link.fail(
                &refused(),
                Arc::clone(&problem),
                start,
                start + second,
                wall
            )
            .is_none()
        );
        assert!(!link.is_open(start + second) && link.opens_at().is_some());
        let mut last = start + second;
        for attempt in 2..12 {
            let sent = link.opens_at().unwrap();
            assert!(link.is_open(sent) && sent > last);
            last = sent + second;
            let news = link.fail(&refused(), Arc::clone(&problem), sent, last, wall);
            assert!(matches!(news, Some(plan::Link::Retrying { attempt: n, .. }) if n == attempt));
        }
        assert!(link.opens_at().unwrap() - last <= 2 * LONGEST);
        assert!(matches!(
            link.succeed(last, wall),
            Some(plan::Link::Live { .. })
        ));
        assert!(!link.is_failing() && link.is_open(last));
    }

    #[test]
    fn wrong_key_halts_until_refresh() {
        let (mut link, now, wall) = (LinkState::new(true), Instant::now(), Timestamp::UNIX_EPOCH);
        let wrong = Error::new(ErrorKind::Unauthorized, "no such key");
        let news = link.fail(&wrong, Arc::new(Problem::local("no")), now, now, wall);
        assert!(matches!(news, Some(plan::Link::Down { .. })));
        assert!(!link.is_open(now + Duration::from_secs(3600)) && link.opens_at().is_none());
        link.try_now();
        assert!(link.is_open(now));
    }

    #[test]
    fn refused_list_does_not_affect_connection() {
        for kind in [
            ErrorKind::Forbidden,
            ErrorKind::NotFound,
            ErrorKind::Decode,
            ErrorKind::TooLarge,
            ErrorKind::Invalid,
        ] {
            assert_eq!(failure_scope(&Error::new(kind, "")), FailureScope::One);
        }
        let broken = Error {
            is_sent: true,
            ..refused()
        };
        assert_eq!(
            [&broken, &refused()].map(failure_scope),
            [FailureScope::One, FailureScope::Pause]
        );
    }

    #[test]
    fn pause_of_rate_limit_is_respected() {
        let (mut link, now, wall) = (LinkState::new(true), Instant::now(), Timestamp::UNIX_EPOCH);
        let limited = Error::new(
            ErrorKind::RateLimited {
                retry_after: Some(Duration::from_secs(40)),
            },
            "slow",
        );
        link.fail(&limited, Arc::default(), now, now, wall);
        assert!(link.opens_at().unwrap() >= now + Duration::from_secs(40));
    }
}
