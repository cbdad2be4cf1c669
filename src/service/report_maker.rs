//! Reports: collects their data and renders them in the background, and queues notifications.
//!
//! ```text
//!   POST /reports ─► ids checked ─► request in the store ─┐                        ┌─► finished, or failed
//!                                                         ├─► gather ─► render ────┤
//!   scan ended ─► pending callback ───────────────────────┘                        └─► delivery queued
//! ```
//!
//! The data is gathered in batches. A report that the end of the service interrupts is gathered again at the next start,
//! and one that an error of the database interrupts, after a minute or with the next request.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::errors::ApiError;
use super::state::App;
use super::store::DatabaseError;
use super::store::deliveries::{NewDelivery, PendingCallback};
use super::store::findings::{BATCH, FindingFilter};
use super::store::reports::QueuedReport;
use crate::contract::{
    Finding, FindingId, GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource, Scan, ScanId, Stamp, TargetId,
    Tool, WorkspaceId,
};
use crate::report::{Document, FORMATS, ReportData, ReportFinding, ReportScan, content_type, render};

/// Checks the resources of a report; returns their workspace if it is one, and its name, of several the first and "and
/// others".
pub async fn check_resources(app: &App, new: &NewReport) -> Result<(Option<WorkspaceId>, String), ApiError> {
    let noun = if new.source == ReportSource::Findings { "findings" } else { "scans" };
    let found = app.store.report_resources(&new.source, &new.resources).await?;
    if !found.missing.is_empty() {
        let missing: Vec<String> = found.missing.iter().map(i64::to_string).collect();
        return Err(ApiError::bad_request(format!("resources: {noun} not found: {}", missing.join(", "))));
    }
    let only = if found.workspaces.len() == 1 { found.workspaces.first().copied() } else { None };
    Ok((only, workspace_name(app, &found.workspaces).await?))
}

/// What the store keeps of a requested report until it is finished.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum QueuedData {
    /// The data itself, as earlier versions stored it.
    Gathered(Box<ReportData>),
    Requested(Box<NewReport>),
}

/// The text of a requested report for the store.
pub fn queued(new: &NewReport) -> serde_json::Result<String> {
    serde_json::to_string(new)
}

/// Collects the data of a report from the resources that still exist.
async fn gather(app: &App, new: &NewReport) -> Result<ReportData, DatabaseError> {
    let ids: BTreeSet<i64> = new.resources.iter().copied().collect();
    let (findings, scans) = match new.source {
        ReportSource::Findings => selected_findings(app, ids).await?,
        _ => selected_scans(app, ids).await?,
    };
    assemble(app, new.group_by.clone(), new.filters.unwrap_or_default(), findings, scans).await
}

type ReportContents = (Vec<Finding>, Vec<Scan>);

async fn selected_findings(app: &App, ids: BTreeSet<i64>) -> Result<ReportContents, DatabaseError> {
    let selected = ids.iter().copied().map(FindingId).collect();
    let filter = FindingFilter { ids: Some(selected), ..FindingFilter::default() };
    let findings = app.store.read_findings(&filter).await?;
    let scans: BTreeSet<i64> = findings.iter().filter_map(|finding| finding.task_id).map(|id| id.0).collect();
    let scans = existing_scans(app, &scans).await?;
    Ok((findings, scans))
}

async fn selected_scans(app: &App, ids: BTreeSet<i64>) -> Result<ReportContents, DatabaseError> {
    let scans = existing_scans(app, &ids).await?;
    let mut findings = Vec::new();
    for scan in &scans {
        findings.extend(findings_of(app, scan.id).await?);
    }
    Ok((findings, scans))
}

async fn findings_of(app: &App, scan: ScanId) -> Result<Vec<Finding>, DatabaseError> {
    app.store.read_findings(&FindingFilter { scan: Some(scan), ..FindingFilter::default() }).await
}

