//! Tests of assessments: precedence, expiry, regressions and conflicts.

use super::correlate::reassess;
use super::event::{Change, Decision, Subject};
use super::issue::{ReopenCause, VerdictSource};
use super::testing::TriageFixture;
use crate::finding::Verdict;
use crate::finding::Verdict::{Confirmed, FalsePositive, Fixed, NotApplicable, Open, RiskAccepted};
use scandeck_wire::contract::Risk;

fn fixture() -> TriageFixture {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "tls10", "");
    fixture
}

fn decision(verdict: Verdict) -> Decision {
    Decision {
        verdict,
        ..Decision::default()
    }
}

#[test]
fn person_overrides_rule_and_rule_overrides_service() {
    let mut fixture = fixture();
    fixture.findings[0].status = "accepted".into();
    assert_eq!(
        (fixture.last().1.verdict, fixture.last().1.source),
        (RiskAccepted, VerdictSource::Service)
    );
    let id = fixture.ann.writer.next();
    let made = Change::Rule {
        query: "port:443".into(),
        decision: decision(NotApplicable),
    };
    fixture.ann.does(Subject::Rule(id), made);
    let ruled = |fixture: &TriageFixture| fixture.rows().assessments[0].clone();
    assert_eq!(
        (ruled(&fixture).verdict, ruled(&fixture).source),
        (NotApplicable, VerdictSource::Rule(id))
    );
    assert_eq!(ruled(&fixture).service.as_deref(), Some("accepted"));
    let decided = fixture.decide(Confirmed);
    assert_eq!(
        (ruled(&fixture).verdict, ruled(&fixture).source),
        (Confirmed, VerdictSource::Person)
    );
    fixture.ann.undoes(decided.batch);
    assert_eq!(ruled(&fixture).source, VerdictSource::Rule(id));
    fixture.ann.does(Subject::Rule(id), Change::Off(true));
    assert_eq!(ruled(&fixture).source, VerdictSource::Service);
}

#[test]
fn last_written_rule_of_workspace_decides() {
    let mut fixture = fixture();
    let rule = |fixture: &mut TriageFixture, query: &str, verdict| {
        let id = fixture.ann.writer.next();
        fixture.ann.does(
            Subject::Rule(id),
            Change::Rule {
                query: query.into(),
                decision: decision(verdict),
            },
        );
        id
    };
    rule(&mut fixture, "target:shop*", FalsePositive);
    let second = rule(&mut fixture, "port:443 is:undecided", NotApplicable);
    rule(&mut fixture, "port:80", Fixed);
    rule(&mut fixture, "(not readable", Fixed);
    fixture.ann.writer.workspace = "other".into();
    rule(&mut fixture, "port:443", Fixed);
    let rows = fixture.rows();
    assert_eq!(rows.rules, [Some(second)]);
    let issue = &rows.issues.items()[0];
    assert_eq!(
        reassess(
            issue,
            rows.rules[0],
            &fixture.ann.state,
            "2026-11-21".parse().unwrap()
        ),
        *rows.assessments[0]
    );
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
        let mut fixture = fixture();
        fixture.findings[0].status = status.into();
        let (_, assessment) = fixture.last();
        assert_eq!(
            (assessment.verdict, assessment.is_undecided()),
            (verdict, undecided),
            "{status}"
        );
        assert_eq!(assessment.service.as_deref(), shown, "{status}");
    }
}

#[test]
fn differing_service_status_is_shown() {
    let mut fixture = fixture();
    fixture.findings[0].status = "false_positive".into();
    fixture.decide(Confirmed);
    assert_eq!(fixture.last().1.service.as_deref(), Some("false_positive"));
    fixture.decide(FalsePositive);
    assert_eq!(fixture.last().1.service, None);
}

#[test]
fn fixed_finding_seen_by_later_scan_is_regression() {
    let mut fixture = fixture();
    fixture.decide_at(2, decision(Fixed));
    assert!(!fixture.last().1.is_undecided());
    // Started at one o'clock, while it was decided at two.
    fixture.scan(3);
    assert!(!fixture.last().1.is_undecided());
    fixture.found(3, "tls10", "");
    let (_, assessment) = fixture.last();
    assert_eq!(
        (assessment.reopened, assessment.verdict),
        (Some(ReopenCause::Regression), Fixed)
    );
    fixture.decide_at(4, decision(Fixed));
    assert_eq!(fixture.last().1.reopened, None);
}

