//! Prompts and the calls that they confirm.

use crate::dashboard::base::ListKind;
use crate::dashboard::testing::*;
use crate::oob::ClearedRequests;

#[test]
fn target_deletion_prompt_names_target_and_dependents() {
    let mut desk = TestDashboard::new();
    desk.keys("2 D");
    assert_eq!(desk.prompt().question, "Delete target t1.acme.test on local?");
    assert_eq!(desk.prompt().lines, ["Also deletes 1 scan and 2 findings."]);
    let sent = desk.calls("y");
    assert_eq!(sent[0].1, Call::DeleteTarget(TargetId(1)));
    desk.answer(&sent, |_| Ok(CallAnswer::Done));
    assert_eq!(desk.model.connection.refreshes.get(&ListKind::Targets), Some(&1));
    assert!(desk.notices().contains("target t1.acme.test deleted"), "{}", desk.notices());
}

#[test]
fn prompt_keeps_ids_after_update() {
    let mut desk = TestDashboard::new();
    desk.keys("2 D");
    desk.feed(Snapshot::Targets(table([target(9, "a.first.test"), target(1, "t1.acme.test")])));
    assert_eq!(desk.calls("y")[0].1, Call::DeleteTarget(TargetId(1)));
}

#[test]
fn prompt_cancels_on_any_key_but_y() {
    for key in ["n", "Y", "enter", "esc", "space"] {
        let mut desk = TestDashboard::new();
        assert_eq!(desk.calls(&format!("2 D {key}")), [], "{key}");
        assert!(desk.model.overlay.modals.is_empty(), "{key}");
    }
}

#[test]
fn hidden_marked_rows_are_deleted_only_on_request() {
    let mut desk = TestDashboard::new();
    desk.keys("2 space space / 't2' enter D");
    assert!(desk.prompt().lines.iter().any(|line| line.contains("1 marked but not shown")), "{:?}", desk.prompt());
    assert_eq!(desk.calls("y").len(), 1);
    let mut desk = TestDashboard::new();
    desk.keys("2 space space / 't2' enter D a");
    assert_eq!(desk.calls("y").len(), 2);
}

#[test]
fn deletion_of_over_20_targets_requires_typed_count() {
    let mut desk = TestDashboard::new();
    desk.feed(Snapshot::Targets(table((1..=25).map(|id| target(id, &format!("t{id}.test"))))));
    desk.keys("2 * D");
    assert_eq!(desk.calls("y enter"), []);
    assert!(matches!(desk.model.overlay.modals.last(), Some(Modal::Prompt(_))));
    let first = desk.calls("backspace '25' enter");
    assert_eq!(first.len(), 4, "four calls run at a time");
    let mut sent = first;
    let mut total = 0;
    while !sent.is_empty() {
        total += sent.len();
        sent = calls(desk.answer(&sent, |_| Ok(CallAnswer::Done)));
    }
    assert_eq!(total, 25);
    assert!(desk.notices().contains("25 targets deleted"), "{}", desk.notices());
}

#[test]
fn workspace_deletion_requires_typed_name() {
    let mut desk = TestDashboard::new();
    desk.keys("1 D");
    assert!(desk.prompt().lines[0].contains("5 targets, 4 scans"), "{:?}", desk.prompt().lines);
    assert_eq!(desk.calls("y enter"), []);
    assert_eq!(desk.calls("backspace 'Acme' enter")[0].1, Call::DeleteWorkspace(WorkspaceId(1)));
}

#[test]
fn only_active_scans_stop_and_only_ended_scans_are_deleted() {
    let mut desk = TestDashboard::new();
    desk.keys("4 D");
    assert!(desk.notices().contains("S stops scans"), "{}", desk.notices());
    assert_eq!(desk.calls("S y")[0].1, Call::StopScan(ScanId(2)));
    desk.keys("G S");
    assert!(desk.notices().contains("has already ended"), "{}", desk.notices());
    desk.keys("D");
    assert_eq!(desk.prompt().question, "Delete scan 1, Website scan of t1.acme.test on local?");
    assert_eq!(desk.calls("y")[0].1, Call::DeleteScan(ScanId(1)));
}

