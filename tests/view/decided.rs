//! Text snapshots of decisions on findings and of their results: the detail and the board.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::contract::{Evidence, Finding, Risk, Scan, ScanId, ScanStatus};
use scandeck::dashboard::base::Pane;
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::{Board, TriageNews};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::Theme;
use scandeck::table::Table;
use scandeck::triage::{
    Change, Decision, Event, EventId, EventWriter, Identity, Reason, Retest, RetestFinding,
    RetestScan, Subject, Verdict,
};

use super::fixtures::{ago, findings, learn, populated, press, scans, send};
use super::text;

const SIZES: [(u16, u16); 3] = [(80, 24), (90, 50), (200, 60)];

fn hold(name: &str, sizes: &[(u16, u16)], make: impl Fn(u16, u16) -> Model) {
    for &(columns, rows) in sizes {
        assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&mut make(columns, rows), Theme::default())
        );
    }
}

/// Anna and Ben decide the selected finding concurrently; Anna undoes a note.
fn add_conflict(model: &mut Model) {
    let issue = model
        .lists
        .findings
        .selected
        .and_then(|id| model.data.findings.value()?.get(id))
        .unwrap();
    let subject = Subject::Finding(Identity::clone(&issue.identity));
    let writer = |who: &str, instance| EventWriter {
        who: who.into(),
        instance,
        number: 0,
        workspace: "Acme external".into(),
    };
    let (mut anna, mut ben) = (writer("anna", 1), writer("ben", 2));
    let mut events: Vec<Event> = Vec::new();
    let mut write =
        |writer: &mut EventWriter, clock: u64, subject: &Subject, change: Change| -> EventId {
            let (batch, at) = (writer.next(), ago(7_200 - 60 * clock as i64));
            events.push(writer.write((at, clock), batch, Vec::new(), subject.clone(), change));
            batch
        };
    let decided = |verdict, reason, until| {
        Change::Decide(Decision {
            verdict,
            reason,
            until,
            ..Decision::default()
        })
    };
    write(
        &mut anna,
        1,
        &subject,
        decided(Verdict::Confirmed, None, None),
    );
    let until = "2027-04-15".parse().ok();
    write(
        &mut ben,
        1,
        &subject,
        decided(
            Verdict::RiskAccepted,
            Some(Reason::CompensatingControl),
            until,
        ),
    );
    let note = write(
        &mut anna,
        2,
        &subject,
        Change::Note("seen with my own eyes".into()),
    );
    write(
        &mut ben,
        3,
        &subject,
        Change::Note("Behind the VPN from Monday on.\nAsk Carla.".into()),
    );
    write(&mut anna, 4, &Subject::Batch(note), Change::Undo);
    let tags = Change::Tag {
        add: vec!["pci".into(), "q1".into()],
        remove: vec![],
    };
    write(&mut anna, 5, &subject, tags);
    write(&mut anna, 6, &subject, Change::Severity(Some(Risk::Medium)));
    let events = events.into_iter().map(Arc::new).collect();
    send(model, 80_000, Msg::Triage(TriageNews::Events(events)));
}

#[test]
fn decision_column_needs_a_decision_among_the_shown_rows() {
    let mut model = populated(90, 50);
    press(&mut model, "3 g g");
    add_conflict(&mut model);
    let shown = text(&mut model, Theme::default());
    assert!(shown.contains("DECISION"), "{shown}");
    press(&mut model, "/ n g i n x enter");
    let shown = text(&mut model, Theme::default());
    assert!(
        !shown.contains("DECISION") && shown.contains("Technology seen"),
        "{shown}"
    );
}

/// An earlier scan also reported the first finding, and another target has a finding of the same
/// class.
fn with_earlier(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let mut all = findings();
    let earlier = Finding {
        id: 90.into(),
        task_id: Some(ScanId(100)),
        risk_level: Risk::High,
        vuln_evidence: Evidence::from_value(&"HTTP/1.1 403 Forbidden".into()),
        ..all[0].clone()
    };
    all.push(earlier);
    all.push(Finding {
        id: 91.into(),
        target_id: Some(2.into()),
        task_id: Some(ScanId(111)),
        ..all[0].clone()
    });
    let mut scanned = scans(false);
    scanned.push(Scan {
        id: ScanId(100),
        start_time: Some(ago(260_000)),
        ..finished(100, 1)
    });
    learn(
        &mut model,
        71_000,
        Snapshot::Scans(Arc::new(Table::new(scanned))),
    );
    learn(
        &mut model,
        71_000,
        Snapshot::Findings(Arc::new(Table::new(all))),
    );
    press(&mut model, "3 g g");
    model
}

