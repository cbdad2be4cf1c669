//! Deciding: verdict keys, marks, rows that keep their place, undo.

use crate::dashboard::core::Msg;
use crate::dashboard::data::TriageNews;
use crate::dashboard::testing::*;
use crate::triage::{Change, Decision, Event, Identity, IssueId, Subject, Verdict, VerdictSource};

/// The verdict of the finding with this id at the service, if a person gave one.
fn verdict(desk: &TestDashboard, finding: i64) -> Option<Verdict> {
    let table = desk.model.data.findings.value().unwrap();
    let issue = table.items().iter().find(|issue| issue.finding.id.0 == finding).unwrap();
    let assessment = desk.model.assessment(issue.id).unwrap();
    (assessment.source == VerdictSource::Person).then_some(assessment.verdict)
}

fn decided(desk: &TestDashboard) -> Vec<(i64, Verdict)> {
    (1..=6).filter_map(|id| Some((id, verdict(desk, id)?))).collect()
}

pub(crate) fn recorded(effects: &[Effect]) -> Vec<Arc<Event>> {
    let batches = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events.clone()),
        _ => None,
    });
    batches.flatten().collect()
}

#[test]
fn verdict_keys_decide_selected_row() {
    for (key, given) in [
        ("c", Verdict::Confirmed),
        ("f", Verdict::FalsePositive),
        ("a", Verdict::RiskAccepted),
        ("w", Verdict::NotApplicable),
        ("x", Verdict::Fixed),
        ("i", Verdict::InReview),
        ("o", Verdict::Open),
    ] {
        let mut desk = TestDashboard::new();
        let effects = desk.keys(&format!("j {key}"));
        assert_eq!(decided(&desk), [(2, given)], "{key}");
        assert_eq!(desk.selected(Pane::Findings), Some(2), "the cursor stays");
        let events = recorded(&effects);
        let Change::Decide(decision) = &events[0].change else { panic!("{events:?}") };
        let seen = decision.seen.as_ref().unwrap();
        assert_eq!((seen.finding, seen.risk), (FindingId(2), Risk::High), "what was on the screen is written with it");
        assert_eq!(decision.until.is_some(), key == "a", "only what is accepted ends by itself");
        assert!(effects.iter().any(|effect| matches!(effect, Effect::MarkSeen { keys, .. } if keys.len() == 1)));
    }
}

#[test]
fn decision_is_saving_until_it_is_on_disk() {
    let mut desk = TestDashboard::new();
    let case = &desk.model.data.findings.value().unwrap().items()[0];
    let (key, subject) = (case.key(), Subject::Finding(Identity { key: case.key(), ..Identity::default() }));
    let decision = Decision { verdict: Verdict::Confirmed, ..Decision::default() };
    let mut effects = Vec::new();
    desk.model.record(vec![(subject, Change::Decide(decision))], &mut effects).unwrap();
    assert!(desk.model.findings.triage.is_saving(key));
    let problem = Arc::new(Problem::local("the disk is full"));
    desk.send(Msg::Triage(TriageNews::Retrying(problem)));
    assert!(desk.model.cannot_decide().is_none(), "further decisions wait for the disk");
    assert!(desk.keys("q").is_empty());
    assert!(desk.prompt().lines.iter().any(|line| line.contains("1 decision")), "{:?}", desk.prompt());
    desk.keys("esc");
    desk.send(Msg::Triage(TriageNews::Recovered));
    desk.send(Msg::Triage(TriageNews::Saved));
    assert!(!desk.model.findings.triage.is_saving(key) && desk.model.findings.triage.problem.is_none());
}

#[test]
fn upper_case_selects_next_row_and_dot_repeats() {
    let mut desk = TestDashboard::new();
    desk.keys("j F . .");
    let all = [2, 3, 4].map(|id| (id, Verdict::FalsePositive));
    assert_eq!(decided(&desk), all);
    assert_eq!(desk.shown(Pane::Findings).iter().position(|&id| Some(id) == desk.selected(Pane::Findings)), Some(4));
}

#[test]
fn accepted_risk_expires_after_90_days() {
    let mut desk = TestDashboard::new();
    let events = recorded(&desk.keys("j a"));
    let Change::Decide(decision) = &events[0].change else { panic!() };
    let today = desk.model.today();
    assert_eq!(decision.until.map(|until| today.until(until).unwrap().get_days()), Some(90));
}

#[test]
fn repeated_verdict_records_nothing() {
    let mut desk = TestDashboard::new();
    desk.keys("j f");
    let effects = desk.keys("f");
    assert!(recorded(&effects).is_empty());
    assert!(desk.notices().contains("already"), "{}", desk.notices());
}

