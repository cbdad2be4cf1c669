//! Deciding: verdict keys, marks, rows that keep their place, undo.

use crate::core::Msg;
use crate::data::TriageNews;
use crate::testing::*;
use scandeck_domain::triage::{
    Change, Decision, Event, Identity, IssueId, Subject, Verdict, VerdictSource,
};

/// The verdict of the finding with this id at the service, if a person gave one.
fn verdict(app: &TestDashboard, finding: i64) -> Option<Verdict> {
    let table = app.model.data.findings.value().unwrap();
    let issue = table
        .items()
        .iter()
        .find(|issue| issue.finding.id.0 == finding)
        .unwrap();
    let assessment = app.model.assessment(issue.id).unwrap();
    (assessment.source == VerdictSource::Person).then_some(assessment.verdict)
}

fn decided(app: &TestDashboard) -> Vec<(i64, Verdict)> {
    (1..=6)
        .filter_map(|id| Some((id, verdict(app, id)?)))
        .collect()
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
        let mut app = TestDashboard::new();
        let effects = app.keys(&format!("j {key}"));
        assert_eq!(decided(&app), [(2, given)], "{key}");
        assert_eq!(app.selected(Pane::Findings), Some(2), "the cursor stays");
        let events = recorded(&effects);
        let Change::Decide(decision) = &events[0].change else {
            panic!("{events:?}")
        };
        let seen = decision.seen.as_ref().unwrap();
        assert_eq!(
            (seen.finding, seen.risk),
            (FindingId(2), Risk::High),
            "what was on the screen is written with it"
        );
        assert_eq!(
            decision.until.is_some(),
            key == "a",
            "only what is accepted ends by itself"
        );
        assert!(
            effects
                .iter()
                .any(|effect| matches!(effect, Effect::MarkSeen { keys, .. } if keys.len() == 1))
        );
    }
}

#[test]
fn decision_is_saving_until_it_is_on_disk() {
    let mut app = TestDashboard::new();
    let case = &app.model.data.findings.value().unwrap().items()[0];
    let (key, subject) = (
        case.key(),
        Subject::Finding(Identity {
            key: case.key(),
            ..Identity::default()
        }),
    );
    let decision = Decision {
        verdict: Verdict::Confirmed,
        ..Decision::default()
    };
    let mut effects = Vec::new();
    app.model
        .record(vec![(subject, Change::Decide(decision))], &mut effects)
        .unwrap();
    assert!(app.model.findings.triage.is_saving(key));
    let problem = Arc::new(Problem::local("the disk is full"));
    app.send(Msg::Triage(TriageNews::Retrying(problem)));
    assert!(
        app.model.cannot_decide().is_none(),
        "further decisions wait for the disk"
    );
    assert!(app.keys("q").is_empty());
    assert!(
        app.prompt()
            .lines
            .iter()
            .any(|line| line.contains("1 decision")),
        "{:?}",
        app.prompt()
    );
    app.keys("esc");
    app.send(Msg::Triage(TriageNews::Recovered));
    app.send(Msg::Triage(TriageNews::Saved));
    assert!(
        !app.model.findings.triage.is_saving(key) && app.model.findings.triage.problem.is_none()
    );
}

#[test]
fn upper_case_selects_next_row_and_dot_repeats() {
    let mut app = TestDashboard::new();
    app.keys("j F . .");
    let all = [2, 3, 4].map(|id| (id, Verdict::FalsePositive));
    assert_eq!(decided(&app), all);
    assert_eq!(
        app.shown(Pane::Findings)
            .iter()
            .position(|&id| Some(id) == app.selected(Pane::Findings)),
        Some(4)
    );
}

#[test]
fn accepted_risk_expires_after_90_days() {
    let mut app = TestDashboard::new();
    let events = recorded(&app.keys("j a"));
    let Change::Decide(decision) = &events[0].change else {
        panic!()
    };
    let today = app.model.today();
    assert_eq!(
        decision
            .until
            .map(|until| today.until(until).unwrap().get_days()),
        Some(90)
    );
}

