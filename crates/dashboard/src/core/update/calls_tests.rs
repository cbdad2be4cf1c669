//! Prompts and the calls that they confirm.

use crate::base::ListKind;
use crate::testing::*;
use scandeck_domain::oob::ClearedRequests;

#[test]
fn target_deletion_prompt_names_target_and_dependents() {
    let mut app = TestDashboard::new();
    app.keys("2 D");
    assert_eq!(
        app.prompt().question,
        "Delete target t1.acme.test at service \"local\"?"
    );
    assert_eq!(app.prompt().lines, ["Also deletes 1 scan and 2 findings."]);
    let sent = app.calls("y");
    assert_eq!(sent[0].1, Call::DeleteTarget(TargetId(1)));
    app.answer(&sent, |_| Ok(CallAnswer::Done));
    assert_eq!(
        app.model.connection.refreshes.get(&ListKind::Targets),
        Some(&1)
    );
    assert!(
        app.notices().contains("target t1.acme.test deleted"),
        "{}",
        app.notices()
    );
}

#[test]
fn prompt_keeps_ids_after_update() {
    let mut app = TestDashboard::new();
    app.keys("2 D");
    app.feed(Snapshot::Targets(table([
        target(9, "a.first.test"),
        target(1, "t1.acme.test"),
    ])));
    assert_eq!(app.calls("y")[0].1, Call::DeleteTarget(TargetId(1)));
}

#[test]
fn prompt_cancel_keys_close_it_and_other_keys_are_ignored() {
    for key in ["n", "q", "enter", "esc"] {
        let mut app = TestDashboard::new();
        assert_eq!(app.calls(&format!("2 D {key}")), [], "{key}");
        assert!(app.model.overlay.modals.is_empty(), "{key}");
    }
    // Typed words do not reach the list below.
    let mut app = TestDashboard::new();
    assert_eq!(app.calls("2 D Y space 1 p"), []);
    assert!(
        app.prompt().question.contains("t1.acme.test")
            && app.model.navigation.focus.pane == Pane::Targets
    );
    assert!(
        app.notices()
            .contains("p is not an answer · y confirms, esc cancels"),
        "{}",
        app.notices()
    );
    assert_eq!(app.calls("y").len(), 1);
}

#[test]
fn hidden_marked_rows_are_deleted_only_on_request() {
    let mut app = TestDashboard::new();
    app.keys("2 space space / 't2' enter D");
    assert!(
        app.prompt()
            .lines
            .iter()
            .any(|line| line.contains("includes 1 hidden marked row")),
        "{:?}",
        app.prompt()
    );
    assert_eq!(app.calls("y").len(), 1);
    let mut app = TestDashboard::new();
    app.keys("2 space space / 't2' enter D a");
    assert_eq!(app.calls("y").len(), 2);
}

#[test]
fn deletion_of_over_20_targets_requires_typed_count() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Targets(table(
        (1..=25).map(|id| target(id, &format!("t{id}.test"))),
    )));
    app.keys("2 * D");
    assert_eq!(app.calls("y enter"), []);
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Prompt(_))
    ));
    let first = app.calls("backspace '25' enter");
    assert_eq!(first.len(), 4, "four calls run at a time");
    let mut sent = first;
    let mut total = 0;
    while !sent.is_empty() {
        total += sent.len();
        sent = calls(app.answer(&sent, |_| Ok(CallAnswer::Done)));
    }
    assert_eq!(total, 25);
    assert!(
        app.notices().contains("25 targets deleted"),
        "{}",
        app.notices()
    );
}

#[test]
fn workspace_deletion_requires_typed_name() {
    let mut app = TestDashboard::new();
    app.keys("1 D");
    assert!(
        app.prompt().lines[0].contains("5 targets, 4 scans"),
        "{:?}",
        app.prompt().lines
    );
    assert_eq!(app.calls("y enter"), []);
    assert_eq!(
        app.calls("backspace 'Acme' enter")[0].1,
        Call::DeleteWorkspace(WorkspaceId(1))
    );
}

#[test]
fn only_active_scans_stop_and_only_ended_scans_are_deleted() {
    let mut app = TestDashboard::new();
    app.keys("4 D");
    assert!(app.notices().contains("S stops scans"), "{}", app.notices());
    assert_eq!(app.calls("S y")[0].1, Call::StopScan(ScanId(2)));
    app.keys("G S");
    assert!(
        app.notices().contains("scan 1 has already ended"),
        "{}",
        app.notices()
    );
    app.keys("D");
    assert_eq!(
        app.prompt().question,
        "Delete scan 1 (Website scan of t1.acme.test) at service \"local\"?"
    );
    assert_eq!(app.calls("y")[0].1, Call::DeleteScan(ScanId(1)));
}

