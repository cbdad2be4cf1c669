//! DefectDojo's Generic Findings Import. Its parser refuses any field it does not know, so only those that every
//! version since 2.20 takes are written. `unique_id_from_tool` is F1: asset, class and service.

use serde_json::{Map, Value, json};

use super::{Export, ExportRow};
use crate::contract::Risk;
use crate::report::evidence_cell;
use crate::triage::Verdict;

pub(super) fn document(export: &Export<'_>) -> Value {
    json!({
        "name": format!("scandeck: {}", export.title),
        "type": "scandeck",
        "findings": export.rows.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding(row: &ExportRow) -> Value {
    let (case, stance) = (&row.case, &row.stance);
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        let empty = value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty);
        if !empty {
            fields.insert(name.to_owned(), value);
        }
    };
    put("title", json!(named(&case.name)));
    put("severity", json!(severity(row.risk())));
    put("description", json!(named(&case.vuln_description)));
    put("date", json!(case.first_seen.map(|at| at.0.strftime("%Y-%m-%d").to_string())));
    put("mitigation", json!(case.recommendation));
    put("impact", json!(case.risk_description));
    put("steps_to_reproduce", json!(evidence_cell(&case.vuln_evidence)));
    put("references", json!(case.references.join("\n")));
    put("severity_justification", json!(row.told()));
    put("cwe", json!(row.cwes().first()));
    put("epss_score", json!(case.epss_score));
    put("epss_percentile", json!(case.epss_percentile));
    put("vulnerability_ids", json!(case.cve));
    put("unique_id_from_tool", json!(case.identity.f1));
    put("vuln_id_from_tool", json!(row.class()));
    put("service", json!(case.service));
    put("tags", json!(stance.tags));
    put("endpoints", json!([row.place()]));
    put("dynamic_finding", json!(true));
    put("static_finding", json!(false));
    put("nb_occurences", json!(case.finding_ids().count()));
    state(row, &mut put);
    Value::Object(fields)
}

/// A verdict in DefectDojo's flags.
fn state(row: &ExportRow, put: &mut impl FnMut(&str, Value)) {
    let verdict = match row.verdict() {
        Verdict::Duplicate => row.original.unwrap_or(Verdict::Open),
        verdict => verdict,
    };
    let is = |one: Verdict| verdict == one;
    let at = row.stance.at.map(|at| at.0.to_string());
    put("active", json!(matches!(verdict, Verdict::Open | Verdict::InReview | Verdict::Confirmed)));
    put("verified", json!(is(Verdict::Confirmed)));
    put("false_p", json!(is(Verdict::FalsePositive)));
    put("out_of_scope", json!(is(Verdict::NotApplicable)));
    put("risk_accepted", json!(is(Verdict::RiskAccepted)));
    put("under_review", json!(is(Verdict::InReview)));
    put("is_mitigated", json!(is(Verdict::Fixed)));
    put("mitigated", json!(at.filter(|_| is(Verdict::Fixed))));
}

/// Required fields are never empty.
fn named(text: &str) -> &str {
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
