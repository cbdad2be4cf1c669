//! Retest and compare: the prompt, the started scans, and the board while scans end.

use crate::base::{Call, CallAnswer, Effect, Pane, PollEvent, Snapshot, UnreadScans, Update};
use crate::core::Msg;
use crate::data::{Board, StoredDecisions, TriageNews};
use crate::model::Modal;
use crate::testing::{TestDashboard, finding, scan, stamp, table};
use crate::text::DetailSubject;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{Outcome, RETEST_SETTING, ReadTimes, Retest, RetestStatus, Verdict};
use scandeck_wire::contract::{
    Finding, NewScan, ResultSummary, Risk, Scan, ScanCreated, ScanId, ScanStatus, Stamp, TargetId,
    Workspace, WorkspaceId,
};
use std::sync::Arc;

/// So many findings of high risk and no others.
fn high(count: i64) -> ResultSummary {
    let none = Some(0);
    ResultSummary {
        critical: none,
        high: Some(count),
        medium: none,
        low: none,
        info: none,
        ..Default::default()
    }
}

pub(crate) fn ended(id: i64, target: i64, at: i64) -> Scan {
    let start = Some(Stamp(stamp().0 + jiff::SignedDuration::from_secs(at)));
    Scan {
        start_time: start,
        end_time: start,
        num_finished_tests: 10,
        result_summary: high(0),
        tool_params: Some(serde_json::json!({"scan_type": "light"})),
        max_scan_time: Some(15),
        ..scan(id, target, ScanStatus::Finished, 100)
    }
}

pub(crate) fn found(id: i64, scan: i64, target: i64, name: &str, risk: Risk) -> Finding {
    Finding {
        task_id: Some(ScanId(scan)),
        ..finding(id, target, name, risk)
    }
}

/// Two targets with a scan and two findings each.
pub(crate) fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
    ])));
    app.feed(Snapshot::Findings(table(before())));
    app
}

pub(crate) fn before() -> Vec<Finding> {
    vec![
        found(1, 1, 1, "Private key", Risk::Critical),
        found(2, 1, 1, "Git repository", Risk::High),
        found(3, 4, 2, "Cookie flags", Risk::Medium),
        found(4, 4, 2, "Banner", Risk::Info),
    ]
}

pub(crate) fn started(call: &Call) -> Result<CallAnswer, Problem> {
    match call {
        Call::StartScan(NewScan {
            target_id: Some(TargetId(target)),
            ..
        }) => {
            let created_id = Some(ScanId(10 + target));
            Ok(CallAnswer::Scan(ScanCreated {
                created_id,
                target_id: None,
            }))
        }
        _ => Ok(CallAnswer::Done),
    }
}

/// The status of each finding on the board, by name.
fn now(app: &TestDashboard) -> Vec<(String, RetestStatus)> {
    let rows = app.model.data.board.value().unwrap();
    rows.items()
        .iter()
        .map(|row| (row.name.to_string(), row.now))
        .collect()
}

#[test]
fn whole_list_is_retested_with_one_scan_per_target_and_tool() {
    let mut app = app();
    assert!(
        app.calls("3 * s").is_empty(),
        "nothing starts before the yes"
    );
    assert_eq!(app.prompt().question, "Retest 4 findings? Repeats 2 scans.");
    let calls = app.calls("y");
    let scans: Vec<_> = calls
        .iter()
        .map(|(_, call)| match call {
            Call::StartScan(new) => (
                new.tool_id,
                new.target_id,
                new.max_scan_time,
                new.tool_params.clone(),
            ),
            other => panic!("{other:?}"),
        })
        .collect();
    let params = Some(serde_json::json!({"scan_type": "light"}));
    assert_eq!(
        scans,
        [
            (170, Some(TargetId(1)), Some(15), params.clone()),
            (170, Some(TargetId(2)), Some(15), params)
        ]
    );
    assert_eq!(
        app.model.navigation.focus.pane,
        Pane::Findings,
        "as for a single finding"
    );
    assert_eq!(
        app.model.lists.findings.marks.len(),
        4,
        "marks stay until esc or a decision"
    );
    assert!(
        now(&app)
            .iter()
            .all(|(_, now)| *now == RetestStatus::Waiting)
    );
}