#[test]
fn logger_clear_prompt_describes_deletion_and_archive() {
    let mut app = TestDashboard::new();
    app.keys("5 D");
    assert_eq!(
        app.prompt().lines,
        [
            "The service deletes all 3 captures of the logger, not only the selected one.",
            "All captures are archived on this machine first."
        ]
    );
    let sent = app.calls("y");
    assert_eq!(
        sent[0].1,
        Call::ClearLogger {
            logger: LoggerId(1),
            workspace: "Acme".into()
        }
    );
    app.answer(&sent, |_| {
        Ok(CallAnswer::Emptied(ClearedRequests {
            requests: 37,
            archived: 37,
            ..ClearedRequests::default()
        }))
    });
    assert!(
        app.notices()
            .contains("logger probe cleared: 37 captures archived"),
        "{}",
        app.notices()
    );
    assert_eq!(app.shown(Pane::Captures), [1, 2, 3]);
}

#[test]
fn predefined_word_list_cannot_be_deleted() {
    let mut app = TestDashboard::new();
    app.keys("7 D");
    assert!(
        app.notices().contains("cannot be deleted"),
        "{}",
        app.notices()
    );
    assert_eq!(app.calls("j D y")[0].1, Call::DeleteWordlist(WordlistId(2)));
}

#[test]
fn unattributed_requests_open_as_text() {
    let mut app = TestDashboard::new();
    let sent = app.calls(": 'unattributed' enter");
    assert_eq!(sent[0].1, Call::UnattributedRequests);
    app.answer(&sent, |_| Ok(CallAnswer::Text("1 request".into())));
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Text(text)) if text.body == "1 request")
    );
}

#[test]
fn word_list_opens_and_report_downloads_under_its_name() {
    let mut app = TestDashboard::new();
    let sent = app.calls("7 enter");
    assert_eq!(sent[0].1, Call::WordlistContents(WordlistId(1)));
    app.answer(&sent, |_| Ok(CallAnswer::Text("admin\nbackup".into())));
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Text(text)) if text.body == "admin\nbackup")
    );
    let sent = app.calls("esc 6 d");
    assert_eq!(
        sent[0].1,
        Call::DownloadReport(ReportId(1), "acme.html".into())
    );
    app.answer(&sent, |_| Ok(CallAnswer::Saved("/tmp/acme.html".into())));
    assert!(
        app.notices().contains("/tmp/acme.html"),
        "{}",
        app.notices()
    );
    let sent = app.calls("d");
    app.answer(&sent, |_| Ok(CallAnswer::NotReady));
    assert!(app.notices().contains("not ready yet"), "{}", app.notices());
}

#[test]
fn refused_call_shows_service_message() {
    let mut app = TestDashboard::new();
    let sent = app.calls("2 j D y");
    let refused = Problem {
        status: Some(409),
        message: "the target has running scans".into(),
        ..Problem::default()
    };
    app.answer(&sent, |_| Err(refused.clone()));
    assert!(
        app.notices().contains("the target has running scans (409)"),
        "{}",
        app.notices()
    );
}

#[test]
fn repeated_scan_reuses_tool_target_and_parameters() {
    let mut app = TestDashboard::new();
    let params = serde_json::json!({"scan_type": "deep"});
    let done = Scan {
        tool_params: Some(params.clone()),
        ..scan(8, 3, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([done])));
    let sent = app.calls("4 s y");
    match &sent[0].1 {
        Call::StartScan(scan) => {
            assert_eq!(
                (scan.tool_id, scan.target_id, &scan.tool_params),
                (170, Some(TargetId(3)), &Some(params))
            );
        }
        other => panic!("{other:?}"),
    }
    app.answer(&sent, |_| Ok(CallAnswer::Scan(Default::default())));
    assert!(
        app.notices().contains("scan started: repeats scan 8"),
        "{}",
        app.notices()
    );
}

#[test]
fn read_only_session_refuses_changes_with_reason() {
    let mut app = TestDashboard::new();
    app.model.session.read_only = true;
    for keys in [
        "2 n", "2 D", "2 s", "4 S", "4 s", "5 D", "5 s", "6 D", "1 e", "3 R",
    ] {
        assert_eq!(app.keys(keys), [], "{keys}");
        assert!(app.model.overlay.modals.is_empty(), "{keys}");
        assert!(app.notices().contains("read-only"), "{keys}");
    }
}

#[test]
fn deletion_with_all_marks_hidden_is_refused() {
    let mut app = TestDashboard::new();
    app.keys("2 space / 't5' enter D");
    assert!(
        app.model.overlay.modals.is_empty() && app.notices().contains("hidden by the filter"),
        "{}",
        app.notices()
    );
}

#[test]
fn deleted_target_clears_scope_without_notice() {
    let mut app = TestDashboard::new();
    let sent = app.calls("2 enter 2 D y");
    app.answer(&sent, |_| Ok(CallAnswer::Done));
    assert_eq!(app.model.navigation.scope.target, None);
    app.feed(Snapshot::Targets(table([target(2, "t2.acme.test")])));
    assert!(!app.notices().contains("limited"), "{}", app.notices());
}
