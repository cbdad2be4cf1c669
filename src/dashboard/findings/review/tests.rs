//! A review: cards are decided one after another; it is paused, resumed, summarised and undone.

use crate::contract::Shared;
use crate::dashboard::base::Tab;
use crate::dashboard::core::Msg;
use crate::dashboard::model::{Review, ReviewOutcome};
use crate::dashboard::testing::*;
use crate::triage::{Change, Event, IssueId, Subject, Verdict};
use proptest::prelude::*;

/// 25 dumps on 5 targets, two cookies on one, one banner.
fn sample_findings() -> Vec<Finding> {
    let mut all: Vec<Finding> = (100..125).map(dump).collect();
    all.extend([
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
        of_class(14, 1, "cookie", "Weak cookie: lang", Risk::Low),
        of_class(15, 2, "banner", "Banner", Risk::Info),
    ]);
    all
}

fn dump(id: i64) -> Finding {
    Finding { port: id, ..of_class(id, 1 + id % 5, "dump", &format!("Database dump at /{id}.sql"), Risk::High) }
}

fn of_class(id: i64, target: i64, class: &str, name: &str, risk: Risk) -> Finding {
    Finding { vuln_id: class.into(), ..finding(id, target, name, risk) }
}

fn desk() -> TestDashboard {
    let mut desk = TestDashboard::new();
    desk.feed(Snapshot::Findings(table(sample_findings())));
    desk.keys("3 b c");
    desk
}

fn reviewing() -> TestDashboard {
    let mut desk = desk();
    desk.keys("B");
    desk
}

fn review(desk: &TestDashboard) -> &Review {
    desk.model.findings.review.as_ref().unwrap()
}

fn title(desk: &TestDashboard) -> String {
    review(desk).card().map_or("summary".to_owned(), |card| card.title.to_string())
}

fn outcome(desk: &TestDashboard) -> ReviewOutcome {
    review(desk).outcome(&desk.model.findings.triage.state)
}

/// The service's ids of the findings with a verdict.
fn with(desk: &TestDashboard, verdict: Verdict) -> Vec<i64> {
    let table = desk.model.data.findings.value().unwrap();
    let decided = table
        .items()
        .iter()
        .zip(&desk.model.findings.triage.assessments)
        .filter(|(_, assessment)| assessment.verdict == verdict);
    let mut ids: Vec<i64> = decided.map(|(issue, _)| issue.finding.id.0).collect();
    ids.sort();
    ids
}

#[test]
fn shown_groups_become_cards_and_verdict_shows_next() {
    let mut desk = reviewing();
    assert_eq!((title(&desk).as_str(), review(&desk).len()), ("Database dump", 3));
    desk.keys("J f");
    assert_eq!(title(&desk), "Banner");
    assert_eq!(with(&desk, Verdict::FalsePositive), [13, 14]);
    desk.keys("c");
    assert_eq!(title(&desk), "summary");
    let outcome = outcome(&desk);
    assert_eq!(outcome.verdicts, [(Verdict::Confirmed, 1, 1), (Verdict::FalsePositive, 1, 2)]);
    assert_eq!((outcome.skipped, outcome.left), (1, 25));
}

#[test]
fn ungrouped_findings_become_cards_of_classes() {
    let mut desk = desk();
    desk.keys("b b B");
    assert_eq!(review(&desk).len(), 3);
    desk.keys("J J c");
    assert_eq!(with(&desk, Verdict::Confirmed), [15], "the banner is alone in its class");
}

#[test]
fn marked_findings_are_reviewed_alone() {
    let mut desk = desk();
    desk.keys("B esc b b / 'Weak' enter space backspace B");
    assert_eq!((title(&desk).as_str(), review(&desk).len()), ("Weak cookie: lang", 1));
    desk.keys("c");
    assert_eq!(with(&desk, Verdict::Confirmed), [14]);
}

#[test]
fn three_equal_decisions_on_class_offer_rule() {
    let mut desk = desk();
    desk.keys("l j f j f h B");
    assert!(review(&desk).facts.repeated_decision().is_none());
    desk.keys("esc l j j j f h B");
    let facts = &review(&desk).facts;
    assert_eq!(facts.earlier.len(), 3);
    assert_eq!(facts.repeated_decision().map(|last| last.verdict), Some(Verdict::FalsePositive));
}

