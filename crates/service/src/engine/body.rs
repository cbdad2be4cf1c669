//! Bodies of responses: content encodings as browsers decode them, and what arrived of a body that
//! is not whole.
//!
//! ```text
//!   chunks ──► failure noted, end of the data ──► decoders, the last encoding first ──► bytes up to a limit
//! ```

use std::future::ready;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use futures::stream::{self, Stream, StreamExt};
use hyper::body::Bytes;
use thiserror::Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio_util::io::StreamReader;

/// The encodings that requests accept.
pub const ACCEPTED: &str = "gzip, deflate, br, zstd";
/// Encodings of one body, as curl limits them.
const MAX_ENCODINGS: usize = 5;
/// The largest window of zstd, 8 MiB (RFC 9659).
const ZSTD_WINDOW: u32 = 23;

/// Why a body is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BodyFault {
    #[error("the response is incomplete: {0}")]
    Cut(String),
    #[error("the body cannot be decoded: {0}")]
    Undecodable(String),
}

/// The decoded bytes of a body, up to a limit.
#[derive(Debug)]
pub struct ReadBody<E> {
    pub bytes: Vec<u8>,
    /// Bytes that arrived.
    pub received: usize,
    /// Why the connection delivered no more.
    pub failure: Option<E>,
    /// What is wrong with the bytes that arrived.
    pub fault: Option<BodyFault>,
}

type BodyReader = Box<dyn AsyncRead + Send + Unpin>;

/// Reads a body with these encodings, which are the value of `Content-Encoding`.
pub async fn read<E: Send + 'static>(
    chunks: impl Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    encodings: &str,
    max: usize,
) -> ReadBody<E> {
    let arrival = Arc::new(Arrival::new());
    let mut bytes = Vec::new();
    let decoded = match decoder(arrival.reader(chunks), encodings).await {
        Ok(reader) => reader
            .take(max as u64)
            .read_to_end(&mut bytes)
            .await
            .map(|_| ()),
        Err(error) => Err(error),
    };
    let fault = decoded
        .err()
        .and_then(|error| arrival.fault(&error, encodings));
    let mut failure = arrival
        .failure
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    ReadBody {
        bytes,
        received: arrival.received.load(Ordering::Relaxed),
        failure: failure.take(),
        fault,
    }
}

/// What arrived of a body, before it is decoded.
struct Arrival<E> {
    received: AtomicUsize,
    /// Whether the last chunk arrived.
    is_ended: AtomicBool,
    failure: Mutex<Option<E>>,
}

