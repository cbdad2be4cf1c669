//! A finding whose port moved: its earlier decision is offered, shown, and reused by a key.

use crate::dashboard::findings::retest::tests::{ended, found};
use crate::dashboard::testing::*;
use crate::triage::{Change, IssueId, Verdict, VerdictSource};

fn on_port(id: i64, scan: i64, kind: &str, port: i64) -> Finding {
    Finding { vuln_id: kind.into(), port, protocol: "tcp".into(), ..found(id, scan, 1, kind, Risk::High) }
}

/// Two kinds of finding that were decided on port 443; then a scan sees both on 8443, and a third kind.
fn desk() -> TestDashboard {
    let mut desk = TestDashboard::new();
    desk.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    let before = [on_port(1, 1, "hsts", 443), on_port(2, 1, "csp", 443)];
    desk.feed(Snapshot::Findings(table(before.clone())));
    desk.keys("3 * f");
    desk.feed(Snapshot::Scans(table([ended(1, 1, -900), ended(5, 1, 3_600)])));
    let now = [on_port(11, 5, "hsts", 8443), on_port(12, 5, "csp", 8443), on_port(13, 5, "xfo", 8443)];
    desk.feed(Snapshot::Findings(table(before.into_iter().chain(now))));
    desk.keys("r");
    desk
}

/// The row of a finding of the service.
fn row(desk: &TestDashboard, finding: i64) -> IssueId {
    let table = desk.model.data.findings.value().unwrap();
    table.items().iter().find(|issue| issue.finding.id.0 == finding).unwrap().id
}

fn select(desk: &mut TestDashboard, finding: i64) {
    let id = row(desk, finding);
    assert!(desk.model.cursor(Pane::Findings).select_id(id.0));
}

/// The verdict a person gave, of each of the three.
fn verdicts(desk: &TestDashboard) -> [Option<Verdict>; 3] {
    [11, 12, 13].map(|id| {
        let assessment = desk.model.assessment(row(desk, id)).unwrap();
        (assessment.source == VerdictSource::Person).then_some(assessment.verdict)
    })
}

#[test]
fn offered_decision_applies_only_after_reuse() {
    let mut desk = desk();
    assert_eq!(verdicts(&desk), [None; 3]);
    assert!(
        desk.model.earlier_decision(row(&desk, 11)).is_some() && desk.model.earlier_decision(row(&desk, 13)).is_none()
    );
    select(&mut desk, 11);
    let effects = desk.keys("=");
    let events = crate::dashboard::findings::decide::tests::recorded(&effects);
    assert!(matches!(events[..], [ref event] if matches!(event.change, Change::Inherit(_))), "{events:?}");
    assert_eq!(verdicts(&desk), [Some(Verdict::FalsePositive), None, None]);
    assert!(desk.model.earlier_decision(row(&desk, 11)).is_none());
    assert!(desk.notices().contains("earlier decision reused on hsts"), "{}", desk.notices());
    assert_eq!(desk.selected(Pane::Findings), Some(11), "the row keeps its place");
    desk.keys("u");
    assert_eq!(verdicts(&desk), [None; 3]);
    assert!(desk.model.earlier_decision(row(&desk, 11)).is_some());
}

#[test]
fn reuse_applies_only_to_marked_rows_with_offer() {
    let mut desk = desk();
    desk.keys("* =");
    assert_eq!(verdicts(&desk), [Some(Verdict::FalsePositive), Some(Verdict::FalsePositive), None]);
    desk.keys("u G =");
    assert_eq!(verdicts(&desk)[2], None);
}

#[test]
fn reuse_without_offer_shows_notice() {
    let mut desk = desk();
    select(&mut desk, 13);
    desk.keys("=");
    assert!(desk.notices().contains("no earlier decision to reuse"), "{}", desk.notices());
    assert_eq!(verdicts(&desk), [None; 3]);
}

#[test]
fn new_decision_ends_offer_of_earlier_one() {
    let mut desk = desk();
    select(&mut desk, 11);
    desk.keys("c");
    assert!(desk.model.earlier_decision(row(&desk, 11)).is_none());
    desk.keys("=");
    assert_eq!(verdicts(&desk)[0], Some(Verdict::Confirmed));
}

#[test]
fn menu_and_command_reuse_earlier_decision() {
    let mut desk = desk();
    select(&mut desk, 12);
    desk.keys("t =");
    assert_eq!(verdicts(&desk), [None, Some(Verdict::FalsePositive), None]);
    desk.keys("u : 'take over' enter");
    assert_eq!(verdicts(&desk)[1], Some(Verdict::FalsePositive));
    desk.keys("u : 'take over is:offered' enter");
    assert_eq!(desk.prompt().question, "Reuse the earlier decision on 2 findings: is:offered?");
    desk.at += Duration::from_secs(1);
    desk.keys("enter");
    assert_eq!(verdicts(&desk), [Some(Verdict::FalsePositive), Some(Verdict::FalsePositive), None]);
}

#[test]
fn review_card_reuses_earlier_decisions_of_its_findings() {
    let mut desk = desk();
    desk.keys("b c B");
    while desk.model.reviewing().unwrap().card().unwrap().title.as_str() != "hsts" {
        desk.keys("J");
    }
    desk.keys("=");
    assert_eq!(verdicts(&desk)[0], Some(Verdict::FalsePositive));
    assert_eq!(desk.model.reviewing().unwrap().card().unwrap().title.as_str(), "hsts");
}