#[test]
fn marked_rows_are_decided_and_undo_restores_marks() {
    let mut desk = TestDashboard::new();
    desk.keys("j space space c");
    assert_eq!(decided(&desk), [(2, Verdict::Confirmed), (3, Verdict::Confirmed)]);
    assert!(desk.model.lists.findings.marks.is_empty());
    desk.keys("u");
    assert_eq!(decided(&desk), []);
    assert_eq!(desk.model.lists.findings.marks.len(), 2);
    desk.keys("U");
    assert_eq!(decided(&desk).len(), 2);
    assert!(desk.model.lists.findings.marks.is_empty());
}

#[test]
fn range_is_decided_without_marks() {
    let mut desk = TestDashboard::new();
    desk.keys("j v j j w");
    assert_eq!(decided(&desk), [2, 3, 4].map(|id| (id, Verdict::NotApplicable)));
    assert_eq!(desk.model.lists.findings.range_from, None);
}

#[test]
fn undo_describes_batch_and_selects_finding() {
    let mut desk = TestDashboard::new();
    desk.keys("j f G x 4 u");
    assert!(desk.notices().contains("undone: fixed on Banner"), "{}", desk.notices());
    assert_eq!((desk.model.navigation.focus.pane, desk.selected(Pane::Findings)), (Pane::Findings, Some(5)));
    desk.keys("u");
    assert!(desk.notices().contains("undone: false positive on Git repository"), "{}", desk.notices());
    assert_eq!((desk.selected(Pane::Findings), decided(&desk).len()), (Some(2), 0));
    desk.keys("u");
    assert!(desk.notices().contains("no decision of yours to undo"));
    desk.keys("ctrl-r ctrl-r");
    assert_eq!(decided(&desk), [(2, Verdict::FalsePositive), (5, Verdict::Fixed)]);
}

#[test]
fn undo_in_other_workspace_prompts() {
    let mut desk = TestDashboard::new();
    desk.keys("j f");
    desk.model.work_in(WorkspaceId(2));
    desk.keys("u");
    assert!(desk.prompt().question.contains("Acme"), "{}", desk.prompt().question);
    desk.keys("n u");
    assert_eq!(
        desk.model.findings.triage.state.batch(desk.model.findings.triage.state.last_done("ann@test").unwrap()).len(),
        1
    );
    desk.keys("y");
    assert_eq!(desk.model.findings.triage.state.last_done("ann@test"), None);
}

#[test]
fn decided_row_remains_until_filter_is_applied_again() {
    for again in ["r", "4", "/ 'x' esc", "2"] {
        let mut desk = TestDashboard::new();
        desk.keys("/ 'git' enter j");
        let selected = desk.model.lists.findings.selected.unwrap();
        desk.keys("f");
        // As a query on decisions would: the row is no longer found.
        desk.model.lists.findings.filter = "repository".into();
        desk.feed(Snapshot::Findings(table([
            finding(2, 1, "Git repository", Risk::High),
            finding(3, 2, "Git ignored", Risk::Medium),
            finding(5, 3, "Banner", Risk::Info),
        ])));
        assert_eq!(desk.shown(Pane::Findings), [2, 3], "polling keeps it");
        assert_eq!(desk.model.lists.findings.selected, Some(selected));
        desk.keys(again);
        assert_eq!(desk.shown(Pane::Findings), [2], "after {again}");
    }
}

/// Findings that all have the word, so that a filter can hide some.
fn many(count: i64) -> TestDashboard {
    let mut desk = TestDashboard::new();
    desk.feed(Snapshot::Findings(table((1..=count).map(one))));
    desk
}

/// One of many, of a class of its own.
pub(crate) fn one(id: i64) -> Finding {
    Finding { vuln_id: format!("KIND-{id}").into(), ..finding(id, 1, &format!("finding {id}"), Risk::Info) }
}

fn count(desk: &TestDashboard) -> usize {
    desk.model
        .findings
        .triage
        .assessments
        .iter()
        .filter(|assessment| assessment.source == VerdictSource::Person)
        .count()
}

#[test]
fn decision_over_20_findings_prompts_with_their_number() {
    let mut desk = many(20);
    desk.keys("* f");
    assert_eq!(count(&desk), 20);
    let mut desk = many(21);
    desk.keys("* f");
    assert_eq!(count(&desk), 0);
    assert!(desk.prompt().question.contains("21 findings become false positive"), "{}", desk.prompt().question);
    desk.keys("f");
    assert_eq!(count(&desk), 0, "the key that opened the prompt does not confirm it");
    desk.keys("enter");
    assert_eq!(count(&desk), 21);
    desk.keys("u");
    assert_eq!((count(&desk), desk.model.lists.findings.marks.len()), (0, 21));
    desk.keys("f y");
    assert_eq!((count(&desk), desk.model.overlay.modals.len()), (0, 0), "anything but enter is no");
}

