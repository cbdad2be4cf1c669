//! The command line: typed, completed, recalled, run.

use super::*;
use crate::app::command::{self, CommandLine};
use crate::app::form::FieldId;
use crate::export::Format;
use crate::triage::{Baseline, Change, Pen, Reason, Verdict};

/// A dashboard whose decisions are kept.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.model.triage.pen = Some(Pen { who: "ann@box".into(), instance: 7, ..Pen::default() });
    desk
}

fn line(desk: &Desk) -> &CommandLine {
    match desk.model.modals.last() {
        Some(Modal::Command(line)) => line,
        other => panic!("no command line but {other:?}; told: {}", desk.told()),
    }
}

fn offered(desk: &Desk) -> Vec<&str> {
    line(desk).offers.iter().map(|offer| offer.text.as_str()).collect()
}

fn run(desk: &mut Desk, command: &str) -> Vec<Effect> {
    let effects = desk.keys(&format!(": '{command}' enter"));
    assert!(desk.model.modals.is_empty(), "{command} was not run: {:?}; told: {}", desk.model.modals, desk.told());
    effects
}

#[test]
fn both_keys_open_it_and_esc_closes_it_without_a_trace() {
    for key in [":", "ctrl-p"] {
        let mut desk = desk();
        desk.keys(key);
        assert!(offered(&desk).contains(&"findings"));
        let effects = desk.keys("'quit' esc");
        let acts = |effect: &Effect| matches!(effect, Effect::Quit | Effect::Remember { .. });
        assert!(!effects.iter().any(acts) && desk.model.modals.is_empty() && desk.model.commands_run().is_empty());
    }
}

#[test]
fn views_are_shown_by_name_with_a_query() {
    let mut desk = desk();
    run(&mut desk, "targets t2");
    assert_eq!((desk.model.focus.pane, desk.shown(Pane::Targets)), (Pane::Targets, vec![2]));
    run(&mut desk, "scans");
    assert_eq!(desk.model.focus.pane, Pane::Scans);
    run(&mut desk, "findings git");
    assert_eq!((desk.model.focus.pane, desk.shown(Pane::Findings)), (Pane::Findings, vec![2, 3]));
    run(&mut desk, "findings key");
    desk.keys("backspace");
    assert_eq!(desk.shown(Pane::Findings), [2, 3], "the query before comes back");
}