#[test]
fn single_retest_remains_in_findings_list() {
    let mut app = app();
    assert_eq!(app.calls("3 s y").len(), 1);
    assert_eq!(app.model.navigation.focus.pane, Pane::Findings);
}

#[test]
fn board_updates_with_scans_and_findings() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    let running = Scan {
        status_name: ScanStatus::Running,
        progress: 66,
        end_time: None,
        ..ended(11, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        running,
    ])));
    let statuses =
        |app: &TestDashboard| now(app).into_iter().map(|(_, now)| now).collect::<Vec<_>>();
    assert_eq!(
        statuses(&app),
        [
            RetestStatus::Running(ScanId(11)),
            RetestStatus::Running(ScanId(11)),
            RetestStatus::Waiting,
            RetestStatus::Waiting
        ]
    );

    // The scan has ended and reports a finding that was not read yet.
    let first = Scan {
        result_summary: high(1),
        ..ended(11, 1, 10)
    };
    let failed = Scan {
        status_name: ScanStatus::ConnectionError,
        ..ended(12, 2, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        first,
        failed,
    ])));
    assert_eq!(
        statuses(&app),
        [
            RetestStatus::Reading,
            RetestStatus::Reading,
            RetestStatus::Failed,
            RetestStatus::Failed
        ]
    );

    let mut findings = before();
    findings.push(found(20, 11, 1, "Git repository", Risk::High));
    app.feed(Snapshot::Findings(table(findings)));
    use Outcome::{Absent, Same};
    assert_eq!(
        statuses(&app),
        [
            RetestStatus::Is(Absent),
            RetestStatus::Is(Same),
            RetestStatus::Failed,
            RetestStatus::Failed
        ]
    );
    assert_eq!(app.model.board_words(), "2 scans: 1 done, 1 failed");
}

#[test]
fn retest_result_waits_until_findings_are_read() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    let scans = |result_summary| {
        let first = Scan {
            result_summary,
            ..ended(11, 1, 10)
        };
        Snapshot::Scans(table([ended(1, 1, -900), ended(4, 2, -900), first]))
    };
    for summary in [high(2), ResultSummary::default()] {
        app.at += std::time::Duration::from_secs(3600);
        app.feed(scans(summary));
        assert_eq!(now(&app)[0].1, RetestStatus::Reading);
    }
    let mut read_after = |seconds: i64| {
        let at = Stamp(stamp().0 + jiff::SignedDuration::from_secs(10 + seconds));
        let generation = app.model.connection.generation;
        app.send(Msg::Update(Update {
            generation,
            at,
            event: Snapshot::Findings(table(before())).into(),
        }));
        now(&app)[0].1
    };
    // They may have been requested before the end of the scan.
    assert_eq!(read_after(5), RetestStatus::Reading);
    // Fetched long after the end of the scan: a missing finding is absent, whatever the counts are.
    assert_eq!(read_after(3600), RetestStatus::Is(Outcome::Absent));
}

#[test]
fn filter_of_the_board_counts_what_it_hides() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    app.keys("b n / 'name:nothing'");
    let frame = app.frame().join("\n");
    assert!(frame.contains("no matches: 4 rows hidden"), "{frame}");
}