#[test]
fn verdict_that_replaces_another_says_so() {
    let mut app = TestDashboard::new();
    app.keys("3 c");
    assert_eq!(app.notices(), "", "the row shows a first verdict");
    app.keys("c");
    assert!(
        app.notices().contains("already confirmed"),
        "{}",
        app.notices()
    );
    app.keys("f");
    let notices = app.notices();
    assert!(
        notices.contains("false positive on ") && notices.contains(", was confirmed ·"),
        "{notices}"
    );
    assert!(!notices.contains("already"), "{notices}");
    app.keys("* w");
    assert!(
        app.notices().contains(", replaces 1 decision"),
        "{}",
        app.notices()
    );
}

#[test]
fn repeated_verdict_records_nothing() {
    let mut app = TestDashboard::new();
    app.keys("j f");
    let effects = app.keys("f");
    assert!(recorded(&effects).is_empty());
    assert!(app.notices().contains("already"), "{}", app.notices());
}

#[test]
fn marked_rows_are_decided_and_undo_restores_marks() {
    let mut app = TestDashboard::new();
    app.keys("j space space c");
    assert_eq!(
        decided(&app),
        [(2, Verdict::Confirmed), (3, Verdict::Confirmed)]
    );
    assert!(app.model.lists.findings.marks.is_empty());
    app.keys("u");
    assert_eq!(decided(&app), []);
    assert_eq!(app.model.lists.findings.marks.len(), 2);
    app.keys("U");
    assert_eq!(decided(&app).len(), 2);
    assert!(app.model.lists.findings.marks.is_empty());
}

#[test]
fn decided_rows_are_counted_beside_a_query_as_long_as_the_line() {
    let mut app = TestDashboard::new();
    app.send(Msg::Resize(Size {
        columns: 80,
        rows: 24,
    }));
    app.keys("3 / 'is:undecided -name:aaaaaaaaaaaaaaaaaaaaaaaaaaaa risk>=info -name:bbbbbbbbbbbbbbbbbbb' enter g g f");
    assert!(
        app.frame().concat().contains("1 decided · r hides it"),
        "{}",
        app.frame().join("\n")
    );
}

#[test]
fn list_counts_the_decided_rows_that_its_filter_hides() {
    let mut app = TestDashboard::new();
    let names_them =
        |app: &mut TestDashboard| app.frame().join("\n").contains("2 decided · r hides them");
    app.keys("3 / 'is:undecided' enter g g");
    assert!(!names_them(&mut app));
    assert!(!app.frame().join("\n").contains("DECISION"));
    app.keys("f j f");
    assert!(app.frame().join("\n").contains("DECISION"));
    assert!(names_them(&mut app), "{}", app.frame().join("\n"));
    // A row that the filter shows again does not count.
    app.keys("j f u");
    assert!(names_them(&mut app), "{}", app.frame().join("\n"));
    app.keys("r");
    assert!(!names_them(&mut app));
}

/// The line with the titles of the columns.
fn titles(app: &mut TestDashboard) -> String {
    let header = app.frame().into_iter().find(|line| line.contains("RISK"));
    header.unwrap_or_default().trim_end().to_owned()
}

#[test]
fn longer_decision_does_not_move_the_columns() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("3 x");
    let first = titles(&mut app);
    assert!(first.contains("DECISION"), "{first}");
    app.keys("j c");
    assert_eq!(titles(&mut app), first);
}

#[test]
fn first_decision_removes_no_column() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.feed(Snapshot::Targets(table([
        target(1, "127.0.0.1:8300"),
        target(2, "127.0.0.2:8300"),
    ])));
    app.feed(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::Finished, 100),
        scan(2, 2, ScanStatus::Finished, 100),
    ])));
    let name = "Readable secret in the configuration of a web";
    app.feed(Snapshot::Findings(table([
        finding(1, 1, name, Risk::High),
        finding(2, 2, name, Risk::High),
    ])));
    app.keys("3");
    let before = titles(&mut app);
    assert!(before.contains('Δ'), "{before}");
    app.keys("c");
    let after = titles(&mut app);
    let mut shown = before.split_whitespace();
    assert!(
        after.contains("DECISION") && shown.all(|title| after.contains(title)),
        "{before} {after}"
    );
}

