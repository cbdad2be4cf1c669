//! Queries typed in a list: errors, completion, history, saved queries as tabs, and orders by
//! several fields.

use crate::core::update::Msg;
use crate::testing::*;
use scandeck_wire::contract::Shared;

fn line(app: &TestDashboard) -> (String, Option<String>) {
    match app.model.overlay.modals.last() {
        Some(Modal::Line(line)) => (
            line.input.text(),
            line.help.error.as_ref().map(ToString::to_string),
        ),
        other => panic!("expected a query line, got {other:?}"),
    }
}

fn tabs(app: &TestDashboard) -> Vec<(String, usize)> {
    let counts = app.model.settings.tabs.counts.iter().copied();
    app.model
        .settings
        .tabs
        .saved
        .iter()
        .map(|saved| saved.name.clone())
        .zip(counts)
        .collect()
}

#[test]
fn invalid_query_shows_error_and_keeps_list() {
    let mut app = TestDashboard::new();
    app.keys("/ 'risk>=high' space");
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
    app.send(Msg::Paste("risc:1".to_owned()));
    assert_eq!(
        line(&app).1.as_deref(),
        Some("unknown field `risc`; did you mean `risk`?")
    );
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
    app.keys("enter");
    assert!(
        app.notices()
            .contains("invalid query: unknown field `risc`"),
        "{}",
        app.notices()
    );
    app.keys("backspace backspace backspace backspace backspace backspace enter");
    assert_eq!(
        (app.model.overlay.modals.len(), app.shown(Pane::Findings)),
        (0, vec![1, 2])
    );
}

#[test]
fn verdict_typed_as_flag_names_its_field() {
    let mut app = TestDashboard::new();
    app.keys("/ ctrl-u 'is:confirmed'");
    assert!(
        line(&app)
            .1
            .unwrap()
            .ends_with("did you mean `verdict:confirmed`?"),
        "{:?}",
        line(&app).1
    );
}

#[test]
fn hints_of_a_filter_name_the_keys_that_complete_and_clear() {
    let mut app = TestDashboard::new();
    let hints = |app: &mut TestDashboard| app.frame().pop().unwrap();
    app.keys("/ ctrl-u");
    let empty = hints(&mut app);
    assert!(
        !empty.contains("clear") && !empty.contains("complete"),
        "{empty}"
    );
    app.keys("'ris'");
    let typed = hints(&mut app);
    assert!(
        typed.contains("ctrl-u clear") && typed.contains("tab complete"),
        "{typed}"
    );
}

#[test]
fn invalid_term_is_excluded_while_it_is_typed() {
    let mut app = TestDashboard::new();
    app.keys("/ ctrl-u");
    let all = app.shown(Pane::Findings);
    app.keys("'risk'");
    assert_ne!(app.shown(Pane::Findings), all, "a search for the word");
    app.keys("'>=foo'");
    assert_eq!(app.shown(Pane::Findings), all);
    assert!(line(&app).1.is_some());
}

#[test]
fn rows_remain_while_query_is_invalid() {
    let mut app = TestDashboard::new();
    app.keys("/ ctrl-u 'risk>=low risc>=high'");
    assert_eq!(app.shown(Pane::Findings), [1, 2, 3, 4]);
    app.keys("space 'risk:critical'");
    assert!(line(&app).1.is_some());
    assert_eq!(
        app.shown(Pane::Findings),
        [1, 2, 3, 4],
        "not the rows of the valid part"
    );
    app.keys("ctrl-u 'risk:critical'");
    assert_eq!(app.shown(Pane::Findings), [1]);
}

#[test]
fn reason_of_invalid_query_is_whole_beside_long_query() {
    for columns in [80, 100, 120] {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size { columns, rows: 40 };
        app.keys("3 / ctrl-u 'risk>=low port:80,443,8080,8443 name:certificate tag:client-acme class:cookie risc:1'");
        let frame = app.frame().join("\n");
        assert!(
            frame.contains("unknown field `risc`; did you mean `risk`?"),
            "{columns}: {frame}"
        );
        assert!(
            frame.contains("cookie risc:1"),
            "{columns}: the cursor is shown: {frame}"
        );
    }
}

#[test]
fn reason_without_room_beside_the_query_is_below_it() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    app.keys("3 / ctrl-u 'age>yesterday'");
    let frame = app.frame();
    let at = frame
        .iter()
        .position(|line| line.contains("/age>yesterday"))
        .unwrap();
    assert!(
        frame[at + 1].contains("invalid time `yesterday`; use 2d, 12h, 1w or 2026-10-01"),
        "{}",
        frame.join("\n")
    );
    assert!(
        frame[at + 2].contains("CRIT"),
        "the rows remain: {}",
        frame.join("\n")
    );
    app.keys("ctrl-u 'is:foo'");
    let frame = app.frame();
    assert!(
        frame[at + 1].contains("unknown flag `foo`") && !frame[at + 2].contains("CRIT"),
        "{}",
        frame.join("\n")
    );
    assert!(
        frame[at + 3].contains("CRIT"),
        "the first row follows the reason: {}",
        frame.join("\n")
    );
}

