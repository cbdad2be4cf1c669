//! Tests: which event makes which alert, and that it is sent once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::finding::Verdict;
use crate::triage::testing::{Replica, TriageFixture};
use crate::triage::{AssessedFinding, Decision, ListContext, correlate};
use scandeck_wire::contract::{Risk, ScanStatus, Stamp, TargetId};
use scandeck_wire::sqlite::schema_version;

fn rule(kinds: &[AlertKind], query: &str) -> Arc<EventRule> {
    let kinds: BTreeSet<AlertKind> = kinds.iter().copied().collect();
    let (quiet, routes) = (Duration::from_secs(60), AlertRoutes::default());
    Arc::new(EventRule::new("night", kinds, query, quiet, routes).unwrap())
}

fn alerts_of(fixture: &TriageFixture, rules: &[Arc<EventRule>]) -> Vec<EventAlert> {
    alerts_with(fixture, rules, BTreeSet::new())
}

fn alerts_with(
    fixture: &TriageFixture,
    rules: &[Arc<EventRule>],
    owed: BTreeSet<String>,
) -> Vec<EventAlert> {
    let input = fixture.input();
    let rows = correlate(&input);
    let assessed = rows.issues.items().iter().zip(rows.assessments.iter());
    let source = AlertSource {
        findings: assessed
            .map(|(issue, assessment)| AssessedFinding { issue, assessment })
            .collect(),
        scans: &input.scans,
        lists: ListContext {
            targets: Some(&input.targets),
            scans: Some(&input.scans),
            ..ListContext::default()
        },
        own_names: vec!["ann".into()],
        today: input.today,
        now: Stamp::parse("2026-11-21 23:00:00").unwrap(),
        owed,
    };
    source.alerts(rules, |_, _| false)
}

/// Title and body of each alert of one kind.
fn texts(fixture: &TriageFixture, kind: AlertKind, query: &str) -> Vec<String> {
    let alerts = alerts_of(fixture, &[rule(&[kind], query)]);
    let text = |alert: &EventAlert| format!("{}: {}", alert.title(), alert.body());
    alerts.iter().map(text).collect()
}

fn keys(fixture: &TriageFixture, kind: AlertKind) -> Vec<String> {
    let alerts = alerts_of(fixture, &[rule(&[kind], "")]);
    let events = alerts.into_iter().flat_map(|alert| alert.events);
    events.map(|event| event.key).collect()
}

fn fixed() -> Decision {
    Decision {
        verdict: Verdict::Fixed,
        ..Decision::default()
    }
}

#[test]
fn new_finding_alerts_by_the_query_of_the_rule() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "csp", "").risk_level = Risk::Low;
    fixture.found(1, "xss", "").risk_level = Risk::Critical;
    let exploited = fixture.found(1, "old", "");
    (exploited.risk_level, exploited.in_cisa_catalog) = (Risk::High, true);
    let found = texts(&fixture, AlertKind::Finding, "risk:critical or is:kev");
    assert_eq!(
        found,
        ["new critical finding (2 findings): About xss, shop.test, tcp/443 (and 1 more)"]
    );
    let found = texts(&fixture, AlertKind::Finding, "is:kev");
    assert_eq!(
        found,
        ["new high finding, known exploited (KEV): About old, shop.test, tcp/443"]
    );
    assert!(texts(&fixture, AlertKind::Finding, "risk:medium").is_empty());
    fixture.scan(2);
    fixture.found(2, "csp", "");
    let known = texts(&fixture, AlertKind::Finding, "name:*csp*");
    assert!(known.is_empty(), "found by an earlier scan: {known:?}");
}

#[test]
fn finding_that_a_decision_put_aside_does_not_alert() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "xss", "");
    assert_eq!(texts(&fixture, AlertKind::Finding, "").len(), 1);
    fixture.decide(Verdict::FalsePositive);
    assert!(texts(&fixture, AlertKind::Finding, "").is_empty());
}

