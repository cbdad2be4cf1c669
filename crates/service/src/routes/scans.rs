//! `/scans` (api-v2.md §4): reading, stopping and deleting scans. [`super::new_scan`] starts them.

use std::io::{Seek, Write};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio_util::io::ReaderStream;

use super::imports::raw_lines_of_import;
use super::reports::file_response;
use super::{DataJson, RouteResult, data, new_scan, no_content, workspace_or_current};
use crate::api::endpoint::{
    Endpoint,
    EndpointBody::Json,
    ResponseContent::{Data, Lines, List},
};
use crate::api::list_stream::{self, LIST};
use crate::api::request::{Id, QueryParams, choice};
use crate::engine::{FINDING_LIST, guests};
use crate::errors::{ApiError, shown};
use crate::runs::report_maker::scan_report;
use crate::state::App;
use crate::store::findings::{BATCH, FindingFilter};
use crate::store::scans::ScanFilter;
use crate::store::targets::Deletion;
use crate::store::versions::ListNoun;
use scandeck_wire::contract::{
    MISSING_SCANNERS, MissingScanner, ReportFormat, ResourceType, Scan, ScanId, ScanStatus, Stamp,
    Test,
};

/// Lines of a raw log that are read at once.
const RAW_LINES: usize = 200;
/// Largest output that is sent from memory, in bytes.
const MAX_IN_MEMORY: usize = 64 * 1024;

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Scans,
            "/scans",
            "list_scans",
            "List scans, newest first",
            list,
        )
        .query(&[
            "tool_id",
            "workspace_id",
            "target_id",
            "status",
            "limit",
            "page",
            "start_time",
        ])
        .content(List("Scan")),
        Endpoint::post("/scans", "start_scan", "Start a scan", new_scan::add)
            .body(Json("NewScan"))
            .content(Data("ScanCreated"))
            .refuses(&[404, 422]),
        Endpoint::get("/scans/{id}", "get_scan", "Get a scan", show).content(Data("Scan")),
        Endpoint::delete("/scans/{id}", "delete_scan", "Delete an ended scan", delete)
            .refuses(&[409]),
        Endpoint::get(
            "/scans/{id}/output",
            "get_scan_output",
            "Get the output so far",
            output,
        )
        .content(Data("ScanOutput"))
        .refuses(&[406]),
        Endpoint::get("/scans/{id}/raw", "get_scan_raw", "Get the raw log", raw).content(Lines),
        Endpoint::post("/scans/{id}/stop", "stop_scan", "Stop a scan", stop).answers(&[204]),
        Endpoint::list(
            ListNoun::Scans,
            "/scans/{id}/tests",
            "list_scan_tests",
            "List the tests of a scan",
            tests,
        )
        .query(&["resource_type", "resource_id"])
        .content(List("Test")),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<impl IntoResponse> {
    let status = query
        .text("status")
        .map(|text| choice("status", text, ScanStatus::KNOWN));
    let (limit, offset) = query.page()?;
    let (from, to) = interval(&query)?;
    let filter = ScanFilter {
        workspace: Some(workspace_or_current(&app, query.integer("workspace_id")?).await?),
        target: query.integer("target_id")?,
        tool: query.integer("tool_id")?,
        status: status.transpose()?,
        from,
        to,
        limit,
        offset,
    };
    let scans = app.store.scans(&filter, app.now()).await?;
    Ok((missing_scanners(&guests::missing_scanners()), data(scans)))
}

/// The header that names the tools that cannot run here, so that clients need not offer them.
fn missing_scanners(missing: &[MissingScanner]) -> HeaderMap {
    let value = MissingScanner::list(missing).and_then(|list| HeaderValue::try_from(list).ok());
    value
        .map(|value| (HeaderName::from_static(MISSING_SCANNERS), value))
        .into_iter()
        .collect()
}

