//! A table for spreadsheets: one row per finding.

use super::{Export, ExportError, ExportRow, json};
use crate::triage::{FindingTexts, Presence};
use scandeck_report::{CsvTable, evidence_cell};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;

/// Name and cell of a column.
type CsvColumn = (&'static str, fn(&ExportRow, &FindingTexts) -> String);

const COLUMNS: [CsvColumn; 40] = [
    ("id", |row, _| {
        if row.issue.manual().is_some() {
            String::new()
        } else {
            row.issue.finding.id.to_string()
        }
    }),
    ("fingerprint", |row, _| row.issue.key().to_string()),
    ("workspace", |row, _| row.workspace.to_string()),
    ("target", |row, _| row.target.to_string()),
    ("risk", |row, _| row.risk().to_string()),
    ("own_severity", |row, _| or_empty(row.assessment.severity)),
    ("scanned_risk", |row, _| row.issue.risk_level.to_string()),
    ("name", |row, _| row.issue.name.to_string()),
    ("verdict", |row, _| row.assessment.verdict.to_string()),
    ("undecided", |row, _| {
        row.assessment.is_undecided().to_string()
    }),
    ("again", |row, _| or_empty(row.assessment.reopened)),
    ("reason", |row, _| or_empty(row.assessment.reason)),
    ("until", |row, _| or_empty(row.assessment.until)),
    ("decided_by", |row, _| or_empty(row.assessment.who.as_ref())),
    ("decided_at", |row, _| or_empty(row.assessment.at)),
    ("presence", |row, _| {
        row.issue.presence_in(Presence::as_str).to_owned()
    }),
    ("retest_before", |row, _| {
        or_empty(row.retest.as_ref().map(|retest| &retest.before))
    }),
    ("retest_now", |row, _| {
        or_empty(
            row.retest
                .as_ref()
                .map(|retest| json::retest_status(retest.now)),
        )
    }),
    ("retested_at", |row, _| {
        or_empty::<Stamp>(row.retest.as_ref().and_then(|retest| retest.at))
    }),
    ("first_seen", |row, _| or_empty(row.issue.first_seen.get())),
    ("last_seen", |row, _| or_empty(row.issue.last_seen.get())),
    ("port", |row, _| row.port()),
    ("protocol", |row, _| row.issue.protocol.to_string()),
    ("service", |row, _| row.issue.service.to_string()),
    ("vuln_id", |row, _| row.issue.vuln_id.to_string()),
    ("cve", |row, _| row.issue.cve.join(" ")),
    ("cwe", |row, _| row.issue.cwe.to_string()),
    ("owasp_2021", |row, _| {
        row.issue.owasp.owasp_2021.to_string()
    }),
    ("in_cisa_catalog", |row, _| {
        row.issue.in_cisa_catalog.to_string()
    }),
    ("epss_score", |row, _| or_empty(row.issue.epss_score())),
    ("scanner_confirmed", |row, _| {
        row.issue.confirmed.to_string()
    }),
    ("service_status", |row, _| row.issue.status.to_string()),
    ("tags", |row, _| row.assessment.tags.join(" ")),
    ("notes", |row, _| row.joined_notes("\n")),
    ("description", |_, texts| texts.vuln_description.to_string()),
    ("recommendation", |_, texts| {
        texts.recommendation.to_string()
    }),
    ("evidence", |_, texts| evidence_cell(&texts.vuln_evidence)),
    ("references", |_, texts| texts.references.join(" ")),
    ("assignee", |row, _| {
        or_empty(row.assessment.assignee.as_ref())
    }),
    ("due", |row, _| or_empty(row.assessment.due)),
];

pub(super) fn write(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let mut table =
        CsvTable::new(Vec::new(), COLUMNS.map(|(name, _)| name)).map_err(ExportError::Table)?;
    for row in export.rows {
        let texts = row.issue.texts()?;
        let cells = COLUMNS.map(|(_, cell)| text::clean_text(&cell(row, &texts)).into_owned());
        table.row(cells).map_err(ExportError::Table)?;
    }
    table.finish().map_err(ExportError::Table)
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