#[test]
fn findings_of_one_scan_prove_nothing_about_another() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    app.at += std::time::Duration::from_secs(3600);
    let again = [
        Scan {
            result_summary: high(2),
            ..ended(11, 1, 10)
        },
        Scan {
            result_summary: high(2),
            ..ended(12, 2, 10)
        },
    ];
    app.feed(Snapshot::Scans(table(
        [ended(1, 1, -900), ended(4, 2, -900)]
            .into_iter()
            .chain(again),
    )));
    let later = Stamp(stamp().0 + jiff::SignedDuration::from_secs(3600));
    // Only the findings of scan 12 were read, long after the end of both.
    let read: Vec<Finding> = before()
        .into_iter()
        .chain([found(13, 12, 2, "Banner", Risk::Info)])
        .collect();
    let times = ReadTimes {
        all: Some(stamp()),
        scans: Arc::new([(ScanId(12), later)].into_iter().collect()),
        ..ReadTimes::default()
    };
    app.feed(PollEvent::SomeFindings(
        table(read),
        UnreadScans::default(),
        times,
    ));
    use RetestStatus::{Is, Reading};
    let statuses: Vec<RetestStatus> = now(&app).into_iter().map(|(_, status)| status).collect();
    assert_eq!(
        statuses,
        [Reading, Reading, Is(Outcome::Absent), Is(Outcome::Same)]
    );
    assert!(
        app.model
            .data
            .findings
            .value()
            .unwrap()
            .items()
            .iter()
            .take(2)
            .all(|issue| issue.is_present())
    );
}

#[test]
fn retest_result_is_saved_after_leaving_workspace() {
    let stored = |app: &TestDashboard, of: &str| -> Option<Retest> {
        let json = app
            .model
            .findings
            .triage
            .settings
            .get(&(RETEST_SETTING.into(), of.into()))?;
        Some(serde_json::from_str(json).unwrap())
    };
    let mut app = app();
    let sent = app.calls("3 * s y");
    let effects = app.answer(&sent[..1], started);
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Remember {
            key: RETEST_SETTING,
            ..
        }
    )));
    let known = |app: &TestDashboard| {
        stored(app, "Acme")
            .unwrap()
            .scans
            .iter()
            .map(|again| again.scan)
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&app), [Some(ScanId(11)), None]);
    app.model.work_in(WorkspaceId(2));
    app.answer(&sent[1..], started);
    assert_eq!(known(&app), [Some(ScanId(11)), Some(ScanId(12))]);
    assert!(stored(&app, "Lab").is_none() && app.model.findings.board.is_none());
}

#[test]
fn retest_joins_running_and_replaces_ended_retest() {
    for (status, rows) in [(ScanStatus::Running, 3), (ScanStatus::Finished, 1)] {
        let mut app = app();
        let sent = app.calls("3 g g space space s y");
        app.answer(&sent, started);
        let first = Scan {
            status_name: status,
            ..ended(11, 1, 10)
        };
        app.feed(Snapshot::Scans(table([
            ended(1, 1, -900),
            ended(4, 2, -900),
            first,
        ])));
        let last = app.model.data.findings.value().unwrap().items()[3].id;
        app.keys("3");
        app.model.lists.findings.marks.clear();
        app.model.cursor(Pane::Findings).select_id(last.0);
        app.keys("s y");
        assert_eq!(now(&app).len(), rows);
    }
}

#[test]
fn scan_with_fewer_tests_reports_less_coverage() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    let less = Scan {
        num_finished_tests: 9,
        ..ended(11, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        less,
    ])));
    assert_eq!(now(&app)[0].1, RetestStatus::Is(Outcome::CoveredLess));
}

#[test]
fn refused_scan_is_shown_on_board() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, |_| Err(Problem::local("no more scans today")));
    assert!(
        now(&app)
            .iter()
            .all(|(_, now)| *now == RetestStatus::Refused)
    );
}

#[test]
fn notice_of_a_retest_does_not_count_findings_whose_scan_was_refused() {
    let ended_with = |refused: bool| {
        let mut app = app();
        let sent = app.calls("3 * s y");
        app.answer(&sent, |call| match call {
            Call::StartScan(NewScan {
                target_id: Some(TargetId(2)),
                ..
            }) => Err(Problem::local("no more scans today")),
            Call::StartScan(_) if refused => Err(Problem::local("no more scans today")),
            _ => started(call),
        });
        app.feed(Snapshot::Scans(table([
            ended(1, 1, -900),
            ended(4, 2, -900),
            ended(11, 1, 10),
        ])));
        app.notices()
    };
    assert!(
        ended_with(false).contains("retest ended: 2 findings absent ·"),
        "{}",
        ended_with(false)
    );
    assert!(
        !ended_with(true).contains("retest ended"),
        "{}",
        ended_with(true)
    );
}