#[test]
fn fixed_finding_that_is_back_reads_as_an_alarm_and_has_one_key() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "xss", "").risk_level = Risk::High;
    fixture.decide_at(2, fixed());
    assert!(texts(&fixture, AlertKind::Regression, "").is_empty());
    fixture.scan(3);
    fixture.found(3, "xss", "").risk_level = Risk::High;
    let text =
        "was fixed, is back: high: About xss, shop.test, tcp/443, fixed by ann on 2026-11-21";
    assert_eq!(texts(&fixture, AlertKind::Regression, ""), [text]);
    assert!(AlertKind::Regression.is_alarm());
    assert!(texts(&fixture, AlertKind::Finding, "").is_empty());
    let before = keys(&fixture, AlertKind::Regression);
    fixture.scan(4);
    fixture.found(4, "xss", "").risk_level = Risk::High;
    assert_eq!(keys(&fixture, AlertKind::Regression), before);
    fixture.decide_at(5, fixed());
    fixture.scan(6);
    fixture.found(6, "xss", "");
    let again = keys(&fixture, AlertKind::Regression);
    assert!(again.len() == 1 && again != before, "{again:?}");
}

#[test]
fn absent_finding_that_is_back_alerts() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "xss", "");
    fixture.scan(2);
    fixture.scan(3);
    fixture.found(3, "xss", "");
    let found = texts(&fixture, AlertKind::Regression, "");
    assert_eq!(
        found,
        ["was absent, is back: info: About xss, shop.test, tcp/443"]
    );
}

#[test]
fn scans_alert_by_how_they_ended() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    let failed = fixture.scan(2);
    failed.status_name = ScanStatus::ConnectionError;
    failed.status_message = "no answer on port 443".into();
    fixture.scan(3);
    fixture.found(3, "coverage.blocked", "");
    let running = fixture.scan(4);
    (running.status_name, running.end_time) = (ScanStatus::Running, None);
    assert_eq!(
        texts(&fixture, AlertKind::ScanFailed, ""),
        ["scan failed: Website Scanner, shop.test, connection error, no answer on port 443"]
    );
    assert_eq!(
        texts(&fixture, AlertKind::ScanBlocked, ""),
        ["scan blocked by the target: Website Scanner, shop.test, finished"]
    );
    assert_eq!(keys(&fixture, AlertKind::ScanEnded).len(), 2);
    let by_query = texts(&fixture, AlertKind::ScanEnded, "id:1");
    assert_eq!(
        by_query,
        ["scan ended: Website Scanner, shop.test, finished"]
    );
}

#[test]
fn decision_of_another_person_alerts_and_own_one_does_not() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "xss", "");
    fixture.decide_at(2, fixed());
    assert!(texts(&fixture, AlertKind::Decision, "").is_empty());
    let mut fixture = TriageFixture::new();
    fixture.ann = Replica::new("bo", 2);
    fixture.scan(1);
    fixture.found(1, "xss", "");
    fixture.decide_at(2, fixed());
    assert_eq!(
        texts(&fixture, AlertKind::Decision, ""),
        ["decision of a colleague: bo: fixed, About xss, shop.test, tcp/443"]
    );
    assert!(texts(&fixture, AlertKind::Decision, "verdict:confirmed").is_empty());
}

#[test]
fn acceptance_alerts_before_and_after_its_last_day() {
    for (until, text) in [
        ("2026-11-20", Some("acceptance expired")),
        ("2026-11-21", Some("acceptance expires soon")),
        ("2026-11-28", Some("acceptance expires soon")),
        ("2026-11-29", None),
        ("2026-11-01", None),
    ] {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        fixture.found(1, "xss", "");
        let decision = Decision {
            verdict: Verdict::RiskAccepted,
            until: Some(until.parse().unwrap()),
            ..Decision::default()
        };
        fixture.decide_at(2, decision);
        let place = format!("info: About xss, shop.test, tcp/443, until {until}");
        let expected: Vec<String> = text
            .map(|text| format!("{text}: {place}"))
            .into_iter()
            .collect();
        assert_eq!(
            texts(&fixture, AlertKind::Acceptance, ""),
            expected,
            "{until}"
        );
    }
}

#[test]
fn closed_port_is_a_service_that_is_gone() {
    let mut fixture = TriageFixture::new();
    for number in [1, 2] {
        fixture.scan(number).tool_id = 70;
    }
    fixture.found(1, "port.open", "");
    fixture.found(1, "xss", "");
    assert_eq!(
        texts(&fixture, AlertKind::ServiceGone, ""),
        ["service gone: shop.test, tcp/443"]
    );
    let before = keys(&fixture, AlertKind::ServiceGone);
    fixture.scan(3).tool_id = 70;
    assert_eq!(keys(&fixture, AlertKind::ServiceGone), before);
}

