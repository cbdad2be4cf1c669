//! Reads HTTP/1 requests as they arrive, however malformed, for the loggers. Without I/O and clock.
//!
//! ```text
//!   bytes ─► feed ─► next ─► ReceivedRequest: raw bytes, the parts that can be read, and what is wrong with them
//!                     ▲
//!   end, pause, time limit ─► end ─► the part that arrived
//!
//!   Waiting ─► Head ─► Body ─► Waiting …          Foreign: no HTTP/1        Discarding: after a limit
//! ```
//!
//! A server refuses a request that can be read in two ways. A logger records it: the reader uses
//! the framing that keeps the most bytes, and names the other in the problems. Where the end of a
//! request is not certain, a pause of the sender ends it ([`RequestReader::ends_at_pause`]). The
//! bytes of all requests together are the bytes that arrived, in any split.

mod chunks;
mod framing;
mod head;
mod problems;
#[cfg(test)]
mod tests;

use chunks::{ChunkReader, ChunkState};
use framing::{BodyFraming, FramingKind};
pub use head::{HeaderLine, RequestHead, RequestVersion};
use problems::ProblemList;

/// The first line of an HTTP/2 connection (RFC 9113 §3.4).
const HTTP2_LINE: &[u8] = b"PRI * HTTP/2.0";
/// How much of a body that is too large is read, in multiples of the limit: many senders read the
/// response only after they have sent the whole body.
const OVERSIZE: usize = 16;

/// Sizes up to which requests are kept, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ReaderLimits {
    /// A request line with headers.
    pub head: usize,
    /// A body without its framing.
    pub body: usize,
}

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The request line and the headers, with the blank lines before and after them.
    pub raw_head: Vec<u8>,
    /// The body as it arrived, if this differs from `body`.
    pub framed_body: Option<Vec<u8>>,
    pub body: Vec<u8>,
    pub head: RequestHead,
    /// What is wrong or unusual, as sentences.
    pub problems: Vec<String>,
    pub end: RequestEnd,
    /// Whether the connection cannot carry a further request: the sender asks for it, or the end of
    /// this request is not certain.
    pub closes: bool,
}

impl ReceivedRequest {
    /// Head and body as they arrived.
    pub fn raw(&self) -> Vec<u8> {
        [
            self.raw_head.as_slice(),
            self.framed_body.as_deref().unwrap_or(&self.body),
        ]
        .concat()
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    Whole,
    HeadTooLarge,
    /// The start of the body is kept.
    BodyTooLarge,
    /// Before its end, which is named in the problems.
    Cut(EndCause),
}

/// Why no further bytes of a request are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// The sender closed the connection.
    Closed,
    /// The time limit.
    Late,
    /// The sender paused, and what arrived may be the whole request.
    Pause,
    /// Another connection needed the place of this one.
    Displaced,
    /// The service stops.
    Stopping,
}

impl EndCause {
    fn reason(self) -> &'static str {
        match self {
            Self::Closed => "the sender closed the connection",
            Self::Late => "the rest did not arrive in time",
            Self::Pause => "the sender paused",
            Self::Displaced => "other connections displaced this one",
            Self::Stopping => "the service stopped",
        }
    }
}

/// Which part of a request is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStage {
    /// Nothing of a request has arrived.
    Waiting,
    Head,
    Body,
    /// Further bytes are ignored.
    Discarding,
}

#[derive(Debug)]
enum ReaderState {
    Waiting,
    Head,
    /// No HTTP/1.
    Foreign,
    Body(Box<BodyState>),
    Discarding,
}

/// A body that is being read, after its head.
#[derive(Debug)]
struct BodyState {
    head: RequestHead,
    framing: BodyFraming,
    chunks: ChunkReader,
    body: Vec<u8>,
    /// The bytes with their framing; unused for a body without one.
    framed: Vec<u8>,
    /// Bytes that arrived, with their framing.
    received: usize,
    is_too_large: bool,
}

