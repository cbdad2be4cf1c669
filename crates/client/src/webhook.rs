//! Sends an alert to the webhook of a chat or notification service: one POST, without the API key,
//! and without following redirects.
//!
//! The URL of a webhook often contains its secret, so no text of this module has more of it than
//! scheme and host.

use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{StatusCode, redirect};
use url::Url;

use super::base_url::is_loopback;
use super::{ClientResult, Error, ErrorKind};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);

/// Pauses before the attempts after the first one.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// A checked URL of a webhook. Its texts show scheme and host only.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(Url);

/// Why a text is not the URL of a webhook; the text is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct WebhookUrlError {
    why: &'static str,
    hint: &'static str,
}

impl WebhookUrlError {
    /// The remedy.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

/// The body of the POST, with headers beside those of HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookMessage {
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl WebhookUrl {
    /// Checks a URL.
    ///
    /// # Errors
    /// When it is no `http` or `https` URL, or plain `http` to another machine while
    /// `insecure_http` is false.
    pub fn parse(text: &str, insecure_http: bool) -> Result<Self, WebhookUrlError> {
        let invalid = |why, hint| Err(WebhookUrlError { why, hint });
        let Ok(url) = Url::parse(text.trim()) else {
            return invalid("not a URL", "example: https://hooks.example.com/alerts");
        };
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if insecure_http || is_loopback(&url) => Ok(Self(url)),
            "http" => invalid(
                "plain http to another machine would send the alerts in clear text",
                "use https, or insecure_http = true",
            ),
            _ => invalid(
                "only http and https are supported",
                "start the URL with https://",
            ),
        }
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host) = (self.0.scheme(), self.0.host_str().unwrap_or_default());
        write!(f, "{scheme}://{host}/…")
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookUrl({self})")
    }
}

/// Sends a message. An attempt that certainly had no effect is repeated twice.
///
/// # Errors
/// When the request cannot be sent, nothing responds, or the response is no success. The outcome is
/// unknown if the request was sent and no response came.
pub async fn post_webhook(url: &WebhookUrl, message: &WebhookMessage) -> ClientResult<()> {
    let http = http_client(url)?;
    for pause in PAUSES {
        match attempt(&http, url, message).await {
            Err(error) if was_not_handled(&error) => tokio::time::sleep(pause).await,
            ended => return ended,
        }
    }
    attempt(&http, url, message).await
}

/// Whether the receiver certainly did nothing: no connection, or it says to come back later.
fn was_not_handled(error: &Error) -> bool {
    matches!(error.status, Some(429 | 503)) || error.kind == ErrorKind::Connect && error.is_refused
}

fn http_client(url: &WebhookUrl) -> ClientResult<reqwest::Client> {
    let mut http = reqwest::Client::builder()
        .user_agent(concat!("scandeck/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TOTAL_TIMEOUT);
    if is_loopback(&url.0) {
        http = http.no_proxy();
    }
    if url.0.scheme() == "http" {
        // Plain http must work on machines without any trusted certificate.
        http = http.tls_certs_only(Vec::new());
    }
    Ok(http.build()?)
}

async fn attempt(
    http: &reqwest::Client,
    url: &WebhookUrl,
    message: &WebhookMessage,
) -> ClientResult<()> {
    let mut request = http
        .post(url.0.clone())
        .header(CONTENT_TYPE, message.content_type)
        .body(message.body.clone());
    for (name, value) in &message.headers {
        // A value that is no header is dropped: the body says the same.
        if let Ok(value) = HeaderValue::from_str(value) {
            request = request.header(HeaderName::from_static(name), value);
        }
    }
    // The error of reqwest loses its URL here. Without a connection the receiver got nothing.
    let response = request
        .send()
        .await
        .map_err(|error| match error.is_connect() {
            true => Error::from(error),
            false => Error::from(error).sent().of_change(true),
        })?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let reason = status.canonical_reason().unwrap_or("unknown status");
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited { retry_after: None },
        _ if status.is_server_error() => ErrorKind::Server,
        _ => ErrorKind::Invalid,
    };
    // The error shows its status before.
    let message = format!("{reason} from the receiver");
    Err(Error::new(kind, message).with_status(status.as_u16()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremock::matchers::{body_string, header, method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    fn message() -> WebhookMessage {
        WebhookMessage {
            content_type: "application/json",
            headers: vec![("title", "scan failed".to_owned())],
            body: "{}".to_owned(),
        }
    }

    #[tokio::test]
    async fn message_arrives_with_its_headers_and_without_a_key() {
        let server = MockServer::start().await;
        let expected = Mock::given(method("POST"))
            .and(path("/services/T0/secret"))
            .and(header("title", "scan failed"))
            .and(header("content-type", "application/json"))
            .and(body_string("{}"));
        expected
            .respond_with(ResponseTemplate::new(204))
            .expect(1)
            .mount(&server)
            .await;
        let url = format!("{}/services/T0/secret", server.uri());
        let url = WebhookUrl::parse(&url, false).unwrap();
        post_webhook(&url, &message()).await.unwrap();
        let received = server.received_requests().await.unwrap();
        assert!(!received[0].headers.contains_key("authorization"));
    }

    #[tokio::test]
    async fn busy_receiver_gets_a_second_attempt_and_a_refusal_none() {
        for (status, attempts) in [(503, 2), (404, 1), (302, 1), (500, 1)] {
            let server = MockServer::start().await;
            let response = ResponseTemplate::new(status).insert_header("location", "/secret");
            Mock::given(method("POST"))
                .respond_with(response)
                .up_to_n_times(1)
                .mount(&server)
                .await;
            Mock::given(method("POST"))
                .respond_with(ResponseTemplate::new(200))
                .with_priority(9)
                .mount(&server)
                .await;
            let url = WebhookUrl::parse(&format!("{}/secret", server.uri()), false).unwrap();
            let sent = post_webhook(&url, &message()).await;
            assert_eq!(sent.is_ok(), status == 503, "{status}");
            let received = server.received_requests().await.unwrap();
            assert_eq!(received.len(), attempts, "{status}");
            if let Err(error) = sent {
                assert!(!error.to_string().contains("secret"), "{error}");
                assert!(error.to_string().contains(&status.to_string()), "{error}");
            }
        }
    }

    #[test]
    fn texts_show_scheme_and_host_only() {
        let url = "https://u:pass@hooks.example.com:8443/services/T0/secret?token=secret";
        let url = WebhookUrl::parse(url, false).unwrap();
        assert_eq!(url.to_string(), "https://hooks.example.com/…");
        assert_eq!(
            format!("{url:?}"),
            "WebhookUrl(https://hooks.example.com/…)"
        );
    }

    #[test]
    fn plain_http_to_another_machine_needs_permission() {
        for (text, insecure, is_valid) in [
            ("http://127.0.0.1:9/x", false, true),
            ("http://chat.example.com/x", false, false),
            ("http://chat.example.com/x", true, true),
            ("ftp://chat.example.com/x", true, false),
            ("hooks/secret", true, false),
        ] {
            let parsed = WebhookUrl::parse(text, insecure);
            assert_eq!(parsed.is_ok(), is_valid, "{text}");
            assert!(!format!("{parsed:?}").contains("secret"));
        }
    }
}
