//! Alerts: known payloads, alert rules, waits; and their rate.

use crate::base::{Alert, CaptureRow, Scope};
use crate::core::Msg;
use crate::data::OobNews;
use crate::testing::*;
use scandeck_domain::oob::{ArchivedCapture, Mention, MentionPlace, Token};
use scandeck_wire::contract::Shared;

impl TestDashboard {
    /// Receives a capture, possibly with a token; returns the alerts.
    pub fn hit(&mut self, id: i64, token: Option<u64>) -> Vec<Alert> {
        let new = vec![capture_row(id, token)];
        let generation = self.model.connection.generation;
        alerts(self.send(Msg::Oob(OobNews::Captures { generation, new })))
    }

    /// Lets time pass; returns the alerts.
    fn pass(&mut self, seconds: u64) -> Vec<Alert> {
        self.at += Duration::from_secs(seconds);
        alerts(self.send(Msg::Wake))
    }
}

fn alerts(effects: Vec<Effect>) -> Vec<Alert> {
    let alert = |effect| match effect {
        Effect::Alert(alert) => Some(*alert),
        _ => None,
    };
    effects.into_iter().filter_map(alert).collect()
}

fn capture_row(id: i64, token: Option<u64>) -> CaptureRow {
    let mut capture = capture(id);
    capture.ip_address = "203.0.113.9".into();
    capture.request_date = Some(Stamp(
        stamp()
            .0
            .checked_add(jiff::SignedDuration::from_secs(3))
            .unwrap(),
    ));
    let mention = |number| Mention {
        token: Token::of(number),
        known: true,
        place: MentionPlace::Query("t".into()),
        wrapped: Vec::new(),
        added: Shared::default(),
    };
    let archived = ArchivedCapture {
        workspace: "Acme".into(),
        logger: LoggerId(1),
        label: "probe".into(),
        handler_url: Shared::default(),
        seen_at: stamp(),
        capture: Arc::new(capture),
    };
    CaptureRow::new(&archived, token.into_iter().map(mention).collect())
}

fn fact<'a>(alert: &'a Alert, name: &str) -> &'a str {
    alert
        .fields
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| text.as_str())
        .unwrap_or_default()
}

#[test]
fn hit_that_another_program_read_first_is_counted_until_captures_are_shown() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("p 3");
    app.hit(900, Some(1));
    app.send(Msg::Wake);
    let unseen = |app: &TestDashboard| app.model.captures.payloads.unseen.values().sum::<u64>();
    assert_eq!((app.model.captures.new_captures, unseen(&app)), (0, 1));
    // The list of another logger does not show it.
    for (logger, left) in [(2, 1), (1, 0)] {
        let scope = Scope {
            logger: Some(LoggerId(logger)),
            ..app.model.navigation.scope.clone()
        };
        crate::model::navigation::set_scope(&mut app.model, scope);
        app.keys("5 G");
        assert_eq!(unseen(&app), left, "logger {logger}");
    }
}

#[test]
fn hit_of_known_payload_alerts_with_event_and_is_counted() {
    let mut app = TestDashboard::new();
    app.keys("3 p e tab 'q' tab tab 'SSRF' ctrl-o");
    // Without a writable archive the dashboard counts the hit.
    app.model.captures.oob.writable = false;
    let alerts = app.hit(9, Some(1));
    let [alert] = &alerts[..] else {
        panic!("{alerts:?}")
    };
    assert_eq!(
        (alert.title.as_str(), fact(alert, "token")),
        ("payload hit", "aaaaaaaaaaab")
    );
    assert_eq!(
        (fact(alert, "planted"), fact(alert, "technique")),
        ("q · t1.acme.test", "SSRF")
    );
    assert_eq!(
        (
            fact(alert, "from"),
            fact(alert, "logger"),
            fact(alert, "event")
        ),
        ("203.0.113.9", "probe", "payload")
    );
    assert!(
        alert.body.starts_with("q · t1.acme.test, SSRF, ~+") && app.notices().contains(&alert.body),
        "{alert:?}"
    );
    assert_eq!(app.model.captures.payloads.hits_of(Token::of(1)).count, 1);
    assert!(
        app.hit(9, Some(1)).is_empty(),
        "the same capture again is no hit"
    );
    assert_eq!(app.model.captures.payloads.hits_of(Token::of(1)).count, 1);
}

