//! How long a logger records: until its days are over or no requests are left.

use std::fmt;

use crate::contract::Logger;
use crate::text::plural;

/// Days before the end from which on it is told.
const DAYS: i64 = 2;
/// It is told when less than one request in so many is left.
const ONE_IN: i64 = 20;

/// Why a logger will not record much longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoggerExpiry {
    /// It records no more.
    Over,
    /// So many days are left.
    Days(i64),
    /// So many requests are left.
    Requests(i64),
}

impl LoggerExpiry {
    /// That of a logger; nothing while it has time and room.
    pub fn of(logger: &Logger) -> Option<Self> {
        let Logger { active_days, num_requests, requests_left, .. } = *logger;
        match () {
            () if over(logger).is_some() => Some(Self::Over),
            () if active_days <= DAYS => Some(Self::Days(active_days)),
            () if requests_left.saturating_mul(ONE_IN) < num_requests.saturating_add(requests_left) => {
                Some(Self::Requests(requests_left))
            }
            () => None,
        }
    }
}

impl fmt::Display for LoggerExpiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("records no more"),
            Self::Days(days) => write!(f, "{} left", plural(*days as usize, "day")),
            Self::Requests(requests) => write!(f, "{} left", plural(*requests as usize, "request")),
        }
    }
}

/// Why a logger records no more.
pub fn over(logger: &Logger) -> Option<&'static str> {
    match (logger.active_days, logger.requests_left) {
        (..=0, _) => Some("its days are over"),
        (_, ..=0) => Some("no requests are left"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_two_days_before_and_with_the_last_twentieth_of_the_requests() {
        let told = |active_days, num_requests, requests_left| {
            LoggerExpiry::of(&Logger { active_days, num_requests, requests_left, ..Logger::default() })
        };
        assert_eq!(told(30, 0, 1000), None);
        assert_eq!(told(3, 950, 50), None);
        assert_eq!(told(3, 951, 49), Some(LoggerExpiry::Requests(49)));
        assert_eq!(told(2, 0, 1000), Some(LoggerExpiry::Days(2)));
        assert_eq!(told(2, 1000, 0), Some(LoggerExpiry::Over));
        assert_eq!(told(0, 0, 1000), Some(LoggerExpiry::Over));
    }
}
