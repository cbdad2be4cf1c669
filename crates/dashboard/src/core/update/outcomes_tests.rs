//! Calls whose outcome is unknown: the notice, the read that decides, and the question before a
//! repetition.

use crate::base::ListKind;
use crate::core::update::Msg;
use crate::testing::*;

fn lost() -> Problem {
    Problem {
        message: "no response before the timeout".into(),
        is_outcome_unknown: true,
        ..Problem::default()
    }
}

/// Creates a logger whose response is lost.
fn logger_with_lost_response() -> TestDashboard {
    let mut app = TestDashboard::new();
    let sent = app.calls("5 h n 'probe2' ctrl-o");
    assert_eq!(sent.len(), 1);
    app.answer(&sent, |_| Err(lost()));
    app
}

fn loggers(app: &mut TestDashboard, labels: &[(i64, &str)]) {
    let logger = |(id, label): &(i64, &str)| Logger {
        id: LoggerId(*id),
        label: (*label).into(),
        ..Logger::default()
    };
    app.feed(Snapshot::Loggers(table(labels.iter().map(logger))));
}

#[test]
fn lost_response_is_reported_and_list_is_read() {
    let app = logger_with_lost_response();
    let notices = app.notices();
    assert!(
        notices.contains("outcome unknown: the service may have created logger probe2; checking"),
        "{notices}"
    );
    assert!(
        notices.contains("no response before the timeout"),
        "{notices}"
    );
    assert_eq!(
        app.model.connection.refreshes.get(&ListKind::Loggers),
        Some(&1)
    );
    assert_eq!(
        app.form()
            .field(crate::forms::FieldId::Label)
            .unwrap()
            .text(),
        "probe2"
    );
}

#[test]
fn appeared_object_decides_outcome_and_repetition_prompts() {
    let mut app = logger_with_lost_response();
    loggers(&mut app, &[(1, "probe")]);
    assert!(!app.notices().contains("id 2"));
    loggers(&mut app, &[(1, "probe"), (2, "probe2")]);
    assert!(
        app.notices()
            .contains("logger probe2 created (id 2), although its response was lost"),
        "{}",
        app.notices()
    );
}

#[test]
fn same_call_within_a_minute_prompts() {
    for (answer, calls) in [("y", 1), ("n", 0)] {
        let mut app = logger_with_lost_response();
        assert_eq!(app.calls("ctrl-o"), []);
        let prompt = app.prompt();
        assert_eq!(prompt.question, "Create again: logger probe2?");
        assert!(
            prompt.lines[0].contains("may already have created logger"),
            "{:?}",
            prompt.lines
        );
        let sent = app.calls(answer);
        assert_eq!(sent.len(), calls, "{answer}");
        if calls == 1 {
            app.answer(&sent, |_| Ok(CallAnswer::Created(3)));
            assert!(app.model.overlay.modals.is_empty(), "the form is closed");
        } else {
            assert!(!app.form().sending);
        }
    }
}

#[test]
fn call_after_a_minute_is_sent_at_once() {
    let mut app = logger_with_lost_response();
    app.at += Duration::from_secs(60);
    app.send(Msg::Wake);
    assert!(
        app.notices()
            .contains("logger probe2 not created: the service does not list it"),
        "{}",
        app.notices()
    );
    assert_eq!(app.calls("ctrl-o").len(), 1);
}

#[test]
fn deletion_with_unknown_outcome_reads_list() {
    let mut app = TestDashboard::new();
    let sent = app.calls("2 D y");
    app.answer(&sent, |_| Err(lost()));
    let notices = app.notices();
    assert!(
        notices.contains("the service may have deleted target t1.acme.test; checking"),
        "{notices}"
    );
    assert_eq!(
        app.model.connection.refreshes.get(&ListKind::Targets),
        Some(&1)
    );
}

#[test]
fn quitting_with_request_in_flight_mentions_it() {
    let mut app = TestDashboard::new();
    app.calls("2 D y");
    app.keys("q");
    assert_eq!(
        app.prompt().lines,
        ["1 request is in flight: its outcome will be unknown."]
    );
}
