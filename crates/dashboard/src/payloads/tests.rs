//! The payload book: creation, places, and the pane.

use crate::core::Msg;
use crate::data::OobNews;
use crate::forms::FieldId;
use crate::testing::*;
use scandeck_domain::oob::{Hits, Payload, PayloadRequest, Token};

/// The payloads that effects store, and the texts that they copy.
fn planted(effects: &[Effect]) -> (Vec<Payload>, Vec<String>) {
    let stored = effects.iter().filter_map(|effect| match effect {
        Effect::Plant(payloads) => Some(payloads.iter().map(|payload| (**payload).clone())),
        _ => None,
    });
    let copied = effects.iter().filter_map(|effect| match effect {
        Effect::Copy { text, .. } => Some(text.clone()),
        _ => None,
    });
    (stored.flatten().collect(), copied.collect())
}

#[test]
fn new_payload_is_copied_and_stores_target_but_no_finding() {
    let mut app = TestDashboard::new();
    app.model.connection.clock_offset = Some(7);
    let (stored, copied) = planted(&app.keys("3 p"));
    assert_eq!(copied, ["http://127.0.0.1:8766/l/abc/?t=aaaaaaaaaaab"]);
    let [payload] = &stored[..] else {
        panic!("{stored:?}")
    };
    assert_eq!(
        (payload.target.as_str(), payload.finding_name.as_str()),
        ("t1.acme.test", "")
    );
    assert_eq!(
        (
            payload.workspace.as_str(),
            payload.who.as_str(),
            payload.label.as_str()
        ),
        ("Acme", "ann@test", "probe")
    );
    assert!(payload.at.is_some() && payload.offset == Some(7) && payload.finding.is_none());
    assert!(
        app.notices()
            .contains("payload created for \"t1.acme.test\" · e adds a note or the finding"),
        "{}",
        app.notices()
    );
    assert_eq!(app.model.captures.oob.book.len(), 1);
}

#[test]
fn payload_is_bound_to_the_selected_finding_only_when_chosen() {
    let bound = |app: &TestDashboard| {
        let payload = app.model.captures.oob.book.payloads().next().unwrap();
        (payload.finding.is_some(), payload.finding_name.to_string())
    };
    let mut app = TestDashboard::new();
    app.keys("3 p e 'in q' ctrl-o");
    assert_eq!(bound(&app), (false, String::new()));
    app.keys("p e shift-tab shift-tab right ctrl-o");
    let book = &app.model.captures.oob.book;
    let named = book.payloads().filter(|payload| payload.finding.is_some());
    let names: Vec<_> = named
        .map(|payload| payload.finding_name.to_string())
        .collect();
    assert_eq!(names, ["Private key"]);
    // The book shows the choice of a bound payload only, and takes it back.
    app.keys("g p");
    app.model.cursor(Pane::Payloads).select_id(2);
    app.keys("e shift-tab shift-tab left ctrl-o");
    let book = &app.model.captures.oob.book;
    assert!(book.payloads().all(|payload| payload.finding.is_none()));
}

#[test]
fn payload_can_be_created_in_every_pane() {
    for keys in [
        "1 p",
        "2 p",
        "3 p",
        "3 enter p",
        "4 p",
        "4 enter p",
        "5 p",
        "5 enter p",
        "5 h p",
        "6 p",
        "7 p",
        "g p p",
    ] {
        let mut app = TestDashboard::new();
        let (stored, copied) = planted(&app.keys(keys));
        assert_eq!(
            (stored.len(), copied.len()),
            (1, 1),
            "{keys}: {}",
            app.notices()
        );
    }
}

#[test]
fn ended_logger_in_scope_is_refused_with_reason() {
    let logger = |id, active_days, requests_left| Logger {
        id: LoggerId(id),
        label: format!("l{id}").as_str().into(),
        handler_url: format!("http://h/{id}").as_str().into(),
        active_days,
        requests_left,
        ..Logger::default()
    };
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Loggers(table([
        logger(1, 3, 9),
        logger(2, 0, 9),
        logger(3, 3, 0),
    ])));
    assert_eq!(
        planted(&app.keys("3 p")).1,
        ["http://h/1?t=aaaaaaaaaaab"],
        "the newest logger that still records"
    );
    app.model.navigation.scope.logger = Some(LoggerId(2));
    let refused = |app: &mut TestDashboard| planted(&app.keys("p")) == (Vec::new(), Vec::new());
    assert!(refused(&mut app));
    assert!(
        app.notices().contains("logger l2 has ended, "),
        "{}",
        app.notices()
    );
    app.model.navigation.scope.logger = Some(LoggerId(3));
    assert!(
        refused(&mut app) && app.notices().contains("no requests left"),
        "{}",
        app.notices()
    );
    app.model.navigation.scope.logger = None;
    app.feed(Snapshot::Loggers(table([logger(2, 0, 9)])));
    assert!(
        refused(&mut app) && app.notices().contains("every logger has ended"),
        "{}",
        app.notices()
    );
    app.feed(Snapshot::Loggers(table(Vec::<Logger>::new())));
    assert!(
        refused(&mut app) && app.notices().contains("no loggers"),
        "{}",
        app.notices()
    );
}

