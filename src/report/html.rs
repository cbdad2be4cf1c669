//! The HTML report: one self-contained page without scripts, from `assets/reports/report.html`.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};
use serde_json::json;

use super::{Document, Earlier, RenderError, ReportFinding, ReportScan};
use crate::contract::{EvidenceView, Finding, Risk, Stamp, Tool};
use crate::text;

const TEMPLATE: &str = include_str!("../../assets/reports/report.html");

pub(super) fn render(document: &Document) -> Result<Vec<u8>, RenderError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("report", TEMPLATE)?;
    let groups: Vec<_> = document
        .groups
        .iter()
        .map(|group| json!({"name": group.name, "findings": group.findings.iter().map(entry).collect::<Vec<_>>()}))
        .collect();
    let counts: Vec<_> = Risk::DOWN.iter().map(|risk| risk.as_str()).zip(document.counts).collect();
    let page = environment.get_template("report")?.render(Value::from(Serde(json!({
        "workspace": document.workspace,
        "generated": document.generated.to_string(),
        "by": document.group_by.as_str(),
        "counts": counts,
        "groups": groups,
        "scans": document.scans.iter().map(scan).collect::<Vec<_>>(),
    }))))?;
    // A page may be read in a terminal, and hidden characters mislead a reader in a browser as well.
    Ok(text::clean_text(&page).into_owned().into_bytes())
}

fn scan(scanned: &ReportScan) -> serde_json::Value {
    let ReportScan { scan, target } = scanned;
    json!({
        "id": scan.id,
        "target": target,
        "tool": Tool(scan.tool_id).to_string(),
        "status": scan.status_name.as_str(),
        "start": scan.start_time.map(|at| at.to_string()),
        "end": scan.end_time.map(|at| at.to_string()),
        "tests": scan.num_finished_tests,
        "params": scan.tool_params.as_ref().map(ToString::to_string),
    })
}

/// A finding for the template.
fn entry(found: &ReportFinding) -> serde_json::Value {
    let finding = &found.finding;
    let (links, other_references): (Vec<&str>, Vec<&str>) = finding
        .references
        .iter()
        .map(|reference| reference.as_str())
        .partition(|reference| reference.starts_with("https://") || reference.starts_with("http://"));
    let owasp = &finding.owasp;
    let classes = [&*finding.cwe, &*owasp.owasp_2025, &*owasp.owasp_2021, &*owasp.owasp_2017]
        .into_iter()
        .chain(finding.cve.iter().map(|cve| &**cve));
    let earlier = |old: &Earlier| json!([old.id, text_of(old.found_at), old.risk.as_str()]);
    json!({
        "id": finding.id,
        "name": finding.name,
        "target": found.target,
        "risk": found.risk().as_str(),
        "own": found.decided.as_ref().is_some_and(|decided| decided.own),
        "scanner_risk": finding.risk_level.as_str(),
        "decided": found.decided,
        "confirmed": finding.confirmed,
        "place": place(finding),
        "found_at": text_of(found.found_at),
        "tool": found.tool.to_string(),
        "description": finding.vuln_description,
        "risk_description": finding.risk_description,
        "recommendation": finding.recommendation,
        "classification": classes.filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" · "),
        "evidence": evidence(finding.vuln_evidence.view().decoded()),
        "links": links,
        "other_references": other_references,
        "history": found.history.iter().map(earlier).collect::<Vec<_>>(),
    })
}

fn text_of(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// `443/tcp https` without unknown parts.
fn place(finding: &Finding) -> String {
    let protocol = if finding.protocol.is_empty() { "" } else { "/" };
    let port = match finding.port {
        0 => finding.protocol.to_string(),
        port => format!("{port}{protocol}{}", finding.protocol),
    };
    format!("{port} {}", finding.service).trim().to_owned()
}

/// Evidence for the template: a text, or a table.
fn evidence(view: EvidenceView) -> serde_json::Value {
    match view {
        EvidenceView::Nothing => json!({}),
        EvidenceView::Text(text) => json!({"text": text}),
        EvidenceView::Tree(tree) => json!({"text": format!("{tree:#}")}),
        EvidenceView::Table { headers, rows } => json!({"headers": headers, "rows": rows}),
    }
}