#[test]
fn hidden_marked_rows_need_explicit_key() {
    for (answer, expected) in [("enter", 1), ("a", 3), ("esc", 0)] {
        let mut desk = many(30);
        desk.keys("space space space / 'finding 3' enter");
        assert_eq!(desk.chosen(Pane::Findings).1.len(), 2);
        desk.keys("c");
        assert!(desk.prompt().lines[0].contains("2 more marked but not shown"), "{:?}", desk.prompt().lines);
        desk.keys(answer);
        assert_eq!(count(&desk), expected, "{answer}");
        assert_eq!(desk.model.lists.findings.marks.len(), 3 - expected);
    }
}

#[test]
fn verdict_keys_without_writer_show_reason() {
    let mut desk = TestDashboard::new();
    desk.model.findings.triage.writer = None;
    desk.model.findings.triage.problem = Some(Arc::new(Problem::local("the state directory cannot be written to")));
    for key in ["c", "F", ".", "u"] {
        desk.model.overlay.notices = Default::default();
        let effects = desk.keys(key);
        assert!(recorded(&effects).is_empty());
        assert!(desk.notices().contains("cannot be") || key == ".", "{key}: {}", desk.notices());
    }
}

#[test]
fn reason_and_note_default_to_last_decision_on_class() {
    use crate::triage::{Draft, DraftValue, Reason};
    let mut desk = TestDashboard::new();
    let kind = |id, target| Finding { vuln_id: "CSP".into(), ..finding(id, target, "No CSP", Risk::Low) };
    desk.feed(Snapshot::Findings(table([kind(1, 1), kind(2, 2), kind(3, 3), kind(4, 4)])));
    let first: IssueId = desk.model.lists.findings.selected.unwrap();
    let draft = Draft {
        reason: DraftValue::Set(Reason::WrongProduct),
        note: DraftValue::Set("behind the WAF".into()),
        ..Draft::of(Verdict::FalsePositive)
    };
    desk.model.decide(&[first], &draft, &mut Vec::new());
    desk.keys("j f j x j f");
    let rows = desk.model.lists.findings.rows.clone();
    let assessment =
        |desk: &TestDashboard, row: usize| desk.model.findings.triage.assessments[rows[row] as usize].clone();
    assert_eq!((assessment(&desk, 1).reason, assessment(&desk, 1).notes), (Some(Reason::WrongProduct), 1));
    assert_eq!((assessment(&desk, 2).reason, assessment(&desk, 2).notes), (None, 1), "a reason must fit the verdict");
    assert_eq!(
        (assessment(&desk, 3).reason, assessment(&desk, 3).notes),
        (Some(Reason::WrongProduct), 1),
        "an earlier one does"
    );
}

/// Presses a key 400 times in two seconds, as a held key does; a frame every 16 ms.
fn hold(desk: &mut TestDashboard, key: &str) -> usize {
    let event = events(key)[0];
    let mut events = 0;
    for press in 0..400 {
        desk.at += Duration::from_millis(5);
        let measures = desk.model.screen.measures;
        let effects = update(&mut desk.model, now(desk.at), Msg::Key(event));
        events += recorded(&effects).len();
        if press % 3 == 0 {
            let row = desk.model.selected_row(Pane::Findings);
            desk.model.drawn(desk.at, Measures { row, ..measures });
        }
    }
    events
}

fn now(at: Duration) -> Now {
    Now { mono: at, wall: stamp().0 }
}

#[test]
fn held_verdict_key_decides_one_finding_or_at_most_14_when_advancing() {
    for key in ["c", "f", "a", "w", "x", "i", "o"] {
        let mut desk = many(60);
        desk.keys("j");
        assert_eq!((hold(&mut desk, key), count(&desk)), (1, 1), "{key}");
    }
    for key in ["C", "F", "A", "W", "X", "I", "O", "."] {
        let mut desk = many(60);
        desk.keys("j c");
        let held = hold(&mut desk, key);
        assert!((2..=14).contains(&held), "{key}: {held}");
        assert!(desk.notices().contains(&format!("{key} ignored: pressed too soon")), "{}", desk.notices());
    }
}

#[test]
fn row_selected_without_key_is_not_decided_before_it_was_seen() {
    let mut desk = many(5);
    desk.keys("j");
    let removed = desk.selected(Pane::Findings).unwrap();
    let rest = (1..=5).filter(|&id| id != removed).map(one);
    desk.feed(Snapshot::Findings(table(rest)));
    desk.at += Duration::from_millis(149);
    desk.send(Msg::Key(events("f")[0]));
    assert_eq!(count(&desk), 0);
    desk.at += Duration::from_millis(1);
    desk.send(Msg::Key(events("f")[0]));
    assert_eq!(count(&desk), 1);
}