/// Reads the requests of one connection.
#[derive(Debug)]
pub struct RequestReader {
    limits: ReaderLimits,
    state: ReaderState,
    /// Bytes that are not part of a request yet.
    input: Vec<u8>,
    used: usize,
    head: Vec<u8>,
    /// The start of the request line in `head`, after blank lines.
    line_start: usize,
    /// The start of the last line in `head`.
    last_line: usize,
    /// Whether the request line is complete and names no version.
    is_without_version: bool,
    problems: ProblemList,
}

impl RequestReader {
    pub fn new(limits: ReaderLimits) -> Self {
        Self {
            limits,
            state: ReaderState::Waiting,
            input: Vec::new(),
            used: 0,
            head: Vec::new(),
            line_start: 0,
            last_line: 0,
            is_without_version: false,
            problems: ProblemList::default(),
        }
    }

    /// Adds bytes that arrived. Call [`next`](Self::next) until it returns none.
    pub fn feed(&mut self, bytes: &[u8]) {
        if !matches!(self.state, ReaderState::Discarding) {
            self.input.extend_from_slice(bytes);
        }
    }

    /// The next request that has ended.
    pub fn next(&mut self) -> Option<ReceivedRequest> {
        while self.used < self.input.len() {
            let ended = match &self.state {
                ReaderState::Waiting => self.read_blank(),
                ReaderState::Head => self.read_line(),
                ReaderState::Foreign => self.read_foreign(),
                ReaderState::Body(_) => self.read_body(),
                ReaderState::Discarding => break,
            };
            if ended.is_some() {
                return ended;
            }
        }
        self.input.clear();
        self.used = 0;
        None
    }

    /// Ends the reading, after [`next`](Self::next) returned none: the part of a request that has
    /// arrived. After a pause, further bytes are those of a further request.
    pub fn end(&mut self, cause: EndCause) -> Option<ReceivedRequest> {
        let next = if cause == EndCause::Pause {
            ReaderState::Waiting
        } else {
            ReaderState::Discarding
        };
        match std::mem::replace(&mut self.state, next) {
            ReaderState::Waiting | ReaderState::Discarding => None,
            ReaderState::Head | ReaderState::Foreign => Some(self.end_head(cause)),
            ReaderState::Body(body) => Some(self.end_body(*body, cause)),
        }
    }

    pub fn stage(&self) -> ReadStage {
        match self.state {
            ReaderState::Waiting => ReadStage::Waiting,
            ReaderState::Head | ReaderState::Foreign => ReadStage::Head,
            ReaderState::Body(_) => ReadStage::Body,
            ReaderState::Discarding => ReadStage::Discarding,
        }
    }

    /// Whether a pause of the sender ends the request, because nothing else would: an HTTP/0.9
    /// request, a body of unknown length, or another protocol.
    pub fn ends_at_pause(&self) -> bool {
        match &self.state {
            ReaderState::Waiting | ReaderState::Discarding => false,
            ReaderState::Foreign => true,
            ReaderState::Head => {
                let is_first_line = self.last_line == self.line_start;
                self.is_without_version
                    || (is_first_line && !head::begins_with_method(&self.head[self.line_start..]))
            }
            ReaderState::Body(body) => {
                let is_long_enough = body
                    .framing
                    .shortest
                    .is_some_and(|shortest| body.received as u64 >= shortest);
                let is_unknown = body.framing.kind == FramingKind::Unknown;
                is_long_enough || is_unknown || body.chunks.state() == ChunkState::Invalid
            }
        }
    }

    /// Whether the sender waits for `100 Continue` before it sends the body.
    pub fn expects_continue(&self) -> bool {
        matches!(&self.state, ReaderState::Body(body) if body.received == 0 && body.head.expects_continue())
    }

    /// Bytes of the body that are in memory.
    pub fn body_size(&self) -> usize {
        match &self.state {
            ReaderState::Body(body) => body.body.len() + body.framed.len(),
            _ => 0,
        }
    }

    fn unread(&self) -> &[u8] {
        &self.input[self.used..]
    }

    /// Moves bytes of the input to the head, up to the limit; returns the request when there is a
    /// byte beyond it.
    fn take_to_head(&mut self, count: usize) -> Option<ReceivedRequest> {
        let count = count.min(self.limits.head.saturating_sub(self.head.len()));
        if count == 0 {
            return Some(self.cut_head());
        }
        self.head
            .extend_from_slice(&self.input[self.used..self.used + count]);
        self.used += count;
        None
    }

