//! Scripts of the activity view: rows, cancel, copies.

use crate::base::{Link, PollBudget};
use crate::testing::*;
use scandeck_wire::contract::node::{NodeList, NodeState};
use scandeck_wire::contract::scan::HIDDEN;

fn call(id: i64, end: Option<CallEnd>) -> ApiCall {
    ApiCall {
        id: CallId(id),
        started: Some(stamp()),
        method: "GET".into(),
        path: "/scans/7".into(),
        end,
        ..ApiCall::default()
    }
}

fn failed() -> Option<CallEnd> {
    Some(CallEnd {
        milliseconds: 30_000,
        status: None,
        bytes: 0,
        error: Some("no response in time".into()),
    })
}

fn copied(effects: &[Effect]) -> String {
    let text = |effect: &Effect| match effect {
        Effect::Copy { text, .. } => Some(text.clone()),
        _ => None,
    };
    effects.iter().find_map(text).unwrap_or_default()
}

#[test]
fn calls_are_listed_newest_first_after_those_in_flight_and_can_be_filtered() {
    let mut app = TestDashboard::new();
    app.record([
        call(1, Some(CallEnd::default())),
        call(2, None),
        call(3, failed()),
    ]);
    app.keys("8");
    assert_eq!(app.shown(Pane::Activity), [2, 3, 1]);
    for (query, rows) in [
        ("is:running", vec![2]),
        ("is:failed", vec![3]),
        ("duration>10s", vec![3]),
        ("error:response", vec![3]),
    ] {
        app.keys(&format!("/ '{query}' enter"));
        assert_eq!(app.shown(Pane::Activity), rows, "{query}");
        app.keys("backspace");
    }
    app.keys(": 'activity is:failed' enter");
    assert_eq!(app.shown(Pane::Activity), [3]);
}

fn node(name: &str, roles: &[&str]) -> NodeState {
    NodeState {
        name: name.into(),
        roles: roles.iter().map(|&role| role.into()).collect(),
        version: "1.2.0".into(),
        seconds_since_beat: 4,
        running_scans: 2,
        clock_ahead_ms: 250,
        ..NodeState::default()
    }
}

fn nodes_event(nodes: Vec<NodeState>) -> PollEvent {
    PollEvent::Nodes(Arc::new(NodeList {
        nodes,
        ..NodeList::default()
    }))
}

#[test]
fn several_nodes_are_listed_above_the_calls() {
    let mut app = TestDashboard::blank(80, 24);
    let remote = NodeState {
        place: Some("office".into()),
        ..node("pc1", &["worker"])
    };
    app.keys("8");
    app.feed(nodes_event(vec![node("build7", &["api", "worker"])]));
    let lists =
        |app: &mut TestDashboard, text: &str| app.frame().iter().any(|line| line.contains(text));
    assert!(!lists(&mut app, "build7"), "one node is the service itself");
    app.feed(nodes_event(vec![
        node("build7", &["api", "worker"]),
        remote,
    ]));
    assert!(lists(&mut app, "api,worker"));
    let row = app.frame().into_iter().find(|line| line.contains("pc1"));
    let row = row.unwrap_or_default();
    for text in ["worker at office", " 2 1.2.0 ", "4 s ago", "+250 ms"] {
        assert!(row.contains(text), "{row}");
    }
    let of_one_machine = ["6f0c11aa", "71bb22cc"].map(|id| NodeState {
        id: id.into(),
        ..node("build7", &["api", "worker"])
    });
    app.feed(nodes_event(of_one_machine.into()));
    assert!(lists(&mut app, "build7 6f0c") && lists(&mut app, "build7 71bb"));
    let many = (1..=40).map(|id| node(&format!("build{id}"), &["worker"]));
    app.feed(nodes_event(many.collect()));
    assert!(lists(&mut app, "more nodes"));
}

#[test]
fn failed_read_of_the_nodes_shows_its_reason() {
    let mut app = TestDashboard::blank(80, 24);
    app.keys("8");
    let problem = Arc::new(Problem {
        retry_at: Some(stamp()),
        ..Problem::local("503 Service Unavailable")
    });
    let fail = |app: &mut TestDashboard| app.feed(PollEvent::NodesFailed(Arc::clone(&problem)));
    let note = |app: &mut TestDashboard| {
        let mut frame = app.frame().into_iter();
        let line =
            frame.find(|line| line.contains("nodes not loaded") || line.contains("nodes stale"));
        line.unwrap_or_default()
    };
    fail(&mut app);
    let unread = note(&mut app);
    assert!(
        unread.contains("nodes not loaded") && unread.contains("503 Service Unavailable"),
        "{unread}"
    );
    let counts = app.model.wake_at().map(|at| at - app.at);
    assert!(
        counts.is_some_and(|wait| wait <= Duration::from_secs(1)),
        "until the next read"
    );
    let nodes = ["build7", "build8"].map(|name| node(name, &["worker"]));
    app.feed(nodes_event(vec![nodes[0].clone()]));
    fail(&mut app);
    assert_eq!(note(&mut app), "", "one node is not listed");
    app.feed(nodes_event(nodes.to_vec()));
    assert_eq!(note(&mut app), "");
    fail(&mut app);
    let stale = note(&mut app);
    assert!(
        stale.contains("nodes stale") && stale.contains("503 Service Unavailable"),
        "{stale}"
    );
    assert!(app.frame().iter().any(|line| line.contains("build8")));
}

