//! Answers that are broken or huge, in place of the list of findings.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::json;

use crate::moving::{findings, text_of};

/// The number of findings that a chunked response has before it breaks.
const BEFORE_BREAK: usize = 50_000;

/// A broken answer.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    WrongType,
    Redirect,
    BadChunk,
    NotModified,
    ErrorBody,
    Undecodable,
}

impl Fault {
    pub const ALL: [Self; 6] = [
        Self::WrongType,
        Self::Redirect,
        Self::BadChunk,
        Self::NotModified,
        Self::ErrorBody,
        Self::Undecodable,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::WrongType => "keys beside a wrong type",
            Self::Redirect => "keys beside a redirect",
            Self::BadChunk => "keys beside a bad chunk",
            Self::NotModified => "keys beside an unrequested 304",
            Self::ErrorBody => "keys beside an error body with 200",
            Self::Undecodable => "keys beside findings that cannot be decoded",
        }
    }

    fn answer(self, numbers: Vec<usize>) -> Response {
        match self {
            Self::WrongType => Json(json!({"data": {"findings": "none"}})).into_response(),
            Self::Redirect => {
                (StatusCode::FOUND, [(header::LOCATION, "/api/v2/elsewhere")]).into_response()
            }
            Self::NotModified => StatusCode::NOT_MODIFIED.into_response(),
            Self::ErrorBody => {
                Json(json!({"status": 500, "message": "database is locked", "details": null}))
                    .into_response()
            }
            Self::BadChunk => {
                let begin = std::iter::once("{\"data\":[".to_owned());
                let parts = (0..BEFORE_BREAK.min(numbers.len()))
                    .map(|number| format!("{},", text_of(number)));
                let broken = std::iter::once(Err(io::Error::other("broken")));
                let body = stream::iter(begin.chain(parts).map(Ok).chain(broken));
                (
                    [(header::CONTENT_TYPE, "application/json")],
                    Body::from_stream(body),
                )
                    .into_response()
            }
            // A field occurs twice in each of them.
            Self::Undecodable => findings(numbers, |number| {
                text_of(number).replacen('{', "{\"name\":\"first\",", 1)
            }),
        }
    }
}

/// Switches faults on and off.
#[derive(Clone, Default)]
pub struct FaultSwitch(Arc<AtomicUsize>);

impl FaultSwitch {
    pub fn set(&self, fault: Option<Fault>) {
        self.0.store(
            fault.map_or(0, |fault| fault as usize + 1),
            Ordering::Relaxed,
        );
    }

    /// The broken answer, if there is one.
    pub fn answer(&self, numbers: &dyn Fn() -> Vec<usize>) -> Option<Response> {
        let number = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        Some(Fault::ALL[number].answer(numbers()))
    }
}