    /// Blank lines before a request, as some senders end a body with one (RFC 9112 §2.2).
    fn read_blank(&mut self) -> Option<ReceivedRequest> {
        let is_blank = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let blank = self
            .unread()
            .iter()
            .position(|byte| !is_blank(byte))
            .unwrap_or(self.unread().len());
        if blank > 0 {
            return self.take_to_head(blank);
        }
        (self.line_start, self.last_line) = (self.head.len(), self.head.len());
        self.state = match self.unread().first() {
            Some(&first) if is_control(first) => ReaderState::Foreign,
            _ => ReaderState::Head,
        };
        None
    }

    /// A line of the head, or its next part.
    fn read_line(&mut self) -> Option<ReceivedRequest> {
        let unread = self.unread();
        let line = unread
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(unread.len(), |end| end + 1);
        let cut = self.take_to_head(line);
        if cut.is_some() || !self.head.ends_with(b"\n") {
            return cut;
        }
        let line = head::without_line_end(&self.head[self.last_line..]);
        let (is_first, is_empty) = (self.last_line == self.line_start, line.is_empty());
        if is_first && line == HTTP2_LINE {
            self.state = ReaderState::Foreign;
            return None;
        }
        self.is_without_version |= is_first && !head::names_version(line);
        self.last_line = self.head.len();
        if is_empty { self.begin_body() } else { None }
    }

    fn read_foreign(&mut self) -> Option<ReceivedRequest> {
        self.take_to_head(self.unread().len())
    }

    /// The head is complete.
    fn begin_body(&mut self) -> Option<ReceivedRequest> {
        let head = self.parsed_head();
        let framing = BodyFraming::of(&head, &mut self.problems);
        let is_whole = matches!(framing.kind, FramingKind::Empty | FramingKind::Length(0));
        let body = BodyState::new(head, framing);
        if is_whole {
            self.state = ReaderState::Waiting;
            return Some(self.request(body, RequestEnd::Whole));
        }
        self.state = ReaderState::Body(Box::new(body));
        None
    }

    fn read_body(&mut self) -> Option<ReceivedRequest> {
        let ReaderState::Body(body) = &mut self.state else {
            return None;
        };
        let most = (OVERSIZE * self.limits.body + 1).saturating_sub(body.received);
        let unread = &self.input[self.used..];
        let (used, is_whole) = body.read(&unread[..unread.len().min(most)], &mut self.problems);
        self.used += used;
        body.limit(self.limits.body);
        let is_beyond = body.received > OVERSIZE * self.limits.body;
        if !is_whole && !is_beyond {
            return None;
        }
        let next = if is_whole {
            ReaderState::Waiting
        } else {
            ReaderState::Discarding
        };
        let ReaderState::Body(body) = std::mem::replace(&mut self.state, next) else {
            return None;
        };
        Some(self.request(*body, RequestEnd::Whole))
    }

    /// A request that has ended; the state is already the next one.
    fn request(&mut self, body: BodyState, end: RequestEnd) -> ReceivedRequest {
        let BodyState {
            mut head,
            framing,
            mut chunks,
            body,
            framed,
            is_too_large,
            ..
        } = body;
        let is_certain = !framing.is_ambiguous && chunks.state() != ChunkState::Invalid;
        let closes = !is_certain || end != RequestEnd::Whole || !head.keeps_open();
        head.lines.extend(chunks.take_trailers(&mut self.problems));
        if is_too_large {
            self.problems.add(format!(
                "the body is larger than {} bytes; the rest was not recorded",
                self.limits.body
            ));
        }
        (self.line_start, self.last_line, self.is_without_version) = (0, 0, false);
        ReceivedRequest {
            raw_head: std::mem::take(&mut self.head),
            framed_body: (framing.kind == FramingKind::Chunked).then_some(framed),
            body,
            head,
            problems: self.problems.take(),
            end: if is_too_large {
                RequestEnd::BodyTooLarge
            } else {
                end
            },
            closes: closes || matches!(self.state, ReaderState::Discarding),
        }
    }

