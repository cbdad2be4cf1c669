//! Presence, one rule a test.

use std::sync::Arc;

use serde_json::json;

use super::correlate::{CorrelationInput, correlate};
use super::event::{Baseline, Change, Subject};
use super::testing::TriageFixture;
use crate::finding::Presence::{Absent, Changed, New, NotRetested, Reappeared, Unchanged};
use crate::finding::{Presence, RetestGap};
use scandeck_wire::contract::{
    Evidence, ResultSummary, Risk, Scan, ScanId, ScanStatus, Stamp, TargetId,
};

/// The presence of what these of four scans saw, the scans first changed by `change`.
fn seen_by(scans: &[i64], change: impl Fn(&mut Scan)) -> Presence {
    let mut fixture = TriageFixture::new();
    for number in 1..=4 {
        change(fixture.scan(number));
    }
    for &scan in scans {
        fixture.found(scan, "tls10", "");
    }
    fixture.last().0.presence
}

fn all_well(_: &mut Scan) {}

#[test]
fn presence_compares_with_previous_finished_scan() {
    assert_eq!(seen_by(&[4], all_well), New);
    assert_eq!(seen_by(&[3, 4], all_well), Unchanged);
    assert_eq!(seen_by(&[2, 4], all_well), Reappeared);
    assert_eq!(seen_by(&[3], all_well), Absent);
    assert_eq!(seen_by(&[1, 2], all_well), Absent);
}

#[test]
fn scan_whose_findings_were_not_read_proves_no_absence() {
    let mut fixture = TriageFixture::new();
    (1..=3).for_each(|number| _ = fixture.scan(number));
    fixture.found(2, "tls10", "");
    let presence = |unread: &[i64]| {
        let unread = unread.iter().copied().map(ScanId).collect();
        let correlated = correlate(&CorrelationInput {
            unread: Arc::new(unread),
            ..fixture.input()
        });
        correlated.issues.items()[0].presence
    };
    assert_eq!(
        [presence(&[]), presence(&[3]), presence(&[1])],
        [Absent, New, Absent]
    );
}

#[test]
fn absence_begins_with_the_first_scan_that_no_longer_found_it() {
    let mut fixture = TriageFixture::new();
    let started: Vec<_> = (1..=4)
        .map(|number| fixture.scan(number).start_time)
        .collect();
    fixture.found(1, "tls10", "");
    let proof = fixture.last().0.absent_in().unwrap();
    assert_eq!(
        (proof.scan, proof.at.get(), proof.since.get()),
        (ScanId(4), started[3], started[1])
    );
}

#[test]
fn stopped_scan_does_not_change_evidence() {
    let presence = |status: ScanStatus| {
        let mut fixture = TriageFixture::new();
        for (number, service) in [(1, "https"), (2, "unknown")] {
            let status = if number == 2 {
                status.clone()
            } else {
                ScanStatus::Finished
            };
            fixture.scan(number).status_name = status;
            fixture.found(number, "tls10", "").vuln_evidence =
                Evidence::from_value(&service.into());
        }
        fixture.last().0.presence
    };
    assert_eq!(
        (
            presence(ScanStatus::Finished),
            presence(ScanStatus::Stopped)
        ),
        (Changed, Unchanged)
    );
}

#[test]
fn changed_evidence_is_updated_and_dates_are_ignored() {
    let presence = |date: &str, risk: Risk| {
        let mut fixture = TriageFixture::new();
        for (number, date, risk) in [(1, "Mon, 02 Nov 2026 10:00:00", Risk::Low), (2, date, risk)] {
            fixture.scan(number);
            let finding = fixture.found(number, "tls10", "");
            finding.risk_level = risk;
            finding.vuln_evidence =
                Evidence::from_value(&format!("HTTP/1.1 200 OK\nDate: {date} GMT\n").into());
        }
        fixture.last().0.presence
    };
    assert_eq!(presence("Tue, 03 Dec 2026 11:11:11", Risk::Low), Unchanged);
    assert_eq!(presence("Tue, 03 Dec 2026 11:11:11", Risk::High), Changed);
}

