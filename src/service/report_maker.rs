//! Reports: gathering their data, making the documents in the background, and telling who asked.
//!
//! ```text
//!   POST /reports ─► gather ─► copy in the store ─┐            ┌─► finished, or failed
//!                                                 ├─► make ────┤
//!   scan ended ─► owed callback ─► gather ────────┘            └─► delivery queued (webhook, report_callback)
//! ```

use std::collections::{BTreeSet, HashMap};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::errors::ApiError;
use super::state::App;
use super::store::DatabaseError;
use super::store::deliveries::{NewDelivery, Owed};
use super::store::findings::FindingFilter;
use super::store::reports::ReportToMake;
use crate::contract::{
    Finding, FindingId, GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource, Scan, ScanId, Stamp, TargetId,
    Tool,
};
use crate::report::{Document, Earlier, FORMATS, ReportData, ReportFinding, ReportScan, content_type, render};

/// Copies everything a report is made of; 400 names the ids that are unknown.
pub async fn gather(app: &App, asked: &NewReport) -> Result<ReportData, ApiError> {
    let filters = asked.filters.unwrap_or_default();
    let (findings, scans) = match asked.source {
        ReportSource::Findings => chosen_findings(app, &asked.resources).await?,
        _ => chosen_scans(app, &asked.resources).await?,
    };
    Ok(assemble(app, asked.group_by.clone(), filters, findings, scans).await?)
}

type ReportContents = (Vec<Finding>, Vec<Scan>);

async fn chosen_findings(app: &App, ids: &[i64]) -> Result<ReportContents, ApiError> {
    let wanted: Vec<FindingId> = unique(ids).map(FindingId).collect();
    let filter = FindingFilter { ids: Some(wanted), ..FindingFilter::default() };
    let findings = app.store.read_findings(&filter).await?;
    check_known("findings", ids, findings.iter().map(|finding| finding.id.0))?;
    let scans: BTreeSet<i64> = findings.iter().filter_map(|finding| finding.task_id).map(|id| id.0).collect();
    let scans = known_scans(app, scans).await?;
    Ok((findings, scans))
}

async fn chosen_scans(app: &App, ids: &[i64]) -> Result<ReportContents, ApiError> {
    let scans = known_scans(app, unique(ids)).await?;
    check_known("scans", ids, scans.iter().map(|scan| scan.id.0))?;
    let mut findings = Vec::new();
    for scan in &scans {
        findings.extend(findings_of(app, scan.id).await?);
    }
    Ok((findings, scans))
}

async fn findings_of(app: &App, scan: ScanId) -> Result<Vec<Finding>, DatabaseError> {
    app.store.read_findings(&FindingFilter { scan: Some(scan), ..FindingFilter::default() }).await
}

fn unique(ids: &[i64]) -> impl Iterator<Item = i64> {
    ids.iter().copied().collect::<BTreeSet<_>>().into_iter()
}

async fn known_scans(app: &App, ids: impl IntoIterator<Item = i64>) -> Result<Vec<Scan>, DatabaseError> {
    let mut scans = Vec::new();
    for id in ids {
        scans.extend(app.store.scan(ScanId(id), app.now()).await?);
    }
    Ok(scans)
}

fn check_known(noun: &str, asked: &[i64], known: impl Iterator<Item = i64>) -> Result<(), ApiError> {
    let known: BTreeSet<i64> = known.collect();
    let missing: Vec<String> =
        unique(asked).filter(|id| !known.contains(id)).take(20).map(|id| id.to_string()).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(ApiError::bad_request(format!("resources: there are no {noun} {}", missing.join(", ")))),
    }
}

async fn assemble(
    app: &App,
    group_by: GroupBy,
    filters: ReportFilters,
    findings: Vec<Finding>,
    scans: Vec<Scan>,
) -> Result<ReportData, DatabaseError> {
    let names = target_names(app, &scans).await?;
    let name = |id: Option<TargetId>| id.and_then(|id| names.get(&id).cloned()).unwrap_or_default();
    let by_id: HashMap<ScanId, &Scan> = scans.iter().map(|scan| (scan.id, scan)).collect();
    let mut found = Vec::with_capacity(findings.len());
    for finding in findings {
        let scan = finding.task_id.and_then(|id| by_id.get(&id));
        found.push(ReportFinding {
            target: name(finding.target_id),
            tool: Tool(scan.map_or(0, |scan| scan.tool_id)),
            found_at: scan.and_then(|scan| scan.start_time),
            history: if filters.include_finding_history { history(app, finding.id).await? } else { Vec::new() },
            finding,
            decided: None,
        });
    }
    Ok(ReportData {
        with_decisions: false,
        workspace: workspace_name(app, &scans).await?,
        generated: Stamp(app.now()),
        group_by,
        filters,
        findings: found,
        targets: names.values().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
        scans: scans.into_iter().map(|scan| ReportScan { target: name(Some(scan.target_id)), scan }).collect(),
    })
}

