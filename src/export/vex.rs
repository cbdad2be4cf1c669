//! CycloneDX 1.6 VEX: a component a target, a vulnerability a finding, its analysis what was decided (`triage.md`, Out).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Export, ExportRow, json as plain};
use crate::contract::Stamp;
use crate::report::evidence_cell;
use crate::triage::{Case, Presence, Verdict};

pub(super) fn document(export: &Export<'_>) -> Value {
    let targets: BTreeMap<String, &ExportRow> = export.rows.iter().map(|row| (target(row), row)).collect();
    let components: Vec<Value> = targets
        .iter()
        .map(|(reference, row)| json!({"type": "application", "bom-ref": reference, "name": row.target}))
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time(export.made),
            "tools": {"components": [{
                "type": "application",
                "name": "scandeck",
                "version": env!("CARGO_PKG_VERSION"),
            }]},
            "component": {"type": "application", "bom-ref": "scope", "name": export.title},
        },
        "components": components,
        "vulnerabilities": export.rows.iter().map(vulnerability).collect::<Vec<_>>(),
    })
}

/// Names a target within the document.
fn target(row: &ExportRow) -> String {
    format!("target:{}", row.case.identity.asset)
}

fn time(at: Stamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at.0).to_string()
}

fn vulnerability(row: &ExportRow) -> Value {
    let case = &row.case;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        let empty = value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty);
        if !empty {
            fields.insert(name.to_owned(), value);
        }
    };
    // One finding is one vulnerability here: the same CVE on two targets can be decided differently.
    put("bom-ref", json!(format!("finding:{}:{}", case.key(), row.workspace)));
    put("id", json!(case.cve.first().map_or(row.class(), |cve| &**cve)));
    put("references", json!(others(row)));
    put("ratings", json!(ratings(row)));
    put("cwes", json!(row.cwes()));
    put("description", json!(case.name));
    put("detail", json!(case.vuln_description));
    put("recommendation", json!(case.recommendation));
    put("advisories", row.links().iter().map(|link| json!({"url": link})).collect());
    put("created", json!(case.first_seen.map(time)));
    put("updated", json!(case.last_seen.map(time)));
    put("analysis", analysis(row));
    put("affects", json!([{"ref": target(row)}]));
    put("properties", json!(properties(row)));
    put("proofOfConcept", proof(case));
    Value::Object(fields)
}

/// What shows it: of a person's own finding, which no scanner can be asked for again.
fn proof(case: &Case) -> Value {
    let evidence = case.own.as_ref().map(|_| evidence_cell(&case.vuln_evidence)).unwrap_or_default();
    if evidence.trim().is_empty() { Value::Null } else { json!({"reproductionSteps": evidence}) }
}

/// Its other CVEs.
fn others(row: &ExportRow) -> Vec<Value> {
    let source = json!({"name": "NVD", "url": "https://nvd.nist.gov/"});
    row.case.cve.iter().skip(1).map(|cve| json!({"id": cve, "source": source})).collect()
}

/// The severity that counts first, the scanner's behind it where a person says otherwise.
fn ratings(row: &ExportRow) -> Vec<Value> {
    let scanner = json!({"source": {"name": "scanner"}, "severity": row.case.risk_level.as_str()});
    match row.stance.severity {
        None => vec![scanner],
        Some(own) => vec![json!({"source": {"name": "scandeck"}, "severity": own.as_str()}), scanner],
    }
}

fn analysis(row: &ExportRow) -> Value {
    let verdict = match row.verdict() {
        // A duplicate is what the finding is that it duplicates.
        Verdict::Duplicate => row.original.unwrap_or(Verdict::Open),
        verdict => verdict,
    };
    let mut analysis = Map::from_iter([("state".to_owned(), json!(state(verdict)))]);
    if verdict == Verdict::RiskAccepted {
        analysis.insert("response".into(), json!(["will_not_fix"]));
    }
    let told = row.told();
    if !told.is_empty() {
        analysis.insert("detail".into(), json!(told));
    }
    if let Some(at) = row.stance.at {
        analysis.insert("lastUpdated".into(), json!(time(at)));
    }
    Value::Object(analysis)
}

/// The state that a verdict stands for.
fn state(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::FalsePositive => "false_positive",
        Verdict::NotApplicable => "not_affected",
        Verdict::RiskAccepted | Verdict::Confirmed => "exploitable",
        Verdict::Fixed => "resolved",
        Verdict::Open | Verdict::InReview | Verdict::Duplicate => "in_triage",
    }
}

fn properties(row: &ExportRow) -> Vec<Value> {
    let (case, stance) = (&row.case, &row.stance);
    let mut all = vec![
        ("scandeck:fingerprint", case.key().to_string()),
        ("scandeck:f1", case.identity.f1.to_string()),
        ("scandeck:verdict", stance.verdict.to_string()),
        ("scandeck:presence", case.presence.as_str().to_owned()),
        ("scandeck:place", row.place()),
    ];
    all.extend(stance.reason.map(|reason| ("scandeck:reason", reason.to_string())));
    all.extend(stance.until.map(|day| ("scandeck:until", day.to_string())));
    if let Some(retest) = &row.retest {
        all.push(("scandeck:retest_before", retest.before.to_string()));
        all.push(("scandeck:retest_now", plain::now(retest.now)));
        all.extend(retest.at.map(|at| ("scandeck:retested_at", time(at))));
    }
    if case.presence == Presence::NotRetested {
        all.push(("scandeck:note", "not looked for again: this says nothing about whether it is fixed".to_owned()));
    }
    all.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}
