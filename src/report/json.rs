//! The JSON report: an array of groups, each with its name and `findings[]`; finding fields are the contract's.

use serde::Serialize;
use serde_json::Value;

use super::{Document, Earlier, RenderError, ReportDecision, ReportFinding};
use crate::contract::{FindingId, Risk, Stamp};

#[derive(Serialize)]
struct GroupOut<'a> {
    name: &'a str,
    group_by: &'a str,
    findings: Vec<FindingOut>,
}

#[derive(Serialize)]
struct FindingOut {
    #[serde(flatten)]
    finding: Value,
    tool_id: i64,
    found_at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<EarlierOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<ReportDecision>,
}

#[derive(Serialize)]
struct EarlierOut {
    id: FindingId,
    found_at: String,
    risk_level: Risk,
}

pub(super) fn render(document: &Document) -> Result<Vec<u8>, RenderError> {
    let groups = document
        .groups
        .iter()
        .map(|group| {
            Ok(GroupOut {
                name: &group.name,
                group_by: document.group_by.as_str(),
                findings: group.findings.iter().map(finding).collect::<Result<_, serde_json::Error>>()?,
            })
        })
        .collect::<Result<Vec<_>, serde_json::Error>>()?;
    Ok(serde_json::to_vec_pretty(&groups)?)
}

fn finding(found: &ReportFinding) -> Result<FindingOut, serde_json::Error> {
    let mut finding = serde_json::to_value(&found.finding)?;
    finding["target_name"] = Value::from(found.target.as_str());
    Ok(FindingOut {
        finding,
        tool_id: found.tool.0,
        found_at: stamp(found.found_at),
        history: found.history.iter().map(earlier).collect(),
        decided: found.decided.clone(),
    })
}

fn earlier(earlier: &Earlier) -> EarlierOut {
    EarlierOut { id: earlier.id, found_at: stamp(earlier.found_at), risk_level: earlier.risk }
}

fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}
