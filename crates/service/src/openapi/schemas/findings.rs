//! Findings.

use serde_json::{Value, json};

use super::{Schema, boolean, count, id, response, text, texts, with};

pub fn schemas() -> Vec<Schema> {
    vec![finding()]
}

fn finding() -> Schema {
    Schema {
        name: "Finding",
        schema: response(json!({
            "id": id("Id of the finding; a new scan gives the same finding a new id."),
            "vuln_id": text("Stable id of the vulnerability class, such as `web.header.csp_missing`."),
            "name": text("Name of the vulnerability class."),
            "status": text("Always `open`: this service has no endpoint to set it."),
            "risk_level": with(count("0 info, 1 low, 2 medium, 3 high, 4 critical."), json!({"maximum": 4})),
            "confirmed": boolean("The response of the target proves the finding."),
            "verified": boolean("Always false: this service has no endpoint to set it."),
            "in_cisa_catalog": boolean("Whether the CVE is in the CISA catalog of known exploited vulnerabilities."),
            "cve": texts("CVE identifiers."),
            "cwe": text("CWE identifier; may be empty."),
            "owasp": owasp(),
            "test_description": text("The check that reported the finding."),
            "test_finished": boolean("Always true."),
            "vuln_description": text("Description of the vulnerability."),
            "vuln_evidence": evidence(),
            "risk_description": text("The possible consequences."),
            "recommendation": text("The remedy."),
            "references": texts("URLs for further reading."),
            "port": with(count("Port; 0 if there is none."), json!({"maximum": 65_535})),
            "protocol": text("`tcp`, `udp`, or empty."),
            "service": text("The protocol of the service on the port, such as `https`."),
            "target_id": id("Id of the target."),
            "target_name": text("The name of the target."),
            "task_id": id("Id of the scan."),
        })),
        example: example(),
    }
}

fn owasp() -> Value {
    let owasp = response(json!({
        "owasp_2017": text("May be empty."), "owasp_2021": text("May be empty."), "owasp_2025": text("May be empty."),
    }));
    with(
        owasp,
        json!({"description": "Categories of the OWASP Top 10 of 2017, 2021 and 2025."}),
    )
}

fn evidence() -> Value {
    let rows = json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}});
    let evidence = response(json!({
        "type": text("`table`."),
        "data": {
            "type": "object",
            "properties": {"headers": texts("Column headers."), "rows": rows},
            "description": "A table; empty without evidence.",
        },
    }));
    with(
        evidence,
        json!({"description": "The evidence: `data` is a table with `headers` and `rows`."}),
    )
}

fn example() -> Value {
    json!({
        "id": 5, "vuln_id": "web.header.csp_missing", "name": "Content-Security-Policy header missing",
        "status": "open", "risk_level": 0, "confirmed": true, "verified": false, "in_cisa_catalog": false,
        "cve": [], "cwe": "CWE-693",
        "owasp": {
            "owasp_2017": "A6 - Security Misconfiguration", "owasp_2021": "A05 - Security Misconfiguration",
            "owasp_2025": "A02 - Security Misconfiguration"
        },
        "test_description": "Content-Security-Policy of pages", "test_finished": true,
        "vuln_description": "Pages have no Content-Security-Policy header, so browsers run scripts from any source.",
        "vuln_evidence": {
            "type": "table",
            "data": {
                "headers": ["URL", "Header", "Value"],
                "rows": [["https://shop.acme.test/", "content-security-policy", "absent"]]
            }
        },
        "risk_description": "Without a policy, a cross-site scripting vulnerability can be exploited without restriction.",
        "recommendation": "Send a Content-Security-Policy, first in report-only mode; start with default-src 'self'.",
        "references": ["https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CSP"],
        "port": 443, "protocol": "tcp", "service": "https", "target_id": 3,
        "target_name": "https://shop.acme.test/", "task_id": 9
    })
}
