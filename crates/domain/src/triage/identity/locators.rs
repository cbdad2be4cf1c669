//! Locators distinguish a finding from its siblings: names of cookies, headers, parameters and
//! software, or method and route, read from the evidence.
//!
//! A table is read by the headers of its columns, a text by the first HTTP request in it. Names
//! come before places: a cookie is the same cookie on every page. Places count only where all rows
//! name one, because the pages that a crawler happens to meet are not what the finding is about.
//! The HTTP exchange of a table shows how it was found, and does not count.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use url::Url;

use super::class;
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::contract::{Evidence, EvidenceView};

/// Characters of one name that count.
const MAX_NAME: usize = 200;

static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bhttps?://[^\s"'<>]+"#).ok());

/// Meaning of a column by its header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EvidenceColumn {
    Cookie,
    Header,
    Parameter,
    Software,
    Method,
    Route,
    Other,
}

#[derive(Default)]
struct Found {
    /// `cookie:sid`, `header:server`, `software:apache`.
    names: BTreeSet<String>,
    parameters: BTreeSet<String>,
    methods: BTreeSet<String>,
    routes: BTreeSet<String>,
    /// Parameters that are part of a route.
    of_routes: BTreeSet<String>,
}

/// The sorted locators; empty if the evidence has none.
pub fn locators(evidence: &Evidence) -> Vec<String> {
    let mut found = Found::default();
    match evidence.view().without_exchange() {
        EvidenceView::Nothing => {}
        EvidenceView::Text(text) => found.read_text(&text),
        EvidenceView::Table { headers, rows } => found.read_table(&headers, &rows),
        EvidenceView::Tree(Value::Array(all)) => all.iter().for_each(|one| found.read_fields(one)),
        EvidenceView::Tree(one) => found.read_fields(&one),
    }
    found.finish()
}

/// True if two places name different cookies, headers, parameters or software, and so are different
/// findings.
pub fn differ(a: &str, b: &str) -> bool {
    fn names(place: &str) -> BTreeSet<&str> {
        let named = ["cookie:", "header:", "parameter:", "software:"];
        place
            .split(' ')
            .filter(|word| named.iter().any(|kind| word.starts_with(kind)))
            .collect()
    }
    let (a, b) = (names(a), names(b));
    !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
}

impl Found {
    fn finish(self) -> Vec<String> {
        let parameters = self.parameters.into_iter();
        let mut all: BTreeSet<String> =
            parameters.map(|name| format!("parameter:{name}")).collect();
        if !self.names.is_empty() {
            all.extend(self.names);
        } else if self.routes.len() <= 1 {
            all.extend(
                self.methods
                    .into_iter()
                    .map(|method| format!("method:{method}")),
            );
            all.extend(
                self.routes
                    .into_iter()
                    .map(|route| format!("route:{route}")),
            );
            all.extend(
                self.of_routes
                    .into_iter()
                    .map(|name| format!("parameter:{name}")),
            );
        }
        all.into_iter().collect()
    }

    fn read_table(&mut self, headers: &[String], rows: &[Vec<String>]) {
        let columns: Vec<EvidenceColumn> = headers.iter().map(|head| column(head)).collect();
        let route = columns
            .iter()
            .position(|&column| column == EvidenceColumn::Route);
        for row in rows {
            for (at, (cell, &column)) in row.iter().zip(&columns).enumerate() {
                if column != EvidenceColumn::Route || route == Some(at) {
                    self.read_cell(column, &decode_entities(cell));
                }
            }
        }
    }

    fn read_fields(&mut self, value: &Value) {
        for (key, value) in value.as_object().into_iter().flatten() {
            match value {
                Value::String(text) if request(text).is_some() => self.read_text(text),
                Value::String(text) => self.read_cell(column(key), text),
                _ => {}
            }
        }
    }

    fn read_cell(&mut self, column: EvidenceColumn, cell: &str) {
        match column {
            EvidenceColumn::Cookie => {
                self.name("cookie", cell.split('=').next().unwrap_or_default())
            }
            EvidenceColumn::Header => self.name(
                "header",
                &cell
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase(),
            ),
            EvidenceColumn::Software => self.name("software", &software(cell)),
            EvidenceColumn::Method => {
                _ = self
                    .methods
                    .insert(normalized(&cell.trim().to_ascii_uppercase()))
            }
            EvidenceColumn::Route => self.read_route(cell),
            EvidenceColumn::Parameter => {
                let names = cell
                    .split([',', ';', '&', ' ', '\n'])
                    .filter_map(|name| name.split('=').next());
                self.parameters.extend(
                    names
                        .map(str::trim)
                        .filter(|name| !name.is_empty())
                        .map(normalized),
                );
            }
            EvidenceColumn::Other => {}
        }
    }

