//! The connections of a listener: how many, how long, and which errors below the router.
//!
//! ```text
//!   accept ─► place in the table? ─► handshake ─► connection: heads, bodies, responses ─► closed
//!                  │ 503, or waits                   └─ head too large or not HTTP: 431, 414, 400
//!                  └─ evicts another connection: `ConnectionTable`
//! ```
//!
//! The API and the metrics use hyper directly instead of the server of axum, which limits neither
//! connections nor time, and whose responses to a malformed head have no body.

use std::future::poll_fn;
use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use futures::future::BoxFuture;
use hyper::body::Body as _;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::errors::ApiError;
use crate::net::connection_io::{ConnectionIo, LimitedBody, RequestProgress};
use crate::net::connection_table::{ConnectionMarks, ConnectionTable, FirstStep};
use crate::net::tls::Transport;

/// Pause after an error of accept, such as a shortage of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections that wait for a place; further ones wait in the queue of the system.
const WAITING: usize = 64;
/// How long the rest of a refused request is read, so that its sender receives the response.
pub const LINGER: Duration = Duration::from_millis(500);
/// The type of the first byte of a TLS connection (RFC 8446 §5.1).
const HANDSHAKE_RECORD: u8 = 0x16;
/// Bytes of a failed handshake that are reported.
const FIRST_BYTES: usize = 1024;
/// The smallest buffer that hyper supports; shorter heads are limited when they are complete.
const MIN_BUFFER: usize = 8192;

/// Limits of the connections of one listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections; a further one displaces another or waits (`ConnectionTable`).
    pub connections: usize,
    /// Open connections from one address (IPv6: one /64 network); a further one displaces another
    /// or receives 503.
    pub per_client: usize,
    /// TLS handshakes at the same time.
    pub handshakes: usize,
    /// Connections that only addresses with a valid key may open, at most half of all.
    pub reserve: usize,
    /// Size of a request line with headers, in bytes.
    pub head_bytes: usize,
    /// Time from the first byte of a head to its last.
    pub head_time: Duration,
    /// Time for the body of a request, and the longest silence in it.
    pub body_time: Duration,
    /// Time without a request, or without progress in sending a response.
    pub idle_time: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 512,
            per_client: 256,
            handshakes: 128,
            reserve: 64,
            head_bytes: 64 * 1024,
            head_time: Duration::from_secs(15),
            body_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(60),
        }
    }
}

impl ConnectionLimits {
    /// The limits of a listener that has this share of the file descriptors. A smaller share also
    /// lowers the limit of one client, so that it cannot take every connection.
    pub fn within(self, share: usize) -> Self {
        if self.connections <= share {
            return self;
        }
        Self {
            connections: share,
            per_client: self.per_client.min((share / 2).max(1)),
            handshakes: self.handshakes.min((share / 4).max(1)),
            reserve: self.reserve.min(share / 8),
            ..self
        }
    }
}

/// The address of the client, for handlers that need it.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub SocketAddr);

/// A request of a connection on which a head had `Content-Length` and `Transfer-Encoding`.
#[derive(Clone, Copy, Debug)]
pub struct AmbiguousLength;

/// The error response to a head that never reaches the handler: 431, 414 or 400.
fn refused_head(status: StatusCode) -> ApiError {
    match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => ApiError::new(
            status,
            "the request line and the headers are too large or too many",
        ),
        StatusCode::URI_TOO_LONG => ApiError::uri_too_long(),
        _ => ApiError::bad_request("malformed HTTP request"),
    }
}

/// Handles the requests of a listener.
pub trait ConnectionHandler: Clone + Send + Sync + 'static {
    fn respond(&self, client: SocketAddr, request: Request) -> BoxFuture<'static, Response>;
}

/// Serves HTTP connections until `stop`; open ones are closed `drain` after it.
pub async fn serve(
    listener: TcpListener,
    limits: ConnectionLimits,
    handler: impl ConnectionHandler,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
    drain: Duration,
) {
    let serve_http = {
        let stop = stop.clone();
        move |connection: AcceptedConnection| {
            let (handler, stop) = (handler.clone(), stop.clone());
            async move {
                let marks = connection.marks.clone();
                tokio::select! {
                    () = serve_connection(connection, limits, handler, stop) => {}
                    () = marks.evicted() => {}
                }
            }
        }
    };
    let tls = tls.map_or(ListenerTls::None, ListenerTls::Required);
    serve_transports(listener, limits, serve_http, tls, stop, drain).await;
}

#[derive(Clone)]
pub enum ListenerTls {
    None,
    /// Other connections are closed.
    Required(TlsAcceptor),
    /// Connections that do not begin with a handshake are plain. A handshake that fails is reported
    /// with its first bytes.
    Optional(TlsAcceptor, FailedHandshake),
}

/// Receives the client and the first bytes of a handshake that failed.
pub type FailedHandshake = Arc<dyn Fn(SocketAddr, &[u8]) + Send + Sync>;

/// A connection that has a place in the table, after its handshake.
pub struct AcceptedConnection {
    pub transport: Transport,
    pub client: SocketAddr,
    pub marks: ConnectionMarks,
}

