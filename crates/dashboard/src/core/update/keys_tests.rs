//! Keys that move between views, close layers, copy and quit.

use crate::base::{ConnectionChoice, Link, ListKind, PollEvent, RowRef, ScanPart, Tab};
use crate::config::KeySetting;
use crate::core::update::Msg;
use crate::input::{Context, Keymap};
use crate::testing::*;
use crate::text::DetailSubject;
use scandeck_wire::contract::Evidence;
use std::sync::Arc;

#[test]
fn detail_follows_the_last_step_and_keys_act_on_the_selection() {
    let mut app = TestDashboard::new();
    app.keys("3 g g");
    let names = |app: &mut TestDashboard| {
        let screen = app.frame();
        ["Private key", "Git repository", "Git ignored"].map(|name| {
            screen
                .iter()
                .map(|line| line.matches(name).count())
                .sum::<usize>()
                > 1
        })
    };
    assert_eq!(names(&mut app), [true, false, false], "beside the list");
    for _ in 0..2 {
        app.at += Duration::from_millis(5);
        app.send(Msg::Key(event("j")));
        assert_eq!(names(&mut app), [true, false, false]);
    }
    assert_eq!(
        app.model.next_wake().unwrap(),
        (app.at + Duration::from_millis(30), "the detail follows")
    );
    assert_eq!(app.selected(Pane::Findings), Some(3));
    app.at = app.model.wake_at().unwrap();
    app.send(Msg::Wake);
    assert_eq!(names(&mut app), [false, false, true]);
    // Any other key shows the selected row at once.
    app.send(Msg::Key(event("k")));
    app.send(Msg::Key(event("enter")));
    assert_eq!(names(&mut app), [false, true, false]);
}

#[test]
fn numbers_and_tab_focus_panes_and_z_zooms() {
    let mut app = TestDashboard::new();
    for (key, pane) in [
        ("1", Pane::Workspaces),
        ("2", Pane::Targets),
        ("4", Pane::Scans),
        ("tab", Pane::Captures),
        ("tab", Pane::Workspaces),
        ("shift-tab", Pane::Captures),
        ("6", Pane::Reports),
        ("7", Pane::Wordlists),
        ("9", Pane::Schedules),
        ("q", Pane::Findings),
    ] {
        app.keys(key);
        assert_eq!(app.model.navigation.focus.pane, pane, "{key}");
    }
    app.keys("z");
    assert_eq!(app.model.on_screen(), [Pane::Findings]);
}

#[test]
fn pane_five_without_loggers_shows_logger_list() {
    let mut app = TestDashboard::new();
    app.keys("5 h");
    assert_eq!(app.model.navigation.focus.pane, Pane::Loggers);
    app.keys("enter");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.navigation.scope.logger
        ),
        (Pane::Captures, Some(LoggerId(1)))
    );
    let mut app = TestDashboard::blank(200, 60);
    app.feed(Snapshot::Loggers(Default::default()));
    app.keys("5");
    assert_eq!(app.model.navigation.focus.pane, Pane::Loggers);
}

#[test]
fn esc_closes_search_range_zoom_and_detail_one_at_a_time() {
    let mut app = TestDashboard::new();
    app.keys("space v enter z / 'key' enter");
    let state = |app: &TestDashboard| {
        let model = &app.model;
        (
            model.detail.search.is_some(),
            model.lists.findings.range_from.is_some(),
            model.navigation.focus.zoomed,
            model.navigation.focus.in_detail,
        )
    };
    assert_eq!(state(&app), (true, true, true, true));
    let steps = [
        (false, true, true, true),
        (false, false, true, true),
        (false, false, false, true),
    ];
    for expected in steps.into_iter().chain([(false, false, false, false)]) {
        app.keys("esc");
        assert_eq!(state(&app), expected);
    }
    assert_eq!(
        app.model.cursor(Pane::Findings).marked().0,
        1,
        "esc closes everything else first"
    );
    app.keys("esc");
    assert_eq!(app.model.cursor(Pane::Findings).marked().0, 0);
    app.keys("esc");
    assert!(app.notices().contains("q quits"));
}