#[test]
fn rows_outside_the_scope_are_not_reported_as_hidden() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    app.feed(Snapshot::Findings(table((1..=5).map(|id| {
        finding(id, 1 + id % 2, &format!("Weakness {id}"), Risk::Low)
    }))));
    app.keys("2 g g enter 3");
    assert!(
        app.frame().join("\n").contains(" 1 of 3 ┛"),
        "{}",
        app.frame().join("\n")
    );
    app.keys("/ ctrl-u 'name:3' enter");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("3 Findings · 2 hidden ") && frame.contains(" 1 of 1 ┛"),
        "{frame}"
    );
    app.feed(Snapshot::Findings(table([finding(
        1,
        1,
        "Weakness",
        Risk::Low,
    )])));
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("this target has no findings · backspace shows those of others"),
        "{frame}"
    );
}

#[test]
fn retained_rows_are_not_reported_as_hidden() {
    let mut app = TestDashboard::new();
    let hides = |app: &TestDashboard| {
        app.model
            .lists
            .findings
            .why
            .iter()
            .map(|why| why.hides)
            .sum::<usize>()
    };
    let findings =
        |last| table((1..=last).map(|id| finding(id, 1, &format!("Weakness {id}"), Risk::High)));
    app.feed(Snapshot::Findings(findings(4)));
    app.keys("3 c j c");
    app.feed(Snapshot::Findings(findings(5)));
    assert_eq!((app.shown(Pane::Findings).len(), hides(&app)), (5, 0));
    app.keys("r");
    assert_eq!((app.shown(Pane::Findings).len(), hides(&app)), (3, 2));
}

#[test]
fn tab_completes_fields_then_cycles_values() {
    let mut app = TestDashboard::new();
    app.keys("/ 'ri' tab");
    assert_eq!(line(&app).0, "is:undecided is:present risk>=");
    app.keys("'me' tab");
    assert_eq!(
        (line(&app).0, app.shown(Pane::Findings)),
        (
            "is:undecided is:present risk>=medium".to_owned(),
            vec![1, 2, 3]
        )
    );
    app.keys("space 'target:t' tab");
    assert_eq!(
        line(&app).0,
        "is:undecided is:present risk>=medium target:t1.acme.test"
    );
    app.keys("tab");
    assert_eq!(
        line(&app).0,
        "is:undecided is:present risk>=medium target:t2.acme.test"
    );
    app.keys("shift-tab enter");
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
}

#[test]
fn up_recalls_queries_and_down_restores_draft() {
    let mut app = TestDashboard::new();
    app.keys("4 / 'is:active' enter / ctrl-u 'tool:170' enter");
    app.keys("/ ctrl-u 'x' up");
    assert_eq!(line(&app).0, "tool:170");
    app.keys("up");
    assert_eq!(
        (line(&app).0, app.shown(Pane::Scans)),
        ("is:active".to_owned(), vec![2, 3])
    );
    app.keys("up down down");
    assert_eq!(line(&app).0, "x");
}

#[test]
fn every_pane_filters_by_its_own_fields() {
    for (keys, pane, shown) in [
        ("2 / 'is:unscanned'", Pane::Targets, vec![4, 5]),
        ("2 / 'risk:medium'", Pane::Targets, vec![2]),
        ("4 / 'target:t2* is:active'", Pane::Scans, vec![2, 3]),
        ("5 / 'query:t=2'", Pane::Captures, vec![2]),
        ("5 / 'logger:probe id>1'", Pane::Captures, vec![2, 3]),
        ("6 / 'name:acme*'", Pane::Reports, vec![1]),
        ("7 / 'is:predefined'", Pane::Wordlists, vec![1]),
        ("1 / 'targets>0'", Pane::Workspaces, vec![1]),
    ] {
        let mut app = TestDashboard::new();
        app.keys(keys);
        let mut ids = app.shown(pane);
        ids.sort_unstable();
        assert_eq!((ids, line(&app).1), (shown, None), "{keys}");
    }
}

