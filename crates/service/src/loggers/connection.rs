//! One connection of a sender: reads with time limits, and answers each request when it is
//! recorded.
//!
//! ```text
//!            first byte       end of head       end of body       recorded
//!   waiting ───────────► head ───────────► body ───────────► ─────────────► answered ─► waiting
//!      │ idle_time        │ head_time       │ body_time                        │ closes
//!      └─► closed         └─────┬───────────┘                                  ▼
//!                               ▼                                    what arrives within LINGER
//!        recorded as far as it arrived, also when the sender closes,    is recorded, not answered
//!        the connection is displaced, or the service stops
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::answer::{AnswerForm, CONTINUE};
use super::record::{
    BODY_LIMIT, HandledRequest, LARGE_BODY, LargeBodyPermit, LoggerHandler, RequestSource,
};
use crate::net::connection_table::ConnectionMarks;
use crate::net::connections::{AcceptedConnection, ConnectionLimits, LINGER};
use crate::net::tls::Transport;
use crate::request_reader::{EndCause, ReadStage, ReaderLimits, ReceivedRequest, RequestReader};
use scandeck_wire::contract::LoggerId;

/// Bytes of one read.
const READ: usize = 16 * 1024;
/// A silence that ends a request whose end is not certain.
const PAUSE: Duration = Duration::from_secs(1);
/// How long requests may finish when the service stops.
const STOP_TIME: Duration = Duration::from_millis(700);
/// How long a displaced connection waits for bytes that have arrived: its socket may be too young
/// to know of them.
const DISPLACED_READ: Duration = Duration::from_millis(2);

/// Serves a connection until it ends.
pub async fn serve(
    handler: LoggerHandler,
    connection: AcceptedConnection,
    limits: ConnectionLimits,
    stop: CancellationToken,
) {
    let AcceptedConnection {
        transport,
        client,
        marks,
    } = connection;
    let reader = RequestReader::new(ReaderLimits {
        head: limits.head_bytes,
        body: BODY_LIMIT,
    });
    let now = Instant::now();
    let served = LoggerConnection {
        log: RequestLog {
            handler,
            client,
            reader,
            received_at: None,
            earlier: None,
        },
        transport,
        marks,
        limits,
        buffer: vec![0; READ],
        stage: ReadStage::Waiting,
        since: now,
        last_read: now,
        large_body: None,
        is_continued: false,
        stop_by: None,
    };
    served.run(&stop).await;
}

/// The requests of a connection and their records.
struct RequestLog {
    handler: LoggerHandler,
    client: SocketAddr,
    reader: RequestReader,
    /// When the current request began to arrive.
    received_at: Option<Timestamp>,
    /// The logger of the last request that named one.
    earlier: Option<LoggerId>,
}

impl RequestLog {
    async fn record(&mut self, request: ReceivedRequest) -> HandledRequest {
        let received_at = self
            .received_at
            .take()
            .unwrap_or_else(|| self.handler.app.now());
        let source = RequestSource {
            client: self.client,
            received_at,
            earlier: self.earlier,
        };
        let handled = self.handler.handle(request, source).await;
        self.earlier = handled.logger.or(self.earlier);
        handled
    }

    /// Records the whole requests that have arrived, without answers.
    async fn record_whole(&mut self) {
        while let Some(request) = self.reader.next() {
            self.record(request).await;
        }
    }

    /// Records what has arrived, without answers.
    async fn record_rest(&mut self, cause: EndCause) {
        self.record_whole().await;
        if let Some(request) = self.reader.end(cause) {
            self.record(request).await;
        }
    }
}

enum ServedEnd {
    Displaced,
    /// No further answer can be sent.
    Lost,
    /// The last answer was sent.
    Answered,
}

struct LoggerConnection {
    log: RequestLog,
    transport: Transport,
    marks: ConnectionMarks,
    limits: ConnectionLimits,
    buffer: Vec<u8>,
    /// The stage of the reader, and since when.
    stage: ReadStage,
    since: Instant,
    last_read: Instant,
    large_body: Option<LargeBodyPermit>,
    /// Whether the sender of the current request was sent `100 Continue`.
    is_continued: bool,
    /// When the connection ends because the service stops.
    stop_by: Option<Instant>,
}

impl LoggerConnection {
    async fn run(mut self, stop: &CancellationToken) {
        match self.answer_requests(stop).await {
            ServedEnd::Displaced => self.record_displaced().await,
            ServedEnd::Lost => self.log.record_rest(EndCause::Closed).await,
            ServedEnd::Answered => self.linger().await,
        }
    }

    async fn answer_requests(&mut self, stop: &CancellationToken) -> ServedEnd {
        loop {
            while let Some(request) = self.log.reader.next() {
                match self.answer(request).await {
                    Ok(true) => {}
                    Ok(false) => return ServedEnd::Answered,
                    Err(end) => return end,
                }
            }
            self.note_stage();
            let cause = match self.read(stop).await {
                Ok(()) => continue,
                Err(EndCause::Displaced) => return ServedEnd::Displaced,
                Err(cause) => cause,
            };
            let Some(request) = self.log.reader.end(cause) else {
                return ServedEnd::Answered;
            };
            return self
                .answer(request)
                .await
                .map_or_else(|end| end, |_| ServedEnd::Answered);
        }
    }

