//! The command that exports findings with their decisions.

use crate::base::{Effect, Exported, Pane, ReportRequest};
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::chain::ChainData;
use scandeck_domain::export::{ExportFormat, ExportRow};
use scandeck_domain::triage::retest::retest_results;
use scandeck_domain::triage::{FindingKey, Issue, IssueId, RetestResult};
use scandeck_report::ReportScan;
use scandeck_wire::contract::{Scan, Shared, Stamp};
use scandeck_wire::text::file_name;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const FORMATS: &[&str] = &[
    "csv",
    "markdown",
    "jsonl",
    "defectdojo",
    "sarif",
    "vex",
    "html",
    "json",
    "pdf",
    "docx",
    "xlsx",
];

pub(crate) static COMMANDS: &[Command] = &[Command::new(
    "export",
    &[
        ArgumentSlot::needed(ArgumentShape::Choice(FORMATS, "FORMAT")),
        ArgumentSlot::optional(ArgumentShape::Findings),
        ArgumentSlot::after("to", ArgumentShape::Text("FILE")),
    ],
    "export findings that match QUERY; without it, the marked or shown ones",
    "export csv is:decided to handover.csv",
    export,
)];

fn export(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let format = args
        .choice()
        .and_then(ExportFormat::named)
        .ok_or("format is missing")?;
    let (ids, query) = chosen(model, args.query())?;
    let report = ReportRequest::default();
    let named = (format, query, args.text());
    let made = exported(model, &ids, named, report)?;
    begin(model, made, effects);
    Ok(())
}

/// Writes a report of these findings without the service.
pub(crate) fn write(
    model: &mut Model,
    ids: &[IssueId],
    format: ExportFormat,
    report: ReportRequest,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    let made = report_of(model, ids, format, report)?;
    begin(model, made, effects);
    Ok(())
}

fn begin(model: &mut Model, made: Box<Exported>, effects: &mut Vec<Effect>) {
    model.notify_saving(&made.name);
    effects.push(Effect::Export(made));
}

/// Previews a report of these findings.
pub(crate) fn preview(
    model: &Model,
    ids: &[IssueId],
    format: ExportFormat,
    report: ReportRequest,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    let made = report_of(model, ids, format, report)?;
    effects.push(Effect::PreviewReport(made));
    Ok(())
}

fn report_of(
    model: &Model,
    ids: &[IssueId],
    format: ExportFormat,
    report: ReportRequest,
) -> Result<Box<Exported>, String> {
    let workspace = model
        .workspace()
        .map(|workspace| workspace.name.to_string())
        .unwrap_or_default();
    let name = file_name(&format!(
        "report-{}.{}",
        shown(model, &workspace),
        format.ending()
    ));
    let named = (format, String::new(), Some(name));
    exported(model, ids, named, report)
}

fn exported(
    model: &Model,
    ids: &[IssueId],
    (format, query, name): (ExportFormat, String, Option<String>),
    report: ReportRequest,
) -> Result<Box<Exported>, String> {
    let workspace = model.workspace_name();
    let retests = retests(model, &workspace);
    let rows: Vec<ExportRow> = ids
        .iter()
        .filter_map(|&id| row(model, id, &workspace, &retests))
        .collect();
    if rows.is_empty() {
        return Err("no findings to export".to_owned());
    }
    let name = name.unwrap_or_else(|| {
        file_name(&format!(
            "findings-{}.{}",
            shown(model, &workspace),
            format.ending()
        ))
    });
    let made = Stamp(model.now.wall);
    let report = match format.is_report() {
        true => with_scope(model, report),
        false => report,
    };
    Ok(Box::new(Exported {
        name,
        format,
        title: workspace,
        query,
        made,
        rows,
        report,
        mask: None,
    }))
}

/// The request with the targets and scans of the workspace.
fn with_scope(model: &Model, report: ReportRequest) -> ReportRequest {
    let targets = model.data.targets.value();
    let targets = targets.map(|table| table.items()).unwrap_or_default();
    let payloads = model.data.payloads.value();
    let payloads = payloads.map(|table| table.items()).unwrap_or_default();
    let scans = model.data.scans.value();
    let scans = scans.map(|table| table.items()).unwrap_or_default();
    let named = |scan: &Arc<Scan>| ReportScan {
        target: model
            .target_name(scan.target_id)
            .map(ToString::to_string)
            .unwrap_or_default(),
        scan: (**scan).clone(),
    };
    ReportRequest {
        targets: targets
            .iter()
            .map(|target| target.name.to_string())
            .collect(),
        scans: scans.iter().map(named).collect(),
        chains: ChainData {
            findings: Vec::new(),
            targets: targets.iter().map(|target| target.name.clone()).collect(),
            payloads: payloads.to_vec(),
            captured: model.captured_tokens(),
            manual: model.manual_links(),
        },
        ..report
    }
}

/// A name as the screen shows it, for the name of a file.
fn shown<'a>(model: &Model, name: &'a str) -> Cow<'a, str> {
    model
        .mask()
        .map_or(Cow::Borrowed(name), |mask| mask.text(name))
}

/// Ids in the order of the list, and the query that selects them.
pub(crate) fn chosen(
    model: &mut Model,
    query: Option<String>,
) -> Result<(Vec<IssueId>, String), String> {
    let table = model.data.findings.value().cloned().unwrap_or_default();
    if let Some(query) = query {
        let matches: HashSet<i64> = model
            .ids_matching(Pane::Findings, &query)?
            .into_iter()
            .collect();
        let order = table
            .order(0)
            .iter()
            .map(|&row| table.items()[row as usize].id);
        return Ok((order.filter(|id| matches.contains(&id.0)).collect(), query));
    }
    if let Some(why) = model.findings_wait_notice() {
        return Err(why.to_owned());
    }
    let list = &model.lists.findings;
    let marked: Vec<IssueId> = list
        .shown(&table)
        .filter(|id| list.marks.contains(*id))
        .collect();
    if !marked.is_empty() {
        return Ok((marked, String::new()));
    }
    // Rows that remain on the screen after a decision no longer match the query.
    let matching = list
        .shown(&table)
        .filter(|id| !list.retained_only.contains(id))
        .collect();
    Ok((matching, model.query_of_findings()))
}

/// The retest results available now.
fn retests(model: &Model, workspace: &str) -> HashMap<FindingKey, RetestResult> {
    let (Some(issues), Some(scans)) = (model.data.findings.value(), model.data.scans.value())
    else {
        return HashMap::new();
    };
    retest_results(
        &model.findings.triage.settings,
        workspace,
        (issues, scans),
        &model.findings.triage.read,
    )
}

fn row(
    model: &Model,
    id: IssueId,
    workspace: &Shared,
    retests: &HashMap<FindingKey, RetestResult>,
) -> Option<ExportRow> {
    let issue: &Arc<Issue> = model.data.findings.value()?.get(id)?;
    let assessment = model.assessment(id).cloned().unwrap_or_default();
    let target = issue
        .target_id()
        .and_then(|target| model.target_name(target))
        .or(issue.target_name().as_ref());
    let target = target.unwrap_or(&issue.identity.asset).clone();
    let tool = issue
        .task_id()
        .and_then(|scan| Some(model.data.scans.value()?.get(scan)?.tool_id));
    let row = ExportRow::new(
        Arc::clone(issue),
        assessment,
        &model.findings.triage.state,
        target,
        tool,
        workspace.clone(),
    );
    let correlation = model.findings.triage.earlier.clone();
    Some(ExportRow {
        retest: retests.get(&issue.key()).cloned(),
        correlation,
        ..row
    })
}