#[test]
fn scan_of_single_tests_proves_absence_of_their_findings_alone() {
    let last = |seen: &[i64], test: &'static str| {
        seen_by(seen, move |scan| {
            if scan.id == ScanId(4) {
                scan.num_finished_tests = 3;
                scan.tool_params = Some(json!({"scan_type": "light", "only_tests": [test]}));
            }
        })
    };
    assert_eq!(last(&[2, 3], "tls10"), Absent);
    assert_eq!(last(&[2, 3], "web.cors"), Unchanged);
    assert_eq!(last(&[3, 4], "tls10"), Unchanged);
    assert_eq!(last(&[2], "web.cors"), Absent, "as the scan before found");
}

#[test]
fn failed_or_smaller_scan_leaves_not_retested() {
    let last = |change: fn(&mut Scan)| {
        seen_by(&[2, 3], move |scan| {
            if scan.id == ScanId(4) {
                change(scan)
            }
        })
    };
    assert_eq!(
        last(|scan| scan.status_name = ScanStatus::Stopped),
        NotRetested
    );
    assert_eq!(
        last(|scan| scan.status_name = ScanStatus::FailedToStart),
        NotRetested
    );
    assert_eq!(
        last(|scan| scan.status_name = ScanStatus::TimedOut),
        NotRetested
    );
    assert_eq!(last(|scan| scan.num_finished_tests = 39), NotRetested);
    assert_eq!(
        last(|scan| scan.tool_params = Some(json!({"scan_type": "deep"}))),
        NotRetested
    );
    assert_eq!(last(|scan| scan.tool_params = None), Absent);
}

#[test]
fn finding_that_a_smaller_scan_could_not_see_has_not_reappeared() {
    let third_is_smaller = |scan: &mut Scan| {
        let tests = if scan.id == ScanId(3) { 13 } else { 76 };
        scan.num_tests = tests;
        scan.num_finished_tests = tests;
    };
    assert_eq!(seen_by(&[2], third_is_smaller), Absent);
    assert_eq!(seen_by(&[2, 4], third_is_smaller), Unchanged);
    assert_eq!(seen_by(&[1, 4], third_is_smaller), Reappeared);
}

#[test]
fn absent_finding_that_a_larger_scan_sees_has_reappeared() {
    let last_is_larger = |scan: &mut Scan| {
        let tests = if scan.id == ScanId(4) { 90 } else { 76 };
        scan.num_tests = tests;
        scan.num_finished_tests = tests;
    };
    assert_eq!(seen_by(&[2, 4], last_is_larger), Reappeared);
    assert_eq!(seen_by(&[3, 4], last_is_larger), Unchanged);
}

#[test]
fn finding_whose_test_was_blocked_is_not_retested_and_others_are_absent() {
    let mut fixture = TriageFixture::new();
    for number in 1..=2 {
        fixture.scan(number);
    }
    for kind in ["web.header.csp_missing", "web.exposed.git"] {
        fixture.found(1, kind, "");
    }
    let rows = vec![vec![
        "HTTP 403".to_owned(),
        "9 of 9".to_owned(),
        "web.exposed.git".to_owned(),
    ]];
    fixture.found(2, "coverage.blocked", "").vuln_evidence =
        Evidence::table(&["Cause", "Requests", "Incomplete tests"], rows);
    let issues = fixture.rows().issues;
    let of = |kind: &str| {
        issues
            .items()
            .iter()
            .find(|issue| *issue.vuln_id == *kind)
            .unwrap()
            .clone()
    };
    let git = of("web.exposed.git");
    assert_eq!(
        (git.presence, git.retest_gap()),
        (NotRetested, Some(RetestGap::Blocked))
    );
    assert_eq!(
        (
            of("web.header.csp_missing").presence,
            of("web.header.csp_missing").retest_gap()
        ),
        (Absent, None)
    );
}

#[test]
fn absent_finding_names_last_scan_that_proved_its_absence() {
    let mut fixture = TriageFixture::new();
    for number in 1..=4 {
        fixture.scan(number).status_name = if number < 4 {
            ScanStatus::Finished
        } else {
            ScanStatus::Stopped
        };
    }
    fixture.found(1, "tls10", "");
    let issue = fixture.last().0;
    assert_eq!(
        (issue.presence, issue.absent_in().map(|proof| proof.scan)),
        (Absent, Some(ScanId(3)))
    );
    fixture.found(3, "tls10", "");
    assert_eq!(
        fixture.last().0.absent_in(),
        None,
        "a present finding has no proof"
    );
}

