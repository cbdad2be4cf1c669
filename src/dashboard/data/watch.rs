//! What the progress of scans tells over time: stalled, time left, which failures nobody has looked at.
//!
//! The service says where a scan stands; how fast it moves is learnt here, from one answer to the next.

use crate::contract::{Scan, ScanId, ScanStatus};
use crate::table::Table;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// A running scan that has not moved for this long is stalled.
pub const STALLED: Duration = Duration::from_secs(40);

/// Speed is taken from the moves of this long.
const MEMORY: Duration = Duration::from_secs(120);

/// Where a scan stood at a time.
type Sample = (Duration, f64);

/// One running scan.
#[derive(Clone, Debug)]
struct Watched {
    samples: VecDeque<Sample>,
    /// What moves: progress, tests done, findings.
    stood: (i64, i64, i64),
    moved: Duration,
}

/// All running scans.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    running: HashMap<ScanId, Watched>,
    /// Ended badly, and a person has seen that.
    seen: BTreeSet<ScanId>,
    begun: bool,
    /// Since when the service does not answer: what scans do meanwhile nobody here can know.
    deaf: Option<Duration>,
}

/// How many scans are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Failed, and nobody has looked yet.
    pub failed: usize,
    pub stalled: usize,
    /// Running, the stalled ones included.
    pub running: usize,
    pub waiting: usize,
}

impl Watch {
    /// Takes a new list of scans. Failures of the first list are old news: only what fails later asks for a look.
    pub fn take(&mut self, now: Duration, scans: &Table<Scan>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.seen.extend(scans.items().iter().filter(|scan| scan.status_name.is_failure()).map(|scan| scan.id));
        }
        let runs = |id: &ScanId| scans.get(*id).is_some_and(|scan| scan.status_name == ScanStatus::Running);
        self.running.retain(|id, _| runs(id));
        for scan in scans.items().iter().filter(|scan| scan.status_name == ScanStatus::Running) {
            let found = scan.result_summary.by_risk().into_iter().flatten().sum();
            let stood = (scan.progress, scan.num_finished_tests, found);
            let fresh = || Watched { samples: VecDeque::from([(now, portion(scan))]), stood, moved: now };
            let watched = self.running.entry(scan.id).or_insert_with(fresh);
            if watched.stood != stood {
                watched.stood = stood;
                watched.moved = now;
                watched.samples.push_back((now, portion(scan)));
                while watched.samples.len() > 2 && watched.samples[1].0 + MEMORY < now {
                    watched.samples.pop_front();
                }
            }
        }
    }

    /// The service does not answer from now on, or answers again. The time between counts for no scan.
    pub fn hear(&mut self, now: Duration, answers: bool) {
        if !answers {
            self.deaf.get_or_insert(now);
        } else if let Some(since) = self.deaf.take() {
            for watched in self.running.values_mut() {
                watched.moved += now.saturating_sub(since);
            }
        }
    }

    /// Now, or when the service was heard last.
    fn heard(&self, now: Duration) -> Duration {
        self.deaf.map_or(now, |since| since.min(now))
    }

    /// How long a running scan has not moved, once that is long.
    pub fn stalled_for(&self, now: Duration, scan: ScanId) -> Option<Duration> {
        let idle = self.heard(now).checked_sub(self.running.get(&scan)?.moved)?;
        (idle >= STALLED).then_some(idle)
    }

    /// When the next running scan will count as stalled, if it does not move.
    pub fn next_stall(&self, now: Duration) -> Option<Duration> {
        let stalls = self.running.values().map(|watched| watched.moved + STALLED).filter(|&at| at > now);
        stalls.min().filter(|_| self.deaf.is_none())
    }

    /// Whether any scan is stalled.
    pub fn any_stalled(&self, now: Duration) -> bool {
        let heard = self.heard(now);
        self.running.values().any(|watched| watched.moved + STALLED <= heard)
    }

    /// Time until a running scan ends, when it goes on at the speed it had; nothing while that is not known.
    pub fn time_left(&self, now: Duration, scan: ScanId) -> Option<Duration> {
        let samples = &self.running.get(&scan)?.samples;
        let (&(from, low), &(to, high)) = (samples.front()?, samples.back()?);
        let (took, moved) = (to.checked_sub(from)?.as_secs_f64(), high - low);
        if took < 2.0 || moved < 0.01 {
            return None;
        }
        let since = now.saturating_sub(to).as_secs_f64();
        let left = (1.0 - high).max(0.0) * took / moved - since;
        Duration::try_from_secs_f64(left.max(1.0)).ok()
    }

    /// A person has looked at it.
    pub fn see(&mut self, scan: ScanId) {
        self.seen.insert(scan);
    }

    /// Failed, and nobody has looked yet.
    pub fn is_unseen_failure(&self, scan: &Scan) -> bool {
        scan.status_name.is_failure() && !self.seen.contains(&scan.id)
    }

    /// How many scans are in which state.
    pub fn tally(&self, now: Duration, scans: &Table<Scan>) -> Tally {
        let mut tally = Tally::default();
        for scan in scans.items() {
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

    /// Time left in powers of two: rows that swap places with every answer cannot be read. Scans whose speed is not
    /// known yet come behind, by their progress.
    fn coarse_time_left(&self, now: Duration, scan: &Scan) -> u64 {
        match self.time_left(now, scan.id) {
            Some(left) => u64::from(left.as_secs().max(1).ilog2()),
            None => 74 - (scan.progress.clamp(0, 100) / 10) as u64,
        }
    }

    /// The place of a scan in the order of need: failed and unseen, stalled, running by time left, waiting, done.
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

/// The part that is done, as fine as the service tells it.
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
    fn a_scan_that_stands_still_for_40_seconds_is_stalled_until_it_moves() {
        let mut watch = Watch::default();
        watch.take(secs(0), &scans(ScanStatus::Running, 10));
        watch.take(secs(39), &scans(ScanStatus::Running, 10));
        assert_eq!((watch.stalled_for(secs(39), ScanId(1)), watch.next_stall(secs(39))), (None, Some(secs(40))));
        assert_eq!(watch.stalled_for(secs(45), ScanId(1)), Some(secs(45)));
        watch.take(secs(46), &scans(ScanStatus::Running, 11));
        assert_eq!(watch.stalled_for(secs(46), ScanId(1)), None);
    }

    #[test]
    fn time_left_follows_the_speed_and_is_not_told_before_it_is_known() {
        let mut watch = Watch::default();
        watch.take(secs(0), &scans(ScanStatus::Running, 0));
        assert_eq!(watch.time_left(secs(0), ScanId(1)), None);
        watch.take(secs(10), &scans(ScanStatus::Running, 20));
        assert_eq!(watch.time_left(secs(10), ScanId(1)), Some(secs(40)));
        assert_eq!(watch.time_left(secs(20), ScanId(1)), Some(secs(30)));
    }

    #[test]
    fn only_what_fails_while_one_watches_asks_for_a_look() {
        let mut watch = Watch::default();
        let failed = scans(ScanStatus::ConnectionError, 0);
        watch.take(secs(0), &failed);
        assert_eq!(watch.tally(secs(0), &failed).failed, 0);
        let mut watch = Watch::default();
        watch.take(secs(0), &scans(ScanStatus::Running, 0));
        watch.take(secs(1), &failed);
        assert_eq!(watch.tally(secs(1), &failed).failed, 1);
        watch.see(ScanId(1));
        assert_eq!(watch.tally(secs(1), &failed).failed, 0);
    }
}
