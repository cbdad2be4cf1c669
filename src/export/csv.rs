//! A table for spreadsheets: a row a finding, RFC 4180, UTF-8. Cells that would start a formula are neutralised.

use csv::{Terminator, WriterBuilder};

use super::{Export, ExportError, ExportRow, json};
use crate::contract::Stamp;
use crate::report::{evidence_cell, neutral};
use crate::text;

const HEADS: [&str; 37] = [
    "id",
    "fingerprint",
    "workspace",
    "target",
    "risk",
    "own_severity",
    "name",
    "verdict",
    "undecided",
    "again",
    "reason",
    "until",
    "decided_by",
    "decided_at",
    "presence",
    "retest_before",
    "retest_now",
    "retested_at",
    "first_seen",
    "last_seen",
    "port",
    "protocol",
    "service",
    "vuln_id",
    "cve",
    "cwe",
    "owasp_2021",
    "in_cisa_catalog",
    "epss_score",
    "scanner_confirmed",
    "service_status",
    "tags",
    "notes",
    "description",
    "recommendation",
    "evidence",
    "references",
];

pub(super) fn write(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(HEADS)?;
    for row in export.rows {
        writer.write_record(cells(row).iter().map(|cell| neutral(&text::clean_text(cell))))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()).into())
}

fn cells(row: &ExportRow) -> [String; HEADS.len()] {
    let (case, stance, retest) = (&row.case, &row.stance, row.retest.as_ref());
    let stamp = |at: Option<Stamp>| at.map(|at| at.to_string()).unwrap_or_default();
    let shown = |value: Option<String>| value.unwrap_or_default();
    [
        if case.own.is_some() { String::new() } else { case.finding.id.to_string() },
        case.key().to_string(),
        row.workspace.to_string(),
        row.target.to_string(),
        case.risk_level.to_string(),
        shown(stance.severity.map(|risk| risk.to_string())),
        case.name.to_string(),
        stance.verdict.to_string(),
        stance.is_undecided().to_string(),
        shown(stance.again.map(|again| json::again(again).to_owned())),
        shown(stance.reason.map(|reason| reason.to_string())),
        shown(stance.until.map(|day| day.to_string())),
        shown(stance.who.as_ref().map(ToString::to_string)),
        stamp(stance.at),
        case.presence.as_str().to_owned(),
        shown(retest.map(|retest| retest.before.to_string())),
        shown(retest.map(|retest| json::now(retest.now))),
        stamp(retest.and_then(|retest| retest.at)),
        stamp(case.first_seen),
        stamp(case.last_seen),
        if case.port > 0 { case.port.to_string() } else { String::new() },
        case.protocol.to_string(),
        case.service.to_string(),
        case.vuln_id.to_string(),
        case.cve.join(" "),
        case.cwe.to_string(),
        case.owasp.owasp_2021.to_string(),
        case.in_cisa_catalog.to_string(),
        shown(case.epss_score.map(|score| score.to_string())),
        case.confirmed.to_string(),
        case.status.to_string(),
        stance.tags.join(" "),
        row.note_texts().map(|note| note.to_string()).collect::<Vec<_>>().join("\n"),
        case.vuln_description.to_string(),
        case.recommendation.to_string(),
        evidence_cell(&case.vuln_evidence),
        case.references.join(" "),
    ]
}
