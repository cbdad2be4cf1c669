//! The settings in `docs/configuration.md` and in the sample: all that the code reads, and no others.

use std::fs;
use std::path::Path;

use scandeck::config::file::ConfigFile;

use super::read;

/// The tables of the file, as the headings of the page name them.
const TABLES: [&str; 4] = ["", "[captures]", "[signals]", "[profiles.NAME]"];

#[test]
fn configuration_page_lists_every_setting_of_the_code() {
    let page = read("docs/configuration.md");
    for table in TABLES {
        let documented: Vec<&str> = rows(&page, table).map(|row| row.name).collect();
        let mut sorted = documented.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, settings(table), "settings of {table:?}");
    }
}

#[test]
fn configuration_page_has_examples_that_can_be_read() {
    let page = read("docs/configuration.md");
    for table in TABLES {
        for row in rows(&page, table) {
            // A default profile has to exist.
            let rest = if row.name == "default_profile" { "[profiles.prod]" } else { "" };
            let text = format!("{}\n{}\n{rest}\n", table.replace("NAME", "x"), row.example);
            parse(&text).unwrap_or_else(|error| panic!("example of {}: {error}", row.name));
            assert!(row.example.starts_with(&format!("{} = ", row.name)), "example of {}", row.name);
        }
    }
}

#[test]
fn configuration_sample_is_valid_and_names_every_setting() {
    let sample = read("assets/config.toml");
    parse(&sample).unwrap();
    for setting in TABLES.into_iter().flat_map(settings).filter(|setting| setting != "profiles") {
        let is_shown = sample.contains(&format!("\n{setting} = ")) || sample.contains(&format!("\n[{setting}]"));
        assert!(is_shown, "the sample lacks {setting}");
    }
}

struct Row<'page> {
    name: &'page str,
    example: &'page str,
}

/// The rows of the page for one table: `` | `name` | default | `example` | description | ``.
fn rows<'page>(page: &'page str, table: &str) -> impl Iterator<Item = Row<'page>> {
    let heading = if table.is_empty() { "## Top level".to_owned() } else { format!("## `{table}`") };
    let part = page.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("no heading {heading}"));
    let part = part.split("\n## ").next().unwrap();
    part.lines().filter(|line| line.starts_with("| `")).map(|line| {
        let cells: Vec<&str> = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`'])).collect();
        Row { name: cells[0], example: cells[2] }
    })
}

/// The settings of a table: the error about an unknown setting lists them.
fn settings(table: &str) -> Vec<String> {
    let error = parse(&format!("{}\nno_such_setting = 1\n", table.replace("NAME", "x"))).unwrap_err();
    let mut names: Vec<String> = error.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    names.retain(|name| !table.is_empty() || !["captures", "signals", "profiles"].contains(&name.as_str()));
    names.sort();
    names
}

fn parse(text: &str) -> Result<ConfigFile, String> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, text).unwrap();
    ConfigFile::read(Path::new(&path), true).map_err(|error| error.to_string())
}
