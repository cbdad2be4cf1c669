//! One attempt of a request: its budget, its pace, and what is recorded of its answer.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use reqwest::Method;
use reqwest::header::{HOST, HeaderMap};
use url::Url;

use super::host::{HostClient, HttpDialect};
use super::{AttemptLimits, HttpPage, Web, WebError};
use crate::engine::body::BodyFault;
use crate::engine::pace::HostLane;

/// Incomplete responses that a line of the scan names; the others are counted.
const NAMED_FAULTS: usize = 5;

impl Web<'_> {
    /// Names a response that is not whole in a line of the scan, and counts it; once for each URL.
    pub(super) async fn report_fault(&self, url: &Url, fault: &BodyFault) {
        let is_new = self
            .faults
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(url.clone());
        if !is_new {
            return;
        }
        let mut count = 0;
        self.cut(|cuts| {
            cuts.responses += 1;
            count = cuts.responses;
        });
        if count <= NAMED_FAULTS {
            self.run
                .info(format!("{url}: {fault}. The received part was checked."))
                .await;
        }
    }

    pub(super) async fn attempt(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        limits: AttemptLimits,
    ) -> Result<HttpPage, WebError> {
        self.take_budget(1)?;
        let paced = Instant::now();
        self.scan_pace.wait().await;
        self.times.add_pause(paced.elapsed());
        let host = self.client(url).await?;
        let Ok(_connection) = host.lane.connections.acquire().await else {
            return Err(WebError::Unresponsive);
        };
        self.wait_for_host(&host.lane).await?;
        let start = Instant::now();
        let number = self.times.begin(start.into());
        let limit = if limits.is_patient {
            host.time_limit * 2
        } else {
            host.time_limit
        };
        let answer = self
            .exchange(&host, method, url, headers.clone(), limits, limit)
            .await;
        self.times.end(number, Instant::now().into());
        let elapsed = start.elapsed();
        self.record_answer(&host, url, &answer, elapsed);
        self.log_answer(method, url, headers, &answer, elapsed)
            .await;
        answer
    }

    /// Waits until the host and its limits allow a request.
    pub(super) async fn wait_for_host(&self, lane: &HostLane) -> Result<(), WebError> {
        let paced = Instant::now();
        self.wait_for(lane).await;
        self.times.add_pause(paced.elapsed());
        self.host_rate
            .store(lane.limits.requests_per_second, Ordering::Relaxed);
        self.throttle.wait().await
    }

    fn record_answer(
        &self,
        host: &HostClient,
        url: &Url,
        answer: &Result<HttpPage, WebError>,
        elapsed: Duration,
    ) {
        if matches!(answer, Err(WebError::Malformed(_))) && host.dialects.of(url).is_none() {
            host.dialects.set(url, HttpDialect::Tolerant);
        }
        if let Ok(page) = answer {
            let bytes = page.body.len() as u64;
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            if elapsed > host.time_limit {
                self.is_slow.store(true, Ordering::Relaxed);
            }
        }
    }

    async fn log_answer(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        answer: &Result<HttpPage, WebError>,
        elapsed: Duration,
    ) {
        let words = match answer {
            Ok(page) => {
                let kind = page.header("content-type");
                let bytes = page.body.len();
                let fault = page.fault.as_ref().map(|fault| format!(", {fault}"));
                let fault = fault.unwrap_or_default();
                format!("{} {kind} {bytes} bytes{fault}", page.status)
            }
            Err(error) => error.to_string(),
        };
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.map(|host| format!(" Host: {host}"));
        let host = host.unwrap_or_default();
        let took = elapsed.as_millis();
        self.run
            .raw(format!("{method} {url}{host} -> {words} ({took} ms)"))
            .await;
    }

    /// Waits until the rate of a host allows a request.
    pub(super) async fn wait_for(&self, lane: &HostLane) {
        // A higher rate needs the permission of the operator, which `POST /scans` checks.
        if self
            .rate
            .is_none_or(|rate| rate <= lane.limits.requests_per_second)
        {
            lane.requests.wait().await;
        }
    }
}