#[test]
fn read_only_session_creates_no_payload() {
    let mut app = TestDashboard::new();
    app.model.session.read_only = true;
    assert!(
        planted(&app.keys("3 p")).0.is_empty() && app.notices().contains("read-only"),
        "{}",
        app.notices()
    );
    app.feed(Snapshot::Targets(table(Vec::<Target>::new())));
    app.keys("2");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("no targets") && !screen.contains("adds one"),
        "{screen}"
    );
}

#[test]
fn random_number_in_use_is_skipped() {
    let payload_request = PayloadRequest {
        count: 2,
        ..PayloadRequest::default()
    };
    let mut book = scandeck_domain::oob::PayloadBook::default();
    book.take(payload_request.payloads(&[1], &book, &Default::default()));
    let made = payload_request.payloads(&[1, 5, 5, 6, 7], &book, &Default::default());
    assert_eq!(
        made.iter().map(|payload| payload.token).collect::<Vec<_>>(),
        [Token::of(5), Token::of(6)]
    );
}

#[test]
fn edit_key_after_creation_edits_place_once() {
    let mut app = TestDashboard::new();
    app.keys("3 p e");
    assert!(
        app.form()
            .title
            .contains("Placement of payload aaaaaaaaaaab")
    );
    let (stored, _) = planted(&app.keys("'second try' tab 'q' tab tab 'SSRF' ctrl-o"));
    let [payload] = &stored[..] else {
        panic!("{stored:?}")
    };
    assert_eq!(
        (
            payload.parameter.as_str(),
            payload.technique.as_str(),
            payload.version
        ),
        ("q", "SSRF", 1)
    );
    assert_eq!(
        (payload.note.as_str(), payload.target.as_str()),
        ("second try", "t1.acme.test"),
        "the target remains"
    );
    assert!(app.model.overlay.modals.is_empty());
    app.keys("p j e");
    assert!(
        !matches!(app.model.overlay.modals.last(), Some(Modal::Form(_))),
        "the key adds a note to the finding again"
    );
}

#[test]
fn book_is_sorted_filtered_and_edited() {
    let mut app = TestDashboard::new();
    app.keys("3 p e tab 'q' tab tab 'SSRF' tab right ctrl-o p 2 j p");
    app.counted(&[(2, 1)]);
    app.keys("g p");
    assert_eq!(app.model.navigation.focus.pane, Pane::Payloads);
    let by = |app: &mut TestDashboard, query: &str| {
        app.model.set_query(Pane::Payloads, query).unwrap();
        let mut shown = app.model.cursor(Pane::Payloads).shown_ids();
        shown.sort_unstable();
        shown
    };
    for (query, ids) in [
        ("", &[1, 2, 3][..]),
        ("is:hit", &[2]),
        ("is:waiting", &[1, 3]),
        ("hits>0 delay<1h", &[2]),
        ("technique:ssrf planted:q", &[1]),
        ("target:t2.acme.test", &[3]),
        ("finding:private", &[1]),
        ("payload:*ab", &[1]),
        ("logger:probe by:ann* made<1d", &[1, 2, 3]),
        ("url:8766 text:ssrf", &[1]),
        ("t2", &[3]),
    ] {
        assert_eq!(by(&mut app, query), ids, "{query}");
    }
    by(&mut app, "");
    app.keys(",");
    assert!(
        app.notices().contains("sorted by hits"),
        "{}",
        app.notices()
    );
    assert_eq!(app.model.cursor(Pane::Payloads).id_at(0), Some(2));
    app.model.cursor(Pane::Payloads).select_id(1);
    app.keys("e");
    assert_eq!(app.form().text(FieldId::Parameter), "q");
}