#[test]
fn capture_without_known_token_does_not_alert() {
    let mut app = TestDashboard::new();
    assert!(app.hit(9, None).is_empty() && app.hit(10, Some(77)).is_empty());
}

#[test]
fn alerts_are_limited_per_payload_and_spaced_five_seconds() {
    let mut app = TestDashboard::new();
    app.keys("3 p p p");
    assert_eq!(app.hit(9, Some(1)).len(), 1);
    assert!(
        app.hit(10, Some(1)).is_empty() && app.pass(5).is_empty(),
        "the same payload within a minute"
    );
    assert_eq!(app.hit(11, Some(2)).len(), 1);
    for (id, token) in [(12, 3), (13, 1), (14, 2)] {
        assert!(app.hit(id, Some(token)).is_empty(), "one in five seconds");
    }
    let wake = app.model.wake_at().unwrap();
    assert!(wake <= app.at + Duration::from_secs(5), "{wake:?}");
    let alerts = app.pass(5);
    assert_eq!(
        (alerts.len(), fact(&alerts[0], "token")),
        (1, "aaaaaaaaaaad")
    );
    app.pass(60);
    assert_eq!(app.hit(15, Some(1)).len(), 1, "after a minute again");
    assert!(app.hit(16, Some(2)).is_empty() && app.hit(17, Some(3)).is_empty());
    let alerts = app.pass(5);
    assert!(
        alerts[0].body.ends_with("(and 1 more)") && fact(&alerts[0], "more") == "1",
        "{alerts:?}"
    );
    // Both captures are claimed, so that no other process sends the second one.
    let claim = alerts[0].claim.as_ref().unwrap();
    assert_eq!(claim.events.len(), 2, "{claim:?}");
    assert_eq!(alerts[0].routes, None, "on all channels");
}

#[test]
fn alert_rule_alerts_until_off_or_deleted() {
    let mut app = TestDashboard::new();
    let stored = app.keys(": 'alert from:203.0.113.* method:get' enter");
    assert!(
        stored
            .iter()
            .any(|effect| matches!(effect, Effect::RememberOne { of: "alert", .. })),
        "{stored:?}"
    );
    let alerts = app.hit(9, None);
    assert_eq!((alerts.len(), fact(&alerts[0], "event")), (1, "alert"));
    assert_eq!(alerts[0].title, "alert rule `from:203.0.113.* method:get`");
    app.keys(": 'alerts' enter space esc");
    app.pass(5);
    assert!(app.hit(10, None).is_empty(), "off");
    app.keys(": 'alert from:203.0.113.* method:get' enter");
    assert_eq!(
        (
            app.hit(11, None).len(),
            app.model.captures.alerts.rules.len()
        ),
        (1, 1),
        "on again, not twice"
    );
    app.keys(": 'alerts' enter D");
    assert_eq!(
        app.prompt().question,
        "Delete alert rule from:203.0.113.* method:get?"
    );
    app.keys("esc D");
    assert_eq!(
        app.model.captures.alerts.rules.len(),
        1,
        "nothing is deleted before the yes"
    );
    app.keys("y");
    assert!(app.model.captures.alerts.rules.is_empty() && app.model.overlay.modals.is_empty());
    app.keys(": 'alerts' enter");
    assert!(
        app.notices().contains("no alert rules"),
        "{}",
        app.notices()
    );
}

#[test]
fn alert_rules_belong_to_workspace() {
    let mut app = TestDashboard::new();
    app.keys(": 'alert is:known' enter 1 j enter");
    assert!(app.model.captures.alerts.rules.is_empty());
    app.keys("1 k enter");
    assert_eq!(app.model.captures.alerts.rules.len(), 1);
}

#[test]
fn wait_ends_with_hit_or_timeout() {
    let mut app = TestDashboard::new();
    app.keys("3 p p");
    app.keys(": 'wait payload aaaaaaaaaaab timeout 10m' enter : 'wait payload aaaaaaaaaaac' enter");
    assert_eq!(app.model.captures.alerts.waits.len(), 2);
    app.model.set_query(Pane::Payloads, "is:awaited").unwrap();
    assert_eq!(app.model.cursor(Pane::Payloads).shown_ids().len(), 2);
    let alerts = app.hit(9, Some(2));
    assert_eq!((alerts.len(), fact(&alerts[0], "event")), (1, "wait"));
    assert_eq!(app.model.captures.alerts.waits.len(), 1);
    assert!(app.pass(601).is_empty());
    assert!(
        app.model.captures.alerts.waits.is_empty()
            && app
                .notices()
                .contains("payload aaaaaaaaaaab: no request before the timeout")
    );
}

