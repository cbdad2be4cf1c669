//! The rules of `ARCHITECTURE.md` that Cargo cannot hold: which folder of a crate names which, and
//! where the program does I/O.
//!
//! ```text
//!   files ─► source: the paths, types and draw functions that a file names ─► rules: the table ─► report
//! ```
//!
//! A rule is a row of [`rules::RULES`]. To allow a name in another place, change the row. The
//! tokens of a file are read without expanding macros or resolving re-exports, so a rule finds a
//! slip, not an attempt to deceive it.

mod rules;
mod source;
mod tests;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};
use source::Source;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the workspace, without tests, benchmarks and examples, read once.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);

fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    files_below(&package().join("src"), "program", &mut files);
    for entry in fs::read_dir(package().join("crates")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        files_below(&entry.path().join("src"), &name, &mut files);
    }
    source::read(files)
}

/// Layer and text of each Rust file below a folder.
fn files_below(folder: &Path, layer: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let below = match name {
            "lib" | "mod" => layer.to_owned(),
            _ => format!("{layer}/{name}"),
        };
        if path.is_dir() {
            files_below(&path, &below, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push((below, fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn source_tree_keeps_every_rule() {
    let violations = rules::violations(&SOURCES);
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
    for layer in rules::layers() {
        let has_file = SOURCES
            .iter()
            .any(|one| rules::is_in(&one.layer, layer, "/"));
        assert!(has_file, "layer {layer} of a rule has no file");
    }
}

/// The texts of a file that are SQL statements.
fn statements(tokens: TokenStream, found: &mut Vec<String>) {
    const VERBS: [&str; 5] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
    for token in tokens {
        match token {
            TokenTree::Group(group) => statements(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let begins = |verb: &&str| text.trim_start_matches('"').starts_with(*verb);
                found.extend(VERBS.iter().any(begins).then_some(text));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

static STATEMENTS: LazyLock<Vec<String>> = LazyLock::new(statements_of_the_service);

fn statements_of_the_service() -> Vec<String> {
    let mut found = Vec::new();
    for source in SOURCES.iter() {
        if rules::is_in(&source.layer, "service/store", "/") {
            statements(source.text.parse().unwrap(), &mut found);
        }
    }
    assert!(found.len() > 100, "only {} statements", found.len());
    found
}

/// `$1` is a parameter in SQLite and in PostgreSQL; a bare `?` is one in SQLite only.
#[test]
fn statements_of_the_service_number_their_parameters() {
    let bare: Vec<&String> = STATEMENTS
        .iter()
        .filter(|text| text.contains('?'))
        .collect();
    assert!(bare.is_empty(), "{bare:#?}");
}

/// A newer program may add columns while an older one runs.
#[test]
fn statements_of_the_service_name_their_columns() {
    const ALL_COLUMNS: [&str; 4] = ["SELECT *", "RETURNING *", ", *", ".*"];
    let names_columns = |inserted: &str| {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '}');
        inserted.trim_start_matches(is_of_name).starts_with(" (")
    };
    let is_open = |text: &&String| {
        let mut inserts = text.split("INSERT INTO ").skip(1);
        ALL_COLUMNS.iter().any(|all| text.contains(*all)) || !inserts.all(names_columns)
    };
    let open: Vec<&String> = STATEMENTS.iter().filter(is_open).collect();
    assert!(open.is_empty(), "{open:#?}");
}
