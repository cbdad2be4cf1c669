//! Findings that are too many for one answer: they are read scan by scan, the newest scans first,
//! until the dashboard holds as many as it can.
//!
//! ```text
//!   counts of all scans, or a list that is too large ─► begin ─► waiting ─► parts ─► loaded
//!                                                                   ▲                  │ full
//!              a new scan, or one that a query names ───────────────┘    unread ◄──────┘ the oldest make room
//! ```
//!
//! A part has half as many findings as are loaded, because each part rebuilds the tables.

use crate::base::UnreadScans;
use crate::poller::MovedScans;
use crate::poller::moved_scans::Mark;
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Table;
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::{ScanId, TargetId};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Most findings that are held. With them and 100,000 captures the dashboard needs less than 400
/// MB, measured with distinct names and hosts.
pub(crate) const MOST_FINDINGS: usize = if cfg!(test) { 4_000 } else { 375_000 };
/// Least findings of a part, as far as there are so many.
const LEAST_PART: usize = MOST_FINDINGS / 16;

/// The scans that were read one by one.
#[derive(Debug, Default)]
pub(super) struct ScanByScan {
    loaded: BTreeSet<ScanId>,
    /// Scans that a query names.
    wanted: BTreeSet<ScanId>,
    /// No more findings fit, so that older scans make room for requested ones.
    is_full: bool,
    /// The answers of several scans together are too large.
    one_at_a_time: bool,
    /// The list is read whole again when all scans report fewer findings than this.
    whole_below: usize,
    refused: Option<RefusedList>,
}

/// A list that was too large when its findings were read again.
#[derive(Debug)]
struct RefusedList {
    problem: Arc<Problem>,
    /// The scans whose findings were not read since, so that their rows are stale.
    scans: BTreeSet<ScanId>,
}

impl MovedScans {
    /// Whether findings are read scan by scan.
    pub fn is_by_scan(&self) -> bool {
        self.by_scan.is_some()
    }

    /// The findings that all scans report.
    pub fn counted(&self) -> usize {
        self.marks
            .iter()
            .flatten()
            .map(|(_, mark)| mark.findings())
            .sum()
    }

    /// From now on findings are read scan by scan, beginning with those that are not known.
    pub fn read_by_scan(&mut self, known: Option<&Table<ListedFinding>>) {
        let scans = known
            .into_iter()
            .flat_map(|known| known.items())
            .filter_map(|finding| finding.task_id());
        self.by_scan = Some(ScanByScan {
            loaded: scans.collect(),
            ..ScanByScan::default()
        });
        self.request_unread();
    }

    /// Whether the scans report more findings than are held.
    pub fn is_over_limit(&self) -> bool {
        self.counted() > MOST_FINDINGS
    }

    /// Ends the reading scan by scan when there are few findings again. Returns whether it ended:
    /// then the list is read whole.
    pub fn end_by_scan(&mut self) -> bool {
        let counted = self.counted();
        self.by_scan
            .take_if(|by_scan| counted < by_scan.whole_below)
            .is_some()
    }

    /// The rows of all scans that were read are stale until they are read again.
    pub fn note_refused(&mut self, problem: Arc<Problem>) {
        if let Some(by_scan) = &mut self.by_scan {
            by_scan.refused = Some(RefusedList {
                problem,
                scans: by_scan.loaded.clone(),
            });
        }
    }

    /// Why some rows are stale, as long as the findings of their scans wait to be read again.
    pub fn refusal(&mut self) -> Option<Arc<Problem>> {
        let by_scan = self.by_scan.as_mut()?;
        let refused = by_scan.refused.as_mut()?;
        refused.scans.retain(|id| self.waiting.contains(id));
        if refused.scans.is_empty() {
            by_scan.refused = None;
        }
        by_scan
            .refused
            .as_ref()
            .map(|refused| Arc::clone(&refused.problem))
    }

    /// Requests the findings of all scans that were read, and of others as far as they fit.
    pub fn request_loaded(&mut self) {
        let Some(by_scan) = &mut self.by_scan else {
            return;
        };
        by_scan.is_full = false;
        self.waiting.extend(&by_scan.loaded);
        self.request_unread();
    }

    /// Requests the findings of all scans that were not read. With the scans, it is known when the
    /// list is read whole again.
    pub(super) fn request_unread(&mut self) {
        // A list whose answer was too large below the limit has to shrink much before it is tried
        // again.
        let whole_below = if self.is_over_limit() {
            MOST_FINDINGS + 1
        } else {
            self.counted() / 2
        };
        if let Some(by_scan) = self
            .by_scan
            .as_mut()
            .filter(|by_scan| by_scan.whole_below == 0)
        {
            by_scan.whole_below = whole_below;
        }
        let unread: Vec<ScanId> = self.unread_marks().map(|(id, _)| id).collect();
        self.waiting.extend(unread);
    }

    /// The scans with findings that were not read.
    fn unread_marks(&self) -> impl Iterator<Item = (ScanId, &Mark)> {
        let is_unread = |by_scan: &ScanByScan, id: &ScanId, mark: &Mark| {
            !mark.is_empty() && !by_scan.loaded.contains(id)
        };
        self.by_scan.iter().flat_map(move |by_scan| {
            let marks = self.marks.iter().flatten().map(|(id, mark)| (*id, mark));
            marks.filter(move |(id, mark)| is_unread(by_scan, id, mark))
        })
    }

