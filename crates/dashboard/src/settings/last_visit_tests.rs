//! The line of changes since the last visit, and the time that is stored for the next visit.

use crate::base::{Effect, Pane, PollEvent, Scope, Snapshot, UnreadScans};
use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::testing::{TestDashboard, finding, scan, stamp, table};
use jiff::{SignedDuration, Timestamp};
use scandeck_domain::triage::EventWriter;
use scandeck_wire::contract::{Risk, Scan, ScanId, ScanStatus, Stamp, TargetId};
use std::collections::BTreeMap;
use std::sync::Arc;

fn ago(seconds: i64) -> Stamp {
    Stamp(Timestamp::from_second(stamp().0.as_second() - seconds).unwrap())
}

/// A dashboard that was last visited an hour ago, or never.
fn app(looked: bool) -> TestDashboard {
    let mut app = TestDashboard::new();
    let ended = |id: i64, status: ScanStatus, at: Stamp| Scan {
        start_time: Some(at),
        end_time: Some(at),
        ..scan(id, id, status, 100)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, ScanStatus::Finished, ago(7200)),
        ended(2, ScanStatus::Finished, ago(1800)),
        ended(3, ScanStatus::FailedToStart, ago(1800)),
    ])));
    app.feed(Snapshot::Findings(table([
        finding(1, 1, "Private key", Risk::Critical),
        finding(2, 2, "Git repository", Risk::High),
        finding(3, 2, "Cookie flags", Risk::Low),
    ])));
    let looked = looked.then(|| {
        (
            ("looked".into(), "Acme".into()),
            serde_json::to_string(&ago(3600)).unwrap(),
        )
    });
    let stored = StoredDecisions {
        writer: Some(EventWriter {
            who: "ann".into(),
            instance: 1,
            ..EventWriter::default()
        }),
        settings: BTreeMap::from_iter(looked),
        ..StoredDecisions::default()
    };
    app.send(Msg::Triage(TriageNews::Opened(Box::new(stored))));
    app
}

fn remembered(effects: &[Effect]) -> Vec<(&str, Stamp)> {
    let looked = effects.iter().filter_map(|effect| match effect {
        Effect::Remember {
            key: "looked",
            workspace,
            value,
        } => Some((workspace.as_str(), value)),
        _ => None,
    });
    looked
        .map(|(workspace, value)| (workspace, serde_json::from_str(value).unwrap()))
        .collect()
}

#[test]
fn findings_and_scans_since_last_visit_are_shown_until_esc() {
    let mut app = app(true);
    assert!(app.model.settings.last_visit.is_shown());
    let what = app.model.settings.last_visit.changes;
    assert_eq!(
        (what.risks, what.done, what.failed, what.expiring),
        ([0, 1, 0, 1, 0], 1, 1, 0)
    );
    app.keys("3 esc");
    assert!(
        !app.model.settings.last_visit.is_shown() && app.notices().is_empty(),
        "{}",
        app.notices()
    );
    app.keys("esc");
    assert!(
        app.notices().contains("nothing to close"),
        "{}",
        app.notices()
    );
}

#[test]
fn previous_tab_shows_exactly_the_reported_findings() {
    let mut app = app(true);
    app.keys("3");
    let ended = |id: i64, at| Scan {
        start_time: Some(at),
        end_time: Some(at),
        ..scan(id, id, ScanStatus::Finished, 100)
    };
    // A scan during this visit finds another one, and finds those of scan 2 again.
    let scans = [(1, ago(7200)), (2, ago(1800)), (9, ago(0))].map(|(id, at)| ended(id, at));
    app.feed(Snapshot::Scans(table(scans)));
    let of = |id, by: i64, name| scandeck_wire::contract::Finding {
        task_id: Some(by.into()),
        ..finding(id, 2, name, Risk::Low)
    };
    app.feed(Snapshot::Findings(table([
        finding(1, 1, "Private key", Risk::Critical),
        of(2, 2, "Git repository"),
        of(3, 2, "Cookie flags"),
        of(4, 9, "Git repository"),
        of(5, 9, "Open port"),
    ])));
    let scope = Scope {
        target: Some(TargetId(1)),
        ..app.model.navigation.scope.clone()
    };
    crate::model::navigation::set_scope(&mut app.model, scope);
    app.keys("<");
    assert_eq!(
        app.shown(Pane::Findings),
        [4, 3],
        "{}",
        app.model.lists.findings.filter
    );
    app.keys("< <");
    assert_eq!(app.model.lists.findings.filter, "is:new", "the tabs again");
}