#[test]
fn prompt_over_20_findings_names_number_and_space_excludes_findings() {
    let mut desk = reviewing();
    desk.keys("f");
    assert!(desk.prompt().question.starts_with("25 findings become false positive"), "{}", desk.prompt().question);
    desk.keys("space");
    assert_eq!((review(&desk).tab, desk.model.overlay.modals.len()), (Tab::Where, 0));
    desk.keys("j space space k space");
    assert_eq!(review(&desk).included().len(), 24, "two excluded, one of them included again");
    desk.keys("f enter");
    assert_eq!(with(&desk, Verdict::FalsePositive).len(), 24);
    assert_eq!((title(&desk).as_str(), outcome(&desk).out), ("Weak cookie", 1));
}

#[test]
fn early_verdict_on_card_is_ignored_with_notice() {
    let mut desk = reviewing();
    desk.keys("J");
    for event in events("f f") {
        desk.at += Duration::from_millis(100);
        desk.send(Msg::Key(event));
    }
    assert_eq!((title(&desk).as_str(), with(&desk, Verdict::FalsePositive)), ("Banner", vec![13, 14]));
    assert!(desk.notices().contains("too soon"), "{}", desk.notices());
}

#[test]
fn poll_annotates_cards_without_reordering() {
    let mut desk = reviewing();
    let before = review(&desk).cards.clone();
    let mut now: Vec<Finding> = sample_findings().into_iter().filter(|finding| finding.id.0 != 100).collect();
    now.insert(0, of_class(1, 1, "worse", "Worse", Risk::Critical));
    now.extend([dump(200), dump(201)]);
    desk.feed(Snapshot::Findings(table(now)));
    assert_eq!(title(&desk), "Database dump");
    assert!(Arc::ptr_eq(&review(&desk).cards, &before));
    assert_eq!((review(&desk).facts.more, review(&desk).facts.absent), (2, 1));
    desk.keys("f enter");
    assert_eq!(with(&desk, Verdict::FalsePositive).len(), 24, "neither what came nor what went");
}

#[test]
fn paused_review_resumes_after_restart() {
    let mut desk = desk();
    let mut effects = desk.keys("B J f esc");
    assert!(
        desk.model.reviewing().is_none()
            && !desk.model.navigation.focus.zoomed
            && !desk.model.navigation.focus.in_detail
    );
    desk.keys("j j B");
    assert_eq!(title(&desk), "Banner");

    let mut later = TestDashboard::new();
    later.feed(Snapshot::Findings(table(sample_findings())));
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events.clone()),
        _ => None,
    });
    let events: Vec<Arc<Event>> = events.flatten().collect();
    later.send(Msg::Triage(crate::dashboard::data::TriageNews::Events(events)));
    for effect in effects.drain(..) {
        if let Effect::Remember { key, workspace, value } = effect {
            later.model.findings.triage.settings.insert((Shared::from(key), workspace), value);
        }
    }
    later.keys("3 B");
    assert_eq!((title(&later).as_str(), outcome(&later).verdicts), ("Banner", vec![(Verdict::FalsePositive, 1, 2)]));
}

#[test]
fn navigation_key_pauses_review() {
    let mut desk = reviewing();
    desk.keys("2");
    assert!(desk.model.reviewing().is_none() && !desk.model.navigation.focus.zoomed);
    assert_eq!(desk.model.navigation.focus.pane, Pane::Targets);
    desk.keys("3 B");
    assert_eq!(title(&desk), "Database dump");
}

#[test]
fn undo_shows_card_of_decision() {
    let mut desk = reviewing();
    desk.keys("J f u");
    assert_eq!(title(&desk), "Weak cookie");
    assert_eq!((with(&desk, Verdict::FalsePositive), outcome(&desk).decided()), (vec![], 0));
}

