//! Progress of scans over time: stalled scans, ETA, and failures that nobody has seen.
//!
//! The service reports the progress of a scan. Its speed is measured here, from one response to the
//! next.

use crate::base::ScanHistory;
use crate::data::ObservedScans;
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, Shared};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// A running scan without progress for this long is stalled.
pub const STALLED: Duration = Duration::from_secs(40);

/// Speed is measured over this period.
const MEMORY: Duration = Duration::from_secs(120);

/// The progress of a scan at a time.
type Sample = (Duration, f64);

/// One running scan.
#[derive(Clone, Debug)]
struct TrackedScan {
    samples: VecDeque<Sample>,
    /// Progress, finished tests, findings, current step.
    state: (i64, i64, i64, Shared),
    moved: Duration,
}

/// All running scans.
#[derive(Clone, Debug, Default)]
pub struct ScanProgress {
    running: HashMap<ScanId, TrackedScan>,
    /// Failed scans that a person has seen.
    seen: BTreeSet<ScanId>,
    observed: ObservedScans,
    /// The revision of the last list that was counted, and the positions of scans that are not
    /// finished.
    unfinished: (u64, Vec<u32>),
    begun: bool,
    /// Since when the service does not respond. Scans are not stalled because of that.
    offline: Option<Duration>,
}

/// Numbers of scans by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Failed and not seen yet.
    pub failed: usize,
    pub stalled: usize,
    /// Running, including stalled scans.
    pub running: usize,
    pub waiting: usize,
}