#[test]
fn h_and_l_switch_detail_tabs_and_h_on_first_tab_leaves() {
    let mut app = TestDashboard::new();
    app.keys("4 enter l l");
    let scan = DetailSubject::Row(RowRef::Item(2));
    assert_eq!(
        app.model.shown_detail(),
        Some((Pane::Scans, scan, Tab::Output))
    );
    assert_eq!(
        app.model.plan().scan_part,
        Some((ScanId(2), ScanPart::Output))
    );
    app.keys("h h");
    assert!(app.model.navigation.focus.in_detail);
    app.keys("h");
    assert!(!app.model.navigation.focus.in_detail);
    app.keys("> >");
    assert_eq!(
        app.model.detail.tab(Pane::Scans),
        Tab::Output,
        "> switches tabs from the list too"
    );
}

#[test]
fn j_scrolls_detail_and_upper_case_j_selects_next_row() {
    let mut app = TestDashboard::new();
    app.model.screen.measures.detail_lines = 12;
    app.keys("enter j j j j");
    assert_eq!(app.model.detail.scroll, 2);
    app.keys("J");
    assert_eq!(
        (app.selected(Pane::Findings), app.model.detail.scroll),
        (Some(2), 0)
    );
    app.keys("esc J");
    assert_eq!(
        (app.selected(Pane::Findings), app.model.detail.scroll),
        (Some(2), 1)
    );
}

#[test]
fn unbound_key_shows_notice_and_changes_nothing() {
    let mut app = TestDashboard::new();
    app.keys("0");
    assert!(
        app.notices().contains("0 does nothing here"),
        "{}",
        app.notices()
    );
    app.keys("Q");
    assert!(
        app.notices().contains("Q does nothing here"),
        "{}",
        app.notices()
    );
    app.keys("g x");
    assert!(
        app.notices().contains("gx does nothing here"),
        "{}",
        app.notices()
    );
    assert_eq!(app.model.navigation.focus.pane, Pane::Findings);
}

#[test]
fn top_layer_receives_keys() {
    let mut app = TestDashboard::new();
    assert_eq!(app.model.contexts()[0], Context::Findings);
    app.keys("g");
    assert_eq!(app.model.contexts(), [Context::Go]);
    app.keys("esc 2 n");
    assert_eq!(app.model.contexts(), [Context::Form]);
    app.keys("f1");
    assert_eq!(app.model.contexts(), [Context::Line]);
    app.keys("esc esc 2 D");
    assert_eq!(app.model.contexts(), [Context::Prompt]);
}

#[test]
fn pasted_text_never_runs_keys() {
    let mut app = TestDashboard::new();
    app.send(Msg::Paste("q\nDy".into()));
    assert!(app.model.overlay.modals.is_empty() && app.notices().contains("no text field here"));
    app.keys("/");
    app.send(Msg::Paste("git\nrepository".into()));
    assert_eq!(app.shown(Pane::Findings), [2]);
}

#[test]
fn text_pasted_into_targets_opens_form_of_new_targets() {
    let mut app = TestDashboard::new();
    app.keys("2");
    assert_eq!(
        app.send(Msg::Paste("shop.test\nq\n".into())),
        [],
        "nothing is sent"
    );
    let Some(Modal::Form(form)) = app.model.overlay.modals.last() else {
        panic!("no form")
    };
    assert!(
        form.title.starts_with("New targets") && form.fields[0].text().starts_with("shop.test\nq")
    );
    app.keys("esc");
    app.send(Msg::Paste("a.test".into()));
    app.keys("esc");
    app.send(Msg::Paste("b.test".into()));
    assert!(
        app.form().fields[0].text().ends_with("\na.test\nb.test"),
        "{}",
        app.form().fields[0].text()
    );
}

#[test]
fn ctrl_c_closes_form_and_twice_within_a_second_quits() {
    let mut app = TestDashboard::new();
    assert_eq!(app.keys("2 n ctrl-c"), []);
    assert!(app.model.overlay.modals.is_empty());
    app.at += Duration::from_secs(2);
    assert_eq!(app.keys("ctrl-c"), []);
    assert_eq!(app.keys("ctrl-c"), [Effect::Quit]);
}

#[test]
fn q_leaves_detail_then_quits_and_demo_confirms() {
    let mut app = TestDashboard::new();
    assert_eq!(app.keys("enter q"), []);
    assert_eq!(app.keys("q"), [Effect::Quit]);
    let mut app = TestDashboard::new();
    app.model.session.demo = true;
    assert_eq!(app.keys("q"), []);
    assert!(app.prompt().lines[0].contains("deletes the demo"));
    assert_eq!(app.keys("y"), [Effect::Quit]);
}

