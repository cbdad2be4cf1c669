//! The HTTP exchange in the evidence of a finding: the last columns of its table.
//!
//! ```text
//!   URL           Header   Value    Request              Response
//!   http://a/     csp      absent   GET / HTTP/1.1 …     HTTP/1.1 200 OK …     the first row has the shared one
//!   http://a/b    csp      absent
//! ```
//!
//! Tables without a column `URL` receive the URL in a column that tables of other tools do not have:
//! a table of another tool that ends in `Request` and `Response` is evidence as a whole, unless a
//! column `URL` names its place.
//!
//! An exchange shows how the scanner saw the finding; the other columns say what it found. So the
//! others alone identify a finding and are compared between two scans: a page that changes is no
//! change of its finding.

use std::borrow::Cow;

use super::{Evidence, EvidenceView};

const URL: &str = "URL";
/// The added column of URLs.
pub const EXCHANGE_URL: &str = "Exchange URL";
const REQUEST: &str = "Request";
const RESPONSE: &str = "Response";
/// In place of a body that belongs to the user of a scan.
pub const BODY_OF_USER: &str = "[body not kept: the request had the credentials of the scan]";
/// In place of a body that may be a secret itself.
pub const BODY_OF_SECRETS: &str = "[body not kept: it may hold secrets]";
const BODY_OF_BYTES: &str = " bytes that are no text]";

/// `[9 bytes that are no text]`, in place of such a body.
pub fn body_of_bytes(count: usize) -> String {
    format!("[{count}{BODY_OF_BYTES}")
}

/// Whether words are in place of a body.
pub fn is_placeholder(body: &str) -> bool {
    body == BODY_OF_USER
        || body == BODY_OF_SECRETS
        || body.starts_with('[') && body.ends_with(BODY_OF_BYTES)
}

/// A request and the answer to it, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceExchange {
    /// The URL of the request.
    pub url: String,
    pub request: String,
    pub response: String,
}

impl EvidenceExchange {
    /// Both messages as one text.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.request.trim_end(), self.response)
    }
}

impl Evidence {
    /// The table with this exchange in its first row, instead of another one. Tables without a
    /// column of URLs receive one. The texts are encoded as the cells of the table are.
    #[must_use]
    pub fn with_exchange(&self, exchange: EvidenceExchange) -> Self {
        let EvidenceView::Table {
            mut headers,
            mut rows,
        } = self.view().without_exchange()
        else {
            return self.clone();
        };
        let Some(first) = rows.first_mut() else {
            return self.clone();
        };
        first.resize(headers.len(), String::new());
        if !headers.iter().any(|header| header == URL) {
            headers.push(EXCHANGE_URL.to_owned());
            first.push(exchange.url);
        }
        headers.extend([REQUEST, RESPONSE].map(str::to_owned));
        first.extend([exchange.request, exchange.response]);
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        Self::table(&headers, rows)
    }

    /// The evidence without its exchange.
    pub fn without_exchange(&self) -> Cow<'_, Self> {
        // Most evidence has none, and is not parsed.
        if !self.as_json().contains("\"Response\"") {
            return Cow::Borrowed(self);
        }
        match self.view() {
            EvidenceView::Table { headers, rows } if own_columns(&headers) < headers.len() => {
                let own = own_columns(&headers);
                let headers: Vec<&str> = headers.iter().take(own).map(String::as_str).collect();
                let rows = rows.into_iter().map(|mut row| {
                    row.truncate(own);
                    row
                });
                Cow::Owned(Self::table(&headers, rows))
            }
            _ => Cow::Borrowed(self),
        }
    }
}

impl EvidenceView {
    /// The evidence without its exchange.
    #[must_use]
    pub fn without_exchange(self) -> Self {
        match self {
            Self::Table {
                mut headers,
                mut rows,
            } => {
                let own = own_columns(&headers);
                if own < headers.len() {
                    headers.truncate(own);
                    rows.iter_mut().for_each(|row| row.truncate(own));
                }
                Self::Table { headers, rows }
            }
            other => other,
        }
    }

