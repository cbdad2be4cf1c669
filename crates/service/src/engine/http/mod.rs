//! The HTTP client of the scanner: safe methods only, except for a log-in, with scope check, rate
//! limit, budgets and raw log.
//!
//! ```text
//!   send ──► budget ──► host resolved? ──no──► resolve, scope check ──► a client bound to the addresses
//!                            └──────yes──────────────┴──► rate of the host ──► request ──► body, truncated ──► HttpPage
//!
//!   request:  hyper, HTTP/1 ──► TLS refused ────────────► older TLS                     (legacy_http)
//!                    ├────────► response refused, cut ──► second attempt as curl reads  (tolerant_http)
//!                    └────────► HTTP/2 only ────────────► hyper, HTTP/2
//! ```
//!
//! What works is remembered for the port.
//!
//! Each host is resolved once per scan, and connections go to the checked addresses. The client
//! never follows redirects, uses no proxies of the environment, and accepts all certificates (the
//! TLS scanner checks them). A server that refuses current TLS is read over an older protocol
//! (`legacy_http`).

mod attempt;
mod cookie_jar;
mod error;
mod host;
mod login;
mod page;
mod protocols;
mod session;
#[cfg(test)]
mod tests;

pub use error::{WebError, is_malformed};
pub use host::MAX_HEADERS;
pub use page::HttpPage;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Mutex;
use url::{Origin, Url};

use self::host::HostClient;
use self::protocols::without_encoding;
use self::session::ScanSession;
use super::SecretDigests;
use super::limits::{ScanCuts, ScanLimits};
use super::pace::RequestPace;
use super::params::Authentication;
use super::request_times::RequestTimes;
use super::run::ScanRun;
use super::throttle::Throttle;
use scandeck_wire::text::plural;

/// Bytes of a body that are read.
pub const MAX_BODY: usize = 512 * 1024;
/// Bytes of a body that are read of a path that may exist.
const PROBE_BODY: usize = 64 * 1024;
/// Consecutive failed requests after which the scan stops sending.
const MAX_FAILURES: u32 = 8;
/// How often a scan reports its progress.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(5);
/// Bytes that one scan may fetch, for each request that it may send.
const MAX_BYTES: u64 = 128 * 1024;

/// What a request sends and how much of its answer it reads.
#[derive(Clone, Copy, Debug)]
struct SendLimits {
    /// Whether the credentials of the scan are sent to its target.
    with_login: bool,
    /// Bytes of the body.
    max_body: usize,
}

/// How one attempt of a request reads the response.
#[derive(Clone, Copy, Debug)]
struct AttemptLimits {
    /// Twice the time.
    is_patient: bool,
    /// Reads as curl does, on a new connection.
    is_tolerant: bool,
    send: SendLimits,
}

/// The HTTP client of one scan.
pub struct Web<'a> {
    run: &'a ScanRun<'a>,
    /// The rate that the scan requested.
    rate: Option<u32>,
    scan_pace: RequestPace,
    authentication: Authentication,
    session: ScanSession,
    /// Credentials are sent to these origins only: that of the target URL, or of a host without
    /// scheme over https and http.
    origins: Vec<Origin>,
    /// The origin that responded first, and that alone receives credentials from then on.
    home: OnceLock<Origin>,
    clients: Mutex<HashMap<String, HostClient>>,
    max_requests: u32,
    requests_left: AtomicU32,
    max_bytes: u64,
    bytes: AtomicU64,
    failures: AtomicU32,
    throttle: Throttle,
    times: RequestTimes,
    /// The rate of the host of the last request.
    host_rate: AtomicU32,
    /// The URLs of responses that were not whole.
    faults: std::sync::Mutex<HashSet<Url>>,
    /// Whether an answer needed more than the first time limit; then all requests have the second
    /// one.
    is_slow: AtomicBool,
    /// Whether the target led to a log-in page instead of its own start page.
    is_walled: AtomicBool,
}

