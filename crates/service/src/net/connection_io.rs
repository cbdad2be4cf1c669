//! One connection as hyper sees it: with time limits, and without the responses of hyper itself.
//!
//! ```text
//!             first byte        head complete          response sent
//!   waiting ────────────► head ──────────────► request ─────────────► waiting
//!      │ idle_time          │ head_time           │ body_time: LimitedBody
//!      └─► closed           └─► closed            └─► the handler decides
//! ```

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::net::connection_table::ConnectionMarks;
use crate::net::connections::ConnectionLimits;
use crate::net::tls::Transport;

/// Whether a request is being answered, and how many began; shared by the connection and its
/// service.
#[derive(Clone, Debug)]
pub struct RequestProgress {
    counters: Arc<RequestCounters>,
    marks: ConnectionMarks,
}

#[derive(Debug, Default)]
struct RequestCounters {
    is_request: AtomicBool,
    begun: AtomicUsize,
    has_ambiguous_head: AtomicBool,
}

impl RequestProgress {
    pub fn new(marks: ConnectionMarks) -> Self {
        Self {
            counters: Arc::default(),
            marks,
        }
    }

    /// Marks the beginning of a request. It is whole when it has no body.
    pub fn begin(&self, is_whole: bool) -> InProgress {
        self.counters.begun.fetch_add(1, Ordering::AcqRel);
        self.counters.is_request.store(true, Ordering::Release);
        match is_whole {
            true => self.marks.request_whole(),
            false => self.marks.request_begun(),
        }
        InProgress(self.clone())
    }

    /// Whether a head had two lengths. The requests after it may be its body.
    pub fn has_ambiguous_head(&self) -> bool {
        self.counters.has_ambiguous_head.load(Ordering::Acquire)
    }

    fn is_request(&self) -> bool {
        self.counters.is_request.load(Ordering::Acquire)
    }

    fn begun(&self) -> usize {
        self.counters.begun.load(Ordering::Acquire)
    }
}

/// Marks the end of a request when it is dropped.
#[derive(Debug)]
pub struct InProgress(RequestProgress);

impl InProgress {
    /// The response; the request ends when its body was sent.
    pub fn attach(self, response: Response) -> Response {
        response.map(|body| {
            Body::new(AnswerBody {
                body,
                _request: self,
            })
        })
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.counters.is_request.store(false, Ordering::Release);
        self.0.marks.request_answered();
    }
}

/// A response body that carries the mark of its request.
struct AnswerBody {
    body: Body,
    _request: InProgress,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The lines of a head on its way to hyper, which drops `Content-Length` beside `Transfer-Encoding`
/// without a word.
#[derive(Debug, Default)]
struct FramingLines {
    /// The beginning of the present line.
    line: Vec<u8>,
    is_begun: bool,
    has_length: bool,
    has_encoding: bool,
    is_complete: bool,
}

impl FramingLines {
    const LONGEST_NAME: usize = b"transfer-encoding:".len();

    /// Takes the next bytes of the connection. A head without a body may be followed by another
    /// one.
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                _ if self.is_complete => return,
                b'\n' => self.end_line(),
                b'\r' => {}
                _ if self.line.len() < Self::LONGEST_NAME => {
                    self.line.push(byte.to_ascii_lowercase())
                }
                _ => {}
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        // Empty lines before a request are skipped (RFC 9112 §2.2).
        if line.is_empty() && self.is_begun {
            match self.has_length || self.has_encoding {
                true => self.is_complete = true,
                false => *self = Self::default(),
            }
            return;
        }
        self.is_begun |= !line.is_empty();
        self.has_length |= line.starts_with(b"content-length:");
        self.has_encoding |= line.starts_with(b"transfer-encoding:");
    }

    fn is_ambiguous(&self) -> bool {
        self.has_length && self.has_encoding
    }
}

/// The body of a request did not arrive in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyTimeout;

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body did not arrive in time")
    }
}

impl Error for BodyTimeout {}

