//! Server-side requests of the practice target, to the demo's own loggers only.
//!
//! ```text
//!   GET /fetch/plain?url=…  ─┐
//!   POST, form or any text  ─┼─► FetchMode::call ─► request ─► page with the URL and its response
//!   X-Callback, Referer     ─┘       └─► refused: page with the reason
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use url::{Url, form_urlencoded};

use super::fetching::{FetchCall, FetchMode, FetchRefusal};
use super::http_client;
use super::visits::Visits;

/// Concurrent requests, including delayed ones; further ones are refused.
const CONCURRENCY: usize = 256;
/// The largest accepted body.
const BODY_LIMIT: usize = 64 << 10;
/// Default and maximum delay, in seconds.
const DELAY: (u64, u64) = (5, 60);

/// Sends the requests; cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    client: reqwest::Client,
    visits: Visits,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
}

/// A page: its status and its text.
pub type FetchPage = (StatusCode, String);

#[derive(Debug, Default, PartialEq, Eq)]
struct FetchRequest {
    address: String,
    seconds: Option<u64>,
}

impl Fetcher {
    /// A fetcher for the loggers of the service that `visits` reports to.
    ///
    /// # Errors
    /// When the client cannot be created.
    pub fn new(visits: Visits, stop: CancellationToken) -> reqwest::Result<Self> {
        Ok(Self {
            client: http_client()?,
            visits,
            permits: Arc::new(Semaphore::new(CONCURRENCY)),
            stop,
        })
    }

    pub async fn answer(&self, mode: FetchMode, parts: &Parts, body: Body) -> FetchPage {
        let Some(logger) = self.visits.logger() else {
            return (
                StatusCode::SERVICE_UNAVAILABLE,
                "<p>The demo has no logger yet.</p>".into(),
            );
        };
        let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
            return (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("<p>The body is larger than {BODY_LIMIT} bytes.</p>"),
            );
        };
        let request = match mode {
            FetchMode::Header => FetchRequest {
                address: address_in_headers(&parts.headers, &logger),
                seconds: None,
            },
            _ => FetchRequest::of(parts, &body),
        };
        match mode.call(&request.address, &logger) {
            Ok(call) if mode == FetchMode::Later => self.fetch_later(call, request.seconds),
            Ok(call) => self.fetch(call).await,
            Err(refusal) => refused(&refusal, &logger),
        }
    }

    async fn fetch(&self, call: FetchCall) -> FetchPage {
        let Ok(_permit) = self.permits.try_acquire() else {
            return overloaded();
        };
        let shown = escaped(call.url.as_str());
        match send(&self.client, call).await {
            Ok(status) => (
                StatusCode::OK,
                format!("<p>Requested <code>{shown}</code>: status {status}.</p>"),
            ),
            Err(_) => (
                StatusCode::BAD_GATEWAY,
                format!("<p>Requested <code>{shown}</code>: no response.</p>"),
            ),
        }
    }

    fn fetch_later(&self, call: FetchCall, seconds: Option<u64>) -> FetchPage {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return overloaded();
        };
        let seconds = seconds.unwrap_or(DELAY.0).min(DELAY.1);
        let shown = escaped(call.url.as_str());
        let (client, stop) = (self.client.clone(), self.stop.clone());
        tokio::spawn(async move {
            let _permit = permit;
            let sending = async {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                // The client does not wait for the response.
                let _ = send(&client, call).await;
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = sending => {}
            }
        });
        (
            StatusCode::ACCEPTED,
            format!("<p><code>{shown}</code> will be requested in {seconds} seconds.</p>"),
        )
    }
}

async fn send(
    client: &reqwest::Client,
    FetchCall { url, body }: FetchCall,
) -> reqwest::Result<StatusCode> {
    let request = match body {
        None => client.get(url),
        Some(body) => client.post(url).json(&body),
    };
    Ok(request.send().await?.status())
}

impl FetchRequest {
    /// Reads the query, a form, or a plain text body.
    fn of(parts: &Parts, body: &[u8]) -> Self {
        let mut request = Self::default();
        request.take(parts.uri.query().unwrap_or_default().as_bytes());
        let kind = parts
            .headers
            .get("content-type")
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        let is_form = kind.starts_with("application/x-www-form-urlencoded");
        if is_form {
            request.take(body);
        }
        // `curl --data` sends any text with the content type of a form.
        if !body.is_empty() && (!is_form || request.address.is_empty()) {
            request.address = String::from_utf8_lossy(body).into_owned();
        }
        request
    }

    fn take(&mut self, form: &[u8]) {
        for (name, value) in form_urlencoded::parse(form) {
            match &*name {
                "url" => self.address = value.into_owned(),
                "seconds" => self.seconds = value.parse().ok(),
                _ => {}
            }
        }
    }
}

/// The first allowed address in a header, else the first address.
fn address_in_headers(headers: &HeaderMap, logger: &Url) -> String {
    let named = ["x-callback", "referer"]
        .iter()
        .filter_map(|name| headers.get(*name)?.to_str().ok());
    let is_allowed = |address: &&str| FetchMode::Header.call(address, logger).is_ok();
    named
        .clone()
        .find(is_allowed)
        .or_else(|| named.clone().next())
        .unwrap_or_default()
        .to_owned()
}

fn refused(refusal: &FetchRefusal, logger: &Url) -> FetchPage {
    let only = escaped(logger.join("/").as_ref().unwrap_or(logger).as_str());
    match refusal {
        FetchRefusal::Nothing => (
            StatusCode::BAD_REQUEST,
            "<p>The parameter <code>url</code> is empty.</p>".into(),
        ),
        FetchRefusal::NoAddress => (
            StatusCode::BAD_REQUEST,
            "<p>The parameter is not a URL.</p>".into(),
        ),
        FetchRefusal::Elsewhere(given) => {
            let given = escaped(given);
            let why = format!(
                "<p>Refused: <code>{given}</code> was not requested.</p><p>This server sends requests \
                 to the loggers of this demo only: <code>{only}</code>.</p>"
            );
            (StatusCode::FORBIDDEN, why)
        }
    }
}

fn overloaded() -> FetchPage {
    (
        StatusCode::SERVICE_UNAVAILABLE,
        format!("<p>Too many requests ({CONCURRENCY}); try again later.</p>"),
    )
}

/// The page with a form for each mode.
pub fn page() -> String {
    let mut page =
        "<p>For practice: this server requests URLs from its input, like a server with an SSRF vulnerability. Plant \
         the URL of a logger of this demo (in the dashboard, <code>p</code> creates one with a token) and watch its \
         captured requests. Other URLs are refused.</p>"
            .to_owned();
    for (mode, id, description) in FetchMode::ALL {
        page.push_str(&format!("<h2>{id}</h2><p>{description}</p>"));
        page.push_str(&match mode {
            FetchMode::Header => "<pre>curl -H 'X-Callback: URL' …/fetch/header</pre>".to_owned(),
            _ => format!(
                "<form action=\"/fetch/{id}\"><input name=\"url\" size=\"60\" aria-label=\"URL\"> \
                 <button>Request</button></form>"
            ),
        });
    }
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
