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

pub use rules::is_in;
use source::Source;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the workspace, without tests, benchmarks and examples, read once.
pub static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);

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
        let has_file = SOURCES.iter().any(|one| is_in(&one.layer, layer, "/"));
        assert!(has_file, "layer {layer} of a rule has no file");
    }
}
