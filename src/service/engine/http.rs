//! HTTP as the scanner speaks it: reading methods only, one place for rails, pace, budgets and the ledger.
//!
//! ```text
//!   send ──► budget ──► pace ──► host known? ──no──► resolve, rails ──► a client bound to those addresses
//!                                     └──────yes──────────────┴──► request ──► body, cut ──► Page, a ledger line
//! ```
//!
//! Each host is resolved once a scan, and connections go to the addresses that were checked. Redirects are never
//! followed here, proxies of the environment never used, certificates never judged (that is the TLS scanner's).

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, redirect};
use thiserror::Error;
use tokio::sync::Mutex;
use url::Url;

use super::pace::{HostLane, RequestPace};
use super::params::Authentication;
use super::run::ScanRun;
use super::{PRODUCT, ScanOutcome};
use crate::service::rails::is_this_host;

/// Bytes of a body that are read; the rest is not fetched.
const MAX_BODY: usize = 512 * 1024;
/// Requests in a row without an answer after which a host counts as gone.
const GIVE_UP_AFTER: u32 = 8;
/// Bytes that one scan may fetch.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// An answer.
#[derive(Clone, Debug)]
pub struct HttpPage {
    /// What was asked for.
    pub url: Url,
    /// Status code.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// The body, cut at a limit.
    pub body: Vec<u8>,
}

/// Why there was no answer.
#[derive(Clone, Debug, Error)]
pub enum WebError {
    #[error("{0}")]
    Refused(String),
    #[error("no connection: {0}")]
    Connect(String),
    #[error("no whole answer in time")]
    Timeout,
    #[error("no HTTP: {0}")]
    Broken(String),
    #[error("the server stopped answering")]
    GaveUp,
    #[error("the scan's budget of requests or bytes is spent")]
    Budget,
}

impl HttpPage {
    /// A header as text; the empty string where it is absent or no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Every value of a header.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// The body as text, whatever bytes it has.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Whether it says it is a web page.
    pub fn is_html(&self) -> bool {
        let kind = self.header("content-type").to_ascii_lowercase();
        kind.contains("text/html") || kind.contains("application/xhtml")
    }

    /// 200 or 206.
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200 | 206)
    }

    /// Where it sends the visitor, if it does.
    pub fn redirect(&self) -> Option<Url> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let location = self.headers.get("location")?;
        is_redirect.then(|| self.url.join(&String::from_utf8_lossy(location.as_bytes())).ok()).flatten()
    }
}

/// The HTTP side of one scan.
pub struct Web<'a> {
    run: &'a ScanRun<'a>,
    lane: Arc<HostLane>,
    /// The scan's own pace, where it asks for a slower one.
    own_pace: RequestPace,
    authentication: Authentication,
    /// Credentials go to this host alone, and not from https to http.
    home: (String, bool),
    clients: Mutex<HashMap<String, Client>>,
    requests_left: AtomicU32,
    bytes: AtomicU64,
    silent: AtomicU32,
}

impl<'a> Web<'a> {
    /// For a target at `ip`.
    pub fn new(
        run: &'a ScanRun<'a>,
        ip: IpAddr,
        requests_per_second: Option<u32>,
        authentication: Authentication,
        max_requests: u32,
    ) -> Self {
        Self {
            run,
            lane: run.lanes.of(ip),
            own_pace: RequestPace::new(requests_per_second),
            authentication,
            home: (run.address.host(), run.address.url().is_some_and(|url| url.scheme() == "https")),
            clients: Mutex::default(),
            requests_left: AtomicU32::new(max_requests),
            bytes: AtomicU64::new(0),
            silent: AtomicU32::new(0),
        }
    }

