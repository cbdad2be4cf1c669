//! The door of the API: Host header, key, request budget; and 304 for lists that did not change.
//!
//! ```text
//!   request ─► Host known? ─► key right? ─► budget left? ─► (list: ETag still right?) ─► handler
//!                 403            401            429                  304
//! ```

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::errors::ApiError;
use super::limits::Class;
use super::state::App;

/// SHA-256 of a key: what is kept, and what is compared.
pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Refuses requests that a web page made a browser send here under a name of its own (DNS rebinding): the Host must
/// be an address or `localhost`.
pub async fn check_host(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_address(host) {
        return next.run(request).await;
    }
    ApiError::forbidden(format!("the Host header names `{host}`"))
        .with_details("this service answers under its address or `localhost` only")
        .into_response()
}

fn is_address(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || literal.parse::<IpAddr>().is_ok()
}

/// Asks for the key, then counts the request against the budget, which every answer shows.
pub async fn check_key(State(app): State<App>, request: Request, next: Next) -> Response {
    let class = Class::of(request.method(), request.uri().path());
    let now = app.now();
    if !has_key(&app, request.headers()) {
        let mut refused = ApiError::new(StatusCode::UNAUTHORIZED, "the API key is missing or wrong")
            .with_details("send the header `authorization: Bearer <API_KEY>`")
            .into_response();
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        if let Some(budget) = app.limiter.peek(class, now) {
            budget.show(refused.headers_mut());
        }
        return refused;
    }
    app.note_client();
    match app.limiter.take(class, now) {
        None => next.run(request).await,
        Some((budget, true)) => {
            let mut response = next.run(request).await;
            budget.show(response.headers_mut());
            response
        }
        Some((budget, false)) => {
            let mut refused =
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too many requests in this minute").into_response();
            budget.show(refused.headers_mut());
            budget.show_reset(refused.headers_mut(), now);
            refused
        }
    }
}

fn has_key(app: &App, headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (scheme, key) = value.trim().split_once(' ').unwrap_or_default();
    // Both sides are hashes of equal length, so the comparison tells nothing about the key.
    scheme.eq_ignore_ascii_case("bearer") && bool::from(hash(key.trim()).ct_eq(&app.key_hash))
}

/// Answers a list with its ETag, and 304 without reading it when the client has the present one.
///
/// The tag is the version of the store and not a hash of the body: telling that nothing changed costs no query.
pub async fn tag_list(State(app): State<App>, request: Request, next: Next) -> Response {
    let tag = tag(&app, request.uri()).await;
    let known = request.headers().get(header::IF_NONE_MATCH).is_some_and(|sent| names(sent, &tag));
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { next.run(request).await };
    if (known || response.status() == StatusCode::OK)
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        response.headers_mut().insert(header::ETAG, tag);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    response
}

/// Read before the handler runs: a change in between makes the tag too old, never too new.
async fn tag(app: &App, uri: &Uri) -> String {
    let mut hasher = DefaultHasher::new();
    uri.path_and_query().map(|path| path.as_str()).hash(&mut hasher);
    app.boot.hash(&mut hasher);
    // Without a write the days left of a logger change, and reports expire: seen a minute later at most.
    (app.now().as_second() / 60).hash(&mut hasher);
    if uri.path().ends_with("/wordlists") {
        // Another process imports word lists; its newest row is the one thing our version cannot know.
        app.store.newest_wordlist().await.ok().hash(&mut hasher);
    }
    format!("W/\"{:x}-{:x}\"", hasher.finish(), app.store.version())
}

fn names(sent: &HeaderValue, tag: &str) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    // `*` is not taken: what it asks, whether there is anything at all, only the handler knows.
    sent.to_str().is_ok_and(|sent| sent.split(',').any(|one| strong(one) == strong(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_hosts_of_the_service() {
        for good in ["127.0.0.1:8765", "127.0.0.1", "localhost:8765", "LOCALHOST", "[::1]:8765", "[::1]"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["evil.test", "evil.test:8765", "127.0.0.1.evil.test", "", "localhost.evil.test:1"] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn a_tag_is_known_in_lists_and_in_both_strengths() {
        let sent = |text: &str| HeaderValue::from_str(text).unwrap();
        assert!(names(&sent("\"x\", W/\"a-1\""), "W/\"a-1\""));
        assert!(names(&sent("\"a-1\""), "W/\"a-1\""));
        assert!(!names(&sent("W/\"a-2\""), "W/\"a-1\"") && !names(&sent("*"), "W/\"a-1\""));
    }
}
