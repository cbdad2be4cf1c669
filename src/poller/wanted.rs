//! What is read only when something calls for it: the captures of loggers whose count moved, and the part of a scan
//! that is on the screen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::app::plan::{Known, ScanPart};
use crate::app::table::Table;
use crate::contract::{Capture, CaptureId, Logger, LoggerId, ScanId};
use crate::oob::archived::Newest;

/// A logger as last seen.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// Requests at the last look at the list; none before the first.
    requests: Option<i64>,
    /// The newest capture told.
    newest: Option<Newest>,
    /// Cleared since the archive was written: what it knows does not count.
    cleared: bool,
    wanted: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    archived: Known,
    loggers: BTreeMap<LoggerId, Heard>,
    part: Option<(ScanId, ScanPart)>,
    part_wanted: bool,
    part_read: Option<Instant>,
}

impl Wanted {
    /// What need not be read again.
    pub fn set_archived(&mut self, archived: &Known) {
        self.archived = archived.clone();
    }

    /// Compares the counts with those known: a count that moved calls for that logger's captures.
    pub fn learn_loggers(&mut self, loggers: &Table<Logger>) {
        self.loggers.retain(|id, _| loggers.get(*id).is_some());
        for logger in loggers.items() {
            let heard = self.loggers.entry(logger.id).or_default();
            let before = heard.requests.unwrap_or(0);
            if logger.num_requests < before {
                heard.clear();
            }
            heard.wanted |= before != logger.num_requests && logger.num_requests > 0;
            heard.requests = Some(logger.num_requests);
        }
    }

    /// A logger to read, and the capture after which. The newest known is read once more: when it is not there, the logger
    /// was cleared meanwhile.
    pub fn captures(&self, flying: impl Fn(LoggerId) -> bool) -> Option<(LoggerId, Option<CaptureId>)> {
        if self.archived == Known::Awaited {
            return None;
        }
        let (id, heard) = self.loggers.iter().find(|(id, heard)| heard.wanted && !flying(**id))?;
        Some((*id, self.newest(*id, heard).map(|(newest, _)| CaptureId(newest.0 - 1))))
    }

    fn newest(&self, logger: LoggerId, heard: &Heard) -> Option<Newest> {
        let archived = || match &self.archived {
            Known::Newest(newest) if !heard.cleared => newest.get(&logger).copied(),
            _ => None,
        };
        heard.newest.or_else(archived)
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

    /// Those of the captures that were not told before, in the order of their ids. Where the newest known is not among
    /// them, ids may have begun anew: then all are read.
    pub fn take_captures(&mut self, logger: LoggerId, mut captures: Vec<Capture>) -> Vec<Arc<Capture>> {
        let Some(&heard) = self.loggers.get(&logger) else { return Vec::new() };
        let known = self.newest(logger, &heard);
        if let Some((newest, date)) = known {
            let there = captures.iter().any(|capture| capture.id == newest && capture.request_date == date);
            captures.retain(|capture| there && capture.id > newest);
            if !there && let Some(heard) = self.loggers.get_mut(&logger) {
                heard.clear();
                heard.wanted = true;
            }
        }
        if let (Some(last), Some(heard)) = (captures.last(), self.loggers.get_mut(&logger)) {
            heard.newest = Some((last.id, last.request_date));
        }
        captures.into_iter().map(Arc::new).collect()
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

impl Heard {
    /// Its captures are gone; there can be new ones, under any ids.
    fn clear(&mut self) {
        (self.newest, self.cleared) = (None, true);
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
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), Some(CaptureId(6)))));
        assert_eq!(wanted.captures(|id| id == LoggerId(2)), None, "not twice at a time");
        assert_eq!(told(&mut wanted, &[6, 7, 8]), [8]);
    }

    /// What of these is told of logger 2.
    fn told(wanted: &mut Wanted, ids: &[i64]) -> Vec<i64> {
        wanted.captures_asked(LoggerId(2));
        wanted.take_captures(LoggerId(2), captures(ids)).iter().map(|capture| capture.id.0).collect()
    }

    #[test]
    fn ids_that_begin_anew_after_a_clear_are_read_from_the_first() {
        let mut wanted = Wanted::default();
        wanted.learn_loggers(&loggers(&[(2, 3)]));
        assert_eq!(told(&mut wanted, &[5, 6, 7]), [5, 6, 7]);
        wanted.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), None)), "the count sank");
        assert_eq!(told(&mut wanted, &[1]), [1]);
        // Cleared and called again between two looks: the count only rose.
        wanted.learn_loggers(&loggers(&[(2, 4)]));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), Some(CaptureId(0)))));
        assert_eq!(told(&mut wanted, &[8, 9]), [] as [i64; 0]);
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), None)), "the newest known is not there");
        assert_eq!(told(&mut wanted, &[6, 7, 8, 9]), [6, 7, 8, 9]);
        assert_eq!(wanted.captures(|_| false), None);
    }

    #[test]
    fn what_the_archive_has_is_not_read_again_and_nothing_before_it_has_told() {
        let mut wanted = Wanted::default();
        wanted.set_archived(&Known::Awaited);
        wanted.learn_loggers(&loggers(&[(2, 900)]));
        assert_eq!(wanted.captures(|_| false), None);
        wanted.set_archived(&Known::Newest(Arc::new([(LoggerId(2), (CaptureId(899), None))].into())));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), Some(CaptureId(898)))));
        assert_eq!(told(&mut wanted, &[899, 900]), [900]);
        wanted.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(wanted.captures(|_| false), Some((LoggerId(2), None)), "cleared: the archive does not count");
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
