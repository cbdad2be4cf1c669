//! Tests of correlation: which occurrences become one issue, and which keep decisions.

use proptest::prelude::*;

use super::event::{Change, Decision, ManualFinding, Subject};
use super::issue::{IssueId, VerdictSource};
use super::testing::TriageFixture;
use crate::finding::Verdict::{Confirmed, FalsePositive, Open};
use crate::finding::{Presence, Verdict};
use scandeck_wire::contract::{Evidence, Finding, FindingId, Risk, ScanId, TargetId};

#[test]
fn finding_of_two_scans_is_one_row_with_latest_occurrence() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "tls10", "");
    fixture.found(2, "tls10", "").risk_level = Risk::High;
    let rows = fixture.rows();
    assert_eq!(rows.issues.len(), 1);
    let issue = &rows.issues.items()[0];
    assert_eq!(
        (issue.risk_level, issue.finding_ids().count()),
        (Risk::High, 2)
    );
    assert_eq!(
        (issue.first_seen.get(), issue.last_seen.get()),
        (fixture.scans[0].start_time, fixture.scans[1].start_time)
    );
    assert_eq!(issue.earlier[0].finding.id, issue.finding.id);
    assert_eq!(issue.id, IssueId::from(issue.key()));
}

#[test]
fn siblings_with_distinct_places_keep_their_decisions() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "cookie", "sid");
    fixture.found(1, "cookie", "lang");
    fixture.decide(FalsePositive);
    let (lang, sid) = (
        fixture.found(2, "cookie", "lang").clone(),
        fixture.found(2, "cookie", "sid").clone(),
    );
    assert_eq!(
        (fixture.row(&lang).1.verdict, fixture.row(&sid).1.verdict),
        (FalsePositive, Open)
    );
}

#[test]
fn renamed_place_of_single_finding_keeps_decision() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "xss", "");
    fixture.decide(Confirmed);
    fixture.found(2, "xss", "sid");
    assert_eq!(fixture.last().1.verdict, Confirmed);
    assert_eq!(fixture.rows().issues.len(), 1);
}

#[test]
fn other_cookie_is_other_finding_with_offered_decision() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "cookie", "lang");
    let key = fixture.last().0.key();
    fixture.decide(FalsePositive);
    fixture.found(2, "cookie", "session");
    let (issue, assessment) = fixture.last();
    assert_eq!(
        (assessment.verdict, issue.earlier_decision()),
        (Open, Some(key))
    );
}

#[test]
fn moved_port_offers_decision_without_inheriting() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "tls10", "");
    let key = fixture.last().0.key();
    fixture.decide(FalsePositive);
    fixture.found(2, "tls10", "").port = 8443;
    let (issue, assessment) = fixture.last();
    assert_eq!(
        (assessment.source, issue.earlier_decision()),
        (VerdictSource::Nobody, Some(key))
    );
    fixture.ann.does(
        Subject::Finding(issue.identity.clone()),
        Change::Inherit(key),
    );
    let (issue, assessment) = fixture.last();
    assert_eq!(
        (assessment.verdict, issue.earlier_decision()),
        (FalsePositive, None)
    );
}

#[test]
fn ambiguous_or_present_port_offers_no_decision() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.found(1, "tls10", "");
    fixture.decide(FalsePositive);
    fixture.found(2, "tls10", "");
    fixture.found(2, "tls10", "").port = 8443;
    assert_eq!(fixture.last().0.earlier_decision(), None);
    fixture.findings.remove(1);
    assert!(fixture.last().0.earlier_decision().is_some());
    fixture.found(2, "tls10", "").port = 9443;
    assert_eq!(fixture.last().0.earlier_decision(), None);
}

#[test]
fn port_that_moved_beside_a_present_one_offers_its_decision() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2);
    fixture.scan(3);
    fixture.found(1, "tls10", "");
    let key = fixture.last().0.key();
    fixture.decide(FalsePositive);
    fixture.found(1, "tls10", "").port = 8443;
    fixture.decide(Confirmed);
    fixture.found(2, "tls10", "").port = 8443;
    fixture.found(2, "tls10", "").port = 9443;
    assert_eq!(fixture.last().0.earlier_decision(), Some(key));
    fixture.found(3, "tls10", "").port = 10443;
    let rows = fixture.rows();
    let mut offers = rows
        .issues
        .items()
        .iter()
        .map(|issue| issue.earlier_decision());
    assert!(
        offers.all(|offer| offer.is_none()),
        "two could be the moved one"
    );
}