#[test]
fn decision_expiring_within_week_is_shown() {
    let mut app = app(true);
    app.keys("3 a");
    let scans = app.model.data.scans.value().cloned().unwrap();
    app.feed(Snapshot::Scans(scans.clone()));
    assert_eq!(
        app.model.settings.last_visit.changes.expiring, 0,
        "ninety days"
    );
    app.at += SignedDuration::from_hours(85 * 24).unsigned_abs();
    app.model.load_tabs();
    app.feed(Snapshot::Scans(scans));
    assert_eq!(app.model.settings.last_visit.changes.expiring, 1);
}

#[test]
fn first_visit_shows_no_changes_and_quit_stores_time() {
    let mut app = app(false);
    assert!(!app.model.settings.last_visit.is_shown());
    app.at = std::time::Duration::from_secs(60);
    let mut effects = app.keys("ctrl-c ctrl-c");
    assert_eq!(effects.pop(), Some(Effect::Quit), "stored before the end");
    let (workspace, at) = remembered(&effects)[0];
    assert!(workspace == "Acme" && at > stamp());
}

#[test]
fn decision_or_change_of_workspace_stores_time() {
    let mut app = app(true);
    assert!(
        remembered(&app.keys("3 j")).is_empty(),
        "moving is not looking"
    );
    let effects = app.keys("c");
    assert_eq!(remembered(&effects).len(), 1);
    let effects = app.keys("1 j enter");
    assert_eq!(remembered(&effects)[0].0, "Acme");
    assert!(!app.model.settings.last_visit.is_shown());
}

#[test]
fn captures_and_payloads_since_last_visit_are_counted() {
    use crate::data::OobNews;
    use crate::testing::{capture, capture_row};
    use scandeck_domain::oob::{Mention, MentionPlace, Token};
    use scandeck_wire::contract::Capture;
    let mut app = app(true);
    assert_eq!(
        (
            app.model.settings.last_visit.changes.captures,
            app.model.settings.last_visit.changes.payloads
        ),
        (3, 0)
    );
    let hit = |id: i64, at: Stamp| {
        let mut captured = capture_row(
            1,
            Capture {
                request_date: Some(at),
                ..capture(id)
            },
        );
        let (token, place) = (Token::of(7), MentionPlace::Path);
        captured.mentions = [Mention {
            token,
            known: true,
            place,
            wrapped: vec![],
            added: "".into(),
        }]
        .into();
        captured
    };
    let new = vec![hit(20, ago(7200)), hit(21, ago(600)), hit(22, ago(500))];
    app.send(Msg::Oob(OobNews::Captures {
        generation: app.model.connection.generation,
        new,
    }));
    assert_eq!(
        (
            app.model.settings.last_visit.changes.captures,
            app.model.settings.last_visit.changes.payloads
        ),
        (5, 1)
    );
}

#[test]
fn changes_during_the_visit_are_not_reported() {
    use crate::testing::capture_row;
    let mut app = app(true);
    let before = app.model.settings.last_visit.changes;
    app.at += std::time::Duration::from_secs(60);
    let ended = Scan {
        start_time: Some(ago(-50)),
        end_time: Some(ago(-55)),
        ..scan(9, 1, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([ended])));
    app.feed(Snapshot::Findings(table([
        scandeck_wire::contract::Finding {
            task_id: Some(9.into()),
            ..finding(9, 1, "Open port", Risk::High)
        },
    ])));
    let new = vec![capture_row(
        1,
        scandeck_wire::contract::Capture {
            request_date: Some(ago(-50)),
            ..Default::default()
        },
    )];
    app.send(Msg::Oob(crate::data::OobNews::Captures {
        generation: app.model.connection.generation,
        new,
    }));
    assert_eq!(app.model.settings.last_visit.changes, before);
}

#[test]
fn findings_that_are_read_scan_by_scan_are_counted_until_the_last_part() {
    let mut app = app(true);
    app.model.settings.last_visit.is_counted = false;
    let part = |app: &mut TestDashboard, last: i64, is_reading: bool| {
        let ids = Arc::new([ScanId(9)].into());
        let findings = (1..=last).map(|id| finding(id, 2, &format!("Finding {id}"), Risk::High));
        app.feed(PollEvent::SomeFindings(
            table(findings),
            UnreadScans {
                ids,
                findings: 1,
                is_reading,
            },
            Default::default(),
        ));
        app.model.settings.last_visit.changes.risks[1]
    };
    assert_eq!(part(&mut app, 1, true), 1);
    assert_eq!(part(&mut app, 2, true), 2);
    assert_eq!(part(&mut app, 3, false), 3, "the last part");
    assert_eq!(part(&mut app, 4, false), 3, "found during the visit");
}

