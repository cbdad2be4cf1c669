//! The CSV report: one row per finding and a header row (RFC 4180, UTF-8).

use csv::{Terminator, WriterBuilder};

use super::{Document, RenderError, ReportFinding, entities};
use crate::contract::EvidenceView;

#[rustfmt::skip]
const HEADERS: [&str; 21] = [
    "group", "id", "target", "risk", "name", "status", "confirmed", "verified", "port", "protocol", "service",
    "vuln_id", "cve", "cwe", "owasp_2021", "tool", "found_at", "description", "recommendation", "evidence",
    "references",
];

/// Headers of decisions, after the others in a report with decisions.
#[rustfmt::skip]
const DECISION_HEADERS: [&str; 14] = [
    "verdict", "again", "reason", "until", "decided_by", "decided_at", "own_severity", "now", "retest_before",
    "retest_now", "retested_at", "tags", "notes", "fingerprint",
];

pub(super) fn render(document: &Document) -> Result<Vec<u8>, RenderError> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    let more: &[&str] = if document.with_decisions { &DECISION_HEADERS } else { &[] };
    writer.write_record(HEADERS.iter().chain(more))?;
    for group in &document.groups {
        for found in &group.findings {
            let decided = if document.with_decisions { decided(found).to_vec() } else { Vec::new() };
            writer.write_record(row(&group.name, found).iter().chain(&decided).map(|cell| neutral(cell)))?;
        }
    }
    writer.into_inner().map_err(|error| RenderError::Table(csv::Error::from(error.into_error())))
}

fn row(group: &str, found: &ReportFinding) -> [String; HEADERS.len()] {
    let finding = &found.finding;
    [
        group.to_owned(),
        finding.id.to_string(),
        found.target.clone(),
        finding.risk_level.to_string(),
        finding.name.to_string(),
        finding.status.to_string(),
        finding.confirmed.to_string(),
        finding.verified.to_string(),
        finding.port.to_string(),
        finding.protocol.to_string(),
        finding.service.to_string(),
        finding.vuln_id.to_string(),
        finding.cve.join(" "),
        finding.cwe.to_string(),
        finding.owasp.owasp_2021.to_string(),
        found.tool.to_string(),
        found.found_at.map(|at| at.to_string()).unwrap_or_default(),
        finding.vuln_description.to_string(),
        finding.recommendation.to_string(),
        evidence(&entities::decoded(finding.vuln_evidence.view())),
        finding.references.join(" "),
    ]
}

fn decided(found: &ReportFinding) -> [String; DECISION_HEADERS.len()] {
    let decided = found.decided.clone().unwrap_or_default();
    let retest = decided.retest.unwrap_or_default();
    let notes: Vec<String> = decided.notes.into_iter().map(|note| note.text).collect();
    [
        decided.verdict,
        decided.again,
        decided.reason,
        decided.until,
        decided.who,
        decided.at,
        decided.severity.map(|risk| risk.to_string()).unwrap_or_default(),
        decided.now,
        retest.before,
        retest.now,
        retest.at,
        decided.tags.join(" "),
        notes.join("\n"),
        decided.fingerprint,
    ]
}

/// Evidence in one cell: one line per row, `header: cell` pairs.
pub(crate) fn evidence(view: &EvidenceView) -> String {
    match view {
        EvidenceView::Nothing => String::new(),
        EvidenceView::Text(text) => text.clone(),
        EvidenceView::Tree(tree) => tree.to_string(),
        EvidenceView::Table { headers, rows } => {
            let line = |row: &Vec<String>| {
                let pair = |(column, cell): (usize, &String)| match headers.get(column) {
                    Some(header) if !header.is_empty() => format!("{header}: {cell}"),
                    _ => cell.clone(),
                };
                row.iter().enumerate().map(pair).collect::<Vec<_>>().join("; ")
            };
            rows.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Prefixes a cell that a spreadsheet would read as a formula with an apostrophe.
pub(crate) fn neutral(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}") } else { cell.to_owned() }
}