#[test]
fn retest_finds_new_scan_without_id_in_response() {
    let mut app = app();
    let sent = app.calls("3 s y");
    app.answer(&sent, |_| Ok(CallAnswer::Scan(ScanCreated::default())));
    let running = Scan {
        status_name: ScanStatus::Running,
        end_time: None,
        ..ended(30, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        running,
    ])));
    assert_eq!(now(&app)[0].1, RetestStatus::Running(ScanId(30)));
}

#[test]
fn retest_excludes_scans_with_secret() {
    let mut app = TestDashboard::new();
    let secret = Scan {
        tool_params: Some(serde_json::json!({"authentication": "•••"})),
        ..ended(1, 1, -900)
    };
    app.feed(Snapshot::Scans(table([secret, ended(4, 2, -900)])));
    app.feed(Snapshot::Findings(table(before())));
    app.keys("3 * s");
    assert_eq!(
        app.prompt().question,
        "Retest 2 findings? Repeats scan 4 (Website scan of t2.acme.test)."
    );
    assert!(
        app.prompt()
            .lines
            .iter()
            .any(|line| line.starts_with("2 findings excluded")),
        "{:?}",
        app.prompt().lines
    );
    app.keys("n * g g s");
    assert!(
        app.notices().contains("credentials that are not stored"),
        "{}",
        app.notices()
    );
}

#[test]
fn board_is_restored_after_restart() {
    let mut app = app();
    let effects = app.keys("3 * s y");
    let mut settings = std::collections::BTreeMap::new();
    for effect in &effects {
        if let Effect::Remember {
            key,
            workspace,
            value,
        } = effect
        {
            settings.insert(((*key).into(), workspace.clone()), value.clone());
        }
    }
    let mut again = crate::findings::retest::tests::app();
    again.send(Msg::Triage(TriageNews::Opened(Box::new(StoredDecisions {
        settings,
        ..StoredDecisions::default()
    }))));
    again.model.open_retest();
    assert_eq!(
        (again.model.navigation.focus.pane, now(&again).len()),
        (Pane::Board, 4)
    );
    // Another workspace has a board of its own.
    let workspaces = [1, 2].map(|id| Workspace {
        id: WorkspaceId(id),
        name: format!("w{id}").into(),
        ..Workspace::default()
    });
    again.feed(Snapshot::Workspaces(table(workspaces)));
    again.keys("1 G enter");
    again.model.open_retest();
    assert!(again.model.findings.board.is_none() && again.notices().contains("no retest yet"));
}

#[test]
fn export_contains_results_of_last_retest() {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.answer(&sent, started);
    let first = Scan {
        result_summary: high(1),
        ..ended(11, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        first,
    ])));
    let again = found(20, 11, 1, "Git repository", Risk::High);
    app.feed(Snapshot::Findings(table(
        before().into_iter().chain([again]),
    )));
    app.keys("g f");
    app.model.set_query(Pane::Findings, "is:undecided").unwrap();
    let effects = app.keys(": e x p o r t space c s v enter");
    let exported = effects.iter().find_map(|effect| {
        if let Effect::Export(made) = effect {
            Some(made)
        } else {
            None
        }
    });
    let retested: Vec<_> = exported
        .unwrap()
        .rows
        .iter()
        .map(|row| (row.issue.name.to_string(), row.retest_summary()))
        .collect();
    let at = app.model.findings.board.as_ref().map(|board| match board {
        Board::Retest(retest) => retest.at.unwrap(),
        Board::Compare(..) => panic!("{board:?}"),
    });
    let retest = |now: &str| Some(format!("retest on {}: {now} (before: open)", at.unwrap()));
    let expected = [
        ("Private key", "absent"),
        ("Git repository", "still found"),
        ("Cookie flags", "waiting"),
        ("Banner", "waiting"),
    ];
    assert_eq!(
        retested,
        expected.map(|(name, now)| (name.to_owned(), retest(now)))
    );
}

