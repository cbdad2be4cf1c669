//! The listener of the loggers: any method and any path below a logger's URL, without key, Host check or rate limit.
//!
//! ```text
//!   ANY /l/<22 characters>/…  ─► logger exists? ─► still records? ─► body read ─► on disk ─► 200
//!                                     404               410       413 over 1 MiB (recorded without its body)
//!                                                                 408 too slow   (recorded as far as it arrived)
//!   head over 64 KiB ──► recorded as far as it was read ──► 431
//! ```
//!
//! A vulnerable server that sends a request often closes the connection without waiting for the response, and the
//! request must be recorded nevertheless.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Version};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::future::BoxFuture;
use rand::RngExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection_io::BodyTimeout;
use super::connections::{ConnectionHandler, RefusedHead};
use super::errors::ApiError;
use super::recorder::{NotRecorded, Recorder};
use super::state::App;
use super::store::captures::NewCapture;
use super::store::loggers::LoggerRow;
use crate::contract::Logger;

/// The largest recorded body, in bytes.
const BODY_LIMIT: usize = 1024 * 1024;

/// Bytes of a body that count as large. Further large bodies are read when an earlier one is recorded.
const LARGE_BODY: usize = 64 * 1024;
/// Largest number of large bodies in memory.
const LARGE_BODIES: usize = 64;

/// Length of the secret part of a logger's URL: 22 characters of base62 are 131 bits.
const TOKEN_LENGTH: usize = 22;

/// A new secret part of a logger's URL.
pub fn new_token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH).map(|_| char::from(random.sample(rand::distr::Alphanumeric))).collect()
}

/// A stored logger as sent to clients.
pub fn to_contract(app: &App, row: &LoggerRow) -> Logger {
    Logger {
        id: row.id.into(),
        label: row.label.as_str().into(),
        handler_url: format!("{}l/{}/", app.logger_base, row.token).into(),
        active_days: row.days_left(app.settings.logger_days, app.now()),
        num_requests: row.num_requests,
        requests_left: if is_full(app, row) { 0 } else { app.settings.logger_quota - row.num_requests },
    }
}

/// Records the requests of the logger listener.
#[derive(Clone)]
pub struct LoggerHandler {
    app: App,
    recorder: Recorder,
    large_bodies: Arc<Semaphore>,
}

impl ConnectionHandler for LoggerHandler {
    const HALF_CLOSE: bool = true;

    fn respond(&self, client: SocketAddr, request: Request) -> BoxFuture<'static, Response> {
        let handler = self.clone();
        let client = self.app.proxies.client(client, request.headers());
        // Spawned here instead of when the future is polled: a closed connection is never polled again.
        let recording = tokio::spawn(async move { handler.record(client, request).await });
        let app = self.app.clone();
        Box::pin(async move {
            let response = match recording.await {
                Ok(Ok(())) => StatusCode::OK.into_response(),
                Ok(Err(refusal)) => refusal.into_response(),
                Err(error) => ApiError::internal(error).into_response(),
            };
            app.metrics.count_capture(response.status());
            response
        })
    }

    fn refuse(&self, client: SocketAddr, head: RefusedHead) -> BoxFuture<'static, ApiError> {
        let handler = self.clone();
        Box::pin(async move { handler.record_head(client, head).await })
    }
}

impl LoggerHandler {
    pub fn new(app: App, recorder: Recorder) -> Self {
        Self { app, recorder, large_bodies: Arc::new(Semaphore::new(LARGE_BODIES)) }
    }

