//! Short exchanges with the service of an open port: connect, send, read a response; limited in
//! time, size and rate.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout};

use crate::engine::PRODUCT;
use crate::engine::pace::HostLane;
use crate::engine::tls::starttls::StartTls;
use crate::engine::tls::{accept_any, legacy};
use scandeck_wire::contract::entities::decode_entities;

/// Bytes of a response that are read.
const MAX_BYTES: usize = 16 * 1024;

/// Talks to the service of one port. Every exchange uses a new connection and counts as a request.
#[derive(Clone, Copy)]
pub struct PortClient<'a> {
    pub to: SocketAddr,
    /// The name of the target, for TLS and HTTP.
    pub host: &'a str,
    pub lane: &'a HostLane,
    /// Longest wait for a response.
    pub timeout: Duration,
    /// Whether connections begin with a TLS handshake.
    pub over_tls: bool,
}

/// A plain or encrypted byte stream.
trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// An open connection to the service.
pub struct PortConnection<'a> {
    stream: Box<dyn ByteStream>,
    timeout: Duration,
    _permit: SemaphorePermit<'a>,
}

/// A response to an HTTP request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PortResponse {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl<'a> PortClient<'a> {
    /// A new connection.
    pub async fn connect(&self) -> Option<PortConnection<'a>> {
        let permit = self.lane.connections.acquire().await.ok()?;
        self.lane.requests.wait().await;
        let connecting = timeout(
            self.lane.limits.connect_timeout,
            TcpStream::connect(self.to),
        );
        let stream = connecting.await.ok()?.ok()?;
        let stream: Box<dyn ByteStream> = match self.over_tls {
            false => Box::new(stream),
            true => self.inside_tls(stream).await?,
        };
        Some(PortConnection {
            stream,
            timeout: self.timeout,
            _permit: permit,
        })
    }

    /// A new connection inside TLS, which starts by the command of the service.
    pub async fn connect_upgraded(&self, starttls: StartTls) -> Option<PortConnection<'a>> {
        let permit = self.lane.connections.acquire().await.ok()?;
        self.lane.requests.wait().await;
        let upgrading = async {
            let mut stream = TcpStream::connect(self.to).await.ok()?;
            starttls.upgrade(&mut stream).await.ok()?;
            accept_any(stream, self.host).await
        };
        let stream = timeout(3 * self.timeout, upgrading).await.ok()??;
        Some(PortConnection {
            stream: Box::new(stream),
            timeout: self.timeout,
            _permit: permit,
        })
    }

    /// Completes a TLS handshake; a server that refuses current TLS gets another connection with an
    /// older protocol.
    async fn inside_tls(&self, stream: TcpStream) -> Option<Box<dyn ByteStream>> {
        if let Some(stream) = timeout(2 * self.timeout, accept_any(stream, self.host))
            .await
            .ok()?
        {
            return Some(Box::new(stream));
        }
        self.lane.requests.wait().await;
        let connecting = async {
            legacy::connect(
                TcpStream::connect(self.to).await?,
                self.host,
                legacy::HELLOS[0],
            )
            .await
        };
        Some(Box::new(
            timeout(2 * self.timeout, connecting).await.ok()?.ok()?,
        ))
    }

    /// Sends bytes on a new connection; the first bytes of the response, or nothing.
    pub async fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        match self.connect().await {
            Some(mut connection) => connection.exchange(bytes).await,
            None => Vec::new(),
        }
    }

    /// `GET path` on a new connection.
    pub async fn get(&self, path: &str) -> Option<PortResponse> {
        self.connect()
            .await?
            .request(&self.request_text("GET", path, ""))
            .await
    }

    /// A request with a JSON body on a new connection, for reads that their API defines as POST.
    pub async fn post_json(&self, path: &str, body: &str) -> Option<PortResponse> {
        self.connect()
            .await?
            .request(&self.request_text("POST", path, body))
            .await
    }

    /// A request of HTTP 1.0, whose response is never chunked.
    pub fn request_text(&self, method: &str, path: &str, body: &str) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.to_owned()
        };
        let entity = match body {
            "" => String::new(),
            body => format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            ),
        };
        // Some servers know their name only without the port that is usual for the protocol.
        let port = match (self.over_tls, self.to.port()) {
            (false, 80) | (true, 443) => String::new(),
            (_, port) => format!(":{port}"),
        };
        format!(
            "{method} {path} HTTP/1.0\r\nHost: {host}{port}\r\nUser-Agent: {PRODUCT}\r\nAccept: */*\r\n{entity}\r\n{body}"
        )
    }
}

