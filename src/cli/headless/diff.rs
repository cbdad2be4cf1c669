//! `scandeck scans diff`: what a later scan saw of what an earlier one told.

use serde_json::Value;

use super::rows::FindingRows;
use super::{HeadlessSession, PrintTable};
use crate::cli::advised::Advised;
use crate::contract::{Risk, ScanId};
use crate::export;
use crate::export::ExportRow;
use crate::triage::{ComparedFinding, compare};

/// Compares two scans; without the second the last finished one before it, of the same target and tool.
///
/// # Errors
/// When a scan is unknown or there is none to compare with, and those of the calls.
pub async fn run(session: &HeadlessSession, a: ScanId, b: Option<ScanId>, all: bool) -> anyhow::Result<()> {
    let workspace = session.client()?.get_scan(a).await?.workspace_id;
    let rows = FindingRows::load_one(session, workspace).await?;
    let unknown =
        |id| Advised::new(format!("scan {id} is not among those of its workspace"), "compare scans of one workspace");
    let first = rows.scan(a).ok_or_else(|| unknown(a))?;
    let second = match b {
        Some(b) => rows.scan(b).ok_or_else(|| unknown(b))?,
        None => compare::before(&rows.scans, first).ok_or_else(|| {
            let hint = "name the scan to compare with";
            Advised::new(format!("no finished scan of its target and tool is before scan {a}"), hint)
        })?,
    };
    let (before, after) = compare::in_order(first, second);
    let cases = rows.cases();
    let wanted = |one: &ComparedFinding| all || one.outcome != compare::Outcome::Same;
    let row = |one: ComparedFinding| {
        let id = cases.items()[one.at].id;
        rows.all.iter().find(|row| row.case.id == id).map(|row| (row, one))
    };
    let compared: Vec<(&ExportRow, ComparedFinding)> =
        compare::compare(&cases, before, after).into_iter().filter(wanted).filter_map(row).collect();
    let shown: Vec<Value> = compared.iter().map(|(row, one)| object(row, one)).collect();
    session.out.list(&shown, || table(&compared))
}

fn object(row: &ExportRow, one: &ComparedFinding) -> Value {
    let mut value = export::json::row(row);
    value["outcome"] = one.outcome.as_str().into();
    value["differences"] = differences(one).into();
    value
}

fn differences(one: &ComparedFinding) -> Vec<String> {
    match (&one.before, &one.after) {
        (Some(before), Some(after)) => compare::differences(before, after),
        _ => Vec::new(),
    }
}

fn table(compared: &[(&ExportRow, ComparedFinding)]) -> PrintTable {
    let mut table = PrintTable::new(&["OUTCOME", "ID", "RISK", "TARGET", "FINDING", "VERDICT", "WHAT DIFFERS"]);
    for (row, one) in compared {
        let told = one.after.as_ref().or(one.before.as_ref());
        let risk: Risk = told.map_or(row.case.risk_level, |finding| finding.risk_level);
        table.row([
            one.outcome.as_str().replace('_', " "),
            told.map(|finding| finding.id.to_string()).unwrap_or_default(),
            risk.to_string(),
            row.target.to_string(),
            row.case.name.to_string(),
            row.assessment.verdict.to_string(),
            differences(one).join(", "),
        ]);
    }
    table
}
