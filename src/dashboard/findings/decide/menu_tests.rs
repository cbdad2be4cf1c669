//! `t`, `e` and `T`: options in any order, then a verdict.

use crate::contract::Shared;
use crate::dashboard::core::Msg;
use crate::dashboard::findings::decide::tests::{one, recorded};
use crate::dashboard::testing::*;
use crate::triage::{Assessment, Change, Reason, Verdict, VerdictSource};

fn assessment(desk: &TestDashboard, finding: i64) -> Assessment {
    let table = desk.model.data.findings.value().unwrap();
    let issue = table.items().iter().find(|issue| issue.finding.id.0 == finding).unwrap();
    desk.model.assessment(issue.id).unwrap().clone()
}

/// Three findings of one class on two targets, and one of another.
fn desk() -> TestDashboard {
    let mut desk = TestDashboard::new();
    let kind = |id, target, kind: &str| Finding {
        vuln_id: kind.into(),
        port: id,
        ..finding(id, target, &format!("{kind} here"), Risk::Low)
    };
    desk.feed(Snapshot::Findings(table([kind(1, 1, "CSP"), kind(2, 1, "CSP"), kind(3, 2, "CSP"), kind(4, 2, "TLS")])));
    desk.keys("G");
    desk
}

#[test]
fn menu_accepts_options_in_any_order_and_verdict_closes_it() {
    let mut desk = desk();
    let id = desk.selected(Pane::Findings).unwrap();
    desk.keys("t s 'crit' enter r 'wrong' enter e '30d' enter T 'client old' enter n 'not theirs' ctrl-o f");
    let decided = assessment(&desk, id);
    assert_eq!((decided.verdict, decided.reason), (Verdict::FalsePositive, Some(Reason::WrongProduct)));
    assert_eq!((decided.severity, decided.notes), (Some(Risk::Critical), 1));
    assert_eq!(decided.tags, [Shared::from("client"), "old".into()]);
    assert_eq!(decided.until, Some(desk.model.today().saturating_add(jiff::Span::new().days(30))));
    desk.keys("u");
    assert_eq!(
        assessment(&desk, id),
        Assessment { service: None, ..Assessment::default() },
        "one undo takes all of it back"
    );
}

#[test]
fn menu_enter_records_and_esc_cancels() {
    let mut desk = desk();
    let id = desk.selected(Pane::Findings).unwrap();
    assert!(recorded(&desk.keys("t s 'high' enter esc")).is_empty());
    desk.keys("t s 'high' enter enter");
    let decided = assessment(&desk, id);
    assert_eq!((decided.severity, decided.source), (Some(Risk::High), VerdictSource::Nobody));
    assert!(recorded(&desk.keys("t enter")).is_empty() && desk.notices().contains("no verdict or option selected"));
}

#[test]
fn backspace_undoes_choice() {
    let mut desk = desk();
    let id = desk.selected(Pane::Findings).unwrap();
    desk.keys("t s 'high' enter backspace c");
    let decided = assessment(&desk, id);
    assert_eq!((decided.severity, decided.verdict), (None, Verdict::Confirmed));
}

#[test]
fn invalid_option_shows_error() {
    let mut desk = desk();
    desk.keys("t e 'soon' enter");
    let Some(Modal::Decide(menu)) = desk.model.overlay.modals.last() else { panic!() };
    assert!(menu.entry.as_ref().unwrap().error.as_ref().unwrap().contains("soon"));
}

#[test]
fn class_scope_records_rule_and_shows_number_of_matches() {
    for (scope, found) in [("j", 2), ("j j", 3)] {
        let mut desk = desk();
        // One of them was decided by hand: the rule leaves it so.
        let first = desk.model.data.findings.value().unwrap().items()[0].id;
        desk.model.decide(&[first], &crate::triage::Draft::of(Verdict::Fixed), &mut Vec::new());
        let id = desk.model.data.findings.value().unwrap().items()[1].id;
        desk.model.cursor(Pane::Findings).select_id(id.0);
        desk.keys(&format!("t {scope}"));
        let Some(Modal::Decide(menu)) = desk.model.overlay.modals.last() else { panic!() };
        assert_eq!(menu.preview, Some((found, 1)), "{scope}");
        let events = recorded(&desk.keys("f"));
        assert!(matches!(&events[..], [event] if matches!(event.change, Change::Rule { .. })), "{events:?}");
        let by_rule = (1..=4).filter(|&id| matches!(assessment(&desk, id).source, VerdictSource::Rule(_))).count();
        assert_eq!((by_rule, assessment(&desk, 1).verdict), (found - 1, Verdict::Fixed));
        assert_eq!(assessment(&desk, 4).source, VerdictSource::Nobody);
        desk.keys("u");
        assert!((2..=4).all(|id| assessment(&desk, id).source == VerdictSource::Nobody));
    }
}

#[test]
fn class_rule_with_special_characters_matches_only_its_class() {
    for scope in ["j", "j j"] {
        let mut desk = TestDashboard::new();
        let kind = |id, kind: &str| Finding { vuln_id: kind.into(), port: id, ..finding(id, 1, "here", Risk::Low) };
        desk.feed(Snapshot::Findings(table([kind(1, "T*S"), kind(2, "TLS"), kind(3, "TLS old S")])));
        let signs = desk.model.data.findings.value().unwrap().items()[0].id;
        desk.model.cursor(Pane::Findings).select_id(signs.0);
        desk.keys(&format!("t {scope} f"));
        let decided = [1, 2, 3].map(|id| assessment(&desk, id).verdict);
        assert_eq!(decided, [Verdict::FalsePositive, Verdict::Open, Verdict::Open], "{scope}");
    }
}