#[test]
fn nodes_are_requested_while_the_view_is_open_and_of_scandeck_only() {
    let mut app = TestDashboard::new();
    app.keys("8");
    assert!(!app.model.plan().nodes, "another service");
    app.learn_extensions();
    assert!(app.model.plan().nodes);
    app.keys("4");
    assert!(!app.model.plan().nodes);
}

#[test]
fn calls_are_awaited_only_while_the_view_is_open() {
    let mut app = TestDashboard::blank(200, 60);
    app.record([call(1, None)]);
    let wait = |app: &TestDashboard| app.model.wake_at().map(|at| at - app.at);
    let second = Some(Duration::from_secs(1));
    assert!(!app.model.shows_activity() && wait(&app) > second);
    app.keys("8");
    assert!(
        app.model.shows_activity() && wait(&app) <= second,
        "the duration of the call in flight counts up"
    );
    app.record([call(1, failed())]);
    assert!(wait(&app) > second);
}

#[test]
fn narrow_list_drops_whole_parts_of_its_summary() {
    let mut app = TestDashboard::blank(80, 24);
    let problem = Arc::new(Problem::local("connection refused"));
    app.model.connection.link = Link::Retrying {
        attempt: 1,
        next: Stamp(app.model.now.wall),
        problem,
    };
    app.model.connection.budget = Some(PollBudget {
        limit: 3000,
        remaining: 2991,
        reset: None,
    });
    app.model.calls.memory = Some(84_100_000);
    app.keys("8");
    let line = app
        .frame()
        .into_iter()
        .find(|line| line.contains("0 in flight"))
        .unwrap_or_default();
    assert!(
        line.contains("retrying · 2991 of 3000/min left") && !line.contains('…'),
        "{line}"
    );
}

#[test]
fn selection_follows_the_newest_call_until_it_leaves_the_first_row() {
    let mut app = TestDashboard::new();
    let ended = |ids: std::ops::RangeInclusive<i64>| ids.map(|id| call(id, failed()));
    app.keys("8");
    app.record(ended(1..=3));
    app.record(ended(1..=4));
    assert_eq!(app.selected(Pane::Activity), Some(4));
    app.keys("j");
    app.record(ended(1..=5));
    assert_eq!(app.selected(Pane::Activity), Some(3));
    app.keys("home enter");
    app.record(ended(1..=6));
    assert_eq!(
        app.selected(Pane::Activity),
        Some(5),
        "an open detail remains"
    );
}

#[test]
fn delete_key_does_not_cancel_a_request() {
    let mut app = TestDashboard::new();
    app.record([call(1, failed()), call(2, None)]);
    assert_eq!(app.keys("8 D"), []);
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn cancel_sends_calls_in_flight_only() {
    let mut app = TestDashboard::new();
    app.record([call(1, failed()), call(2, None), call(3, None)]);
    assert_eq!(app.keys("8 x"), [Effect::CancelCall(CallId(3))]);
    assert!(
        app.notices().contains("cancelling GET /scans/7"),
        "{}",
        app.notices()
    );
    assert_eq!(app.keys("* x").len(), 2);
    let mut app = TestDashboard::new();
    app.record([call(1, failed())]);
    assert_eq!(app.keys("8 x"), []);
    assert!(
        app.notices().contains("request has already ended"),
        "{}",
        app.notices()
    );
}

#[test]
fn copied_curl_command_has_body_but_no_key() {
    let mut app = TestDashboard::new();
    let body = |text: Option<&str>| ApiCall {
        method: "POST".into(),
        body: Some(SentBody {
            content_type: "application/json",
            text: text.map(Into::into),
        }),
        ..call(1, failed())
    };
    app.record([body(Some(&format!(
        r#"{{"name":"it's","password":"{HIDDEN}"}}"#
    )))]);
    let curl = copied(&app.keys("8 y c"));
    let expected = format!(
        "curl -X 'POST' -H 'accept: application/json' -H \"authorization: Bearer $SCANDECK_API_KEY\" \
         -H 'content-type: application/json' --data-raw '{{\"name\":\"it'\\''s\",\"password\":\"{HIDDEN}\"}}' \
         'http://127.0.0.1:8765/api/v2/scans/7'"
    );
    assert_eq!(curl, expected);
    assert!(
        app.notices().contains("secrets of the body"),
        "{}",
        app.notices()
    );
    app.record([body(None)]);
    assert!(!copied(&app.keys("y c")).contains("--data"));
    assert!(app.notices().contains("body too long"), "{}", app.notices());
    assert_eq!(
        copied(&app.keys("y u")),
        "http://127.0.0.1:8765/api/v2/scans/7"
    );
}

#[test]
fn long_query_shows_first_what_distinguishes_it() {
    let mut app = TestDashboard::new();
    let path = |id: i64| {
        format!("/findings?include=evidence&limit=100&page=1&scan_id={id}")
            .as_str()
            .into()
    };
    app.record([7, 8].map(|id| ApiCall {
        path: path(id),
        ..call(id, Some(CallEnd::default()))
    }));
    app.keys("8");
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("/findings?scan_id=7&page") && frame.contains("/findings?scan_id=8&page"),
        "{frame}"
    );
}
