//! The scans whose findings have to be fetched again.
//!
//! A scan has *moved* when its risk counts changed or it ended. If a service reports no count at
//! all for running scans, the number of finished tests is used instead. Findings are fetched for
//! moved scans only; for running scans together, and the less often the more findings there are.

use crate::base::plan::SETTLING;
use crate::poller::by_scan::ScanByScan;
use scandeck_domain::table::Table;
use scandeck_wire::contract::{Scan, ScanId, TargetId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// The least time between two fetches of the findings of a running scan, for each of its findings.
const GAP_PER_FINDING: Duration = Duration::from_millis(2);
/// The least time for each finding of the workspace, because each fetch rebuilds the tables of all
/// findings. It is a hundred times the cost of a rebuild, so rebuilds take 1% of the time.
const GAP_PER_ROW: Duration = Duration::from_micros(500);
/// The time after which a fetch proves that the findings of an ended scan are all. The times of the
/// service are rounded.
const SETTLED: Duration = Duration::from_secs(SETTLING as u64 + 2);
/// The longest such time.
const LONGEST_GAP: Duration = Duration::from_secs(60);

/// The values of a scan that show whether it moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    counts: [Option<i64>; 5],
    tests: Option<i64>,
    ended: bool,
    target: TargetId,
}

impl Mark {
    fn of(scan: &Scan) -> Self {
        let counts = scan.result_summary.by_risk();
        let tests = counts
            .iter()
            .all(Option::is_none)
            .then_some(scan.num_finished_tests);
        Self {
            counts,
            tests,
            ended: scan.has_ended(),
            target: scan.target_id,
        }
    }

    /// The time between two fetches of its findings, for a pace of `gap`. An ended scan has one
    /// too: a failing request must not be repeated without pause.
    fn gap(&self, gap: Duration) -> Duration {
        if self.ended {
            return Duration::from_secs(1);
        }
        let findings = u32::try_from(self.findings()).unwrap_or(u32::MAX);
        gap.max(GAP_PER_FINDING.saturating_mul(findings).min(LONGEST_GAP))
    }

    /// The findings that it reports.
    pub fn findings(&self) -> usize {
        self.counts
            .iter()
            .flatten()
            .map(|count| usize::try_from(*count).unwrap_or(0))
            .sum()
    }

    /// Whether it reports that there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == Some(0))
    }

    /// Whether the scan has no findings yet.
    fn is_blank(&self) -> bool {
        !self.ended && self.is_empty()
    }
}

/// The time between two fetches for running scans, for a pace of `gap` in a workspace with so many
/// findings.
pub(crate) fn gap_with_rows(gap: Duration, rows: usize) -> Duration {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    gap.max(GAP_PER_ROW.saturating_mul(rows).min(LONGEST_GAP))
}

/// The scans as last seen, and the scans to be fetched.
#[derive(Debug, Default)]
pub(crate) struct MovedScans {
    pub(super) marks: Option<BTreeMap<ScanId, Mark>>,
    pub(super) waiting: BTreeSet<ScanId>,
    pub(super) removed: BTreeSet<ScanId>,
    pub(super) read: BTreeMap<ScanId, Instant>,
    /// When findings of a running scan were fetched last.
    last_read: Option<Instant>,
    /// Ended scans whose counts did not confirm their findings, and when these are fetched once
    /// more.
    late: BTreeMap<ScanId, Instant>,
    /// The scans that were in `late`.
    settled: BTreeSet<ScanId>,
    pub(super) by_scan: Option<ScanByScan>,
}

impl MovedScans {
    /// Compares with the known scans. The first list only sets the marks, because all findings are
    /// fetched after it; unless they are read scan by scan.
    pub fn learn(&mut self, scans: &Table<Scan>) {
        let fresh: BTreeMap<ScanId, Mark> = scans
            .items()
            .iter()
            .map(|scan| (scan.id, Mark::of(scan)))
            .collect();
        if let Some(old) = &self.marks {
            for (id, mark) in &fresh {
                let moved = match old.get(id) {
                    Some(before) => before != mark,
                    None => !mark.is_blank(),
                };
                if moved {
                    self.waiting.insert(*id);
                    self.late.remove(id);
                }
            }
            self.removed
                .extend(old.keys().filter(|id| !fresh.contains_key(id)));
        }
        self.waiting.retain(|id| fresh.contains_key(id));
        self.read.retain(|id, _| fresh.contains_key(id));
        self.late.retain(|id, _| fresh.contains_key(id));
        self.settled.retain(|id| fresh.contains_key(id));
        let is_first = self.marks.replace(fresh).is_none();
        // The list of findings can be too large before the scans are known.
        if is_first {
            self.request_unread();
        }
    }

