//! What must hold for any text: driven by the fuzzer (`cargo +nightly fuzz run query`), and in `tests/any_text.rs` by
//! texts that are put together from the pieces of what is read.

use scandeck::contract::Wordlist;
use scandeck::query::complete::complete;
use scandeck::query::{Alone, Evaluator, Kind, Query, Rows};
use scandeck::triage::bundle::Bundle;
use scandeck::triage::{State, jsonl};

/// A text is a query or an error with a place in it, what is printed parses to the same query, and evaluating it does
/// not panic.
pub fn query(text: &str) {
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
}

/// A text is lines and bad lines, and a bundle or a reason with a place; what is taken from it is written so that it
/// reads back the same.
pub fn import(text: &str) {
    let read = jsonl::read(text);
    let lines = text.lines().count();
    assert!(read.bad.iter().all(|bad| (1..=lines).contains(&bad.line)));
    let state = State::from_events(read.events);
    let again = jsonl::read(&jsonl::write(state.events()));
    assert!(again.bad.is_empty());
    assert!(again.events.iter().eq(state.events()));
    if let Ok(bundle) = Bundle::read(text) {
        assert_eq!(Bundle::read(&bundle.write()), Ok(bundle));
    }
}
