//! HTTP/1 as curl and browsers read it, for responses that hyper refuses.
//!
//! ```text
//!   new connection ──► request, Connection: close ──► lines of the head ──► body by chunks, length or end ──► what arrived
//! ```
//!
//! The limits are those of curl. Lines may end with a line feed alone, lines that are no header are
//! skipped, and a head or a body that ends early is a response with a fault.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex::bytes::Regex;
use reqwest::Method;
use reqwest::header::{
    CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Position, Url};

use super::body::BodyFault;
use super::http::WebError;
use super::tls::{accept_any, is_telling};

/// Size of all heads of a response, in bytes.
const MAX_HEAD: usize = 300 * 1024;
/// Header lines of a response.
const MAX_HEADERS: usize = 5000;
/// Responses with status 1xx before the final one.
const MAX_INTERIM: usize = 20;
/// The line with the length of a chunk, with its extensions.
const MAX_CHUNK_LINE: usize = 16 * 1024;
/// Bytes of something else than HTTP that an error shows.
const SHOWN: usize = 40;
/// Bytes before `HTTP` that are skipped, as in browsers.
const MAX_SLOP: usize = 4;

/// Bytes of one read.
const READ_SIZE: usize = 16 * 1024;

static STATUS_LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i-u)^(?s:.{0,4})HTTP(?:/\d+(?:\.\d+)?)?[ \t]+(\d{3})").ok());

/// A byte stream to a server, plain or inside TLS.
pub trait WireStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> WireStream for T {}

/// A response whose body is not decoded.
#[derive(Debug)]
pub struct TolerantResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub fault: Option<BodyFault>,
}

/// Connects to the addresses of one host, without a pool.
#[derive(Debug)]
pub struct TolerantHttp {
    ips: Arc<[IpAddr]>,
    connect_timeout: Duration,
}

impl TolerantHttp {
    pub fn new(ips: &[IpAddr], connect_timeout: Duration) -> Self {
        Self {
            ips: ips.into(),
            connect_timeout,
        }
    }

    /// A connection to the server of a URL, inside TLS with any certificate for https.
    ///
    /// # Errors
    /// No address accepts a connection.
    pub async fn connect(&self, url: &Url) -> Result<Box<dyn WireStream>, WebError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let mut why: Option<String> = None;
        for ip in self.ips.iter() {
            match timeout(
                self.connect_timeout,
                TcpStream::connect(SocketAddr::new(*ip, port)),
            )
            .await
            {
                Ok(Ok(stream)) if url.scheme() == "https" => {
                    let host = url
                        .host_str()
                        .unwrap_or_default()
                        .trim_start_matches('[')
                        .trim_end_matches(']');
                    match accept_any(stream, host).await {
                        Some(stream) => return Ok(Box::new(stream)),
                        None => why = Some("the TLS handshake failed".to_owned()),
                    }
                }
                Ok(Ok(stream)) => return Ok(Box::new(stream)),
                Ok(Err(error)) if !is_telling(&error) => {
                    why = why.or_else(|| Some(in_words(&error)))
                }
                Ok(Err(error)) => why = Some(in_words(&error)),
                Err(_) => why = Some("connection timed out".to_owned()),
            }
        }
        Err(WebError::Connect(
            why.unwrap_or_else(|| "no address".to_owned()),
        ))
    }
}

/// Sends a request without body and reads its response; of the body, up to `max_body` bytes.
///
/// # Errors
/// Nothing arrived, or something else than HTTP.
pub async fn exchange(
    mut stream: impl WireStream,
    method: &Method,
    url: &Url,
    headers: &HeaderMap,
    max_body: usize,
) -> Result<TolerantResponse, WebError> {
    // A server that refuses the request may have answered before it closed the connection.
    let sent = stream.write_all(&request(method, url, headers)).await;
    let mut incoming = Incoming {
        stream,
        buffer: Vec::new(),
        start: 0,
        end: None,
    };
    let head = match incoming.head().await {
        Err(WebError::Silent) if sent.is_err() => {
            return Err(WebError::Broken("the connection was reset".to_owned()));
        }
        head => head?,
    };
    let mut response = TolerantResponse {
        status: head.status,
        headers: head.headers,
        body: Vec::new(),
        fault: None,
    };
    if head.is_cut {
        response.fault = Some(BodyFault::Cut(
            "the connection ended within the headers".to_owned(),
        ));
    } else if *method != Method::HEAD && !matches!(head.status, 204 | 304) {
        incoming.body(&mut response, max_body).await;
    }
    Ok(response)
}