impl<'a> Web<'a> {
    pub fn new(
        run: &'a ScanRun<'a>,
        requests_per_second: Option<u32>,
        authentication: Authentication,
        max_requests: u32,
    ) -> Self {
        let urls = ["https", "http"]
            .into_iter()
            .filter_map(|scheme| run.address.url_with(scheme));
        Self {
            run,
            rate: requests_per_second,
            scan_pace: RequestPace::new(requests_per_second),
            session: ScanSession::new(authentication.headers.clone()),
            authentication,
            origins: urls.map(|url| url.origin()).collect(),
            home: OnceLock::new(),
            clients: Mutex::default(),
            max_requests,
            requests_left: AtomicU32::new(max_requests),
            max_bytes: u64::from(max_requests) * MAX_BYTES,
            bytes: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            throttle: Throttle::default(),
            times: RequestTimes::default(),
            host_rate: AtomicU32::new(u32::MAX),
            faults: std::sync::Mutex::default(),
            is_slow: AtomicBool::new(false),
            is_walled: AtomicBool::new(false),
        }
    }

    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Requests a path that may exist, and reads only the beginning of its body.
    pub async fn probe(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.get_up_to(url, PROBE_BODY).await
    }

    /// Like `probe`, without the credentials of the scan: for tests whether everybody gets the
    /// answer.
    pub async fn probe_without_login(&self, url: &Url) -> Result<HttpPage, WebError> {
        let limits = SendLimits {
            with_login: false,
            max_body: PROBE_BODY,
        };
        self.send_limited(Method::GET, url, HeaderMap::new(), limits)
            .await
    }

    /// Requests a page, and reads up to `max_body` bytes of its body.
    pub async fn get_up_to(&self, url: &Url, max_body: usize) -> Result<HttpPage, WebError> {
        self.send_limited(
            Method::GET,
            url,
            HeaderMap::new(),
            SendLimits {
                with_login: true,
                max_body,
            },
        )
        .await
    }

    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<HttpPage, WebError> {
        self.send_limited(
            method,
            url,
            headers,
            SendLimits {
                with_login: true,
                max_body: MAX_BODY,
            },
        )
        .await
    }

