//! The clock of the service, and points of its time in the headers of its responses.
//!
//! ```text
//!   Date         ─► offset: how far the service's clock is ahead of this machine's
//!   Retry-After  ─► time from now, less the offset
//! ```

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Longest delay that an error reports from a header.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// How far the service's clock is ahead of this machine's.
pub(super) fn clock_offset(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    // The header is truncated to seconds, so the mean error is half a second.
    let date = http_date(headers.get(DATE)?.to_str().ok()?)? + Duration::from_millis(500);
    Some(date.duration_since(now))
}

/// `Retry-After` in either form (RFC 9110 §10.2.3); capped at one hour.
pub(super) fn retry_after(
    headers: &HeaderMap,
    now: Timestamp,
    offset: SignedDuration,
) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => until(http_date(text)?, now, offset),
    };
    Some(wait.min(LONGEST_WAIT))
}

/// Time until a point of the service's clock; zero if it has passed.
pub(super) fn until(at: Timestamp, now: Timestamp, offset: SignedDuration) -> Duration {
    let wait = at.duration_since(now).saturating_sub(offset);
    Duration::try_from(wait).unwrap_or_default()
}

fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(text)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let header = (name.parse().unwrap(), value.parse().unwrap());
        [header].into_iter().collect()
    }

    #[test]
    fn retry_after_accepts_seconds_and_dates() {
        let wait = |text| {
            retry_after(
                &headers("retry-after", text),
                Timestamp::from_second(784_111_770).unwrap(),
                SignedDuration::ZERO,
            )
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            wait("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(7))
        );
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
    }

    #[test]
    fn clock_offset_is_read_from_date_header() {
        let offset = clock_offset(
            &headers("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            Timestamp::from_second(784_111_770).unwrap(),
        )
        .unwrap();
        assert_eq!(offset.as_secs(), 7);
    }
}
