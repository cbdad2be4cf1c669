//! Seen findings, and the keys that move between changed rows.

use crate::base::Effect;
use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::testing::TestDashboard;
use scandeck_domain::triage::{EventWriter, FindingKey};
use std::time::Duration;

/// A dashboard whose store is open, with the detail of the first finding on the screen for no time
/// yet.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let writer = Some(EventWriter {
        who: "ann".into(),
        instance: 1,
        ..EventWriter::default()
    });
    app.send(Msg::Triage(TriageNews::Opened(Box::new(StoredDecisions {
        writer,
        ..StoredDecisions::default()
    }))));
    app
}

fn key(app: &TestDashboard, row: usize) -> FindingKey {
    let table = app.model.data.findings.value().unwrap();
    table.items()[app.model.lists.findings.rows[row] as usize].key()
}

/// The findings that are stored as seen after this time.
fn seen_after(app: &mut TestDashboard, time: Duration) -> Vec<FindingKey> {
    app.at += time;
    let effects = app.send(Msg::Wake);
    let seen = effects.into_iter().filter_map(|effect| match effect {
        Effect::MarkSeen { workspace, keys } if workspace.as_str() == "Acme" => Some(keys),
        _ => None,
    });
    seen.flatten().collect()
}

#[test]
fn finding_counts_as_seen_once_after_a_second() {
    let mut app = app();
    app.keys("3 j k");
    let first = key(&app, 0);
    assert!(app.model.is_unread(first));
    assert!(
        seen_after(&mut app, Duration::from_millis(600)).is_empty(),
        "not yet"
    );
    assert!(
        app.model.wake_at().unwrap() <= app.at + Duration::from_secs(1),
        "the screen changes by itself then"
    );
    assert_eq!(seen_after(&mut app, Duration::from_millis(500)), [first]);
    assert!(!app.model.is_unread(first));
    assert!(
        seen_after(&mut app, Duration::from_secs(5)).is_empty(),
        "once"
    );
}

#[test]
fn short_view_does_not_count_as_seen() {
    let mut app = app();
    app.keys("3 j j j");
    assert!((0..3).all(|row| app.model.is_unread(key(&app, row))));
}

#[test]
fn findings_without_store_are_read() {
    let mut app = TestDashboard::new();
    app.model.findings.triage.writer = None;
    assert!(!app.model.is_unread(key(&app, 0)));
}