#[test]
fn retest_is_dated_by_its_start_not_by_its_question() {
    let mut app = app();
    app.keys("3 s");
    app.at += std::time::Duration::from_secs(120);
    app.calls("y");
    let Some(Board::Retest(retest)) = &app.model.findings.board else {
        panic!("no retest")
    };
    assert_eq!(retest.at, Some(Stamp(app.model.service_now())));
}

#[test]
fn d_compares_scan_with_previous_or_two_marked_scans() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 1, -600),
        ended(3, 1, -300),
    ])));
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Old", Risk::High),
        found(2, 2, 1, "Stays", Risk::High),
        found(3, 3, 1, "Stays", Risk::High),
        found(4, 3, 1, "Comes", Risk::Low),
    ])));
    app.keys("4 g g d");
    let rows = |app: &TestDashboard| {
        now(app)
            .into_iter()
            .map(|(name, now)| format!("{name} {now:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&app), ["Stays Is(Same)", "Comes Is(New)"]);
    assert_eq!(app.model.navigation.focus.pane, Pane::Board);
    // The oldest and the newest, whichever was marked first.
    app.keys("4 g g space G space d");
    assert_eq!(
        rows(&app),
        ["Old Is(Absent)", "Stays Is(New)", "Comes Is(New)"]
    );
    app.keys("4 * d");
    assert!(app.notices().contains("mark two"), "{}", app.notices());
}

#[test]
fn board_header_chooses_group_and_enter_opens_finding() {
    let mut app = app();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 1, -600),
    ])));
    app.keys("4 g g d");
    let cursor = app.model.cursor(Pane::Board);
    let first = cursor.row_at(1);
    assert_eq!(
        (0..cursor.len()).filter(|&at| cursor.is_header(at)).count(),
        2,
        "new and absent findings"
    );
    assert!(cursor.is_header(0) && !cursor.ids_at(0).is_empty());
    drop(cursor);
    app.keys("j enter");
    assert!(app.model.navigation.focus.in_detail);
    assert_eq!(
        app.model
            .shown_detail()
            .map(|(pane, row, _)| (pane, Some(row))),
        Some((Pane::Board, first.map(DetailSubject::Row)))
    );
}

#[test]
fn difference_of_finding_lists_changed_lines() {
    let mut app = TestDashboard::new();
    let text = |text: &str| scandeck_wire::contract::Evidence::from_value(&text.into());
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 1, -600),
    ])));
    app.feed(Snapshot::Findings(table([
        Finding {
            vuln_evidence: text("Server: apache\nsame"),
            ..found(1, 1, 1, "Banner", Risk::Low)
        },
        Finding {
            vuln_evidence: text("Server: nginx\nsame"),
            ..found(2, 2, 1, "Banner", Risk::High)
        },
    ])));
    app.keys("3 g g d");
    let Some(Modal::Text(shown)) = app.model.overlay.modals.last() else {
        panic!("notices: {}", app.notices())
    };
    for line in ["risk high, was low", "- Server: apache", "+ Server: nginx"] {
        assert!(
            shown.body.lines().any(|text| text == line),
            "{line}: {}",
            shown.body
        );
    }
    assert!(!shown.body.contains("same"), "{}", shown.body);
}

#[test]
fn prompt_of_single_retest_names_finding_and_scan() {
    let mut app = app();
    app.keys("3 g g s");
    assert_eq!(
        app.prompt().question,
        "Retest \"Private key\"? Repeats scan 1 (Website scan of t1.acme.test)."
    );
}

#[test]
fn ended_retest_is_reported_and_its_absent_finding_fixed_with_five_keys() {
    let mut app = app();
    let sent = app.calls("3 g g s y");
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        Scan {
            status_name: ScanStatus::Running,
            end_time: None,
            ..ended(11, 1, 10)
        },
    ])));
    assert!(!app.notices().contains("retest ended"), "{}", app.notices());
    let last = Scan {
        result_summary: high(1),
        ..ended(11, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        last,
    ])));
    let mut findings = before();
    findings.push(found(20, 11, 1, "Git repository", Risk::High));
    app.feed(Snapshot::Findings(table(findings)));
    assert!(
        app.notices()
            .contains("retest ended: 1 finding absent · bn opens the board"),
        "{}",
        app.notices()
    );
    app.keys("b n");
    assert!(
        !app.frame().join("\n").contains("DECISION"),
        "no decision is newer than the retest"
    );
    app.keys("x");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("DECISION") && frame.contains(" fixed"),
        "{frame}"
    );
    let fixed = app
        .model
        .findings
        .triage
        .assessments
        .iter()
        .filter(|one| one.verdict == Verdict::Fixed)
        .count();
    assert_eq!((app.model.navigation.focus.pane, fixed), (Pane::Board, 1));
}

