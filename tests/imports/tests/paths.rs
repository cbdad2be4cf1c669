//! Tests that each kind of path is found on its line and resolved.

use super::super::paths::find;
use super::super::tree::Tree;
use super::sources;

/// Names in `src/dashboard/findings/mod.rs` with this text, as `line path` or
/// `line path = re-export`.
fn named(text: &str) -> Vec<String> {
    let others = [
        (
            "dashboard/core",
            "pub struct Model; pub mod msg_in { pub struct Msg; }",
        ),
        (
            "dashboard/ui",
            "pub use ratatui::style::Style; pub use ratatui::layout::*; pub type Shade = ratatui::Color;",
        ),
        (
            "dashboard/base",
            "pub use crate::dashboard::core::Model as Whole;",
        ),
        ("dashboard/findings/review", "pub struct Review;"),
        ("dashboard/findings", text),
    ];
    let tree = Tree::read(&sources(&others));
    assert_eq!(tree.unreadable, []);
    let file = tree
        .files
        .iter()
        .find(|file| file.path == "src/dashboard/findings/mod.rs")
        .unwrap();
    let uses = find(&tree, file).uses;
    let shown = |paths: &[Vec<String>]| {
        paths
            .iter()
            .map(|path| path.join("::"))
            .collect::<Vec<_>>()
            .join(" = ")
    };
    uses.iter()
        .map(|used| format!("{} {}", used.line - 1, shown(&used.paths)))
        .collect()
}

fn assert_named(text: &str, expected: &[&str]) {
    let all = named(text);
    for one in expected {
        assert!(
            all.iter().any(|path| path == one),
            "{one} is not found in {text}: {all:#?}"
        );
    }
}

#[test]
fn use_tree_with_groups_renames_and_globs_is_flattened() {
    assert_named(
        "use crate::{\n    dashboard::core::{self, Model as Whole},\n    text::*,\n};\npub(crate) use std::{fs, io::Read as _};",
        &[
            "2 crate::dashboard::core",
            "2 crate::dashboard::core::Model",
            "3 crate::text",
            "5 std::fs",
            "5 std::io::Read",
        ],
    );
    assert_named(
        "use tokio;\nuse ::reqwest::Client;",
        &["1 tokio", "2 reqwest::Client"],
    );
}

#[test]
fn relative_path_is_resolved() {
    assert_named(
        "use super::core::Model;\nuse self::review::Review;",
        &[
            "1 crate::dashboard::core::Model",
            "2 crate::dashboard::findings::review::Review",
        ],
    );
    assert_named(
        "use super::super::service::Start;",
        &["1 crate::service::Start"],
    );
    assert_named(
        "use review::Review;",
        &["1 crate::dashboard::findings::review::Review"],
    );
    assert_named(
        "mod inner {\n    fn f() { super::super::core::go() }\n    use self::super::review;\n}",
        &[
            "2 crate::dashboard::core::go",
            "3 crate::dashboard::findings::review",
        ],
    );
}

#[test]
fn path_in_types_patterns_expressions_and_generics_is_found() {
    let path = "crate::dashboard::core";
    for text in [
        format!("struct A {{ a: {path} }}"),
        format!("struct A {{ a: Vec<Option<Box<dyn {path}>>> }}"),
        format!("fn f(a: &mut [{path}]) {{}}"),
        format!("fn f() -> impl Iterator<Item = {path}> {{}}"),
        format!("fn f<T: {path}>() {{}}"),
        format!("fn f<T>() where T: Into<{path}> {{}}"),
        format!("impl {path} for u8 {{}}"),
        format!("fn f() {{ {path}() }}"),
        format!("fn f() {{ Vec::<{path}>::new() }}"),
        format!("fn f() {{ let a = |b: {path}| b; }}"),
        format!("fn f() {{ <{path}>::default() }}"),
        format!("fn f() {{ a.collect::<{path}>() }}"),
        format!("fn f() {{ a as {path} }}"),
        format!("const A: [u8; {path}] = x;"),
        format!("type A = {path};"),
        format!("#[{path}] fn f() {{}}"),
        format!("#[derive({path})] struct A;"),
        format!("#[serde(with = \"{path}\")] struct A;"),
        format!("#[cfg_attr(unix, serde(default = \"{path}\"))] struct A;"),
        format!("{path}! {{}}"),
    ] {
        assert_named(&text, &["1 crate::dashboard::core"]);
    }
    assert_named(
        "fn f() { match a {\n    crate::dashboard::core::A { .. } => 1,\n    crate::text::B(_) | crate::text::C => 2,\n} }",
        &[
            "2 crate::dashboard::core::A",
            "3 crate::text::B",
            "3 crate::text::C",
        ],
    );
}

#[test]
fn path_in_visibility_or_comment_is_ignored() {
    assert_eq!(
        named(
            "/// As crate::dashboard::core does.\npub(in crate::dashboard) struct A; // crate::text"
        ),
        [""; 0]
    );
}

