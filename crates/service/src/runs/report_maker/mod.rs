//! Reports: collects their data and renders them in the background, and queues notifications.
//!
//! ```text
//!   POST /reports ─► ids checked ─► request in the store ─┐                        ┌─► finished, or failed
//!                                                         ├─► gather ─► render ────┤
//!   scan ended ─► pending callback ───────────────────────┘                        └─► delivery queued
//! ```
//!
//! The data is gathered in batches into a file, and the document is written to another, which the
//! store then copies in parts: no step has the whole report in memory, except the PDF. Each report
//! is claimed, so that no two processes render it. A report that the end of the service interrupts
//! is gathered again at the next start, and one that an error of the database interrupts, after a
//! minute or with the next request.

mod gather;
mod spool;

use std::fs::File;
use std::io::{BufWriter, Read, Seek};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::errors::ApiError;
use crate::state::App;
use crate::store::DatabaseError;
use crate::store::deliveries::{NewDelivery, PendingCallback};
use crate::store::reports::QueuedReport;
use scandeck_report::{FORMATS, ReportData, ReportOptions, content_type, render_to};
use scandeck_wire::contract::{
    GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource, ScanId, WorkspaceId,
};

use gather::{Gathered, gather, gather_scan, workspace_name};

/// Bytes of a part of a document in the store: few, since captures wait for the write of a part.
const PART: usize = 128 * 1024;

/// Checks the resources of a report; returns their workspace if it is one, and its name, of several
/// the first and "and others".
pub async fn check_resources(
    app: &App,
    new: &NewReport,
) -> Result<(Option<WorkspaceId>, String), ApiError> {
    let noun = if new.source == ReportSource::Findings {
        "findings"
    } else {
        "scans"
    };
    let found = app
        .store
        .report_resources(&new.source, &new.resources)
        .await?;
    if !found.missing.is_empty() {
        let missing: Vec<String> = found.missing.iter().map(i64::to_string).collect();
        return Err(ApiError::bad_request(format!(
            "resources: {noun} not found: {}",
            missing.join(", ")
        )));
    }
    let only = if found.workspaces.len() == 1 {
        found.workspaces.first().copied()
    } else {
        None
    };
    Ok((only, workspace_name(app, &found.workspaces).await?))
}

/// The data of a requested report that the store keeps until it is finished.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum QueuedData {
    /// The data itself, as earlier versions stored it.
    Gathered(Box<EarlierReportData>),
    Requested(Box<NewReport>),
}

/// The data of a report with the choices of its request.
#[derive(Serialize, Deserialize)]
struct EarlierReportData {
    group_by: GroupBy,
    filters: ReportFilters,
    #[serde(flatten)]
    data: ReportData,
}

impl From<EarlierReportData> for ReportData {
    fn from(earlier: EarlierReportData) -> Self {
        Self {
            options: ReportOptions::of_service(&earlier.group_by, &earlier.filters),
            ..earlier.data
        }
    }
}

