//! The checks of the fuzzer, held for texts made of the pieces of what is read: bounded, and the same on any toolchain.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use scandeck::contract::{Finding, FindingId, Shared, Stamp};
use scandeck::triage::bundle::{Bundle, Manifest, Setting};
use scandeck::triage::{Change, Decision, Identity, Key, Pen, Sighting, Subject, Verdict, jsonl};

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

/// Two decisions and a bundle with them.
fn files() -> [String; 2] {
    let mut pen = Pen { who: "ann".into(), instance: 7, ..Pen::default() };
    let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let seen = Some(Sighting { epss: Some(0.123_456_789), finding: FindingId(3), ..Sighting::default() });
    let mut decide = |verdict, after| {
        let identity = Identity { key: Key(9), asset: "shop.test".into(), ..Identity::default() };
        let decision = Decision { verdict, seen: seen.clone(), ..Decision::default() };
        let batch = pen.next();
        Arc::new(pen.write((at, 1), batch, after, Subject::Finding(identity), Change::Decide(decision)))
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
}

#[test]
fn what_is_damaged_here_is_whole_without_damage() {
    let [lines, bundle] = files();
    assert_eq!((jsonl::read(&lines).events.len(), jsonl::read(&lines).bad.len()), (2, 0));
    assert!(Bundle::read(&bundle).is_ok());
    checks::import(&lines);
    checks::import(&bundle);
}