#[test]
fn wait_requires_unique_payload() {
    let mut app = TestDashboard::new();
    app.keys("3 p p");
    for (line, words) in [
        ("wait payload aaa", "2 payload tokens begin"),
        ("wait payload zz", "no payload token"),
    ] {
        let fault = crate::core::commands::parse::parse(&app.model, line).unwrap_err();
        assert!(fault.reason.contains(words), "{fault:?}");
    }
    app.keys(": 'wait payload aaaaaaaaaaac timeout soon' enter");
    assert!(
        app.notices().contains("use 90s, 10m") && app.model.captures.alerts.waits.is_empty(),
        "{}",
        app.notices()
    );
}

#[test]
fn hit_recognized_later_alerts() {
    let mut app = TestDashboard::new();
    assert!(app.hit(9, None).is_empty());
    let payload = scandeck_domain::oob::Payload {
        token: Token::of(5),
        workspace: "Acme".into(),
        ..Default::default()
    };
    app.send(Msg::Oob(OobNews::Payloads(vec![Arc::new(payload)])));
    let late = capture_row(9, Some(5));
    let alerts = alerts(app.send(Msg::Oob(OobNews::Recognized(vec![(
        late.id(),
        late.mentions,
    )]))));
    assert_eq!(
        (alerts.len(), fact(&alerts[0], "token")),
        (1, "aaaaaaaaaaaf")
    );
}

#[test]
fn many_payloads_are_saved_one_per_line() {
    let mut app = TestDashboard::new();
    let effects = app.keys("3 : 'payloads 3 urls.txt shape=schemeless' enter");
    let saved = effects.iter().find_map(|effect| match effect {
        Effect::Save { name, content } => {
            Some((name.as_str(), std::str::from_utf8(content).unwrap()))
        }
        _ => None,
    });
    let lines = "//127.0.0.1:8766/l/abc/?t=aaaaaaaaaaab\n//127.0.0.1:8766/l/abc/?t=aaaaaaaaaaac\n\
                 //127.0.0.1:8766/l/abc/?t=aaaaaaaaaaad\n";
    assert_eq!(saved, Some(("urls.txt", lines)));
    let numbered = |app: &TestDashboard| -> Vec<_> {
        app.model
            .captures
            .oob
            .book
            .payloads()
            .map(|payload| (payload.number, payload.batch.to_string()))
            .collect()
    };
    assert_eq!(numbered(&app)[2], (Some(3), "urls.txt".to_owned()));
    // The cursor is on a finding, but the places of the lines are unknown.
    let bound = |payload: &Arc<scandeck_domain::oob::Payload>| {
        payload.finding.is_some() || !payload.target.is_empty()
    };
    assert!(!app.model.captures.oob.book.payloads().any(bound));
    // The file existed: the new one has another name, which the book takes.
    app.send(Msg::Saved(Ok("/tmp/urls-2.txt".into())));
    assert!(
        numbered(&app)
            .iter()
            .all(|(_, batch)| batch == "urls-2.txt")
    );
    assert!(
        app.notices().contains("/tmp/urls-2.txt"),
        "{}",
        app.notices()
    );
}

#[test]
fn file_of_payloads_is_distinguished_from_other_saved_files() {
    let mut app = TestDashboard::new();
    app.keys("3 : 'payloads 2 out/urls.txt' enter");
    let batches = |app: &TestDashboard| -> std::collections::BTreeSet<String> {
        app.model
            .captures
            .oob
            .book
            .payloads()
            .map(|payload| payload.batch.to_string())
            .collect()
    };
    app.send(Msg::Saved(Ok("/tmp/urls-old.txt".into())));
    assert!(
        app.notices().contains("saved to /tmp/urls-old.txt") && batches(&app).contains("urls.txt")
    );
    app.send(Msg::Saved(Ok("/tmp/out/urls-3.txt".into())));
    assert_eq!(
        batches(&app).into_iter().collect::<Vec<_>>(),
        ["urls-3.txt"]
    );
    assert!(
        app.notices().contains("2 payloads of logger"),
        "{}",
        app.notices()
    );
    // After a failed save, the next saved file is another one.
    app.keys("3 : 'payloads 2 none/more.txt' enter");
    app.send(Msg::Saved(Err(Problem::local("no such directory"))));
    app.send(Msg::Saved(Ok("/tmp/more.txt".into())));
    assert!(
        app.notices().contains("saved to /tmp/more.txt"),
        "{}",
        app.notices()
    );
}

