//! Captures: comparison, export and replay.

use crate::base::{Scope, Tab};
use crate::core::Msg;
use crate::data::OobNews;
use crate::model::navigation;
use crate::testing::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use scandeck_domain::oob::{Payload, PayloadBook, Token, mentions};
use std::sync::Arc;
use std::time::Duration;

/// A capture from an address, with the token of this number.
fn carrying(id: i64, token: u64, from: &str) -> Capture {
    Capture {
        url_params: format!("t={}", Token::of(token)).into(),
        ip_address: from.into(),
        ..capture(id)
    }
}

/// A dashboard with captures of several payloads and addresses.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let mut book = PayloadBook::default();
    book.take((1..=2).map(|token| {
        Arc::new(Payload {
            token: Token::of(token),
            ..Payload::default()
        })
    }));
    let captures = [
        carrying(10, 1, "192.0.2.1"),
        carrying(11, 2, "192.0.2.2"),
        carrying(12, 1, "192.0.2.3"),
        carrying(13, 3, "192.0.2.2"),
        carrying(14, 4, "192.0.2.9"),
    ];
    let recognised = |capture: Capture| {
        let found = mentions(&capture, &book).into();
        CaptureRow {
            mentions: found,
            ..capture_row(1, capture)
        }
    };
    let new = captures.into_iter().map(recognised).collect();
    let generation = app.model.connection.generation;
    app.send(Msg::Oob(OobNews::Captures { generation, new }));
    app.keys("5 G");
    app
}

fn select(app: &mut TestDashboard, id: i64) {
    app.keys("G");
    while app.selected(Pane::Captures) != Some(id) {
        app.keys("k");
    }
}

fn compared(app: &TestDashboard) -> Option<i64> {
    app.model
        .compared_capture()
        .map(|captured| captured.capture.id.0)
}

#[test]
fn selected_capture_is_compared_with_previous_of_payload_or_address() {
    let mut app = app();
    for (id, other) in [(12, Some(10)), (13, Some(11)), (14, None), (10, None)] {
        select(&mut app, id);
        assert_eq!(compared(&app), other, "{id}");
    }
    select(&mut app, 14);
    app.keys("d");
    assert!(
        !app.model.navigation.focus.in_detail && app.notices().contains("mark two"),
        "{}",
        app.notices()
    );
    select(&mut app, 12);
    app.keys("d");
    assert!(app.model.navigation.focus.in_detail);
    assert_eq!(app.model.detail.tab(Pane::Captures), Tab::Compare);
    app.keys("esc");
    assert!(!app.model.navigation.focus.in_detail);
}

#[test]
fn marked_pair_is_compared_at_any_cursor() {
    let mut app = app();
    select(&mut app, 10);
    app.keys("space");
    select(&mut app, 14);
    app.keys("space");
    select(&mut app, 12);
    app.keys("d");
    assert_eq!(
        (app.selected(Pane::Captures), compared(&app)),
        (Some(14), Some(10))
    );
    app.keys("esc");
    select(&mut app, 10);
    assert_eq!(compared(&app), Some(14));
    select(&mut app, 13);
    app.keys("space");
    app.keys("d");
    assert!(
        app.notices().contains("3 captures marked"),
        "{}",
        app.notices()
    );
}

