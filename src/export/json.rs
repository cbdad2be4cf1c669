//! A finding as one JSON object: the contract's fields under their names first, ours after.

use serde_json::{Value, json};

use super::ExportRow;
use crate::contract::Stamp;
use crate::triage::{Again, Change, Event, RetestStatus, VerdictSource};

/// The object of a row.
pub fn row(row: &ExportRow) -> Value {
    let (case, stance) = (&row.case, &row.stance);
    let stamp = |at: Option<Stamp>| at.map(|at| at.to_string());
    // Every finding has a JSON form: it came as one.
    let mut value = serde_json::to_value(&*case.finding).unwrap_or_else(|_| json!({}));
    let ours = json!({
        "target_name": row.target,
        "workspace_name": row.workspace,
        "tool_id": row.tool,
        "fingerprint": case.key(),
        "presence": case.presence.as_str(),
        "first_seen": stamp(case.first_seen),
        "last_seen": stamp(case.last_seen),
        "occurrences": case.finding_ids().collect::<Vec<_>>(),
        "own": case.own.is_some(),
        "verdict": stance.verdict.as_str(),
        "undecided": stance.is_undecided(),
        "again": stance.again.map(again),
        "recheck": stance.recheck,
        "decided_through": source(stance.source),
        "reason": stance.reason.map(|reason| reason.as_str()),
        "until": stance.until.map(|day| day.to_string()),
        "decided_at": stamp(stance.at),
        "decided_by": stance.who,
        "severity": stance.severity,
        "tags": stance.tags,
        "notes": notes(row),
        "duplicate_of": stance.duplicate_of,
        "retest": retest(row),
    });
    if let (Value::Object(fields), Value::Object(ours)) = (&mut value, ours) {
        fields.extend(ours);
    }
    value
}

fn notes(row: &ExportRow) -> Vec<Value> {
    let told = |event: &std::sync::Arc<Event>| match &event.change {
        Change::Note(text) => Some(json!({"text": text, "who": event.who, "at": event.at})),
        _ => None,
    };
    row.notes.iter().filter_map(told).collect()
}

/// What the last retest came to; null where there was none.
pub fn retest(row: &ExportRow) -> Value {
    let told = |retest: &crate::triage::RetestResult| {
        let at = retest.at.map(|at| at.to_string());
        json!({"at": at, "before": retest.before, "now": now(retest.now), "scan_id": retest.scan})
    };
    row.retest.as_ref().map(told).unwrap_or_default()
}

/// What is known since a retest.
pub fn now(now: RetestStatus) -> String {
    now.word().replace(' ', "_")
}

/// Why a decision holds no more.
pub fn again(again: Again) -> &'static str {
    match again {
        Again::Regression => "regression",
        Again::Expired => "expired",
        Again::Conflict => "conflict",
    }
}

/// Whose word a verdict is.
pub fn source(source: VerdictSource) -> &'static str {
    match source {
        VerdictSource::Person => "person",
        VerdictSource::Rule(_) => "rule",
        VerdictSource::Service => "service",
        VerdictSource::Nobody => "nobody",
    }
}
