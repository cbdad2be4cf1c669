//! Facts about all issues for the screen. Counting 375,000 issues takes longer than several frames,
//! so it belongs to the correlation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::coverage;
use super::issue::Issue;
use crate::finding::Presence;
use crate::table::Table;
use scandeck_wire::contract::ScanId;

/// The findings that a scan changed, compared with the scan of this target and tool before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanChanges {
    /// Findings that it found first.
    pub new: usize,
    /// Findings that were absent before.
    pub reappeared: usize,
    /// Findings whose absence it proved first.
    pub absent: usize,
}

/// Counts over all findings, made with the correlation, off the UI thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingFacts {
    /// All findings, if there are several, have the same port or none.
    is_one_port: bool,
    /// No finding is known to be exploited or proven.
    has_no_flag: bool,
    /// Scans that could not finish some tests.
    incomplete: HashSet<ScanId>,
    /// Of the last scan of each target and tool.
    changes: HashMap<ScanId, ScanChanges>,
}

impl FindingFacts {
    /// Counts them.
    pub fn count(findings: &Table<Issue>) -> Self {
        let all = findings.items();
        let about_scans = all
            .iter()
            .filter(|issue| coverage::is_about_scan(&issue.vuln_id));
        Self {
            is_one_port: all.len() > 1 && all.windows(2).all(|two| two[0].port() == two[1].port()),
            has_no_flag: all
                .iter()
                .all(|finding| !finding.in_cisa_catalog && !finding.confirmed),
            changes: changes(all),
            incomplete: about_scans.flat_map(|issue| issue.scans()).collect(),
        }
    }

    /// All findings, if there are several, have the same port or none.
    pub fn is_one_port(&self) -> bool {
        self.is_one_port
    }

    /// No finding is known to be exploited or proven.
    pub fn has_no_flag(&self) -> bool {
        self.has_no_flag
    }

    /// Whether a scan could not finish some tests.
    pub fn is_incomplete(&self, scan: ScanId) -> bool {
        self.incomplete.contains(&scan)
    }

    /// The findings that a scan changed.
    pub fn changes(&self, scan: ScanId) -> Option<ScanChanges> {
        self.changes.get(&scan).copied()
    }
}

/// The changes by each scan: an issue is new or reappeared in the scan that found it last, and
/// absent from the first scan on that proved it.
fn changes(issues: &[Arc<Issue>]) -> HashMap<ScanId, ScanChanges> {
    let mut changes: HashMap<ScanId, ScanChanges> = HashMap::new();
    for issue in issues {
        match issue.presence {
            Presence::New => issue
                .task_id()
                .into_iter()
                .for_each(|scan| changes.entry(scan).or_default().new += 1),
            Presence::Reappeared => {
                issue
                    .task_id()
                    .into_iter()
                    .for_each(|scan| changes.entry(scan).or_default().reappeared += 1);
            }
            Presence::Absent => {
                let first = issue
                    .absent_in()
                    .into_iter()
                    .filter(|proof| proof.at == proof.since);
                first.for_each(|proof| changes.entry(proof.scan).or_default().absent += 1);
            }
            Presence::Unchanged | Presence::Changed | Presence::NotRetested => {}
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::testing::TriageFixture;
    use scandeck_wire::contract::Finding;

    /// The facts when these scans found findings of these kinds.
    fn facts_of(found: &[(i64, &str)], change_last: impl Fn(&mut Finding)) -> FindingFacts {
        let mut fixture = TriageFixture::new();
        for scan in 1..=found.iter().map(|(scan, _)| *scan).max().unwrap() {
            fixture.scan(scan);
        }
        for &(scan, kind) in found {
            fixture.found(scan, kind, "");
        }
        change_last(fixture.findings.last_mut().unwrap());
        FindingFacts::clone(&fixture.rows().facts)
    }

    #[test]
    fn changes_belong_to_the_scan_that_made_them() {
        let found = [
            (1, "absent"),
            (1, "reappeared"),
            (1, "same"),
            (2, "same"),
            (3, "same"),
            (3, "reappeared"),
            (3, "new"),
        ];
        let facts = facts_of(&found, |_| {});
        assert_eq!(
            facts.changes(3.into()),
            Some(ScanChanges {
                new: 1,
                reappeared: 1,
                absent: 0
            })
        );
        assert_eq!(
            facts.changes(2.into()),
            None,
            "only the last scan of a target and tool has changes"
        );
        let facts = facts_of(&found[..4], |_| {});
        assert_eq!(
            facts.changes(2.into()),
            Some(ScanChanges {
                new: 0,
                reappeared: 0,
                absent: 2
            })
        );
    }

    #[test]
    fn port_and_flags_are_those_of_all_findings() {
        let two = [(1, "one"), (1, "two")];
        let facts = facts_of(&two, |_| {});
        assert!(facts.is_one_port() && facts.has_no_flag());
        assert!(!facts_of(&two, |last| last.port = 8443).is_one_port());
        assert!(!facts_of(&two, |last| last.in_cisa_catalog = true).has_no_flag());
        assert!(!facts_of(&two, |last| last.confirmed = true).has_no_flag());
    }
}
