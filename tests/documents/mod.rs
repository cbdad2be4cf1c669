//! The documents: the generated parts match the code, and the paths, links and commands in them
//! exist.
//!
//! `UPDATE_DOCS=1 cargo test documents` rewrites the generated parts.

mod api_reference;
mod cli_reference;
mod embedded;
mod examples;
mod generated;
mod links;
mod names;
mod settings;

use std::fs;
use std::path::Path;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(document: &str) -> String {
    let path = package().join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every document, as a path below the package.
fn documents() -> Vec<String> {
    let mut documents = Vec::new();
    for folder in ["", "docs/"] {
        for entry in fs::read_dir(package().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                documents.push(format!("{folder}{name}"));
            }
        }
    }
    documents.sort();
    documents
}

/// The byte range of a marked part of a document: the text between `<!-- NAME: begin … -->` and
/// `<!-- NAME: end -->`.
pub(crate) fn part(text: &str, name: &str) -> std::ops::Range<usize> {
    let marker = text
        .find(&format!("<!-- {name}: begin"))
        .unwrap_or_else(|| panic!("no part {name}"));
    let start = marker + text[marker..].find("-->\n").unwrap() + 4;
    start..text.find(&format!("<!-- {name}: end")).unwrap()
}
