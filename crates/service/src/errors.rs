//! Error responses of the API with the body of `hosted-service.md`, and the errors of starting the
//! service.
//!
//! Every error response is built from [`ApiError`], including those of the framework (unknown path,
//! invalid JSON, 405, 413, 415, panics): clients read `status`, `message` and `details` only.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::data::data_dir::ServiceInfo;
use crate::scope::ScopeError;
use crate::store::DatabaseError;
use scandeck_wire::contract::ErrorBody;

/// Longest URL of a request, in bytes.
pub const MAX_URL: usize = 8192;
/// Characters of a message or its details.
const MAX_MESSAGE: usize = 1000;
/// Characters of input that a message quotes.
const MAX_QUOTED: usize = 80;

/// Seconds after which the database may be available again.
const UNAVAILABLE_SECONDS: i64 = 2;

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// 4xx or 5xx.
    pub status: StatusCode,
    pub message: String,
    /// The remedy, if any.
    pub details: Option<String>,
    /// Seconds after which the same request may succeed.
    pub retry_after: Option<i64>,
    /// Whether the connection is closed, because its next bytes may be no request.
    pub closes: bool,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            details: None,
            retry_after: None,
            closes: false,
        }
    }

    /// 400: missing or invalid parameter.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 403: refused by the scope check or by a limit.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub fn not_found(noun: &str, id: impl fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{noun} {id} not found"))
    }

    /// 409: not possible in the present state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// 422: the body failed validation.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 500: the cause is logged here and not sent to the client.
    pub fn internal(error: impl fmt::Display) -> Self {
        tracing::error!(error = %format!("{error:#}"), "internal server error");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal server error")
            .with_details("see the log of the service for the cause")
    }

    /// 503: the database cannot be used at the moment; the cause is logged here.
    pub fn unavailable(error: impl fmt::Display) -> Self {
        tracing::warn!(error = %format!("{error:#}"), "database not available");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database is not available",
        )
        .with_details("repeat the request")
        .with_retry_after(UNAVAILABLE_SECONDS)
    }

    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    pub fn with_retry_after(mut self, seconds: i64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub fn with_close(mut self) -> Self {
        self.closes = true;
        self
    }
}

impl ApiError {
    /// 414.
    pub fn uri_too_long() -> Self {
        Self::new(
            StatusCode::URI_TOO_LONG,
            format!("the URL is longer than {MAX_URL} bytes"),
        )
    }

    /// The body as JSON text.
    pub fn body(&self) -> String {
        serde_json::to_string(&self.error_body()).unwrap_or_default()
    }

    fn error_body(&self) -> ErrorBody {
        ErrorBody {
            status: i64::from(self.status.as_u16()),
            message: shortened(&self.message, MAX_MESSAGE).into(),
            details: self
                .details
                .as_ref()
                .map(|details| shortened(details, MAX_MESSAGE).into()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.error_body())).into_response();
        let headers = response.headers_mut();
        headers.extend(
            self.retry_after
                .map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))),
        );
        headers.extend(
            self.closes
                .then(|| (header::CONNECTION, HeaderValue::from_static("close"))),
        );
        response
    }
}