#[test]
fn single_things_are_opened_by_name_or_id() {
    let mut desk = desk();
    run(&mut desk, "finding repo");
    assert_eq!((desk.selected(Pane::Findings), desk.model.focus.in_detail), (Some(2), true));
    run(&mut desk, "finding 5");
    assert_eq!(desk.selected(Pane::Findings), Some(5));
    run(&mut desk, "scan 3");
    assert_eq!((desk.model.focus.pane, desk.selected(Pane::Scans)), (Pane::Scans, Some(3)));
    run(&mut desk, "target t2");
    assert_eq!(desk.shown(Pane::Findings), [3, 4]);
    run(&mut desk, "logger probe");
    assert_eq!(desk.model.scope.logger, Some(LoggerId(1)));
    run(&mut desk, "workspace lab");
    assert_eq!(desk.model.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
fn actions_run_by_name_as_by_key() {
    let mut desk = desk();
    run(&mut desk, "zoom");
    assert!(desk.model.focus.zoomed);
    run(&mut desk, "mark all");
    assert_eq!(desk.chosen(Pane::Findings).0.len(), 6);
    desk.keys(": 'scans' enter : 'scan_again' enter");
    assert!(matches!(desk.model.modals.last(), Some(Modal::Prompt(_))), "{}", desk.told());
    desk.keys("esc");
    assert_eq!(
        run(&mut desk, "quit"),
        [desk.model.triage.settings.iter().next().map(remembered).unwrap(), Effect::Quit]
    );
}

fn remembered((_, value): (&(crate::contract::Shared, crate::contract::Shared), &String)) -> Effect {
    Effect::Remember { key: "commands", workspace: "".into(), value: value.clone() }
}

#[test]
fn letters_in_order_find_a_name_and_enter_runs_the_first() {
    let mut desk = desk();
    desk.keys(": 'zm'");
    assert_eq!(offered(&desk)[0], "zoom");
    desk.keys("enter");
    assert!(desk.model.focus.zoomed && desk.model.modals.is_empty());
    desk.keys(": 'wrksp' down enter");
    assert_eq!(line(&desk).text(), "workspace ", "what needs an argument waits for it");
}

#[test]
fn tab_completes_names_and_values() {
    let mut desk = desk();
    desk.keys(": 'worksp' down tab");
    assert_eq!(line(&desk).text(), "workspace ");
    assert_eq!(offered(&desk), ["Acme", "Lab"]);
    desk.keys("'l' tab");
    assert_eq!(line(&desk).text(), "workspace Lab ");
    desk.keys("enter");
    assert_eq!(desk.model.scope.workspace, Some(WorkspaceId(2)));
}

#[test]
fn tab_completes_queries_with_what_occurs_and_fields_of_an_order() {
    let mut desk = desk();
    desk.keys(": 'findings ris' tab");
    assert_eq!(line(&desk).text(), "findings risk>=");
    desk.keys("'hi' tab enter");
    assert_eq!(desk.model.lists.findings.filter, "risk>=high");
    desk.keys(": 'sort risk,-na' tab");
    assert_eq!(line(&desk).text(), "sort risk,-name ");
    desk.keys("enter");
    assert!(desk.told().contains("sorted by risk,-name"), "{}", desk.told());
}

#[test]
fn rows_are_marked_by_a_query_and_filters_saved_as_tabs() {
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
    assert!(desk.model.tabs.saved.iter().any(|saved| saved.name == "Git"));
    run(&mut desk, "tab delete");
    assert!(desk.model.tabs.saved.iter().all(|saved| saved.name != "Git"));
}

#[test]
fn what_cannot_be_run_stays_with_its_reason() {
    let mut desk = desk();
    desk.keys(": 'findings risk>=hihg'");
    let fault = line(&desk).fault.clone().unwrap();
    assert_eq!(&line(&desk).text()[fault.at], "hihg");
    desk.keys("enter");
    assert_eq!(line(&desk).text(), "findings risk>=hihg");
    assert_eq!(desk.model.lists.findings.filter, "is:undecided", "a query with an error changes nothing");
    desk.keys("esc 4 : 'report'");
    assert!(line(&desk).fault.is_none());
}

#[test]
fn what_is_off_stays_visible_with_the_reason() {
    let mut desk = desk();
    desk.model.session.read_only = true;
    desk.keys(": 'report'");
    let report = line(&desk).offers.iter().find(|offer| offer.text == "report").unwrap();
    assert!(report.off.as_deref().unwrap().contains("read only"));
    desk.keys("ctrl-u 'clear'");
    assert!(line(&desk).offers[0].off.is_some());
    desk.keys("enter");
    assert!(desk.told().contains("read only"), "{}", desk.told());
    desk.keys("esc");
    let mut desk = self::desk();
    desk.keys(": 'pause' enter");
    assert!(desk.told().contains("in Captures"), "{}", desk.told());
}

#[test]
fn up_brings_back_what_was_run_once_each_and_the_profile_keeps_it() {
    let mut desk = desk();
    for command in ["scans", "findings git", "scans"] {
        run(&mut desk, command);
    }
    assert_eq!(desk.model.commands_run(), ["findings git", "scans"]);
    desk.keys(": up");
    assert_eq!(line(&desk).text(), "scans");
    desk.keys("up up");
    assert_eq!(line(&desk).text(), "findings git");
    desk.keys("down down");
    assert_eq!(line(&desk).text(), "");
    desk.keys("up up enter");
    assert_eq!(desk.shown(Pane::Findings), [2, 3]);
}

#[test]
fn pasted_text_is_one_line_and_never_runs() {
    let mut desk = desk();
    desk.keys(":");
    desk.send(Msg::Paste("findings\n git\n".into()));
    assert_eq!(line(&desk).text(), "findings git");
    assert_eq!(desk.model.lists.findings.filter, "is:undecided");
}

#[test]
fn a_baseline_is_an_event_of_the_workspace_and_needs_a_store() {
    let mut desk = desk();
    let effects = run(&mut desk, "baseline 2026-10-01");
    let day = Baseline::Day(jiff::civil::date(2026, 10, 1));
    let recorded = effects.iter().find_map(|effect| match effect {
        Effect::Record(events) => Some(events[0].change.clone()),
        _ => None,
    });
    assert_eq!(recorded, Some(Change::Baseline(Some(day))));
    desk.model.triage.pen = None;
    desk.keys(": 'baseline none' enter");
    assert!(desk.told().contains("still being read"), "{}", desk.told());
}

#[test]
fn every_example_of_the_table_can_be_run() {
    for command in command::all().iter().filter(|command| command.run.is_some()) {
        let mut desk = desk();
        let token = "k7f2aaaaaaaa".parse().unwrap();
        let payload = crate::oob::Payload { token, workspace: "Acme".into(), ..Default::default() };
        desk.model.plant(vec![Arc::new(payload)], &mut Vec::new());
        desk.caught(1, vec![Capture { ip_address: "192.0.2.7".into(), ..capture(9) }]);
        match &*command.name {
            "mine" => drop(desk.keys("5 G")),
            "alerts" => drop(desk.keys(": 'alert is:known' enter")),
            _ => {}
        }
        let read = command::read(&desk.model, command.example);
        assert!(read.is_ok_and(|ready| std::ptr::eq(ready.command, command)), "{}", command.example);
        desk.keys(&format!(": '{}' enter", command.example));
        assert!(!desk.told().contains(&format!(":{}: ", command.name)), "{}: {}", command.example, desk.told());
    }
}

#[test]
fn the_command_of_a_view_is_the_one_that_lists_it_without_a_screen() {
    let mut desk = desk();
    let mut copied = |keys: &str| {
        let copy = desk.keys(&format!("{keys} y v")).into_iter().find_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text),
            _ => None,
        });
        copy.unwrap_or_default().replace(" --base-url 'http://127.0.0.1:8765/api/v2'", "")
    };
    for (keys, command) in [
        ("3", "scandeck findings list --workspace 'Acme' --query 'is:undecided'"),
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

fn recorded(effects: &[Effect]) -> Vec<Change> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events),
        _ => None,
    });
    events.flatten().map(|event| event.change.clone()).collect()
}

