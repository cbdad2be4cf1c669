//! The endpoints of the API, one file a noun: they read requests, call the store and the worker, and answer.

pub mod findings;
pub mod loggers;
pub mod new_scan;
pub mod reports;
pub mod scans;
pub mod targets;
pub mod wordlists;
pub mod workspaces;

use axum::Json;
use axum::http::StatusCode;
use serde::Serialize;

use super::endpoint::Endpoint;
use super::errors::ApiError;
use super::store::DatabaseError;
use crate::contract::{Created, DataEnvelope};

/// The answer of a handler.
pub(super) type RouteResult<T> = Result<T, ApiError>;

/// `{"data": …}`.
pub(super) type DataJson<T> = Json<DataEnvelope<T>>;

/// The route table: all 34 endpoints.
pub fn endpoints() -> Vec<Endpoint> {
    let mut all = workspaces::endpoints();
    all.extend(targets::endpoints());
    all.extend(scans::endpoints());
    all.extend(findings::endpoints());
    all.extend(reports::endpoints());
    all.extend(wordlists::endpoints());
    all.extend(loggers::endpoints());
    all
}

/// 200 with the wrapper.
fn data<T: Serialize>(data: T) -> DataJson<T> {
    Json(DataEnvelope { data })
}

/// 201 with the new id.
fn created(id: i64) -> (StatusCode, DataJson<Created>) {
    (StatusCode::CREATED, data(Created { created_id: id }))
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        ApiError::internal(error)
    }
}
