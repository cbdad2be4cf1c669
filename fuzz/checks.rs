//! What must hold for any text: driven by the fuzzer (`cargo +nightly fuzz run query`), and in `tests/any_text.rs` by
//! texts that are put together from the pieces of what is read.

use std::sync::Arc;

use scandeck::contract::{Capture, Finding, Logger, Scan, Target, Wordlist, Workspace, envelope};
use scandeck::oob::decode::chain;
use scandeck::oob::{BodyHints, DecodeStep, LIMIT, Payload, PayloadBook, Token, mentions};
use scandeck::query::complete::complete;
use scandeck::query::{Evaluator, Query, QueryKind};
use scandeck::table::{NoOtherLists, Rows};
use scandeck::triage::{Bundle, TriageState, jsonl};

/// A text is a query or an error with a place in it, what is printed parses to the same query, and evaluating it does
/// not panic.
pub fn query(text: &str) {
    for kind in QueryKind::ALL {
        match Query::parse(text, kind) {
            Ok(query) => assert_eq!(Query::parse(&query.to_string(), kind), Ok(query)),
            Err(error) => assert!(text.get(error.at).is_some()),
        }
    }
    let lists = [Wordlist { name: text.into(), num_words: 7, ..Wordlist::default() }, Wordlist::default()];
    let source = Rows { rows: &lists, others: &NoOtherLists, now: 1_800_000_000 };
    let mut evaluator = Evaluator::default();
    let _offers = complete(text, text.len() / 2, &mut evaluator, &source);
    if let Ok(query) = Query::parse(text, QueryKind::Wordlists) {
        assert!(evaluator.matches(&query, &source).count() <= lists.len());
    }
}

/// A text is lines and bad lines, and a bundle or a reason with a place; what is taken from it is written so that it
/// reads back the same.
pub fn import(text: &str) {
    let read = jsonl::read(text);
    let lines = text.lines().count();
    assert!(read.bad.iter().all(|bad| (1..=lines).contains(&bad.line)));
    let state = TriageState::from_events(read.events);
    let again = jsonl::read(&jsonl::write(state.events()));
    assert!(again.bad.is_empty());
    assert!(again.events.iter().eq(state.events()));
    if let Ok(bundle) = Bundle::read(text) {
        assert_eq!(Bundle::read(&bundle.write()), Ok(bundle));
    }
}

/// An answer of a service is a list of whatever it is taken for, or refused; what is taken is sent so that it is taken
/// as the same again.
pub fn wire(bytes: &[u8]) {
    fn list<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
        if let Ok(taken) = envelope::decode::<Vec<T>>(bytes) {
            let sent = serde_json::to_vec(&taken).unwrap();
            assert_eq!(envelope::decode::<Vec<T>>(&sent).unwrap(), taken);
        }
    }
    list::<Workspace>(bytes);
    list::<Target>(bytes);
    list::<Scan>(bytes);
    list::<Finding>(bytes);
    list::<Logger>(bytes);
    list::<Capture>(bytes);
}

/// The decode chain of any body comes to an end within bounds, and tokens are looked for in any capture.
pub fn decode((bytes, content_type, encoding): (&[u8], &str, &str)) {
    fn total(steps: &[DecodeStep]) -> usize {
        let inside = |step: &DecodeStep| step.parts.iter().map(|part| total(&part.steps)).sum::<usize>();
        steps.iter().map(|step| step.result.len() + inside(step)).sum()
    }
    assert!(total(&chain(bytes, BodyHints { content_type, encoding })) <= 2 * LIMIT);
    let text = String::from_utf8_lossy(bytes).into_owned();
    let capture = Capture {
        url_params: text.as_str().into(),
        path: Some(content_type.into()),
        http_headers: vec![encoding.into()],
        request_body_base64: text.as_str().into(),
        ..Capture::default()
    };
    let mut book = PayloadBook::default();
    book.take([Arc::new(Payload { token: Token::of(1), ..Payload::default() })]);
    let _found = mentions(&capture, &book);
}
