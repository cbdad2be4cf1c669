//! Comparison of two captured requests, part by part.

use std::collections::HashMap;

use super::decode::{BodyHints, chain, is_text};
use super::request;
use scandeck_wire::contract::Capture;

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPart {
    Method,
    Path,
    /// A parameter of the query, by name.
    Query(String),
    /// A header, named as in the later request.
    Header(String),
    Body,
}

/// Result of comparing one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartChange {
    Same,
    Changed,
    OnlyBefore,
    OnlyAfter,
}

/// A part of the two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedPart {
    pub part: RequestPart,
    /// Value in the earlier request: untrusted text.
    pub before: Option<String>,
    /// Value in the later request: untrusted text.
    pub after: Option<String>,
}

impl ComparedPart {
    pub fn fate(&self) -> PartChange {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before == after => PartChange::Same,
            (Some(_), None) => PartChange::OnlyBefore,
            (None, Some(_)) => PartChange::OnlyAfter,
            _ => PartChange::Changed,
        }
    }
}

/// All parts in the order of the later request; parts that only the earlier request has come last
/// in their group.
pub fn compare(before: &Capture, after: &Capture) -> Vec<ComparedPart> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let path = |capture: &Capture| capture.path.as_deref().map(str::to_owned);
    let one = |part, before: Option<String>, after: Option<String>| ComparedPart {
        part,
        before,
        after,
    };
    let mut parts = vec![one(
        RequestPart::Method,
        text(&before.request_method),
        text(&after.request_method),
    )];
    parts.push(one(RequestPart::Path, path(before), path(after)));
    parts.extend(paired(query(before), query(after), RequestPart::Query));
    parts.extend(paired(headers(before), headers(after), RequestPart::Header));
    parts.push(one(RequestPart::Body, body(before), body(after)));
    parts.retain(|one| one.before.is_some() || one.after.is_some());
    parts
}

fn query(capture: &Capture) -> Vec<(String, String)> {
    request::pairs(capture)
        .map(|(name, value)| (name.to_owned(), value.unwrap_or_default().to_owned()))
        .collect()
}

fn headers(capture: &Capture) -> Vec<(String, String)> {
    request::headers(capture)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Pairs values of the same name in order of appearance.
fn paired(
    before: Vec<(String, String)>,
    after: Vec<(String, String)>,
    part: fn(String) -> RequestPart,
) -> Vec<ComparedPart> {
    // Positions by name; the first position is popped first.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, (name, _)) in before.iter().enumerate().rev() {
        places
            .entry(name.to_ascii_lowercase())
            .or_default()
            .push(at);
    }
    let mut before: Vec<Option<(String, String)>> = before.into_iter().map(Some).collect();
    let mut out: Vec<ComparedPart> = Vec::new();
    for (name, value) in after {
        let place = places
            .get_mut(&name.to_ascii_lowercase())
            .and_then(Vec::pop);
        let met = place
            .and_then(|at| before[at].take())
            .map(|(_, value)| value);
        out.push(ComparedPart {
            part: part(name),
            before: met,
            after: Some(value),
        });
    }
    let left = before.into_iter().flatten();
    out.extend(left.map(|(name, value)| ComparedPart {
        part: part(name),
        before: Some(value),
        after: None,
    }));
    out
}

/// The decoded body, or its bytes as text if nothing can be decoded.
fn body(capture: &Capture) -> Option<String> {
    let bytes = request::body(capture);
    if bytes.is_empty() {
        return None;
    }
    let hints = BodyHints {
        content_type: request::content_type(capture),
        encoding: request::header(capture, "content-encoding").unwrap_or_default(),
    };
    let steps = chain(&bytes, hints);
    let shown = steps.last().map_or(&*bytes, |step| &step.result);
    Some(if is_text(shown) {
        String::from_utf8_lossy(shown).into_owned()
    } else {
        scandeck_wire::text::clean_bytes(&bytes).into_owned()
    })
}

