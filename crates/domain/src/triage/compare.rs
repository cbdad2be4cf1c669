//! Comparison of two scans, finding by finding.
//!
//! ```text
//!   before   after
//!     –        ●     new
//!     ●        ●     same, or changed
//!     ●        –     absent; covered less, where the later one did not look again
//! ```

use std::sync::Arc;

use super::change_detection;
use super::coverage::{self, IncompleteTests, RetestedClass};
use super::issue::Issue;
use super::listed::ListedFinding;
use crate::finding::{RetestGap, named_enum};
use crate::table::Table;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus};

named_enum! {
    /// Outcome of a finding in a later scan, with its name in exports.
    Outcome {
        New "new",
        Absent "gone",
        Changed "changed",
        Same "same",
        /// The later scan did not find it but covered less than the earlier one, so its absence is
        /// not conclusive.
        CoveredLess "covered_less",
    }
}

/// One finding that at least one of the two scans saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedFinding {
    /// Position of the issue.
    pub at: usize,
    /// The finding in the earlier scan.
    pub before: Option<Arc<ListedFinding>>,
    /// The finding in the later scan.
    pub after: Option<Arc<ListedFinding>>,
    pub outcome: Outcome,
    /// Why the later scan covered less.
    pub gap: Option<RetestGap>,
}

/// Compares two scans over the rows, in their order.
pub fn compare(issues: &Table<Issue>, before: &Scan, after: &Scan) -> Vec<ComparedFinding> {
    let tests = incomplete(issues);
    let row = |(at, issue): (usize, &Arc<Issue>)| {
        let (earlier, later) = (
            seen_by(issue, before.id).cloned(),
            seen_by(issue, after.id).cloned(),
        );
        let class = RetestedClass::of(issue);
        if earlier.is_none() && coverage::leaves_out(before, class) {
            // The earlier scan ran other tests, so the finding may be an old one.
            return None;
        }
        let gap = coverage::gap(after, before, class, &tests);
        let outcome = outcome(earlier.as_deref(), later.as_deref(), gap.is_none())?;
        let gap = gap.filter(|_| outcome == Outcome::CoveredLess);
        Some(ComparedFinding {
            at,
            before: earlier,
            after: later,
            outcome,
            gap,
        })
    };
    issues.items().iter().enumerate().filter_map(row).collect()
}

/// The outcome of a finding; `None` if neither scan found it. `covers`: the later scan would have
/// found it again.
pub fn outcome(
    before: Option<&ListedFinding>,
    after: Option<&ListedFinding>,
    covers: bool,
) -> Option<Outcome> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some(Outcome::New),
        (Some(before), Some(after)) if change_detection::is_changed(before, after) => {
            Some(Outcome::Changed)
        }
        (Some(_), Some(_)) => Some(Outcome::Same),
        (Some(_), None) if covers => Some(Outcome::Absent),
        (Some(_), None) => Some(Outcome::CoveredLess),
    }
}

/// The incomplete tests of scans.
pub fn incomplete(issues: &Table<Issue>) -> IncompleteTests {
    IncompleteTests::new(
        issues
            .items()
            .iter()
            .flat_map(|issue| occurrences(issue))
            .map(|finding| &**finding),
    )
}

/// All occurrences, latest first.
pub fn occurrences(issue: &Issue) -> impl Iterator<Item = &Arc<ListedFinding>> {
    let alone = issue.earlier.is_empty().then_some(&issue.finding);
    alone
        .into_iter()
        .chain(issue.earlier.iter().map(|one| &one.finding))
}

/// The occurrence in a scan.
pub fn seen_by(issue: &Issue, scan: ScanId) -> Option<&Arc<ListedFinding>> {
    occurrences(issue).find(|finding| finding.task_id() == Some(scan))
}

/// The scan to compare with: the last finished one before it, of the same target and tool.
pub fn before<'a>(scans: &'a Table<Scan>, after: &Scan) -> Option<&'a Arc<Scan>> {
    let earlier = |scan: &&Arc<Scan>| {
        (scan.target_id, scan.tool_id) == (after.target_id, after.tool_id)
            && scan.status_name == ScanStatus::Finished
            && (scan.start_time, scan.id) < (after.start_time, after.id)
    };
    scans
        .items()
        .iter()
        .filter(earlier)
        .max_by_key(|scan| (scan.start_time, scan.id))
}

/// Two scans in chronological order.
pub fn in_order<'a>(a: &'a Arc<Scan>, b: &'a Arc<Scan>) -> (&'a Arc<Scan>, &'a Arc<Scan>) {
    let place = |scan: &Scan| (scan.start_time.is_none(), scan.start_time, scan.id);
    if place(a) <= place(b) { (a, b) } else { (b, a) }
}

