//! Evidence then and now, part by part: ratings, cells of tables, headers and lines of texts.
//!
//! ```text
//!   evidence ─► parts (name, value) ─► equal parts are dropped ─► same words: counted as varying
//!                                                                 same name:  changed
//!                                                                 the rest:   removed, added
//! ```

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::ReadTexts;
use crate::triage::change_detection::stable_words;
use crate::triage::listed::ListedFinding;
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::contract::{Evidence, EvidenceView, ScanId};

/// Most changes that an explanation holds.
const MOST: usize = 40;
/// Longest name of a header.
const LONGEST_NAME: usize = 40;
/// The name of a line without a name.
const LINE: &str = "";

/// A value then and now. One of them is missing if only one scan has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedValue {
    /// Empty for a line of a text.
    pub name: String,
    pub then: Option<String>,
    pub now: Option<String>,
}

/// The evidence of two scans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceComparison {
    /// The scan of the earlier evidence.
    pub then: Option<ScanId>,
    /// The scan of the later evidence.
    pub now: Option<ScanId>,
    pub changes: Vec<ComparedValue>,
    /// Further changes.
    pub more: usize,
    /// Parts that differ only in dates, ids and numbers.
    pub varying: usize,
    /// Why the evidence cannot be read.
    pub problem: Option<String>,
}

impl ComparedValue {
    pub(super) fn of(name: &str, then: Option<&str>, now: &str) -> Self {
        Self {
            name: name.to_owned(),
            then: then.filter(|then| *then != now).map(str::to_owned),
            now: Some(now.to_owned()),
        }
    }

    pub(super) fn changed(name: &str, [then, now]: &[String; 2]) -> Self {
        Self {
            name: name.to_owned(),
            then: Some(then.clone()),
            now: Some(now.clone()),
        }
    }
}

impl EvidenceComparison {
    pub(super) fn between(
        then: Option<&ListedFinding>,
        now: Option<&ListedFinding>,
        read: &ReadTexts<'_>,
    ) -> Self {
        let scan = |finding: Option<&ListedFinding>| finding.and_then(ListedFinding::task_id);
        let comparison = Self {
            then: scan(then),
            now: scan(now),
            ..Self::default()
        };
        let evidence = |finding: Option<&ListedFinding>| match finding {
            Some(finding) => read(finding).map(|texts| texts.vuln_evidence.clone()),
            None => Ok(Evidence::default()),
        };
        let (earlier, later) = match (evidence(then), evidence(now)) {
            (Ok(earlier), Ok(later)) => (earlier, later),
            (Err(problem), _) | (_, Err(problem)) => {
                return Self {
                    problem: Some(problem),
                    ..comparison
                };
            }
        };
        let (parts, varying) = compare_parts(parts_of(&earlier), parts_of(&later));
        let mut changes = match (then, now) {
            (Some(then), Some(now)) => ratings(then, now),
            _ => Vec::new(),
        };
        changes.extend(parts);
        let more = changes.len().saturating_sub(MOST);
        changes.truncate(MOST);
        Self {
            changes,
            more,
            varying,
            ..comparison
        }
    }
}

/// Risk, proof, exploitation, CVEs and port that differ.
fn ratings(then: &ListedFinding, now: &ListedFinding) -> Vec<ComparedValue> {
    let word = |is: bool| if is { "yes" } else { "no" };
    let all = [
        (
            "risk",
            [then, now].map(|finding| finding.risk_level.to_string()),
        ),
        (
            "proven by the scanner",
            [then, now].map(|finding| word(finding.confirmed).to_owned()),
        ),
        (
            "known to be exploited",
            [then, now].map(|finding| word(finding.in_cisa_catalog).to_owned()),
        ),
        ("CVE", [then, now].map(|finding| finding.cve.join(", "))),
        (
            "port",
            [then, now].map(|finding| finding.port().to_string()),
        ),
    ];
    all.iter()
        .filter(|(_, [was, is])| was != is)
        .map(|(name, values)| ComparedValue::changed(name, values))
        .collect()
}

/// A named part of an evidence.
pub(super) type EvidencePart = (String, String);

/// The exchange is not compared, so it explains no change.
fn parts_of(evidence: &Evidence) -> Vec<EvidencePart> {
    let mut parts = Vec::new();
    match evidence.view().without_exchange() {
        EvidenceView::Nothing => {}
        EvidenceView::Text(text) => add_text("", &text, &mut parts),
        EvidenceView::Table { headers, rows } => {
            for row in &rows {
                add_row(&headers, row, rows.len() > 1, &mut parts);
            }
        }
        EvidenceView::Tree(value) => add_tree("", &value, &mut parts),
    }
    parts
}

/// The cells of a row by their headers; of several rows, with the first cell.
fn add_row(
    headers: &[String],
    row: &[String],
    is_one_of_many: bool,
    parts: &mut Vec<EvidencePart>,
) {
    let first = row.first().map(|cell| decode_entities(cell).into_owned());
    for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
        let encoded = headers.get(at).map(String::as_str).unwrap_or_default();
        let header = decode_entities(encoded).into_owned();
        let name = match &first {
            Some(first) if at > 0 && is_one_of_many => format!("{header} of {first}"),
            _ => header,
        };
        let text = decode_entities(cell);
        if text.contains('\n') {
            add_text(&name, &text, parts);
        } else {
            parts.push((name, text.into_owned()));
        }
    }
}

