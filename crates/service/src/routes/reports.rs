//! `/reports` (api-v2.md §4, §7). [`crate::runs::report_maker`] renders reports in the
//! background.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::{Map, Value};

use super::{DataJson, RouteResult, data, no_content};
use crate::api::endpoint::{
    Endpoint,
    EndpointBody::Json,
    ResponseContent::{Data, Download, List},
};
use crate::api::list_stream::{self, LIST};
use crate::api::request::{Fields, Id, choice, refuse_nul};
use crate::errors::ApiError;
use crate::guards::keys::KeyIdentity;
use crate::guards::quotas::QuotaNoun;
use crate::net::address::Address;
use crate::runs::callbacks::check_name;
use crate::runs::report_maker::{check_resources, queued};
use crate::state::App;
use crate::store::versions::ListNoun;
use scandeck_report::{FORMATS, content_type};
use scandeck_wire::contract::{
    GroupBy, NewReport, Report, ReportCreated, ReportFilters, ReportFormat, ReportId, ReportSource,
    ReportStatus,
};

/// Reports that are read at once.
const BATCH: usize = 500;

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Reports,
            "/reports",
            "list_reports",
            "List reports",
            list,
        )
        .content(List("Report")),
        Endpoint::post("/reports", "request_report", "Request a report", add)
            .body(Json("NewReport"))
            .answers(&[202])
            .content(Data("ReportCreated"))
            .refuses(&[422]),
        Endpoint::get("/reports/{id}", "get_report", "Get a report", show).content(Data("Report")),
        Endpoint::delete("/reports/{id}", "delete_report", "Delete a report", delete),
        Endpoint::get(
            "/reports/{id}/download",
            "download_report",
            "Download a report",
            download,
        )
        .answers(&[200, 202, 204])
        .content(Download),
    ]
}

async fn list(State(app): State<App>) -> RouteResult<Response> {
    let ids = app.store.report_ids(app.now()).await?;
    let read = move |ids: Vec<i64>| {
        let store = app.store.clone();
        async move {
            let reports = store.reports(&ids).await?;
            Ok(reports
                .iter()
                .filter_map(|report| serde_json::to_string(report).ok())
                .collect())
        }
    };
    Ok(list_stream::respond(LIST, list_stream::batches(ids, BATCH), read).await?)
}

async fn find(app: &App, id: ReportId) -> RouteResult<Report> {
    app.store
        .report(id, app.now())
        .await?
        .ok_or_else(|| ApiError::not_found("report", id))
}

