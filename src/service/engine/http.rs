//! The HTTP client of the scanner: safe methods only, with scope check, rate limit, budgets and raw log.
//!
//! ```text
//!   send ──► budget ──► host resolved? ──no──► resolve, scope check ──► a client bound to the addresses
//!                            └──────yes──────────────┴──► rate of the host ──► request ──► body, truncated ──► HttpPage
//! ```
//!
//! Each host is resolved once per scan, and connections go to the checked addresses. The client never follows redirects,
//! uses no proxies of the environment, and accepts all certificates (the TLS scanner checks them). A server that refuses
//! current TLS is read over an older protocol ([`LegacyHttp`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error as _;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use reqwest::{Client, Method, Response, redirect};
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::{Origin, Url};

use super::encoding;
use super::header_values;
use super::legacy_http::{LegacyHttp, TlsFailure};
use super::limits::{ScanCuts, ScanLimits};
use super::pace::{HostLane, RequestPace};
use super::params::Authentication;
use super::run::ScanRun;
use super::throttle::Throttle;
use super::{PRODUCT, ScanOutcome};
use crate::service::scope_check::is_this_host;
use crate::text::plural;

/// Bytes of a body that are read.
const MAX_BODY: usize = 512 * 1024;
/// Bytes of a body that are read of a path that may exist.
const PROBE_BODY: usize = 64 * 1024;
/// No encoding of the body.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");
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
    #[error("invalid HTTP response: {0}")]
    Broken(String),
    #[error("the body cannot be decoded: {0}")]
    Undecodable(String),
    #[error("the server limits the rate of requests (429)")]
    RateLimited,
    #[error("the server stopped responding")]
    Unresponsive,
    #[error("the budget of requests or bytes is exhausted")]
    Budget,
}

impl HttpPage {
    /// A header as text, its lines joined by commas; empty when it is absent. Bytes that are not text become `U+FFFD`.
    pub fn header(&self, name: &str) -> Cow<'_, str> {
        let mut lines = self.all(name);
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |joined, line| Cow::Owned(format!("{joined}, {line}")))
    }

    /// The lines of a header as text.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// The body as text, in the encoding that a browser would choose.
    pub fn text(&self) -> Cow<'_, str> {
        let declared = header_values::charset(&self.header("content-type"));
        encoding::decode(&self.body, declared.as_deref(), self.is_html())
    }

    /// The media type without parameters, in lower case; empty if there is none.
    pub fn media_type(&self) -> String {
        header_values::media_type(&self.header("content-type"))
    }

    /// Whether the content type is HTML.
    pub fn is_html(&self) -> bool {
        matches!(self.media_type().as_str(), "text/html" | "application/xhtml+xml")
    }

    /// 200 or 206.
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200 | 206)
    }

    /// The destination of a redirect.
    pub fn redirect(&self) -> Option<Url> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let location = self.headers.get("location")?;
        is_redirect.then(|| self.url.join(&String::from_utf8_lossy(location.as_bytes())).ok()).flatten()
    }
}

/// The client for one host, with the rate limit of this host.
#[derive(Clone)]
struct HostClient {
    client: Client,
    /// For servers whose TLS the first client refuses.
    legacy: Arc<LegacyHttp>,
    lane: Arc<HostLane>,
    /// Time for a complete answer; a second attempt has twice as much.
    time_limit: Duration,
}

