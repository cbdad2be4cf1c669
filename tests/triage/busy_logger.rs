//! A logger over HTTP that generates any number of captures on demand.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use scandeck::contract::{Capture, CaptureId, Logger, LoggerId, Stamp};
use serde_json::json;

/// The logger; the number of its captures can grow at any time.
#[derive(Default)]
pub struct BusyLogger {
    captures: AtomicI64,
    /// Every so many captures one has a body of 8 to 64 kB; none without it.
    big: AtomicI64,
    lists: AtomicUsize,
    readings: Mutex<Vec<i64>>,
}

impl BusyLogger {
    /// Sets the number of captures; one in `big` has a body.
    pub fn generate(&self, captures: i64, big: i64) {
        self.big.store(big, Ordering::Relaxed);
        self.captures.store(captures, Ordering::Relaxed);
    }

    /// How often the list of loggers was read.
    pub fn lists(&self) -> usize {
        self.lists.load(Ordering::Relaxed)
    }

    /// The capture after which each fetch began; 0 for all.
    pub fn readings(&self) -> Vec<i64> {
        self.readings.lock().unwrap().clone()
    }

    /// The answer to a path of loggers.
    pub fn answer(&self, path: &str, since: Option<i64>) -> Option<Response> {
        let captures = self.captures.load(Ordering::Relaxed);
        match path {
            "http_loggers" if captures > 0 => {
                self.lists.fetch_add(1, Ordering::Relaxed);
                let logger = Logger {
                    id: LoggerId(1),
                    label: "probe".into(),
                    active_days: 30,
                    num_requests: captures,
                    requests_left: 1_000_000,
                    ..Logger::default()
                };
                Some(Json(json!({"data": [logger]})).into_response())
            }
            "http_loggers/1/data" => {
                let since = since.unwrap_or(0);
                self.readings.lock().unwrap().push(since);
                Some(page(since + 1..=captures, self.big.load(Ordering::Relaxed)))
            }
            _ => None,
        }
    }
}

fn page(ids: RangeInclusive<i64>, big: i64) -> Response {
    let first = *ids.start();
    let each = ids.map(move |id| {
        let comma = if id == first { "" } else { "," };
        format!(
            "{comma}{}",
            serde_json::to_string(&capture(id, big)).unwrap()
        )
    });
    let begin = stream::iter(["{\"data\":{\"requests\":[".to_owned()]);
    let end = stream::iter(["]}}".to_owned()]);
    let body = begin
        .chain(stream::iter(each))
        .chain(end)
        .map(Ok::<_, Infallible>);
    (
        [("content-type", "application/json")],
        Body::from_stream(body),
    )
        .into_response()
}

pub fn capture(id: i64, big: i64) -> Capture {
    let size = if big > 0 && id % big == 0 {
        8 + id / big % 57
    } else {
        0
    };
    let body = format!("{{\"number\":{id:020}}}\n").repeat(32 * size as usize);
    Capture {
        id: CaptureId(id),
        ip_address: format!("203.0.113.{}", id % 200).into(),
        request_method: "POST".into(),
        url_params: format!("n={id}").into(),
        user_agent: "curl/8.5.0".into(),
        http_headers: vec![
            "Host: probe.gen.test".into(),
            "User-Agent: curl/8.5.0".into(),
            "Accept: */*".into(),
        ],
        request_body_base64: STANDARD.encode(body).into(),
        request_date: Some(Stamp(
            Timestamp::from_second(1_800_000_000 + id / 1_000).unwrap(),
        )),
        ..Capture::default()
    }
}