#[test]
fn absent_finding_that_a_second_retest_reports_is_found_again() {
    let mut app = app();
    let first = app.calls("3 g g space space s y");
    app.answer(&first, started);
    let running = Scan {
        status_name: ScanStatus::Running,
        end_time: None,
        ..ended(11, 1, 10)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        running,
    ])));
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
    ])));
    app.feed(Snapshot::Findings(table(before())));
    assert!(
        app.notices().contains("retest ended: 2 findings absent"),
        "{}",
        app.notices()
    );
    app.model.lists.findings.marks.clear();
    app.keys("b n");
    let absent = RetestStatus::Is(Outcome::Absent);
    assert_eq!(
        now(&app),
        [
            ("Private key".to_owned(), absent),
            ("Git repository".to_owned(), absent)
        ]
    );

    let second = app.calls("x s y");
    app.answer(&second, |_| {
        Ok(CallAnswer::Scan(ScanCreated {
            created_id: Some(ScanId(21)),
            target_id: None,
        }))
    });
    let running = Scan {
        status_name: ScanStatus::Running,
        end_time: None,
        ..ended(21, 1, 20)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
        running,
    ])));
    let last = Scan {
        result_summary: high(1),
        ..ended(21, 1, 20)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
        last,
    ])));
    let mut findings = before();
    findings.push(found(30, 21, 1, "Private key", Risk::Critical));
    app.feed(Snapshot::Findings(table(findings)));
    let row = app.model.data.board.value().unwrap().items()[0].clone();
    assert_eq!(
        (row.now.label(), row.before.as_str()),
        ("found again", "fixed")
    );
    assert!(
        app.notices()
            .contains("retest ended: 1 finding found again"),
        "{}",
        app.notices()
    );
}

#[test]
fn absent_finding_that_a_later_scan_reports_is_found_again() {
    let mut app = app();
    let sent = app.calls("3 g g s y");
    app.answer(&sent, started);
    let later = Scan {
        result_summary: high(1),
        ..ended(31, 1, 30)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
        later,
    ])));
    let mut findings = before();
    app.feed(Snapshot::Findings(table(findings.clone())));
    assert_eq!(
        now(&app),
        [("Private key".to_owned(), RetestStatus::Is(Outcome::Absent))]
    );
    findings.push(found(40, 31, 1, "Private key", Risk::Critical));
    app.feed(Snapshot::Findings(table(findings)));
    assert_eq!(
        now(&app),
        [("Private key".to_owned(), RetestStatus::Is(Outcome::New))]
    );
}

#[test]
fn prompt_of_few_findings_names_them() {
    let mut app = app();
    app.keys("3 g g space space s");
    assert_eq!(
        app.prompt().question,
        "Retest 2 findings? Repeats scan 1 (Website scan of t1.acme.test)."
    );
    assert_eq!(
        app.prompt().lines[0],
        "\"Private key\", \"Git repository\"."
    );
}

