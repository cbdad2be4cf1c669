//! One call: attempts, retries, limits, and the announcements in the headers of every response.
//!
//! Retried are requests that never left this machine, requests rejected with 429 and `Retry-After`,
//! and reads and edits after a broken connection or 502–504. A creation or deletion that left this
//! machine is never repeated. All attempts share one time limit, so that a retry never exceeds the
//! total timeout.

use std::path::Path;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE,
    ETAG, HeaderMap, IF_NONE_MATCH, LOCATION,
};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use url::Url;

use super::body::Body;
use super::calls::RunningCall;
use super::error::RATE_LIMIT_REACHED;
use super::raw::{ANY_BYTES, JSON_LINES, RequestBody};
use super::request::ApiRequest;
use super::{BaseUrl, Client, ClientResult, Error, ErrorKind, clock, decoded, on_list_thread};
use scandeck_wire::contract::item_stream::each_item;
use scandeck_wire::contract::list::{decode_list, repaired};
use scandeck_wire::contract::shared::{SharedPool, SharedTexts};
use scandeck_wire::contract::team::TEAM_HEADER;
use scandeck_wire::contract::{
    Created, DecodedList, ErrorBody, MISSING_SCANNERS, MissingScanner, envelope,
};

/// Larger responses are decoded on a blocking thread.
const DECODE_INLINE: usize = 256 << 10;
/// Bytes that are read of an error response.
const ERROR_LIMIT: usize = 64 << 10;

/// Takes the items of a list one by one.
pub trait Collector<T>: Send + 'static {
    /// Takes the next item.
    ///
    /// # Errors
    /// When there is no place for it.
    fn take(&mut self, item: T) -> ClientResult<()>;

    /// Forgets the items so far, because they come again.
    fn clear(&mut self);
}

/// A successful response.
#[derive(Default)]
pub(super) struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
    /// The body, where the caller reads it.
    pub unread: Option<Response>,
}

/// The use of the body of a response.
#[derive(Clone, Copy)]
enum Reading<'a> {
    /// It is read into memory.
    Whole,
    /// It is read into a file of this directory.
    Spooled(&'a Path),
    /// The caller reads it.
    Later,
}

impl Client {
    /// Sends the request and reads the whole response.
    pub(super) async fn send(&self, request: ApiRequest) -> ClientResult<HttpAnswer> {
        self.exchange(&request, Reading::Whole).await
    }

    /// Sends the request and leaves the body of the response unread.
    pub(super) async fn open(&self, request: ApiRequest) -> ClientResult<HttpAnswer> {
        self.exchange(&request, Reading::Later).await
    }

