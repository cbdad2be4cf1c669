//! A request by the protocol that the server of a port speaks, and its response.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use hyper::body::Bytes;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue, TRANSFER_ENCODING,
    USER_AGENT,
};
use reqwest::{Client, Method, Response};
use tokio::time::timeout;
use url::Url;

use super::error::{innermost, is_cut, lacks_close_notify, refuses_http1, web_error};
use super::host::{HostClient, HttpDialect};
use super::{AttemptLimits, HttpPage, Web, WebError};
use crate::engine::body::{self, BodyFault, ReadBody};
use crate::engine::exchange::SentHead;
use crate::engine::legacy_http::TlsFailure;
use crate::engine::tolerant_http::{self, TolerantResponse, WireStream};
use scandeck_wire::contract::Tool;

/// No encoding of the body.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

impl Web<'_> {
    pub(super) async fn exchange(
        &self,
        host: &HostClient,
        method: &Method,
        url: &Url,
        mut headers: HeaderMap,
        AttemptLimits {
            is_tolerant, send, ..
        }: AttemptLimits,
        limit: Duration,
    ) -> Result<HttpPage, WebError> {
        headers
            .entry("accept")
            .or_insert(HeaderValue::from_static("*/*"));
        headers
            .entry(ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static(body::ACCEPTED));
        let credentials = match send.with_login && self.is_home(url) {
            true => self.session.headers(),
            false => Vec::new(),
        };
        headers.extend(credentials.iter().cloned());
        let sent = SentHead::new(method, url, &headers, &self.user_agent(), &credentials);
        let request = WebRequest {
            method,
            url,
            headers,
            limit,
            max_body: send.max_body,
            sent: Arc::new(sent),
        };
        match host.dialects.of(url) {
            Some(HttpDialect::Http2) => {
                return request
                    .send(&host.http2)
                    .await
                    .map_err(web_error)?
                    .page(&request)
                    .await;
            }
            Some(HttpDialect::Tolerant) => return self.tolerant_exchange(host, request).await,
            _ if is_tolerant => return self.tolerant_exchange(host, request).await,
            _ if host.legacy.serves(url) => return self.legacy_exchange(host, request, None).await,
            _ => {}
        }
        match request.send(&host.client).await {
            Ok(answer) => answer.page(&request).await,
            Err(error) => self.exchange_again(host, request, error).await,
        }
    }

    /// Tries the protocol for which a server may have refused HTTP/1.1 over current TLS.
    async fn exchange_again(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
        error: reqwest::Error,
    ) -> Result<HttpPage, WebError> {
        let url = request.url;
        if refuses_http1(&error) && host.dialects.of(url).is_none() {
            self.next_turn(host).await;
            let answer = self.http2_exchange(host, &request).await;
            return answer.unwrap_or_else(|| Err(web_error(error)));
        }
        let is_worth_it = host.legacy.tried(url) != Some(false);
        let Some(failure) = TlsFailure::of(&error).filter(|_| is_worth_it) else {
            return Err(web_error(error));
        };
        self.next_turn(host).await;
        match self.legacy_exchange(host, request, Some(failure)).await {
            // The first error says what a current client sees.
            Err(WebError::Connect(_)) => Err(web_error(error)),
            answer => answer,
        }
    }

    /// Waits as before a request, for a further one of the same attempt.
    async fn next_turn(&self, host: &HostClient) {
        self.scan_pace.wait().await;
        self.wait_for(&host.lane).await;
    }

    /// A request with the permissive TLS client. `failure` is the preceding failure of rustls, if
    /// there was one.
    async fn legacy_exchange(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
        failure: Option<TlsFailure>,
    ) -> Result<HttpPage, WebError> {
        let url = request.url;
        let exchange = async {
            let answer = host
                .legacy
                .send(request.method.clone(), url, request.headers.clone())
                .await;
            let is_needed = match (&answer, failure) {
                // A server that closes connections at random may accept current TLS too.
                (Ok((_, negotiated)), Some(failure)) => {
                    Some(failure == TlsFailure::Refused || negotiated.is_outdated())
                }
                (Err(WebError::Connect(_)), Some(_)) => Some(false),
                _ => None,
            };
            let is_first = is_needed.is_some_and(|is_needed| host.legacy.settle(url, is_needed));
            let (answer, negotiated) = answer?;
            if is_first {
                let origin = url.origin().ascii_serialization();
                let line = format!(
                    "{origin} refuses current TLS; it is read over {negotiated}. The {} shows the risks.",
                    Tool::TLS.full_name()
                );
                self.run.info(line).await;
            }
            WebAnswer(answer).page(&request).await
        };
        timeout(request.limit, exchange)
            .await
            .unwrap_or(Err(WebError::Timeout))
    }

    /// A request whose response is read as curl does. A server that answers with HTTP/2, or only
    /// closes a connection inside TLS, is asked once by HTTP/2.
    async fn tolerant_exchange(
        &self,
        host: &HostClient,
        request: WebRequest<'_>,
    ) -> Result<HttpPage, WebError> {
        let WebRequest {
            method,
            url,
            max_body,
            limit,
            ..
        } = request;
        let is_https = url.scheme() == "https";
        let mut headers = request.headers.clone();
        headers.extend(
            HeaderValue::from_str(&self.user_agent())
                .ok()
                .map(|product| (USER_AGENT, product)),
        );
        let exchange = async {
            let stream: Box<dyn WireStream> = match host.legacy.serves(url) {
                true => Box::new(host.legacy.connect(url).await?),
                false => host.tolerant.connect(url).await?,
            };
            // Encoded data is usually smaller than the body.
            let most = max_body + max_body / 8;
            tolerant_http::exchange(stream, method, url, &headers, most).await
        };
        let error = match timeout(limit, exchange)
            .await
            .unwrap_or(Err(WebError::Timeout))
        {
            Ok(response) => return Ok(tolerant_page(response, &request).await),
            Err(error) => error,
        };
        let may_be_http2 = match &error {
            WebError::Http2 => true,
            WebError::Silent | WebError::Broken(_) => is_https && !host.legacy.serves(url),
            _ => false,
        };
        if may_be_http2 && host.dialects.of(url) != Some(HttpDialect::NoHttp2) {
            self.next_turn(host).await;
            return self
                .http2_exchange(host, &request)
                .await
                .unwrap_or(Err(error));
        }
        Err(error)
    }

    /// A request by HTTP/2; `None` if the server does not speak it.
    async fn http2_exchange(
        &self,
        host: &HostClient,
        request: &WebRequest<'_>,
    ) -> Option<Result<HttpPage, WebError>> {
        let Ok(answer) = request.send(&host.http2).await else {
            host.dialects.set(request.url, HttpDialect::NoHttp2);
            return None;
        };
        if host.dialects.set(request.url, HttpDialect::Http2) {
            let origin = request.url.origin().ascii_serialization();
            self.run
                .info(format!(
                    "{origin} speaks HTTP/2 only; it is read over HTTP/2."
                ))
                .await;
        }
        Some(answer.page(request).await)
    }
}

