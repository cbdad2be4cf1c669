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
//! ([`LegacyHttp`]).

mod cookie_jar;
mod login;
mod session;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt};
use hyper::body::Bytes;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue,
    TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Client, ClientBuilder, Method, Response, redirect};
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::{Origin, Url};

use self::session::ScanSession;
use super::body::{self, BodyFault, ReadBody};
use super::exchange::SentHead;
use super::legacy_http::{LegacyHttp, TlsFailure, causes};
use super::limits::{ScanCuts, ScanLimits};
use super::pace::{HostLane, RequestPace};
use super::params::Authentication;
use super::request_times::RequestTimes;
use super::run::ScanRun;
use super::throttle::Throttle;
use super::tolerant_http::{self, TolerantHttp, TolerantResponse, WireStream};
use super::{PRODUCT, ScanOutcome};
use crate::scope_check::is_this_host;
use scandeck_wire::body_text::{self, BodyHeaders};
use scandeck_wire::text::plural;

/// Bytes of a body that are read.
pub const MAX_BODY: usize = 512 * 1024;
/// Bytes of a body that are read of a path that may exist.
const PROBE_BODY: usize = 64 * 1024;
/// No encoding of the body.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");
/// Header lines that hyper reads; more are left to the tolerant client, because hyper reserves
/// memory for all of them.
pub const MAX_HEADERS: usize = 1000;
/// Size of the headers of HTTP/2, as in curl.
const MAX_HEADER_SIZE: u32 = 300 * 1024;
/// Incomplete responses that a line of the scan names; the others are counted.
const NAMED_FAULTS: usize = 5;
/// Consecutive failed requests after which the scan stops sending.
const MAX_FAILURES: u32 = 8;
/// How often a scan reports its progress.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(5);
/// Bytes that one scan may fetch, for each request that it may send.
const MAX_BYTES: u64 = 128 * 1024;

/// A response.
#[derive(Clone, Debug)]
pub struct HttpPage {
    /// The requested URL.
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    /// The body, truncated at a limit.
    pub body: Vec<u8>,
    /// Why the body is not whole; what arrived is in `body`.
    pub fault: Option<BodyFault>,
    /// What was sent for it.
    pub request: Arc<SentHead>,
}

/// Why there was no response.
#[derive(Clone, Debug, Error)]
pub enum WebError {
    #[error("{0}")]
    Refused(String),
    #[error("cannot connect: {0}")]
    Connect(String),
    #[error("the port responds, but not with TLS; use http:// if it serves plain HTTP")]
    NotTls,
    #[error("no complete response before the timeout")]
    Timeout,
    #[error("no HTTP response")]
    Tls,
    #[error("the server closed the connection without a response")]
    Silent,
    #[error("no complete response: {0}")]
    Broken(String),
    #[error("invalid HTTP response: {0}")]
    Malformed(String),
    #[error("the response is not HTTP: it begins with \"{0}\"")]
    NotHttp(String),
    #[error("the server speaks HTTP/2 only")]
    Http2,
    #[error("the server limits the rate of requests (429)")]
    RateLimited,
    #[error("the server stopped responding")]
    Unresponsive,
    #[error("the budget of requests or bytes is exhausted")]
    Budget,
    /// The session of the scan has ended.
    #[error("{0}")]
    LoggedOut(String),
}

