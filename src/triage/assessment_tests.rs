//! Tests of assessments: precedence, expiry, regressions and conflicts.

use super::correlate::reassess;
use super::event::{Change, Decision, Subject};
use super::issue::{ReopenCause, VerdictSource};
use super::testing::World;
use crate::contract::Risk;
use crate::finding::Verdict;
use crate::finding::Verdict::{Confirmed, FalsePositive, Fixed, NotApplicable, Open, RiskAccepted};

fn world() -> World {
    let mut world = World::new();
    world.scan(1);
    world.found(1, "tls10", "");
    world
}

fn decision(verdict: Verdict) -> Decision {
    Decision { verdict, ..Decision::default() }
}

#[test]
fn person_overrides_rule_and_rule_overrides_service() {
    let mut world = world();
    world.findings[0].status = "accepted".into();
    assert_eq!((world.last().1.verdict, world.last().1.source), (RiskAccepted, VerdictSource::Service));
    let id = world.ann.writer.next();
    let made = Change::Rule { query: "port:443".into(), decision: decision(NotApplicable) };
    world.ann.does(Subject::Rule(id), made);
    let ruled = |world: &World| world.rows().assessments[0].clone();
    assert_eq!((ruled(&world).verdict, ruled(&world).source), (NotApplicable, VerdictSource::Rule(id)));
    assert_eq!(ruled(&world).service.as_deref(), Some("accepted"));
    let decided = world.decide(Confirmed);
    assert_eq!((ruled(&world).verdict, ruled(&world).source), (Confirmed, VerdictSource::Person));
    world.ann.undoes(decided.batch);
    assert_eq!(ruled(&world).source, VerdictSource::Rule(id));
    world.ann.does(Subject::Rule(id), Change::Off(true));
    assert_eq!(ruled(&world).source, VerdictSource::Service);
}

#[test]
fn last_written_rule_of_workspace_decides() {
    let mut world = world();
    let rule = |world: &mut World, query: &str, verdict| {
        let id = world.ann.writer.next();
        world.ann.does(Subject::Rule(id), Change::Rule { query: query.into(), decision: decision(verdict) });
        id
    };
    rule(&mut world, "target:shop*", FalsePositive);
    let second = rule(&mut world, "port:443 is:undecided", NotApplicable);
    rule(&mut world, "port:80", Fixed);
    rule(&mut world, "(not readable", Fixed);
    world.ann.writer.workspace = "other".into();
    rule(&mut world, "port:443", Fixed);
    let rows = world.rows();
    assert_eq!(rows.rules, [Some(second)]);
    let issue = &rows.issues.items()[0];
    assert_eq!(reassess(issue, rows.rules[0], &world.ann.state, "2026-11-21".parse().unwrap()), *rows.assessments[0]);
}

#[test]
fn service_status_has_lowest_precedence() {
    for (status, verdict, undecided, shown) in [
        ("open", Open, true, None),
        ("", Open, true, None),
        ("fixed", Fixed, false, None),
        ("Accepted", RiskAccepted, false, None),
        ("ignored", NotApplicable, false, None),
        ("false_positive", FalsePositive, false, None),
        ("pondering", Open, true, Some("pondering")),
    ] {
        let mut world = world();
        world.findings[0].status = status.into();
        let (_, assessment) = world.last();
        assert_eq!((assessment.verdict, assessment.is_undecided()), (verdict, undecided), "{status}");
        assert_eq!(assessment.service.as_deref(), shown, "{status}");
    }
}

#[test]
fn differing_service_status_is_shown() {
    let mut world = world();
    world.findings[0].status = "false_positive".into();
    world.decide(Confirmed);
    assert_eq!(world.last().1.service.as_deref(), Some("false_positive"));
    world.decide(FalsePositive);
    assert_eq!(world.last().1.service, None);
}

