//! HTTP loggers, which record all requests to their URL, and the captured requests.

use serde::{Deserialize, Serialize};

use super::shared::{SharedPool, SharedTexts};
use super::{CaptureId, LoggerId, Shared, Stamp, lenient};

/// A logger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logger {
    pub id: LoggerId,
    /// Unique.
    pub label: Shared,
    /// The URL that records requests.
    pub handler_url: Shared,
    /// Days until its URL stops recording.
    #[serde(deserialize_with = "lenient::integer")]
    pub active_days: i64,
    #[serde(deserialize_with = "lenient::integer")]
    pub num_requests: i64,
    #[serde(deserialize_with = "lenient::integer")]
    pub requests_left: i64,
}

/// A captured request. Only the embedded service sends the last five fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    pub id: CaptureId,
    pub ip_address: Shared,
    pub request_method: Shared,
    /// The query string without `?`.
    pub url_params: Shared,
    pub user_agent: Shared,
    pub os: Shared,
    /// `Name: value` lines in the received order, including duplicates.
    #[serde(deserialize_with = "lenient::texts")]
    pub http_headers: Vec<Shared>,
    /// The body's content type.
    pub request_body_type: Shared,
    pub request_body_base64: Shared,
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub request_date: Option<Stamp>,
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub path: Option<Shared>,
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub http_version: Option<Shared>,
    #[serde(
        deserialize_with = "lenient::maybe_integer",
        skip_serializing_if = "Option::is_none"
    )]
    pub remote_port: Option<i64>,
    /// The request as it arrived, if the other fields do not give it exactly.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub raw_base64: Option<Shared>,
    /// What is wrong with the request, as sentences.
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

/// What arrived at the listener of the loggers for no logger: another protocol, garbage, or a path
/// of no logger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnattributedRequest {
    #[serde(deserialize_with = "lenient::integer")]
    pub id: i64,
    pub ip_address: Shared,
    #[serde(deserialize_with = "lenient::integer")]
    pub remote_port: i64,
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub request_date: Option<Stamp>,
    /// Why no logger recorded it.
    pub reason: Shared,
    /// Bytes that arrived.
    #[serde(deserialize_with = "lenient::integer")]
    pub size: i64,
    /// The first of these bytes.
    pub raw_base64: Shared,
}

/// The newest unattributed requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnattributedRequests {
    /// All since the start of the service.
    #[serde(deserialize_with = "lenient::integer")]
    pub count: i64,
    /// Oldest first.
    pub requests: Vec<UnattributedRequest>,
}
