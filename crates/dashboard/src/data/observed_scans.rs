//! The progress of scans over time, as the dashboard has observed it: a bounded number of points
//! for each scan.

use crate::base::{ProgressPoint, ScanHistory};
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus};
use std::collections::HashMap;
use std::time::Duration;

/// Maximum points of a scan. At the limit, every second point is dropped.
const MOST_POINTS: usize = 512;
/// Maximum scans. At the limit, the least recently observed ended scan is dropped.
const MOST_SCANS: usize = 128;
/// A scan that was not observed for this time no longer runs, or is not listed any more.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Maximum duration of a scan in seconds.
const LONGEST: i64 = 10 * 365 * 86_400;

/// The observed scans of this session.
#[derive(Clone, Debug, Default)]
pub struct ObservedScans(HashMap<ScanId, ObservedScan>);

#[derive(Clone, Debug)]
struct ObservedScan {
    history: ScanHistory,
    /// The time of its first point, and how long the scan had run then.
    first: (Duration, u64),
    last: Duration,
    has_ended: bool,
}

impl ObservedScans {
    pub fn of(&self, scan: ScanId) -> Option<&ScanHistory> {
        self.0.get(&scan).map(|observed| &observed.history)
    }

    /// Takes a new list of scans. A scan is observed while it runs, and once more when it has
    /// ended. A scan that the service has started again is observed from the beginning.
    pub fn take(&mut self, now: Duration, scans: &Table<Scan>) {
        for scan in scans.items().iter() {
            let is_running = scan.status_name == ScanStatus::Running;
            let is_new = self
                .0
                .get(&scan.id)
                .is_none_or(|observed| observed.is_restarted(scan));
            if is_running && is_new && (self.0.contains_key(&scan.id) || self.has_room(now)) {
                let (first, history) = ((now, seconds(scan)), ScanHistory::default());
                self.0.insert(
                    scan.id,
                    ObservedScan {
                        history,
                        first,
                        last: now,
                        has_ended: false,
                    },
                );
            }
            if let Some(observed) = self
                .0
                .get_mut(&scan.id)
                .filter(|observed| !observed.has_ended)
                && (is_running || scan.has_ended())
            {
                observed.record(now, scan);
                observed.has_ended = scan.has_ended();
            }
        }
    }

    /// Whether another scan can be observed. A scan that no longer runs makes room for it.
    fn has_room(&mut self, now: Duration) -> bool {
        if self.0.len() < MOST_SCANS {
            return true;
        }
        let is_over =
            |observed: &ObservedScan| observed.has_ended || observed.last + FORGOTTEN < now;
        let over = self.0.iter().filter(|(_, observed)| is_over(observed));
        let oldest = over
            .min_by_key(|(_, observed)| observed.last)
            .map(|(id, _)| *id);
        oldest.is_some_and(|oldest| self.0.remove(&oldest).is_some())
    }
}

impl ObservedScan {
    /// Whether the service has started the scan again.
    fn is_restarted(&self, scan: &Scan) -> bool {
        let tests = self.history.points.last().map_or(0, |point| point.tests);
        (scan.num_finished_tests.max(0) as u64) < tests
    }

    fn record(&mut self, now: Duration, scan: &Scan) {
        self.last = now;
        let history = &mut self.history;
        // The service may not report how long a scan runs.
        let (from, elapsed) = self.first;
        let elapsed = match seconds(scan) {
            0 => elapsed + now.saturating_sub(from).as_secs(),
            reported => reported,
        };
        let elapsed = elapsed.max(history.until);
        let found: i64 = scan
            .result_summary
            .by_risk()
            .into_iter()
            .flatten()
            .fold(0, i64::saturating_add);
        let point = ProgressPoint {
            elapsed,
            percent: scan.progress.clamp(0, 100) as u64,
            tests: scan.num_finished_tests.max(0) as u64,
            found: found.max(0) as u64,
        };
        history.version += 1;
        history.until = elapsed;
        history.all_tests = scan.num_tests.max(0) as u64;
        let is_new = |last: &ProgressPoint| ProgressPoint { elapsed, ..*last } != point;
        if history.points.last().is_none_or(is_new) {
            history.points.push(point);
        }
        if history.points.len() > MOST_POINTS {
            let last = history.points.len() - 1;
            let mut at = 0;
            history.points.retain(|_| {
                at += 1;
                (at - 1) % 2 == 0 || at - 1 == last
            });
        }
    }
}

