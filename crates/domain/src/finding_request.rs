//! The HTTP request in the evidence of a finding, and the curl command that sends it again.
//!
//! ```text
//!   | URL | Method | Request |   first row ─┬─► FindingRequest ─► curl command for a POSIX shell
//!   GET https://… in a text ───────────────┘
//! ```
//!
//! Own checks add the request to the first row. Evidence of earlier versions has the URL alone, or
//! the first line of the request: these checks only read, so the method is GET unless the line has
//! another one.
//! Credentials never become part of a command: each is a shell variable, such as `$COOKIE`.

use std::fmt::Write;

use scandeck_wire::contract::exchange::EXCHANGE_URL;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::contract::{Evidence, EvidenceView};
use scandeck_wire::text::quoted;

/// Headers that curl writes itself, in addition to `Host`.
const OF_CURL: [&str; 5] = [
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "proxy-connection",
];
/// Headers whose value is a credential.
const CREDENTIALS: [&str; 5] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "x-auth-token",
];
/// Largest body in a command, in bytes. Linux limits one argument to 128 KiB.
const LARGEST_BODY: usize = 64 * 1024;
/// The end of a text that was cut when it was stored.
const CUT: char = '…';

/// The first row of a table of evidence, with its cells decoded, or a text as such a row.
#[derive(Debug)]
pub(crate) struct FirstRow {
    titles: Vec<String>,
    cells: Vec<String>,
    /// The table has further rows.
    pub(crate) has_more: bool,
}

impl FirstRow {
    pub(crate) fn of(evidence: &Evidence) -> Option<Self> {
        match evidence.view().decoded() {
            EvidenceView::Table { headers, rows } => Some(Self {
                titles: headers,
                has_more: rows.len() > 1,
                cells: rows.into_iter().next()?,
            }),
            EvidenceView::Text(text) => Self::of_text(&text),
            EvidenceView::Nothing | EvidenceView::Tree(_) => None,
        }
    }

    /// A text that begins with a request to a whole address, and may go on with the response.
    fn of_text(text: &str) -> Option<Self> {
        address(text).filter(|url| is_web_address(url))?;
        let text = text.replace("\r\n", "\n");
        let end = text.find("\nHTTP/").unwrap_or(text.len());
        let (request, response) = text.split_at(end);
        Some(Self {
            titles: ["Request", "Response"].map(str::to_owned).into(),
            cells: [request, response].map(str::to_owned).into(),
            has_more: false,
        })
    }

    /// The cell of a column; none if it is empty. A column before the exchange may have the same
    /// title.
    pub(crate) fn cell(&self, title: &str) -> Option<&str> {
        self.cells()
            .rfind(|(name, _)| name.eq_ignore_ascii_case(title))
            .map(|(_, cell)| cell)
            .filter(|cell| !cell.is_empty())
    }

    /// The cells with their titles.
    pub(crate) fn cells(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        let titles = self.titles.iter().map(String::as_str);
        titles.zip(self.cells.iter().map(|cell| cell.trim()))
    }
}

/// A request that a scanner sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<RequestHeader>,
    /// May be empty.
    pub body: String,
    /// The evidence has only the beginning of the request.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeader {
    pub name: String,
    pub value: String,
}

impl FindingRequest {
    /// The request of the first row; none without a web address.
    pub fn of(evidence: &Evidence) -> Option<Self> {
        Self::of_row(&FirstRow::of(evidence)?)
    }

    pub(crate) fn of_row(row: &FirstRow) -> Option<Self> {
        let message = row.cell("Request");
        let url = row.cell(EXCHANGE_URL).or_else(|| row.cell("URL"));
        let url = url.or_else(|| message.and_then(address));
        let mut request = Self {
            method: row
                .cell("Method")
                .map_or_else(|| "GET".to_owned(), str::to_uppercase),
            url: url.filter(|url| is_web_address(url))?.to_owned(),
            ..Self::default()
        };
        if let Some(message) = message {
            request.read(message);
        }
        request.method.retain(|letter| letter.is_ascii_alphabetic());
        if request.method.is_empty() {
            request.method = "GET".to_owned();
        }
        let mut names = request.headers.iter().map(|header| &header.name);
        let has_origin = names.any(|name| name.eq_ignore_ascii_case("origin"));
        if let Some(origin) = row.cell("Origin sent").filter(|_| !has_origin) {
            request.headers.push(RequestHeader {
                name: "Origin".to_owned(),
                value: origin.to_owned(),
            });
        }
        Some(request)
    }

