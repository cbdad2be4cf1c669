//! Whether a request may carry a payload: something that an attack tool put into it.

use percent_encoding::percent_decode_str;
use url::Url;

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
/// Headers that make some servers see another method, host or address. A request with one of them
/// may write, or leave the scope.
const OVERRIDES: [&str; 7] = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
    "x-forwarded-host",
    "forwarded",
];
/// Characters that the addresses of pages do not have, but payloads do.
const MARKS: &[char] = &[
    '\'', '"', '<', '>', ';', '(', ')', '{', '}', '[', ']', '|', '$', '`', '\\', '*', '^',
];
/// Those of [`MARKS`] that the headers of browsers do not have either.
const BROWSER_MARKS: &[char] = &['\'', '<', '>', '{', '$', '`', '\\'];
/// Codings of percent signs that are removed.
const DECODINGS: usize = 3;

/// Whether the request of a finding may carry a payload. In doubt it does, as of an unknown tool.
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

/// Whether some servers would see another method, host or address than the request line and the URL
/// have.
pub(super) fn is_overridden(request: &FindingRequest) -> bool {
    let mut headers = request.headers.iter();
    headers.any(|header| is_among(header, &OVERRIDES))
        || request.headers.iter().filter(|one| one.is_host()).count() > 1
}

/// Whether the URL has the address as it is written, apart from the coding of its characters.
/// Parsing removes dots, and turns backslashes, so another address would be tested.
pub(super) fn has_address(url: &Url, written: &str) -> bool {
    let path = after_host(written);
    let slash = if path.starts_with('/') { "" } else { "/" };
    decoded(&format!("{slash}{path}")) == decoded(after_host(url.as_str()))
}

/// Path and query without the coding of their characters.
fn decoded(address: &str) -> Vec<u8> {
    let sent = address.split('#').next().unwrap_or_default();
    percent_decode_str(sent).collect()
}

fn is_suspect(header: &RequestHeader) -> bool {
    match () {
        () if header.is_credential() => false,
        () if is_among(header, &BROWSER_HEADERS) => header.value.contains(BROWSER_MARKS),
        () => has_marks(&header.value),
    }
}

fn is_among(header: &RequestHeader, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| header.name.eq_ignore_ascii_case(name))
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
    let path = url[host..].find(['/', '\\', '?', '#']);
    path.map_or("", |at| &url[host + at..])
}

fn has_marks(text: &str) -> bool {
    let mut decoded = text.to_owned();
    for _ in 0..DECODINGS {
        decoded = percent_decode_str(&decoded)
            .decode_utf8_lossy()
            .into_owned();
    }
    // A percent sign is invalid, or one of further codings. Bytes that are no UTF-8 may be an
    // overlong form of a mark.
    let is_hidden = decoded.contains(['%', char::REPLACEMENT_CHARACTER]);
    let query = decoded.split_once('?').map_or("", |(_, query)| query);
    is_hidden
        || decoded.contains(MARKS)
        || decoded.contains("..")
        || decoded.chars().any(char::is_control)
        || query.contains("//")
        || query.contains("=/")
        // A plus sign is a blank.
        || query.contains([' ', '+'])
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
            "\\..\\etc",
            "/?id=1+or+1=1",
            "/?file=/etc/passwd",
            "/%c0%ae%c0%ae/",
            "/%zz",
            "/?q=%2525253Cb",
        ] {
            assert!(has_marks(payload), "{payload}");
        }
        assert_eq!(after_host("http://a.test\\b?c"), "\\b?c");
    }

    #[test]
    fn headers_of_browsers_may_carry_a_payload_too() {
        let suspects = |name: &str, value: &str| {
            is_suspect(&RequestHeader {
                name: name.to_owned(),
                value: value.to_owned(),
            })
        };
        for (name, value) in [
            ("Accept", "text/html;q=0.9, */*;q=0.8"),
            ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) like Gecko"),
            ("Sec-CH-UA", "\"Chromium\";v=\"130\""),
        ] {
            assert!(!suspects(name, value), "{name}");
        }
        for (name, value) in [
            ("Accept", "${jndi:x}"),
            ("User-Agent", "() { :; }"),
            ("Accept-Language", "en'"),
        ] {
            assert!(suspects(name, value), "{name}");
        }
    }

    #[test]
    fn address_that_parsing_changes_is_another_one() {
        let is_kept = |written: &str| has_address(&Url::parse(written).unwrap(), written);
        for kept in [
            "http://a.test",
            "http://a.test?x=1",
            "http://a.test/?q=<script>'ä b",
            "http://a.test/?q=%3Cb%3E#top",
            "http://a.test/a;id?file=../../etc/passwd",
        ] {
            assert!(is_kept(kept), "{kept}");
        }
        for changed in [
            "http://a.test/../../etc/passwd",
            "http://a.test/%2e%2e/etc/passwd",
            "http://a.test/a/./b",
            "http://a.test\\..\\etc",
        ] {
            assert!(!is_kept(changed), "{changed}");
        }
    }
}
