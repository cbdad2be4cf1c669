//! `t`, `e` and `T`: options in any order, then a verdict.

use crate::core::Msg;
use crate::findings::decide::tests::{one, recorded};
use crate::testing::*;
use scandeck_domain::triage::{Assessment, Change, DecisionScope, Reason, Verdict, VerdictSource};
use scandeck_wire::contract::Shared;

fn assessment(app: &TestDashboard, finding: i64) -> Assessment {
    let table = app.model.data.findings.value().unwrap();
    let issue = table
        .items()
        .iter()
        .find(|issue| issue.finding.id.0 == finding)
        .unwrap();
    app.model.assessment(issue.id).unwrap().clone()
}

/// Three findings of one class on two targets, and one of another.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let kind = |id, target, kind: &str| Finding {
        vuln_id: kind.into(),
        port: id,
        ..finding(id, target, &format!("{kind} here"), Risk::Low)
    };
    app.feed(Snapshot::Findings(table([
        kind(1, 1, "CSP"),
        kind(2, 1, "CSP"),
        kind(3, 2, "CSP"),
        kind(4, 2, "TLS"),
    ])));
    app.keys("G");
    app
}

#[test]
fn menu_sets_assignee_and_due_date() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    app.keys("t A 'bob' enter D '30d' enter c");
    let decided = assessment(&app, id);
    let in_30_days = app.model.today().saturating_add(jiff::Span::new().days(30));
    assert_eq!(decided.verdict, Verdict::Confirmed);
    assert_eq!(decided.assignee, Some("bob".into()));
    assert_eq!(decided.due, Some(in_30_days));
    // Without a verdict.
    app.keys("t A 'me' enter D 'none' enter enter");
    let changed = assessment(&app, id);
    assert_eq!(changed.assignee, Some(app.model.own_name()));
    assert_eq!(changed.due, None);
    app.keys("u");
    assert_eq!(assessment(&app, id).due, Some(in_30_days));
    app.keys("u");
    let before = assessment(&app, id);
    assert_eq!((before.assignee, before.due), (None, None));
}

#[test]
fn menu_accepts_options_in_any_order_and_verdict_closes_it() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    app.keys("t s 'crit' enter r 'wrong' enter e '30d' enter T 'client old' enter n 'not theirs' ctrl-o f");
    let decided = assessment(&app, id);
    assert_eq!(
        (decided.verdict, decided.reason),
        (Verdict::FalsePositive, Some(Reason::WrongProduct))
    );
    assert_eq!((decided.severity, decided.notes), (Some(Risk::Critical), 1));
    assert_eq!(decided.tags, [Shared::from("client"), "old".into()]);
    assert_eq!(
        decided.until,
        Some(app.model.today().saturating_add(jiff::Span::new().days(30)))
    );
    app.keys("u");
    assert_eq!(
        assessment(&app, id),
        Assessment {
            service: None,
            ..Assessment::default()
        },
        "one undo takes all of it back"
    );
}

#[test]
fn first_letter_of_a_severity_selects_it() {
    let severities = [
        Risk::Critical,
        Risk::High,
        Risk::Medium,
        Risk::Low,
        Risk::Info,
    ];
    for (letter, severity) in ["c", "h", "m", "l", "i"].into_iter().zip(severities) {
        let mut app = app();
        let id = app.selected(Pane::Findings).unwrap();
        app.keys(&format!("t s '{letter}' enter enter"));
        assert_eq!(assessment(&app, id).severity, Some(severity), "{letter}");
    }
}