#[test]
fn r_refreshes_lists_on_screen() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("6 r");
    assert_eq!(app.model.plan().refreshes.get(&ListKind::Reports), Some(&1));
    assert_eq!(app.model.plan().refreshes.get(&ListKind::Findings), None);
}

#[test]
fn curl_of_a_finding_with_a_url_goes_to_the_target() {
    let mut app = TestDashboard::new();
    let row = vec!["http://t1.acme.test/key.pem".to_owned()];
    let found = Finding {
        vuln_evidence: Evidence::table(&["URL"], [row]),
        ..finding(1, 1, "Private key", Risk::Critical)
    };
    app.feed(Snapshot::Findings(table([found])));
    let effects = app.keys("3 y c");
    let Some(Effect::Copy { text, .. }) = effects.first() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        text,
        "curl --include --globoff --path-as-is --url 'http://t1.acme.test/key.pem'"
    );
}

#[test]
fn y_copies_without_api_key() {
    let mut app = TestDashboard::new();
    let copied = |app: &mut TestDashboard, keys: &str| match app.keys(keys).remove(0) {
        Effect::Copy { text, .. } => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(copied(&mut app, "y y"), "1");
    let curl = copied(&mut app, "y c");
    assert!(
        curl.contains("Bearer $SCANDECK_API_KEY\" 'http://127.0.0.1:8765/api/v2/findings/1'"),
        "{curl}"
    );
    assert!(copied(&mut app, "y j").contains("\"name\": \"Private key\""));
    assert_eq!(copied(&mut app, "2 y y"), "t1.acme.test");
    assert_eq!(copied(&mut app, "5 h y u"), "http://127.0.0.1:8766/l/abc/");
    assert_eq!(
        copied(&mut app, "5 y u"),
        "http://127.0.0.1:8766/l/abc/x?t=3"
    );
    assert!(copied(&mut app, "y r").starts_with("GET /l/abc/x?t=3 HTTP/1.1\n"));
    let at = "--base-url 'http://127.0.0.1:8765/api/v2' --workspace 'Acme'";
    assert_eq!(
        copied(&mut app, "y v"),
        format!("scandeck captures list {at}")
    );
    assert_eq!(
        copied(&mut app, "enter y v"),
        format!("scandeck captures show 3 --logger 1 {at}")
    );
}

#[test]
fn y_u_on_a_finding_copies_the_affected_url() {
    let mut app = TestDashboard::new();
    let copied = |app: &mut TestDashboard, keys: &str| match app.keys(keys).pop() {
        Some(Effect::Copy { text, .. }) => text,
        _ => app.notices(),
    };
    app.keys("3");
    assert!(copied(&mut app, "y u").contains("the target of this finding has no URL"));
    let at = |port, service: &str| Finding {
        port,
        service: service.into(),
        ..finding(1, 1, "a", Risk::Low)
    };
    for (port, service, url) in [
        (443, "https", "https://t1.acme.test/"),
        (8080, "http", "http://t1.acme.test:8080/"),
        (8443, "ssl/http", "https://t1.acme.test:8443/"),
    ] {
        app.feed(Snapshot::Findings(table([at(port, service)])));
        assert_eq!(copied(&mut app, "y u"), url);
    }
    app.feed(Snapshot::Targets(table([target(
        1,
        "https://t1.acme.test/shop",
    )])));
    assert_eq!(copied(&mut app, "y u"), "https://t1.acme.test/shop");
    app.keys("n 'Mine' ctrl-o");
    assert!(app.model.issue_at_hand().unwrap().manual().is_some());
    assert_eq!(copied(&mut app, "y u"), "https://t1.acme.test/shop");
    assert!(copied(&mut app, "y c").contains("the service does not have this manual finding"));
}

#[test]
fn late_response_is_shown_with_its_seconds() {
    let mut app = TestDashboard::new();
    app.feed(PollEvent::Link(Link::Live { at: stamp() }));
    assert!(app.frame()[0].contains("live"), "{}", app.frame()[0]);
    let since = app.model.now.wall - Duration::from_secs(4);
    app.feed(PollEvent::Unanswered(Some(Stamp(since))));
    assert!(
        app.frame()[0].contains("waiting for the service 4s"),
        "{}",
        app.frame()[0]
    );
    let (at, reason) = app.model.next_wake().unwrap();
    assert!(
        at <= app.at + Duration::from_secs(1) && reason == "seconds are counted",
        "{at:?} {reason}"
    );
    app.feed(PollEvent::Unanswered(None));
    assert!(app.frame()[0].contains("live"), "{}", app.frame()[0]);
}

#[test]
fn copied_command_finds_the_service_as_the_dashboard_did() {
    let mut app = TestDashboard::new();
    let copied = |app: &mut TestDashboard| {
        let text = |effect| {
            if let Effect::Copy { text, .. } = effect {
                Some(text)
            } else {
                None
            }
        };
        app.keys("3 y v").into_iter().find_map(text).unwrap()
    };
    let list = "--workspace 'Acme' --query 'is:undecided is:present'";
    app.model.session.starts_service = true;
    assert_eq!(
        copied(&mut app),
        format!("scandeck findings list {list}"),
        "the local service"
    );
    app.model.session.starts_service = false;
    app.model.session.service_flags = ["--config", "/etc/my file", "--profile", "team"]
        .map(str::to_owned)
        .into();
    assert_eq!(
        copied(&mut app),
        format!("scandeck findings list --config '/etc/my file' --profile team {list}")
    );
    app.model.session.service_flags = ["--api-key-file", "/k"].map(str::to_owned).into();
    assert_eq!(
        copied(&mut app),
        format!(
            "scandeck findings list --api-key-file /k --base-url 'http://127.0.0.1:8765/api/v2' {list}"
        )
    );
}

#[test]
fn curl_of_hostile_capture_reads_no_file_and_requests_one_url() {
    let mut app = TestDashboard::new();
    let mut curl = |id: i64, header: &str, body: &str| {
        use base64::Engine;
        let captured = Capture {
            url_params: "a=[1-9]{x,y}".into(),
            http_headers: vec![header.into()],
            request_body_base64: base64::engine::general_purpose::STANDARD
                .encode(body)
                .as_str()
                .into(),
            ..capture(id)
        };
        app.receive(1, vec![captured]);
        match app.keys("5 G y c").remove(0) {
            Effect::Copy { text, .. } => text,
            other => panic!("{other:?}"),
        }
    };
    let hostile = curl(10, "@/etc/passwd", "@/etc/shadow");
    assert!(
        hostile.starts_with("curl --globoff --path-as-is -X 'GET' "),
        "{hostile}"
    );
    assert!(
        hostile.contains(" --data-raw '@/etc/shadow' '"),
        "{hostile}"
    );
    assert!(!hostile.contains("passwd"), "{hostile}");
    let plain = curl(11, "a: b", "");
    assert!(
        plain.contains("-H 'a: b' ") && !plain.contains("--data"),
        "{plain}"
    );
}

#[test]
fn y_f_saves_marked_rows_to_one_file() {
    let mut app = TestDashboard::new();
    match app.keys("space space y f").remove(0) {
        Effect::Save { name, content } => {
            let value: serde_json::Value = serde_json::from_slice(&content).unwrap();
            assert_eq!(
                (name.as_str(), value.as_array().unwrap().len()),
                ("findings-2.json", 2)
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn curl_of_hostile_capture_is_quoted_for_shell() {
    let mut app = TestDashboard::new();
    let hostile = Capture {
        http_headers: vec!["X: '$(rm -rf /)'\u{1b}]52;c;eA\u{7}".into()],
        request_body_base64: "J2lkJw==".into(),
        ..capture(9)
    };
    app.receive(1, vec![hostile]);
    match app.keys("5 y c").remove(0) {
        Effect::Copy { text, .. } => {
            assert!(!text.chars().any(char::is_control), "{text:?}");
            let header =
                r#"-H 'X: '\''$(rm -rf /)'\'''"$(printf '\033')"']52;c;eA'"$(printf '\007')" "#;
            assert!(text.contains(header), "{text}");
            assert!(text.contains(r"--data-raw ''\''id'\'''"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn failed_copy_shows_text() {
    let mut app = TestDashboard::new();
    let failed = crate::base::CopyFailed {
        why: "no way out".into(),
        text: "abc".into(),
    };
    app.send(Msg::Copied(Err(failed)));
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Text(text)) if text.body == "abc")
    );
    app.keys("q");
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn first_start_connects_once_and_only_after_choice() {
    let mut app = TestDashboard::blank(80, 24);
    app.model = app.model.with_setup(None);
    assert!(app.model.on_screen().is_empty());
    assert_eq!(app.keys("esc j k"), []);
    assert_eq!(app.keys("l"), [Effect::Connect(ConnectionChoice::Here)]);
    assert_eq!(app.keys("d"), [], "the first choice is still pending");
    app.send(Msg::Connected(Err(Problem::local("no port"))));
    let effects = app.keys("h backspace 'x.test/' tab 'k1' ctrl-o");
    match effects.as_slice() {
        [Effect::Connect(ConnectionChoice::Hosted { base_url, key })] => {
            assert_eq!(
                (base_url.as_str(), key.0.as_str()),
                ("https:/x.test/", "k1")
            );
        }
        other => panic!("{other:?}"),
    }
    app.send(Msg::Connected(Ok(Session::default())));
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn refresh_after_rejected_key_reads_key_again_first() {
    let rejected = |hint: &str| {
        let problem = Problem {
            status: Some(401),
            ..Problem::local("invalid API key").with_hint(hint)
        };
        PollEvent::Link(Link::Down {
            problem: Arc::new(problem),
        })
    };
    let mut app = TestDashboard::new();
    app.model.session.reads_key_again = true;
    let before = app.model.plan().refreshes;
    assert_eq!(app.keys("r"), []);
    let refreshed = app.model.plan().refreshes;
    assert_ne!(before, refreshed, "the key is accepted");
    app.feed(rejected("check the API key from /home/ann/key"));
    assert!(
        app.notices()
            .contains("check the API key from /home/ann/key; r reads it again"),
        "{}",
        app.notices()
    );
    assert_eq!(app.keys("r"), [Effect::ReadKey]);
    assert_eq!(
        app.model.plan().refreshes,
        refreshed,
        "nothing is requested with the old key"
    );
    assert!(
        !app.keys("r r").contains(&Effect::ReadKey),
        "one command at a time"
    );
    assert!(
        app.notices().contains("reading the API key"),
        "{}",
        app.notices()
    );
    app.send(Msg::KeyRead {
        source: "/home/ann/key".into(),
        result: Ok(true),
    });
    assert_ne!(app.model.plan().refreshes, refreshed);
    assert!(
        app.notices()
            .contains("new API key read from /home/ann/key"),
        "{}",
        app.notices()
    );
    app.send(Msg::KeyRead {
        source: "/home/ann/key".into(),
        result: Err(Problem::local("cannot read the API key")),
    });
    assert!(
        app.notices()
            .contains("API key not read: cannot read the API key"),
        "{}",
        app.notices()
    );
    assert_eq!(
        app.keys("r"),
        [Effect::ReadKey],
        "after the result it can be read again"
    );

    let mut app = TestDashboard::new();
    app.feed(rejected("check the API key from SCANDECK_API_KEY"));
    assert!(
        app.notices()
            .contains("SCANDECK_API_KEY; then restart scandeck"),
        "{}",
        app.notices()
    );
    let before = app.model.plan().refreshes;
    assert_eq!(app.keys("r"), []);
    assert_ne!(app.model.plan().refreshes, before);
}

#[test]
fn refresh_in_every_pane_tries_a_rejected_key_again() {
    for pane in Pane::ALL {
        let mut app = TestDashboard::new();
        app.model.navigation.focus.pane = pane;
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        let problem = Problem {
            status: Some(401),
            ..Problem::local("invalid API key")
        };
        app.feed(PollEvent::Link(Link::Down {
            problem: Arc::new(problem),
        }));
        let before = app.model.plan().refreshes;
        app.keys("r");
        assert_ne!(app.model.plan().refreshes, before, "{pane:?}");
    }
}

#[test]
fn notice_expiry_schedules_wakeup() {
    let mut app = TestDashboard::new();
    app.model.findings.triage.writer = None;
    app.keys("Q");
    let wake = app.model.wake_at().unwrap();
    assert!(
        wake <= app.at + Duration::from_secs(3),
        "the notice expires"
    );
    app.at = wake;
    app.send(Msg::Wake);
    assert_eq!(app.notices(), "");
    assert!(app.model.wake_at().unwrap() > app.at);
}

#[test]
fn ctrl_z_suspends_and_ctrl_l_redraws_in_every_context() {
    for keys in ["", "1 n", "/", "2 D", "?"] {
        let mut app = TestDashboard::new();
        app.keys(keys);
        assert_eq!(
            app.keys("ctrl-z ctrl-l"),
            [Effect::Suspend, Effect::Redraw],
            "{keys}"
        );
    }
}

#[test]
fn pane_five_switches_to_captures_on_first_logger() {
    let mut app = TestDashboard::blank(200, 60);
    app.feed(Snapshot::Loggers(Default::default()));
    assert_eq!(app.model.navigation.fifth, Pane::Loggers);
    let logger = Logger {
        id: LoggerId(1),
        label: "probe".into(),
        ..Logger::default()
    };
    app.feed(Snapshot::Loggers(table([logger])));
    assert_eq!(app.model.navigation.fifth, Pane::Captures);
}

#[test]
fn y_u_copies_url_of_logger_without_captures() {
    let mut app = TestDashboard::new();
    app.keys("5 h n");
    let probe = |id, label: &str| Logger {
        id: LoggerId(id),
        label: label.into(),
        handler_url: format!("http://127.0.0.1:1/l/{label}/").as_str().into(),
        ..Logger::default()
    };
    app.keys("esc");
    app.feed(Snapshot::Loggers(table([probe(1, "a"), probe(2, "b")])));
    let copied = app.keys("G enter y u");
    assert!(
        matches!(&copied[0], Effect::Copy { text, .. } if text == "http://127.0.0.1:1/l/b/"),
        "{copied:?}"
    );
}

#[test]
fn typed_api_key_is_absent_from_debug_output() {
    let mut app = TestDashboard::blank(80, 24);
    app.model = app.model.with_setup(None);
    app.keys("h tab 'hush-hush'");
    let printed = format!("{:?}", app.model);
    assert!(
        printed.contains("https://") && !printed.contains("hush"),
        "{printed}"
    );
}

#[test]
fn text_overlay_scroll_stops_at_end() {
    let mut app = TestDashboard::new();
    let body = (0..200)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join("\n");
    let failed = crate::base::CopyFailed {
        why: "no way out".into(),
        text: body,
    };
    app.send(Msg::Copied(Err(failed)));
    let scroll = |app: &TestDashboard| match app.model.overlay.modals.last() {
        Some(Modal::Text(text)) => text.scroll,
        other => panic!("{other:?}"),
    };
    app.keys("j j k");
    assert_eq!(scroll(&app), 1);
    app.keys("G j");
    assert_eq!(scroll(&app), 148);
    app.keys("g");
    assert_eq!(scroll(&app), 0);
}

#[test]
fn sequence_of_the_configuration_runs_after_its_last_key() {
    let mut app = TestDashboard::new();
    let setting = |action: &str, keys: &str| KeySetting {
        line: 1,
        context: "everywhere".to_owned(),
        action: action.to_owned(),
        keys: vec![keys.to_owned()],
    };
    let settings = [setting("scans", "Z s"), setting("zoom", "Z z")];
    app.model.keyboard.keymap = Arc::new(Keymap::builtin().rebound(&settings).unwrap());
    app.keys("4");
    assert_eq!(
        app.model.navigation.focus.pane,
        Pane::Findings,
        "4 was replaced"
    );
    app.keys("Z");
    assert_eq!(app.model.keyboard.typed.len(), 1);
    app.keys("s");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.keyboard.typed.len()
        ),
        (Pane::Scans, 0)
    );
    app.keys("Z esc");
    assert!(app.model.keyboard.typed.is_empty());
    app.keys("Z x");
    assert!(
        app.notices().contains("Zx does nothing here"),
        "{}",
        app.notices()
    );
    app.keys("Z ctrl-c j");
    assert!(
        app.model.keyboard.typed.is_empty(),
        "ctrl-c ends the sequence"
    );
}

#[test]
fn characters_that_arrive_together_filter_like_single_ones() {
    use crate::input::{KeyCode, KeyEvent, KeyModifiers};
    let letter = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
    let mut app = TestDashboard::new();
    assert_eq!(app.model.line_letter(letter('r')), None, "no line is open");
    app.keys("3 / 'risk>=high'");
    assert_eq!(app.model.line_letter(letter('r')), Some('r'));
    assert_eq!(
        app.model.line_letter(letter(' ')),
        None,
        "pasted text loses the blanks at its ends"
    );
    assert_eq!(
        app.model
            .line_letter(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)),
        None
    );
    let mut other = TestDashboard::new();
    other.keys("3 /");
    other.send(Msg::Paste("risk>=high".to_owned()));
    let shown = |app: &TestDashboard| {
        (
            app.model.lists.findings.rows.clone(),
            app.model.lists.findings.filter.clone(),
        )
    };
    assert_eq!(shown(&app), shown(&other));
}

#[test]
fn theme_is_previewed_while_its_name_is_completed() {
    use crate::base::Scheme;
    let mut app = TestDashboard::new();
    let scheme = |app: &TestDashboard| app.model.scheme().map(|(scheme, _)| scheme);
    assert_eq!(scheme(&app), None);
    app.keys(": 'theme light'");
    assert_eq!(
        (scheme(&app), app.model.screen.theme.as_str()),
        (Some(Scheme::Light), "auto")
    );
    app.keys("esc");
    assert_eq!(scheme(&app), None, "a preview ends with its line");
    app.keys(": 'theme ' down down down");
    assert_eq!(scheme(&app), Some(Scheme::Light), "the selected completion");
    app.keys("enter");
    assert_eq!(app.model.screen.theme, "light");
    app.keys(": 'theme auto'");
    assert_eq!(scheme(&app), None);
}

#[test]
fn pager_shows_head_and_text_of_detail() {
    let mut app = TestDashboard::new();
    app.keys("3 enter");
    let text = app.paged();
    assert!(
        text.starts_with("Private key\n") && text.contains("t1.acme.test\n"),
        "{text}"
    );
    let agent = "practice ".repeat(40);
    app.receive(
        1,
        vec![Capture {
            user_agent: agent.trim().into(),
            ..capture(9)
        }],
    );
    app.keys("5 G enter");
    let text = app.paged();
    assert!(
        text.contains(agent.trim()),
        "not wrapped to the pane: {text}"
    );
}

#[test]
fn pager_shows_detail_or_open_text() {
    let mut app = TestDashboard::new();
    assert_eq!(app.keys("3 enter |"), [Effect::Page(None)]);
    app.model.show_text("words", "one\u{1b}[31m\ntwo");
    let [Effect::Page(Some(text))] = &app.keys("|")[..] else {
        panic!("no pager")
    };
    assert!(
        text.ends_with("\ntwo") && !text.contains('\u{1b}'),
        "{text:?}"
    );
    assert!(app.keys("esc esc |").is_empty(), "a list has no text");
}

#[test]
fn footer_shows_the_keys_of_an_open_search() {
    let mut app = TestDashboard::new();
    app.keys("5 enter");
    assert!(app.frame()[59].contains("n new"));
    app.keys("/ 'query' enter");
    let hints = app.frame()[59].clone();
    assert!(
        hints.contains("n next") && hints.contains("N previous") && !hints.contains("n new"),
        "{hints}"
    );
}

#[test]
fn narrow_footer_shows_how_to_close_what_is_in_front() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 40,
        rows: 24,
    };
    for (keys, close) in [
        ("3 t", "esc cancel"),
        ("esc T", "esc cancel"),
        ("esc n", "esc close"),
        ("esc enter", "esc back"),
    ] {
        app.keys(keys);
        let footer = app.frame()[23].clone();
        assert!(footer.contains(close), "{keys}: {footer}");
    }
    app.keys("esc");
    assert!(!app.frame()[23].contains("esc"), "{}", app.frame()[23]);
}

#[test]
fn narrow_header_counts_reappeared_findings_where_there_is_room() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.model.findings.triage.again.regressions = 1;
    assert!(app.frame()[0].contains("↺1"), "{}", app.frame()[0]);
    app.model.session.name = "a service with a name that needs the whole header".to_owned();
    assert!(!app.frame()[0].contains("↺1"), "{}", app.frame()[0]);
}

#[test]
fn search_without_match_says_so_and_has_no_keys_for_matches() {
    let mut app = TestDashboard::new();
    app.keys("5 enter / 'zzz' enter");
    let frame = app.frame();
    assert!(
        frame.join("\n").contains("no match for \"zzz\""),
        "{}",
        frame.join("\n")
    );
    assert!(!frame[59].contains("n next"), "{}", frame[59]);
    app.keys("/ ctrl-u 'query' enter");
    assert!(!app.frame().join("\n").contains("no match"));
}

#[test]
fn findings_and_captures_are_copied_as_markdown() {
    let mut app = TestDashboard::new();
    let copied = |app: &mut TestDashboard, keys: &str| match &app.keys(keys)[..] {
        [Effect::Copy { what, text, .. }] => (what.clone(), text.clone()),
        other => panic!("{keys}: {other:?}"),
    };
    let (what, text) = copied(&mut app, "3 y m");
    assert_eq!(what, "Markdown of 1 finding");
    assert!(
        text.starts_with("## critical: Private key\n\n- Target: t1.acme.test\n"),
        "{text}"
    );
    let (what, text) = copied(&mut app, "space space y m");
    assert_eq!(
        (what.as_str(), text.matches("## ").count()),
        ("Markdown of 2 findings", 2)
    );
    let (what, text) = copied(&mut app, "5 G y m");
    assert_eq!(what, "Markdown of 1 capture");
    assert!(
        text.starts_with("## Capture 3 of logger probe\n\n```http\nGET "),
        "{text}"
    );
    app.keys("4 y m");
    assert!(
        app.notices().contains("nothing to copy"),
        "{}",
        app.notices()
    );
}

#[test]
fn browser_opens_web_urls_after_a_confirmation() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Targets(table([
        target(1, "https://shop.acme.test/"),
        target(2, "10.0.0.1"),
    ])));
    app.model.session.has_browser = true;
    app.keys("2 g g y b");
    assert_eq!(
        app.prompt().question,
        "Open https://shop.acme.test/ in the browser?"
    );
    let effects = app.keys("y");
    assert!(
        effects.contains(&Effect::OpenUrl("https://shop.acme.test/".into())),
        "{effects:?}"
    );
    app.keys("j y b");
    assert!(
        app.notices().contains("this row has no http or https URL"),
        "{}",
        app.notices()
    );
    app.model.session.has_browser = false;
    let effects = app.keys("k y b");
    let [Effect::Copy { what, text, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (what.as_str(), text.as_str()),
        (
            "no browser here: https://shop.acme.test/",
            "https://shop.acme.test/"
        )
    );
    app.model.session.read_only = true;
    assert_eq!(app.keys("y b"), []);
    assert!(
        app.notices().contains("off in a read-only session"),
        "{}",
        app.notices()
    );
}

#[test]
fn actions_that_are_off_stay_in_the_footer() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 200,
        rows: 60,
    };
    let footer = |app: &mut TestDashboard, keys: &str| {
        app.keys(keys);
        app.frame()[59].clone()
    };
    let [writable, targets] = ["3", "2"].map(|pane| footer(&mut app, pane));
    app.model.session.read_only = true;
    assert_eq!(
        ["3", "2"].map(|pane| footer(&mut app, pane)),
        [writable, targets]
    );
    app.keys("2 s");
    assert!(
        app.notices().contains("off in a read-only session"),
        "{}",
        app.notices()
    );
}

#[test]
fn review_hint_counts_what_it_reviews() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 200,
        rows: 60,
    };
    let footer = |app: &mut TestDashboard, keys: &str| {
        app.keys(keys);
        app.frame()[59].clone()
    };
    let ungrouped = footer(&mut app, "3");
    assert!(
        ungrouped.contains("B review  "),
        "the cards are classes, not findings: {ungrouped}"
    );
    assert!(footer(&mut app, "space space").contains("B review 2 "));
    let of_class = |id: i64| Finding {
        vuln_id: "dump".into(),
        ..finding(id, id, "Database dump", Risk::High)
    };
    app.feed(Snapshot::Findings(table([
        of_class(1),
        of_class(2),
        finding(3, 3, "Banner", Risk::Info),
    ])));
    let grouped = footer(&mut app, "esc b c");
    assert!(grouped.contains("B review 2 "), "{grouped}");
    let range = footer(&mut app, "v j");
    assert!(
        range.contains("B review  "),
        "a range without a number: {range}"
    );
}
