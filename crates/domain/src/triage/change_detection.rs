//! Comparison of evidence without volatile parts: dates, request ids, nonces, other numbers, and the
//! HTTP exchange of a table.

use super::listed::ListedFinding;

const NAMES_OF_TIME: [&str; 20] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
    "jul", "aug", "sep", "oct", "nov", "dec", "gmt",
];
/// Words of this length or more are tokens, not language.
const LONG: usize = 24;

/// The stable words of a text.
pub fn stable_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !varies(word))
}

/// True if two texts differ only in volatile words.
pub fn is_same_text(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (a, b) = differing(a, b);
    stable_words(a).eq(stable_words(b))
}

/// The differing middle parts of two texts: most of two responses is equal.
fn differing<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let (left, right) = (a.as_bytes(), b.as_bytes());
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let start = left[..same]
        .iter()
        .rposition(is_break)
        .map_or(0, |at| at + 1);
    let (left, right) = (&left[start..], &right[start..]);
    let same = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let end = left[left.len() - same..]
        .iter()
        .position(is_break)
        .map_or(0, |at| same - at);
    (&a[start..a.len() - end], &b[start..b.len() - end])
}

/// True if risk, proof, CVEs or evidence of a finding changed.
pub fn is_changed(before: &ListedFinding, now: &ListedFinding) -> bool {
    (before.risk_level, before.confirmed, before.in_cisa_catalog)
        != (now.risk_level, now.confirmed, now.in_cisa_catalog)
        || before.cve != now.cve
        || !is_same_evidence(before, now)
}

/// True if the evidence of two findings differs only in volatile words.
pub fn is_same_evidence(before: &ListedFinding, now: &ListedFinding) -> bool {
    match (before.held_texts(), now.held_texts()) {
        (Some(before), Some(now)) => {
            let [was, is] = [before, now].map(|texts| texts.vuln_evidence.without_exchange());
            is_same_text(was.as_json(), is.as_json())
        }
        _ => before.evidence_words() == now.evidence_words(),
    }
}

/// True for bytes that end a word in every script.
fn is_break(byte: &u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

fn varies(word: &str) -> bool {
    word.len() >= LONG
        || word.bytes().any(|byte| byte.is_ascii_digit())
        || word.len() == 3
            && NAMES_OF_TIME
                .iter()
                .any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Evidence, EvidenceExchange, Finding, Risk};

    #[test]
    fn dates_ids_and_nonces_are_no_change() {
        let answer = |date: &str, id: &str, server: &str| {
            format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nX-Request-Id: {id}\r\nServer: {server}\r\n")
        };
        let before = answer("Mon, 02 Nov 2026 10:00:00 GMT", "4f9a-17", "nginx");
        assert!(is_same_text(
            &before,
            &answer("Tue, 03 Dec 2026 11:30:01 GMT", "9c-2b", "nginx")
        ));
        assert!(!is_same_text(
            &before,
            &answer("Mon, 02 Nov 2026 10:00:00 GMT", "4f9a-17", "apache")
        ));
    }

    proptest::proptest! {
        #[test]
        fn common_prefix_and_suffix_do_not_affect_comparison(
            (begin, a, b, end) in ("[ab1é ]{0,6}", "[ab1é ]{0,6}", "[ab1é ]{0,6}", "[ab1é ]{0,6}"),
        ) {
            let (a, b) = (format!("{begin}{a}{end}"), format!("{begin}{b}{end}"));
            proptest::prop_assert_eq!(is_same_text(&a, &b), stable_words(&a).eq(stable_words(&b)));
        }
    }

    #[test]
    fn exchange_is_not_compared_in_memory_and_by_words() {
        let finding = |header: &str, body: Option<&str>| {
            let row = vec!["https://a.test/".to_owned(), header.to_owned()];
            let found = Evidence::table(&["URL", "Header"], [row]);
            let exchange = |body: &str| EvidenceExchange {
                request: "GET / HTTP/1.1".into(),
                response: format!("HTTP/1.1 200 OK\n\n{body}"),
                ..EvidenceExchange::default()
            };
            let evidence = match body {
                Some(body) => found.with_exchange(exchange(body)),
                None => found,
            };
            ListedFinding::from(Finding {
                vuln_evidence: evidence,
                ..Finding::default()
            })
        };
        let before = finding("csp", None);
        for (now, is_changed) in [
            (finding("csp", Some("hello")), false),
            (finding("csp", Some("bye")), false),
            (finding("hsts", Some("hello")), true),
        ] {
            assert_eq!(is_same_evidence(&before, &now), !is_changed);
            assert_eq!(before.evidence_words() == now.evidence_words(), !is_changed);
        }
    }

    #[test]
    fn change_depends_on_risk_proof_and_evidence() {
        let before = Finding {
            vuln_evidence: Evidence::from_value(&"header x absent".into()),
            ..Finding::default()
        };
        let is_changed = |before: &Finding, now: &Finding| {
            is_changed(&before.clone().into(), &now.clone().into())
        };
        assert!(!is_changed(
            &before,
            &Finding {
                recommendation: "new words".into(),
                ..before.clone()
            }
        ));
        assert!(is_changed(
            &before,
            &Finding {
                risk_level: Risk::High,
                ..before.clone()
            }
        ));
        assert!(is_changed(
            &before,
            &Finding {
                confirmed: true,
                ..before.clone()
            }
        ));
        let other = Evidence::from_value(&"header y absent".into());
        assert!(is_changed(
            &before,
            &Finding {
                vuln_evidence: other,
                ..before.clone()
            }
        ));
    }
}
