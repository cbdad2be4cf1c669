//! HTTP over the permissive TLS client, for servers whose TLS rustls refuses.
//!
//! ```text
//!   request ──► rustls ──► refused: version, suite, group, key ──► LegacyHttp ──► response, negotiated version and suite
//!                                                                      └── remembered for the port: later requests begin here
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Body, Method, Response};
use rustls::InvalidMessage;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::Service;
use url::Url;

use super::http::WebError;
use super::tls::legacy::{self, LegacyStream, NegotiatedTls};

/// The client for the servers of one host.
pub struct LegacyHttp {
    client: Client<LegacyConnector, Body>,
    user_agent: String,
    /// Whether the server of a port was read by this client, for the ports where it was tried.
    ports: Mutex<HashMap<u16, bool>>,
}

/// How the handshake by rustls failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFailure {
    /// Client and server have no protocol in common.
    Refused,
    /// It may have another reason, such as a server under load.
    Unclear,
}

impl TlsFailure {
    /// The failure in an error of reqwest; none if another handshake cannot help.
    pub fn of(error: &reqwest::Error) -> Option<Self> {
        use rustls::AlertDescription as Alert;
        use rustls::Error;

        if !error.is_connect() || error.is_timeout() {
            return None;
        }
        let failure = causes(error).find_map(|cause| cause.downcast_ref::<Error>());
        match failure {
            // Not TLS.
            Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => None,
            Some(Error::AlertReceived(
                Alert::HandshakeFailure
                | Alert::ProtocolVersion
                | Alert::InsufficientSecurity
                | Alert::IllegalParameter
                | Alert::DecodeError,
            )) => Some(Self::Refused),
            Some(Error::AlertReceived(_)) => Some(Self::Unclear),
            Some(_) => Some(Self::Refused),
            None => {
                let mut kinds = causes(error).filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
                let is_closed = |kind| matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset);
                kinds.any(is_closed).then_some(Self::Unclear)
            }
        }
    }
}

/// An error and its causes. `source` of an `io::Error` skips the error inside.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

impl LegacyHttp {
    /// A client that connects to these addresses only.
    pub fn new(ips: &[IpAddr], connect_timeout: Duration, connections: usize, user_agent: String) -> Self {
        let connector = LegacyConnector { ips: ips.into(), connect_timeout, hello: Arc::default() };
        let client =
            Client::builder(TokioExecutor::new()).pool_max_idle_per_host(connections).build::<_, Body>(connector);
        Self { client, user_agent, ports: Mutex::default() }
    }

    /// Whether the server of this URL is read by this client.
    pub fn serves(&self, url: &Url) -> bool {
        self.tried(url) == Some(true)
    }

    /// Whether this client was tried with the server of this URL, and with success.
    pub fn tried(&self, url: &Url) -> Option<bool> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default().filter(|_| url.scheme() == "https").and_then(|port| ports.get(&port).copied())
    }

    /// Remembers whether the server of this URL is read by this client.
    pub fn settle(&self, url: &Url, serves: bool) {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.extend(url.port_or_known_default().map(|port| (port, serves)));
    }

    /// Sends a request without body. The response is not encoded.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
    ) -> Result<(Response, NegotiatedTls), WebError> {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Ok(product) = HeaderValue::from_str(&self.user_agent) {
            headers.insert(USER_AGENT, product);
        }
        let broken = |error: &dyn Error| WebError::Broken(error.to_string());
        let mut request =
            Request::builder().method(method).uri(url.as_str()).body(Body::from("")).map_err(|e| broken(&e))?;
        *request.headers_mut() = headers;
        let answer = self.client.request(request).await.map_err(|error| {
            let cause = causes(&error).last().map(ToString::to_string).unwrap_or_default();
            if error.is_connect() { WebError::Connect(cause) } else { WebError::Broken(cause) }
        })?;
        let negotiated = answer.extensions().get::<NegotiatedTls>().copied();
        let negotiated = negotiated.ok_or_else(|| WebError::Broken("no connection".to_owned()))?;
        match answer.headers().get(CONTENT_ENCODING) {
            Some(encoding) if encoding != "identity" => {
                Err(WebError::Undecodable(format!("{} without request", String::from_utf8_lossy(encoding.as_bytes()))))
            }
            _ => Ok((Response::from(answer.map(Body::wrap)), negotiated)),
        }
    }
}

/// Connects to the addresses of a host.
#[derive(Clone)]
struct LegacyConnector {
    ips: Arc<[IpAddr]>,
    connect_timeout: Duration,
    /// The version of the hello that the server answered.
    hello: Arc<OnceLock<legacy::Version>>,
}

impl LegacyConnector {
    async fn connect(self, uri: Uri) -> io::Result<TokioIo<LegacyStream<TcpStream>>> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(443);
        let known = self.hello.get().copied();
        let mut failure = io::Error::from(ErrorKind::NotConnected);
        for version in legacy::HELLOS.into_iter().filter(|version| known.is_none_or(|known| *version == known)) {
            for ip in self.ips.iter() {
                let connecting = async {
                    let stream = TcpStream::connect(SocketAddr::new(*ip, port)).await?;
                    legacy::connect(stream, host, version).await
                };
                // Once for the connection, once for the handshake.
                match timeout(self.connect_timeout * 2, connecting).await {
                    Ok(Ok(stream)) => {
                        let _ = self.hello.set(version);
                        return Ok(TokioIo::new(stream));
                    }
                    Ok(Err(error)) => failure = error,
                    Err(_) => failure = ErrorKind::TimedOut.into(),
                }
            }
        }
        Err(failure)
    }
}

impl Service<Uri> for LegacyConnector {
    type Response = TokioIo<LegacyStream<TcpStream>>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        self.clone().connect(uri).boxed()
    }
}

/// The response of a request carries how it was protected.
impl Connection for LegacyStream<TcpStream> {
    fn connected(&self) -> Connected {
        Connected::new().extra(self.negotiated)
    }
}
