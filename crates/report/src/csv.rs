//! The CSV report: one row per finding and a header row.

use super::{
    CsvTable, Document, RenderError, ReportDecision, ReportFinding, ReportOutput, evidence_cell,
};
use scandeck_wire::contract::EvidenceView;
use scandeck_wire::text::clean_text_for_print;

pub(super) type FindingColumn = (&'static str, fn(&ReportFinding) -> String);
pub(super) type DecisionColumn = (&'static str, fn(&ReportDecision) -> String);

/// The columns after the group.
pub(super) const COLUMNS: [FindingColumn; 22] = [
    ("id", |found| found.finding.id.to_string()),
    ("target", |found| found.target.clone()),
    ("risk", |found| found.finding.risk_level.to_string()),
    ("name", |found| found.finding.name.to_string()),
    ("status", |found| found.finding.status.to_string()),
    ("confirmed", |found| found.finding.confirmed.to_string()),
    ("verified", |found| found.finding.verified.to_string()),
    ("port", |found| found.finding.port.to_string()),
    ("protocol", |found| found.finding.protocol.to_string()),
    ("service", |found| found.finding.service.to_string()),
    ("vuln_id", |found| found.finding.vuln_id.to_string()),
    ("cve", |found| found.finding.cve.join(" ")),
    ("cwe", |found| found.finding.cwe.to_string()),
    ("owasp_2021", |found| {
        found.finding.owasp.owasp_2021.to_string()
    }),
    ("tool", |found| found.tool.to_string()),
    ("found_at", |found| {
        found.found_at.map(|at| at.to_string()).unwrap_or_default()
    }),
    ("description", |found| {
        found.finding.vuln_description.to_string()
    }),
    ("recommendation", |found| {
        found.finding.recommendation.to_string()
    }),
    ("evidence", |found| {
        evidence_cell(&found.finding.vuln_evidence)
    }),
    ("references", |found| found.finding.references.join(" ")),
    ("in_cisa_catalog", |found| {
        found.finding.in_cisa_catalog.to_string()
    }),
    ("epss_score", |found| {
        let score = found.finding.epss_score;
        score.map(|score| score.to_string()).unwrap_or_default()
    }),
];

/// The columns of decisions, after the others in a report with decisions.
pub(super) const DECISION_COLUMNS: [DecisionColumn; 14] = [
    ("verdict", |decided| decided.verdict.clone()),
    ("again", |decided| decided.again.clone()),
    ("reason", |decided| decided.reason.clone()),
    ("until", |decided| decided.until.clone()),
    ("decided_by", |decided| decided.who.clone()),
    ("decided_at", |decided| decided.at.clone()),
    ("own_severity", |decided| {
        decided
            .severity
            .map(|risk| risk.to_string())
            .unwrap_or_default()
    }),
    ("now", |decided| decided.now.clone()),
    ("retest_before", |decided| {
        decided.retest.clone().unwrap_or_default().before
    }),
    ("retest_now", |decided| {
        decided.retest.clone().unwrap_or_default().now
    }),
    ("retested_at", |decided| {
        decided.retest.clone().unwrap_or_default().at
    }),
    ("tags", |decided| decided.tags.join(" ")),
    ("notes", |decided| {
        decided
            .notes
            .iter()
            .map(|note| note.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }),
    ("fingerprint", |decided| decided.fingerprint.clone()),
];

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let decisions: &[DecisionColumn] = if document.with_decisions {
        &DECISION_COLUMNS
    } else {
        &[]
    };
    let columns = COLUMNS
        .iter()
        .map(|(name, _)| *name)
        .chain(decisions.iter().map(|(name, _)| *name));
    let mut table = CsvTable::new(out, ["group"].into_iter().chain(columns))?;
    for group in &document.groups {
        for found in document.findings(group, 0) {
            let found = found?;
            let decided = found.decided.clone().unwrap_or_default();
            let cells = COLUMNS.iter().map(|(_, cell)| cell(&found));
            let cells = cells.chain(decisions.iter().map(|(_, cell)| cell(&decided)));
            let cells = [group.name.clone()].into_iter().chain(cells);
            table.row(cells.map(|cell| clean_text_for_print(&cell).into_owned()))?;
        }
    }
    table.finish().map(drop)
}

/// Evidence in one cell: one line per row, `header: cell` pairs, then the exchange.
pub(crate) fn evidence(view: &EvidenceView) -> String {
    if let Some(exchange) = view.shared_exchange() {
        let found = evidence(&view.clone().without_exchange());
        return format!("{found}\n\n{}", exchange.text());
    }
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
                row.iter()
                    .enumerate()
                    .map(pair)
                    .collect::<Vec<_>>()
                    .join("; ")
            };
            rows.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}