async fn existing_scans(app: &App, ids: &BTreeSet<i64>) -> Result<Vec<Scan>, DatabaseError> {
    let ids: Vec<i64> = ids.iter().copied().collect();
    let mut scans = Vec::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        scans.extend(app.store.scans_by_id(batch, app.now()).await?);
    }
    Ok(scans)
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
    let mut histories = match filters.include_finding_history {
        true => app.store.histories(&findings.iter().map(|finding| finding.id.0).collect::<Vec<_>>()).await?,
        false => HashMap::new(),
    };
    let mut found = Vec::with_capacity(findings.len());
    for finding in findings {
        let scan = finding.task_id.and_then(|id| by_id.get(&id));
        found.push(ReportFinding {
            target: name(finding.target_id),
            tool: Tool(scan.map_or(0, |scan| scan.tool_id)),
            found_at: scan.and_then(|scan| scan.start_time),
            history: histories.remove(&finding.id).unwrap_or_default(),
            finding,
            decided: None,
        });
    }
    Ok(ReportData {
        with_decisions: false,
        workspace: workspace_name(app, &scans.iter().filter_map(|scan| scan.workspace_id).collect()).await?,
        generated: Stamp(app.now()),
        selection: String::new(),
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

/// The name of a workspace; of several, the first name and "and others".
async fn workspace_name(app: &App, ids: &BTreeSet<WorkspaceId>) -> Result<String, DatabaseError> {
    let Some(first) = ids.first() else { return Ok(String::new()) };
    let name = app.store.workspace(*first).await?.map(|workspace| workspace.name.to_string()).unwrap_or_default();
    Ok(if ids.len() > 1 { format!("{name} and others") } else { name })
}

/// Renders reports until `stop`.
pub async fn make_reports(app: App, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = make_all(&app, &stop).await {
            tracing::error!(%error, "reports not stored");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.reports.notified() => {}
            // Deletes expired reports, and retries after an error.
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
        if stop.run_until_cancelled(make(app, report)).await.transpose()?.is_none() {
            break;
        }
    }
    Ok(())
}

async fn make(app: &App, report: QueuedReport) -> Result<(), DatabaseError> {
    let rendered = rendered(app, &report).await?;
    if let Err(error) = &rendered {
        tracing::error!(report = report.id, error = %format!("{error:#}"), "report not rendered");
    }
    let notification = json!({
        "event": "report",
        "report_id": report.id,
        "status": if rendered.is_ok() { "finished" } else { "failed" },
        "format": report.format,
    })
    .to_string();
    let content = rendered.as_ref().map(|content| content.as_deref()).map_err(|_| ());
    app.store.finish_report(&report, content, notification.as_bytes(), app.now()).await?;
    app.deliveries.notify_one();
    Ok(())
}

/// The document, `None` when it is empty; or why this report can never be rendered.
///
/// # Errors
/// When the database fails; a later attempt may succeed.
async fn rendered(app: &App, report: &QueuedReport) -> Result<anyhow::Result<Option<Vec<u8>>>, DatabaseError> {
    let format = ReportFormat::from(report.format.as_str());
    let data = match serde_json::from_str(&report.data) {
        Ok(QueuedData::Gathered(data)) => *data,
        Ok(QueuedData::Requested(new)) => match gather(app, &new).await {
            Ok(data) => data,
            Err(error @ (DatabaseError::Decode(_) | DatabaseError::ColumnDecode { .. })) => {
                return Ok(Err(error.into()));
            }
            Err(error) => return Err(error),
        },
        Err(error) => return Ok(Err(error.into())),
    };
    let render = move || {
        let document = Document::new(&data);
        if document.is_empty() { Ok(None) } else { Ok(Some(render(&document, &format)?)) }
    };
    Ok(blocking(render).await)
}

/// Runs work outside the async threads; a panic becomes an error.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// The PDF of a scan; of an active scan, its findings so far.
///
/// # Errors
/// When the database or the writer fails.
pub async fn scan_pdf(app: &App, scan: ScanId) -> anyhow::Result<Vec<u8>> {
    let data = scan_data(app, scan).await?;
    blocking(move || Ok(render(&Document::new(&data), &ReportFormat::Pdf)?)).await
}

/// The data of a report about one scan, with its target even if nothing was found.
async fn scan_data(app: &App, scan: ScanId) -> Result<ReportData, DatabaseError> {
    let scans = existing_scans(app, &BTreeSet::from([scan.0])).await?;
    let findings = findings_of(app, scan).await?;
    let filters = ReportFilters { include_all_targets: true, ..ReportFilters::default() };
    assemble(app, GroupBy::Target, filters, findings, scans).await
}

/// Queues the reports of ended scans for their `report_callback`.
pub async fn queue_pending_callbacks(app: &App) -> Result<(), DatabaseError> {
    while let Some(pending) = app.store.next_pending_callback().await? {
        let report = callback_report(app, &pending).await?;
        let subject = format!("scan {}", pending.scan);
        let delivery = report.as_ref().map(|CallbackBody { content_type, body }| NewDelivery {
            url: &pending.callback.url,
            subject: &subject,
            content_type,
            body,
        });
        app.store.queue_callback(pending.scan, delivery.as_ref(), app.now()).await?;
    }
    Ok(())
}

/// The body of a callback.
struct CallbackBody {
    content_type: String,
    body: Vec<u8>,
}

async fn callback_report(app: &App, pending: &PendingCallback) -> Result<Option<CallbackBody>, DatabaseError> {
    let name = pending.callback.format.as_deref().unwrap_or("json");
    let format = FORMATS.iter().find(|format| format.as_str() == name).unwrap_or(&ReportFormat::Json);
    let data = scan_data(app, pending.scan).await?;
    let name = format!("scandeck-scan-{}.{format}", pending.scan);
    match blocking(move || Ok(render(&Document::new(&data), format)?)).await {
        Ok(report) => Ok(Some(callback_body(format, &name, report))),
        Err(error) => {
            tracing::error!(scan = %pending.scan, error = %format!("{error:#}"), "report of a callback not rendered");
            Ok(None)
        }
    }
}

/// Text as it is; files of other formats as the part `file` of a form, as the hosted service sends a PDF.
fn callback_body(format: &ReportFormat, name: &str, report: Vec<u8>) -> CallbackBody {
    let kind = content_type(format);
    if matches!(format, ReportFormat::Json | ReportFormat::Csv | ReportFormat::Html) {
        return CallbackBody { content_type: kind.to_owned(), body: report };
    }
    // The boundary is a hash of the report, which therefore does not contain it.
    let hash: String = Sha256::digest(&report).iter().map(|byte| format!("{byte:02x}")).collect();
    let boundary = format!("scandeck-{}", &hash[..32]);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    let mut body = head.into_bytes();
    body.extend(report);
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    CallbackBody { content_type: format!("multipart/form-data; boundary={boundary}"), body }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use tokio::sync::{Notify, Semaphore};

    use super::*;
    use crate::service::clock::SystemClock;
    use crate::service::limits::{Limiter, WrongKeys};
    use crate::service::scope_check::{ScopeCheck, ScopeCheckSettings};
    use crate::service::settings::Settings;
    use crate::service::state::AppState;
    use crate::service::store::Store;
    use crate::service::worker::Worker;

    fn app(store: Store) -> App {
        let settings = Settings::new("/nonexistent");
        App::new(AppState {
            store,
            proxies: Default::default(),
            audit: crate::service::audit::AuditLog::new("/nonexistent/audit.jsonl".into(), None),
            metrics: Default::default(),
            requests: Default::default(),
            readiness: Default::default(),
            scope_check: Arc::new(ScopeCheck::new(ScopeCheckSettings::default())),
            resolver: Arc::new(crate::service::resolver::SystemResolver),
            secrets: crate::service::secrets::ScanSecrets::new("key").unwrap(),
            clock: Arc::new(SystemClock),
            limiter: Limiter::new(settings.rate_limit),
            wrong_keys: WrongKeys::new(settings.wrong_keys),
            keys: crate::service::keys::KeyRing::new("key"),
            logger_base: "http://localhost/".parse().unwrap(),
            boot: 0,
            worker: Worker::default(),
            large_documents: Semaphore::new(1),
            reports: Notify::new(),
            deliveries: Notify::new(),
            last_client: 0.into(),
            settings,
        })
    }

    #[tokio::test]
    async fn report_waits_after_a_database_error_and_fails_after_an_error_of_its_data() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("scandeck.db");
        let store = Store::open(&path).await.unwrap().store;
        let request = json!({"format": "json", "group_by": "target", "source": "scans", "resources": [1]});
        let format = ReportFormat::Json;
        for data in [request.to_string(), "not JSON".to_owned()] {
            store.add_report(&format, &data, None, None, |id| id.to_string(), Timestamp::now()).await.unwrap();
        }
        let report = store.next_report().await.unwrap().unwrap();
        store.close().await;
        // An inner error would store the report as failed.
        assert!(rendered(&app(store), &report).await.is_err());

        let app = app(Store::open(&path).await.unwrap().store);
        make_all(&app, &CancellationToken::new()).await.unwrap();
        let reports = app.store.reports(&[1, 2]).await.unwrap();
        let statuses: Vec<&str> = reports.iter().map(|report| report.status.as_str()).collect();
        assert_eq!(statuses, ["finished", "failed"]);
    }
}
