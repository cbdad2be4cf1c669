//! The settings in `docs/configuration.md` and in the sample: all that the code reads, and no
//! others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use scandeck::config::alerts::{RuleSettings, WebhookFormat};
use scandeck::config::file::{CommandEntry, ConfigFile, Profile};
use scandeck::config::{Config, Environment, Flags};
use scandeck::contract::schedule::DEFAULT_WINDOW;
use scandeck::contract::{RedirectLevel, SCAN_MINUTES};

use super::read;

const SCAN_PROFILES: &str = "[[scan_profiles.NAME]]";
const SCHEDULES: &str = "[schedules.NAME]";

/// The tables of the file, as the headings of the page name them.
const TABLES: [&str; 9] = [
    "",
    "[captures]",
    "[alerts]",
    "[alerts.rules.NAME]",
    "[alerts.webhooks.NAME]",
    "[[commands]]",
    SCAN_PROFILES,
    SCHEDULES,
    "[profiles.NAME]",
];

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
            let rest = needed(table, row.name);
            let text = format!("{}\n{}\n{rest}\n", table.replace("NAME", "x"), row.example);
            parse(&text).unwrap_or_else(|error| panic!("example of {}: {error}", row.name));
            assert!(
                row.example.starts_with(&format!("{} = ", row.name)),
                "example of {}",
                row.name
            );
        }
    }
}

#[test]
fn configuration_page_has_the_defaults_of_the_code() {
    let page = read("docs/configuration.md");
    let defaults = defaults();
    for row in TABLES.into_iter().flat_map(|table| rows(&page, table)) {
        let default = defaults
            .get(row.name)
            .unwrap_or_else(|| panic!("no default of {} in this test", row.name));
        assert_eq!(row.default, default, "default of {}", row.name);
    }
}

#[test]
fn configuration_sample_is_valid_and_names_every_setting() {
    let sample = read("assets/config.toml");
    parse(&sample).unwrap();
    for setting in TABLES
        .into_iter()
        .flat_map(settings)
        .filter(|setting| setting != "profiles")
    {
        let is_shown = sample.contains(&format!("\n{setting} = "))
            || sample.contains(&format!("\n[{setting}]"));
        assert!(is_shown, "the sample lacks {setting}");
    }
}

/// The settings without which an example is invalid: a default profile has to exist, a rule has
/// events, a webhook has a URL.
fn needed(table: &str, name: &str) -> &'static str {
    match (table, name) {
        ("", "default_profile") => "[profiles.prod]",
        ("[alerts.rules.NAME]", name) if name != "on" => "on = [\"finding\"]",
        ("[alerts.webhooks.NAME]", "format" | "insecure_http") => "url = \"https://a.test/\"",
        // Every scan has a tool.
        (SCAN_PROFILES, name) if name != "tool" => "tool = 170",
        // Every schedule has a scan profile and an interval.
        (SCHEDULES, "scan_profile") => "every = \"1d\"\n[[scan_profiles.web]]\ntool = 170",
        (SCHEDULES, "every") => "scan_profile = \"web\"\n[[scan_profiles.web]]\ntool = 170",
        (SCHEDULES, "profile") => {
            "scan_profile = \"web\"\nevery = \"1d\"\n[[scan_profiles.web]]\ntool = 170\n[profiles.prod]"
        }
        (SCHEDULES, "first") => {
            "scan_profile = \"web\"\nevery = \"1d\"\nat = \"02:00\"\n[[scan_profiles.web]]\ntool = 170"
        }
        (SCHEDULES, _) => {
            "scan_profile = \"web\"\nevery = \"1d\"\n[[scan_profiles.web]]\ntool = 170"
        }
        _ => "",
    }
}

struct Row<'page> {
    name: &'page str,
    default: &'page str,
    example: &'page str,
}

/// The rows of the page for one table: `` | `name` | default | `example` | description | ``.
fn rows<'page>(page: &'page str, table: &str) -> impl Iterator<Item = Row<'page>> {
    let heading = if table.is_empty() {
        "## Top level".to_owned()
    } else {
        format!("## `{table}`")
    };
    let part = page
        .split(&format!("\n{heading}\n"))
        .nth(1)
        .unwrap_or_else(|| panic!("no heading {heading}"));
    let part = part.split("\n## ").next().unwrap();
    part.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line
                .split(" | ")
                .map(|cell| cell.trim_matches(['|', ' ', '`']))
                .collect();
            Row {
                name: cells[0],
                default: cells[1],
                example: cells[2],
            }
        })
}