#[test]
fn rule_belongs_to_its_workspace() {
    let class = |desk: &mut TestDashboard, workspace: i64, keys: &str| {
        desk.model.work_in(WorkspaceId(workspace));
        let one = Finding { vuln_id: "CSP".into(), ..finding(1, 1, "CSP here", Risk::Low) };
        desk.feed(Snapshot::Findings(table([one])));
        desk.keys("3 g g");
        recorded(&desk.keys(keys))
    };
    let mut desk = desk();
    let in_acme = class(&mut desk, 1, "t j j f");
    let in_lab = class(&mut desk, 2, "t j j c");
    assert_ne!(in_acme[0].subject, in_lab[0].subject, "the same query is another rule there");
    assert_eq!((assessment(&desk, 1).verdict, desk.model.rules().len()), (Verdict::Confirmed, 1));
    class(&mut desk, 1, "");
    assert_eq!((assessment(&desk, 1).verdict, desk.model.rules().len()), (Verdict::FalsePositive, 1));
    // The list has only what decides here: its first one is not that of the other workspace.
    class(&mut desk, 2, "g r w esc");
    assert_eq!(assessment(&desk, 1).verdict, Verdict::NotApplicable);
    class(&mut desk, 1, "");
    assert_eq!(assessment(&desk, 1).verdict, Verdict::FalsePositive);
}

#[test]
fn duplicate_is_chosen_by_text() {
    let mut desk = desk();
    let id = desk.selected(Pane::Findings).unwrap();
    desk.keys("t d 'tls' down enter");
    let tls = desk.model.data.findings.value().unwrap().items()[3].key();
    let decided = assessment(&desk, id);
    assert_eq!((decided.verdict, decided.duplicate_of), (Verdict::Duplicate, Some(tls)));
}

#[test]
fn notes_append_and_tags_complete_from_used_ones() {
    let mut desk = desk();
    let id = desk.selected(Pane::Findings).unwrap();
    desk.keys("e 'first' enter 'line two' ctrl-o");
    desk.keys("e 'second' ctrl-o T 'client-a' enter");
    assert_eq!((assessment(&desk, id).notes, assessment(&desk, id).tags.len()), (2, 1));
    desk.keys("k T 'cl' tab enter");
    let other = desk.selected(Pane::Findings).unwrap();
    assert_eq!(assessment(&desk, other).tags, [Shared::from("client-a")]);
    desk.keys("T '-client-a' enter");
    assert!(assessment(&desk, other).tags.is_empty());
}

#[test]
fn editor_text_becomes_note() {
    let mut desk = desk();
    let effects = desk.keys("e 'draft' ctrl-x");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Edit(text) if text == "draft")));
    desk.send(Msg::Edited(Ok("one\ntwo\n".into())));
    let events = recorded(&desk.keys("ctrl-o"));
    assert!(matches!(&events[0].change, Change::Note(note) if note.as_str() == "one\ntwo"), "{events:?}");
}

#[test]
fn pasted_text_is_inserted_into_note() {
    let mut desk = desk();
    desk.keys("t");
    desk.send(Msg::Paste("f".into()));
    assert!(matches!(desk.model.overlay.modals.last(), Some(Modal::Decide(_))), "the menu takes no pasted letter");
    desk.keys("n");
    desk.send(Msg::Paste("from the ticket".into()));
    let events = recorded(&desk.keys("ctrl-o c"));
    assert!(
        events.iter().any(|event| matches!(&event.change, Change::Note(note) if note.as_str() == "from the ticket"))
    );
}

#[test]
fn menu_over_20_findings_prompts_as_a_key() {
    let mut desk = TestDashboard::new();
    desk.feed(Snapshot::Findings(table((1..=21).map(one))));
    desk.keys("* t s 'low' enter w");
    assert!(desk.prompt().question.contains("21 findings become not applicable"));
    let events = recorded(&desk.keys("enter"));
    assert_eq!(events.len(), 42);
}

#[test]
fn rules_list_edits_query_verdict_and_state() {
    let mut desk = desk();
    let by_rule = |desk: &TestDashboard, verdict| {
        let ruled =
            (1..=4).map(|id| assessment(desk, id)).filter(|decided| matches!(decided.source, VerdictSource::Rule(_)));
        ruled.filter(|decided| decided.verdict == verdict).count()
    };
    desk.keys("g r");
    assert!(desk.notices().contains("no rules:"));
    let id = desk.model.data.findings.value().unwrap().items()[0].id;
    desk.model.cursor(Pane::Findings).select_id(id.0);
    desk.keys("t j j f");
    assert_eq!(by_rule(&desk, Verdict::FalsePositive), 3);
    desk.keys("g r space");
    assert_eq!(by_rule(&desk, Verdict::FalsePositive), 0, "switched off");
    desk.keys("space w");
    assert_eq!(by_rule(&desk, Verdict::NotApplicable), 3, "on again, with another verdict");
    desk.keys("e");
    desk.send(Msg::Paste(" port>1".into()));
    let Some(Modal::Rules(rules)) = desk.model.overlay.modals.last() else { panic!() };
    assert_eq!(rules.edit.as_ref().unwrap().finds, Ok(2), "the number of matches is shown while typing");
    desk.keys("enter");
    assert_eq!(by_rule(&desk, Verdict::NotApplicable), 2);
    desk.keys("e ctrl-u enter");
    let Some(Modal::Rules(rules)) = desk.model.overlay.modals.last() else { panic!() };
    assert!(rules.edit.as_ref().unwrap().finds.is_err(), "an empty query would decide everything");
    desk.keys("esc u u");
    assert_eq!(by_rule(&desk, Verdict::FalsePositive), 3);
}