async fn show(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<DataJson<Report>> {
    Ok(data(find(&app, id).await?))
}

async fn delete(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<StatusCode> {
    let is_found = app.store.delete_report(id, app.now()).await?;
    // Deletes the parts of the document.
    app.reports.notify_one();
    no_content(is_found, "report", id)
}

async fn download(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<Response> {
    let report = find(&app, id).await?;
    if report.status == ReportStatus::Waiting {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    let (parts, length) = app.store.report_size(id).await?;
    if parts == 0 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // A slow client holds one part, and no connection to the database.
    let parts = stream::iter(0..parts).then(move |position| {
        let store = app.store.clone();
        async move { store.report_part(id, position).await.map(Bytes::from) }
    });
    Ok(file_response(
        &report.format,
        &report.download_name,
        length.unsigned_abs(),
        Body::from_stream(parts),
    ))
}

/// A file under its name.
pub(super) fn file_response(
    format: &ReportFormat,
    name: &str,
    length: u64,
    body: Body,
) -> Response {
    // Stored names consist of letters, digits, `-` and `.`.
    let attachment = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let attachment = attachment.unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static(content_type(format));
    let length = HeaderValue::from(length);
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, attachment),
        (header::CONTENT_LENGTH, length),
    ];
    (headers, body).into_response()
}

async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    fields: Fields,
) -> RouteResult<impl IntoResponse> {
    let new = read_report(&app, &fields.with_unprocessable())?;
    let (workspace, workspace_name) = check_resources(&app, &new).await?;
    let reserved = app
        .key_usage
        .reserve(&identity, QuotaNoun::Report, app.now())?;
    let request = queued(&new).map_err(ApiError::internal)?;
    let name = |id: ReportId| format!("scandeck-{}-{id}.{}", slug(&workspace_name), new.format);
    let webhook = new.webhook_url.as_deref();
    let report_id = app
        .store
        .add_report(&new.format, &request, webhook, workspace, name, app.now())
        .await?;
    reserved.created();
    app.reports.notify_one();
    Ok((StatusCode::ACCEPTED, data(ReportCreated { report_id })))
}

/// A workspace name as a part of a file name.
fn slug(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() {
        "workspace".to_owned()
    } else {
        slug.chars().take(60).collect()
    }
}

fn read_report(app: &App, fields: &Fields) -> RouteResult<NewReport> {
    let required = |name: &str| {
        let text = fields.text(name)?;
        text.ok_or_else(|| ApiError::bad_request(format!("{name} is required")))
    };
    let resources = fields
        .integers("resources")?
        .ok_or_else(|| ApiError::bad_request("resources is required"))?;
    if resources.is_empty() {
        return Err(ApiError::bad_request("resources: must not be empty"));
    }
    let (format, group_by, source) = (
        required("format")?,
        required("group_by")?,
        required("source")?,
    );
    let webhook_url = fields.text("webhook_url")?.filter(|url| !url.is_empty());
    if let Some(url) = webhook_url {
        check_callback_url(app, "webhook_url", url)?;
    }
    Ok(NewReport {
        format: check_format("format", format)?,
        group_by: choice("group_by", group_by, GroupBy::KNOWN)?,
        source: choice("source", source, ReportSource::KNOWN)?,
        resources,
        filters: fields.object("filters")?.map(read_filters).transpose()?,
        webhook_url: webhook_url.map(str::to_owned),
    })
}

fn read_filters(given: Map<String, Value>) -> RouteResult<ReportFilters> {
    let mut filters = serde_json::to_value(ReportFilters::default()).map_err(ApiError::internal)?;
    for (name, value) in given {
        match (filters.get_mut(&name), value) {
            (None, _) => {
                return Err(ApiError::bad_request(format!(
                    "filters: unknown filter `{name}`"
                )));
            }
            (Some(filter), Value::Bool(value)) => *filter = value.into(),
            (Some(_), Value::Null) => {}
            (Some(_), _) => {
                return Err(ApiError::unprocessable(format!(
                    "filters: {name} must be true or false"
                )));
            }
        }
    }
    serde_json::from_value(filters).map_err(ApiError::internal)
}

/// A supported format; the 400 lists the supported ones.
pub(super) fn check_format(field: &str, format: &str) -> RouteResult<ReportFormat> {
    choice(field, format, FORMATS)
}

/// Checks the URL of a callback: 400 when it is not a web address, 403 when the scope check refuses
/// it. The scope check checks it again when the callback is sent, after name resolution and at each
/// redirect.
pub(super) fn check_callback_url(app: &App, field: &str, url: &str) -> RouteResult<()> {
    refuse_nul(field, url, StatusCode::BAD_REQUEST)?;
    let address =
        Address::parse(url).map_err(|error| ApiError::bad_request(format!("{field}: {error}")))?;
    if address.url().is_none() {
        return Err(ApiError::bad_request(format!(
            "{field}: `{url}` is not an http or https URL"
        )));
    }
    check_name(app, &address).map_err(|refusal| ApiError::forbidden(format!("{field}: {refusal}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_keeps_letters_and_digits_only() {
        assert_eq!(slug("Default"), "default");
        assert_eq!(slug("  Acme / \"external\" "), "acme-external");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("日本"), "workspace");
    }

    #[test]
    fn read_filters_keeps_defaults_and_refuses_unknown_names() {
        let read = |text: &str| read_filters(serde_json::from_str(text).unwrap());
        let filters = read(r#"{"include_info": false, "include_all_targets": true}"#).unwrap();
        assert!(!filters.include_info && filters.include_all_targets && filters.include_fixed);
        assert_eq!(
            read(r#"{"include_everything": true}"#).unwrap_err().status,
            StatusCode::BAD_REQUEST
        );
        assert_eq!(
            read(r#"{"include_info": "no"}"#).unwrap_err().status,
            StatusCode::UNPROCESSABLE_ENTITY
        );
    }
}
