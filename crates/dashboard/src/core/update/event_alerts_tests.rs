//! Alerts about findings, scans and decisions: which data makes which alert, and only once.

use crate::base::{Alert, AlertRequest};
use crate::config::AlertPlan;
use crate::core::Msg;
use crate::data::TriageNews;
use crate::testing::*;
use scandeck_domain::alerts::{AlertKind, AlertRoutes, EventAlert, EventRule};
use scandeck_domain::triage::{Change, Decision, Event, Subject, Verdict};
use std::collections::BTreeSet;

/// A dashboard with one rule about these events.
fn app(kinds: &[AlertKind], query: &str) -> TestDashboard {
    let mut app = TestDashboard::new();
    let routes = AlertRoutes {
        bell: true,
        ..AlertRoutes::default()
    };
    let kinds: BTreeSet<AlertKind> = kinds.iter().copied().collect();
    let rule = EventRule::new("night", kinds, query, Duration::ZERO, routes).unwrap();
    app.model.settings.live.alerts = Arc::new(AlertPlan {
        rules: vec![Arc::new(rule)],
        ..AlertPlan::default()
    });
    app
}

/// A scan that ended a minute ago.
fn ended(id: i64, target: i64, status: ScanStatus) -> Scan {
    let at = |seconds: i64| Stamp(Timestamp::from_second(stamp().as_second() - seconds).unwrap());
    Scan {
        start_time: Some(at(120)),
        end_time: Some(at(60)),
        ..scan(id, target, status, 100)
    }
}

fn found(id: i64, name: &str, risk: Risk) -> Finding {
    Finding {
        task_id: Some(ScanId(9)),
        vuln_id: format!("class.{id}").as_str().into(),
        ..finding(id, 1, name, risk)
    }
}

/// Scans and findings arrive; the alerts that they cause.
fn arrive(app: &mut TestDashboard, scans: Vec<Scan>, findings: Vec<Finding>) -> Vec<EventAlert> {
    let mut alerts = receive(app, Snapshot::Scans(table(scans)));
    alerts.extend(receive(app, Snapshot::Findings(table(findings))));
    alerts
}

/// A list arrives; the alerts that it causes.
fn receive(app: &mut TestDashboard, snapshot: Snapshot) -> Vec<EventAlert> {
    let update = Update {
        generation: app.model.connection.generation,
        at: stamp(),
        event: snapshot.into(),
    };
    claims(app.send(Msg::Update(update)))
}

fn claims(effects: Vec<Effect>) -> Vec<EventAlert> {
    let claim = |effect| match effect {
        Effect::ClaimAlert(request) => {
            let AlertRequest { alert, .. } = *request;
            Some(alert)
        }
        _ => None,
    };
    effects.into_iter().filter_map(claim).collect()
}

fn titles(alerts: &[EventAlert]) -> Vec<String> {
    let title = |alert: &EventAlert| format!("{}: {}", alert.title(), alert.body());
    alerts.iter().map(title).collect()
}

#[test]
fn scan_that_ends_alerts_without_a_read_of_findings() {
    let mut app = app(&[AlertKind::ScanEnded], "");
    let running = vec![scan(3, 1, ScanStatus::Running, 50)];
    assert!(arrive(&mut app, running, Vec::new()).is_empty());
    let finished = Snapshot::Scans(table([ended(3, 1, ScanStatus::Finished)]));
    assert_eq!(receive(&mut app, finished).len(), 1);
}

#[test]
fn scan_that_only_moves_causes_no_look() {
    let mut app = app(&[AlertKind::ScanEnded], "");
    let running = |progress| scan(3, 1, ScanStatus::Running, progress);
    arrive(&mut app, vec![running(10)], Vec::new());
    let looked = app.model.event_alerts.looked;
    assert!(looked.is_some());
    let shown = app.model.data.revision(Pane::Scans);
    receive(&mut app, Snapshot::Scans(table([running(50)])));
    assert_ne!(app.model.data.revision(Pane::Scans), shown);
    assert_eq!(app.model.event_alerts.looked, looked);
    receive(
        &mut app,
        Snapshot::Scans(table([ended(3, 1, ScanStatus::Finished)])),
    );
    assert_ne!(app.model.event_alerts.looked, looked);
}

