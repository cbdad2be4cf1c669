//! `GET /healthz` and `GET /readyz`, without key and Host check: they contain no data.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use super::state::App;

/// The longest wait for the database.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the process responds.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the database can be read and written.
pub async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    match tokio::time::timeout(TIMEOUT, app.store.check()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n"),
        Ok(Err(error)) => {
            tracing::error!(%error, "not ready: database");
            (StatusCode::SERVICE_UNAVAILABLE, "the database cannot be used\n")
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not respond\n"),
    }
}
