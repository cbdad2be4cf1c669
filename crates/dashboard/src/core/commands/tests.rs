//! The command line: input, completion, history and execution.

use crate::config::file::CommandOutput;
pub(crate) use crate::core::Msg;
use crate::core::commands::{parse, table};
use crate::input::Keymap;
pub(crate) use crate::model::CommandLine;
pub(crate) use crate::testing::*;
pub(crate) use scandeck_domain::triage::{Baseline, Change, EventWriter};

/// A dashboard with a writable decision store.
pub(crate) fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.model.findings.triage.writer = Some(EventWriter {
        who: "ann@box".into(),
        instance: 7,
        ..EventWriter::default()
    });
    app
}

pub(crate) fn line(app: &TestDashboard) -> &CommandLine {
    match app.model.overlay.modals.last() {
        Some(Modal::Command(line)) => line,
        other => panic!(
            "expected a command line, got {other:?}; notices: {}",
            app.notices()
        ),
    }
}

pub(crate) fn offered(app: &TestDashboard) -> Vec<&str> {
    line(app)
        .offers
        .all
        .iter()
        .map(|offer| offer.text.as_str())
        .collect()
}

pub(crate) fn run(app: &mut TestDashboard, command: &str) -> Vec<Effect> {
    let effects = app.keys(&format!(": '{command}' enter"));
    assert!(
        app.model.overlay.modals.is_empty(),
        "{command} did not run: {:?}; notices: {}",
        app.model.overlay.modals,
        app.notices()
    );
    effects
}

#[test]
pub(crate) fn command_line_opens_with_both_keys_and_esc_leaves_no_history() {
    for key in [":", "ctrl-p"] {
        let mut app = app();
        app.keys(key);
        assert!(offered(&app).contains(&"findings"));
        let effects = app.keys("'quit' esc");
        let acts = |effect: &Effect| matches!(effect, Effect::Quit | Effect::Remember { .. });
        assert!(
            !effects.iter().any(acts)
                && app.model.overlay.modals.is_empty()
                && app.model.commands_run().is_empty()
        );
    }
}

#[test]
pub(crate) fn views_open_by_name_with_query() {
    let mut app = app();
    run(&mut app, "targets t2");
    assert_eq!(
        (app.model.navigation.focus.pane, app.shown(Pane::Targets)),
        (Pane::Targets, vec![2])
    );
    run(&mut app, "scans");
    assert_eq!(app.model.navigation.focus.pane, Pane::Scans);
    run(&mut app, "findings git");
    assert_eq!(
        (app.model.navigation.focus.pane, app.shown(Pane::Findings)),
        (Pane::Findings, vec![2, 3])
    );
    run(&mut app, "findings key");
    app.keys("backspace");
    assert_eq!(
        app.shown(Pane::Findings),
        [2, 3],
        "backspace restores the previous query"
    );
}

#[test]
pub(crate) fn single_rows_open_by_name_or_id() {
    let mut app = app();
    run(&mut app, "finding repo");
    assert_eq!(
        (
            app.selected(Pane::Findings),
            app.model.navigation.focus.in_detail
        ),
        (Some(2), true)
    );
    run(&mut app, "finding 5");
    assert_eq!(app.selected(Pane::Findings), Some(5));
    run(&mut app, "scan 3");
    assert_eq!(
        (app.model.navigation.focus.pane, app.selected(Pane::Scans)),
        (Pane::Scans, Some(3))
    );
    run(&mut app, "target t2");
    assert_eq!(app.shown(Pane::Findings), [3, 4]);
    run(&mut app, "logger probe");
    assert_eq!(app.model.navigation.scope.logger, Some(LoggerId(1)));
    run(&mut app, "workspace lab");
    assert_eq!(app.model.navigation.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
pub(crate) fn actions_run_by_name_as_by_key() {
    let mut app = app();
    run(&mut app, "zoom");
    assert!(app.model.navigation.focus.zoomed);
    run(&mut app, "mark all");
    assert_eq!(app.chosen(Pane::Findings).0.len(), 6);
    app.keys(": 'scans' enter : 'repeat_scan' enter");
    assert!(
        matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))),
        "{}",
        app.notices()
    );
    app.keys("esc");
    assert_eq!(
        run(&mut app, "quit"),
        [
            app.model
                .findings
                .triage
                .settings
                .iter()
                .next()
                .map(remembered)
                .unwrap(),
            Effect::Quit
        ]
    );
}

