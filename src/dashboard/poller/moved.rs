//! Which scans' findings have to be read again.
//!
//! A scan has *moved* when its risk counts changed, or it ended; where a service tells no counts while a scan runs,
//! its finished tests stand in for them. Findings are read for scans that moved, never for all of them over and over.

use crate::contract::{Scan, ScanId, TargetId};
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// What of a scan tells that it moved.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    counts: [Option<i64>; 5],
    tests: Option<i64>,
    ended: bool,
    target: TargetId,
}

impl Mark {
    fn of(scan: &Scan) -> Self {
        let counts = scan.result_summary.by_risk();
        let tests = counts.contains(&None).then_some(scan.num_finished_tests);
        Self { counts, tests, ended: scan.has_ended(), target: scan.target_id }
    }

    /// Nothing can have been found yet.
    fn is_blank(&self) -> bool {
        !self.ended && self.counts.iter().all(|count| *count == Some(0))
    }
}

/// The scans as last seen, and those to be read.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    marks: Option<BTreeMap<ScanId, Mark>>,
    waiting: BTreeSet<ScanId>,
    gone: BTreeSet<ScanId>,
    read: BTreeMap<ScanId, Instant>,
}

impl Moved {
    /// Compares with what was known. The first list only sets the marks: all findings are read after it anyway.
    pub fn learn(&mut self, scans: &Table<Scan>) {
        let fresh: BTreeMap<ScanId, Mark> = scans.items().iter().map(|scan| (scan.id, Mark::of(scan))).collect();
        if let Some(old) = &self.marks {
            for (id, mark) in &fresh {
                let moved = match old.get(id) {
                    Some(before) => before != mark,
                    None => !mark.is_blank(),
                };
                if moved {
                    self.waiting.insert(*id);
                }
            }
            self.gone.extend(old.keys().filter(|id| !fresh.contains_key(id)));
        }
        self.waiting.retain(|id| fresh.contains_key(id));
        self.read.retain(|id, _| fresh.contains_key(id));
        self.marks = Some(fresh);
    }

    /// Whether the scans are known at all.
    pub fn is_primed(&self) -> bool {
        self.marks.is_some()
    }

    /// Asks for the findings of every scan that ended: for services whose findings do not tell their scan.
    pub fn want_ended(&mut self) {
        let ended = self.marks.iter().flatten().filter(|(_, mark)| mark.ended).map(|(id, _)| *id);
        self.waiting.extend(ended);
    }

    /// All findings were read: nothing waits.
    pub fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.gone.clear();
    }

    /// Scans to be read now, newest first and at most `most`, and the scans that are gone.
    pub fn take(&mut self, now: Instant, gap: Duration, most: usize) -> (Vec<(ScanId, TargetId)>, BTreeSet<ScanId>) {
        let due: Vec<ScanId> = self
            .waiting
            .iter()
            .rev()
            .filter(|id| self.due_at(**id, gap).is_none_or(|at| at <= now))
            .take(most)
            .copied()
            .collect();
        for id in &due {
            self.waiting.remove(id);
            self.read.insert(*id, now);
        }
        let target = |id: &ScanId| self.marks.as_ref().and_then(|marks| marks.get(id)).map(|mark| mark.target);
        let due = due.iter().filter_map(|id| Some((*id, target(id)?))).collect();
        (due, std::mem::take(&mut self.gone))
    }

    /// Takes back what was taken and never asked: it is as due as before.
    pub fn untake(&mut self, scans: impl IntoIterator<Item = ScanId>, gone: BTreeSet<ScanId>) {
        for id in scans {
            self.read.remove(&id);
            self.waiting.insert(id);
        }
        self.gone.extend(gone);
    }

    /// Puts scans back that could not be read.
    pub fn put_back(&mut self, scans: impl IntoIterator<Item = ScanId>, gone: BTreeSet<ScanId>) {
        self.waiting.extend(scans);
        self.gone.extend(gone);
    }

    /// When the next scan is due; `now` when one is already.
    pub fn next(&self, now: Instant, gap: Duration) -> Option<Instant> {
        if !self.gone.is_empty() {
            return Some(now);
        }
        self.waiting.iter().map(|id| self.due_at(*id, gap).unwrap_or(now)).min()
    }

    /// A scan that ended is read at once, a running one after a gap; none means at once.
    fn due_at(&self, id: ScanId, gap: Duration) -> Option<Instant> {
        let ended = self.marks.as_ref().and_then(|marks| marks.get(&id)).is_some_and(|mark| mark.ended);
        // Even then not twice within a second: a failing read must not spin.
        self.read.get(&id).map(|read| *read + if ended { Duration::from_secs(1) } else { gap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{ResultSummary, ScanStatus};

    const GAP: Duration = Duration::from_secs(10);

    fn scan(id: i64, status: ScanStatus, high: Option<i64>, tests: i64) -> Scan {
        let result_summary = ResultSummary {
            critical: Some(0),
            high,
            medium: Some(0),
            low: Some(0),
            info: Some(0),
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

    fn due(moved: &mut Moved, now: Instant) -> Vec<i64> {
        moved.take(now, GAP, 8).0.iter().map(|(id, _)| id.0).collect()
    }

    #[test]
    fn a_scan_is_read_when_its_counts_change_and_when_it_ends() {
        let (mut moved, now) = (Moved::default(), Instant::now());
        moved.learn(&Table::new([scan(1, ScanStatus::Running, Some(0), 1), scan(2, ScanStatus::Finished, Some(3), 9)]));
        assert!(moved.is_primed() && due(&mut moved, now).is_empty());
        moved.learn(&Table::new([scan(1, ScanStatus::Running, Some(0), 5), scan(2, ScanStatus::Finished, Some(3), 9)]));
        assert!(due(&mut moved, now).is_empty(), "tests alone say nothing where counts are told");
        moved.learn(&Table::new([scan(1, ScanStatus::Running, Some(1), 5), scan(2, ScanStatus::Finished, Some(3), 9)]));
        assert_eq!(due(&mut moved, now), [1]);
        moved.learn(&Table::new([scan(1, ScanStatus::Running, Some(2), 6), scan(2, ScanStatus::Finished, Some(3), 9)]));
        assert!(due(&mut moved, now + GAP / 2).is_empty());
        assert_eq!(moved.next(now, GAP), Some(now + GAP));
        moved
            .learn(&Table::new([scan(1, ScanStatus::Finished, Some(2), 9), scan(2, ScanStatus::Finished, Some(3), 9)]));
        assert_eq!(due(&mut moved, now + GAP / 2), [1], "its end is not made to wait");
    }

    #[test]
    fn where_counts_are_null_the_tests_tell() {
        let (mut moved, now) = (Moved::default(), Instant::now());
        moved.learn(&Table::new([scan(1, ScanStatus::Running, None, 1)]));
        moved.learn(&Table::new([scan(1, ScanStatus::Running, None, 2)]));
        assert_eq!(due(&mut moved, now), [1]);
    }

    #[test]
    fn a_new_scan_without_findings_is_not_read_and_a_gone_one_is_dropped() {
        let (mut moved, now) = (Moved::default(), Instant::now());
        moved.learn(&Table::new([scan(1, ScanStatus::Finished, Some(1), 9)]));
        moved.learn(&Table::new([scan(2, ScanStatus::Waiting, Some(0), 0), scan(3, ScanStatus::Finished, Some(1), 9)]));
        let (scans, gone) = moved.take(now, GAP, 8);
        assert_eq!(scans, [(ScanId(3), TargetId(30))]);
        assert_eq!(gone, [ScanId(1)].into());
    }
}
