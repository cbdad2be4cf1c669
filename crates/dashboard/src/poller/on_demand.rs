//! Data that is fetched on demand: the captures of loggers whose count changed, the visible part of
//! a scan, and the nodes while they are shown.

use crate::base::{ArchivedCaptures, ScanPart};
use scandeck_domain::oob::NewestCapture;
use scandeck_domain::oob::archived::{beyond, since};
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Capture, CaptureId, Logger, LoggerId, ScanId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The captures of a logger.
#[derive(Clone, Copy, Debug, Default)]
struct LoggerState {
    /// Number of requests in the last list of loggers; none before the first.
    requests: Option<i64>,
    /// The newest reported capture.
    newest: Option<NewestCapture>,
    /// Whether the logger was cleared since the archive was written, so that the archive does not
    /// count.
    cleared: bool,
    due: bool,
    /// When the captures were requested last.
    sent: Option<Instant>,
}

#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    archived: ArchivedCaptures,
    loggers: BTreeMap<LoggerId, LoggerState>,
    part: Option<(ScanId, ScanPart)>,
    part_due: bool,
    part_read: Option<Instant>,
    are_nodes_shown: bool,
    nodes_read: Option<Instant>,
}

impl OnDemand {
    /// Sets the captures that need not be fetched.
    pub fn set_archived(&mut self, archived: &ArchivedCaptures) {
        self.archived = archived.clone();
    }

    /// Compares the counts. A changed count requires the captures of that logger.
    pub fn learn_loggers(&mut self, loggers: &Table<Logger>) {
        self.loggers.retain(|id, _| loggers.get(*id).is_some());
        for logger in loggers.items() {
            let logger_state = self.loggers.entry(logger.id).or_default();
            let before = logger_state.requests.unwrap_or(0);
            if logger.num_requests < before {
                logger_state.clear();
            }
            logger_state.due |= before != logger.num_requests && logger.num_requests > 0;
            logger_state.requests = Some(logger.num_requests);
        }
    }

    /// The logger to fetch, and the capture after which to start: every second time the one that is
    /// `shown` alone, if it is due, else the one that was not fetched for the longest time. The
    /// newest known capture is fetched once more: if it is missing, the logger was cleared
    /// meanwhile.
    pub fn captures(
        &self,
        shown: Option<LoggerId>,
        is_held: impl Fn(LoggerId) -> bool,
    ) -> Option<(LoggerId, Option<CaptureId>)> {
        let sent = |id: &LoggerId| {
            self.loggers
                .get(id)
                .and_then(|logger_state| logger_state.sent)
        };
        let due = || self.due_loggers().filter(|id| !is_held(*id));
        let is_preferred = |id: &LoggerId| Some(*id) == shown && sent(id) < self.captures_read();
        let id = due()
            .find(is_preferred)
            .or_else(|| due().min_by_key(sent))?;
        Some((id, since(self.newest(id, self.loggers.get(&id)?))))
    }

    /// The loggers to fetch; none before the archive was read.
    pub fn due_loggers(&self) -> impl Iterator<Item = LoggerId> {
        let is_awaited = self.archived == ArchivedCaptures::Awaited;
        self.loggers
            .iter()
            .filter(move |(_, logger_state)| logger_state.due && !is_awaited)
            .map(|(id, _)| *id)
    }

    fn newest(&self, logger: LoggerId, logger_state: &LoggerState) -> Option<NewestCapture> {
        let archived = || match &self.archived {
            ArchivedCaptures::Newest(newest) if !logger_state.cleared => {
                newest.get(&logger).copied()
            }
            _ => None,
        };
        logger_state.newest.or_else(archived)
    }

    /// Notes that the captures were requested; the next changed count requires them again.
    pub fn captures_sent(&mut self, logger: LoggerId, now: Instant) {
        self.edit(logger, |logger_state| {
            (logger_state.due, logger_state.sent) = (false, Some(now))
        });
    }