    /// Fetches a page.
    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Sends one request; only GET, HEAD and OPTIONS are ever given.
    pub async fn send(&self, method: Method, url: &Url, headers: HeaderMap) -> Result<HttpPage, WebError> {
        self.spend()?;
        self.own_pace.turn().await;
        let Ok(_connection) = self.lane.connections.acquire().await else { return Err(WebError::GaveUp) };
        self.lane.requests.turn().await;
        let client = self.client(url).await?;
        let start = Instant::now();
        let answer = self.exchange(&client, method.clone(), url, headers).await;
        let took = start.elapsed().as_millis();
        match &answer {
            Ok(page) => {
                self.silent.store(0, Ordering::Relaxed);
                self.bytes.fetch_add(page.body.len() as u64, Ordering::Relaxed);
                let kind = page.header("content-type");
                self.run
                    .raw(format!("{method} {url} -> {} {kind} {} bytes {took} ms", page.status, page.body.len()))
                    .await;
            }
            Err(error) => {
                self.silent.fetch_add(1, Ordering::Relaxed);
                self.run.raw(format!("{method} {url} -> {error} {took} ms")).await;
            }
        }
        answer
    }

    /// Why later checks saw less than they asked for, if so.
    pub fn shortfall(&self) -> Option<WebError> {
        self.spend_with(0).err()
    }

    fn spend(&self) -> Result<(), WebError> {
        self.spend_with(1)
    }

    fn spend_with(&self, requests: u32) -> Result<(), WebError> {
        if self.silent.load(Ordering::Relaxed) >= GIVE_UP_AFTER {
            return Err(WebError::GaveUp);
        }
        let left =
            self.requests_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(requests));
        if left.is_err() || self.bytes.load(Ordering::Relaxed) > MAX_BYTES {
            return Err(WebError::Budget);
        }
        Ok(())
    }

    /// The client bound to the checked addresses of the URL's host.
    async fn client(&self, url: &Url) -> Result<Client, WebError> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(&host) {
            return Ok(client.clone());
        }
        let ips = self.run.resolve(&host).await.map_err(|outcome| match outcome {
            ScanOutcome::FailedToStart(why) => WebError::Refused(why),
            other => WebError::Refused(format!("{other:?}")),
        })?;
        let client = self.build(&host, &ips).map_err(|error| WebError::Broken(error.to_string()))?;
        clients.insert(host, client.clone());
        Ok(client)
    }

    fn build(&self, host: &str, ips: &[IpAddr]) -> reqwest::Result<Client> {
        let here = ips.iter().all(|ip| is_this_host(*ip));
        let addresses: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        Client::builder()
            .user_agent(format!("{PRODUCT} (security scan {})", self.run.job.scan))
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .http1_only()
            .tls_danger_accept_invalid_certs(true)
            .connect_timeout(self.lane.limits.connect_timeout)
            .timeout(Duration::from_secs(if here { 4 } else { 20 }))
            .pool_max_idle_per_host(self.lane.limits.connections)
            .resolve_to_addrs(host, &addresses)
            .build()
    }

    async fn exchange(
        &self,
        client: &Client,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
    ) -> Result<HttpPage, WebError> {
        headers.entry("accept").or_insert(HeaderValue::from_static("*/*"));
        if self.is_home(url) {
            headers.extend(self.authentication.headers.iter().cloned());
        }
        let mut answer = client.request(method, url.clone()).headers(headers).send().await.map_err(judge)?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(judge)? {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_BODY - body.len())]);
            if body.len() == MAX_BODY {
                break;
            }
        }
        Ok(HttpPage { url: url.clone(), status, headers, body })
    }

    fn is_home(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        host == self.home.0 && (!self.home.1 || url.scheme() == "https")
    }
}

/// Headers from pairs.
pub fn headers<const N: usize>(pairs: [(&'static str, &str); N]) -> HeaderMap {
    let pairs = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?)));
    pairs.collect()
}

fn judge(error: reqwest::Error) -> WebError {
    if error.is_timeout() {
        return WebError::Timeout;
    }
    let connect = error.is_connect();
    // The innermost cause is the one a person can act on.
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if connect { WebError::Connect(cause.to_string()) } else { WebError::Broken(cause.to_string()) }
}