    fn parsed_head(&mut self) -> RequestHead {
        RequestHead::parse(&self.head[self.line_start..], &mut self.problems)
    }

    /// The parts of a head that did not end. One of another protocol has none.
    fn head_so_far(&mut self) -> RequestHead {
        match problems::foreign(&self.head[self.line_start..]) {
            Some(problem) => {
                self.problems.add(problem.to_owned());
                RequestHead::default()
            }
            None => self.parsed_head(),
        }
    }

    fn cut_head(&mut self) -> ReceivedRequest {
        let head = self.head_so_far();
        self.problems.add(format!(
            "the head is larger than {} bytes; the rest was not recorded",
            self.limits.head
        ));
        self.state = ReaderState::Discarding;
        self.request(
            BodyState::new(head, BodyFraming::NONE),
            RequestEnd::HeadTooLarge,
        )
    }

    fn end_head(&mut self, cause: EndCause) -> ReceivedRequest {
        let is_foreign = problems::foreign(&self.head[self.line_start..]).is_some();
        let is_one_line =
            self.is_without_version && matches!(cause, EndCause::Pause | EndCause::Closed);
        let head = self.head_so_far();
        let end = if is_one_line {
            RequestEnd::Whole
        } else {
            RequestEnd::Cut(cause)
        };
        if !is_one_line && !is_foreign {
            self.problems
                .add(format!("the head has no end: {}", cause.reason()));
        }
        self.request(BodyState::new(head, BodyFraming::NONE), end)
    }

    fn end_body(&mut self, body: BodyState, cause: EndCause) -> ReceivedRequest {
        let (received, reason) = (body.received, cause.reason());
        let is_expected = matches!(cause, EndCause::Pause | EndCause::Closed);
        let problem = match body.framing.kind {
            FramingKind::Length(length) => Some(format!(
                "the body ended after {received} of {length} bytes: {reason}"
            )),
            FramingKind::Chunked if body.chunks.state() != ChunkState::Invalid => {
                Some(format!("the body ended before its last chunk: {reason}"))
            }
            FramingKind::Chunked | FramingKind::Unknown if !is_expected => {
                Some(format!("the body was cut: {reason}"))
            }
            FramingKind::Chunked | FramingKind::Unknown | FramingKind::Empty => None,
        };
        problem
            .into_iter()
            .for_each(|problem| self.problems.add(problem));
        self.request(body, RequestEnd::Cut(cause))
    }
}

/// A byte that no line of a head contains.
fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t') || byte == 0x7f
}

impl BodyState {
    fn new(head: RequestHead, framing: BodyFraming) -> Self {
        let (body, framed, received) = (Vec::new(), Vec::new(), 0);
        Self {
            head,
            framing,
            chunks: ChunkReader::default(),
            body,
            framed,
            received,
            is_too_large: false,
        }
    }

    /// Reads bytes; returns how many, and whether they were the last ones.
    fn read(&mut self, bytes: &[u8], problems: &mut ProblemList) -> (usize, bool) {
        let (used, is_whole) = match self.framing.kind {
            FramingKind::Empty => (0, true),
            FramingKind::Unknown => {
                self.body.extend_from_slice(bytes);
                (bytes.len(), false)
            }
            FramingKind::Length(length) => {
                let left = length - self.received as u64;
                let used = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                self.body.extend_from_slice(&bytes[..used]);
                (used, used as u64 == left)
            }
            FramingKind::Chunked => {
                let (used, is_whole) = self.chunks.read(bytes, &mut self.body, problems);
                self.framed.extend_from_slice(&bytes[..used]);
                (used, is_whole)
            }
        };
        self.received += used;
        (used, is_whole)
    }

    /// Keeps the start of a body that is too large. Its framing may be as large as the body.
    fn limit(&mut self, limit: usize) {
        self.is_too_large |= self.body.len() > limit || self.framed.len() > 2 * limit;
        if self.is_too_large {
            self.body.truncate(limit);
            self.framed.truncate(limit);
        }
    }
}
