//! `/http_loggers` (api-v2.md §4, §7). The requests to record come in at [`crate::service::loggers`].

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;

use super::{DataJson, RouteResult, created, data};
use crate::contract::{Logger, LoggerId, Requests, WorkspaceId};
use crate::service::endpoint::Endpoint;
use crate::service::errors::ApiError;
use crate::service::loggers::{new_token, shown};
use crate::service::request::{Fields, Id, QueryParams};
use crate::service::state::App;
use crate::service::store::loggers::AddedLogger;

/// Rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    const WORKSPACE: &[(&str, &str)] = &[("workspace_id", "integer")];
    const NEW: &[(&str, &str, bool)] = &[("label", "string", true), ("workspace_id", "integer", false)];
    vec![
        Endpoint::list("/http_loggers", "Loggers", list).query(WORKSPACE).refuses(&[400]),
        Endpoint::post("/http_loggers", "Makes a logger", add).query(WORKSPACE).body(NEW).refuses(&[400, 422]),
        Endpoint::get("/http_loggers/{id}", "One logger", show).refuses(&[400, 404]),
        Endpoint::delete("/http_loggers/{id}", "Deletes a logger", delete).refuses(&[400, 404]),
        Endpoint::list("/http_loggers/{id}/data", "What a logger recorded", requests)
            .query(&[("since_id", "integer")])
            .refuses(&[400, 404]),
        Endpoint::delete("/http_loggers/{id}/data", "Forgets what a logger recorded", clear).refuses(&[400, 404]),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<DataJson<Vec<Logger>>> {
    let rows = app.store.loggers(query.integer("workspace_id")?).await?;
    Ok(data(rows.iter().map(|row| shown(&app, row)).collect()))
}

async fn show(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<DataJson<Logger>> {
    let row = app.store.logger(id).await?.ok_or_else(|| ApiError::not_found("logger", id))?;
    Ok(data(shown(&app, &row)))
}

async fn add(State(app): State<App>, query: QueryParams, fields: Fields) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let label = fields.text("label")?.ok_or_else(|| ApiError::unprocessable("label is required"))?;
    check_label(label)?;
    let in_query = query
        .text("workspace_id")
        .map(|text| text.parse().map_err(|_| ApiError::unprocessable(format!("workspace_id: `{text}` is no integer"))));
    let workspace = match in_query.transpose()?.or(fields.integer("workspace_id")?) {
        Some(id) => WorkspaceId(id),
        None => app.store.current_workspace().await?,
    };
    match app.store.add_logger(workspace, label, &new_token(), app.now()).await? {
        AddedLogger::New(id) => Ok(created(id.0)),
        AddedLogger::LabelTaken => Err(ApiError::unprocessable(format!("label: a logger `{label}` already exists"))),
        AddedLogger::NoWorkspace => {
            Err(ApiError::unprocessable(format!("workspace_id: there is no workspace {workspace}")))
        }
    }
}

fn check_label(label: &str) -> RouteResult<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match label.len() {
        1..=100 if label.bytes().all(fits) => Ok(()),
        1..=100 => Err(ApiError::unprocessable("label: only letters, digits, `-`, `_` and `.`")),
        0 => Err(ApiError::unprocessable("label: must not be empty")),
        _ => Err(ApiError::unprocessable("label: at most 100 characters")),
    }
}

async fn delete(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<StatusCode> {
    match app.store.delete_logger(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("logger", id)),
    }
}

async fn requests(State(app): State<App>, Id(id): Id<LoggerId>, query: QueryParams) -> RouteResult<DataJson<Requests>> {
    if app.store.logger(id).await?.is_none() {
        return Err(ApiError::not_found("logger", id));
    }
    let since = query.integer("since_id")?.unwrap_or(0_i64);
    Ok(data(Requests { requests: app.store.captures(id, since).await? }))
}

async fn clear(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<StatusCode> {
    match app.store.clear_logger(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("logger", id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_letters_digits_and_three_signs() {
        for good in ["a", "Oob_1.test-2"] {
            assert!(check_label(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", &"x".repeat(101)] {
            assert_eq!(check_label(bad).unwrap_err().status, StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
        }
    }
}