    /// The exchange that all rows share: the first one has it, and the others have none.
    pub fn shared_exchange(&self) -> Option<EvidenceExchange> {
        let Self::Table { headers, rows } = self else {
            return None;
        };
        let own = own_columns(headers);
        let (first, others) = rows.split_first()?;
        let mut further = others.iter().flat_map(|row| row.iter().skip(own));
        if own == headers.len() || further.any(|cell| !cell.is_empty()) {
            return None;
        }
        let cell = |at: usize| first.get(at).cloned().unwrap_or_default();
        let of_added = headers.iter().position(|header| header == EXCHANGE_URL);
        let url = of_added.or_else(|| headers.iter().position(|header| header == URL));
        let exchange = EvidenceExchange {
            url: url.map(cell).unwrap_or_default(),
            request: cell(headers.len() - 2),
            response: cell(headers.len() - 1),
        };
        let is_empty = exchange.request.is_empty() && exchange.response.is_empty();
        (!is_empty).then_some(exchange)
    }
}

/// The number of columns before the exchange; all, if there is none.
fn own_columns(headers: &[String]) -> usize {
    match headers {
        [before @ .., url, request, response]
            if url == EXCHANGE_URL && request == REQUEST && response == RESPONSE =>
        {
            before.len()
        }
        [before @ .., request, response]
            if request == REQUEST
                && response == RESPONSE
                && before.iter().any(|one| one == URL) =>
        {
            before.len()
        }
        _ => headers.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange() -> EvidenceExchange {
        EvidenceExchange {
            url: "http://a.test/x".into(),
            request: "GET /x HTTP/1.1\nhost: a.test".into(),
            response: "HTTP/1.1 200 OK\n\nhello".into(),
        }
    }

    fn table(headers: &[&str], rows: &[&[&str]]) -> Evidence {
        let cells = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        Evidence::table(headers, rows.iter().map(cells))
    }

    #[test]
    fn exchange_is_added_to_the_first_row_and_removed_without_a_trace() {
        for before in [
            table(&["URL", "Header"], &[&["/a", "csp"], &["/b", "csp"]]),
            table(&["Host name"], &[&["a.test"], &["and 3 more"]]),
            table(&["Request", "Status"], &[&["GET /.env", "200"]]),
        ] {
            let with = before.with_exchange(exchange());
            assert_ne!(with, before);
            assert_eq!(*with.without_exchange(), before);
            assert_eq!(with.view().without_exchange(), before.view());
            assert_eq!(with.with_exchange(exchange()), with, "replaced");
            let found = with.view().shared_exchange().unwrap();
            assert_eq!(found.text(), exchange().text());
        }
        let cookies = table(&["Cookie"], &[&["sid"]]).with_exchange(exchange());
        assert_eq!(cookies.view().shared_exchange(), Some(exchange()));
    }

    #[test]
    fn words_in_place_of_a_body_are_recognised() {
        for words in [BODY_OF_USER, BODY_OF_SECRETS, &body_of_bytes(9)] {
            assert!(is_placeholder(words), "{words}");
        }
        assert!(!is_placeholder("[1, 2]") && !is_placeholder(""));
    }

    #[test]
    fn evidence_without_a_shared_exchange_is_unchanged() {
        for evidence in [
            Evidence::default(),
            Evidence::from_value(&"\"Response\"".into()),
            table(&["Request", "Response"], &[&["GET /", "HTTP/1.1 200 OK"]]),
            table(
                &["Name", "Request", "Response"],
                &[&["x", "GET /", "HTTP/1.1 200 OK"]],
            ),
            table(&["Address", "Port", "Response"], &[&["10.0.0.1", "80", ""]]),
            table(&["URL"], &[]),
        ] {
            assert_eq!(*evidence.without_exchange(), evidence);
            assert_eq!(evidence.view().shared_exchange(), None);
            assert_eq!(evidence.view().without_exchange(), evidence.view());
        }
        let of_each_row = table(
            &["URL", "Request", "Response"],
            &[&["/a", "GET /a", "x"], &["/b", "GET /b", "y"]],
        );
        assert_eq!(of_each_row.view().shared_exchange(), None);
        let own = table(&["URL"], &[&["/a"], &["/b"]]);
        assert_eq!(*of_each_row.without_exchange(), own);
    }
}
