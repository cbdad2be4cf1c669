//! The HTTP exchange that proves a finding: the request as it was sent, and the beginning of the
//! answer.
//!
//! ```text
//!   SentHead: method, target, headers ─┐
//!   HttpPage: status, headers, body ───┴─► EvidenceExchange ─► last columns of the evidence, first row
//! ```
//!
//! A finding has one exchange, also if its evidence names hundreds of pages: they differ little, and
//! a scan may have thousands of findings. 2 KB hold the heads of nearly all sites. 1 KB of the body
//! shows what kind of page it is, and 1 KB around the matched text proves the finding where the
//! match comes later. So a finding has at most 6 KB, and usually less than 2 KB.
//!
//! Everybody who reads findings reads the exchange. So it has no credentials, no recognised
//! secrets, and no body where the body itself is the secret, or belongs to the user of the scan.

use std::ops::Range;

use reqwest::header::{HOST, HeaderMap, HeaderName, HeaderValue, SET_COOKIE, USER_AGENT};
use reqwest::{Method, StatusCode};
use url::{Position, Url};

use super::http::HttpPage;
use super::website::secrets;
use super::{NewFinding, kinds};
use scandeck_import::{hide_credentials, shorten};
use scandeck_wire::contract::exchange::{BODY_OF_SECRETS, BODY_OF_USER, body_of_bytes};
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::contract::{EvidenceExchange, EvidenceView};
use scandeck_wire::secret_names::{hide_parameters, is_secret_name};

const MAX_REQUEST: usize = 2 * 1024;
/// Status line and headers of the answer.
const MAX_HEAD: usize = 2 * 1024;
/// The beginning of the body.
const MAX_BEGINNING: usize = 1024;
/// The part of the body around a later match.
const MAX_AROUND: usize = 1024;
/// Secrets are searched so far beyond a part of the body: a private key is the longest.
const MARGIN: usize = 10 * 1024;
/// Shorter cells of the evidence occur anywhere in a page.
const SHORTEST_MATCH: usize = 6;

/// Beginnings of the kinds of findings whose body is not kept: a file or an answer that must not be
/// public. The row says what it holds.
const SECRET_BODIES: [&str; 5] = [
    "web.exposed.",
    "web.console.",
    "web.cms.users",
    "web.path",
    "web.secret",
];

/// A request as it was sent, without its credentials.
#[derive(Clone, Debug, Default)]
pub struct SentHead {
    method: Method,
    /// Lines of its headers, as HTTP/1 sends them.
    headers: String,
    /// Whether it had the credentials of the scan.
    is_signed_in: bool,
}

impl SentHead {
    /// `headers` contain the credentials; `product` is sent unless they name another one.
    pub fn new(
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        product: &str,
        credentials: &[(HeaderName, HeaderValue)],
    ) -> Self {
        let mut lines = Vec::new();
        if !headers.contains_key(HOST) {
            let authority = &url[Position::BeforeHost..Position::AfterPort];
            lines.push(format!("host: {authority}"));
        }
        let is_signed_in = !credentials.is_empty();
        let is_credential = |name: &HeaderName| {
            let is_sent = credentials.iter().any(|(one, _)| one == name);
            is_sent || is_signed_in && is_secret_name(name.as_str())
        };
        lines.extend(headers.iter().map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let shown = if is_credential(name) { HIDDEN } else { &*text };
            format!("{name}: {shown}")
        }));
        if !headers.contains_key(USER_AGENT) {
            lines.push(format!("user-agent: {product}"));
        }
        Self {
            method: method.clone(),
            headers: lines.join("\n"),
            is_signed_in,
        }
    }

    fn text(&self, url: &Url) -> String {
        let target = self.shown(&url[Position::BeforePath..Position::AfterQuery]);
        let mut text = format!("{} {target} HTTP/1.1\n{}", self.method, self.headers);
        hide_credentials(&mut text);
        shorten(&mut text, MAX_REQUEST);
        text
    }

    /// A URL, or a part of it. With the credentials of the scan, its parameters may be those of a
    /// session.
    fn shown(&self, url: &str) -> String {
        match self.is_signed_in {
            true => hide_parameters(url),
            false => url.to_owned(),
        }
    }
}

impl NewFinding {
    /// The finding with the exchange of this page, instead of that of another one.
    #[must_use]
    pub fn proven_by(self, page: &HttpPage) -> Self {
        let exchange = EvidenceExchange {
            url: kinds::encoded(page.request.shown(page.url.as_str())),
            request: kinds::encoded(page.request.text(&page.url)),
            response: kinds::encoded(response(page, &self)),
        };
        Self {
            evidence: self.evidence.with_exchange(exchange),
            ..self
        }
    }
}

/// The page whose address is the first one in a row of evidence.
pub fn page_of_row<'p>(
    row: &[String],
    mut pages: impl Iterator<Item = &'p HttpPage>,
) -> Option<&'p HttpPage> {
    let wanted = row.iter().find_map(|cell| address(cell))?;
    pages.find(|page| page.url.as_str() == wanted)
}