    /// Records a request, then answers it; returns whether the connection remains open.
    async fn answer(&mut self, request: ReceivedRequest) -> Result<bool, ServedEnd> {
        self.marks.request_whole();
        let mut form = AnswerForm::of(&request);
        form.closes |= self.stop_by.is_some();
        let handled = self.log.record(request).await;
        (self.large_body, self.is_continued) = (None, false);
        if handled.is_answered {
            let answer = form.bytes(&handled.result, self.log.handler.app.now());
            self.send(&answer).await?;
        }
        self.marks.request_answered();
        (self.stage, self.since) = (ReadStage::Waiting, Instant::now());
        Ok(handled.is_answered && !form.closes)
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), ServedEnd> {
        let (transport, marks) = (&mut self.transport, &self.marks);
        let send = async {
            transport.write_all(bytes).await?;
            transport.flush().await
        };
        tokio::select! {
            sent = timeout(self.limits.idle_time, send) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => Err(ServedEnd::Lost),
            },
            () = marks.evicted() => Err(ServedEnd::Displaced),
        }
    }

    /// Follows the stage of the reader: time limits count from its begin.
    fn note_stage(&mut self) {
        let stage = self.log.reader.stage();
        if stage == self.stage {
            return;
        }
        if self.stage == ReadStage::Waiting {
            self.log.received_at = Some(self.log.handler.app.now());
        }
        if stage == ReadStage::Body {
            self.marks.request_begun();
        }
        (self.stage, self.since) = (stage, Instant::now());
    }

    /// Reads what arrives next; the error is the end of the connection.
    async fn read(&mut self, stop: &CancellationToken) -> Result<(), EndCause> {
        if self.log.reader.expects_continue() && !self.is_continued {
            self.is_continued = true;
            self.send(CONTINUE).await.map_err(|end| match end {
                ServedEnd::Displaced => EndCause::Displaced,
                ServedEnd::Lost | ServedEnd::Answered => EndCause::Closed,
            })?;
        }
        if self.log.reader.body_size() > LARGE_BODY && self.large_body.is_none() {
            tokio::select! {
                permit = self.log.handler.large_body(self.log.client.ip()) => self.large_body = permit,
                () = self.marks.evicted() => return Err(EndCause::Displaced),
                () = stop.cancelled() => return Err(EndCause::Stopping),
            }
        }
        if self.stop_by.is_some() && self.stage == ReadStage::Waiting {
            return Err(EndCause::Stopping);
        }
        let (deadline, cause) = self.deadline();
        let (transport, marks) = (&mut self.transport, &self.marks);
        tokio::select! {
            // A displaced connection ends although bytes arrive, and bytes that have arrived come
            // before the time limit.
            biased;
            () = marks.evicted() => Err(EndCause::Displaced),
            () = stop.cancelled(), if self.stop_by.is_none() => {
                self.stop_by = Some(Instant::now() + STOP_TIME);
                Ok(())
            }
            read = transport.read(&mut self.buffer) => match read {
                Ok(0) | Err(_) => Err(EndCause::Closed),
                Ok(length) => {
                    self.log.reader.feed(&self.buffer[..length]);
                    self.last_read = Instant::now();
                    Ok(())
                }
            },
            () = sleep_until(deadline) => Err(cause),
        }
    }

    /// When the wait for bytes ends, and why.
    fn deadline(&self) -> (Instant, EndCause) {
        let limit = match self.stage {
            ReadStage::Waiting | ReadStage::Discarding => self.limits.idle_time,
            ReadStage::Head => self.limits.head_time,
            ReadStage::Body => self.limits.body_time,
        };
        let late = (self.since + limit, EndCause::Late);
        let pause = self
            .log
            .reader
            .ends_at_pause()
            .then(|| (self.last_read + PAUSE, EndCause::Pause));
        let stop = self.stop_by.map(|stop_by| (stop_by, EndCause::Stopping));
        [Some(late), pause, stop]
            .into_iter()
            .flatten()
            .min_by_key(|(deadline, _)| *deadline)
            .unwrap_or(late)
    }

    /// Records what arrived before another connection needed the place. The socket is closed first.
    async fn record_displaced(self) {
        let Self {
            mut log,
            mut transport,
            mut buffer,
            limits,
            ..
        } = self;
        let mut left = limits.head_bytes;
        while left > 0
            && let Ok(Ok(length @ 1..)) = timeout(DISPLACED_READ, transport.read(&mut buffer)).await
        {
            log.reader.feed(&buffer[..length]);
            left = left.saturating_sub(length);
        }
        drop((transport, buffer));
        log.record_rest(EndCause::Displaced).await;
    }

    /// Closes the connection, and reads for a while longer, so that the sender receives the answer.
    /// What arrives is recorded: it may be a smuggled request.
    async fn linger(mut self) {
        let deadline = Instant::now() + LINGER;
        if timeout_at(deadline, self.transport.shutdown())
            .await
            .is_ok()
        {
            loop {
                self.log.record_whole().await;
                let read = tokio::select! {
                    read = timeout_at(deadline, self.transport.read(&mut self.buffer)) => read,
                    () = self.marks.evicted() => break,
                };
                let Ok(Ok(length @ 1..)) = read else { break };
                self.log.reader.feed(&self.buffer[..length]);
            }
        }
        self.log.record_rest(EndCause::Closed).await;
    }
}
