//! A server that answers by the path of the request, as odd as its answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An answer of a server.
pub enum Answer {
    Whole(Vec<u8>),
    /// After a pause.
    Late(Duration, Vec<u8>),
    /// The connection closes without an answer.
    Closed,
    /// The head, then this number of bytes.
    Large(String, usize),
}

/// Headers of a hardened site.
pub const HARDENED: &str = "content-security-policy: default-src 'self'; frame-ancestors 'none'\r\n\
    x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\nx-frame-options: DENY\r\n";

/// A response with these header lines.
pub fn response(status: &str, headers: &str, kind: &str, body: &[u8]) -> Answer {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    Answer::Whole([head.as_bytes(), body].concat())
}

/// A page of a hardened site.
pub fn page(body: &str) -> Answer {
    response(
        "200 OK",
        HARDENED,
        "text/html",
        format!("<!doctype html><html>{body}</html>").as_bytes(),
    )
}

pub fn not_found() -> Answer {
    response(
        "404 Not Found",
        HARDENED,
        "text/html",
        b"<!doctype html><title>Not found</title>",
    )
}

/// Starts a server; `answer` gets the path with the query, the origin and the number of the
/// request.
pub async fn start(answer: impl Fn(&str, &str, u32) -> Answer + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicU32::new(0)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (answer, count) = (Arc::clone(&answer), Arc::clone(&count));
            tokio::spawn(async move {
                serve(stream, |path, origin| {
                    answer(path, origin, count.fetch_add(1, Ordering::Relaxed))
                })
                .await;
            });
        }
    });
    port
}

/// Answers one request after the other, as servers do.
async fn serve(mut stream: TcpStream, answer: impl Fn(&str, &str) -> Answer) {
    while let Some(head) = read_head(&mut stream).await {
        let origin = head
            .lines()
            .find_map(|line| line.strip_prefix("origin: "))
            .unwrap_or_default();
        let is_last = head.contains("\r\nconnection: close\r\n");
        let is_open = match answer(head.split(' ').nth(1).unwrap_or_default(), origin) {
            Answer::Whole(bytes) => stream.write_all(&bytes).await.is_ok(),
            Answer::Late(pause, bytes) => {
                tokio::time::sleep(pause).await;
                stream.write_all(&bytes).await.is_ok()
            }
            Answer::Closed => false,
            Answer::Large(large_head, size) => {
                write_large(&mut stream, &large_head, size).await;
                false
            }
        };
        if is_last || !is_open {
            break;
        }
    }
    let _ = stream.shutdown().await;
}

/// The head of the next request, which has no body; none if the client closes the connection.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::with_capacity(1024);
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read_buf(&mut bytes).await {
            Ok(1..) => {}
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes until the client closes the connection.
async fn write_large(stream: &mut TcpStream, head: &str, size: usize) {
    let _ = stream.write_all(head.as_bytes()).await;
    let chunk = vec![b' '; 64 * 1024];
    let mut left = size;
    while left > 0
        && stream
            .write_all(&chunk[..left.min(chunk.len())])
            .await
            .is_ok()
    {
        left -= left.min(chunk.len());
    }
}
