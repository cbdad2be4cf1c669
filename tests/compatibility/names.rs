//! Names that users have in scripts and files: the current version accepts each of them. New names
//! may be added.

use std::collections::{BTreeMap, BTreeSet};

use scandeck::dashboard::core::commands::parse;
use scandeck::dashboard::input::{Action, Keymap};
use scandeck::query::{Query, QueryKind};
use serde_json::Value;

use super::{Home, fixture, text};
use crate::view::fixtures::populated;

#[test]
fn action_names_are_accepted_in_their_contexts() {
    let mut contexts: BTreeMap<String, String> = BTreeMap::new();
    for line in text("names/actions.txt").lines() {
        let (context, action) = line.split_once(' ').unwrap();
        assert!(
            Action::named(action).is_some(),
            "no action is called {action}"
        );
        *contexts.entry(context.to_owned()).or_default() += &format!("{action} = []\n");
    }
    let table: String = contexts
        .iter()
        .map(|(context, actions)| format!("[{context}]\n{actions}\n"))
        .collect();
    Keymap::parse(&table).unwrap();
}

#[test]
fn command_lines_are_accepted() {
    let model = populated(120, 40);
    let mut refused = Vec::new();
    for line in text("names/commands.txt").lines() {
        // Replace the names of the examples by names in the view fixtures.
        let command = match line {
            "logger probe" => "logger blind-ssrf".to_owned(),
            "scan 1" => "scan 118".to_owned(),
            "compare 1 4" => "compare 118 117".to_owned(),
            _ => line.replace("t1.acme.test", "shop.acme.test"),
        };
        match parse::parse(&model, &command) {
            // Names of the configuration and the payload book, which the view fixtures do not have.
            Err(_) if is_named_elsewhere(line) && parse::split(line).is_some() => {}
            Err(fault) => refused.push(format!(":{line}: {fault}")),
            Ok(_) => {}
        }
    }
    assert_eq!(refused, [""; 0]);
}

fn is_named_elsewhere(line: &str) -> bool {
    line.starts_with("wait payload ") || line.starts_with("run ")
}

#[test]
fn queries_with_every_field_value_and_flag_are_accepted() {
    let kinds: BTreeMap<String, QueryKind> = QueryKind::ALL
        .into_iter()
        .map(|kind| (kind.as_str().replace(' ', "-"), kind))
        .collect();
    let refused: Vec<String> = text("names/queries.txt")
        .lines()
        .filter_map(|line| {
            let (kind, query) = line.split_once(' ').unwrap();
            Query::parse(query, kinds[kind])
                .err()
                .map(|error| format!("{line}: {error}"))
        })
        .collect();
    assert_eq!(refused, [""; 0]);
}