#[test]
fn identical_siblings_are_rows_without_inheritance() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "leak", "");
    fixture.found(1, "leak", "");
    fixture.decide(FalsePositive);
    let decided = fixture.findings[1].clone();
    assert_eq!(fixture.row(&decided).1.verdict, FalsePositive);
    assert_eq!(fixture.row(&fixture.findings[0]).1.verdict, Open);
    fixture.scan(2);
    for _ in 0..3 {
        fixture.found(2, "leak", "");
    }
    let rows = fixture.rows();
    let shown: Vec<_> = rows
        .issues
        .items()
        .iter()
        .map(|issue| (issue.finding.id.0, issue.presence))
        .collect();
    // The first finding of the older scan has no decision, the second one has.
    let expected = [
        (decided.id.0, Presence::NotRetested),
        (202, Presence::Unchanged),
        (203, Presence::Unchanged),
        (204, Presence::New),
    ];
    assert_eq!(shown, expected);
    let verdicts: Vec<Verdict> = rows
        .assessments
        .iter()
        .map(|assessment| assessment.verdict)
        .collect();
    assert_eq!(verdicts, [FalsePositive, Open, Open, Open]);
}

#[test]
fn remaining_identical_sibling_inherits_nothing() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "leak", "");
    fixture.found(1, "leak", "");
    fixture.decide(FalsePositive);
    fixture.scan(2);
    fixture.found(2, "leak", "");
    assert_eq!(fixture.last().1.verdict, Open);
}

#[test]
fn sighting_id_matches_only_same_class_and_asset() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "leak", "");
    fixture.found(1, "leak", "");
    fixture.decide(FalsePositive);
    // Another server, which numbers its findings alike.
    let id = fixture.findings[1].id;
    let mut other = TriageFixture {
        ann: fixture.ann.clone(),
        ..TriageFixture::new()
    };
    other.scan(1);
    other.found(1, "tls10", "").id = id;
    assert_eq!(other.last().1.verdict, Open);
}

#[test]
fn target_learned_later_keeps_decision() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.found(1, "tls10", "").target_id = None;
    fixture.decide(Confirmed);
    fixture.findings[0].target_id = Some(TargetId(1));
    assert_eq!(fixture.last().1.verdict, Confirmed);
}

#[test]
fn same_class_on_two_targets_is_two_rows() {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    fixture.scan(2).target_id = TargetId(2);
    fixture.found(1, "tls10", "");
    fixture.decide(Confirmed);
    fixture.found(2, "tls10", "");
    assert_eq!(
        (fixture.rows().issues.len(), fixture.last().1.verdict),
        (2, Open)
    );
    assert_eq!(fixture.last().0.earlier_decision(), None);
}

#[test]
fn findings_of_unknown_scans_match_by_identity() {
    let mut fixture = TriageFixture::new();
    for id in 1..=2 {
        let finding = fixture.found(1, "tls10", "");
        (finding.id, finding.task_id, finding.target_id) = (FindingId(id), None, Some(TargetId(1)));
    }
    let rows = fixture.rows();
    assert_eq!(
        (rows.issues.len(), rows.issues.items()[0].presence),
        (1, Presence::Unchanged)
    );
    assert_eq!(rows.issues.items()[0].finding.id, FindingId(2));
}