fn exported(effects: Vec<Effect>) -> (String, Vec<i64>, String) {
    match effects.last() {
        Some(Effect::ExportCaptures(exported)) => {
            let ids = exported.sent.iter().map(|sent| sent.capture.id.0).collect();
            (
                exported.name.clone(),
                ids,
                exported.format.written(&exported.sent, None),
            )
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn exported_captures_are_of_query_or_marked_or_shown() {
    let mut app = app();
    let (name, ids, text) =
        exported(app.keys(": 'export captures jsonl from:192.0.2.2 to x.jsonl' enter"));
    assert_eq!((name.as_str(), ids), ("x.jsonl", vec![11, 13]));
    assert_eq!(text.lines().count(), 2);
    let (name, ids, text) = exported(app.keys(": 'export captures har' enter"));
    assert_eq!((name.as_str(), ids.len()), ("captures-Acme.har", 8));
    assert!(
        text.contains("\"http://127.0.0.1:8766/l/abc/x?t="),
        "{text}"
    );
    select(&mut app, 12);
    app.keys("space");
    assert_eq!(exported(app.keys(": 'export captures har' enter")).1, [12]);
    let none = app.keys(": 'export captures har from:203.0.113.99' enter");
    assert!(
        !none
            .iter()
            .any(|effect| matches!(effect, Effect::ExportCaptures(_)))
    );
    assert!(
        app.notices().contains("no captures to export"),
        "{}",
        app.notices()
    );
}

#[test]
fn replay_sends_only_to_typed_url_after_prompt() {
    let mut app = TestDashboard::new();
    let secret = Capture {
        request_method: "POST".into(),
        http_headers: vec!["Host: h".into(), "Authorization: Bearer s3cret".into()],
        ..capture(9)
    };
    app.receive(1, vec![secret]);
    assert_eq!(app.keys("5 G s"), [], "the URL is typed first");
    assert_eq!(app.calls("'https://shop.acme.test/x' enter"), []);
    let question = format!("{:?}", app.prompt());
    assert_eq!(app.prompt().lines[0], "POST to https://shop.acme.test/x");
    assert!(!question.contains("s3cret"), "{question}");
    let sent = app.calls("y");
    match &sent[0].1 {
        Call::Replay(replay) => {
            assert_eq!(replay.url.as_str(), "https://shop.acme.test/x");
            assert_eq!(
                replay.headers,
                [("Authorization".to_owned(), "Bearer s3cret".to_owned())]
            );
        }
        other => panic!("{other:?}"),
    }
    app.answer(&sent, |_| Ok(CallAnswer::Status(403)));
    assert!(
        app.notices()
            .contains("POST to https://shop.acme.test/x sent: status 403"),
        "{}",
        app.notices()
    );
    let sent = app.calls(": 'replay 127.0.0.1:9/' enter y");
    app.answer(&sent, |_| Err(Problem::local("cannot connect")));
    assert!(
        !app.notices().contains("s3cret") && app.notices().contains("cannot connect"),
        "{}",
        app.notices()
    );
    app.keys(": 'replay ftp://h/' enter");
    assert!(app.notices().contains("http or https"), "{}", app.notices());
    let Some(Modal::Command(line)) = app.model.overlay.modals.last() else {
        panic!("no command line")
    };
    assert_eq!(line.input.text(), "replay ftp://h/");
}

#[test]
fn binary_body_is_saved_for_curl_command() {
    let mut app = TestDashboard::new();
    app.receive(
        1,
        vec![Capture {
            request_body_base64: "AP8b".into(),
            path: None,
            ..capture(9)
        }],
    );
    let effects = app.keys("5 G y c");
    let [Effect::SaveBody { name, sent, .. }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert!(
        name.starts_with("capture-1-9-") && name.ends_with(".bin"),
        "{name}"
    );
    assert!(
        app.notices().contains("path not reported"),
        "{}",
        app.notices()
    );
    let problem = Err(Problem::local("the disk is full"));
    assert_eq!(
        app.send(Msg::BodySaved {
            sent: sent.clone(),
            saved: problem
        }),
        [],
        "without a file there is no command"
    );
    let saved = Ok("/tmp/taken-2.bin".into());
    match app
        .send(Msg::BodySaved {
            sent: sent.clone(),
            saved,
        })
        .as_slice()
    {
        [Effect::Copy { text, .. }] => {
            assert!(text.contains("--data-binary '@taken-2.bin'"), "{text}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn marked_captures_are_copied_as_array_with_payloads() {
    let mut app = app();
    select(&mut app, 10);
    app.keys("space space");
    match app.keys("y j").as_slice() {
        [Effect::Copy { text, .. }] => {
            let values: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
            let payloads: Vec<_> = values
                .iter()
                .map(|value| value["payload"].as_str().unwrap())
                .collect();
            assert_eq!(
                payloads,
                [Token::of(1).to_string(), Token::of(2).to_string()]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn capture_of_deleted_logger_keeps_url() {
    let mut app = TestDashboard::new();
    app.receive(
        77,
        vec![Capture {
            path: None,
            ..capture(9)
        }],
    );
    assert!(
        app.model
            .data
            .loggers
            .value()
            .unwrap()
            .get(LoggerId(77))
            .is_none()
    );
    let copied = |effects: Vec<Effect>| match effects.as_slice() {
        [Effect::Copy { text, .. }] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        copied(app.keys("5 G y y")),
        "http://127.0.0.1:8766/l/abc/?t=9"
    );
    assert!(copied(app.keys("y c")).contains("'http://127.0.0.1:8766/l/abc/?t=9'"));
    assert!(
        exported(app.keys(": 'export captures har' enter"))
            .2
            .contains("http://127.0.0.1:8766/l/abc/?t=9")
    );
}

#[test]
fn target_query_finds_sender_named_and_later_targets() {
    let mut app = TestDashboard::new();
    let headers = vec![
        "Host: t1.acme.test".into(),
        "X-Forwarded-For: 10.0.0.7, T2.acme.test:8443".into(),
    ];
    let named = Capture {
        http_headers: headers,
        ..capture(10)
    };
    app.receive(1, vec![named, carrying(11, 1, "192.0.2.40")]);
    let matching = |app: &mut TestDashboard, query: &str| {
        app.model.set_query(Pane::Captures, query).unwrap();
        app.shown(Pane::Captures)
    };
    assert_eq!(matching(&mut app, "target:t2"), [10]);
    assert_eq!(
        matching(&mut app, "target:t1"),
        [0; 0],
        "the Host of a request is the logger"
    );
    assert_eq!(matching(&mut app, "target:192.0.2.40"), [0; 0]);
    let targets = [
        target(2, "t2.acme.test"),
        target(9, "https://192.0.2.40:8443/"),
    ];
    app.feed(Snapshot::Targets(table(targets)));
    assert_eq!(app.shown(Pane::Captures), [11]);
    assert_eq!(matching(&mut app, "-target:*"), [1, 2, 3]);
}

#[test]
fn marked_captures_are_copied_raw_and_unmarked_by_command() {
    let mut app = app();
    app.keys("space k space");
    let copied = |effects: Vec<Effect>| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text),
            _ => None,
        })
    };
    let raw = copied(app.keys("y r")).unwrap();
    assert_eq!(raw.matches("GET ").count(), 2, "{raw}");
    app.keys("y c");
    assert!(
        app.notices().contains("not of the 2 marked requests"),
        "{}",
        app.notices()
    );
    app.keys(": 'unmark method:GET' enter");
    assert!(
        app.notices().contains("cannot be marked by query"),
        "{}",
        app.notices()
    );
    app.keys("esc : 'unmark' enter");
    assert!(app.model.lists.captures.marks().is_empty());
}

#[test]
fn group_keys_of_captures_have_own_context() {
    let mut app = app();
    for (keys, context) in [
        ("5 b", crate::input::Context::CaptureGroup),
        ("esc 3 b", crate::input::Context::Group),
    ] {
        app.keys(keys);
        assert_eq!(app.model.keyboard.pending, Some(context), "{keys}");
    }
}

#[test]
fn replay_from_another_pane_is_refused_with_and_without_url() {
    let mut app = TestDashboard::new();
    app.receive(1, vec![capture(9)]);
    app.keys("5 G 3");
    for line in ["replay", "replay https://shop.acme.test/x"] {
        assert_eq!(app.calls(&format!(": '{line}' enter")), []);
        let refused = app
            .notices()
            .contains("replay needs a selected capture · 5 shows captures");
        assert!(
            refused && app.model.overlay.modals.is_empty(),
            "{line}: {}",
            app.notices()
        );
    }
}

#[test]
fn resumed_stream_is_reported_instead_of_the_pause() {
    let mut app = TestDashboard::new();
    app.keys("5 =");
    assert!(
        app.notices().contains("stream paused · = resumes"),
        "{}",
        app.notices()
    );
    app.keys("=");
    assert!(
        app.notices().contains("stream resumed"),
        "{}",
        app.notices()
    );
    assert!(
        !app.notices().contains("stream paused"),
        "{}",
        app.notices()
    );
}

#[test]
fn json_body_folds_at_cursor_and_names_its_path() {
    let mut app = TestDashboard::new();
    let body = STANDARD.encode(r#"{"user":{"roles":["a","b"],"name":"x"},"n":1}"#);
    app.receive(
        1,
        vec![Capture {
            request_body_base64: body.into(),
            ..capture(900)
        }],
    );
    app.keys("5 G enter > >");
    app.frame();
    app.keys("j j j j j");
    let shows =
        |app: &mut TestDashboard, words: &str| app.frame().iter().any(|line| line.contains(words));
    assert!(
        shows(&mut app, "user.roles[0]   enter folds"),
        "{}",
        app.frame().join("\n")
    );
    app.keys("enter");
    assert!(
        shows(&mut app, "\"roles\": [ … 2 ],") && !shows(&mut app, "\"a\","),
        "{}",
        app.frame().join("\n")
    );
    assert!(
        shows(&mut app, "user.roles   enter unfolds"),
        "the cursor is on the folded array"
    );
    app.keys("j");
    assert!(shows(&mut app, "user.name   enter folds"));
    app.keys("k enter");
    assert!(shows(&mut app, "\"a\","), "unfolded");
    app.keys("enter enter");
    assert!(
        !shows(&mut app, "\"a\","),
        "the second key arrived before the frame of the first one"
    );
    app.keys("enter");
    app.frame();
    app.keys("/ 'name' enter");
    assert!(
        shows(&mut app, "user.name   enter folds"),
        "the cursor is on the match"
    );
    app.keys("enter");
    assert!(
        shows(&mut app, "\"user\": { … 2 },"),
        "{}",
        app.frame().join("\n")
    );
    app.keys(",");
    assert!(!shows(&mut app, "enter folds"), "a raw body has no cursor");
}

#[test]
fn page_key_scrolls_a_text_with_json_at_once() {
    let mut app = TestDashboard::new();
    let members: Vec<String> = (0..300).map(|n| format!("\"m{n}\":{n}")).collect();
    let body = STANDARD.encode(format!("{{{}}}", members.join(",")));
    app.receive(
        1,
        vec![Capture {
            request_body_base64: body.into(),
            ..capture(900)
        }],
    );
    app.keys("5 G enter > >");
    app.frame();
    app.keys("j");
    assert_eq!(
        (app.model.detail.cursor, app.model.detail.scroll),
        (1, 0),
        "one row moves the cursor only"
    );
    let rows = u32::from(app.model.screen.measures.detail_rows);
    app.keys("pgdn");
    let detail = &app.model.detail;
    assert!(
        detail.scroll > rows / 2 && detail.cursor > detail.scroll,
        "{} {}",
        detail.scroll,
        detail.cursor
    );
}

#[test]
fn captures_of_the_last_minutes_are_counted_above_the_list() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 90,
        rows: 30,
    };
    let now = app.model.service_now();
    let at = |id: i64, seconds: i64| Capture {
        request_date: Some(Stamp(now - Duration::from_secs(seconds as u64))),
        ..capture(id)
    };
    app.receive(1, vec![at(10, 3_000), at(11, 130), at(12, 50), at(13, 2)]);
    app.keys("5");
    let frame = app.frame();
    assert!(
        frame.iter().any(|line| line.contains("2/min  following")),
        "{frame:#?}"
    );
    app.model.screen.size = Size {
        columns: 200,
        rows: 60,
    };
    let frame = app.frame();
    assert!(
        frame
            .iter()
            .any(|line| line.contains("▁▁▁▁▁▁▁▁▁▅▁█ 2/min  following")),
        "{frame:#?}"
    );
}

#[test]
fn rows_of_a_group_do_not_repeat_its_source_or_logger() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 140,
        rows: 30,
    };
    app.receive(
        1,
        vec![Capture {
            ip_address: "203.0.113.9".into(),
            ..capture(10)
        }],
    );
    app.receive(
        2,
        vec![Capture {
            ip_address: "203.0.113.8".into(),
            ..capture(11)
        }],
    );
    let head = |app: &mut TestDashboard, keys: &str| {
        app.keys(keys);
        app.frame()
            .into_iter()
            .find(|line| line.contains("REQUEST"))
            .unwrap_or_default()
    };
    let ungrouped = head(&mut app, "5 z");
    assert!(
        ungrouped.contains("FROM") && ungrouped.contains("LOGGER"),
        "{ungrouped}"
    );
    let by_source = head(&mut app, "b s");
    assert!(
        !by_source.contains("FROM") && by_source.contains("LOGGER"),
        "{by_source}"
    );
    let by_logger = head(&mut app, "b l");
    assert!(
        by_logger.contains("FROM") && !by_logger.contains("LOGGER"),
        "{by_logger}"
    );
}

#[test]
fn captures_of_other_loggers_are_not_hidden_by_a_filter() {
    let mut app = TestDashboard::new();
    app.capture(1, 1..=3);
    app.capture(2, 11..=14);
    app.keys("5 z");
    let scope = Scope {
        logger: Some(LoggerId(1)),
        ..app.model.navigation.scope.clone()
    };
    navigation::set_scope(&mut app.model, scope);
    let frame = app.frame().join("\n");
    assert!(!frame.contains("hidden"), "{frame}");
    app.keys("/ 'id:2' enter");
    let frame = app.frame().join("\n");
    assert!(frame.contains("2 hidden"), "{frame}");
}

#[test]
fn scope_of_a_logger_leaves_its_room_to_the_filter() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.capture(1, 1..=3);
    app.keys("5 z");
    let scope = Scope {
        logger: Some(LoggerId(1)),
        ..app.model.navigation.scope.clone()
    };
    navigation::set_scope(&mut app.model, scope);
    assert!(app.frame().join("\n").contains(" left"), "its lifetime");
    app.keys("/ 'id:2' enter");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("/id:2") && !frame.contains(" left"),
        "{frame}"
    );
}

#[test]
fn grouped_captures_count_the_hidden_ones() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.capture(1, 1..=3);
    app.keys("5 z b l / 'id:2' enter");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("1 capture grouped by logger, 2 hidden"),
        "{frame}"
    );
}