#[test]
fn old_events_do_not_alert() {
    let mut fixture = TriageFixture::new();
    let scan = fixture.scan(1);
    scan.start_time = Stamp::parse("2026-11-19 01:00:00");
    scan.end_time = Stamp::parse("2026-11-19 02:00:00");
    fixture.found(1, "xss", "");
    assert!(texts(&fixture, AlertKind::Finding, "").is_empty());
    assert!(texts(&fixture, AlertKind::ScanEnded, "").is_empty());
}

#[test]
fn old_event_that_was_not_delivered_alerts() {
    let mut fixture = TriageFixture::new();
    let scan = fixture.scan(1);
    scan.start_time = Stamp::parse("2026-11-19 01:00:00");
    scan.end_time = Stamp::parse("2026-11-19 02:00:00");
    let rules = [rule(&[AlertKind::ScanEnded], "")];
    assert!(alerts_of(&fixture, &rules).is_empty());
    let at = Stamp::parse("2026-11-19 02:00:00").unwrap().as_second();
    let owed = BTreeSet::from([format!("scan_ended:1:{at}")]);
    assert_eq!(alerts_with(&fixture, &rules, owed).len(), 1);
}

#[test]
fn hostile_texts_are_sanitised() {
    let mut fixture = TriageFixture::new();
    fixture.targets[0].name = "shop.test\u{1b}]9;owned\u{7}\n$(id)".into();
    fixture.scan(1);
    fixture.found(1, "xss", "").name = "`id`\u{202e}\u{0}\"}".into();
    let alerts = alerts_of(&fixture, &[rule(&[AlertKind::Finding], "")]);
    let event = &alerts[0].events[0];
    let fields = event.fields.iter().map(|(_, value)| value);
    for text in fields.chain([&event.title, &event.body]) {
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
}

#[test]
fn invalid_rules_name_cause_and_remedy() {
    let made = |kinds: &[AlertKind], query: &str| {
        let kinds: BTreeSet<AlertKind> = kinds.iter().copied().collect();
        EventRule::new("x", kinds, query, Duration::ZERO, AlertRoutes::default())
    };
    let mixed = [AlertKind::Finding, AlertKind::ScanFailed];
    for (kinds, query, why, hint) in [
        (&[][..], "", "no event", "regression"),
        (&mixed[..], "risk>=high", "at once", "one rule"),
        (&mixed[1..], "is:kev", "invalid query", "scans"),
        (
            &mixed[..1],
            "evidence:x",
            "cannot search `evidence`",
            "name",
        ),
    ] {
        let error = made(kinds, query).unwrap_err();
        assert!(
            error.why.contains(why) && error.hint.contains(hint),
            "{error:?}"
        );
    }
    assert!(made(&mixed, "").is_ok());
}

fn event(key: &str, at: Option<&str>) -> AlertEvent {
    AlertEvent {
        kind: AlertKind::Finding,
        key: key.to_owned(),
        at: at.and_then(Stamp::parse),
        risk: None,
        title: "new".to_owned(),
        body: key.to_owned(),
        fields: Vec::new(),
    }
}

fn alert(events: Vec<AlertEvent>) -> EventAlert {
    EventAlert {
        rule: rule(&[AlertKind::Finding], ""),
        kind: AlertKind::Finding,
        events,
    }
}

fn claim_of(keys: &[&str]) -> AlertClaim {
    alert(keys.iter().map(|key| event(key, None)).collect()).claim()
}

/// The claimed keys, or the seconds to wait. Each call is another process.
async fn claim(
    directory: &Path,
    channel: &str,
    keys: &[&str],
    now: &str,
) -> Result<Vec<String>, u64> {
    let now = Stamp::parse(now).unwrap();
    let mut sent = SentAlerts::open(directory, now).await.unwrap();
    let claimed = sent.claim(channel, &claim_of(keys), now).await.unwrap();
    sent.close().await;
    match claimed {
        ClaimedEvents::Now(keys) => Ok(keys.into_iter().collect()),
        ClaimedEvents::After(left) => Err(left.as_secs()),
    }
}

/// The seconds until the next attempt.
async fn release(directory: &Path, channel: &str, keys: &[&str], now: &str) -> Option<u64> {
    let now = Stamp::parse(now).unwrap();
    let mut sent = SentAlerts::open(directory, now).await.unwrap();
    let left = sent.release(channel, &claim_of(keys), now).await.unwrap();
    sent.close().await;
    left.map(|left| left.as_secs())
}

async fn owed(directory: &Path) -> Vec<String> {
    let now = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let mut sent = SentAlerts::open(directory, now).await.unwrap();
    let keys = sent.owed().await.unwrap();
    keys.into_iter().collect()
}

#[tokio::test]
async fn event_is_sent_once_on_each_channel_by_all_processes() {
    let temp = tempfile::tempdir().unwrap();
    let first = claim(temp.path(), "program", &["a", "b"], "2026-11-21 12:00:00").await;
    assert_eq!(first, Ok(vec!["a".to_owned(), "b".to_owned()]));
    let again = claim(temp.path(), "program", &["a", "b"], "2026-11-21 12:00:01").await;
    assert_eq!(again, Ok(vec![]));
    let other = claim(temp.path(), "webhook team", &["a"], "2026-11-21 12:00:01").await;
    assert_eq!(other, Ok(vec!["a".to_owned()]));
}

#[tokio::test]
async fn events_in_the_quiet_time_wait() {
    let temp = tempfile::tempdir().unwrap();
    _ = claim(temp.path(), "program", &["a"], "2026-11-21 12:00:00").await;
    let early = claim(temp.path(), "program", &["a", "b"], "2026-11-21 12:00:20").await;
    assert_eq!(early, Err(40));
    let later = claim(
        temp.path(),
        "program",
        &["a", "b", "c"],
        "2026-11-21 12:01:00",
    )
    .await;
    assert_eq!(later, Ok(vec!["b".to_owned(), "c".to_owned()]));
}

#[tokio::test]
async fn events_before_the_first_use_are_not_sent() {
    let temp = tempfile::tempdir().unwrap();
    let now = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let events = vec![
        event("before", Some("2026-11-21 11:00:00")),
        event("after", Some("2026-11-21 12:00:01")),
    ];
    let mut sent = SentAlerts::open(temp.path(), now).await.unwrap();
    let claimed = sent.claim("program", &alert(events).claim(), now).await;
    let only = BTreeSet::from(["after".to_owned()]);
    assert_eq!(claimed.unwrap(), ClaimedEvents::Now(only));
}

#[test]
fn alert_about_claimed_events_has_each_once() {
    let events = ["a", "b", "a", "c"].map(|key| event(key, None));
    let keys = ["a", "c"].map(str::to_owned).into_iter().collect();
    let claimed = alert(events.to_vec()).only(&keys);
    let keys: Vec<&str> = claimed.events.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["a", "c"]);
}

