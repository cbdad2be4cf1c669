//! Requests what the practice target is given, towards the demo's own loggers alone, and answers with a page about it.
//!
//! ```text
//!   GET /fetch/plain?url=…  ─┐
//!   POST, form or any text  ─┼─► Way::call ─► request ─► page: what was requested, and how it was answered
//!   X-Callback, Referer     ─┘       └─► refused: page saying why
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use url::{Url, form_urlencoded};

use super::caller;
use super::fetching::{FetchCall, FetchMode, FetchRefusal};
use super::visits::Visits;

/// Requests under way or waiting at once: more are refused.
const AT_ONCE: usize = 256;
/// Largest body that is read.
const BODY_LIMIT: usize = 64 << 10;
/// Wait of the late way unless said, and the longest, in seconds.
const LATER: (u64, u64) = (5, 60);

/// Makes the requests; cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    client: reqwest::Client,
    visits: Visits,
    room: Arc<Semaphore>,
    stop: CancellationToken,
}

/// A page: its status, and the body of its text.
pub type FetchPage = (StatusCode, String);

/// What a request asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct FetchRequest {
    address: String,
    seconds: Option<u64>,
}

impl Fetcher {
    /// Whose logger `visits` knows.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(visits: Visits, stop: CancellationToken) -> reqwest::Result<Self> {
        Ok(Self { client: caller()?, visits, room: Arc::new(Semaphore::new(AT_ONCE)), stop })
    }

    /// Does what a request to a way asks for.
    pub async fn answer(&self, way: FetchMode, parts: &Parts, body: Body) -> FetchPage {
        let Some(logger) = self.visits.logger() else {
            return (
                StatusCode::SERVICE_UNAVAILABLE,
                "<p>There is no logger yet to which a request could go.</p>".into(),
            );
        };
        let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
            return (StatusCode::PAYLOAD_TOO_LARGE, format!("<p>No more than {BODY_LIMIT} bytes are read.</p>"));
        };
        let asked = match way {
            FetchMode::Header => FetchRequest { address: of_headers(&parts.headers, &logger), seconds: None },
            _ => FetchRequest::of(parts, &body),
        };
        match way.call(&asked.address, &logger) {
            Ok(call) if way == FetchMode::Later => self.later(call, asked.seconds),
            Ok(call) => self.now(call).await,
            Err(refusal) => refused(&refusal, &logger),
        }
    }

    async fn now(&self, call: FetchCall) -> FetchPage {
        let Ok(_room) = self.room.try_acquire() else { return crowded() };
        let shown = escaped(call.url.as_str());
        match send(&self.client, call).await {
            Ok(status) => (StatusCode::OK, format!("<p>Requested <code>{shown}</code>: answered {status}.</p>")),
            Err(_) => (StatusCode::BAD_GATEWAY, format!("<p>Requested <code>{shown}</code>: no answer.</p>")),
        }
    }

    fn later(&self, call: FetchCall, seconds: Option<u64>) -> FetchPage {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else { return crowded() };
        let seconds = seconds.unwrap_or(LATER.0).min(LATER.1);
        let shown = escaped(call.url.as_str());
        let (client, stop) = (self.client.clone(), self.stop.clone());
        tokio::spawn(async move {
            let _room = room;
            let sending = async {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                // Nobody waits for the answer any more.
                let _ = send(&client, call).await;
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = sending => {}
            }
        });
        (StatusCode::ACCEPTED, format!("<p>In {seconds} seconds <code>{shown}</code> will be requested.</p>"))
    }
}

async fn send(client: &reqwest::Client, FetchCall { url, body }: FetchCall) -> reqwest::Result<StatusCode> {
    let request = match body {
        None => client.get(url),
        Some(body) => client.post(url).json(&body),
    };
    Ok(request.send().await?.status())
}

impl FetchRequest {
    /// From the query, a form, or a body that is the text itself.
    fn of(parts: &Parts, body: &[u8]) -> Self {
        let mut asked = Self::default();
        asked.take(parts.uri.query().unwrap_or_default().as_bytes());
        let kind = parts.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_form = kind.starts_with("application/x-www-form-urlencoded");
        if is_form {
            asked.take(body);
        }
        // `curl --data` calls any text a form.
        if !body.is_empty() && (!is_form || asked.address.is_empty()) {
            asked.address = String::from_utf8_lossy(body).into_owned();
        }
        asked
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

/// The address in a header: the first that may be called, else the first there is, for its refusal.
fn of_headers(headers: &HeaderMap, logger: &Url) -> String {
    let named = ["x-callback", "referer"].iter().filter_map(|name| headers.get(*name)?.to_str().ok());
    let may = |address: &&str| FetchMode::Header.call(address, logger).is_ok();
    named.clone().find(may).or_else(|| named.clone().next()).unwrap_or_default().to_owned()
}

fn refused(refusal: &FetchRefusal, logger: &Url) -> FetchPage {
    let only = escaped(logger.join("/").as_ref().unwrap_or(logger).as_str());
    match refusal {
        FetchRefusal::Nothing => {
            (StatusCode::BAD_REQUEST, "<p>No address was given: <code>url=</code> is empty.</p>".into())
        }
        FetchRefusal::NoAddress => (StatusCode::BAD_REQUEST, "<p>What was given is no address.</p>".into()),
        FetchRefusal::Elsewhere(given) => {
            let given = escaped(given);
            let why = format!(
                "<p>Refused: <code>{given}</code> was not requested.</p><p>This server calls nothing but \
                 the loggers of its own demo, which are at <code>{only}</code>.</p>"
            );
            (StatusCode::FORBIDDEN, why)
        }
    }
}

fn crowded() -> FetchPage {
    (StatusCode::SERVICE_UNAVAILABLE, format!("<p>{AT_ONCE} requests are under way; try again in a moment.</p>"))
}

/// The page with a form for each way.
pub fn page() -> String {
    let mut page = "<p>For practice: this server requests addresses that it is given, as many a real one does without \
         meaning to. Plant the address of a logger of this demo (in the dashboard, <code>p</code> makes one with a token) \
         and see what comes in. Anything else is refused.</p>"
        .to_owned();
    for way in FetchMode::ALL {
        let (id, told) = (way.id(), way.told());
        page.push_str(&format!("<h2>{id}</h2><p>{told}</p>"));
        page.push_str(&match way {
            FetchMode::Header => "<pre>curl -H 'X-Callback: ADDRESS' …/fetch/header</pre>".to_owned(),
            _ => format!(
                "<form action=\"/fetch/{id}\"><input name=\"url\" size=\"60\" aria-label=\"address\"> \
                 <button>Request</button></form>"
            ),
        });
    }
    page
}

/// Text in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
