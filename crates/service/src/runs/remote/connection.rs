//! The connection of a worker to its service, with the key of the worker.

use std::fmt::Display;
use std::net::IpAddr;
use std::time::Duration;

use anyhow::Context;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::protocol::WORKER_ROOT;
use crate::engine::PRODUCT;
use scandeck_wire::contract::ErrorBody;

/// Longest time of a short request, and of the connection for any.
pub const SHORT: Duration = Duration::from_secs(5);

/// Most bytes of an answer: a scan may have a wordlist.
const MOST_ANSWER: usize = 64 << 20;

/// What the service says about a missing header helps no worker: it always sends one.
const UNKNOWN_KEY: &str = "it does not know the key, which is wrong or was revoked; `scandeck keys add NAME --role worker --place PLACE` \
    on its machine prints another one";

/// Why a request had no success.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The same request may succeed later.
    #[error("{0}")]
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
            StatusCode::OK => {
                let body = body_of(response).await?;
                serde_json::from_slice(&body).map(Some).map_err(foreign)
            }
            StatusCode::CONFLICT => Err(CallError::Lost),
            StatusCode::UNAUTHORIZED => Err(CallError::Refused(UNKNOWN_KEY.to_owned())),
            status @ (StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) => {
                Err(responded(status))
            }
            status if status.is_server_error() => Err(responded(status)),
            status if status.is_redirection() => Err(CallError::Refused(format!(
                "{status}; redirects are not followed: name the other address with --service"
            ))),
            status => {
                let body = body_of(response).await.unwrap_or_default();
                let body: ErrorBody = serde_json::from_slice(&body).unwrap_or_default();
                let details = body.details.map(|details| format!("; {details}"));
                let details = details.unwrap_or_default();
                let message = format!("{status}: {}{details}", body.message);
                Err(CallError::Refused(message))
            }
        }
    }
}

/// Reads a body within its limit.
async fn body_of(mut response: Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(away)? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_ANSWER {
            let limit = MOST_ANSWER >> 20;
            return Err(foreign(format!("it has more than {limit} MB")));
        }
    }
    Ok(body)
}

fn away(error: reqwest::Error) -> CallError {
    let error = anyhow::Error::from(error.without_url());
    CallError::Away(format!("the service cannot be reached: {error:#}"))
}

fn responded(status: StatusCode) -> CallError {
    CallError::Away(format!("the service responded with {status}"))
}

/// An answer of another program, such as a proxy, which may be replaced later.
fn foreign(reason: impl Display) -> CallError {
    CallError::Away(format!(
        "the response is not from a scandeck service ({reason}); check --service"
    ))
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
    use serde::de::IgnoredAny;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::runs::remote::protocol::BeatAnswer;

    /// Longer than any wait of these tests.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A program that is no service: it sends an answer, and then the rest again and again.
    async fn other_program(answer: &'static str, rest: Vec<u8>) -> ServiceConnection {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            while !rest.is_empty() && stream.write_all(&rest).await.is_ok() {}
        });
        ServiceConnection::new(&url.parse().unwrap(), "key").unwrap()
    }

    #[tokio::test]
    async fn endless_answer_is_read_to_its_limit() {
        let rest = vec![b' '; 1 << 20];
        let service = other_program("HTTP/1.1 200 OK\r\n\r\n", rest).await;
        let answer = service.call::<IgnoredAny>("beat", &(), PATIENCE).await;
        let error = answer.unwrap_err();
        assert!(error.to_string().contains("more than 64 MB"), "{error}");
    }

    #[tokio::test]
    async fn answer_of_another_program_is_called_so() {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>";
        let service = other_program(page, Vec::new()).await;
        let answer = service.call::<BeatAnswer>("beat", &(), PATIENCE).await;
        let error = answer.unwrap_err();
        assert!(error.to_string().contains("check --service"), "{error}");
        let moved = "HTTP/1.1 307 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n";
        let service = other_program(moved, Vec::new()).await;
        let answer = service.call::<BeatAnswer>("beat", &(), PATIENCE).await;
        assert!(matches!(answer, Err(CallError::Refused(why)) if why.contains("redirects")));
    }

    #[tokio::test]
    async fn unknown_key_is_called_wrong_or_revoked() {
        let unknown = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}";
        let service = other_program(unknown, Vec::new()).await;
        let answer = service.call::<BeatAnswer>("beat", &(), PATIENCE).await;
        let error = answer.unwrap_err().to_string();
        assert!(error.contains("wrong or was revoked"), "{error}");
        assert!(error.contains("--role worker --place PLACE"), "{error}");
    }

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
