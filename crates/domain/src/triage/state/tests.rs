//! Tests of the fold: decisions, conflicts, undo, redo, inheritance, rules, order independence.

use std::sync::Arc;

use proptest::prelude::*;

use crate::finding::Verdict::{Confirmed, FalsePositive, Fixed, Open, RiskAccepted};
use crate::finding::{FindingKey, Verdict};
use crate::triage::event::{Baseline, Change, Decision, Event, EventId, ManualFinding, Subject};
use crate::triage::identity::manual_key;
use crate::triage::state::{Touched, TriageState};
use crate::triage::testing::{Replica, finding};
use scandeck_wire::contract::Risk;

fn rule(query: &str, verdict: Verdict) -> Change {
    Change::Rule {
        query: query.into(),
        decision: Decision {
            verdict,
            ..Decision::default()
        },
    }
}

#[test]
fn undo_restores_previous_decision() {
    let mut ann = Replica::new("ann", 1);
    ann.decides(7, Confirmed);
    let second = ann.decides(7, Fixed);
    assert_eq!(ann.verdicts(7), [Fixed]);
    ann.undoes(second.batch);
    assert_eq!(ann.verdicts(7), [Confirmed]);
    assert!(ann.state.is_undone(second.batch));
    assert_eq!(ann.state.history(FindingKey(7)).len(), 2);
    ann.redoes(second.batch);
    assert_eq!(ann.verdicts(7), [Fixed]);
    assert_eq!(ann.verdicts(8), []);
}

#[test]
fn concurrent_decisions_conflict_until_settled() {
    let (mut ann, mut bob) = (Replica::new("ann", 1), Replica::new("bob", 2));
    bob.receives([&ann.decides(7, Open)]);
    let (confirmed, refused) = (ann.decides(7, Confirmed), bob.decides(7, FalsePositive));
    ann.receives([&refused]);
    bob.receives([&confirmed]);
    assert_eq!(
        ann.state.finding_state(FindingKey(7)),
        bob.state.finding_state(FindingKey(7))
    );
    assert!(
        ann.state
            .finding_state(FindingKey(7))
            .unwrap()
            .is_conflict()
    );
    let settled = bob.decides(7, Fixed);
    assert_eq!(settled.after.len(), 2);
    assert_eq!(bob.verdicts(7), [Fixed]);
    bob.undoes(settled.batch);
    assert_eq!(bob.verdicts(7), [Confirmed, FalsePositive]);
}

#[test]
fn concurrent_equal_verdicts_show_newer_without_conflict() {
    let (mut ann, mut bob) = (Replica::new("ann", 1), Replica::new("bob", 2));
    bob.decides(1, Open);
    let (first, second) = (ann.decides(7, Fixed), bob.decides(7, Fixed));
    ann.receives([&second]);
    let finding_state = ann.state.finding_state(FindingKey(7)).unwrap();
    assert!(!finding_state.is_conflict());
    assert_eq!(finding_state.shown().unwrap().0.who, "bob");
    assert_eq!(ann.state.heads(FindingKey(7)), [first.id, second.id]);
}

#[test]
fn decision_replaces_through_undone_decisions() {
    let mut ann = Replica::new("ann", 1);
    ann.decides(7, Confirmed);
    let between = ann.decides(7, FalsePositive);
    ann.decides(7, Fixed);
    ann.undoes(between.batch);
    assert_eq!(ann.verdicts(7), [Fixed]);
}

#[test]
fn notes_accumulate_tags_toggle_and_last_severity_holds() {
    let mut ann = Replica::new("ann", 1);
    let tag = |add: &[&str], remove: &[&str]| Change::Tag {
        add: add.iter().map(|&tag| tag.into()).collect(),
        remove: remove.iter().map(|&tag| tag.into()).collect(),
    };
    ann.does(finding(7), Change::Note("seen by hand".into()));
    let second = ann.does(finding(7), Change::Note("mistaken".into()));
    ann.does(finding(7), tag(&["pci", "ask"], &[]));
    ann.does(finding(7), tag(&["later"], &["ask"]));
    ann.does(finding(7), Change::Severity(Some(Risk::Low)));
    ann.undoes(second.batch);
    let finding_state = ann.state.finding_state(FindingKey(7)).unwrap();
    assert_eq!(finding_state.notes.len(), 1);
    assert_eq!(finding_state.tags, ["later", "pci"]);
    assert_eq!(finding_state.severity, Some(Risk::Low));
    ann.does(finding(7), Change::Severity(None));
    assert_eq!(
        ann.state.finding_state(FindingKey(7)).unwrap().severity,
        None
    );
}

