//! Each rule reports code that breaks it, and accepts similar code.

use super::rules::violations;
use super::source;

/// Layer, code that breaks a rule, part of the report.
const BROKEN: &str = r#"
dashboard/findings | use crate::scans::Row; | names dashboard::scans::Row, which
dashboard/scans/keys | fn f(m: &crate::core::Model) {} | names dashboard::core::Model, which
dashboard/list | use super as up; fn f() { up::prompts::A } | names dashboard::prompts::A, which
dashboard/base | fn f() { vec![crate::model::A] } | names dashboard::model::A, which
domain/query | use crate::{finding::A, triage::B}; | names domain::triage::B, which
wire/contract | use crate::sqlite::open; | names wire::sqlite::open, which
dashboard/core | use std::time::Instant; fn f() { Instant::now(); } | Instant::now (rule pure
dashboard/core | fn f() { begun.elapsed() } | names .elapsed (rule pure
domain/query | async fn f() { g().await } | names .await (rule pure
domain/oob | use std::io; fn f() { io::stdin() } | names std::io::stdin (rule pure
report | use std::{io, net::{IpAddr, ToSocketAddrs}}; | ToSocketAddrs (rule pure
dashboard/core | use scandeck_client::Client; | names client::Client (rule effects
dashboard/forms | struct A(tui_textarea::TextArea); | rule terminal-types
program/cli | fn f() { print!("{}", ratatui::init()) } | rule terminal-types
dashboard/forms | use crossterm::event::KeyEvent; | rule terminal-events
dashboard/palette | use crate::ui::Hint; | rule state-draws-nothing
dashboard/ui | fn draw(b: &mut Buffer, m: &mut Model) {} | takes `&mut Model`
dashboard/ui | fn draw_row<T>(m: Option<&'a mut a::B>) {} | takes `&mut B`
service/runs/worker | fn f(p: sqlx::Pool) {} | rule sql
service/routes | fn f(c: reqwest::Client) {} | rule http-client
service/engine/tls | use super::super::store::Pool; | rule engine
service/store | use axum::Router; | rule store
domain/oob | struct Twin; mod a { enum Twin {} } | has a type Twin too
"#;

/// Layer and similar code that keeps the rules.
const KEPT: &str = r#"
dashboard/findings | use super::base::A; use crate::findings::B; use domain::core::C;
dashboard/findings | #[cfg(test)] mod tests { use crate::core::M; } mod a {}
dashboard/core | use std::net::IpAddr; fn f(now: Instant) { 0..elapsed }
dashboard/core | use scandeck_client::Problem;
dashboard/runtime | use crossterm::A; async fn f() { std::fs::read(p).await }
dashboard/scans/draw | use ratatui::style::Style; use crate::ui::A;
dashboard/ui | fn draw(b: &mut Buffer, m: &Model) {} fn redraw(m: &mut Model) {}
service/engine/http | use reqwest::Client;
domain/oob | struct Error; mod a { struct Error; } #[cfg(test)] mod b { struct C; }
"#;

fn cases(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = table.lines().filter(|row| !row.is_empty());
    rows.map(|row| row.split(" | ").collect())
}

/// The violations of a file whose parents declare it.
fn report(layer: &str, head: &str, code: &str) -> Vec<String> {
    let mut files = vec![(layer.to_owned(), format!("{head}\n{code}"))];
    for (end, _) in layer.match_indices('/') {
        let name = layer[end + 1..].split('/').next().unwrap();
        files.push((layer[..end].to_owned(), format!("//! Head.\nmod {name};")));
    }
    violations(&source::read(files))
}

#[test]
fn code_that_breaks_a_rule_is_reported_once() {
    for case in cases(BROKEN) {
        let found = report(case[0], "//! Head.", case[1]);
        assert_eq!(found.len(), 1, "{case:?}: {found:#?}");
        assert!(found[0].contains(case[2]), "{case:?}: {found:#?}");
    }
}

#[test]
fn similar_code_that_keeps_the_rules_is_accepted() {
    for case in cases(KEPT) {
        assert_eq!(report(case[0], "//! Head.", case[1]), [""; 0], "{case:?}");
    }
}

#[test]
fn files_without_head_or_declaration_are_reported() {
    let found = report("domain/oob", "// Head.", "");
    assert_eq!(found, ["domain/oob:1: does not begin with `//!`"]);
    let lost = vec![("domain/oob".to_owned(), "//! Head.".to_owned())];
    let found = violations(&source::read(lost));
    assert_eq!(found, ["domain/oob:1: no module declares this file"]);
}

#[test]
fn modules_for_tests_are_not_read() {
    let files = [
        ("domain", "//! Head.\n#[cfg(test)]\nmod testing;"),
        ("domain/testing", "mod clock;"),
        ("domain/testing/clock", "use std::thread;"),
    ];
    let files = files.map(|(layer, text)| (layer.to_owned(), text.to_owned()));
    assert_eq!(violations(&source::read(files.to_vec())), [""; 0]);
}
