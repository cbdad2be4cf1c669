//! One call: attempts, retries, limits, and what every answer teaches.
//!
//! Retried: what never left this machine; anything answered 429 with `Retry-After`; and, where sending twice does no
//! more than sending once, broken connections and 502–504. All attempts share one time limit, so a retry never makes
//! a person wait longer than the total timeout.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use reqwest::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::calls::CallRecord;
use super::request::{ApiRequest, Body};
use super::{Client, ClientResult, Error, ErrorKind, budget};
use crate::contract::{ErrorBody, envelope};

/// Answers above this are decoded on a thread of their own.
const DECODE_INLINE: usize = 256 << 10;
/// How much of an error answer is read.
const ERROR_LIMIT: usize = 64 << 10;

/// A successful answer, read whole.
pub(super) struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A failed attempt, with what decides about the next one.
struct Failure {
    error: Error,
    /// Whether the service may have begun to act on it.
    sent: bool,
}

impl Client {
    /// Sends, and reads the whole answer.
    pub(super) async fn send(&self, request: ApiRequest) -> ClientResult<HttpAnswer> {
        self.exchange(&request, true).await.map(|(answer, _)| answer)
    }

    /// Sends, and hands over the answer with its body still to be read.
    pub(super) async fn open(&self, request: ApiRequest) -> ClientResult<(HttpAnswer, Option<Response>)> {
        self.exchange(&request, false).await
    }

    /// Sends, and decodes the answer.
    pub(super) async fn fetch<T: DeserializeOwned + Send + 'static>(&self, request: ApiRequest) -> ClientResult<T> {
        let answer = self.send(request).await?;
        decode(answer.body).await
    }

    /// Sends, and decodes a list. Null is an empty list and null elements are skipped.
    pub(super) async fn fetch_list<T: DeserializeOwned + Send + 'static>(
        &self,
        request: ApiRequest,
    ) -> ClientResult<Vec<T>> {
        let list: Option<Vec<Option<T>>> = self.fetch(request).await?;
        Ok(list.unwrap_or_default().into_iter().flatten().collect())
    }

    /// Sends what has no answer but its status.
    pub(super) async fn perform(&self, request: ApiRequest) -> ClientResult<()> {
        self.send(request).await.map(|_| ())
    }

    async fn exchange(&self, request: &ApiRequest, whole: bool) -> ClientResult<(HttpAnswer, Option<Response>)> {
        let (began, at) = (Instant::now(), Self::now());
        let total = self.settings.total_timeout * request.size.patience();
        let mut delays = ExponentialBuilder::new()
            .with_min_delay(self.settings.retry_delay)
            .with_max_delay(self.settings.retry_delay * 16)
            .with_max_times(self.settings.retries)
            .with_jitter()
            .build();
        let mut retries = 0;
        let result = loop {
            let left = total.saturating_sub(began.elapsed());
            let failure = match self.attempt(request, whole, left).await {
                Ok(answer) => break Ok(answer),
                Err(failure) => failure,
            };
            if retries > 0 && request.method == Method::DELETE && failure.error.kind == ErrorKind::NotFound {
                // An earlier attempt did it, and only its answer was lost.
                break Ok((HttpAnswer::empty(StatusCode::NO_CONTENT), None));
            }
            match failure.retry_in(request, delays.next()) {
                Some(delay) if began.elapsed() + delay < total => tokio::time::sleep(delay).await,
                _ => break Err(failure.error),
            }
            retries += 1;
        };
        self.seen().calls.push(CallRecord {
            number: 0,
            at,
            method: request.method.to_string(),
            path: request.shown_path(),
            status: match &result {
                Ok((answer, _)) => Some(answer.status.as_u16()),
                Err(error) => error.status,
            },
            took: began.elapsed(),
            retries,
            error: result.as_ref().err().map(ToString::to_string),
        });
        result
    }

    async fn attempt(
        &self,
        request: &ApiRequest,
        whole: bool,
        time: Duration,
    ) -> Result<(HttpAnswer, Option<Response>), Failure> {
        if let Some(until) = self.seen().lane(request.lane).spent_until(Self::now()) {
            return Err(Failure::unsent(Error::new(ErrorKind::BudgetSpent { until }, "the rate budget is spent")));
        }
        let built = self.build(request, time).map_err(Failure::unsent)?;
        let response = self.http.execute(built).await.map_err(|error| {
            let sent = !error.is_connect();
            Failure { error: error.into(), sent }
        })?;
        self.learn(request, &response);
        self.accept(request, response, whole).await.map_err(|error| Failure { error, sent: true })
    }

    fn build(&self, request: &ApiRequest, time: Duration) -> ClientResult<reqwest::Request> {
        let mut url = Url::parse(&format!("{}{}", self.settings.base, request.path))
            .map_err(|error| Error::new(ErrorKind::Invalid, format!("no URL: {error}")))?;
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let mut builder = self.http.request(request.method.clone(), url).header(ACCEPT, request.accept).timeout(time);
        builder = match &request.body {
            Body::Nothing => builder,
            Body::Form(fields) => builder.form(fields),
            Body::Json(value) => builder.json(value),
        };
        Ok(builder.build()?)
    }

    fn learn(&self, request: &ApiRequest, response: &Response) {
        let (headers, now) = (response.headers(), Self::now());
        let mut seen = self.seen();
        if let Some(offset) = budget::clock_offset(headers, now) {
            seen.clock = Some(offset);
        }
        let offset = seen.clock.unwrap_or_default();
        seen.lane(request.lane).learn(headers, response.status().as_u16(), now, offset);
    }

    async fn accept(
        &self,
        request: &ApiRequest,
        response: Response,
        whole: bool,
    ) -> ClientResult<(HttpAnswer, Option<Response>)> {
        let status = response.status();
        if status.is_redirection() {
            return Err(redirected(&response));
        }
        if !status.is_success() {
            return Err(self.refusal(response).await);
        }
        if is_html(response.headers()) && !request.any_content {
            return Err(not_this_api(status, "a web page answers there, not the API"));
        }
        let mut answer = HttpAnswer { status, headers: response.headers().clone(), body: Vec::new() };
        if !whole {
            return Ok((answer, Some(response)));
        }
        answer.body = read(response, request.size.limit()).await?;
        Ok((answer, None))
    }

    async fn refusal(&self, response: Response) -> Error {
        let status = response.status();
        let retry_after = {
            let offset = self.seen().clock.unwrap_or_default();
            budget::retry_after(response.headers(), Self::now(), offset)
        };
        let html = is_html(response.headers());
        // Without its words a refusal is still that refusal.
        let text = read(response, ERROR_LIMIT).await.unwrap_or_default();
        let said = error_body(&text);
        if said.is_none() && matches!(status.as_u16(), 404 | 405) {
            return not_this_api(status, "there is no such path: something else answers there");
        }
        let body =
            said.unwrap_or_else(|| ErrorBody { message: reason(status, html).as_str().into(), ..Default::default() });
        Error::refused(kind_of(status, retry_after), status.as_u16(), &body)
    }
}

