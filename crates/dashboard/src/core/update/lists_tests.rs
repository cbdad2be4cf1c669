//! Selection, filter, marks and scope, and how updates preserve them.

use crate::base::{Link, ListKind, Scope};
use crate::core::update::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::testing::*;

#[test]
fn first_workspace_with_targets_is_selected_and_findings_focused() {
    let mut app = TestDashboard::new();
    assert_eq!(app.model.navigation.scope.workspace, Some(WorkspaceId(1)));
    assert_eq!(app.model.navigation.focus.pane, Pane::Findings);
    assert_eq!(
        app.shown(Pane::Findings),
        [1, 2, 3, 4, 6, 5],
        "sorted by risk, then newest first"
    );
    assert_eq!(app.model.plan().workspace, Some(WorkspaceId(1)));
}

#[test]
fn list_without_rows_begins_at_the_top_although_keys_were_pressed() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table(Vec::<Finding>::new())));
    app.model.lists.findings.held = false;
    app.keys("k");
    app.feed(Snapshot::Findings(table([finding(1, 1, "a", Risk::Low)])));
    app.feed(Snapshot::Findings(table([
        finding(1, 1, "a", Risk::Low),
        finding(2, 1, "b", Risk::High),
    ])));
    assert_eq!(app.selected(Pane::Findings), Some(2));
    app.keys("k");
    app.feed(Snapshot::Findings(table([
        finding(2, 1, "b", Risk::High),
        finding(3, 1, "c", Risk::Critical),
    ])));
    assert_eq!(app.selected(Pane::Findings), Some(2), "a key holds the row");
}

#[test]
fn refresh_keeps_selected_id_at_new_position() {
    let mut app = TestDashboard::new();
    app.keys("j j");
    assert_eq!(app.selected(Pane::Findings), Some(3));
    let more = (7..20).map(|id| finding(id, 1, "New", Risk::Critical));
    app.feed(Snapshot::Findings(table(more.chain([finding(
        3,
        2,
        "Git ignored",
        Risk::Medium,
    )]))));
    assert_eq!(
        (app.selected(Pane::Findings), app.model.lists.findings.at),
        (Some(3), 13)
    );
    app.feed(Snapshot::Findings(table([
        finding(1, 1, "a", Risk::Low),
        finding(2, 1, "b", Risk::Low),
    ])));
    assert_eq!(
        app.selected(Pane::Findings),
        Some(1),
        "an absent id yields to the row in its place"
    );
}

#[test]
fn filter_applies_on_each_key_and_matches_target_names() {
    let mut app = TestDashboard::new();
    app.keys("/ 'git'");
    assert_eq!(app.shown(Pane::Findings), [2, 3]);
    app.keys("space 't2.ac'");
    assert_eq!(app.shown(Pane::Findings), [3]);
    app.keys("enter");
    assert!(app.model.overlay.modals.is_empty());
    app.keys("/ backspace backspace backspace backspace backspace backspace enter");
    assert_eq!(app.shown(Pane::Findings), [2, 3]);
    app.keys("backspace");
    assert_eq!(
        app.shown(Pane::Findings),
        [3],
        "backspace undoes the last filter step"
    );
    app.keys("backspace");
    assert_eq!(app.shown(Pane::Findings).len(), 6);
}

#[test]
fn long_error_of_a_filter_is_shown_whole() {
    let mut app = TestDashboard::blank(80, 24);
    app.keys("3 / 'changed<in_the_last_days_of_october'");
    let line = app
        .frame()
        .into_iter()
        .find(|line| line.contains("invalid time"))
        .unwrap_or_default();
    assert!(
        line.contains("`in_the_last_days_of_october`; use 2d, 12h, 1w or 2026-10-01"),
        "{line}"
    );
}

#[test]
fn esc_in_filter_line_restores_previous_filter() {
    let mut app = TestDashboard::new();
    app.keys("/ 'git' enter / 'x'");
    assert_eq!(app.shown(Pane::Findings), [0i64; 0]);
    app.keys("esc");
    assert_eq!(app.shown(Pane::Findings), [2, 3]);
    assert_eq!(
        app.model.lists.findings.filter,
        "is:undecided is:present git"
    );
}

#[test]
fn enter_on_target_sets_scope_and_backspace_removes_it() {
    let mut app = TestDashboard::new();
    app.keys("2 j enter");
    assert_eq!(app.model.navigation.focus.pane, Pane::Findings);
    assert_eq!(app.model.navigation.scope.target, Some(TargetId(2)));
    assert_eq!(app.shown(Pane::Findings), [3, 4]);
    assert_eq!(app.shown(Pane::Scans), [2, 3]);
    app.keys("backspace");
    assert_eq!(
        (
            app.model.navigation.scope.target,
            app.shown(Pane::Findings).len()
        ),
        (None, 6)
    );
}

