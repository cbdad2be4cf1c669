//! Evidence for a person, within the limit of a format.

use serde::Serialize;

use scandeck_wire::contract::EvidenceView;
use scandeck_wire::text::{clean_text_for_print, plural};

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
    },
}

/// The part of the evidence of one finding that a format shows.
#[derive(Clone, Copy, Debug)]
pub struct ProofLimit {
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

/// The evidence within the limit, and a sentence about the rest.
pub(super) fn proof(view: EvidenceView, limit: ProofLimit) -> (Proof, String) {
    match view {
        EvidenceView::Nothing => (Proof::Nothing, String::new()),
        EvidenceView::Text(given) => proof_text(&given, limit),
        EvidenceView::Tree(tree) => proof_text(&format!("{tree:#}"), limit),
        EvidenceView::Table { headers, rows } => {
            let mut budget = limit.characters;
            let mut dropped = 0;
            let total = rows.len();
            let mut clean = |cell: &String| {
                let (kept, cut) = within(cell, budget);
                budget -= kept.len().min(budget);
                dropped += cut;
                let mark = if cut > 0 { " […]" } else { "" };
                format!("{}{mark}", clean_text_for_print(kept))
            };
            let headers: Vec<String> = headers.iter().map(&mut clean).collect();
            let rows: Vec<Vec<String>> = rows
                .iter()
                .take(limit.rows)
                .map(|row| row.iter().map(&mut clean).collect())
                .collect();
            let hidden = total - rows.len();
            let parts = [(hidden, "more row"), (dropped, "more character")];
            let parts: Vec<String> = parts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, noun)| plural(*count, noun))
                .collect();
            (Proof::Table { headers, rows }, cut(&parts.join(" and ")))
        }
    }
}

fn proof_text(given: &str, limit: ProofLimit) -> (Proof, String) {
    let (kept, dropped) = within(given, limit.characters);
    let rest = if dropped > 0 {
        plural(dropped, "more character")
    } else {
        String::new()
    };
    (
        Proof::Text(clean_text_for_print(kept).into_owned()),
        cut(&rest),
    )
}

fn cut(rest: &str) -> String {
    if rest.is_empty() {
        String::new()
    } else {
        format!("{rest} in the json, csv and html reports.")
    }
}

/// The first characters, and the number of the others.
fn within(given: &str, characters: usize) -> (&str, usize) {
    match given.char_indices().nth(characters) {
        Some((end, _)) => (&given[..end], given[end..].chars().count()),
        None => (given, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_evidence_is_cut_with_a_mark() {
        let limit = ProofLimit {
            characters: 10,
            rows: 2,
        };
        let table = EvidenceView::Table {
            headers: vec!["Name".into()],
            rows: vec![vec!["123456789".into()], vec!["x".into()], vec!["y".into()]],
        };
        let (proof, cut) = proof(table, limit);
        let rows = vec![vec!["123456 […]".to_owned()], vec![" […]".to_owned()]];
        assert_eq!(
            proof,
            Proof::Table {
                headers: vec!["Name".into()],
                rows
            }
        );
        assert_eq!(
            cut,
            "1 more row and 4 more characters in the json, csv and html reports."
        );
        assert_eq!(
            proof_text("é".repeat(11).as_str(), limit).1,
            "1 more character in the json, csv and html reports."
        );
        assert_eq!(
            proof_text("short", limit),
            (Proof::Text("short".into()), String::new())
        );
    }
}