#[test]
fn scan_running_at_fix_time_is_no_regression() {
    let mut fixture = fixture();
    fixture.scan(2);
    fixture.decide_at(3, decision(Fixed));
    fixture.found(2, "tls10", "");
    assert_eq!(fixture.last().1.reopened, None);
    fixture.scan(4);
    fixture.found(4, "tls10", "");
    assert_eq!(fixture.last().1.reopened, Some(ReopenCause::Regression));
    fixture.scan(5);
    assert_eq!(fixture.last().1.reopened, None);
}

#[test]
fn other_verdicts_hold_when_seen_again() {
    for verdict in [FalsePositive, RiskAccepted, NotApplicable, Confirmed] {
        let mut fixture = fixture();
        fixture.decide(verdict);
        fixture.scan(2);
        fixture.found(2, "tls10", "");
        assert_eq!(
            (fixture.last().1.verdict, fixture.last().1.reopened),
            (verdict, None)
        );
    }
}

#[test]
fn decision_expires_after_last_day() {
    let mut fixture = fixture();
    let until = Some("2026-12-31".parse().unwrap());
    fixture.decide_at(
        2,
        Decision {
            until,
            ..decision(RiskAccepted)
        },
    );
    fixture.today = "2026-12-31";
    assert!(!fixture.last().1.is_undecided());
    fixture.today = "2027-01-01";
    let (_, assessment) = fixture.last();
    assert_eq!(
        (assessment.verdict, assessment.reopened, assessment.until),
        (RiskAccepted, Some(ReopenCause::Expired), until)
    );
}

#[test]
fn concurrent_different_verdicts_are_conflict() {
    let mut fixture = fixture();
    let mut bob = super::testing::Replica::new("bob", 2);
    let identity = fixture.last().0.identity.clone();
    let theirs = bob.does(
        Subject::Finding(identity.clone()),
        Change::Decide(decision(FalsePositive)),
    );
    fixture.decide(Confirmed);
    fixture.ann.receives([&theirs]);
    assert_eq!(fixture.last().1.reopened, Some(ReopenCause::Conflict));
    fixture.decide(Confirmed);
    assert_eq!(
        (fixture.last().1.reopened, fixture.last().1.verdict),
        (None, Confirmed)
    );
}

#[test]
fn risen_risk_kev_or_epss_requests_recheck() {
    let mut fixture = fixture();
    fixture.findings[0].epss_score = Some(0.2);
    fixture.decide(FalsePositive);
    let recheck = |change: fn(&mut scandeck_wire::contract::Finding)| {
        let mut later = TriageFixture {
            ann: fixture.ann.clone(),
            findings: fixture.findings.clone(),
            ..TriageFixture::new()
        };
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
    let mut fixture = fixture();
    let subject = Subject::Finding(fixture.last().0.identity.clone());
    fixture
        .ann
        .does(subject.clone(), Change::Note("seen by hand".into()));
    fixture.ann.does(
        subject.clone(),
        Change::Tag {
            add: vec!["pci".into()],
            remove: vec![],
        },
    );
    fixture.ann.does(subject, Change::Severity(Some(Risk::Low)));
    let (_, assessment) = fixture.last();
    assert_eq!(
        (assessment.notes, assessment.severity, assessment.tags),
        (1, Some(Risk::Low), vec!["pci".into()])
    );
    assert_eq!(assessment.source, VerdictSource::Nobody);
}

#[test]
fn finding_is_overdue_after_its_day_until_it_needs_no_more_work() {
    let mut fixture = fixture();
    let subject = Subject::Finding(fixture.last().0.identity.clone());
    let day = "2026-11-20".parse().ok();
    fixture.ann.does(subject.clone(), Change::Due(day));
    fixture
        .ann
        .does(subject, Change::Assign(Some("bob".into())));
    let (_, assessment) = fixture.last();
    assert_eq!(
        (assessment.assignee, assessment.due, assessment.is_overdue),
        (Some("bob".into()), day, true)
    );
    fixture.today = "2026-11-20";
    assert!(!fixture.last().1.is_overdue, "the day itself counts");
    fixture.today = "2026-11-21";
    fixture.decide(Confirmed);
    assert!(fixture.last().1.is_overdue, "it waits for a fix");
    fixture.decide(FalsePositive);
    assert!(!fixture.last().1.is_overdue);
}
