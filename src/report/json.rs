//! The JSON report: an array of groups, each with its name and `findings[]`; finding fields are those of the contract.

use serde_json::{Value, json};

use super::{Document, Earlier, RenderError, ReportFinding};
use crate::contract::Stamp;
use crate::text;

pub(super) fn render(document: &Document) -> Result<Vec<u8>, RenderError> {
    let mut groups = Vec::new();
    for group in &document.groups {
        let findings = group.findings.iter().map(finding).collect::<Result<Vec<_>, _>>()?;
        groups.push(json!({"name": group.name, "group_by": document.group_by.as_str(), "findings": findings}));
    }
    Ok(text::escaped_json(&serde_json::to_string_pretty(&groups)?).into_owned().into_bytes())
}

fn finding(found: &ReportFinding) -> Result<Value, serde_json::Error> {
    let mut finding = serde_json::to_value(&found.finding)?;
    finding["target_name"] = json!(found.target);
    finding["tool_id"] = json!(found.tool);
    finding["found_at"] = json!(stamp(found.found_at));
    if !found.history.is_empty() {
        finding["history"] = found.history.iter().map(earlier).collect();
    }
    if let Some(decided) = &found.decided {
        finding["decided"] = serde_json::to_value(decided)?;
    }
    Ok(finding)
}

fn earlier(earlier: &Earlier) -> Value {
    json!({"id": earlier.id, "found_at": stamp(earlier.found_at), "risk_level": earlier.risk})
}

fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}