#[test]
fn scan_at_another_pace_is_compared() {
    let slower = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.tool_params = Some(json!({"scan_type": "light", "requests_per_second": 2}));
        }
    };
    assert_eq!(seen_by(&[2, 3], slower), Absent);
}

#[test]
fn finding_seen_by_failed_scan_is_present() {
    let stopped = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.status_name = ScanStatus::Stopped;
        }
    };
    assert_eq!(seen_by(&[3, 4], stopped), Unchanged);
    assert_eq!(seen_by(&[4], stopped), New);
}

#[test]
fn failed_scan_keeps_absence() {
    let stopped = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.status_name = ScanStatus::Stopped;
        }
    };
    assert_eq!(seen_by(&[1, 2], stopped), Absent);
}

#[test]
fn running_scan_affects_only_seen_findings() {
    let running = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            (scan.status_name, scan.end_time, scan.num_finished_tests) =
                (ScanStatus::Running, None, 3);
        }
    };
    assert_eq!(seen_by(&[2, 3], running), Unchanged);
    assert_eq!(seen_by(&[3], running), New);
    assert_eq!(seen_by(&[2], running), Absent);
    assert_eq!(seen_by(&[3, 4], running), Unchanged);
    assert_eq!(seen_by(&[4], running), New);
}

#[test]
fn unread_finished_scan_counts_as_running() {
    let late = |count: Option<i64>| {
        move |scan: &mut Scan| {
            if scan.id == ScanId(4) {
                scan.end_time = Stamp::parse("2026-11-21 23:30:00");
                scan.result_summary = ResultSummary {
                    critical: count,
                    high: count,
                    medium: count,
                    low: count,
                    info: count,
                    ..Default::default()
                };
            }
        }
    };
    for count in [None, Some(1)] {
        assert_eq!(seen_by(&[3], late(count)), New, "{count:?}");
        assert_eq!(seen_by(&[2, 3], late(count)), Unchanged, "{count:?}");
    }
    assert_eq!(
        seen_by(&[3], late(Some(0))),
        Absent,
        "nothing is all that it found"
    );
}

#[test]
fn scans_with_other_parameters_are_not_compared() {
    let deep = |scan: &mut Scan| {
        if scan.id == ScanId(3) {
            scan.tool_params = Some(json!({"scan_type": "deep"}));
        }
    };
    assert_eq!(seen_by(&[2, 4], deep), Unchanged);
    // The first of its kind: what an earlier one of another kind saw is not new.
    let last_deep = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.tool_params = Some(json!({"scan_type": "deep"}));
        }
    };
    assert_eq!(seen_by(&[3, 4], last_deep), Unchanged);
    assert_eq!(seen_by(&[4], last_deep), New);
}

#[test]
fn scans_of_other_target_or_tool_are_ignored() {
    let elsewhere = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.target_id = TargetId(2);
        }
        if scan.id == ScanId(3) {
            scan.tool_id = 70;
        }
    };
    assert_eq!(seen_by(&[1, 2], elsewhere), Unchanged);
}

#[test]
fn finding_of_another_tool_is_neither_new_nor_absent() {
    let tools = |scan: &mut Scan| scan.tool_id = if scan.id.0 % 2 == 0 { 70 } else { 170 };
    assert_eq!(seen_by(&[3, 4], tools), Unchanged);
    // The scans 1 and 3 are one series, 2 and 4 the other: absent from that of 1 and 3.
    assert_eq!(seen_by(&[1, 2, 4], tools), Unchanged);
}

fn against(baseline: Baseline, scans: &[i64]) -> Presence {
    let mut fixture = TriageFixture::new();
    for number in 1..=4 {
        let scan = fixture.scan(number);
        let day = format!("2026-11-{:02}", number * 5);
        let moved = |stamp: Option<Stamp>| {
            Stamp::parse(&stamp.unwrap().to_string().replace("2026-11-21", &day))
        };
        (scan.start_time, scan.end_time) = (moved(scan.start_time), moved(scan.end_time));
    }
    fixture
        .ann
        .does(Subject::Workspace, Change::Baseline(Some(baseline)));
    for &scan in scans {
        fixture.found(scan, "tls10", "");
    }
    fixture.last().0.presence
}