#[test]
fn closed_note_is_kept_for_the_next_time() {
    for (close, open) in [
        ("e 'asked ops' esc", "e"),
        ("t n 'asked ops' esc esc", "e"),
        ("t n 'asked ops' ctrl-o esc", "t n"),
    ] {
        let mut app = app();
        let id = app.selected(Pane::Findings).unwrap();
        assert!(recorded(&app.keys(close)).is_empty());
        assert!(
            app.notices().contains("note: draft kept"),
            "{close}: {}",
            app.notices()
        );
        app.keys("k e 'other' esc j");
        app.keys(open);
        assert_eq!(recorded(&app.keys("ctrl-o")).is_empty(), open == "t n");
        if open == "t n" {
            app.keys("enter");
        }
        assert_eq!(assessment(&app, id).notes, 1, "{close}");
        app.keys("e");
        let Some(Modal::Decide(menu)) = app.model.overlay.modals.last() else {
            panic!()
        };
        assert_eq!(
            menu.entry.as_ref().unwrap().input.text(),
            "",
            "{close}: recorded notes are no drafts"
        );
    }
}

#[test]
fn menu_enter_records_and_esc_cancels() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    assert!(recorded(&app.keys("t s 'high' enter esc")).is_empty());
    app.keys("t s 'high' enter enter");
    let decided = assessment(&app, id);
    assert_eq!(
        (decided.severity, decided.source),
        (Some(Risk::High), VerdictSource::Nobody)
    );
    assert!(
        recorded(&app.keys("t enter")).is_empty()
            && app.notices().contains("no verdict or option selected")
    );
}

#[test]
fn narrow_menu_marks_the_choices_that_it_cuts() {
    let mut app = app();
    app.model.screen.size = Size {
        columns: 40,
        rows: 24,
    };
    app.keys("t");
    let frame = app.frame().join("\n");
    assert!(frame.contains(" f false posi…"), "{frame}");
}

#[test]
fn reason_that_does_not_apply_keeps_the_menu_open() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    assert!(recorded(&app.keys("t r 'wrong' enter c")).is_empty());
    assert!(
        app.notices().contains(
            "reason \"wrong product\" does not apply to confirmed · r changes the reason"
        )
    );
    app.keys("backspace c");
    assert_eq!(
        (assessment(&app, id).verdict, assessment(&app, id).reason),
        (Verdict::Confirmed, None)
    );
}

#[test]
fn backspace_undoes_choice() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    app.keys("t s 'high' enter backspace c");
    let decided = assessment(&app, id);
    assert_eq!(
        (decided.severity, decided.verdict),
        (None, Verdict::Confirmed)
    );
}

#[test]
fn invalid_option_shows_error() {
    let mut app = app();
    app.keys("t e 'soon' enter");
    let Some(Modal::Decide(menu)) = app.model.overlay.modals.last() else {
        panic!()
    };
    assert!(
        menu.entry
            .as_ref()
            .unwrap()
            .error
            .as_ref()
            .unwrap()
            .contains("soon")
    );
}

#[test]
fn class_scope_records_rule_and_shows_number_of_matches() {
    for (scope, found) in [("j", 2), ("j j", 3)] {
        let mut app = app();
        // One of them was decided by hand: the rule leaves it so.
        let first = app.model.data.findings.value().unwrap().items()[0].id;
        app.model.decide(
            &[first],
            &scandeck_domain::triage::Draft::of(Verdict::Fixed),
            &mut Vec::new(),
        );
        let id = app.model.data.findings.value().unwrap().items()[1].id;
        app.model.cursor(Pane::Findings).select_id(id.0);
        app.keys(&format!("t {scope}"));
        let Some(Modal::Decide(menu)) = app.model.overlay.modals.last() else {
            panic!()
        };
        assert_eq!(menu.preview, Some((found, 1)), "{scope}");
        assert_eq!(
            menu.counts,
            [(DecisionScope::ClassOnTarget, 2), (DecisionScope::Class, 3)],
            "before it is chosen"
        );
        let events = recorded(&app.keys("f"));
        assert!(
            matches!(&events[..], [event] if matches!(event.change, Change::Rule { .. })),
            "{events:?}"
        );
        let by_rule = (1..=4)
            .filter(|&id| matches!(assessment(&app, id).source, VerdictSource::Rule(_)))
            .count();
        assert_eq!(
            (by_rule, assessment(&app, 1).verdict),
            (found - 1, Verdict::Fixed)
        );
        assert_eq!(assessment(&app, 4).source, VerdictSource::Nobody);
        app.keys("u");
        assert!((2..=4).all(|id| assessment(&app, id).source == VerdictSource::Nobody));
    }
}

