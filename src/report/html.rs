//! The HTML report: one self-contained page without scripts, from `assets/reports/report.html`.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};
use serde::Serialize;
use serde_json::json;

use super::{Document, RenderError, ReportDecision, ReportFinding, ReportScan, entities};
use crate::contract::{EvidenceView, Finding, Risk, Tool};

const TEMPLATE: &str = include_str!("../../assets/reports/report.html");

/// A finding as the template reads it.
#[derive(Serialize)]
struct HtmlFinding {
    id: i64,
    name: String,
    target: String,
    risk: &'static str,
    confirmed: bool,
    place: String,
    found_at: String,
    tool: String,
    description: String,
    risk_description: String,
    recommendation: String,
    classification: String,
    evidence: HtmlEvidence,
    links: Vec<String>,
    other_references: Vec<String>,
    history: Vec<(i64, String, &'static str)>,
    own: bool,
    scanner_risk: &'static str,
    decided: Option<ReportDecision>,
}

/// Evidence as the template reads it.
#[derive(Default, Serialize)]
struct HtmlEvidence {
    text: String,
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

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
    Ok(page.into_bytes())
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

fn entry(found: &ReportFinding) -> HtmlFinding {
    let finding = &found.finding;
    let (links, other_references) = finding
        .references
        .iter()
        .map(ToString::to_string)
        .partition(|reference: &String| reference.starts_with("https://") || reference.starts_with("http://"));
    let owasp = &finding.owasp;
    let classes = [&*finding.cwe, &*owasp.owasp_2025, &*owasp.owasp_2021, &*owasp.owasp_2017]
        .into_iter()
        .chain(finding.cve.iter().map(|cve| &**cve));
    HtmlFinding {
        id: finding.id.0,
        name: finding.name.to_string(),
        target: found.target.clone(),
        risk: found.risk().as_str(),
        own: found.decided.as_ref().is_some_and(|decided| decided.own),
        scanner_risk: finding.risk_level.as_str(),
        decided: found.decided.clone(),
        confirmed: finding.confirmed,
        place: place(finding),
        found_at: found.found_at.map(|at| at.to_string()).unwrap_or_default(),
        tool: found.tool.to_string(),
        description: finding.vuln_description.to_string(),
        risk_description: finding.risk_description.to_string(),
        recommendation: finding.recommendation.to_string(),
        classification: classes.filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" · "),
        evidence: shown(entities::decoded(finding.vuln_evidence.view())),
        links,
        other_references,
        history: found
            .history
            .iter()
            .map(|old| (old.id.0, old.found_at.map(|at| at.to_string()).unwrap_or_default(), old.risk.as_str()))
            .collect(),
    }
}

/// `443/tcp https`; what is not known is left out.
fn place(finding: &Finding) -> String {
    let protocol = if finding.protocol.is_empty() { "" } else { "/" };
    let port = match finding.port {
        0 => finding.protocol.to_string(),
        port => format!("{port}{protocol}{}", finding.protocol),
    };
    format!("{port} {}", finding.service).trim().to_owned()
}

fn shown(view: EvidenceView) -> HtmlEvidence {
    match view {
        EvidenceView::Nothing => HtmlEvidence::default(),
        EvidenceView::Text(text) => HtmlEvidence { text, ..HtmlEvidence::default() },
        EvidenceView::Tree(tree) => HtmlEvidence { text: format!("{tree:#}"), ..HtmlEvidence::default() },
        EvidenceView::Table { headers, rows } => HtmlEvidence { headers, rows, ..HtmlEvidence::default() },
    }
}
