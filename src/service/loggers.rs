//! The listener of the loggers: any method and any path below a logger's URL, without key, Host check or rate limit.
//!
//! ```text
//!   ANY /l/<22 characters>/…  ─► logger exists? ─► still records? ─► body read ─► on disk ─► 200
//!                                     404               410       413 over 1 MiB (recorded without its body)
//! ```
//!
//! The listener uses hyper directly instead of axum: a vulnerable server that sends a request often closes the connection
//! without waiting for the response, and the request must be recorded nevertheless.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Version};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use futures::StreamExt;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rand::RngExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::errors::ApiError;
use super::recorder::{NotRecorded, Recorder};
use super::state::App;
use super::store::captures::NewCapture;
use super::store::loggers::LoggerRow;
use crate::contract::Logger;

/// The largest recorded body, in bytes.
const BODY_LIMIT: usize = 1024 * 1024;

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
        requests_left: (app.settings.logger_quota - row.num_requests).max(0),
    }
}

/// Records requests until `stop`; open connections are closed `drain` after it.
pub async fn listen(app: App, recorder: Recorder, mut listener: TcpListener, stop: CancellationToken, drain: Duration) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = Listener::accept(&mut listener) => accepted,
        };
        connections.spawn(serve(app.clone(), recorder.clone(), stream, peer, stop.clone()));
    }
    drop(listener);
    if tokio::time::timeout(drain, async { while connections.join_next().await.is_some() {} }).await.is_err() {
        tracing::info!("open logger connections closed at shutdown");
    }
}

/// Serves one connection. Headers must arrive within 30 seconds.
async fn serve(app: App, recorder: Recorder, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) {
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        // Spawned here instead of when the future is polled: a closed connection is never polled again.
        let response = tokio::spawn(respond(app.clone(), recorder.clone(), peer, request.map(Body::new)));
        async move { Ok::<_, Infallible>(response.await.unwrap_or_else(|error| ApiError::internal(error).into_response())) }
    });
    let mut http = http1::Builder::new();
    http.half_close(true).timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    // Errors of the connection are ignored: complete requests are recorded by then.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn respond(app: App, recorder: Recorder, peer: SocketAddr, request: Request) -> Response {
    match record(&app, &recorder, peer, request).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

async fn record(app: &App, recorder: &Recorder, peer: SocketAddr, request: Request) -> Result<(), ApiError> {
    let received_at = app.now().as_millisecond();
    let unknown = || ApiError::new(StatusCode::NOT_FOUND, "logger not found");
    let token = token(request.uri().path()).ok_or_else(unknown)?;
    let logger = app.store.logger_by_token(token).await?.ok_or_else(unknown)?;
    if logger.days_left(app.settings.logger_days, app.now()) == 0 {
        return Err(gone("this logger has expired"));
    }
    if logger.num_requests >= app.settings.logger_quota {
        return Err(full());
    }
    let (mut capture, body) = capture(&logger, peer, received_at, request);
    let read = read_body(body).await;
    let too_large = read.is_none();
    capture.body = read.unwrap_or_default();
    match recorder.record(capture).await {
        Ok(()) if too_large => Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {BODY_LIMIT} bytes; the request was recorded without its body"),
        )),
        Ok(()) => Ok(()),
        Err(NotRecorded::Refused) => Err(full()),
        Err(NotRecorded::Failed(error)) => Err(ApiError::internal(error)),
    }
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

/// The body, as far as the sender sent it; `None` when it exceeds the limit.
///
/// Reading continues for a while beyond the limit, because many senders read the response only after they have sent the
/// whole body.
async fn read_body(body: Body) -> Option<Vec<u8>> {
    let mut stream = body.into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(Ok(part)) = stream.next().await {
        length += part.len();
        if length <= BODY_LIMIT {
            bytes.extend_from_slice(&part);
        } else if length > 16 * BODY_LIMIT {
            break;
        }
    }
    (length <= BODY_LIMIT).then_some(bytes)
}

fn gone(message: &str) -> ApiError {
    ApiError::new(StatusCode::GONE, message).with_details("the request was not recorded")
}

fn full() -> ApiError {
    gone("this logger is full")
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
}