/// The values without a configuration file and in an empty profile, as the page prints them.
fn defaults() -> BTreeMap<&'static str, String> {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment {
        login: "login@host".to_owned(),
        config_home: home.path().join("config"),
        state_home: home.path().join("state"),
        ..Environment::default()
    };
    let config = Config::load(&Flags::default(), &environment).unwrap();
    let (profile, command) = (Profile::default(), CommandEntry::default());
    let or = |value: Option<String>, without: &str| value.unwrap_or_else(|| without.to_owned());
    let list = |values: Vec<String>| {
        or(
            Some(values.join(", ")).filter(|text| !text.is_empty()),
            "none",
        )
    };
    BTreeMap::from([
        ("default_profile", or(config.profile, "none")),
        ("user", config.user),
        (
            "own_addresses",
            list(
                config
                    .own_addresses
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
            ),
        ),
        (
            "theme",
            or(config.screen.theme.map(|(_, name)| name), "auto"),
        ),
        ("mouse", config.screen.mouse.to_string()),
        (
            "keep_days",
            or(config.keep_days.map(|days| days.to_string()), "forever"),
        ),
        ("command", list(config.screen.alerts.command.clone())),
        ("default_rules", "true".to_owned()),
        ("on", "none".to_owned()),
        ("query", "none".to_owned()),
        ("quiet", RuleSettings::default().quiet),
        ("to", "all channels".to_owned()),
        ("url", "none".to_owned()),
        ("url_command", "none".to_owned()),
        ("url_file", "none".to_owned()),
        (
            "format",
            format!("{:?}", WebhookFormat::default()).to_lowercase(),
        ),
        ("name", "the command".to_owned()),
        ("key", "none".to_owned()),
        ("context", command.context),
        ("output", format!("{:?}", command.output).to_lowercase()),
        ("changes", command.changes.to_string()),
        ("tool", "none".to_owned()),
        ("params", "of the tool".to_owned()),
        ("max_scan_time", SCAN_MINUTES.end().to_string()),
        ("redirect_level", RedirectLevel::SameDomain.to_string()),
        ("scan_original_url", false.to_string()),
        ("profile", "every service".to_owned()),
        ("scan_profile", "none".to_owned()),
        ("targets", "all of the workspace".to_owned()),
        ("every", "none".to_owned()),
        ("at", "the present time".to_owned()),
        ("first", "today or tomorrow".to_owned()),
        ("window", DEFAULT_WINDOW.to_owned()),
        ("base_url", or(profile.base_url, "none")),
        ("local", profile.local.to_string()),
        (
            "api_key_command",
            list(
                profile
                    .api_key_command
                    .map(|words| words.split())
                    .unwrap_or_default(),
            ),
        ),
        ("api_key_file", or(profile.api_key_file, "none")),
        (
            "workspace",
            or(profile.workspace, "current workspace of the service"),
        ),
        ("workspace_alias", or(profile.workspace_alias, "none")),
        ("read_only", profile.read_only.to_string()),
        ("insecure_http", profile.insecure_http.to_string()),
        (
            "colour",
            or(
                profile
                    .colour
                    .map(|colour| format!("{colour:?}").to_lowercase()),
                "none",
            ),
        ),
    ])
}

/// The settings of a table: the error about an unknown setting lists them.
fn settings(table: &str) -> Vec<String> {
    // Tables have headings of their own; `signals` is the earlier name of `alerts`.
    let error = parse(&format!(
        "{}\nno_such_setting = 1\n",
        table.replace("NAME", "x")
    ))
    .unwrap_err();
    let (_, names) = error.split_once("use one of ").unwrap();
    let mut names: Vec<String> = names.split(", ").map(str::to_owned).collect();
    let tables: &[&str] = match table {
        "" => &[
            "captures",
            "alerts",
            "signals",
            "keys",
            "commands",
            "profiles",
            "scan_profiles",
            "schedules",
        ],
        "[alerts]" => &["rules", "webhooks"],
        _ => &[],
    };
    names.retain(|name| !tables.contains(&name.as_str()));
    names.sort();
    names
}

fn parse(text: &str) -> Result<ConfigFile, String> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, text).unwrap();
    ConfigFile::read(Path::new(&path), true).map_err(|error| error.to_string())
}
