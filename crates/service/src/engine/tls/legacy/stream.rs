//! The byte stream of an established connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::record::{MAX_CONTENT, MAX_RECORD, RecordCipher};
use super::{
    ALERT, CLOSE_NOTIFY, DATA, HANDSHAKE, NO_RENEGOTIATION, NegotiatedTls, WARNING, invalid,
};

/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;
/// Most consecutive records without content, such as warnings. They may arrive at any time, also
/// between requests.
const MAX_EMPTY: usize = 1000;

/// A connection after its handshake. The end of the connection is the end of the stream, with or
/// without close_notify: HTTP knows from its own lengths whether a body was cut.
pub struct LegacyStream<S> {
    pub(super) inner: S,
    pub negotiated: NegotiatedTls,
    /// The client's verify_data, which a second handshake repeats; empty if the server does not
    /// support RFC 5746.
    pub(super) renegotiation_proof: Vec<u8>,
    pub(super) read: RecordCipher,
    pub(super) write: RecordCipher,
    /// Received bytes that are no whole record yet.
    received: Vec<u8>,
    /// Content that was not read yet.
    content: Vec<u8>,
    content_at: usize,
    /// Records since the last content.
    empty_records: usize,
    /// Records that were not sent yet.
    outgoing: Vec<u8>,
    is_ended: bool,
}

impl<S> LegacyStream<S> {
    pub fn new(
        inner: S,
        negotiated: NegotiatedTls,
        read: RecordCipher,
        write: RecordCipher,
    ) -> Self {
        let (renegotiation_proof, received, content, outgoing) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (content_at, empty_records, is_ended) = (0, 0, false);
        Self {
            inner,
            negotiated,
            renegotiation_proof,
            read,
            write,
            received,
            content,
            content_at,
            empty_records,
            outgoing,
            is_ended,
        }
    }

    /// Opens the next whole record that was received; false if there is none.
    fn open_record(&mut self) -> io::Result<bool> {
        let [kind, _, _, a, b, rest @ ..] = &self.received[..] else {
            return Ok(false);
        };
        let (kind, length) = (*kind, usize::from(u16::from_be_bytes([*a, *b])));
        if length > MAX_RECORD {
            return Err(invalid("record of impossible length"));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(false);
        };
        let body = body.to_vec();
        self.received.drain(..5 + length);
        let opened = self.read.open(kind, body)?;
        self.empty_records = if kind == DATA && !opened.is_empty() {
            0
        } else {
            self.empty_records + 1
        };
        if self.empty_records > MAX_EMPTY {
            return Err(invalid("too many records without content"));
        }
        match (kind, &opened[..]) {
            (DATA, _) => {
                self.content = opened;
                self.content_at = 0;
            }
            (ALERT, [_, CLOSE_NOTIFY]) => self.is_ended = true,
            (ALERT, [WARNING, _]) => {}
            (ALERT, [_, alert]) => return Err(invalid(&format!("alert {alert}"))),
            // HelloRequest: the server may go on without a second handshake. Only one refusal is
            // queued: a server that reads no refusals could send HelloRequests without end, and the
            // queue would grow.
            (HANDSHAKE, [0, ..]) => {
                if self.outgoing.is_empty() {
                    self.outgoing = self.write.seal(ALERT, &[WARNING, NO_RENEGOTIATION])?;
                }
            }
            _ => return Err(invalid("unexpected record")),
        }
        Ok(true)
    }
}

impl<S: AsyncWrite + Unpin> LegacyStream<S> {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            let sent = ready!(Pin::new(&mut self.inner).poll_write(context, &self.outgoing))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for LegacyStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let left = &this.content[this.content_at..];
            if !left.is_empty() {
                let count = left.len().min(to.remaining());
                to.put_slice(&left[..count]);
                this.content_at += count;
                return Poll::Ready(Ok(()));
            }
            if this.is_ended {
                return Poll::Ready(Ok(()));
            }
            if this.open_record()? {
                continue;
            }
            // A refused renegotiation; reading does not wait for it.
            if let Poll::Ready(Err(error)) = this.poll_send(context) {
                return Poll::Ready(Err(error));
            }
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut chunk))?;
            this.received.extend_from_slice(chunk.filled());
            if chunk.filled().is_empty() {
                if !this.received.is_empty() {
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
                this.is_ended = true;
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LegacyStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // One record at a time is enough for requests.
        ready!(this.poll_send(context))?;
        let count = bytes.len().min(MAX_CONTENT);
        this.outgoing = this.write.seal(DATA, &bytes[..count])?;
        if let Poll::Ready(Err(error)) = this.poll_send(context) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.inner).poll_flush(context)
    }

    /// Closes the connection. Sends no close_notify: after a response, no server needs it.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.inner).poll_shutdown(context)
    }
}