impl ScanProgress {
    /// Takes a new list of scans. Failures in the first list count as seen.
    pub fn take(&mut self, now: Duration, scans: &Table<Scan>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.seen.extend(
                scans
                    .items()
                    .iter()
                    .filter(|scan| scan.status_name.is_failure())
                    .map(|scan| scan.id),
            );
        }
        self.observed.take(now, scans);
        let runs = |id: &ScanId| {
            scans
                .get(*id)
                .is_some_and(|scan| scan.status_name == ScanStatus::Running)
        };
        self.running.retain(|id, _| runs(id));
        for scan in scans
            .items()
            .iter()
            .filter(|scan| scan.status_name == ScanStatus::Running)
        {
            let found = scan.result_summary.by_risk().into_iter().flatten().sum();
            let state = (
                scan.progress,
                scan.num_finished_tests,
                found,
                scan.status_message.clone(),
            );
            let samples = || VecDeque::from([(now, portion(scan))]);
            let fresh = || TrackedScan {
                samples: samples(),
                state: state.clone(),
                moved: now,
            };
            let watched = self.running.entry(scan.id).or_insert_with(fresh);
            // The service has started the scan again: the earlier speed is not that of the new
            // attempt.
            if scan.num_finished_tests < watched.state.1 {
                *watched = fresh();
            }
            if watched.state != state {
                watched.state = state;
                watched.moved = now;
                let has_advanced = watched
                    .samples
                    .back()
                    .is_none_or(|(_, last)| *last < portion(scan));
                if has_advanced {
                    watched.samples.push_back((now, portion(scan)));
                }
                while watched.samples.len() > 3 && watched.samples[1].0 + MEMORY < now {
                    watched.samples.pop_front();
                }
            }
        }
    }

    /// The progress of a scan over time, if it was observed while it ran.
    pub fn history(&self, scan: ScanId) -> Option<&ScanHistory> {
        self.observed.of(scan)
    }

    /// Records whether the service responds. Time without responses does not make a scan stalled.
    pub fn record_link(&mut self, now: Duration, responds: bool) {
        if !responds {
            self.offline.get_or_insert(now);
        } else if let Some(since) = self.offline.take() {
            for watched in self.running.values_mut() {
                watched.moved += now.saturating_sub(since);
            }
        }
    }

    /// Now, or the last response of the service.
    fn last_response(&self, now: Duration) -> Duration {
        self.offline.map_or(now, |since| since.min(now))
    }

    /// How long a running scan has been without progress, if it is stalled.
    pub fn stalled_for(&self, now: Duration, scan: ScanId) -> Option<Duration> {
        let idle = self
            .last_response(now)
            .checked_sub(self.running.get(&scan)?.moved)?;
        (idle >= STALLED).then_some(idle)
    }

    /// When the next running scan becomes stalled.
    pub fn next_stall(&self, now: Duration) -> Option<Duration> {
        let stalls = self
            .running
            .values()
            .map(|watched| watched.moved + STALLED)
            .filter(|&at| at > now);
        stalls.min().filter(|_| self.offline.is_none())
    }

    /// Whether any scan is stalled.
    pub fn any_stalled(&self, now: Duration) -> bool {
        let last_response = self.last_response(now);
        self.running
            .values()
            .any(|watched| watched.moved + STALLED <= last_response)
    }

    /// The ETA of a running scan at its current speed; none before the progress has increased
    /// twice. The time before the first increase is not counted: a scan starts slowly, or was
    /// running already. The ETA increases when the scan becomes slower, and while its next increase
    /// is later than usual.
    pub fn time_left(&self, now: Duration, scan: ScanId) -> Option<Duration> {
        let samples = &self.running.get(&scan)?.samples;
        let (&(from, low), &(to, high)) = (samples.get(1)?, samples.back()?);
        let (elapsed, moved) = (to.checked_sub(from)?.as_secs_f64(), high - low);
        if elapsed < 2.0 || moved < 0.01 {
            return None;
        }
        let usual = elapsed / (samples.len() - 2) as f64;
        let since = now.saturating_sub(to).as_secs_f64();
        let late = (since - usual).max(0.0);
        let left = (1.0 - high).max(0.0) * (elapsed + late) / moved - since.min(usual);
        Duration::try_from_secs_f64(left.max(1.0)).ok()
    }

    /// Marks a scan as seen.
    pub fn see(&mut self, scan: ScanId) {
        self.seen.insert(scan);
    }

    pub fn is_unseen_failure(&self, scan: &Scan) -> bool {
        scan.status_name.is_failure() && !self.seen.contains(&scan.id)
    }

    /// Numbers of scans by state. Every message counts them and most of 20,000 scans are finished,
    /// so the positions of the others are remembered.
    pub fn tally(&mut self, now: Duration, scans: &Table<Scan>) -> Tally {
        if self.unfinished.0 != scans.revision() {
            let all = scans.items().iter().zip(0..);
            let unfinished = all
                .filter(|(scan, _)| scan.status_name != ScanStatus::Finished)
                .map(|(_, at)| at);
            self.unfinished = (scans.revision(), unfinished.collect());
        }
        let mut tally = Tally::default();
        for scan in self
            .unfinished
            .1
            .iter()
            .map(|&at| &scans.items()[at as usize])
        {
            match scan.status_name {
                ScanStatus::Running => {
                    tally.running += 1;
                    tally.stalled += usize::from(self.stalled_for(now, scan.id).is_some());
                }
                ScanStatus::Waiting => tally.waiting += 1,
                _ => tally.failed += usize::from(self.is_unseen_failure(scan)),
            }
        }
        tally
    }

    /// The ETA in powers of two, so that rows do not swap places with every response. Scans of
    /// unknown speed follow, ordered by progress.
    fn coarse_time_left(&self, now: Duration, scan: &Scan) -> u64 {
        match self.time_left(now, scan.id) {
            Some(left) => u64::from(left.as_secs().max(1).ilog2()),
            None => 74 - (scan.progress.clamp(0, 100) / 10) as u64,
        }
    }

    /// The rank of a scan by urgency: failed and unseen, stalled, running by ETA, waiting, done.
    pub fn need(&self, now: Duration, scan: &Scan) -> (u8, u64) {
        match scan.status_name {
            ScanStatus::Running if self.stalled_for(now, scan.id).is_some() => (1, 0),
            ScanStatus::Running => (2, self.coarse_time_left(now, scan)),
            ScanStatus::Waiting => (3, 0),
            _ if self.is_unseen_failure(scan) => (0, 0),
            _ => (4, 0),
        }
    }
}

