//! DefectDojo's Generic Findings Import. Its parser rejects unknown fields, so only fields that every version since 2.20
//! accepts are written. `unique_id_from_tool` is F1: asset, class and service.

use std::io;

use serde_json::{Value, json};

use super::{Export, ExportRow, without_empty};
use crate::contract::Risk;
use crate::report::evidence_cell;
use crate::triage::Verdict;

pub(super) fn document(export: &Export<'_>) -> io::Result<Value> {
    let findings: Vec<Value> = export.rows.iter().map(finding).collect::<io::Result<_>>()?;
    Ok(json!({
        "name": format!("scandeck: {}", export.title),
        "type": "scandeck",
        "findings": findings,
    }))
}

fn finding(row: &ExportRow) -> io::Result<Value> {
    let texts = row.issue.texts()?;
    let (issue, assessment, verdict) = (&row.issue, &row.assessment, row.verdict());
    let decided_at = assessment.at.map(|at| at.0.to_string());
    Ok(without_empty(json!({
        "title": or_dash(&issue.name),
        "severity": severity(row.risk()),
        "description": or_dash(&texts.vuln_description),
        "date": issue.first_seen.get().map(|at| at.0.strftime("%Y-%m-%d").to_string()),
        "mitigation": texts.recommendation,
        "impact": texts.risk_description,
        "steps_to_reproduce": evidence_cell(&texts.vuln_evidence),
        "references": texts.references.join("\n"),
        "severity_justification": row.justification(),
        "cwe": row.cwes().first(),
        "epss_score": issue.epss_score(),
        "epss_percentile": issue.epss_percentile(),
        "vulnerability_ids": issue.cve,
        "unique_id_from_tool": issue.identity.f1,
        "vuln_id_from_tool": row.class(),
        "service": issue.service,
        "tags": assessment.tags,
        "endpoints": [row.place()],
        "dynamic_finding": true,
        "static_finding": false,
        "nb_occurences": issue.finding_ids().count(),
        "active": matches!(verdict, Verdict::Open | Verdict::InReview | Verdict::Confirmed),
        "verified": verdict == Verdict::Confirmed,
        "false_p": verdict == Verdict::FalsePositive,
        "out_of_scope": verdict == Verdict::NotApplicable,
        "risk_accepted": verdict == Verdict::RiskAccepted,
        "under_review": verdict == Verdict::InReview,
        "is_mitigated": verdict == Verdict::Fixed,
        "mitigated": decided_at.filter(|_| verdict == Verdict::Fixed),
    })))
}

/// Required fields must not be empty.
fn or_dash(text: &str) -> &str {
    if text.trim().is_empty() { "-" } else { text }
}

fn severity(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical => "Critical",
        Risk::High => "High",
        Risk::Medium => "Medium",
        Risk::Low => "Low",
        Risk::Info => "Info",
    }
}
