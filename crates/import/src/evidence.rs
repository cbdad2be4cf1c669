//! Evidence of a result: requests with their responses, a table, or a text.

use scandeck_wire::contract::Evidence;
use serde_json::json;

const MAX_ROWS: usize = 200;
const MAX_CELL: usize = 16 * 1024;
/// Requests and responses.
const MAX_MESSAGE: usize = 64 * 1024;
/// All texts of one result together.
const MAX_EVIDENCE: usize = 512 * 1024;

/// The columns of [`EvidenceItem`]. The URL comes first: it is the place of a finding, which the
/// triage reads from the first column of addresses.
const COLUMNS: [&str; 8] = [
    "URL",
    "Method",
    "Parameter",
    "Attack",
    "Matched",
    "Details",
    "Request",
    "Response",
];

/// The proof of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EntryEvidence {
    #[default]
    Nothing,
    /// Places of the result with their requests.
    Items(Vec<EvidenceItem>),
    Table {
        headers: Vec<&'static str>,
        rows: Vec<Vec<String>>,
    },
    Text(String),
}

/// One place of a result; every text may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceItem {
    pub url: String,
    pub method: String,
    pub parameter: String,
    /// What the tool sent in the parameter.
    pub attack: String,
    /// The text that proves the result.
    pub matched: String,
    pub details: String,
    pub request: String,
    pub response: String,
}

impl EvidenceItem {
    fn cells(&self) -> [&String; 8] {
        [
            &self.url,
            &self.method,
            &self.parameter,
            &self.attack,
            &self.matched,
            &self.details,
            &self.request,
            &self.response,
        ]
    }
}

impl EntryEvidence {
    /// A table, or nothing without rows.
    pub fn table(headers: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        match rows.is_empty() {
            true => Self::Nothing,
            false => Self::Table {
                headers: headers.to_vec(),
                rows,
            },
        }
    }

    /// One text, or nothing.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        match text.trim().is_empty() {
            true => Self::Nothing,
            false => Self::Text(text),
        }
    }

    pub(crate) fn bound(&mut self) {
        let mut left = MAX_EVIDENCE;
        let mut limit = |text: &mut String, most: usize| {
            shorten(text, most.min(left));
            left -= text.len().min(left);
        };
        match self {
            Self::Nothing => {}
            Self::Text(text) => limit(text, MAX_MESSAGE),
            Self::Items(items) => {
                items.truncate(MAX_ROWS);
                for item in items {
                    let texts = [
                        &mut item.url,
                        &mut item.method,
                        &mut item.parameter,
                        &mut item.attack,
                        &mut item.matched,
                        &mut item.details,
                    ];
                    texts.into_iter().for_each(|text| limit(text, MAX_CELL));
                    limit(&mut item.request, MAX_MESSAGE);
                    limit(&mut item.response, MAX_MESSAGE);
                }
            }
            Self::Table { rows, .. } => {
                rows.truncate(MAX_ROWS);
                rows.iter_mut()
                    .flatten()
                    .for_each(|cell| limit(cell, MAX_CELL));
            }
        }
    }

    /// As the service stores it. Cells of tables contain character references, which readers
    /// decode; columns without any text are left out.
    pub fn into_wire(self) -> Evidence {
        match self {
            Self::Nothing => Evidence::default(),
            Self::Text(text) => Evidence::from_value(&json!({"type": "text", "data": text})),
            Self::Table { headers, rows } => {
                let encoded = |row: Vec<String>| row.iter().map(|cell| encode(cell)).collect();
                Evidence::table(&headers, rows.into_iter().map(encoded))
            }
            Self::Items(items) => {
                let is_used =
                    |column: usize| items.iter().any(|item| !item.cells()[column].is_empty());
                let columns: Vec<usize> = (0..COLUMNS.len()).filter(|at| is_used(*at)).collect();
                let headers: Vec<&str> = columns.iter().map(|column| COLUMNS[*column]).collect();
                let rows = items.iter().map(|item| {
                    let cells = item.cells();
                    columns
                        .iter()
                        .map(|column| encode(cells[*column]))
                        .collect()
                });
                Evidence::table(&headers, rows)
            }
        }
    }
}

fn encode(cell: &str) -> String {
    cell.replace('&', "&amp;")
}

/// Cuts a text at a character; a cut text ends with `…`.
pub fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most.saturating_sub(3)));
        text.push('…');
    }
}
