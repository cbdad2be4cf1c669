//! `/scans` (api-v2.md §4): what clients read of scans, and stopping and deleting them. Starting one is in
//! [`super::new_scan`].

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::Value;

use super::{DataJson, RouteResult, data, new_scan};
use crate::contract::{DataEnvelope, ResourceType, Scan, ScanId, ScanStatus, Stamp, Test};
use crate::service::endpoint::Endpoint;
use crate::service::errors::ApiError;
use crate::service::request::{Id, QueryParams};
use crate::service::state::App;
use crate::service::store::scans::ScanFilter;
use crate::service::store::targets::Deleted;

/// Rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    const QUERY: &[(&str, &str)] = &[
        ("tool_id", "integer"),
        ("workspace_id", "integer"),
        ("target_id", "integer"),
        ("status", "string"),
        ("limit", "integer"),
        ("page", "integer"),
        ("start_time", "object"),
    ];
    const TESTS: &[(&str, &str)] = &[("resource_type", "string"), ("resource_id", "integer")];
    vec![
        Endpoint::list("/scans", "Scans", list).query(QUERY).refuses(&[400]),
        Endpoint::post("/scans", "Starts a scan", new_scan::add).body(new_scan::BODY).refuses(&[400, 403, 404, 422]),
        Endpoint::get("/scans/{id}", "One scan", show).refuses(&[400, 404]),
        Endpoint::delete("/scans/{id}", "Deletes a scan that has ended", delete).refuses(&[400, 404, 409]),
        Endpoint::get("/scans/{id}/output", "What the tool put out so far", output).refuses(&[400, 404, 406]),
        Endpoint::get("/scans/{id}/raw", "The raw log of the tool", raw).refuses(&[400, 404]),
        Endpoint::post("/scans/{id}/stop", "Stops a scan", stop).answers(&[204]).refuses(&[400, 404]),
        Endpoint::list("/scans/{id}/tests", "Its tests", tests).query(TESTS).refuses(&[400, 404]),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<DataJson<Vec<Scan>>> {
    let status = query.text("status").map(|text| {
        let known = || ScanStatus::KNOWN.iter().map(ScanStatus::as_str).collect::<Vec<_>>().join(", ");
        ScanStatus::known(text).ok_or_else(|| ApiError::bad_request(format!("status: `{text}` is none of {}", known())))
    });
    let workspace = match query.integer("workspace_id")? {
        Some(id) => id,
        None => app.store.current_workspace().await?,
    };
    let (limit, offset) = query.page()?;
    let (from, to) = interval(&query)?;
    let filter = ScanFilter {
        workspace: Some(workspace),
        target: query.integer("target_id")?,
        tool: query.integer("tool_id")?,
        status: status.transpose()?,
        from,
        to,
        limit,
        offset,
    };
    Ok(data(app.store.scans(&filter, app.now()).await?))
}

/// The start-time interval in each of its wire forms (`hosted-service.md`, Time): `start_time[from]` and
/// `start_time[to]`, bare `from` and `to`, or a JSON object in `start_time`.
fn interval(query: &QueryParams) -> RouteResult<(Option<Timestamp>, Option<Timestamp>)> {
    let object: Value = match query.text("start_time") {
        None => Value::Null,
        Some(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| ApiError::bad_request("start_time: an object with `from`, `to` or both is expected"))?,
    };
    let end = |name: &str| {
        let text = query.text(&format!("start_time[{name}]")).or_else(|| query.text(name));
        let text = match &object[name] {
            Value::Null => text,
            Value::String(text) => Some(text.as_str()),
            _ => return Err(ApiError::bad_request(format!("start_time: `{name}` is no string"))),
        };
        let parse = |text: &str| {
            Stamp::parse(text).map(|stamp| stamp.0).ok_or_else(|| {
                ApiError::bad_request(format!("start_time: `{text}` is no point in time"))
                    .with_details("write YYYY-MM-DD HH:MM:SS in UTC, or RFC 3339")
            })
        };
        text.map(parse).transpose()
    };
    Ok((end("from")?, end("to")?))
}

async fn find(app: &App, id: ScanId) -> RouteResult<Scan> {
    app.store.scan(id, app.now()).await?.ok_or_else(|| ApiError::not_found("scan", id))
}

async fn show(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<DataJson<Scan>> {
    Ok(data(find(&app, id).await?))
}

async fn delete(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<StatusCode> {
    match app.store.delete_scan(id).await? {
        Deleted::Done => Ok(StatusCode::NO_CONTENT),
        Deleted::Missing => Err(ApiError::not_found("scan", id)),
        Deleted::Active => Err(ApiError::conflict("the scan is waiting or running").with_details("stop it first")),
    }
}

async fn output(State(app): State<App>, Id(id): Id<ScanId>, headers: HeaderMap) -> RouteResult<Response> {
    let output = app.store.scan_output(id).await?.ok_or_else(|| ApiError::not_found("scan", id))?;
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
    if accept.contains("application/json") || accept.contains("*/*") || accept.contains("application/*") {
        return Ok(Json(DataEnvelope { data: output }).into_response());
    }
    Err(ApiError::new(StatusCode::NOT_ACCEPTABLE, format!("there is no output as {accept}"))
        .with_details("ask with `accept: application/json`"))
}

async fn raw(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<DataJson<Vec<String>>> {
    find(&app, id).await?;
    Ok(data(app.store.raw_lines(id).await?))
}

async fn stop(State(app): State<App>, Id(id): Id<ScanId>) -> RouteResult<StatusCode> {
    match app.worker.stop(&app, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("scan", id)),
    }
}

async fn tests(State(app): State<App>, Id(id): Id<ScanId>, query: QueryParams) -> RouteResult<DataJson<Vec<Test>>> {
    let kind = query.text("resource_type").map(|text| {
        ResourceType::known(text)
            .ok_or_else(|| ApiError::bad_request(format!("resource_type: `{text}` is neither scan nor finding")))
    });
    let resource = match (kind.transpose()?, query.integer("resource_id")?) {
        (None, Some(_)) => return Err(ApiError::bad_request("resource_type is required with resource_id")),
        (kind, id) => kind.map(|kind| (kind, id)),
    };
    find(&app, id).await?;
    Ok(data(app.store.tests(id, resource).await?))
}

#[cfg(test)]
mod tests_of_queries {
    use super::*;

    #[test]
    fn the_start_time_interval_is_read_in_three_forms() {
        let stamp = |text: &str| Stamp::parse(text).map(|stamp| stamp.0);
        let expected = (stamp("2026-11-21 10:00:00"), stamp("2026-11-22 10:00:00"));
        for query in [
            "start_time[from]=2026-11-21+10:00:00&start_time[to]=2026-11-22T10:00:00Z",
            "from=2026-11-21%2010:00:00&to=2026-11-22%2010:00:00",
            "start_time=%7B%22from%22%3A%222026-11-21%2010:00:00%22%2C%22to%22%3A%222026-11-22%2010:00:00%22%7D",
        ] {
            assert_eq!(interval(&QueryParams::parse(query)).unwrap(), expected, "{query}");
        }
        assert_eq!(interval(&QueryParams::parse("")).unwrap(), (None, None));
        for refused in ["from=yesterday", "start_time=5", "start_time=%7B%22from%22%3A5%7D"] {
            assert_eq!(
                interval(&QueryParams::parse(refused)).unwrap_err().status,
                StatusCode::BAD_REQUEST,
                "{refused}"
            );
        }
    }
}
