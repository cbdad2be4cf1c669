//! The client of the API: contract types in, HTTP out. The only module of this wing that names
//! reqwest.
//!
//! ```text
//!   list_scans(query) ─► ApiRequest ─► exchange ──attempt──► service
//!                                       │  ▲ retry: only requests that are safe to send twice
//!                                       ▼  │
//!                                      limits, errors, budget, clock ─► decode (large responses on a blocking thread)
//! ```
//!
//! One file per noun, one async function per endpoint (`api-v2.md §4`). Dropping a future cancels
//! its call. The key is in one header that is marked sensitive, so no error and no debug text
//! contains it.

mod archive;
mod base_url;
mod body;
mod budget;
mod call_rows;
pub mod calls;
mod clock;
mod decoded;
mod document;
mod error;
mod exchange;
mod list_thread;
mod nodes;
mod observed;
mod proof;
mod raw;
mod replay;
mod request;
mod upload;
mod webhook;

mod findings;
mod imports;
mod loggers;
mod reports;
mod scans;
mod schedules;
mod targets;
mod team;
mod wordlists;
mod workspaces;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

pub use archive::CaptureArchive;
pub use base_url::{BaseUrl, BaseUrlError};
pub use budget::{Lane, RateBudget};
use calls::CallLog;
pub use calls::{ApiCall, CallChanges, CallEnd, CallId, SentBody};
pub use error::NOT_THIS_API_HINT;
pub use error::{Error, ErrorKind};
pub use exchange::Collector;
pub use findings::FindingQuery;
pub use list_thread::on_list_thread;
pub use observed::EntityTags;
use observed::Observed;
pub use proof::{MissingAnswer, ProofDestination, ProofScope, check_proof, send_proof};
pub use raw::{FormPairs, RawRequest, RequestBody};
pub use replay::replay;
pub use reports::{Download, ReportFile};
pub use scandeck_domain::problem::Problem;
pub use scans::{Interval, ScanQuery, TestQuery};
pub use targets::TargetQuery;
pub use upload::UploadFile;
pub use webhook::{WebhookMessage, WebhookUrl, WebhookUrlError, post_webhook};

use scandeck_wire::contract::team::TEAM_VERSION;
use scandeck_wire::contract::{MissingScanner, Unreadable};

/// The result of every endpoint.
pub type ClientResult<T> = Result<T, Error>;

/// Finds the address of a service that can stop and start at another one. The port of a stopped
/// service can belong to another program.
#[derive(Clone)]
pub struct ServiceLocator(Arc<dyn Fn() -> Option<BaseUrl> + Send + Sync>);

impl ServiceLocator {
    /// A function that runs before every request, so it must be fast. `None` while the service is
    /// stopped.
    pub fn new(locate: impl Fn() -> Option<BaseUrl> + Send + Sync + 'static) -> Self {
        Self(Arc::new(locate))
    }
}

impl fmt::Debug for ServiceLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceLocator")
    }
}

#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Base URL of the service.
    pub base: BaseUrl,
    /// The API key.
    pub key: SecretString,
    /// The origin of the key for error messages, such as a path; never the key.
    pub key_source: Option<Arc<str>>,
    /// Limit for the connection.
    pub connect_timeout: Duration,
    /// Limit for a whole response, retries included; four times that for findings, captures and
    /// downloads.
    pub total_timeout: Duration,
    /// Delay before the first retry; doubled for each further one, with jitter.
    pub retry_delay: Duration,
    /// Retries after the first attempt.
    pub retries: usize,
    /// `User-Agent` header.
    pub user_agent: String,
    /// Finds the address before every request. No request, and so no key, is sent while the service
    /// is stopped.
    pub locator: Option<ServiceLocator>,
}

impl ClientSettings {
    /// The defaults: 5 s to connect, 30 s in total, two retries from 200 ms.
    pub fn new(base: BaseUrl, key: SecretString) -> Self {
        Self {
            base,
            key,
            key_source: None,
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(30),
            retry_delay: Duration::from_millis(200),
            retries: 2,
            user_agent: concat!("scandeck/", env!("CARGO_PKG_VERSION")).to_owned(),
            locator: None,
        }
    }

