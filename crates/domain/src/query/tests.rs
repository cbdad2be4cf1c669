//! Tests of parsing: canonical form, errors, arbitrary text.

use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    match Query::parse(text, QueryKind::Findings) {
        Ok(query) => query.to_string(),
        Err(error) => format!("{:?} {error}", error.at),
    }
}

#[test]
fn long_query_round_trips() {
    let text = r#"risk>=high verdict:open target:shop* cve:CVE-2024-* cwe:79 port:443 epss>0.5 is:kev is:new is:undecided scanner:proven tool:170 tag:x "sql inj" changed<2d -name:~"^TLS" (a or b)"#;
    assert_eq!(canonical(text), text);
}

#[test]
fn equivalent_queries_print_canonically() {
    for (text, expected) in [
        ("", ""),
        ("Risk:>=HI age<14d", "risk>=high first<2w"),
        ("risk_level:3,4 epss=0.50", "risk:high,critical epss:0.5"),
        ("a and b OR (c)", "a b or c"),
        ("not (a or b) not not c", "-(a or b) c"),
        ("--a ((a b) c)", "a a b c"),
        (
            "verdict:accepted,\"false pos\",f* reason!=other",
            "verdict:risk_accepted,false_positive,f* -reason=other",
        ),
        ("text:\"sql inj\" text:x", "\"sql inj\" x"),
        (
            "\"or\" \"a\\\"b\" \"name:x\"",
            "\"or\" \"a\\\"b\" \"name:x\"",
        ),
        ("tag:* note:\"\"", "tag:* note:\"\""),
        ("assignee:\"me\" tag:me", "assignee:\"me\" tag:me"),
        (
            "presence:absent,reappeared seen>=2026-10-01",
            "presence:absent,reappeared seen>=2026-10-01",
        ),
        ("\"open quote", "\"open quote\""),
        ("https://shop.test/a?b=c", "https://shop.test/a?b=c"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn parse_error_has_position_reason_and_hint() {
    for (text, expected) in [
        (
            "risc>=high",
            "0..4 unknown field `risc`; did you mean `risk`?",
        ),
        (
            "assignee:bob,me",
            "13..15 queries do not know who you are; write the name; `\"me\"` finds a person of this name",
        ),
        (
            "by=me",
            "3..5 queries do not know who you are; write the name; `\"me\"` finds a person of this name",
        ),
        (
            "qqq:",
            "0..3 unknown field `qqq`; quote it to search for text",
        ),
        ("a risk>=", "8..8 value is missing"),
        (
            "port:80,",
            "8..8 value is missing; `*` matches any value, `\"\"` no value",
        ),
        (
            "a qqq:1",
            "2..5 unknown field `qqq`; quote it to search for text",
        ),
        (
            "risk>=hihg",
            "6..10 invalid risk `hihg`; use info, low, medium, high or critical",
        ),
        (
            "verdict:opne",
            "8..12 unknown verdict `opne`; did you mean `open`?",
        ),
        (
            "is:regresion",
            "3..12 unknown flag `regresion`; did you mean `regression`?",
        ),
        (
            "is:fixed",
            "3..8 unknown flag `fixed`; did you mean `verdict:fixed`?",
        ),
        (
            "is:qqq",
            "3..6 unknown flag `qqq`; use undecided, decided, regression, expired, conflict, recheck or one of 18 more",
        ),
        ("port>80,443", "0..11 `port` accepts one value with < or >"),
        ("name>a", "0..6 `name` is text and has no order; use : or ="),
        (
            "changed:2d",
            "0..10 `changed` needs < or > with a duration; for example changed<2d",
        ),
        (
            "changed<soon",
            "8..12 invalid time `soon`; use 2d, 12h, 1w or 2026-10-01",
        ),
        (
            "name:~\"(\"",
            "6..9 invalid regular expression: unclosed group",
        ),
        (
            "name:~\"(a{999}){999}\"",
            "6..21 invalid regular expression: it is too large",
        ),
        ("(a", "0..1 unclosed `(`"),
        ("a)", "1..2 unmatched `)`"),
        ("a or", "4..4 a word or field is missing at the end"),
        (
            "or a",
            "0..2 a word or field is missing before `or`; \"or\" searches for the word",
        ),
        ("()", "1..2 a word or field is missing before `)`"),
        ("epss>nan", "5..8 invalid number `nan`; use digits"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
    let deep = "(".repeat(60);
    assert!(canonical(&deep).contains("nested groups"));
    assert!(canonical(&"-".repeat(3_000)).contains("needs a word or field"));
    assert!(canonical(&format!("{}a", "-".repeat(3_000))).contains("nested groups"));
    assert!(canonical(&"a".repeat(5_000)).contains("longer than"));
}

/// Fragments of queries in any order.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("("),
        Just(")"),
        Just("-"),
        Just("not "),
        Just(" or "),
        Just(" and "),
        Just(" "),
        Just("\""),
        Just("\\"),
        Just("risk>="),
        Just("high"),
        Just("name:"),
        Just("name:~"),
        Just("port:"),
        Just("80,"),
        Just("443"),
        Just("changed<"),
        Just("2d"),
        Just("seen>="),
        Just("2026-10-01"),
        Just("is:"),
        Just("new"),
        Just("verdict="),
        Just("open"),
        Just("*"),
        Just("a?b"),
        Just("é"),
        Just("tag!="),
        Just("<"),
        Just("1e9"),
    ];
    proptest::collection::vec(fragment, 0..16).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_parses_or_fails_with_position(text in "\\PC{0,60}", made in fragments()) {
        for text in [text, made] {
            for kind in [QueryKind::Findings, QueryKind::Captures] {
                match Query::parse(&text, kind) {
                    Ok(query) => {
                        let printed = query.to_string();
                        let again = Query::parse(&printed, kind);
                        prop_assert_eq!(again.as_ref(), Ok(&query), "{}", printed);
                        prop_assert_eq!(again.map(|query| query.to_string()), Ok(printed));
                    }
                    Err(error) => {
                        prop_assert!(text.get(error.at.clone()).is_some(), "{:?} in {:?}", error.at, text);
                    }
                }
            }
        }
    }
}
