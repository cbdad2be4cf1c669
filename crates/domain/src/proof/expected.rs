//! The answer in the evidence of a finding, and the parts of it that prove the finding.

use super::ProofAnswer;
use crate::finding_request::{FirstRow, RequestHeader};
use scandeck_wire::contract::exchange::is_placeholder;
use scandeck_wire::contract::{Evidence, Shared};

/// Columns with the text that proves a finding.
const MATCHED: [&str; 2] = ["Matched", "Text"];
/// Headers without a hyphen that columns are named after.
const SHORT_HEADERS: [&str; 3] = ["Allow", "Server", "Location"];
/// A cell that says that the answer does not have the header.
const ABSENT: &str = "absent";
/// Fewest characters of a text that proves something.
const FEWEST: usize = 4;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedAnswer {
    pub answer: ProofAnswer,
    /// The text that proves the finding; empty if the evidence names none.
    pub matched: String,
    /// Headers of the answer that prove the finding.
    pub headers: Vec<RequestHeader>,
    /// Name of the header whose absence proves the finding.
    pub missing: Option<String>,
    /// The evidence has more rows than the one whose request is sent.
    pub has_other_places: bool,
}

impl ExpectedAnswer {
    /// Reads the first row of the evidence.
    pub fn of(evidence: &Evidence) -> Self {
        let Some(row) = FirstRow::of(evidence) else {
            return Self::default();
        };
        let mut answer = row
            .cell("Response")
            .map(ProofAnswer::parse)
            .unwrap_or_default();
        let status = row.cell("Status").and_then(|cell| cell.parse::<u16>().ok());
        answer.status = answer.status.or(status);
        if is_placeholder(&answer.body) {
            answer.body = Shared::default();
            answer.is_cut = true;
        }
        let matched = MATCHED.iter().find_map(|title| row.cell(title));
        let (missing, named) = match named_header(&row) {
            Some(header) if header.value.eq_ignore_ascii_case(ABSENT) => (Some(header.name), None),
            named => (None, named),
        };
        Self {
            matched: matched.unwrap_or_default().to_owned(),
            headers: named.into_iter().chain(headers(&row)).collect(),
            missing,
            has_other_places: row.has_more,
            answer,
        }
    }

    /// The text that proves the finding. A text that the answer in the evidence does not contain
    /// describes the finding.
    pub fn proof(&self) -> Option<&str> {
        let is_long = self.matched.chars().nth(FEWEST - 1).is_some();
        let is_open = !self.has_message() || self.answer.is_cut;
        let is_proof = is_long && (is_open || self.answer.contains(&self.matched));
        is_proof.then_some(self.matched.as_str())
    }

    /// Whether the evidence has more of the answer than its status.
    pub fn has_message(&self) -> bool {
        !self.answer.headers.is_empty() || !self.answer.body.is_empty()
    }

    pub fn is_comparable(&self) -> bool {
        self.answer.status.is_some()
            || !self.answer.body.is_empty()
            || !self.headers.is_empty()
            || self.missing.is_some()
            || !self.matched.is_empty()
    }
}

/// The header that the columns `Header` and `Value` name. Own checks add the reason to the name:
/// `content-security-policy ('unsafe-inline')`.
fn named_header(row: &FirstRow) -> Option<RequestHeader> {
    let name = row.cell("Header")?.split_whitespace().next()?;
    Some(header(name, row.cell("Value")?))
}

/// The headers that columns are named after.
fn headers(row: &FirstRow) -> Vec<RequestHeader> {
    let of_column = |(title, value): (&str, &str)| {
        let is_header = SHORT_HEADERS.contains(&title) || is_header_name(title);
        let is_named = is_header && !value.is_empty() && !value.eq_ignore_ascii_case(ABSENT);
        is_named.then(|| header(title, value))
    };
    row.cells().filter_map(of_column).collect()
}

fn header(name: &str, value: &str) -> RequestHeader {
    RequestHeader {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// `Access-Control-Allow-Origin`: words with capital letters, joined by hyphens.
fn is_header_name(title: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_uppercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    title.contains('-') && title.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(titles: &[&str], cells: &[&str]) -> ExpectedAnswer {
        let row = cells.iter().map(|cell| (*cell).to_owned()).collect();
        ExpectedAnswer::of(&Evidence::table(titles, [row]))
    }

    #[test]
    fn answer_is_read_from_the_columns_of_evidence() {
        let own = expected(&["Request", "Status"], &["GET http://a.test/", "200"]);
        assert!(own.answer.status == Some(200) && own.is_comparable());
        let cors = expected(
            &[
                "Request",
                "Access-Control-Allow-Origin",
                "Access-Control-Allow-Credentials",
            ],
            &["GET http://a.test/", "https://b.test", "absent"],
        );
        assert_eq!(
            cors.headers,
            [header("Access-Control-Allow-Origin", "https://b.test")]
        );
        let cache = expected(
            &["URL", "Header", "Value"],
            &["http://a.test/", "Cache-Control", "public"],
        );
        assert_eq!(cache.headers, [header("Cache-Control", "public")]);
        let policy = expected(
            &["URL", "Header", "Value"],
            &[
                "http://a.test/",
                "content-security-policy ('unsafe-inline')",
                "script-src 'unsafe-inline'",
            ],
        );
        assert_eq!(
            policy.headers,
            [header(
                "content-security-policy",
                "script-src 'unsafe-inline'"
            )]
        );
        let missing = expected(
            &["URL", "Header", "Value"],
            &["http://a.test/", "content-security-policy", "absent"],
        );
        assert_eq!(missing.missing.as_deref(), Some("content-security-policy"));
        assert!(missing.headers.is_empty() && missing.is_comparable());
        assert!(!expected(&["URL"], &["http://a.test/"]).is_comparable());
        let error = expected(
            &["URL", "Status", "Text"],
            &["http://a.test/x", "404", "at Shop.find(Shop.java:7)"],
        );
        assert_eq!(error.proof(), Some("at Shop.find(Shop.java:7)"));
    }

    #[test]
    fn matched_text_counts_if_the_answer_of_the_evidence_has_it() {
        let of = |matched: &str, response: &str| {
            let found = expected(
                &["URL", "Matched", "Response"],
                &["http://a.test/", matched, response],
            );
            found.proof().map(str::to_owned)
        };
        let response = "HTTP/1.1 200 OK\nServer: a\n\nroot:x:0:0";
        assert_eq!(of("root:x:0", response).as_deref(), Some("root:x:0"));
        assert_eq!(of("passwd file", response), None);
        assert_eq!(of("0:0", response), None, "too short");
        assert_eq!(
            of("passwd file", "HTTP/1.1 200 OK\n\nroo…").as_deref(),
            Some("passwd file")
        );
    }
}