    /// Sends the request and decodes the response.
    pub(super) async fn fetch<T: DeserializeOwned + Send + 'static>(
        &self,
        request: ApiRequest,
    ) -> ClientResult<T> {
        let is_change = request.is_change();
        let answer = self.send(request).await?;
        decode(answer.body, decode_value)
            .await
            .map_err(|error| error.of_change(is_change))
    }

    /// Sends the request and decodes a list. Null elements and unreadable items are dropped; the
    /// latter are noted.
    pub(super) async fn fetch_list<T: DeserializeOwned + SharedTexts + Send + 'static>(
        &self,
        request: ApiRequest,
    ) -> ClientResult<Vec<T>> {
        self.fetch_list_in(request, None).await
    }

    /// The same for a list in a field of an object.
    pub(super) async fn fetch_list_in<T: DeserializeOwned + SharedTexts + Send + 'static>(
        &self,
        request: ApiRequest,
        field: Option<&'static str>,
    ) -> ClientResult<Vec<T>> {
        self.fetch_page(request, field, 0)
            .await
            .map(|(items, _)| items)
    }

    /// The same for a page of a list whose earlier pages occupy `before` bytes of memory; returns
    /// the sum.
    pub(super) async fn fetch_page<T: DeserializeOwned + SharedTexts + Send + 'static>(
        &self,
        request: ApiRequest,
        field: Option<&'static str>,
        before: usize,
    ) -> ClientResult<(Vec<T>, usize)> {
        let size = request.list;
        let answer = self.send(request).await?;
        let work = move |body: &[u8]| {
            let memory = decoded::check::<T>(body, before, size)?;
            Ok((
                decode_list(body, field).map_err(|error| unreadable(&error))?,
                memory,
            ))
        };
        let (DecodedList { items, unreadable }, memory) = decode(answer.body, work).await?;
        self.observed.add_unreadable(unreadable);
        Ok((items, memory))
    }

    /// Sends the request and hands over the items of the list, of which only one is in memory at a
    /// time: the response waits in a file of `directory`. Unreadable items are dropped and noted.
    pub(super) async fn fetch_each<T, C>(
        &self,
        request: ApiRequest,
        directory: &Path,
        mut collector: C,
    ) -> ClientResult<C>
    where
        T: DeserializeOwned + SharedTexts + Send + 'static,
        C: Collector<T>,
    {
        let size = request.list;
        let mut body = self
            .exchange(&request, Reading::Spooled(directory))
            .await?
            .body;
        let streamed = move || {
            let mut has_items = false;
            let mut take = |item| {
                has_items = true;
                collector.take(item)
            };
            let read = match body.file() {
                Some(file) => each_item(file, &mut SharedPool::brief(), &mut take)?,
                None => None,
            };
            let read = read
                .map(|items| items.beside(has_items).map_err(|error| unreadable(&error)))
                .transpose()?;
            Ok::<_, Error>((read, collector, body))
        };
        let (read, mut collector, body) = blocking(streamed).await?;
        if let Some(unreadable) = read {
            self.observed.add_unreadable(unreadable);
            return Ok(collector);
        }
        collector.clear();
        let whole = blocking(move || body.into_memory()).await?;
        let work = move |body: &[u8]| {
            decoded::check::<T>(body, 0, size)?;
            let list = decode_list(body, None).map_err(|error| unreadable(&error))?;
            list.items
                .into_iter()
                .try_for_each(|item| collector.take(item))?;
            Ok((collector, list.unreadable))
        };
        let (collector, unreadable) = decode(whole, work).await?;
        self.observed.add_unreadable(unreadable);
        Ok(collector)
    }

    /// Creates an object and returns its id.
    pub(super) async fn create(&self, request: ApiRequest) -> ClientResult<i64> {
        let created: Created = self.fetch(request).await?;
        match created.created_id {
            0 => Err(without_id()),
            id => Ok(id),
        }
    }

    /// Deletes an object, once. If the response does not say whether it was deleted, a read
    /// decides.
    pub(super) async fn delete(&self, path: String) -> ClientResult<()> {
        let Err(error) = self.perform(ApiRequest::delete(path.clone())).await else {
            return Ok(());
        };
        if error.is_outcome_unknown()
            && let Err(read) = self.send(ApiRequest::get(path)).await
            && read.kind == ErrorKind::NotFound
        {
            return Ok(());
        }
        Err(error)
    }

    /// Sends a request whose response has no content.
    pub(super) async fn perform(&self, request: ApiRequest) -> ClientResult<()> {
        self.send(request).await.map(|_| ())
    }

    /// The exchange of every endpoint. An `async fn` is compiled where it is awaited; the
    /// boxed future is compiled once, here.
    fn exchange<'a>(
        &'a self,
        request: &'a ApiRequest,
        reading: Reading<'a>,
    ) -> BoxFuture<'a, ClientResult<HttpAnswer>> {
        Box::pin(self.recorded_exchange(request, reading))
    }

    /// Sends the request, unless the user cancels it, and records it.
    async fn recorded_exchange(
        &self,
        request: &ApiRequest,
        reading: Reading<'_>,
    ) -> ClientResult<HttpAnswer> {
        let call = self.calls.begin(request);
        let result = tokio::select! {
            biased;
            () = call.cancelled() => Err(Error::cancelled().of_change(request.is_change())),
            result = self.attempts(request, reading, &call) => result,
        };
        match &result {
            Ok(answer) => call.succeed(answer.status.as_u16(), answer.length()),
            Err(error) if error.kind == ErrorKind::NotModified => {
                call.succeed(StatusCode::NOT_MODIFIED.as_u16(), 0);
            }
            Err(error) => call.fail(error),
        }
        result
    }

    async fn attempts(
        &self,
        request: &ApiRequest,
        reading: Reading<'_>,
        call: &RunningCall<'_>,
    ) -> ClientResult<HttpAnswer> {
        let began = Instant::now();
        let total = self.settings.total_timeout * request.size.timeout_factor();
        let mut delays = ExponentialBuilder::new()
            .with_min_delay(self.settings.retry_delay)
            .with_max_delay(self.settings.retry_delay * 16)
            .with_max_times(self.settings.retries)
            .with_jitter()
            .build();
        loop {
            let left = total.saturating_sub(began.elapsed());
            let error = match self.attempt(request, reading, left).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match retry_in(&error, request, delays.next()) {
                Some(delay) if began.elapsed() + delay < total => {
                    tokio::time::sleep(delay).await;
                    call.retry();
                }
                _ => return Err(error.of_change(request.is_change())),
            }
        }
    }

    async fn attempt(
        &self,
        request: &ApiRequest,
        reading: Reading<'_>,
        time: Duration,
    ) -> ClientResult<HttpAnswer> {
        if let Some(until) = self.budget(request.lane).spent_until(Timestamp::now()) {
            return Err(Error::new(
                ErrorKind::BudgetSpent { until },
                RATE_LIMIT_REACHED,
            ));
        }
        let base = self.locate()?;
        let built = self.build(&base, request, reading, time)?;
        self.observed.count_call();
        let response =
            self.http
                .execute(built)
                .await
                .map_err(|error| match error.is_connect() {
                    true => Error::from(error),
                    false => Error::from(error).sent(),
                })?;
        self.record_announced(request, &response);
        self.accept(request, response, reading)
            .await
            .map_err(Error::sent)
    }

    fn build(
        &self,
        base: &BaseUrl,
        request: &ApiRequest,
        reading: Reading<'_>,
        time: Duration,
    ) -> ClientResult<reqwest::Request> {
        let mut url = Url::parse(&base.join(&request.path))
            .map_err(|error| Error::new(ErrorKind::Invalid, format!("invalid URL: {error}")))?;
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let mut builder = self.http.request(request.method.clone(), url);
        builder = builder
            .header(AUTHORIZATION, self.key_header())
            .header(ACCEPT, request.accept)
            .timeout(time);
        if !matches!(reading, Reading::Later) {
            // `body` decompresses, because it knows how much was received.
            builder = builder.header(ACCEPT_ENCODING, "gzip");
        }
        if let Some(tag) = self.known.of(request) {
            builder = builder.header(IF_NONE_MATCH, tag);
        }
        builder = match &request.body {
            RequestBody::Empty => builder,
            RequestBody::Form(fields) => builder.form(fields),
            RequestBody::Json(value) => builder.json(value),
            RequestBody::Lines(lines) => {
                builder.header(CONTENT_TYPE, JSON_LINES).body(lines.clone())
            }
            RequestBody::File(file) => {
                let unread = |error: std::io::Error| {
                    Error::new(ErrorKind::Invalid, format!("file not read: {error}"))
                };
                builder
                    .header(CONTENT_TYPE, ANY_BYTES)
                    .header(CONTENT_LENGTH, file.length())
                    .body(file.body().map_err(unread)?)
            }
        };
        Ok(builder.build()?)
    }

    fn record_announced(&self, request: &ApiRequest, response: &Response) {
        let (headers, now) = (response.headers(), Timestamp::now());
        let mut announced = self.announced();
        announced.clock_offset = clock::clock_offset(headers, now).or(announced.clock_offset);
        let offset = announced.clock_offset.unwrap_or_default();
        announced
            .budget(request.lane)
            .update(headers, response.status().as_u16(), now, offset);
        let is_list = matches!(response.status(), StatusCode::OK | StatusCode::NOT_MODIFIED);
        if request.path == "/workspaces" && is_list {
            let version = headers
                .get(TEAM_HEADER)
                .and_then(|value| value.to_str().ok());
            let version = version.and_then(|version| version.trim().parse().ok());
            announced.team = Some(version.unwrap_or_default());
        }
        if request.path == "/scans" && response.status() == StatusCode::OK {
            let missing = headers
                .get(MISSING_SCANNERS)
                .and_then(|value| value.to_str().ok());
            announced.missing_scanners = missing
                .map(MissingScanner::parse_list)
                .unwrap_or_default()
                .into();
        }
    }

    async fn accept(
        &self,
        request: &ApiRequest,
        response: Response,
        reading: Reading<'_>,
    ) -> ClientResult<HttpAnswer> {
        let status = response.status();
        let known = self.known.of(request);
        if let (StatusCode::NOT_MODIFIED, Some(tag)) = (status, known) {
            self.observed.add_tag(request, Some(tag));
            return Err(
                Error::new(ErrorKind::NotModified, "unchanged since the last response")
                    .with_status(304),
            );
        }
        if status.is_redirection() {
            return Err(redirected(&response));
        }
        if !status.is_success() {
            return Err(self.refusal(response).await);
        }
        if is_html(response.headers()) && !request.any_content {
            return Err(not_this_api(
                status,
                "web page instead of JSON: the server does not implement the API v2",
            ));
        }
        let headers = response.headers().clone();
        self.observed.add_tag(request, headers.get(ETAG));
        let limit = request.size.limit();
        let body = match reading {
            Reading::Later => {
                return Ok(HttpAnswer {
                    status,
                    headers,
                    unread: Some(response),
                    ..HttpAnswer::default()
                });
            }
            Reading::Whole => {
                Body::read(response, limit, &self.memory, &self.observed.received).await?
            }
            Reading::Spooled(directory) => {
                Body::spool(
                    response,
                    limit,
                    &self.memory,
                    directory,
                    &self.observed.received,
                )
                .await?
            }
        };
        Ok(HttpAnswer {
            status,
            headers,
            body,
            unread: None,
        })
    }

    async fn refusal(&self, response: Response) -> Error {
        let status = response.status();
        let offset = self.clock_offset().unwrap_or_default();
        let retry_after = clock::retry_after(response.headers(), Timestamp::now(), offset);
        let html = is_html(response.headers());
        // A rejection without a readable body is still a rejection.
        let text = Body::read(response, ERROR_LIMIT, &self.memory, &self.observed.received)
            .await
            .unwrap_or_default();
        let body = error_body(&text);
        if body.is_none() && matches!(status.as_u16(), 404 | 405) {
            return not_this_api(
                status,
                "path not found: the server does not implement the API v2",
            );
        }
        let body = body.unwrap_or_else(|| ErrorBody {
            message: reason(status, html).as_str().into(),
            ..Default::default()
        });
        Error::rejected(kind_of(status, retry_after), status.as_u16(), &body)
            .with_key_source(self.settings.key_source.clone())
    }
}