#[test]
fn fixed_finding_seen_by_later_scan_is_regression() {
    let mut world = world();
    world.decide_at(2, decision(Fixed));
    assert!(!world.last().1.is_undecided());
    // Started at one o'clock, while it was decided at two.
    world.scan(3);
    assert!(!world.last().1.is_undecided());
    world.found(3, "tls10", "");
    let (_, assessment) = world.last();
    assert_eq!((assessment.reopened, assessment.verdict), (Some(ReopenCause::Regression), Fixed));
    world.decide_at(4, decision(Fixed));
    assert_eq!(world.last().1.reopened, None);
}

#[test]
fn scan_running_at_fix_time_is_no_regression() {
    let mut world = world();
    world.scan(2);
    world.decide_at(3, decision(Fixed));
    world.found(2, "tls10", "");
    assert_eq!(world.last().1.reopened, None);
    world.scan(4);
    world.found(4, "tls10", "");
    assert_eq!(world.last().1.reopened, Some(ReopenCause::Regression));
    world.scan(5);
    assert_eq!(world.last().1.reopened, None);
}

#[test]
fn other_verdicts_hold_when_seen_again() {
    for verdict in [FalsePositive, RiskAccepted, NotApplicable, Confirmed] {
        let mut world = world();
        world.decide(verdict);
        world.scan(2);
        world.found(2, "tls10", "");
        assert_eq!((world.last().1.verdict, world.last().1.reopened), (verdict, None));
    }
}

#[test]
fn decision_expires_after_last_day() {
    let mut world = world();
    let until = Some("2026-12-31".parse().unwrap());
    world.decide_at(2, Decision { until, ..decision(RiskAccepted) });
    world.today = "2026-12-31";
    assert!(!world.last().1.is_undecided());
    world.today = "2027-01-01";
    let (_, assessment) = world.last();
    assert_eq!(
        (assessment.verdict, assessment.reopened, assessment.until),
        (RiskAccepted, Some(ReopenCause::Expired), until)
    );
}

#[test]
fn concurrent_different_verdicts_are_conflict() {
    let mut world = world();
    let mut bob = super::testing::Desk::new("bob", 2);
    let identity = world.last().0.identity.clone();
    let theirs = bob.does(Subject::Finding((*identity).clone()), Change::Decide(decision(FalsePositive)));
    world.decide(Confirmed);
    world.ann.hears([&theirs]);
    assert_eq!(world.last().1.reopened, Some(ReopenCause::Conflict));
    world.decide(Confirmed);
    assert_eq!((world.last().1.reopened, world.last().1.verdict), (None, Confirmed));
}

#[test]
fn risen_risk_kev_or_epss_requests_recheck() {
    let mut world = world();
    world.findings[0].epss_score = Some(0.2);
    world.decide(FalsePositive);
    let recheck = |change: fn(&mut crate::contract::Finding)| {
        let mut later = World { ann: world.ann.clone(), findings: world.findings.clone(), ..World::new() };
        later.scan(1);
        later.scan(2);
        let finding = later.found(2, "tls10", "");
        finding.epss_score = Some(0.2);
        change(finding);
        later.last().1.recheck
    };
    assert!(!recheck(|_| ()));
    assert!(recheck(|finding| finding.risk_level = Risk::Low));
    assert!(recheck(|finding| finding.in_cisa_catalog = true));
    assert!(recheck(|finding| finding.epss_score = Some(0.3)));
    assert!(!recheck(|finding| finding.epss_score = Some(0.29)));
    assert!(!recheck(|finding| finding.epss_score = Some(0.1)));
    assert!(!recheck(|finding| finding.epss_score = None));
}

#[test]
fn notes_tags_and_severity_are_independent_of_verdict() {
    let mut world = world();
    let subject = Subject::Finding((*world.last().0.identity).clone());
    world.ann.does(subject.clone(), Change::Note("seen by hand".into()));
    world.ann.does(subject.clone(), Change::Tag { add: vec!["pci".into()], remove: vec![] });
    world.ann.does(subject, Change::Severity(Some(Risk::Low)));
    let (_, assessment) = world.last();
    assert_eq!((assessment.notes, assessment.severity, assessment.tags), (1, Some(Risk::Low), vec!["pci".into()]));
    assert_eq!(assessment.source, VerdictSource::Nobody);
}