impl<E: Send + 'static> Arrival<E> {
    fn new() -> Self {
        Self {
            received: AtomicUsize::new(0),
            is_ended: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn reader(
        self: &Arc<Self>,
        chunks: impl Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    ) -> BodyReader {
        let counted = Arc::clone(self);
        let arrived = chunks.scan((), move |(), chunk| ready(counted.take(chunk)));
        let ended = Arc::clone(self);
        let end = stream::poll_fn(move |_| {
            ended.is_ended.store(true, Ordering::Relaxed);
            Poll::Ready(None)
        });
        Box::new(StreamReader::new(arrived.chain(end)))
    }

    fn take(&self, chunk: Result<Bytes, E>) -> Option<io::Result<Bytes>> {
        match chunk {
            Ok(chunk) => {
                self.received.fetch_add(chunk.len(), Ordering::Relaxed);
                Some(Ok(chunk))
            }
            Err(error) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    }

    /// What an error of the decoder means for the body.
    fn fault(&self, error: &io::Error, encodings: &str) -> Option<BodyFault> {
        let received = self.received.load(Ordering::Relaxed);
        match (self.is_ended.load(Ordering::Relaxed), received) {
            // A response without a body may have the headers of one.
            (true, 0) => None,
            (true, _) => Some(BodyFault::Cut(format!(
                "the {encodings} data ends early, after {received} bytes"
            ))),
            (false, _) => Some(BodyFault::Undecodable(format!("{encodings}: {error}"))),
        }
    }
}

/// Decodes the encodings of a body, the last one first. Unknown ones, such as `utf-8`, are no
/// encoding, as in browsers.
async fn decoder(raw: BodyReader, encodings: &str) -> io::Result<BodyReader> {
    let known: Vec<String> = encodings
        .split(',')
        .map(|name| name.trim().trim_start_matches("x-").to_ascii_lowercase())
        .filter(|name| matches!(name.as_str(), "gzip" | "deflate" | "br" | "zstd"))
        .collect();
    if known.len() > MAX_ENCODINGS {
        return Err(io::Error::other(format!(
            "more than {MAX_ENCODINGS} encodings"
        )));
    }
    let mut reader = raw;
    for name in known.iter().rev() {
        let mut encoded = BufReader::new(reader);
        reader = match name.as_str() {
            // Browsers ignore what follows the first member: servers append padding and empty
            // members.
            "gzip" => Box::new(GzipDecoder::new(encoded)),
            "deflate" if is_zlib(&mut encoded).await? => Box::new(ZlibDecoder::new(encoded)),
            // The format without header, which some servers send; browsers and curl read both.
            "deflate" => Box::new(DeflateDecoder::new(encoded)),
            "br" => Box::new(BrotliDecoder::new(encoded)),
            _ => Box::new(ZstdDecoder::with_params(
                encoded,
                &[DParameter::window_log_max(ZSTD_WINDOW)],
            )),
        };
    }
    Ok(reader)
}

/// Whether data begins with the header of zlib (RFC 1950 §2.2).
async fn is_zlib(data: &mut (impl AsyncBufRead + Unpin)) -> io::Result<bool> {
    Ok(match data.fill_buf().await? {
        [method, flags, ..] => {
            method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
        }
        start => start.first().is_none_or(|method| method & 0x0f == 8),
    })
}

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{
        BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
    };

    use super::*;

    const TEXT: &str =
        "<title>Shop</title><a href=/cart>cart</a><form><input type=password></form>";

    async fn encoded(encoding: &str, body: &[u8]) -> Vec<u8> {
        let mut encoder: Box<dyn AsyncRead + Unpin + '_> = match encoding {
            "gzip" => Box::new(GzipEncoder::new(body)),
            "zlib" => Box::new(ZlibEncoder::new(body)),
            "deflate" => Box::new(DeflateEncoder::new(body)),
            "br" => Box::new(BrotliEncoder::new(body)),
            "zstd" => Box::new(ZstdEncoder::new(body)),
            other => panic!("{other}"),
        };
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).await.unwrap();
        bytes
    }

    async fn read_all(bytes: &[u8], encodings: &str) -> ReadBody<()> {
        let chunks: Vec<Result<Bytes, ()>> = bytes
            .chunks(7)
            .map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
            .collect();
        read(stream::iter(chunks), encodings, 64 * 1024).await
    }

    #[tokio::test]
    async fn body_is_decoded_as_browsers_do() {
        for (header, format) in [
            ("gzip", "gzip"),
            ("x-gzip", "gzip"),
            ("GZIP", "gzip"),
            ("deflate", "zlib"),
            ("deflate", "deflate"),
            ("br", "br"),
            ("zstd", "zstd"),
            ("identity, gzip", "gzip"),
        ] {
            let body = read_all(&encoded(format, TEXT.as_bytes()).await, header).await;
            assert_eq!(
                (body.bytes.as_slice(), body.fault),
                (TEXT.as_bytes(), None),
                "{header} {format}"
            );
        }
        let twice = encoded("gzip", &encoded("gzip", TEXT.as_bytes()).await).await;
        assert_eq!(read_all(&twice, "gzip, gzip").await.bytes, TEXT.as_bytes());
        for plain in ["", "identity", "none", "utf-8", "aws-chunked"] {
            let body = read_all(TEXT.as_bytes(), plain).await;
            assert_eq!(
                (body.bytes.as_slice(), body.fault),
                (TEXT.as_bytes(), None),
                "{plain}"
            );
        }
        for (header, format) in [
            ("gzip", "gzip"),
            ("deflate", "zlib"),
            ("deflate", "deflate"),
        ] {
            let padded = [
                encoded(format, TEXT.as_bytes()).await,
                b"\0\0padding".to_vec(),
            ]
            .concat();
            let body = read_all(&padded, header).await;
            assert_eq!(
                (body.bytes.as_slice(), body.fault),
                (TEXT.as_bytes(), None),
                "{format}"
            );
        }
        let empty = read_all(b"", "gzip").await;
        assert_eq!((empty.bytes.len(), empty.fault), (0, None));
    }

    #[tokio::test]
    async fn cut_data_is_read_to_its_end_and_reported() {
        let long: String = (0..2000)
            .map(|n| format!("<p>{n}: {}</p>", n * 7919 % 1000))
            .collect();
        for (header, format) in [
            ("gzip", "gzip"),
            ("deflate", "zlib"),
            ("deflate", "deflate"),
            ("br", "br"),
            ("zstd", "zstd"),
        ] {
            let whole = encoded(format, long.as_bytes()).await;
            let body = read_all(&whole[..whole.len() * 3 / 4], header).await;
            assert!(
                matches!(body.fault, Some(BodyFault::Cut(_))),
                "{format}: {:?}",
                body.fault
            );
            assert!(long.as_bytes().starts_with(&body.bytes), "{format}");
            // A format with one block for everything decodes nothing of a part.
            assert!(
                body.bytes.len() > 1000 || format == "zstd",
                "{format}: {} bytes",
                body.bytes.len()
            );
        }
    }

    #[tokio::test]
    async fn data_of_another_format_cannot_be_decoded() {
        for encoding in ["gzip", "br", "zstd"] {
            let body = read_all(b"this is plain text, whatever the header says", encoding).await;
            assert!(
                matches!(body.fault, Some(BodyFault::Undecodable(_))),
                "{encoding}: {:?}",
                body.fault
            );
        }
        let many = read_all(TEXT.as_bytes(), "gzip, gzip, gzip, gzip, gzip, gzip").await;
        assert!(
            matches!(many.fault, Some(BodyFault::Undecodable(_))),
            "{:?}",
            many.fault
        );
    }

    #[tokio::test]
    async fn failure_of_the_connection_leaves_what_arrived() {
        let chunks = [
            Ok(Bytes::from_static(b"<p>part")),
            Err("reset"),
            Ok(Bytes::from_static(b"never")),
        ];
        let body = read(stream::iter(chunks), "", 1024).await;
        assert_eq!(
            (body.bytes.as_slice(), body.received, body.failure),
            (&b"<p>part"[..], 7, Some("reset"))
        );
    }

    #[tokio::test]
    async fn bomb_is_read_up_to_the_limit() {
        let bomb = encoded("gzip", &vec![b'A'; 4 * 1024 * 1024]).await;
        let body = read_all(&bomb, "gzip").await;
        assert_eq!((body.bytes.len(), body.fault), (64 * 1024, None));
    }
}