#[tokio::test]
async fn event_that_was_not_delivered_is_claimed_again_after_a_delay() {
    let temp = tempfile::tempdir().unwrap();
    let at = "2026-11-21 12:00:00";
    assert_eq!(
        claim(temp.path(), "program", &["a"], at).await.unwrap(),
        ["a"]
    );
    assert!(owed(temp.path()).await.is_empty());
    assert_eq!(release(temp.path(), "program", &["a"], at).await, Some(60));
    assert_eq!(owed(temp.path()).await, ["a"]);
    // Other channels and new events do not wait for it.
    assert_eq!(claim(temp.path(), "bell", &["a"], at).await.unwrap(), ["a"]);
    let early = claim(temp.path(), "program", &["a"], "2026-11-21 12:00:20").await;
    assert_eq!(early, Err(40));
    let new = claim(temp.path(), "program", &["a", "b"], "2026-11-21 12:00:20").await;
    assert_eq!(new.unwrap(), ["b"]);
    // The alert about `b` has a quiet time of a minute.
    let later = claim(temp.path(), "program", &["a"], "2026-11-21 12:01:20").await;
    assert_eq!(later.unwrap(), ["a"]);
    assert!(owed(temp.path()).await.is_empty());
    let again = claim(temp.path(), "program", &["a"], "2026-11-21 18:00:00").await;
    assert_eq!(again, Ok(vec![]), "never twice after a success");
}