#[test]
fn first_decision_moves_no_column_beside_the_names() {
    let titles_of_list = |app: &mut TestDashboard| {
        let line = titles(app);
        let list = line.split_once("RISK").unwrap().1;
        let list = list.split(['│', '┃']).next().unwrap_or_default();
        list.to_owned()
    };
    let places = |line: &str| {
        let beside = line.split_whitespace().skip_while(|&word| word != "TARGET");
        let place = |title: &str| Some(line[..line.find(title)?].chars().count());
        beside.map(place).collect::<Vec<Option<usize>>>()
    };
    let short = ["127.0.0.1:8300", "127.0.0.2:8300"];
    let long = ["[2001:db8:0:1::17]:8300", "[2001:db8:0:1::18]:8300"];
    for (columns, rows, hosts) in [(80, 24, short), (80, 24, long), (200, 60, short)] {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size { columns, rows };
        app.feed(Snapshot::Targets(table([
            target(1, hosts[0]),
            target(2, hosts[1]),
        ])));
        let name = "Readable secret in the configuration of a web server of the shop";
        app.feed(Snapshot::Findings(table([
            finding(1, 1, name, Risk::High),
            finding(2, 2, name, Risk::High),
        ])));
        app.keys("3");
        let before = titles_of_list(&mut app);
        assert!(!before.contains("DECISION") && !places(&before).is_empty());
        for keys in ["c", "j f"] {
            app.keys(keys);
            let after = titles_of_list(&mut app);
            assert!(after.contains("DECISION"), "{after}");
            assert_eq!(places(&after), places(&before), "{before}\n{after}");
        }
    }
}

#[test]
fn range_is_decided_without_marks() {
    let mut app = TestDashboard::new();
    app.keys("j v j j w");
    assert_eq!(
        decided(&app),
        [2, 3, 4].map(|id| (id, Verdict::NotApplicable))
    );
    assert_eq!(app.model.lists.findings.range_from, None);
}

#[test]
fn undo_describes_batch_and_selects_finding() {
    let mut app = TestDashboard::new();
    app.keys("j f G x 4 u");
    assert!(
        app.notices().contains("undone: fixed on Banner"),
        "{}",
        app.notices()
    );
    assert_eq!(
        (
            app.model.navigation.focus.pane,
            app.selected(Pane::Findings)
        ),
        (Pane::Findings, Some(5))
    );
    app.keys("u");
    assert!(
        app.notices()
            .contains("undone: false positive on Git repository"),
        "{}",
        app.notices()
    );
    assert_eq!(
        (app.selected(Pane::Findings), decided(&app).len()),
        (Some(2), 0)
    );
    app.keys("u");
    assert!(app.notices().contains("nothing to undo"));
    app.keys("ctrl-r ctrl-r");
    assert_eq!(
        decided(&app),
        [(2, Verdict::FalsePositive), (5, Verdict::Fixed)]
    );
    app.keys("3 c");
    assert!(!app.notices().contains("done: "), "{}", app.notices());
}

#[test]
fn undo_in_other_workspace_prompts() {
    let mut app = TestDashboard::new();
    app.keys("j f");
    app.model.work_in(WorkspaceId(2));
    app.keys("u");
    assert!(
        app.prompt().question.contains("Acme"),
        "{}",
        app.prompt().question
    );
    app.keys("n u");
    assert_eq!(
        app.model
            .findings
            .triage
            .state
            .batch(
                app.model
                    .findings
                    .triage
                    .state
                    .last_done("ann@test")
                    .unwrap()
            )
            .len(),
        1
    );
    app.keys("y");
    assert_eq!(app.model.findings.triage.state.last_done("ann@test"), None);
}

#[test]
fn undo_after_a_rename_of_the_workspace_needs_no_prompt() {
    let mut app = TestDashboard::new();
    app.keys("j f");
    let workspaces = app.model.data.workspaces.value().unwrap();
    let renamed = workspaces.items().iter().map(|one| Workspace {
        name: match &*one.name {
            "Acme" => "Acme 2".into(),
            _ => one.name.clone(),
        },
        ..Workspace::clone(one)
    });
    let renamed: Vec<Workspace> = renamed.collect();
    app.feed(Snapshot::Workspaces(table(renamed)));
    app.keys("u");
    assert!(
        app.notices()
            .contains("undone: false positive on Git repository"),
        "{}",
        app.notices()
    );
    assert!(decided(&app).is_empty());
}