/// The HTTP client of one scan.
pub struct Web<'a> {
    run: &'a ScanRun<'a>,
    /// The rate that the scan requested.
    rate: Option<u32>,
    scan_pace: RequestPace,
    authentication: Authentication,
    /// Credentials are sent to these origins only: that of the target URL, or of a host without scheme over https and
    /// http.
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
    /// Whether an answer needed more than the first time limit; then all requests have the second one.
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
        let urls = ["https", "http"].into_iter().filter_map(|scheme| run.address.url_with(scheme));
        Self {
            run,
            rate: requests_per_second,
            scan_pace: RequestPace::new(requests_per_second),
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
            is_slow: AtomicBool::new(false),
            is_walled: AtomicBool::new(false),
        }
    }

    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Requests a path that may exist, and reads only the beginning of its body.
    pub async fn probe(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send_limited(Method::GET, url, HeaderMap::new(), PROBE_BODY).await
    }

    pub async fn send(&self, method: Method, url: &Url, headers: HeaderMap) -> Result<HttpPage, WebError> {
        self.send_limited(method, url, headers, MAX_BODY).await
    }

    /// Sends one request; callers use GET, HEAD and OPTIONS only. An answer that is cut or slower than the limit is
    /// requested once more, and so is one that the server refuses because of the rate.
    async fn send_limited(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        max_body: usize,
    ) -> Result<HttpPage, WebError> {
        let is_slow = self.is_slow.load(Ordering::Relaxed);
        let mut answer = self.attempt(&method, url, &headers, (is_slow, max_body)).await;
        let is_repeated = match &answer {
            Err(WebError::Broken(_)) => true,
            Err(WebError::Timeout) => !is_slow,
            _ => false,
        };
        if is_repeated {
            answer = self.attempt(&method, url, &without_encoding(&headers), (true, max_body)).await;
        }
        if answer.as_ref().is_ok_and(|page| self.throttle.is_refusal(page)) {
            answer = self.attempt(&method, url, &headers, (true, max_body)).await;
            if let Ok(page) = &answer {
                self.throttle.is_refusal(page);
            }
        }
        match &answer {
            Ok(_) => self.failures.store(0, Ordering::Relaxed),
            Err(WebError::RateLimited | WebError::Budget | WebError::Refused(_)) => {}
            Err(_) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        answer
    }

    async fn attempt(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        (is_patient, max_body): (bool, usize),
    ) -> Result<HttpPage, WebError> {
        self.take_budget(1)?;
        self.scan_pace.wait().await;
        let host = self.client(url).await?;
        let (lane, time_limit) = (&host.lane, host.time_limit);
        let Ok(_connection) = lane.connections.acquire().await else { return Err(WebError::Unresponsive) };
        self.wait_for(lane).await;
        self.throttle.wait().await?;
        let start = Instant::now();
        let limit = if is_patient { time_limit * 2 } else { time_limit };
        let answer = self.exchange(&host, method, url, headers.clone(), (limit, max_body)).await;
        let elapsed = start.elapsed();
        if answer.is_ok() && elapsed > time_limit {
            self.is_slow.store(true, Ordering::Relaxed);
        }
        let line = match &answer {
            Ok(page) => {
                self.bytes.fetch_add(page.body.len() as u64, Ordering::Relaxed);
                format!("{} {} {} bytes", page.status, page.header("content-type"), page.body.len())
            }
            Err(error) => error.to_string(),
        };
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.map(|host| format!(" Host: {host}")).unwrap_or_default();
        self.run.raw(format!("{method} {url}{host} -> {line} ({} ms)", elapsed.as_millis())).await;
        answer
    }

    /// Waits until the rate of a host allows a request.
    async fn wait_for(&self, lane: &HostLane) {
        // A higher rate needs the permission of the operator, which `POST /scans` checks.
        if self.rate.is_none_or(|rate| rate <= lane.limits.requests_per_second) {
            lane.requests.wait().await;
        }
    }

    /// Reports the number of requests as the step of the scan, as long as it is polled: a slow scan would otherwise look
    /// stalled.
    pub async fn report_requests(&self) -> Infallible {
        loop {
            tokio::time::sleep(REPORT_INTERVAL).await;
            let sent = self.max_requests - self.requests_left.load(Ordering::Relaxed);
            self.run.step(format!("{} sent", plural(sent as usize, "request"))).await;
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
        if self.failures.load(Ordering::Relaxed) >= MAX_FAILURES {
            return Err(WebError::Unresponsive);
        }
        if self.throttle.is_exhausted() {
            return Err(WebError::RateLimited);
        }
        let left =
            self.requests_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(requests));
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
        let ips = self.run.resolve(&host).await.map_err(|outcome| match outcome {
            ScanOutcome::FailedToStart(why) => WebError::Refused(why),
            other => WebError::Refused(format!("{other:?}")),
        })?;
        // The client may connect to any of the addresses, so an address elsewhere decides.
        let slowest = ips.iter().find(|ip| !is_this_host(**ip)).or(ips.first());
        let Some(ip) = slowest else { return Err(WebError::Refused(format!("{host} has no allowed address"))) };
        let lane = self.run.lanes.of(*ip);
        let client = self.build(&host, &ips, &lane).map_err(|error| WebError::Broken(error.to_string()))?;
        let here = ips.iter().all(|ip| is_this_host(*ip));
        let time_limit = self.limits().answer_time.unwrap_or(Duration::from_secs(if here { 4 } else { 20 }));
        let (limits, product) = (&lane.limits, self.user_agent());
        let legacy = Arc::new(LegacyHttp::new(&ips, limits.connect_timeout, limits.connections, product));
        let client = HostClient { client, legacy, lane, time_limit };
        clients.insert(host, client.clone());
        Ok(client)
    }

    fn user_agent(&self) -> String {
        format!("{PRODUCT} (security scan {})", self.run.job.scan)
    }

    fn build(&self, host: &str, ips: &[IpAddr], lane: &HostLane) -> reqwest::Result<Client> {
        let addresses: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        Client::builder()
            .user_agent(self.user_agent())
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .http1_only()
            .tls_danger_accept_invalid_certs(true)
            .connect_timeout(lane.limits.connect_timeout)
            .pool_max_idle_per_host(lane.limits.connections)
            .resolve_to_addrs(host, &addresses)
            .build()
    }

    async fn exchange(
        &self,
        host: &HostClient,
        method: &Method,
        url: &Url,
        mut headers: HeaderMap,
        (limit, max_body): (Duration, usize),
    ) -> Result<HttpPage, WebError> {
        headers.entry("accept").or_insert(HeaderValue::from_static("*/*"));
        if self.is_home(url) {
            headers.extend(self.authentication.headers.iter().cloned());
        }
        if host.legacy.serves(url) {
            return self.legacy_exchange(host, method, url, headers, (limit, max_body), None).await;
        }
        let is_plain = headers.get(ACCEPT_ENCODING) == Some(&IDENTITY);
        let request = host.client.request(method.clone(), url.clone()).headers(headers.clone()).timeout(limit);
        match request.send().await {
            Ok(answer) => page(url, answer, is_plain, max_body).await,
            Err(error) => match TlsFailure::of(&error).filter(|_| host.legacy.tried(url) != Some(false)) {
                Some(failure) => {
                    self.scan_pace.wait().await;
                    self.wait_for(&host.lane).await;
                    let limits = (limit, max_body);
                    match self.legacy_exchange(host, method, url, headers, limits, Some(failure)).await {
                        // The first error says what a current client sees.
                        Err(WebError::Connect(_)) => Err(web_error(error)),
                        answer => answer,
                    }
                }
                None => Err(web_error(error)),
            },
        }
    }

    /// A request with the permissive TLS client. `failure` is the preceding failure of rustls, if there was one.
    async fn legacy_exchange(
        &self,
        host: &HostClient,
        method: &Method,
        url: &Url,
        headers: HeaderMap,
        (limit, max_body): (Duration, usize),
        failure: Option<TlsFailure>,
    ) -> Result<HttpPage, WebError> {
        let exchange = async {
            let answer = host.legacy.send(method.clone(), url, headers).await;
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
            page(url, answer, true, max_body).await
        };
        timeout(limit, exchange).await.unwrap_or(Err(WebError::Timeout))
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

/// Reads the body of a response. `is_plain`: the body is not encoded.
async fn page(url: &Url, mut answer: Response, is_plain: bool, max_body: usize) -> Result<HttpPage, WebError> {
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let mut body = Vec::new();
    while body.len() < max_body {
        match answer.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk[..chunk.len().min(max_body - body.len())]),
            Ok(None) => break,
            Err(error) if is_plain && has_no_length(&headers) && lacks_close_notify(&error) => break,
            Err(error) => return Err(web_error(error)),
        }
    }
    Ok(HttpPage { url: url.clone(), status, headers, body })
}

