//! The checks of the fuzzer, held for texts made of the pieces of what is read: bounded, and the same on any toolchain.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use scandeck::contract::{Finding, FindingId, Shared, Stamp};
use scandeck::triage::{
    Bundle, Change, Decision, EventWriter, FindingKey, Identity, Manifest, Setting, Sighting, Subject, Verdict, jsonl,
};

#[path = "../fuzz/checks.rs"]
mod checks;

/// Pieces of queries, between which anything may stand.
const QUERY: &[&str] = &[
    "risk",
    "verdict",
    "name",
    "is",
    "changed",
    "cve",
    "text",
    "num_words",
    ":",
    ">=",
    "<",
    "!=",
    ":~",
    "-",
    "(",
    ")",
    " or ",
    " and ",
    "not ",
    "\"",
    "\\",
    "*",
    ",",
    "..",
    "2d",
    "2026-10-01",
    "high",
    "open",
    "kev",
    "0.5",
    "[",
    "\u{202e}",
];
/// Pieces that a line of JSON does not expect.
const LINES: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "null",
    "-1",
    "0.1",
    "1e999",
    "18446744073709551615",
    "281474976710657",
    "\\u0000",
    "\u{feff}",
    "<<<<<<<",
    "\"clock\":",
    "\"batch\":",
    "\"after\":[]",
    "\"manifest\":{}",
];

/// Pieces of what a target sends: of each wrapping, and of what stands between them.
const SENT: &[&[u8]] = &[
    b"%25",
    b"%7b",
    b"%",
    b"&",
    b"=",
    b"+",
    b"?t=",
    b"aaaaaaaaaaab",
    b"eyJhIjoxfQ",
    b"eyJhbGciOiJub25lIn0.",
    b"AAAA",
    b"==",
    b"{\"a\":[",
    b"\"}",
    b"]",
    b"<?xml version='1.0'?>",
    b"<!DOCTYPE a [<!ENTITY b SYSTEM 'c'>]>",
    b"&b;",
    b"<a>",
    b"</a>",
    b"--limit\r\n",
    b"Content-Disposition: form-data; name=a\r\n\r\n",
    b"--limit--",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    b"\x78\x9c",
    b"\x4b\x4c\x4a\x06\x00",
    b"\x00",
    b"\xff\xfe",
    b"\xe2\x80\xae",
];
/// Under which names.
const TYPES: &[&str] = &[
    "application/json",
    "text/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=limit",
    "image/png",
    "",
];
const ENCODINGS: &[&str] = &["gzip", "deflate", "br", "gzip, gzip", ""];
/// An answer of the service, and what may stand in it instead.
const ANSWER: &str = r#"{"data":[{"id":1,"name":"a","logger_id":"7","risk_level":4,"cvss":9.8,"cve":["CVE-2024-1"],"http_headers":["A: b"],"request_date":"2026-11-21 12:00:00","tool_params":{"authentication":{}},"vuln_evidence":{"type":"table","data":[["a"]]},"progress":10}]}"#;
const VALUES: &[&str] = &[
    "null",
    "-1",
    "1e999",
    "0.1",
    "\"\"",
    "\"2026-02-30 25:61:00\"",
    "[]",
    "{}",
    "[[[[",
    "true",
    "\\ud800",
    "18446744073709551615",
    "\u{0}",
];

/// Two decisions and a bundle with them.
fn files() -> [String; 2] {
    let mut writer = EventWriter { who: "ann".into(), instance: 7, ..EventWriter::default() };
    let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let seen = Some(Sighting { epss: Some(0.123_456_789), finding: FindingId(3), ..Sighting::default() });
    let mut decide = |verdict, after| {
        let identity = Identity { key: FindingKey(9), asset: "shop.test".into(), ..Identity::default() };
        let decision = Decision { verdict, seen: seen.clone(), ..Decision::default() };
        let batch = writer.next();
        Arc::new(writer.write((at, 1), batch, after, Subject::Finding(identity), Change::Decide(decision)))
    };
    let first = decide(Verdict::Confirmed, vec![]);
    let events = vec![Arc::clone(&first), decide(Verdict::Fixed, vec![first.id])];
    let manifest = Manifest::new("Acme".into(), Shared::default(), "local".into(), ("ann".into(), at));
    let mut bundle = Bundle::new(manifest);
    bundle.settings = vec![Setting { key: "tabs".into(), json: "[1]".into() }];
    bundle.findings = vec![Arc::new(Finding { id: FindingId(3), cvss: Some(7.5), ..Finding::default() })];
    bundle.events = events.clone();
    [jsonl::write(&events), bundle.write()]
}

/// A file in which some places hold something else.
fn damaged() -> impl Strategy<Value = String> {
    let piece = prop_oneof![select(LINES).prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    let damage = (any::<Index>(), 0..12_usize, piece);
    (select(files().to_vec()), proptest::collection::vec(damage, 0..4)).prop_map(|(file, damages)| {
        damages.into_iter().fold(file, |file, (at, length, piece)| {
            let chars: Vec<char> = file.chars().collect();
            let at = at.index(chars.len() + 1);
            let rest = chars.iter().skip(at + length);
            chars.iter().take(at).copied().chain(piece.chars()).chain(rest.copied()).collect()
        })
    })
}

/// An answer in which some places hold something else.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<Index>(), 0..24_usize, prop_oneof![select(VALUES).prop_map(str::as_bytes), select(SENT)]);
    proptest::collection::vec(damage, 0..4).prop_map(|damages| {
        damages.into_iter().fold(ANSWER.as_bytes().to_vec(), |mut answer, (at, length, piece)| {
            let at = at.index(answer.len() + 1);
            let end = (at + length).min(answer.len());
            answer.splice(at..end, piece.iter().copied());
            answer
        })
    })
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![4 => select(SENT).prop_map(<[u8]>::to_vec), 1 => any::<Vec<u8>>()];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn queries() -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => select(QUERY).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_query_or_an_error_with_a_place(text in queries()) {
        checks::query(&text);
    }

    #[test]
    fn any_file_is_taken_whole_or_refused_with_a_place(text in damaged()) {
        checks::import(&text);
    }

    #[test]
    fn any_answer_is_taken_as_a_list_or_refused(answer in answers()) {
        checks::wire(&answer);
    }

    #[test]
    fn any_body_is_decoded_within_bounds(body in bodies(), named in select(TYPES), encoded in select(ENCODINGS)) {
        checks::decode((&body, named, encoded));
    }
}

#[test]
fn what_is_damaged_here_is_whole_without_damage() {
    let [lines, bundle] = files();
    assert_eq!((jsonl::read(&lines).events.len(), jsonl::read(&lines).bad.len()), (2, 0));
    assert!(Bundle::read(&bundle).is_ok());
    checks::import(&lines);
    checks::import(&bundle);
}
