//! Each rule reports code that breaks it, and accepts similar code.

use super::super::cycles::cycles;
use super::super::report::report;
use super::super::{check, rules, tree};
use super::{sources, violations_of};

/// Rule, layer, code that breaks the rule, part of the report.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    (
        "features-apart",
        "dashboard/findings",
        "use super::scans::ScanRow;",
        "names crate::dashboard::scans::ScanRow",
    ),
    (
        "features-apart",
        "dashboard/findings/review",
        "fn f(m: &crate::dashboard::core::Model) {}",
        "core::Model",
    ),
    (
        "features-apart",
        "dashboard/settings",
        "fn f() { vec![super::activity::A] }",
        "activity::A",
    ),
    (
        "shared-below-features",
        "dashboard/base",
        "use crate::dashboard::findings::Row;",
        "findings::Row",
    ),
    (
        "shared-below-features",
        "dashboard/list/grouping",
        "use super::super::core as c;",
        "names crate::dashboard::core",
    ),
    (
        "shared-below-features",
        "dashboard/palette",
        "use crate::dashboard::{payloads, ui};",
        "dashboard::payloads",
    ),
    (
        "dashboard-folders",
        "dashboard/helpers",
        "",
        "folder `helpers` is in no rule",
    ),
    (
        "terminal-types",
        "dashboard/findings",
        "use ratatui::style::Style;",
        "names ratatui::style::Style",
    ),
    (
        "terminal-types",
        "dashboard/forms",
        "struct A(tui_textarea::TextArea<'static>);",
        "names tui_textarea::TextArea",
    ),
    (
        "terminal-types",
        "dashboard/runtime",
        "use ratatui::Frame;",
        "names ratatui::Frame",
    ),
    (
        "terminal-types",
        "cli",
        "fn f() { println!(\"{}\", ratatui::init()) }",
        "names ratatui::init",
    ),
    (
        "terminal-events",
        "dashboard/forms",
        "use crossterm::event::KeyEvent;",
        "names crossterm::event::KeyEvent",
    ),
    (
        "draw-only-draws",
        "dashboard/scans/draw",
        "fn draw_list(b: &mut Buffer, m: &mut Model) {}",
        "takes `&mut Model`",
    ),
    (
        "draw-only-draws",
        "dashboard/ui",
        "fn draw(rows: Option<&mut Vec<u8>>) {}",
        "draw takes `&mut Vec`",
    ),
    (
        "draw-only-draws",
        "dashboard/ui",
        "impl Pane { fn draw(&mut self, b: &mut Buffer) {} }",
        "takes `&mut Pane`",
    ),
    (
        "draw-only-draws",
        "dashboard/ui",
        "trait Pane { fn draw_rows(&mut self); }",
        "draw_rows takes `&mut Pane`",
    ),
    (
        "draw-only-draws",
        "dashboard/ui",
        "fn draw(rows: &mut [u8]) {}",
        "draw takes `&mut _`",
    ),
    (
        "pure",
        "dashboard/core",
        "use std::time::Instant;\nfn f() { Instant::now(); }",
        "std::time::Instant::now",
    ),
    (
        "pure",
        "dashboard/core",
        "fn f() { let clock = jiff::Timestamp::now; }",
        "names jiff::Timestamp::now",
    ),
    (
        "pure",
        "dashboard/core",
        "fn f(begun: Instant) { begun.elapsed(); }",
        "names .elapsed",
    ),
    (
        "pure",
        "dashboard/findings",
        "async fn f() { g().await }",
        "names .await",
    ),
    (
        "pure",
        "triage/fold",
        "use tokio::sync::mpsc;",
        "names tokio::sync::mpsc",
    ),
    ("pure", "oob", "use std::fs;", "names std::fs"),
    (
        "pure",
        "query",
        "use std::net::{IpAddr, ToSocketAddrs};",
        "names std::net::ToSocketAddrs",
    ),
    (
        "pure",
        "export",
        "fn f() { std::thread::sleep(d) }",
        "names std::thread::sleep",
    ),
    (
        "pure",
        "report",
        "#[cfg(test)]\nmod tests { fn f() { std::fs::read(p) } }",
        "names std::fs::read",
    ),
    (
        "reqwest",
        "dashboard/poller",
        "use reqwest::Client;",
        "names reqwest::Client",
    ),
    (
        "reqwest",
        "service/routes",
        "fn f(c: reqwest::Client) {}",
        "names reqwest::Client",
    ),
    (
        "sql",
        "triage",
        "fn f() -> Result<(), sqlx::Error> {}",
        "names sqlx::Error",
    ),
    (
        "sql",
        "service/worker",
        "use sqlx::query;",
        "names sqlx::query",
    ),
    ("server", "cli", "use axum::Router;", "names axum::Router"),
    (
        "contract",
        "contract/scan",
        "use crate::text::clean;",
        "names crate::text::clean",
    ),
    (
        "dashboard-shell",
        "dashboard/core",
        "use crate::client::Client;",
        "names crate::client::Client",
    ),
    (
        "dashboard-shell",
        "dashboard/scans",
        "use crate::dashboard::poller::Plan;",
        "dashboard::poller::Plan",
    ),
    (
        "state-draws-nothing",
        "dashboard/input",
        "use crate::dashboard::ui::Hint;",
        "names crate::dashboard::ui::Hint",
    ),
    (
        "poller",
        "dashboard/poller",
        "use super::ui::Theme;",
        "names crate::dashboard::ui::Theme",
    ),
    (
        "engine",
        "service/engine/tls",
        "use super::super::store::Pool;",
        "names crate::service::store::Pool",
    ),
    (
        "routes",
        "service/routes",
        "fn f(p: sqlx::SqlitePool) {}",
        "names sqlx::SqlitePool",
    ),
    (
        "store",
        "service/store",
        "use axum::http::StatusCode;",
        "names axum::http::StatusCode",
    ),
    (
        "type-names",
        "oob",
        "struct Twin; mod a { enum Twin {} }",
        "2 types are named Twin",
    ),
    (
        "type-names",
        "oob",
        "type Twin = u8; trait B { type Twin; } mod a { trait Twin {} }",
        "2 types are named Twin",
    ),
    (
        "model-fields",
        "dashboard/core",
        MODEL,
        "Model has 16 fields; the limit is 15",
    ),
    (
        "no-handled-bool",
        "dashboard/core",
        "fn perform(a: Action) -> bool { true }",
        "perform returns bool",
    ),
];

