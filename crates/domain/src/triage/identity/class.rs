//! Kind of finding: what findings of different targets have in common.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::triage::ListedFinding;
use scandeck_wire::contract::Shared;

/// Variable parts in names of findings without a vuln_id: each named group is replaced.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<url>\b[a-z][a-z0-9+.-]*://[^\s<>]+)",
        r#"|(?P<text>"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’|\B'[^']*'\B)"#,
        r"|(?P<ip>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:[0-9a-f]{1,4}:)+:[0-9a-f:]*|\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b)",
        r"|(?P<hex>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b)",
        r"|(?P<n>\b\d+(?:[.,]\d+)*\b)",
    ))
    .ok()
});

/// The id that the scanner gives the kind; else the one CVE; else the name without what varies.
pub fn class(finding: &ListedFinding) -> Shared {
    let id = finding.vuln_id.trim();
    match &finding.cve[..] {
        _ if id.len() == finding.vuln_id.len() && !id.is_empty() => finding.vuln_id.clone(),
        _ if !id.is_empty() => id.into(),
        [cve] => cve.trim().to_uppercase().into(),
        _ => of_name(&finding.name).into(),
    }
}

/// A name without URLs, addresses, numbers, hex and quoted text.
pub fn of_name(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphabetic() || b" -_./(),".contains(&byte);
    let replaced = match VARIABLE.as_ref() {
        // Without digits, quotes and colons nothing varies.
        _ if name.bytes().all(plain) => name.into(),
        Some(variable) => variable.replace_all(name, replacement),
        None => name.into(),
    };
    replaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn replacement(found: &Captures) -> String {
    let group = ["url", "text", "ip", "hex", "n"]
        .into_iter()
        .find(|group| found.name(group).is_some());
    match group {
        // A word such as "defaced" is hex by its letters only.
        Some("hex") if !found[0].contains(|c: char| c.is_ascii_digit()) => found[0].to_owned(),
        Some(group) => format!("<{group}>"),
        None => found[0].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Finding;

    #[test]
    fn volatile_name_parts_are_replaced() {
        for (name, class) in [
            (
                "Open redirect at https://shop.test/a?b=1 found",
                "Open redirect at <url> found",
            ),
            (
                "Host 10.0.0.7:8080 answers  on port 8080",
                "Host <ip> answers on port <n>",
            ),
            ("Address fe80:0:0:1::7 or ::1", "Address <ip> or ::<n>"),
            (
                "Weak hash 5f4dcc3b5aa765d61d8327deb882cf99",
                "Weak hash <hex>",
            ),
            (
                "Token 0xdeadbeef, id 123e4567-e89b-12d3-a456-426614174000",
                "Token <hex>, id <hex>",
            ),
            (
                "The server's page defaced, the user's too",
                "The server's page defaced, the user's too",
            ),
            (
                "Parameter 'q' reflects \"x\"",
                "Parameter <text> reflects <text>",
            ),
            ("SHA1 and MD5 with TLS 1.0", "SHA1 and MD5 with TLS <n>"),
        ] {
            assert_eq!(of_name(name), class);
        }
    }

    #[test]
    fn class_prefers_vuln_id_then_cve_then_name() {
        let class_of = |vuln_id: &str, cves: &[&str]| {
            let finding = Finding {
                vuln_id: vuln_id.into(),
                cve: cves.iter().map(|&cve| cve.into()).collect(),
                name: "No 7".into(),
                ..Finding::default()
            };
            class(&finding.into())
        };
        assert_eq!(class_of(" web.hsts ", &["cve-2024-1 "]), "web.hsts");
        assert_eq!(class_of("", &["cve-2024-1 "]), "CVE-2024-1");
        assert_eq!(class_of("", &["cve-2024-1 ", "CVE-2024-2"]), "No <n>");
    }
}
