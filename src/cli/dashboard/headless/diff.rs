//! `scandeck scans diff`: compares the findings of two scans.

use std::collections::BTreeMap;

use serde_json::Value;

use super::print::cells;
use super::rows::FindingRows;
use super::{HeadlessSession, PrintTable};
use crate::cli::error::CliError;
use scandeck_domain::export;
use scandeck_domain::export::ExportRow;
use scandeck_domain::triage::retest::RetestStatus;
use scandeck_domain::triage::{ComparedFinding, compare};
use scandeck_wire::contract::{Risk, ScanId};

/// Compares two scans; without the second one, with the last finished scan before it of the same
/// target and tool.
///
/// # Errors
/// When a scan does not exist or has no earlier scan, and those of the service.
pub async fn run(
    session: &HeadlessSession,
    a: ScanId,
    b: Option<ScanId>,
    all: bool,
) -> anyhow::Result<()> {
    let workspace = session.client()?.get_scan(a).await?.workspace_id;
    let rows = FindingRows::load_one(session, workspace).await?;
    let find = |id: ScanId| {
        let elsewhere = || {
            CliError::new(
                format!("scan {id} is in another workspace"),
                "compare scans of one workspace",
            )
        };
        rows.scans
            .items()
            .iter()
            .find(|scan| scan.id == id)
            .ok_or_else(elsewhere)
    };
    let first = find(a)?;
    let second = match b {
        Some(b) => {
            // A scan that does not exist is an error of its own.
            session.client()?.get_scan(b).await?;
            find(b)?
        }
        None => compare::before(&rows.scans, first).ok_or_else(|| {
            let message = format!("no earlier finished scan with the target and tool of scan {a}");
            CliError::new(message, "add the id of the other scan")
        })?,
    };
    if first.target_id != second.target_id {
        let message = format!(
            "scans {} and {} have different targets",
            first.id, second.id
        );
        return Err(CliError::new(message, "compare scans of one target").into());
    }
    if first.tool_id != second.tool_id {
        let message = format!("scans {} and {} used different tools", first.id, second.id);
        return Err(CliError::new(message, "compare scans of one tool").into());
    }
    let (before, after) = compare::in_order(first, second);
    let issues = rows.issues();
    let is_listed = |one: &ComparedFinding| all || one.outcome != compare::Outcome::Same;
    let row = |one: ComparedFinding| {
        let id = issues.items()[one.at].id;
        rows.all
            .iter()
            .find(|row| row.issue.id == id)
            .map(|row| (row, one))
    };
    let mut compared: Vec<(&ExportRow, ComparedFinding)> = compare::compare(&issues, before, after)
        .into_iter()
        .filter(is_listed)
        .filter_map(row)
        .collect();
    compared.sort_by_key(|(row, one)| std::cmp::Reverse(risk(row, one)));
    let values: Vec<Value> = compared.iter().map(|(row, one)| object(row, one)).collect();
    session.out.list(&values, || table(&compared))?;
    if !session.out.json {
        note!("{}", counted(&compared));
    }
    Ok(())
}

/// The number of findings of each outcome, such as `1 new, 43 not retested`.
fn counted(compared: &[(&ExportRow, ComparedFinding)]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, one) in compared {
        *counts
            .entry(RetestStatus::Is(one.outcome).compared_label())
            .or_default() += 1;
    }
    if counts.is_empty() {
        return "no differences".to_owned();
    }
    counts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect::<Vec<_>>()
        .join(", ")
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
        _ => one
            .gap
            .map(|gap| gap.reason().to_owned())
            .into_iter()
            .collect(),
    }
}

/// The risk in the later scan that saw it.
fn risk(row: &ExportRow, one: &ComparedFinding) -> Risk {
    one.after
        .as_ref()
        .or(one.before.as_ref())
        .map_or(row.issue.risk_level, |finding| finding.risk_level)
}

fn table(compared: &[(&ExportRow, ComparedFinding)]) -> PrintTable {
    PrintTable::of(
        [
            "OUTCOME", "ID", "RISK", "TARGET", "FINDING", "VERDICT", "CHANGES",
        ],
        compared,
        |(row, one)| {
            let seen = one.after.as_ref().or(one.before.as_ref());
            let id = seen
                .map(|finding| finding.id.to_string())
                .unwrap_or_default();
            let (outcome, changes) = (
                RetestStatus::Is(one.outcome).compared_label(),
                differences(one).join(", "),
            );
            cells![
                outcome,
                id,
                risk(row, one),
                row.target,
                row.issue.name,
                row.assessment.verdict,
                changes
            ]
        },
    )
}
