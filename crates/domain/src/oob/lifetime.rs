//! Lifetime of a logger: it records until its days are over or no requests are left.

use std::fmt;

use scandeck_wire::contract::Logger;
use scandeck_wire::text::plural;

/// Number of last days in which the end is announced.
const DAYS: i64 = 2;
/// The end is announced when less than one in this many requests is left.
const ONE_IN: i64 = 20;

/// Reason why a logger will stop recording soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoggerExpiry {
    /// It has stopped recording.
    Over,
    /// Days left.
    Days(i64),
    /// Requests left.
    Requests(i64),
}

impl LoggerExpiry {
    /// The expiry of a logger; `None` while enough days and requests are left.
    pub fn of(logger: &Logger) -> Option<Self> {
        let Logger {
            active_days,
            num_requests,
            requests_left,
            ..
        } = *logger;
        match () {
            () if over(logger).is_some() => Some(Self::Over),
            () if active_days <= DAYS => Some(Self::Days(active_days)),
            () if requests_left.saturating_mul(ONE_IN)
                < num_requests.saturating_add(requests_left) =>
            {
                Some(Self::Requests(requests_left))
            }
            () => None,
        }
    }
}

impl fmt::Display for LoggerExpiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("stopped recording"),
            Self::Days(days) => write!(f, "{} left", plural(*days as usize, "day")),
            Self::Requests(requests) => write!(f, "{} left", plural(*requests as usize, "request")),
        }
    }
}

/// Reason why a logger has stopped recording.
pub fn over(logger: &Logger) -> Option<&'static str> {
    match (logger.active_days, logger.requests_left) {
        (..=0, _) => Some("no days left"),
        (_, ..=0) => Some("no requests left"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_is_reported_for_last_two_days_and_last_twentieth_of_requests() {
        let expiry = |active_days, num_requests, requests_left| {
            LoggerExpiry::of(&Logger {
                active_days,
                num_requests,
                requests_left,
                ..Logger::default()
            })
        };
        assert_eq!(expiry(30, 0, 1000), None);
        assert_eq!(expiry(3, 950, 50), None);
        assert_eq!(expiry(3, 951, 49), Some(LoggerExpiry::Requests(49)));
        assert_eq!(expiry(2, 0, 1000), Some(LoggerExpiry::Days(2)));
        assert_eq!(expiry(2, 1000, 0), Some(LoggerExpiry::Over));
        assert_eq!(expiry(0, 0, 1000), Some(LoggerExpiry::Over));
    }
}
