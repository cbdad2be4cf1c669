//! CycloneDX 1.6 VEX: a component per target, a vulnerability per finding, its analysis is the
//! decision. A finding with several CVEs has a vulnerability per CVE: readers look the id up, and
//! `references` names equal vulnerabilities.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::row::links;
use super::{Export, ExportRow, json as plain, without_empty};
use crate::triage::{FindingTexts, Issue, Presence, Verdict};
use scandeck_report::evidence_cell;
use scandeck_wire::contract::{Shared, Stamp};

pub(super) fn document(export: &Export<'_>) -> io::Result<Value> {
    let targets: BTreeMap<String, &ExportRow> =
        export.rows.iter().map(|row| (target(row), row)).collect();
    let components: Vec<Value> = targets
        .iter()
        .map(|(reference, row)| json!({"type": "application", "bom-ref": reference, "name": row.target}))
        .collect();
    let vulnerabilities: Vec<Value> = export
        .rows
        .iter()
        .map(vulnerabilities)
        .collect::<io::Result<Vec<_>>>()?
        .concat();
    Ok(json!({
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
        "vulnerabilities": vulnerabilities,
    }))
}

/// The reference to a target within the document.
fn target(row: &ExportRow) -> String {
    format!("target:{}", row.issue.identity.asset)
}

/// RFC 3339, which has four digits for the year; nothing for a year outside.
fn time(at: Stamp) -> Option<String> {
    let at = Timestamp::from_second(at.as_second()).ok()?;
    (0..=9999)
        .contains(&at.to_zoned(TimeZone::UTC).year())
        .then(|| at.to_string())
}

/// One entry per CVE, which differ in the id alone; a finding without a CVE has one entry with its
/// class.
fn vulnerabilities(row: &ExportRow) -> io::Result<Vec<Value>> {
    let shared = vulnerability(row)?;
    let with = |name: &str, fields: Value| {
        let mut entry = shared.clone();
        entry["bom-ref"] = name.into();
        if let (Value::Object(entry), Value::Object(fields)) = (&mut entry, fields) {
            entry.extend(fields);
        }
        entry
    };
    // One vulnerability per finding: the same CVE on two targets can have different decisions.
    let reference = format!("finding:{}:{}", row.issue.key(), row.workspace);
    let source = json!({"name": "NVD", "url": "https://nvd.nist.gov/"});
    let cves = cves(row);
    if cves.is_empty() {
        return Ok(vec![with(&reference, json!({"id": row.class()}))]);
    }
    // Readers know the first entry by the reference without a CVE.
    let of_cve = |(at, cve): (usize, &&Shared)| match at {
        0 => with(&reference, json!({"id": cve, "source": source})),
        _ => with(
            &format!("{reference}:{cve}"),
            json!({"id": cve, "source": source}),
        ),
    };
    Ok(cves.iter().enumerate().map(of_cve).collect())
}

/// Each CVE once: references within a document are unique.
fn cves(row: &ExportRow) -> Vec<&Shared> {
    let mut seen = BTreeSet::new();
    row.issue
        .cve
        .iter()
        .filter(|cve| !cve.trim().is_empty() && seen.insert(cve.as_str()))
        .collect()
}

fn vulnerability(row: &ExportRow) -> io::Result<Value> {
    let (issue, texts) = (&row.issue, row.issue.texts()?);
    let advisories: Value = links(&texts)
        .iter()
        .map(|link| json!({"url": link}))
        .collect();
    Ok(without_empty(json!({
        "ratings": ratings(row),
        "cwes": row.cwes(),
        "description": issue.name,
        "detail": texts.vuln_description,
        "recommendation": texts.recommendation,
        "advisories": advisories,
        "created": issue.first_seen.get().and_then(time),
        "updated": issue.last_seen.get().and_then(time),
        "analysis": analysis(row),
        "affects": [{"ref": target(row)}],
        "properties": properties(row),
        "proofOfConcept": proof(issue, &texts),
    })))
}

/// The evidence of a manual finding, which no scanner reports again.
fn proof(issue: &Issue, texts: &FindingTexts) -> Value {
    let evidence = issue
        .manual()
        .map(|_| evidence_cell(&texts.vuln_evidence))
        .unwrap_or_default();
    if evidence.trim().is_empty() {
        Value::Null
    } else {
        json!({"reproductionSteps": evidence})
    }
}

/// The severity override first, then the risk of the scanner.
fn ratings(row: &ExportRow) -> Vec<Value> {
    let scanner = json!({"source": {"name": "scanner"}, "severity": row.issue.risk_level.as_str()});
    match row.assessment.severity {
        None => vec![scanner],
        Some(own) => vec![
            json!({"source": {"name": "scandeck"}, "severity": own.as_str()}),
            scanner,
        ],
    }
}

fn analysis(row: &ExportRow) -> Value {
    let verdict = row.verdict();
    without_empty(json!({
        "state": state(verdict),
        "response": (verdict == Verdict::RiskAccepted).then_some(["will_not_fix"]),
        "detail": row.justification(),
        "lastUpdated": row.assessment.at.and_then(time),
    }))
}

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
    let (issue, assessment) = (&row.issue, &row.assessment);
    let mut all = vec![
        ("scandeck:fingerprint", issue.key().to_string()),
        ("scandeck:f1", issue.identity.f1.to_string()),
        ("scandeck:verdict", assessment.verdict.to_string()),
        (
            "scandeck:presence",
            issue.presence_in(Presence::as_str).to_owned(),
        ),
        ("scandeck:place", row.place()),
    ];
    all.extend(
        assessment
            .reason
            .map(|reason| ("scandeck:reason", reason.to_string())),
    );
    all.extend(
        assessment
            .until
            .map(|day| ("scandeck:until", day.to_string())),
    );
    if let Some(retest) = &row.retest {
        all.push(("scandeck:retest_before", retest.before.to_string()));
        all.push(("scandeck:retest_now", plain::retest_status(retest.now)));
        all.extend(
            retest
                .at
                .and_then(time)
                .map(|at| ("scandeck:retested_at", at)),
        );
    }
    if issue.presence == Presence::NotRetested {
        all.push((
            "scandeck:note",
            "not retested: this does not mean that the finding is fixed".to_owned(),
        ));
    }
    all.into_iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}
