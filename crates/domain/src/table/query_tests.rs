//! Tests of queries over rows in memory: completion, explanation and orders.

use super::{NoOtherLists, Rows};
use crate::query::complete::complete;
use crate::query::explain::explain;
use crate::query::order::ordered;
use crate::query::{ClauseEffect, Completion, Evaluator, Query, QueryKind, SortKey};
use scandeck_wire::contract::{Scan, ScanStatus, Wordlist};

fn scans() -> Vec<Scan> {
    let scan = |tool_id, status_name| Scan {
        tool_id,
        status_name,
        ..Scan::default()
    };
    vec![
        scan(170, ScanStatus::Finished),
        scan(170, ScanStatus::Finished),
        scan(70, ScanStatus::Finished),
        scan(70, ScanStatus::TimedOut),
    ]
}

fn offered(text: &str) -> String {
    let scans = scans();
    let source = Rows {
        rows: &scans,
        others: &NoOtherLists,
        now: 0,
    };
    let mut all = complete(text, text.len(), &mut Evaluator::default(), &source);
    all.truncate(3);
    let shown = |one: &Completion| {
        format!(
            "{}|{}",
            [&text[..one.at.start], &one.text].concat(),
            one.note
        )
    };
    all.iter().map(shown).collect::<Vec<_>>().join("; ")
}

#[test]
fn completion_offers_fields_flags_and_present_values() {
    assert_eq!(
        offered("a -(sta"),
        "a -(status:|status at the service; a -(started<|when it started; a -(message:|status message of the service"
    );
    assert_eq!(
        offered("ended"),
        "ended<|when it ended; is:ended|finished, failed or stopped"
    );
    assert_eq!(
        offered("status:"),
        "status:finished|3; status:\"timed out\"|1"
    );
    assert_eq!(
        offered("status:finished,\"ti"),
        "status:finished,\"timed out\"|1"
    );
    assert_eq!(offered("is:fa"), "is:failed|1");
    assert_eq!(
        offered("tool:W"),
        "tool:Website|2; tool:\"Website Scanner\"|2"
    );
    assert_eq!(offered("nothing:x y \"st"), "");
}

#[test]
fn explanation_counts_rows_hidden_by_each_part() {
    let scans = scans();
    let source = Rows {
        rows: &scans,
        others: &NoOtherLists,
        now: 0,
    };
    let query = Query::parse(
        "tool:70 (is:failed or is:active) status:*",
        QueryKind::Scans,
    )
    .unwrap();
    let shown = explain(&query, &mut Evaluator::default(), &source, None, &[]);
    let why = |part: &str, hides| ClauseEffect {
        part: part.to_owned(),
        hides,
    };
    assert_eq!(
        shown,
        [
            why("tool:70", 0),
            why("(is:failed or is:active)", 1),
            why("status:*", 0)
        ]
    );
}

#[test]
fn sort_keys_apply_in_sequence() {
    let list = |name: &str, num_words| Wordlist {
        name: name.into(),
        num_words,
        ..Wordlist::default()
    };
    let lists = [list("b", 1), list("A10", 2), list("", 2), list("a9", 2)];
    let order = |text: &str| {
        let keys = SortKey::parse_all(text, QueryKind::Wordlists).unwrap();
        ordered(
            &keys,
            &mut Evaluator::default(),
            &Rows {
                rows: &lists,
                others: &NoOtherLists,
                now: 0,
            },
        )
    };
    assert_eq!(order("words,name"), [3, 1, 2, 0]);
    assert_eq!(order("-words, -name"), [0, 1, 3, 2]);
}
