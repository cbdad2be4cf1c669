//! Files below `assets/` that the program embeds one by one.

use super::package;

/// A migration that no store names would never run.
#[test]
fn every_migration_is_embedded_by_its_store() {
    for (folder, store) in [
        ("oob", "domain/src/oob"),
        ("sqlite", "service/src"),
        ("triage", "domain/src/triage"),
    ] {
        let store = package().join("crates").join(store).join("store/open.rs");
        let source = std::fs::read_to_string(store).unwrap();
        for file in std::fs::read_dir(package().join("assets/migrations").join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(source.contains(&format!("{folder}/{name}\")")), "{name}");
        }
    }
}