#[test]
fn payload_book_opens_captures_finding_and_target() {
    let mut app = TestDashboard::new();
    app.keys("3 j p e tab tab tab tab right ctrl-o g p");
    app.hit(9, Some(1));
    app.counted(&[(1, 1)]);
    app.keys("enter");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.lists.captures.filter.as_str()
        ),
        (Pane::Captures, "payload:aaaaaaaaaaab")
    );
    app.keys("3 g g g p g f");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.selected(Pane::Findings)
        ),
        (Pane::Findings, Some(2))
    );
    app.keys("g p g t");
    assert_eq!(
        (app.model.navigation.focus.pane, app.selected(Pane::Targets)),
        (Pane::Targets, Some(1))
    );
}

#[test]
fn enter_in_book_reports_hits_not_loaded_and_esc_returns() {
    let mut app = TestDashboard::new();
    app.keys("3 p g p enter");
    assert!(
        app.notices()
            .contains("no hits yet · `:wait payload aaaaaaaaaaab`"),
        "{}",
        app.notices()
    );
    app.counted(&[(1, 5)]);
    app.keys("enter");
    let none = "5 hits, none loaded · `scandeck captures list --query payload:aaaaaaaaaaab`";
    assert!(
        app.model.navigation.focus.pane == Pane::Payloads && app.notices().contains(none),
        "{}",
        app.notices()
    );
    app.hit(9, Some(1));
    app.hit(10, Some(1));
    app.keys("enter");
    assert!(
        app.notices().contains("2 of 5 hits loaded"),
        "{}",
        app.notices()
    );
    assert_eq!(app.shown(Pane::Captures), [9, 10]);
    app.keys("enter esc");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.model.navigation.focus.in_detail
        ),
        (Pane::Captures, false)
    );
    app.keys("esc");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.selected(Pane::Payloads)
        ),
        (Pane::Payloads, Some(1))
    );
    assert_eq!(app.model.lists.captures.filter, "", "as it was");
    // Without the book before it, esc is at the top level.
    app.keys("3 5 esc");
    assert!(
        app.model.navigation.focus.pane == Pane::Captures
            && app.notices().contains("nothing to close"),
        "{}",
        app.notices()
    );
    app.model.captures.payloads.counted = false;
    app.model.captures.payloads.hits = Default::default();
    app.model.data.captures = Default::default();
    app.keys("g p enter");
    assert!(
        app.notices().contains("hits not counted yet"),
        "{}",
        app.notices()
    );
}

#[test]
fn enter_on_payload_of_deleted_logger_shows_its_archived_captures() {
    let mut app = TestDashboard::new();
    app.keys("3 p g p");
    app.hit(9, Some(1));
    app.feed(Snapshot::Loggers(Default::default()));
    app.keys("enter");
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.shown(Pane::Captures).len()
        ),
        (Pane::Captures, 1)
    );
    let screen = app.frame().join("\n");
    assert!(screen.contains("probe, archived"), "{screen}");
    app.keys("3 5");
    assert_eq!(app.model.navigation.focus.pane, Pane::Captures);
    app.keys("p");
    assert!(
        app.notices()
            .contains("no loggers · 5 h, then n creates a logger"),
        "{}",
        app.notices()
    );
    app.keys("h");
    assert_eq!(app.model.navigation.focus.pane, Pane::Loggers);
    app.model.data.captures = Default::default();
    app.keys("3 5");
    assert_eq!(app.model.navigation.focus.pane, Pane::Loggers);
}

#[test]
fn notice_of_a_refused_payload_ends_with_its_reason() {
    let logger = |id, active_days| Logger {
        id: LoggerId(id),
        active_days,
        requests_left: 9,
        ..Logger::default()
    };
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Loggers(table([logger(2, 0)])));
    app.keys("3 p");
    assert!(
        app.notices().contains("every logger has ended"),
        "{}",
        app.notices()
    );
    app.keys("4");
    assert!(
        app.notices().contains("every logger has ended"),
        "still true: {}",
        app.notices()
    );
    app.feed(Snapshot::Loggers(table([logger(2, 0), logger(3, 3)])));
    assert_eq!(app.notices(), "");
}

