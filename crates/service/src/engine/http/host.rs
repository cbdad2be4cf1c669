//! The clients for one host, which are bound to its checked addresses.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};
use url::Url;

use super::{Web, WebError};
use crate::engine::legacy_http::LegacyHttp;
use crate::engine::pace::HostLane;
use crate::engine::tolerant_http::TolerantHttp;
use crate::engine::{PRODUCT, ScanOutcome};
use crate::scope_check::is_this_host;

/// Header lines that hyper reads; more are left to the tolerant client, because hyper reserves
/// memory for all of them.
pub const MAX_HEADERS: usize = 1000;
/// Size of the headers of HTTP/2, as in curl.
const MAX_HEADER_SIZE: u32 = 300 * 1024;

/// The client for one host, with the rate limit of this host.
#[derive(Clone)]
pub(super) struct HostClient {
    pub(super) client: Client,
    /// For servers whose TLS the first client refuses.
    pub(super) legacy: Arc<LegacyHttp>,
    /// For responses that the first client refuses.
    pub(super) tolerant: Arc<TolerantHttp>,
    /// For servers without HTTP/1.
    pub(super) http2: Client,
    pub(super) dialects: Arc<PortDialects>,
    pub(super) lane: Arc<HostLane>,
    /// Time for a complete answer; a second attempt has twice as much.
    pub(super) time_limit: Duration,
}

/// How the server of a port is read, if not by HTTP/1 of hyper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpDialect {
    /// As curl reads HTTP/1.
    Tolerant,
    Http2,
    /// HTTP/2 was tried in vain.
    NoHttp2,
}

/// The dialects of the ports of one host.
#[derive(Debug, Default)]
pub(super) struct PortDialects(std::sync::Mutex<HashMap<u16, HttpDialect>>);

impl PortDialects {
    pub(super) fn of(&self, url: &Url) -> Option<HttpDialect> {
        let ports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default()
            .and_then(|port| ports.get(&port).copied())
    }

    /// Remembers a dialect; true if it is new.
    pub(super) fn set(&self, url: &Url, dialect: HttpDialect) -> bool {
        let mut ports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        url.port_or_known_default()
            .is_some_and(|port| ports.insert(port, dialect) != Some(dialect))
    }
}

impl Web<'_> {
    /// The client that is bound to the checked addresses of the host.
    pub(super) async fn client(&self, url: &Url) -> Result<HostClient, WebError> {
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

    pub(super) fn user_agent(&self) -> String {
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
}
