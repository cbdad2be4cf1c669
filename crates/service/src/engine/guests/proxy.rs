//! The way of a guest to its target: an HTTP proxy on loopback that connects to the target alone.
//!
//! ```text
//!   guest ──CONNECT shop.test:443 ──► proxy ──► an address of the target that the scope allows
//!         ──GET http://shop.test/ ──►   │
//!         ──another host ───────────►   └─ closed without an answer
//! ```
//!
//! A guest that resolves its target by itself could reach an address that the scope check has not
//! seen, and follow a redirect to another host. The proxy makes up no answer, which a guest would
//! report as one of the target.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::engine::ServicePorts;
use crate::engine::pace::{HostLane, RequestPace};

/// Connections at the same time; further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// Bytes of the head of a request.
const MAX_HEAD: usize = 64 * 1024;
/// Time for a guest to send it.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time until the next connection is accepted after an error, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Headers that end at the proxy.
const HOP_HEADERS: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
];

/// Where the connections of a guest may go, and how many in a second.
pub struct GuestRoute {
    /// The host of the target, without brackets.
    pub host: String,
    /// Its addresses that the scope allows.
    pub addresses: Vec<IpAddr>,
    pub service_ports: ServicePorts,
    /// The limits that all scans of the host share.
    pub lane: Arc<HostLane>,
    /// The rate of this scan, in place of the shared one.
    pub rate: Option<RequestPace>,
}

/// The proxy of one run.
pub struct GuestProxy {
    listener: TcpListener,
    route: GuestRoute,
    attempts: TargetAttempts,
}

/// Whether a guest has connected to its target.
#[derive(Debug, Default)]
struct TargetAttempts {
    tried: AtomicBool,
    reached: AtomicBool,
}

impl GuestProxy {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub async fn open(route: GuestRoute) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        Ok(Self {
            listener,
            route,
            attempts: TargetAttempts::default(),
        })
    }

    /// The URL of the proxy.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}", self.listener.local_addr()?))
    }

    /// Whether the guest has tried to connect to the target, and never reached it.
    pub fn has_missed(&self) -> bool {
        let TargetAttempts { tried, reached } = &self.attempts;
        tried.load(Ordering::Relaxed) && !reached.load(Ordering::Relaxed)
    }

    /// Passes connections on until it is dropped, which closes them.
    pub async fn serve(&self) -> Infallible {
        let mut open = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if open.len() < MAX_CONNECTIONS => {
                    match accepted {
                        Ok((client, _)) => open.push(self.route.relay(client, &self.attempts)),
                        Err(_) => sleep(PAUSE).await,
                    }
                }
                // A connection that fails is closed; the guest reports it.
                Some(_) = open.next(), if !open.is_empty() => {}
            }
        }
    }
}

impl GuestRoute {
    async fn relay(&self, mut client: TcpStream, attempts: &TargetAttempts) -> io::Result<()> {
        let mut bytes = Vec::new();
        let end = timeout(HEAD_TIME, read_head(&mut client, &mut bytes)).await??;
        let (head, rest) = bytes.split_at(end);
        let Some(request) = ProxyRequest::parse(head).filter(|request| self.allows(request)) else {
            return Ok(());
        };
        match &self.rate {
            Some(rate) => rate.wait().await,
            None => self.lane.requests.wait().await,
        }
        attempts.tried.store(true, Ordering::Relaxed);
        let mut target = self.connect(request.port).await?;
        attempts.reached.store(true, Ordering::Relaxed);
        match &request.head {
            Some(head) => target.write_all(head).await?,
            None => client.write_all(ESTABLISHED).await?,
        }
        target.write_all(rest).await?;
        copy_bidirectional(&mut client, &mut target).await?;
        Ok(())
    }

    fn allows(&self, request: &ProxyRequest) -> bool {
        let is_own = |ip: &IpAddr| self.service_ports.contains(*ip, request.port);
        let host = request.host.trim_end_matches('.');
        host.eq_ignore_ascii_case(&self.host) && !self.addresses.iter().any(is_own)
    }

    /// Connects to the first address that accepts.
    async fn connect(&self, port: u16) -> io::Result<TcpStream> {
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for ip in &self.addresses {
            let connecting = TcpStream::connect(SocketAddr::new(*ip, port));
            match timeout(self.lane.limits.connect_timeout, connecting).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(elapsed) => last = elapsed.into(),
            }
        }
        Err(last)
    }
}

/// Reads until the end of the head; returns its length. Bytes of the body may follow.
async fn read_head(client: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<usize> {
    while bytes.len() < MAX_HEAD {
        if client.read_buf(bytes).await? == 0 {
            break;
        }
        let found = bytes
            .windows(HEAD_END.len())
            .position(|window| window == HEAD_END);
        if let Some(start) = found {
            return Ok(start + HEAD_END.len());
        }
    }
    Err(io::Error::from(ErrorKind::InvalidData))
}

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The head for the target; none for a tunnel.
    head: Option<Vec<u8>>,
}