#[test]
fn last_assignee_and_due_date_hold_and_undo_restores_those_before() {
    let mut ann = Replica::new("ann", 1);
    let plan = |ann: &Replica| {
        let state = ann.state.finding_state(FindingKey(7)).unwrap();
        (state.assignee.clone(), state.due)
    };
    let day = "2026-12-10".parse().ok();
    ann.does(finding(7), Change::Assign(Some("bob".into())));
    ann.does(finding(7), Change::Due(day));
    let nobody = ann.does(finding(7), Change::Assign(None));
    assert_eq!(plan(&ann), (None, day));
    ann.undoes(nobody.batch);
    assert_eq!(plan(&ann), (Some("bob".into()), day));
    assert!(ann.verdicts(7).is_empty(), "a plan is no decision");
}

#[test]
fn concurrent_assignees_resolve_to_one_on_every_machine() {
    let (mut ann, mut bob) = (Replica::new("ann", 1), Replica::new("bob", 2));
    let to_ann = ann.does(finding(7), Change::Assign(Some("ann".into())));
    let to_bob = bob.does(finding(7), Change::Assign(Some("bob".into())));
    ann.receives([&to_bob]);
    bob.receives([&to_ann]);
    let assignee = |replica: &Replica| {
        let state = replica.state.finding_state(FindingKey(7)).unwrap();
        assert!(!state.is_conflict());
        state.assignee.clone()
    };
    assert_eq!(
        assignee(&ann),
        Some("bob".into()),
        "the greater id, as for severities"
    );
    assert_eq!(assignee(&bob), assignee(&ann));
}

#[test]
fn undo_and_redo_step_by_batch_until_new_decision() {
    let mut ann = Replica::new("ann", 1);
    let batches = [1, 2, 3].map(|key| ann.decides(key, Fixed).batch);
    let mut undone = Vec::new();
    while let Some(batch) = ann.state.last_done("ann") {
        ann.undoes(batch);
        undone.push(batch);
    }
    assert_eq!(undone, [batches[2], batches[1], batches[0]]);
    let batch = ann.state.last_undone("ann").unwrap();
    assert_eq!(batch, batches[0]);
    ann.redoes(batch);
    assert_eq!(ann.state.last_done("ann"), Some(batches[0]));
    assert_eq!(ann.state.last_undone("ann"), Some(batches[1]));
    ann.decides(4, Fixed);
    assert_eq!(ann.state.last_undone("ann"), None);
}

#[test]
fn foreign_batch_can_be_undone_once_by_id() {
    let (mut ann, mut bob) = (Replica::new("ann", 1), Replica::new("bob", 2));
    let batch = ann.decides(7, Fixed).batch;
    bob.state = ann.state.clone();
    assert_eq!(bob.state.last_done("bob"), None);
    bob.undoes(batch);
    assert_eq!(
        (bob.state.last_done("ann"), bob.state.last_undone("bob")),
        (None, Some(batch))
    );
}

#[test]
fn batch_undo_touches_every_changed_key() {
    let mut ann = Replica::new("ann", 1);
    let batch = ann.writer.next();
    for key in [3, 4] {
        let decision = Change::Decide(Decision {
            verdict: Fixed,
            ..Decision::default()
        });
        let at = scandeck_wire::contract::Stamp::parse("2026-11-21 12:00:00").unwrap();
        let event = ann
            .writer
            .write((at, 1), batch, vec![], finding(key), decision);
        assert_eq!(
            ann.state.apply(&Arc::new(event)),
            Touched::Keys(vec![FindingKey(key)])
        );
    }
    assert_eq!(ann.state.batch(batch).len(), 2);
    let mut other = ann.clone();
    let undo = other.undoes(batch);
    assert_eq!(
        ann.state.apply(&undo),
        Touched::Keys(vec![FindingKey(3), FindingKey(4)])
    );
    assert_eq!(ann.state.apply(&undo), Touched::Nothing);
    assert_eq!((ann.verdicts(3), ann.verdicts(4)), (vec![], vec![]));
}

#[test]
fn inherited_decisions_are_shared_until_undone() {
    let mut ann = Replica::new("ann", 1);
    ann.decides(7, RiskAccepted);
    let taken = ann.does(finding(8), Change::Inherit(FindingKey(7)));
    assert_eq!(ann.verdicts(8), [RiskAccepted]);
    ann.decides(8, Fixed);
    assert_eq!(
        (ann.verdicts(7), ann.verdicts(8)),
        (vec![Fixed], vec![Fixed])
    );
    assert_eq!(ann.state.identities().count(), 1);
    ann.undoes(taken.batch);
    assert_eq!(
        (ann.verdicts(7), ann.verdicts(8)),
        (vec![RiskAccepted], vec![Fixed])
    );
}

