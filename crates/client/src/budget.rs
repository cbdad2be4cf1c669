//! The rate budget of the service, from the headers of its responses, and the pause after a 429.
//!
//! ```text
//!   X-RateLimit-Limit, -Remaining     ─► budget of that lane
//!   X-RateLimit-Reset, Retry-After    ─► end of the pause of a spent lane
//! ```
//!
//! The hosted service counts three lanes separately (`hosted-service.md`, Rate limits), so a spent
//! output budget does not stop the lists.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;

use super::clock::{retry_after, until};

/// Longest pause of a lane. After it one call tests the service, because its clock or its headers
/// can be wrong.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Pause of a spent lane without such a header: the limits are per minute.
const WINDOW: Duration = Duration::from_secs(60);

/// Calls that share a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// GET.
    Read,
    /// POST, PUT, DELETE.
    Write,
    /// `GET /scans/{id}/output`.
    Output,
}

/// The last announced rate budget of one lane; empty until a service with limits responds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateBudget {
    /// Calls per minute.
    pub limit: Option<u32>,
    /// Calls left now.
    pub remaining: Option<u32>,
    /// When a spent budget is renewed.
    pub reset: Option<Timestamp>,
}

impl RateBudget {
    /// Updates the budget from a response.
    pub(super) fn update(
        &mut self,
        headers: &HeaderMap,
        status: u16,
        now: Timestamp,
        offset: SignedDuration,
    ) {
        let limit = number(headers, "x-ratelimit-limit");
        let remaining = number(headers, "x-ratelimit-remaining");
        let is_announced = limit.is_some() || remaining.is_some() || status == 429;
        if limit.is_some() || remaining.is_some() {
            self.limit = limit.map(clamped);
            self.remaining = remaining.map(clamped);
        }
        // With requests left, another limit refused this one: all other requests may go on.
        if status == 429 && remaining.is_none_or(|left| left == 0) {
            self.remaining = Some(0);
        }
        self.reset = match self.remaining {
            Some(0) if is_announced => Some(now + refill(headers, now, offset).min(LONGEST_PAUSE)),
            // A response without these headers neither prolongs the pause nor ends it early.
            Some(0) => self.reset.filter(|until| *until > now),
            _ => None,
        };
        if self.remaining == Some(0) && self.reset.is_none() {
            self.remaining = None;
        }
    }

    /// When the budget is renewed, if it is spent now.
    pub fn spent_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.reset
            .filter(|until| self.remaining == Some(0) && *until > now)
    }

    /// The share that is left, 0.0 to 1.0, if both numbers are known.
    pub fn share_left(&self) -> Option<f64> {
        match (self.limit, self.remaining) {
            (Some(limit), Some(remaining)) if limit > 0 => {
                Some((f64::from(remaining) / f64::from(limit)).min(1.0))
            }
            _ => None,
        }
    }
}

fn refill(headers: &HeaderMap, now: Timestamp, offset: SignedDuration) -> Duration {
    let reset = || {
        let seconds = number(headers, "x-ratelimit-reset")?;
        Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
    };
    match (retry_after(headers, now, offset), reset()) {
        (Some(wait), _) => wait,
        (None, Some(at)) => until(at, now, offset),
        (None, None) => WINDOW,
    }
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
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn spent_lane_pauses_until_its_reset() {
        let mut budget = RateBudget::default();
        let answer = headers(&[
            ("x-ratelimit-limit", "250"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1030"),
        ]);
        // The service's clock is 10 s ahead: its 1030 is 1020 here.
        budget.update(&answer, 200, at(1000), SignedDuration::from_secs(10));
        assert_eq!(budget.spent_until(at(1019)), Some(at(1020)));
        assert_eq!(budget.spent_until(at(1020)), None);
        budget.update(
            &headers(&[
                ("x-ratelimit-limit", "250"),
                ("x-ratelimit-remaining", "200"),
            ]),
            200,
            at(1001),
            SignedDuration::ZERO,
        );
        assert_eq!(
            (budget.spent_until(at(1002)), budget.share_left()),
            (None, Some(0.8))
        );
    }

    #[test]
    fn spent_lane_pauses_a_minute_at_most() {
        let mut budget = RateBudget::default();
        budget.update(
            &headers(&[("x-ratelimit-remaining", "0")]),
            200,
            at(0),
            SignedDuration::ZERO,
        );
        assert_eq!(budget.spent_until(at(1)), Some(at(60)));
        budget.update(
            &headers(&[("retry-after", "99999999999")]),
            429,
            at(0),
            SignedDuration::ZERO,
        );
        assert_eq!(budget.spent_until(at(1)), Some(at(60)));
        // A clock that is an hour behind its own reset time must not stop the dashboard for an
        // hour.
        let behind = headers(&[
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "3630"),
        ]);
        budget.update(&behind, 200, at(0), SignedDuration::from_secs(-3600));
        assert_eq!(budget.spent_until(at(1)), Some(at(60)));
    }

    #[test]
    fn refusal_with_requests_left_does_not_pause_the_lane() {
        let mut budget = RateBudget::default();
        let quota = [
            ("x-ratelimit-limit", "1500"),
            ("x-ratelimit-remaining", "1499"),
            ("retry-after", "3600"),
        ];
        budget.update(&headers(&quota), 429, at(0), SignedDuration::ZERO);
        assert_eq!(
            (budget.spent_until(at(1)), budget.remaining),
            (None, Some(1499))
        );
    }

    #[test]
    fn response_without_headers_does_not_prolong_the_pause() {
        let mut budget = RateBudget::default();
        budget.update(
            &headers(&[("retry-after", "5")]),
            429,
            at(0),
            SignedDuration::ZERO,
        );
        budget.update(&headers(&[]), 200, at(1), SignedDuration::ZERO);
        assert_eq!(budget.spent_until(at(2)), Some(at(5)));
        budget.update(&headers(&[]), 200, at(6), SignedDuration::ZERO);
        assert_eq!((budget.spent_until(at(7)), budget.remaining), (None, None));
    }
}
