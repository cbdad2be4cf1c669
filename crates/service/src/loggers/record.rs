//! Stores received requests: each is on disk before its answer.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::http::StatusCode;
use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::capture::{new_capture, token};
use super::is_full;
use crate::errors::ApiError;
use crate::loggers::recorder::{NotRecorded, Recorder};
use crate::net::connections::client_of;
use crate::request_reader::{EndCause, ReceivedRequest, RequestEnd};
use crate::state::App;
use crate::store::loggers::LoggerRow;
use scandeck_wire::contract::LoggerId;

/// The largest recorded body, in bytes.
pub const BODY_LIMIT: usize = 1024 * 1024;

/// Bytes of a body that count as large. Further large bodies are read when an earlier one is
/// recorded.
pub const LARGE_BODY: usize = 64 * 1024;
/// Largest number of large bodies in memory.
const LARGE_BODIES: usize = 64;
/// The same for one address, so that a few slow senders do not hold up everybody.
const LARGE_BODIES_OF_ONE: usize = 8;

/// Records the requests of the logger listener.
#[derive(Clone)]
pub struct LoggerHandler {
    pub(super) app: App,
    recorder: Recorder,
    large_bodies: Arc<Semaphore>,
    /// Those of each address that has some.
    of_client: Arc<Mutex<HashMap<IpAddr, Weak<Semaphore>>>>,
}

/// Allows one large body in memory.
pub struct LargeBodyPermit {
    _of_all: OwnedSemaphorePermit,
    _of_client: OwnedSemaphorePermit,
    /// Kept as long as a permit of it.
    _client: Arc<Semaphore>,
}

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
pub struct RequestSource {
    pub client: SocketAddr,
    pub received_at: Timestamp,
    /// The logger of an earlier request on the connection.
    pub earlier: Option<LoggerId>,
}

/// The result of a request.
pub struct HandledRequest {
    /// The logger that recorded it, or refused to.
    pub logger: Option<LoggerId>,
    /// The error response, if any.
    pub result: Result<(), ApiError>,
    /// Whether the sender receives a response. A part of a request for no logger is dropped
    /// silently.
    pub is_answered: bool,
}

impl LoggerHandler {
    pub fn new(app: App, recorder: Recorder) -> Self {
        Self {
            app,
            recorder,
            large_bodies: Arc::new(Semaphore::new(LARGE_BODIES)),
            of_client: Arc::default(),
        }
    }

    /// Waits until a large body may be read. The permit is held until the body is recorded.
    pub(super) async fn large_body(&self, client: IpAddr) -> Option<LargeBodyPermit> {
        let client = self.permits_of(client_of(client));
        let of_client = Arc::clone(&client).acquire_owned().await.ok()?;
        let of_all = Arc::clone(&self.large_bodies).acquire_owned().await.ok()?;
        Some(LargeBodyPermit {
            _of_all: of_all,
            _of_client: of_client,
            _client: client,
        })
    }

