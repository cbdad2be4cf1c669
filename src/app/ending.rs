//! Loggers that will not record much longer: payloads that are still waiting would wait for nothing.

use std::fmt;

use super::model::Model;
use super::notices::Tone;
use super::table::Table;
use crate::contract::Logger;
use crate::text::plural;

/// Days before the end from which on it is told.
const DAYS: i64 = 2;
/// It is told when less than one request in so many is left.
const ONE_IN: i64 = 20;

/// Why a logger will not record much longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// It records no more.
    Over,
    /// So many days are left.
    Days(i64),
    /// So many requests are left.
    Requests(i64),
}

impl Ending {
    /// That of a logger; nothing while it has time and room.
    pub fn of(logger: &Logger) -> Option<Self> {
        let Logger { active_days, num_requests, requests_left, .. } = *logger;
        match () {
            () if active_days <= 0 || requests_left <= 0 => Some(Self::Over),
            () if active_days <= DAYS => Some(Self::Days(active_days)),
            () if requests_left.saturating_mul(ONE_IN) < num_requests.saturating_add(requests_left) => {
                Some(Self::Requests(requests_left))
            }
            () => None,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("records no more"),
            Self::Days(days) => write!(f, "{} left", plural(*days as usize, "day")),
            Self::Requests(requests) => write!(f, "{} left", plural(*requests as usize, "request")),
        }
    }
}

impl Model {
    /// What is left of the logger that ends next. One that has ended already is no news.
    pub fn ending(&self) -> Option<Ending> {
        let loggers = self.data.loggers.value().map(|table| table.items()).unwrap_or_default();
        loggers.iter().filter_map(|logger| Ending::of(logger)).filter(|&ending| ending != Ending::Over).min()
    }

    /// Says once of a logger that it comes to its end.
    pub(super) fn warn_of_ends(&mut self, new: &Table<Logger>) {
        let before = self.data.loggers.value().cloned().unwrap_or_default();
        let kind = |ending: Option<Ending>| ending.map(|ending| std::mem::discriminant(&ending));
        for logger in new.items() {
            let known = before.get(logger.id);
            let was = known.and_then(|logger| Ending::of(logger)).or(known.is_none().then_some(Ending::Over));
            if let Some(ending) = Ending::of(logger).filter(|&now| kind(Some(now)) != kind(was)) {
                self.say(Tone::Bad, format!("logger {}: {ending}", logger.label));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_two_days_before_and_with_the_last_twentieth_of_the_requests() {
        let told = |active_days, num_requests, requests_left| {
            Ending::of(&Logger { active_days, num_requests, requests_left, ..Logger::default() })
        };
        assert_eq!(told(30, 0, 1000), None);
        assert_eq!(told(3, 950, 50), None);
        assert_eq!(told(3, 951, 49), Some(Ending::Requests(49)));
        assert_eq!(told(2, 0, 1000), Some(Ending::Days(2)));
        assert_eq!(told(2, 1000, 0), Some(Ending::Over));
        assert_eq!(told(0, 0, 1000), Some(Ending::Over));
    }
}
