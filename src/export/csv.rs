//! A table for spreadsheets: one row per finding, RFC 4180, UTF-8. Cells that start a formula are neutralised.

use csv::{Terminator, WriterBuilder};

use super::{Export, ExportError, ExportRow, json};
use crate::contract::Stamp;
use crate::report::{evidence_cell, neutral};
use crate::text;

/// Name and cell of a column.
type CsvColumn = (&'static str, fn(&ExportRow) -> String);

const COLUMNS: [CsvColumn; 37] = [
    ("id", |row| if row.issue.own.is_some() { String::new() } else { row.issue.finding.id.to_string() }),
    ("fingerprint", |row| row.issue.key().to_string()),
    ("workspace", |row| row.workspace.to_string()),
    ("target", |row| row.target.to_string()),
    ("risk", |row| row.issue.risk_level.to_string()),
    ("own_severity", |row| or_empty(row.assessment.severity)),
    ("name", |row| row.issue.name.to_string()),
    ("verdict", |row| row.assessment.verdict.to_string()),
    ("undecided", |row| row.assessment.is_undecided().to_string()),
    ("again", |row| or_empty(row.assessment.reopened)),
    ("reason", |row| or_empty(row.assessment.reason)),
    ("until", |row| or_empty(row.assessment.until)),
    ("decided_by", |row| or_empty(row.assessment.who.as_ref())),
    ("decided_at", |row| or_empty(row.assessment.at)),
    ("presence", |row| row.issue.presence.as_str().to_owned()),
    ("retest_before", |row| or_empty(row.retest.as_ref().map(|retest| &retest.before))),
    ("retest_now", |row| or_empty(row.retest.as_ref().map(|retest| json::retest_status(retest.now)))),
    ("retested_at", |row| or_empty::<Stamp>(row.retest.as_ref().and_then(|retest| retest.at))),
    ("first_seen", |row| or_empty(row.issue.first_seen)),
    ("last_seen", |row| or_empty(row.issue.last_seen)),
    ("port", ExportRow::port),
    ("protocol", |row| row.issue.protocol.to_string()),
    ("service", |row| row.issue.service.to_string()),
    ("vuln_id", |row| row.issue.vuln_id.to_string()),
    ("cve", |row| row.issue.cve.join(" ")),
    ("cwe", |row| row.issue.cwe.to_string()),
    ("owasp_2021", |row| row.issue.owasp.owasp_2021.to_string()),
    ("in_cisa_catalog", |row| row.issue.in_cisa_catalog.to_string()),
    ("epss_score", |row| or_empty(row.issue.epss_score)),
    ("scanner_confirmed", |row| row.issue.confirmed.to_string()),
    ("service_status", |row| row.issue.status.to_string()),
    ("tags", |row| row.assessment.tags.join(" ")),
    ("notes", |row| row.joined_notes("\n")),
    ("description", |row| row.issue.vuln_description.to_string()),
    ("recommendation", |row| row.issue.recommendation.to_string()),
    ("evidence", |row| evidence_cell(&row.issue.vuln_evidence)),
    ("references", |row| row.issue.references.join(" ")),
];

pub(super) fn write(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COLUMNS.map(|(name, _)| name))?;
    for row in export.rows {
        writer.write_record(COLUMNS.map(|(_, cell)| neutral(&text::clean_text(&cell(row)))))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()).into())
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