#[test]
fn workspace_switch_drops_late_responses_of_previous_workspace() {
    let mut app = TestDashboard::new();
    let old = app.model.connection.generation;
    app.keys("1 j enter");
    assert_eq!(app.model.navigation.scope.workspace, Some(WorkspaceId(2)));
    assert!(app.model.data.findings.value().is_none());
    let late = Update {
        generation: old,
        at: stamp(),
        event: Snapshot::Findings(table([finding(9, 1, "late", Risk::Low)])).into(),
    };
    app.send(Msg::Update(late));
    assert!(app.model.data.findings.value().is_none());
    assert_ne!(app.model.plan().generation, old);
}

#[test]
fn targets_sort_by_worst_finding_and_scans_by_urgency() {
    let mut app = TestDashboard::new();
    assert_eq!(app.shown(Pane::Targets), [1, 2, 3, 4, 5]);
    assert_eq!(app.shown(Pane::Scans), [2, 3, 4, 1]);
    app.feed(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::Finished, 100),
        scan(2, 2, ScanStatus::Running, 50),
        scan(3, 2, ScanStatus::ConnectionError, 0),
    ])));
    assert_eq!(
        app.shown(Pane::Scans),
        [3, 2, 1],
        "failed scans that were not viewed sort first"
    );
    assert_eq!(app.model.scans.tally.failed, 1);
    app.keys("4 home");
    app.at += Duration::from_millis(1_100);
    app.send(Msg::Wake);
    assert_eq!(
        app.model.scans.tally.failed, 0,
        "its detail was visible for a second"
    );
}

#[test]
fn marks_follow_ids_and_hidden_marks_are_counted() {
    let mut app = TestDashboard::new();
    app.keys("space space / 'git' enter");
    assert_eq!(app.model.cursor(Pane::Findings).marked(), (2, 1));
    assert_eq!(app.chosen(Pane::Findings), (vec![2], vec![1]));
    app.keys("!");
    assert_eq!(app.chosen(Pane::Findings), (vec![3], vec![1]));
    app.keys("* *");
    assert_eq!(app.model.cursor(Pane::Findings).marked(), (0, 0));
}

#[test]
fn open_range_is_chosen_and_marked_when_closed() {
    let mut app = TestDashboard::new();
    app.keys("v j j");
    assert_eq!(app.chosen(Pane::Findings).0, [1, 2, 3]);
    app.keys("v");
    assert_eq!(app.model.cursor(Pane::Findings).marked(), (3, 0));
    app.keys("v j esc");
    assert_eq!(
        app.model.cursor(Pane::Findings).marked(),
        (3, 0),
        "esc closes a range and keeps marks"
    );
}

#[test]
fn stream_follows_end_only_from_last_row() {
    let mut app = TestDashboard::new();
    app.keys("5");
    assert_eq!(app.model.selected_id(Pane::Captures), Some(3));
    app.capture(1, 4..=5);
    assert_eq!(app.model.selected_id(Pane::Captures), Some(5));
    app.keys("k k");
    app.capture(1, 6..=8);
    assert_eq!(
        (
            app.model.selected_id(Pane::Captures),
            app.model.lists.captures.below()
        ),
        (Some(3), 3)
    );
    app.keys("G");
    assert_eq!(
        (
            app.model.selected_id(Pane::Captures),
            app.model.lists.captures.below()
        ),
        (Some(8), 0)
    );
    app.keys("=");
    app.capture(1, 9..=9);
    assert_eq!(
        (
            app.model.selected_id(Pane::Captures),
            app.model.lists.captures.below()
        ),
        (Some(8), 1)
    );
    app.keys("=");
    assert_eq!(app.model.selected_id(Pane::Captures), Some(9));
}

#[test]
fn captures_of_two_loggers_merge_in_time_order() {
    let mut app = TestDashboard::new();
    app.capture(1, 10..=10);
    app.capture(2, 5..=6);
    assert_eq!(app.shown(Pane::Captures), [1, 2, 3, 5, 6, 10]);
}

