//! Evidence for a person, within the limit of a format.

use serde::Serialize;

use super::line;
use crate::words::Words;
use scandeck_wire::contract::{EvidenceView, Finding};
use scandeck_wire::text::clean_text_for_print;

/// Beginning of the classes of findings about the scan itself. The rows of their evidence are cause,
/// requests and the ids of the incomplete tests.
const ABOUT_SCAN: &str = "coverage.";
/// Room of a line on a page, in characters: evidence of many short lines fills pages too.
const LINE: usize = 40;
/// The column of the ids.
const TEST_IDS: usize = 2;

/// Evidence for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    #[default]
    Nothing,
    Text(String),
    Table {
        headers: Vec<String>,
        rows: Vec<Vec<String>>,
        /// The HTTP exchange that all rows share; may be empty.
        exchange: String,
    },
}

/// The part of the evidence of one finding that a format shows.
#[derive(Clone, Copy, Debug)]
pub struct ProofLimit {
    /// A line that ends counts as at least 40.
    pub characters: usize,
    pub rows: usize,
}

impl ProofLimit {
    /// No limit.
    pub const ALL: Self = Self {
        characters: usize::MAX,
        rows: usize::MAX,
    };
    pub const NOTHING: Self = Self {
        characters: 0,
        rows: 0,
    };
    /// For paged formats: about eight pages.
    pub const PAGES: Self = Self {
        characters: 20_000,
        rows: 100,
    };
}

/// The evidence of a finding without the ids of tests, which are in the appendix only.
pub(super) fn evidence(finding: &Finding) -> EvidenceView {
    match finding.vuln_evidence.view().decoded() {
        EvidenceView::Table {
            mut headers,
            mut rows,
        } if finding.vuln_id.starts_with(ABOUT_SCAN) => {
            headers.truncate(TEST_IDS);
            rows.iter_mut().for_each(|row| row.truncate(TEST_IDS));
            EvidenceView::Table { headers, rows }
        }
        view => view,
    }
}

/// The causes with the ids of their incomplete tests, of a finding about the scan.
pub fn incomplete_tests(finding: &Finding) -> Vec<[String; 2]> {
    if !finding.vuln_id.starts_with(ABOUT_SCAN) {
        return Vec::new();
    }
    let EvidenceView::Table { rows, .. } = finding.vuln_evidence.view().decoded() else {
        return Vec::new();
    };
    let listed = |row: &Vec<String>| {
        let ids = row.get(TEST_IDS).filter(|ids| !ids.is_empty())?;
        Some([line(row.first()?), line(ids)])
    };
    rows.iter().filter_map(listed).collect()
}

/// The evidence within the limit, and a sentence about the rest.
pub(super) fn proof(view: EvidenceView, limit: ProofLimit, words: &Words) -> (Proof, String) {
    let exchange = view.shared_exchange();
    let found = match exchange {
        Some(_) => view.without_exchange(),
        None => view,
    };
    match found {
        EvidenceView::Nothing => (Proof::Nothing, String::new()),
        EvidenceView::Text(given) => proof_text(&given, limit, words),
        EvidenceView::Tree(tree) => proof_text(&format!("{tree:#}"), limit, words),
        EvidenceView::Table { headers, rows } => {
            let mut budget = limit.characters;
            let mut dropped = 0;
            let total = rows.len();
            let mut clean = |cell: &String| {
                let kept = within(cell, budget);
                budget = kept.room;
                dropped += kept.dropped;
                let mark = if kept.dropped > 0 { " […]" } else { "" };
                format!("{}{mark}", clean_text_for_print(kept.text))
            };
            let headers: Vec<String> = headers.iter().map(&mut clean).collect();
            let rows: Vec<Vec<String>> = rows
                .iter()
                .take(limit.rows)
                .map(|row| row.iter().map(&mut clean).collect())
                .collect();
            let exchange = exchange.map(|exchange| clean(&exchange.text()));
            let hidden = total - rows.len();
            let rest = [(hidden, "noun.more_row"), (dropped, "noun.more_character")];
            let rest = rest.into_iter().filter(|(count, _)| *count > 0);
            let rest: Vec<String> = rest.map(|(count, noun)| words.count(count, noun)).collect();
            let rest = rest.join(words.get("text.and"));
            let table = Proof::Table {
                headers,
                rows,
                exchange: exchange.unwrap_or_default(),
            };
            (table, cut(&rest, words))
        }
    }
}

