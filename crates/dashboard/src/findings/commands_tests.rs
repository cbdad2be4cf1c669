//! Commands that decide, report, compare and export findings.

use crate::base::SavedExport;
use crate::core::commands::tests::*;
use crate::forms::FieldId;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::triage::{Reason, Verdict};

fn recorded(effects: &[Effect]) -> Vec<Change> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events),
        _ => None,
    });
    events.flatten().map(|event| event.change.clone()).collect()
}

#[test]
fn verdict_command_decides_chosen_findings_with_details() {
    let mut app = app();
    let effects = run(
        &mut app,
        "verdict false_positive reason=not_reproducible note=\"two tries\" tag=a,b",
    );
    let changes = recorded(&effects);
    let Change::Decide(decision) = &changes[0] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (decision.verdict, decision.reason),
        (Verdict::FalsePositive, Some(Reason::NotReproducible))
    );
    assert!(changes.contains(&Change::Note("two tries".into())));
    assert!(changes.contains(&Change::Tag {
        add: vec!["a".into(), "b".into()],
        remove: Vec::new()
    }));
    assert_eq!(
        recorded(&run(&mut app, "tag -a +c")),
        [Change::Tag {
            add: vec!["c".into()],
            remove: vec!["a".into()]
        }]
    );
    assert_eq!(
        recorded(&run(&mut app, "note asked the owner")),
        [Change::Note("asked the owner".into())]
    );
    assert_eq!(recorded(&run(&mut app, "undo")), [Change::Undo]);
    app.keys("4 : 'note x' enter");
    assert!(
        app.notices().contains("no findings selected"),
        "{}",
        app.notices()
    );
}

#[test]
fn me_in_a_query_is_the_own_name() {
    let mut app = app();
    let assigned = app.selected(Pane::Findings).unwrap();
    run(&mut app, "assign me");
    app.keys("/ ctrl-u 'assignee:me' enter");
    assert_eq!(app.model.lists.findings.filter, "assignee:ann@box");
    assert_eq!(app.shown(Pane::Findings), [assigned]);
    run(&mut app, "findings -by:me");
    assert_eq!(app.model.lists.findings.filter, "-by:ann@box");
    app.model.findings.triage.writer = None;
    app.keys("/ ctrl-u 'assignee:me' enter");
    assert!(
        app.notices().contains("queries do not know who you are"),
        "{}",
        app.notices()
    );
}

#[test]
fn assign_and_due_change_the_marked_findings_and_undo_restores_them() {
    let mut app = app();
    app.keys("space space");
    let to_bob = Change::Assign(Some("bob".into()));
    assert_eq!(
        recorded(&run(&mut app, "assign @bob")),
        [to_bob.clone(), to_bob]
    );
    assert_eq!(recorded(&run(&mut app, "undo")), [Change::Undo]);
    app.keys("*");
    app.keys("*");
    let me = Change::Assign(Some(app.model.own_name()));
    assert_eq!(recorded(&run(&mut app, "assign me")), [me]);
    assert_eq!(recorded(&run(&mut app, "assign me")), []);
    assert!(app.notices().contains("already assigned to ann@box"));
    assert_eq!(
        recorded(&run(&mut app, "assign nobody")),
        [Change::Assign(None)]
    );
    let day = app
        .model
        .today()
        .checked_add(jiff::Span::new().days(7))
        .ok();
    assert_eq!(recorded(&run(&mut app, "due +7d")), [Change::Due(day)]);
    assert_eq!(recorded(&run(&mut app, "due none")), [Change::Due(None)]);
    app.keys(": 'due 2020-01-01' enter");
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Command(_))
    ));
}

#[test]
fn verdict_on_query_prompts_with_number_of_findings() {
    let mut app = app();
    let effects = app.keys(": 'verdict risk_accepted until=2027-01-31 on name:git' enter");
    assert_eq!(
        (recorded(&effects), app.prompt().question.as_str()),
        (
            vec![],
            "Mark 2 findings that match name:git as risk accepted?"
        )
    );
    app.at += Duration::from_secs(1);
    let changes = recorded(&app.keys("enter"));
    assert_eq!(changes.len(), 2);
    let until = changes
        .iter()
        .all(|change| matches!(change, Change::Decide(it) if it.until == Some(jiff::civil::date(2027, 1, 31))));
    assert!(until, "{changes:?}");
    app.keys(": 'verdict fixed on name:nothing' enter");
    assert!(
        app.notices().contains("no finding matches name:nothing"),
        "{}",
        app.notices()
    );
}

#[test]
fn verdict_on_query_of_one_finding_prompts_in_the_singular() {
    let mut app = app();
    app.keys(": 'verdict confirmed on name:cookie' enter");
    assert_eq!(
        app.prompt().question,
        "Mark 1 finding that matches name:cookie as confirmed?"
    );
}