    /// `GET https://…`, `https://…` or `/path`.
    fn read_route(&mut self, cell: &str) {
        let cell = cell.trim();
        let (method, place) = match cell.split_once(' ') {
            Some((method, rest)) if method.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                (method, rest.trim())
            }
            _ => ("", cell),
        };
        if !place.contains('/') {
            return;
        }
        if !method.is_empty() {
            self.methods.insert(method.to_owned());
        }
        let place = place.split_whitespace().next().unwrap_or_default();
        let (path, query) = place.split_once('?').unwrap_or((place, ""));
        let path = path.split('#').next().unwrap_or_default();
        self.routes.insert(template(path));
        self.of_routes.extend(query_names(query));
    }

    fn read_text(&mut self, text: &str) {
        if let Some(request) = request(text) {
            self.methods.insert(request.method.to_owned());
            let slash = if request.place.contains('/') { "" } else { "/" };
            self.read_route(&format!("{slash}{}", request.place));
            self.of_routes.extend(body_names(request.rest));
        } else if text.contains("://") {
            ADDRESS
                .iter()
                .flat_map(|address| address.find_iter(text))
                .for_each(|url| self.read_route(url.as_str()));
        }
        for cookie in text.lines().filter_map(set_cookie) {
            self.name("cookie", cookie);
        }
    }

    fn name(&mut self, kind: &str, name: &str) {
        let name = normalized(name.trim());
        if !name.is_empty() {
            self.names.insert(format!("{kind}:{name}"));
        }
    }
}

/// The first request in a text.
struct EvidenceRequest<'a> {
    method: &'a str,
    place: &'a str,
    rest: &'a str,
}

fn request(text: &str) -> Option<EvidenceRequest<'_>> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (method, place, version) = (words.next()?, words.next()?, words.next()?);
        let is_request = version.starts_with("HTTP/")
            && words.next().is_none()
            && (3..=10).contains(&method.len())
            && method.bytes().all(|byte| byte.is_ascii_uppercase());
        let after = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
        is_request.then(|| EvidenceRequest {
            method,
            place,
            rest: &text[after..],
        })
    })
}

/// The name in a line that sets a cookie.
fn set_cookie(line: &str) -> Option<&str> {
    let (name, value) = line.split_at_checked("set-cookie:".len())?;
    let cookie = value.trim_start().split([';', ' ']).next()?;
    name.eq_ignore_ascii_case("set-cookie:")
        .then(|| cookie.split_once('=').map(|(name, _)| name))?
}

fn column(head: &str) -> EvidenceColumn {
    let head = head.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| head.contains(word));
    let is = |words: &[&str]| {
        head.split(|c: char| !c.is_alphanumeric())
            .any(|word| words.contains(&word))
    };
    match () {
        () if has(&["cookie"]) => EvidenceColumn::Cookie,
        () if has(&["param", "argument"]) || is(&["field", "input"]) => EvidenceColumn::Parameter,
        () if has(&["header"]) => EvidenceColumn::Header,
        () if has(&["software", "component", "library", "technolog", "plugin"])
            || is(&["product", "package"]) =>
        {
            EvidenceColumn::Software
        }
        () if is(&["method", "verb"]) => EvidenceColumn::Method,
        () if has(&["url", "uri"])
            || is(&[
                "page", "request", "path", "folder", "endpoint", "route", "link",
            ]) =>
        {
            EvidenceColumn::Route
        }
        () => EvidenceColumn::Other,
    }
}

/// Host and path with segments replaced that are numbers, hex or other tokens.
fn template(place: &str) -> String {
    let (host, path) = match Url::parse(place) {
        Ok(url) => (
            url.host_str().unwrap_or_default().to_owned(),
            url.path().to_owned(),
        ),
        Err(_) => (String::new(), place.to_owned()),
    };
    let segments: Vec<String> = path.split('/').map(segment).collect();
    format!("{host}{}", segments.join("/"))
        .chars()
        .take(MAX_NAME)
        .collect()
}

fn segment(segment: &str) -> String {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let token = segment.len() >= 16 && digits >= 2 && !segment.contains('.');
    if token {
        "<n>".to_owned()
    } else {
        normalized(segment)
    }
}

/// A name in which numbers and hex are replaced; no blanks, so that places can be joined by them.
fn normalized(name: &str) -> String {
    class::of_name(name)
        .replace(' ', "_")
        .chars()
        .take(MAX_NAME)
        .collect()
}

