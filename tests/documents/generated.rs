//! The generated parts of the documents: keys, commands, query fields, HTTP API, command line and
//! configuration sample.

use std::fmt::Write;
use std::fs;

use scandeck::dashboard::core::commands::table;
use scandeck::dashboard::input::keymap::Keymap;
use scandeck::query::QueryKind;
use scandeck::query::field::{Field, FieldSpec, ValueKind};
use scandeck::query::flag::Flag;

use super::{api_reference, cli_reference, package, part, read};

#[test]
fn generated_parts_match_the_code() {
    let parts = [
        ("docs/keys.md", "keys", keys()),
        ("docs/commands.md", "commands", commands()),
        ("docs/commands.md", "actions", actions()),
        ("docs/query.md", "fields", query_fields()),
        ("docs/api.md", "reference", api_reference::markdown()),
        ("docs/cli.md", "options", cli_reference::shared_options()),
        ("docs/cli.md", "reference", cli_reference::markdown()),
        (
            "docs/configuration.md",
            "sample",
            format!("```toml\n{}```", read("assets/config.toml")),
        ),
    ];
    for (document, name, code) in parts {
        let mut text = read(document);
        let range = part(&text, name);
        let expected = format!("\n{}\n\n", code.trim());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            text.replace_range(range, &expected);
            fs::write(package().join(document), text).unwrap();
        } else {
            assert!(
                text[range] == expected,
                "{document}: run `UPDATE_DOCS=1 cargo test documents` and read the diff"
            );
        }
    }
}

fn keys() -> String {
    let mut text = String::new();
    for section in Keymap::builtin().help() {
        let _ = write!(
            text,
            "## {} (`{}`)\n\n| Key | Action |\n|---|---|\n",
            section.title,
            section.context.name()
        );
        for (_, keys, action) in section.lines {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{}`", cell(key))).collect();
            let _ = writeln!(text, "| {} | {} |", keys.join(" "), cell(action));
        }
        text.push('\n');
    }
    text
}

fn commands() -> String {
    let mut text = String::from("| Command | Description | Example |\n|---|---|---|\n");
    for command in table::all().iter().filter(|command| command.run.is_some()) {
        let (usage, example) = (cell(&command.usage()), cell(command.example));
        let _ = writeln!(
            text,
            "| `{usage}` | {} | `:{example}` |",
            cell(command.words)
        );
    }
    text
}

fn actions() -> String {
    let mut text = String::from("| Command | Description |\n|---|---|\n");
    for command in table::all().iter().filter(|command| command.run.is_none()) {
        let _ = writeln!(text, "| `:{}` | {} |", command.name, cell(command.words));
    }
    text
}

fn query_fields() -> String {
    let mut text = String::new();
    for kind in QueryKind::ALL {
        let _ = write!(text, "## Fields of {}\n\n", kind.title());
        text += "| Field | Values | Meaning | Example |\n|---|---|---|---|\n";
        for field in Field::of(kind) {
            text += &field_row(field, kind);
        }
        text += "\n| Flag | Meaning |\n|---|---|\n";
        for flag in Flag::of(kind) {
            let _ = writeln!(
                text,
                "| `is:{}`{} | {} |",
                flag.name,
                aliases(flag.aliases),
                cell(flag.words_in(kind))
            );
        }
        text.push('\n');
    }
    text
}

fn field_row(field: &FieldSpec, kind: QueryKind) -> String {
    let values = match field.values {
        ValueKind::Search => "words".to_owned(),
        ValueKind::Flags => "flags".to_owned(),
        ValueKind::Prose => "long text".to_owned(),
        ValueKind::Word => "short text".to_owned(),
        ValueKind::Choice(names) => names()
            .iter()
            .map(|names| format!("`{}`", names[0]))
            .collect::<Vec<_>>()
            .join(" "),
        ValueKind::Number => "number".to_owned(),
        ValueKind::Risk => "risk".to_owned(),
        ValueKind::Span => "duration".to_owned(),
        ValueKind::Time => "time".to_owned(),
        ValueKind::Deadline => "deadline".to_owned(),
    };
    let example = match (field.values, Flag::of(kind).next()) {
        // Each list has flags of its own.
        (ValueKind::Flags, Some(flag)) => format!("is:{}", flag.name),
        _ => cell(field.example_in(kind)),
    };
    let names = aliases(field.aliases);
    format!(
        "| `{}`{names} | {values} | {} | `{example}` |\n",
        field.name,
        cell(field.words_in(kind))
    )
}

fn aliases(names: &[&str]) -> String {
    names.iter().map(|name| format!(" `{name}`")).collect()
}

/// Text of a table cell: a bare `|` would begin the next one.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
