//! Middleware: form of the request, Host header, API key, rate limit and role.
//!
//! ```text
//!   request ─► one Host? ─► Host allowed? ─► key valid? ─► limit not reached? ─► role? ─► handler
//!                 400           403              401             429               403
//! ```

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use crate::errors::{ApiError, MAX_URL, shown};
use crate::guards::audit::RequestSender;
use crate::guards::keys::{KeyIdentity, Role};
use crate::guards::limits::{Class, KeyBudget};
use crate::net::connection_table::ConnectionMarks;
use crate::net::connections::{AmbiguousLength, ClientAddress, client_of};
use crate::state::App;

/// Refuses requests that two servers in a row could understand differently (RFC 9112 §3.2 and
/// §6.3): without a valid Host line or with two, with two Authorization lines, with two lengths or
/// another encoding, and with a target that names another host than this service; and expectations
/// that the service does not meet (RFC 9110 §10.1.1).
pub async fn check_form(State(app): State<App>, request: Request, next: Next) -> Response {
    match ambiguity(&app, &request) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    }
}

fn ambiguity(app: &App, request: &Request) -> Option<ApiError> {
    let lines = |name: &HeaderName| request.headers().get_all(name).iter().count();
    for name in [header::HOST, header::AUTHORIZATION] {
        let count = lines(&name);
        if count > 1 {
            let error = ApiError::bad_request(format!("the request has {count} `{name}` lines"));
            return Some(error.with_details(format!("send one `{name}` line")));
        }
    }
    if lines(&header::HOST) == 0 && request.version() == Version::HTTP_11 {
        return Some(
            ApiError::bad_request("the request has no `host` line")
                .with_details("send one `host` line"),
        );
    }
    bad_host(request.headers())
        .or_else(|| bad_framing(request))
        .or_else(|| bad_target(app, request))
}

fn bad_host(headers: &HeaderMap) -> Option<ApiError> {
    let host = headers.get(header::HOST)?.to_str().unwrap_or("\u{fffd}");
    (!is_valid_host(host)).then(|| {
        ApiError::bad_request(format!("the host `{}` is not valid", shown(host)))
            .with_details("send a name or an address, such as `127.0.0.1:8765` or `[::1]:8765`")
    })
}

fn bad_framing(request: &Request) -> Option<ApiError> {
    if request.extensions().get::<AmbiguousLength>().is_some() {
        let error =
            ApiError::bad_request("the request has `content-length` and `transfer-encoding`");
        return Some(error.with_details("send one of the two").with_close());
    }
    let values = |name: HeaderName| {
        let values = request
            .headers()
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.collect::<Vec<_>>().join(", ")
    };
    let encoding = values(header::TRANSFER_ENCODING);
    if !encoding.is_empty() && !encoding.trim().eq_ignore_ascii_case("chunked") {
        let message = format!(
            "the transfer encoding `{}` is not supported",
            shown(&encoding)
        );
        let error = ApiError::new(StatusCode::NOT_IMPLEMENTED, message);
        return Some(
            error
                .with_details("send `content-length`, or `transfer-encoding: chunked`")
                .with_close(),
        );
    }
    let expected = values(header::EXPECT);
    (!expected.is_empty() && !expected.trim().eq_ignore_ascii_case("100-continue")).then(|| {
        let message = format!("the expectation `{}` is not supported", shown(&expected));
        ApiError::new(StatusCode::EXPECTATION_FAILED, message)
            .with_details("send `expect: 100-continue`, or no `expect`")
    })
}

fn bad_target(app: &App, request: &Request) -> Option<ApiError> {
    let target = request.uri().authority()?.as_str();
    (!is_valid_host(target) || !is_allowed(app, target)).then(|| {
        ApiError::bad_request(format!(
            "the host `{}` of the request target is not allowed",
            shown(target)
        ))
        .with_details("send the path alone, such as `GET /api/v2/scans`")
    })
}

/// Refuses long URLs, and DNS rebinding, by which a web page sends requests here under its own
/// name: the Host must be an address or `localhost`, or a name that the settings allow.
pub async fn check_host(State(app): State<App>, request: Request, next: Next) -> Response {
    if request
        .uri()
        .path_and_query()
        .is_some_and(|path| path.as_str().len() > MAX_URL)
    {
        return ApiError::uri_too_long().into_response();
    }
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    if is_allowed(&app, host) {
        return next.run(request).await;
    }
    ApiError::forbidden(format!("Host `{}` is not allowed", shown(host)))
        .with_details("use the address of the service or `localhost`; `scandeck serve --allow-host NAME` allows a name")
        .into_response()
}

/// Whether a host, with or without a port, is an address or a name that the settings allow.
fn is_allowed(app: &App, host: &str) -> bool {
    let name = without_port(host);
    is_address(host)
        || app
            .settings
            .allow_hosts
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(name))
}

/// Whether a host has the form of RFC 9110 §7.2: a name or an address, IPv6 in brackets, and
/// perhaps a port.
fn is_valid_host(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, rest)) if address.parse::<Ipv6Addr>().is_ok() => ("", rest),
            _ => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte);
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && (port.is_empty() || port.parse::<u16>().is_ok())
    };
    name.bytes().all(is_name) && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    }
}