#[test]
fn decided_row_remains_until_filter_is_applied_again() {
    for again in ["r", "4", "/ 'x' esc", "2"] {
        let mut app = TestDashboard::new();
        app.keys("/ 'git' enter j");
        let selected = app.model.lists.findings.selected.unwrap();
        app.keys("f");
        // As a query on decisions would: the row is no longer found.
        app.model.lists.findings.filter = "repository".into();
        app.feed(Snapshot::Findings(table([
            finding(2, 1, "Git repository", Risk::High),
            finding(3, 2, "Git ignored", Risk::Medium),
            finding(5, 3, "Banner", Risk::Info),
        ])));
        assert_eq!(app.shown(Pane::Findings), [2, 3], "polling keeps it");
        assert_eq!(app.model.lists.findings.selected, Some(selected));
        app.keys(again);
        assert_eq!(app.shown(Pane::Findings), [2], "after {again}");
    }
}

/// Findings that all have the word, so that a filter can hide some.
fn many(count: i64) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table((1..=count).map(one))));
    app
}

/// One of many, of a class of its own.
pub(crate) fn one(id: i64) -> Finding {
    Finding {
        vuln_id: format!("KIND-{id}").into(),
        ..finding(id, 1, &format!("finding {id}"), Risk::Info)
    }
}

fn count(app: &TestDashboard) -> usize {
    app.model
        .findings
        .triage
        .assessments
        .iter()
        .filter(|assessment| assessment.source == VerdictSource::Person)
        .count()
}

#[test]
fn first_decision_does_not_copy_all_assessments() {
    let mut app = many(1000);
    let leaves = |app: &TestDashboard| -> Vec<_> {
        let assessments = &app.model.findings.triage.assessments;
        assessments.leaves().map(<[_]>::as_ptr).collect()
    };
    let before = leaves(&app);
    app.keys("f");
    assert_eq!(count(&app), 1);
    let after = leaves(&app);
    let copied = before.iter().filter(|leaf| !after.contains(leaf)).count();
    assert_eq!((copied, after.len() > 10), (1, true), "of {}", after.len());
}

#[test]
fn decision_over_20_findings_prompts_with_their_number() {
    let mut app = many(20);
    app.keys("* f");
    assert_eq!(count(&app), 20);
    let mut app = many(21);
    app.keys("* f");
    assert_eq!(count(&app), 0);
    assert!(
        app.prompt()
            .question
            .contains("Mark 21 findings as false positive: "),
        "{}",
        app.prompt().question
    );
    app.keys("f");
    assert_eq!(
        count(&app),
        0,
        "the key that opened the prompt does not confirm it"
    );
    app.keys("enter");
    assert_eq!(count(&app), 21);
    app.keys("u");
    assert_eq!((count(&app), app.model.lists.findings.marks.len()), (0, 21));
    app.keys("f y");
    assert_eq!(
        (count(&app), app.model.overlay.modals.len()),
        (0, 1),
        "only enter confirms"
    );
    app.keys("n");
    assert_eq!((count(&app), app.model.overlay.modals.len()), (0, 0));
}

#[test]
fn hidden_marked_rows_need_explicit_key() {
    for (answer, expected) in [("enter", 1), ("a", 3), ("esc", 0)] {
        let mut app = many(30);
        app.keys("space space space / 'finding 3' enter");
        assert_eq!(app.chosen(Pane::Findings).1.len(), 2);
        app.keys("c");
        assert!(
            app.prompt().lines[0].contains("includes 2 hidden marked findings"),
            "{:?}",
            app.prompt().lines
        );
        app.keys(answer);
        assert_eq!(count(&app), expected, "{answer}");
        assert_eq!(app.model.lists.findings.marks.len(), 3 - expected);
    }
}