/// The name without its version.
fn software(cell: &str) -> String {
    let words = cell
        .split([' ', '/'])
        .take_while(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

fn query_names(query: &str) -> impl Iterator<Item = String> {
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    names.filter(|name| !name.is_empty()).map(normalized)
}

/// Parameters of a form that a request carries.
fn body_names(rest: &str) -> Vec<String> {
    let rest = rest.replace("\r\n", "\n");
    let Some((head, body)) = rest.split_once("\n\n") else {
        return Vec::new();
    };
    if !head
        .to_ascii_lowercase()
        .contains("application/x-www-form-urlencoded")
    {
        return Vec::new();
    }
    query_names(body.lines().next().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(evidence: Value) -> String {
        locators(&Evidence::from_value(&evidence)).join(" ")
    }

    fn table(headers: &[&str], rows: &[&[&str]]) -> String {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
            .collect();
        locators(&Evidence::table(headers, rows)).join(" ")
    }

    #[test]
    fn cookie_locator_ignores_page() {
        let headers = ["URL", "Cookie", "Missing", "Attributes"];
        let one = table(
            &headers,
            &[&["https://a.test/", "sid", "no Secure", "none"]],
        );
        let two = table(
            &headers,
            &[
                &["https://a.test/b", "sid", "no Secure", "x"],
                &["https://a.test/c", "sid", "", ""],
            ],
        );
        assert_eq!((one.as_str(), two.as_str()), ("cookie:sid", "cookie:sid"));
        assert_eq!(
            table(&headers, &[&["https://a.test/", "lang", "", ""]]),
            "cookie:lang"
        );
    }

    #[test]
    fn software_locator_ignores_version() {
        let headers = ["Header", "Software", "CVE", "What"];
        assert_eq!(
            table(
                &headers,
                &[&["Server", "apache 2.4.49", "CVE-2021-41773", ""]]
            ),
            "header:server software:apache"
        );
    }

    #[test]
    fn route_is_locator_only_when_single() {
        let headers = ["URL", "Method", "Parameters", "Evidence"];
        assert_eq!(
            table(
                &headers,
                &[&["https://a.test/item/77?id=5&amp;q=x", "GET", "", "<html>"]]
            ),
            "method:GET parameter:id parameter:q route:a.test/item/<n>"
        );
        assert_eq!(
            table(
                &headers,
                &[
                    &["https://a.test/x", "GET", "", ""],
                    &["https://a.test/y", "GET", "", ""]
                ]
            ),
            ""
        );
        assert_eq!(
            table(
                &["Request", "Status"],
                &[&["GET https://a.test/.env", "200"]]
            ),
            "method:GET route:a.test/.env"
        );
    }

    #[test]
    fn tables_of_other_tools_keep_the_place_of_their_request() {
        let request = "GET https://a.test/x?q=1 HTTP/1.1\nHost: a.test";
        let response = "HTTP/1.1 200 OK";
        for (headers, cells, expected) in [
            (
                vec!["Name", "Request", "Response"],
                vec!["sqli", request, response],
                "method:GET parameter:q route:a.test/x",
            ),
            (
                vec!["Page", "Request", "Response"],
                vec!["https://a.test/y", request, response],
                "route:a.test/y",
            ),
            (
                vec!["Method", "URL", "Request", "Response"],
                vec!["GET", "https://a.test/z", request, response],
                "method:GET route:a.test/z",
            ),
            (
                vec!["Request", "Response"],
                vec![request, response],
                "method:GET parameter:q route:a.test/x",
            ),
        ] {
            assert_eq!(
                table(&headers, &[cells.as_slice()]),
                expected,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn locators_ignore_values() {
        let message = |id: &str, date: &str, sid: &str| {
            format!(
                "POST /order/{id}?ref={id} HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                 X-Request-Id: {id}\r\n\r\nname={sid}&csrf={id}\r\n\r\nHTTP/1.1 200 OK\r\nDate: {date}\r\n"
            )
        };
        let one = of(json!({"type": "text", "data": message("17", "Mon, 02 Nov 2026", "a")}));
        let two = of(json!({"type": "text", "data": message("4242", "Tue, 03 Nov 2026", "b")}));
        assert_eq!(one, two);
        assert_eq!(
            one,
            "method:POST parameter:csrf parameter:name parameter:ref route:/order/<n>"
        );
    }

    #[test]
    fn locators_read_set_cookie_and_urls_in_text() {
        assert_eq!(
            of(json!(
                "GET / HTTP/1.1\n\nHTTP/1.1 200 OK\nSet-Cookie: TS01a2b3c4=77; Path=/\n"
            )),
            "cookie:TS01a2b3c4"
        );
        assert_eq!(
            of(json!("Seen at https://a.test/login?next=/x.")),
            "parameter:next route:a.test/login"
        );
        assert_eq!(
            of(json!({"type": "x", "data": {"url": "/a", "parameter": "q", "n": 1}})),
            "parameter:q route:/a"
        );
        assert_eq!(of(json!(null)), "");
    }

    #[test]
    fn disjoint_locator_names_differ() {
        assert!(differ("cookie:sid", "cookie:lang"));
        assert!(!differ("cookie:sid", "cookie:lang cookie:sid"));
        assert!(!differ("cookie:sid", "route:/a"));
        assert!(!differ("route:/a", "route:/b"));
    }
}