fn request(method: &Method, url: &Url, headers: &HeaderMap) -> Vec<u8> {
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut bytes = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
    if !headers.contains_key(HOST) {
        bytes.extend(
            format!(
                "host: {}\r\n",
                &url[Position::BeforeHost..Position::AfterPort]
            )
            .into_bytes(),
        );
    }
    for (name, value) in headers {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    bytes.extend(b"connection: close\r\n\r\n");
    bytes
}

/// The number of a status line.
fn status_of(line: &[u8]) -> Option<u16> {
    let digits = STATUS_LINE.as_ref()?.captures(line)?.get(1)?;
    str::from_utf8(digits.as_bytes()).ok()?.parse().ok()
}

/// Status and headers.
#[derive(Debug, Default)]
struct TolerantHead {
    status: u16,
    headers: HeaderMap,
    /// The connection ended before the empty line.
    is_cut: bool,
}

/// The bytes that arrive.
struct Incoming<S> {
    stream: S,
    buffer: Vec<u8>,
    /// The position of the first byte that was not taken.
    start: usize,
    /// How the connection ended: `None` until then, else the error, if any.
    end: Option<Option<io::Error>>,
}

impl<S: AsyncRead + Unpin> Incoming<S> {
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads more; false at the end of the connection.
    async fn fill(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut part = vec![0; READ_SIZE];
        match self.stream.read(&mut part).await {
            Ok(0) => self.end = Some(None),
            Err(error) => self.end = Some(Some(error)),
            Ok(count) => {
                self.buffer.extend(&part[..count]);
                return true;
            }
        }
        false
    }

    /// The next line without its end; `None` if it is longer than `max`, or the connection ends
    /// before it.
    async fn line(&mut self, max: usize) -> Option<Vec<u8>> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.rest()[searched..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let line = self.rest()[..searched + at].to_vec();
                self.start += searched + at + 1;
                return Some(line.strip_suffix(b"\r").map(<[u8]>::to_vec).unwrap_or(line));
            }
            searched = self.rest().len();
            if searched > max || !self.fill().await {
                return None;
            }
        }
    }

    /// Takes up to `count` bytes; fewer at the end of the connection.
    async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.rest().len() < count && self.fill().await {}
        let taken = self.rest()[..self.rest().len().min(count)].to_vec();
        self.start += taken.len();
        taken
    }

    /// Reads the head of the final response.
    async fn head(&mut self) -> Result<TolerantHead, WebError> {
        self.check_start().await?;
        let mut left = MAX_HEAD;
        for _ in 0..MAX_INTERIM {
            let head = self.one_head(&mut left).await?;
            if head.is_cut || head.status == 101 || head.status >= 200 {
                return Ok(head);
            }
        }
        Err(WebError::Malformed(format!(
            "more than {MAX_INTERIM} interim responses"
        )))
    }

    /// Reads until the first bytes show whether this is HTTP.
    async fn check_start(&mut self) -> Result<(), WebError> {
        let is_http = |start: &[u8]| {
            start
                .windows(4)
                .take(MAX_SLOP + 1)
                .any(|part| part.eq_ignore_ascii_case(b"http"))
        };
        while !is_http(self.rest()) && self.rest().len() < MAX_SLOP + 5 && self.fill().await {}
        match (self.rest(), &self.end) {
            ([], Some(Some(error))) if error.kind() != io::ErrorKind::UnexpectedEof => {
                Err(WebError::Broken(in_words(error)))
            }
            ([], _) => Err(WebError::Silent),
            (start, _) if is_http(start) => Ok(()),
            // An alert or a handshake message.
            ([21 | 22, 3, ..], _) => Err(WebError::Tls),
            // A SETTINGS frame of stream 0 (RFC 9113 §3.4).
            ([0, _, _, 4, 0, 0, 0, 0, 0, ..], _) => Err(WebError::Http2),
            (start, _) => Err(WebError::NotHttp(
                start[..start.len().min(SHOWN)].escape_ascii().to_string(),
            )),
        }
    }

    async fn one_head(&mut self, left: &mut usize) -> Result<TolerantHead, WebError> {
        let status_line = self.status_line(left).await;
        let status = status_of(&status_line).ok_or_else(|| {
            let shown = status_line[..status_line.len().min(SHOWN)].escape_ascii();
            WebError::Malformed(format!("status line \"{shown}\""))
        })?;
        let mut head = TolerantHead {
            status,
            ..TolerantHead::default()
        };
        let lines = self.header_lines(left, &mut head.is_cut).await?;
        let headers = lines.iter().filter_map(|line| header(line));
        head.headers.extend(headers);
        Ok(head)
    }

    /// The first line with content.
    async fn status_line(&mut self, left: &mut usize) -> Vec<u8> {
        let mut status_line = Vec::new();
        while status_line.is_empty() && (self.end.is_none() || !self.rest().is_empty()) {
            status_line = match self.line(*left).await {
                Some(line) => line,
                // The end of the connection is the end of the line.
                None => self.take(self.rest().len()).await,
            };
            *left = left.saturating_sub(status_line.len() + 1);
        }
        status_line
    }

    /// The header lines up to the empty one; `is_cut` is set if the connection ended before it.
    async fn header_lines(
        &mut self,
        left: &mut usize,
        is_cut: &mut bool,
    ) -> Result<Vec<Vec<u8>>, WebError> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        loop {
            let read = self.line(*left).await;
            *left = left.saturating_sub(read.as_ref().map_or(0, |line| line.len() + 1));
            if *left == 0 || read.is_none() && self.end.is_none() {
                let most = MAX_HEAD / 1024;
                let why = format!("a head of more than {most} KiB");
                return Err(WebError::Malformed(why));
            }
            let Some(line) = read else {
                *is_cut = true;
                return Ok(lines);
            };
            match (line.first(), lines.last_mut()) {
                (None, _) => return Ok(lines),
                // A folded line continues the one before it.
                (Some(b' ' | b'\t'), Some(before)) => {
                    before.push(b' ');
                    before.extend(line.trim_ascii());
                }
                _ => lines.push(line),
            }
            if lines.len() > MAX_HEADERS {
                let why = format!("more than {MAX_HEADERS} header lines");
                return Err(WebError::Malformed(why));
            }
        }
    }

    /// Reads the body into the response.
    async fn body(&mut self, response: &mut TolerantResponse, max: usize) {
        let codings = response.headers.get_all(TRANSFER_ENCODING).iter();
        let is_chunked = codings
            .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
            .last();
        let is_chunked =
            is_chunked.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"));
        response.fault = match (is_chunked, content_length(&response.headers)) {
            (true, _) => self.chunks(&mut response.body, max).await,
            (false, Some(length)) => {
                response.body = self.take(length.min(max)).await;
                let (received, is_cut) =
                    (response.body.len(), response.body.len() < length.min(max));
                is_cut.then(|| {
                    BodyFault::Cut(format!(
                        "the connection ended after {received} of {length} bytes"
                    ))
                })
            }
            (false, None) => {
                response.body = self.take(max).await;
                let error = self.end.as_ref().and_then(Option::as_ref);
                // TLS servers often close without close_notify; then the end of the connection is
                // the end of the body.
                let error = error.filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
                error.map(|error| BodyFault::Cut(in_words(error)))
            }
        };
    }

    /// Reads chunks up to the last one, whose length is zero.
    async fn chunks(&mut self, body: &mut Vec<u8>, max: usize) -> Option<BodyFault> {
        let early = || {
            Some(BodyFault::Cut(
                "the connection ended before the last chunk".to_owned(),
            ))
        };
        while body.len() < max {
            let Some(line) = self.line(MAX_CHUNK_LINE).await else {
                return early();
            };
            let digits = line
                .trim_ascii()
                .split(|byte| !byte.is_ascii_hexdigit())
                .next()
                .unwrap_or_default();
            let size = str::from_utf8(digits)
                .ok()
                .and_then(|digits| usize::from_str_radix(digits, 16).ok());
            let Some(size) = size else {
                let line = line[..line.len().min(SHOWN)].escape_ascii();
                return Some(BodyFault::Cut(format!(
                    "no length of a chunk in \"{line}\""
                )));
            };
            if size == 0 {
                return None;
            }
            let wanted = size.min(max - body.len());
            let part = self.take(wanted).await;
            body.extend(&part);
            if part.len() < wanted {
                return early();
            }
            // The line end after the chunk.
            if wanted == size && self.line(2).await.is_none() && self.end.is_some() {
                return early();
            }
        }
        None
    }
}