impl HttpPage {
    /// A header as text, its lines joined by commas; empty when it is absent. Bytes that are not
    /// text become `U+FFFD`.
    pub fn header(&self, name: &str) -> Cow<'_, str> {
        let mut lines = self.all(name);
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |joined, line| {
            Cow::Owned(format!("{joined}, {line}"))
        })
    }

    /// The lines of a header as text.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// The body as text, in the encoding that a browser would choose.
    pub fn text(&self) -> Cow<'_, str> {
        let [kind, options] = self.body_headers();
        body_text::text(&self.body, body_headers(&kind, &options))
    }

    /// The media type without parameters, in lower case; empty if there is none.
    pub fn media_type(&self) -> String {
        body_text::media_type(&self.header("content-type"))
    }

    /// Whether the content type is HTML; without a type, whether a browser would take the body for
    /// HTML.
    pub fn is_html(&self) -> bool {
        let [kind, options] = self.body_headers();
        body_text::is_html(&self.body, body_headers(&kind, &options))
    }

    /// Type and options of the body.
    fn body_headers(&self) -> [Cow<'_, str>; 2] {
        ["content-type", "x-content-type-options"].map(|name| self.header(name))
    }

    /// 200 or 206.
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200 | 206)
    }

    /// The destination of a redirect.
    pub fn redirect(&self) -> Option<Url> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let location = self.headers.get("location")?;
        is_redirect
            .then(|| {
                self.url
                    .join(&String::from_utf8_lossy(location.as_bytes()))
                    .ok()
            })
            .flatten()
    }
}

/// The client for one host, with the rate limit of this host.
#[derive(Clone)]
struct HostClient {
    client: Client,
    /// For servers whose TLS the first client refuses.
    legacy: Arc<LegacyHttp>,
    /// For responses that the first client refuses.
    tolerant: Arc<TolerantHttp>,
    /// For servers without HTTP/1.
    http2: Client,
    dialects: Arc<PortDialects>,
    lane: Arc<HostLane>,
    /// Time for a complete answer; a second attempt has twice as much.
    time_limit: Duration,
}

/// How the server of a port is read, if not by HTTP/1 of hyper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HttpDialect {
    /// As curl reads HTTP/1.
    Tolerant,
    Http2,
    /// HTTP/2 was tried in vain.
    NoHttp2,
}

/// The dialects of the ports of one host.
#[derive(Debug, Default)]
struct PortDialects(std::sync::Mutex<HashMap<u16, HttpDialect>>);

impl PortDialects {
    fn of(&self, url: &Url) -> Option<HttpDialect> {
        let ports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default()
            .and_then(|port| ports.get(&port).copied())
    }

