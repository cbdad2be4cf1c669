//! Sends a captured request again, once: not to the service, without the API key, and without
//! following redirects.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};

use super::{ClientResult, Error, ErrorKind};
use scandeck_domain::oob::Replay;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends the request and returns the status of the response, whose body is not read.
///
/// # Errors
/// When the request cannot be sent, or nothing responds.
pub async fn replay(replay: &Replay) -> ClientResult<u16> {
    let mut http = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TOTAL_TIMEOUT);
    if replay.is_here() {
        http = http.no_proxy();
        if replay.url.scheme() == "http" {
            // Must work on machines without any trusted certificate. Elsewhere, the connection to
            // a proxy may need them.
            http = http.tls_certs_only(Vec::new());
        }
    }
    let http = http.build().map_err(|error| invalid(&error))?;
    let method = Method::from_bytes(replay.method.as_bytes()).map_err(|error| invalid(&error))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &replay.headers {
        // A captured line that is not a valid header is dropped.
        let read = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        if let Some((name, mut value)) = read {
            value.set_sensitive(true);
            headers.append(name, value);
        }
    }
    let request = http
        .request(method, replay.url.clone())
        .headers(headers)
        .body(replay.body.clone());
    Ok(request.send().await?.status().as_u16())
}

fn invalid(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("request not sent: {error}"))
}