#[test]
fn pinned_day_compares_with_last_scan_ended_by_day() {
    let day = |day: &str| Baseline::Day(day.parse().unwrap());
    assert_eq!(against(day("2026-11-12"), &[3, 4]), New);
    assert_eq!(against(day("2026-11-12"), &[2, 3, 4]), Unchanged);
    assert_eq!(against(day("2026-11-12"), &[1, 3, 4]), Reappeared);
    assert_eq!(against(day("2026-11-12"), &[2]), Absent);
    assert_eq!(against(day("2026-11-10"), &[2, 4]), Unchanged);
    assert_eq!(against(day("2026-11-01"), &[1, 4]), New);
}

#[test]
fn pinned_scans_affect_only_their_targets() {
    assert_eq!(against(Baseline::Scans(vec![ScanId(1)]), &[2, 3, 4]), New);
    assert_eq!(
        against(Baseline::Scans(vec![ScanId(1)]), &[1, 4]),
        Unchanged
    );
    assert_eq!(
        against(Baseline::Scans(vec![ScanId(99)]), &[2, 3, 4]),
        Unchanged
    );
    assert_eq!(against(Baseline::Scans(vec![ScanId(4)]), &[4]), Unchanged);
}

/// Imported files of one tool and target, and a finding in some of them.
fn seen_in_files(files: &[serde_json::Value], seen: &[i64]) -> (Presence, Option<RetestGap>) {
    let mut fixture = TriageFixture::new();
    for (number, import) in (1..).zip(files) {
        let scan = fixture.scan(number);
        scan.tool_id = 10_002;
        scan.tool_params = Some(json!({"import": import}));
        let high = i64::from(seen.contains(&number));
        scan.result_summary = ResultSummary {
            critical: Some(0),
            high: Some(high),
            medium: Some(0),
            low: Some(0),
            info: Some(0),
            ..ResultSummary::default()
        };
    }
    for &scan in seen {
        fixture.found(scan, "nuclei:a", "");
    }
    let (issue, _) = fixture.last();
    (issue.presence, issue.retest_gap())
}

#[test]
fn later_file_makes_absent_only_what_it_states_or_what_is_complete() {
    let alone = json!({"tool": "nuclei"});
    let complete = json!({"tool": "nuclei", "complete": true});
    let stated = json!({"tool": "nuclei", "coverage": [{"prefixes": ["nuclei:"]}]});
    let [files_alone, files_complete, files_stated] =
        [&alone, &complete, &stated].map(|last| [alone.clone(), last.clone()]);
    let untested = (NotRetested, Some(RetestGap::NotStated));
    assert_eq!(seen_in_files(&files_alone, &[1]), untested);
    assert_eq!(seen_in_files(&files_complete, &[1]), (Absent, None));
    assert_eq!(seen_in_files(&files_stated, &[1]), (Absent, None));
    assert_eq!(seen_in_files(&files_alone, &[2]), (New, None));
    assert_eq!(seen_in_files(&files_alone, &[1, 2]), (Unchanged, None));
    let untested_between = [&alone, &alone, &alone].map(Clone::clone);
    assert_eq!(seen_in_files(&untested_between, &[1, 3]), (Unchanged, None));
    let stated_between = [&alone, &stated, &alone].map(Clone::clone);
    assert_eq!(seen_in_files(&stated_between, &[1, 3]), (Reappeared, None));
    let absent_before = [&alone, &complete, &alone, &alone].map(Clone::clone);
    assert_eq!(seen_in_files(&absent_before, &[1, 4]), (Reappeared, None));
    let three = [alone.clone(), complete, alone];
    assert_eq!(seen_in_files(&three, &[1, 3]), (Reappeared, None));
}

#[test]
fn imported_scan_proves_nothing_before_its_findings_are_read() {
    let mut fixture = TriageFixture::new();
    let complete = json!({"import": {"tool": "nuclei", "complete": true}});
    for (number, findings) in [(1, 1), (2, 7)] {
        let scan = fixture.scan(number);
        scan.tool_id = 10_002;
        scan.tool_params = Some(complete.clone());
        scan.result_summary = ResultSummary {
            critical: Some(0),
            high: Some(findings),
            medium: Some(0),
            low: Some(0),
            info: Some(0),
            ..ResultSummary::default()
        };
    }
    fixture.found(1, "nuclei:a", "");
    assert_eq!(fixture.last().0.presence, New);
}