impl HttpAnswer {
    /// The number of bytes that were read, or that the caller will read if the service announced
    /// it.
    fn length(&self) -> u64 {
        let unread = self.unread.as_ref().and_then(Response::content_length);
        unread.unwrap_or(self.body.length() as u64)
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
        name.map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    }

    /// The media type in lower case, without parameters; empty if missing.
    pub fn content_type(&self) -> String {
        content_type(&self.headers)
    }
}

/// Delay before the next attempt; `None` when a retry is unsafe or pointless.
fn retry_in(error: &Error, request: &ApiRequest, delay: Option<Duration>) -> Option<Duration> {
    let delay = delay?;
    match error.kind {
        ErrorKind::RateLimited { retry_after } => Some(retry_after? + delay),
        ErrorKind::Connect if !error.is_sent || request.is_repeatable() => Some(delay),
        ErrorKind::Server if request.is_repeatable() && matches!(error.status, Some(502..=504)) => {
            Some(delay)
        }
        _ => None,
    }
}

async fn decode<T: Send + 'static>(
    body: Body,
    decode: impl FnOnce(&[u8]) -> ClientResult<T> + Send + 'static,
) -> ClientResult<T> {
    let small = body.len() <= DECODE_INLINE;
    let work = move || {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::new(ErrorKind::Decode, "the response is empty").sent());
        }
        decode(&body)
    };
    if small {
        return work();
    }
    // Decoding megabytes of JSON on an async thread would block every other call.
    blocking(work).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> ClientResult<T> + Send + 'static,
) -> ClientResult<T> {
    let failed = || Err(Error::new(ErrorKind::Decode, "decoding the response failed").sent());
    on_list_thread(work).await.unwrap_or_else(failed)
}