fn capture_at(id: i64, at: Stamp) -> scandeck_wire::contract::Capture {
    scandeck_wire::contract::Capture {
        request_date: Some(at),
        ..crate::testing::capture(id)
    }
}

/// The settings that a visit with these filters leaves; it ended an hour ago.
fn left_filters(filters: &[(Pane, &str)]) -> Box<StoredDecisions> {
    let mut app = TestDashboard::new();
    for (pane, filter) in filters {
        app.model.set_query(*pane, filter).unwrap();
    }
    let mut effects = Vec::new();
    app.model.remember_view(&mut effects);
    let setting = |effect: Effect| match effect {
        Effect::Remember {
            key,
            workspace,
            value,
        } => Some(((key.into(), workspace), value)),
        _ => None,
    };
    let mut settings: BTreeMap<_, _> = effects.into_iter().filter_map(setting).collect();
    settings.insert(
        ("looked".into(), "Acme".into()),
        serde_json::to_string(&ago(3600)).unwrap(),
    );
    Box::new(StoredDecisions {
        settings,
        ..StoredDecisions::default()
    })
}

#[test]
fn rows_hidden_by_filter_are_counted_from_its_first_use() {
    let mut app = TestDashboard::new();
    app.model.screen.size = crate::base::Size {
        columns: 200,
        rows: 60,
    };
    app.receive(1, vec![capture_at(20, ago(5))]);
    app.keys("5 / 'method:PROPFIND' enter");
    let shows = |app: &mut TestDashboard, words: &str| {
        let frame = app.frame().join("\n");
        assert!(frame.contains(words), "{words}\n{frame}");
    };
    let total = app.model.data.captures.rows.len();
    shows(&mut app, &format!("5 Captures · {total} hidden "));
    let matching = scandeck_wire::contract::Capture {
        request_method: "PROPFIND".into(),
        ..capture_at(23, ago(-30))
    };
    app.receive(
        1,
        vec![capture_at(21, ago(-10)), capture_at(22, ago(-20)), matching],
    );
    shows(
        &mut app,
        &format!("5 Captures · {} hidden, 2 new", total + 2),
    );
    app.receive(2, vec![capture_at(30, ago(-40))]);
    shows(
        &mut app,
        &format!("5 Captures · {} hidden, 3 new", total + 3),
    );
    app.model.screen.size = crate::base::Size {
        columns: 80,
        rows: 24,
    };
    shows(&mut app, &format!("1 of 1, {} hidden, 3 new", total + 3));
    app.at += std::time::Duration::from_secs(60);
    app.keys("/ ctrl-u 'method:TRACE' enter");
    shows(&mut app, &format!("no matches: {} rows hidden", total + 4));
    assert_eq!(
        app.model.lists.captures.hidden_news.count, 0,
        "another filter counts from now"
    );
}

#[test]
fn rows_hidden_by_filter_of_earlier_visit_are_counted_from_its_end() {
    let filters = [
        (Pane::Captures, "method:PROPFIND"),
        (Pane::Findings, "nothing"),
        (Pane::Scans, "nothing"),
    ];
    let mut app = TestDashboard::new();
    app.send(Msg::Triage(TriageNews::Opened(left_filters(&filters))));
    let before = app.model.lists.captures.hidden_news.count;
    app.receive(
        1,
        vec![
            capture_at(20, ago(7200)),
            capture_at(21, ago(600)),
            capture_at(22, ago(500)),
        ],
    );
    assert_eq!(app.model.lists.captures.hidden_news.count, before + 2);
    let ended = |id: i64, at: Stamp| Scan {
        start_time: Some(at),
        end_time: Some(at),
        ..scan(id, id, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, ago(7200)),
        ended(2, ago(1800)),
        ended(3, ago(1700)),
    ])));
    app.feed(Snapshot::Findings(table([
        finding(1, 1, "Private key", Risk::Critical),
        finding(2, 2, "Git repository", Risk::High),
    ])));
    assert_eq!(app.shown(Pane::Findings), [0; 0]);
    assert_eq!(
        app.model.lists.findings.hidden_news.count, 1,
        "the finding of scan 2"
    );
    assert_eq!(app.model.lists.scans.hidden_news.count, 2, "scans 2 and 3");
}