/// The interval of start times in its three forms (`hosted-service.md`, Time): `start_time[from]`
/// and `start_time[to]`, `from` and `to`, or a JSON object in `start_time`.
fn interval(query: &QueryParams) -> RouteResult<(Option<Timestamp>, Option<Timestamp>)> {
    let object: Value = match query.text("start_time") {
        None => Value::Null,
        Some(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| {
                ApiError::bad_request("start_time must be an object with `from`, `to` or both")
            })?,
    };
    let end = |name: &str| {
        let text = query
            .text(&format!("start_time[{name}]"))
            .or_else(|| query.text(name));
        let text = match &object[name] {
            Value::Null => text,
            Value::String(text) => Some(text.as_str()),
            _ => {
                return Err(ApiError::bad_request(format!(
                    "start_time: `{name}` must be a string"
                )));
            }
        };
        let parse = |text: &str| {
            time(text).ok_or_else(|| {
                ApiError::bad_request(format!("start_time: `{}` is not a time", shown(text)))
                    .with_details("use YYYY-MM-DD HH:MM:SS in UTC, or RFC 3339")
            })
        };
        text.map(parse).transpose()
    };
    Ok((end("from")?, end("to")?))
}

/// A time. In a query, `+` is a blank unless it is escaped: `2026-11-21T10:00:00+01:00` arrives
/// with a blank.
fn time(text: &str) -> Option<Timestamp> {
    let with_plus = || {
        text.rsplit_once(' ')
            .map(|(time, zone)| format!("{time}+{zone}"))
    };
    Stamp::parse(text)
        .or_else(|| Stamp::parse(&with_plus()?))
        .map(|stamp| stamp.0)
}

async fn find(app: &App, id: ScanId) -> RouteResult<Scan> {
    app.store
        .scan(id, app.now())
        .await?
        .ok_or_else(|| ApiError::not_found("scan", id))
}

