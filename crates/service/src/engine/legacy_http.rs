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
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use reqwest::header::{HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Body, Method, Response};
use rustls::InvalidMessage;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::Service;
use url::Url;

use super::http::{MAX_HEADERS, WebError, is_malformed};
use super::tls::legacy::{self, LegacyStream, NegotiatedTls};

/// Time after which an idle connection is closed. Without a request, neither a time limit nor a
/// size limit applies to data from the server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The client for the servers of one host.
pub struct LegacyHttp {
    client: Client<LegacyConnector, Body>,
    connector: LegacyConnector,
    user_agent: String,
    /// Whether the server of a port was read by this client, for the ports where it was tried.
    ports: Mutex<HashMap<u16, bool>>,
}

/// How the handshake by rustls failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFailure {
    /// Client and server have no protocol in common.
    Refused,
    /// The failure may have another cause, such as a server under load.
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
                let mut kinds = causes(error)
                    .filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
                let is_closed =
                    |kind| matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset);
                kinds.any(is_closed).then_some(Self::Unclear)
            }
        }
    }
}

/// An error and its causes. `source` of an `io::Error` skips the error inside.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

impl LegacyHttp {
    /// A client that connects to these addresses only.
    pub fn new(
        ips: &[IpAddr],
        connect_timeout: Duration,
        connections: usize,
        user_agent: String,
    ) -> Self {
        Self::with_idle_timeout(ips, connect_timeout, connections, user_agent, IDLE_TIMEOUT)
    }

    fn with_idle_timeout(
        ips: &[IpAddr],
        connect_timeout: Duration,
        connections: usize,
        user_agent: String,
        idle_timeout: Duration,
    ) -> Self {
        let connector = LegacyConnector {
            ips: ips.into(),
            connect_timeout,
            hellos: Arc::default(),
        };
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(connections)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_timeout)
            .http1_max_headers(MAX_HEADERS)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .build::<_, Body>(connector.clone());
        Self {
            client,
            connector,
            user_agent,
            ports: Mutex::default(),
        }
    }

    /// Whether the server of this URL is read by this client.
    pub fn serves(&self, url: &Url) -> bool {
        self.tried(url) == Some(true)
    }

    /// Whether this client was tried with the server of this URL, and with success.
    pub fn tried(&self, url: &Url) -> Option<bool> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default()
            .filter(|_| url.scheme() == "https")
            .and_then(|port| ports.get(&port).copied())
    }

    /// Remembers whether the server of this URL is read by this client; returns true for the first
    /// success. A failure after a success changes nothing: concurrent requests may overload an old
    /// server.
    pub fn settle(&self, url: &Url, serves: bool) -> bool {
        let Some(port) = url.port_or_known_default() else {
            return false;
        };
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let served = ports.entry(port).or_insert(false);
        let is_new = serves && !*served;
        *served |= serves;
        is_new
    }

    /// A new connection to the server of a URL.
    ///
    /// # Errors
    /// No handshake succeeds.
    pub async fn connect(&self, url: &Url) -> Result<LegacyStream<TcpStream>, WebError> {
        let uri = url
            .as_str()
            .parse::<Uri>()
            .map_err(|error| WebError::Connect(error.to_string()))?;
        self.connector
            .clone()
            .connect(uri)
            .await
            .map_err(|error| WebError::Connect(error.to_string()))
    }

    /// Sends a request without body.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
    ) -> Result<(Response, NegotiatedTls), WebError> {
        if let Ok(product) = HeaderValue::from_str(&self.user_agent) {
            headers.insert(USER_AGENT, product);
        }
        let broken = |error: &dyn Error| WebError::Broken(error.to_string());
        let mut request = Request::builder()
            .method(method)
            .uri(url.as_str())
            .body(Body::from(""))
            .map_err(|e| broken(&e))?;
        *request.headers_mut() = headers;
        let answer = self.client.request(request).await.map_err(|error| {
            let cause = causes(&error)
                .last()
                .map(ToString::to_string)
                .unwrap_or_default();
            match () {
                () if error.is_connect() => WebError::Connect(cause),
                () if is_malformed(&error) => WebError::Malformed(cause),
                () => WebError::Broken(cause),
            }
        })?;
        let negotiated = answer.extensions().get::<NegotiatedTls>().copied();
        let negotiated = negotiated.ok_or_else(|| WebError::Broken("no connection".to_owned()))?;
        Ok((Response::from(answer.map(Body::wrap)), negotiated))
    }
}