/// The web address in a cell: `http://a/`, `GET http://a/`, `nginx (http://a/)`.
fn address(cell: &str) -> Option<&str> {
    let starts = ["http://", "https://"].map(|scheme| cell.find(scheme));
    let at = starts.into_iter().flatten().min()?;
    let word = cell[at..].split_whitespace().next()?;
    Some(match cell[..at].ends_with('(') {
        true => word.trim_end_matches(')'),
        false => word,
    })
}

fn response(page: &HttpPage, finding: &NewFinding) -> String {
    let code = StatusCode::from_u16(page.status).ok();
    let reason = code
        .and_then(|code| code.canonical_reason())
        .unwrap_or_default();
    let status = format!("HTTP/1.1 {} {reason}", page.status);
    let mut lines = vec![status.trim_end().to_owned()];
    lines.extend(page.headers.iter().map(|(name, value)| {
        let text = String::from_utf8_lossy(value.as_bytes());
        let is_hidden = page.request.is_signed_in && is_hidden_header(name);
        let shown = match is_hidden {
            true => HIDDEN.to_owned(),
            false => page.request.shown(&text),
        };
        format!("{name}: {shown}")
    }));
    let mut head = lines.join("\n");
    hide_credentials(&mut head);
    shorten(&mut head, MAX_HEAD);
    match body(page, finding) {
        body if body.is_empty() => head,
        body => format!("{head}\n\n{body}"),
    }
}

/// Of cookies, names and attributes remain.
fn is_hidden_header(name: &HeaderName) -> bool {
    *name != SET_COOKIE && is_secret_name(name.as_str())
}

fn body(page: &HttpPage, finding: &NewFinding) -> String {
    let mut secret = SECRET_BODIES.iter();
    let is_binary = page.body.iter().take(MAX_BEGINNING).any(|byte| *byte == 0);
    match () {
        () if page.body.is_empty() => String::new(),
        () if page.request.is_signed_in => BODY_OF_USER.to_owned(),
        () if secret.any(|start| finding.vuln_id.starts_with(*start)) => BODY_OF_SECRETS.to_owned(),
        () if is_binary => body_of_bytes(page.body.len()),
        () => excerpt(&page.text(), &matches(finding)),
    }
}

/// The cells of the first row that may be text of the page, the longest first.
fn matches(finding: &NewFinding) -> Vec<String> {
    let EvidenceView::Table { rows, .. } = finding.evidence.view().without_exchange().decoded()
    else {
        return Vec::new();
    };
    let mut cells = rows.into_iter().next().unwrap_or_default();
    cells.retain(|cell| cell.len() >= SHORTEST_MATCH && address(cell).is_none());
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.len()));
    cells
}

/// The beginning of a text, and the part around the first of the matches if that comes later.
fn excerpt(text: &str, matches: &[String]) -> String {
    let beginning = part(text, 0..text.floor_char_boundary(MAX_BEGINNING));
    let place = |cell: &String| text.find(cell.as_str()).map(|at| at..at + cell.len());
    let later = matches.iter().find_map(place);
    let Some(found) = later.filter(|found| found.end > MAX_BEGINNING) else {
        return beginning;
    };
    let room = MAX_AROUND.saturating_sub(found.len()) / 2;
    let start = found.start.saturating_sub(room).max(MAX_BEGINNING);
    let end = (found.end + room).min(start + MAX_AROUND).min(text.len());
    let around = text.floor_char_boundary(start)..text.floor_char_boundary(end);
    format!("{beginning}\n{}", part(text, around))
}

