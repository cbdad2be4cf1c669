//! Sends the request of a proof to the target, once: not to the service, without its API key, and
//! without following redirects.
//!
//! ```text
//!   host ─► scope ─► addresses, Host header ─► scope ─► a connection to them only ─► ProofAnswer
//! ```

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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use wiremock::matchers::any;
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;
    use scandeck_wire::contract::{Evidence, Tool};

    fn planned(url: &str) -> ProofRequest {
        let evidence = Evidence::table(&["URL"], [vec![url.to_owned()]]);
        ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap()
    }

    fn everywhere() -> ProofScope {
        ProofScope::new(|_| Ok(()))
    }

    #[tokio::test]
    async fn answer_is_read_without_following_its_redirect() {
        let server = MockServer::start().await;
        let moved = ResponseTemplate::new(302)
            .insert_header("location", "/elsewhere")
            .set_body_string("moved");
        Mock::given(any()).respond_with(moved).mount(&server).await;
        let request = planned(&format!("{}/x?y=1", server.uri()));
        let answer = send_proof(&request, &everywhere()).await.unwrap().unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (Some(302), "moved"));
        assert_eq!(answer.header("location"), Some("/elsewhere"));
        let requests = server.received_requests().await.unwrap();
        let [sent] = requests.as_slice() else {
            panic!("{requests:?}")
        };
        let agent = sent.headers["user-agent"].to_str().unwrap();
        assert!(agent.starts_with("scandeck/"), "{agent}");
        assert_eq!(sent.headers.len(), request.headers.len() + 1, "and host");
    }

    #[tokio::test]
    async fn body_is_read_in_the_encoding_that_it_names() {
        let server = MockServer::start().await;
        let named = ResponseTemplate::new(200)
            .set_body_raw(&b"Gr\xf6\xdfe"[..], "text/html; charset=iso-8859-1");
        Mock::given(any()).respond_with(named).mount(&server).await;
        let sent = send_proof(&planned(&server.uri()), &everywhere()).await;
        assert_eq!(sent.unwrap().unwrap().body.as_str(), "Größe");
    }

    #[tokio::test]
    async fn long_body_is_cut_at_the_limit() {
        let server = MockServer::start().await;
        let long = ResponseTemplate::new(200).set_body_bytes(vec![b'a'; MAX_BODY + 1]);
        Mock::given(any()).respond_with(long).mount(&server).await;
        let sent = send_proof(&planned(&server.uri()), &everywhere()).await;
        let answer = sent.unwrap().unwrap();
        assert!(answer.is_cut && answer.body.len() == MAX_BODY);
    }

    #[tokio::test]
    async fn nothing_is_sent_out_of_scope() {
        let server = MockServer::start().await;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let nowhere = ProofScope::new(move |to| {
            seen.lock().unwrap().push((to.host.to_owned(), to.address));
            match to.address {
                Some(_) => Err("out of scope".to_owned()),
                None => Ok(()),
            }
        });
        let port = server.address().port();
        let url = format!("http://localhost:{port}/");
        let error = send_proof(&planned(&url), &nowhere).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Forbidden);
        assert!(server.received_requests().await.unwrap().is_empty());
        let asked = asked.lock().unwrap();
        assert_eq!(asked[0], ("localhost".to_owned(), None));
        assert_eq!(asked.len(), 3, "the name and both of its addresses");
    }

    #[test]
    fn host_is_checked_before_it_is_resolved() {
        let scope = ProofScope::new(|to| match (to.host, to.address, to.has_payload) {
            ("shop.test", None, false) | ("127.0.0.1", Some(_), false) => Ok(()),
            (host, ..) => Err(format!("{host} is refused")),
        });
        let checked = |url: &str| check_proof(&planned(url), &scope);
        assert!(checked("http://shop.test/").is_ok());
        assert!(checked("http://127.0.0.1/").is_ok());
        let payload = checked("http://shop.test/?q=%3Cb%3E").unwrap_err();
        assert_eq!(payload.to_string(), "shop.test is refused");
        assert_eq!(
            checked("http://b.test/").unwrap_err().kind,
            ErrorKind::Forbidden
        );
    }

    #[tokio::test]
    async fn host_header_out_of_scope_is_not_sent() {
        let server = MockServer::start().await;
        let scope = ProofScope::new(|to| match to.host {
            "127.0.0.1" | "shop.test" => Ok(()),
            other => Err(format!("{other} is out of scope")),
        });
        for (host, is_sent) in [
            ("shop.test:81", true),
            ("b.test", false),
            ("10.0.0.1", false),
        ] {
            let message = format!("GET / HTTP/1.1\nHost: {host}\n\n");
            let row = vec![server.uri(), message];
            let evidence = Evidence::table(&["URL", "Request"], [row]);
            let request = ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap();
            let sent = send_proof(&request, &scope).await;
            assert_eq!(sent.is_ok(), is_sent, "{host}");
        }
        assert_eq!(server.received_requests().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn payload_is_sent_only_where_the_scope_permits_it() {
        let server = MockServer::start().await;
        let scope = |permits: bool| {
            ProofScope::new(move |to| match !to.has_payload || permits {
                true => Ok(()),
                false => Err("no payload here".to_owned()),
            })
        };
        let attack = planned(&format!("{}/?q=%3Cb%3E", server.uri()));
        let refused = send_proof(&attack, &scope(false)).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Forbidden);
        assert!(server.received_requests().await.unwrap().is_empty());
        assert!(send_proof(&attack, &scope(true)).await.unwrap().is_ok());
        let page = planned(&server.uri());
        assert!(send_proof(&page, &scope(false)).await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn target_that_is_down_is_no_error_of_the_request() {
        let sent = send_proof(&planned("http://127.0.0.1:1/"), &everywhere()).await;
        let missing = sent.unwrap().unwrap_err();
        assert!(missing.problem.contains("cannot connect"), "{missing:?}");
        assert!(!missing.was_sent);
    }
}
