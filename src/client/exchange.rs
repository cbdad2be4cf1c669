//! One call: attempts, retries, limits, and the announcements in the headers of every response.
//!
//! Retried are requests that never left this machine, requests rejected with 429 and `Retry-After`, and idempotent
//! requests after a broken connection or 502–504. All attempts share one time limit, so that a retry never exceeds the
//! total timeout.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::raw::RequestBody;
use super::request::ApiRequest;
use super::{Client, ClientResult, Error, ErrorKind, budget};
use crate::contract::{ErrorBody, envelope};

/// Larger responses are decoded on a blocking thread.
const DECODE_INLINE: usize = 256 << 10;
/// Bytes that are read of an error response.
const ERROR_LIMIT: usize = 64 << 10;

/// A successful response.
#[derive(Default)]
pub(super) struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The body, where the caller reads it.
    pub unread: Option<Response>,
}

struct FailedAttempt {
    error: Error,
    /// Whether the service may have processed the request.
    is_sent: bool,
}

impl Client {
    /// Sends the request and reads the whole response.
    pub(super) async fn send(&self, request: ApiRequest) -> ClientResult<HttpAnswer> {
        self.exchange(&request, true).await
    }

    /// Sends the request and leaves the body of the response unread.
    pub(super) async fn open(&self, request: ApiRequest) -> ClientResult<HttpAnswer> {
        self.exchange(&request, false).await
    }

    /// Sends the request and decodes the response.
    pub(super) async fn fetch<T: DeserializeOwned + Send + 'static>(&self, request: ApiRequest) -> ClientResult<T> {
        let answer = self.send(request).await?;
        decode(answer.body).await
    }

    /// Sends the request and decodes a list. Null is an empty list; null elements are skipped.
    pub(super) async fn fetch_list<T: DeserializeOwned + Send + 'static>(
        &self,
        request: ApiRequest,
    ) -> ClientResult<Vec<T>> {
        let list: Option<Vec<Option<T>>> = self.fetch(request).await?;
        Ok(list.unwrap_or_default().into_iter().flatten().collect())
    }

    /// Sends a request whose response has no content.
    pub(super) async fn perform(&self, request: ApiRequest) -> ClientResult<()> {
        self.send(request).await.map(|_| ())
    }

    async fn exchange(&self, request: &ApiRequest, whole: bool) -> ClientResult<HttpAnswer> {
        let began = Instant::now();
        let total = self.settings.total_timeout * request.size.timeout_factor();
        let mut delays = ExponentialBuilder::new()
            .with_min_delay(self.settings.retry_delay)
            .with_max_delay(self.settings.retry_delay * 16)
            .with_max_times(self.settings.retries)
            .with_jitter()
            .build();
        let mut is_retry = false;
        loop {
            let left = total.saturating_sub(began.elapsed());
            let failure = match self.attempt(request, whole, left).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if is_retry && request.method == Method::DELETE && failure.error.kind == ErrorKind::NotFound {
                // An earlier attempt succeeded, and only its response was lost.
                return Ok(HttpAnswer { status: StatusCode::NO_CONTENT, ..HttpAnswer::default() });
            }
            match failure.retry_in(request, delays.next()) {
                Some(delay) if began.elapsed() + delay < total => tokio::time::sleep(delay).await,
                _ => return Err(failure.error),
            }
            is_retry = true;
        }
    }

    async fn attempt(&self, request: &ApiRequest, whole: bool, time: Duration) -> Result<HttpAnswer, FailedAttempt> {
        let unsent = |error| FailedAttempt { error, is_sent: false };
        if let Some(until) = self.budget(request.lane).spent_until(Timestamp::now()) {
            return Err(unsent(Error::new(ErrorKind::BudgetSpent { until }, "the rate budget is spent")));
        }
        let built = self.build(request, time).map_err(unsent)?;
        let response = self.http.execute(built).await.map_err(|error| {
            let is_sent = !error.is_connect();
            FailedAttempt { error: error.into(), is_sent }
        })?;
        self.record_announced(request, &response);
        self.accept(request, response, whole).await.map_err(|error| FailedAttempt { error, is_sent: true })
    }

    fn build(&self, request: &ApiRequest, time: Duration) -> ClientResult<reqwest::Request> {
        let mut url = Url::parse(&format!("{}{}", self.settings.base, request.path))
            .map_err(|error| Error::new(ErrorKind::Invalid, format!("invalid URL: {error}")))?;
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let mut builder = self.http.request(request.method.clone(), url).header(ACCEPT, request.accept).timeout(time);
        builder = match &request.body {
            RequestBody::Empty => builder,
            RequestBody::Form(fields) => builder.form(fields),
            RequestBody::Json(value) => builder.json(value),
        };
        Ok(builder.build()?)
    }

    fn record_announced(&self, request: &ApiRequest, response: &Response) {
        let (headers, now) = (response.headers(), Timestamp::now());
        let mut announced = self.announced();
        announced.clock_offset = budget::clock_offset(headers, now).or(announced.clock_offset);
        let offset = announced.clock_offset.unwrap_or_default();
        announced.budget(request.lane).update(headers, response.status().as_u16(), now, offset);
    }

    async fn accept(&self, request: &ApiRequest, response: Response, whole: bool) -> ClientResult<HttpAnswer> {
        let status = response.status();
        if status.is_redirection() {
            return Err(redirected(&response));
        }
        if !status.is_success() {
            return Err(self.refusal(response).await);
        }
        if is_html(response.headers()) && !request.any_content {
            return Err(not_this_api(status, "the server sent a web page, not an API response"));
        }
        let headers = response.headers().clone();
        if !whole {
            return Ok(HttpAnswer { status, headers, unread: Some(response), ..HttpAnswer::default() });
        }
        let body = read(response, request.size.limit()).await?;
        Ok(HttpAnswer { status, headers, body, unread: None })
    }

    async fn refusal(&self, response: Response) -> Error {
        let status = response.status();
        let offset = self.clock_offset().unwrap_or_default();
        let retry_after = budget::retry_after(response.headers(), Timestamp::now(), offset);
        let html = is_html(response.headers());
        // A rejection without a readable body is still a rejection.
        let text = read(response, ERROR_LIMIT).await.unwrap_or_default();
        let body = error_body(&text);
        if body.is_none() && matches!(status.as_u16(), 404 | 405) {
            return not_this_api(status, "path not found: the server is not this API");
        }
        let body =
            body.unwrap_or_else(|| ErrorBody { message: reason(status, html).as_str().into(), ..Default::default() });
        Error::rejected(kind_of(status, retry_after), status.as_u16(), &body)
    }
}