/// Loggers 1, 2, … with these request counts.
fn loggers(counts: &[i64]) -> Snapshot {
    let logger = |(id, &count): (i64, &i64)| Logger {
        id: LoggerId(id),
        num_requests: count,
        active_days: 90,
        requests_left: 1000,
        ..Logger::default()
    };
    Snapshot::Loggers(table((1..).zip(counts).map(logger)))
}

#[test]
fn captures_since_last_view_count_as_new() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    assert_eq!(
        app.model.captures.new_captures, 0,
        "captures present at the start are not new"
    );
    for (counts, new) in [(&[5, 1][..], 3), (&[5, 2], 4), (&[1, 2], 2), (&[2, 2], 3)] {
        app.feed(loggers(counts));
        assert_eq!(app.model.captures.new_captures, new, "{counts:?}");
    }
    app.keys("5");
    assert_eq!(app.model.captures.new_captures, 0);
    app.feed(loggers(&[3, 2]));
    assert_eq!(
        app.model.captures.new_captures, 0,
        "the captures are focused"
    );
    app.keys("3");
    app.feed(loggers(&[4, 2]));
    assert_eq!(app.model.captures.new_captures, 1);
}

#[test]
fn captures_in_visible_following_stream_are_not_new() {
    let mut app = TestDashboard::new();
    app.feed(loggers(&[5, 1]));
    assert_eq!(
        app.model.captures.new_captures, 0,
        "all five panes are on the screen"
    );
    app.keys("5 = 3");
    app.feed(loggers(&[9, 1]));
    assert_eq!(
        app.model.captures.new_captures, 4,
        "a paused stream counts new captures"
    );
    app.keys("5 G");
    assert_eq!(app.model.captures.new_captures, 0);
    app.keys("g l enter");
    app.feed(loggers(&[9, 3]));
    assert_eq!(
        app.model.captures.new_captures, 2,
        "the scope shows another logger"
    );
    app.keys("3 z");
    app.feed(loggers(&[10, 3]));
    assert_eq!(
        app.model.captures.new_captures, 3,
        "the zoomed pane hides the stream"
    );
}

#[test]
fn captures_inserted_between_older_ones_count_as_below() {
    let mut app = TestDashboard::new();
    app.capture(1, 10..=10);
    app.keys("5 k k");
    app.capture(2, 5..=6);
    assert_eq!(app.model.lists.captures.below(), 2);
}

#[test]
fn stalled_scan_moves_up_without_update() {
    let mut app = TestDashboard::new();
    let running = |id, progress| scan(id, 1, ScanStatus::Running, progress);
    app.feed(Snapshot::Scans(table([running(1, 90), running(2, 10)])));
    app.at += Duration::from_secs(30);
    app.feed(Snapshot::Scans(table([running(1, 95), running(2, 10)])));
    assert_eq!(app.shown(Pane::Scans), [1, 2]);
    app.at += Duration::from_secs(15);
    app.send(Msg::Wake);
    assert_eq!(app.shown(Pane::Scans), [2, 1]);
}

#[test]
fn unknown_requested_workspace_is_reported() {
    let mut app = TestDashboard::blank(120, 40);
    app.model.session.workspace = Some("Prod".into());
    let lab = Workspace {
        id: WorkspaceId(2),
        name: "Lab".into(),
        ..Workspace::default()
    };
    app.feed(Snapshot::Workspaces(table([lab])));
    assert_eq!(app.model.navigation.scope.workspace, Some(WorkspaceId(2)));
    assert!(
        app.notices().contains("workspace Prod not found"),
        "{}",
        app.notices()
    );
}

#[test]
fn failed_poll_keeps_list_and_records_error() {
    let mut app = TestDashboard::new();
    app.feed(PollEvent::Failed(
        ListKind::Findings,
        Arc::new(Problem::local("down")),
    ));
    assert_eq!(app.shown(Pane::Findings).len(), 6);
    assert_eq!(
        app.model
            .data
            .findings
            .problem()
            .map(|problem| problem.message.as_str()),
        Some("down")
    );
}

#[test]
fn scope_of_absent_target_is_removed() {
    let mut app = TestDashboard::new();
    app.keys("2 j enter");
    app.feed(Snapshot::Targets(table([target(1, "t1.acme.test")])));
    assert_eq!(
        (
            app.model.navigation.scope.target,
            app.shown(Pane::Findings).len()
        ),
        (None, 6)
    );
}