fn proof_text(given: &str, limit: ProofLimit, words: &Words) -> (Proof, String) {
    // Outputs of tools often have empty lines at both ends.
    let text = given.trim_end().trim_start_matches(['\r', '\n']);
    if text.is_empty() {
        return (Proof::Nothing, String::new());
    }
    let kept = within(text, limit.characters);
    let rest = if kept.dropped > 0 {
        words.count(kept.dropped, "noun.more_character")
    } else {
        String::new()
    };
    (
        Proof::Text(clean_text_for_print(kept.text).into_owned()),
        cut(&rest, words),
    )
}

fn cut(rest: &str, words: &Words) -> String {
    match rest.is_empty() {
        true => String::new(),
        false => words.filled("text.cut", &[rest]),
    }
}

/// The beginning of a text that has room.
struct KeptText<'a> {
    text: &'a str,
    /// The number of the other characters.
    dropped: usize,
    /// The room that remains.
    room: usize,
}

fn within(given: &str, characters: usize) -> KeptText<'_> {
    let mut room = characters;
    let mut column = 0;
    for (at, c) in given.char_indices() {
        if room == 0 {
            return KeptText {
                text: &given[..at],
                dropped: given[at..].chars().count(),
                room,
            };
        }
        // The rest of a short line is empty.
        let (taken, next) = match c {
            '\n' => (LINE.saturating_sub(column).max(1), 0),
            _ => (1, column + 1),
        };
        room = room.saturating_sub(taken);
        column = next;
    }
    KeptText {
        text: given,
        dropped: 0,
        room,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchange_follows_its_table() {
        let words = &Words::of("en").unwrap();
        let row = |cells: &[&str]| -> Vec<String> {
            cells.iter().map(|cell| (*cell).to_owned()).collect()
        };
        let table = EvidenceView::Table {
            headers: row(&["URL", "Request", "Response"]),
            rows: vec![
                row(&["/a", "GET /a HTTP/1.1", "HTTP/1.1 200 OK"]),
                row(&["/b"]),
            ],
        };
        let expected = Proof::Table {
            headers: row(&["URL"]),
            rows: vec![row(&["/a"]), row(&["/b"])],
            exchange: "GET /a HTTP/1.1\n\nHTTP/1.1 200 OK".into(),
        };
        let found = proof(table.clone(), ProofLimit::ALL, words);
        assert_eq!(found, (expected, String::new()));
        let cell = "URL: /a\nURL: /b\n\nGET /a HTTP/1.1\n\nHTTP/1.1 200 OK";
        assert_eq!(crate::csv::evidence(&table), cell);
    }

    #[test]
    fn evidence_of_many_short_lines_is_cut() {
        let lines = "a\n".repeat(10_000);
        let kept = within(&lines, ProofLimit::PAGES.characters);
        assert_eq!(kept.text.lines().count(), 20_000 / LINE);
        assert_eq!(kept.text.len() + kept.dropped, lines.len());
        let long = "a".repeat(20_000);
        assert_eq!(within(&long, ProofLimit::PAGES.characters).dropped, 0);
        assert_eq!(within(&lines, ProofLimit::ALL.characters).dropped, 0);
    }

    #[test]
    fn long_evidence_is_cut_with_a_mark() {
        let words = &Words::of("en").unwrap();
        let limit = ProofLimit {
            characters: 10,
            rows: 2,
        };
        let table = EvidenceView::Table {
            headers: vec!["Name".into()],
            rows: vec![vec!["123456789".into()], vec!["x".into()], vec!["y".into()]],
        };
        let (proof, cut) = proof(table, limit, words);
        let rows = vec![vec!["123456 […]".to_owned()], vec![" […]".to_owned()]];
        assert_eq!(
            proof,
            Proof::Table {
                headers: vec!["Name".into()],
                rows,
                exchange: String::new(),
            }
        );
        assert_eq!(
            cut,
            "1 more row and 4 more characters in the JSON, CSV and HTML reports."
        );
        assert_eq!(
            proof_text("é".repeat(11).as_str(), limit, words).1,
            "1 more character in the JSON, CSV and HTML reports."
        );
        assert_eq!(
            proof_text("short", limit, words),
            (Proof::Text("short".into()), String::new())
        );
        assert_eq!(
            proof_text("\n\n  short\n \n", limit, words).0,
            Proof::Text("  short".into())
        );
        assert_eq!(proof_text(" \n", limit, words).0, Proof::Nothing);
    }
}
