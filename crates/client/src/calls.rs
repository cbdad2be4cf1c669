//! The calls of a client: those in flight, which a user can cancel, and the last ones that ended.
//!
//! ```text
//!   exchange ─begin─► in flight ─end, or dropped─► the last 1,000        revision ─► CallChanges, awaited while a view is open
//!                        ▲ cancel
//! ```
//!
//! A record has no header, so it never has the key. Credentials in a body are replaced before it is
//! recorded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use super::Error;
use super::error::CANCELLED;
use super::raw::{ANY_BYTES, JSON_LINES, RequestBody};
use super::request::ApiRequest;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::contract::{Shared, Stamp};

/// Calls that are recorded after their end.
const MOST: usize = 1000;
/// Longer bodies are not recorded.
const BODY_LIMIT: usize = 16 << 10;
/// Parts of the names of fields whose values are not recorded.
const SECRETS: [&str; 8] = [
    "authentication",
    "authorization",
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "cookie",
];

scandeck_wire::contract::ids! {
    /// Identifies a call of this client.
    CallId,
}

/// One call, with all its attempts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ApiCall {
    /// In the order of the calls.
    pub id: CallId,
    /// When it began.
    pub started: Option<Stamp>,
    /// `GET`, `POST`, …
    pub method: Shared,
    /// Path below the base URL, with the query.
    pub path: Shared,
    /// The sent body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<SentBody>,
    /// Attempts after the first.
    pub retries: u32,
    /// None while it is in flight.
    pub end: Option<CallEnd>,
}

/// The body of a call, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentBody {
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// The text; none if it was too long to be recorded.
    pub text: Option<Shared>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallEnd {
    /// From the first attempt to the last byte, in milliseconds.
    pub milliseconds: u64,
    /// The status of the last response; none without a response, and without an error if it was no
    /// longer needed.
    pub status: Option<u16>,
    /// Decompressed bytes of the response; of a download, the announced ones.
    pub bytes: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Shared>,
}

/// Wakes when a call begins or ends.
pub type CallChanges = watch::Receiver<u64>;

/// The calls of a client and its clones.
#[derive(Debug)]
pub(super) struct CallLog {
    recorded: Mutex<Recorded>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Recorded {
    last: CallId,
    in_flight: BTreeMap<CallId, CallInFlight>,
    ended: VecDeque<ApiCall>,
}

#[derive(Debug)]
struct CallInFlight {
    call: ApiCall,
    began: Instant,
    cancel: CancellationToken,
}

impl Default for CallLog {
    fn default() -> Self {
        Self {
            recorded: Mutex::default(),
            revision: watch::Sender::new(0),
        }
    }
}

impl CallLog {
    /// Records the beginning of a call.
    pub fn begin(&self, request: &ApiRequest) -> RunningCall<'_> {
        let cancel = CancellationToken::new();
        let mut call = described(request);
        call.started = Some(Stamp(Timestamp::now()));
        let mut recorded = self.lock();
        recorded.last.0 += 1;
        call.id = recorded.last;
        let id = call.id;
        recorded.in_flight.insert(
            id,
            CallInFlight {
                call,
                began: Instant::now(),
                cancel: cancel.clone(),
            },
        );
        drop(recorded);
        self.changed();
        RunningCall {
            log: self,
            id,
            cancel,
        }
    }

    /// Cancels a call; whether it was in flight.
    pub fn cancel(&self, id: CallId) -> bool {
        self.lock()
            .in_flight
            .get(&id)
            .map(|call| call.cancel.cancel())
            .is_some()
    }

    /// The recorded calls, oldest first.
    pub fn calls(&self) -> Vec<ApiCall> {
        let recorded = self.lock();
        let in_flight = recorded.in_flight.values().map(|running| &running.call);
        recorded.ended.iter().chain(in_flight).cloned().collect()
    }

    pub fn changes(&self) -> CallChanges {
        let mut changes = self.revision.subscribe();
        // Calls before now are changes too.
        changes.mark_changed();
        changes
    }

    fn end(&self, id: CallId, end: CallEnd) {
        let mut recorded = self.lock();
        let Some(CallInFlight {
            mut call, began, ..
        }) = recorded.in_flight.remove(&id)
        else {
            return;
        };
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        call.end = Some(CallEnd {
            milliseconds,
            ..end
        });
        if recorded.ended.len() == MOST {
            recorded.ended.pop_front();
        }
        recorded.ended.push_back(call);
        drop(recorded);
        self.changed();
    }

    fn changed(&self) {
        self.revision.send_modify(|revision| *revision += 1);
    }

    /// The lock protects plain records, which stay usable after a panic of another holder.
    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in flight. When it is dropped, the dashboard no longer needs the response.
pub(super) struct RunningCall<'a> {
    log: &'a CallLog,
    id: CallId,
    cancel: CancellationToken,
}