#[test]
fn review_belongs_to_its_workspace() {
    let stored = |desk: &TestDashboard, of: &str| {
        desk.model.findings.triage.settings.get(&("review".into(), of.into())).cloned()
    };
    let mut desk = reviewing();
    desk.keys("J f");
    let cards = stored(&desk, "Acme").unwrap();
    desk.model.work_in(WorkspaceId(2));
    assert!(!desk.model.navigation.focus.zoomed, "no card is on the screen any more");
    desk.feed(Snapshot::Findings(table([of_class(15, 2, "banner", "Banner", Risk::Info)])));
    desk.keys("3 B");
    assert_eq!((title(&desk).as_str(), review(&desk).len()), ("Banner", 1));
    desk.keys("c enter");
    assert_eq!((stored(&desk, "Acme"), stored(&desk, "Lab")), (Some(cards), Some(String::new())));
    desk.model.work_in(WorkspaceId(1));
    desk.feed(Snapshot::Findings(table(sample_findings())));
    desk.keys("3 B");
    assert_eq!((review(&desk).len(), review(&desk).progress.at), (3, 2), "it resumes at the same card");
    assert!(desk.notices().contains("paused review of 3 cards resumed"), "{}", desk.notices());
}

#[test]
fn decided_card_accepts_new_verdict() {
    let mut desk = reviewing();
    desk.keys("J f K c");
    assert_eq!((with(&desk, Verdict::Confirmed), title(&desk).as_str()), (vec![13, 14], "Banner"));
    assert_eq!(outcome(&desk).verdicts, [(Verdict::Confirmed, 1, 2)]);
}

#[test]
fn summary_undoes_all_decisions_after_prompt() {
    let mut desk = reviewing();
    let before = desk.model.findings.triage.assessments.clone();
    desk.keys("f enter f c");
    assert_eq!((title(&desk).as_str(), outcome(&desk).decided()), ("summary", 3));
    desk.keys("u");
    assert!(desk.prompt().question.contains("3 cards"), "{}", desk.prompt().question);
    desk.keys("y");
    assert_eq!(desk.model.findings.triage.assessments, before);
    assert_eq!(outcome(&desk).left, 28);
}

#[test]
fn enter_on_summary_ends_review() {
    let mut desk = reviewing();
    desk.keys("S enter");
    assert!(desk.model.findings.review.is_none());
    desk.keys("/ 'cookie' enter B");
    assert_eq!(review(&desk).len(), 1);
}

#[test]
fn card_shows_common_evidence_and_previous_decision() {
    let mut desk = TestDashboard::new();
    let evidence = |id: i64, text: &str| Finding {
        vuln_evidence: crate::contract::Evidence::from_value(&text.into()),
        ..dump(id)
    };
    let answer = "HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:00 GMT";
    desk.feed(Snapshot::Findings(table([
        evidence(100, answer),
        evidence(101, &answer.replace("10:00", "11:00")),
        evidence(102, "HTTP/1.1 301 Moved"),
        evidence(103, &answer.replace("02 Nov", "03 Nov")),
    ])));
    desk.keys("3 b c l j f h B");
    let facts = &review(&desk).facts;
    let kinds: Vec<_> = facts.evidence.kinds.iter().map(|kind| (kind.count, kind.line.as_str())).collect();
    assert_eq!(kinds, [(3, "HTTP/1.1 200 OK"), (1, "HTTP/1.1 301 Moved")]);
    assert_eq!(facts.evidence.kinds[1].own, ["HTTP/1.1 301 Moved"]);
    let before = facts.earlier.first().unwrap();
    assert_eq!((before.verdict, before.count), (Verdict::FalsePositive, 1));
}

#[test]
fn previous_decision_excludes_decision_of_card() {
    let mut desk = desk();
    let before = |desk: &TestDashboard| review(desk).facts.earlier.first().map(|before| (before.verdict, before.count));
    desk.keys("j l j c h B J");
    assert_eq!((title(&desk).as_str(), before(&desk)), ("Weak cookie", Some((Verdict::Confirmed, 1))));
    desk.keys("f K");
    assert_eq!((title(&desk).as_str(), before(&desk)), ("Weak cookie", Some((Verdict::Confirmed, 1))));
    desk.keys("w K");
    assert_eq!(before(&desk), Some((Verdict::Confirmed, 1)), "not the first one made on this card either");
    desk.keys("u");
    assert_eq!(before(&desk), Some((Verdict::Confirmed, 1)));
}

