//! What is read only when something calls for it: the captures of loggers whose count moved, and the part of a scan
//! that is on the screen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::app::plan::ScanPart;
use crate::app::table::Table;
use crate::contract::{Capture, CaptureId, Logger, LoggerId, ScanId};

/// A logger as last seen.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// Requests at the last look at the list; none before the first.
    requests: Option<i64>,
    /// The newest capture told.
    newest: Option<CaptureId>,
    wanted: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    loggers: BTreeMap<LoggerId, Heard>,
    part: Option<(ScanId, ScanPart)>,
    part_wanted: bool,
    part_read: Option<Instant>,
}

impl Wanted {
    /// Compares the counts with those known: a count that moved calls for that logger's captures.
    pub fn learn_loggers(&mut self, loggers: &Table<Logger>) {
        self.loggers.retain(|id, _| loggers.get(*id).is_some());
        for logger in loggers.items() {
            let heard = self.loggers.entry(logger.id).or_default();
            // A count that sank was cleared by someone; there can be new ones behind it.
            let moved = heard.requests.unwrap_or(0) != logger.num_requests;
            heard.wanted |= moved && logger.num_requests > 0;
            heard.requests = Some(logger.num_requests);
        }
    }

    /// A logger to read, with the newest capture known of it.
    pub fn captures(&self, flying: impl Fn(LoggerId) -> bool) -> Option<(LoggerId, Option<CaptureId>)> {
        self.loggers.iter().find(|(id, heard)| heard.wanted && !flying(**id)).map(|(id, heard)| (*id, heard.newest))
    }

    pub fn captures_asked(&mut self, logger: LoggerId) {
        if let Some(heard) = self.loggers.get_mut(&logger) {
            heard.wanted = false;
        }
    }

    pub fn want_captures(&mut self, logger: LoggerId) {
        if let Some(heard) = self.loggers.get_mut(&logger) {
            heard.wanted = true;
        }
    }

    pub fn want_all_captures(&mut self) {
        for heard in self.loggers.values_mut() {
            heard.wanted = heard.requests.is_some_and(|requests| requests > 0);
        }
    }

    /// The service refused this logger's captures; its next count that moves calls for them again.
    pub fn forget_logger(&mut self, logger: LoggerId) {
        if let Some(heard) = self.loggers.get_mut(&logger) {
            heard.wanted = false;
        }
    }

    /// Reading them failed at the service: the next look at the list calls for them again.
    pub fn hear_again(&mut self, logger: LoggerId) {
        if let Some(heard) = self.loggers.get_mut(&logger) {
            heard.requests = None;
        }
    }

    /// Those of the captures that were not told before, in the order of their ids.
    pub fn take_captures(&mut self, logger: LoggerId, captures: Vec<Capture>) -> Vec<Arc<Capture>> {
        let Some(heard) = self.loggers.get_mut(&logger) else { return Vec::new() };
        let known = heard.newest;
        let new: Vec<_> =
            captures.into_iter().filter(|capture| known.is_none_or(|known| capture.id > known)).map(Arc::new).collect();
        heard.newest = new.last().map(|capture| capture.id).or(known);
        new
    }

    /// The part of a scan that is on the screen now.
    pub fn set_part(&mut self, part: Option<(ScanId, ScanPart)>) {
        if self.part != part {
            (self.part, self.part_wanted, self.part_read) = (part, part.is_some(), None);
        }
    }

    pub fn want_part(&mut self) {
        self.part_wanted = self.part.is_some();
    }

    pub fn part_asked(&mut self, now: Instant) {
        (self.part_wanted, self.part_read) = (false, Some(now));
    }

    /// When the part is to be read, if it is.
    pub fn part_due(&self, now: Instant, gap: Duration) -> Option<Instant> {
        self.part_wanted.then(|| self.part_read.map_or(now, |read| read + gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loggers(counts: &[(i64, i64)]) -> Table<Logger> {
        Table::new(counts.iter().map(|(id, requests)| Logger {
            id: LoggerId(*id),
            num_requests: *requests,
            ..Logger::default()
        }))
    }

    fn captures(ids: &[i64]) -> Vec<Capture> {
        ids.iter().map(|id| Capture { id: CaptureId(*id), ..Capture::default() }).collect()
    }

    #[test]
    fn captures_are_read_only_when_a_count_moved_and_told_once() {
        let mut wanted = Wanted::default();
        wanted.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), None)));
        wanted.captures_asked(LoggerId(2));
        assert_eq!(wanted.take_captures(LoggerId(2), captures(&[5, 6, 7])).len(), 3);
        wanted.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(wanted.captures(|_| false), None);
        wanted.learn_loggers(&loggers(&[(1, 0), (2, 4)]));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), Some(CaptureId(7)))));
        assert_eq!(wanted.captures(|id| id == LoggerId(2)), None, "not twice at a time");
        let told = wanted.take_captures(LoggerId(2), captures(&[6, 7, 8]));
        assert_eq!(told.iter().map(|capture| capture.id.0).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn a_part_is_read_when_opened_and_when_its_scan_moved_but_not_more_often_than_the_gap() {
        let (mut wanted, now, gap) = (Wanted::default(), Instant::now(), Duration::from_secs(10));
        wanted.set_part(Some((ScanId(1), ScanPart::Tests)));
        assert_eq!(wanted.part_due(now, gap), Some(now));
        wanted.part_asked(now);
        assert_eq!(wanted.part_due(now, gap), None);
        wanted.want_part();
        assert_eq!(wanted.part_due(now, gap), Some(now + gap));
        wanted.set_part(None);
        assert_eq!(wanted.part_due(now, gap), None);
    }
}