/// Differences in words, such as `risk low, was high`; empty if nothing relevant changed.
pub fn differences(before: &ListedFinding, after: &ListedFinding) -> Vec<String> {
    let mut all = Vec::new();
    if before.risk_level != after.risk_level {
        all.push(format!(
            "risk {}, was {}",
            after.risk_level, before.risk_level
        ));
    }
    let mut flag = |was: bool, is: bool, word: &str| match (was, is) {
        (false, true) => all.push(word.to_owned()),
        (true, false) => all.push(format!("no longer {word}")),
        _ => {}
    };
    flag(before.confirmed, after.confirmed, "proven");
    flag(
        before.in_cisa_catalog,
        after.in_cisa_catalog,
        "known to be exploited",
    );
    if before.cve != after.cve {
        all.push("other CVEs".to_owned());
    }
    if before.port() != after.port() {
        all.push(format!("port {}, was {}", after.port(), before.port()));
    }
    if !change_detection::is_same_evidence(before, after) {
        all.push("other evidence".to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::{IssueId, Occurrence};
    use scandeck_wire::contract::{Evidence, Finding, FindingId, Risk, Stamp, TargetId};

    fn scan(id: i64, tests: i64, status: ScanStatus) -> Arc<Scan> {
        Arc::new(Scan {
            id: ScanId(id),
            tool_id: 170,
            target_id: TargetId(1),
            status_name: status,
            num_finished_tests: tests,
            start_time: Stamp::parse(&format!("2026-11-{id:02} 10:00:00")),
            ..Scan::default()
        })
    }

    fn occurrence(scan: i64, risk: Risk) -> Arc<ListedFinding> {
        let finding = Finding {
            id: FindingId(scan),
            task_id: Some(ScanId(scan)),
            risk_level: risk,
            ..Finding::default()
        };
        Arc::new(finding.into())
    }

    /// A row that these scans saw, the latest first.
    fn issue(id: i64, seen: &[(i64, Risk)]) -> Issue {
        let earlier: Box<[Occurrence]> = seen
            .iter()
            .map(|&(scan, risk)| Occurrence {
                finding: occurrence(scan, risk),
                at: None,
            })
            .collect();
        Issue {
            id: IssueId(id),
            finding: Arc::clone(&earlier[0].finding),
            earlier,
            ..Issue::default()
        }
    }

    fn outcomes(after: &Scan) -> Vec<(i64, Outcome)> {
        let issues = Table::new([
            issue(1, &[(2, Risk::High)]),
            issue(2, &[(1, Risk::High)]),
            issue(3, &[(2, Risk::High), (1, Risk::High)]),
            issue(4, &[(2, Risk::Low), (1, Risk::High)]),
            issue(5, &[(9, Risk::High)]),
        ]);
        let compared = compare(&issues, &scan(1, 10, ScanStatus::Finished), after);
        compared
            .iter()
            .map(|one| (issues.items()[one.at].id.0, one.outcome))
            .collect()
    }

    #[test]
    fn compared_findings_are_new_absent_same_or_changed() {
        use Outcome::*;
        assert_eq!(
            outcomes(&scan(2, 10, ScanStatus::Finished)),
            [(1, New), (2, Absent), (3, Same), (4, Changed)]
        );
    }

    #[test]
    fn finding_is_not_new_after_a_scan_of_other_tests() {
        let found = |vuln_id: &str| {
            let finding = Finding {
                vuln_id: vuln_id.into(),
                task_id: Some(ScanId(2)),
                ..Finding::default()
            };
            Issue {
                finding: Arc::new(finding.into()),
                ..Issue::default()
            }
        };
        let issues = Table::new([found("web.cors.null")]);
        let of_tests = |tests: &[&str]| Scan {
            tool_params: Some(serde_json::json!({"only_tests": tests})),
            ..(*scan(1, 3, ScanStatus::Finished)).clone()
        };
        let after = scan(2, 10, ScanStatus::Finished);
        let compared = |before: &Scan| -> Vec<Outcome> {
            let rows = compare(&issues, before, &after);
            rows.iter().map(|one| one.outcome).collect()
        };
        assert!(compared(&of_tests(&["web.csp"])).is_empty());
        assert_eq!(compared(&of_tests(&["web.cors"])), [Outcome::New]);
    }

    #[test]
    fn smaller_or_failed_scan_reports_covered_less() {
        for after in [
            scan(2, 9, ScanStatus::Finished),
            scan(2, 10, ScanStatus::TimedOut),
        ] {
            assert!(
                outcomes(&after).contains(&(2, Outcome::CoveredLess)),
                "{after:?}"
            );
        }
    }

    #[test]
    fn scan_is_compared_with_previous_finished_scan() {
        let other = Arc::new(Scan {
            tool_id: 70,
            ..(*scan(4, 1, ScanStatus::Finished)).clone()
        });
        let scans = Table::new([
            scan(1, 1, ScanStatus::Finished),
            scan(2, 1, ScanStatus::Finished),
            scan(3, 1, ScanStatus::Aborted),
            other,
            scan(5, 1, ScanStatus::Running),
        ]);
        let with = |id: i64| before(&scans, scans.get(ScanId(id)).unwrap()).map(|scan| scan.id.0);
        assert_eq!([1, 2, 4, 5].map(with), [None, Some(1), None, Some(2)]);
    }

    #[test]
    fn differences_ignore_volatile_evidence() {
        let differences = |before: &Finding, after: &Finding| {
            differences(&before.clone().into(), &after.clone().into())
        };
        let answer =
            |date: &str| Evidence::from_value(&format!("HTTP/1.1 200 OK\nDate: {date}").into());
        let before = Finding {
            risk_level: Risk::High,
            vuln_evidence: answer("Mon, 2 Nov 2026"),
            ..Finding::default()
        };
        let date = Finding {
            vuln_evidence: answer("Tue, 3 Dec 2026"),
            ..before.clone()
        };
        assert!(differences(&before, &date).is_empty());
        let after = Finding {
            risk_level: Risk::Low,
            confirmed: true,
            port: 80,
            ..date
        };
        assert_eq!(
            differences(&before, &after),
            ["risk low, was high", "proven", "port 80, was 0"]
        );
    }
}