/// Rule, layer, similar code that the rule accepts.
const ACCEPTED: &[(&str, &str, &str)] = &[
    (
        "features-apart",
        "dashboard/findings/review",
        "use super::decide::Menu; use crate::dashboard::findings::Row;",
    ),
    (
        "features-apart",
        "dashboard/loggers",
        "use crate::dashboard::captures::Capture;",
    ),
    (
        "features-apart",
        "dashboard/findings",
        "use crate::dashboard::{base::Cx, list::List}; use crate::triage::core;",
    ),
    (
        "features-apart",
        "dashboard/findings",
        "#[cfg(test)]\nmod tests { use crate::dashboard::core::Model; }",
    ),
    (
        "features-apart",
        "dashboard/findings",
        "fn f() { core::mem::swap(a, b) }",
    ),
    (
        "shared-below-features",
        "dashboard/core",
        "use super::findings::Row;",
    ),
    (
        "terminal-types",
        "dashboard/findings/draw",
        "use ratatui::style::Style;",
    ),
    (
        "terminal-types",
        "dashboard/findings/draw/cells",
        "use ratatui::style::Style;",
    ),
    (
        "terminal-types",
        "dashboard/text/input",
        "use tui_textarea::TextArea;",
    ),
    (
        "terminal-events",
        "dashboard/input",
        "pub use crossterm::event::KeyEvent;",
    ),
    (
        "draw-only-draws",
        "dashboard/ui",
        "fn draw(b: &mut Buffer, c: &mut ViewCache, m: &Model) {} fn redraw(m: &mut M) {}",
    ),
    (
        "pure",
        "dashboard/runtime",
        "async fn f() { std::fs::read(p).await }",
    ),
    (
        "pure",
        "triage/store",
        "async fn f() { sqlx::query(q).await }",
    ),
    (
        "pure",
        "dashboard/core",
        "use std::net::IpAddr; fn f(now: Instant) { now + d }",
    ),
    ("reqwest", "service/engine/http", "use reqwest::Client;"),
    (
        "sql",
        "service/routes",
        "use crate::service::store::DatabaseError;",
    ),
    (
        "contract",
        "contract",
        "use crate::contract::Shared; use serde::Serialize;",
    ),
    (
        "dashboard-shell",
        "dashboard/core",
        "use crate::client::Problem;",
    ),
    (
        "state-draws-nothing",
        "dashboard/scans/draw",
        "use crate::dashboard::ui::Hint;",
    ),
    (
        "type-names",
        "oob",
        "struct Error; mod a { struct Error; } #[cfg(test)] mod tests { struct Twin; struct Twin2; }",
    ),
    (
        "type-names",
        "oob",
        "struct Twin; #[cfg(test)] mod tests { struct Twin; }",
    ),
    (
        "no-handled-bool",
        "dashboard/core",
        "fn perform(a: Action) -> Vec<Effect> {} fn is_open() -> bool { true }",
    ),
];