    /// When captures of any logger were requested last.
    pub fn captures_read(&self) -> Option<Instant> {
        self.loggers
            .values()
            .filter_map(|logger_state| logger_state.sent)
            .max()
    }

    pub fn request_captures(&mut self, logger: LoggerId) {
        self.edit(logger, |logger_state| logger_state.due = true);
    }

    fn edit(&mut self, logger: LoggerId, change: impl FnOnce(&mut LoggerState)) {
        if let Some(logger_state) = self.loggers.get_mut(&logger) {
            change(logger_state);
        }
    }

    pub fn request_all_captures(&mut self) {
        for logger_state in self.loggers.values_mut() {
            logger_state.due = logger_state.requests.is_some_and(|requests| requests > 0);
        }
    }

    /// The captures that were not reported before, in the order of their ids. If the newest known
    /// capture is missing, ids may have started again, so all captures are fetched.
    pub fn take_captures(
        &mut self,
        logger: LoggerId,
        mut captures: Vec<Capture>,
    ) -> Vec<Arc<Capture>> {
        let Some(&logger_state) = self.loggers.get(&logger) else {
            return Vec::new();
        };
        if let Some(newest) = self.newest(logger, &logger_state) {
            let new = beyond(newest, captures);
            if new.is_none() {
                self.edit(logger, |logger_state| {
                    logger_state.clear();
                    logger_state.due = true;
                });
            }
            captures = new.unwrap_or_default();
        }
        if let Some(last) = captures.last() {
            self.edit(logger, |logger_state| {
                logger_state.newest = Some((last.id, last.request_date))
            });
        }
        captures.into_iter().map(Arc::new).collect()
    }

    /// Sets the visible part of a scan; true when it is another one.
    pub fn set_part(&mut self, part: Option<(ScanId, ScanPart)>) -> bool {
        let is_other = self.part != part;
        if is_other {
            (self.part, self.part_due, self.part_read) = (part, part.is_some(), None);
        }
        is_other
    }

    pub fn request_part(&mut self) {
        self.part_due = self.part.is_some();
    }

    pub fn part_sent(&mut self, now: Instant) {
        (self.part_due, self.part_read) = (false, Some(now));
    }

    pub fn part_read(&self) -> Option<Instant> {
        self.part_read
    }

    /// The time at which the part is due, if it is wanted.
    pub fn part_due(&self, now: Instant, gap: Duration) -> Option<Instant> {
        self.part_due
            .then(|| self.part_read.map_or(now, |read| read + gap))
    }

    /// Sets whether the nodes are shown; true when they appear.
    pub fn show_nodes(&mut self, are_shown: bool) -> bool {
        let were_shown = std::mem::replace(&mut self.are_nodes_shown, are_shown);
        are_shown && !were_shown
    }

    pub fn request_nodes(&mut self) {
        self.nodes_read = None;
    }

    pub fn nodes_sent(&mut self, now: Instant) {
        self.nodes_read = Some(now);
    }

    pub fn nodes_read(&self) -> Option<Instant> {
        self.nodes_read
    }

    /// The time at which the nodes are due, if they are shown.
    pub fn nodes_due(&self, now: Instant, gap: Duration) -> Option<Instant> {
        self.are_nodes_shown
            .then(|| self.nodes_read.map_or(now, |read| read + gap))
    }
}