#[test]
fn rule_command_shows_matches_and_records_after_enter() {
    let mut app = app();
    for option in ["note=\"lab\"", "tag=lab", "severity=low"] {
        app.keys(&format!(
            ": 'rule not_applicable {option} on name:git' enter"
        ));
        let word = option.split('=').next().unwrap();
        let refusal = format!("a rule has no {word}");
        assert!(
            app.notices().contains(&refusal)
                || line(&app)
                    .fault
                    .as_ref()
                    .is_some_and(|fault| fault.reason.contains(&refusal)),
            "{option}"
        );
        app.keys("esc esc");
    }
    app.keys(": 'rule not_applicable reason=by_design on name:git' enter");
    assert_eq!(
        app.prompt().question,
        "Add the rule \"not applicable\" for name:git?"
    );
    assert_eq!(app.prompt().lines[1], "Reason: by design.");
    app.at += Duration::from_secs(1);
    let changes = recorded(&app.keys("y"));
    assert!(
        matches!(&changes[..], [Change::Rule { query, .. }] if query.as_str() == "name:git"),
        "{changes:?}"
    );
    assert_eq!(
        app.shown(Pane::Findings).len(),
        6,
        "decided rows are shown until the filter is applied again"
    );
    app.keys("r");
    assert_eq!(
        app.shown(Pane::Findings),
        [1, 4, 6, 5],
        "findings decided by the rule are hidden"
    );
    app.keys(": 'findings name:git' enter enter > > >");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("rule name:git: not applicable, by"),
        "{screen}"
    );
    assert!(!screen.contains("no decisions yet"), "{screen}");
}

#[test]
fn duplicate_accepts_id_or_words_of_name() {
    let mut app = app();
    app.keys("3 j");
    let of = |app: &TestDashboard, name: &str| {
        let table = app.model.data.findings.value().unwrap();
        table
            .items()
            .iter()
            .find(|issue| issue.name.as_str() == name)
            .unwrap()
            .key()
    };
    let changes = recorded(&run(
        &mut app,
        "verdict duplicate note=\"see there\" of private key",
    ));
    let [Change::Decide(decision), Change::Note(note)] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (decision.verdict, decision.duplicate_of),
        (Verdict::Duplicate, Some(of(&app, "Private key")))
    );
    assert_eq!(note.as_str(), "see there");
    app.keys("G");
    let changes = recorded(&run(&mut app, "verdict duplicate of 4"));
    assert!(
        matches!(&changes[..], [Change::Decide(it), ..] if it.duplicate_of == Some(of(&app, "Cookie flags"))),
        "{changes:?}"
    );
    for (typed, why) in [
        ("verdict duplicate", "needs its original"),
        ("verdict fixed of 4", "verdict duplicate only"),
    ] {
        assert!(recorded(&app.keys(&format!(": '{typed}' enter"))).is_empty());
        assert!(app.notices().contains(why), "{typed}: {}", app.notices());
    }
}

#[test]
fn report_and_manual_finding_commands_fill_in_arguments() {
    let mut app = app();
    app.keys(": 'report csv by scandeck on name:git' enter");
    let form = app.form();
    let chosen = |id| match &form.field(id).unwrap().value {
        crate::forms::FieldValue::Choice { options, at } => options[*at].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [FieldId::MadeBy, FieldId::Format, FieldId::Resources].map(chosen),
        ["scandeck, with decisions", "csv", "name:git (2)"]
    );
    let made = app
        .keys("ctrl-o")
        .into_iter()
        .find_map(|effect| match effect {
            Effect::Export(exported) => Some((exported.format, exported.rows.len())),
            _ => None,
        });
    assert_eq!(made, Some((ExportFormat::Csv, 2)));
    app.keys(": 'report html on name:nothing' enter");
    assert!(
        app.notices().contains("no finding matches name:nothing"),
        "{}",
        app.notices()
    );

    app.keys(": 'manual finding \"SSRF on the way in\" risk critical on t3' enter");
    let form = app.form();
    assert_eq!(
        (
            form.text(FieldId::Name).as_str(),
            form.choice(FieldId::Risk)
        ),
        ("SSRF on the way in", 0)
    );
    assert_eq!(form.text(FieldId::TargetName), "t3.acme.test");
    let changes = recorded(&app.keys("ctrl-o"));
    assert!(
        matches!(&changes[..], [Change::Manual(own)] if own.name.as_str() == "SSRF on the way in"),
        "{changes:?}"
    );
}

#[test]
fn notice_of_an_export_counts_its_rows() {
    let mut app = app();
    app.keys(": 'export csv' enter");
    assert!(
        app.notices().contains("saving findings-"),
        "{}",
        app.notices()
    );
    app.send(Msg::Exported(Ok(SavedExport {
        path: "/tmp/f.csv".into(),
        contents: "2 findings".into(),
        is_masked: false,
    })));
    assert!(
        app.notices().contains("2 findings saved to /tmp/f.csv")
            && !app.notices().contains("saving"),
        "{}",
        app.notices()
    );
    let failed = Problem::local("f.csv not written: disk full");
    app.send(Msg::Exported(Err(failed)));
    assert!(
        app.notices().contains("f.csv not written: disk full"),
        "{}",
        app.notices()
    );
}

