//! Queries over rows in memory: completion, explanation and orders.

use super::{NoOtherLists, Rows};
use crate::contract::{Scan, ScanStatus, Wordlist};
use crate::query::complete::complete;
use crate::query::explain::explain;
use crate::query::order::ordered;
use crate::query::{ClauseEffect, Completion, Evaluator, Query, QueryKind, SortKey};

fn scans() -> Vec<Scan> {
    let scan = |tool_id, status_name| Scan { tool_id, status_name, ..Scan::default() };
    vec![
        scan(170, ScanStatus::Finished),
        scan(170, ScanStatus::Finished),
        scan(70, ScanStatus::Finished),
        scan(70, ScanStatus::TimedOut),
    ]
}

fn offered(text: &str) -> String {
    let scans = scans();
    let source = Rows { rows: &scans, others: &NoOtherLists, now: 0 };
    let mut all = complete(text, text.len(), &mut Evaluator::default(), &source);
    all.truncate(3);
    let told = |one: &Completion| format!("{}|{}", [&text[..one.at.start], &one.text].concat(), one.note);
    all.iter().map(told).collect::<Vec<_>>().join("; ")
}

#[test]
fn fields_flags_and_values_that_occur_are_offered() {
    assert_eq!(
        offered("a -(sta"),
        "a -(status:|status at the service; a -(started<|when it started; a -(message:|what the service says about it"
    );
    assert_eq!(offered("ended"), "ended<|when it ended; is:ended|will not change any more");
    assert_eq!(offered("status:"), "status:finished|3; status:\"timed out\"|1");
    assert_eq!(offered("status:finished,\"ti"), "status:finished,\"timed out\"|1");
    assert_eq!(offered("is:fa"), "is:failed|1");
    assert_eq!(offered("tool:W"), "tool:Website|2; tool:\"Website Scanner\"|2");
    assert_eq!(offered("nothing:x y \"st"), "");
}

#[test]
fn each_part_of_a_query_tells_what_it_alone_hides() {
    let scans = scans();
    let source = Rows { rows: &scans, others: &NoOtherLists, now: 0 };
    let query = Query::parse("tool:70 (is:failed or is:active) status:*", QueryKind::Scans).unwrap();
    let told = explain(&query, &mut Evaluator::default(), &source, None);
    let why = |part: &str, hides| ClauseEffect { part: part.to_owned(), hides };
    assert_eq!(told, [why("tool:70", 0), why("(is:failed or is:active)", 1), why("status:*", 0)]);
}

#[test]
fn several_keys_order_one_within_the_other() {
    let list = |name: &str, num_words| Wordlist { name: name.into(), num_words, ..Wordlist::default() };
    let lists = [list("b", 1), list("A", 2), list("", 2), list("c", 2)];
    let order = |text: &str| {
        let keys = SortKey::parse_all(text, QueryKind::Wordlists).unwrap();
        ordered(&keys, &mut Evaluator::default(), &Rows { rows: &lists, others: &NoOtherLists, now: 0 })
    };
    assert_eq!(order("words,name"), [1, 3, 2, 0]);
    assert_eq!(order("-words, -name"), [0, 3, 1, 2]);
}
