//! The listener of the loggers: anybody, any method, any path below a logger's URL; no key, no Host check, no rate.
//!
//! ```text
//!   ANY /l/<22 characters>/…  ─► logger known? ─► still records? ─► body read ─► on disk ─► 200
//!                                     404              410       413 beyond 1 MiB (kept without the body)
//! ```
//!
//! The connections are hyper's own and not axum's: what a server was tricked into sending often hangs up, or closes
//! its half, without waiting for the answer, and has to be recorded all the same.

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

/// Bytes of the largest body that is kept.
const BODY_LIMIT: usize = 1024 * 1024;

/// Characters of the secret part of a logger's URL: 22 of base62 are 131 bits.
const TOKEN_LENGTH: usize = 22;

/// A new secret part of a logger's URL.
pub fn new_token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH).map(|_| char::from(random.sample(rand::distr::Alphanumeric))).collect()
}

/// A logger as the API shows it.
pub fn shown(app: &App, row: &LoggerRow) -> Logger {
    Logger {
        id: row.id.into(),
        label: row.label.as_str().into(),
        handler_url: format!("{}l/{}/", app.logger_base, row.token).into(),
        active_days: row.days_left(app.settings.logger_days, app.now()),
        num_requests: row.num_requests,
        requests_left: (app.settings.logger_quota - row.num_requests).max(0),
    }
}

/// Records what comes in until `stop`; connections that are still open after `patience` are closed then.
pub async fn listen(
    app: App,
    recorder: Recorder,
    mut listener: TcpListener,
    stop: CancellationToken,
    patience: Duration,
) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = Listener::accept(&mut listener) => accepted,
        };
        connections.spawn(hear(app.clone(), recorder.clone(), stream, peer, stop.clone()));
    }
    drop(listener);
    if tokio::time::timeout(patience, async { while connections.join_next().await.is_some() {} }).await.is_err() {
        tracing::info!("connections to the loggers that were still open are closed");
    }
}

/// One connection, to its end. Whoever needs longer than half a minute for its headers is not waited for.
async fn hear(app: App, recorder: Recorder, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) {
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        // Begun here and not when it is polled: a connection that is closed already is never polled again.
        let answered = tokio::spawn(answer(app.clone(), recorder.clone(), peer, request.map(Body::new)));
        async move { Ok::<_, Infallible>(answered.await.unwrap_or_else(|died| ApiError::internal(died).into_response())) }
    });
    let mut http = http1::Builder::new();
    http.half_close(true).timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    // What ends a connection is its sender's affair; what it sent is recorded by then.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(app: App, recorder: Recorder, peer: SocketAddr, request: Request) -> Response {
    match record(&app, &recorder, peer, request).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

async fn record(app: &App, recorder: &Recorder, peer: SocketAddr, request: Request) -> Result<(), ApiError> {
    let received_at = app.now().as_millisecond();
    let nobody = || ApiError::new(StatusCode::NOT_FOUND, "there is no logger here");
    let token = token(request.uri().path()).ok_or_else(nobody)?;
    let logger = app.store.logger_at(token).await?.ok_or_else(nobody)?;
    if logger.days_left(app.settings.logger_days, app.now()) == 0 {
        return Err(gone("this logger's days are over"));
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
            format!("the body is larger than {BODY_LIMIT} bytes; the request was recorded without it"),
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

/// The body; nothing when it is larger than may be kept.
///
/// A sender that breaks off leaves what it had sent. What is too large is still read for a while: a sender that is
/// cut off in the middle of its body often never reads the answer.
async fn read_body(body: Body) -> Option<Vec<u8>> {
    let mut stream = body.into_data_stream();
    let (mut kept, mut length) = (Vec::new(), 0);
    while let Some(Ok(part)) = stream.next().await {
        length += part.len();
        if length <= BODY_LIMIT {
            kept.extend_from_slice(&part);
        } else if length > 16 * BODY_LIMIT {
            break;
        }
    }
    (length <= BODY_LIMIT).then_some(kept)
}

fn gone(message: &str) -> ApiError {
    ApiError::new(StatusCode::GONE, message).with_details("nothing was recorded")
}

fn full() -> ApiError {
    gone("this logger has recorded as much as it may")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_22_letters_and_digits_and_found_in_its_path() {
        let made = new_token();
        assert!(made.len() == 22 && made.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{made}");
        assert_eq!(token(&format!("/l/{made}/a/b")), Some(made.as_str()));
        assert_eq!(token(&format!("/l/{made}")), Some(made.as_str()));
        assert_eq!(token("/l/short/"), None);
        assert_eq!(token("/favicon.ico"), None);
    }
}
