//! A finding as one JSON object: first the fields of the contract, then the fields of scandeck.

use serde_json::{Value, json};

use super::ExportRow;
use crate::triage::{ReopenCause, RetestStatus, ScanSighting, TimelineEntry};
use scandeck_wire::contract::{Finding, Stamp};

/// The object of a row whose texts are in memory.
pub fn row(row: &ExportRow) -> Value {
    object(row, &row.issue.whole().unwrap_or_default())
}

/// The object of a row and its finding.
pub(super) fn object(row: &ExportRow, finding: &Finding) -> Value {
    let (issue, assessment) = (&row.issue, &row.assessment);
    let stamp = |at: Option<Stamp>| at.map(|at| at.to_string());
    let notes = row
        .noted()
        .map(|(text, event)| json!({"text": text, "who": event.who, "at": event.at}));
    // Every finding has a JSON form, because it was parsed from JSON.
    let mut value = serde_json::to_value(finding).unwrap_or_else(|_| json!({}));
    let added = json!({
        "target_name": row.target,
        "workspace_name": row.workspace,
        "tool_id": row.tool,
        "fingerprint": issue.key(),
        "presence": issue.presence.as_str(),
        "first_seen": stamp(issue.first_seen.get()),
        "last_seen": stamp(issue.last_seen.get()),
        "occurrences": issue.finding_ids().collect::<Vec<_>>(),
        "own": issue.manual().is_some(),
        "verdict": assessment.verdict.as_str(),
        "undecided": assessment.is_undecided(),
        "again": assessment.reopened.map(ReopenCause::as_str),
        "recheck": assessment.recheck,
        "decided_through": assessment.source.as_str(),
        "reason": assessment.reason.map(|reason| reason.as_str()),
        "until": assessment.until.map(|day| day.to_string()),
        "decided_at": stamp(assessment.at),
        "decided_by": assessment.who,
        "severity": assessment.severity,
        "assignee": assessment.assignee,
        "due": assessment.due.map(|day| day.to_string()),
        "tags": assessment.tags,
        "notes": notes.collect::<Vec<_>>(),
        "duplicate_of": assessment.duplicate_of,
        "retest": retest(row),
    });
    if let (Value::Object(fields), Value::Object(added)) = (&mut value, added) {
        fields.extend(added);
    }
    // A proof is rare, and long.
    if let Some(proof) = &row.proof {
        value["proof"] = proof.json();
    }
    value
}

/// The scans of a finding, latest first, also those that did not report it.
pub fn history(row: &ExportRow) -> Value {
    row.timeline().iter().map(scan_entry).collect()
}

fn scan_entry(entry: &TimelineEntry) -> Value {
    let (outcome, risk, why) = match &entry.outcome {
        ScanSighting::Seen(finding) => ("seen", Some(finding.risk_level), None),
        ScanSighting::Absent => ("absent", None, None),
        ScanSighting::NotRetested(gap) => ("not_retested", None, Some(gap.reason())),
    };
    let at = entry.at.map(|at| at.to_string());
    json!({"scan_id": entry.scan, "at": at, "outcome": outcome, "risk_level": risk, "why": why})
}

/// The result of the last retest, or null.
pub(super) fn retest(row: &ExportRow) -> Value {
    let Some(retest) = &row.retest else {
        return Value::Null;
    };
    let at = retest.at.map(|at| at.to_string());
    json!({"at": at, "before": retest.before, "now": retest_status(retest.now), "scan_id": retest.scan})
}

pub(super) fn retest_status(status: RetestStatus) -> String {
    status.word().replace(' ', "_")
}
