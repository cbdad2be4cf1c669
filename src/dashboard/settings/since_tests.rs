//! What is told of the time since one last looked, and what is remembered for the next time.

use crate::contract::{Risk, Scan, ScanStatus, Stamp};
use crate::dashboard::base::Effect;
use crate::dashboard::base::plan::Snapshot;
use crate::dashboard::core::Msg;
use crate::dashboard::data::{StoredDecisions, TriageNews};
use crate::dashboard::testing::{Desk, finding, scan, stamp, table};
use crate::triage::EventWriter;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

fn ago(seconds: i64) -> Stamp {
    Stamp(Timestamp::from_second(stamp().0.as_second() - seconds).unwrap())
}

/// A dashboard whose person looked an hour ago, if ever.
fn desk(looked: bool) -> Desk {
    let mut desk = Desk::new();
    let ended = |id: i64, status: ScanStatus, at: Stamp| Scan {
        start_time: Some(at),
        end_time: Some(at),
        ..scan(id, id, status, 100)
    };
    desk.feed(Snapshot::Scans(table([
        ended(1, ScanStatus::Finished, ago(7200)),
        ended(2, ScanStatus::Finished, ago(1800)),
        ended(3, ScanStatus::FailedToStart, ago(1800)),
    ])));
    desk.feed(Snapshot::Findings(table([
        finding(1, 1, "Private key", Risk::Critical),
        finding(2, 2, "Git repository", Risk::High),
        finding(3, 2, "Cookie flags", Risk::Low),
    ])));
    let looked = looked.then(|| (("looked".into(), "Acme".into()), serde_json::to_string(&ago(3600)).unwrap()));
    let kept = StoredDecisions {
        writer: Some(EventWriter { who: "ann".into(), instance: 1, ..EventWriter::default() }),
        settings: BTreeMap::from_iter(looked),
        ..StoredDecisions::default()
    };
    desk.send(Msg::Triage(TriageNews::Opened(Box::new(kept))));
    desk
}

fn remembered(effects: &[Effect]) -> Vec<(&str, Stamp)> {
    let looked = effects.iter().filter_map(|effect| match effect {
        Effect::Remember { key: "looked", workspace, value } => Some((workspace.as_str(), value)),
        _ => None,
    });
    looked.map(|(workspace, value)| (workspace, serde_json::from_str(value).unwrap())).collect()
}

#[test]
fn findings_by_risk_and_ended_scans_since_one_looked_are_told_until_esc() {
    let mut desk = desk(true);
    assert!(desk.model.settings.since.is_shown());
    let what = desk.model.settings.since.what;
    assert_eq!((what.risks, what.done, what.failed, what.expiring), ([0, 1, 0, 1, 0], 1, 1, 0));
    desk.keys("3 esc");
    assert!(!desk.model.settings.since.is_shown() && desk.notices().is_empty(), "{}", desk.notices());
    desk.keys("esc");
    assert!(desk.notices().contains("nothing to close"), "{}", desk.notices());
}

#[test]
fn a_decision_that_ends_within_a_week_is_told() {
    let mut desk = desk(true);
    desk.keys("3 a");
    let scans = desk.model.data.scans.value().cloned().unwrap();
    desk.feed(Snapshot::Scans(scans.clone()));
    assert_eq!(desk.model.settings.since.what.expiring, 0, "ninety days");
    desk.at += SignedDuration::from_hours(85 * 24).unsigned_abs();
    desk.feed(Snapshot::Scans(scans));
    assert_eq!(desk.model.settings.since.what.expiring, 1);
}

#[test]
fn the_first_time_nothing_is_told_and_leaving_is_remembered() {
    let mut desk = desk(false);
    assert!(!desk.model.settings.since.is_shown());
    desk.at = std::time::Duration::from_secs(60);
    let mut effects = desk.keys("ctrl-c ctrl-c");
    assert_eq!(effects.pop(), Some(Effect::Quit), "kept before the end");
    let (workspace, at) = remembered(&effects)[0];
    assert!(workspace == "Acme" && at > stamp());
}

#[test]
fn what_was_seen_or_decided_is_remembered_at_once_and_another_workspace_is_leaving_this_one() {
    let mut desk = desk(true);
    assert!(remembered(&desk.keys("3 j")).is_empty(), "moving is not looking");
    let effects = desk.keys("c");
    assert_eq!(remembered(&effects).len(), 1);
    let effects = desk.keys("1 j enter");
    assert_eq!(remembered(&effects)[0].0, "Acme");
    assert!(!desk.model.settings.since.is_shown());
}

#[test]
fn captures_and_the_payloads_they_called_since_one_looked_are_told() {
    use crate::contract::Capture;
    use crate::dashboard::data::OobNews;
    use crate::dashboard::testing::{capture, caught};
    use crate::oob::{Mention, MentionPlace, Token};
    let mut desk = desk(true);
    assert_eq!((desk.model.settings.since.what.captures, desk.model.settings.since.what.payloads), (3, 0));
    let hit = |id: i64, at: Stamp| {
        let mut caught = caught(1, Capture { request_date: Some(at), ..capture(id) });
        let (token, place) = (Token::of(7), MentionPlace::Path);
        caught.mentions = [Mention { token, known: true, place, wrapped: vec![], added: "".into() }].into();
        caught
    };
    let new = vec![hit(20, ago(7200)), hit(21, ago(600)), hit(22, ago(500))];
    desk.send(Msg::Oob(OobNews::Captures { generation: desk.model.connection.generation, new }));
    assert_eq!((desk.model.settings.since.what.captures, desk.model.settings.since.what.payloads), (5, 1));
}
