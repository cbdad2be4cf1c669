//! Findings.

use serde_json::{Value, json};

use super::{Schema, response};
use scandeck_wire::contract::Finding;

pub fn schemas() -> Vec<Schema> {
    vec![response::<Finding>(example())]
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