    async fn record(&self, client: SocketAddr, request: Request) -> Result<(), ApiError> {
        let received_at = self.app.now().as_millisecond();
        let logger = self.recording_logger(request.uri().path()).await?;
        let (mut capture, body) = capture(&logger, client, received_at, request);
        let (read, _permit) = self.read_body(body).await;
        let refusal = match &read {
            ReadBody::Complete(_) => None,
            ReadBody::TooLarge => Some(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is larger than {BODY_LIMIT} bytes; the request was recorded without its body"),
            )),
            ReadBody::Late(_) => Some(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time; the request was recorded with the part that arrived",
            )),
        };
        capture.body = match read {
            ReadBody::Complete(body) | ReadBody::Late(body) => body,
            ReadBody::TooLarge => Vec::new(),
        };
        self.write(capture).await?;
        refusal.map_or(Ok(()), Err)
    }

    /// Records a head that is too large, as far as it was read; returns the error response.
    async fn record_head(&self, client: SocketAddr, head: RefusedHead) -> ApiError {
        let error = head.error();
        if !matches!(head.status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG) {
            return error;
        }
        let received_at = self.app.now().as_millisecond();
        let Some(mut capture) = truncated_capture(client, received_at, &head.bytes) else { return error };
        match self.recording_logger(&capture.path).await {
            Ok(logger) => capture.logger = logger.id.into(),
            Err(refusal) => return refusal,
        }
        match self.write(capture).await {
            Ok(()) => error.with_details("the request was recorded up to the limit"),
            Err(refusal) => refusal,
        }
    }

    async fn write(&self, capture: NewCapture) -> Result<(), ApiError> {
        match self.recorder.record(capture).await {
            Ok(()) => Ok(()),
            Err(NotRecorded::Refused) => Err(full()),
            Err(NotRecorded::Failed(error)) => Err(ApiError::internal(error)),
        }
    }

    /// The logger of a path, if it still records.
    async fn recording_logger(&self, path: &str) -> Result<LoggerRow, ApiError> {
        let app = &self.app;
        let unknown = || ApiError::new(StatusCode::NOT_FOUND, "logger not found");
        let token = token(path).ok_or_else(unknown)?;
        let logger = app.store.logger_by_token(token).await?.ok_or_else(unknown)?;
        if logger.days_left(app.settings.logger_days, app.now()) == 0 {
            return Err(not_recording("this logger has expired"));
        }
        if is_full(app, &logger) { Err(full()) } else { Ok(logger) }
    }

    /// The body, as far as the sender sent it. The permit of a large body is held until the body is recorded.
    ///
    /// Reading continues for a while beyond the limit, because many senders read the response only after they have sent
    /// the whole body.
    async fn read_body(&self, body: Body) -> (ReadBody, Option<OwnedSemaphorePermit>) {
        let mut stream = body.into_data_stream();
        let (mut bytes, mut length, mut permit) = (Vec::new(), 0, None);
        let mut is_late = false;
        while let Some(part) = stream.next().await {
            let part = match part {
                Ok(part) => part,
                Err(error) => {
                    is_late = BodyTimeout::caused(&error);
                    break;
                }
            };
            length += part.len();
            if length <= BODY_LIMIT {
                bytes.extend_from_slice(&part);
            } else if length > 16 * BODY_LIMIT {
                break;
            }
            if length > LARGE_BODY && permit.is_none() {
                permit = Arc::clone(&self.large_bodies).acquire_owned().await.ok();
            }
        }
        let read = match () {
            () if length > BODY_LIMIT => ReadBody::TooLarge,
            () if is_late => ReadBody::Late(bytes),
            () => ReadBody::Complete(bytes),
        };
        (read, permit)
    }
}

enum ReadBody {
    /// Complete, or up to the end of the connection.
    Complete(Vec<u8>),
    TooLarge,
    /// The part that arrived in time.
    Late(Vec<u8>),
}

fn is_full(app: &App, logger: &LoggerRow) -> bool {
    logger.num_requests >= app.settings.logger_quota || logger.stored_bytes >= app.settings.logger_bytes
}

/// The secret part in `/l/<token>/…`.
fn token(path: &str) -> Option<&str> {
    let token = path.strip_prefix("/l/")?.split('/').next()?;
    (token.len() == TOKEN_LENGTH).then_some(token)
}

fn capture(logger: &LoggerRow, peer: SocketAddr, received_at: i64, request: Request) -> (NewCapture, Body) {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.iter();
    let capture = NewCapture {
        logger: logger.id.into(),
        received_at,
        ip_address: peer.ip().to_canonical().to_string(),
        remote_port: peer.port(),
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        http_version: version(parts.version).to_owned(),
        headers: headers
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
            .collect(),
        body: Vec::new(),
    };
    (capture, body)
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

/// A request whose head was cut; its last header line says so. The logger is set later.
fn truncated_capture(client: SocketAddr, received_at: i64, head: &[u8]) -> Option<NewCapture> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next().unwrap_or_default());
    // Proxies send the whole URL.
    let target = match target.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let note = format!("… (cut: the head is larger than {} bytes, or has too many headers)", head.len());
    match headers.last_mut() {
        Some(last) => last.push_str(&note),
        None => headers.push(note),
    }
    Some(NewCapture {
        logger: 0.into(),
        received_at,
        ip_address: client.ip().to_canonical().to_string(),
        remote_port: client.port(),
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        http_version: if version.is_empty() { "HTTP/1.1" } else { version }.to_owned(),
        headers,
        body: Vec::new(),
    })
}

fn not_recording(message: &str) -> ApiError {
    ApiError::new(StatusCode::GONE, message).with_details("the request was not recorded")
}

fn full() -> ApiError {
    not_recording("this logger is full")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_token_is_alphanumeric_and_found_in_its_path() {
        let new = new_token();
        assert!(new.len() == 22 && new.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{new}");
        assert_eq!(token(&format!("/l/{new}/a/b")), Some(new.as_str()));
        assert_eq!(token(&format!("/l/{new}")), Some(new.as_str()));
        assert_eq!(token("/l/short/"), None);
        assert_eq!(token("/favicon.ico"), None);
    }
    #[test]
    fn truncated_capture_contains_received_bytes() {
        let client = "127.0.0.1:9".parse().unwrap();
        let cut = |head: &str| truncated_capture(client, 1, head.as_bytes()).unwrap();
        let capture = cut("GET http://a.test/l/token/x?y=1 HTTP/1.1\r\nHost: a\r\nX: yyy");
        assert_eq!((capture.path.as_str(), capture.query.as_str()), ("/l/token/x", "y=1"));
        assert_eq!((capture.method.as_str(), capture.http_version.as_str()), ("GET", "HTTP/1.1"));
        assert!(capture.headers[0] == "Host: a" && capture.headers[1].starts_with("X: yyy… (cut"), "{capture:?}");
        assert_eq!(cut("GET /l/token/xxx").path, "/l/token/xxx");
        assert!(truncated_capture(client, 1, b"garbage").is_none());
    }
}
