//! What is read only when something calls for it: the captures of loggers whose count moved, and the part of a scan
//! that is on the screen.

use crate::contract::{Capture, CaptureId, Logger, LoggerId, ScanId};
use crate::dashboard::base::{ArchivedCaptures, ScanPart};
use crate::oob::NewestCapture;
use crate::oob::archived::{beyond, since};
use crate::table::Table;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A logger as last seen.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// Requests at the last look at the list; none before the first.
    requests: Option<i64>,
    /// The newest capture told.
    newest: Option<NewestCapture>,
    /// Cleared since the archive was written: what it knows does not count.
    cleared: bool,
    wanted: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    archived: ArchivedCaptures,
    loggers: BTreeMap<LoggerId, Heard>,
    part: Option<(ScanId, ScanPart)>,
    part_wanted: bool,
    part_read: Option<Instant>,
}

impl OnDemand {
    /// What need not be read again.
    pub fn set_archived(&mut self, archived: &ArchivedCaptures) {
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
    pub fn captures(&self, in_flight: impl Fn(LoggerId) -> bool) -> Option<(LoggerId, Option<CaptureId>)> {
        if self.archived == ArchivedCaptures::Awaited {
            return None;
        }
        let (id, heard) = self.loggers.iter().find(|(id, heard)| heard.wanted && !in_flight(**id))?;
        Some((*id, since(self.newest(*id, heard))))
    }

    fn newest(&self, logger: LoggerId, heard: &Heard) -> Option<NewestCapture> {
        let archived = || match &self.archived {
            ArchivedCaptures::Newest(newest) if !heard.cleared => newest.get(&logger).copied(),
            _ => None,
        };
        heard.newest.or_else(archived)
    }

    /// This logger's captures were requested, or refused: its next count that moves calls for them again.
    pub fn drop_captures(&mut self, logger: LoggerId) {
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
        if let Some(newest) = self.newest(logger, &heard) {
            let new = beyond(newest, captures);
            if new.is_none()
                && let Some(heard) = self.loggers.get_mut(&logger)
            {
                heard.clear();
                heard.wanted = true;
            }
            captures = new.unwrap_or_default();
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

    pub fn part_sent(&mut self, now: Instant) {
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
        let mut on_demand = OnDemand::default();
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), None)));
        on_demand.drop_captures(LoggerId(2));
        assert_eq!(on_demand.take_captures(LoggerId(2), captures(&[5, 6, 7])).len(), 3);
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(on_demand.captures(|_| false), None);
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 4)]));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), Some(CaptureId(6)))));
        assert_eq!(on_demand.captures(|id| id == LoggerId(2)), None, "not twice at a time");
        assert_eq!(told(&mut on_demand, &[6, 7, 8]), [8]);
    }

    /// What of these is told of logger 2.
    fn told(on_demand: &mut OnDemand, ids: &[i64]) -> Vec<i64> {
        on_demand.drop_captures(LoggerId(2));
        on_demand.take_captures(LoggerId(2), captures(ids)).iter().map(|capture| capture.id.0).collect()
    }

    #[test]
    fn ids_that_begin_anew_after_a_clear_are_read_from_the_first() {
        let mut on_demand = OnDemand::default();
        on_demand.learn_loggers(&loggers(&[(2, 3)]));
        assert_eq!(told(&mut on_demand, &[5, 6, 7]), [5, 6, 7]);
        on_demand.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), None)), "the count sank");
        assert_eq!(told(&mut on_demand, &[1]), [1]);
        // Cleared and called again between two looks: the count only rose.
        on_demand.learn_loggers(&loggers(&[(2, 4)]));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), Some(CaptureId(0)))));
        assert_eq!(told(&mut on_demand, &[8, 9]), [] as [i64; 0]);
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), None)), "the newest known is not there");
        assert_eq!(told(&mut on_demand, &[6, 7, 8, 9]), [6, 7, 8, 9]);
        assert_eq!(on_demand.captures(|_| false), None);
    }

    #[test]
    fn what_the_archive_has_is_not_read_again_and_nothing_before_it_has_told() {
        let mut on_demand = OnDemand::default();
        on_demand.set_archived(&ArchivedCaptures::Awaited);
        on_demand.learn_loggers(&loggers(&[(2, 900)]));
        assert_eq!(on_demand.captures(|_| false), None);
        on_demand.set_archived(&ArchivedCaptures::Newest(Arc::new([(LoggerId(2), (CaptureId(899), None))].into())));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), Some(CaptureId(898)))));
        assert_eq!(told(&mut on_demand, &[899, 900]), [900]);
        on_demand.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(on_demand.captures(|_| false), Some((LoggerId(2), None)), "cleared: the archive does not count");
    }

    #[test]
    fn a_part_is_read_when_opened_and_when_its_scan_moved_but_not_more_often_than_the_gap() {
        let (mut on_demand, now, gap) = (OnDemand::default(), Instant::now(), Duration::from_secs(10));
        on_demand.set_part(Some((ScanId(1), ScanPart::Tests)));
        assert_eq!(on_demand.part_due(now, gap), Some(now));
        on_demand.part_sent(now);
        assert_eq!(on_demand.part_due(now, gap), None);
        on_demand.want_part();
        assert_eq!(on_demand.part_due(now, gap), Some(now + gap));
        on_demand.set_part(None);
        assert_eq!(on_demand.part_due(now, gap), None);
    }
}