#[test]
fn verdicts_with_details_are_given_to_what_is_chosen() {
    let mut desk = desk();
    let effects = run(&mut desk, "verdict false_positive reason=not_reproducible note=\"two tries\" tag=a,b");
    let changes = recorded(&effects);
    let Change::Decide(decision) = &changes[0] else { panic!("{changes:?}") };
    assert_eq!((decision.verdict, decision.reason), (Verdict::FalsePositive, Some(Reason::NotReproducible)));
    assert!(changes.contains(&Change::Note("two tries".into())));
    assert!(changes.contains(&Change::Tag { add: vec!["a".into(), "b".into()], remove: Vec::new() }));
    assert_eq!(
        recorded(&run(&mut desk, "tag -a +c")),
        [Change::Tag { add: vec!["c".into()], remove: vec!["a".into()] }]
    );
    assert_eq!(recorded(&run(&mut desk, "note asked the owner")), [Change::Note("asked the owner".into())]);
    assert_eq!(recorded(&run(&mut desk, "undo")), [Change::Undo]);
    desk.keys("4 : 'note x' enter");
    assert!(desk.told().contains("about findings"), "{}", desk.told());
}

#[test]
fn a_verdict_on_a_query_names_the_number_first() {
    let mut desk = desk();
    let effects = desk.keys(": 'verdict risk_accepted until=2027-01-31 on name:git' enter");
    assert_eq!(
        (recorded(&effects), desk.prompt().question.as_str()),
        (vec![], "2 findings become risk accepted: name:git")
    );
    desk.at += Duration::from_secs(1);
    let changes = recorded(&desk.keys("enter"));
    assert_eq!(changes.len(), 2);
    let until = changes
        .iter()
        .all(|change| matches!(change, Change::Decide(it) if it.until == Some(jiff::civil::date(2027, 1, 31))));
    assert!(until, "{changes:?}");
    desk.keys(": 'verdict fixed on name:nothing' enter");
    assert!(desk.told().contains("no finding is name:nothing"), "{}", desk.told());
}

#[test]
fn a_rule_is_previewed_and_recorded_after_enter() {
    let mut desk = desk();
    desk.keys(": 'rule not_applicable reason=by_design on name:git' enter");
    assert_eq!(desk.prompt().question, "A rule: not applicable on name:git, 2 findings now");
    desk.at += Duration::from_secs(1);
    let changes = recorded(&desk.keys("enter"));
    assert!(matches!(&changes[..], [Change::Rule { query, .. }] if query.as_str() == "name:git"), "{changes:?}");
    assert_eq!(desk.shown(Pane::Findings).len(), 6, "what the rule decides stays until the filter is applied again");
    desk.keys("r");
    assert_eq!(desk.shown(Pane::Findings), [1, 4, 6, 5], "what the rule decides is no longer undecided");
}

