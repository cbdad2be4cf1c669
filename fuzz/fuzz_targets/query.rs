//! The query language: any text is a query or an error with a place in it, what is printed parses to the same query, and
//! evaluating it does not panic. `cargo +nightly fuzz run query`

#![no_main]

use libfuzzer_sys::fuzz_target;
use scandeck::contract::Wordlist;
use scandeck::query::complete::complete;
use scandeck::query::{Alone, Evaluator, Kind, Query, Rows};

fuzz_target!(|text: &str| {
    for kind in Kind::ALL {
        match Query::parse(text, kind) {
            Ok(query) => assert_eq!(Query::parse(&query.to_string(), kind), Ok(query)),
            Err(error) => assert!(text.get(error.at).is_some()),
        }
    }
    let lists = [Wordlist { name: text.into(), num_words: 7, ..Wordlist::default() }, Wordlist::default()];
    let source = Rows { rows: &lists, others: &Alone, now: 1_800_000_000 };
    let mut evaluator = Evaluator::default();
    let _offers = complete(text, text.len() / 2, &mut evaluator, &source);
    if let Ok(query) = Query::parse(text, Kind::Wordlists) {
        assert!(evaluator.matches(&query, &source).count() <= lists.len());
    }
});