/// Connects to the addresses of a host.
#[derive(Clone)]
struct LegacyConnector {
    ips: Arc<[IpAddr]>,
    connect_timeout: Duration,
    /// The version of the hello that the server of a port answered.
    hellos: Arc<Mutex<HashMap<u16, legacy::Version>>>,
}

impl LegacyConnector {
    async fn connect(self, uri: Uri) -> io::Result<LegacyStream<TcpStream>> {
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(443);
        let known = self
            .hellos
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&port)
            .copied();
        let mut failure = io::Error::from(ErrorKind::NotConnected);
        for version in legacy::HELLOS
            .into_iter()
            .filter(|version| known.is_none_or(|known| *version == known))
        {
            for ip in self.ips.iter() {
                let connecting = async {
                    let stream = TcpStream::connect(SocketAddr::new(*ip, port)).await?;
                    legacy::connect(stream, host, version).await
                };
                // Once for the connection, once for the handshake.
                match timeout(self.connect_timeout * 2, connecting).await {
                    Ok(Ok(stream)) => {
                        self.hellos
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .insert(port, version);
                        return Ok(stream);
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
        self.clone().connect(uri).map_ok(TokioIo::new).boxed()
    }
}

/// The response of a request carries how it was protected.
impl Connection for LegacyStream<TcpStream> {
    fn connected(&self) -> Connected {
        Connected::new().extra(self.negotiated)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rcgen::{CertificateParams, KeyPair};
    use rustls::crypto::aws_lc_rs;
    use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
    use rustls::server::ServerConfig;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::mpsc;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::engine::hostile_tests::server;

    const LIMIT: Duration = Duration::from_secs(30);

    fn client() -> LegacyHttp {
        let idle_timeout = Duration::from_millis(1);
        LegacyHttp::with_idle_timeout(
            &[Ipv4Addr::LOCALHOST.into()],
            LIMIT,
            4,
            "scandeck".to_owned(),
            idle_timeout,
        )
    }

    #[test]
    fn failure_after_success_changes_nothing_and_success_after_failure_is_new() {
        let (client, url) = (client(), Url::parse("https://shop.test/").unwrap());
        assert!(!client.settle(&url, false) && client.tried(&url) == Some(false));
        assert!(client.settle(&url, true) && client.serves(&url));
        assert!(!client.settle(&url, true) && !client.settle(&url, false) && client.serves(&url));
        assert_eq!(
            client.tried(&Url::parse("https://shop.test:8443/").unwrap()),
            None
        );
    }

    #[tokio::test]
    async fn unused_connection_is_closed() {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()])
            .unwrap()
            .self_signed(&key)
            .unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let (acceptor, (ended, mut end)) = (TlsAcceptor::from(Arc::new(config)), mpsc::channel(1));
        let port = server(move |stream| {
            let (acceptor, ended) = (acceptor.clone(), ended.clone());
            async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    .await;
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = ended.send(()).await;
            }
        })
        .await;
        let (client, url) = (
            client(),
            Url::parse(&format!("https://127.0.0.1:{port}/")).unwrap(),
        );
        client
            .send(Method::GET, &url, HeaderMap::new())
            .await
            .unwrap()
            .0
            .bytes()
            .await
            .unwrap();
        assert!(
            timeout(LIMIT, end.recv()).await.is_ok(),
            "the connection is open"
        );
    }
}