/// The lines of a text. `Name: value` is a part with this name.
pub(super) fn add_text(of: &str, text: &str, parts: &mut Vec<EvidencePart>) {
    for line in text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
    {
        match line.split_once(": ").filter(|(name, _)| is_name(name)) {
            Some((name, value)) => parts.push((name.to_owned(), value.to_owned())),
            None => parts.push((of.to_owned(), line.to_owned())),
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(is_letter)
}

/// The leaves of a JSON value by their path: `tls.versions[0]`.
fn add_tree(path: &str, value: &Value, parts: &mut Vec<EvidencePart>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                add_tree(&format!("{path}{dot}{name}"), field, parts);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                add_tree(&format!("{path}[{at}]"), item, parts);
            }
        }
        Value::String(text) => parts.push((path.to_owned(), text.clone())),
        other => parts.push((path.to_owned(), other.to_string())),
    }
}

/// The parts that differ, and the number of those that differ only in words that vary between two
/// scans.
pub(super) fn compare_parts(
    then: Vec<EvidencePart>,
    now: Vec<EvidencePart>,
) -> (Vec<ComparedValue>, usize) {
    let (then, now) = unequal(then, now, EvidencePart::clone);
    let before = then.len();
    let stable = |(name, value): &EvidencePart| {
        let words: Vec<&str> = stable_words(value).collect();
        (name.clone(), words.join(" "))
    };
    let (then, now) = unequal(then, now, stable);
    let varying = before - then.len();
    let mut changes = Vec::new();
    let mut by_name: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, (name, _)) in now.iter().enumerate().filter(|(_, part)| part.0 != LINE) {
        by_name.entry(name.as_str()).or_default().push_back(at);
    }
    let mut is_paired = vec![false; now.len()];
    for (name, was) in &then {
        let pair = by_name.get_mut(name.as_str()).and_then(VecDeque::pop_front);
        if let Some(at) = pair {
            is_paired[at] = true;
        }
        changes.push(ComparedValue {
            name: name.clone(),
            then: Some(was.clone()),
            now: pair.map(|at| now[at].1.clone()),
        });
    }
    let added = now
        .iter()
        .zip(&is_paired)
        .filter(|(_, is_paired)| !**is_paired);
    changes.extend(added.map(|((name, is), _)| ComparedValue {
        name: name.clone(),
        then: None,
        now: Some(is.clone()),
    }));
    (changes, varying)
}

/// The parts of both sides without those that have an equal key on the other side.
fn unequal(
    then: Vec<EvidencePart>,
    now: Vec<EvidencePart>,
    key: impl Fn(&EvidencePart) -> EvidencePart,
) -> (Vec<EvidencePart>, Vec<EvidencePart>) {
    let mut counts: HashMap<EvidencePart, usize> = HashMap::new();
    for part in &now {
        *counts.entry(key(part)).or_default() += 1;
    }
    let mut matched: HashMap<EvidencePart, usize> = HashMap::new();
    let mut left = Vec::new();
    for part in then {
        let own = key(&part);
        match counts.get_mut(&own).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *matched.entry(own).or_default() += 1;
            }
            None => left.push(part),
        }
    }
    let is_left =
        |part: &EvidencePart| match matched.get_mut(&key(part)).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                false
            }
            None => true,
        };
    let mut right = now;
    right.retain(is_left);
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(then: &Evidence, now: &Evidence) -> (Vec<String>, usize) {
        let (changes, varying) = compare_parts(parts_of(then), parts_of(now));
        let word = |change: &ComparedValue| {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            format!(
                "{}|{}|{}",
                change.name,
                value(&change.then),
                value(&change.now)
            )
        };
        (changes.iter().map(word).collect(), varying)
    }

    fn text(text: &str) -> Evidence {
        Evidence::from_value(&json!(text))
    }

    #[test]
    fn headers_of_a_message_are_compared_by_name() {
        let then = "HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:00 GMT\nServer: nginx\n\nhello";
        let now =
            "HTTP/1.1 200 OK\nDate: Tue, 03 Nov 2026 11:00:00 GMT\nServer: apache\n\nbye\nX: y";
        assert_eq!(
            changes(&text(then), &text(now)),
            (
                vec![
                    "Server|nginx|apache".to_owned(),
                    "|hello|-".to_owned(),
                    "|-|bye".to_owned(),
                    "X|-|y".to_owned(),
                ],
                1
            )
        );
    }

    #[test]
    fn cells_are_compared_by_header_and_first_cell() {
        let table = |rows: &[[&str; 2]]| {
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
                .collect();
            Evidence::table(&["Seen at", "Cookie"], rows)
        };
        let then = table(&[["/a", "sid"], ["/b", "x&amp;y"]]);
        let now = table(&[["/a", "token"], ["/b", "x&amp;y"]]);
        let expected = vec!["Cookie of /a|sid|token".to_owned()];
        assert_eq!(changes(&then, &now), (expected, 0));
        let one = [table(&[["/a", "sid"]]), table(&[["/b", "sid"]])];
        let expected = vec!["Seen at|/a|/b".to_owned()];
        assert_eq!(changes(&one[0], &one[1]), (expected, 0));
    }

    #[test]
    fn leaves_of_json_are_compared_by_path() {
        let tree = |version: &str| Evidence::from_value(&json!({"tls": {"versions": [version]}}));
        assert_eq!(
            changes(&tree("old"), &tree("new")),
            (vec!["tls.versions[0]|old|new".to_owned()], 0)
        );
    }

    #[test]
    fn equal_parts_are_no_change_in_any_order() {
        let (one, other) = (text("a\nb\nb"), text("b\na\nb"));
        assert_eq!(changes(&one, &other), (vec![], 0));
        assert_eq!(changes(&text("a\na"), &text("a")).0, ["|a|-"]);
    }
}
