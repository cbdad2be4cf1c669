//! Keys that move between views, close layers, copy and quit.

use crate::dashboard::base::{ConnectionChoice, Link, ListKind, PollEvent, RowRef, ScanPart, Tab};
use crate::dashboard::core::update::Msg;
use crate::dashboard::input::Context;
use crate::dashboard::testing::*;
use crate::dashboard::text::DetailSubject;

#[test]
fn numbers_and_tab_focus_panes_and_z_zooms() {
    let mut desk = TestDashboard::new();
    for (key, pane) in [
        ("1", Pane::Workspaces),
        ("2", Pane::Targets),
        ("4", Pane::Scans),
        ("tab", Pane::Captures),
        ("tab", Pane::Workspaces),
        ("shift-tab", Pane::Captures),
        ("6", Pane::Reports),
        ("7", Pane::Wordlists),
        ("q", Pane::Findings),
    ] {
        desk.keys(key);
        assert_eq!(desk.model.navigation.focus.pane, pane, "{key}");
    }
    desk.keys("z");
    assert_eq!(desk.model.on_screen(), [Pane::Findings]);
}

#[test]
fn pane_five_without_loggers_shows_logger_list() {
    let mut desk = TestDashboard::new();
    desk.keys("5 h");
    assert_eq!(desk.model.navigation.focus.pane, Pane::Loggers);
    desk.keys("enter");
    assert_eq!(
        (desk.model.navigation.focus.pane, desk.model.navigation.scope.logger),
        (Pane::Captures, Some(LoggerId(1)))
    );
    let mut desk = TestDashboard::blank(200, 60);
    desk.feed(Snapshot::Loggers(Default::default()));
    desk.keys("5");
    assert_eq!(desk.model.navigation.focus.pane, Pane::Loggers);
}

#[test]
fn esc_closes_search_range_zoom_and_detail_one_at_a_time() {
    let mut desk = TestDashboard::new();
    desk.keys("space v enter z / 'key' enter");
    let state = |desk: &TestDashboard| {
        let model = &desk.model;
        (
            model.detail.search.is_some(),
            model.lists.findings.range_from.is_some(),
            model.navigation.focus.zoomed,
            model.navigation.focus.in_detail,
        )
    };
    assert_eq!(state(&desk), (true, true, true, true));
    let steps = [(false, true, true, true), (false, false, true, true), (false, false, false, true)];
    for expected in steps.into_iter().chain([(false, false, false, false)]) {
        desk.keys("esc");
        assert_eq!(state(&desk), expected);
    }
    assert_eq!(desk.model.cursor(Pane::Findings).marked().0, 1, "esc closes everything else first");
    desk.keys("esc");
    assert_eq!(desk.model.cursor(Pane::Findings).marked().0, 0);
    desk.keys("esc");
    assert!(desk.notices().contains("q quits"));
}

#[test]
fn h_and_l_switch_detail_tabs_and_h_on_first_tab_leaves() {
    let mut desk = TestDashboard::new();
    desk.keys("4 enter l l");
    let scan = DetailSubject::Row(RowRef::Item(2));
    assert_eq!(desk.model.shown_detail(), Some((Pane::Scans, scan, Tab::Output)));
    assert_eq!(desk.model.plan().scan_part, Some((ScanId(2), ScanPart::Output)));
    desk.keys("h h");
    assert!(desk.model.navigation.focus.in_detail);
    desk.keys("h");
    assert!(!desk.model.navigation.focus.in_detail);
    desk.keys("> >");
    assert_eq!(desk.model.detail.tab(Pane::Scans), Tab::Output, "> switches tabs from the list too");
}

#[test]
fn j_scrolls_detail_and_upper_case_j_selects_next_row() {
    let mut desk = TestDashboard::new();
    desk.model.screen.measures.detail_lines = 12;
    desk.keys("enter j j j j");
    assert_eq!(desk.model.detail.scroll, 2);
    desk.keys("J");
    assert_eq!((desk.selected(Pane::Findings), desk.model.detail.scroll), (Some(2), 0));
    desk.keys("esc J");
    assert_eq!((desk.selected(Pane::Findings), desk.model.detail.scroll), (Some(2), 1));
}

