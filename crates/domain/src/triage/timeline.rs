//! The scans of an issue in order of time, also those that did not report it.
//!
//! ```text
//!   scans of a target and tool, from the first that reported the issue:
//!     reported it ─► seen      would have reported it ─► absent      tested for less, failed ─► not retested, with the reason
//!     running, or not read yet ─► left out
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compare::occurrences;
use super::correlate::CorrelationInput;
use super::coverage::{self, RetestedClass};
use super::issue::Issue;
use super::listed::ListedFinding;
use super::scan_index::{IndexedScan, ScanIndex, SeriesKey};
use crate::finding::RetestGap;
use scandeck_wire::contract::{Scan, ScanId, Stamp};

/// What a scan says about an issue.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanSighting {
    /// The finding as this scan reported it.
    Seen(Arc<ListedFinding>),
    /// The scan would have reported it.
    Absent,
    /// The scan proves nothing, with the reason.
    NotRetested(RetestGap),
}

/// One scan in the history of an issue.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    /// The scan, if the finding names it.
    pub scan: Option<ScanId>,
    /// Start of the scan.
    pub at: Option<Stamp>,
    pub outcome: ScanSighting,
}

impl ScanIndex {
    /// The history of an issue, latest first.
    pub fn timeline(&self, input: &CorrelationInput, issue: &Issue) -> Vec<TimelineEntry> {
        let mut entries = Vec::new();
        let mut seen: BTreeMap<SeriesKey, BTreeSet<ScanId>> = BTreeMap::new();
        for finding in occurrences(issue) {
            let scan = finding.task_id().and_then(|id| input.scans.get(id));
            if let Some(scan) = scan {
                seen.entry((scan.target_id, scan.tool_id))
                    .or_default()
                    .insert(scan.id);
            }
            let at = scan.and_then(|scan| scan.start_time);
            let outcome = ScanSighting::Seen(Arc::clone(finding));
            entries.push(TimelineEntry {
                scan: finding.task_id(),
                at,
                outcome,
            });
        }
        for (key, seen) in &seen {
            entries.extend(
                self.series
                    .get(key)
                    .into_iter()
                    .flat_map(|scans| self.without(issue, scans, seen)),
            );
        }
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.at.is_none(), entry.at, entry.scan)));
        entries
    }

    /// The scans of a series that did not report the issue, after the first that did.
    fn without(
        &self,
        issue: &Issue,
        scans: &[IndexedScan],
        seen: &BTreeSet<ScanId>,
    ) -> Vec<TimelineEntry> {
        let mut entries = Vec::new();
        let mut last: Option<&Scan> = None;
        for IndexedScan { scan, is_over } in scans {
            if seen.contains(&scan.id) {
                last = Some(scan);
            } else if let Some(last) = last.filter(|_| *is_over)
                && !coverage::leaves_out(scan, RetestedClass::of(issue))
            {
                let outcome = self.outcome(issue, scan, last);
                entries.push(TimelineEntry {
                    scan: Some(scan.id),
                    at: scan.start_time,
                    outcome,
                });
            }
        }
        entries
    }

    fn outcome(&self, issue: &Issue, scan: &Scan, last: &Scan) -> ScanSighting {
        // Which of several equal findings a scan reported is unknown.
        let ambiguous = (issue.identity.ordinal > 0).then_some(RetestGap::Ambiguous);
        let gap =
            ambiguous.or_else(|| coverage::gap(scan, last, RetestedClass::of(issue), &self.tests));
        gap.map_or(ScanSighting::Absent, ScanSighting::NotRetested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::testing::TriageFixture;
    use scandeck_wire::contract::{ScanStatus, TargetId};

    /// The scans of the last finding, latest first: `s` seen, `a` absent, `n` not retested.
    fn shape(fixture: &TriageFixture) -> String {
        let rows = fixture.rows();
        let last = fixture.findings.last().unwrap();
        let issue = rows
            .issues
            .items()
            .iter()
            .find(|issue| issue.finding_ids().any(|id| id == last.id))
            .unwrap();
        let word = |entry: &TimelineEntry| {
            let letter = match &entry.outcome {
                ScanSighting::Seen(_) => 's',
                ScanSighting::Absent => 'a',
                ScanSighting::NotRetested(_) => 'n',
            };
            format!("{}{letter}", entry.scan.unwrap())
        };
        rows.earlier
            .timeline(issue)
            .iter()
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn seen_by(scans: &[i64], change: impl Fn(&mut Scan)) -> String {
        let mut fixture = TriageFixture::new();
        (1..=5).for_each(|number| change(fixture.scan(number)));
        scans
            .iter()
            .for_each(|&scan| _ = fixture.found(scan, "tls10", ""));
        shape(&fixture)
    }

    #[test]
    fn absence_between_two_sightings_remains_in_timeline() {
        assert_eq!(seen_by(&[1, 3], |_| ()), "5a 4a 3s 2a 1s");
        assert_eq!(
            seen_by(&[3], |_| ()),
            "5a 4a 3s",
            "scans before the first sighting prove no fix"
        );
    }

    #[test]
    fn scan_with_less_coverage_is_not_retested_and_running_scan_is_left_out() {
        let failed = |scan: &mut Scan| match scan.id.0 {
            2 => scan.status_name = ScanStatus::FailedToStart,
            4 => (scan.status_name, scan.end_time) = (ScanStatus::Running, None),
            _ => {}
        };
        assert_eq!(seen_by(&[1, 3], failed), "5a 3s 2n 1s");
    }

    #[test]
    fn other_tools_and_targets_are_no_part_of_timeline() {
        let other = |scan: &mut Scan| match scan.id.0 {
            2 => scan.tool_id = 20,
            4 => scan.target_id = TargetId(2),
            _ => {}
        };
        assert_eq!(seen_by(&[1], other), "5a 3a 1s");
    }
}
