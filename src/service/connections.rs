//! The connections of a listener: how many, how long, and which errors below the router.
//!
//! ```text
//!   accept ─► slot of the listener? ─► slot of the client? ─► connection: heads, bodies, responses ─► closed
//!                waits in the kernel         503                  └─ head too large or not HTTP: 431, 414, 400
//! ```
//!
//! Both listeners use hyper directly instead of the server of axum, which limits neither connections nor time, and whose
//! responses to a malformed head have no body.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use futures::future::BoxFuture;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_io::{ConnectionIo, LimitedBody, RequestProgress};
use super::errors::ApiError;
use super::tls::Transport;

/// Pause after an error of accept, such as a shortage of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long the rest of a refused request is read, so that its sender receives the response.
const LINGER: Duration = Duration::from_millis(500);
/// The smallest buffer that hyper supports; shorter heads are limited when they are complete.
const MIN_BUFFER: usize = 8192;

/// Limits of the connections of one listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections; further ones wait until one is closed.
    pub connections: usize,
    /// Open connections from one address (IPv6: one /64 network); further ones receive 503.
    pub per_client: usize,
    /// Size of a request line with headers, in bytes.
    pub head_bytes: usize,
    /// Time from the first byte of a head to its last.
    pub head_time: Duration,
    /// Time for the body of a request.
    pub body_time: Duration,
    /// Time without a request, or without progress in sending a response.
    pub idle_time: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 512,
            per_client: 256,
            head_bytes: 64 * 1024,
            head_time: Duration::from_secs(15),
            body_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(60),
        }
    }
}

impl ConnectionLimits {
    /// The limits of a listener that has this share of the file descriptors. A smaller share also lowers the limit of
    /// one client, so that it cannot take every connection.
    pub fn within(self, share: usize) -> Self {
        if self.connections <= share {
            return self;
        }
        Self { connections: share, per_client: self.per_client.min((share / 2).max(1)), ..self }
    }
}

/// The address of the client, for handlers that need it.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub SocketAddr);

/// A request head that never reaches the handler.
#[derive(Clone, Debug)]
pub struct RefusedHead {
    /// 431, 414 or 400.
    pub status: StatusCode,
    /// The first bytes of the head, at most [`ConnectionLimits::head_bytes`].
    pub bytes: Vec<u8>,
}

impl RefusedHead {
    /// The error response.
    pub fn error(&self) -> ApiError {
        match self.status {
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
                ApiError::new(self.status, "the request line and the headers are too large or too many")
            }
            StatusCode::URI_TOO_LONG => ApiError::uri_too_long(),
            _ => ApiError::bad_request("malformed HTTP request"),
        }
    }
}

/// Handles the requests of a listener.
pub trait ConnectionHandler: Clone + Send + Sync + 'static {
    /// Whether a client that has closed its sending side still receives the response.
    const HALF_CLOSE: bool;

    fn respond(&self, client: SocketAddr, request: Request) -> BoxFuture<'static, Response>;

    /// The error response to a refused head.
    fn refuse(&self, client: SocketAddr, head: RefusedHead) -> BoxFuture<'static, ApiError>;
}

