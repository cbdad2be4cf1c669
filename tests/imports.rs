//! Holds the rules of ARCHITECTURE.md by reading what each file under `src/` names.
//!
//! A rule says what the files of one layer may not mention. Comments do not count: they may tell about anything.

use std::fs;
use std::path::{Path, PathBuf};

/// What reaches outside the process, or the clock.
const OUTSIDE: &[&str] = &[
    "tokio",
    "reqwest",
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "ToSocketAddrs",
    "Instant::now",
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
    ".await",
];

/// Layer (a path below `src/`), what it must not name, and why.
const RULES: &[(&str, &[&str], &str)] = &[
    (
        "contract",
        &["crate::app", "crate::client", "crate::service", "crate::view", "crate::poller", "crate::text"],
        "the wire types know nobody",
    ),
    ("app", OUTSIDE, "the core is pure: no I/O, no clock"),
    ("input", OUTSIDE, "keys are data: no I/O, no clock"),
    ("triage", OUTSIDE, "decisions are folded: no I/O, no clock; only its store reads and writes"),
    (
        "triage",
        &[
            "sqlx",
            "crate::client",
            "crate::poller",
            "crate::runtime",
            "crate::service",
            "crate::view",
            "crate::app::model",
        ],
        "decisions know no screen, and SQL is the store's",
    ),
    ("oob", OUTSIDE, "what a request tells is computed: no I/O, no clock; only its store reads and writes"),
    (
        "oob",
        &["sqlx", "crate::client", "crate::poller", "crate::runtime", "crate::service", "crate::view", "crate::app"],
        "payloads know no screen, and SQL is the store's",
    ),
    ("query", OUTSIDE, "a query is computed: no I/O, no clock"),
    ("query", &["crate::app", "crate::client", "crate::service", "crate::view"], "queries know no screen"),
    ("view", OUTSIDE, "drawing only reads the model"),
    ("report", OUTSIDE, "a report is computed: data in, bytes out"),
    (
        "report",
        &["crate::app", "crate::client", "crate::query", "crate::service", "crate::triage", "crate::view"],
        "both wings write reports with it",
    ),
    ("export", OUTSIDE, "an export is computed: rows in, bytes out"),
    ("export", &["crate::client", "crate::service", "crate::view", "crate::runtime"], "exports know no shell"),
    (
        "app",
        &["crate::client", "crate::poller", "crate::runtime", "crate::service", "crate::view"],
        "the core knows no shell",
    ),
    ("input", &["crate::client", "crate::runtime", "crate::service", "crate::view"], "keys know nobody who uses them"),
    ("view", &["crate::client", "crate::poller", "crate::runtime", "crate::service"], "drawing only reads the model"),
    (
        "client",
        &["crate::service", "crate::app::model", "crate::view", "ratatui"],
        "the client speaks HTTP and nothing else",
    ),
    ("poller", &["crate::service", "crate::view", "reqwest", "ratatui"], "only the client names reqwest"),
    (
        "service",
        &[
            "crate::app",
            "crate::client",
            "crate::input",
            "crate::poller",
            "crate::runtime",
            "crate::view",
            "crate::config",
            "ratatui",
            "crossterm",
        ],
        "the service does not know the dashboard",
    ),
    ("service/engine", &["sqlx", "axum"], "the engine speaks neither SQL nor the API"),
    ("service/routes", &["sqlx"], "routes speak HTTP, the store speaks SQL"),
    ("service/store", &["axum", "reqwest"], "the store speaks SQL only"),
];

/// Where a layer reaches outside: its rules do not hold there.
const DOORS: &[&str] = &["src/triage/store", "src/oob/store"];

/// Files that may name both wings, with everything else of the dashboard kept from the service.
const BOTH_WINGS: &[&str] = &["src/cli", "src/demo", "src/runtime/local.rs", "src/lib.rs", "src/main.rs"];

fn files(below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(below) else { return Vec::new() };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push(path);
        }
    }
    all
}

/// The lines of a file that are code, up to its unit tests, with their numbers.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number + 1, line.to_owned()))
        .collect()
}

/// Whether a line holds `word`, and not only inside a longer one.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn every_layer_names_only_what_it_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for (layer, forbidden, why) in RULES {
        let folder = source().join(layer);
        let single = source().join(format!("{layer}.rs"));
        let sources = files(&folder).into_iter().chain(single.is_file().then_some(single));
        for path in sources.filter(|path| !DOORS.iter().any(|door| path.starts_with(root.join(door)))) {
            for (number, line) in code(&path) {
                for word in forbidden.iter().filter(|word| names(&line, word)) {
                    broken.push(format!("{}:{number} names {word} ({why})", path.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn only_the_composing_files_know_both_wings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for path in files(&source()) {
        let relative = path.strip_prefix(root).unwrap();
        if BOTH_WINGS.iter().any(|allowed| relative.starts_with(allowed)) || relative.starts_with("src/service") {
            continue;
        }
        for (number, line) in code(&path) {
            if line.contains("crate::service") {
                broken.push(format!("{}:{number}", relative.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these know the service: {}", broken.join(", "));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent: Vec<_> = files(&source())
        .into_iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .map(|path| path.display().to_string())
        .collect();
    assert!(silent.is_empty(), "no opening words: {}", silent.join(", "));
}
