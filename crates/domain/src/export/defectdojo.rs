//! DefectDojo's Generic Findings Import. Its parser rejects unknown fields, so only fields that
//! every version since 2.20 accepts are written. `unique_id_from_tool` is F1: asset, class and
//! service.
//!
//! One value that does not fit a column of DefectDojo's database aborts the whole import, so each
//! value has the length of its column, and none contains U+0000.

use std::io;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{Export, ExportRow, cut, without_empty};
use crate::triage::{FindingTexts, Verdict};
use scandeck_report::evidence_cell;
use scandeck_wire::contract::{Risk, Stamp};

/// Longest texts, in characters: columns of the tables of findings, tests, vulnerability ids and
/// tags.
const TITLE: usize = 511;
const TEST_NAME: usize = 255;
const TOOL_ID: usize = 500;
const SERVICE: usize = 200;
const VULNERABILITY_ID: usize = 50;
const TAG: usize = 255;
/// The years of Python's dates.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9999;

pub(super) fn document(export: &Export<'_>) -> io::Result<Value> {
    let findings: Vec<Value> = export.rows.iter().map(finding).collect::<io::Result<_>>()?;
    let mut document = json!({
        "name": cut(&format!("scandeck: {}", export.title), TEST_NAME),
        "type": "scandeck",
        "findings": findings,
    });
    replace_nul(&mut document);
    Ok(document)
}

fn finding(row: &ExportRow) -> io::Result<Value> {
    let texts = row.issue.texts()?;
    let (issue, assessment, verdict) = (&row.issue, &row.assessment, row.verdict());
    let vulnerability_ids = issue.cve.iter().filter(|id| !id.trim().is_empty());
    let tags = row
        .tags()
        .into_iter()
        .map(|name| tag(name))
        .filter(|tag| !tag.is_empty());
    let score = |score: Option<f64>| score.filter(|score| (0.0..=1.0).contains(score));
    Ok(without_empty(json!({
        "title": cut(or_dash(&issue.name), TITLE),
        "severity": severity(row.risk()),
        "description": description(row, &texts),
        "date": issue.first_seen.get().filter(in_range).map(|at| at.0.strftime("%Y-%m-%d").to_string()),
        "mitigation": texts.recommendation,
        "impact": texts.risk_description,
        "steps_to_reproduce": evidence_cell(&texts.vuln_evidence),
        "references": texts.references.join("\n"),
        "severity_justification": row.justification(),
        "cwe": row.cwes().iter().find(|cwe| i32::try_from(**cwe).is_ok()),
        "epss_score": score(issue.epss_score()),
        "epss_percentile": score(issue.epss_percentile()),
        "vulnerability_ids": vulnerability_ids.map(|id| cut(id, VULNERABILITY_ID)).collect::<Vec<_>>(),
        "unique_id_from_tool": issue.identity.f1,
        "vuln_id_from_tool": cut(row.class(), TOOL_ID),
        "service": cut(&issue.service, SERVICE),
        "tags": tags.collect::<Vec<_>>(),
        "endpoints": row.address().into_iter().collect::<Vec<_>>(),
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
        "mitigated": assessment.at.filter(|at| verdict == Verdict::Fixed && in_range(at)).map(|at| at.0.to_string()),
    })))
}

/// The description; it names a target that has no address, because such a target is no endpoint.
fn description(row: &ExportRow, texts: &FindingTexts) -> String {
    let target = row.target.trim();
    match row.address() {
        None if !target.is_empty() => {
            format!("{}\n\nTarget: {target}", or_dash(&texts.vuln_description))
        }
        _ => or_dash(&texts.vuln_description).to_owned(),
    }
}

/// Required fields must not be empty.
fn or_dash(text: &str) -> &str {
    if text.trim().is_empty() { "-" } else { text }
}

fn in_range(at: &Stamp) -> bool {
    YEARS.contains(&at.0.to_zoned(TimeZone::UTC).year())
}

/// A tag has no blanks, commas and quotes.
fn tag(name: &str) -> String {
    let separates = |c: char| c.is_whitespace() || matches!(c, ',' | '"' | '\'');
    cut(&name.trim().replace(separates, "_"), TAG)
}

/// PostgreSQL stores no U+0000.
fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "␀"),
        Value::Array(items) => items.iter_mut().for_each(replace_nul),
        Value::Object(fields) => fields.values_mut().for_each(replace_nul),
        _ => {}
    }
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