const MODEL: &str = "struct Model { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8,
    m: u8, n: u8, o: u8, p: u8 }";

#[test]
fn code_that_breaks_a_rule_is_reported() {
    for (rule, layer, text, expected) in BROKEN {
        let found = violations_of(rule, &sources(&[(layer, text)]));
        assert_eq!(found.len(), 1, "{rule} on {text}: {found:#?}");
        assert!(found[0].contains(expected), "{rule} on {text}: {found:#?}");
    }
}

#[test]
fn similar_but_allowed_code_is_accepted() {
    for (rule, layer, text) in ACCEPTED {
        let found = violations_of(
            rule,
            &sources(&[
                (layer, text),
                ("service/store", "pub type DatabaseError = sqlx::Error;"),
            ]),
        );
        assert_eq!(found, [""; 0], "{rule} on {text}");
    }
}

#[test]
fn every_rule_has_a_test_that_breaks_it() {
    // Separate tests below break these rules with whole trees.
    const WITH_TREES: &[&str] = &[
        "dashboard-cycles",
        "module-cycles",
        "front-page",
        "declared",
        "rules-current",
    ];
    for rule in rules::RULES {
        let is_broken =
            BROKEN.iter().any(|(name, ..)| *name == rule.name) || WITH_TREES.contains(&rule.name);
        assert!(is_broken, "no test breaks {}", rule.name);
    }
}

#[test]
fn cycle_of_dashboard_folders_is_reported_with_each_edge() {
    let sources = sources(&[
        ("dashboard/list", "fn f() {}\nuse super::text::wrap;"),
        (
            "dashboard/text/view",
            "fn f() { super::super::forms::open() }",
        ),
        ("dashboard/forms", "use crate::dashboard::list::List;"),
        (
            "dashboard/ui",
            "use crate::dashboard::list::List;\n#[cfg(test)]\nmod tests {}",
        ),
        (
            "dashboard/base",
            "#[cfg(test)]\nmod tests { use crate::dashboard::base::a; use crate::dashboard::ui::b; }",
        ),
    ]);
    let results = check::check(&tree::Tree::read(&sources), rules::RULES);
    let (_, cycles) = results
        .iter()
        .find(|(rule, _)| rule.name == "dashboard-cycles")
        .unwrap();
    assert_eq!(cycles.len(), 1);
    assert_eq!(
        cycles[0].message,
        "cycle of 3: forms -> list -> text -> forms"
    );
    assert_eq!(
        cycles[0].details,
        [
            "forms -> list: src/dashboard/forms/mod.rs:2 names crate::dashboard::list::List",
            "list -> text: src/dashboard/list/mod.rs:3 names super::text::wrap",
            "text -> forms: src/dashboard/text/view/mod.rs:2 names super::super::forms::open",
        ]
    );
}