#[test]
fn rules_can_be_changed_disabled_and_undone() {
    let mut ann = Replica::new("ann", 1);
    let id = ann.writer.next();
    ann.does(Subject::Rule(id), rule("port:80", FalsePositive));
    let changed = ann.does(Subject::Rule(id), rule("port:81", FalsePositive));
    ann.does(Subject::Rule(ann.writer.next()), rule("port:82", Fixed));
    ann.does(Subject::Rule(id), Change::Off(true));
    let queries = |replica: &Replica| {
        replica
            .state
            .rules()
            .iter()
            .map(|rule| rule.query.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(queries(&ann), ["port:81", "port:82"]);
    assert!(ann.state.rules()[0].off);
    ann.undoes(changed.batch);
    assert_eq!(queries(&ann), ["port:80", "port:82"]);
    ann.undoes(id);
    assert_eq!(queries(&ann), ["port:82"]);
}

#[test]
fn manual_finding_can_be_written_decided_and_undone() {
    let mut ann = Replica::new("ann", 1);
    let id = ann.writer.next();
    let own = ManualFinding {
        name: "Login without password".into(),
        ..ManualFinding::default()
    };
    let made = ann.does(Subject::Manual(id), Change::Manual(Box::new(own)));
    ann.decides(manual_key(id).0, Confirmed);
    assert_eq!(
        ann.state.manual_findings().next().unwrap().finding.name,
        "Login without password"
    );
    assert_eq!(
        ann.state.manual_findings().next().unwrap().key,
        manual_key(id)
    );
    assert_eq!(ann.verdicts(manual_key(id).0), [Confirmed]);
    ann.undoes(made.batch);
    assert_eq!(ann.state.manual_findings().count(), 0);
}

#[test]
fn baseline_applies_to_its_workspace() {
    let mut ann = Replica::new("ann", 1);
    let day = Baseline::Day("2026-10-01".parse().unwrap());
    ann.does(Subject::Workspace, Change::Baseline(Some(day.clone())));
    assert_eq!(
        (ann.state.baseline("acme"), ann.state.baseline("other")),
        (Some(&day), None)
    );
    ann.does(Subject::Workspace, Change::Baseline(None));
    assert_eq!(ann.state.baseline("acme"), None);
}

/// A step of one of three authors, including received events.
#[derive(Clone, Debug)]
enum Step {
    Decide(usize, u128, Verdict),
    Note(usize, u128),
    Assign(usize, u128),
    Tag(usize, u128, bool),
    Inherit(usize, u128, u128),
    Rule(usize, bool),
    Own(usize),
    Baseline(usize, bool),
    Undo(usize),
    UndoAny(usize, usize),
    Redo(usize),
    Receive(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (who, key) = (0..3usize, 1..5u128);
    prop_oneof![
        4 => (who.clone(), key.clone(), proptest::sample::select(&Verdict::ALL[..])).prop_map(|(w, k, v)| Step::Decide(w, k, v)),
        1 => (who.clone(), key.clone()).prop_map(|(w, k)| Step::Note(w, k)),
        1 => (who.clone(), key.clone()).prop_map(|(w, k)| Step::Assign(w, k)),
        1 => (who.clone(), key.clone(), any::<bool>()).prop_map(|(w, k, add)| Step::Tag(w, k, add)),
        1 => (who.clone(), key.clone(), key).prop_map(|(w, k, from)| Step::Inherit(w, k, from)),
        1 => (who.clone(), any::<bool>()).prop_map(|(w, off)| Step::Rule(w, off)),
        1 => who.clone().prop_map(Step::Own),
        1 => (who.clone(), any::<bool>()).prop_map(|(w, pin)| Step::Baseline(w, pin)),
        2 => who.clone().prop_map(Step::Undo),
        1 => (who.clone(), 0..40usize).prop_map(|(w, which)| Step::UndoAny(w, which)),
        2 => who.clone().prop_map(Step::Redo),
        3 => who.prop_map(Step::Receive),
    ]
}

/// Plays the steps; all events in the order in which they were made.
fn played(steps: Vec<Step>) -> Vec<Arc<Event>> {
    // Two of the three are one person at two dashboards.
    let mut replicas = [
        Replica::new("ann", 1),
        Replica::new("bob", 2),
        Replica::new("ann", 3),
    ];
    let mut made: Vec<Arc<Event>> = Vec::new();
    for step in steps {
        let event = match step {
            Step::Decide(who, key, verdict) => replicas[who].decides(key, verdict),
            Step::Note(who, key) => replicas[who].does(finding(key), Change::Note("note".into())),
            Step::Assign(who, key) => {
                let member = replicas[who].writer.who.clone();
                replicas[who].does(finding(key), Change::Assign(Some(member)))
            }
            Step::Tag(who, key, add) => {
                let (add, remove) = if add {
                    (vec!["t".into()], vec![])
                } else {
                    (vec![], vec!["t".into()])
                };
                replicas[who].does(finding(key), Change::Tag { add, remove })
            }
            Step::Inherit(who, key, from) => {
                replicas[who].does(finding(key), Change::Inherit(FindingKey(from)))
            }
            Step::Rule(who, off) => {
                let known = replicas[who].state.rules().first().map(|rule| rule.id);
                let id = known.unwrap_or_else(|| replicas[who].writer.next());
                let change = if off {
                    Change::Off(true)
                } else {
                    rule("port:1", Fixed)
                };
                replicas[who].does(Subject::Rule(id), change)
            }
            Step::Own(who) => {
                let id = replicas[who].writer.next();
                replicas[who].does(Subject::Manual(id), Change::Manual(Box::default()))
            }
            Step::Baseline(who, pin) => {
                let baseline = pin.then(|| Baseline::Scans(vec![]));
                replicas[who].does(Subject::Workspace, Change::Baseline(baseline))
            }
            Step::Undo(who) => match replicas[who].state.last_done(&replicas[who].writer.who) {
                Some(batch) => replicas[who].undoes(batch),
                None => continue,
            },
            Step::UndoAny(who, which) => match made.get(which) {
                Some(event) => replicas[who].undoes(event.batch),
                None => continue,
            },
            Step::Redo(who) => match replicas[who].state.last_undone(&replicas[who].writer.who) {
                Some(batch) => replicas[who].redoes(batch),
                None => continue,
            },
            Step::Receive(who) => {
                replicas[who].receives(&made);
                continue;
            }
        };
        made.push(event);
    }
    made
}

proptest! {
    #[test]
    fn events_in_any_order_give_one_state(
        (made, mixed) in proptest::collection::vec(step(), 0..40).prop_map(played).prop_flat_map(|made| {
            let twice: Vec<_> = made.iter().chain(made.iter().step_by(2)).cloned().collect();
            (Just(made), Just(twice).prop_shuffle())
        })
    ) {
        let whole = TriageState::from_events(made.iter().cloned());
        let mut one_by_one = TriageState::default();
        for event in &mixed {
            one_by_one.apply(event);
        }
        prop_assert_eq!(&one_by_one, &whole);
        prop_assert_eq!(&TriageState::from_events(mixed), &whole);
        for who in ["ann", "bob"] {
            prop_assert_eq!(one_by_one.last_done(who), whole.last_done(who));
            prop_assert_eq!(one_by_one.last_undone(who), whole.last_undone(who));
        }
    }

    #[test]
    fn undo_and_redo_behave_as_stack(moves in proptest::collection::vec(0..3u8, 0..60)) {
        let mut ann = Replica::new("ann", 1);
        let (mut done, mut undone): (Vec<EventId>, Vec<EventId>) = (vec![], vec![]);
        for (at, what) in moves.into_iter().enumerate() {
            match what {
                0 => {
                    done.push(ann.decides(at as u128, Fixed).batch);
                    undone.clear();
                }
                1 => if let Some(batch) = ann.state.last_done("ann") {
                    ann.undoes(batch);
                    undone.extend(done.pop());
                },
                _ => if let Some(batch) = ann.state.last_undone("ann") {
                    ann.redoes(batch);
                    done.extend(undone.pop());
                },
            }
            prop_assert_eq!(ann.state.last_done("ann"), done.last().copied());
            prop_assert_eq!(ann.state.last_undone("ann"), undone.last().copied());
        }
    }

    #[test]
    fn apply_reports_every_changed_key(made in proptest::collection::vec(step(), 0..40).prop_map(played)) {
        let mut state = TriageState::default();
        for event in made {
            let before = state.clone();
            let touched = state.apply(&event);
            for key in (1..5).map(FindingKey).filter(|&key| before.finding_state(key) != state.finding_state(key)) {
                let reported = match &touched {
                    Touched::All(_) => true,
                    Touched::Keys(keys) => keys.contains(&key),
                    Touched::Nothing => false,
                };
                prop_assert!(reported, "{key} changed by {event:?}");
            }
        }
    }
}