    /// Remembers a dialect; true if it is new.
    fn set(&self, url: &Url, dialect: HttpDialect) -> bool {
        let mut ports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default()
            .is_some_and(|port| ports.insert(port, dialect) != Some(dialect))
    }
}

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

    /// Names a response that is not whole in a line of the scan, and counts it; once for each URL.
    async fn report_fault(&self, url: &Url, fault: &BodyFault) {
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
                .info(format!("{url}: {fault}. What arrived was judged."))
                .await;
        }
    }

    async fn attempt(
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
    async fn wait_for_host(&self, lane: &HostLane) -> Result<(), WebError> {
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
    async fn wait_for(&self, lane: &HostLane) {
        // A higher rate needs the permission of the operator, which `POST /scans` checks.
        if self
            .rate
            .is_none_or(|rate| rate <= lane.limits.requests_per_second)
        {
            lane.requests.wait().await;
        }
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

    /// The client that is bound to the checked addresses of the host.
    async fn client(&self, url: &Url) -> Result<HostClient, WebError> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(&host) {
            return Ok(client.clone());
        }
        let ips = self
            .run
            .resolve(&host)
            .await
            .map_err(|outcome| match outcome {
                ScanOutcome::FailedToStart(why) => WebError::Refused(why),
                other => WebError::Refused(format!("{other:?}")),
            })?;
        // The client may connect to any of the addresses, so an address elsewhere decides.
        let slowest = ips.iter().find(|ip| !is_this_host(**ip)).or(ips.first());
        let Some(ip) = slowest else {
            return Err(WebError::Refused(format!("{host} has no allowed address")));
        };
        let client = self.new_client(&host, &ips, self.run.lanes.of(*ip))?;
        clients.insert(host, client.clone());
        Ok(client)
    }

    fn new_client(
        &self,
        host: &str,
        ips: &[IpAddr],
        lane: Arc<HostLane>,
    ) -> Result<HostClient, WebError> {
        let broken = |error: reqwest::Error| WebError::Broken(error.to_string());
        let http1 = self.builder(host, ips, &lane).http1_only();
        let http2 = self
            .builder(host, ips, &lane)
            .http2_prior_knowledge()
            .http2_max_header_list_size(MAX_HEADER_SIZE);
        let is_here = ips.iter().all(|ip| is_this_host(*ip));
        let answer_time = Duration::from_secs(if is_here { 4 } else { 20 });
        let connect_timeout = lane.limits.connect_timeout;
        let legacy = LegacyHttp::new(
            ips,
            connect_timeout,
            lane.limits.connections,
            self.user_agent(),
        );
        Ok(HostClient {
            client: http1.build().map_err(broken)?,
            http2: http2.build().map_err(broken)?,
            legacy: Arc::new(legacy),
            tolerant: Arc::new(TolerantHttp::new(ips, connect_timeout)),
            dialects: Arc::default(),
            time_limit: self.limits().answer_time.unwrap_or(answer_time),
            lane,
        })
    }

    fn user_agent(&self) -> String {
        format!("{PRODUCT} (security scan {})", self.run.job.scan)
    }

    /// A client with the tolerance of browsers, as far as hyper has it.
    fn builder(&self, host: &str, ips: &[IpAddr], lane: &HostLane) -> ClientBuilder {
        let addresses: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        Client::builder()
            .user_agent(self.user_agent())
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            // `body` decodes.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .http1_max_headers(MAX_HEADERS)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .tls_danger_accept_invalid_certs(true)
            .connect_timeout(lane.limits.connect_timeout)
            .pool_max_idle_per_host(lane.limits.connections)
            .resolve_to_addrs(host, &addresses)
    }

    async fn exchange(
        &self,
        host: &HostClient,
        method: &Method,
        url: &Url,
        mut headers: HeaderMap,
        AttemptLimits {
            is_tolerant, send, ..
        }: AttemptLimits,
        limit: Duration,
    ) -> Result<HttpPage, WebError> {
        headers
            .entry("accept")
            .or_insert(HeaderValue::from_static("*/*"));
        headers
            .entry(ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static(body::ACCEPTED));
        let credentials = match send.with_login && self.is_home(url) {
            true => self.session.headers(),
            false => Vec::new(),
        };
        headers.extend(credentials.iter().cloned());
        let sent = SentHead::new(method, url, &headers, &self.user_agent(), &credentials);
        let request = WebRequest {
            method,
            url,
            headers,
            limit,
            max_body: send.max_body,
            sent: Arc::new(sent),
        };
        match host.dialects.of(url) {
            Some(HttpDialect::Http2) => {
                return request
                    .send(&host.http2)
                    .await
                    .map_err(web_error)?
                    .page(&request)
                    .await;
            }
            Some(HttpDialect::Tolerant) => return self.tolerant_exchange(host, request).await,
            _ if is_tolerant => return self.tolerant_exchange(host, request).await,
            _ if host.legacy.serves(url) => return self.legacy_exchange(host, request, None).await,
            _ => {}
        }
        match request.send(&host.client).await {
            Ok(answer) => answer.page(&request).await,
            Err(error) => self.exchange_again(host, request, error).await,
        }
    }

    /// Tries the protocol for which a server may have refused HTTP/1.1 over current TLS.
    async fn exchange_again(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
        error: reqwest::Error,
    ) -> Result<HttpPage, WebError> {
        let url = request.url;
        if refuses_http1(&error) && host.dialects.of(url).is_none() {
            self.next_turn(host).await;
            let answer = self.http2_exchange(host, &request).await;
            return answer.unwrap_or_else(|| Err(web_error(error)));
        }
        let is_worth_it = host.legacy.tried(url) != Some(false);
        let Some(failure) = TlsFailure::of(&error).filter(|_| is_worth_it) else {
            return Err(web_error(error));
        };
        self.next_turn(host).await;
        match self.legacy_exchange(host, request, Some(failure)).await {
            // The first error says what a current client sees.
            Err(WebError::Connect(_)) => Err(web_error(error)),
            answer => answer,
        }
    }

    /// Waits as before a request, for a further one of the same attempt.
    async fn next_turn(&self, host: &HostClient) {
        self.scan_pace.wait().await;
        self.wait_for(&host.lane).await;
    }

    /// A request with the permissive TLS client. `failure` is the preceding failure of rustls, if
    /// there was one.
    async fn legacy_exchange(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
        failure: Option<TlsFailure>,
    ) -> Result<HttpPage, WebError> {
        let url = request.url;
        let exchange = async {
            let answer = host
                .legacy
                .send(request.method.clone(), url, request.headers.clone())
                .await;
            let is_needed = match (&answer, failure) {
                // A server that closes connections at random may accept current TLS too.
                (Ok((_, negotiated)), Some(failure)) => {
                    Some(failure == TlsFailure::Refused || negotiated.is_outdated())
                }
                (Err(WebError::Connect(_)), Some(_)) => Some(false),
                _ => None,
            };
            let is_first = is_needed.is_some_and(|is_needed| host.legacy.settle(url, is_needed));
            let (answer, negotiated) = answer?;
            if is_first {
                let origin = url.origin().ascii_serialization();
                let line = format!(
                    "{origin} refuses current TLS; it is read over {negotiated}. The TLS scanner shows the risks."
                );
                self.run.info(line).await;
            }
            WebAnswer(answer).page(&request).await
        };
        timeout(request.limit, exchange)
            .await
            .unwrap_or(Err(WebError::Timeout))
    }

    /// A request whose response is read as curl does. A server that answers with HTTP/2, or only
    /// closes a connection inside TLS, is asked once by HTTP/2.
    async fn tolerant_exchange(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
    ) -> Result<HttpPage, WebError> {
        let WebRequest {
            method,
            url,
            max_body,
            limit,
            ..
        } = request;
        let is_https = url.scheme() == "https";
        let mut headers = request.headers.clone();
        headers.extend(
            HeaderValue::from_str(&self.user_agent())
                .ok()
                .map(|product| (USER_AGENT, product)),
        );
        let exchange = async {
            let stream: Box<dyn WireStream> = match host.legacy.serves(url) {
                true => Box::new(host.legacy.connect(url).await?),
                false => host.tolerant.connect(url).await?,
            };
            // Encoded data is usually smaller than the body.
            let most = max_body + max_body / 8;
            tolerant_http::exchange(stream, method, url, &headers, most).await
        };
        let error = match timeout(limit, exchange)
            .await
            .unwrap_or(Err(WebError::Timeout))
        {
            Ok(response) => return Ok(tolerant_page(response, &request).await),
            Err(error) => error,
        };
        let may_be_http2 = match &error {
            WebError::Http2 => true,
            WebError::Silent | WebError::Broken(_) => is_https && !host.legacy.serves(url),
            _ => false,
        };
        if may_be_http2 && host.dialects.of(url) != Some(HttpDialect::NoHttp2) {
            self.next_turn(host).await;
            return self
                .http2_exchange(host, &request)
                .await
                .unwrap_or(Err(error));
        }
        Err(error)
    }

    /// A request by HTTP/2; `None` if the server does not speak it.
    async fn http2_exchange(
        &self,
        host: &HostClient,
        request: &WebRequest<'_>,
    ) -> Option<Result<HttpPage, WebError>> {
        let Ok(answer) = request.send(&host.http2).await else {
            host.dialects.set(request.url, HttpDialect::NoHttp2);
            return None;
        };
        if host.dialects.set(request.url, HttpDialect::Http2) {
            let origin = request.url.origin().ascii_serialization();
            self.run
                .info(format!(
                    "{origin} speaks HTTP/2 only; it is read over HTTP/2."
                ))
                .await;
        }
        Some(answer.page(request).await)
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

/// A request, without the client that sends it.
struct WebRequest<'r> {
    method: &'r Method,
    url: &'r Url,
    headers: HeaderMap,
    /// Time for the complete response.
    limit: Duration,
    max_body: usize,
    sent: Arc<SentHead>,
}

impl WebRequest<'_> {
    async fn send(&self, client: &Client) -> reqwest::Result<WebAnswer> {
        let request = client
            .request(self.method.clone(), self.url.clone())
            .headers(self.headers.clone());
        request.timeout(self.limit).send().await.map(WebAnswer)
    }
}

/// A response whose body was not read.
struct WebAnswer(Response);

impl WebAnswer {
    async fn page(self, request: &WebRequest<'_>) -> Result<HttpPage, WebError> {
        let (status, headers) = (self.0.status().as_u16(), self.0.headers().clone());
        let encodings = content_encoding(&headers);
        let body = body::read(
            Box::pin(self.0.bytes_stream()),
            &encodings,
            request.max_body,
        )
        .await;
        let ReadBody {
            bytes,
            received,
            failure,
            fault,
        } = body;
        let fault = match failure {
            Some(error) if error.is_timeout() => return Err(WebError::Timeout),
            Some(error) if !(has_no_length(&headers) && lacks_close_notify(&error)) => {
                Some(BodyFault::Cut(cut_words(&headers, received, &error)))
            }
            _ => fault,
        };
        Ok(HttpPage {
            url: request.url.clone(),
            status,
            headers,
            body: bytes,
            fault,
            request: Arc::clone(&request.sent),
        })
    }
}

async fn tolerant_page(response: TolerantResponse, request: &WebRequest<'_>) -> HttpPage {
    let TolerantResponse {
        status,
        headers,
        body,
        fault,
    } = response;
    let chunk: Result<Bytes, Infallible> = Ok(Bytes::from(body));
    let chunks = stream::iter([chunk]).boxed();
    let decoded = body::read(chunks, &content_encoding(&headers), request.max_body).await;
    let fault = fault.or(decoded.fault);
    HttpPage {
        url: request.url.clone(),
        status,
        headers,
        body: decoded.bytes,
        fault,
        request: Arc::clone(&request.sent),
    }
}

fn body_headers<'h>(content_type: &'h str, content_type_options: &'h str) -> BodyHeaders<'h> {
    BodyHeaders {
        content_type,
        content_type_options,
    }
}

fn content_encoding(headers: &HeaderMap) -> String {
    let lines = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|line| String::from_utf8_lossy(line.as_bytes()));
    lines.collect::<Vec<_>>().join(", ")
}

