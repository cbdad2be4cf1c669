//! Evidence of a result: requests with their responses, a table, or a text.

use scandeck_wire::contract::Evidence;
use serde_json::json;

const MAX_ROWS: usize = 200;
const MAX_CELL: usize = 16 * 1024;
/// Requests and responses.
const MAX_MESSAGE: usize = 64 * 1024;
/// All texts of one result together.
const MAX_EVIDENCE: usize = 512 * 1024;

/// Headers whose values are not kept: a finding is read, exported and reported by many.
const CREDENTIALS: [&str; 6] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
];
/// Stands for a value that is not kept.
const HIDDEN: &str = "•••";

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
                    for message in [&mut item.request, &mut item.response] {
                        hide_credentials(message);
                        limit(message, MAX_MESSAGE);
                    }
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

/// Replaces the values of credentials in the headers of a message. Names and attributes of cookies
/// remain, because findings are about them.
pub fn hide_credentials(message: &mut String) {
    let is_credential = |line: &str| {
        let name = line.split_once(':').map(|(name, _)| name.trim());
        name.is_some_and(|name| CREDENTIALS.iter().any(|one| one.eq_ignore_ascii_case(name)))
    };
    if !message.lines().any(is_credential) {
        return;
    }
    let mut is_head = true;
    let lines = message.split_inclusive('\n').map(|line| {
        is_head &= !line.trim().is_empty();
        match is_head && is_credential(line) {
            true => hidden_header(line),
            false => line.to_owned(),
        }
    });
    *message = lines.collect();
}

fn hidden_header(line: &str) -> String {
    let Some((name, value)) = line.split_once(':') else {
        return line.to_owned();
    };
    let end = &line[line.trim_end().len()..];
    let shown = match name.trim().eq_ignore_ascii_case("set-cookie") {
        true => {
            let (cookie, attributes) = match value.trim().split_once(';') {
                Some((cookie, attributes)) => (cookie, format!(";{attributes}")),
                None => (value.trim(), String::new()),
            };
            let cookie = cookie.split('=').next().unwrap_or_default();
            format!("{cookie}={HIDDEN}{attributes}")
        }
        false => HIDDEN.to_owned(),
    };
    format!("{name}: {shown}{end}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_headers_are_hidden_and_the_rest_remains() {
        let shown = |message: &str| {
            let mut message = message.to_owned();
            hide_credentials(&mut message);
            message
        };
        let request = "GET / HTTP/1.1\r\nHost: a.test\r\nCookie: a=1; b=2\r\nauthorization: Basic eDp5\r\n\r\nCookie: body\r\n";
        let expected = "GET / HTTP/1.1\r\nHost: a.test\r\nCookie: •••\r\nauthorization: •••\r\n\r\nCookie: body\r\n";
        assert_eq!(shown(request), expected);
        let response = "HTTP/1.1 200 OK\nSet-Cookie: sid=abc==; Path=/; Secure\nServer: x\n\nbody";
        let expected = "HTTP/1.1 200 OK\nSet-Cookie: sid=•••; Path=/; Secure\nServer: x\n\nbody";
        assert_eq!(shown(response), expected);
        let plain = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
        assert_eq!(shown(plain), plain);
    }
}
