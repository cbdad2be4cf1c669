//! Any call below the base URL, for endpoints without a function of their own.

use std::borrow::Cow;
use std::str::FromStr;

use reqwest::Method;

use super::request::{ApiRequest, ResponseSize};
use super::{Client, ClientResult, Error, ErrorKind, Lane, UploadFile};

/// Name and value of query parameters or form fields.
pub type FormPairs = Vec<(Cow<'static, str>, String)>;

#[derive(Clone, Debug)]
pub enum RequestBody {
    /// No body.
    Empty,
    /// `application/x-www-form-urlencoded`.
    Form(FormPairs),
    Json(serde_json::Value),
    /// JSON lines.
    Lines(String),
    /// A file of any content.
    File(UploadFile),
}

pub(super) const JSON_LINES: &str = "application/x-ndjson";
pub(super) const ANY_BYTES: &str = "application/octet-stream";

/// A request for [`Client::send_raw`].
#[derive(Clone, Debug)]
pub struct RawRequest {
    /// `GET`, `POST`, …, in any case.
    pub method: String,
    /// Path below the base URL with a leading slash; a leading `/api/v2` is removed.
    pub path: String,
    /// Query parameters.
    pub query: FormPairs,
    pub body: RequestBody,
}

impl RawRequest {
    /// Whether the method changes nothing.
    pub fn is_reading(&self) -> bool {
        ["GET", "HEAD"]
            .iter()
            .any(|method| self.method.eq_ignore_ascii_case(method))
    }
}

impl Client {
    /// Sends the request and returns the body of a successful response, as received.
    ///
    /// # Errors
    /// When the method or the path is invalid, and those of the service.
    pub async fn send_raw(&self, raw: RawRequest) -> ClientResult<Vec<u8>> {
        let invalid = |why: String| Error::new(ErrorKind::Invalid, why);
        let method = Method::from_str(&raw.method.to_ascii_uppercase())
            .map_err(|_| invalid(format!("{:?} is not an HTTP method", raw.method)))?;
        let path = raw
            .path
            .strip_prefix("/api/v2")
            .filter(|rest| rest.starts_with('/'))
            .unwrap_or(&raw.path);
        // Without the leading slash the path would extend the host name, and another host would get
        // the key.
        if !path.starts_with('/')
            || path
                .split(['/', '?', '#'])
                .any(|part| matches!(part, "." | ".."))
        {
            return Err(invalid(format!(
                "{:?} is not a path such as /scans/7",
                raw.path
            )));
        }
        let lane = match method {
            Method::GET if path.starts_with("/scans/") && path.ends_with("/output") => Lane::Output,
            Method::GET | Method::HEAD => Lane::Read,
            _ => Lane::Write,
        };
        let mut request = ApiRequest::new(method, path, lane).accepting("application/json, */*");
        request.query = raw.query;
        request.body = raw.body;
        Ok(self
            .send(request.with_size(ResponseSize::Large).for_a_file())
            .await?
            .body
            .into_bytes())
    }
}