    /// Sends one request; callers use GET, HEAD and OPTIONS only. An answer that is cut or slower
    /// than the limit is requested once more, and so is one that the server refuses because of the
    /// rate.
    async fn send_limited(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        send: SendLimits,
    ) -> Result<HttpPage, WebError> {
        let is_slow = self.is_slow.load(Ordering::Relaxed);
        let first = AttemptLimits {
            is_patient: is_slow,
            is_tolerant: false,
            send,
        };
        let second = AttemptLimits {
            is_patient: true,
            ..first
        };
        let tolerant = AttemptLimits {
            is_tolerant: true,
            ..second
        };
        let session = self.session.number();
        let mut answer = self.attempt(&method, url, &headers, first).await;
        let repeated = match &answer {
            Err(WebError::Broken(_) | WebError::Silent | WebError::Malformed(_)) => Some(tolerant),
            Err(WebError::Timeout) if !is_slow => Some(second),
            Ok(page) if page.fault.is_some() => Some(tolerant),
            _ => None,
        };
        if let Some(limits) = repeated {
            answer = better(
                answer,
                self.attempt(&method, url, &without_encoding(&headers), limits)
                    .await,
            );
        }
        if answer
            .as_ref()
            .is_ok_and(|page| self.throttle.is_refusal(page))
        {
            answer = self.attempt(&method, url, &headers, second).await;
            if let Ok(page) = &answer {
                self.throttle.is_refusal(page);
            }
        }
        let is_of_session = send.with_login && self.is_home(url);
        if is_of_session && self.has_new_session(&answer, session).await {
            answer = self.attempt(&method, url, &headers, second).await;
        }
        if let Ok(HttpPage {
            fault: Some(fault), ..
        }) = &answer
        {
            self.report_fault(url, fault).await;
        }
        match &answer {
            Ok(_) => self.failures.store(0, Ordering::Relaxed),
            Err(
                WebError::RateLimited
                | WebError::Budget
                | WebError::LoggedOut(_)
                | WebError::Refused(_),
            ) => {}
            Err(_) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        answer
    }

    /// Reports the number of requests as the step of the scan, and what the scan waits for, as long
    /// as it is polled: a slow scan would otherwise look stalled.
    pub async fn report_requests(&self) -> Infallible {
        loop {
            tokio::time::sleep(REPORT_INTERVAL).await;
            let sent = self.max_requests - self.requests_left.load(Ordering::Relaxed);
            let sent = format!("{} sent", plural(sent as usize, "request"));
            let rate = self
                .rate
                .unwrap_or(u32::MAX)
                .min(self.host_rate.load(Ordering::Relaxed));
            let reason = self.times.reason(
                tokio::time::Instant::now(),
                rate,
                self.throttle.pause_left(),
            );
            self.run
                .step(
                    [Some(sent), reason]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(" · "),
                )
                .await;
        }
    }

    /// Records that the target led to a log-in page.
    pub fn set_walled(&self) {
        self.is_walled.store(true, Ordering::Relaxed);
    }

    pub fn is_walled(&self) -> bool {
        self.is_walled.load(Ordering::Relaxed)
    }

    /// The limits of the results of a scan.
    pub fn limits(&self) -> &ScanLimits {
        &self.run.settings.limits
    }

    /// Makes the digests of the secrets that the scan finds.
    pub fn secret_digests(&self) -> &SecretDigests {
        &self.run.job.secret_digests
    }

    /// Counts results that a limit cut.
    pub fn cut(&self, count: impl FnOnce(&mut ScanCuts)) {
        self.run.cut(count);
    }

    /// Why checks are incomplete, if so.
    pub fn shortfall(&self) -> Option<WebError> {
        self.take_budget(0).err()
    }

    fn take_budget(&self, requests: u32) -> Result<(), WebError> {
        if let Some(why) = self.session.end() {
            return Err(WebError::LoggedOut(why.clone()));
        }
        if self.failures.load(Ordering::Relaxed) >= MAX_FAILURES {
            return Err(WebError::Unresponsive);
        }
        if self.throttle.is_exhausted() {
            return Err(WebError::RateLimited);
        }
        let left = self
            .requests_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(requests)
            });
        if left.is_err() || self.bytes.load(Ordering::Relaxed) > self.max_bytes {
            return Err(WebError::Budget);
        }
        Ok(())
    }

    /// Limits credentials to the origin of this URL, if they may be sent there at all.
    pub fn settle(&self, url: &Url) {
        let origin = url.origin();
        if self.origins.contains(&origin) {
            let _ = self.home.set(origin);
        }
    }

    /// Whether credentials are sent with a request of this URL.
    pub fn is_home(&self, url: &Url) -> bool {
        let origin = url.origin();
        match self.home.get() {
            Some(home) => *home == origin,
            None => self.origins.contains(&origin),
        }
    }
}

/// The better of two answers to one request: a whole one, then the longer one.
fn better(
    first: Result<HttpPage, WebError>,
    second: Result<HttpPage, WebError>,
) -> Result<HttpPage, WebError> {
    match (&first, &second) {
        (Ok(_), Err(_)) => first,
        (Ok(one), Ok(other)) if other.fault.is_some() && one.body.len() > other.body.len() => first,
        _ => second,
    }
}

pub fn headers<const N: usize>(pairs: [(&'static str, &str); N]) -> HeaderMap {
    let pairs = pairs.into_iter().filter_map(|(name, value)| {
        Some((
            HeaderName::from_static(name),
            HeaderValue::from_str(value).ok()?,
        ))
    });
    pairs.collect()
}
