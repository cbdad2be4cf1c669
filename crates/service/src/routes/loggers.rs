//! `/http_loggers` (api-v2.md §4, §7). [`crate::loggers`] receives the requests to record.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::{DataJson, RouteResult, created, data, no_content, workspace_or_current};
use crate::api::endpoint::{
    Endpoint,
    EndpointBody::JsonOrForm,
    ResponseContent::{Data, List},
};
use crate::api::list_stream;
use crate::api::request::{Fields, Id, QueryParams};
use crate::errors::ApiError;
use crate::guards::keys::{KeyIdentity, Role};
use crate::guards::quotas::QuotaNoun;
use crate::loggers::{new_token, to_contract};
use crate::state::App;
use crate::store::loggers::AddedLogger;
use crate::store::versions::ListNoun;
use scandeck_wire::contract::{Logger, LoggerId, UnattributedRequests};

/// The text around captures: the JSON of [`scandeck_wire::contract::Requests`].
const REQUESTS: (&str, &str) = ("{\"data\":{\"requests\":[", "]}}");
/// Bytes of captures that are read at once.
const BATCH_BYTES: i64 = 512 * 1024;

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Loggers,
            "/http_loggers",
            "list_loggers",
            "List loggers",
            list,
        )
        .query(&["workspace_id"])
        .content(List("Logger")),
        Endpoint::post("/http_loggers", "create_logger", "Create a logger", add)
            .query(&["workspace_id"])
            .body(JsonOrForm("NewLogger"))
            .content(Data("Created"))
            .refuses(&[422]),
        Endpoint::get("/http_loggers/{id}", "get_logger", "Get a logger", show)
            .content(Data("Logger")),
        Endpoint::delete(
            "/http_loggers/{id}",
            "delete_logger",
            "Delete a logger and its captured requests",
            delete,
        ),
        Endpoint::list(
            ListNoun::Loggers,
            "/http_loggers/{id}/data",
            "list_captures",
            "List captured requests",
            requests,
        )
        .query(&["since_id"])
        .content(Data("Requests")),
        Endpoint::delete(
            "/http_loggers/{id}/data",
            "delete_captures",
            "Delete captured requests",
            clear,
        ),
        Endpoint::get(
            "/http_loggers/unattributed",
            "list_unattributed_requests",
            "List what arrived for no logger",
            unattributed,
        )
        .content(Data("UnattributedRequests")),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<DataJson<Vec<Logger>>> {
    let rows = app.store.loggers(query.integer("workspace_id")?).await?;
    Ok(data(
        rows.iter().map(|row| to_contract(&app, row)).collect(),
    ))
}

async fn show(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<DataJson<Logger>> {
    let row = app
        .store
        .logger(id)
        .await?
        .ok_or_else(|| ApiError::not_found("logger", id))?;
    Ok(data(to_contract(&app, &row)))
}

async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    query: QueryParams,
    fields: Fields,
) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let label = fields
        .text("label")?
        .ok_or_else(|| ApiError::unprocessable("label is required"))?;
    check_label(label)?;
    let in_query = query
        .integer("workspace_id")
        .map_err(|error: ApiError| ApiError::unprocessable(error.message))?;
    let workspace =
        workspace_or_current(&app, in_query.or(fields.integer("workspace_id")?)).await?;
    check_number(&app, identity.role).await?;
    let reserved = app
        .key_usage
        .reserve(&identity, QuotaNoun::Logger, app.now())?;
    match app
        .store
        .add_logger(workspace, label, &new_token(), app.now())
        .await?
    {
        AddedLogger::New(id) => {
            reserved.created();
            Ok(created(id.0))
        }
        AddedLogger::LabelTaken => Err(ApiError::unprocessable(format!(
            "label: a logger `{label}` already exists"
        ))),
        AddedLogger::NoWorkspace => Err(ApiError::unprocessable(format!(
            "workspace_id: workspace {workspace} not found"
        ))),
    }
}

/// Half of the loggers are for keys that may also scan, so a guest cannot use up all of them.
async fn check_number(app: &App, role: Role) -> RouteResult<()> {
    let all = app.settings.max_loggers;
    let limit = if role <= Role::Triage { all / 2 } else { all };
    if app.store.logger_count().await? < i64::try_from(limit).unwrap_or(i64::MAX) {
        return Ok(());
    }
    let error = ApiError::forbidden(format!(
        "the limit of {limit} loggers for the role `{role}` is reached"
    ));
    Err(error.with_details("delete loggers, or start the service with a larger `--max-loggers`"))
}

fn check_label(label: &str) -> RouteResult<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match label.len() {
        1..=100 if label.bytes().all(fits) => Ok(()),
        1..=100 => Err(ApiError::unprocessable(
            "label: only letters, digits, `-`, `_` and `.` are allowed",
        )),
        0 => Err(ApiError::unprocessable("label is required")),
        _ => Err(ApiError::unprocessable(
            "label: at most 100 characters are allowed",
        )),
    }
}

async fn delete(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<StatusCode> {
    no_content(app.store.delete_logger(id).await?, "logger", id)
}

async fn requests(
    State(app): State<App>,
    Id(id): Id<LoggerId>,
    query: QueryParams,
) -> RouteResult<Response> {
    if app.store.logger(id).await?.is_none() {
        return Err(ApiError::not_found("logger", id));
    }
    let since = query.integer("since_id")?.unwrap_or(0_i64);
    let sizes = app.store.capture_sizes(id, since).await?;
    let read = move |ids: Vec<i64>| {
        let store = app.store.clone();
        async move {
            let captures = store.captures(&ids).await?;
            Ok(captures
                .iter()
                .filter_map(|capture| serde_json::to_string(capture).ok())
                .collect())
        }
    };
    Ok(list_stream::respond(
        REQUESTS,
        list_stream::batches_of_bytes(sizes, BATCH_BYTES),
        read,
    )
    .await?)
}

async fn unattributed(State(app): State<App>) -> DataJson<UnattributedRequests> {
    data(app.unattributed.to_contract())
}

async fn clear(State(app): State<App>, Id(id): Id<LoggerId>) -> RouteResult<StatusCode> {
    no_content(app.store.clear_logger(id).await?, "logger", id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_label_refuses_other_characters_and_lengths() {
        for good in ["a", "Oob_1.test-2"] {
            assert!(check_label(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", &"x".repeat(101)] {
            assert_eq!(
                check_label(bad).unwrap_err().status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{bad}"
            );
        }
    }
}