impl PortConnection<'_> {
    /// Sends bytes; the first bytes of the response, or nothing.
    pub async fn exchange(&mut self, bytes: &[u8]) -> Vec<u8> {
        match self.stream.write_all(bytes).await {
            Ok(()) => self.read(self.timeout).await,
            Err(_) => Vec::new(),
        }
    }

    /// The connection with another longest wait for a response.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sends bytes that have no response.
    pub async fn send(&mut self, bytes: &[u8]) {
        // A server that closed the connection needs none.
        let _ = self.stream.write_all(bytes).await;
    }

    /// Sends bytes; the response up to its end or the limits.
    pub async fn exchange_until(
        &mut self,
        bytes: &[u8],
        is_complete: impl Fn(&[u8]) -> bool,
    ) -> Vec<u8> {
        match self.stream.write_all(bytes).await {
            Ok(()) => self.read_until(is_complete).await,
            Err(_) => Vec::new(),
        }
    }

    /// The bytes that arrive up to the end of a message or the limits.
    pub async fn read_until(&mut self, is_complete: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let end = Instant::now() + self.timeout;
        let mut all = Vec::new();
        while all.len() < MAX_BYTES && !is_complete(&all) {
            match self
                .read(end.saturating_duration_since(Instant::now()))
                .await
            {
                more if more.is_empty() => break,
                more => all.extend(more),
            }
        }
        all
    }

    /// The bytes that arrive first within this time.
    pub async fn read(&mut self, patience: Duration) -> Vec<u8> {
        read_some(&mut self.stream, patience).await
    }

    /// Sends an HTTP request and reads the response up to its end or the limits.
    pub async fn request(&mut self, text: &str) -> Option<PortResponse> {
        PortResponse::parse(
            &self
                .exchange_until(text.as_bytes(), PortResponse::is_complete)
                .await,
        )
    }
}

impl PortResponse {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text
            .split_once("\r\n\r\n")
            .or_else(|| text.split_once("\n\n"))
            .unwrap_or((&text, ""));
        let status = head
            .strip_prefix("HTTP/")?
            .split(' ')
            .nth(1)?
            .get(..3)?
            .parse()
            .ok()?;
        Some(Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        })
    }

    /// Whether the body has the length that the head announces.
    fn is_complete(bytes: &[u8]) -> bool {
        let Some(response) = Self::parse(bytes) else {
            return false;
        };
        let length = response
            .header("content-length")
            .and_then(|length| length.parse().ok());
        length.is_some_and(|length: usize| bytes.len() >= response.head.len() + 4 + length)
    }

    pub fn status_line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        fields
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next()
    }

    /// The title of an HTML page.
    pub fn title(&self) -> Option<String> {
        let lower = self.body.to_ascii_lowercase();
        let start = lower.find("<title")?;
        let start = start + lower[start..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        let title = decode_entities(&self.body[start..end])
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        Some(title).filter(|title| !title.is_empty())
    }
}

/// The bytes that arrive first within this time; nothing when the connection ends.
pub async fn read_some(
    stream: &mut (impl AsyncRead + Unpin + ?Sized),
    patience: Duration,
) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    match timeout(patience, stream.read(&mut bytes)).await {
        Ok(Ok(count)) => bytes.truncate(count),
        _ => bytes.clear(),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::pace::Lanes;

    /// nuclei 1505: virtual hosts that compare the whole header.
    #[test]
    fn host_header_has_no_usual_port() {
        let lane = Lanes::new(1).of([127, 0, 0, 1].into());
        for (port, over_tls, host) in [
            (80, false, "a.test"),
            (443, true, "a.test"),
            (80, true, "a.test:80"),
            (8080, false, "a.test:8080"),
        ] {
            let to = SocketAddr::from(([127, 0, 0, 1], port));
            let client = PortClient {
                to,
                host: "a.test",
                lane: &lane,
                timeout: Duration::ZERO,
                over_tls,
            };
            assert!(
                client
                    .request_text("GET", "/", "")
                    .contains(&format!("\r\nHost: {host}\r\n")),
                "{port}"
            );
        }
    }

    #[test]
    fn response_is_read_by_header_and_title() {
        let text =
            b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 38\r\n\r\n<html><TITLE>\n Log  in</title></html>\n\n";
        let response = PortResponse::parse(text).unwrap();
        assert_eq!(
            (response.status, response.status_line()),
            (200, "HTTP/1.1 200 OK")
        );
        assert_eq!(
            (response.header("server"), response.title().as_deref()),
            (Some("nginx"), Some("Log in"))
        );
        assert!(PortResponse::is_complete(text) && !PortResponse::is_complete(&text[..80]));
        assert_eq!(PortResponse::parse(b"SSH-2.0-x\r\n"), None);
        assert_eq!(PortResponse::parse(b"HTTP/1.1"), None);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_responses_are_read_without_panic(bytes: Vec<u8>, body in ".{0,60}") {
            PortResponse::parse(&bytes);
            let page = PortResponse { body: format!("<TITLE{body}</title"), ..PortResponse::default() };
            page.title();
        }
    }
}