/// Tabs, alerts and typed queries of the fixture; alerts and the review name queries of captures
/// and findings.
#[test]
fn saved_queries_and_alerts_are_accepted() {
    let mut queries = Vec::new();
    for line in text("practice.bundle").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(key) = line["setting"]["key"].as_str() else {
            continue;
        };
        let value: Value = serde_json::from_str(line["setting"]["json"].as_str().unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match key {
            "tabs" => queries.extend(
                value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tab| (text(&tab["query"]), QueryKind::Findings)),
            ),
            "queries" => {
                queries.extend(
                    value["findings"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|one| (text(one), QueryKind::Findings)),
                );
            }
            _ => queries.extend(
                key.strip_prefix("alert:")
                    .map(|query| (query.to_owned(), QueryKind::Captures)),
            ),
        }
    }
    assert_eq!(queries.len(), 10, "{queries:?}");
    for (query, kind) in queries {
        Query::parse(&query, kind).unwrap_or_else(|error| panic!("{query}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_flags_are_accepted() {
    let home = Home::empty();
    let mut flags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text("names/cli.txt").lines() {
        let (command, flag) = line
            .split_once("--")
            .map_or((line, None), |(command, flag)| (command.trim(), Some(flag)));
        flags
            .entry(command.to_owned())
            .or_default()
            .extend(flag.map(|flag| format!("--{flag}")));
    }
    let mut refused = Vec::new();
    for (command, flags) in flags {
        let words: Vec<&str> = command.split_whitespace().collect();
        let help = home.run(&[&words[..], &["--help"]].concat()).await;
        assert_eq!(
            help.code, 0,
            "`scandeck {command}` is not a command: {help:?}"
        );
        // Options are indented by two blanks, or by six without a short form. Continued examples
        // are indented by four.
        let is_option = |line: &&str| matches!(line.len() - line.trim_start().len(), 2 | 6);
        let shown: BTreeSet<&str> = help
            .out
            .lines()
            .filter(is_option)
            .flat_map(|line| line.split_whitespace().take(2))
            .collect();
        for flag in flags.iter().filter(|flag| !shown.contains(flag.as_str())) {
            // A flag may be hidden from the help and still be accepted.
            let ended = home
                .run(&[&words[..], &[flag.as_str(), "--help"]].concat())
                .await;
            if ended.err.contains("unexpected argument") {
                refused.push(format!("scandeck {command} {flag}"));
            }
        }
    }
    assert_eq!(refused, [""; 0]);
}

/// The exported events contain every kind of event.
#[tokio::test(flavor = "multi_thread")]
async fn event_kinds_are_read_and_written_as_before() {
    let events = text("expected/events.jsonl");
    let mut kinds = BTreeSet::new();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        for part in ["subject", "change"] {
            let kind = event[part].as_str().map(str::to_owned);
            let kind = kind.unwrap_or_else(|| {
                event[part]
                    .as_object()
                    .unwrap()
                    .keys()
                    .next()
                    .unwrap()
                    .clone()
            });
            kinds.insert(format!("{part} {kind}"));
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let lines: Vec<String> = text("names/events.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(kinds, lines);

    let home = Home::empty();
    let file = fixture("expected/events.jsonl");
    home.output(&["triage", "import", file.to_str().unwrap(), "--strict"])
        .await;
    assert_eq!(home.output(&["triage", "export"]).await, events);
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_have_every_field_as_before() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    for format in [
        "csv",
        "markdown",
        "jsonl",
        "defectdojo",
        "sarif",
        "vex",
        "json",
    ] {
        home.output(&[
            "findings", "export", "--format", format, "-o", "export", "--force",
        ])
        .await;
        let now = std::fs::read_to_string(home.path().join("export")).unwrap();
        assert_fields(format, &text(&format!("exports/findings.{format}")), &now);
    }
    for format in ["har", "jsonl"] {
        home.output(&[
            "captures", "export", "--format", format, "-o", "export", "--force",
        ])
        .await;
        let now = std::fs::read_to_string(home.path().join("export")).unwrap();
        assert_fields(format, &text(&format!("exports/captures.{format}")), &now);
    }
    service.stop().await;
}

/// Asserts that the export contains every field of the earlier one.
fn assert_fields(format: &str, before: &str, now: &str) {
    let (before, now) = (fields(format, before), fields(format, now));
    let missing: Vec<&String> = before.difference(&now).collect();
    assert!(
        !before.is_empty() && missing.is_empty(),
        "{format} lacks {missing:?}"
    );
}

/// The columns of CSV, the paths of all JSON keys, or a marker for a Markdown title.
fn fields(format: &str, export: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match format {
        "markdown" => found.extend(export.starts_with("# ").then(|| "a title".to_owned())),
        // A spreadsheet needs the mark; a pipe does not get it.
        "csv" => found.extend(
            export
                .trim_start_matches('\u{feff}')
                .lines()
                .next()
                .unwrap_or_default()
                .split(',')
                .map(str::to_owned),
        ),
        "jsonl" => export
            .lines()
            .for_each(|line| paths(&serde_json::from_str(line).unwrap(), "", &mut found)),
        _ => paths(&serde_json::from_str(export).unwrap(), "", &mut found),
    }
    found
}

fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{at}.{name}");
                paths(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(all) => all
            .iter()
            .for_each(|one| paths(one, &format!("{at}[]"), found)),
        _ => {}
    }
}
