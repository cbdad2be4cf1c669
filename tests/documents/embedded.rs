//! Files below `assets/` that the program embeds one by one.

use std::path::{Component, Path, PathBuf};

use regex::Regex;

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

/// `cargo package` puts what lies in the folder of a crate into its package; links are followed. Tests
/// are not compiled from a package.
#[test]
fn every_crate_embeds_only_files_of_its_own_folder() {
    let embeds = Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(package().join("crates")).unwrap() {
        let krate = entry.unwrap().path();
        let files = rust_files(&krate.join("src")).into_iter();
        for file in files.filter(|file| !is_test(file)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap_or_default();
            for found in embeds.captures_iter(product) {
                count += 1;
                let path = plain(&file.parent().unwrap().join(&found[1]));
                assert!(path.exists(), "{}: {}", file.display(), &found[1]);
                assert!(
                    path.starts_with(&krate),
                    "{}: {}",
                    file.display(),
                    &found[1]
                );
            }
        }
    }
    assert!(count > 50, "only {count} embedded files found");
}

fn is_test(file: &Path) -> bool {
    let name = file.file_stem().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with("tests"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => files.push(path),
            _ if path.is_dir() => files.extend(rust_files(&path)),
            _ => {}
        }
    }
    files
}

/// The path without `..`, and without a look at links.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = found.pop(),
            other => found.push(other),
        }
    }
    found
}