#[test]
fn own_decision_causes_no_look() {
    let mut app = app(&[AlertKind::Finding], "");
    let scans = vec![ended(9, 1, ScanStatus::Finished)];
    arrive(&mut app, scans, vec![found(91, "Banner", Risk::Info)]);
    let looked = app.model.event_alerts.looked;
    assert!(looked.is_some());
    let revision = app.model.findings.triage.revision;
    app.keys("c");
    assert_ne!(app.model.findings.triage.revision, revision);
    assert_eq!(app.model.event_alerts.looked, looked);
}

#[test]
fn new_finding_is_claimed_once() {
    let mut app = app(&[AlertKind::Finding], "risk>=high is:new");
    let scans = vec![ended(9, 1, ScanStatus::Finished)];
    let findings = vec![
        found(91, "Private key", Risk::Critical),
        found(92, "Banner", Risk::Info),
    ];
    let alerts = arrive(&mut app, scans.clone(), findings.clone());
    assert_eq!(
        titles(&alerts),
        ["new critical finding: Private key, t1.acme.test"]
    );
    let mut more = findings;
    more.push(found(93, "Git repository", Risk::High));
    let alerts = arrive(&mut app, scans, more);
    assert_eq!(
        titles(&alerts),
        ["new high finding: Git repository, t1.acme.test"]
    );
    assert!(claims(app.keys("j j")).is_empty());
}

#[test]
fn claimed_alert_is_shown_and_sent_on_its_channels() {
    let mut app = app(&[AlertKind::ScanFailed], "");
    let scans = vec![ended(9, 1, ScanStatus::ConnectionError)];
    let alerts = arrive(&mut app, scans, Vec::new());
    assert!(!app.notices().contains("scan failed"), "{}", app.notices());
    let routes = alerts[0].rule.routes.clone();
    let claimed = Msg::AlertClaimed(Box::new(alerts[0].clone()), routes.clone());
    let effects = app.send(claimed);
    let text = "scan failed: Website Scanner, t1.acme.test, connection error";
    assert!(app.notices().contains(text), "{}", app.notices());
    let alert = Alert::of_events(&alerts[0], routes);
    assert!(effects.contains(&Effect::Alert(Box::new(alert))));
    // A program gets its alert without a notice on the screen.
    app.keys("esc");
    let routes = AlertRoutes {
        program: true,
        ..AlertRoutes::default()
    };
    let before = app.notices();
    app.send(Msg::AlertClaimed(Box::new(alerts[0].clone()), routes));
    assert_eq!(app.notices(), before);
}

#[test]
fn claimed_alert_is_masked() {
    let mut app = app(&[AlertKind::ScanFailed], "");
    let scans = vec![ended(9, 1, ScanStatus::Aborted)];
    let alerts = arrive(&mut app, scans, Vec::new());
    app.keys(": 'mask' enter");
    let routes = alerts[0].rule.routes.clone();
    let effects = app.send(Msg::AlertClaimed(Box::new(alerts[0].clone()), routes));
    let alert = effects.iter().find_map(|effect| match effect {
        Effect::Alert(alert) => Some(alert),
        _ => None,
    });
    let text = format!("{:?}", alert.unwrap());
    assert!(!text.contains("acme"), "{text}");
}

#[test]
fn failed_alert_is_shown_and_sent_again_if_there_is_another_attempt() {
    let mut app = app(&[AlertKind::ScanFailed], "");
    let alert = Box::new(Alert {
        title: "scan failed".to_owned(),
        ..Alert::default()
    });
    for again in [Some(alert.clone()), None] {
        let failed = Msg::AlertFailed {
            problem: Problem::local("webhook team: refused"),
            again: again.clone(),
        };
        let effects = app.send(failed);
        let text = "alert not delivered: webhook team: refused";
        assert!(app.notices().contains(text), "{}", app.notices());
        let retried = effects.into_iter().find_map(|effect| match effect {
            Effect::RetryAlert(alert) => Some(alert),
            _ => None,
        });
        assert_eq!(retried, again);
    }
    let effects = app.send(Msg::AlertDue(alert.clone()));
    assert!(effects.contains(&Effect::Alert(alert)));
}

