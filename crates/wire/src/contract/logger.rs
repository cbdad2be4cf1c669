//! HTTP loggers, which record all requests to their URL, and the captured requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{SharedPool, SharedTexts};
use super::{CaptureId, LoggerId, Shared, Stamp, lenient};

/// A logger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Logger {
    pub id: LoggerId,
    /// Unique label.
    pub label: Shared,
    /// Requests to this URL, and below it, are recorded.
    pub handler_url: Shared,
    /// Days until the URL stops recording.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub active_days: i64,
    /// Number of recorded requests.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub num_requests: i64,
    /// Number of requests that the logger can still record.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub requests_left: i64,
}

/// A captured request.
// Other services do not send the last five fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Capture {
    pub id: CaptureId,
    /// The address of the sender.
    pub ip_address: Shared,
    /// The HTTP method.
    pub request_method: Shared,
    /// The query string without `?`.
    pub url_params: Shared,
    /// May be empty.
    pub user_agent: Shared,
    /// The operating system in the user agent; may be empty.
    pub os: Shared,
    /// Lines `Name: value` in the received order.
    #[serde(deserialize_with = "lenient::texts")]
    pub http_headers: Vec<Shared>,
    /// The content type of the body; may be empty.
    pub request_body_type: Shared,
    /// The body in base64.
    pub request_body_base64: Shared,
    /// The time of the request. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub request_date: Option<Stamp>,
    /// The path of the request.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub path: Option<Shared>,
    /// Such as `HTTP/1.1`.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub http_version: Option<Shared>,
    /// The port of the sender.
    #[serde(
        deserialize_with = "lenient::maybe_integer",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required, range(min = 0))]
    pub remote_port: Option<i64>,
    /// The request as it arrived, in base64; missing if the other fields give it exactly.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Shared")]
    pub raw_base64: Option<Shared>,
    /// What is wrong with the request, as sentences; missing if it is well-formed.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub problems: Vec<Shared>,
}

impl SharedTexts for Logger {}

impl SharedTexts for Capture {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        let texts = [
            &mut self.ip_address,
            &mut self.request_method,
            &mut self.url_params,
            &mut self.user_agent,
            &mut self.os,
            &mut self.request_body_type,
            &mut self.request_body_base64,
        ];
        texts.into_iter().for_each(|text| pool.share(text));
        self.http_headers.share_texts(pool);
        self.path.share_texts(pool);
        self.http_version.share_texts(pool);
        self.raw_base64.share_texts(pool);
        self.problems.share_texts(pool);
    }
}

/// A request, or other bytes, that arrived at the listener of the loggers for no logger: another
/// protocol, garbage, or a path of no logger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnattributedRequest {
    /// Number of the request since the start of the service.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 1))]
    pub id: i64,
    /// The address of the sender.
    pub ip_address: Shared,
    /// The port of the sender.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub remote_port: i64,
    /// The time of the request. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub request_date: Option<Stamp>,
    /// Why no logger recorded it.
    pub reason: Shared,
    /// Number of bytes that arrived.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub size: i64,
    /// The first of these bytes in base64.
    pub raw_base64: Shared,
}

/// The newest unattributed requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnattributedRequests {
    /// Number of all since the start of the service.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub count: i64,
    /// The newest ones, oldest first.
    pub requests: Vec<UnattributedRequest>,
}