/// How long a scan has run, as the service reports it, at most ten years.
fn seconds(scan: &Scan) -> u64 {
    scan.duration.clamp(0, LONGEST) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(id: i64, status: ScanStatus, percent: i64) -> Scan {
        Scan {
            id: ScanId(id),
            status_name: status,
            progress: percent,
            num_tests: 10,
            ..Scan::default()
        }
    }

    fn observed(lists: &[(u64, Scan)]) -> ObservedScans {
        let mut observed = ObservedScans::default();
        for (now, scan) in lists {
            observed.take(Duration::from_secs(*now), &Table::new([scan.clone()]));
        }
        observed
    }

    fn points(observed: &ObservedScans, id: i64) -> Vec<(u64, u64)> {
        let history = observed.of(ScanId(id));
        history
            .map(|all| {
                all.points
                    .iter()
                    .map(|point| (point.elapsed, point.percent))
                    .collect()
            })
            .unwrap_or_default()
    }

    #[test]
    fn scan_is_observed_while_it_runs_and_at_its_end() {
        use ScanStatus::{Finished, Running, Waiting};
        let lists = [
            (5, scan(1, Waiting, 0)),
            (10, scan(1, Running, 10)),
            (20, scan(1, Running, 10)),
            (30, scan(1, Running, 60)),
            (40, scan(1, Finished, 100)),
            (50, scan(1, Finished, 100)),
        ];
        let all = observed(&lists);
        assert_eq!(points(&all, 1), [(0, 10), (20, 60), (30, 100)]);
        assert_eq!(all.of(ScanId(1)).map(|history| history.until), Some(30));
        assert_eq!(all.of(ScanId(2)), None);
        assert_eq!(
            observed(&[(5, scan(1, Finished, 100))]).of(ScanId(1)),
            None,
            "nothing was observed"
        );
    }

    #[test]
    fn elapsed_time_is_that_of_the_service_if_it_reports_one() {
        let at = |duration, percent| Scan {
            duration,
            ..scan(1, ScanStatus::Running, percent)
        };
        assert_eq!(
            points(
                &observed(&[(0, at(30, 5)), (2, at(300, 40)), (3, at(0, 50))]),
                1
            ),
            [(30, 5), (300, 40), (300, 50)]
        );
    }

    #[test]
    fn scan_that_was_started_again_is_observed_from_the_beginning() {
        let at = |status, duration, percent, tests| Scan {
            duration,
            num_finished_tests: tests,
            ..scan(1, status, percent)
        };
        use ScanStatus::{Running, Waiting};
        let lists = [
            (600, at(Running, 600, 40, 4)),
            (601, at(Waiting, 0, 0, 0)),
            (605, at(Running, 3, 0, 0)),
            (610, at(Running, 8, 20, 2)),
        ];
        assert_eq!(points(&observed(&lists), 1), [(3, 0), (8, 20)]);
    }

    #[test]
    fn running_scans_beyond_the_limit_leave_the_others_observed() {
        let mut all = ObservedScans::default();
        let running =
            |percent| Table::new((1..=200).map(|id| scan(id, ScanStatus::Running, percent)));
        all.take(Duration::from_secs(1), &running(1));
        all.take(Duration::from_secs(2), &running(2));
        assert_eq!(all.0.len(), MOST_SCANS);
        assert!(
            all.0
                .values()
                .all(|observed| observed.history.points.len() == 2)
        );
    }

    #[test]
    fn points_and_scans_are_bounded() {
        let mut all = ObservedScans::default();
        for step in 0..5_000 {
            let scan = Scan {
                num_finished_tests: step,
                ..scan(1, ScanStatus::Running, 0)
            };
            all.take(Duration::from_secs(step as u64), &Table::new([scan]));
        }
        let history = all.of(ScanId(1)).unwrap();
        assert!(
            (200..=MOST_POINTS).contains(&history.points.len()),
            "{}",
            history.points.len()
        );
        assert_eq!(history.points.first().map(|point| point.tests), Some(0));
        assert_eq!(history.points.last().map(|point| point.tests), Some(4_999));
        for id in 2..500 {
            all.take(
                Duration::from_secs(5_000 + id as u64),
                &Table::new([scan(id, ScanStatus::Running, 0)]),
            );
        }
        assert_eq!(all.0.len(), MOST_SCANS);
        assert!(all.of(ScanId(1)).is_none() && all.of(ScanId(499)).is_some());
    }
}