async fn show(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<DataJson<Scan>> {
    Ok(data(find(&app, id).await?))
}

async fn delete(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<StatusCode> {
    match app.store.delete_scan(id).await? {
        Deletion::Done => Ok(StatusCode::NO_CONTENT),
        Deletion::NotFound => Err(ApiError::not_found("scan", id)),
        Deletion::Active => {
            Err(ApiError::conflict("the scan is waiting or running").with_details("stop it first"))
        }
    }
}

async fn output(
    State(app): State<App>,
    Id(id): Id<ScanId>,
    headers: HeaderMap,
) -> RouteResult<Response> {
    let (kind, data) = app
        .store
        .scan_output(id)
        .await?
        .ok_or_else(|| ApiError::not_found("scan", id))?;
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("*/*");
    if accept.contains("application/json")
        || accept.contains("*/*")
        || accept.contains("application/*")
    {
        return match kind.as_str() {
            FINDING_LIST => output_with_findings(&app, id, &data).await,
            _ => stored_output(&app, kind, data)
                .await
                .map_err(ApiError::internal),
        };
    }
    if accept.contains("application/pdf") {
        // One large document at a time is in memory.
        let Ok(_permit) = app.large_documents.acquire().await else {
            return Err(ApiError::internal("service is stopping"));
        };
        let pdf = tokio::fs::File::from_std(
            scan_report(&app, id, ReportFormat::Pdf)
                .await
                .map_err(ApiError::internal)?,
        );
        let length = pdf.metadata().await.map_err(ApiError::internal)?.len();
        let body = Body::from_stream(ReaderStream::new(pdf));
        return Ok(file_response(
            &ReportFormat::Pdf,
            &format!("scandeck-scan-{id}.pdf"),
            length,
            body,
        ));
    }
    Err(ApiError::new(
        StatusCode::NOT_ACCEPTABLE,
        format!("output is not available as {accept}"),
    )
    .with_details("send `accept: application/json` or `accept: application/pdf`"))
}

/// `{"data": …}` with the stored text of the output. A large one is copied to an unnamed file and
/// read from there while it is sent: it is the output of one moment, and a slow client holds one
/// chunk of it.
async fn stored_output(app: &App, kind: String, data: String) -> anyhow::Result<Response> {
    let (start, end) = (Bytes::from(output_start(kind)), Bytes::from_static(b"}}"));
    let body = if data.len() <= MAX_IN_MEMORY {
        Body::from_stream(stream::iter(
            [start, Bytes::from(data), end].map(Ok::<_, std::io::Error>),
        ))
    } else {
        let dir = app.settings.data_dir.clone();
        let copied = tokio::task::spawn_blocking(move || {
            let mut file = tempfile::tempfile_in(dir)?;
            file.write_all(data.as_bytes())?;
            file.rewind()?;
            std::io::Result::Ok(file)
        });
        let file = ReaderStream::new(tokio::fs::File::from_std(copied.await??));
        Body::from_stream(
            stream::iter([Ok(start)])
                .chain(file)
                .chain(stream::iter([Ok(end)])),
        )
    };
    Ok((
        [(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )],
        body,
    )
        .into_response())
}

fn output_start(kind: String) -> String {
    format!(
        "{{\"data\":{{\"output_type\":{},\"output_data\":",
        Value::String(kind)
    )
}

/// `{"data": …}` with the stored fields of the output, and with the findings of the scan as
/// `GET /findings` sends them.
async fn output_with_findings(app: &App, scan: ScanId, data: &str) -> RouteResult<Response> {
    let fields: Map<String, Value> = serde_json::from_str(data).unwrap_or_default();
    let mut start = output_start(FINDING_LIST.to_owned());
    start.push('{');
    for (name, value) in fields {
        start.push_str(&format!("{}:{value},", Value::String(name)));
    }
    start.push_str("\"findings\":[");
    let filter = FindingFilter {
        scan: Some(scan),
        ..FindingFilter::default()
    };
    let ids = app.store.finding_ids(&filter).await?;
    let store = app.store.clone();
    let read = move |ids: Vec<i64>| {
        let store = store.clone();
        async move { store.findings(&ids).await }
    };
    Ok(list_stream::respond((start, "]}}}"), list_stream::batches(ids, BATCH), read).await?)
}

async fn raw(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<Response> {
    find(&app, id).await?;
    if let Some(import) = app.store.import_of_scan(id).await? {
        return raw_lines_of_import(&app, &import).await;
    }
    let ids = app.store.raw_line_ids(id).await?;
    let read = move |ids: Vec<i64>| {
        let store = app.store.clone();
        async move {
            Ok(store
                .raw_lines(&ids)
                .await?
                .into_iter()
                .map(|line| Value::String(line).to_string())
                .collect())
        }
    };
    Ok(list_stream::respond(LIST, list_stream::batches(ids, RAW_LINES), read).await?)
}

async fn stop(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<StatusCode> {
    no_content(app.worker.stop(&app, id).await?, "scan", id)
}

async fn tests(
    State(app): State<App>,
    Id(id): Id<ScanId>,
    query: QueryParams,
) -> RouteResult<DataJson<Vec<Test>>> {
    let kind = query
        .text("resource_type")
        .map(|text| choice("resource_type", text, ResourceType::KNOWN));
    let resource = match (kind.transpose()?, query.integer("resource_id")?) {
        (None, Some(_)) => return Err(ApiError::bad_request("resource_id requires resource_type")),
        (kind, id) => kind.map(|kind| (kind, id)),
    };
    find(&app, id).await?;
    Ok(data(app.store.tests(id, resource).await?))
}

#[cfg(test)]
mod query_tests {
    use super::*;

    #[test]
    fn interval_accepts_every_form_and_refuses_others() {
        let stamp = |text: &str| Stamp::parse(text).map(|stamp| stamp.0);
        let expected = (stamp("2026-11-21 10:00:00"), stamp("2026-11-22 10:00:00"));
        for query in [
            "start_time[from]=2026-11-21+10:00:00&start_time[to]=2026-11-22T10:00:00Z",
            "from=2026-11-21%2010:00:00&to=2026-11-22%2010:00:00",
            "from=2026-11-21T11:00:00+01:00&to=2026-11-22T11:00:00%2B01:00",
            "start_time=%7B%22from%22%3A%222026-11-21%2010:00:00%22%2C%22to%22%3A%222026-11-22%2010:00:00%22%7D",
        ] {
            assert_eq!(
                interval(&QueryParams::parse(query)).unwrap(),
                expected,
                "{query}"
            );
        }
        assert_eq!(interval(&QueryParams::parse("")).unwrap(), (None, None));
        for refused in [
            "from=yesterday",
            "start_time=5",
            "start_time=%7B%22from%22%3A5%7D",
        ] {
            assert_eq!(
                interval(&QueryParams::parse(refused)).unwrap_err().status,
                StatusCode::BAD_REQUEST,
                "{refused}"
            );
        }
    }
}