impl LoggerState {
    /// Notes that the logger was cleared; new captures can have any ids.
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
        ids.iter()
            .map(|id| Capture {
                id: CaptureId(*id),
                ..Capture::default()
            })
            .collect()
    }

    #[test]
    fn captures_are_fetched_when_count_changed_and_reported_once() {
        let mut on_demand = OnDemand::default();
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), None))
        );
        on_demand.captures_sent(LoggerId(2), Instant::now());
        assert_eq!(
            on_demand
                .take_captures(LoggerId(2), captures(&[5, 6, 7]))
                .len(),
            3
        );
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 3)]));
        assert_eq!(on_demand.captures(None, |_| false), None);
        on_demand.learn_loggers(&loggers(&[(1, 0), (2, 4)]));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), Some(CaptureId(6))))
        );
        assert_eq!(
            on_demand.captures(None, |id| id == LoggerId(2)),
            None,
            "not twice at a time"
        );
        assert_eq!(reported(&mut on_demand, &[6, 7, 8]), [8]);
    }

    #[test]
    fn logger_that_is_shown_alone_is_fetched_every_second_time() {
        let (mut on_demand, start) = (OnDemand::default(), Instant::now());
        on_demand.learn_loggers(&loggers(&[(1, 1), (2, 1), (3, 1)]));
        let fetched: Vec<i64> = (0..6)
            .map(|second| {
                on_demand.request_all_captures();
                let (logger, _) = on_demand.captures(Some(LoggerId(3)), |_| false).unwrap();
                on_demand.captures_sent(logger, start + Duration::from_secs(second));
                logger.0
            })
            .collect();
        assert_eq!(fetched, [1, 3, 2, 3, 1, 3]);
    }

    /// The ids of these captures of logger 2 that are reported.
    fn reported(on_demand: &mut OnDemand, ids: &[i64]) -> Vec<i64> {
        on_demand.captures_sent(LoggerId(2), Instant::now());
        on_demand
            .take_captures(LoggerId(2), captures(ids))
            .iter()
            .map(|capture| capture.id.0)
            .collect()
    }

    #[test]
    fn cleared_logger_is_fetched_from_first_id() {
        let mut on_demand = OnDemand::default();
        on_demand.learn_loggers(&loggers(&[(2, 3)]));
        assert_eq!(reported(&mut on_demand, &[5, 6, 7]), [5, 6, 7]);
        on_demand.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), None)),
            "the count decreased"
        );
        assert_eq!(reported(&mut on_demand, &[1]), [1]);
        // Cleared between two polls and called again: the count has only increased.
        on_demand.learn_loggers(&loggers(&[(2, 4)]));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), Some(CaptureId(0))))
        );
        assert_eq!(reported(&mut on_demand, &[8, 9]), [] as [i64; 0]);
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), None)),
            "the newest known capture is missing"
        );
        assert_eq!(reported(&mut on_demand, &[6, 7, 8, 9]), [6, 7, 8, 9]);
        assert_eq!(on_demand.captures(None, |_| false), None);
    }

    #[test]
    fn archived_captures_are_not_fetched_again() {
        let mut on_demand = OnDemand::default();
        on_demand.set_archived(&ArchivedCaptures::Awaited);
        on_demand.learn_loggers(&loggers(&[(2, 900)]));
        assert_eq!(on_demand.captures(None, |_| false), None);
        on_demand.set_archived(&ArchivedCaptures::Newest(Arc::new(
            [(LoggerId(2), (CaptureId(899), None))].into(),
        )));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), Some(CaptureId(898))))
        );
        assert_eq!(reported(&mut on_demand, &[899, 900]), [900]);
        on_demand.learn_loggers(&loggers(&[(2, 1)]));
        assert_eq!(
            on_demand.captures(None, |_| false),
            Some((LoggerId(2), None)),
            "cleared: the archive does not count"
        );
    }

    #[test]
    fn part_is_fetched_when_opened_and_after_gap_when_scan_moved() {
        let (mut on_demand, now, gap) =
            (OnDemand::default(), Instant::now(), Duration::from_secs(10));
        on_demand.set_part(Some((ScanId(1), ScanPart::Tests)));
        assert_eq!(on_demand.part_due(now, gap), Some(now));
        on_demand.part_sent(now);
        assert_eq!(on_demand.part_due(now, gap), None);
        on_demand.request_part();
        assert_eq!(on_demand.part_due(now, gap), Some(now + gap));
        on_demand.set_part(None);
        assert_eq!(on_demand.part_due(now, gap), None);
    }
}
