//! The command line: input, completion, history and execution.

pub(crate) use crate::dashboard::core::Msg;
use crate::dashboard::core::commands::table;
pub(crate) use crate::dashboard::model::CommandLine;
pub(crate) use crate::dashboard::testing::*;
pub(crate) use crate::triage::{Baseline, Change, EventWriter};

/// A dashboard with a writable decision store.
pub(crate) fn desk() -> TestDashboard {
    let mut desk = TestDashboard::new();
    desk.model.findings.triage.writer =
        Some(EventWriter { who: "ann@box".into(), instance: 7, ..EventWriter::default() });
    desk
}

pub(crate) fn line(desk: &TestDashboard) -> &CommandLine {
    match desk.model.overlay.modals.last() {
        Some(Modal::Command(line)) => line,
        other => panic!("expected a command line, got {other:?}; notices: {}", desk.notices()),
    }
}

pub(crate) fn offered(desk: &TestDashboard) -> Vec<&str> {
    line(desk).offers.all.iter().map(|offer| offer.text.as_str()).collect()
}

pub(crate) fn run(desk: &mut TestDashboard, command: &str) -> Vec<Effect> {
    let effects = desk.keys(&format!(": '{command}' enter"));
    assert!(
        desk.model.overlay.modals.is_empty(),
        "{command} did not run: {:?}; notices: {}",
        desk.model.overlay.modals,
        desk.notices()
    );
    effects
}

#[test]
pub(crate) fn command_line_opens_with_both_keys_and_esc_leaves_no_history() {
    for key in [":", "ctrl-p"] {
        let mut desk = desk();
        desk.keys(key);
        assert!(offered(&desk).contains(&"findings"));
        let effects = desk.keys("'quit' esc");
        let acts = |effect: &Effect| matches!(effect, Effect::Quit | Effect::Remember { .. });
        assert!(
            !effects.iter().any(acts) && desk.model.overlay.modals.is_empty() && desk.model.commands_run().is_empty()
        );
    }
}

#[test]
pub(crate) fn views_open_by_name_with_query() {
    let mut desk = desk();
    run(&mut desk, "targets t2");
    assert_eq!((desk.model.navigation.focus.pane, desk.shown(Pane::Targets)), (Pane::Targets, vec![2]));
    run(&mut desk, "scans");
    assert_eq!(desk.model.navigation.focus.pane, Pane::Scans);
    run(&mut desk, "findings git");
    assert_eq!((desk.model.navigation.focus.pane, desk.shown(Pane::Findings)), (Pane::Findings, vec![2, 3]));
    run(&mut desk, "findings key");
    desk.keys("backspace");
    assert_eq!(desk.shown(Pane::Findings), [2, 3], "backspace restores the previous query");
}