/// Decodes a value; damage within strings and numbers does not lose the rest.
fn decode_value<T: DeserializeOwned>(body: &[u8]) -> ClientResult<T> {
    let value = envelope::decode(body);
    value.or_else(|error| {
        envelope::decode(repaired(body).as_bytes()).map_err(|_| unreadable(&error))
    })
}

fn unreadable(error: &serde_json::Error) -> Error {
    let lead = match error.classify() {
        Category::Eof => "incomplete response",
        Category::Data => "unexpected JSON",
        Category::Syntax | Category::Io => "not JSON",
    };
    Error::new(ErrorKind::Decode, format!("{lead}: {error}")).sent()
}

/// The service accepted a creation without naming the new object.
pub(super) fn without_id() -> Error {
    Error::new(ErrorKind::Decode, "unexpected JSON: the response has no id")
        .sent()
        .of_change(true)
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
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Invalid,
    }
}

/// The error body of the service: `{status, message, details}`, wrapped or bare, or with the
/// message under another name.
fn error_body(text: &[u8]) -> Option<ErrorBody> {
    let value: Value = envelope::decode(text).ok()?;
    let body: ErrorBody = serde_json::from_value(value.clone()).ok()?;
    if !body.message.trim().is_empty() {
        return Some(body);
    }
    // Of several errors, or of an error as an object, the first message is shown.
    let text_of = |error: &Value| {
        error
            .as_str()
            .or_else(|| error.get("message")?.as_str())
            .map(str::to_owned)
    };
    let listed = || value.get("errors")?.as_array()?.first().and_then(text_of);
    let other = ["error", "detail"]
        .iter()
        .find_map(|name| text_of(value.get(name)?))
        .or_else(listed)?;
    Some(ErrorBody {
        message: other.as_str().into(),
        ..body
    })
}

fn reason(status: StatusCode, html: bool) -> String {
    let reason = status
        .canonical_reason()
        .unwrap_or("rejected without a message");
    if html {
        format!("{reason} (a web page, perhaps from a proxy)")
    } else {
        reason.to_owned()
    }
}

fn redirected(response: &Response) -> Error {
    let to = response
        .headers()
        .get(LOCATION)
        .and_then(|to| to.to_str().ok())
        .unwrap_or("nowhere");
    not_this_api(
        response.status(),
        &format!("redirect not followed: it leads to {to} and would leak the key"),
    )
}

fn not_this_api(status: StatusCode, why: &str) -> Error {
    Error::new(ErrorKind::NotThisApi, why).with_status(status.as_u16())
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

fn is_html(headers: &HeaderMap) -> bool {
    matches!(
        content_type(headers).as_str(),
        "text/html" | "application/xhtml+xml"
    )
}