impl RunningCall<'_> {
    /// Waits until the call is cancelled.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Another attempt begins.
    pub fn retry(&self) {
        if let Some(running) = self.log.lock().in_flight.get_mut(&self.id) {
            running.call.retries += 1;
        }
        self.log.changed();
    }

    /// The call was answered with this status and length.
    pub fn succeed(self, status: u16, bytes: u64) {
        self.log.end(
            self.id,
            CallEnd {
                status: Some(status),
                bytes,
                ..CallEnd::default()
            },
        );
    }

    pub fn fail(self, error: &Error) {
        let details = error
            .details
            .as_deref()
            .map(|details| format!(" ({details})"))
            .unwrap_or_default();
        let why = format!("{}{details}", error.message);
        self.log.end(
            self.id,
            CallEnd {
                status: error.status,
                error: Some(why.into()),
                ..CallEnd::default()
            },
        );
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        // Without effect after the end.
        self.log.end(self.id, CallEnd::default());
    }
}

impl ApiCall {
    /// Whether it failed.
    pub fn has_failed(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.error.is_some())
    }

    /// Whether the user cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.end
            .as_ref()
            .is_some_and(|end| end.error.as_deref() == Some(CANCELLED))
    }

    /// How long it took; none while it is in flight.
    pub fn duration(&self) -> Option<Duration> {
        self.end
            .as_ref()
            .map(|end| Duration::from_millis(end.milliseconds))
    }
}

fn described(request: &ApiRequest) -> ApiCall {
    let mut path = request.path.clone();
    if !request.query.is_empty() {
        path.push('?');
        path.push_str(
            &form_urlencoded::Serializer::new(String::new())
                .extend_pairs(&request.query)
                .finish(),
        );
    }
    ApiCall {
        method: request.method.as_str().into(),
        path: path.into(),
        body: sent_body(&request.body),
        ..ApiCall::default()
    }
}

fn sent_body(body: &RequestBody) -> Option<SentBody> {
    let (content_type, text) = match body {
        RequestBody::Empty => return None,
        RequestBody::Form(pairs) => {
            let shown = pairs
                .iter()
                .map(|(name, value)| (name, if is_secret(name) { HIDDEN } else { value }));
            let text = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(shown)
                .finish();
            ("application/x-www-form-urlencoded", text)
        }
        RequestBody::Json(value) => {
            let mut value = value.clone();
            hide(&mut value);
            ("application/json", value.to_string())
        }
        RequestBody::Lines(lines) => (JSON_LINES, lines.clone()),
        RequestBody::File(_) => {
            return Some(SentBody {
                content_type: ANY_BYTES,
                text: None,
            });
        }
    };
    Some(SentBody {
        content_type,
        text: Some(text)
            .filter(|text| text.len() <= BODY_LIMIT)
            .map(Shared::from),
    })
}

/// Replaces the values of fields that can be secret.
fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match is_secret(name) && !value.is_null() {
                    true => *value = Value::from(HIDDEN),
                    false => hide(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_calls_are_limited_and_oldest_are_dropped() {
        let log = CallLog::default();
        for _ in 0..MOST + 3 {
            log.begin(&ApiRequest::get("/scans")).succeed(200, 7);
        }
        let running = log.begin(&ApiRequest::get("/scans/1").with("page", Some(2)));
        let calls = log.calls();
        assert_eq!((calls.len(), calls[0].id), (MOST + 1, CallId(4)));
        assert_eq!(
            calls[0].end.as_ref().map(|end| (end.status, end.bytes)),
            Some((Some(200), 7))
        );
        assert_eq!(
            (calls[MOST].path.as_str(), &calls[MOST].end),
            ("/scans/1?page=2", &None)
        );
        drop(running);
        let dropped = &log.calls()[MOST - 1];
        let end = dropped.end.as_ref().map(|end| (end.status, end.bytes));
        assert!(end == Some((None, 0)) && !dropped.has_failed());
    }

    #[tokio::test]
    async fn call_in_flight_can_be_cancelled_once() {
        let log = CallLog::default();
        let mut changes = log.changes();
        let running = log.begin(&ApiRequest::get("/scans"));
        assert!(log.cancel(CallId(1)));
        running.cancelled().await;
        running.retry();
        running.fail(&Error::cancelled());
        assert!(!log.cancel(CallId(1)));
        assert_eq!(log.calls()[0].retries, 1);
        assert!(changes.has_changed().unwrap());
        changes.borrow_and_update();
        assert!(!changes.has_changed().unwrap());
    }

    #[test]
    fn recorded_body_has_no_secrets() {
        let body = serde_json::json!({
            "tool_params": {"scan_type": "deep", "authentication": {"cookies": "session=x1"}, "headers": [{"Cookie": "x1"}]},
            "targets": ["shop.test"],
        });
        let text = |body: RequestBody| sent_body(&body).unwrap().text.unwrap().to_string();
        let shown = text(RequestBody::Json(body));
        assert!(
            shown.contains("deep") && shown.contains("shop.test") && !shown.contains("x1"),
            "{shown}"
        );
        let form = vec![
            ("label".into(), "probe".to_owned()),
            ("api_key".into(), "x1".to_owned()),
        ];
        let shown = text(RequestBody::Form(form));
        assert!(
            shown.contains("label=probe") && !shown.contains("x1"),
            "{shown}"
        );
        let long = RequestBody::Json(Value::from("a".repeat(BODY_LIMIT)));
        assert_eq!(sent_body(&long).unwrap().text, None);
    }
}