/// A part of a text without the secrets in it; a text that goes on ends with `…`.
fn part(text: &str, wanted: Range<usize>) -> String {
    let from = text.floor_char_boundary(wanted.start.saturating_sub(MARGIN));
    let to = text.floor_char_boundary((wanted.end + MARGIN).min(text.len()));
    let (mut shown, mut at) = (String::new(), wanted.start);
    for secret in secrets::places(&text[from..to]) {
        let (start, end) = (secret.start + from, secret.end + from);
        if end <= at || start >= wanted.end {
            continue;
        }
        shown.push_str(text.get(at..start.max(at)).unwrap_or_default());
        shown.push_str(HIDDEN);
        at = end.min(wanted.end);
    }
    shown.push_str(text.get(at..wanted.end).unwrap_or_default());
    if wanted.end < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::kinds::web;

    fn page(request: SentHead, body: &str) -> HttpPage {
        HttpPage {
            url: "http://a.test:8080/x?q=1#top".parse().unwrap(),
            status: 200,
            headers: crate::engine::http::headers([
                ("content-type", "text/html"),
                ("set-cookie", "sid=s3cret; Path=/"),
            ]),
            body: body.into(),
            fault: None,
            request: Arc::new(request),
        }
    }

    fn sent(credentials: &[(HeaderName, HeaderValue)]) -> SentHead {
        let url = "http://a.test:8080/x?q=1#top".parse().unwrap();
        let mut headers = crate::engine::http::headers([("accept", "*/*")]);
        headers.extend(credentials.iter().cloned());
        SentHead::new(&Method::GET, &url, &headers, "scandeck/1", credentials)
    }

    fn signed_in() -> (HeaderName, HeaderValue) {
        (
            HeaderName::from_static("x-team"),
            HeaderValue::from_static("t0ken"),
        )
    }

    fn finding(cells: &[&str]) -> NewFinding {
        let row = cells.iter().map(|cell| (*cell).to_owned()).collect();
        NewFinding {
            evidence: kinds::table(&["URL", "What"], vec![row]),
            ..web::CSP_MISSING.finding()
        }
    }

    fn exchange(finding: NewFinding, page: &HttpPage) -> EvidenceExchange {
        let proven = finding.proven_by(page);
        proven.evidence.view().decoded().shared_exchange().unwrap()
    }

    #[test]
    fn messages_are_those_on_the_wire_without_credentials() {
        let found = exchange(
            finding(&["http://a.test:8080/x?q=1", "absent"]),
            &page(sent(&[signed_in()]), "<p>mine"),
        );
        let request = "GET /x?q=1 HTTP/1.1\nhost: a.test:8080\naccept: */*\nx-team: •••\n\
                       user-agent: scandeck/1";
        assert_eq!(found.request, request);
        let head = "HTTP/1.1 200 OK\ncontent-type: text/html\nset-cookie: sid=•••; Path=/\n\n";
        assert_eq!(
            found.response,
            format!("{head}[body not kept: the request had the credentials of the scan]")
        );
        let mut session = page(sent(&[signed_in()]), "<p>mine");
        session.url = "http://a.test:8080/x?sid=s3cret&q=1".parse().unwrap();
        session.headers = crate::engine::http::headers([
            ("x-csrf-token", "s3cret"),
            ("location", "/y?access_token=s3cret"),
        ]);
        let hidden = exchange(finding(&["http://a.test:8080/x", "absent"]), &session);
        assert!(!format!("{hidden:?}").contains("s3cret"), "{hidden:?}");
        let open = exchange(finding(&["/", "x"]), &page(sent(&[]), "<p>a & b"));
        assert_eq!(open.response, format!("{head}<p>a & b"));
    }

    #[test]
    fn body_is_its_beginning_and_the_part_around_a_later_match() {
        let body = format!(
            "<title>e</title>{}Warning: x on line 3{}",
            "ab ".repeat(5_000),
            "yz ".repeat(5_000)
        );
        let found = exchange(
            finding(&["http://a.test/", "Warning: x on line 3"]),
            &page(sent(&[]), &body),
        );
        let (_, kept) = found.response.split_once("\n\n").unwrap();
        let (beginning, around) = kept.split_once('\n').unwrap();
        assert!(beginning.starts_with("<title>e") && beginning.ends_with('…'));
        assert!(around.contains("ab Warning: x on line 3yz") && around.ends_with('…'));
        assert!(
            kept.len() <= MAX_BEGINNING + MAX_AROUND + 8,
            "{}",
            kept.len()
        );
    }

    #[test]
    fn secrets_in_a_body_are_hidden_and_secret_bodies_are_not_kept() {
        let key = "AKIAQ3EGRMTWZXCVBNM7";
        let long = format!("{}var aws_key = \"{key}\";", " ".repeat(MAX_BEGINNING - 28));
        for body in [format!("var aws_key = \"{key}\";"), long] {
            let found = exchange(finding(&["/", "x"]), &page(sent(&[]), &body));
            assert!(!found.response.contains("AKIA"), "{}", found.response);
            assert!(found.response.contains(HIDDEN));
        }
        let file = NewFinding {
            vuln_id: "web.exposed.env".into(),
            ..finding(&["/.env", "PASSWORD=x"])
        };
        let found = exchange(file, &page(sent(&[]), "PASSWORD=hunter22"));
        assert!(!found.response.contains("hunter22"), "{}", found.response);
    }

    #[test]
    fn address_of_a_row_is_its_first_web_address() {
        for (cell, expected) in [
            ("http://a.test/", Some("http://a.test/")),
            (
                "GET https://a.test/?u=http://b",
                Some("https://a.test/?u=http://b"),
            ),
            ("server: x (http://a.test/)", Some("http://a.test/")),
            ("nginx", None),
        ] {
            assert_eq!(address(cell), expected);
        }
        let page = page(sent(&[]), "");
        let row = ["x".to_owned(), page.url.to_string()];
        assert!(page_of_row(&row, [&page].into_iter()).is_some());
        assert!(page_of_row(&row[..1], [&page].into_iter()).is_none());
    }
}
