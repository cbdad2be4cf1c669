//! Parsing of typed lines, without a dashboard.

use crate::base::{Session, Size};
use crate::core::commands::parse::{parse, split};
use crate::core::commands::table::all;
use crate::palette::*;

fn model() -> Model {
    Model::new(
        Session::default(),
        Size {
            columns: 80,
            rows: 24,
        },
    )
}

#[test]
fn longest_name_at_the_start_is_the_command() {
    for (line, name, rest) in [
        ("findings risk>=high", "findings", " risk>=high"),
        (":findings", "findings", ""),
        ("  : FINDINGS x", "findings", " x"),
        ("scan 118", "scan", " 118"),
        ("repeat scan", "repeat scan", ""),
        ("repeat_scan", "repeat scan", ""),
        ("Repeat-Scan now", "repeat scan", " now"),
        ("undo  filter", "undo filter", ""),
    ] {
        let (command, from) = split(line).unwrap_or_else(|| panic!("{line:?} is no command"));
        assert_eq!(
            (command.name.as_ref(), &line[from..]),
            (name, rest),
            "{line:?}"
        );
    }
    for line in ["", ":", "find", "findingsx", "down", "1"] {
        assert!(split(line).is_none(), "{line:?}");
    }
}

#[test]
fn command_has_a_unique_name_and_a_description() {
    let mut names: Vec<_> = all().iter().map(|command| command.name.as_ref()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for command in all() {
        assert!(!command.words.is_empty(), "{}", command.name);
        assert!(
            command.action.is_some() || command.run.is_some(),
            "{} does nothing",
            command.name
        );
        assert_eq!(command.name, command.name.to_lowercase());
    }
}

#[test]
fn action_without_cursor_has_a_command() {
    for name in [
        "help",
        "refresh",
        "zoom",
        "report",
        "copy_curl",
        "mark_all",
        "sort",
        "quit",
        "go_target",
    ] {
        let action = Action::named(name).unwrap();
        assert!(
            all().iter().any(|command| command.action == Some(action)),
            "{name}"
        );
    }
    for name in [
        "down",
        "page up",
        "go",
        "accept",
        "yes",
        "later activity",
        "commands",
    ] {
        assert!(all().iter().all(|command| command.name != name), "{name}");
    }
}

#[test]
fn command_error_has_position_and_reason() {
    let model = model();
    for (line, at, reason) in [
        ("findings risk>=hihg", "hihg", "high"),
        ("findings (risk:high", "(", "unclosed"),
        ("scan 9", "9", "scan `9` not found"),
        ("scan", "", "id is missing"),
        ("baseline soon", "soon", "use a date such as"),
        ("zoom in", "in", "too many arguments"),
        ("fnidings", "fnidings", "did you mean `findings`?"),
    ] {
        let fault = parse(&model, line).map(|_| ()).unwrap_err();
        assert!(fault.to_string().contains(reason), "{line}: {fault}");
        assert_eq!(&line[fault.at.clone()], at, "{line}: {fault}");
    }
}

#[test]
fn arguments_are_parsed_into_typed_values() {
    let mut model = model();
    model.now.wall = "2026-11-21T12:00:00Z".parse().unwrap();
    let args = |line: &str| parse(&model, line).unwrap().args;
    assert_eq!(args("findings").values, []);
    assert_eq!(
        args("findings  risk>=high text:\"a b\" ")
            .query()
            .as_deref(),
        Some("risk>=high text:\"a b\"")
    );
    let day = jiff::civil::date(2026, 10, 1);
    assert_eq!(
        args("baseline 2026-10-01").baseline(),
        Some(Some(scandeck_domain::triage::Baseline::Day(day)))
    );
    assert_eq!(args("baseline none").baseline(), Some(None));
    let scans = [7, 8].map(scandeck_wire::contract::ScanId).to_vec();
    assert_eq!(
        args("baseline 7, #8").baseline(),
        Some(Some(scandeck_domain::triage::Baseline::Scans(scans)))
    );
}

proptest::proptest! {
    /// Any text is parsed, or refused with a position inside it.
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,40}", name in 0usize..60) {
        let model = model();
        let command = &all()[name % all().len()].name;
        for line in [text.clone(), format!("{command} {text}"), format!("{command}{text}")] {
            if let Err(fault) = parse(&model, &line) {
                proptest::prop_assert!(line.get(fault.at.clone()).is_some(), "{line:?}: {fault:?}");
            }
        }
    }
}