#[test]
fn g_jumps_from_row_to_related_rows() {
    let mut app = TestDashboard::new();
    app.keys("j j g t");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.selected_id(Pane::Targets)
        ),
        (Pane::Targets, Some(2))
    );
    app.keys("g s");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.selected_id(Pane::Scans)
        ),
        (Pane::Scans, Some(3))
    );
    app.keys("g f");
    assert_eq!(
        (app.model.navigation.scope.scan, app.shown(Pane::Findings)),
        (Some(ScanId(3)), vec![6, 5])
    );
    app.keys("-");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.navigation.scope.scan
        ),
        (Pane::Scans, None)
    );
    app.keys("5 g l");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.selected_id(Pane::Loggers)
        ),
        (Pane::Loggers, Some(1))
    );
}

#[test]
fn jump_to_hidden_row_removes_filter_with_notice() {
    let mut app = TestDashboard::new();
    app.keys("2 / 't5' enter 3 g t");
    assert_eq!(app.model.selected_id(Pane::Targets), Some(1));
    assert!(
        app.notices().contains("filter and scope removed"),
        "{}",
        app.notices()
    );
}

#[test]
fn created_target_is_selected_unless_cursor_moved() {
    for (moved, expected) in [("", 6), ("2 j", 2)] {
        let mut app = TestDashboard::new();
        let sent = app.calls("2 n 'new.acme.test' ctrl-o");
        app.answer(&sent, |_| Ok(CallAnswer::Created(6)));
        app.keys(moved);
        let names = (1..=5).map(|id| target(id, &format!("t{id}.acme.test")));
        app.feed(Snapshot::Targets(table(
            names.chain([target(6, "new.acme.test")]),
        )));
        assert_eq!(
            app.model.selected_id(Pane::Targets),
            Some(expected),
            "{moved:?}"
        );
    }
}

#[test]
fn finished_report_shows_notice_once() {
    let mut app = TestDashboard::new();
    let report = |status: &str| Report {
        id: ReportId(2),
        download_name: "lab.html".into(),
        status: status.into(),
        ..Report::default()
    };
    for (status, has_notice) in [("waiting", false), ("finished", true)] {
        app.feed(Snapshot::Reports(table([report(status)])));
        assert_eq!(
            app.notices().contains("lab.html is ready"),
            has_notice,
            "{status}"
        );
    }
}

#[test]
fn unused_list_remains_at_top() {
    let mut app = TestDashboard::blank(200, 60);
    let workspace = Workspace {
        id: WorkspaceId(1),
        name: "Acme".into(),
        ..Workspace::default()
    };
    app.feed(Snapshot::Workspaces(table([workspace])));
    let some = |ids: std::ops::RangeInclusive<i64>| {
        Snapshot::Findings(table(ids.map(|id| finding(id, 1, "f", Risk::from(id)))))
    };
    app.feed(some(1..=1));
    app.feed(some(1..=3));
    assert_eq!(
        app.selected(Pane::Findings),
        Some(3),
        "the highest risk is selected first"
    );
    app.keys("z");
    app.feed(some(1..=4));
    assert_eq!(
        app.selected(Pane::Findings),
        Some(3),
        "the first key pins the selection"
    );
}

#[test]
fn several_created_targets_leave_selection() {
    let mut app = TestDashboard::new();
    let sent = app.calls("2 n 'a.test' enter 'b.test' ctrl-o");
    app.answer(&sent, |_| Ok(CallAnswer::Created(7)));
    let names = (1..=5).map(|id| target(id, &format!("t{id}.acme.test")));
    app.feed(Snapshot::Targets(table(names.chain([target(7, "a.test")]))));
    assert_eq!(app.model.selected_id(Pane::Targets), Some(1));
}

#[test]
fn scans_do_not_stall_while_service_is_unreachable() {
    let mut app = TestDashboard::new();
    let live = || PollEvent::Link(Link::Live { at: stamp() });
    app.feed(live());
    app.at += Duration::from_secs(30);
    let problem = Arc::new(Problem::local("refused"));
    app.feed(PollEvent::Link(Link::Retrying {
        attempt: 1,
        next: stamp(),
        problem,
    }));
    app.at += Duration::from_secs(600);
    app.send(Msg::Wake);
    assert_eq!(
        (
            app.model.scans.tally.stalled,
            app.model.stalled_for(ScanId(2))
        ),
        (0, None)
    );
    app.feed(live());
    app.at += Duration::from_secs(9);
    app.send(Msg::Wake);
    assert_eq!(
        app.model.scans.tally.stalled, 0,
        "the service was reachable for 39 s"
    );
    app.at += Duration::from_secs(2);
    app.send(Msg::Wake);
    assert_eq!(app.model.scans.tally.stalled, 1);
}