#[test]
fn unbound_key_shows_notice_and_changes_nothing() {
    let mut desk = TestDashboard::new();
    desk.keys("8");
    assert!(desk.notices().contains("8 does nothing here"), "{}", desk.notices());
    desk.keys("Q");
    assert!(desk.notices().contains("Q does nothing here"), "{}", desk.notices());
    desk.keys("g x");
    assert!(desk.notices().contains("gx does nothing here"), "{}", desk.notices());
    assert_eq!(desk.model.navigation.focus.pane, Pane::Findings);
}

#[test]
fn top_layer_receives_keys() {
    let mut desk = TestDashboard::new();
    assert_eq!(desk.model.contexts()[0], Context::Findings);
    desk.keys("g");
    assert_eq!(desk.model.contexts(), [Context::Go]);
    desk.keys("esc 2 n");
    assert_eq!(desk.model.contexts(), [Context::Form]);
    desk.keys("f1");
    assert_eq!(desk.model.contexts(), [Context::Line]);
    desk.keys("esc esc 2 D");
    assert_eq!(desk.model.contexts(), [Context::Prompt]);
}

#[test]
fn pasted_text_never_runs_keys() {
    let mut desk = TestDashboard::new();
    desk.send(Msg::Paste("q\nDy".into()));
    assert!(desk.model.overlay.modals.is_empty() && desk.notices().contains("no text field here"));
    desk.keys("/");
    desk.send(Msg::Paste("git\nrepository".into()));
    assert_eq!(desk.shown(Pane::Findings), [2]);
}

#[test]
fn ctrl_c_closes_form_and_twice_within_a_second_quits() {
    let mut desk = TestDashboard::new();
    assert_eq!(desk.keys("2 n ctrl-c"), []);
    assert!(desk.model.overlay.modals.is_empty());
    desk.at += Duration::from_secs(2);
    assert_eq!(desk.keys("ctrl-c"), []);
    assert_eq!(desk.keys("ctrl-c"), [Effect::Quit]);
}

#[test]
fn q_leaves_detail_then_quits_and_demo_confirms() {
    let mut desk = TestDashboard::new();
    assert_eq!(desk.keys("enter q"), []);
    assert_eq!(desk.keys("q"), [Effect::Quit]);
    let mut desk = TestDashboard::new();
    desk.model.session.demo = true;
    assert_eq!(desk.keys("q"), []);
    assert!(desk.prompt().lines[0].contains("deletes the demo"));
    assert_eq!(desk.keys("y"), [Effect::Quit]);
}

#[test]
fn r_refreshes_lists_on_screen() {
    let mut desk = TestDashboard::new();
    desk.model.screen.size = Size { columns: 80, rows: 24 };
    desk.keys("6 r");
    assert_eq!(desk.model.plan().refreshes.get(&ListKind::Reports), Some(&1));
    assert_eq!(desk.model.plan().refreshes.get(&ListKind::Findings), None);
}