/// What is missing of a body.
fn cut_words(headers: &HeaderMap, received: usize, error: &reqwest::Error) -> String {
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    match length {
        Some(length) => format!("the connection ended after {received} of {length} bytes"),
        None if is_cut(error) => "the connection ended before the last chunk".to_owned(),
        None => innermost(error),
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

/// The headers of a second attempt. Of an answer that is not encoded, [`has_no_length`] is known.
fn without_encoding(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    headers
}

/// Whether the end of the connection is the end of the body.
fn has_no_length(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING)
}

/// Whether the server closed a TLS connection without close_notify, as many old ones do.
fn lacks_close_notify(error: &reqwest::Error) -> bool {
    innermost(error).contains("close_notify")
}

/// Whether the connection ended before the response.
fn is_cut(error: &reqwest::Error) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_end))
        || innermost(error).contains("end of file")
}

/// Whether hyper refuses the form of a response.
pub fn is_malformed(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse)
    })
}

/// Whether a TLS server refuses the protocol HTTP/1.
fn refuses_http1(error: &reqwest::Error) -> bool {
    let refused = rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol);
    causes(error).any(|cause| cause.downcast_ref::<rustls::Error>() == Some(&refused))
}

/// The innermost cause, the most useful one for the user.
fn innermost(error: &reqwest::Error) -> String {
    causes(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn web_error(error: reqwest::Error) -> WebError {
    if error.is_timeout() {
        return WebError::Timeout;
    }
    let error = error.without_url();
    let cause = match innermost(&error) {
        cause if cause.contains("close_notify") => {
            "the connection ended before the body".to_owned()
        }
        cause => cause
            .split(" (os error")
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    match () {
        // The name of a rustls error.
        () if error.is_connect() && cause.contains("InvalidContentType") => WebError::NotTls,
        () if error.is_connect() => WebError::Connect(cause.to_lowercase()),
        () if is_malformed(&error) => WebError::Malformed(cause),
        () => WebError::Broken(cause),
    }
}

#[cfg(test)]
mod host_tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::mpsc;

    use super::*;
    use crate::engine::hostile_tests::server;
    use crate::engine::pace::Lanes;
    use crate::engine::testing::{ChangingResolver, TestScan};
    use crate::net::address::Address;
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn rate_limit_and_credentials_belong_to_the_host_of_the_request() {
        let folder = tempfile::tempdir().unwrap();
        let mut scan = TestScan::new(Tool::WEBSITE, "http://127.0.0.1:8080/", json!({}));
        scan.scope_file = folder.path().join("scope.toml");
        std::fs::write(&scan.scope_file, "allow = [{ target = 'shop.acme.test' }]").unwrap();
        // No request is sent to this address.
        scan.resolver = ChangingResolver::new(&["192.0.2.1"]);
        let (job, lanes, events) = (scan.job.clone(), Lanes::new(64), mpsc::channel(16).0);
        let settings = scan.engine_settings();
        let run = ScanRun::new(
            &job,
            Address::parse(&job.target).unwrap(),
            &settings,
            &lanes,
            events,
        );
        let web = Web::new(&run, None, Authentication::default(), 10);
        for (url, rate, is_home) in [
            ("http://127.0.0.1:8080/a", 200, true),
            ("http://127.0.0.1/", 200, false),
            ("https://127.0.0.1:8080/", 200, false),
            ("http://shop.acme.test:8080/", 10, false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(
                web.client(&url)
                    .await
                    .unwrap()
                    .lane
                    .limits
                    .requests_per_second,
                rate,
                "{url}"
            );
            assert_eq!(web.is_home(&url), is_home, "{url}");
        }
    }

    #[tokio::test]
    async fn credentials_of_host_without_scheme_settle_on_the_first_origin_that_responds() {
        let scan = TestScan::new(Tool::WEBSITE, "localhost", json!({}));
        let (job, lanes, events) = (scan.job.clone(), Lanes::new(64), mpsc::channel(16).0);
        let settings = scan.engine_settings();
        let run = ScanRun::new(
            &job,
            Address::parse(&job.target).unwrap(),
            &settings,
            &lanes,
            events,
        );
        let web = Web::new(&run, None, Authentication::default(), 10);
        let [http, https, other] = [
            "http://localhost/",
            "https://localhost/",
            "http://localhost:8080/",
        ]
        .map(|url| Url::parse(url).unwrap());
        assert!(web.is_home(&http) && web.is_home(&https) && !web.is_home(&other));
        web.settle(&https);
        assert!(!web.is_home(&http) && web.is_home(&https));
    }

    #[tokio::test]
    async fn attempt_with_outdated_tls_keeps_the_rate_of_the_scan() {
        // Refuses every handshake.
        let port = server(|mut stream| async move {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 40]).await;
        })
        .await;
        let scan = TestScan::new(
            Tool::WEBSITE,
            &format!("https://127.0.0.1:{port}/"),
            json!({}),
        );
        let (job, lanes, events) = (scan.job.clone(), Lanes::new(64), mpsc::channel(16).0);
        let settings = scan.engine_settings();
        let run = ScanRun::new(
            &job,
            Address::parse(&job.target).unwrap(),
            &settings,
            &lanes,
            events,
        );
        let web = Web::new(&run, Some(4), Authentication::default(), 10);
        let (start, url) = (Instant::now(), Url::parse(&job.target).unwrap());
        assert!(matches!(web.get(&url).await, Err(WebError::Connect(_))));
        assert!(
            start.elapsed() >= Duration::from_secs(1) / 4,
            "{:?}",
            start.elapsed()
        );
        assert_eq!(
            web.client(&url).await.unwrap().legacy.tried(&url),
            Some(false)
        );
    }
}