/// The text of a requested report for the store.
pub fn queued(new: &NewReport) -> serde_json::Result<String> {
    serde_json::to_string(new)
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
    while let Some(report) = app.store.claim_report().await? {
        if stop.is_cancelled() {
            break;
        }
        if stop
            .run_until_cancelled(make(app, report))
            .await
            .transpose()?
            .is_none()
        {
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
    let is_rendered = rendered.is_ok();
    let notification = json!({
        "event": "report",
        "report_id": report.id,
        "status": if is_rendered { "finished" } else { "failed" },
        "format": report.format,
    })
    .to_string();
    app.store.delete_report_parts(&report).await?;
    if let Ok(Some(file)) = rendered {
        app.store
            .expire_reports(file.metadata()?.len(), app.settings.report_bytes)
            .await?;
        store_parts(app, &report, file).await?;
    }
    app.store
        .finish_report(&report, is_rendered, notification.as_bytes(), app.now())
        .await?;
    app.deliveries.notify_one();
    Ok(())
}

/// Moves a document into the store, in a transaction for each part, while the report is claimed.
async fn store_parts(
    app: &App,
    report: &QueuedReport,
    mut file: File,
) -> Result<(), DatabaseError> {
    for position in 0.. {
        let read = tokio::task::spawn_blocking(move || {
            let mut part = Vec::with_capacity(PART);
            file.by_ref()
                .take(PART as u64)
                .read_to_end(&mut part)
                .map(|_| (file, part))
        });
        let part;
        (file, part) = read.await.map_err(std::io::Error::other)??;
        if part.is_empty() || !app.store.add_report_part(report, position, &part).await? {
            break;
        }
    }
    Ok(())
}

/// The document, `None` when it is empty; or why this report can never be rendered.
///
/// # Errors
/// When the database fails; a later attempt may succeed.
async fn rendered(
    app: &App,
    report: &QueuedReport,
) -> Result<anyhow::Result<Option<File>>, DatabaseError> {
    let format = ReportFormat::from(report.format.as_str());
    let gathered = match serde_json::from_str(&report.data) {
        Ok(QueuedData::Gathered(data)) => Ok(Gathered::from(ReportData::from(*data))),
        Ok(QueuedData::Requested(new)) => gather(app, &new).await,
        Err(error) => return Ok(Err(error.into())),
    };
    match gathered {
        Ok(gathered) => Ok(render_file(app, gathered, format, false)
            .await
            .and_then(|file| within(file, app.settings.report_bytes))),
        Err(error) => match error.downcast::<DatabaseError>() {
            Ok(error @ (DatabaseError::Decode(_) | DatabaseError::ColumnDecode { .. })) => {
                Ok(Err(error.into()))
            }
            Ok(error) => Err(error),
            Err(error) => Ok(Err(error)),
        },
    }
}

/// Refuses a document that does not fit into the limit of all reports.
fn within(document: Option<File>, limit: i64) -> anyhow::Result<Option<File>> {
    let length = document
        .as_ref()
        .map(File::metadata)
        .transpose()?
        .map_or(0, |metadata| metadata.len());
    ensure!(
        length <= limit.unsigned_abs(),
        "the report has {length} bytes, the limit of all reports is {limit}; raise it with --report-bytes"
    );
    Ok(document)
}

/// The document as an unnamed file, at its start; `None` when it is empty and may not be.
async fn render_file(
    app: &App,
    gathered: Gathered,
    format: ReportFormat,
    may_be_empty: bool,
) -> anyhow::Result<Option<File>> {
    let dir = app.settings.data_dir.clone();
    let render = move || {
        let document = gathered.document()?;
        if document.is_empty() && !may_be_empty {
            return Ok(None);
        }
        let mut out = BufWriter::new(tempfile::tempfile_in(dir)?);
        render_to(&document, &format, &mut out)?;
        let mut file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Some(file))
    };
    blocking(render).await
}

/// Runs work outside the async threads; a panic becomes an error.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

/// The report of a scan; of an active scan, its findings so far.
///
/// # Errors
/// When the database or the writer fails.
pub async fn scan_report(app: &App, scan: ScanId, format: ReportFormat) -> anyhow::Result<File> {
    let is_data = matches!(format, ReportFormat::Json | ReportFormat::Csv);
    let gathered = gather_scan(app, scan, !is_data).await?;
    render_file(app, gathered, format, true)
        .await?
        .context("the report is empty")
}

/// Queues the reports of ended scans for their `report_callback`.
pub async fn queue_pending_callbacks(app: &App) -> Result<(), DatabaseError> {
    while let Some(pending) = app.store.next_pending_callback().await? {
        let report = callback_report(app, &pending).await?;
        let subject = format!("scan {}", pending.scan);
        let delivery = report
            .as_ref()
            .map(|CallbackBody { content_type, body }| NewDelivery {
                url: &pending.callback.url,
                subject: &subject,
                content_type,
                body,
            });
        app.store
            .queue_callback(pending.scan, delivery.as_ref(), app.now())
            .await?;
    }
    Ok(())
}

struct CallbackBody {
    content_type: String,
    body: Vec<u8>,
}

async fn callback_report(
    app: &App,
    pending: &PendingCallback,
) -> Result<Option<CallbackBody>, DatabaseError> {
    let name = pending.callback.format.as_deref().unwrap_or("json");
    let format = FORMATS
        .iter()
        .find(|format| format.as_str() == name)
        .unwrap_or(&ReportFormat::Json);
    let name = format!("scandeck-scan-{}.{format}", pending.scan);
    let read = async {
        let mut file = scan_report(app, pending.scan, format.clone()).await?;
        blocking(move || {
            let mut report = Vec::new();
            file.read_to_end(&mut report)?;
            Ok(report)
        })
        .await
    };
    match read.await {
        Ok(report) => Ok(Some(callback_body(format, &name, report))),
        Err(error) => match error.downcast::<DatabaseError>() {
            Ok(error) => Err(error),
            Err(error) => {
                tracing::error!(scan = %pending.scan, error = %format!("{error:#}"), "report of a callback not rendered");
                Ok(None)
            }
        },
    }
}

/// Text as it is; files of other formats as the part `file` of a form, as the hosted service sends
/// a PDF.
fn callback_body(format: &ReportFormat, name: &str, report: Vec<u8>) -> CallbackBody {
    let kind = content_type(format);
    if matches!(
        format,
        ReportFormat::Json | ReportFormat::Csv | ReportFormat::Html
    ) {
        return CallbackBody {
            content_type: kind.to_owned(),
            body: report,
        };
    }
    // The boundary is a hash of the report, which therefore does not contain it.
    let hash: String = Sha256::digest(&report)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let boundary = format!("scandeck-{}", &hash[..32]);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    let mut body = head.into_bytes();
    body.extend(report);
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    CallbackBody {
        content_type: format!("multipart/form-data; boundary={boundary}"),
        body,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use jiff::Timestamp;
    use tokio::sync::{Notify, Semaphore};

    use super::*;
    use crate::clock::SystemClock;
    use crate::guards::limits::{ClientLimiter, HEALTH_CHECKS, Limiter};
    use crate::guards::quotas::KeyUsage;
    use crate::runs::lease::NodeLease;
    use crate::scope_check::{ScopeCheck, ScopeCheckSettings};
    use crate::settings::Settings;
    use crate::state::AppState;
    use crate::store::Store;

    fn app(store: Store, dir: &Path) -> App {
        app_with(store, Settings::new(dir))
    }

    fn app_with(store: Store, settings: Settings) -> App {
        App::new(AppState {
            store,
            proxies: Default::default(),
            audit: crate::guards::audit::AuditLog::new("/nonexistent/audit.jsonl".into(), None),
            metrics: Default::default(),
            requests: Default::default(),
            readiness: Default::default(),
            unattributed: Default::default(),
            scope_check: Arc::new(ScopeCheck::new(ScopeCheckSettings::default())),
            resolver: Arc::new(crate::net::resolver::SystemResolver),
            secrets: crate::guards::secrets::ScanSecrets::new("key").unwrap(),
            clock: Arc::new(SystemClock::default()),
            limiter: Limiter::new(settings.rate_limit),
            wrong_keys: ClientLimiter::new(settings.wrong_keys),
            health_checks: ClientLimiter::new(HEALTH_CHECKS),
            key_usage: KeyUsage::new(settings.key_quotas),
            keys: crate::guards::keys::KeyRing::new("key"),
            logger_base: "http://localhost/".parse().unwrap(),
            boot: 0,
            worker: Arc::default(),
            lease: Arc::new(NodeLease::new(settings.lease)),
            large_documents: Semaphore::new(1),
            reports: Notify::new(),
            imports: Notify::new(),
            schedules: Notify::new(),
            deliveries: Notify::new(),
            last_client: 0.into(),
            settings,
        })
    }

    #[tokio::test]
    async fn report_of_a_scan_has_the_texts_and_options_of_the_template() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("scandeck.db")).await.unwrap();
        let template =
            "client = 'Acme'\nsummary = 'For {{ client }} only.'\n[options]\nappendix = false";
        let settings = Settings {
            report_template: scandeck_report::ReportTemplate::parse(template).unwrap(),
            ..Settings::new(temp.path())
        };
        let app = app_with(store.store, settings);
        let mut page = String::new();
        let mut file = scan_report(&app, ScanId(1), ReportFormat::Html)
            .await
            .unwrap();
        file.read_to_string(&mut page).unwrap();
        assert!(page.contains("For Acme only."), "{page}");
        let options = |of_pages| gather_scan(&app, ScanId(1), of_pages);
        let has_appendix = options(true)
            .await
            .unwrap()
            .document()
            .unwrap()
            .options
            .appendix;
        assert!(!has_appendix);
        let has_appendix = options(false)
            .await
            .unwrap()
            .document()
            .unwrap()
            .options
            .appendix;
        assert!(has_appendix, "data has everything");
    }

    #[tokio::test]
    async fn report_waits_after_a_database_error_and_fails_after_an_error_of_its_data() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("scandeck.db");
        let store = Store::open(&path).await.unwrap().store;
        store.register(Timestamp::now()).await.unwrap();
        let request =
            json!({"format": "json", "group_by": "target", "source": "scans", "resources": [1]});
        let format = ReportFormat::Json;
        for data in [request.to_string(), "not JSON".to_owned()] {
            store
                .add_report(
                    &format,
                    &data,
                    None,
                    None,
                    |id| id.to_string(),
                    Timestamp::now(),
                )
                .await
                .unwrap();
        }
        let claimed = store.claim_report().await;
        let report = claimed.unwrap().unwrap();
        store.close().await;
        // An inner error would store the report as failed.
        assert!(rendered(&app(store, temp.path()), &report).await.is_err());

        let app = app(Store::open(&path).await.unwrap().store, temp.path());
        app.store.register(Timestamp::now()).await.unwrap();
        make_all(&app, &CancellationToken::new()).await.unwrap();
        let reports = app.store.reports(&[1, 2]).await.unwrap();
        let statuses: Vec<&str> = reports
            .iter()
            .map(|report| report.status.as_str())
            .collect();
        assert_eq!(statuses, ["finished", "failed"]);
    }
}