/// Accepts connections until `stop`, and passes each to `serve_one` after its handshake.
/// `serve_one` marks the progress, and ends soon after [`ConnectionMarks::evicted`]. It is dropped
/// `drain` after `stop`.
pub async fn serve_transports<F>(
    listener: TcpListener,
    limits: ConnectionLimits,
    serve_one: impl Fn(AcceptedConnection) -> F + Clone + Send + 'static,
    tls: ListenerTls,
    stop: CancellationToken,
    drain: Duration,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let table = ConnectionTable::new(&limits);
    let first = if matches!(tls, ListenerTls::None) {
        FirstStep::Request
    } else {
        FirstStep::Handshake
    };
    let (tasks, close) = (TaskTracker::new(), CancellationToken::new());
    let room = Arc::new(Semaphore::new(WAITING));
    let arrivals = || async {
        let (stream, client) = accept(&listener).await;
        (stream, client, Arc::clone(&room).acquire_owned().await)
    };
    while let Some((stream, client, waiting)) = stop.run_until_cancelled(arrivals()).await {
        let (serve_one, tls, table) = (serve_one.clone(), tls.clone(), table.clone());
        let connection = async move {
            // A newcomer that waits for a place does not delay those behind it, which may have a
            // better claim.
            let Some(place) = table.admit(client.ip(), first).await else {
                return turn_away(stream);
            };
            drop(waiting);
            let marks = place.marks();
            // Responses are small and complete, so waiting for more data only delays them.
            let _ = stream.set_nodelay(true);
            if let Some(transport) = transport(stream, client, tls, limits.head_time, &marks).await
            {
                serve_one(AcceptedConnection {
                    transport,
                    client,
                    marks,
                })
                .await;
            }
        };
        let close = close.clone();
        tasks.spawn(async move {
            close.run_until_cancelled(connection).await;
        });
    }
    drop(listener);
    end_within(drain, tasks, &close).await;
}

/// Waits for the open connections, and closes those that are still open after `drain`.
async fn end_within(drain: Duration, tasks: TaskTracker, close: &CancellationToken) {
    tasks.close();
    if tokio::time::timeout(drain, tasks.wait()).await.is_err() {
        tracing::info!("open connections closed at shutdown");
        close.cancel();
        tasks.wait().await;
    }
}

/// The connection after its handshake. Scanners and clients that do not trust the certificate are
/// no errors of the service.
async fn transport(
    stream: TcpStream,
    client: SocketAddr,
    tls: ListenerTls,
    time: Duration,
    marks: &ConnectionMarks,
) -> Option<Transport> {
    let shaken = async {
        match tls {
            ListenerTls::None => Some(Transport::Plain(stream)),
            ListenerTls::Required(acceptor) => Some(Transport::Tls(Box::new(
                acceptor.accept(stream).await.ok()?,
            ))),
            ListenerTls::Optional(acceptor, failed) => {
                let mut start = [0; FIRST_BYTES];
                let length = stream
                    .peek(&mut start)
                    .await
                    .ok()
                    .filter(|length| *length > 0)?;
                if start[0] != HANDSHAKE_RECORD {
                    return Some(Transport::Plain(stream));
                }
                match acceptor.accept(stream).await {
                    Ok(stream) => Some(Transport::Tls(Box::new(stream))),
                    Err(_) => {
                        failed(client, &start[..length]);
                        None
                    }
                }
            }
        }
    };
    let transport = tokio::select! {
        shaken = tokio::time::timeout(time, shaken) => shaken.ok()??,
        () = marks.evicted() => return None,
    };
    marks.handshake_done();
    Some(transport)
}

/// The next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "connection not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
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
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Responds with 503 and closes the connection, without waiting for the client.
fn turn_away(stream: TcpStream) {
    let error = ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many connections from this address",
    );
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
    connection: AcceptedConnection,
    limits: ConnectionLimits,
    handler: H,
    stop: CancellationToken,
) {
    let AcceptedConnection {
        transport,
        client,
        marks,
    } = connection;
    let progress = RequestProgress::new(marks.clone());
    let io = TokioIo::new(ConnectionIo::new(transport, progress.clone(), &limits));
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let in_progress = progress.begin(request.body().is_end_stream());
        let mut request =
            request.map(|body| Body::new(LimitedBody::new(body, limits.body_time, marks.clone())));
        request.extensions_mut().insert(marks.clone());
        if progress.has_ambiguous_head() {
            request.extensions_mut().insert(AmbiguousLength);
        }
        let response = handler.respond(client, request);
        Box::pin(
            async move { Ok::<_, std::convert::Infallible>(in_progress.attach(response.await)) },
        )
    });
    let mut http = http1::Builder::new();
    http.max_header_size(limits.head_bytes);
    http.max_buf_size(limits.head_bytes.max(MIN_BUFFER))
        .header_read_timeout(None)
        .writev(false);
    let mut connection = http.serve_connection(io, service);
    let served = stop
        .run_until_cancelled(poll_fn(|context| connection.poll_without_shutdown(context)))
        .await;
    let ended = match served {
        Some(ended) => ended,
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    let io = connection.into_parts().io.into_inner();
    close(io, ended.is_err()).await;
}

/// Answers a head that was refused, and closes the connection. Errors of the connection are
/// ignored: complete requests were handled by then.
async fn close(mut io: ConnectionIo, has_failed: bool) {
    let refused = io.take_refused().filter(|_| has_failed);
    if has_failed && refused.is_none() {
        return;
    }
    if let Some(status) = refused {
        let response = raw_response(&refused_head(status), "");
        let _ = io.write_all(response.as_bytes()).await;
    }
    if io.shutdown().await.is_ok() {
        let mut sink = tokio::io::sink();
        let _ = tokio::time::timeout(LINGER, tokio::io::copy(&mut io, &mut sink)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_never_takes_the_whole_share_of_descriptors() {
        let limits = |share| {
            let limits = ConnectionLimits::default().within(share);
            [
                limits.connections,
                limits.per_client,
                limits.handshakes,
                limits.reserve,
            ]
        };
        assert_eq!([4096, 512].map(limits), [[512, 256, 128, 64]; 2]);
        assert_eq!(
            [232, 4, 1].map(limits),
            [[232, 116, 58, 29], [4, 2, 1, 0], [1, 1, 1, 0]]
        );
    }
}
