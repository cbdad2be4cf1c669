//! `scandeck findings show`.

use super::{is_named, not_found};
use crate::cli::dashboard::headless::HeadlessSession;
use crate::cli::dashboard::headless::rows::FindingRows;
use scandeck_domain::export;
use scandeck_domain::triage::{ScanSighting, TimelineEntry};
use scandeck_report::evidence_cell;
use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{Evidence, FindingId, Owasp, Tool};
use serde::Deserialize;
use serde_json::Value;

/// Labels of the fields whose names do not say what they hold.
const LABELS: &[(&str, &str)] = &[
    ("again", "Reopened"),
    ("confirmed", "Proven by the scanner"),
    ("cve", "CVE"),
    ("cvss", "CVSS"),
    ("cvssv3", "CVSS v3"),
    ("cwe", "CWE"),
    ("decided_through", "Verdict source"),
    ("epss_percentile", "EPSS percentile"),
    ("epss_score", "EPSS"),
    ("in_cisa_catalog", "Known exploited (KEV)"),
    ("occurrences", "Finding ids"),
    ("owasp", "OWASP"),
    ("own", "Manual"),
    ("proposed", "Proposed by the file"),
    ("risk_description", "Impact"),
    ("risk_level", "Risk"),
    ("status", "Status at the service"),
    ("target_name", "Target"),
    ("task_id", "Scan"),
    ("test_description", "Tested"),
    ("tool_id", "Tool"),
    ("until", "Expiry date"),
    ("verified", "Verified at the service"),
    ("vuln_description", "Description"),
    ("vuln_evidence", "Evidence"),
    ("vuln_id", "Class"),
    ("workspace_name", "Workspace"),
];

/// Prints the finding of this name, or of the service if no list contains it.
pub(super) async fn show(session: &HeadlessSession, id: &str) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    match rows.all.iter().find(|row| is_named(row, id)) {
        Some(row) => {
            let mut value = serde_json::json!(export::json::row(row));
            value["history"] = match session.out.json {
                true => export::json::history(row),
                false => row.timeline().iter().map(history_line).collect(),
            };
            if !session.out.json {
                value["risk_level"] = serde_json::json!(row.risk().to_string());
                value["verdict"] = serde_json::json!(row.stated_verdict());
                // The verdict names the cause already.
                value["again"] = Value::Null;
                if let Some(proof) = &row.proof {
                    value["proof"] = Value::from(proof.phrase());
                }
                put_words(&mut value);
            }
            session.out.labelled(&value, LABELS)
        }
        None => match id.parse::<FindingId>() {
            // A finding may exist although no list contains it.
            Ok(id) => {
                let mut value = serde_json::json!(session.client()?.get_finding(id).await?);
                if !session.out.json {
                    put_words(&mut value);
                }
                session.out.labelled(&value, LABELS)
            }
            Err(_) => Err(not_found(id).into()),
        },
    }
}

/// Replaces numbers and JSON of a finding with words: its tool, its OWASP category, the verdict
/// that its file proposes, and a line per row of its evidence.
fn put_words(finding: &mut Value) {
    let Value::Object(fields) = finding else {
        return;
    };
    if let Some(tool) = fields.get_mut("tool_id")
        && let Some(id) = tool.as_i64()
    {
        *tool = Value::from(Tool(id).name_with_id());
    }
    if let Some(owasp) = fields.get_mut("owasp")
        && let Ok(read) = Owasp::deserialize(&*owasp)
    {
        *owasp = Value::from(read.label());
    }
    if let Some(proposed) = fields.get_mut("proposed")
        && let Ok(Some(read)) = ProposedVerdict::maybe(&*proposed)
    {
        *proposed = Value::from(read.phrase());
    }
    if let Some(evidence) = fields.get_mut("vuln_evidence") {
        *evidence = Value::from(evidence_cell(&Evidence::from_value(evidence)));
    }
}

/// `scan #20 of 2026-11-20 09:00:00: not found`.
fn history_line(entry: &TimelineEntry) -> String {
    let scan = entry
        .scan
        .map_or_else(|| "a scan".to_owned(), |id| format!("scan #{id}"));
    let at = entry.at.map(|at| format!(" of {at}")).unwrap_or_default();
    let outcome = match &entry.outcome {
        ScanSighting::Seen(finding) => format!("found, {}", finding.risk_level),
        ScanSighting::Absent => "not found".to_owned(),
        ScanSighting::NotRetested(gap) => format!("not retested: {}", gap.reason()),
    };
    format!("{scan}{at}: {outcome}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::finding::RetestGap;
    use scandeck_domain::table::IntoRow;
    use scandeck_wire::contract::{Finding, Risk};
    use serde_json::json;

    #[test]
    fn history_names_scans_with_and_without_the_finding() {
        let line = |outcome| {
            history_line(&TimelineEntry {
                scan: Some(20.into()),
                at: None,
                outcome,
            })
        };
        let found = Finding {
            risk_level: Risk::High,
            ..Finding::default()
        };
        assert_eq!(
            line(ScanSighting::Seen(found.into_row())),
            "scan #20: found, high"
        );
        assert_eq!(line(ScanSighting::Absent), "scan #20: not found");
        let gap = RetestGap::Ambiguous;
        let reason = gap.reason().to_owned();
        assert_eq!(
            line(ScanSighting::NotRetested(gap)),
            format!("scan #20: not retested: {reason}")
        );
    }

    #[test]
    fn words_replace_known_values_and_nothing_else() {
        let mut finding = json!({
            "tool_id": 170, "owasp": {"owasp_2021": "A01"},
            "proposed": {"verdict": "false_positive", "reason": "", "by": "anna"},
        });
        put_words(&mut finding);
        assert_eq!(
            finding,
            json!({
                "tool_id": "Website Scanner (170)", "owasp": "A01:2021",
                "proposed": "false positive by anna",
            })
        );
        let mut unknown = json!({"tool_id": "x", "owasp": 5});
        put_words(&mut unknown);
        assert_eq!(unknown, json!({"tool_id": "x", "owasp": 5}));
    }
}