#[test]
fn details_are_validated_and_completed_while_typing() {
    let mut app = app();
    app.keys(": 'verdict fal' tab 're' tab 'notrep' tab");
    assert_eq!(
        line(&app).input.text(),
        "verdict false_positive reason=not_reproducible "
    );
    app.keys("'reason=by_design'");
    let fault = line(&app).fault.clone().unwrap();
    assert!(fault.reason.contains("not_reproducible"), "{fault}");
    assert_eq!(&line(&app).input.text()[fault.at], "by_design");
}

#[test]
fn seen_command_marks_findings_of_query() {
    let mut app = app();
    let effects = run(&mut app, "seen risk:info");
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::MarkSeen { keys, .. } if keys.len() == 2))
    );
}

#[test]
fn compare_and_retest_commands_open_board() {
    let mut app = app();
    run(&mut app, "compare 1 4");
    assert_eq!(app.model.navigation.focus.pane, Pane::Board);
    app.keys("3 : 'compare 1 9'");
    assert_eq!(
        line(&app).fault.as_ref().unwrap().reason,
        "scan `9` not found in this workspace"
    );
    app.keys("ctrl-u 'compare 1 1' enter");
    assert!(app.notices().contains("with itself"), "{}", app.notices());
    run(&mut app, "retest");
}

#[test]
fn export_prefers_query_then_marked_then_shown() {
    let mut app = app();
    let mut exported = |keys: &str| {
        let found = app
            .keys(&format!(": '{keys}' enter"))
            .into_iter()
            .find_map(|effect| match effect {
                Effect::Export(exported) => Some(exported),
                _ => None,
            });
        found.map(|it| {
            (
                it.name,
                it.format,
                it.rows
                    .iter()
                    .map(|row| row.issue.finding.id.0)
                    .collect::<Vec<_>>(),
            )
        })
    };
    assert_eq!(
        exported("export csv name:git to git.csv"),
        Some(("git.csv".into(), ExportFormat::Csv, vec![2, 3]))
    );
    let all = vec![1, 2, 3, 4, 6, 5];
    assert_eq!(
        exported("export vex"),
        Some(("findings-Acme.cdx.json".into(), ExportFormat::Vex, all))
    );
    assert_eq!(exported("mark risk:low"), None);
    assert_eq!(
        exported("export sarif"),
        Some(("findings-Acme.sarif".into(), ExportFormat::Sarif, vec![4]))
    );
    assert_eq!(exported("export csv name:nothing"), None);
    assert!(
        app.notices().contains("no findings to export"),
        "{}",
        app.notices()
    );
}

#[test]
fn verdict_and_format_names_of_palette_parse() {
    for (offered, known) in [
        ("verdict ", Verdict::ALL.len()),
        ("rule ", Verdict::ALL.len() - 1),
        ("export ", ExportFormat::ALL.len()),
    ] {
        let mut app = app();
        app.keys(&format!(": '{offered}'"));
        // A rule makes no duplicates.
        assert_eq!(crate::findings::commands_tests::offered(&app).len(), known);
    }
}

#[test]
fn absent_finding_is_counted_nowhere() {
    let mut app = TestDashboard::new();
    let ended = crate::findings::retest::tests::ended;
    let found = crate::findings::retest::tests::found;
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 1, -600),
    ])));
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Private key", Risk::Critical),
        found(2, 1, 1, "Other key", Risk::Critical),
        found(3, 2, 1, "Other key", Risk::Critical),
    ])));
    assert_eq!(app.model.risks_of(TargetId(1)), Some([1, 0, 0, 0, 0]));
    let tabs = &app.model.settings.tabs;
    let high = tabs
        .saved
        .iter()
        .position(|saved| saved.name == "High+")
        .unwrap();
    assert_eq!(tabs.counts[high], 1);
    app.model.open_tab(high);
    assert_eq!(app.shown(Pane::Findings).len(), 1);
    app.model.set_query(Pane::Findings, "is:absent").unwrap();
    assert_eq!(app.shown(Pane::Findings).len(), 1);
}

#[test]
fn rule_command_counts_findings_that_the_rule_changes() {
    let mut app = app();
    let line = |app: &mut TestDashboard| {
        app.keys(": 'rule not_applicable reason=by_design on name:git' enter");
        app.prompt().lines[0].clone()
    };
    assert_eq!(line(&mut app), "2 findings match now, 2 change.");
    app.keys("esc 3 j c o");
    assert_eq!(
        line(&mut app),
        "2 findings match now, 1 changes.",
        "a reopened finding is decided by a person"
    );
    app.at += Duration::from_secs(1);
    app.keys("y g r");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("by design  decides 1 finding  ann@"),
        "{screen}"
    );
}
