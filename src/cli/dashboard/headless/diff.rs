//! `scandeck scans diff`: compares the findings of two scans.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::print::cells;
use super::rows::FindingRows;
use super::{HeadlessSession, PrintTable};
use crate::cli::error::CliError;
use scandeck_domain::export;
use scandeck_domain::export::ExportRow;
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::retest::RetestStatus;
use scandeck_domain::triage::{ComparedFinding, ListedFinding, compare};
use scandeck_wire::contract::{Risk, Scan, ScanId};

/// A finding of two scans, with its row.
struct ComparedRow<'a> {
    row: &'a ExportRow,
    finding: ComparedFinding,
}

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
    let first = find(&rows, a)?;
    let second = match b {
        Some(b) => {
            // A scan that does not exist is an error of its own.
            session.client()?.get_scan(b).await?;
            find(&rows, b)?
        }
        None => compare::before(&rows.scans, first).ok_or_else(|| {
            let message = format!("no earlier finished scan with the target and tool of scan {a}");
            CliError::new(message, "add the id of the other scan")
        })?,
    };
    check_comparable(first, second)?;
    let compared = compared(&rows, first, second, all);
    let values: Vec<Value> = compared.iter().map(object).collect();
    session.out.list(&values, || table(&compared))?;
    if !session.out.json {
        note!("{}", counted(&compared));
    }
    Ok(())
}

fn find(rows: &FindingRows, id: ScanId) -> Result<&Arc<Scan>, CliError> {
    let mut scans = rows.scans.items().iter();
    scans.find(|scan| scan.id == id).ok_or_else(|| {
        let message = format!("scan {id} is in another workspace");
        CliError::new(message, "compare scans of one workspace")
    })
}

fn check_comparable(first: &Scan, second: &Scan) -> Result<(), CliError> {
    let pair = format!("scans {} and {}", first.id, second.id);
    if first.target_id != second.target_id {
        let message = format!("{pair} have different targets");
        return Err(CliError::new(message, "compare scans of one target"));
    }
    if first.tool_id != second.tool_id {
        let message = format!("{pair} used different tools");
        return Err(CliError::new(message, "compare scans of one tool"));
    }
    Ok(())
}

/// The findings that differ, or all, with the highest risk first.
fn compared<'a>(
    rows: &'a FindingRows,
    first: &Arc<Scan>,
    second: &Arc<Scan>,
    all: bool,
) -> Vec<ComparedRow<'a>> {
    let (before, after) = compare::in_order(first, second);
    let issues = rows.issues();
    let with_row = |finding: ComparedFinding| {
        let id = issues.items()[finding.at].id;
        let row = rows.all.iter().find(|row| row.issue.id == id)?;
        Some(ComparedRow { row, finding })
    };
    let found = compare::compare(&issues, before, after).into_iter();
    let listed = found.filter(|one| all || one.outcome != compare::Outcome::Same);
    let mut compared: Vec<ComparedRow> = listed.filter_map(with_row).collect();
    compared.sort_by_key(|one| Reverse(risk(one)));
    compared
}

/// The number of findings of each outcome, such as `1 new, 43 not retested`.
fn counted(compared: &[ComparedRow]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in compared {
        *counts.entry(outcome(one)).or_default() += 1;
    }
    if counts.is_empty() {
        return "no differences".to_owned();
    }
    let counts = counts
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"));
    counts.collect::<Vec<_>>().join(", ")
}

fn outcome(one: &ComparedRow) -> &'static str {
    RetestStatus::Is(one.finding.outcome).compared_label()
}

fn object(one: &ComparedRow) -> Value {
    let mut value = export::json::row(one.row);
    value["outcome"] = one.finding.outcome.as_str().into();
    value["differences"] = differences(&one.finding).into();
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

/// The finding of the later scan that saw it.
fn seen<'a>(one: &'a ComparedRow) -> Option<&'a Arc<ListedFinding>> {
    one.finding.after.as_ref().or(one.finding.before.as_ref())
}

fn risk(one: &ComparedRow) -> Risk {
    seen(one).map_or(one.row.issue.risk_level, |finding| finding.risk_level)
}

fn table(compared: &[ComparedRow]) -> PrintTable {
    let header = [
        "OUTCOME",
        finding::ID,
        finding::RISK,
        finding::TARGET,
        finding::NAME,
        finding::DECISION,
        "CHANGES",
    ];
    PrintTable::of(header, compared, |one| {
        let row = one.row;
        let id = seen(one).map(|finding| finding.id.to_string());
        cells![
            outcome(one),
            id.unwrap_or_default(),
            risk(one),
            row.target,
            row.issue.name,
            row.assessment.verdict,
            differences(&one.finding).join(", ")
        ]
    })
}
