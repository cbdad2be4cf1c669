//! Every request of the API as operators see it: request id, access log, audit log, metrics.
//!
//! ```text
//!   request ─► id ─► handler (its log lines contain the id) ─► response with X-Request-Id
//!                                                                 ├─► access log    ├─► metrics
//!                                                                 └─► audit log: changes, 401 and 403
//! ```
//!
//! A change whose connection ends before the response is in the logs too.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use tracing::Instrument;

use crate::errors::shown;
use crate::guards::audit::{AuditedCounts, AuditedRequest, RequestSender};
use crate::runs::remote::protocol::WORKER_ROOT;
use crate::state::App;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Numbers the requests of this process.
#[derive(Debug, Default)]
pub struct RequestCounter(AtomicU64);

/// The status in the logs of a change whose connection ended before the response: the client left,
/// or the service stopped. Proxies write it for clients that leave.
const CLIENT_LEFT: u16 = 499;

/// Responds to a request of `client`; `is_forwarded` means that a trusted proxy sent it.
pub async fn observe<F: Future<Output = Response>>(
    app: &App,
    client: SocketAddr,
    is_forwarded: bool,
    mut request: Request,
    respond: impl FnOnce(Request) -> F,
) -> Response {
    let id = forwarded_id(request.headers())
        .filter(|_| is_forwarded)
        .unwrap_or_else(|| new_id(app));
    let mut observed = ObservedRequest {
        app,
        client,
        id,
        method: request.method().clone(),
        path: shown(request.uri().path()),
        sender: RequestSender::default(),
        began: Instant::now(),
        is_answered: false,
    };
    set_id(request.headers_mut(), &observed.id);
    request.extensions_mut().insert(observed.sender.clone());
    let span = tracing::info_span!("request", request_id = observed.id.as_str());
    let mut response = respond(request).instrument(span).await;
    observed.is_answered = true;
    set_id(response.headers_mut(), &observed.id);
    let counts = response.extensions_mut().remove::<AuditedCounts>();
    observed.record(response.status(), counts);
    response
}

/// A request that is being answered. It is dropped without an answer when its client leaves; its
/// change may go on, or be made already.
struct ObservedRequest<'a> {
    app: &'a App,
    client: SocketAddr,
    id: String,
    method: Method,
    path: String,
    sender: RequestSender,
    began: Instant,
    is_answered: bool,
}

impl ObservedRequest<'_> {
    fn is_routine(&self) -> bool {
        is_read(&self.method) || self.path.starts_with(WORKER_ROOT)
    }

    fn record(&self, status: StatusCode, counts: Option<AuditedCounts>) {
        let elapsed = self.began.elapsed();
        let identity = self.sender.identity();
        let entry = AuditedRequest {
            request_id: &self.id,
            client: self.client.ip().to_canonical().to_string(),
            key: identity.map(|identity| identity.name.as_str()),
            role: identity.map(|identity| identity.role.as_str()),
            method: self.method.as_str(),
            path: &self.path,
            status: status.as_u16(),
            counts,
        };
        let is_routine = self.is_routine();
        log(&entry, is_routine, elapsed.as_micros() as f64 / 1000.0);
        if is_audited(is_routine, status) {
            self.app.audit.write("request", &entry, self.app.now());
        }
        self.app
            .metrics
            .count_request(&self.method, status, elapsed);
    }
}

impl Drop for ObservedRequest<'_> {
    fn drop(&mut self) {
        let is_change = !self.is_routine() && self.sender.identity().is_some();
        if !self.is_answered
            && is_change
            && let Ok(status) = StatusCode::from_u16(CLIENT_LEFT)
        {
            self.record(status, None);
        }
    }
}

fn set_id(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}

/// Changes and refusals of keys. Throttled requests (429) and those of workers are excluded: they
/// could fill the disk.
fn is_audited(is_routine: bool, status: StatusCode) -> bool {
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    is_refused || (!is_routine && status != StatusCode::TOO_MANY_REQUESTS)
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Reads and requests of workers are debug messages, because dashboards poll and workers beat.
fn log(entry: &AuditedRequest, is_routine: bool, millis: f64) {
    let AuditedRequest {
        request_id,
        client,
        key,
        method,
        path,
        status,
        ..
    } = entry;
    let key = key.unwrap_or("-");
    macro_rules! event {
        ($level:ident) => {
            tracing::$level!(target: "scandeck::access", request_id, client, key, %method, path, status, millis, "request")
        };
    }
    match *status {
        500.. => event!(warn),
        429 => event!(debug),
        400.. => event!(info),
        _ if is_routine => event!(debug),
        _ => event!(info),
    }
}

fn new_id(app: &App) -> String {
    format!(
        "{:08x}-{:06x}",
        app.boot as u32,
        app.requests.0.fetch_add(1, Ordering::Relaxed)
    )
}

/// The id that a proxy assigned.
fn forwarded_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    ((1..=64).contains(&id.len()) && id.chars().all(is_valid)).then(|| id.to_owned())
}
