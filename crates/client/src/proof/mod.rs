//! Sends the request of a proof to the target, once: not to the service, without its API key, and
//! without following redirects.
//!
//! ```text
//!   host ─► scope ─► addresses, Host header ─► scope ─► a connection to them only ─► ProofAnswer
//! ```

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, redirect};
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Host;

use super::{ClientResult, Error, ErrorKind};
use scandeck_domain::proof::{ProofAnswer, ProofRequest};
use scandeck_wire::body_text::{self, BodyHeaders};
use scandeck_wire::contract::Shared;

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a body that are read, as many as a scan reads.
const MAX_BODY: usize = 512 * 1024;

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub struct ProofDestination<'a> {
    pub host: &'a str,
    /// An address to which the host was resolved; none before.
    pub address: Option<IpAddr>,
    /// The request may carry a payload.
    pub has_payload: bool,
}

/// Why nothing may be sent to a destination.
type ScopeDecision = dyn Fn(&ProofDestination<'_>) -> Result<(), String> + Send + Sync;

/// Decides to which hosts and addresses a proof may be sent.
#[derive(Clone)]
pub struct ProofScope(Arc<ScopeDecision>);

impl ProofScope {
    /// A function that runs before the host is resolved, and for each of its addresses.
    pub fn new(
        decide: impl Fn(&ProofDestination<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(decide))
    }

    /// Checks a host, or an address to which it was resolved.
    ///
    /// # Errors
    /// Why nothing may be sent to it.
    pub fn check(&self, destination: &ProofDestination<'_>) -> ClientResult<()> {
        (self.0)(destination).map_err(|why| Error::new(ErrorKind::Forbidden, why))
    }
}

impl fmt::Debug for ProofScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProofScope")
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct MissingAnswer {
    pub problem: String,
    /// Whether the target may have received the request.
    pub was_sent: bool,
}

/// Checks the host of a request before anybody is asked to send it. The name is not resolved, so
/// its addresses are checked when the request is sent.
///
/// # Errors
/// Why nothing may be sent to it.
pub fn check_proof(request: &ProofRequest, scope: &ProofScope) -> ClientResult<()> {
    let host = host_of(request)?;
    let address = match host {
        Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
        Host::Domain(_) => None,
    };
    scope.check(&ProofDestination {
        host: &host.to_string(),
        address,
        has_payload: request.has_payload,
    })
}

fn host_of(request: &ProofRequest) -> ClientResult<Host<&str>> {
    let host = request.url.host();
    host.ok_or_else(|| invalid(&"the address has no host"))
}

/// Sends the request. The inner error says why the target did not answer.
///
/// # Errors
/// When the target is not in scope, or the request cannot be sent; then nothing was sent.
pub async fn send_proof(
    request: &ProofRequest,
    scope: &ProofScope,
) -> ClientResult<Result<ProofAnswer, MissingAnswer>> {
    let host = host_of(request)?;
    let name = host.to_string();
    let check = |to: &str, address: Option<IpAddr>| {
        scope.check(&ProofDestination {
            host: to,
            address,
            has_payload: request.has_payload,
        })
    };
    let addresses = match host {
        Host::Ipv4(ip) => vec![IpAddr::V4(ip)],
        Host::Ipv6(ip) => vec![IpAddr::V6(ip)],
        Host::Domain(domain) => {
            check(domain, None)?;
            match resolve(domain).await {
                Ok(addresses) => addresses,
                Err(problem) => {
                    return Ok(Err(MissingAnswer {
                        problem,
                        was_sent: false,
                    }));
                }
            }
        }
    };
    let allowed = allowed(&name, addresses, check)?;
    if let Some(virtual_host) = request.virtual_host() {
        check_virtual_host(virtual_host, &allowed, check)?;
    }
    let http = http_client(request, &name, &allowed).map_err(|error| invalid(&error))?;
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| invalid(&error))?;
    let sent = http
        .request(method, request.url.clone())
        .headers(headers(request)?)
        .send()
        .await;
    Ok(match sent {
        Ok(response) => Ok(read(response).await),
        Err(error) => Err(MissingAnswer {
            was_sent: !error.is_connect() && !error.is_builder(),
            problem: Error::from(error).to_string(),
        }),
    })
}

