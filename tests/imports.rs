//! Holds the rules of `ARCHITECTURE.md`: reads every file below `src/` with `syn` and checks what it names.
//!
//! ```text
//!   tree: mod declarations -> files, scopes ─► paths: what a file names ─► resolve: absolute paths, re-exports
//!                                                                                │
//!                        report: by rule, with counts ◄─ check, circles ◄─ rules: the table
//! ```
//!
//! A rule is a row of `rules::RULES`. To change where something may be named, change its row.

mod check;
mod circles;
mod paths;
mod report;
mod resolve;
mod rules;
mod tree;

#[cfg(test)]
mod tests;

use std::path::Path;

/// What breaks the rules in a package, by rule; empty when all hold.
pub fn violations(package: &Path) -> String {
    let tree = tree::Tree::read(&tree::sources(package));
    report::report(&check::check(&tree, rules::RULES))
}

#[test]
fn source_tree_keeps_every_rule() {
    let violations = violations(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(violations.is_empty(), "\n{violations}");
}
