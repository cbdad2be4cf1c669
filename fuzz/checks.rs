//! Checks on arbitrary input, run by the fuzz targets
//! (`RUSTC_BOOTSTRAP=1 cargo fuzz run -s none query`) and by `tests/any_text.rs`.

use std::ops::ControlFlow;
use std::sync::Arc;

use scandeck::contract::list::decode_list;
use scandeck::contract::shared::SharedTexts;
use scandeck::contract::{
    Capture, Finding, Logger, Scan, Target, Unreadable, Wordlist, Workspace, envelope,
};
use scandeck::import::{FORMATS, ImportEntry, ImportLimits};
use scandeck::oob::decode::chain;
use scandeck::oob::{BodyHints, DecodeStep, LIMIT, Payload, PayloadBook, Token, mentions};
use scandeck::query::complete::complete;
use scandeck::query::{Evaluator, Query, QueryKind};
use scandeck::table::{NoOtherLists, Rows};
use scandeck::triage::{Bundle, TriageState, jsonl};

/// A text parses to a query, or to an error with a position inside the text. A printed query parses
/// to the same query, and its evaluation does not panic.
pub fn query(text: &str) {
    for kind in QueryKind::ALL {
        match Query::parse(text, kind) {
            Ok(query) => assert_eq!(Query::parse(&query.to_string(), kind), Ok(query)),
            Err(error) => assert!(text.get(error.at).is_some()),
        }
    }
    let lists = [
        Wordlist {
            name: text.into(),
            num_words: 7,
            ..Wordlist::default()
        },
        Wordlist::default(),
    ];
    let source = Rows {
        rows: &lists,
        others: &NoOtherLists,
        now: 1_800_000_000,
    };
    let mut evaluator = Evaluator::default();
    let _completions = complete(text, text.len() / 2, &mut evaluator, &source);
    if let Ok(query) = Query::parse(text, QueryKind::Wordlists) {
        assert!(evaluator.matches(&query, &source).count() <= lists.len());
    }
}

/// JSON lines are read as events, or rejected with a line number. Events and bundles that were read
/// survive writing and reading.
pub fn import(text: &str) {
    let read = jsonl::read(text);
    let lines = text.lines().count();
    assert!(read.bad.iter().all(|bad| (1..=lines).contains(&bad.line)));
    let state = TriageState::from_events(read.events);
    let reread = jsonl::read(&jsonl::write(state.events()));
    assert!(reread.bad.is_empty());
    assert!(reread.events.iter().eq(state.events()));
    if let Ok(bundle) = Bundle::read(text) {
        assert_eq!(Bundle::read(&bundle.write()), Ok(bundle));
    }
}

/// The most levels of a document, which is more than its readers descend.
const LEVELS: u16 = 300;
/// Characters of the name of an element or a key.
const NAME: usize = 16;

/// A file of another scanner is read in the format that its first byte selects, or in the one that
/// recognises it: every reader ends within the limits.
pub fn results(bytes: &[u8]) {
    if let Some((choice, file)) = bytes.split_first() {
        read_results(*choice, file);
    }
}

/// Documents of elements, objects and lists, inside each other and one after the other: the readers
/// of XML and JSON end within their limits.
pub fn nested((choice, name, levels): (u8, &str, u16)) {
    let name: String = name.chars().take(NAME).collect();
    let key = serde_json::to_string(&name).unwrap();
    let count = usize::from(levels % LEVELS);
    for (open, close) in [
        (format!("<{name}>"), format!("</{name}>")),
        (format!("{{{key}:"), "}".to_owned()),
        ("[".to_owned(), "]".to_owned()),
    ] {
        let deep = [open.repeat(count), close.repeat(count)].concat();
        let wide = [open, close].concat().repeat(count);
        read_results(choice, deep.as_bytes());
        read_results(choice, wide.as_bytes());
    }
}

fn read_results(choice: u8, file: &[u8]) {
    let limits = ImportLimits {
        bytes: 1 << 20,
        entries: 20,
        entry_bytes: 16 << 10,
        ..ImportLimits::default()
    };
    let mut entries = 0_u64;
    let mut sink = |entry: ImportEntry| {
        entries += 1;
        assert!(entry.title.len() <= 500);
        ControlFlow::Continue(())
    };
    let format = FORMATS.get(usize::from(choice)).map(|format| format.name);
    let read = scandeck::import::read(file, format, &limits, &mut sink);
    assert!(entries <= limits.entries);
    if let Ok(summaries) = read {
        let reported: u64 = summaries.iter().map(|summary| summary.entries).sum();
        assert_eq!(reported, entries);
    }
}

/// A response decodes to a list of each type, or fails. A decoded list survives encoding and
/// decoding, also one whose damage was replaced.
pub fn wire(bytes: &[u8]) {
    fn round_trip<
        T: serde::Serialize + serde::de::DeserializeOwned + SharedTexts + PartialEq + std::fmt::Debug,
    >(
        bytes: &[u8],
    ) {
        if let Ok(decoded) = envelope::decode::<Vec<T>>(bytes) {
            let encoded = serde_json::to_vec(&decoded).unwrap();
            assert_eq!(envelope::decode::<Vec<T>>(&encoded).unwrap(), decoded);
        }
        if let Ok(list) = decode_list::<T>(bytes, None) {
            let encoded = serde_json::to_vec(&list.items).unwrap();
            let again = decode_list::<T>(&encoded, None).unwrap();
            assert_eq!(
                (again.items, again.unreadable),
                (list.items, Unreadable::default())
            );
        }
    }
    round_trip::<Workspace>(bytes);
    round_trip::<Target>(bytes);
    round_trip::<Scan>(bytes);
    round_trip::<Finding>(bytes);
    round_trip::<Logger>(bytes);
    round_trip::<Capture>(bytes);
}

/// The decode chain of any body ends within its size limit, and the search for tokens accepts any
/// capture.
pub fn decode((bytes, content_type, encoding): (&[u8], &str, &str)) {
    fn total_size(steps: &[DecodeStep]) -> usize {
        let of_parts = |step: &DecodeStep| {
            step.parts
                .iter()
                .map(|part| total_size(&part.steps))
                .sum::<usize>()
        };
        steps
            .iter()
            .map(|step| step.result.len() + of_parts(step))
            .sum()
    }
    assert!(
        total_size(&chain(
            bytes,
            BodyHints {
                content_type,
                encoding
            }
        )) <= 2 * LIMIT
    );
    let text = String::from_utf8_lossy(bytes).into_owned();
    let capture = Capture {
        url_params: text.as_str().into(),
        path: Some(content_type.into()),
        http_headers: vec![encoding.into()],
        request_body_base64: text.as_str().into(),
        ..Capture::default()
    };
    let mut book = PayloadBook::default();
    book.take([Arc::new(Payload {
        token: Token::of(1),
        ..Payload::default()
    })]);
    let _mentions = mentions(&capture, &book);
}