#[test]
pub(crate) fn single_rows_open_by_name_or_id() {
    let mut desk = desk();
    run(&mut desk, "finding repo");
    assert_eq!((desk.selected(Pane::Findings), desk.model.navigation.focus.in_detail), (Some(2), true));
    run(&mut desk, "finding 5");
    assert_eq!(desk.selected(Pane::Findings), Some(5));
    run(&mut desk, "scan 3");
    assert_eq!((desk.model.navigation.focus.pane, desk.selected(Pane::Scans)), (Pane::Scans, Some(3)));
    run(&mut desk, "target t2");
    assert_eq!(desk.shown(Pane::Findings), [3, 4]);
    run(&mut desk, "logger probe");
    assert_eq!(desk.model.navigation.scope.logger, Some(LoggerId(1)));
    run(&mut desk, "workspace lab");
    assert_eq!(desk.model.navigation.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
pub(crate) fn actions_run_by_name_as_by_key() {
    let mut desk = desk();
    run(&mut desk, "zoom");
    assert!(desk.model.navigation.focus.zoomed);
    run(&mut desk, "mark all");
    assert_eq!(desk.chosen(Pane::Findings).0.len(), 6);
    desk.keys(": 'scans' enter : 'scan_again' enter");
    assert!(matches!(desk.model.overlay.modals.last(), Some(Modal::Prompt(_))), "{}", desk.notices());
    desk.keys("esc");
    assert_eq!(
        run(&mut desk, "quit"),
        [desk.model.findings.triage.settings.iter().next().map(remembered).unwrap(), Effect::Quit]
    );
}

pub(crate) fn remembered((_, value): (&(crate::contract::Shared, crate::contract::Shared), &String)) -> Effect {
    Effect::Remember { key: "commands", workspace: "".into(), value: value.clone() }
}

#[test]
pub(crate) fn letters_in_order_match_name_and_enter_runs_first_match() {
    let mut desk = desk();
    desk.keys(": 'zm'");
    assert_eq!(offered(&desk)[0], "zoom");
    desk.keys("enter");
    assert!(desk.model.navigation.focus.zoomed && desk.model.overlay.modals.is_empty());
    desk.keys(": 'wrksp' down enter");
    assert_eq!(line(&desk).input.text(), "workspace ", "a command with an argument waits for input");
}

#[test]
pub(crate) fn tab_completes_names_and_values() {
    let mut desk = desk();
    desk.keys(": 'worksp' down tab");
    assert_eq!(line(&desk).input.text(), "workspace ");
    assert_eq!(offered(&desk), ["Acme", "Lab"]);
    desk.keys("'l' tab");
    assert_eq!(line(&desk).input.text(), "workspace Lab ");
    desk.keys("enter");
    assert_eq!(desk.model.navigation.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
pub(crate) fn tab_completes_query_values_and_sort_fields() {
    let mut desk = desk();
    desk.keys(": 'findings ris' tab");
    assert_eq!(line(&desk).input.text(), "findings risk>=");
    desk.keys("'hi' tab enter");
    assert_eq!(desk.model.lists.findings.filter, "risk>=high");
    desk.keys(": 'sort risk,-na' tab");
    assert_eq!(line(&desk).input.text(), "sort risk,-name ");
    desk.keys("enter");
    assert!(desk.notices().contains("sorted by risk,-name"), "{}", desk.notices());
}

#[test]
pub(crate) fn rows_are_marked_by_query_and_filters_saved_as_tabs() {
    let mut desk = desk();
    run(&mut desk, "findings");
    run(&mut desk, "mark risk>=high");
    assert_eq!(desk.chosen(Pane::Findings).0, [1, 2]);
    run(&mut desk, "unmark risk:high");
    assert_eq!(desk.chosen(Pane::Findings).0, [1]);
    run(&mut desk, "unmark");
    run(&mut desk, "findings name:git");
    run(&mut desk, "tab save Sources");
    run(&mut desk, "tab high+");
    assert_eq!(desk.shown(Pane::Findings), [1, 2]);
    run(&mut desk, "tab sources");
    assert_eq!(desk.shown(Pane::Findings), [2, 3]);
    run(&mut desk, "tab rename Git");
    assert!(desk.model.settings.tabs.saved.iter().any(|saved| saved.name == "Git"));
    run(&mut desk, "tab delete");
    assert!(desk.model.settings.tabs.saved.iter().all(|saved| saved.name != "Git"));
}

#[test]
pub(crate) fn invalid_command_remains_with_error() {
    let mut desk = desk();
    desk.keys(": 'findings risk>=hihg'");
    let fault = line(&desk).fault.clone().unwrap();
    assert_eq!(&line(&desk).input.text()[fault.at], "hihg");
    desk.keys("enter");
    assert_eq!(line(&desk).input.text(), "findings risk>=hihg");
    assert_eq!(desk.model.lists.findings.filter, "is:undecided is:present", "an invalid query changes nothing");
    desk.keys("esc 4 : 'report'");
    assert!(line(&desk).fault.is_none());
}

#[test]
pub(crate) fn disabled_command_is_listed_with_reason() {
    let mut desk = desk();
    desk.model.session.read_only = true;
    desk.keys(": 'report'");
    let report = line(&desk).offers.all.iter().find(|offer| offer.text == "report").unwrap();
    assert!(report.off.as_deref().unwrap().contains("read-only"));
    desk.keys("ctrl-u 'clear'");
    assert!(line(&desk).offers.all[0].off.is_some());
    desk.keys("enter");
    assert!(desk.notices().contains("read-only"), "{}", desk.notices());
    desk.keys("esc");
    let mut desk = crate::dashboard::core::commands::tests::desk();
    desk.keys(": 'pause' enter");
    assert!(desk.notices().contains("only in: Captures"), "{}", desk.notices());
}

#[test]
pub(crate) fn up_recalls_each_command_once() {
    let mut desk = desk();
    for command in ["scans", "findings git", "scans"] {
        run(&mut desk, command);
    }
    assert_eq!(desk.model.commands_run(), ["findings git", "scans"]);
    desk.keys(": up");
    assert_eq!(line(&desk).input.text(), "scans");
    desk.keys("up up");
    assert_eq!(line(&desk).input.text(), "findings git");
    desk.keys("down down");
    assert_eq!(line(&desk).input.text(), "");
    desk.keys("up up enter");
    assert_eq!(desk.shown(Pane::Findings), [2, 3]);
}

#[test]
pub(crate) fn pasted_text_is_one_line_and_never_runs() {
    let mut desk = desk();
    desk.keys(":");
    desk.send(Msg::Paste("findings\n git\n".into()));
    assert_eq!(line(&desk).input.text(), "findings git");
    assert_eq!(desk.model.lists.findings.filter, "is:undecided is:present");
}

#[test]
pub(crate) fn baseline_is_recorded_and_requires_store() {
    let mut desk = desk();
    let effects = run(&mut desk, "baseline 2026-10-01");
    let day = Baseline::Day(jiff::civil::date(2026, 10, 1));
    let recorded = effects.iter().find_map(|effect| match effect {
        Effect::Record(events) => Some(events[0].change.clone()),
        _ => None,
    });
    assert_eq!(recorded, Some(Change::Baseline(Some(day))));
    desk.model.findings.triage.writer = None;
    desk.keys(": 'baseline none' enter");
    assert!(desk.notices().contains("still loading"), "{}", desk.notices());
}

#[test]
pub(crate) fn every_documented_example_runs() {
    for command in table::all().iter().filter(|command| command.run.is_some()) {
        let mut desk = desk();
        let token = "k7f2aaaaaaaa".parse().unwrap();
        let payload = crate::oob::Payload { token, workspace: "Acme".into(), ..Default::default() };
        desk.model.plant(vec![Arc::new(payload)], &mut Vec::new());
        desk.receive(1, vec![Capture { ip_address: "192.0.2.7".into(), ..capture(9) }]);
        match &*command.name {
            "mine" => drop(desk.keys("5 G")),
            "alerts" => drop(desk.keys(": 'alert is:known' enter")),
            _ => {}
        }
        let read = table::read(&desk.model, command.example);
        assert!(read.is_ok_and(|ready| std::ptr::eq(ready.command, command)), "{}", command.example);
        desk.keys(&format!(": '{}' enter", command.example));
        assert!(!desk.notices().contains(&format!(":{}: ", command.name)), "{}: {}", command.example, desk.notices());
    }
}

#[test]
pub(crate) fn view_command_lists_same_rows_on_command_line() {
    let mut desk = desk();
    let mut copied = |keys: &str| {
        let copy = desk.keys(&format!("{keys} y v")).into_iter().find_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text),
            _ => None,
        });
        copy.unwrap_or_default().replace(" --base-url 'http://127.0.0.1:8765/api/v2'", "")
    };
    for (keys, command) in [
        ("3", "scandeck findings list --workspace 'Acme' --query 'is:undecided is:present'"),
        (
            ": 'findings risk>=high or name:git' enter",
            "scandeck findings list --workspace 'Acme' --query 'risk>=high or name:git'",
        ),
        (
            ": 'target t1' enter",
            "scandeck findings list --workspace 'Acme' --query 'target_id:1 (risk>=high or name:git)'",
        ),
        ("enter", "scandeck findings show 1 --workspace 'Acme'"),
        (": 'targets' enter", "scandeck targets list --workspace 'Acme'"),
        (": 'targets t1' enter", "scandeck --workspace 'Acme'"),
        ("5", "scandeck --workspace 'Acme'"),
    ] {
        assert_eq!(copied(keys), command, "{keys}");
    }
}

#[test]
fn tab_commands_refuse_without_a_current_tab_and_report_the_change() {
    let mut desk = TestDashboard::new();
    let names = |desk: &TestDashboard| -> Vec<String> {
        desk.model.settings.tabs.saved.iter().map(|saved| saved.name.clone()).collect()
    };
    let before = names(&desk);
    desk.keys("3");
    desk.model.set_query(Pane::Findings, "git").unwrap();
    for line in ["tab rename Bar", "tab delete"] {
        desk.keys(&format!(": '{line}' enter"));
        assert!(desk.notices().contains("no current tab"), "{line}: {}", desk.notices());
    }
    assert_eq!(names(&desk), before);
    desk.keys("> : 'tab rename Bar' enter");
    assert!(desk.notices().contains(" renamed to Bar"), "{}", desk.notices());
}

#[test]
fn baseline_of_an_unknown_scan_or_a_future_day_is_refused() {
    let mut desk = TestDashboard::new();
    for (line, why) in [("baseline 999", "scan 999 not found"), ("baseline 2199-01-01", "is in the future")] {
        desk.keys(&format!("3 : '{line}' enter"));
        let fault = self::line(&desk).fault.clone();
        assert!(fault.as_ref().is_some_and(|fault| fault.reason.contains(why)), "{line}: {fault:?}");
        desk.keys("esc");
    }
}