/// Input as quoted in a message: long input is not repeated.
pub fn shown(input: &str) -> String {
    shortened(input, MAX_QUOTED)
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Why the service did not start. Each message includes a remedy.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{}", already_running(dir, info.as_deref()))]
    Held {
        dir: PathBuf,
        info: Option<Box<ServiceInfo>>,
    },
    #[error(
        "cannot listen on {address}: {}; choose another address with --{flag} ADDR:PORT, or port 0",
        cause_of(cause)
    )]
    Busy {
        address: SocketAddr,
        flag: &'static str,
        cause: std::io::Error,
    },
    #[error("cannot use {}: {}; choose another path with --data-dir, --api-key-file or --secrets-key-file", path.display(), cause_of(cause))]
    Files {
        path: PathBuf,
        cause: std::io::Error,
    },
    #[error(
        "{} has schema {found}, this version supports up to {known} (nothing was changed): use the newer scandeck, \
         or another database",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error("{}", other_schema(path, *found, *known))]
    OtherSchema {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error("{} (nothing was changed)", older_schema(path, *found, *known))]
    OlderSchema {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error(
        "{} has schema {found}, and live nodes do not work with schema {known} of this version (nothing was changed): \
         stop {nodes}, then start this node again",
        path.display()
    )]
    OlderNodes {
        path: PathBuf,
        found: i64,
        known: i64,
        nodes: String,
    },
    #[error(
        "the database {} is damaged ({source}): put a backup in its place with `scandeck restore`",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        source: anyhow::Error,
    },
    #[error("cannot open the database {}: {source}", path.display())]
    Database {
        path: PathBuf,
        source: anyhow::Error,
    },
    #[error(
        "{} is not the key file of the node on {node}, which uses the same database: copy the file from that node{other_remedy}",
        file.display()
    )]
    OtherKey {
        file: PathBuf,
        node: String,
        other_remedy: &'static str,
    },
    #[error("cannot read or write the database: {0}")]
    Store(DatabaseError),
    #[error("stopped before the database was open; start the service again")]
    Stopped,
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error("{0}")]
    Settings(String),
}

pub use scandeck_wire::text::io_cause as cause_of;

fn already_running(dir: &std::path::Path, info: Option<&ServiceInfo>) -> String {
    let dir = dir.display();
    match info {
        Some(info) => format!(
            "a service is already running on {dir} (process {}, {}); `scandeck stop --data-dir {dir}` stops it",
            info.pid, info.base_url
        ),
        None => {
            format!(
                "a service is running or starting on {dir}; see `scandeck status --data-dir {dir}`"
            )
        }
    }
}

fn other_schema(path: &std::path::Path, found: i64, known: i64) -> String {
    let path = path.display();
    match found {
        0 => format!(
            "{path} has no tables yet: try again when `scandeck serve` has printed its address"
        ),
        _ => format!(
            "{path} has schema {found}, this version uses {known}: stop the service that uses it, \
             or run its version of scandeck"
        ),
    }
}

fn older_schema(path: &std::path::Path, found: i64, known: i64) -> String {
    let path = path.display();
    match found {
        0 => format!("{path} has no tables yet: `scandeck serve` creates them"),
        _ => format!(
            "{path} has schema {found}, this version uses {known}: `scandeck serve` of this version upgrades it; \
             until then, use the version that the nodes of the database run"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_not_repeated() {
        assert_eq!(shown("abc"), "abc");
        assert_eq!(
            shown(&"é".repeat(500)),
            format!("{}…", "é".repeat(MAX_QUOTED))
        );
        let error = ApiError::bad_request("x".repeat(100_000)).with_details("y".repeat(100_000));
        assert!(error.body().len() < 2100, "{}", error.body().len());
    }

    #[test]
    fn database_of_a_starting_service_is_no_other_version() {
        let error = |found| {
            let path = PathBuf::from("scandeck.db");
            StartError::OtherSchema {
                path,
                found,
                known: 24,
            }
        };
        let starting = "scandeck.db has no tables yet: try again when `scandeck serve` has printed its address";
        assert_eq!(error(0).to_string(), starting);
        assert!(error(23).to_string().contains("run its version"));
    }

    #[test]
    fn busy_address_is_explained_once() {
        let cause = std::io::Error::from_raw_os_error(rustix::io::Errno::ADDRINUSE.raw_os_error());
        let error = StartError::Busy {
            address: "127.0.0.1:18799".parse().unwrap(),
            flag: "listen",
            cause,
        };
        assert_eq!(
            format!("{:#}", anyhow::Error::from(error)),
            "cannot listen on 127.0.0.1:18799: address already in use; choose another address with --listen ADDR:PORT, or port 0"
        );
    }
}
