//! An explanation as JSON for programs, with the values as they arrived.

use serde_json::{Value, json};

use super::{
    ComparedValue, ExplainedDecision, ExplainedProof, ExplainedScan, PresenceExplanation,
    SettlingStep,
};
use crate::finding::Reason;
use crate::triage::issue::ReopenCause;

impl PresenceExplanation {
    /// The object of `findings explain --json`.
    pub fn json(&self) -> Value {
        let test = self.test.as_ref().map(|test| {
            json!({
                "class": test.class,
                "description": test.description,
                "scan_id": test.scan,
                "ran": test.has_run,
                "details": values(&test.details),
            })
        });
        let baseline = self.baseline.as_ref().map(|baseline| {
            json!({
                "pinned": baseline.pinned(),
                "who": baseline.who,
                "at": baseline.at.to_string(),
            })
        });
        json!({
            "id": self.finding,
            "fingerprint": self.key,
            "name": self.name,
            "presence": self.reason.presence().as_str(),
            "reason": self.reason.as_str(),
            "because": self.reason.reason(),
            "scans": self.scans.iter().map(scan).collect::<Vec<_>>(),
            "test": test,
            "evidence": {
                "then_scan_id": self.evidence.then,
                "now_scan_id": self.evidence.now,
                "changes": values(&self.evidence.changes),
                "more": self.evidence.more,
                "varying": self.evidence.varying,
                "problem": self.evidence.problem,
            },
            "baseline": baseline,
            "again": self.reopened.map(ReopenCause::as_str),
            "proof": self.proof.as_ref().map(ExplainedProof::json),
            "decisions": self.decisions.iter().map(decision).collect::<Vec<_>>(),
            "next": self.steps.iter().map(|one| step(*one)).collect::<Vec<_>>(),
        })
    }
}

impl ExplainedProof {
    /// The proof with its author and time.
    pub fn json(&self) -> Value {
        let mut value = self.proof.json();
        value["who"] = json!(self.who);
        value["at"] = json!(self.at.to_string());
        value
    }
}

fn values(values: &[ComparedValue]) -> Vec<Value> {
    let value =
        |value: &ComparedValue| json!({"name": value.name, "then": value.then, "now": value.now});
    values.iter().map(value).collect()
}

fn scan(scan: &ExplainedScan) -> Value {
    json!({
        "id": scan.id,
        "tool_id": scan.tool,
        "status": scan.status,
        "at": scan.at.map(|at| at.to_string()),
        "role": scan.role.as_str(),
    })
}

fn decision(decision: &ExplainedDecision) -> Value {
    json!({
        "verdict": decision.verdict.as_str(),
        "decided_through": decision.source.as_str(),
        "who": decision.who,
        "at": decision.at.map(|at| at.to_string()),
        "rule": decision.rule,
        "reason": decision.reason.map(Reason::as_str),
        "until": decision.until.map(|day| day.to_string()),
    })
}

fn step(step: SettlingStep) -> Value {
    match step {
        SettlingStep::Confirm => json!({"step": "confirm"}),
        SettlingStep::Fix => json!({"step": "fix"}),
        SettlingStep::Prove => json!({"step": "prove"}),
        SettlingStep::Retest(scan) => json!({"step": "retest", "scan_id": scan}),
        SettlingStep::OpenScan(scan) => json!({"step": "open_scan", "scan_id": scan}),
        SettlingStep::Compare { before, after } => {
            json!({"step": "compare", "scan_id": after, "before_scan_id": before})
        }
    }
}
