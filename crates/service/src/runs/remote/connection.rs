//! The connection of a worker to its service, with the key of the worker.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::Context;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, StatusCode, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::protocol::WORKER_ROOT;
use crate::engine::PRODUCT;
use scandeck_wire::contract::ErrorBody;

/// Longest time of a short request, and of the connection for any.
pub const SHORT: Duration = Duration::from_secs(5);

/// Why a request had no success.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The same request may succeed later.
    #[error("the service cannot be reached: {0}")]
    Away(String),
    /// The worker has lost the scan.
    #[error("the worker has lost its claim")]
    Lost,
    /// The key, the place or the version.
    #[error("the service refused the worker: {0}")]
    Refused(String),
}

/// A connection to one service. The key is in no debug output.
pub struct ServiceConnection {
    http: Client,
    /// Ends without a slash.
    root: String,
    key: HeaderValue,
}

impl ServiceConnection {
    /// Prepares a connection; nothing is sent. The URL may end in the path of the API.
    ///
    /// # Errors
    /// When the key is no header value.
    pub fn new(service: &Url, key: &str) -> anyhow::Result<Self> {
        let mut key = HeaderValue::try_from(format!("Bearer {key}"))
            .context("the API key has characters that no key has")?;
        key.set_sensitive(true);
        let mut http = Client::builder()
            .user_agent(PRODUCT)
            .connect_timeout(SHORT)
            // A redirect would send the key elsewhere.
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never());
        if is_loopback_url(service) {
            http = http.no_proxy();
        }
        if service.scheme() == "http" {
            // Plain http must work on machines without any trusted certificate.
            http = http.tls_certs_only(Vec::new());
        }
        let base = service.as_str().trim_end_matches('/');
        let base = base.strip_suffix("/api/v2").unwrap_or(base);
        Ok(Self {
            http: http.build()?,
            root: format!("{base}{WORKER_ROOT}"),
            key,
        })
    }

    /// Sends a request that may take this time; `None` for an answer without a body.
    ///
    /// # Errors
    /// When there is no answer, or another one.
    pub async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<Option<T>, CallError> {
        let request = self
            .http
            .post(format!("{}/{name}", self.root))
            .header(AUTHORIZATION, self.key.clone())
            .timeout(limit)
            .json(body);
        let response = request.send().await.map_err(away)?;
        match response.status() {
            StatusCode::NO_CONTENT => Ok(None),
            StatusCode::OK => response.json().await.map(Some).map_err(away),
            StatusCode::CONFLICT => Err(CallError::Lost),
            status @ (StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) => {
                Err(CallError::Away(status.to_string()))
            }
            status if status.is_server_error() => Err(CallError::Away(status.to_string())),
            status => {
                let body: ErrorBody = response.json().await.unwrap_or_default();
                let details = body.details.map(|details| format!("; {details}"));
                let details = details.unwrap_or_default();
                let message = format!("{status}: {}{details}", body.message);
                Err(CallError::Refused(message))
            }
        }
    }
}

fn away(error: reqwest::Error) -> CallError {
    let error = anyhow::Error::from(error.without_url());
    CallError::Away(format!("{error:#}"))
}

/// Whether a service is on this machine.
pub fn is_loopback_url(service: &Url) -> bool {
    let host = service.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    let ip = literal.parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_may_end_in_the_path_of_the_api() {
        for url in [
            "https://scans.example.net",
            "https://scans.example.net/",
            "https://scans.example.net/api/v2/",
        ] {
            let service = ServiceConnection::new(&url.parse().unwrap(), "key").unwrap();
            assert_eq!(
                service.root, "https://scans.example.net/scandeck/v1/worker",
                "{url}"
            );
        }
    }

    #[test]
    fn loopback_is_recognised_by_name_and_address() {
        let is_loopback = |url: &str| is_loopback_url(&url.parse().unwrap());
        assert!(is_loopback("http://127.0.0.1:8765") && is_loopback("http://[::1]:8765"));
        assert!(is_loopback("http://localhost") && !is_loopback("http://10.0.0.1"));
    }
}