    fn permits_of(&self, client: IpAddr) -> Arc<Semaphore> {
        let mut all = self
            .of_client
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, permits| permits.strong_count() > 0);
        if let Some(permits) = all.get(&client).and_then(Weak::upgrade) {
            return permits;
        }
        let permits = Arc::new(Semaphore::new(LARGE_BODIES_OF_ONE));
        all.insert(client, Arc::downgrade(&permits));
        permits
    }

    pub(super) async fn handle(
        &self,
        request: ReceivedRequest,
        source: RequestSource,
    ) -> HandledRequest {
        let lines = request
            .head
            .values("x-forwarded-for")
            .map(String::from_utf8_lossy)
            .collect::<Vec<_>>()
            .join(",");
        let source = RequestSource {
            client: self.app.proxies.forwarded(source.client, &lines),
            ..source
        };
        let cut = request.end;
        let handled = match self.logger(&request, source.earlier).await {
            Ok(NamedLogger::Of(logger)) => HandledRequest {
                logger: Some(logger.id.into()),
                result: self.record(request, &logger, source).await,
                is_answered: true,
            },
            Ok(NamedLogger::Unknown) => {
                let result = Err(self.keep_unattributed(&request, source));
                let is_part = matches!(cut, RequestEnd::Cut(cause) if cause != EndCause::Pause);
                HandledRequest {
                    logger: None,
                    result,
                    is_answered: !is_part,
                }
            }
            Err(error) => HandledRequest {
                logger: None,
                result: Err(error),
                is_answered: true,
            },
        };
        let status = handled
            .result
            .as_ref()
            .err()
            .map_or(StatusCode::OK, |error| error.status);
        self.app.metrics.count_capture(status);
        handled
    }

    /// The logger that a request names; for bytes without a path, that of an earlier request on the
    /// connection.
    async fn logger(
        &self,
        request: &ReceivedRequest,
        earlier: Option<LoggerId>,
    ) -> Result<NamedLogger, ApiError> {
        let found = match (token(request), earlier) {
            (Some(token), _) => self.app.store.logger_by_token(&token).await?,
            (None, Some(earlier)) if !request.head.is_request() => {
                self.app.store.logger(earlier).await?
            }
            (None, _) => None,
        };
        Ok(found.map_or(NamedLogger::Unknown, NamedLogger::Of))
    }

    async fn record(
        &self,
        request: ReceivedRequest,
        logger: &LoggerRow,
        source: RequestSource,
    ) -> Result<(), ApiError> {
        if logger.days_left(self.app.settings.logger_days, self.app.now()) == 0 {
            return Err(not_recording("this logger has expired"));
        }
        if is_full(&self.app, logger) {
            return Err(full());
        }
        let (refusal, is_unnamed) = (refusal(&request), token(&request).is_none());
        let mut capture = new_capture(
            request,
            logger.id.into(),
            source.received_at.as_millisecond(),
            source.client,
        );
        if is_unnamed {
            capture.problems.push(
                "no logger is named here; an earlier request of the connection named this one"
                    .to_owned(),
            );
        }
        match self.recorder.record(capture).await {
            Ok(()) => refusal.map_or(Ok(()), Err),
            Err(NotRecorded::Refused) => Err(full()),
            Err(NotRecorded::Failed(error)) => Err(ApiError::internal(error)),
            Err(NotRecorded::Unavailable(error)) => Err(ApiError::unavailable(error)),
        }
    }

    /// Keeps a request for no logger; returns the error response.
    fn keep_unattributed(&self, request: &ReceivedRequest, source: RequestSource) -> ApiError {
        let is_readable = request.head.is_request();
        let reason = match request.problems.first() {
            _ if is_readable => "the path names no logger".to_owned(),
            // Of another protocol, which the problem names.
            Some(problem) if request.head.method.is_empty() => problem.clone(),
            _ => "no HTTP request".to_owned(),
        };
        self.app
            .unattributed
            .add(source.client, source.received_at, reason, &request.raw());
        match (request.end, is_readable) {
            (RequestEnd::HeadTooLarge, _) => too_large(),
            (_, true) => ApiError::new(StatusCode::NOT_FOUND, "logger not found"),
            (_, false) => ApiError::bad_request("malformed HTTP request"),
        }
    }
}

enum NamedLogger {
    Of(LoggerRow),
    Unknown,
}

/// The error response to a request that was recorded in part.
fn refusal(request: &ReceivedRequest) -> Option<ApiError> {
    match request.end {
        RequestEnd::HeadTooLarge => {
            Some(too_large().with_details("the request was recorded up to the limit"))
        }
        RequestEnd::BodyTooLarge => Some(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "the body is larger than {BODY_LIMIT} bytes; the request was recorded up to the limit"
            ),
        )),
        RequestEnd::Cut(EndCause::Late) => Some(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "the request did not arrive in time; it was recorded with the part that arrived",
        )),
        RequestEnd::Whole | RequestEnd::Cut(_) => None,
    }
}

fn too_large() -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "the request line and the headers are too large",
    )
}

fn not_recording(message: &str) -> ApiError {
    ApiError::new(StatusCode::GONE, message).with_details("the request was not recorded")
}

fn full() -> ApiError {
    not_recording("this logger is full")
}