/// The addresses of a name. `localhost` is always this machine.
async fn resolve(domain: &str) -> Result<Vec<IpAddr>, String> {
    if domain == "localhost" || domain.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    match timeout(RESOLVE_TIMEOUT, lookup_host((domain, 0))).await {
        Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
        Ok(Err(error)) => Err(format!("{domain} does not resolve: {error}")),
        Err(_) => Err(format!("{domain} does not resolve: no response")),
    }
}

/// The addresses in scope.
fn allowed(
    name: &str,
    addresses: Vec<IpAddr>,
    check: impl Fn(&str, Option<IpAddr>) -> ClientResult<()>,
) -> ClientResult<Vec<SocketAddr>> {
    let mut allowed = Vec::new();
    let mut refused = None;
    for ip in addresses {
        match check(name, Some(ip)) {
            Ok(()) => allowed.push(SocketAddr::new(ip, 0)),
            Err(error) => refused = Some(error),
        }
    }
    match (allowed.is_empty(), refused) {
        (false, _) => Ok(allowed),
        (true, Some(error)) => Err(error),
        (true, None) => Err(invalid(&format!("{name} has no address"))),
    }
}

/// Checks the name in the `Host` header, which may lead to another target behind these addresses.
fn check_virtual_host(
    written: &str,
    addresses: &[SocketAddr],
    check: impl Fn(&str, Option<IpAddr>) -> ClientResult<()>,
) -> ClientResult<()> {
    let host = Host::parse(written).map_err(|error| invalid(&error))?;
    let name = host.to_string();
    match host {
        Host::Ipv4(ip) => check(&name, Some(IpAddr::V4(ip))),
        Host::Ipv6(ip) => check(&name, Some(IpAddr::V6(ip))),
        Host::Domain(_) => {
            check(&name, None)?;
            let mut addresses = addresses.iter();
            addresses.try_for_each(|address| check(&name, Some(address.ip())))
        }
    }
}

fn http_client(
    request: &ProofRequest,
    name: &str,
    addresses: &[SocketAddr],
) -> reqwest::Result<reqwest::Client> {
    let mut http = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        // A proxy would connect to an address that was not checked.
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        // As scans do, unless a stranger would receive credentials.
        .tls_danger_accept_invalid_certs(request.credentials.is_empty())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TOTAL_TIMEOUT)
        .resolve_to_addrs(name, addresses);
    if request.url.scheme() == "http" {
        // Plain http must work on machines without any trusted certificate.
        http = http.tls_certs_only(Vec::new());
    }
    http.build()
}

fn headers(request: &ProofRequest) -> ClientResult<HeaderMap> {
    let mut headers = HeaderMap::new();
    for header in &request.headers {
        let name =
            HeaderName::from_bytes(header.name.as_bytes()).map_err(|error| invalid(&error))?;
        let mut value = HeaderValue::from_str(&header.value).map_err(|error| invalid(&error))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Reads the answer up to the limit. A body that ends early is judged by what arrived.
async fn read(mut response: Response) -> ProofAnswer {
    let status = response.status().as_u16();
    let line = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        Shared::from(format!("{name}: {value}"))
    };
    let headers = response.headers().iter().map(line).collect();
    let mut body = Vec::new();
    let is_cut = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break false,
            Err(_) => break true,
        }
        if body.len() > MAX_BODY {
            body.truncate(MAX_BODY);
            break true;
        }
    };
    let mut answer = ProofAnswer {
        status: Some(status),
        headers,
        body: Shared::default(),
        is_cut,
    };
    answer.body = text_of(&answer, &body).into_owned().into();
    answer
}

/// The body as text, as scans read it.
fn text_of<'b>(answer: &ProofAnswer, body: &'b [u8]) -> Cow<'b, str> {
    let header = |name| answer.header(name).unwrap_or_default();
    let headers = BodyHeaders {
        content_type: header("content-type"),
        content_type_options: header("x-content-type-options"),
    };
    body_text::text(body, headers)
}

fn invalid(error: &dyn fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("request not sent: {error}"))
}