impl ProxyRequest {
    /// Reads a head. The path is passed on byte by byte: it may be an attack.
    fn parse(head: &[u8]) -> Option<Self> {
        let line_end = head.iter().position(|byte| *byte == b'\n')? + 1;
        let (line, headers) = head.split_at(line_end);
        let line = line.trim_ascii_end();
        let method_end = line.iter().position(|byte| *byte == b' ')?;
        let version_start = line.iter().rposition(|byte| *byte == b' ')?;
        let target = line.get(method_end + 1..version_start)?;
        let (method, version) = (&line[..method_end], &line[version_start..]);
        if method == b"CONNECT" {
            let (host, port) = authority(target, None)?;
            let head = None;
            return Some(Self { host, port, head });
        }
        let scheme = target.get(..7)?;
        if !scheme.eq_ignore_ascii_case(b"http://") {
            return None;
        }
        let rest = &target[7..];
        let is_path = |byte: &u8| matches!(byte, b'/' | b'?');
        let path_start = rest.iter().position(is_path).unwrap_or(rest.len());
        let (server, path) = rest.split_at(path_start);
        let (host, port) = authority(server, Some(80))?;
        let slash: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
        let mut head = [method, b" ", slash, path, version, b"\r\n"].concat();
        for header in headers.split_inclusive(|byte| *byte == b'\n') {
            if !is_hop_header(header) && !header.trim_ascii().is_empty() {
                head.extend_from_slice(header);
            }
        }
        // Each request has its own connection: the next one may name another host.
        head.extend_from_slice(b"Connection: close\r\n\r\n");
        let head = Some(head);
        Some(Self { host, port, head })
    }
}

fn is_hop_header(header: &[u8]) -> bool {
    let name = header.split(|byte| *byte == b':').next();
    let name = name.unwrap_or_default().trim_ascii();
    HOP_HEADERS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Host and port of `shop.test:443`, `[::1]` or `user@shop.test`.
fn authority(text: &[u8], default: Option<u16>) -> Option<(String, u16)> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.rsplit('@').next()?;
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
            (host, Some(port.parse::<u16>().ok()?))
        }
        _ => (text, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), port.or(default)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::pace::Lanes;

    fn route(port_of_service: u16) -> GuestRoute {
        let ip: IpAddr = [127, 0, 0, 1].into();
        let service_ports = ServicePorts::default();
        service_ports.add((ip, port_of_service).into());
        GuestRoute {
            host: "shop.test".to_owned(),
            addresses: vec![ip],
            service_ports,
            lane: Lanes::new(1).of(ip),
            rate: None,
        }
    }

    /// A server that answers each connection with the head that it received.
    async fn mirror() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                read_head(&mut stream, &mut bytes).await.unwrap();
                stream.write_all(&bytes).await.unwrap();
            }
        });
        port
    }

    /// What the proxy answers.
    async fn answer(route: GuestRoute, request: &str) -> String {
        let proxy = GuestProxy::open(route).await.unwrap();
        answer_of(&proxy, request).await
    }

    async fn answer_of(proxy: &GuestProxy, request: &str) -> String {
        let url = proxy.url().unwrap();
        let exchange = async {
            let address = url.trim_start_matches("http://");
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(request.as_bytes()).await.unwrap();
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            text
        };
        tokio::select! {
            text = exchange => text,
            never = proxy.serve() => match never {},
        }
    }

    #[tokio::test]
    async fn request_reaches_the_checked_address_of_the_target_only() {
        let port = mirror().await;
        let get = |host: &str| {
            format!(
                "GET http://{host}:{port}/../a%2f?b=1 HTTP/1.1\r\nHost: {host}\r\nProxy-Connection: keep-alive\r\n\r\n"
            )
        };
        assert_eq!(
            answer(route(1), &get("SHOP.test")).await,
            "GET /../a%2f?b=1 HTTP/1.1\r\nHost: SHOP.test\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(answer(route(1), &get("127.0.0.1")).await, "");
        assert_eq!(answer(route(1), &get("other.test")).await, "");
        assert_eq!(answer(route(port), &get("shop.test")).await, "");
    }

    #[tokio::test]
    async fn proxy_knows_whether_the_target_was_never_reached() {
        let proxy = GuestProxy::open(route(1)).await.unwrap();
        let open = mirror().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closed = listener.local_addr().unwrap().port();
        drop(listener);
        for (host, port, has_missed) in [
            ("other.test", open, false),
            ("shop.test", closed, true),
            ("shop.test", open, false),
            ("shop.test", closed, false),
        ] {
            let get = format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n");
            answer_of(&proxy, &get).await;
            assert_eq!(proxy.has_missed(), has_missed, "{host}:{port}");
        }
    }

    #[tokio::test]
    async fn tunnel_reaches_the_target_only() {
        let port = mirror().await;
        let connect = |host: &str| format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\nping\r\n\r\n");
        let (established, text) = (str::from_utf8(ESTABLISHED).unwrap(), "ping\r\n\r\n");
        assert_eq!(
            answer(route(1), &connect("shop.test")).await,
            format!("{established}{text}")
        );
        assert_eq!(answer(route(1), &connect("other.test")).await, "");
    }

    #[test]
    fn damaged_requests_are_no_requests() {
        for head in [
            "",
            "GET\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET ftp://shop.test/ HTTP/1.1\r\n\r\n",
            "CONNECT shop.test HTTP/1.1\r\n\r\n",
            "CONNECT shop.test:99999 HTTP/1.1\r\n\r\n",
            "GET http:// HTTP/1.1",
        ] {
            assert_eq!(ProxyRequest::parse(head.as_bytes()), None, "{head:?}");
        }
        assert_eq!(authority(b"[::1]:443", None), Some(("::1".to_owned(), 443)));
        assert_eq!(authority(b"[::1]", Some(80)), Some(("::1".to_owned(), 80)));
        assert_eq!(
            authority(b"a@b.test", Some(80)),
            Some(("b.test".to_owned(), 80))
        );
    }
}