/// Serves connections until `stop`; open ones are closed `drain` after it.
pub async fn serve(
    listener: TcpListener,
    limits: ConnectionLimits,
    handler: impl ConnectionHandler,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
    drain: Duration,
) {
    let gate = ConnectionGate::new(&limits);
    let (tasks, close) = (TaskTracker::new(), CancellationToken::new());
    while let Some((stream, client, slot)) = stop.run_until_cancelled(gate.accept(&listener)).await {
        let (handler, tls, stop) = (handler.clone(), tls.clone(), stop.clone());
        let connection = async move {
            // Responses are small and complete, so waiting for more data only delays them.
            let _ = stream.set_nodelay(true);
            let transport = match tls {
                None => Transport::Plain(stream),
                Some(tls) => match tokio::time::timeout(limits.head_time, tls.accept(stream)).await {
                    Ok(Ok(stream)) => Transport::Tls(Box::new(stream)),
                    // Scanners and clients that do not trust the certificate are no errors of the service.
                    Ok(Err(_)) | Err(_) => return,
                },
            };
            serve_connection(transport, client, limits, handler, stop).await;
        };
        let close = close.clone();
        tasks.spawn(async move {
            close.run_until_cancelled(connection).await;
            drop(slot);
        });
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(drain, tasks.wait()).await.is_err() {
        tracing::info!("open connections closed at shutdown");
        close.cancel();
        tasks.wait().await;
    }
}

/// Limits the connections of a listener and of each client.
#[derive(Debug)]
struct ConnectionGate {
    slots: Arc<Semaphore>,
    clients: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_client: usize,
}

/// The right to one connection.
struct ConnectionSlot {
    _slot: OwnedSemaphorePermit,
    clients: Arc<Mutex<HashMap<IpAddr, usize>>>,
    client: IpAddr,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = clients.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

impl ConnectionGate {
    fn new(limits: &ConnectionLimits) -> Self {
        let slots = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        Self { slots, clients: Arc::default(), per_client: limits.per_client.max(1) }
    }

    /// The next connection within the limits.
    async fn accept(&self, listener: &TcpListener) -> (TcpStream, SocketAddr, ConnectionSlot) {
        loop {
            // Before the accept: a connection beyond the limit takes no descriptor.
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return std::future::pending().await };
            match listener.accept().await {
                Ok((stream, client)) => match self.slot_of(client.ip(), slot) {
                    Some(slot) => return (stream, client, slot),
                    None => turn_away(stream),
                },
                Err(error) if is_of_client(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn slot_of(&self, client: IpAddr, slot: OwnedSemaphorePermit) -> Option<ConnectionSlot> {
        let client = client_of(client);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let count = clients.entry(client).or_default();
        if *count >= self.per_client {
            return None;
        }
        *count += 1;
        Some(ConnectionSlot { _slot: slot, clients: Arc::clone(&self.clients), client })
    }
}

/// The address that counts as one client: an IPv6 client usually has a /64 network.
pub fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        ip => ip,
    }
}

/// Errors of accept that concern one connection only.
fn is_of_client(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Responds with 503 and closes the connection, without waiting for the client.
fn turn_away(stream: TcpStream) {
    let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too many connections from this address");
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(raw_response(&error, "retry-after: 1\r\n").as_bytes());
    }
}

/// An error response for a connection without a complete request.
fn raw_response(error: &ApiError, headers: &str) -> String {
    let body = error.body();
    format!(
        "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}connection: close\r\n\r\n{body}",
        error.status,
        body.len()
    )
}

async fn serve_connection<H: ConnectionHandler>(
    stream: Transport,
    client: SocketAddr,
    limits: ConnectionLimits,
    handler: H,
    stop: CancellationToken,
) {
    let progress = RequestProgress::default();
    let io = TokioIo::new(ConnectionIo::new(stream, progress.clone(), &limits));
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let in_progress = progress.begin();
        let request = request.map(|body| Body::new(LimitedBody::new(body, limits.body_time)));
        let response = handler.respond(client, request);
        Box::pin(async move { Ok::<_, std::convert::Infallible>(in_progress.attach(response.await)) })
    });
    let mut http = http1::Builder::new();
    http.half_close(H::HALF_CLOSE).max_header_size(limits.head_bytes);
    http.max_buf_size(limits.head_bytes.max(MIN_BUFFER)).header_read_timeout(None).writev(false);
    let mut connection = http.serve_connection(io, service);
    let served = stop.run_until_cancelled(poll_fn(|context| connection.poll_without_shutdown(context))).await;
    let ended = match served {
        Some(ended) => ended,
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    let mut io = connection.into_parts().io.into_inner();
    // Errors of the connection are ignored: complete requests were handled by then.
    let refused = io.take_refused().filter(|_| ended.is_err());
    if ended.is_err() && refused.is_none() {
        return;
    }
    if let Some(head) = refused {
        let error = handler.refuse(client, head).await;
        let _ = io.write_all(raw_response(&error, "").as_bytes()).await;
    }
    if io.shutdown().await.is_ok() {
        let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut io, &mut tokio::io::sink())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_never_takes_the_whole_share_of_descriptors() {
        let limits = |share| {
            let limits = ConnectionLimits::default().within(share);
            (limits.connections, limits.per_client)
        };
        assert_eq!([4096, 512, 232, 4, 1].map(limits), [(512, 256), (512, 256), (232, 116), (4, 2), (1, 1)]);
    }
}
