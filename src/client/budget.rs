//! What the service says about time and the rate budget in the headers of its answers.
//!
//! ```text
//!   Date                              ─► offset of the service's clock
//!   X-RateLimit-Limit, -Remaining     ─► budget of that lane
//!   X-RateLimit-Reset, Retry-After    ─► when a spent lane is refilled
//! ```
//!
//! The hosted service counts three kinds of calls apart (`hosted-service.md`, Rate limits), so a spent output budget
//! does not stop the lists.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Longest wait believed of a header.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// How long a spent lane rests when no header says: the limits are per minute.
const WINDOW: Duration = Duration::from_secs(60);

/// Calls that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// GET.
    Read,
    /// POST, PUT, DELETE.
    Write,
    /// `GET /scans/{id}/output`.
    Output,
}

/// The rate budget of one lane as last announced. Nothing is known until a service with limits has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateBudget {
    /// Calls a minute.
    pub limit: Option<u32>,
    /// Calls left now.
    pub remaining: Option<u32>,
    /// When a spent budget is refilled.
    pub reset: Option<Timestamp>,
}

impl RateBudget {
    /// Takes over what an answer announced.
    pub(super) fn learn(&mut self, headers: &HeaderMap, status: u16, now: Timestamp, offset: SignedDuration) {
        let limit = number(headers, "x-ratelimit-limit");
        let remaining = number(headers, "x-ratelimit-remaining");
        if limit.is_some() || remaining.is_some() {
            self.limit = limit.map(clamped);
            self.remaining = remaining.map(clamped);
        }
        if status == 429 {
            self.remaining = Some(0);
        }
        self.reset = match self.remaining {
            Some(0) => Some(now + refill(headers, now, offset)),
            _ => None,
        };
    }

    /// When the budget is refilled, if nothing is left of it now.
    pub fn spent_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.reset.filter(|until| self.remaining == Some(0) && *until > now)
    }

    /// The part that is left, 0.0 to 1.0, where both numbers are known.
    pub fn share_left(&self) -> Option<f64> {
        match (self.limit, self.remaining) {
            (Some(limit), Some(remaining)) if limit > 0 => Some((f64::from(remaining) / f64::from(limit)).min(1.0)),
            _ => None,
        }
    }
}

/// `Retry-After` in either form (RFC 9110 §10.2.3); at most an hour is believed.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp, offset: SignedDuration) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => until(http_date(text)?, now, offset),
    };
    Some(wait.min(LONGEST_WAIT))
}

/// How far the service's clock is ahead of ours.
pub(super) fn clock_offset(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    // The header is cut to the second: half a second is the middle of what it can mean.
    let date = http_date(headers.get(DATE)?.to_str().ok()?)? + Duration::from_millis(500);
    Some(date.duration_since(now))
}

fn refill(headers: &HeaderMap, now: Timestamp, offset: SignedDuration) -> Duration {
    let reset = || {
        let seconds = number(headers, "x-ratelimit-reset")?;
        Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
    };
    match (retry_after(headers, now, offset), reset()) {
        (Some(wait), _) => wait,
        (None, Some(at)) => until(at, now, offset).min(LONGEST_WAIT),
        (None, None) => WINDOW,
    }
}

/// From now to a moment of the service's clock; zero when it has passed.
fn until(at: Timestamp, now: Timestamp, offset: SignedDuration) -> Duration {
    let wait = at.duration_since(now).saturating_sub(offset);
    Duration::try_from(wait).unwrap_or_default()
}

fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn clamped(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_lane_with_nothing_left_rests_until_its_reset_and_no_longer() {
        let mut budget = RateBudget::default();
        let answer =
            headers(&[("x-ratelimit-limit", "250"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")]);
        // The service's clock is 10 s ahead: its 1030 is our 1020.
        budget.learn(&answer, 200, at(1000), SignedDuration::from_secs(10));
        assert_eq!(budget.spent_until(at(1019)), Some(at(1020)));
        assert_eq!(budget.spent_until(at(1020)), None);
        budget.learn(
            &headers(&[("x-ratelimit-limit", "250"), ("x-ratelimit-remaining", "200")]),
            200,
            at(1001),
            SignedDuration::ZERO,
        );
        assert_eq!((budget.spent_until(at(1002)), budget.share_left()), (None, Some(0.8)));
    }

    #[test]
    fn without_a_reset_a_spent_lane_rests_a_minute_and_absurd_waits_are_cut() {
        let mut budget = RateBudget::default();
        budget.learn(&headers(&[("x-ratelimit-remaining", "0")]), 200, at(0), SignedDuration::ZERO);
        assert_eq!(budget.spent_until(at(1)), Some(at(60)));
        budget.learn(&headers(&[("retry-after", "99999999999")]), 429, at(0), SignedDuration::ZERO);
        assert_eq!(budget.spent_until(at(1)), Some(at(3600)));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let wait = |text| retry_after(&headers(&[("retry-after", text)]), at(784_111_770), SignedDuration::ZERO);
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
    }

    #[test]
    fn the_services_clock_is_read_from_the_date() {
        let offset = clock_offset(&headers(&[("date", "Sun, 06 Nov 1994 08:49:37 GMT")]), at(784_111_770)).unwrap();
        assert_eq!(offset.as_secs(), 7);
    }
}