#[test]
fn verdict_keys_without_writer_show_reason() {
    let mut app = TestDashboard::new();
    app.model.findings.triage.writer = None;
    app.model.findings.triage.problem = Some(Arc::new(Problem::local(
        "the state directory cannot be written to",
    )));
    for key in ["c", "F", ".", "u"] {
        app.model.overlay.notices = Default::default();
        let effects = app.keys(key);
        assert!(recorded(&effects).is_empty());
        assert!(
            app.notices().contains("cannot be") || key == ".",
            "{key}: {}",
            app.notices()
        );
    }
}

#[test]
fn reason_defaults_to_last_decision_on_class_and_note_to_none() {
    use scandeck_domain::triage::{Draft, DraftValue, Reason};
    let mut app = TestDashboard::new();
    let kind = |id, target| Finding {
        vuln_id: "CSP".into(),
        ..finding(id, target, "No CSP", Risk::Low)
    };
    app.feed(Snapshot::Findings(table([
        kind(1, 1),
        kind(2, 2),
        kind(3, 3),
        kind(4, 4),
    ])));
    let first: IssueId = app.model.lists.findings.selected.unwrap();
    let draft = Draft {
        reason: DraftValue::Set(Reason::WrongProduct),
        note: DraftValue::Set("behind the WAF".into()),
        ..Draft::of(Verdict::FalsePositive)
    };
    app.model.decide(&[first], &draft, &mut Vec::new());
    app.keys("j f j x j f");
    let rows = app.model.lists.findings.rows.clone();
    let assessment = |app: &TestDashboard, row: usize| {
        app.model.findings.triage.assessments[rows[row] as usize].clone()
    };
    assert_eq!(
        (assessment(&app, 1).reason, assessment(&app, 1).notes),
        (Some(Reason::WrongProduct), 0)
    );
    assert_eq!(
        (assessment(&app, 2).reason, assessment(&app, 2).notes),
        (None, 0),
        "a reason must fit the verdict"
    );
    assert_eq!(
        (assessment(&app, 3).reason, assessment(&app, 3).notes),
        (Some(Reason::WrongProduct), 0),
        "an earlier one does"
    );
}

/// Presses a key 400 times in two seconds, as a held key does; a frame every 16 ms.
fn hold(app: &mut TestDashboard, key: &str) -> usize {
    let event = events(key)[0];
    let mut events = 0;
    for press in 0..400 {
        app.at += Duration::from_millis(5);
        let measures = app.model.screen.measures.clone();
        let effects = update(&mut app.model, now(app.at), Msg::Key(event));
        events += recorded(&effects).len();
        if press % 3 == 0 {
            let row = app.model.selected_row(Pane::Findings);
            app.model.drawn(
                app.at,
                Measures {
                    row,
                    ..measures.clone()
                },
            );
        }
    }
    events
}

fn now(at: Duration) -> Now {
    Now {
        mono: at,
        wall: stamp().0,
    }
}

#[test]
fn held_verdict_key_decides_one_finding_or_at_most_14_when_advancing() {
    let start = many(60);
    for key in ["c", "f", "a", "w", "x", "i", "o"] {
        let mut app = start.copy();
        app.keys("j");
        assert_eq!((hold(&mut app, key), count(&app)), (1, 1), "{key}");
    }
    for key in ["C", "F", "A", "W", "X", "I", "O", "."] {
        let mut app = start.copy();
        app.keys("j c");
        let held = hold(&mut app, key);
        assert!((2..=14).contains(&held), "{key}: {held}");
        assert!(
            app.notices()
                .contains(&format!("{key} ignored: pressed too soon")),
            "{}",
            app.notices()
        );
    }
}

#[test]
fn row_selected_without_key_is_not_decided_before_it_was_seen() {
    let mut app = many(5);
    app.keys("j");
    let removed = app.selected(Pane::Findings).unwrap();
    let rest = (1..=5).filter(|&id| id != removed).map(one);
    app.feed(Snapshot::Findings(table(rest)));
    app.at += Duration::from_millis(149);
    app.send(Msg::Key(events("f")[0]));
    assert_eq!(count(&app), 0);
    app.at += Duration::from_millis(1);
    app.send(Msg::Key(events("f")[0]));
    assert_eq!(count(&app), 1);
}
