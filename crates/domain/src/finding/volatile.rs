//! Parts of a text that differ between two answers of an unchanged server.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Hosts, addresses, times, nonces, ids and tokens.
static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        // scheme and host of a URL
        r"\b[a-z][a-z0-9+.-]*://[^\s/\x22'<>]+",
        // addresses
        r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b",
        // dates and times
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?\b",
        r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? \d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d(?: [A-Z]{3})?",
        r"\b\d\d:\d\d:\d\d\b",
        // nonces
        r"\bnonce(?:-|=)[\x22']?[A-Za-z0-9+/=_-]+",
        // ids: uuid, long hex, long numbers
        r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
        r"\b[0-9a-fA-F]{16,}\b",
        r"\b\d{6,}\b",
        // tokens
        r"[A-Za-z0-9+/_-]{32,}={0,2}",
    ];
    Regex::new(&parts.join("|")).ok()
});

/// The text with `…` in place of each volatile part.
pub fn without_volatile(text: &str) -> Cow<'_, str> {
    match VARIES.as_ref() {
        Some(varies) => varies.replace_all(text, "…"),
        None => Cow::Borrowed(text),
    }
}

/// Headers whose values are ignored.
const STAMPED: [&str; 16] = [
    "date",
    "expires",
    "last-modified",
    "age",
    "etag",
    "host",
    "location",
    "content-length",
    "x-request-id",
    "x-correlation-id",
    "x-trace-id",
    "x-amz-cf-id",
    "x-runtime",
    "cf-ray",
    "server-timing",
    "via",
];

/// Whether the value of this header says nothing about a finding.
pub fn is_stamped(name: &str) -> bool {
    STAMPED
        .iter()
        .any(|stamped| name.eq_ignore_ascii_case(stamped))
}

/// A line of a message without values that differ between two answers of an unchanged server.
pub fn steady_line(line: &str) -> String {
    if let Some((name, value)) = line.split_once(':') {
        let name = name.trim();
        if is_stamped(name) {
            return format!("{}:", name.to_lowercase());
        }
        if name.eq_ignore_ascii_case("set-cookie") {
            return format!("set-cookie:{}", cookie(value));
        }
    }
    without_volatile(line).into_owned()
}

/// Name and attributes of a cookie without values.
fn cookie(value: &str) -> String {
    let mut parts = value.split(';').map(str::trim);
    let name = parts
        .next()
        .and_then(|pair| pair.split('=').next())
        .unwrap_or_default();
    let attributes = parts.map(|part| match part.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("samesite") => format!("{name}={value}"),
        Some((name, _)) => name.to_owned(),
        None => part.to_owned(),
    });
    let mut attributes: Vec<String> = attributes.map(|part| part.to_lowercase()).collect();
    attributes.sort();
    format!("{name};{}", attributes.join(";"))
}