    /// The same settings with the origin of the key.
    pub fn with_key_source(self, source: &str) -> Self {
        Self {
            key_source: Some(source.into()),
            ..self
        }
    }

    /// The same settings for a service that can move to another address.
    pub fn with_locator(self, locator: ServiceLocator) -> Self {
        Self {
            locator: Some(locator),
            ..self
        }
    }
}

/// A connection to one service with one key. Cheap to clone; clones share key, rate budget and
/// clock.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    /// The header with the key, which a user can replace while the client is used.
    key: Arc<Mutex<HeaderValue>>,
    /// The address of the last request.
    base: Arc<Mutex<BaseUrl>>,
    settings: Arc<ClientSettings>,
    announced: Arc<Mutex<Announced>>,
    observed: Arc<Observed>,
    /// The tags of responses that the caller still has.
    known: Arc<EntityTags>,
    calls: Arc<CallLog>,
    memory: Arc<AtomicUsize>,
}

/// Rate budgets, clock, missing scanners and the team, as the headers of the responses announced them.
#[derive(Debug, Default)]
struct Announced {
    budgets: [RateBudget; 3],
    clock_offset: Option<SignedDuration>,
    missing_scanners: Arc<[MissingScanner]>,
    /// The version of the extension for teams, 0 without it; none before a list of workspaces.
    team: Option<i64>,
}

impl Announced {
    fn budget(&mut self, lane: Lane) -> &mut RateBudget {
        &mut self.budgets[lane as usize]
    }
}

impl Client {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// When the key is not a valid header value, or this machine has no trusted certificates or an
    /// unusable `SSL_CERT_FILE` (`https` only).
    pub fn new(settings: ClientSettings) -> ClientResult<Self> {
        let key = key_header(&settings.key)?;
        if settings.base.is_tls() {
            error::check_ca_file(std::env::var_os(error::CA_FILE))?;
        }
        let mut http = reqwest::Client::builder()
            .user_agent(settings.user_agent.as_str())
            .connect_timeout(settings.connect_timeout)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            // A redirect would send the key elsewhere, and no endpoint redirects.
            .redirect(reqwest::redirect::Policy::none())
            // `exchange` decides on retries: it knows which requests are safe to send twice.
            .retry(reqwest::retry::never());
        if settings.base.is_loopback() {
            http = http.no_proxy();
        }
        if !settings.base.is_tls() {
            // Plain http must work on machines without any trusted certificate.
            http = http.tls_certs_only(Vec::new());
        }
        Ok(Self {
            http: http.build()?,
            key: Arc::new(Mutex::new(key)),
            base: Arc::new(Mutex::new(settings.base.clone())),
            settings: Arc::new(settings),
            announced: Arc::default(),
            observed: Arc::default(),
            known: Arc::default(),
            calls: Arc::default(),
            memory: Arc::default(),
        })
    }

    /// Base URL of the service at the last request.
    pub fn base(&self) -> BaseUrl {
        self.base
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether this client can use the service at another address: proxy and certificates are
    /// chosen once.
    pub fn can_move_to(&self, base: &BaseUrl) -> bool {
        let first = &self.settings.base;
        base.is_loopback() == first.is_loopback() && base.is_tls() == first.is_tls()
    }

    /// The present base URL of the service.
    fn locate(&self) -> ClientResult<BaseUrl> {
        let Some(locator) = &self.settings.locator else {
            return Ok(self.settings.base.clone());
        };
        let base = (locator.0)()
            .filter(|base| self.can_move_to(base))
            .ok_or_else(Error::service_stopped)?;
        self.base
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&base);
        Ok(base)
    }

