//! `/reports` (api-v2.md §4, §7). Reports are made in the background by [`crate::service::report_maker`].

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::{DataJson, RouteResult, data};
use crate::contract::{
    GroupBy, NewReport, Report, ReportCreated, ReportFilters, ReportFormat, ReportId, ReportSource, ReportStatus,
};
use crate::report::{FORMATS, content_type};
use crate::service::address::Address;
use crate::service::endpoint::Endpoint;
use crate::service::errors::ApiError;
use crate::service::report_maker::gather;
use crate::service::request::{Fields, Id};
use crate::service::state::App;

/// Rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    const NEW: &[(&str, &str, bool)] = &[
        ("format", "string", true),
        ("group_by", "string", true),
        ("source", "string", true),
        ("resources", "array", true),
        ("filters", "object", false),
        ("webhook_url", "string", false),
    ];
    vec![
        Endpoint::list("/reports", "All reports", list),
        Endpoint::post("/reports", "Asks for a report", add).body(NEW).answers(&[202]).refuses(&[400, 403, 422]),
        Endpoint::get("/reports/{id}", "One report", show).refuses(&[400, 404]),
        Endpoint::delete("/reports/{id}", "Deletes a report", delete).refuses(&[400, 404]),
        Endpoint::get("/reports/{id}/download", "The report as a file", download)
            .answers(&[200, 202, 204])
            .refuses(&[400, 404]),
    ]
}

async fn list(State(app): State<App>) -> RouteResult<DataJson<Vec<Report>>> {
    Ok(data(app.store.reports(app.now()).await?))
}

async fn find(app: &App, id: ReportId) -> RouteResult<Report> {
    app.store.report(id, app.now()).await?.ok_or_else(|| ApiError::not_found("report", id))
}

async fn show(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<DataJson<Report>> {
    Ok(data(find(&app, id).await?))
}

async fn delete(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<StatusCode> {
    match app.store.delete_report(id, app.now()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("report", id)),
    }
}

async fn download(State(app): State<App>, Id(id): Id<ReportId>) -> RouteResult<Response> {
    let report = find(&app, id).await?;
    if report.status == ReportStatus::Waiting {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    let Some(content) = app.store.report_content(id).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    // The name is made of letters, digits, `-` and `.` where it is stored.
    let named = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", report.download_name));
    let named = named.unwrap_or_else(|_| HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static(content_type(&report.format));
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, named)], content).into_response())
}

async fn add(State(app): State<App>, fields: Fields) -> RouteResult<impl IntoResponse> {
    let asked = read_report(&app, &fields.with_unprocessable())?;
    let gathered = gather(&app, &asked).await?;
    let copy = serde_json::to_string(&gathered).map_err(ApiError::internal)?;
    let workspace = gathered.workspace;
    let name = |id: ReportId| format!("scandeck-{}-{id}.{}", plain(&workspace), asked.format);
    let report_id = app.store.add_report(&asked.format, &copy, asked.webhook_url.as_deref(), name, app.now()).await?;
    app.reports.notify_one();
    Ok((StatusCode::ACCEPTED, data(ReportCreated { report_id })))
}

/// What can stand in any file name of a workspace's name.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => plain.push(letter),
            _ if plain.ends_with('-') || plain.is_empty() => {}
            _ => plain.push('-'),
        }
    }
    let plain = plain.trim_end_matches('-');
    if plain.is_empty() { "workspace".to_owned() } else { plain.chars().take(60).collect() }
}

fn read_report(app: &App, fields: &Fields) -> RouteResult<NewReport> {
    let required = |name: &str| {
        let text = fields.text(name)?;
        text.ok_or_else(|| ApiError::bad_request(format!("{name} is required")))
    };
    let (format, group_by, source) = (required("format")?, required("group_by")?, required("source")?);
    let resources = fields.integers("resources")?.ok_or_else(|| ApiError::bad_request("resources is required"))?;
    if resources.is_empty() {
        return Err(ApiError::bad_request("resources: must not be empty"));
    }
    let webhook_url = fields.text("webhook_url")?.filter(|url| !url.is_empty());
    if let Some(url) = webhook_url {
        check_callback_url(app, "webhook_url", url)?;
    }
    Ok(NewReport {
        format: check_format("format", format)?,
        group_by: GroupBy::known(group_by).ok_or_else(|| unknown("group_by", group_by, "target, vulnerability"))?,
        source: ReportSource::known(source).ok_or_else(|| unknown("source", source, "scans, findings"))?,
        resources,
        filters: fields.object("filters")?.map(read_filters).transpose()?,
        webhook_url: webhook_url.map(str::to_owned),
    })
}

fn unknown(field: &str, value: &str, choices: &str) -> ApiError {
    ApiError::bad_request(format!("{field}: `{value}` is none of {choices}"))
}

fn read_filters(given: Map<String, Value>) -> RouteResult<ReportFilters> {
    let mut filters = serde_json::to_value(ReportFilters::default()).map_err(ApiError::internal)?;
    for (name, value) in given {
        match (filters.get_mut(&name), value) {
            (None, _) => return Err(ApiError::bad_request(format!("filters: `{name}` is not known"))),
            (Some(filter), Value::Bool(value)) => *filter = value.into(),
            (Some(_), Value::Null) => {}
            (Some(_), _) => return Err(ApiError::unprocessable(format!("filters: {name} is neither true nor false"))),
        }
    }
    serde_json::from_value(filters).map_err(ApiError::internal)
}

/// A format this service makes; 400 otherwise, which names those it does.
pub(super) fn check_format(field: &str, format: &str) -> RouteResult<ReportFormat> {
    let made = || FORMATS.iter().map(ReportFormat::as_str).collect::<Vec<_>>().join(", ");
    match ReportFormat::known(format) {
        Some(known) if FORMATS.contains(&known) => Ok(known),
        Some(_) => Err(ApiError::bad_request(format!("{field}: {format} is not made here; choose one of {}", made()))),
        None => Err(unknown(field, format, &made())),
    }
}

/// A callback goes only where the service may send requests: 400 when it is no web address, 403 when the rails refuse.
/// Names are checked again, after resolution and at each redirect, when it is sent.
pub(super) fn check_callback_url(app: &App, field: &str, url: &str) -> RouteResult<()> {
    let address = Address::parse(url).map_err(|error| ApiError::bad_request(format!("{field}: {error}")))?;
    if address.url().is_none() {
        return Err(ApiError::bad_request(format!("{field}: `{url}` is no http or https URL")));
    }
    app.rails.check_name(&address).map_err(|refusal| ApiError::forbidden(format!("{field}: {refusal}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_becomes_a_part_of_a_file_name() {
        assert_eq!(plain("Default"), "default");
        assert_eq!(plain("  Acme / \"external\" "), "acme-external");
        assert_eq!(plain("../../etc"), "etc");
        assert_eq!(plain("日本"), "workspace");
    }

    #[test]
    fn filters_start_from_their_defaults() {
        let read = |text: &str| read_filters(serde_json::from_str(text).unwrap());
        let filters = read(r#"{"include_info": false, "include_all_targets": true}"#).unwrap();
        assert!(!filters.include_info && filters.include_all_targets && filters.include_fixed);
        assert_eq!(read(r#"{"include_everything": true}"#).unwrap_err().status, StatusCode::BAD_REQUEST);
        assert_eq!(read(r#"{"include_info": "no"}"#).unwrap_err().status, StatusCode::UNPROCESSABLE_ENTITY);
    }
}
