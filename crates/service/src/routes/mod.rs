//! The endpoints of the API, one file per noun. They read requests, call the store and the worker,
//! and build responses.

pub mod findings;
pub mod imports;
pub mod loggers;
pub mod new_scan;
pub mod nodes;
pub mod reports;
pub mod scans;
pub mod schedules;
pub mod target_tags;
pub mod targets;
pub mod team;
pub mod wordlists;
pub mod worker;
pub mod workspaces;

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use serde::Serialize;

use crate::api::endpoint::Endpoint;
use crate::errors::ApiError;
use crate::state::App;
use crate::store::{DatabaseError, unavailability};
use scandeck_wire::contract::{Created, DataEnvelope, WorkspaceId};

/// The result of a handler.
pub(super) type RouteResult<T> = Result<T, ApiError>;

/// `{"data": …}`.
pub(super) type DataJson<T> = Json<DataEnvelope<T>>;

/// The route table: the endpoints of the API v2.
pub fn endpoints() -> Vec<Endpoint> {
    let nouns = [
        workspaces::endpoints(),
        targets::endpoints(),
        scans::endpoints(),
        findings::endpoints(),
        reports::endpoints(),
        wordlists::endpoints(),
        loggers::endpoints(),
    ];
    nouns.into_iter().flatten().collect()
}

/// The endpoints beside the API v2.
pub fn extensions() -> Router<App> {
    team::router()
        .merge(schedules::router())
        .merge(target_tags::router())
        .merge(imports::router())
        .merge(nodes::router())
        .merge(worker::router())
}

/// 200 with `{"data": …}`.
fn data<T: Serialize>(data: T) -> DataJson<T> {
    Json(DataEnvelope { data })
}

/// 201 with the new id.
fn created(id: i64) -> (StatusCode, DataJson<Created>) {
    (StatusCode::CREATED, data(Created { created_id: id }))
}

/// 204 when the object was found, else 404.
fn no_content(found: bool, noun: &str, id: impl std::fmt::Display) -> RouteResult<StatusCode> {
    if found {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::not_found(noun, id))
    }
}

/// The given workspace, or the current one.
async fn workspace_or_current(app: &App, given: Option<i64>) -> RouteResult<WorkspaceId> {
    match given {
        Some(id) => Ok(WorkspaceId(id)),
        None => Ok(app.store.current_workspace().await?),
    }
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        match unavailability(&error) {
            Some(_) => ApiError::unavailable(error),
            None => ApiError::internal(error),
        }
    }
}