#[test]
fn empty_list_counts_rows_hidden_by_each_term() {
    let mut app = TestDashboard::new();
    app.keys("/ 'risk>=high target:t2*'");
    let why = |app: &TestDashboard| {
        let why = app.model.lists.findings.why.iter();
        why.map(|why| format!("{} {}", why.part, why.hides))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(
        why(&app),
        "is:undecided 0, is:present 0, risk>=high 2, target:t2* 2"
    );
}

#[test]
fn findings_open_undecided_and_keys_switch_saved_queries() {
    let mut app = TestDashboard::new();
    assert_eq!(app.model.lists.findings.filter, "is:undecided is:present");
    assert_eq!(
        tabs(&app)[1..4],
        [
            ("Undecided".to_owned(), 6),
            ("High+".to_owned(), 2),
            ("Confirmed".to_owned(), 0)
        ]
    );
    app.keys(">");
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
    assert_eq!(app.model.lists.findings.filter, "risk>=high is:present");
    app.keys("/ 'git' enter");
    assert_eq!(
        app.model.settings.tabs.chosen("risk>=high is:present git"),
        Some(2)
    );
    // In the detail, `>` and `<` switch its tabs.
    app.keys("enter > <");
    assert_eq!(app.model.lists.findings.filter, "risk>=high is:present git");
    app.keys("h backspace < <");
    assert_eq!(app.model.lists.findings.filter, "is:new");
}

#[test]
fn saved_query_is_renamed_deleted_and_stored_per_workspace() {
    let mut app = TestDashboard::new();
    app.keys("/ 'port:0 or git' enter");
    let mut effects = Vec::new();
    app.model.save_tab("Git", &mut effects).unwrap();
    app.model.rename_tab("Repositories", &mut effects).unwrap();
    assert_eq!(
        app.model.rename_tab("new", &mut effects),
        Err("tab new already exists".to_owned())
    );
    let Some(Effect::Remember {
        key: "tabs",
        workspace,
        value,
    }) = effects.pop()
    else {
        panic!("no Remember effect for the tabs")
    };
    assert_eq!(workspace, "Acme");
    assert!(
        value
            .contains(r#"{"name":"Repositories","query":"is:undecided is:present port:0 or git"}"#),
        "{value}"
    );

    let mut again = TestDashboard::new();
    again
        .model
        .findings
        .triage
        .settings
        .insert((Shared::from("tabs"), workspace), value);
    again.keys("1 j enter 1 k enter");
    assert_eq!(again.model.settings.tabs.saved[2].name, "Repositories");
    assert_eq!(again.model.lists.findings.filter, "is:undecided is:present");
    again.model.open_tab(2);
    assert_eq!(
        again
            .model
            .delete_tab("Repositories", &mut effects)
            .unwrap()
            .name,
        "Repositories"
    );
    assert_eq!(again.model.settings.tabs.saved.len(), 5);
}

#[test]
fn multi_field_order_applies_until_comma_restores_named_order() {
    let mut app = TestDashboard::new();
    let before = app.shown(Pane::Findings);
    app.model.set_order(Pane::Findings, "target,name").unwrap();
    assert_eq!(app.shown(Pane::Findings), [2, 1, 4, 3, 5, 6]);
    assert!(app.model.set_order(Pane::Findings, "nonsense").is_err());
    app.keys(",");
    assert_eq!(app.shown(Pane::Findings), before);
}

#[test]
fn value_that_completions_offer_is_no_error_until_enter() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("/ ctrl-u 'is:'");
    let screen = app.frame().join("\n");
    assert!(
        !screen.contains("value is missing") && screen.contains("undecided"),
        "{screen}"
    );
    app.keys("enter");
    assert!(
        app.notices().contains("invalid query: value is missing"),
        "{}",
        app.notices()
    );
    app.keys("'nonsense'");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("✗"),
        "a value that nothing offers is an error: {screen}"
    );
}

#[test]
fn completion_of_flags_counts_absent_findings_apart_as_the_saved_queries_do() {
    let mut app = TestDashboard::new();
    let at = |hour: i64, scan: Scan| Scan {
        start_time: Stamp::parse(&format!("2026-11-21 0{hour}:00:00")),
        ..scan
    };
    app.feed(Snapshot::Scans(table([
        at(1, scan(1, 1, ScanStatus::Finished, 100)),
        at(2, scan(2, 1, ScanStatus::Finished, 100)),
    ])));
    let found = |id: i64, scan: i64, name: &str| Finding {
        task_id: Some(ScanId(scan)),
        vuln_id: name.into(),
        ..finding(id, 1, name, Risk::Low)
    };
    app.feed(Snapshot::Findings(table([
        found(1, 1, "Gone"),
        found(2, 1, "Stays"),
        found(3, 2, "Stays"),
    ])));
    app.keys("/ ctrl-u 'is:'");
    let Some(Modal::Line(line)) = app.model.overlay.modals.last() else {
        panic!("no query line")
    };
    let note = |flag: &str| {
        line.help
            .offers
            .all
            .iter()
            .find(|offer| offer.text == flag)
            .unwrap()
            .note
            .clone()
    };
    assert_eq!(
        ["undecided", "absent", "present"].map(note),
        ["2, 1 absent", "1", "1"]
    );
    assert_eq!(tabs(&app)[1], ("Undecided".to_owned(), 1));
}

#[test]
fn typed_filter_is_shown_up_to_its_cursor_at_every_width() {
    let mut typed = TestDashboard::new();
    typed.keys("3 / 'risk>=critical risk:critical private'");
    for columns in 80..=130 {
        let mut app = typed.copy();
        app.model.screen.size = Size { columns, rows: 40 };
        let screen = app.frame().join("\n");
        assert!(
            screen.contains("risk:critical private "),
            "{columns} columns: {screen}"
        );
    }
}
