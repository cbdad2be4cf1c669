//! The checks of the fuzz targets on generated texts: a bounded number of cases, on any toolchain.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use scandeck::contract::{Finding, FindingId, Shared, Stamp};
use scandeck::triage::{
    Bundle, Change, Decision, EventWriter, FindingKey, Identity, Manifest, Setting, Sighting,
    Subject, Verdict, jsonl,
};

#[path = "../fuzz/checks.rs"]
mod checks;

/// Tokens of the query language.
const QUERY_TOKENS: &[&str] = &[
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
/// Fragments that damage a line of JSON.
const JSON_DAMAGE: &[&str] = &[
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

/// Fragments of captured bodies in each encoding.
const BODY_FRAGMENTS: &[&[u8]] = &[
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
const CONTENT_TYPES: &[&str] = &[
    "application/json",
    "text/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=limit",
    "image/png",
    "",
];
const CONTENT_ENCODINGS: &[&str] = &["gzip", "deflate", "br", "gzip, gzip", ""];
/// A response of the service.
const RESPONSE: &str = r#"{"data":[{"id":1,"name":"a","logger_id":"7","risk_level":4,"cvss":9.8,"cve":["CVE-2024-1"],"http_headers":["A: b"],"request_date":"2026-11-21 12:00:00","tool_params":{"authentication":{}},"vuln_evidence":{"type":"table","data":[["a"]]},"progress":10}]}"#;
/// Replacements for parts of [`RESPONSE`].
const JSON_VALUES: &[&str] = &[
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

/// Two decisions as JSON lines, and a bundle that contains them.
fn sample_files() -> [String; 2] {
    let mut writer = EventWriter {
        who: "ann".into(),
        instance: 7,
        ..EventWriter::default()
    };
    let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let seen = Some(Sighting {
        epss: Some(0.123_456_789),
        finding: FindingId(3),
        ..Sighting::default()
    });
    let mut decide = |verdict, after| {
        let identity = Identity {
            key: FindingKey(9),
            asset: "shop.test".into(),
            ..Identity::default()
        };
        let decision = Decision {
            verdict,
            seen: seen.clone(),
            ..Decision::default()
        };
        let batch = writer.next();
        Arc::new(writer.write(
            (at, 1),
            batch,
            after,
            Subject::Finding(identity),
            Change::Decide(decision),
        ))
    };
    let first = decide(Verdict::Confirmed, vec![]);
    let events = vec![Arc::clone(&first), decide(Verdict::Fixed, vec![first.id])];
    let manifest = Manifest::new(
        "Acme".into(),
        Shared::default(),
        "local".into(),
        ("ann".into(), at),
    );
    let mut bundle = Bundle::new(manifest);
    bundle.settings = vec![Setting {
        key: "tabs".into(),
        json: "[1]".into(),
    }];
    bundle.findings = vec![Arc::new(Finding {
        id: FindingId(3),
        cvss: Some(7.5),
        ..Finding::default()
    })];
    bundle.events = events.clone();
    [jsonl::write(&events), bundle.write()]
}

/// A sample file with up to three replacements.
fn damaged_files() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        select(JSON_DAMAGE).prop_map(str::to_owned),
        any::<char>().prop_map(String::from)
    ];
    let damage = (any::<Index>(), 0..12_usize, fragment);
    (
        select(sample_files().to_vec()),
        proptest::collection::vec(damage, 0..4),
    )
        .prop_map(|(file, damages)| {
            damages
                .into_iter()
                .fold(file, |file, (at, length, fragment)| {
                    let chars: Vec<char> = file.chars().collect();
                    let at = at.index(chars.len() + 1);
                    let rest = chars.iter().skip(at + length);
                    chars
                        .iter()
                        .take(at)
                        .copied()
                        .chain(fragment.chars())
                        .chain(rest.copied())
                        .collect()
                })
        })
}

/// A response with up to three replacements.
fn damaged_responses() -> impl Strategy<Value = Vec<u8>> {
    let damage = (
        any::<Index>(),
        0..24_usize,
        prop_oneof![
            select(JSON_VALUES).prop_map(str::as_bytes),
            select(BODY_FRAGMENTS)
        ],
    );
    proptest::collection::vec(damage, 0..4).prop_map(|damages| {
        damages.into_iter().fold(
            RESPONSE.as_bytes().to_vec(),
            |mut response, (at, length, fragment)| {
                let at = at.index(response.len() + 1);
                let end = (at + length).min(response.len());
                response.splice(at..end, fragment.iter().copied());
                response
            },
        )
    })
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let fragment =
        prop_oneof![4 => select(BODY_FRAGMENTS).prop_map(<[u8]>::to_vec), 1 => any::<Vec<u8>>()];
    proptest::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

fn queries() -> impl Strategy<Value = String> {
    let fragment =
        prop_oneof![4 => select(QUERY_TOKENS).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn arbitrary_query_parses_or_reports_position(text in queries()) {
        checks::query(&text);
    }

    #[test]
    fn damaged_file_imports_or_reports_line(text in damaged_files()) {
        checks::import(&text);
    }

    #[test]
    fn damaged_response_decodes_or_fails(response in damaged_responses()) {
        checks::wire(&response);
    }

    #[test]
    fn damaged_result_file_is_read_within_limits(choice in 0..30_u8, file in damaged_responses()) {
        checks::results(&[&[choice][..], file.as_slice()].concat());
    }

    #[test]
    fn nested_result_file_is_read_within_limits(
        choice in 0..30_u8, name in "[a-z:/ ]{0,8}", levels in any::<u16>(),
    ) {
        checks::nested((choice, &name, levels));
    }

    #[test]
    fn arbitrary_body_decodes_within_limits(body in bodies(), content_type in select(CONTENT_TYPES), encoding in select(CONTENT_ENCODINGS)) {
        checks::decode((&body, content_type, encoding));
    }
}

#[test]
fn sample_files_without_damage_are_valid() {
    let [lines, bundle] = sample_files();
    assert_eq!(
        (
            jsonl::read(&lines).events.len(),
            jsonl::read(&lines).bad.len()
        ),
        (2, 0)
    );
    assert!(Bundle::read(&bundle).is_ok());
    checks::import(&lines);
    checks::import(&bundle);
}