/// The lines in which two texts differ, without common first and last lines, and the number of
/// common first lines.
pub fn differing<'a>(before: &'a str, after: &'a str) -> (usize, Vec<&'a str>, Vec<&'a str>) {
    let [before, after]: [Vec<&str>; 2] = [before.lines().collect(), after.lines().collect()];
    let head = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = before.len().min(after.len()) - head;
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    (
        head,
        before[head..before.len() - tail].to_vec(),
        after[head..after.len() - tail].to_vec(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oob::recognize::testing::base64;

    fn capture(query: &str, headers: &[&str], body: &[u8]) -> Capture {
        Capture {
            request_method: "GET".into(),
            url_params: query.into(),
            http_headers: headers.iter().map(|&line| line.into()).collect(),
            request_body_base64: base64(body),
            ..Capture::default()
        }
    }

    #[test]
    fn compared_parts_are_same_changed_or_one_sided() {
        let before = capture("a=1&b=2&a=3", &["Host: h", "X-Old: 1"], b"one\ntwo");
        let after = Capture {
            path: Some("/x".into()),
            ..capture("a=1&c=4&a=5", &["host: h", "X-New: 1"], b"one\n2")
        };
        let results: Vec<(RequestPart, PartChange)> = compare(&before, &after)
            .into_iter()
            .map(|one| (one.part.clone(), one.fate()))
            .collect();
        let query = |name: &str| RequestPart::Query(name.into());
        let header = |name: &str| RequestPart::Header(name.into());
        let expected = [
            (RequestPart::Method, PartChange::Same),
            (RequestPart::Path, PartChange::OnlyAfter),
            (query("a"), PartChange::Same),
            (query("c"), PartChange::OnlyAfter),
            (query("a"), PartChange::Changed),
            (query("b"), PartChange::OnlyBefore),
            (header("host"), PartChange::Same),
            (header("X-New"), PartChange::OnlyAfter),
            (header("X-Old"), PartChange::OnlyBefore),
            (RequestPart::Body, PartChange::Changed),
        ];
        assert_eq!(results, expected);
    }

    #[test]
    fn encoded_bodies_are_compared_decoded() {
        let json = |text: &str| Capture {
            request_body_type: "application/json".into(),
            ..capture("", &[], text.as_bytes())
        };
        let parts = compare(&json(r#"{"a":1,"b":2}"#), &json(r#"{"a": 1, "b": 3}"#));
        let body = parts.last().unwrap();
        let (before, after) = (
            body.before.as_deref().unwrap(),
            body.after.as_deref().unwrap(),
        );
        assert_eq!(
            differing(before, after),
            (2, vec![r#"  "b": 2"#], vec![r#"  "b": 3"#])
        );
    }

    proptest! {
        #[test]
        fn comparison_keeps_every_part_and_equals_itself(
            query in "([ab]=[0-9]&?){0,6}", other in "([ab]=[0-9]&?){0,6}", bytes: Vec<u8>,
        ) {
            let (one, two) = (capture(&query, &["A: 1", "a: 2"], &bytes), capture(&other, &["b: 1"], b""));
            prop_assert!(compare(&one, &one).iter().all(|part| part.fate() == PartChange::Same));
            let parts = compare(&one, &two);
            let of = |side: fn(&ComparedPart) -> bool| {
                parts.iter().filter(|part| matches!(part.part, RequestPart::Query(_)) && side(part)).count()
            };
            prop_assert_eq!(of(|part| part.before.is_some()), request::pairs(&one).count());
            prop_assert_eq!(of(|part| part.after.is_some()), request::pairs(&two).count());
        }

        #[test]
        fn changed_lines_with_common_lines_cover_whole_text(before in "[ab\n]{0,12}", after in "[ab\n]{0,12}") {
            let (head, old, new) = differing(&before, &after);
            let tail = before.lines().count() - head - old.len();
            prop_assert_eq!(head + new.len() + tail, after.lines().count());
            prop_assert!(before != after || (old.is_empty() && new.is_empty()));
        }
    }
}
