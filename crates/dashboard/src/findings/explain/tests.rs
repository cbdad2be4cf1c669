//! Why a finding changed, from the key to the step that settles it.

use crate::base::{Pane, Snapshot};
use crate::testing::{Modal, Size, TestDashboard, finding, scan, stamp, table};
use scandeck_wire::contract::{Finding, Risk, Scan, ScanId, ScanStatus, Stamp};

/// Two finished scans of one target: 1 found the keys and the repository, 2 only the keys, with
/// another risk. A third scan of another target failed.
fn app(columns: u16, rows: u16) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size { columns, rows };
    let ended = |id: i64, target: i64, status: ScanStatus| {
        let at = Stamp(jiff::Timestamp::from_second(stamp().0.as_second() - 1000 + id).unwrap());
        Scan {
            start_time: Some(at),
            end_time: Some(at),
            ..scan(id, target, status, 100)
        }
    };
    let of = |id: i64, by: i64, target: i64, name: &str, risk: Risk| Finding {
        task_id: Some(ScanId(by)),
        ..finding(id, target, name, risk)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, ScanStatus::Finished),
        ended(2, 1, ScanStatus::Finished),
        ended(3, 2, ScanStatus::Finished),
        ended(4, 2, ScanStatus::ConnectionError),
    ])));
    app.feed(Snapshot::Findings(table([
        of(1, 1, 1, "A key", Risk::High),
        of(2, 1, 1, "B git", Risk::High),
        of(11, 2, 1, "A key", Risk::Critical),
        of(13, 3, 2, "C cookie", Risk::Low),
    ])));
    app
}

/// The lines of the explanation of a finding.
fn why(app: &mut TestDashboard, id: i64) -> Vec<String> {
    app.model
        .set_query(Pane::Findings, &format!("id:{id}"))
        .unwrap();
    app.keys("3 home Y");
    let Some(Modal::Why(open)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    open.lines.iter().map(|line| line.printed()).collect()
}

#[test]
fn absent_finding_names_the_scans_and_the_keys_that_settle_it() {
    let mut app = app(80, 24);
    let lines = why(&mut app, 2);
    assert!(lines[0].starts_with("Because   absent: "), "{lines:#?}");
    assert!(
        lines[1].contains("#1 ") && lines[1].contains("found it"),
        "{lines:#?}"
    );
    assert!(
        lines[2].contains("#2 ") && lines[2].contains("did not find it"),
        "{lines:#?}"
    );
    let next: Vec<&String> = lines.iter().rev().take(2).rev().collect();
    assert_eq!(next[0], "Next      s repeats scan #1 with its parameters");
    assert_eq!(next[1], "          enter opens the tests of scan #2");
    let shown = app.frame().join("\n");
    for part in ["Why: B git", "Because", "Decision", "enter opens the tests"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    app.keys("Y");
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn changed_finding_shows_risk_then_and_now() {
    let lines = why(&mut app(200, 60), 11);
    assert!(lines[0].starts_with("Because   changed: "), "{lines:#?}");
    for part in ["- risk: high", "+ risk: critical"] {
        assert!(
            lines.iter().any(|line| line.contains(part)),
            "{part} {lines:#?}"
        );
    }
}

#[test]
fn finding_that_a_failed_scan_did_not_test_names_its_status() {
    let lines = why(&mut app(80, 24), 13);
    assert!(
        lines[0].starts_with("Because   not retested: "),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("connection error")),
        "{lines:#?}"
    );
}

#[test]
fn keys_of_the_explanation_retest_this_finding_and_open_the_scan() {
    let mut app = app(80, 24);
    app.keys("3 space");
    why(&mut app, 2);
    app.keys("s");
    let Some(Modal::Prompt(prompt)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    assert!(
        prompt.question.contains("B git"),
        "the marked row is not retested: {}",
        prompt.question
    );
    app.keys("esc");
    why(&mut app, 2);
    app.keys("enter");
    assert_eq!(app.model.navigation.focus.pane, Pane::Scans);
    assert_eq!(app.selected(Pane::Scans), Some(2));
}

#[test]
fn read_only_session_offers_no_retest() {
    let mut app = app(80, 24);
    app.model.session.read_only = true;
    let lines = why(&mut app, 2);
    assert!(
        !lines.iter().any(|line| line.contains("repeats scan")),
        "{lines:#?}"
    );
    app.keys("s");
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Why(_))),
        "{}",
        app.notices()
    );
}

#[test]
fn other_panes_have_no_explanation() {
    let mut app = app(80, 24);
    app.keys("2 : 'why' enter");
    assert!(
        !matches!(app.model.overlay.modals.last(), Some(Modal::Why(_))),
        "{}",
        app.notices()
    );
}
