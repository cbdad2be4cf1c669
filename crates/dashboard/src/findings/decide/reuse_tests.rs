//! A finding whose port moved, and one whose imported file states a verdict: the decision is
//! offered, shown, and reused by a key.

use crate::findings::retest::tests::{ended, found};
use crate::testing::*;
use scandeck_domain::triage::{Change, IssueId, Reason, Verdict, VerdictSource};
use scandeck_wire::contract::verdict::ProposedVerdict;

fn on_port(id: i64, scan: i64, kind: &str, port: i64) -> Finding {
    Finding {
        vuln_id: kind.into(),
        port,
        protocol: "tcp".into(),
        ..found(id, scan, 1, kind, Risk::High)
    }
}

/// Two kinds of finding that were decided on port 443; then a scan sees both on 8443, and a third
/// kind.
fn app() -> TestDashboard {
    app_with(on_port(11, 5, "hsts", 8443))
}

/// The same with this finding as the first one of the later scan.
fn app_with(first: Finding) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    let before = [on_port(1, 1, "hsts", 443), on_port(2, 1, "csp", 443)];
    app.feed(Snapshot::Findings(table(before.clone())));
    app.keys("3 * f");
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(5, 1, 3_600),
    ])));
    let now = [
        first,
        on_port(12, 5, "csp", 8443),
        on_port(13, 5, "xfo", 8443),
    ];
    app.feed(Snapshot::Findings(table(before.into_iter().chain(now))));
    app.keys("r");
    app
}

/// The row of a finding of the service.
fn row(app: &TestDashboard, finding: i64) -> IssueId {
    let table = app.model.data.findings.value().unwrap();
    table
        .items()
        .iter()
        .find(|issue| issue.finding.id.0 == finding)
        .unwrap()
        .id
}

fn select(app: &mut TestDashboard, finding: i64) {
    let id = row(app, finding);
    assert!(app.model.cursor(Pane::Findings).select_id(id.0));
}

/// The verdict a person gave, of each of the three.
fn verdicts(app: &TestDashboard) -> [Option<Verdict>; 3] {
    [11, 12, 13].map(|id| {
        let assessment = app.model.assessment(row(app, id)).unwrap();
        (assessment.source == VerdictSource::Person).then_some(assessment.verdict)
    })
}

#[test]
fn offered_decision_applies_only_after_reuse() {
    let mut app = app();
    assert_eq!(verdicts(&app), [None; 3]);
    assert!(
        app.model.earlier_decision(row(&app, 11)).is_some()
            && app.model.earlier_decision(row(&app, 13)).is_none()
    );
    select(&mut app, 11);
    let effects = app.keys("=");
    let events = crate::findings::decide::tests::recorded(&effects);
    assert!(
        matches!(events[..], [ref event] if matches!(event.change, Change::Inherit(_))),
        "{events:?}"
    );
    assert_eq!(verdicts(&app), [Some(Verdict::FalsePositive), None, None]);
    assert!(app.model.earlier_decision(row(&app, 11)).is_none());
    assert!(
        app.notices().contains("earlier decision reused on hsts"),
        "{}",
        app.notices()
    );
    assert_eq!(
        app.selected(Pane::Findings),
        Some(11),
        "the row keeps its place"
    );
    app.keys("u");
    assert_eq!(verdicts(&app), [None; 3]);
    assert!(app.model.earlier_decision(row(&app, 11)).is_some());
}

#[test]
fn offered_verdict_is_that_which_the_key_gives() {
    let mut app = app_with(Finding {
        proposed: with_proposal(11, "hsts", Verdict::NotApplicable).proposed,
        ..on_port(11, 5, "hsts", 8443)
    });
    // The decision on port 443.
    app.keys("u");
    select(&mut app, 11);
    let offered = app.model.offered_verdict(row(&app, 11));
    app.keys("=");
    assert_eq!(verdicts(&app)[0], offered);
}

#[test]
fn reuse_applies_only_to_marked_rows_with_offer() {
    let mut app = app();
    app.keys("* =");
    assert_eq!(
        verdicts(&app),
        [
            Some(Verdict::FalsePositive),
            Some(Verdict::FalsePositive),
            None
        ]
    );
    app.keys("u G =");
    assert_eq!(verdicts(&app)[2], None);
}

#[test]
fn reuse_without_offer_shows_notice() {
    let mut app = app();
    select(&mut app, 13);
    app.keys("=");
    assert!(
        app.notices()
            .contains("no earlier or imported decision to reuse"),
        "{}",
        app.notices()
    );
    assert_eq!(verdicts(&app), [None; 3]);
}

