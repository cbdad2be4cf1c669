//! HTTP loggers: endpoints that record every request made to them, and the recorded requests (captures).

use serde::{Deserialize, Serialize};

use super::{CaptureId, LoggerId, Shared, Stamp, lenient};

/// A logger as listed and looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // the names are the contract's
pub struct Logger {
    pub id: LoggerId,
    /// Unique.
    #[serde(deserialize_with = "lenient::text")]
    pub label: Shared,
    /// The URL at which it receives requests.
    #[serde(deserialize_with = "lenient::text")]
    pub handler_url: Shared,
    /// Days left before it becomes read-only.
    #[serde(deserialize_with = "lenient::integer")]
    pub active_days: i64,
    #[serde(deserialize_with = "lenient::integer")]
    pub num_requests: i64,
    #[serde(deserialize_with = "lenient::integer")]
    pub requests_left: i64,
}

/// A request that a logger recorded.
///
/// The last three fields are the embedded service's; others leave them out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Capture {
    pub id: CaptureId,
    #[serde(deserialize_with = "lenient::text")]
    pub ip_address: Shared,
    #[serde(deserialize_with = "lenient::text")]
    pub request_method: Shared,
    /// The query string without `?`.
    #[serde(deserialize_with = "lenient::text")]
    pub url_params: Shared,
    #[serde(deserialize_with = "lenient::text")]
    pub user_agent: Shared,
    #[serde(deserialize_with = "lenient::text")]
    pub os: Shared,
    /// `Name: value` lines in the order they came, duplicates kept.
    #[serde(deserialize_with = "lenient::texts")]
    pub http_headers: Vec<Shared>,
    /// The body's content type.
    #[serde(deserialize_with = "lenient::text")]
    pub request_body_type: Shared,
    #[serde(deserialize_with = "lenient::text")]
    pub request_body_base64: Shared,
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub request_date: Option<Stamp>,
    #[serde(deserialize_with = "lenient::maybe_text", skip_serializing_if = "Option::is_none")]
    pub path: Option<Shared>,
    #[serde(deserialize_with = "lenient::maybe_text", skip_serializing_if = "Option::is_none")]
    pub http_version: Option<Shared>,
    #[serde(deserialize_with = "lenient::maybe_integer", skip_serializing_if = "Option::is_none")]
    pub remote_port: Option<i64>,
}
