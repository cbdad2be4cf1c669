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
