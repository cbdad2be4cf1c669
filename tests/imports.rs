//! Enforces the rules of `ARCHITECTURE.md`: parses every file of the workspace with `syn` and checks
//! the names in it.
//!
//! ```text
//!   tree: mod declarations -> files, scopes ─► paths: names in a file ─► resolve: absolute paths, re-exports
//!                                                                                │
//!                        report: by rule, with counts ◄─ check, cycles ◄─ rules: the table
//! ```
//!
//! A rule is a row of `rules::RULES`. To allow a name in another place, change the row.

mod check;
mod cycles;
mod paths;
mod report;
mod resolve;
mod rules;
mod tree;

#[cfg(test)]
mod tests;

use std::path::Path;

/// Report of all violations in a package, by rule; empty when every rule holds.
pub fn violations(package: &Path) -> String {
    let tree = tree::Tree::read(&tree::sources(package));
    report::report(&check::check(&tree, rules::RULES))
}

#[test]
fn source_tree_keeps_every_rule() {
    let violations = violations(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(violations.is_empty(), "\n{violations}");
}

/// A migration that no store names would never run.
#[test]
fn every_migration_is_embedded_by_its_store() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (folder, store) in [
        ("oob", "domain/src/oob"),
        ("sqlite", "service/src"),
        ("triage", "domain/src/triage"),
    ] {
        let source =
            std::fs::read_to_string(package.join("crates").join(store).join("store/open.rs"))
                .unwrap();
        for file in std::fs::read_dir(package.join("assets/migrations").join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(source.contains(&format!("{folder}/{name}\")")), "{name}");
        }
    }
}