    /// Uses another API key for all further requests of this client and its clones. Returns whether
    /// it is another one.
    ///
    /// # Errors
    /// When the key is not a valid header value.
    pub fn replace_key(&self, key: &SecretString) -> ClientResult<bool> {
        let new = key_header(key)?;
        let mut known = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = *known != new;
        *known = new;
        Ok(is_other)
    }

    /// The lock protects one value, which stays usable after a panic of another holder.
    fn key_header(&self) -> HeaderValue {
        self.key
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The same connection for a caller that repeats failed requests itself.
    pub fn without_retries(&self) -> Self {
        let settings = ClientSettings {
            retries: 0,
            ..ClientSettings::clone(&self.settings)
        };
        Self {
            settings: Arc::new(settings),
            ..self.clone()
        }
    }

    /// The same connection, which counts its calls and unreadable items from zero.
    pub fn observing(&self) -> Self {
        Self {
            observed: Arc::default(),
            ..self.clone()
        }
    }

    /// The same connection, for a caller that still has the responses with these tags: reads of
    /// which the service has nothing newer fail with [`ErrorKind::NotModified`].
    pub fn unless(&self, known: Arc<EntityTags>) -> Self {
        Self {
            known,
            ..self.clone()
        }
    }

    /// The calls of this client and its clones, oldest first: the last 1,000 that ended, then those
    /// in flight.
    pub fn recorded_calls(&self) -> Vec<ApiCall> {
        self.calls.calls()
    }

    /// Wakes when a call begins or ends, and at once for earlier ones.
    pub fn call_changes(&self) -> CallChanges {
        self.calls.changes()
    }

    /// Cancels a call in flight; whether there was one.
    pub fn cancel(&self, id: CallId) -> bool {
        self.calls.cancel(id)
    }

    /// The number of calls that were sent since [`observing`](Self::observing).
    pub fn calls(&self) -> u32 {
        self.observed.calls()
    }

    /// The bytes of bodies that arrived since [`observing`](Self::observing), also those of a
    /// response that is not complete.
    pub fn received(&self) -> u64 {
        self.observed.received.load(Ordering::Relaxed)
    }

    /// The items of lists that could not be decoded since [`observing`](Self::observing).
    pub fn unreadable(&self) -> Unreadable {
        self.observed.unreadable()
    }

    /// The tags of the responses since [`observing`](Self::observing); none of lists of several
    /// pages.
    pub fn entity_tags(&self) -> EntityTags {
        self.observed.tags()
    }

    /// Notes items of a list that are decoded, but not usable.
    pub fn note_unreadable(&self, items: Unreadable) {
        self.observed.add_unreadable(items);
    }

    /// The last announced rate budget of a lane.
    pub fn budget(&self, lane: Lane) -> RateBudget {
        *self.announced().budget(lane)
    }

    /// How far the service's clock is ahead of this machine's; `None` before the first response.
    pub fn clock_offset(&self) -> Option<SignedDuration> {
        self.announced().clock_offset
    }

    /// The tools that the service cannot run, by the last list of scans; none at a service that
    /// does not name them.
    pub fn missing_scanners(&self) -> Arc<[MissingScanner]> {
        Arc::clone(&self.announced().missing_scanners)
    }

    /// Whether the service shares the decisions of a team, by the last list of workspaces.
    pub fn has_team(&self) -> bool {
        self.announced().team == Some(TEAM_VERSION)
    }

    /// Whether no list of workspaces has shown yet whether the service has a team.
    pub fn awaits_team(&self) -> bool {
        self.announced().team.is_none()
    }

    /// The lock protects plain values, which stay usable after a panic of another holder.
    fn announced(&self) -> MutexGuard<'_, Announced> {
        self.announced
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base())
            .finish_non_exhaustive()
    }
}

fn key_header(key: &SecretString) -> ClientResult<HeaderValue> {
    let bearer = format!("Bearer {}", key.expose_secret());
    let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| {
        Error::new(
            ErrorKind::Unauthorized,
            "the API key contains a character that is invalid in a header",
        )
    })?;
    bearer.set_sensitive(true);
    Ok(bearer)
}
