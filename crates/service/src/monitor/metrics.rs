//! Metrics in the text format of Prometheus, on a listener of their own (`--metrics-listen`).
//!
//! The listener needs no key, so it has no data of scans: counts, times and states only.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;

use crate::errors::ApiError;
use crate::net::connections::ConnectionHandler;
use crate::state::App;
use crate::store::DatabaseError;

/// Upper bounds of the histogram of response times, in seconds.
const BOUNDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Counters of a running service.
#[derive(Debug)]
pub struct Metrics {
    started: Instant,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Requests of the API by method and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// Requests by response time: one bucket for each bound, and one beyond.
    durations: [u64; BOUNDS.len() + 1],
    seconds: f64,
    /// Requests of the loggers by status.
    captures: BTreeMap<u16, u64>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            counts: Mutex::default(),
        }
    }
}

impl Metrics {
    pub fn count_request(&self, method: &Method, status: StatusCode, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        let bucket = BOUNDS
            .iter()
            .position(|bound| seconds <= *bound)
            .unwrap_or(BOUNDS.len());
        let mut counts = self.counts();
        *counts
            .requests
            .entry((method_label(method), status.as_u16()))
            .or_default() += 1;
        counts.durations[bucket] += 1;
        counts.seconds += seconds;
    }

    pub fn count_capture(&self, status: StatusCode) {
        *self.counts().captures.entry(status.as_u16()).or_default() += 1;
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters in the text format.
    fn text(&self) -> String {
        let mut text = String::new();
        let counts = self.counts();
        family(
            &mut text,
            "scandeck_http_requests_total",
            "counter",
            "Requests of the API.",
        );
        for ((method, status), count) in &counts.requests {
            let _ = writeln!(
                text,
                "scandeck_http_requests_total{{method=\"{method}\",status=\"{status}\"}} {count}"
            );
        }
        let name = "scandeck_http_request_duration_seconds";
        family(
            &mut text,
            name,
            "histogram",
            "Time to the response of the API.",
        );
        let mut total = 0;
        for (bound, count) in BOUNDS.iter().zip(counts.durations) {
            total += count;
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {total}");
        }
        total += counts.durations[BOUNDS.len()];
        let _ = writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {total}\n{name}_sum {}\n{name}_count {total}",
            counts.seconds
        );
        family(
            &mut text,
            "scandeck_logger_requests_total",
            "counter",
            "Requests of the HTTP loggers.",
        );
        for (status, count) in &counts.captures {
            let _ = writeln!(
                text,
                "scandeck_logger_requests_total{{status=\"{status}\"}} {count}"
            );
        }
        family(
            &mut text,
            "scandeck_uptime_seconds",
            "gauge",
            "Time since the start of the service.",
        );
        let _ = writeln!(
            text,
            "scandeck_uptime_seconds {}",
            self.started.elapsed().as_secs()
        );
        family(
            &mut text,
            "scandeck_build_info",
            "gauge",
            "The version of the service.",
        );
        let _ = writeln!(
            text,
            "scandeck_build_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        text
    }
}

/// Unknown methods have one label, so that clients cannot create labels.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Answers `GET /metrics`.
#[derive(Clone)]
pub struct MetricsHandler(pub App);

impl ConnectionHandler for MetricsHandler {
    fn respond(&self, _: SocketAddr, request: Request) -> BoxFuture<'static, Response> {
        let app = self.0.clone();
        let is_scrape = request.method() == Method::GET && request.uri().path() == "/metrics";
        Box::pin(async move {
            match is_scrape {
                true => scrape(&app)
                    .await
                    .map_err(ApiError::internal)
                    .into_response(),
                false => {
                    ApiError::new(StatusCode::NOT_FOUND, "only GET /metrics is available here")
                        .into_response()
                }
            }
        })
    }
}

async fn scrape(app: &App) -> Result<Response, DatabaseError> {
    let mut text = app.metrics.text();
    let (active, running) = (
        app.store.active_scans().await?,
        app.store.running_scans().await?,
    );
    family(
        &mut text,
        "scandeck_scans",
        "gauge",
        "Scans that have not ended.",
    );
    let _ = writeln!(text, "scandeck_scans{{state=\"running\"}} {running}");
    let _ = writeln!(
        text,
        "scandeck_scans{{state=\"waiting\"}} {}",
        (active - running).max(0)
    );
    let loggers = app
        .store
        .live_loggers(app.settings.logger_days, app.now())
        .await?;
    family(
        &mut text,
        "scandeck_loggers_recording",
        "gauge",
        "HTTP loggers that record.",
    );
    let _ = writeln!(text, "scandeck_loggers_recording {loggers}");
    let name = "scandeck_logger_unattributed_total";
    family(
        &mut text,
        name,
        "counter",
        "Requests to the listener of the loggers that name no logger.",
    );
    let _ = writeln!(text, "{name} {}", app.unattributed.count());
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_cumulative_buckets_and_bounded_labels() {
        let metrics = Metrics::default();
        for (method, millis) in [(Method::GET, 0), (Method::GET, 7), (Method::GET, 60_000)] {
            metrics.count_request(&method, StatusCode::OK, Duration::from_millis(millis));
        }
        metrics.count_request(
            &Method::from_bytes(b"EVIL").unwrap(),
            StatusCode::METHOD_NOT_ALLOWED,
            Duration::ZERO,
        );
        metrics.count_capture(StatusCode::GONE);
        let text = metrics.text();
        for line in [
            "scandeck_http_requests_total{method=\"GET\",status=\"200\"} 3",
            "scandeck_http_requests_total{method=\"other\",status=\"405\"} 1",
            "scandeck_http_request_duration_seconds_bucket{le=\"0.001\"} 2",
            "scandeck_http_request_duration_seconds_bucket{le=\"0.01\"} 3",
            "scandeck_http_request_duration_seconds_bucket{le=\"+Inf\"} 4",
            "scandeck_http_request_duration_seconds_count 4",
            "scandeck_logger_requests_total{status=\"410\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
