//! Which occurrences become one row, and what of the decisions stays with it when scans tell it anew.

use proptest::prelude::*;

use super::case::{CaseId, VerdictSource};
use super::event::{Change, Decision, ManualFinding, Subject};
use super::testing::World;
use crate::contract::{Evidence, Finding, FindingId, Risk, ScanId, TargetId};
use crate::finding::Verdict::{Confirmed, FalsePositive, Open};
use crate::finding::{Presence, Verdict};

#[test]
fn what_two_scans_saw_is_one_row_that_shows_the_latest() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "tls10", "");
    world.found(2, "tls10", "").risk_level = Risk::High;
    let rows = world.rows();
    assert_eq!(rows.cases.len(), 1);
    let case = &rows.cases.items()[0];
    assert_eq!((case.risk_level, case.finding_ids().count()), (Risk::High, 2));
    assert_eq!((case.first_seen, case.last_seen), (world.scans[0].start_time, world.scans[1].start_time));
    assert_eq!(case.earlier[0].finding.id, case.finding.id);
    assert_eq!(case.id, CaseId::from(case.key()));
}

#[test]
fn siblings_with_places_of_their_own_keep_each_its_decision() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "cookie", "sid");
    world.found(1, "cookie", "lang");
    world.decide(FalsePositive);
    let (lang, sid) = (world.found(2, "cookie", "lang").clone(), world.found(2, "cookie", "sid").clone());
    assert_eq!((world.row(&lang).1.verdict, world.row(&sid).1.verdict), (FalsePositive, Open));
}

#[test]
fn a_place_that_is_told_otherwise_keeps_the_decision_where_there_is_one_of_it() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "xss", "");
    world.decide(Confirmed);
    world.found(2, "xss", "sid");
    assert_eq!(world.last().1.verdict, Confirmed);
    assert_eq!(world.rows().cases.len(), 1);
}

#[test]
fn another_cookie_is_another_thing_and_is_only_offered_the_decision() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "cookie", "lang");
    let key = world.last().0.key();
    world.decide(FalsePositive);
    world.found(2, "cookie", "session");
    let (case, assessment) = world.last();
    assert_eq!((assessment.verdict, case.offered.as_deref()), (Open, Some(&key)));
}

#[test]
fn a_moved_port_is_offered_the_decision_and_does_not_inherit_it() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "tls10", "");
    let key = world.last().0.key();
    world.decide(FalsePositive);
    world.found(2, "tls10", "").port = 8443;
    let (case, assessment) = world.last();
    assert_eq!((assessment.source, case.offered.as_deref()), (VerdictSource::Nobody, Some(&key)));
    world.ann.does(Subject::Finding((*case.identity).clone()), Change::Inherit(key));
    let (case, assessment) = world.last();
    assert_eq!((assessment.verdict, case.offered.as_deref()), (FalsePositive, None));
}

#[test]
fn nothing_is_offered_while_the_old_port_is_still_there_or_two_could_be_meant() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2);
    world.found(1, "tls10", "");
    world.decide(FalsePositive);
    world.found(2, "tls10", "");
    world.found(2, "tls10", "").port = 8443;
    assert_eq!(world.last().0.offered, None);
    world.findings.remove(1);
    assert!(world.last().0.offered.is_some());
    world.found(2, "tls10", "").port = 9443;
    assert_eq!(world.last().0.offered, None);
}

#[test]
fn what_cannot_be_told_apart_is_a_row_each_and_inherits_nothing() {
    let mut world = World::new();
    world.scan(1);
    world.found(1, "leak", "");
    world.found(1, "leak", "");
    world.decide(FalsePositive);
    let decided = world.findings[1].clone();
    assert_eq!(world.row(&decided).1.verdict, FalsePositive);
    assert_eq!(world.row(&world.findings[0]).1.verdict, Open);
    world.scan(2);
    for _ in 0..3 {
        world.found(2, "leak", "");
    }
    let rows = world.rows();
    let shown: Vec<_> = rows.cases.items().iter().map(|case| (case.finding.id.0, case.presence)).collect();
    // Nothing was said about the first of the older scan; of the second somebody said something.
    let expected = [
        (decided.id.0, Presence::NotRetested),
        (202, Presence::Unchanged),
        (203, Presence::Unchanged),
        (204, Presence::New),
    ];
    assert_eq!(shown, expected);
    let verdicts: Vec<Verdict> = rows.assessments.iter().map(|assessment| assessment.verdict).collect();
    assert_eq!(verdicts, [FalsePositive, Open, Open, Open]);
}

#[test]
fn one_that_is_left_of_two_that_could_not_be_told_apart_inherits_nothing() {
    let mut world = World::new();
    world.scan(1);
    world.found(1, "leak", "");
    world.found(1, "leak", "");
    world.decide(FalsePositive);
    world.scan(2);
    world.found(2, "leak", "");
    assert_eq!(world.last().1.verdict, Open);
}

#[test]
fn an_id_that_a_decision_was_made_in_view_of_counts_only_for_the_same_kind_and_asset() {
    let mut world = World::new();
    world.scan(1);
    world.found(1, "leak", "");
    world.found(1, "leak", "");
    world.decide(FalsePositive);
    // Another server, which numbers its findings alike.
    let id = world.findings[1].id;
    let mut other = World { ann: world.ann.clone(), ..World::new() };
    other.scan(1);
    other.found(1, "tls10", "").id = id;
    assert_eq!(other.last().1.verdict, Open);
}