/// A request, without the client that sends it.
pub(super) struct WebRequest<'r> {
    pub(super) method: &'r Method,
    pub(super) url: &'r Url,
    pub(super) headers: HeaderMap,
    /// Time for the complete response.
    pub(super) limit: Duration,
    pub(super) max_body: usize,
    pub(super) sent: Arc<SentHead>,
}

impl WebRequest<'_> {
    async fn send(&self, client: &Client) -> reqwest::Result<WebAnswer> {
        let request = client
            .request(self.method.clone(), self.url.clone())
            .headers(self.headers.clone());
        request.timeout(self.limit).send().await.map(WebAnswer)
    }
}

/// A response whose body was not read.
pub(super) struct WebAnswer(pub(super) Response);

impl WebAnswer {
    pub(super) async fn page(self, request: &WebRequest<'_>) -> Result<HttpPage, WebError> {
        let (status, headers) = (self.0.status().as_u16(), self.0.headers().clone());
        let encodings = content_encoding(&headers);
        let body = body::read(
            Box::pin(self.0.bytes_stream()),
            &encodings,
            request.max_body,
        )
        .await;
        let ReadBody {
            bytes,
            received,
            failure,
            fault,
        } = body;
        let fault = match failure {
            Some(error) if error.is_timeout() => return Err(WebError::Timeout),
            Some(error) if !(has_no_length(&headers) && lacks_close_notify(&error)) => {
                Some(BodyFault::Cut(cut_words(&headers, received, &error)))
            }
            _ => fault,
        };
        Ok(HttpPage {
            url: request.url.clone(),
            status,
            headers,
            body: bytes,
            fault,
            request: Arc::clone(&request.sent),
        })
    }
}

async fn tolerant_page(response: TolerantResponse, request: &WebRequest<'_>) -> HttpPage {
    let TolerantResponse {
        status,
        headers,
        body,
        fault,
    } = response;
    let chunk: Result<Bytes, Infallible> = Ok(Bytes::from(body));
    let chunks = stream::iter([chunk]).boxed();
    let decoded = body::read(chunks, &content_encoding(&headers), request.max_body).await;
    let fault = fault.or(decoded.fault);
    HttpPage {
        url: request.url.clone(),
        status,
        headers,
        body: decoded.bytes,
        fault,
        request: Arc::clone(&request.sent),
    }
}

fn content_encoding(headers: &HeaderMap) -> String {
    let lines = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|line| String::from_utf8_lossy(line.as_bytes()));
    lines.collect::<Vec<_>>().join(", ")
}

/// What is missing of a body.
fn cut_words(headers: &HeaderMap, received: usize, error: &reqwest::Error) -> String {
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    match length {
        Some(length) => format!("the connection ended after {received} of {length} bytes"),
        None if is_cut(error) => "the connection ended before the last chunk".to_owned(),
        None => innermost(error),
    }
}

/// The headers of a second attempt. Of an answer that is not encoded, [`has_no_length`] is known.
pub(super) fn without_encoding(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    headers
}

/// Whether the end of the connection is the end of the body.
fn has_no_length(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING)
}