#[test]
fn class_scopes_of_several_classes_name_their_rules() {
    let mut app = app();
    app.keys("* t j");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("each class on its target") && screen.contains("each class anywhere"),
        "{screen}"
    );
    assert!(screen.contains("3 rules: 4 findings now"), "{screen}");
    app.keys("j f");
    assert_eq!(app.model.rules().len(), 2);
    app.keys("u");
    assert!(
        app.notices().contains("undone: 2 rules (false positive)"),
        "{}",
        app.notices()
    );
}

#[test]
fn class_rule_with_special_characters_matches_only_its_class() {
    for scope in ["j", "j j"] {
        let mut app = TestDashboard::new();
        let kind = |id, kind: &str| Finding {
            vuln_id: kind.into(),
            port: id,
            ..finding(id, 1, "here", Risk::Low)
        };
        app.feed(Snapshot::Findings(table([
            kind(1, "T*S"),
            kind(2, "TLS"),
            kind(3, "TLS old S"),
        ])));
        let signs = app.model.data.findings.value().unwrap().items()[0].id;
        app.model.cursor(Pane::Findings).select_id(signs.0);
        app.keys(&format!("t {scope} f"));
        let decided = [1, 2, 3].map(|id| assessment(&app, id).verdict);
        assert_eq!(
            decided,
            [Verdict::FalsePositive, Verdict::Open, Verdict::Open],
            "{scope}"
        );
    }
}

#[test]
fn rule_belongs_to_its_workspace() {
    let class = |app: &mut TestDashboard, workspace: i64, keys: &str| {
        app.model.work_in(WorkspaceId(workspace));
        let one = Finding {
            vuln_id: "CSP".into(),
            ..finding(1, 1, "CSP here", Risk::Low)
        };
        app.feed(Snapshot::Findings(table([one])));
        app.keys("3 g g");
        recorded(&app.keys(keys))
    };
    let mut app = app();
    let in_acme = class(&mut app, 1, "t j j f");
    let in_lab = class(&mut app, 2, "t j j c");
    assert_ne!(
        in_acme[0].subject, in_lab[0].subject,
        "the same query is another rule there"
    );
    assert_eq!(
        (assessment(&app, 1).verdict, app.model.rules().len()),
        (Verdict::Confirmed, 1)
    );
    class(&mut app, 1, "");
    assert_eq!(
        (assessment(&app, 1).verdict, app.model.rules().len()),
        (Verdict::FalsePositive, 1)
    );
    // The list has only what decides here: its first one is not that of the other workspace.
    class(&mut app, 2, "g r w esc");
    assert_eq!(assessment(&app, 1).verdict, Verdict::NotApplicable);
    class(&mut app, 1, "");
    assert_eq!(assessment(&app, 1).verdict, Verdict::FalsePositive);
}

#[test]
fn duplicate_is_chosen_by_text() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    app.keys("t d 'tls' down enter");
    let tls = app.model.data.findings.value().unwrap().items()[3].key();
    let decided = assessment(&app, id);
    assert_eq!(
        (decided.verdict, decided.duplicate_of),
        (Verdict::Duplicate, Some(tls))
    );
}

#[test]
fn notes_append_and_tags_complete_from_used_ones() {
    let mut app = app();
    let id = app.selected(Pane::Findings).unwrap();
    app.keys("e 'first' enter 'line two' ctrl-o");
    app.keys("e 'second' ctrl-o T 'client-a' enter");
    assert_eq!(
        (assessment(&app, id).notes, assessment(&app, id).tags.len()),
        (2, 1)
    );
    app.keys("k T 'cl' tab enter");
    let other = app.selected(Pane::Findings).unwrap();
    assert_eq!(assessment(&app, other).tags, [Shared::from("client-a")]);
    app.keys("T '-client-a' enter");
    assert!(assessment(&app, other).tags.is_empty());
}

