//! Commands of the configuration: their variables, their output, and when they are off.

use crate::base::CommandRun;
use crate::config::file::CommandOutput;
use crate::core::Msg;
use crate::input::Keymap;
use crate::testing::*;

fn dashboard(output: CommandOutput, changes: bool) -> TestDashboard {
    let mut dashboard = TestDashboard::new();
    let keymap = Keymap::clone(&Keymap::builtin())
        .with_commands(&[ticket_command(output, changes)])
        .unwrap();
    dashboard.model.keyboard.keymap = Arc::new(keymap);
    dashboard
}

fn run(effects: Vec<Effect>) -> CommandRun {
    let run = effects.into_iter().find_map(|effect| match effect {
        Effect::Run(run) => Some(*run),
        _ => None,
    });
    run.expect("a run")
}

fn fact<'a>(run: &'a CommandRun, name: &str) -> &'a str {
    &run.variables
        .iter()
        .find(|(other, _)| *other == name)
        .unwrap()
        .1
}

#[test]
fn command_gets_variables_and_json_of_the_selected_or_marked_rows() {
    let mut dashboard = dashboard(CommandOutput::Text, true);
    let one = run(dashboard.keys("2 Z"));
    assert_eq!(
        [fact(&one, "LIST"), fact(&one, "ID"), fact(&one, "NAME")],
        ["targets", "1", "t1.acme.test"]
    );
    assert_eq!(
        [fact(&one, "WORKSPACE"), fact(&one, "TARGET")],
        ["Acme", "t1.acme.test"]
    );
    let many = run(dashboard.keys("3 space space Z"));
    let input: serde_json::Value = serde_json::from_str(&many.input).unwrap();
    assert_eq!(input["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        (fact(&many, "IDS"), &input["list"]),
        ("1 2", &"findings".into())
    );
    let capture = run(dashboard.keys("5 Z"));
    assert!(
        capture.input.contains("\"items\":[{") && fact(&capture, "LIST") == "captures",
        "{}",
        capture.input
    );
    assert_eq!(
        run(dashboard.keys("2 : 'run ticket' enter")).action,
        one.action
    );
}

#[test]
fn run_completes_the_names_of_commands_and_lists_them_for_another_name() {
    let mut dashboard = dashboard(CommandOutput::Text, true);
    dashboard.keys("2 : 'run '");
    let screen = dashboard.frame().join("\n");
    assert!(screen.contains("ticket"), "{screen}");
    dashboard.keys("'other' enter");
    let screen = dashboard.frame().join("\n");
    assert!(
        screen.contains("no command `other` in [[commands]] of the configuration"),
        "{screen}"
    );
    assert!(screen.contains("use one of ticket"), "{screen}");
}

#[test]
fn command_on_a_header_gets_the_target_that_its_rows_share() {
    let mut dashboard = dashboard(CommandOutput::Text, true);
    let of_class = |id, target, class: &str| Finding {
        vuln_id: class.into(),
        ..finding(id, target, &format!("{class} {id}"), Risk::High)
    };
    dashboard.feed(Snapshot::Findings(table([
        of_class(1, 2, "git"),
        of_class(2, 2, "git"),
        of_class(3, 1, "tls"),
        of_class(4, 2, "tls"),
    ])));
    dashboard.keys("3 b c");
    let mut targets = |keys: &str| {
        let run = run(dashboard.keys(keys));
        (fact(&run, "IDS").len(), fact(&run, "TARGET").to_owned())
    };
    assert_eq!(targets("g g Z"), (3, "t2.acme.test".to_owned()));
    assert_eq!(targets("j Z"), (3, String::new()), "two targets");
}

#[test]
fn output_is_a_text_or_a_notice() {
    let mut dashboard = dashboard(CommandOutput::Text, true);
    let action = run(dashboard.keys("2 Z")).action;
    assert!(
        dashboard.notices().contains("ticket is running"),
        "{}",
        dashboard.notices()
    );
    dashboard.send(Msg::CommandEnded {
        action,
        result: Ok("TICKET-7\n".into()),
    });
    assert!(
        !dashboard.notices().contains("ticket is running"),
        "{}",
        dashboard.notices()
    );
    assert!(
        dashboard
            .frame()
            .iter()
            .any(|line| line.contains("TICKET-7"))
    );
    dashboard.keys("esc n");
    dashboard.send(Msg::CommandEnded {
        action,
        result: Ok("TICKET-8\n".into()),
    });
    assert!(
        matches!(dashboard.model.overlay.modals.last(), Some(Modal::Form(_))),
        "the form keeps the keys"
    );
    dashboard.send(Msg::CommandEnded {
        action,
        result: Err(Problem::local("tracker ended with 3")),
    });
    assert!(
        dashboard
            .notices()
            .contains("ticket failed: tracker ended with 3"),
        "{}",
        dashboard.notices()
    );

    let mut dashboard = self::dashboard(CommandOutput::Background, true);
    let action = run(dashboard.keys("2 Z")).action;
    assert!(
        dashboard.notices().contains("ticket is running"),
        "{}",
        dashboard.notices()
    );
    dashboard.send(Msg::CommandEnded {
        action,
        result: Ok("a\nb\n".into()),
    });
    assert!(
        dashboard.notices().contains("ticket done, 2 lines printed")
            && dashboard.model.overlay.modals.is_empty()
    );
}

#[test]
fn command_that_changes_something_is_off_in_a_read_only_session() {
    for (changes, runs) in [(true, false), (false, true)] {
        let mut dashboard = dashboard(CommandOutput::Text, changes);
        dashboard.model.session.read_only = true;
        for keys in ["2 Z", ": 'run ticket' enter"] {
            let effects = dashboard.keys(keys);
            assert_eq!(
                effects
                    .iter()
                    .any(|effect| matches!(effect, Effect::Run(_))),
                runs,
                "{keys}"
            );
            assert_eq!(
                dashboard.notices().contains("off in a read-only session"),
                !runs,
                "{keys}"
            );
        }
    }
}

#[test]
fn variables_of_commands_are_masked() {
    let mut dashboard = dashboard(CommandOutput::Text, true);
    dashboard.keys(": 'mask' enter");
    let run = run(dashboard.keys("2 Z"));
    assert!(
        fact(&run, "NAME").starts_with("host-")
            && fact(&run, "WORKSPACE").starts_with("workspace-")
    );
    assert!(!run.input.contains("acme"), "{}", run.input);
}
