//! Refusals of the API, each with the error body of `hosted-service.md`, and the errors of starting a service.
//!
//! Every answer that is no success goes through [`ApiError`], also the framework's own (unknown path, bad JSON, 405,
//! 413, 415, panics): clients read `status`, `message` and `details` and nothing else.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::data_dir::ServiceInfo;
use super::store::DatabaseError;
use crate::contract::ErrorBody;

/// A refusal: its status code and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// 4xx or 5xx.
    pub status: StatusCode,
    /// One sentence for a person.
    pub message: String,
    /// What to do about it, where there is more to say.
    pub details: Option<String>,
}

impl ApiError {
    /// A refusal with any status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), details: None }
    }

    /// 400: missing or bad parameter.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 403: refused by the rails or by a limit.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404: there is no such thing.
    pub fn not_found(noun: &str, id: impl fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {noun} {id}"))
    }

    /// 409: not while things are as they are.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// 422: the body was read and failed validation.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 500: logged here, once, and not told to the client in detail.
    pub fn internal(error: impl fmt::Display) -> Self {
        tracing::error!(error = %format!("{error:#}"), "internal server error");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal server error")
            .with_details("the service's log has the cause")
    }

    /// The same with more to say.
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            status: i64::from(self.status.as_u16()),
            message: self.message.into(),
            details: self.details.map(Into::into),
        };
        (self.status, Json(body)).into_response()
    }
}

/// Why a service did not start. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{}", held(dir, info.as_deref()))]
    Held { dir: PathBuf, info: Option<Box<ServiceInfo>> },
    #[error("cannot listen on {address}: {source}; choose another with --{flag} ADDR:PORT, or port 0 for a free one")]
    Busy { address: SocketAddr, flag: &'static str, source: std::io::Error },
    #[error("cannot use {}: {source}; name another place with --data-dir or --api-key-file", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error(
        "{} has schema {found}, this program knows schemas up to {known}: use the newer scandeck that wrote it, or another --data-dir; nothing was changed",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{} has schema {found}, this program has {known}: stop the service that runs on it, or use the scandeck it runs",
        path.display()
    )]
    OtherSchema { path: PathBuf, found: i64, known: i64 },
    #[error("cannot open the database {}: {source}", path.display())]
    Database { path: PathBuf, source: anyhow::Error },
    #[error("the database could not be read or written: {0}")]
    Store(DatabaseError),
    #[error("{0}")]
    Settings(String),
}

fn held(dir: &std::path::Path, info: Option<&ServiceInfo>) -> String {
    let dir = dir.display();
    match info {
        Some(info) => format!("a service already runs on {dir}: process {}, {}", info.pid, info.base_url),
        None => {
            format!("a service already runs on {dir}, or is just starting; `scandeck status --data-dir {dir}` tells")
        }
    }
}
