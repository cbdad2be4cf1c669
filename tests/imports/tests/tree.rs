//! Tests of the module tree: the files of the crate, and test code.

use super::super::tree::{Sources, Tree};
use super::violations_of;

fn of(files: &[(&str, &str)]) -> Sources {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

fn modules(sources: &Sources) -> Vec<String> {
    let tree = Tree::read(sources);
    assert_eq!(tree.unreadable, []);
    tree.files
        .iter()
        .map(|file| format!("{} {}", file.path, file.module.join("::")))
        .collect()
}

#[test]
fn mod_declarations_lead_to_files_and_folders() {
    let sources = of(&[
        ("src/lib.rs", "mod a; mod b; mod inner { mod c; }"),
        ("src/a.rs", "mod d;"),
        ("src/a/d.rs", ""),
        ("src/b/mod.rs", "mod e;"),
        ("src/b/e.rs", ""),
        ("src/inner/c.rs", ""),
        ("src/main.rs", "fn main() {}"),
    ]);
    assert_eq!(
        modules(&sources),
        [
            "src/a/d.rs crate::a::d",
            "src/a.rs crate::a",
            "src/b/e.rs crate::b::e",
            "src/b/mod.rs crate::b",
            "src/inner/c.rs crate::inner::c",
            "src/lib.rs crate",
            "src/main.rs crate",
        ]
    );
}

#[test]
fn path_attribute_names_the_file_of_a_module() {
    let sources = of(&[
        ("src/lib.rs", "mod a;"),
        (
            "src/a.rs",
            "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;",
        ),
        ("src/a_tests.rs", ""),
    ]);
    assert_eq!(modules(&sources)[0], "src/a_tests.rs crate::a::tests");
    assert!(Tree::read(&sources).files[0].is_test);
}

#[test]
fn file_without_a_declaration_is_reported() {
    let sources = of(&[("src/lib.rs", ""), ("src/a.rs", "//! Undeclared.")]);
    assert_eq!(
        violations_of("declared", &sources),
        ["src/a.rs:1: no module declares this file"]
    );
}

#[test]
fn missing_and_unreadable_files_are_reported() {
    let sources = of(&[
        ("src/lib.rs", "//! x\nmod missing;\nmod unparsable;"),
        ("src/unparsable.rs", "//! x\nfn"),
    ]);
    let violations = violations_of("declared", &sources);
    assert_eq!(violations[0], "src/lib.rs:2: module `missing` has no file");
    assert!(
        violations[1].starts_with("src/unparsable.rs:"),
        "{violations:?}"
    );
    assert_eq!(violations.len(), 2);
}

#[test]
fn test_attributes_mark_test_code() {
    let is_test = |attribute: &str| {
        let sources = of(&[
            ("src/lib.rs", &format!("{attribute} mod a;")),
            ("src/a.rs", "mod b;"),
            ("src/a/b.rs", ""),
        ]);
        Tree::read(&sources)
            .files
            .iter()
            .find(|file| file.path == "src/a/b.rs")
            .unwrap()
            .is_test
    };
    assert!(is_test("#[cfg(test)]"));
    assert!(is_test("#[cfg(all(test, feature = \"service\"))]"));
    assert!(is_test("#[cfg(any(test, all(test, unix)))]"));
    assert!(!is_test("#[cfg(any(test, feature = \"service\"))]"));
    assert!(!is_test("#[cfg(not(test))]"));
    assert!(!is_test("#[cfg(feature = \"test\")]"));
    assert!(!is_test(""));
}