impl HttpAnswer {
    /// The file name of `Content-Disposition`, as sent.
    pub fn file_name(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_DISPOSITION)?.to_str().ok()?;
        let (_, name) = value.split_once("filename=")?;
        let name = name.trim_start();
        let name = match name.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => name.split(';').next(),
        };
        name.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// The media type in lower case, without parameters; empty if missing.
    pub fn content_type(&self) -> String {
        content_type(&self.headers)
    }
}

impl FailedAttempt {
    /// Delay before the next attempt; `None` when a retry is unsafe or pointless.
    fn retry_in(&self, request: &ApiRequest, delay: Option<Duration>) -> Option<Duration> {
        let delay = delay?;
        match self.error.kind {
            ErrorKind::RateLimited { retry_after } => Some(retry_after? + delay),
            ErrorKind::Connect if !self.is_sent || request.is_idempotent() => Some(delay),
            ErrorKind::Server if request.is_idempotent() && matches!(self.error.status, Some(502..=504)) => Some(delay),
            _ => None,
        }
    }
}

/// Reads a body of at most `limit` decoded bytes; drops the connection of a longer one.
pub(super) async fn read(mut response: Response, limit: usize) -> ClientResult<Vec<u8>> {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Error::from(error).with_status(status))? {
        if body.len() + chunk.len() > limit {
            return Err(too_large(limit).with_status(status));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

pub(super) fn too_large(limit: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("the response is larger than {} MB", limit >> 20))
}

async fn decode<T: DeserializeOwned + Send + 'static>(body: Vec<u8>) -> ClientResult<T> {
    let small = body.len() <= DECODE_INLINE;
    let work = move || {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::new(ErrorKind::Decode, "the response is empty"));
        }
        envelope::decode(&body).map_err(|error| Error::new(ErrorKind::Decode, format!("unreadable response: {error}")))
    };
    if small {
        return work();
    }
    // Decoding megabytes of JSON on an async thread would block every other call.
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::new(ErrorKind::Decode, format!("decoding the response failed: {error}"))),
    }
}

fn kind_of(status: StatusCode, retry_after: Option<Duration>) -> ErrorKind {
    match status.as_u16() {
        401 => ErrorKind::Unauthorized,
        403 => ErrorKind::Forbidden,
        404 | 410 => ErrorKind::NotFound,
        406 => ErrorKind::NotAcceptable,
        408 => ErrorKind::Timeout,
        409 => ErrorKind::Conflict,
        429 => ErrorKind::RateLimited { retry_after },
        500.. => ErrorKind::Server,
        _ => ErrorKind::Invalid,
    }
}

/// The error body of the service: `{status, message, details}`, wrapped or bare, or with the message under another name.
fn error_body(text: &[u8]) -> Option<ErrorBody> {
    let value: Value = envelope::decode(text).ok()?;
    let body: ErrorBody = serde_json::from_value(value.clone()).ok()?;
    if !body.message.trim().is_empty() {
        return Some(body);
    }
    let other = ["error", "detail"].iter().find_map(|name| value.get(name)?.as_str())?;
    Some(ErrorBody { message: other.into(), ..body })
}

fn reason(status: StatusCode, html: bool) -> String {
    let reason = status.canonical_reason().unwrap_or("rejected without a message");
    if html { format!("{reason} (a web page, perhaps from a proxy)") } else { reason.to_owned() }
}

fn redirected(response: &Response) -> Error {
    let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
    not_this_api(response.status(), &format!("redirect to {to} not followed: it would leak the key"))
}

fn not_this_api(status: StatusCode, why: &str) -> Error {
    Error::new(ErrorKind::NotThisApi, why).with_status(status.as_u16())
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_html(headers: &HeaderMap) -> bool {
    matches!(content_type(headers).as_str(), "text/html" | "application/xhtml+xml")
}