pub fn headers<const N: usize>(pairs: [(&'static str, &str); N]) -> HeaderMap {
    let pairs = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?)));
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
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.last().is_some_and(|cause| cause.to_string().contains("close_notify"))
}

fn web_error(error: reqwest::Error) -> WebError {
    if error.is_timeout() {
        return WebError::Timeout;
    }
    let (connect, decode) = (error.is_connect(), error.is_decode());
    // The innermost cause is the most useful one for the user.
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    let mut is_cut = false;
    while let Some(inner) = cause.source() {
        cause = inner;
        is_cut |= inner.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::UnexpectedEof);
    }
    let is_cut = is_cut || cause.to_string().contains("end of file");
    let cause = match cause.to_string() {
        cause if cause.contains("close_notify") => "the connection ended before the body".to_owned(),
        cause => cause,
    };
    match () {
        // The name of a rustls error.
        () if connect && cause.contains("InvalidContentType") => WebError::NotTls,
        () if connect => WebError::Connect(cause.split(" (os error").next().unwrap_or_default().to_lowercase()),
        () if decode && !is_cut => WebError::Undecodable(cause),
        () => WebError::Broken(cause),
    }
}

#[cfg(test)]
mod host_tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::mpsc;

    use super::*;
    use crate::contract::Tool;
    use crate::service::address::Address;
    use crate::service::engine::hostile_tests::server;
    use crate::service::engine::pace::Lanes;
    use crate::service::engine::testing::{ChangingResolver, TestScan};

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
        let run = ScanRun::new(&job, Address::parse(&job.target).unwrap(), &settings, &lanes, events);
        let web = Web::new(&run, None, Authentication::default(), 10);
        for (url, rate, is_home) in [
            ("http://127.0.0.1:8080/a", 200, true),
            ("http://127.0.0.1/", 200, false),
            ("https://127.0.0.1:8080/", 200, false),
            ("http://shop.acme.test:8080/", 10, false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(web.client(&url).await.unwrap().lane.limits.requests_per_second, rate, "{url}");
            assert_eq!(web.is_home(&url), is_home, "{url}");
        }
    }

    #[tokio::test]
    async fn credentials_of_host_without_scheme_settle_on_the_first_origin_that_responds() {
        let scan = TestScan::new(Tool::WEBSITE, "localhost", json!({}));
        let (job, lanes, events) = (scan.job.clone(), Lanes::new(64), mpsc::channel(16).0);
        let settings = scan.engine_settings();
        let run = ScanRun::new(&job, Address::parse(&job.target).unwrap(), &settings, &lanes, events);
        let web = Web::new(&run, None, Authentication::default(), 10);
        let [http, https, other] =
            ["http://localhost/", "https://localhost/", "http://localhost:8080/"].map(|url| Url::parse(url).unwrap());
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
        let scan = TestScan::new(Tool::WEBSITE, &format!("https://127.0.0.1:{port}/"), json!({}));
        let (job, lanes, events) = (scan.job.clone(), Lanes::new(64), mpsc::channel(16).0);
        let settings = scan.engine_settings();
        let run = ScanRun::new(&job, Address::parse(&job.target).unwrap(), &settings, &lanes, events);
        let web = Web::new(&run, Some(4), Authentication::default(), 10);
        let (start, url) = (Instant::now(), Url::parse(&job.target).unwrap());
        assert!(matches!(web.get(&url).await, Err(WebError::Connect(_))));
        assert!(start.elapsed() >= Duration::from_secs(1) / 4, "{:?}", start.elapsed());
        assert_eq!(web.client(&url).await.unwrap().legacy.tried(&url), Some(false));
    }
}