#[test]
fn path_in_macro_call_is_found() {
    assert_named(
        "fn f() {\n    format!(\"{}\", crate::dashboard::core::A);\n    vec![0; super::core::B];\n    matches!(a, Some(crate::dashboard::core::C { .. }));\n    json!({ \"a\": [::serde_json::D, ..std::iter::E] });\n    select! { a = b() => crate::dashboard::core::F.await, else => a.elapsed() }\n}",
        &[
            "2 crate::dashboard::core::A",
            "3 crate::dashboard::core::B",
            "4 crate::dashboard::core::C",
            "5 serde_json::D",
            "5 std::iter::E",
            "6 crate::dashboard::core::F",
            "6 .await",
            "6 .elapsed",
        ],
    );
    assert_named(
        "macro_rules! m { ($a:ident) => { use $crate::dashboard::core::{A, b::B}; $a::c() } }",
        &[
            "1 crate::dashboard::core::A",
            "1 crate::dashboard::core::b::B",
        ],
    );
    assert_named(
        "use crate::dashboard::core;\nfn f() { assert!(\n core::Model::new().is_some(), \"{}\", x) }",
        &["3 crate::dashboard::core::Model::new"],
    );
    let ignored =
        named("fn f() { m!('crate 'a: Vec::<u8>::fs, <T as Trait>::fs, $x::fs, fs, 'c', a.fs) }");
    assert!(
        !ignored.iter().any(|path| path.ends_with(" fs")),
        "{ignored:?}"
    );
}

#[test]
fn imported_name_is_resolved() {
    assert_named(
        "use crate::dashboard::core;\nfn f(a: core::Model) {}",
        &["2 crate::dashboard::core::Model"],
    );
    assert_named(
        "use crate::dashboard::{core as middle};\nuse middle::msg_in;\nfn f(a: msg_in::Msg) {}",
        &[
            "2 crate::dashboard::core::msg_in",
            "3 crate::dashboard::core::msg_in::Msg",
        ],
    );
    assert_named(
        "use ratatui::style;\nfn f() { style::Style::new() }",
        &["2 ratatui::style::Style::new"],
    );
    assert_named(
        "use std::time::Instant;\nfn f() { let a = Instant::now; }",
        &["2 std::time::Instant::now"],
    );
    assert_named(
        "use std::time::Instant as Clock;\nfn f() { <Clock>::now() }",
        &["2 std::time::Instant::now"],
    );
    assert_named(
        "type Clock = std::time::Instant;\nfn f() { Clock::now() }",
        &["2 std::time::Instant::now"],
    );
}

#[test]
fn import_in_a_block_applies_to_the_block_only() {
    let text =
        "fn f() {\n    use std::time::Instant;\n    Instant::now()\n}\nfn g() { Instant::now() }";
    assert_named(text, &["3 std::time::Instant::now", "5 Instant::now"]);
}

#[test]
fn glob_of_parent_module_imports_its_names() {
    let text =
        "use std::time::Instant;\nmod inner {\n    use super::*;\n    fn f() { Instant::now() }\n}";
    assert_named(text, &["4 std::time::Instant::now"]);
    let without = "use std::time::Instant;\nmod inner {\n    fn f() { Instant::now() }\n}";
    assert_named(without, &["3 Instant::now"]);
}

#[test]
fn re_export_is_resolved() {
    assert_named(
        "use crate::dashboard::ui::Style;",
        &["1 crate::dashboard::ui::Style = ratatui::style::Style"],
    );
    assert_named(
        "use crate::dashboard::ui::Shade;",
        &["1 crate::dashboard::ui::Shade = ratatui::Color"],
    );
    assert_named(
        "use super::base::Whole;",
        &["1 crate::dashboard::base::Whole = crate::dashboard::core::Model"],
    );
    assert_named(
        "use super::ui::*;\nfn f(a: Style) {}",
        &["2 ratatui::style::Style"],
    );
}

#[test]
fn cyclic_imports_are_resolved_in_limited_steps() {
    assert_named(
        "use a::b;\nuse b::a;\nuse serde::serde;\nfn f() { a::c(); serde::d() }",
        &["4 serde::serde::d"],
    );
}

#[test]
fn await_and_method_calls_are_found() {
    assert_named(
        "async fn f() {\n    a.await;\n    b.elapsed();\n}",
        &["2 .await", "3 .elapsed"],
    );
}

#[test]
fn library_name_in_main_is_resolved_to_the_crate() {
    let mut sources = sources(&[("cli", "")]);
    sources.insert(
        "src/main.rs".to_owned(),
        "fn main() { scandeck::cli::run() }".to_owned(),
    );
    let tree = Tree::read(&sources);
    let file = tree
        .files
        .iter()
        .find(|file| file.path == "src/main.rs")
        .unwrap();
    assert_eq!(
        find(&tree, file).uses[0].paths,
        [["crate", "cli", "run"].map(str::to_owned)]
    );
}