#[test]
fn absent_finding_of_retest_keeps_its_row_until_another_pane() {
    let mut app = app();
    let twin = |id, scan, target| found(id, scan, target, "Git repository", Risk::High);
    app.feed(Snapshot::Findings(table([twin(1, 1, 1), twin(2, 4, 2)])));
    app.keys("3 g g / 'is:present' enter");
    let retested = app.selected(Pane::Findings);
    let sent = app.calls("s y");
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
        ended(12, 2, 10),
    ])));
    assert_eq!(
        (
            app.shown(Pane::Findings).len(),
            app.selected(Pane::Findings)
        ),
        (1, retested)
    );
    let shown = app
        .model
        .selected_item::<scandeck_domain::triage::Issue>()
        .unwrap();
    assert!(
        !shown.is_present() && shown.absent_in().is_some(),
        "{shown:?}"
    );
    assert_eq!(
        app.model.data.count(Pane::Findings),
        Some(0),
        "the number beside the view counts present findings"
    );
    app.keys("b n q");
    assert_eq!(
        (
            app.shown(Pane::Findings).len(),
            app.selected(Pane::Findings)
        ),
        (1, retested),
        "the board returns to it"
    );
    app.keys("b n 5 3");
    assert_eq!(app.shown(Pane::Findings).len(), 0, "left for another pane");
}

#[test]
fn evidence_of_an_absent_finding_names_its_scan() {
    let mut app = app();
    let evidence = scandeck_wire::contract::Evidence::from_value(&"GET /server.key".into());
    let key = Finding {
        vuln_evidence: evidence,
        ..found(1, 1, 1, "Private key", Risk::Critical)
    };
    app.feed(Snapshot::Findings(table([key])));
    let sent = app.calls("3 / ctrl-u enter g g s y");
    let heading = |app: &mut TestDashboard| {
        let frame = app.frame();
        frame
            .iter()
            .filter(|line| !line.contains("Overview"))
            .find_map(|line| line.rfind(" Evidence").map(|at| line[at + 1..].to_owned()))
            .unwrap_or_default()
    };
    let present = heading(&mut app);
    assert!(present.starts_with("Evidence  "), "{present}");
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(11, 1, 10),
    ])));
    let absent = heading(&mut app);
    assert!(
        absent.starts_with("Evidence of scan #1 Website"),
        "{absent}\n{}",
        app.frame().join("\n")
    );
}

#[test]
fn esc_on_board_returns_to_its_opener() {
    let mut app = app();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 1, -600),
    ])));
    for key in ["esc", "q"] {
        app.keys("4 g g d");
        assert_eq!(app.model.navigation.focus.pane, Pane::Board);
        app.keys(key);
        assert_eq!(app.model.navigation.focus.pane, Pane::Scans);
    }
}

#[test]
fn esc_on_full_view_returns_to_the_pane_that_opened_it() {
    let mut app = app();
    for (view, pane) in [
        ("6", Pane::Reports),
        ("8", Pane::Activity),
        ("g p", Pane::Payloads),
    ] {
        app.keys(&format!("4 {view}"));
        assert_eq!(app.model.navigation.focus.pane, pane);
        app.keys("esc");
        assert_eq!(app.model.navigation.focus.pane, Pane::Scans, "{view}");
    }
    app.keys("4 6 8 esc");
    assert_eq!(
        app.model.navigation.focus.pane,
        Pane::Findings,
        "opened from another full view"
    );
}

#[test]
fn list_without_filter_counts_its_absent_findings() {
    let mut app = app();
    let sent = app.calls("3 g g s y");
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
    ])));
    app.keys("backspace r");
    let screen = app.frame().join("\n");
    assert!(screen.contains("1 of 4, 2 absent"), "{screen}");
}