/// The finished portion, as precise as the service reports it.
fn portion(scan: &Scan) -> f64 {
    if scan.num_tests > 0 && scan.num_finished_tests > 0 {
        (scan.num_finished_tests as f64 / scan.num_tests as f64).min(1.0)
    } else {
        scan.progress.clamp(0, 100) as f64 / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scans(status: ScanStatus, done: i64) -> Table<Scan> {
        let scan = Scan {
            id: ScanId(1),
            status_name: status,
            progress: done,
            num_tests: 100,
            num_finished_tests: done,
            ..Scan::default()
        };
        Table::new([scan])
    }

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn scan_without_progress_for_40_seconds_is_stalled() {
        let mut progress = ScanProgress::default();
        progress.take(secs(0), &scans(ScanStatus::Running, 10));
        progress.take(secs(39), &scans(ScanStatus::Running, 10));
        assert_eq!(
            (
                progress.stalled_for(secs(39), ScanId(1)),
                progress.next_stall(secs(39))
            ),
            (None, Some(secs(40)))
        );
        assert_eq!(progress.stalled_for(secs(45), ScanId(1)), Some(secs(45)));
        progress.take(secs(46), &scans(ScanStatus::Running, 11));
        assert_eq!(progress.stalled_for(secs(46), ScanId(1)), None);
    }

    #[test]
    fn eta_follows_speed_once_speed_is_known() {
        let mut progress = ScanProgress::default();
        progress.take(secs(0), &scans(ScanStatus::Running, 0));
        assert_eq!(progress.time_left(secs(0), ScanId(1)), None);
        progress.take(secs(7), &scans(ScanStatus::Running, 10));
        assert_eq!(
            progress.time_left(secs(7), ScanId(1)),
            None,
            "the scan may have started slowly"
        );
        progress.take(secs(17), &scans(ScanStatus::Running, 30));
        assert_eq!(progress.time_left(secs(17), ScanId(1)), Some(secs(35)));
        assert_eq!(progress.time_left(secs(27), ScanId(1)), Some(secs(25)));
    }

    #[test]
    fn eta_increases_while_the_next_advance_is_late() {
        let mut progress = ScanProgress::default();
        for (at, done) in [(0, 0), (5, 10), (15, 30), (25, 50)] {
            progress.take(secs(at), &scans(ScanStatus::Running, done));
        }
        let left = [25, 35, 45, 55].map(|at| {
            progress
                .time_left(secs(at), ScanId(1))
                .unwrap()
                .as_secs_f64()
        });
        assert_eq!(left, [25.0, 15.0, 27.5, 40.0]);
        progress.take(secs(55), &scans(ScanStatus::Running, 60));
        assert_eq!(
            progress.time_left(secs(55), ScanId(1)),
            Some(secs(40)),
            "no jump when the scan advances"
        );
    }

    #[test]
    fn step_without_finished_test_shows_that_scan_is_not_stalled() {
        let step = |sent: &str| {
            let scan = scans(ScanStatus::Running, 30).items()[0].as_ref().clone();
            Table::new([Scan {
                status_message: sent.into(),
                ..scan
            }])
        };
        let mut progress = ScanProgress::default();
        for (at, done) in [(0, 0), (10, 20), (15, 30)] {
            progress.take(secs(at), &scans(ScanStatus::Running, done));
        }
        progress.take(secs(50), &step("40 requests sent"));
        assert_eq!(progress.stalled_for(secs(60), ScanId(1)), None);
        let left = progress.time_left(secs(50), ScanId(1));
        progress.take(secs(60), &step("60 requests sent"));
        assert!(
            progress.time_left(secs(60), ScanId(1)) > left,
            "more requests are no more finished tests"
        );
    }

    #[test]
    fn eta_of_restarted_scan_follows_its_new_speed() {
        let mut progress = ScanProgress::default();
        progress.take(secs(0), &scans(ScanStatus::Running, 0));
        progress.take(secs(10), &scans(ScanStatus::Running, 80));
        progress.take(secs(20), &scans(ScanStatus::Running, 0));
        progress.take(secs(25), &scans(ScanStatus::Running, 5));
        progress.take(secs(35), &scans(ScanStatus::Running, 15));
        assert_eq!(progress.time_left(secs(35), ScanId(1)), Some(secs(85)));
    }

    #[test]
    fn tally_follows_the_list() {
        let mut progress = ScanProgress::default();
        let scan = |id: i64, status| Scan {
            id: id.into(),
            status_name: status,
            ..Scan::default()
        };
        let first = Table::new([
            scan(1, ScanStatus::Finished),
            scan(2, ScanStatus::Running),
            scan(3, ScanStatus::Waiting),
        ]);
        progress.take(secs(0), &first);
        let tally = progress.tally(secs(0), &first);
        assert_eq!((tally.running, tally.waiting, tally.failed), (1, 1, 0));
        let second = Table::new([scan(1, ScanStatus::Running), scan(4, ScanStatus::Running)]);
        progress.take(secs(1), &second);
        let tally = progress.tally(secs(1), &second);
        assert_eq!((tally.running, tally.waiting, tally.failed), (2, 0, 0));
    }

    #[test]
    fn failures_of_first_list_count_as_seen() {
        let mut progress = ScanProgress::default();
        let failed = scans(ScanStatus::ConnectionError, 0);
        progress.take(secs(0), &failed);
        assert_eq!(progress.tally(secs(0), &failed).failed, 0);
        let mut progress = ScanProgress::default();
        progress.take(secs(0), &scans(ScanStatus::Running, 0));
        progress.take(secs(1), &failed);
        assert_eq!(progress.tally(secs(1), &failed).failed, 1);
        progress.see(ScanId(1));
        assert_eq!(progress.tally(secs(1), &failed).failed, 0);
    }
}