#[test]
fn token_position_is_stored_for_service() {
    let mut app = TestDashboard::new();
    let copied = |effects: Vec<Effect>| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text),
            _ => None,
        })
    };
    assert_eq!(
        copied(app.keys(": 'payload path' enter")).as_deref(),
        Some("http://127.0.0.1:8766/l/abc/aaaaaaaaaaab")
    );
    assert_eq!(
        copied(app.keys("p")).as_deref(),
        Some("http://127.0.0.1:8766/l/abc/aaaaaaaaaaac")
    );
    assert_eq!(
        copied(app.keys(": 'payload query' enter")).as_deref(),
        Some("http://127.0.0.1:8766/l/abc/?t=aaaaaaaaaaad")
    );
}

#[test]
fn bots_and_own_addresses_alert_only_by_rule() {
    let mut app = TestDashboard::new();
    app.keys("3 p");
    let generation = app.model.connection.generation;
    let mut bot = capture_row(9, Some(1));
    let capture = Capture {
        user_agent: "Slackbot-LinkExpanding 1.0".into(),
        ..Capture::clone(&bot.capture)
    };
    bot.capture = Arc::new(capture);
    let new = vec![bot];
    assert!(alerts(app.send(Msg::Oob(OobNews::Captures { generation, new }))).is_empty());
    // Adds the address of the selected capture to the own addresses.
    app.keys("5 G : 'mine' enter");
    assert!(
        app.notices().contains("203.0.113.9 is your address"),
        "{}",
        app.notices()
    );
    assert!(app.hit(10, Some(1)).is_empty());
    for (query, ids) in [
        ("is:own is:known", &[9, 10][..]),
        ("is:bot", &[9]),
        ("is:own -is:bot", &[10]),
        ("-is:own", &[1, 2, 3]),
    ] {
        app.model.set_query(Pane::Captures, query).unwrap();
        assert_eq!(app.model.cursor(Pane::Captures).shown_ids(), ids, "{query}");
    }
    app.model.set_query(Pane::Captures, "").unwrap();
    app.keys(": 'alert is:own payload:*ab' enter");
    assert_eq!(app.hit(11, Some(1)).len(), 1, "by the rule");
    app.keys("5 G : 'mine' enter");
    assert!(
        app.notices().contains("is no longer your address"),
        "{}",
        app.notices()
    );
}

#[test]
fn payload_query_finds_captures() {
    let mut app = TestDashboard::new();
    app.keys("3 p e tab 'q' tab tab 'SSRF' ctrl-o");
    app.hit(9, Some(1));
    app.hit(10, Some(77));
    app.keys(": 'payloads 2 urls.txt' enter");
    app.hit(11, Some(3));
    for (query, ids) in [
        ("batch:urls.txt", &[11][..]),
        ("number:2 planted:urls", &[11]),
        ("number:1", &[]),
        ("payload:aaaaaaaaaaab", &[9]),
        ("planted:q technique:ssrf", &[9]),
        ("target:t1.acme.test", &[9]),
        ("delay<1h", &[9, 11]),
        ("delay>1h", &[]),
        ("logger:probe is:known", &[9, 10, 11]),
        ("-payload:*", &[1, 2, 3]),
    ] {
        app.model.set_query(Pane::Captures, query).unwrap();
        assert_eq!(app.model.cursor(Pane::Captures).shown_ids(), ids, "{query}");
    }
}