#[test]
fn filter_that_hides_selected_row_selects_first_row() {
    let mut app = TestDashboard::new();
    app.keys("3 j j j");
    let selected = app.selected(Pane::Findings);
    app.keys("/ 'risk>=high'");
    let first = app.shown(Pane::Findings)[0];
    assert_eq!(app.selected(Pane::Findings), Some(first));
    app.keys("esc");
    assert_eq!(
        app.selected(Pane::Findings),
        selected,
        "the row of before is selected again"
    );
    app.keys("/ 'risk<=low' enter");
    assert_eq!(
        app.selected(Pane::Findings),
        selected,
        "a row that stays visible stays selected"
    );
}

#[test]
fn row_that_a_poll_removes_is_replaced_by_next_remaining_row() {
    let mut app = TestDashboard::new();
    let feed = |app: &mut TestDashboard, ids: &[i64]| {
        app.feed(Snapshot::Targets(table(
            ids.iter()
                .map(|&id| target(id, &format!("t{id}.acme.test"))),
        )));
    };
    app.keys("2 j j");
    assert_eq!(app.selected(Pane::Targets), Some(3));
    feed(&mut app, &[2, 4, 5]);
    assert_eq!(app.selected(Pane::Targets), Some(4), "1 and 3 are gone");
    feed(&mut app, &[1, 2]);
    assert_eq!(
        app.selected(Pane::Targets),
        Some(2),
        "nothing remains below"
    );
}

#[test]
fn row_that_a_poll_removes_is_not_replaced_by_row_that_it_moved_away() {
    let mut app = TestDashboard::new();
    app.keys("2 , j j");
    assert_eq!(app.selected(Pane::Targets), Some(3));
    // The next row is the first one now.
    let names = [(1, "t1"), (2, "t2"), (4, "a4"), (5, "t5")];
    app.feed(Snapshot::Targets(table(
        names.map(|(id, name)| target(id, &format!("{name}.acme.test"))),
    )));
    assert_eq!(app.shown(Pane::Targets), [4, 1, 2, 5]);
    assert_eq!(app.selected(Pane::Targets), Some(5));
}

#[test]
fn scan_chip_and_scan_query_show_same_rows() {
    let mut app = TestDashboard::new();
    let found = |id, scan: i64, name: &str| Finding {
        task_id: Some(scan.into()),
        ..finding(id, 1, name, Risk::High)
    };
    app.feed(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::Finished, 100),
        scan(2, 1, ScanStatus::Running, 50),
    ])));
    // The running scan has found one of both again.
    app.feed(Snapshot::Findings(table([
        found(1, 1, "Git"),
        found(2, 1, "Key"),
        found(3, 2, "Git"),
    ])));
    let scope = Scope {
        scan: Some(ScanId(1)),
        ..app.model.navigation.scope.clone()
    };
    crate::model::navigation::set_scope(&mut app.model, scope);
    let chip = app.shown(Pane::Findings);
    let scope = Scope {
        scan: None,
        ..app.model.navigation.scope.clone()
    };
    crate::model::navigation::set_scope(&mut app.model, scope);
    app.model.set_query(Pane::Findings, "scan:1").unwrap();
    assert_eq!((chip.len(), app.shown(Pane::Findings)), (2, chip));
}

#[test]
fn restart_restores_pane_scope_filter_order_groups_and_selection() {
    let opened = |settings| {
        let stored = StoredDecisions {
            settings,
            ..StoredDecisions::default()
        };
        Msg::Triage(TriageNews::Opened(Box::new(stored)))
    };
    let mut app = TestDashboard::new();
    app.send(opened(Default::default()));
    let scope = Scope {
        target: Some(TargetId(2)),
        ..app.model.navigation.scope.clone()
    };
    crate::model::navigation::set_scope(&mut app.model, scope);
    app.keys("2 , j j 3 b t l j z 4 / 'status:finished' enter");
    let (target, finding) = (app.selected(Pane::Targets), app.selected(Pane::Findings));
    let mut settings = std::collections::BTreeMap::new();
    for effect in app.keys("esc esc q") {
        if let Effect::Remember {
            key,
            workspace,
            value,
        } = effect
        {
            settings.insert((key.into(), workspace), value);
        }
    }
    let mut again = TestDashboard::new();
    again.send(opened(settings));
    assert_eq!(again.model.navigation.focus.pane, Pane::Scans);
    assert_eq!(again.model.lists.scans.filter, "status:finished");
    assert_eq!(again.model.lists.targets.sort, 1);
    assert_eq!(
        (
            again.selected(Pane::Targets),
            again.selected(Pane::Findings)
        ),
        (target, finding)
    );
    assert!(again.model.lists.findings.groups.is_on() && finding.is_some());
    assert_eq!(again.model.navigation.scope.target, Some(TargetId(2)));
}

