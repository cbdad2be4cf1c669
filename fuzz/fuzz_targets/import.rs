//! What comes from files: any text is lines and bad lines, or a bundle, or a reason with a place; what is taken from it
//! is written so that it reads back the same. `cargo +nightly fuzz run import`

#![no_main]

use libfuzzer_sys::fuzz_target;
use scandeck::triage::bundle::Bundle;
use scandeck::triage::{State, jsonl};

fuzz_target!(|text: &str| {
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
});
