//! The client of the API: contract types in, HTTP out, and the only place of this wing that names reqwest.
//!
//! ```text
//!   scans.list(query) ─► Request ─► exchange ──attempt──► service
//!                                    │  ▲ retry: only what is safe to send twice
//!                                    ▼  │
//!                                   limits, errors, budget, clock, calls ─► decode (off the async threads when big)
//! ```
//!
//! One file a noun, one async fn an endpoint (`api-v2.md §4`). Dropping a future cancels its call. The key lives in one
//! header that is marked sensitive; no error, record or debug text can hold it.

#![warn(missing_docs)]

mod any;
mod base_url;
mod budget;
mod calls;
mod error;
mod exchange;
pub mod problem;
mod replay;
mod request;

mod findings;
mod loggers;
mod reports;
mod scans;
mod targets;
mod wordlists;
mod workspaces;

pub use problem::{Problem, ProblemKind};

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

pub use any::{AskAnswer, AskBody, AskRequest};
pub use base_url::{BaseUrl, BaseUrlError};
pub use budget::{Lane, RateBudget};
pub use calls::CallRecord;
pub use error::{Error, ErrorKind};
pub use findings::FindingQuery;
pub use loggers::ReadOut;
pub use replay::replay;
pub use reports::{Download, ReportFile};
pub use scans::{Interval, ScanQuery, TestQuery};
pub use targets::TargetQuery;

use calls::Calls;
use request::ApiRequest;

/// Shorthand for what every endpoint returns.
pub type ClientResult<T> = Result<T, Error>;

/// How a [`Client`] is set up.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Where the service is.
    pub base: BaseUrl,
    /// The API key.
    pub key: SecretString,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for a whole answer, retries included; lists of findings, captures and downloads get four times that.
    pub total_timeout: Duration,
    /// Least wait before the first retry; doubled for each, with jitter.
    pub retry_delay: Duration,
    /// Retries after the first attempt.
    pub retries: usize,
    /// What the service's log shows.
    pub user_agent: String,
}

impl ClientSettings {
    /// The defaults: 5 s to connect, 30 s in total, two retries from 200 ms.
    pub fn new(base: BaseUrl, key: SecretString) -> Self {
        Self {
            base,
            key,
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(30),
            retry_delay: Duration::from_millis(200),
            retries: 2,
            user_agent: concat!("scandeck/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// A connection to one service with one key. Cheap to clone; clones share budget, clock and the record of calls.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    settings: Arc<ClientSettings>,
    seen: Arc<Mutex<AnswerHistory>>,
}

/// What the answers so far have told.
#[derive(Debug, Default)]
struct AnswerHistory {
    read: RateBudget,
    write: RateBudget,
    output: RateBudget,
    clock: Option<SignedDuration>,
    calls: Calls,
}

impl AnswerHistory {
    fn lane(&mut self, lane: Lane) -> &mut RateBudget {
        match lane {
            Lane::Read => &mut self.read,
            Lane::Write => &mut self.write,
            Lane::Output => &mut self.output,
        }
    }
}

impl Client {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or no trusted certificates are found on this machine (`https` only).
    pub fn new(settings: ClientSettings) -> ClientResult<Self> {
        let mut http = reqwest::Client::builder()
            .user_agent(settings.user_agent.as_str())
            .default_headers(authorization(&settings.key)?)
            .connect_timeout(settings.connect_timeout)
            // A redirect would carry the key elsewhere, and no endpoint answers with one.
            .redirect(reqwest::redirect::Policy::none())
            // Retries are decided here, where it is known what is safe to send twice.
            .retry(reqwest::retry::never());
        if settings.base.is_loopback() {
            http = http.no_proxy();
        }
        if !settings.base.is_tls() {
            // Plain http must work on machines without a single trusted certificate.
            http = http.tls_certs_only(Vec::new());
        }
        Ok(Self { http: http.build()?, settings: Arc::new(settings), seen: Arc::default() })
    }

    /// Where the service is.
    pub fn base(&self) -> &BaseUrl {
        &self.settings.base
    }

    /// Whether address and key are good: `GET /scans/0`, which a good key answers with a 404 in JSON.
    ///
    /// # Errors
    /// What is wrong with address, key or service.
    pub async fn check(&self) -> ClientResult<()> {
        match self.send(ApiRequest::get("/scans/0")).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The rate budget of a lane as last announced.
    pub fn budget(&self, lane: Lane) -> RateBudget {
        *self.seen().lane(lane)
    }

    /// How far the service's clock is ahead of ours; nothing before its first answer.
    pub fn clock_offset(&self) -> Option<SignedDuration> {
        self.seen().clock
    }

    /// The last calls, oldest first.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.seen().calls.to_vec()
    }

    /// A panic elsewhere while it was held leaves only counters behind: the values stay usable.
    fn seen(&self) -> MutexGuard<'_, AnswerHistory> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Our clock, in one place.
    fn now() -> Timestamp {
        Timestamp::now()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.settings.base).finish_non_exhaustive()
    }
}

fn authorization(key: &SecretString) -> ClientResult<HeaderMap> {
    let bearer = format!("Bearer {}", key.expose_secret());
    let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| {
        Error::new(
            ErrorKind::Unauthorized,
            "the API key holds a line break or another character that no header can carry",
        )
    })?;
    bearer.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
}