async fn target_names(app: &App, scans: &[Scan]) -> Result<HashMap<TargetId, String>, DatabaseError> {
    let mut names = HashMap::new();
    for id in scans.iter().map(|scan| scan.target_id).collect::<BTreeSet<_>>() {
        if let Some(target) = app.store.target(id).await? {
            names.insert(id, target.name.to_string());
        }
    }
    Ok(names)
}

/// The workspace of the scans; those of several workspaces have the first one's name and "and others".
async fn workspace_name(app: &App, scans: &[Scan]) -> Result<String, DatabaseError> {
    let ids: BTreeSet<_> = scans.iter().filter_map(|scan| scan.workspace_id).collect();
    let first = match ids.first() {
        Some(id) => app.store.workspace(*id).await?,
        None => None,
    };
    let name = first.map(|workspace| workspace.name.to_string()).unwrap_or_default();
    Ok(if ids.len() > 1 { format!("{name} and others") } else { name })
}

async fn history(app: &App, finding: FindingId) -> Result<Vec<Earlier>, DatabaseError> {
    let mut history = Vec::new();
    for earlier in app.store.history_of(finding).await? {
        let scan = match earlier.task_id {
            Some(id) => app.store.scan(id, app.now()).await?,
            None => None,
        };
        history.push(Earlier {
            id: earlier.id,
            found_at: scan.and_then(|scan| scan.start_time),
            risk: earlier.risk_level,
        });
    }
    Ok(history)
}

/// Makes reports until `stop`.
pub async fn make_reports(app: App, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = make_all(&app, &stop).await {
            tracing::error!(%error, "reports could not be written");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.reports.notified() => {}
            // Expired ones go without anybody asking; after an error this is the next try.
            () = tokio::time::sleep(std::time::Duration::from_secs(60)) => {}
        }
    }
}

async fn make_all(app: &App, stop: &CancellationToken) -> Result<(), DatabaseError> {
    app.store.purge_reports(app.now()).await?;
    while let Some(report) = app.store.next_report().await? {
        if stop.is_cancelled() {
            break;
        }
        make(app, report).await?;
    }
    Ok(())
}

async fn make(app: &App, report: ReportToMake) -> Result<(), DatabaseError> {
    let (data, format) = (report.data.clone(), report.format.clone());
    // Off the async threads; a panic in a renderer is a failed report.
    let made = tokio::task::spawn_blocking(move || document(&data, &format)).await;
    let made = made.map_err(anyhow::Error::from).and_then(|made| made);
    if let Err(error) = &made {
        tracing::error!(report = %report.id, error = %format!("{error:#}"), "a report could not be made");
    }
    let note = json!({
        "event": "report",
        "report_id": report.id,
        "status": if made.is_ok() { "finished" } else { "failed" },
        "format": report.format,
    })
    .to_string();
    let content = made.as_ref().map(|content| content.as_deref()).map_err(|_| ());
    app.store.finish_report(&report, content, Some(note.as_bytes()), app.now()).await?;
    app.deliveries.notify_one();
    Ok(())
}

/// The document, or nothing when the filters left nothing.
fn document(data: &str, format: &ReportFormat) -> anyhow::Result<Option<Vec<u8>>> {
    let document = Document::new(&serde_json::from_str::<ReportData>(data)?);
    if document.is_empty() {
        return Ok(None);
    }
    Ok(Some(render(&document, format)?))
}

/// Queues the reports that ended scans owe to their `report_callback`.
pub async fn settle_owed(app: &App) -> Result<(), DatabaseError> {
    while let Some(owed) = app.store.next_owed().await? {
        let report = owed_report(app, &owed).await?;
        let subject = format!("scan {}", owed.scan);
        let delivery = report.as_ref().map(|(content_type, body)| NewDelivery {
            url: &owed.callback.url,
            subject: &subject,
            content_type,
            body,
        });
        app.store.settle(owed.scan, delivery.as_ref(), app.now()).await?;
    }
    Ok(())
}

async fn owed_report(app: &App, owed: &Owed) -> Result<Option<(&'static str, Vec<u8>)>, DatabaseError> {
    let wanted = owed.callback.format.as_deref().unwrap_or("json");
    let format = FORMATS.iter().find(|format| format.as_str() == wanted).unwrap_or(&ReportFormat::Json);
    let scans = known_scans(app, [owed.scan.0]).await?;
    let findings = findings_of(app, owed.scan).await?;
    let filters = ReportFilters { include_all_targets: true, ..ReportFilters::default() };
    let data = assemble(app, GroupBy::Target, filters, findings, scans).await?;
    let format = format.clone();
    let made = tokio::task::spawn_blocking(move || {
        Ok::<_, anyhow::Error>((content_type(&format), render(&Document::new(&data), &format)?))
    })
    .await;
    match made.map_err(anyhow::Error::from).and_then(|made| made) {
        Ok(made) => Ok(Some(made)),
        Err(error) => {
            tracing::error!(scan = %owed.scan, error = %format!("{error:#}"), "the report of a callback could not be made");
            Ok(None)
        }
    }
}
