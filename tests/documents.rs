//! The documents for contributors: every path in them exists, and the overview stays short.

use std::fs;
use std::path::Path;

const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"];

const FOLDERS: [&str; 6] = ["src/", "tests/", "docs/", "assets/", "benches/", ".ci/"];

const MAX_ARCHITECTURE_LINES: usize = 150;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(document: &str) -> String {
    fs::read_to_string(package().join(document)).unwrap()
}

/// The paths in code spans; those with a glob or an alternative are left out.
fn paths(text: &str) -> Vec<&str> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_path = |span: &&str| FOLDERS.iter().any(|folder| span.starts_with(folder));
    spans.filter(is_path).filter(|path| !path.contains(['*', '{', ' '])).collect()
}

#[test]
fn documents_name_only_paths_that_exist() {
    for document in DOCUMENTS {
        let text = text(document);
        let paths = paths(&text);
        assert!(!paths.is_empty(), "{document} names no path");
        let missing: Vec<&str> = paths.into_iter().filter(|path| !package().join(path).exists()).collect();
        assert!(missing.is_empty(), "{document} names paths that do not exist: {missing:?}");
    }
}

#[test]
fn architecture_document_has_at_most_150_lines() {
    let lines = text("ARCHITECTURE.md").lines().count();
    assert!(lines <= MAX_ARCHITECTURE_LINES, "{lines} lines: move details to docs/decisions.md");
}

#[test]
fn paths_are_found_in_code_spans_outside_of_code_blocks() {
    let text = "`src/lib.rs`, `src/*.rs`\n```\nsrc/none.rs\n```\nand `tests/{a,b}.rs`, `other`, `.ci/run`";
    assert_eq!(paths(text), ["src/lib.rs", ".ci/run"]);
}