impl HttpAnswer {
    fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Vec::new() }
    }

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

    /// The media type without parameters, lower case; empty when there is none.
    pub fn content_type(&self) -> String {
        content_type(&self.headers)
    }
}

impl Failure {
    fn unsent(error: Error) -> Self {
        Self { error, sent: false }
    }

    /// When to try again; nothing when that is not safe, or would not help.
    fn retry_in(&self, request: &ApiRequest, delay: Option<Duration>) -> Option<Duration> {
        let delay = delay?;
        match self.error.kind {
            ErrorKind::RateLimited { retry_after } => Some(retry_after? + delay),
            ErrorKind::Connect if !self.sent || request.is_idempotent() => Some(delay),
            ErrorKind::Server if request.is_idempotent() && matches!(self.error.status, Some(502..=504)) => Some(delay),
            _ => None,
        }
    }
}

impl ApiRequest {
    fn shown_path(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

/// Reads a body up to `limit` decoded bytes; beyond, the connection is dropped.
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
    Error::new(ErrorKind::TooLarge, format!("the answer is larger than {} MB", limit >> 20))
}

async fn decode<T: DeserializeOwned + Send + 'static>(body: Vec<u8>) -> ClientResult<T> {
    let small = body.len() <= DECODE_INLINE;
    let work = move || {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::new(ErrorKind::Decode, "the answer is empty"));
        }
        envelope::decode(&body)
            .map_err(|error| Error::new(ErrorKind::Decode, format!("the answer cannot be read: {error}")))
    };
    if small {
        return work();
    }
    // Megabytes of JSON on an async thread would hold up every other call.
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::new(ErrorKind::Decode, format!("reading the answer broke off: {error}"))),
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

/// The service's words, if these bytes are any: `{status, message, details}`, also wrapped or under another name.
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
    let reason = status.canonical_reason().unwrap_or("refused without a word");
    if html { format!("{reason} (a web page, perhaps of a proxy in front)") } else { reason.to_owned() }
}

fn redirected(response: &Response) -> Error {
    let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
    not_this_api(response.status(), &format!("it redirects to {to}, and redirects are not followed with a key"))
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