#[test]
fn editor_text_becomes_note() {
    let mut app = app();
    let effects = app.keys("e 'draft' ctrl-x");
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Edit(text) if text == "draft"))
    );
    app.send(Msg::Edited(Ok("one\ntwo\n".into())));
    let events = recorded(&app.keys("ctrl-o"));
    assert!(
        matches!(&events[0].change, Change::Note(note) if note.as_str() == "one\ntwo"),
        "{events:?}"
    );
}

#[test]
fn pasted_text_is_inserted_into_note() {
    let mut app = app();
    app.keys("t");
    app.send(Msg::Paste("f".into()));
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Decide(_))),
        "the menu takes no pasted letter"
    );
    app.keys("n");
    app.send(Msg::Paste("from the ticket".into()));
    let events = recorded(&app.keys("ctrl-o c"));
    assert!(events.iter().any(
        |event| matches!(&event.change, Change::Note(note) if note.as_str() == "from the ticket")
    ));
}

#[test]
fn prompt_of_a_decision_without_a_verdict_names_the_change() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table((1..=21).map(one))));
    app.keys("* : 'assign bob' enter");
    let question = app.prompt().question.clone();
    assert!(
        question.starts_with("Assign 21 findings to bob: "),
        "{question}"
    );
}

#[test]
fn menu_over_20_findings_prompts_as_a_key() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table((1..=21).map(one))));
    app.keys("* t s 'low' enter w");
    assert!(
        app.prompt()
            .question
            .contains("Mark 21 findings as not applicable: ")
    );
    let events = recorded(&app.keys("enter"));
    assert_eq!(events.len(), 42);
}

#[test]
fn rules_list_edits_query_verdict_and_state() {
    let mut app = app();
    let by_rule = |app: &TestDashboard, verdict| {
        let ruled = (1..=4)
            .map(|id| assessment(app, id))
            .filter(|decided| matches!(decided.source, VerdictSource::Rule(_)));
        ruled.filter(|decided| decided.verdict == verdict).count()
    };
    app.keys("g r");
    assert!(app.notices().contains("no rules · in findings: t, then "));
    let id = app.model.data.findings.value().unwrap().items()[0].id;
    app.model.cursor(Pane::Findings).select_id(id.0);
    app.keys("t j j f");
    assert_eq!(by_rule(&app, Verdict::FalsePositive), 3);
    app.keys("g r space");
    assert_eq!(by_rule(&app, Verdict::FalsePositive), 0, "switched off");
    app.keys("space w");
    assert_eq!(
        by_rule(&app, Verdict::NotApplicable),
        3,
        "on again, with another verdict"
    );
    app.keys("e");
    app.send(Msg::Paste(" port>1".into()));
    let Some(Modal::Rules(rules)) = app.model.overlay.modals.last() else {
        panic!()
    };
    assert_eq!(
        rules.edit.as_ref().unwrap().finds,
        Ok(2),
        "the number of matches is shown while typing"
    );
    app.keys("enter");
    assert_eq!(by_rule(&app, Verdict::NotApplicable), 2);
    app.keys("e ctrl-u enter");
    let Some(Modal::Rules(rules)) = app.model.overlay.modals.last() else {
        panic!()
    };
    assert!(
        rules.edit.as_ref().unwrap().finds.is_err(),
        "an empty query would decide everything"
    );
    app.keys("esc u u");
    assert_eq!(by_rule(&app, Verdict::FalsePositive), 3);
}