#[test]
fn cycle_through_dashboard_mod_file_is_reported() {
    let sources = sources(&[
        ("dashboard", "pub use core::Model;\npub struct Frame;"),
        ("dashboard/core", "pub struct Model; use super::Frame;"),
    ]);
    let found = violations_of("dashboard-cycles", &sources);
    assert_eq!(
        found,
        ["src/dashboard/core/mod.rs:2: cycle of 2: core -> mod -> core"]
    );
}

#[test]
fn cycle_of_top_level_modules_is_reported() {
    let sources = sources(&[
        ("triage", "use crate::query::Row;"),
        ("query/parse", "fn f() -> Vec<crate::triage::Presence> {}"),
        ("oob", "use crate::triage::Key;"),
    ]);
    let found = violations_of("module-cycles", &sources);
    assert_eq!(
        found,
        ["src/query/parse/mod.rs:2: cycle of 2: query -> triage -> query"]
    );
}

#[test]
fn cycles_of_a_graph_cover_each_edge_on_a_cycle() {
    assert_eq!(
        cycles(&[("a", "b"), ("b", "c"), ("a", "c")]),
        Vec::<Vec<&str>>::new()
    );
    assert_eq!(
        cycles(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "d")]),
        [vec!["a", "b"], vec!["a", "b", "c"]]
    );
}

#[test]
fn type_name_passed_to_a_macro_is_counted() {
    let macros = "macro_rules! ids { ($($name:ident),+) => {$( pub struct $name(pub i64); )+} }";
    let sources = sources(&[
        ("contract", macros),
        ("contract/a", "ids! { ScanId, TargetId }"),
        ("contract/b", "struct ScanId; other! { TargetId }"),
        (
            "contract/c",
            "actions! { pub enum Action { ScanId } } enum Action {}",
        ),
    ]);
    let found = violations_of("type-names", &sources);
    assert_eq!(
        found,
        [
            "src/contract/a/mod.rs:2: 2 types are named ScanId",
            "src/contract/c/mod.rs:2: 2 types are named Action",
        ]
    );
}

#[test]
fn file_without_head_is_reported() {
    let mut sources = sources(&[("text", "")]);
    sources.insert("src/text/mod.rs".to_owned(), "// No head.\n".to_owned());
    assert_eq!(
        violations_of("front-page", &sources),
        ["src/text/mod.rs:1: does not begin with `//!`"]
    );
}

#[test]
fn rule_on_a_deleted_layer_is_reported() {
    let found = violations_of("rules-current", &sources(&[("contract", "")]));
    assert!(
        found
            .iter()
            .any(|line| line.ends_with("layer `client` has no file")),
        "{found:#?}"
    );
    assert!(
        !found.iter().any(|line| line.contains("layer `contract`")),
        "{found:#?}"
    );
}

#[test]
fn re_exported_name_is_reported() {
    let found = violations_of(
        "terminal-types",
        &sources(&[
            ("dashboard/ui", "pub use ratatui::style::Style;"),
            ("dashboard/scans", "use super::super::dashboard::ui::Style;"),
        ]),
    );
    assert_eq!(
        found,
        [
            "src/dashboard/scans/mod.rs:2: names ratatui::style::Style (as `super::super::dashboard::ui::Style`)"
        ]
    );
}

#[test]
fn repeated_name_in_a_file_is_reported_once() {
    let text =
        "use ratatui::style::Style;\nfn f() { Style::new(); ratatui::style::Style::default() }";
    assert_eq!(
        violations_of("terminal-types", &sources(&[("oob", text)])),
        ["src/oob/mod.rs:2: names ratatui::style::Style"]
    );
}

#[test]
fn report_shows_rule_reason_remedy_and_counts() {
    let sources = sources(&[("contract", "use crate::text::clean;"), ("text", "")]);
    let tree = tree::Tree::read(&sources);
    let results: Vec<_> = check::check(&tree, rules::RULES)
        .into_iter()
        .filter(|(rule, _)| rule.name == "contract")
        .collect();
    assert_eq!(
        report(&results),
        "== contract: 1\n   The wire types import no other module.\n   Remedy: Move the function to the module that needs it.\n\
         src/contract/mod.rs:2: names crate::text::clean\n\n    1  contract\n"
    );
}