    /// Whether the scans are known.
    pub fn is_primed(&self) -> bool {
        self.marks.is_some()
    }

    /// Requests the findings of all ended scans, for services whose findings do not report their
    /// scan.
    pub fn request_ended(&mut self) {
        let ended = self
            .marks
            .iter()
            .flatten()
            .filter(|(_, mark)| mark.ended)
            .map(|(id, _)| *id);
        self.waiting.extend(ended);
    }

    /// Findings of a scan were fetched. If it has ended and its counts do not confirm that they are
    /// all, they are fetched once more when the time of the fetch does.
    pub fn settle(&mut self, id: ScanId, found: impl FnOnce() -> i64, now: Instant) {
        let Some(mark) = self.mark(id).filter(|mark| mark.ended) else {
            return;
        };
        let reported: Option<i64> = mark.counts.iter().copied().sum();
        if reported.is_none_or(|reported| found() < reported) && self.settled.insert(id) {
            self.late.insert(id, now + SETTLED);
            self.waiting.insert(id);
        }
    }

    /// Clears the waiting scans, because all findings are fetched.
    pub fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.removed.clear();
        self.late.clear();
        self.settled.clear();
    }

    /// At most `most` scans to fetch now, the least recently fetched first, and the scans that no
    /// longer exist.
    pub fn take(
        &mut self,
        now: Instant,
        gap: Duration,
        most: usize,
    ) -> (Vec<(ScanId, TargetId)>, BTreeSet<ScanId>) {
        let mut due = self.due(now, gap);
        if due.len() > most {
            due.sort_by_key(|id| self.read.get(id).copied());
            due.truncate(most);
        }
        self.taken(due, now)
    }

    /// The scans that can be fetched now, the newest first.
    pub(super) fn due(&self, now: Instant, gap: Duration) -> Vec<ScanId> {
        let is_due = |id: &&ScanId| self.due_at(**id, gap).is_none_or(|at| at <= now);
        self.waiting.iter().rev().filter(is_due).copied().collect()
    }

    /// These scans are fetched now. Returns them, and the scans that no longer exist.
    pub(super) fn taken(
        &mut self,
        due: Vec<ScanId>,
        now: Instant,
    ) -> (Vec<(ScanId, TargetId)>, BTreeSet<ScanId>) {
        for id in &due {
            self.waiting.remove(id);
            self.late.remove(id);
            // The first findings of a scan do not delay the others.
            let is_first = self.read.insert(*id, now).is_none();
            if !is_first && self.mark(*id).is_some_and(|mark| !mark.ended) {
                self.last_read = Some(now);
            }
        }
        let target = |id: &ScanId| self.mark(*id).map(|mark| mark.target);
        let due = due
            .iter()
            .filter_map(|id| Some((*id, target(id)?)))
            .collect();
        (due, std::mem::take(&mut self.removed))
    }

    /// Returns scans of [`take`](Self::take) that were not requested; they are as due as before.
    pub fn untake(&mut self, scans: impl IntoIterator<Item = ScanId>, removed: BTreeSet<ScanId>) {
        for id in scans {
            self.read.remove(&id);
            self.waiting.insert(id);
        }
        self.removed.extend(removed);
    }

    /// Returns scans whose request failed.
    pub fn put_back(&mut self, scans: impl IntoIterator<Item = ScanId>, removed: BTreeSet<ScanId>) {
        self.waiting.extend(scans);
        self.removed.extend(removed);
    }

    /// Whether the findings of a scan must be read.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.removed.is_empty()
    }

    /// The time at which the next scan is due; `now` if one is due already.
    pub fn next(&self, now: Instant, gap: Duration) -> Option<Instant> {
        if !self.removed.is_empty() {
            return Some(now);
        }
        self.waiting
            .iter()
            .map(|id| self.due_at(*id, gap).unwrap_or(now))
            .min()
    }

    /// The time at which a scan is due, or `None` for at once. Running scans that were read before
    /// are due together.
    fn due_at(&self, id: ScanId, gap: Duration) -> Option<Instant> {
        if let Some(late) = self.late.get(&id) {
            return Some(*late);
        }
        let (read, mark) = (*self.read.get(&id)?, self.mark(id));
        let due = read + mark.map_or(gap, |mark| mark.gap(gap));
        let of_all = self
            .last_read
            .filter(|_| mark.is_some_and(|mark| !mark.ended))
            .map(|last| last + gap);
        Some(of_all.map_or(due, |at| at.max(due)))
    }

    pub(super) fn mark(&self, id: ScanId) -> Option<&Mark> {
        self.marks.as_ref()?.get(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{ResultSummary, ScanStatus};

    const GAP: Duration = Duration::from_secs(10);

    fn scan(id: i64, status: ScanStatus, high: Option<i64>, tests: i64) -> Scan {
        let other = high.map(|_| 0);
        let result_summary = ResultSummary {
            critical: other,
            high,
            medium: other,
            low: other,
            info: other,
            ..ResultSummary::default()
        };
        let target_id = TargetId(id * 10);
        Scan {
            id: ScanId(id),
            target_id,
            status_name: status,
            num_finished_tests: tests,
            result_summary,
            ..Scan::default()
        }
    }

    fn due(moved: &mut MovedScans, now: Instant) -> Vec<i64> {
        moved
            .take(now, GAP, 8)
            .0
            .iter()
            .map(|(id, _)| id.0)
            .collect()
    }

    #[test]
    fn scan_is_fetched_when_counts_change_and_when_it_ends() {
        let (mut moved, now) = (MovedScans::default(), Instant::now());
        moved.learn(&Table::new([
            scan(1, ScanStatus::Running, Some(0), 1),
            scan(2, ScanStatus::Finished, Some(3), 9),
        ]));
        assert!(moved.is_primed() && due(&mut moved, now).is_empty());
        moved.learn(&Table::new([
            scan(1, ScanStatus::Running, Some(0), 5),
            scan(2, ScanStatus::Finished, Some(3), 9),
        ]));
        assert!(
            due(&mut moved, now).is_empty(),
            "finished tests do not matter where counts are reported"
        );
        moved.learn(&Table::new([
            scan(1, ScanStatus::Running, Some(1), 5),
            scan(2, ScanStatus::Finished, Some(3), 9),
        ]));
        assert_eq!(due(&mut moved, now), [1]);
        moved.learn(&Table::new([
            scan(1, ScanStatus::Running, Some(2), 6),
            scan(2, ScanStatus::Finished, Some(3), 9),
        ]));
        assert!(due(&mut moved, now + GAP / 2).is_empty());
        assert_eq!(moved.next(now, GAP), Some(now + GAP));
        moved.learn(&Table::new([
            scan(1, ScanStatus::Finished, Some(2), 9),
            scan(2, ScanStatus::Finished, Some(3), 9),
        ]));
        assert_eq!(
            due(&mut moved, now + GAP / 2),
            [1],
            "an ended scan does not wait for the gap"
        );
    }

    #[test]
    fn running_scan_with_many_findings_is_fetched_less_often() {
        let (mut moved, now) = (MovedScans::default(), Instant::now());
        let found = |moved: &mut MovedScans, status: ScanStatus, high| {
            moved.learn(&Table::new([scan(1, status, Some(high), 1)]));
        };
        found(&mut moved, ScanStatus::Running, 9_999);
        found(&mut moved, ScanStatus::Running, 10_000);
        assert_eq!(due(&mut moved, now), [1]);
        found(&mut moved, ScanStatus::Running, 10_001);
        assert_eq!(moved.next(now, GAP), Some(now + GAP_PER_FINDING * 10_001));
        found(&mut moved, ScanStatus::Running, 1_000_000);
        assert_eq!(moved.next(now, GAP), Some(now + LONGEST_GAP));
        found(&mut moved, ScanStatus::Running, 10);
        assert_eq!(moved.next(now, GAP), Some(now + GAP));
        found(&mut moved, ScanStatus::Finished, 1_000_000);
        assert_eq!(
            due(&mut moved, now + Duration::from_secs(1)),
            [1],
            "an ended scan is read at once"
        );
    }

    #[test]
    fn running_scans_that_were_read_before_are_fetched_together() {
        let (mut moved, start) = (MovedScans::default(), Instant::now());
        let found = |moved: &mut MovedScans, counts: [i64; 2], second| {
            moved.learn(&Table::new([
                scan(1, ScanStatus::Running, Some(counts[0]), 1),
                scan(2, second, Some(counts[1]), 1),
            ]));
        };
        found(&mut moved, [1, 1], ScanStatus::Running);
        found(&mut moved, [2, 1], ScanStatus::Running);
        assert_eq!(due(&mut moved, start), [1]);
        found(&mut moved, [2, 2], ScanStatus::Running);
        assert_eq!(due(&mut moved, start + GAP / 2), [2], "its first findings");
        found(&mut moved, [3, 3], ScanStatus::Running);
        assert_eq!(
            due(&mut moved, start + GAP),
            [1],
            "the first findings of another scan delay nothing"
        );
        found(&mut moved, [4, 3], ScanStatus::Running);
        assert!(due(&mut moved, start + GAP * 3 / 2).is_empty());
        assert_eq!(due(&mut moved, start + GAP * 2), [2, 1]);
        found(&mut moved, [5, 4], ScanStatus::Finished);
        let soon = start + GAP * 2 + Duration::from_secs(1);
        assert_eq!(
            due(&mut moved, soon),
            [2],
            "an ended scan waits for nothing"
        );
    }

    #[test]
    fn skipped_running_scans_are_fetched_next() {
        let (mut moved, start) = (MovedScans::default(), Instant::now());
        let found = |moved: &mut MovedScans, count| {
            moved.learn(&Table::new(
                (1..=3).map(|id| scan(id, ScanStatus::Running, Some(count), 1)),
            ));
        };
        let take = |moved: &mut MovedScans, at| -> Vec<i64> {
            moved
                .take(at, GAP, 2)
                .0
                .iter()
                .map(|(id, _)| id.0)
                .collect()
        };
        found(&mut moved, 1);
        found(&mut moved, 2);
        assert_eq!(
            (take(&mut moved, start), take(&mut moved, start)),
            (vec![3, 2], vec![1])
        );
        found(&mut moved, 3);
        assert_eq!(take(&mut moved, start + GAP), [3, 2]);
        found(&mut moved, 4);
        assert_eq!(take(&mut moved, start + GAP * 2), [1, 3]);
    }

    #[test]
    fn findings_of_a_large_workspace_are_fetched_less_often() {
        assert_eq!(gap_with_rows(GAP, 100), GAP);
        assert_eq!(gap_with_rows(GAP, 50_000), Duration::from_secs(25));
        assert_eq!(gap_with_rows(GAP, 1_000_000), LONGEST_GAP);
    }

    #[test]
    fn ended_scan_without_confirming_counts_is_fetched_once_more() {
        for (high, found, is_repeated) in [(Some(2), 2, false), (Some(2), 1, true), (None, 2, true)]
        {
            let (mut moved, now) = (MovedScans::default(), Instant::now());
            moved.learn(&Table::new([scan(1, ScanStatus::Running, high, 1)]));
            moved.learn(&Table::new([scan(1, ScanStatus::Finished, high, 2)]));
            assert_eq!(due(&mut moved, now), [1]);
            moved.settle(ScanId(1), || found, now);
            assert_eq!(
                moved.next(now, GAP),
                is_repeated.then(|| now + SETTLED),
                "{high:?} {found}"
            );
            assert_eq!(
                due(&mut moved, now + SETTLED),
                vec![1; usize::from(is_repeated)]
            );
            moved.settle(ScanId(1), || found, now + SETTLED);
            assert_eq!(moved.next(now, GAP), None, "once");
        }
    }

    #[test]
    fn scan_without_counts_is_fetched_when_tests_finish() {
        let (mut moved, now) = (MovedScans::default(), Instant::now());
        moved.learn(&Table::new([scan(1, ScanStatus::Running, None, 1)]));
        moved.learn(&Table::new([scan(1, ScanStatus::Running, None, 2)]));
        assert_eq!(due(&mut moved, now), [1]);
    }

    #[test]
    fn scan_with_some_counts_is_not_fetched_when_tests_finish() {
        let (mut moved, now) = (MovedScans::default(), Instant::now());
        let partly = |tests| {
            let mut scan = scan(1, ScanStatus::Running, Some(1), tests);
            scan.result_summary.critical = None;
            Table::new([scan])
        };
        moved.learn(&partly(1));
        moved.learn(&partly(2));
        assert!(due(&mut moved, now).is_empty());
    }

    #[test]
    fn blank_scan_is_not_fetched_and_deleted_scan_is_dropped() {
        let (mut moved, now) = (MovedScans::default(), Instant::now());
        moved.learn(&Table::new([scan(1, ScanStatus::Finished, Some(1), 9)]));
        moved.learn(&Table::new([
            scan(2, ScanStatus::Waiting, Some(0), 0),
            scan(3, ScanStatus::Finished, Some(1), 9),
        ]));
        let (scans, removed) = moved.take(now, GAP, 8);
        assert_eq!(scans, [(ScanId(3), TargetId(30))]);
        assert_eq!(removed, [ScanId(1)].into());
    }
}
