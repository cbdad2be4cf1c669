//! SARIF 2.1.0: one run, a rule a class, a result a finding. `baselineState` tells presence, `suppressions` what persons
//! decided (OASIS SARIF 2.1.0 §3.27.23, §3.27.24, §3.35).

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Export, ExportRow, json as plain};
use crate::contract::Risk;
use crate::report::evidence_cell;
use crate::triage::{Case, Presence, Verdict};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn document(export: &Export<'_>) -> Value {
    let mut rules = Rules::default();
    let results: Vec<Value> = export
        .rows
        .iter()
        .map(|row| {
            let at = rules.of(row);
            result(row, at)
        })
        .collect();
    json!({
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
    })
}

/// Rules in the order they are met, the worst finding of each telling how severe it is.
#[derive(Default)]
struct Rules {
    all: Vec<Value>,
    at: HashMap<String, usize>,
}

impl Rules {
    fn of(&mut self, row: &ExportRow) -> usize {
        if let Some(at) = self.at.get(row.class()) {
            return *at;
        }
        self.all.push(rule(row));
        self.at.insert(row.class().to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

fn rule(row: &ExportRow) -> Value {
    let case = &row.case;
    let mut rule = Map::new();
    rule.insert("id".into(), json!(row.class()));
    rule.insert("shortDescription".into(), text(&case.name));
    // The text of one of our own is about that one, not about its class: its result tells it.
    if case.own.is_none() && !case.vuln_description.trim().is_empty() {
        rule.insert("fullDescription".into(), text(&case.vuln_description));
    }
    if !case.recommendation.trim().is_empty() {
        rule.insert("help".into(), text(&case.recommendation));
    }
    if let Some(link) = row.links().first() {
        rule.insert("helpUri".into(), json!(link));
    }
    let mut tags = vec!["security".to_owned()];
    tags.extend(row.cwes().iter().map(|cwe| format!("external/cwe/cwe-{cwe}")));
    rule.insert("properties".into(), json!({"tags": tags}));
    Value::Object(rule)
}

fn text(text: &str) -> Value {
    json!({"text": if text.trim().is_empty() { "-" } else { text }})
}

/// Its name; of one of our own what was written about it too, and the evidence.
fn message(row: &ExportRow) -> String {
    let case = &row.case;
    let mut parts = vec![case.name.to_string()];
    if case.own.is_some() {
        parts.extend([case.vuln_description.to_string(), evidence_cell(&case.vuln_evidence)]);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// The asset, and the service on it where there is one.
fn asset(case: &Case) -> String {
    match &*case.identity.service {
        "" | "-" => case.identity.asset.to_string(),
        service => format!("{} {service}", case.identity.asset),
    }
}

fn result(row: &ExportRow, rule: usize) -> Value {
    let case = &row.case;
    let place = row.place();
    json!({
        "ruleId": row.class(),
        "ruleIndex": rule,
        "level": level(row.risk()),
        "message": text(&message(row)),
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": place}},
            "logicalLocations": [{
                "name": row.target,
                "fullyQualifiedName": asset(case),
                "kind": "resource",
            }],
        }],
        "occurrenceCount": case.finding_ids().count(),
        "partialFingerprints": {"scandeckF1/v1": case.identity.f1, "scandeckKey/v1": case.key()},
        "baselineState": baseline(case.presence),
        "suppressions": suppressions(row),
        "rank": rank(row.risk()),
        "properties": {
            "security-severity": severity(row.risk()),
            "verdict": row.stance.verdict.as_str(),
            "undecided": row.stance.is_undecided(),
            "again": row.stance.again.map(plain::again),
            "presence": case.presence.as_str(),
            "retest": plain::retest(row),
            "scannerRisk": case.risk_level.as_str(),
            "cve": case.cve,
            "tags": row.stance.tags,
            "findingId": case.finding.id,
        },
    })
}

/// SARIF knows four states. What an earlier run did not have is new to it, also what came back; what nobody looked
/// for again is as it was.
fn baseline(presence: Presence) -> &'static str {
    match presence {
        Presence::New | Presence::Reappeared => "new",
        Presence::Unchanged | Presence::NotRetested => "unchanged",
        Presence::Updated => "updated",
        Presence::Absent => "absent",
    }
}

/// Always an array: where one result of a run has it, all must. Empty says that nothing is suppressed.
fn suppressions(row: &ExportRow) -> Value {
    let verdict = row.stance.verdict;
    let status = match verdict {
        Verdict::FalsePositive | Verdict::NotApplicable | Verdict::RiskAccepted | Verdict::Duplicate => {
            // One that holds no more waits for its review.
            if row.stance.again.is_some() { "underReview" } else { "accepted" }
        }
        Verdict::InReview => "underReview",
        Verdict::Open | Verdict::Confirmed | Verdict::Fixed => return json!([]),
    };
    json!([{
        "kind": "external",
        "status": status,
        "justification": row.told(),
        "properties": {"verdict": verdict.as_str(), "reason": row.stance.reason.map(|reason| reason.as_str())},
    }])
}

fn level(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical | Risk::High => "error",
        Risk::Medium => "warning",
        Risk::Low | Risk::Info => "note",
    }
}

/// 0 to 100, as SARIF ranks.
fn rank(risk: Risk) -> f64 {
    risk.level() as f64 * 25.0
}

/// A number within the band that readers of SARIF give each word.
fn severity(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical => "9.5",
        Risk::High => "8.0",
        Risk::Medium => "5.5",
        Risk::Low => "2.0",
        Risk::Info => "0.0",
    }
}