fn finished(id: i64, target: i64) -> Scan {
    Scan {
        id: ScanId(id),
        tool_id: 170,
        target_id: target.into(),
        status_name: ScanStatus::Finished,
        workspace_id: Some(1.into()),
        start_time: Some(ago(50)),
        end_time: Some(ago(30)),
        progress: 100,
        ..Scan::default()
    }
}

#[test]
fn conflicting_decisions_undo_and_earlier_scans_are_shown() {
    hold("finding_conflict", &SIZES, |columns, rows| {
        let mut model = with_earlier(columns, rows);
        add_conflict(&mut model);
        press(&mut model, "enter");
        model
    });
    hold("finding_history", &SIZES[..2], |columns, rows| {
        let mut model = with_earlier(columns, rows);
        add_conflict(&mut model);
        press(&mut model, "enter > > >");
        model
    });
}

/// Five findings of three scans are retested: one scan done, one failed, one running.
fn retested(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let issues = model.data.findings.value().unwrap();
    let retested: Vec<RetestFinding> = issues
        .order(0)
        .iter()
        .map(|&row| &issues.items()[row as usize])
        .take(6)
        .filter_map(|issue| {
            RetestFinding::new(
                issue,
                "confirmed",
                issue.target_name().clone().unwrap_or_default(),
            )
        })
        .collect();
    let again = |(of, new): (i64, i64)| RetestScan {
        of: ScanId(of),
        scan: Some(ScanId(new)),
        started: true,
        ..RetestScan::default()
    };
    let retest = Retest {
        at: Some(ago(120)),
        findings: retested,
        scans: [(115, 130), (114, 131), (111, 132)].map(again).to_vec(),
    };
    model.findings.board = Some(Board::Retest(retest));
    press(&mut model, "3");
    model.navigation.focus.pane = Pane::Board;
    let mut scanned = scans(false);
    for scan in &mut scanned {
        // The original scans of the retest have ended.
        if [115, 114].contains(&scan.id.0) {
            scan.status_name = ScanStatus::Finished;
            scan.num_finished_tests = 0;
        }
    }
    scanned.push(finished(130, 1));
    scanned.push(Scan {
        status_name: ScanStatus::Running,
        progress: 66,
        end_time: None,
        ..finished(131, 3)
    });
    scanned.push(Scan {
        tool_id: 450,
        status_name: ScanStatus::ConnectionError,
        ..finished(132, 2)
    });
    let mut all = findings();
    all.push(Finding {
        id: 600.into(),
        task_id: Some(ScanId(130)),
        ..all[2].clone()
    });
    learn(
        &mut model,
        72_000,
        Snapshot::Scans(Arc::new(Table::new(scanned))),
    );
    learn(
        &mut model,
        72_000,
        Snapshot::Findings(Arc::new(Table::new(all))),
    );
    // Late enough for the notices of the failed scans to have expired.
    send(&mut model, 100_000, Msg::Wake);
    model
}

#[test]
fn board_shows_previous_and_current_state() {
    hold("board_retest", &SIZES, retested);
    hold("board_by_now", &SIZES[..1], |columns, rows| {
        let mut model = retested(columns, rows);
        press(&mut model, ",");
        send(&mut model, 200_000, Msg::Wake);
        model
    });
    hold("board_compare_unequal", &[(120, 40)], |columns, rows| {
        let mut model = with_earlier(columns, rows);
        let mut scanned = scans(false);
        scanned.push(Scan {
            id: ScanId(100),
            tool_id: 450,
            start_time: Some(ago(260_000)),
            ..finished(100, 2)
        });
        learn(
            &mut model,
            72_000,
            Snapshot::Scans(Arc::new(Table::new(scanned))),
        );
        model.findings.board = Some(Board::Compare(ScanId(100), ScanId(115)));
        model.navigation.focus.pane = Pane::Board;
        send(&mut model, 100_000, Msg::Wake);
        model
    });
    hold("board_compare", &SIZES, |columns, rows| {
        let mut model = with_earlier(columns, rows);
        let mut scanned = scans(false);
        scanned.push(Scan {
            id: ScanId(100),
            start_time: Some(ago(260_000)),
            ..finished(100, 1)
        });
        scanned.push(finished(130, 1));
        learn(
            &mut model,
            72_000,
            Snapshot::Scans(Arc::new(Table::new(scanned))),
        );
        model.findings.board = Some(Board::Compare(ScanId(100), ScanId(115)));
        model.navigation.focus.pane = Pane::Board;
        model.lists.board.sort = scandeck::dashboard::data::BY_NOW;
        let mut all = findings();
        all.push(Finding {
            id: 90.into(),
            task_id: Some(ScanId(100)),
            risk_level: Risk::High,
            ..all[0].clone()
        });
        learn(
            &mut model,
            72_000,
            Snapshot::Findings(Arc::new(Table::new(all))),
        );
        send(&mut model, 100_000, Msg::Wake);
        model
    });
}