#[test]
fn file_of_sent_alerts_begins_by_the_clock_of_the_service() {
    let mut app = app(&[AlertKind::Finding], "");
    let mut offsets = |seconds: i64| -> Vec<i64> {
        let generation = app.model.connection.generation;
        let update = Update {
            generation,
            at: stamp(),
            event: PollEvent::ClockOffset(seconds),
        };
        let offset = |effect| match effect {
            Effect::BeginAlerts { clock_offset } => Some(clock_offset),
            _ => None,
        };
        let effects = app.send(Msg::Update(update)).into_iter();
        effects.filter_map(offset).collect()
    };
    assert_eq!(offsets(-90), [-90]);
    assert!(offsets(-91).is_empty(), "once");
}

#[test]
fn fixed_finding_that_is_back_alarms() {
    let mut app = app(&[AlertKind::Regression], "");
    let mut old = ended(9, 1, ScanStatus::Finished);
    let hour = |hours: i64| Timestamp::from_second(stamp().as_second() - hours * 3600).unwrap();
    (old.start_time, old.end_time) = (Some(Stamp(hour(30))), Some(Stamp(hour(29))));
    let before = vec![found(91, "Private key", Risk::Critical)];
    assert!(arrive(&mut app, vec![old.clone()], before.clone()).is_empty());
    let alerts = decide(&mut app, "ann@test", Verdict::Fixed, hour(2));
    assert!(alerts.is_empty());
    let back = Finding {
        task_id: Some(ScanId(10)),
        ..found(101, "Private key", Risk::Critical)
    };
    let back = Finding {
        vuln_id: before[0].vuln_id.clone(),
        ..back
    };
    let findings = vec![before[0].clone(), back];
    let scans = vec![old, ended(10, 1, ScanStatus::Finished)];
    let alerts = arrive(&mut app, scans, findings);
    let texts = titles(&alerts);
    assert!(
        texts.len() == 1 && texts[0].starts_with("was fixed, is back: critical: Private key"),
        "{texts:?}"
    );
}

/// A person decides the first finding.
fn decide(app: &mut TestDashboard, who: &str, verdict: Verdict, at: Timestamp) -> Vec<EventAlert> {
    let issues = app.model.data.findings.value().unwrap();
    let subject = Subject::Finding(issues.items()[0].identity.clone());
    let mut writer = EventWriter {
        who: who.into(),
        instance: 9,
        number: 0,
        workspace: "Acme".into(),
    };
    let change = Change::Decide(Decision {
        verdict,
        ..Decision::default()
    });
    let (batch, clock) = (writer.next(), app.model.findings.triage.state.clock() + 1);
    let event: Event = writer.write((Stamp(at), clock), batch, Vec::new(), subject, change);
    claims(app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(event)]))))
}

#[test]
fn decision_of_a_colleague_alerts_and_own_one_does_not() {
    for (who, expected) in [("bob", 1), ("ann@test", 0)] {
        let mut app = app(&[AlertKind::Decision], "");
        let scans = vec![ended(9, 1, ScanStatus::Finished)];
        arrive(&mut app, scans, vec![found(91, "Private key", Risk::High)]);
        let alerts = decide(&mut app, who, Verdict::FalsePositive, stamp().0);
        assert_eq!(alerts.len(), expected, "{who}");
        for text in titles(&alerts) {
            assert!(
                text.starts_with("decision of a colleague: bob: false positive, Private key"),
                "{text}"
            );
        }
    }
}

#[test]
fn dashboard_without_rules_or_service_claims_nothing() {
    let scans = vec![ended(9, 1, ScanStatus::Finished)];
    let findings = vec![found(91, "Private key", Risk::Critical)];
    let mut app = TestDashboard::new();
    assert!(arrive(&mut app, scans.clone(), findings.clone()).is_empty());
    let mut bundled = self::app(&[AlertKind::Finding], "");
    bundled.model.session.bundled = true;
    assert!(arrive(&mut bundled, scans, findings).is_empty());
}