pub(crate) fn remembered(
    (_, value): (
        &(
            scandeck_wire::contract::Shared,
            scandeck_wire::contract::Shared,
        ),
        &String,
    ),
) -> Effect {
    Effect::Remember {
        key: "commands",
        workspace: "".into(),
        value: value.clone(),
    }
}

#[test]
pub(crate) fn letters_in_order_match_name_and_enter_runs_first_match() {
    let mut app = app();
    app.keys(": 'zm'");
    assert_eq!(offered(&app)[0], "zoom");
    app.keys("enter");
    assert!(app.model.navigation.focus.zoomed && app.model.overlay.modals.is_empty());
    app.keys(": 'wrksp' down enter");
    assert_eq!(
        line(&app).input.text(),
        "workspace ",
        "a command with an argument waits for input"
    );
}

#[test]
pub(crate) fn tab_completes_names_and_values() {
    let mut app = app();
    app.keys(": 'worksp' down tab");
    assert_eq!(line(&app).input.text(), "workspace ");
    assert_eq!(offered(&app), ["Acme", "Lab"]);
    app.keys("'l' tab");
    assert_eq!(line(&app).input.text(), "workspace Lab ");
    app.keys("enter");
    assert_eq!(app.model.navigation.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
pub(crate) fn tab_completes_query_values_and_sort_fields() {
    let mut app = app();
    app.keys(": 'findings ris' tab");
    assert_eq!(line(&app).input.text(), "findings risk>=");
    app.keys("'hi' tab enter");
    assert_eq!(app.model.lists.findings.filter, "risk>=high");
    app.keys(": 'sort risk,-na' tab");
    assert_eq!(line(&app).input.text(), "sort risk,-name ");
    app.keys("enter");
    assert!(
        app.notices().contains("sorted by risk,-name"),
        "{}",
        app.notices()
    );
}

#[test]
pub(crate) fn rows_are_marked_by_query_and_filters_saved_as_tabs() {
    let mut app = app();
    run(&mut app, "findings");
    run(&mut app, "mark risk>=high");
    assert_eq!(app.chosen(Pane::Findings).0, [1, 2]);
    run(&mut app, "unmark risk:high");
    assert_eq!(app.chosen(Pane::Findings).0, [1]);
    run(&mut app, "unmark");
    run(&mut app, "findings name:git");
    run(&mut app, "tab save Sources");
    run(&mut app, "tab high+");
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
    run(&mut app, "tab sources");
    assert_eq!(app.shown(Pane::Findings), [2, 3]);
    run(&mut app, "tab rename Git");
    assert!(
        app.model
            .settings
            .tabs
            .saved
            .iter()
            .any(|saved| saved.name == "Git")
    );
    app.keys(": 'tab delete' enter");
    assert_eq!(app.prompt().question, "Delete tab Git?");
    app.keys("n");
    assert!(
        app.model
            .settings
            .tabs
            .saved
            .iter()
            .any(|saved| saved.name == "Git")
    );
    app.keys(": 'tab delete' enter y");
    assert!(
        app.model
            .settings
            .tabs
            .saved
            .iter()
            .all(|saved| saved.name != "Git")
    );
}

#[test]
pub(crate) fn invalid_command_remains_with_error() {
    let mut app = app();
    app.keys(": 'findings risk>=hihg'");
    let fault = line(&app).fault.clone().unwrap();
    assert_eq!(&line(&app).input.text()[fault.at], "hihg");
    app.keys("enter");
    assert_eq!(line(&app).input.text(), "findings risk>=hihg");
    assert_eq!(
        app.model.lists.findings.filter, "is:undecided is:present",
        "an invalid query changes nothing"
    );
    app.keys("esc 4 : 'report'");
    assert!(line(&app).fault.is_none());
}

#[test]
pub(crate) fn disabled_command_is_listed_with_reason() {
    let mut app = app();
    app.model.session.read_only = true;
    app.keys(": 'report'");
    let report = line(&app)
        .offers
        .all
        .iter()
        .find(|offer| offer.text == "report")
        .unwrap();
    assert!(report.off.as_deref().unwrap().contains("read-only"));
    app.keys("ctrl-u 'clear'");
    assert!(line(&app).offers.all[0].off.is_some());
    app.keys("enter");
    assert!(app.notices().contains("read-only"), "{}", app.notices());
    app.keys("esc");
    let mut app = crate::core::commands::tests::app();
    app.keys(": 'pause' enter");
    assert!(
        app.notices().contains("only in Captures · 5 shows it"),
        "{}",
        app.notices()
    );
}

#[test]
pub(crate) fn up_recalls_each_command_once() {
    let mut app = app();
    for command in ["scans", "findings git", "scans"] {
        run(&mut app, command);
    }
    assert_eq!(app.model.commands_run(), ["findings git", "scans"]);
    app.keys(": up");
    assert_eq!(line(&app).input.text(), "scans");
    app.keys("up up");
    assert_eq!(line(&app).input.text(), "findings git");
    app.keys("down down");
    assert_eq!(line(&app).input.text(), "");
    app.keys("up up enter");
    assert_eq!(app.shown(Pane::Findings), [2, 3]);
}

#[test]
pub(crate) fn pasted_text_is_one_line_and_never_runs() {
    let mut app = app();
    app.keys(":");
    app.send(Msg::Paste("findings\n git\n".into()));
    assert_eq!(line(&app).input.text(), "findings git");
    assert_eq!(app.model.lists.findings.filter, "is:undecided is:present");
}

#[test]
pub(crate) fn baseline_is_recorded_and_requires_store() {
    let mut app = app();
    let is_recorded = |effect: &Effect| matches!(effect, Effect::Record(_));
    assert!(
        !run(&mut app, "baseline none").iter().any(is_recorded),
        "there is none to remove"
    );
    let effects = run(&mut app, "baseline 2026-10-01");
    let day = Baseline::Day(jiff::civil::date(2026, 10, 1));
    let recorded = effects.iter().find_map(|effect| match effect {
        Effect::Record(events) => Some(events[0].change.clone()),
        _ => None,
    });
    assert_eq!(recorded, Some(Change::Baseline(Some(day))));
    app.model.findings.triage.writer = None;
    app.keys(": 'baseline none' enter");
    assert!(app.notices().contains("still loading"), "{}", app.notices());
}

#[test]
pub(crate) fn every_documented_example_runs() {
    let mut start = app();
    let token = "k7f2aaaaaaaa".parse().unwrap();
    let payload = scandeck_domain::oob::Payload {
        token,
        workspace: "Acme".into(),
        ..Default::default()
    };
    start.model.plant(vec![Arc::new(payload)], &mut Vec::new());
    start.receive(
        1,
        vec![Capture {
            ip_address: "192.0.2.7".into(),
            ..capture(9)
        }],
    );
    for command in table::all().iter().filter(|command| command.run.is_some()) {
        let mut app = start.copy();
        match &*command.name {
            "run" => {
                let keymap = Keymap::clone(&Keymap::builtin())
                    .with_commands(&[ticket_command(CommandOutput::Text, false)])
                    .unwrap();
                app.model.keyboard.keymap = Arc::new(keymap);
            }
            "mine" => drop(app.keys("5 G")),
            "alerts" => drop(app.keys(": 'alert is:known' enter")),
            _ => {}
        }
        let read = parse::parse(&app.model, command.example);
        assert!(
            read.is_ok_and(|ready| std::ptr::eq(ready.command, command)),
            "{}",
            command.example
        );
        app.keys(":");
        app.send(Msg::Paste(command.example.to_owned()));
        assert_eq!(line(&app).input.text(), command.example);
        // As late as if it were typed.
        app.at += Duration::from_secs(5);
        app.keys("enter");
        assert!(
            !app.notices().contains(&format!(":{}: ", command.name)),
            "{}: {}",
            command.example,
            app.notices()
        );
    }
}

#[test]
pub(crate) fn view_command_lists_same_rows_on_command_line() {
    let mut app = app();
    let mut copied = |keys: &str| {
        let copy = app
            .keys(&format!("{keys} y v"))
            .into_iter()
            .find_map(|effect| match effect {
                Effect::Copy { text, .. } => Some(text),
                _ => None,
            });
        copy.unwrap_or_default()
            .replace(" --base-url 'http://127.0.0.1:8765/api/v2'", "")
    };
    for (keys, command) in [
        (
            "3",
            "scandeck findings list --workspace 'Acme' --query 'is:undecided is:present'",
        ),
        (
            ": 'findings risk>=high or name:git' enter",
            "scandeck findings list --workspace 'Acme' --query 'risk>=high or name:git'",
        ),
        (
            ": 'target t1' enter",
            "scandeck findings list --workspace 'Acme' --query 'target_id:1 (risk>=high or name:git)'",
        ),
        ("enter", "scandeck findings show 1 --workspace 'Acme'"),
        (
            ": 'targets' enter",
            "scandeck targets list --workspace 'Acme'",
        ),
        (": 'targets t1' enter", "scandeck --workspace 'Acme'"),
        ("5", "scandeck captures list --workspace 'Acme'"),
        (
            ": 'captures method:GET' enter",
            "scandeck captures list --workspace 'Acme' --query 'method:GET'",
        ),
        ("8", "scandeck --workspace 'Acme'"),
    ] {
        assert_eq!(copied(keys), command, "{keys}");
    }
}

#[test]
fn tab_commands_refuse_without_a_current_tab_and_report_the_change() {
    let mut app = TestDashboard::new();
    let names = |app: &TestDashboard| -> Vec<String> {
        app.model
            .settings
            .tabs
            .saved
            .iter()
            .map(|saved| saved.name.clone())
            .collect()
    };
    let before = names(&app);
    app.keys("3");
    app.model.set_query(Pane::Findings, "git").unwrap();
    for line in ["tab rename Bar", "tab delete"] {
        app.keys(&format!(": '{line}' enter"));
        assert!(
            app.notices().contains("no current tab"),
            "{line}: {}",
            app.notices()
        );
    }
    assert_eq!(names(&app), before);
    app.keys("> : 'tab rename Bar' enter");
    assert!(
        app.notices().contains(" renamed to Bar"),
        "{}",
        app.notices()
    );
}

#[test]
fn baseline_of_an_unknown_scan_or_a_future_day_is_refused() {
    let mut app = TestDashboard::new();
    for (line, why) in [
        ("baseline 999", "scan 999 not found"),
        ("baseline 2199-01-01", "is in the future"),
    ] {
        app.keys(&format!("3 : '{line}' enter"));
        let fault = self::line(&app).fault.clone();
        assert!(
            fault
                .as_ref()
                .is_some_and(|fault| fault.reason.contains(why)),
            "{line}: {fault:?}"
        );
        app.keys("esc");
    }
}

#[test]
fn argument_with_offers_is_missing_only_after_enter() {
    let mut app = app();
    app.keys(": 'theme' space");
    assert!(!offered(&app).is_empty() && line(&app).fault.is_none());
    app.keys("enter");
    assert_eq!(
        line(&app).fault.as_ref().unwrap().to_string(),
        "theme is missing"
    );
    app.keys("'zz'");
    assert!(line(&app).fault.is_some(), "not among the offers");
}