#[tokio::test]
async fn attempts_end_after_the_last_delay() {
    let temp = tempfile::tempdir().unwrap();
    let day = |hour: usize| format!("2026-11-21 {hour:02}:00:00");
    let mut delays = Vec::new();
    for attempt in 0..6 {
        let now = day(attempt * 4);
        let claimed = claim(temp.path(), "program", &["a"], &now).await;
        assert_eq!(claimed.unwrap(), ["a"], "{now}");
        delays.push(release(temp.path(), "program", &["a"], &now).await);
    }
    let expected = [
        Some(60),
        Some(300),
        Some(900),
        Some(3600),
        Some(14400),
        None,
    ];
    assert_eq!(delays, expected);
    let last = claim(temp.path(), "program", &["a"], "2026-11-21 23:59:00").await;
    assert_eq!(last, Ok(vec![]));
    assert!(owed(temp.path()).await.is_empty());
}

#[tokio::test]
async fn events_that_the_screen_sent_are_sent_for_bell_and_desktop() {
    let temp = tempfile::tempdir().unwrap();
    let now = "2026-11-21 12:00:00";
    _ = claim(temp.path(), "screen", &["a"], now).await;
    // Files of that time had no number.
    let file = temp.path().join(SentAlerts::format().file.unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[60..64].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    for channel in ["bell", "desktop"] {
        assert_eq!(claim(temp.path(), channel, &["a"], now).await, Ok(vec![]));
    }
}

#[tokio::test]
async fn file_has_the_number_of_its_schema_and_a_newer_one_is_refused_untouched() {
    let temp = tempfile::tempdir().unwrap();
    let now = "2026-11-21 12:00:00";
    _ = claim(temp.path(), "program", &["a"], now).await;
    let format = SentAlerts::format();
    let file = temp.path().join(format.file.unwrap());
    assert_eq!(schema_version(&file).unwrap(), format.number);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&9000_u32.to_be_bytes());
    std::fs::write(&file, &bytes).unwrap();
    let refused = SentAlerts::open(temp.path(), Stamp::parse(now).unwrap()).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("schema 9000, supported 1"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
async fn corrupt_file_is_replaced_at_once() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("alerts.db"), "no database").unwrap();
    let now = "2026-11-21 12:00:00";
    for channel in ["program", "bell"] {
        let claimed = claim(temp.path(), channel, &["a"], now).await;
        assert_eq!(claimed, Ok(vec!["a".to_owned()]));
    }
    let moved = std::fs::read(temp.path().join("alerts.db.bak-1")).unwrap();
    assert_eq!(moved, b"no database");
    assert!(!temp.path().join("alerts.db.bak-2").exists());
}

#[tokio::test]
async fn two_processes_at_once_do_not_send_the_same_event() {
    let temp = tempfile::tempdir().unwrap();
    let keys: Vec<String> = (0..20).map(|number| format!("event {number}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let now = "2026-11-21 12:00:00";
    let both = futures::join!(
        claim(temp.path(), "program", &keys, now),
        claim(temp.path(), "program", &keys, now)
    );
    let sent = |claimed: Result<Vec<String>, u64>| claimed.map_or(0, |keys| keys.len());
    assert_eq!(sent(both.0) + sent(both.1), 20);
}

#[test]
fn event_of_a_finding_names_its_facts() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1).target_id = TargetId(2);
    fixture.found(1, "xss", "").risk_level = Risk::High;
    let alerts = alerts_of(&fixture, &[rule(&[AlertKind::Finding], "")]);
    let fields = &alerts[0].events[0].fields;
    let value = |name: &str| {
        let field = fields.iter().find(|(known, _)| *known == name);
        field.map(|(_, value)| value.as_str())
    };
    for (name, expected) in [
        ("target", "mail.test"),
        ("risk", "high"),
        ("class", "xss"),
        ("service", "tcp/443"),
        ("scan", "1"),
        ("kev", "false"),
        ("presence", "new"),
        ("verdict", "open"),
        ("time", "2026-11-21 01:30:00"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
    assert_eq!(value("until"), None, "empty fields are left out");
}