    /// Reads the request as it was sent: request line, headers, body.
    fn read(&mut self, message: &str) {
        let message = message.replace("\r\n", "\n");
        let (head, body) = message.split_once("\n\n").unwrap_or((&message, ""));
        let mut lines = head.lines();
        let Some((method, rest)) = lines.next().and_then(|line| line.split_once(' ')) else {
            return;
        };
        let target = rest
            .rsplit_once(" HTTP/")
            .map_or(rest, |(target, _)| target);
        if target.starts_with('/') {
            self.url = format!("{}{target}", origin(&self.url));
        } else if is_web_address(target) {
            self.url = target.to_owned();
        }
        self.method = method.to_uppercase();
        let of_url = host(&self.url).to_owned();
        let headers = lines.filter_map(RequestHeader::read);
        self.headers = headers
            .filter(|header| !header.is_of_curl(&of_url))
            .collect();
        self.is_cut = message.ends_with(CUT) || body.len() > LARGEST_BODY;
        self.body = match self.is_cut {
            true => String::new(),
            false => body.to_owned(),
        };
    }

    /// A command that sends the request to the target. It does not normalize the path, and shows
    /// the headers of the response.
    pub fn curl(&self) -> String {
        let mut command = String::new();
        if self.is_cut {
            command += ": 'the evidence has only the beginning of the request';\n";
        }
        command += "curl --include --globoff --path-as-is";
        match self.method.as_str() {
            "GET" if self.body.is_empty() => {}
            "HEAD" if self.body.is_empty() => command += " --head",
            method => write_word(&mut command, "-X", &quoted(method)),
        }
        for header in &self.headers {
            write_word(&mut command, "-H", &header.word());
        }
        if !self.body.is_empty() {
            write_word(&mut command, "--data-raw", &quoted(&self.body));
        }
        write_word(&mut command, "--url", &quoted(&self.url));
        command
    }
}

impl RequestHeader {
    fn read(line: &str) -> Option<Self> {
        let (name, value) = line.split_once(':')?;
        let name = name.trim();
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            value: value.trim().to_owned(),
        })
    }

    /// Whether it names a virtual host; that of the URL is left out.
    pub(crate) fn is_host(&self) -> bool {
        self.name.eq_ignore_ascii_case("host")
    }

    /// Whether curl writes it itself. The name of a virtual host is not the host of the URL.
    fn is_of_curl(&self, of_url: &str) -> bool {
        match self.is_host() {
            true => without_port(&self.value).eq_ignore_ascii_case(of_url),
            false => OF_CURL
                .iter()
                .any(|one| one.eq_ignore_ascii_case(&self.name)),
        }
    }

    /// Whether a shell variable replaces its value: by its name, or because the evidence hides it.
    pub(crate) fn is_credential(&self) -> bool {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_variable = self
            .name
            .starts_with(|first: char| first.is_ascii_alphabetic())
            && self.name.bytes().all(is_letter);
        let mut names = CREDENTIALS.iter();
        names.any(|one| one.eq_ignore_ascii_case(&self.name))
            || (is_variable && self.value.contains(HIDDEN))
    }

    /// The argument of `-H`.
    fn word(&self) -> String {
        if self.is_credential() {
            let variable = self.name.to_ascii_uppercase().replace('-', "_");
            return format!("\"{}: ${variable}\"", self.name);
        }
        match self.value.is_empty() {
            true => quoted(format!("{};", self.name)),
            false => quoted(format!("{}: {}", self.name, self.value)),
        }
    }
}

/// The address in the first line of a request: `GET https://shop.acme.test/`.
fn address(message: &str) -> Option<&str> {
    let mut words = message.lines().next()?.split(' ');
    words.nth(1)
}

fn write_word(command: &mut String, option: &str, word: &str) {
    // Writing to a String cannot fail.
    let _ = write!(command, " {option} {word}");
}

fn is_web_address(text: &str) -> bool {
    let has_scheme = |scheme: &str| {
        let beginning = text.get(..scheme.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme))
    };
    has_scheme("http://") || has_scheme("https://")
}

/// The URL up to its path.
fn origin(url: &str) -> &str {
    let host = url.find("//").map_or(0, |at| at + 2);
    let path = url[host..].find(['/', '?', '#']);
    path.map_or(url, |at| &url[..host + at])
}

/// The host of a URL, without its port.
fn host(url: &str) -> &str {
    let authority = origin(url).rsplit("//").next().unwrap_or_default();
    without_port(authority.rsplit('@').next().unwrap_or_default())
}

pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scandeck_wire::text;

    use super::*;

    fn evidence(headers: &[&str], cells: &[&str]) -> Evidence {
        let row = cells.iter().map(|cell| (*cell).to_owned()).collect();
        Evidence::table(headers, [row])
    }

    fn command(headers: &[&str], cells: &[&str]) -> String {
        FindingRequest::of(&evidence(headers, cells))
            .unwrap()
            .curl()
    }

    #[test]
    fn own_evidence_with_a_url_is_a_get() {
        let found = command(&["URL", "Header"], &["http://a.test/x?q=1&amp;r", "Server"]);
        let expected = "curl --include --globoff --path-as-is --url 'http://a.test/x?q=1&r'";
        assert_eq!(found, expected);
    }

    #[test]
    fn first_line_of_a_request_and_a_sent_origin_are_enough() {
        let found = command(
            &["Request", "Origin sent", "Status"],
            &["GET http://a.test/.git/HEAD", "https://b.test", "200"],
        );
        let expected = "curl --include --globoff --path-as-is -H 'Origin: https://b.test' \
                        --url 'http://a.test/.git/HEAD'";
        assert_eq!(found, expected);
        assert!(command(&["Request"], &["OPTIONS http://a.test/"]).contains("-X 'OPTIONS'"));
        let with_exchange = command(
            &["URL", "Origin sent", "Request", "Response"],
            &[
                "http://a.test/",
                "https://b.test",
                "GET / HTTP/1.1\norigin: https://b.test",
                "HTTP/1.1 200 OK",
            ],
        );
        let origins = with_exchange.to_lowercase();
        assert_eq!(origins.matches("origin:").count(), 1, "{with_exchange}");
    }

    #[test]
    fn text_that_begins_with_a_request_has_its_response_apart() {
        let text = "GET https://a.test/x HTTP/1.1\r\nAccept: a\r\n\r\nHTTP/1.1 200 OK\r\nServer: b\r\n\r\nc";
        let evidence = Evidence::from_value(&serde_json::json!({"type": "text", "data": text}));
        let found = FindingRequest::of(&evidence).unwrap().curl();
        let expected =
            "curl --include --globoff --path-as-is -H 'Accept: a' --url 'https://a.test/x'";
        assert_eq!(found, expected);
        let row = FirstRow::of(&evidence).unwrap();
        assert_eq!(
            row.cell("Response"),
            Some("HTTP/1.1 200 OK\nServer: b\n\nc")
        );
    }

    #[test]
    fn recorded_request_is_sent_as_it_was_without_credentials() {
        let request = "POST /a/../b?x=1 HTTP/1.1\r\nHost: a.test\r\nCookie: sid=secret\r\n\
                       Authorization: Basic c2VjcmV0\r\nX-It: it's\r\nContent-Length: 3\r\n\r\na=1";
        let found = command(
            &["URL", "Method", "Request"],
            &["https://a.test:8443/", "POST", request],
        );
        let expected = "curl --include --globoff --path-as-is -X 'POST' -H \"Cookie: $COOKIE\" \
                        -H \"Authorization: $AUTHORIZATION\" -H 'X-It: it'\\''s' --data-raw 'a=1' \
                        --url 'https://a.test:8443/a/../b?x=1'";
        assert_eq!(found, expected);
        assert!(!found.contains("secret") && !found.contains("c2VjcmV0"));
    }

    #[test]
    fn own_exchange_gives_the_request_to_the_target() {
        let request = "GET /.env HTTP/1.1\nhost: 127.0.0.1:8080\naccept: */*\nx-team-token: •••";
        let found = command(
            &["Request", "Status", EXCHANGE_URL, "Request", "Response"],
            &[
                "GET http://127.0.0.1:8080/.env",
                "200",
                "http://127.0.0.1:8080/.env",
                request,
                "HTTP/1.1 200 OK",
            ],
        );
        let expected = "curl --include --globoff --path-as-is -H 'accept: */*' \
                        -H \"x-team-token: $X_TEAM_TOKEN\" --url 'http://127.0.0.1:8080/.env'";
        assert_eq!(found, expected);
    }

    #[test]
    fn host_header_of_a_virtual_host_is_sent() {
        for (host, is_sent) in [("[::1]:81", false), ("[::1]", false), ("b.test:81", true)] {
            let request = format!("GET / HTTP/1.1\nHost: {host}");
            let found = command(&["URL", "Request"], &["http://x@[::1]:81/", &request]);
            assert_eq!(found.contains("-H 'Host: "), is_sent, "{found}");
        }
    }

    #[test]
    fn cut_request_has_no_body_and_says_so() {
        let request = "PUT /a HTTP/1.1\nHost: a.test\n\nlong…";
        let found = command(&["URL", "Request"], &["http://a.test/a", request]);
        assert!(found.starts_with(": 'the evidence"), "{found}");
        assert!(
            !found.contains("--data-raw") && found.contains("-X 'PUT'"),
            "{found}"
        );
    }

    #[test]
    fn evidence_without_a_web_address_has_no_request() {
        let tables = [
            evidence(&["Port"], &["80"]),
            evidence(&["URL"], &["javascript:alert(1)"]),
            evidence(&["URL"], &[""]),
            Evidence::from_value(&serde_json::json!({"type": "text", "data": "GET / HTTP/1.1"})),
        ];
        for one in tables {
            assert_eq!(FindingRequest::of(&one), None);
        }
        assert_eq!(FindingRequest::of(&Evidence::table(&["URL"], [])), None);
    }

    proptest! {
        #[test]
        fn command_of_any_request_acts_on_no_terminal(path: String, method: String, message: String) {
            let url = format!("http://a.test/{path}");
            let of = evidence(&["URL", "Method", "Request"], &[&url, &method, &message]);
            let command = FindingRequest::of(&of).map(|request| request.curl()).unwrap_or_default();
            prop_assert_eq!(&*text::clean_text(&command), command.as_str());
        }
    }
}