#[test]
fn refresh_starts_the_stopped_local_service_once() {
    let mut app = TestDashboard::new();
    let starts = |app: &mut TestDashboard| app.keys("r").contains(&Effect::StartService);
    let fail = |app: &mut TestDashboard, problem: Problem| {
        let problem = Arc::new(problem);
        app.feed(PollEvent::Link(Link::Retrying {
            attempt: 1,
            next: stamp(),
            problem,
        }));
    };
    let refused = || Problem {
        is_refused: true,
        ..Problem::local("cannot connect: Connection refused")
    };
    fail(&mut app, refused());
    assert!(!starts(&mut app), "another machine runs the service");
    app.model.session.starts_service = true;
    fail(&mut app, Problem::local("no response before the timeout"));
    assert!(!starts(&mut app), "a slow service runs");
    fail(&mut app, refused());
    assert!(starts(&mut app) && !starts(&mut app));
    app.send(Msg::ServiceStarted(Ok(None)));
    assert!(app.notices().contains("local service started") && starts(&mut app));
    app.send(Msg::ServiceMoved("http://127.0.0.1:8766/api/v2".to_owned()));
    app.send(Msg::ServiceStarted(Ok(Some(
        "logger URLs changed".to_owned(),
    ))));
    assert!(app.notices().contains("logger URLs changed"));
    assert_eq!(app.model.session.base_url, "http://127.0.0.1:8766/api/v2");
}

#[test]
fn time_left_of_a_scan_ends_at_its_limit() {
    let mut app = TestDashboard::new();
    let slow = |progress, limit| Scan {
        start_time: Some(stamp()),
        max_scan_time: limit,
        ..scan(9, 2, ScanStatus::Running, progress)
    };
    for (limit, expected) in [
        (None, 485),
        (Some(1), 50),
        (Some(0), 485),
        (Some(i64::MAX), 485),
    ] {
        app.at = Duration::ZERO;
        for (at, progress) in [(0, 0), (0, 1), (10, 3)] {
            app.at = Duration::from_secs(at);
            app.feed(Snapshot::Scans(table([slow(progress, limit)])));
        }
        let left = app.model.time_left(ScanId(9)).unwrap().as_secs();
        assert_eq!(left, expected, "{limit:?}");
    }
}

#[test]
fn esc_names_the_key_that_removes_the_scope_of_the_list() {
    let mut app = TestDashboard::new();
    app.keys("2 enter esc esc");
    assert!(
        app.notices().contains("backspace removes the scope"),
        "{}",
        app.notices()
    );
    app.keys("/ 'risk>=low' enter esc");
    assert!(
        app.notices()
            .contains("backspace undoes the filter, then the scope"),
        "{}",
        app.notices()
    );
    app.keys("backspace 2 esc");
    assert!(
        app.notices().contains("q quits"),
        "the scope does not limit this list: {}",
        app.notices()
    );
    app.keys("3 backspace esc");
    assert!(
        app.model.navigation.scope.target.is_none() && app.notices().contains("q quits"),
        "{}",
        app.notices()
    );
}

#[test]
fn tabs_count_the_findings_of_the_scope() {
    let mut app = TestDashboard::new();
    let undecided = |app: &TestDashboard| app.model.settings.tabs.counts[1];
    app.keys("3");
    assert_eq!(undecided(&app), 6);
    app.keys("2 g g enter");
    assert_eq!(
        (undecided(&app), app.shown(Pane::Findings)),
        (2, vec![1, 2])
    );
    app.keys("c");
    assert_eq!(undecided(&app), 1);
    app.keys("backspace");
    assert_eq!(
        (app.model.navigation.scope.target, undecided(&app)),
        (None, 5)
    );
}

#[test]
fn report_and_deletion_wait_for_the_filter_of_findings() {
    for key in ["R", "D"] {
        let mut app = TestDashboard::new();
        app.keys("3");
        (app.holds_work, app.model.findings.view.inline) = (true, 0);
        app.model.set_query(Pane::Findings, "dump").unwrap();
        app.keys(key);
        assert!(app.model.overlay.modals.is_empty(), "{key}");
        assert!(
            app.notices().contains("findings are still being filtered"),
            "{key}: {}",
            app.notices()
        );
    }
}