#[test]
fn notes_and_tags_on_card_apply_to_its_findings() {
    let mut desk = reviewing();
    let shown = |desk: &TestDashboard, id: i64| {
        let table = desk.model.data.findings.value().unwrap();
        let issue = table.items().iter().find(|issue| issue.finding.id.0 == id).unwrap().clone();
        let assessment = desk.model.assessment(issue.id).unwrap();
        (assessment.notes, assessment.tags.iter().map(|tag| tag.to_string()).collect::<Vec<_>>(), assessment.severity)
    };
    desk.keys("J e 'asked the owner' ctrl-o T 'later' enter");
    for id in [13, 14] {
        assert_eq!(shown(&desk, id), (1, vec!["later".to_owned()], None), "{id}");
    }
    assert_eq!(shown(&desk, 15), (0, vec![], None), "not on the card");
    assert_eq!(title(&desk), "Weak cookie", "a change without a verdict remains on the card");
    desk.keys("t s 'info' enter r 'deferred' enter a");
    let table = desk.model.data.findings.value().unwrap().clone();
    for id in [13, 14] {
        let issue = table.items().iter().find(|issue| issue.finding.id.0 == id).unwrap();
        let assessment = desk.model.assessment(issue.id).unwrap();
        assert_eq!((assessment.severity, assessment.reason), (Some(Risk::Info), Some(crate::triage::Reason::Deferred)));
    }
    assert_eq!((with(&desk, Verdict::RiskAccepted), title(&desk).as_str()), (vec![13, 14], "Banner"));
    desk.keys("u");
    assert_eq!((with(&desk, Verdict::RiskAccepted), title(&desk).as_str()), (vec![], "Weak cookie"));
}

#[test]
fn excluded_findings_get_no_note() {
    let mut desk = reviewing();
    desk.keys("J l l space h h e 'one of two' ctrl-o");
    let noted = desk.model.findings.triage.assessments.iter().filter(|assessment| assessment.notes == 1).count();
    assert_eq!(noted, 1);
}

const KEYS: &str = "c f a w x i o . J K B esc enter space h l j k S u U y 3 b < > G";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn review_decides_only_findings_of_shown_cards(
        script in proptest::collection::vec((any::<usize>(), 20u64..400), 1..80),
    ) {
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        let mut desk = reviewing();
        for (at, wait) in script {
            let card = desk.model.reviewing().and_then(Review::card).map(|card| card.ids.clone());
            let drawn_for = desk.model.reviewing().is_some();
            desk.at += Duration::from_millis(wait);
            let effects = desk.send(Msg::Key(events(keys[at % keys.len()])[0]));
            if !drawn_for {
                continue;
            }
            for event in recorded(&effects) {
                if let (Subject::Finding(identity), Change::Decide(_)) = (&event.subject, &event.change) {
                    let id = IssueId::from(identity.key).0;
                    prop_assert!(card.as_ref().is_some_and(|ids| ids.contains(&id)), "{id} is not on {card:?}");
                }
            }
        }
    }

    #[test]
    fn undoing_all_restores_state(script in proptest::collection::vec(any::<usize>(), 1..40)) {
        let keys = ["c", "f", "a", "J", "K", "x", "l l space h", "o"];
        let mut desk = reviewing();
        let before = desk.model.findings.triage.assessments.clone();
        for at in script {
            if title(&desk) != "summary" {
                desk.keys(keys[at % keys.len()]);
                if matches!(desk.model.overlay.modals.last(), Some(Modal::Prompt(_))) {
                    desk.keys("enter");
                }
            }
        }
        desk.keys("S u");
        if matches!(desk.model.overlay.modals.last(), Some(Modal::Prompt(_))) {
            desk.keys("y");
        }
        prop_assert_eq!(&desk.model.findings.triage.assessments, &before);
    }
}

fn recorded(effects: &[Effect]) -> Vec<Arc<Event>> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events.clone()),
        _ => None,
    });
    events.flatten().collect()
}
