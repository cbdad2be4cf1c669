//! Scripted services: each one speaks as much of its protocol as a scan needs, weak or with
//! authentication.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The next bytes of a service for the bytes that it received since its last response; `None`
/// closes the connection, an empty response waits for more.
pub type Reply = fn(&[u8]) -> Option<Vec<u8>>;

/// The pause of a slow service before each connection.
const SLOW: Duration = Duration::from_millis(250);

/// A service of the table.
#[derive(Clone, Copy)]
pub struct ScriptedService {
    pub name: &'static str,
    pub greeting: &'static [u8],
    /// The pause before the greeting.
    pub pause: Duration,
    pub is_tls: bool,
    /// Whether it has one connection at a time, and is slow.
    pub is_one_by_one: bool,
    pub reply: Reply,
}

pub struct RunningService {
    pub port: u16,
    /// Everything that it received.
    pub received: Arc<Mutex<Vec<u8>>>,
}

impl ScriptedService {
    pub const fn new(name: &'static str, greeting: &'static [u8], reply: Reply) -> Self {
        Self {
            name,
            greeting,
            pause: Duration::ZERO,
            is_tls: false,
            is_one_by_one: false,
            reply,
        }
    }

    pub const fn late(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    pub const fn over_tls(self) -> Self {
        Self {
            is_tls: true,
            ..self
        }
    }

    /// TLS with one connection at a time, as in small devices.
    pub const fn one_by_one(self) -> Self {
        Self {
            is_tls: true,
            is_one_by_one: true,
            ..self
        }
    }

    /// Listens on a free port of this machine.
    pub async fn start(self) -> RunningService {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, acceptor) = (Arc::clone(&received), self.is_tls.then(acceptor));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, acceptor) = (Arc::clone(&log), acceptor.clone());
                let serve = async move {
                    match acceptor {
                        None => self.serve(stream, &log).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                self.serve(stream, &log).await;
                            }
                        }
                    }
                };
                if self.is_one_by_one {
                    tokio::time::sleep(SLOW).await;
                    serve.await;
                } else {
                    tokio::spawn(serve);
                }
            }
        });
        RunningService { port, received }
    }

    async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin, log: &Mutex<Vec<u8>>) {
        tokio::time::sleep(self.pause).await;
        if stream.write_all(self.greeting).await.is_err() {
            return;
        }
        let (mut pending, mut bytes) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = stream.read(&mut bytes).await {
            log.lock().unwrap().extend_from_slice(&bytes[..count]);
            pending.extend_from_slice(&bytes[..count]);
            match (self.reply)(&pending) {
                None => break,
                Some(response) if response.is_empty() => {}
                Some(response) => {
                    pending.clear();
                    if stream.write_all(&response).await.is_err() {
                        break;
                    }
                }
            }
        }
        let _ = stream.shutdown().await;
    }
}

fn acceptor() -> TlsAcceptor {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(
        certified.signing_key.serialize_der(),
    ));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = config
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// The request line of a complete HTTP request; another message gets a refusal like that of a web
/// server.
pub fn http(
    received: &[u8],
    answer: fn(&str) -> (u16, &'static str, &'static str),
) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(received);
    let first = text.lines().next().unwrap_or_default();
    if !first.contains(" HTTP/1.") {
        return Some(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
        );
    }
    if !text.contains("\r\n\r\n") {
        return Some(Vec::new());
    }
    let (status, headers, body) = answer(first.rsplit_once(' ').map_or("", |(start, _)| start));
    let length = body.len();
    Some(
        format!("HTTP/1.0 {status} Status\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}