#[test]
fn manual_finding_is_row_of_target_until_switched_off() {
    let mut fixture = TriageFixture::new();
    let id = fixture.ann.writer.next();
    let manual = ManualFinding {
        name: "Login without password".into(),
        target: "SHOP.test".into(),
        risk: Risk::Critical,
        evidence: "GET /admin\n".into(),
        ..ManualFinding::default()
    };
    fixture
        .ann
        .does(Subject::Manual(id), Change::Manual(Box::new(manual)));
    let rows = fixture.rows();
    let issue = &rows.issues.items()[0];
    assert_eq!(
        (issue.manual(), issue.target_id(), issue.risk_level),
        (Some(id), Some(TargetId(1)), Risk::Critical)
    );
    assert_eq!(
        issue.presence_in(Presence::as_str),
        "manual",
        "scans do not retest it"
    );
    assert!(issue.finding.id.0 < 0 && rows.assessments[0].is_undecided());
    fixture.ann.does(
        Subject::Finding(issue.identity.clone()),
        Change::Decide(Decision {
            verdict: Confirmed,
            ..Decision::default()
        }),
    );
    assert_eq!(fixture.rows().assessments[0].verdict, Confirmed);
    fixture.ann.does(Subject::Manual(id), Change::Off(true));
    assert!(fixture.rows().issues.is_empty());
}

#[test]
fn manual_findings_are_limited_to_their_workspace() {
    let mut fixture = TriageFixture::new();
    let id = fixture.ann.writer.next();
    fixture.ann.writer.workspace = "other".into();
    fixture
        .ann
        .does(Subject::Manual(id), Change::Manual(Box::default()));
    assert!(fixture.rows().issues.is_empty());
}

proptest! {
    #[test]
    fn rescan_with_new_ids_keeps_every_decision(
        kinds in proptest::collection::btree_set(("[a-c]", "[xyz]"), 1..8),
        decided in proptest::collection::vec(proptest::sample::select(&Verdict::ALL[..]), 8),
        (base, risk, noise) in (1000..2000i64, 0..5i64, "[0-9]{1,6}"),
    ) {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        let mut expected = Vec::new();
        for ((kind, cookie), verdict) in kinds.iter().zip(decided) {
            fixture.found(1, kind, cookie);
            fixture.decide(verdict);
            expected.push(verdict);
        }
        let before: Vec<_> = fixture.rows().issues.items().iter().map(|issue| issue.key()).collect();
        fixture.scan(2);
        let again: Vec<Finding> = fixture.findings.iter().zip(&kinds).enumerate().map(|(at, (old, (_, cookie)))| Finding {
            id: FindingId(base - at as i64),
            task_id: Some(ScanId(2)),
            risk_level: Risk::from(risk),
            name: format!("Renamed {noise}").into(),
            vuln_evidence: Evidence::table(
                &["Seen at", "Cookie", "Date"],
                [vec![format!("https://shop.test/{noise}"), cookie.clone(), noise.clone()]],
            ),
            ..old.clone()
        }).collect();
        fixture.findings.extend(again);
        let rows = fixture.rows();
        prop_assert_eq!(rows.issues.items().iter().map(|issue| issue.key()).collect::<Vec<_>>(), before);
        prop_assert_eq!(rows.assessments.iter().map(|assessment| assessment.verdict).collect::<Vec<_>>(), expected);
        prop_assert!(rows.issues.items().iter().all(|issue| issue.task_id() == Some(ScanId(2))));
    }

    #[test]
    fn correlation_ignores_order_of_findings(
        (found, mixed) in proptest::collection::vec((1..4i64, "[ab]", "[xy]?"), 0..12)
            .prop_flat_map(|found| (Just((0..found.len()).collect::<Vec<_>>()).prop_shuffle(), Just(found)))
            .prop_map(|(order, found)| (found, order)),
    ) {
        let mut fixture = TriageFixture::new();
        (1..4).for_each(|number| _ = fixture.scan(number));
        for (scan, kind, cookie) in &found {
            fixture.found(*scan, kind, cookie);
        }
        let rows = |fixture: &TriageFixture| {
            let mut rows: Vec<_> = fixture.rows().issues.items().iter()
                .map(|issue| (issue.key(), issue.finding.id, issue.presence, issue.earlier_decision())).collect();
            rows.sort();
            rows
        };
        let before = rows(&fixture);
        fixture.findings = mixed.iter().map(|&at| fixture.findings[at].clone()).collect();
        prop_assert_eq!(rows(&fixture), before);
        let shown: usize = fixture.rows().issues.items().iter().map(|issue| issue.finding_ids().count()).sum();
        prop_assert!(shown <= found.len());
    }
}