#[test]
fn a_target_that_is_told_later_keeps_what_was_decided_before() {
    let mut world = World::new();
    world.scan(1);
    world.found(1, "tls10", "").target_id = None;
    world.decide(Confirmed);
    world.findings[0].target_id = Some(TargetId(1));
    assert_eq!(world.last().1.verdict, Confirmed);
}

#[test]
fn the_same_kind_on_two_targets_is_two_rows() {
    let mut world = World::new();
    world.scan(1);
    world.scan(2).target_id = TargetId(2);
    world.found(1, "tls10", "");
    world.decide(Confirmed);
    world.found(2, "tls10", "");
    assert_eq!((world.rows().cases.len(), world.last().1.verdict), (2, Open));
    assert_eq!(world.last().0.offered, None);
}

#[test]
fn findings_of_unknown_scans_are_one_row_by_what_they_are() {
    let mut world = World::new();
    for id in 1..=2 {
        let finding = world.found(1, "tls10", "");
        (finding.id, finding.task_id, finding.target_id) = (FindingId(id), None, Some(TargetId(1)));
    }
    let rows = world.rows();
    assert_eq!((rows.cases.len(), rows.cases.items()[0].presence), (1, Presence::Unchanged));
    assert_eq!(rows.cases.items()[0].finding.id, FindingId(2));
}

#[test]
fn a_finding_of_ones_own_is_a_row_of_its_target_and_goes_when_it_is_switched_off() {
    let mut world = World::new();
    let id = world.ann.writer.next();
    let own = ManualFinding {
        name: "Login without password".into(),
        target: "SHOP.test".into(),
        risk: Risk::Critical,
        evidence: "GET /admin\n".into(),
        ..ManualFinding::default()
    };
    world.ann.does(Subject::Manual(id), Change::Manual(Box::new(own)));
    let rows = world.rows();
    let case = &rows.cases.items()[0];
    assert_eq!((case.own.as_deref(), case.target_id, case.risk_level), (Some(&id), Some(TargetId(1)), Risk::Critical));
    assert!(case.finding.id.0 < 0 && rows.assessments[0].is_undecided());
    world.ann.does(
        Subject::Finding((*case.identity).clone()),
        Change::Decide(Decision { verdict: Confirmed, ..Decision::default() }),
    );
    assert_eq!(world.rows().assessments[0].verdict, Confirmed);
    world.ann.does(Subject::Manual(id), Change::Off(true));
    assert!(world.rows().cases.is_empty());
}

#[test]
fn own_findings_of_another_workspace_stay_there() {
    let mut world = World::new();
    let id = world.ann.writer.next();
    world.ann.writer.workspace = "other".into();
    world.ann.does(Subject::Manual(id), Change::Manual(Box::default()));
    assert!(world.rows().cases.is_empty());
}

proptest! {
    #[test]
    fn a_rescan_with_new_ids_bytes_and_risk_keeps_every_decision(
        kinds in proptest::collection::btree_set(("[a-c]", "[xyz]"), 1..8),
        decided in proptest::collection::vec(proptest::sample::select(&Verdict::ALL[..]), 8),
        (base, risk, noise) in (1000..2000i64, 0..5i64, "[0-9]{1,6}"),
    ) {
        let mut world = World::new();
        world.scan(1);
        let mut expected = Vec::new();
        for ((kind, cookie), verdict) in kinds.iter().zip(decided) {
            world.found(1, kind, cookie);
            world.decide(verdict);
            expected.push(verdict);
        }
        let before: Vec<_> = world.rows().cases.items().iter().map(|case| case.key()).collect();
        world.scan(2);
        let again: Vec<Finding> = world.findings.iter().zip(&kinds).enumerate().map(|(at, (old, (_, cookie)))| Finding {
            id: FindingId(base - at as i64),
            task_id: Some(ScanId(2)),
            risk_level: Risk::from(risk),
            name: format!("Told otherwise {noise}").into(),
            vuln_evidence: Evidence::table(
                &["Seen at", "Cookie", "Date"],
                [vec![format!("https://shop.test/{noise}"), cookie.clone(), noise.clone()]],
            ),
            ..old.clone()
        }).collect();
        world.findings.extend(again);
        let rows = world.rows();
        prop_assert_eq!(rows.cases.items().iter().map(|case| case.key()).collect::<Vec<_>>(), before);
        prop_assert_eq!(rows.assessments.iter().map(|assessment| assessment.verdict).collect::<Vec<_>>(), expected);
        prop_assert!(rows.cases.items().iter().all(|case| case.task_id == Some(ScanId(2))));
    }

    #[test]
    fn rows_are_the_same_in_whatever_order_findings_come(
        (found, mixed) in proptest::collection::vec((1..4i64, "[ab]", "[xy]?"), 0..12)
            .prop_flat_map(|found| (Just((0..found.len()).collect::<Vec<_>>()).prop_shuffle(), Just(found)))
            .prop_map(|(order, found)| (found, order)),
    ) {
        let mut world = World::new();
        (1..4).for_each(|number| _ = world.scan(number));
        for (scan, kind, cookie) in &found {
            world.found(*scan, kind, cookie);
        }
        let told = |world: &World| {
            let mut told: Vec<_> = world.rows().cases.items().iter()
                .map(|case| (case.key(), case.finding.id, case.presence, case.offered.clone())).collect();
            told.sort();
            told
        };
        let before = told(&world);
        world.findings = mixed.iter().map(|&at| world.findings[at].clone()).collect();
        prop_assert_eq!(told(&world), before);
        let shown: usize = world.rows().cases.items().iter().map(|case| case.finding_ids().count()).sum();
        prop_assert!(shown <= found.len());
    }
}