#[test]
fn rule_is_deleted_with_its_decisions_and_undo_restores_both() {
    let mut app = app();
    let id = app.model.data.findings.value().unwrap().items()[0].id;
    app.model.cursor(Pane::Findings).select_id(id.0);
    app.keys("t j j f");
    let ruled = |app: &TestDashboard| {
        let all = (1..=4).map(|id| assessment(app, id));
        all.filter(|decided| matches!(decided.source, VerdictSource::Rule(_)))
            .count()
    };
    assert_eq!(ruled(&app), 3);
    app.keys("g r D");
    assert!(app.model.rules().is_empty() && app.model.overlay.modals.is_empty());
    assert_eq!(ruled(&app), 0);
    assert!(app.notices().contains(" deleted"), "{}", app.notices());
    app.keys("u");
    assert_eq!((ruled(&app), app.model.rules().len()), (3, 1));
}

#[test]
fn rules_list_shows_reason_and_last_day_before_author() {
    let mut app = app();
    let id = app.model.data.findings.value().unwrap().items()[0].id;
    app.model.cursor(Pane::Findings).select_id(id.0);
    app.keys("t r 'def' enter j j a");
    let until = app.model.rules()[0].decision.until.unwrap();
    app.keys("g r");
    let screen = app.frame().join("\n");
    assert!(screen.contains(&format!("until {until}")), "{screen}");
    assert!(screen.contains("deferred"), "{screen}");
    app.at += Duration::from_secs(200 * 86_400);
    app.keys("j");
    let screen = app.frame().join("\n");
    assert!(screen.contains(&format!("expired {until}")), "{screen}");
}

#[test]
fn next_decision_replaces_undo_hint_of_previous_decision() {
    let mut app = app();
    app.keys("g g space j space c y");
    let first = app.notices();
    assert!(first.contains(" · u undoes"), "{first}");
    app.keys("G space k space f y");
    let both = app.notices();
    assert_eq!(both.matches(" · u undoes").count(), 1, "{both}");
    assert!(both.contains("false positive"), "{both}");
}

#[test]
fn decision_on_a_single_marked_row_elsewhere_is_reported() {
    let mut app = app();
    app.keys("g g space G c");
    assert!(
        app.notices().starts_with("confirmed on "),
        "{}",
        app.notices()
    );
    app.keys("esc esc G f");
    assert!(
        !app.notices().contains("false positive on"),
        "{}",
        app.notices()
    );
}

#[test]
fn severity_override_counts_in_order_counts_and_queries() {
    let mut app = TestDashboard::new();
    app.keys("3 G");
    let before = app.shown(Pane::Findings);
    assert_eq!(
        (app.selected(Pane::Findings), &before[..]),
        (Some(5), &[1, 2, 3, 4, 6, 5][..])
    );
    app.keys("t s 'crit' enter enter");
    assert_eq!(
        app.shown(Pane::Findings),
        before,
        "a decided row keeps its place"
    );
    assert_eq!(app.model.risks_of(TargetId(3)), Some([1, 0, 0, 0, 1]));
    let copied = app.keys("y m").into_iter().find_map(|effect| match effect {
        Effect::Copy { text, .. } => Some(text),
        _ => None,
    });
    assert!(
        copied
            .as_ref()
            .is_some_and(|text| text.starts_with("## critical: Banner")),
        "{copied:?}"
    );
    let high = app
        .model
        .settings
        .tabs
        .saved
        .iter()
        .position(|tab| tab.query.starts_with("risk>=high"))
        .unwrap();
    assert_eq!(app.model.settings.tabs.counts[high], 3);
    app.keys("r");
    assert_eq!(app.shown(Pane::Findings), [5, 1, 2, 3, 4, 6]);
    app.keys(": 'verdict confirmed on risk:critical' enter");
    assert!(
        app.prompt().question.contains("Mark 2 findings"),
        "{}",
        app.prompt().question
    );
    app.keys("esc u r");
    assert_eq!(
        (app.model.risks_of(TargetId(3)), app.shown(Pane::Findings)),
        (Some([0, 0, 0, 0, 2]), before)
    );
}