    /// Requests scans that a query names.
    pub fn want(&mut self, scans: &[ScanId]) {
        let Some(by_scan) = &mut self.by_scan else {
            return;
        };
        let is_known = |id: &ScanId| self.marks.iter().any(|marks| marks.contains_key(id));
        by_scan.wanted = scans.iter().copied().filter(is_known).collect();
        self.waiting
            .extend(by_scan.wanted.difference(&by_scan.loaded));
    }

    /// The findings of these scans were read.
    pub fn note_loaded(&mut self, scans: impl IntoIterator<Item = ScanId>) {
        if let Some(by_scan) = &mut self.by_scan {
            by_scan.loaded.extend(scans);
        }
    }

    /// The answer for these scans was too large. Returns whether there are smaller parts.
    pub fn note_too_large(&mut self, scans: &[(ScanId, TargetId)]) -> bool {
        let Some(by_scan) = &mut self.by_scan else {
            return true;
        };
        by_scan.one_at_a_time = true;
        scans.len() > 1
    }

    /// The scans whose findings were not read, if there are any.
    pub fn unread(&self) -> Option<UnreadScans> {
        let unread = self.unread_marks();
        let (ids, findings): (BTreeSet<ScanId>, Vec<usize>) =
            unread.map(|(id, mark)| (id, mark.findings())).unzip();
        let is_reading = !ids.is_disjoint(&self.waiting);
        (!ids.is_empty()).then(|| UnreadScans {
            ids: Arc::new(ids),
            findings: findings.iter().sum(),
            is_reading,
        })
    }

    /// The scans of the next part, at most `most`, and the scans whose findings are dropped. `rows`
    /// findings are known.
    pub fn take_part(
        &mut self,
        now: Instant,
        gap: Duration,
        most: usize,
        rows: usize,
    ) -> (Vec<(ScanId, TargetId)>, BTreeSet<ScanId>) {
        let Some(mut by_scan) = self.by_scan.take() else {
            return self.take(now, gap, most);
        };
        let (mut part, is_over) = self.part(&by_scan, now, gap, most, rows);
        if part.is_empty() && is_over {
            by_scan.is_full = true;
            // Loaded scans make room for those that began later, unless these were requested in
            // vain.
            let newest = by_scan.loaded.last().copied();
            let is_new = |id: &ScanId| {
                newest.is_some_and(|newest| *id > newest) && !self.read.contains_key(id)
            };
            let makes_room = |id: &ScanId| is_new(id) && self.findings_of(*id) <= MOST_FINDINGS;
            let remains = |id: &ScanId| {
                by_scan.loaded.contains(id) || by_scan.wanted.contains(id) || makes_room(id)
            };
            self.waiting = self.waiting.iter().copied().filter(remains).collect();
            (part, _) = self.part(&by_scan, now, gap, most, rows);
        }
        let fresh: usize = part
            .iter()
            .filter(|id| !by_scan.loaded.contains(id))
            .map(|id| self.findings_of(*id))
            .sum();
        // Those of a request that was not sent, or failed, are among the rows still.
        let removed: usize = self.removed.iter().map(|id| self.findings_of(*id)).sum();
        let mut excess = (rows + fresh).saturating_sub(MOST_FINDINGS + removed);
        for id in by_scan.loaded.clone() {
            if excess == 0 {
                break;
            }
            if !part.contains(&id) && !by_scan.wanted.contains(&id) {
                excess = excess.saturating_sub(self.findings_of(id));
                by_scan.loaded.remove(&id);
                self.removed.insert(id);
            }
        }
        self.by_scan = Some(by_scan);
        self.taken(part, now)
    }

    /// Scans that are due: wanted ones first, then those never read, the newest first. Until the
    /// limit is reached, only those that fit; and whether others did not.
    fn part(
        &self,
        by_scan: &ScanByScan,
        now: Instant,
        gap: Duration,
        most: usize,
        rows: usize,
    ) -> (Vec<ScanId>, bool) {
        let mut due = self.due(now, gap);
        due.sort_by_key(|id| (!by_scan.wanted.contains(id), self.read.get(id).copied()));
        let enough = LEAST_PART.max(rows / 2);
        let most = if by_scan.one_at_a_time { 1 } else { most };
        let (mut part, mut findings, mut fresh, mut is_over) = (Vec::new(), 0, 0, false);
        for id in due {
            if part.len() == most || findings >= enough {
                break;
            }
            let count = self.findings_of(id);
            let is_fresh = !by_scan.loaded.contains(&id);
            if is_fresh && !by_scan.is_full && rows + fresh + count > MOST_FINDINGS {
                is_over = true;
                continue;
            }
            findings += count;
            fresh += if is_fresh { count } else { 0 };
            part.push(id);
        }
        (part, is_over)
    }

    fn findings_of(&self, id: ScanId) -> usize {
        self.mark(id).map_or(0, |mark| mark.findings())
    }
}