#[test]
fn y_copies_without_api_key() {
    let mut desk = TestDashboard::new();
    let copied = |desk: &mut TestDashboard, keys: &str| match desk.keys(keys).remove(0) {
        Effect::Copy { text, .. } => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(copied(&mut desk, "y y"), "1");
    assert_eq!(copied(&mut desk, "y u"), "http://127.0.0.1:8765/api/v2/findings/1");
    let curl = copied(&mut desk, "y c");
    assert!(curl.contains("Bearer $SCANDECK_API_KEY\" 'http://127.0.0.1:8765/api/v2/findings/1'"), "{curl}");
    assert!(copied(&mut desk, "y j").contains("\"name\": \"Private key\""));
    assert_eq!(copied(&mut desk, "2 y y"), "t1.acme.test");
    assert_eq!(copied(&mut desk, "5 h y u"), "http://127.0.0.1:8766/l/abc/");
    assert_eq!(copied(&mut desk, "5 y u"), "http://127.0.0.1:8766/l/abc/x?t=3");
    assert!(copied(&mut desk, "y r").starts_with("GET /l/abc/x?t=3 HTTP/1.1\n"));
    assert_eq!(copied(&mut desk, "y v"), "scandeck --base-url 'http://127.0.0.1:8765/api/v2' --workspace 'Acme'");
}

#[test]
fn curl_of_hostile_capture_reads_no_file_and_requests_one_url() {
    let mut desk = TestDashboard::new();
    let mut curl = |id: i64, header: &str, body: &str| {
        use base64::Engine;
        let captured = Capture {
            url_params: "a=[1-9]{x,y}".into(),
            http_headers: vec![header.into()],
            request_body_base64: base64::engine::general_purpose::STANDARD.encode(body).as_str().into(),
            ..capture(id)
        };
        desk.receive(1, vec![captured]);
        match desk.keys("5 G y c").remove(0) {
            Effect::Copy { text, .. } => text,
            other => panic!("{other:?}"),
        }
    };
    let hostile = curl(10, "@/etc/passwd", "@/etc/shadow");
    assert!(hostile.starts_with("curl --globoff --path-as-is -X 'GET' "), "{hostile}");
    assert!(hostile.contains(" --data-raw '@/etc/shadow' '"), "{hostile}");
    assert!(!hostile.contains("passwd"), "{hostile}");
    let plain = curl(11, "a: b", "");
    assert!(plain.contains("-H 'a: b' ") && !plain.contains("--data"), "{plain}");
}

#[test]
fn y_f_saves_marked_rows_to_one_file() {
    let mut desk = TestDashboard::new();
    match desk.keys("space space y f").remove(0) {
        Effect::Save { name, content } => {
            let value: serde_json::Value = serde_json::from_slice(&content).unwrap();
            assert_eq!((name.as_str(), value.as_array().unwrap().len()), ("findings-2.json", 2));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn curl_of_hostile_capture_is_quoted_for_shell() {
    let mut desk = TestDashboard::new();
    let hostile = Capture {
        http_headers: vec!["X: '$(rm -rf /)'\u{1b}]52;c;eA\u{7}".into()],
        request_body_base64: "J2lkJw==".into(),
        ..capture(9)
    };
    desk.receive(1, vec![hostile]);
    match desk.keys("5 y c").remove(0) {
        Effect::Copy { text, .. } => {
            assert!(!text.chars().any(char::is_control), "{text:?}");
            assert!(text.contains(r"'X: '\''$(rm -rf /)'\''"), "{text}");
            assert!(text.contains(r"--data-raw ''\''id'\'''"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn failed_copy_shows_text() {
    let mut desk = TestDashboard::new();
    let failed = crate::dashboard::base::CopyFailed { why: "no way out".into(), text: "abc".into() };
    desk.send(Msg::Copied(Err(failed)));
    assert!(matches!(desk.model.overlay.modals.last(), Some(Modal::Text(text)) if text.body == "abc"));
    desk.keys("q");
    assert!(desk.model.overlay.modals.is_empty());
}

#[test]
fn first_start_connects_once_and_only_after_choice() {
    let mut desk = TestDashboard::blank(80, 24);
    desk.model = desk.model.with_setup(None);
    assert!(desk.model.on_screen().is_empty());
    assert_eq!(desk.keys("esc j k"), []);
    assert_eq!(desk.keys("l"), [Effect::Connect(ConnectionChoice::Here)]);
    assert_eq!(desk.keys("d"), [], "the first choice is still pending");
    desk.send(Msg::Connected(Err(Problem::local("no port"))));
    let effects = desk.keys("h backspace 'x.test/' tab 'k1' ctrl-o");
    match effects.as_slice() {
        [Effect::Connect(ConnectionChoice::Hosted { base_url, key })] => {
            assert_eq!((base_url.as_str(), key.0.as_str()), ("https:/x.test/", "k1"));
        }
        other => panic!("{other:?}"),
    }
    desk.send(Msg::Connected(Ok(Session::default())));
    assert!(desk.model.overlay.modals.is_empty());
}

#[test]
fn refresh_after_rejected_key_reads_key_again_first() {
    let rejected = |hint: &str| {
        let problem = Problem { status: Some(401), ..Problem::local("invalid API key").with_hint(hint) };
        PollEvent::Link(Link::Down { problem: Arc::new(problem) })
    };
    let mut desk = TestDashboard::new();
    desk.model.session.reads_key_again = true;
    let before = desk.model.plan().refreshes;
    assert_eq!(desk.keys("r"), []);
    let refreshed = desk.model.plan().refreshes;
    assert_ne!(before, refreshed, "the key is accepted");
    desk.feed(rejected("check the API key from /home/ann/key"));
    assert!(desk.notices().contains("check the API key from /home/ann/key; r reads it again"), "{}", desk.notices());
    assert_eq!(desk.keys("r"), [Effect::ReadKey]);
    assert_eq!(desk.model.plan().refreshes, refreshed, "nothing is requested with the old key");
    assert!(!desk.keys("r r").contains(&Effect::ReadKey), "one command at a time");
    assert!(desk.notices().contains("reading the API key"), "{}", desk.notices());
    desk.send(Msg::KeyRead { source: "/home/ann/key".into(), result: Ok(true) });
    assert_ne!(desk.model.plan().refreshes, refreshed);
    assert!(desk.notices().contains("new API key read from /home/ann/key"), "{}", desk.notices());
    desk.send(Msg::KeyRead { source: "/home/ann/key".into(), result: Err(Problem::local("cannot read the API key")) });
    assert!(desk.notices().contains("API key not read: cannot read the API key"), "{}", desk.notices());
    assert_eq!(desk.keys("r"), [Effect::ReadKey], "after the result it can be read again");

    let mut desk = TestDashboard::new();
    desk.feed(rejected("check the API key from SCANDECK_API_KEY"));
    assert!(desk.notices().contains("SCANDECK_API_KEY; then restart scandeck"), "{}", desk.notices());
    let before = desk.model.plan().refreshes;
    assert_eq!(desk.keys("r"), []);
    assert_ne!(desk.model.plan().refreshes, before);
}

#[test]
fn notice_expiry_schedules_wakeup() {
    let mut desk = TestDashboard::new();
    desk.model.findings.triage.writer = None;
    desk.keys("Q");
    let wake = desk.model.wake_at().unwrap();
    assert!(wake <= desk.at + Duration::from_secs(3), "the notice expires");
    desk.at = wake;
    desk.send(Msg::Wake);
    assert_eq!(desk.notices(), "");
    assert!(desk.model.wake_at().unwrap() > desk.at);
}

#[test]
fn ctrl_z_suspends_and_ctrl_l_redraws_in_every_context() {
    for keys in ["", "1 n", "/", "2 D", "?"] {
        let mut desk = TestDashboard::new();
        desk.keys(keys);
        assert_eq!(desk.keys("ctrl-z ctrl-l"), [Effect::Suspend, Effect::Redraw], "{keys}");
    }
}

#[test]
fn pane_five_switches_to_captures_on_first_logger() {
    let mut desk = TestDashboard::blank(200, 60);
    desk.feed(Snapshot::Loggers(Default::default()));
    assert_eq!(desk.model.navigation.fifth, Pane::Loggers);
    let logger = Logger { id: LoggerId(1), label: "probe".into(), ..Logger::default() };
    desk.feed(Snapshot::Loggers(table([logger])));
    assert_eq!(desk.model.navigation.fifth, Pane::Captures);
}

#[test]
fn y_u_copies_url_of_logger_without_captures() {
    let mut desk = TestDashboard::new();
    desk.keys("5 h n");
    let probe = |id, label: &str| Logger {
        id: LoggerId(id),
        label: label.into(),
        handler_url: format!("http://127.0.0.1:1/l/{label}/").as_str().into(),
        ..Logger::default()
    };
    desk.keys("esc");
    desk.feed(Snapshot::Loggers(table([probe(1, "a"), probe(2, "b")])));
    let copied = desk.keys("G enter y u");
    assert!(matches!(&copied[0], Effect::Copy { text, .. } if text == "http://127.0.0.1:1/l/b/"), "{copied:?}");
}

#[test]
fn typed_api_key_is_absent_from_debug_output() {
    let mut desk = TestDashboard::blank(80, 24);
    desk.model = desk.model.with_setup(None);
    desk.keys("h tab 'hush-hush'");
    let printed = format!("{:?}", desk.model);
    assert!(printed.contains("https://") && !printed.contains("hush"), "{printed}");
}

#[test]
fn text_overlay_scroll_stops_at_end() {
    let mut desk = TestDashboard::new();
    let body = (0..200).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    let failed = crate::dashboard::base::CopyFailed { why: "no way out".into(), text: body };
    desk.send(Msg::Copied(Err(failed)));
    let scroll = |desk: &TestDashboard| match desk.model.overlay.modals.last() {
        Some(Modal::Text(text)) => text.scroll,
        other => panic!("{other:?}"),
    };
    desk.keys("j j k");
    assert_eq!(scroll(&desk), 1);
    desk.keys("G j");
    assert_eq!(scroll(&desk), 148);
    desk.keys("g");
    assert_eq!(scroll(&desk), 0);
}