#[test]
fn logger_clear_prompt_describes_deletion_and_archive() {
    let mut desk = TestDashboard::new();
    desk.keys("5 D");
    assert_eq!(
        desk.prompt().lines,
        ["The service deletes 3 captures.", "All captures are archived on this machine first."]
    );
    let sent = desk.calls("y");
    assert_eq!(sent[0].1, Call::ClearLogger { logger: LoggerId(1), workspace: "Acme".into() });
    desk.answer(&sent, |_| Ok(CallAnswer::Emptied(ClearedRequests { requests: 37, archived: 37 })));
    assert!(desk.notices().contains("logger probe cleared: 37 captures archived"), "{}", desk.notices());
    assert_eq!(desk.shown(Pane::Captures), [1, 2, 3]);
}

#[test]
fn predefined_word_list_cannot_be_deleted() {
    let mut desk = TestDashboard::new();
    desk.keys("7 D");
    assert!(desk.notices().contains("cannot be deleted"), "{}", desk.notices());
    assert_eq!(desk.calls("j D y")[0].1, Call::DeleteWordlist(WordlistId(2)));
}

#[test]
fn word_list_opens_and_report_downloads_under_its_name() {
    let mut desk = TestDashboard::new();
    let sent = desk.calls("7 enter");
    assert_eq!(sent[0].1, Call::WordlistContents(WordlistId(1)));
    desk.answer(&sent, |_| Ok(CallAnswer::Text("admin\nbackup".into())));
    assert!(matches!(desk.model.overlay.modals.last(), Some(Modal::Text(text)) if text.body == "admin\nbackup"));
    let sent = desk.calls("esc 6 d");
    assert_eq!(sent[0].1, Call::DownloadReport(ReportId(1), "acme.html".into()));
    desk.answer(&sent, |_| Ok(CallAnswer::Saved("/tmp/acme.html".into())));
    assert!(desk.notices().contains("/tmp/acme.html"), "{}", desk.notices());
    let sent = desk.calls("d");
    desk.answer(&sent, |_| Ok(CallAnswer::NotReady));
    assert!(desk.notices().contains("not ready yet"), "{}", desk.notices());
}

#[test]
fn refused_call_shows_service_message() {
    let mut desk = TestDashboard::new();
    let sent = desk.calls("2 j D y");
    let refused = Problem { status: Some(409), message: "the target has running scans".into(), ..Problem::default() };
    desk.answer(&sent, |_| Err(refused.clone()));
    assert!(desk.notices().contains("the target has running scans (409)"), "{}", desk.notices());
}

#[test]
fn repeated_scan_reuses_tool_target_and_parameters() {
    let mut desk = TestDashboard::new();
    let params = serde_json::json!({"scan_type": "deep"});
    let done = Scan { tool_params: Some(params.clone()), ..scan(8, 3, ScanStatus::Finished, 100) };
    desk.feed(Snapshot::Scans(table([done])));
    let sent = desk.calls("4 s y");
    match &sent[0].1 {
        Call::StartScan(scan) => {
            assert_eq!((scan.tool_id, scan.target_id, &scan.tool_params), (170, Some(TargetId(3)), &Some(params)));
        }
        other => panic!("{other:?}"),
    }
    desk.answer(&sent, |_| Ok(CallAnswer::Scan(Default::default())));
    assert!(desk.notices().contains("repetition of scan 8"), "{}", desk.notices());
}

#[test]
fn read_only_session_refuses_changes_with_reason() {
    let mut desk = TestDashboard::new();
    desk.model.session.read_only = true;
    for keys in ["2 n", "2 D", "2 s", "4 S", "4 s", "5 D", "5 s", "6 D", "1 e", "3 R"] {
        assert_eq!(desk.keys(keys), [], "{keys}");
        assert!(desk.model.overlay.modals.is_empty(), "{keys}");
        assert!(desk.notices().contains("read-only"), "{keys}");
    }
}

#[test]
fn deletion_with_all_marks_hidden_is_refused() {
    let mut desk = TestDashboard::new();
    desk.keys("2 space / 't5' enter D");
    assert!(desk.model.overlay.modals.is_empty() && desk.notices().contains("none shown"), "{}", desk.notices());
}

#[test]
fn deleted_target_clears_scope_without_notice() {
    let mut desk = TestDashboard::new();
    let sent = desk.calls("2 enter 2 D y");
    desk.answer(&sent, |_| Ok(CallAnswer::Done));
    assert_eq!(desk.model.navigation.scope.target, None);
    desk.feed(Snapshot::Targets(table([target(2, "t2.acme.test")])));
    assert!(!desk.notices().contains("limited"), "{}", desk.notices());
}