fn is_address(host: &str) -> bool {
    let name = without_port(host);
    let literal = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || literal.parse::<IpAddr>().is_ok()
}

/// Checks the key, counts the request against the rate limit, which every response reports, then
/// checks the role.
pub async fn check_key(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let class = Class::of(request.method(), request.uri().path());
    let now = app.now();
    let client = request
        .extensions()
        .get::<ClientAddress>()
        .map(|client| client_of(client.0.ip()));
    // A client that guesses keys causes no queries.
    let is_guessing = client.is_some_and(|client| app.wrong_keys.is_exhausted(client, now));
    let Some(identity) = identify(&app, request.headers(), !is_guessing).await else {
        return refuse_unknown(&app, client, class, now);
    };
    if let Some(marks) = request.extensions().get::<ConnectionMarks>() {
        marks.key_proven();
    }
    if let Some(sender) = request.extensions().get::<RequestSender>() {
        sender.identify(&identity);
    }
    request.extensions_mut().insert(identity.clone());
    app.record_client();
    let required = Role::required(request.method(), request.uri().path());
    let refusal = (identity.role < required).then(|| without_role(&identity, required));
    let respond = async {
        match refusal {
            None => next.run(request).await,
            Some(refusal) => refusal,
        }
    };
    let budget = match identity.role {
        // Its lease must not depend on the number of its results.
        Role::Worker => None,
        _ => app.limiter.take(&identity.name, class, now),
    };
    match budget {
        None => respond.await,
        Some((budget, true)) => {
            let mut response = respond.await;
            budget.set_headers(response.headers_mut());
            response
        }
        Some((budget, false)) => too_many(&budget, "rate limit exceeded", now),
    }
}

/// Refuses a request without a valid key, and counts it against the limit of the client.
fn refuse_unknown(app: &App, client: Option<IpAddr>, class: Class, now: Timestamp) -> Response {
    if let Err(budget) = client.map_or(Ok(()), |client| app.wrong_keys.take(client, now)) {
        return too_many(
            &budget,
            "too many requests without a valid API key from this address",
            now,
        );
    }
    let mut refused = without_key();
    if let Some(budget) = app.limiter.unused(class, now) {
        budget.set_headers(refused.headers_mut());
    }
    refused
}

/// Clients receive no paths of this machine.
fn without_role(identity: &KeyIdentity, required: Role) -> Response {
    let KeyIdentity { name, role, .. } = identity;
    ApiError::forbidden(format!("the API key `{name}` has the role `{role}`; this request requires `{required}`"))
        .with_details(
            "on the machine of the service, `scandeck keys add NAME --role ROLE` adds a key with another role",
        )
        .into_response()
}

fn without_key() -> Response {
    let mut refused = ApiError::new(StatusCode::UNAUTHORIZED, "the API key is missing or wrong")
        .with_details("send the header `authorization: Bearer <API_KEY>`")
        .into_response();
    refused
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    refused
}

/// 429 with the end of the window. After too many wrong keys the right one is still accepted:
/// otherwise any program on a machine could lock out the others.
fn too_many(budget: &KeyBudget, message: &str, now: Timestamp) -> Response {
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, message)
        .with_details(format!("retry in {} s", budget.seconds_left(now)));
    let mut refused = error.into_response();
    budget.set_headers(refused.headers_mut());
    budget.set_reset_headers(refused.headers_mut(), now);
    refused
}

/// Limits the requests of one client that need no key.
pub async fn limit_health_checks(State(app): State<App>, request: Request, next: Next) -> Response {
    let now = app.now();
    let client = request
        .extensions()
        .get::<ClientAddress>()
        .map(|client| client_of(client.0.ip()));
    match client.map_or(Ok(()), |client| app.health_checks.take(client, now)) {
        Ok(()) => next.run(request).await,
        Err(budget) => too_many(&budget, "too many health checks from this address", now),
    }
}

async fn identify(app: &App, headers: &HeaderMap, may_read: bool) -> Option<KeyIdentity> {
    let value = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let (scheme, key) = value.trim().split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    app.keys
        .identify(&app.store, key.trim(), may_read, app.now())
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_address_accepts_addresses_and_localhost_only() {
        for good in [
            "127.0.0.1:8765",
            "127.0.0.1",
            "localhost:8765",
            "LOCALHOST",
            "[::1]:8765",
            "[::1]",
        ] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "evil.test",
            "evil.test:8765",
            "127.0.0.1.evil.test",
            "",
            "localhost.evil.test:1",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn is_valid_host_refuses_bare_ipv6_and_ports_that_do_not_exist() {
        for good in [
            "",
            "a.test",
            "a_b:80",
            "a:",
            "127.0.0.1:65535",
            "[::1]",
            "[::1]:8765",
            "xn--a.test:1",
        ] {
            assert!(is_valid_host(good), "{good}");
        }
        for bad in [
            "::1",
            "a:99999",
            "a:-1",
            "a:x",
            "[::1",
            "[::1]8765",
            "[a]:1",
            "u@a",
            "a/b",
            "a b",
            "a:1:2",
            "ä",
        ] {
            assert!(!is_valid_host(bad), "{bad}");
        }
    }
}