impl BodyTimeout {
    /// Whether this is the cause of an error.
    pub fn caused(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Bytes that give a body back a second of its time limit, so that large files may take longer.
const BYTES_PER_SECOND: u64 = 256 << 10;

/// The time for which a body may still keep the service waiting. What arrives gives time back, but
/// never more than the limit: after a fast beginning, a silent client is not waited for longer than
/// any other.
#[derive(Debug)]
struct BodyTime {
    limit: Duration,
    left: Duration,
    waits_since: Option<Instant>,
}

impl BodyTime {
    fn new(limit: Duration) -> Self {
        Self {
            limit,
            left: limit,
            waits_since: None,
        }
    }

    /// When the present wait ends. The first call after an arrival begins a wait.
    fn deadline(&mut self, now: Instant) -> Instant {
        *self.waits_since.get_or_insert(now) + self.left
    }

    /// Ends the wait: bytes arrived. Only waits count, not the work of the service between them.
    fn arrive(&mut self, bytes: usize, now: Instant) {
        let waited = self.waits_since.take().map(|since| now - since);
        self.left = self.left.saturating_sub(waited.unwrap_or_default());
        let returned = Duration::from_micros(bytes as u64 * 1_000_000 / BYTES_PER_SECOND);
        self.left = (self.left + returned).min(self.limit);
    }
}

/// The body of a request. In the long run it must arrive faster than `BYTES_PER_SECOND`, and no
/// silence in it may be longer than the time limit.
pub struct LimitedBody<B> {
    body: B,
    time: BodyTime,
    timer: Option<Pin<Box<Sleep>>>,
    marks: ConnectionMarks,
}

impl<B> LimitedBody<B> {
    pub fn new(body: B, limit: Duration, marks: ConnectionMarks) -> Self {
        Self {
            body,
            time: BodyTime::new(limit),
            timer: None,
            marks,
        }
    }

    /// Waits until the time for the body is over.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.time.deadline(Instant::now());
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(context)
    }
}

impl<B> HttpBody for LimitedBody<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if self.body.is_end_stream() {
                self.marks.request_whole();
            }
            if let Some(Ok(part)) = &frame {
                let bytes = part.data_ref().map_or(0, Bytes::len);
                self.time.arrive(bytes, Instant::now());
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(self.poll_late(context));
        Poll::Ready(Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection with time limits.
pub struct ConnectionIo {
    stream: Transport,
    progress: RequestProgress,
    /// The number of requests that had begun at the last read.
    begun: usize,
    head_time: Duration,
    idle_time: Duration,
    /// When the first byte of the current head arrived.
    head_since: Option<Instant>,
    head: FramingLines,
    /// Since when the connection waits for a head.
    idle_since: Instant,
    reading: Pin<Box<Sleep>>,
    /// Runs while a write makes no progress.
    writing: Option<Pin<Box<Sleep>>>,
    refused: Option<StatusCode>,
}

impl ConnectionIo {
    pub fn new(stream: Transport, progress: RequestProgress, limits: &ConnectionLimits) -> Self {
        Self {
            stream,
            progress,
            begun: 0,
            head_time: limits.head_time,
            idle_time: limits.idle_time,
            head_since: None,
            head: FramingLines::default(),
            idle_since: Instant::now(),
            reading: Box::pin(sleep(limits.idle_time)),
            writing: None,
            refused: None,
        }
    }

    /// The status of an error response of hyper to a head, which this type held back.
    pub fn take_refused(&mut self) -> Option<StatusCode> {
        self.refused.take()
    }

    /// Ends the current head when its request has begun. hyper may read nothing from then to the
    /// next head.
    fn end_head(&mut self) {
        let begun = self.progress.begun();
        // The limits of requests are those of their bodies; the next check is due later.
        if self.progress.is_request() || begun != self.begun {
            self.begun = begun;
            (self.head_since, self.idle_since) = (None, Instant::now());
        }
    }

    /// When the wait for the client ends.
    fn read_deadline(&mut self) -> Instant {
        self.end_head();
        match self.head_since {
            Some(since) => since + self.head_time,
            None => self.idle_since + self.idle_time,
        }
    }

    /// Notes that bytes arrived, which may be the first of a head.
    fn note_read(&mut self, bytes: &[u8]) {
        self.end_head();
        if self.progress.is_request() {
            return;
        }
        if self.head_since.is_none() {
            self.head_since = Some(Instant::now());
            self.head = FramingLines::default();
        }
        self.head.push(bytes);
        if self.head.is_ambiguous() {
            self.progress
                .counters
                .has_ambiguous_head
                .store(true, Ordering::Release);
        }
    }

    /// Ends a write that makes no progress.
    fn poll_stalled<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.writing = None;
            return result;
        }
        let limit = self.idle_time;
        ready!(
            self.writing
                .get_or_insert_with(|| Box::pin(sleep(limit)))
                .as_mut()
                .poll(context)
        );
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ConnectionIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            if buffer.filled().len() > before {
                self.note_read(&buffer.filled()[before..]);
            }
            return Poll::Ready(read);
        }
        loop {
            let deadline = self.read_deadline();
            if deadline != self.reading.deadline() {
                self.reading.set(sleep_until(deadline));
            }
            ready!(self.reading.as_mut().poll(context));
            if self.read_deadline() <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
    }
}

impl AsyncWrite for ConnectionIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.progress.is_request()
            && let Some(status) = refusal(bytes)
        {
            self.refused = Some(status);
            return Poll::Ready(Ok(bytes.len()));
        }
        self.idle_since = Instant::now();
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.poll_stalled(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The status of a response that hyper sends to a head which it cannot parse. It has no body;
/// responses of the service with an error status have one.
fn refusal(bytes: &[u8]) -> Option<StatusCode> {
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| text.len() < 256 && text.ends_with("\r\n\r\n"))?;
    let status = text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    (text.contains("\r\ncontent-length: 0\r\n") && matches!(status, 400 | 414 | 431))
        .then(|| StatusCode::from_u16(status).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_with_both_lengths_is_ambiguous_in_any_split() {
        let is_ambiguous = |text: &str, split: usize| {
            let mut head = FramingLines::default();
            text.as_bytes()
                .chunks(split)
                .for_each(|bytes| head.push(bytes));
            head.is_ambiguous()
        };
        let (length, encoding) = ("Content-Length: 5", "TRANSFER-encoding: chunked");
        let (get, post) = (
            "\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: a",
        );
        for split in [1, 7, 1000] {
            for two in [[length, encoding], [encoding, length]] {
                let both = format!("{post}\r\n{}\r\n{}\r\n\r\n", two[0], two[1]);
                assert!(
                    is_ambiguous(&both, split) && is_ambiguous(&both.replace('\r', ""), split),
                    "{both}"
                );
                assert!(
                    is_ambiguous(&format!("{get}{both}"), split),
                    "after a request without a body"
                );
            }
            for other in [
                format!("{post}\r\n{length}\r\n\r\n{encoding}\r\n\r\n"),
                format!("{post}\r\n{length}\r\nx-{encoding}\r\n\r\n"),
                format!("{get}{post}\r\n{encoding}\r\n\r\n"),
            ] {
                assert!(!is_ambiguous(&other, split), "{other}");
            }
        }
    }

    /// A body at a limit of 30 s, of which bytes arrive once a second: after how many seconds it is
    /// late, if it is within an hour.
    fn late_after(bytes: u64) -> Option<u64> {
        let begun = Instant::now();
        let mut time = BodyTime::new(Duration::from_secs(30));
        let part = usize::try_from(bytes).unwrap();
        (1..=3600).find(|second| {
            let before = begun + Duration::from_secs(second - 1);
            let deadline = time.deadline(before);
            let now = begun + Duration::from_secs(*second);
            time.arrive(part, now);
            now > deadline
        })
    }

    #[test]
    fn body_that_arrives_fast_enough_is_never_late() {
        assert_eq!(late_after(BYTES_PER_SECOND), None);
        // Half of each second is given back.
        assert_eq!(late_after(BYTES_PER_SECOND / 2), Some(60));
        assert_eq!(late_after(0), Some(31));
    }

    #[test]
    fn silence_after_a_burst_is_as_long_as_any_other() {
        let limit = Duration::from_secs(30);
        let begun = Instant::now();
        let mut time = BodyTime::new(limit);
        assert_eq!(time.deadline(begun), begun + limit);
        time.arrive(512 << 20, begun);
        assert_eq!(time.deadline(begun), begun + limit);
        let later = begun + limit / 2;
        time.arrive(1, later);
        let returned = Duration::from_micros(3);
        assert_eq!(time.deadline(later), begun + limit + returned);
    }

    #[test]
    fn work_of_the_service_takes_no_time_from_a_body() {
        let limit = Duration::from_secs(30);
        let begun = Instant::now();
        let mut time = BodyTime::new(limit);
        let later = begun + limit * 10;
        time.arrive(1, later);
        assert_eq!(time.deadline(later), later + limit);
    }

    #[test]
    fn refusal_recognizes_error_responses_of_hyper_only() {
        let response = |status: &str, rest: &str| format!("HTTP/1.1 {status}\r\n{rest}\r\n");
        let of_hyper = response(
            "431 Request Header Fields Too Large",
            "content-length: 0\r\ndate: x\r\n",
        );
        assert_eq!(
            refusal(of_hyper.as_bytes()),
            Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
        );
        for other in [
            response("400 Bad Request", "content-length: 2\r\n"),
            response("200 OK", "content-length: 0\r\n"),
        ] {
            assert_eq!(refusal(other.as_bytes()), None, "{other}");
        }
    }
}