#[test]
fn payload_is_copied_in_every_shape() {
    let mut app = TestDashboard::new();
    let shape = |app: &mut TestDashboard, keys: &str| planted(&app.keys(keys)).1;
    assert!(
        shape(&mut app, "3 y p").is_empty() && app.notices().contains("p creates one"),
        "{}",
        app.notices()
    );
    app.keys("p esc");
    let url = "http://127.0.0.1:8766/l/abc/?t=aaaaaaaaaaab";
    for (key, text) in [
        ("p", url.to_owned()),
        ("enter", url.to_owned()),
        ("s", url.replace("http:", "")),
        ("h", "/l/abc/?t=aaaaaaaaaaab".to_owned()),
        (
            "u",
            "http%3A%2F%2F127.0.0.1%3A8766%2Fl%2Fabc%2F%3Ft%3Daaaaaaaaaaab".to_owned(),
        ),
        ("i", format!("<img src=\"{url}\">")),
        ("c", format!("curl -sS '{url}'")),
    ] {
        assert_eq!(shape(&mut app, &format!("y p {key}")), [text], "{key}");
    }
    assert!(
        shape(&mut app, "y p x")[0].contains("<!ENTITY")
            && shape(&mut app, "y p v")[0].contains("<svg")
    );
    // In the book the selected payload is copied, not the last one.
    app.keys("p g p");
    app.model.cursor(Pane::Payloads).select_id(1);
    assert_eq!(shape(&mut app, "y p p"), [url]);
}

#[test]
fn payload_is_not_created_without_writable_archive() {
    let mut app = TestDashboard::new();
    app.model.captures.oob.writable = false;
    assert!(
        planted(&app.keys("3 p")).1.is_empty() && app.notices().contains("not writable"),
        "{}",
        app.notices()
    );
}

#[test]
fn book_lists_payloads_of_current_workspace() {
    let mut app = TestDashboard::new();
    let elsewhere = Payload {
        token: Token::of(9),
        workspace: "Lab".into(),
        ..Payload::default()
    };
    app.model.captures.oob.book.take([Arc::new(elsewhere)]);
    app.keys("3 p g p");
    assert_eq!(app.model.cursor(Pane::Payloads).shown_ids(), [2]);
    app.keys("1 j enter g p");
    assert_eq!(app.model.cursor(Pane::Payloads).shown_ids(), [9]);
}

#[test]
fn path_token_requires_reported_paths() {
    let mut app = TestDashboard::new();
    for captured in &mut app.model.data.captures.rows {
        captured.capture = Arc::new(Capture {
            path: None,
            ..Capture::clone(&captured.capture)
        });
    }
    assert!(planted(&app.keys(": 'payload path' enter")).1.is_empty());
    assert!(
        app.notices().contains("reports no paths"),
        "{}",
        app.notices()
    );
    assert_eq!(
        planted(&app.keys("esc p")).1,
        ["http://127.0.0.1:8766/l/abc/?t=aaaaaaaaaaab"]
    );
}

#[test]
fn hits_are_counted_by_archive_and_unknown_until_complete() {
    let mut app = TestDashboard::new();
    app.keys("3 p p p g p");
    app.model.captures.payloads.counted = false;
    let waiting = |app: &mut TestDashboard| {
        app.model.set_query(Pane::Payloads, "is:waiting").unwrap();
        let mut shown = app.model.cursor(Pane::Payloads).shown_ids();
        shown.sort_unstable();
        assert_eq!(shown.len(), app.model.payloads_waiting());
        shown
    };
    let report = |app: &mut TestDashboard, generation, count, all| {
        let hits = vec![(
            Token::of(2),
            Hits {
                count,
                first: Some(stamp()),
                last: Some(stamp()),
            },
        )];
        app.send(Msg::Oob(OobNews::Hits {
            generation,
            hits,
            all,
        }));
    };
    let generation = app.model.connection.generation;
    assert_eq!(waiting(&mut app), [0; 0]);
    report(&mut app, generation, 5, false);
    assert_eq!(waiting(&mut app), [0; 0], "the count is incomplete");
    report(&mut app, generation, 7, true);
    assert_eq!(waiting(&mut app), [1, 3]);
    report(&mut app, generation, 8, false);
    report(&mut app, generation + 1, 99, true);
    assert_eq!(
        app.model.captures.payloads.hits_of(Token::of(2)).count,
        8,
        "the last count of this workspace"
    );
    assert_eq!(waiting(&mut app), [1, 3], "known counts remain known");
    app.keys("1 j enter");
    assert!(
        app.model.captures.payloads.hits.is_empty() && !app.model.captures.payloads.counted,
        "another workspace"
    );
}

#[test]
fn payload_list_hides_equal_loggers_and_empty_techniques() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    app.keys("3 p g p");
    let shown = app.frame().join("\n");
    assert!(
        shown.contains("PLACEMENT") && !shown.contains("TECHNIQUE") && !shown.contains("LOGGER "),
        "{shown}"
    );
}

#[test]
fn edited_note_is_continued_at_its_end() {
    let mut app = TestDashboard::new();
    app.keys("3 p e 'ab' ctrl-o g p e 'c'");
    assert_eq!(app.form().text(FieldId::Note), "abc");
}