#[test]
fn retest_asks_for_the_tests_of_its_findings_alone() {
    let mut app = app();
    let kinds = [
        "web.exposed.private_key",
        "web.exposed.git",
        "web.cookie.secure",
        "",
    ];
    let named = before().into_iter().zip(kinds).map(|(one, kind)| Finding {
        vuln_id: kind.into(),
        ..one
    });
    app.feed(Snapshot::Findings(table(named.collect::<Vec<_>>())));
    app.keys("3 * s");
    let lines = app.prompt().lines.join(" ");
    assert!(
        lines.contains("Only the tests of the retested findings run"),
        "{lines}"
    );
    let calls = app.calls("y");
    let params: Vec<_> = calls
        .iter()
        .map(|(_, call)| match call {
            Call::StartScan(new) => new.tool_params.clone().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    let single = serde_json::json!({
        "scan_type": "light", "only_tests": ["web.exposed.git", "web.exposed.private_key"],
    });
    // The test of one finding of the second scan is unknown.
    assert_eq!(params, [single, serde_json::json!({"scan_type": "light"})]);
}

#[test]
fn groups_without_filter_count_present_findings() {
    let mut app = app();
    let sent = app.calls("3 g g s y");
    app.answer(&sent, started);
    let now: Vec<_> = before()
        .into_iter()
        .map(|one| Finding {
            vuln_id: one.name.clone(),
            ..one
        })
        .collect();
    app.feed(Snapshot::Findings(table(now)));
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
    ])));
    let row = |app: &mut TestDashboard, name: &str| {
        let frame = app.frame();
        let row = frame
            .iter()
            .find(|line| line.contains('▸') && line.contains(name));
        let row = row.unwrap_or_else(|| panic!("{}", frame.join("\n")));
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    app.keys("3 z backspace r b t");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("2 findings in 1 target, 2 more absent"),
        "{screen}"
    );
    let absent = row(&mut app, "t1");
    assert!(absent.contains(" 0 0 absent"), "{absent}");
    let present = row(&mut app, "t2");
    assert!(present.contains(" 2 2 "), "{present}");
    app.keys("b c");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("2 findings in 2 classes, 2 more absent"),
        "{screen}"
    );
    app.keys("/ 'is:absent' enter");
    let absent = row(&mut app, "Private key");
    assert!(absent.contains(" 1 1"), "{absent}");
    // Decisions on absent findings are not counted beside present ones.
    app.keys("g g f backspace r b t");
    assert_eq!(
        app.model.findings.triage.state.len(),
        1,
        "the finding is decided"
    );
    let absent = row(&mut app, "t1");
    assert!(absent.contains(" 0 0 absent"), "{absent}");
    // All present findings of a group are decided, one absent finding of it is not.
    app.keys("b w / 'is:present' enter * f esc backspace r b w");
    let mixed = row(&mut app, "no CWE");
    assert!(mixed.contains("no CWE 2 1 false pos"), "{mixed}");
    app.model.navigation.focus.zoomed = false;
    let detail = app.frame().join("\n");
    assert!(
        detail.contains("2 findings on 1 target, 2 more absent"),
        "{detail}"
    );
    assert!(detail.contains("2 false positive "), "{detail}");
}

#[test]
fn groups_count_new_and_reappeared_findings_apart() {
    let mut app = app();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 1, -600),
        ended(3, 1, -300),
    ])));
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Private key", Risk::High),
        found(2, 3, 1, "Private key", Risk::High),
        found(3, 3, 1, "Git repository", Risk::High),
    ])));
    app.keys("3 backspace r b t g g");
    let detail = app.frame().join("\n");
    assert!(
        detail.contains("2 findings of 2 classes   1 new, 1 reappeared"),
        "{detail}"
    );
    app.keys("z");
    let list = app.frame().join("\n");
    assert!(list.contains("1 new, 1 reappeared"), "{list}");
}

#[test]
fn verdict_on_a_group_says_how_many_of_its_findings_are_absent() {
    for (present, said) in [
        (2, ", 1 of them absent ·"),
        (21, "1 of these findings is absent."),
    ] {
        let mut app = app();
        app.feed(Snapshot::Scans(table([
            ended(1, 1, -900),
            ended(2, 1, -600),
        ])));
        let names = (0..=present).map(|id| {
            found(
                id + 1,
                i64::from(id > 0) + 1,
                1,
                &format!("Key {id}"),
                Risk::High,
            )
        });
        app.feed(Snapshot::Findings(table(names)));
        app.keys("3 backspace r b t g g c");
        let screen = app.frame().join("\n");
        assert!(screen.contains(", 1 more absent"), "{screen}");
        assert!(screen.contains(said), "{screen}");
    }
}

#[test]
fn opened_board_removes_the_notice_that_names_it() {
    let mut app = app();
    let sent = app.calls("3 g g s y");
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
    ])));
    assert!(app.notices().contains("retest ended"), "{}", app.notices());
    app.keys("b n");
    assert!(!app.notices().contains("retest ended"), "{}", app.notices());
}