#[test]
fn new_decision_ends_offer_of_earlier_one() {
    let mut app = app();
    select(&mut app, 11);
    app.keys("c");
    assert!(app.model.earlier_decision(row(&app, 11)).is_none());
    app.keys("=");
    assert_eq!(verdicts(&app)[0], Some(Verdict::Confirmed));
}

#[test]
fn menu_and_command_reuse_offered_decision() {
    let mut app = app();
    select(&mut app, 12);
    app.keys("t =");
    assert_eq!(verdicts(&app), [None, Some(Verdict::FalsePositive), None]);
    app.keys("u : 'reuse' enter");
    assert_eq!(verdicts(&app)[1], Some(Verdict::FalsePositive));
    app.keys("u : 'reuse is:offered' enter");
    assert_eq!(
        app.prompt().question,
        "Reuse the offered decision on 2 findings that match is:offered?"
    );
    app.at += Duration::from_secs(1);
    app.keys("enter");
    assert_eq!(
        verdicts(&app),
        [
            Some(Verdict::FalsePositive),
            Some(Verdict::FalsePositive),
            None
        ]
    );
}

#[test]
fn review_card_reuses_offered_decisions_of_its_findings() {
    let mut app = app();
    app.keys("b c B");
    while app
        .model
        .reviewing()
        .unwrap()
        .card()
        .unwrap()
        .title
        .as_str()
        != "hsts"
    {
        app.keys("J");
    }
    app.keys("=");
    assert_eq!(verdicts(&app)[0], Some(Verdict::FalsePositive));
    assert_eq!(
        app.model
            .reviewing()
            .unwrap()
            .card()
            .unwrap()
            .title
            .as_str(),
        "hsts"
    );
}

/// A finding whose file states a verdict.
fn with_proposal(id: i64, kind: &str, verdict: Verdict) -> Finding {
    let proposed = ProposedVerdict {
        by: "anna".into(),
        ..ProposedVerdict::new(verdict, "test_artifact")
    };
    Finding {
        proposed: Some(Box::new(proposed)),
        ..on_port(id, 1, kind, 443)
    }
}

#[test]
fn verdict_of_imported_file_applies_only_after_reuse() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    app.feed(Snapshot::Findings(table([
        with_proposal(1, "csp", Verdict::FalsePositive),
        // Its original is unknown.
        with_proposal(2, "hsts", Verdict::Duplicate),
        on_port(3, 1, "xfo", 443),
    ])));
    app.keys("3 / 'is:proposed' enter");
    assert_eq!(app.model.lists.findings.rows.len(), 2);
    let decision = |app: &TestDashboard, id: i64| {
        let known = app.model.assessment(row(app, id)).unwrap();
        (known.source == VerdictSource::Person).then_some((known.verdict, known.reason))
    };
    assert_eq!(decision(&app, 1), None);
    select(&mut app, 1);
    let frame = app.frame().join("\n");
    assert!(frame.contains("false pos"), "{frame}");
    let effects = app.keys("=");
    let events = crate::findings::decide::tests::recorded(&effects);
    assert!(
        matches!(events[..], [ref event] if matches!(event.change, Change::Decide(_))),
        "{events:?}"
    );
    assert_eq!(
        decision(&app, 1),
        Some((Verdict::FalsePositive, Some(Reason::TestArtifact)))
    );
    app.keys("=");
    assert!(
        app.notices()
            .contains("no earlier or imported decision to reuse"),
        "{}",
        app.notices()
    );
    app.keys("u");
    assert_eq!(decision(&app, 1), None);
    select(&mut app, 2);
    app.keys("=");
    assert_eq!(decision(&app, 2), None);
    app.keys("enter");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("the imported file says: duplicate"),
        "{frame}"
    );
}

#[test]
fn reason_in_the_words_of_the_file_becomes_a_note() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    let proposed = ProposedVerdict::new(Verdict::FalsePositive, "only in the test shop");
    app.feed(Snapshot::Findings(table([Finding {
        proposed: Some(Box::new(proposed)),
        ..on_port(1, 1, "csp", 443)
    }])));
    app.keys("3");
    select(&mut app, 1);
    let effects = app.keys("=");
    let events = crate::findings::decide::tests::recorded(&effects);
    let changes: Vec<&Change> = events.iter().map(|event| &event.change).collect();
    assert!(
        matches!(changes[..], [Change::Decide(_), Change::Note(note)]
            if **note == *"only in the test shop"),
        "{changes:?}"
    );
}
