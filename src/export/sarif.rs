//! SARIF 2.1.0: one run, one rule per class, one result per finding. `baselineState` is the presence, `suppressions` are
//! the decisions (OASIS SARIF 2.1.0 §3.27.23, §3.27.24, §3.35).

use std::collections::HashMap;
use std::io;

use serde_json::{Value, json};

use super::row::links;
use super::{Export, ExportRow, json as plain, without_empty};
use crate::contract::Risk;
use crate::report::evidence_cell;
use crate::triage::{FindingTexts, Issue, Presence, ReopenCause, Verdict};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn document(export: &Export<'_>) -> io::Result<Value> {
    let mut rules = Rules::default();
    let result = |row: &ExportRow| {
        let texts = row.issue.texts()?;
        Ok(result(row, &texts, rules.index_of(row, &texts)))
    };
    let results: Vec<Value> = export.rows.iter().map(result).collect::<io::Result<_>>()?;
    Ok(json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "scandeck",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.all,
            }},
            "automationDetails": {"id": format!("scandeck/{}/", export.title)},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// One rule per class, in the order of the rows; the first finding of a class describes its rule.
#[derive(Default)]
struct Rules {
    all: Vec<Value>,
    indexes: HashMap<String, usize>,
}

impl Rules {
    fn index_of(&mut self, row: &ExportRow, texts: &FindingTexts) -> usize {
        *self.indexes.entry(row.class().to_owned()).or_insert_with(|| {
            self.all.push(rule(row, texts));
            self.all.len() - 1
        })
    }
}

fn rule(row: &ExportRow, texts: &FindingTexts) -> Value {
    let issue = &row.issue;
    let optional = |given: &str| if given.trim().is_empty() { Value::Null } else { text(given) };
    let mut tags = vec!["security".to_owned()];
    tags.extend(row.cwes().iter().map(|cwe| format!("external/cwe/cwe-{cwe}")));
    // The text of a manual finding describes that finding, not its class, so it belongs to the result.
    let description = if issue.manual().is_some() { Value::Null } else { optional(&texts.vuln_description) };
    without_empty(json!({
        "id": row.class(),
        "shortDescription": text(&issue.name),
        "fullDescription": description,
        "help": optional(&texts.recommendation),
        "helpUri": links(texts).first(),
        "properties": {"tags": tags},
    }))
}

fn text(text: &str) -> Value {
    json!({"text": if text.trim().is_empty() { "-" } else { text }})
}

/// The name; for a manual finding also its description and evidence.
fn message(row: &ExportRow, texts: &FindingTexts) -> String {
    let issue = &row.issue;
    let mut parts = vec![issue.name.to_string()];
    if issue.manual().is_some() {
        parts.extend([texts.vuln_description.to_string(), evidence_cell(&texts.vuln_evidence)]);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// The asset, with the service if there is one.
fn asset(issue: &Issue) -> String {
    match &*issue.identity.service {
        "" | "-" => issue.identity.asset.to_string(),
        service => format!("{} {service}", issue.identity.asset),
    }
}

fn result(row: &ExportRow, texts: &FindingTexts, rule: usize) -> Value {
    let issue = &row.issue;
    let place = row.place();
    json!({
        "ruleId": row.class(),
        "ruleIndex": rule,
        "level": level(row.risk()),
        "message": text(&message(row, texts)),
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": place}},
            "logicalLocations": [{
                "name": row.target,
                "fullyQualifiedName": asset(issue),
                "kind": "resource",
            }],
        }],
        "occurrenceCount": issue.finding_ids().count(),
        "partialFingerprints": {"scandeckF1/v1": issue.identity.f1, "scandeckKey/v1": issue.key()},
        "baselineState": baseline(issue.presence),
        "suppressions": suppressions(row),
        "rank": rank(row.risk()),
        "properties": {
            "security-severity": severity(row.risk()),
            "verdict": row.assessment.verdict.as_str(),
            "undecided": row.assessment.is_undecided(),
            "again": row.assessment.reopened.map(ReopenCause::as_str),
            "presence": issue.presence_in(Presence::as_str),
            "retest": plain::retest(row),
            "scannerRisk": issue.risk_level.as_str(),
            "cve": issue.cve,
            "tags": row.assessment.tags,
            "findingId": issue.finding.id,
        },
    })
}

/// SARIF has four states. A finding that the earlier run lacks is new, also a reappeared one; a finding that was not
/// retested is unchanged.
fn baseline(presence: Presence) -> &'static str {
    match presence {
        Presence::New | Presence::Reappeared => "new",
        Presence::Unchanged | Presence::NotRetested => "unchanged",
        Presence::Updated => "updated",
        Presence::Absent => "absent",
    }
}

/// Always an array: if one result of a run has suppressions, all must. An empty array means not suppressed.
fn suppressions(row: &ExportRow) -> Value {
    let verdict = row.assessment.verdict;
    let status = match verdict {
        Verdict::FalsePositive | Verdict::NotApplicable | Verdict::RiskAccepted | Verdict::Duplicate => {
            // A decision that is no longer valid waits for a review.
            if row.assessment.reopened.is_some() { "underReview" } else { "accepted" }
        }
        Verdict::InReview => "underReview",
        Verdict::Open | Verdict::Confirmed | Verdict::Fixed => return json!([]),
    };
    json!([{
        "kind": "external",
        "status": status,
        "justification": row.justification(),
        "properties": {"verdict": verdict.as_str(), "reason": row.assessment.reason.map(|reason| reason.as_str())},
    }])
}

fn level(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical | Risk::High => "error",
        Risk::Medium => "warning",
        Risk::Low | Risk::Info => "note",
    }
}

/// The rank of SARIF, 0 to 100.
fn rank(risk: Risk) -> f64 {
    risk.level() as f64 * 25.0
}

/// A number in the range that SARIF readers assign to each severity.
fn severity(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical => "9.5",
        Risk::High => "8.0",
        Risk::Medium => "5.5",
        Risk::Low => "2.0",
        Risk::Info => "0.0",
    }
}
