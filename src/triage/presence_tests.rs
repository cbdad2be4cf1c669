//! Presence, one rule a test.

use serde_json::json;

use super::event::{Baseline, Change, Subject};
use super::testing::World;
use crate::contract::{Evidence, ResultSummary, Risk, Scan, ScanId, ScanStatus, Stamp, TargetId};
use crate::finding::Presence;
use crate::finding::Presence::{Absent, New, NotRetested, Reappeared, Unchanged, Updated};

/// The presence of what these of four scans saw, the scans first changed by `change`.
fn seen_by(scans: &[i64], change: impl Fn(&mut Scan)) -> Presence {
    let mut world = World::new();
    for number in 1..=4 {
        change(world.scan(number));
    }
    for &scan in scans {
        world.found(scan, "tls10", "");
    }
    world.last().0.presence
}

fn all_well(_: &mut Scan) {}

#[test]
fn against_the_finished_scan_before() {
    assert_eq!(seen_by(&[4], all_well), New);
    assert_eq!(seen_by(&[3, 4], all_well), Unchanged);
    assert_eq!(seen_by(&[2, 4], all_well), Reappeared);
    assert_eq!(seen_by(&[3], all_well), Absent);
    assert_eq!(seen_by(&[1, 2], all_well), Absent);
}

#[test]
fn what_a_later_scan_tells_otherwise_is_updated_and_dates_in_it_are_nothing_else() {
    let presence = |date: &str, risk: Risk| {
        let mut world = World::new();
        for (number, date, risk) in [(1, "Mon, 02 Nov 2026 10:00:00", Risk::Low), (2, date, risk)] {
            world.scan(number);
            let finding = world.found(number, "tls10", "");
            finding.risk_level = risk;
            finding.vuln_evidence = Evidence::from_value(&format!("HTTP/1.1 200 OK\nDate: {date} GMT\n").into());
        }
        world.last().0.presence
    };
    assert_eq!(presence("Tue, 03 Dec 2026 11:11:11", Risk::Low), Unchanged);
    assert_eq!(presence("Tue, 03 Dec 2026 11:11:11", Risk::High), Updated);
}

#[test]
fn a_scan_that_did_not_end_well_or_covered_less_says_nothing_about_what_it_did_not_see() {
    let last = |change: fn(&mut Scan)| {
        seen_by(&[2, 3], move |scan| {
            if scan.id == ScanId(4) {
                change(scan)
            }
        })
    };
    assert_eq!(last(|scan| scan.status_name = ScanStatus::Stopped), NotRetested);
    assert_eq!(last(|scan| scan.status_name = ScanStatus::FailedToStart), NotRetested);
    assert_eq!(last(|scan| scan.status_name = ScanStatus::TimedOut), NotRetested);
    assert_eq!(last(|scan| scan.num_finished_tests = 39), NotRetested);
    assert_eq!(last(|scan| scan.tool_params = Some(json!({"scan_type": "deep"}))), NotRetested);
    assert_eq!(last(|scan| scan.tool_params = None), Absent);
}

#[test]
fn what_a_failed_scan_saw_is_seen() {
    let stopped = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.status_name = ScanStatus::Stopped;
        }
    };
    assert_eq!(seen_by(&[3, 4], stopped), Unchanged);
    assert_eq!(seen_by(&[4], stopped), New);
}

#[test]
fn a_failed_scan_does_not_take_back_that_it_is_gone() {
    let stopped = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            scan.status_name = ScanStatus::Stopped;
        }
    };
    assert_eq!(seen_by(&[1, 2], stopped), Absent);
}

#[test]
fn a_running_scan_tells_what_it_saw_and_nothing_about_the_rest() {
    let running = |scan: &mut Scan| {
        if scan.id == ScanId(4) {
            (scan.status_name, scan.end_time, scan.num_finished_tests) = (ScanStatus::Running, None, 3);
        }
    };
    assert_eq!(seen_by(&[2, 3], running), Unchanged);
    assert_eq!(seen_by(&[3], running), New);
    assert_eq!(seen_by(&[2], running), Absent);
    assert_eq!(seen_by(&[3, 4], running), Unchanged);
    assert_eq!(seen_by(&[4], running), New);
}

#[test]
fn a_finished_scan_whose_findings_were_not_read_counts_as_one_that_runs() {
    let late = |told: Option<i64>| {
        move |scan: &mut Scan| {
            if scan.id == ScanId(4) {
                scan.end_time = Stamp::parse("2026-11-21 23:30:00");
                scan.result_summary = ResultSummary {
                    critical: told,
                    high: told,
                    medium: told,
                    low: told,
                    info: told,
                    ..Default::default()
                };
            }
        }
    };
    for told in [None, Some(1)] {
        assert_eq!(seen_by(&[3], late(told)), New, "{told:?}");
        assert_eq!(seen_by(&[2, 3], late(told)), Unchanged, "{told:?}");
    }
    assert_eq!(seen_by(&[3], late(Some(0))), Absent, "nothing is all that it found");
}

#[test]
fn scans_with_other_parameters_are_not_what_a_scan_is_compared_with() {
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
fn scans_of_another_target_or_tool_do_not_count() {
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
fn what_another_tool_saw_before_is_not_new_and_what_one_still_sees_is_not_gone() {
    let tools = |scan: &mut Scan| scan.tool_id = if scan.id.0 % 2 == 0 { 70 } else { 170 };
    assert_eq!(seen_by(&[3, 4], tools), Unchanged);
    // The scans 1 and 3 are one series, 2 and 4 the other: gone from that of 1 and 3.
    assert_eq!(seen_by(&[1, 2, 4], tools), Unchanged);
}

fn against(baseline: Baseline, scans: &[i64]) -> Presence {
    let mut world = World::new();
    for number in 1..=4 {
        let scan = world.scan(number);
        let day = format!("2026-11-{:02}", number * 5);
        let moved = |stamp: Option<Stamp>| Stamp::parse(&stamp.unwrap().to_string().replace("2026-11-21", &day));
        (scan.start_time, scan.end_time) = (moved(scan.start_time), moved(scan.end_time));
    }
    world.ann.does(Subject::Workspace, Change::Baseline(Some(baseline)));
    for &scan in scans {
        world.found(scan, "tls10", "");
    }
    world.last().0.presence
}

#[test]
fn a_pinned_day_compares_with_the_last_scan_that_ended_by_then() {
    let day = |day: &str| Baseline::Day(day.parse().unwrap());
    assert_eq!(against(day("2026-11-12"), &[3, 4]), New);
    assert_eq!(against(day("2026-11-12"), &[2, 3, 4]), Unchanged);
    assert_eq!(against(day("2026-11-12"), &[1, 3, 4]), Reappeared);
    assert_eq!(against(day("2026-11-12"), &[2]), Absent);
    assert_eq!(against(day("2026-11-10"), &[2, 4]), Unchanged);
    assert_eq!(against(day("2026-11-01"), &[1, 4]), New);
}

#[test]
fn pinned_scans_are_compared_with_and_say_nothing_about_other_targets() {
    assert_eq!(against(Baseline::Scans(vec![ScanId(1)]), &[2, 3, 4]), New);
    assert_eq!(against(Baseline::Scans(vec![ScanId(1)]), &[1, 4]), Unchanged);
    assert_eq!(against(Baseline::Scans(vec![ScanId(99)]), &[2, 3, 4]), Unchanged);
    assert_eq!(against(Baseline::Scans(vec![ScanId(4)]), &[4]), Unchanged);
}