/// A header of a line; nothing if the line is none, or has a name that HTTP does not allow.
fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let at = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_bytes(line[..at].trim_ascii()).ok()?;
    let allowed = line[at + 1..]
        .iter()
        .copied()
        .filter(|byte| *byte == b'\t' || !byte.is_ascii_control());
    let value: Vec<u8> = allowed.collect();
    Some((name, HeaderValue::from_bytes(value.trim_ascii()).ok()?))
}

/// The length of the body, if all values of `Content-Length` agree; else the body ends with the
/// connection.
fn content_length(headers: &HeaderMap) -> Option<usize> {
    let lines = headers.get_all(CONTENT_LENGTH).iter();
    let mut values = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii);
    let first = values.next()?;
    let is_number = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    let length = str::from_utf8(first)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()?;
    values.all(|other| other == first).then_some(length)
}

/// An error of a connection, without the number of the operating system.
fn in_words(error: &io::Error) -> String {
    error
        .to_string()
        .split(" (os error")
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// The answer to a GET when these bytes arrive, and then the end of the connection.
    async fn answer(bytes: &[u8]) -> Result<TolerantResponse, WebError> {
        let (client, mut server) = duplex(1024 * 1024);
        server.write_all(bytes).await.unwrap();
        server.shutdown().await.unwrap();
        let url = Url::parse("http://a.test/x?y=1#z").unwrap();
        exchange(client, &Method::GET, &url, &HeaderMap::new(), 64 * 1024).await
    }

    async fn body(bytes: &str) -> (String, Option<String>) {
        let response = answer(bytes.as_bytes()).await.unwrap();
        (
            String::from_utf8(response.body).unwrap(),
            response.fault.map(|fault| fault.to_string()),
        )
    }

    #[test]
    fn request_names_host_and_path() {
        let url = Url::parse("http://user:pw@a.test:8080/x?y=1#z").unwrap();
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static("accept"),
            HeaderValue::from_static("*/*"),
        )]);
        let expected =
            "GET /x?y=1 HTTP/1.1\r\nhost: a.test:8080\r\naccept: */*\r\nconnection: close\r\n\r\n";
        assert_eq!(
            String::from_utf8(request(&Method::GET, &url, &headers)).unwrap(),
            expected
        );
    }

    #[tokio::test]
    async fn body_ends_where_curl_ends_it() {
        for (head, rest, expected) in [
            (
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "2\r\n<p\r\n1\r\n>\r\n0\r\n\r\n",
                "<p>",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "2\n<p\n1;x=y\n>\n0\n\n",
                "<p>",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n",
                " 3 \r\n<p>\r\n00\r\n\r\n",
                "<p>",
            ),
            ("HTTP/1.1 200 OK\nContent-Length: 3\n\n", "<p>more", "<p>"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\n",
                "<p>more",
                "<p>",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
                "<p>more",
                "<p>more",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "<p>",
                "<p>",
            ),
            (
                "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n",
                "<p>",
                "",
            ),
            ("HTTP/1.1 200 OK\r\n\r\n", "<p>", "<p>"),
        ] {
            assert_eq!(
                body(&format!("{head}{rest}")).await,
                (expected.to_owned(), None),
                "{head}"
            );
        }
    }

    #[tokio::test]
    async fn cut_response_is_what_arrived_with_the_reason() {
        for (bytes, expected, reason) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<p>part",
                "<p>part",
                "after 7 of 50 bytes",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>part",
                "<p>part",
                "before the last chunk",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>part\r\n",
                "<p>part",
                "before the last chunk",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n<p>part",
                "<p>part",
                "before the last chunk",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>part\r\n",
                "",
                "no length of a chunk in \"<p>part\"",
            ),
            (
                "HTTP/1.1 200 OK\r\nServer: a\r\nContent-",
                "",
                "ended within the headers",
            ),
            ("HTTP/1.1 200 OK\r\n", "", "ended within the headers"),
        ] {
            let (text, fault) = body(bytes).await;
            assert_eq!(text, expected, "{bytes}");
            assert!(
                fault.as_ref().is_some_and(|fault| fault.contains(reason)),
                "{bytes}: {fault:?}"
            );
        }
    }

    #[tokio::test]
    async fn odd_heads_are_read() {
        let lines = "X-Powered-By : PHP\r\nnonsense\r\nX-Long: a\r\n  b\r\n\tc\r\nb\u{e4}d: 1\r\nX-Nul: a\0b\r\nSet-Cookie: a=\u{e4}\r\n";
        for start in [
            "HTTP/1.1 200 OK",
            "HTTP/1.1  200",
            "http/1.0 200 OK",
            "HTTP/2 200",
            "HTTP 200 OK",
            "\r\n\r\nHTTP/1.1 200 OK",
        ] {
            let response = answer(format!("{start}\r\n{lines}\r\n<p>").as_bytes())
                .await
                .unwrap();
            assert_eq!(
                (response.status, &response.body[..], &response.fault),
                (200, &b"<p>"[..], &None),
                "{start}"
            );
            let value = |name: &str| {
                response
                    .headers
                    .get(name)
                    .map(|value| String::from_utf8_lossy(value.as_bytes()))
            };
            assert_eq!(value("x-powered-by").unwrap(), "PHP");
            assert_eq!(value("x-long").unwrap(), "a b c");
            assert_eq!(value("x-nul").unwrap(), "ab");
            assert_eq!(value("set-cookie").unwrap(), "a=\u{e4}");
            assert_eq!(response.headers.len(), 4);
        }
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 404 Gone\r\n\r\n<p>";
        let response = answer(interim.as_bytes()).await.unwrap();
        assert_eq!((response.status, response.headers.len()), (404, 0));
    }

    #[tokio::test]
    async fn other_protocols_are_named() {
        for (bytes, expected) in [
            (
                &b""[..],
                "the server closed the connection without a response",
            ),
            (b"\x15\x03\x01\x00\x02\x02\x28", "no HTTP response"),
            (
                b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03",
                "the server speaks HTTP/2 only",
            ),
            (
                b"SSH-2.0-OpenSSH_9\r\n",
                "the response is not HTTP: it begins with \"SSH-2.0-OpenSSH_9\\r\\n\"",
            ),
            (
                b"<html>",
                "the response is not HTTP: it begins with \"<html>\"",
            ),
            (
                b"HTTP/1.1 OK\r\n\r\n",
                "invalid HTTP response: status line \"HTTP/1.1 OK\"",
            ),
        ] {
            assert_eq!(answer(bytes).await.unwrap_err().to_string(), expected);
        }
    }

    #[tokio::test]
    async fn head_has_the_limits_of_curl() {
        let many: String = (0..4000)
            .map(|n| format!("Set-Cookie: c{n}=1\r\n"))
            .collect();
        assert_eq!(
            answer(format!("HTTP/1.1 200 OK\r\n{many}\r\n").as_bytes())
                .await
                .unwrap()
                .headers
                .len(),
            4000
        );
        let too_many: String = (0..5100).map(|n| format!("a: {n}\r\n")).collect();
        let long_line = format!("X: {}\r\n", "x".repeat(400 * 1024));
        let long: String = (0..4000)
            .map(|n| format!("X-{n}: {}\r\n", "x".repeat(100)))
            .collect();
        for head in [too_many, long_line, long] {
            let error = answer(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes())
                .await
                .unwrap_err();
            assert!(matches!(error, WebError::Malformed(_)), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_end_in_a_response_or_a_reason(head in ".{0,40}", bytes: Vec<u8>) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let all = [b"HTTP/1.1 200 OK\r\n", head.as_bytes(), b"\r\nTransfer-Encoding: chunked\r\n\r\n", &bytes].concat();
            let _ = runtime.block_on(answer(&all));
            let _ = runtime.block_on(answer(&bytes));
        }
    }
}