#[test]
fn rules_and_addresses_of_two_dashboards_are_merged() {
    let stored = |effects: Vec<Effect>| -> Vec<((Shared, Shared), String)> {
        let one = |effect| match effect {
            Effect::RememberOne {
                of,
                name,
                workspace,
                value,
            } => Some((
                (
                    scandeck_domain::triage::settings::setting(of, &name),
                    workspace,
                ),
                value,
            )),
            _ => None,
        };
        effects.into_iter().filter_map(one).collect()
    };
    let (mut ann, mut bob) = (TestDashboard::new(), TestDashboard::new());
    ann.hit(9, None);
    let mut settings = stored(ann.keys(": 'alert is:known' enter 5 G : 'mine' enter"));
    settings.extend(stored(bob.keys(
        ": 'alert method:post' enter : 'alert is:bot' enter : 'alerts' enter D y esc",
    )));
    assert_eq!(settings.len(), 5);
    let mut later = TestDashboard::new();
    later.model.findings.triage.settings.extend(settings);
    later.model.load_tabs();
    let rules: Vec<&str> = later
        .model
        .captures
        .alerts
        .rules
        .iter()
        .map(|alert| alert.query.as_str())
        .collect();
    assert_eq!(
        rules,
        ["is:known", "method:post"],
        "the deleted rule remains deleted"
    );
    assert_eq!(later.model.own_addresses().len(), 1);
}

#[test]
fn alert_list_closes_without_rules() {
    let mut app = TestDashboard::new();
    app.keys(": 'alert is:known' enter : 'alerts' enter");
    // The current workspace was deleted elsewhere; the other one has no rules.
    app.feed(Snapshot::Workspaces(table([Workspace {
        id: WorkspaceId(2),
        name: "Lab".into(),
        ..Workspace::default()
    }])));
    assert!(app.model.overlay.modals.is_empty() && app.model.captures.alerts.rules.is_empty());
    app.model
        .overlay
        .modals
        .push(Modal::Alerts(crate::list::PopUpList { at: 3 }));
    app.keys("D");
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn wait_of_more_than_year_is_rejected() {
    let mut app = TestDashboard::new();
    app.keys("3 p : 'wait payload aaa timeout 9223372036854775807s' enter");
    assert!(
        app.model.captures.alerts.waits.is_empty() && app.notices().contains("at most a year"),
        "{}",
        app.notices()
    );
    app.keys("esc : 'wait payload aaa timeout 1y' enter");
    assert_eq!(app.model.captures.alerts.waits.len(), 1);
}

#[test]
fn visible_book_follows_hits_and_waits() {
    let mut app = TestDashboard::new();
    app.keys("3 p p g p");
    app.model.set_query(Pane::Payloads, "is:hit").unwrap();
    let shown = |app: &mut TestDashboard| app.model.cursor(Pane::Payloads).shown_ids();
    assert!(shown(&mut app).is_empty());
    app.counted(&[(1, 1)]);
    assert_eq!(shown(&mut app), [1]);
    app.model.set_query(Pane::Payloads, "is:awaited").unwrap();
    app.keys(": 'wait payload aaaaaaaaaaac timeout 10m' enter");
    assert_eq!(shown(&mut app), [2]);
    app.pass(601);
    assert!(shown(&mut app).is_empty());
    // A change while another pane is shown is visible on return.
    app.keys("3");
    app.keys(": 'wait payload aaaaaaaaaaac' enter g p");
    assert_eq!(shown(&mut app), [2]);
}

#[test]
fn old_captures_do_not_alert() {
    let mut app = TestDashboard::new();
    app.keys("3 p : 'alert method:GET' enter");
    let arrived = |app: &TestDashboard, id, seconds| {
        let began = app.model.service_now() - app.model.now.mono;
        let date = began
            .checked_add(jiff::SignedDuration::from_secs(seconds))
            .unwrap();
        let mut one = capture_row(id, (id % 2 == 1).then_some(1));
        one.capture = Arc::new(Capture {
            request_date: Some(Stamp(date)),
            ..Capture::clone(&one.capture)
        });
        one
    };
    let generation = app.model.connection.generation;
    let new = vec![arrived(&app, 9, -3600), arrived(&app, 10, -3600)];
    assert!(alerts(app.send(Msg::Oob(OobNews::Captures { generation, new }))).is_empty());
    let new = vec![arrived(&app, 11, -60)];
    assert_eq!(
        alerts(app.send(Msg::Oob(OobNews::Captures { generation, new }))).len(),
        1
    );
}
