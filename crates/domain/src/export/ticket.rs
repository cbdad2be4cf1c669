//! Markdown for tickets and messages: a finding with its texts, or a captured request.

use std::fmt::Write;

use super::markdown::escaped;
use scandeck_report::evidence_cell;
use scandeck_wire::contract::Finding;
use scandeck_wire::text;

// Writing to a String cannot fail, so the results below are dropped.

/// A finding: title, facts, texts, evidence and references.
pub fn finding(finding: &Finding, target: &str) -> String {
    let mut out = format!("## {}: {}\n\n", finding.risk_level, escaped(&finding.name));
    for (name, value) in facts(finding, target) {
        if !value.is_empty() {
            let _ = writeln!(out, "- {name}: {}", escaped(&value));
        }
    }
    let evidence = evidence_cell(&finding.vuln_evidence);
    for (title, paragraph) in [
        ("Impact", &finding.risk_description),
        ("Description", &finding.vuln_description),
    ] {
        section(&mut out, title, paragraph);
    }
    if !evidence.trim().is_empty() {
        let _ = write!(out, "\n### Evidence\n\n{}", fenced("text", &evidence));
    }
    section(&mut out, "Recommendation", &finding.recommendation);
    if !finding.references.is_empty() {
        let _ = writeln!(out, "\n### References\n");
        finding.references.iter().for_each(|reference| {
            let _ = writeln!(out, "- {}", text::clean(reference));
        });
    }
    out
}

fn facts(finding: &Finding, target: &str) -> [(&'static str, String); 6] {
    let port = match finding.port {
        ..=0 => String::new(),
        // The target names it.
        port if target.trim_end_matches('/').ends_with(&format!(":{port}")) => String::new(),
        port if finding.protocol.is_empty() => format!("port {port}"),
        port => format!("port {port}/{}", finding.protocol),
    };
    let cvss = finding.cvssv3.or(finding.cvss);
    let cves: Vec<&str> = finding.cve.iter().map(|cve| cve.as_str()).collect();
    let kev = if finding.in_cisa_catalog { "yes" } else { "" };
    let joined = |parts: [&str; 2]| {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    };
    [
        ("Target", joined([target, &port])),
        ("Service", finding.service.to_string()),
        (
            "CVSS",
            cvss.map_or_else(String::new, |score| score.to_string()),
        ),
        ("CVE", cves.join(", ")),
        ("Known exploited", kev.to_owned()),
        ("Weakness", joined([&finding.cwe, &finding.owasp.label()])),
    ]
}

/// A captured request: `title` names it, `raw` is its raw HTTP.
pub fn request(title: &str, raw: &str) -> String {
    format!("## {}\n\n{}", escaped(title), fenced("http", raw))
}

fn section(out: &mut String, title: &str, paragraph: &str) {
    if paragraph.trim().is_empty() {
        return;
    }
    let _ = write!(out, "\n### {title}\n\n");
    for line in text::clean_text(paragraph).lines() {
        let _ = writeln!(out, "{}", escaped(line));
    }
}

/// A code block. Its fence is longer than every run of backticks in the text, so that no line ends
/// the block.
fn fenced(language: &str, given: &str) -> String {
    let given = text::clean_text(given);
    let longest = given
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", given.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Evidence, Risk};

    #[test]
    fn finding_has_facts_texts_and_evidence_and_no_empty_parts() {
        let found = Finding {
            name: "Backup <exposed> at /a|b".into(),
            risk_level: Risk::High,
            port: 443,
            protocol: "tcp".into(),
            cve: vec!["CVE-2021-1".into()],
            vuln_description: "First line.\n# not a heading".into(),
            vuln_evidence: Evidence::from_value(&serde_json::json!("GET / 200\n```\nend")),
            references: vec!["https://a.example/".into()],
            ..Finding::default()
        };
        assert_eq!(
            finding(&found, "shop.test"),
            "## high: Backup &lt;exposed> at /a\\|b\n\n- Target: shop.test, port 443/tcp\n- CVE: CVE-2021-1\n\n\
             ### Description\n\nFirst line.\n\\# not a heading\n\n### Evidence\n\n\
             ````text\nGET / 200\n```\nend\n````\n\n### References\n\n- https://a.example/\n"
        );
        assert_eq!(
            finding(
                &Finding {
                    name: "Bare".into(),
                    ..Finding::default()
                },
                ""
            ),
            "## info: Bare\n\n"
        );
    }

    #[test]
    fn request_is_a_code_block() {
        assert_eq!(
            request("Capture 3 of hunt", "GET / HTTP/1.1\n\n"),
            "## Capture 3 of hunt\n\n```http\nGET / HTTP/1.1\n```\n"
        );
    }
}