#[test]
fn a_duplicate_is_named_by_id_or_by_words() {
    let mut desk = desk();
    desk.keys("3 j");
    let of = |desk: &Desk, name: &str| {
        let table = desk.model.data.findings.value().unwrap();
        table.items().iter().find(|case| case.name.as_str() == name).unwrap().key()
    };
    let changes = recorded(&run(&mut desk, "verdict duplicate note=\"see there\" of private key"));
    let [Change::Decide(decision), Change::Note(note)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((decision.verdict, decision.duplicate_of), (Verdict::Duplicate, Some(of(&desk, "Private key"))));
    assert_eq!(note.as_str(), "see there");
    desk.keys("G");
    let changes = recorded(&run(&mut desk, "verdict duplicate of 4"));
    assert!(
        matches!(&changes[..], [Change::Decide(it), ..] if it.duplicate_of == Some(of(&desk, "Cookie flags"))),
        "{changes:?}"
    );
    for (typed, why) in [("verdict duplicate", "of which"), ("verdict fixed of 4", "only a duplicate")] {
        assert!(recorded(&desk.keys(&format!(": '{typed}' enter"))).is_empty());
        assert!(desk.told().contains(why), "{typed}: {}", desk.told());
    }
}

#[test]
fn a_report_and_a_finding_of_ones_own_are_begun_by_what_is_typed() {
    let mut desk = desk();
    desk.keys(": 'report csv by scandeck on name:git' enter");
    let form = desk.form();
    let chosen = |id| match &form.field(id).unwrap().value {
        crate::app::form::Value::Choice { options, at } => options[*at].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [FieldId::MadeBy, FieldId::Format, FieldId::Resources].map(chosen),
        ["scandeck, with the decisions", "csv", "name:git (2)"]
    );
    let made = desk.keys("ctrl-o").into_iter().find_map(|effect| match effect {
        Effect::Export(exported) => Some((exported.format, exported.rows.len())),
        _ => None,
    });
    assert_eq!(made, Some((Format::Csv, 2)));
    desk.keys(": 'report html on name:nothing' enter");
    assert!(desk.told().contains("no finding is name:nothing"), "{}", desk.told());

    desk.keys(": 'own \"SSRF on the way in\" risk critical on t3' enter");
    let form = desk.form();
    assert_eq!((form.text(FieldId::Name).as_str(), form.choice(FieldId::Risk)), ("SSRF on the way in", 0));
    assert_eq!(form.text(FieldId::TargetName), "t3.acme.test");
    let changes = recorded(&desk.keys("ctrl-o"));
    assert!(matches!(&changes[..], [Change::Own(own)] if own.name.as_str() == "SSRF on the way in"), "{changes:?}");
}

#[test]
fn details_are_checked_and_completed_while_they_are_typed() {
    let mut desk = desk();
    desk.keys(": 'verdict fal' tab 're' tab 'notrep' tab");
    assert_eq!(line(&desk).text(), "verdict false_positive reason=not_reproducible ");
    desk.keys("'reason=by_design'");
    let fault = line(&desk).fault.clone().unwrap();
    assert!(fault.reason.contains("not_reproducible"), "{fault}");
    assert_eq!(&line(&desk).text()[fault.at], "by_design");
}

#[test]
fn findings_are_counted_as_seen_by_a_query() {
    let mut desk = desk();
    let effects = run(&mut desk, "seen risk:info");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::MarkSeen { keys, .. } if keys.len() == 2)));
}

#[test]
fn two_scans_are_compared_by_id_and_the_board_is_opened_by_name() {
    let mut desk = desk();
    run(&mut desk, "compare 1 4");
    assert_eq!(desk.model.focus.pane, Pane::Board);
    desk.keys("3 : 'compare 1 9'");
    assert_eq!(line(&desk).fault.as_ref().unwrap().reason, "no scan 9 here");
    desk.keys("ctrl-u 'compare 1 1' enter");
    assert!(desk.told().contains("name two"), "{}", desk.told());
    run(&mut desk, "retest");
}

#[test]
fn findings_are_exported_by_query_else_the_marked_else_the_shown() {
    let mut desk = desk();
    let mut exported = |keys: &str| {
        let found = desk.keys(&format!(": '{keys}' enter")).into_iter().find_map(|effect| match effect {
            Effect::Export(exported) => Some(exported),
            _ => None,
        });
        found.map(|it| (it.name, it.format, it.rows.iter().map(|row| row.case.finding.id.0).collect::<Vec<_>>()))
    };
    assert_eq!(exported("export csv name:git to git.csv"), Some(("git.csv".into(), Format::Csv, vec![2, 3])));
    let all = vec![1, 2, 3, 4, 6, 5];
    assert_eq!(exported("export vex"), Some(("findings-Acme.cdx.json".into(), Format::Vex, all)));
    assert_eq!(exported("mark risk:low"), None);
    assert_eq!(exported("export sarif"), Some(("findings-Acme.sarif".into(), Format::Sarif, vec![4])));
    assert_eq!(exported("export csv name:nothing"), None);
    assert!(desk.told().contains("no finding to export"), "{}", desk.told());
}

#[test]
fn every_verdict_and_every_format_is_known_by_the_name_it_is_offered_under() {
    for (offered, known) in
        [("verdict ", Verdict::ALL.len()), ("rule ", Verdict::ALL.len() - 1), ("export ", Format::ALL.len())]
    {
        let mut desk = desk();
        desk.keys(&format!(": '{offered}'"));
        // A rule makes no duplicates.
        assert_eq!(self::offered(&desk).len(), known);
    }
}
