//! `GET /healthz` and `GET /readyz`, without key and Host check: they contain no data. Each client
//! has a rate limit.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use tokio::sync::Mutex;

use crate::state::App;

/// The longest wait for the database.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the process responds.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// How long a result is reused: the check takes the lock for writes, and needs no key.
const FRESH: Duration = Duration::from_secs(1);

/// The last result of the check.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<Option<(Instant, (StatusCode, &'static str))>>);

/// Whether the database can be read and written.
pub async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    let mut last = app.readiness.0.lock().await;
    match *last {
        Some((at, result)) if at.elapsed() < FRESH => result,
        _ => {
            let result = check(&app).await;
            *last = Some((Instant::now(), result));
            result
        }
    }
}

async fn check(app: &App) -> (StatusCode, &'static str) {
    match tokio::time::timeout(TIMEOUT, app.store.check()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(error)) => {
            tracing::error!(%error, "not ready: database");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "the database cannot be used\n",
            )
        }
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not respond\n",
        ),
    }
}