#[test]
fn equal_numbers_of_loggers_give_way_to_their_names() {
    let head = |labels: [&str; 2], left: [i64; 2]| {
        let mut app = TestDashboard::new();
        let first = app.model.items::<Logger>()[0].clone();
        let one = |id: usize| Logger {
            id: LoggerId(id as i64 + 1),
            label: labels[id].into(),
            requests_left: left[id],
            active_days: 30,
            ..Logger::clone(&first)
        };
        app.feed(Snapshot::Loggers(table([one(0), one(1)])));
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        app.keys("g l z");
        app.frame().join("\n")
    };
    let long = "callbacks-of-the-practice-visits-spring";
    let named = head([long, "second"], [100, 100]);
    assert!(
        named.contains(long) && !named.contains("DAYS LEFT") && !named.contains("LEFT "),
        "{named}"
    );
    let short = head(["one", "two"], [100, 90]);
    assert!(short.contains("DAYS LEFT"), "{short}");
}

#[test]
fn filter_by_age_follows_time_without_new_captures() {
    let mut app = TestDashboard::new();
    let sent = |id, seconds| {
        let at = stamp()
            .0
            .checked_sub(jiff::SignedDuration::from_secs(seconds))
            .unwrap();
        Capture {
            request_date: Some(Stamp(at)),
            ..capture(id)
        }
    };
    app.receive(2, vec![sent(20, 50), sent(21, 5)]);
    app.keys("5 / 'time<1m' enter");
    let shown = |app: &TestDashboard| app.model.lists.captures.len();
    let before = shown(&app);
    app.at += Duration::from_secs(20);
    app.send(Msg::Wake);
    assert_eq!(shown(&app), before - 1);
    let later = |app: &mut TestDashboard| {
        app.at += Duration::from_secs(60);
        app.send(Msg::Wake);
    };
    app.keys("enter");
    later(&mut app);
    assert!(
        shown(&app) == before - 1 && app.model.navigation.focus.in_detail,
        "what is being read stays"
    );
    app.keys("esc");
    later(&mut app);
    assert_eq!(shown(&app), 0);
}

#[test]
fn capture_that_is_being_read_stays_when_others_arrive() {
    let mut app = TestDashboard::new();
    app.keys("5 G");
    app.capture(1, 4..=4);
    assert_eq!(
        app.model.selected_capture().unwrap().capture.id.0,
        4,
        "the list follows"
    );
    app.keys("enter");
    app.capture(1, 5..=5);
    assert_eq!(app.model.selected_capture().unwrap().capture.id.0, 4);
    app.keys("esc G");
    app.capture(1, 6..=6);
    assert_eq!(
        app.model.selected_capture().unwrap().capture.id.0,
        6,
        "it follows again"
    );
    app.model.navigation.scope.logger = Some(LoggerId(1));
    app.model.show_rows(Pane::Captures);
    app.keys("G enter");
    app.capture(2, 30..=30);
    app.keys("esc");
    app.capture(1, 7..=7);
    assert_eq!(
        app.model.selected_capture().unwrap().capture.id.0,
        7,
        "the other one was not added to the list"
    );
}
