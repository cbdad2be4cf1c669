//! Starts and stops a service: lock, database, keys, listeners, background tasks. One cancellation
//! token stops all.
//!
//! ```text
//!   lock ─► database ─► keys ─► listeners ─► row of the node ─► service.json ─► tasks ─► Running
//!                                                                                 │
//!   token cancelled ─► listeners drain ───────────────────────────────────────────┴─► tasks end
//!     ─► row deleted, database closed ─► lock released     (within 2 s)
//! ```

mod api_handler;
mod identities;
mod idle;
mod opened;
mod scans;
mod sockets;
mod tasks;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::clock::{Clock, SystemClock};
use crate::data::data_dir::{DataDir, DirLock};
use crate::errors::StartError;
use crate::guards::audit::AuditLog;
use crate::guards::keys::KeyRing;
use crate::guards::limits::{ClientLimiter, HEALTH_CHECKS, Limiter};
use crate::guards::quotas::KeyUsage;
use crate::loggers::UnattributedList;
use crate::monitor::health::Readiness;
use crate::monitor::metrics::Metrics;
use crate::monitor::observe::RequestCounter;
use crate::net::descriptors::DescriptorShares;
use crate::net::proxies::TrustedProxies;
use crate::net::resolver::{Resolver, SystemResolver};
use crate::net::tls::ServerIdentity;
use crate::runs::lease::NodeLease;
use crate::runs::worker::Runner;
use crate::scope_check::ScopeCheck;
use crate::settings::Settings;
use crate::state::{App, AppState};
use crate::store::Store;

use identities::ListenerIdentities;
use opened::{OpenedDir, ServiceKeys};
use scans::{engine, engine_scope, scan_lanes};
use sockets::{Sockets, api_url, check_exposure, check_roles, metrics_note, role_notes};
use tasks::{spawn_shared_tasks, spawn_tasks};

/// Descriptors of one scan besides its port probes: HTTP connections, which are kept open.
pub(crate) const SCAN_DESCRIPTORS: usize = 32;

/// A running service.
pub struct Running {
    /// `http://ADDR:PORT/api/v2`.
    pub base_url: Url,
    /// Base of every `handler_url`, ending in `/`.
    pub logger_base: Url,
    /// The API key, which [`fmt::Debug`] hides.
    pub api_key: String,
    /// The certificate of the API, to reload it.
    pub identity: Option<Arc<ServerIdentity>>,
    /// The certificate of the loggers.
    pub logger_identity: Option<Arc<ServerIdentity>>,
    /// Notices for the user: a migration, a network file system, changed ports.
    pub notes: Vec<String>,
    shutdown: JoinHandle<()>,
}

impl Running {
    /// Waits until the service has stopped, because the token was cancelled or the service was
    /// idle.
    ///
    /// # Errors
    /// When the shutdown panicked.
    pub async fn stopped(self) -> anyhow::Result<()> {
        Ok(self.shutdown.await?)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("base_url", &self.base_url.as_str())
            .finish_non_exhaustive()
    }
}

/// Starts a service; it stops within two seconds after `shutdown` is cancelled.
///
/// # Errors
/// When another service uses the directory, an address is in use, or a file cannot be used;
/// [`StartError::Stopped`] when `shutdown` is cancelled while PostgreSQL is opened.
pub fn start(
    settings: Settings,
    shutdown: CancellationToken,
) -> BoxFuture<'static, Result<Running, StartError>> {
    start_with(settings, shutdown, Parts::default())
}

/// Parts that tests replace.
pub struct Parts {
    /// The system clock by default, which follows that of the database.
    pub clock: Arc<dyn Clock>,
    /// The engine by default.
    pub runner: Option<Arc<dyn Runner>>,
    /// The resolver of the system by default.
    pub resolver: Arc<dyn Resolver>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock::default()),
            runner: None,
            resolver: Arc::new(SystemResolver),
        }
    }
}

/// [`start`] with replaced parts.
///
/// # Errors
/// The errors of [`start`].
pub fn start_with(
    settings: Settings,
    shutdown: CancellationToken,
    parts: Parts,
) -> BoxFuture<'static, Result<Running, StartError>> {
    // An `async fn` is compiled where it is awaited; a boxed future is compiled once, here.
    Box::pin(start_parts(settings, shutdown, parts))
}

async fn start_parts(
    settings: Settings,
    shutdown: CancellationToken,
    parts: Parts,
) -> Result<Running, StartError> {
    check_exposure(&settings)?;
    check_roles(&settings)?;
    let identities = ListenerIdentities::load(&settings)?;
    let tls = identities.acceptors()?;
    let opened = open_dir(&settings, &shutdown).await?;
    let sockets = Sockets::open(&settings, opened.last.as_ref()).await?;
    let scheme = if tls.api.is_some() { "https" } else { "http" };
    let base_url = api_url(scheme, sockets.api_address)?;
    let logger_base = sockets.logger_base(&settings)?;
    let shares = DescriptorShares::of_process();
    let lanes = scan_lanes(&settings, shares);
    let runner = match &parts.runner {
        Some(runner) => Arc::clone(runner),
        None => engine(
            &settings,
            engine_scope(&settings, &opened.dir)?,
            &parts.resolver,
            &sockets,
            Arc::clone(&lanes),
        ),
    };
    let scope_notice = opened.register(&settings, parts.clock.as_ref()).await?;
    let mut notes = opened.notes.clone();
    notes.extend(scope_notice);
    notes.extend(start_notes(&settings, &sockets, shares));
    notes.extend(opened.announce(&settings, &sockets, &logger_base)?);
    // Nothing below fails, so a failed start leaves no task running.
    let OpenedDir {
        dir,
        lock,
        store,
        keys,
        scope_check,
        ..
    } = opened;
    let (api_key, callback_key) = (keys.admin.clone(), keys.callback.clone());
    let state = app_state(
        settings,
        parts,
        &dir,
        store.clone(),
        scope_check,
        keys,
        &logger_base,
    );
    let app = App::new(state);
    let stop = CancellationToken::new();
    let tasks = spawn_tasks(&app, sockets, tls, runner, shares, callback_key, &stop);
    if app.settings.database.is_some() {
        spawn_shared_tasks(&app, &tasks, lanes, &stop);
    }
    let shutdown = shutdown.child_token();
    if let Some(after) = app.settings.idle_exit {
        tasks.spawn(idle::watch(app.clone(), after, shutdown.clone()));
    }
    let end = ServiceEnd {
        dir,
        lock,
        store,
        tasks,
        stop,
    };
    let shutdown = tokio::spawn(end.wait(shutdown));
    Ok(Running {
        base_url,
        logger_base,
        api_key,
        identity: identities.api,
        logger_identity: identities.loggers,
        notes,
        shutdown,
    })
}

/// Opens the data directory. A migration of PostgreSQL may wait for other nodes, and ends with its
/// connection; that of a file is not interrupted.
async fn open_dir(
    settings: &Settings,
    shutdown: &CancellationToken,
) -> Result<OpenedDir, StartError> {
    let opened = OpenedDir::open(settings);
    match settings.database {
        None => opened.await,
        Some(_) => {
            let ended = shutdown.run_until_cancelled(opened).await;
            ended.unwrap_or(Err(StartError::Stopped))
        }
    }
}

/// Notices about the settings and the machine.
fn start_notes(settings: &Settings, sockets: &Sockets, shares: DescriptorShares) -> Vec<String> {
    let mut notes = Vec::new();
    if settings.connections.connections > shares.api {
        notes.push(format!(
            "the limit of file descriptors allows {} connections per listener",
            shares.api
        ));
    }
    let metrics = sockets.metrics.as_ref();
    let metrics_address = metrics.and_then(|listener| listener.local_addr().ok());
    notes.extend(metrics_address.map(metrics_note));
    notes.extend(role_notes(settings));
    if settings.tls.is_some() && settings.insecure_http {
        notes.push("--insecure-http has no effect with --tls-cert".to_owned());
    }
    if settings.allow_active {
        notes.push("active tools may scan targets whose scope entry has `active`".into());
    }
    notes
}

fn app_state(
    settings: Settings,
    parts: Parts,
    dir: &DataDir,
    store: Store,
    scope_check: Arc<ScopeCheck>,
    keys: ServiceKeys,
    logger_base: &Url,
) -> AppState {
    let lease = match store.is_file() {
        true => NodeLease::alone(),
        false => NodeLease::new(settings.lease),
    };
    AppState {
        store,
        scope_check,
        audit: AuditLog::new(dir.audit_log(), Some(settings.audit_bytes)),
        metrics: Metrics::default(),
        requests: RequestCounter::default(),
        readiness: Readiness::default(),
        unattributed: UnattributedList::default(),
        proxies: TrustedProxies::new(settings.behind_proxy.clone()),
        resolver: parts.resolver,
        secrets: keys.scans,
        limiter: Limiter::new(settings.rate_limit),
        wrong_keys: ClientLimiter::new(settings.wrong_keys),
        health_checks: ClientLimiter::new(HEALTH_CHECKS),
        key_usage: KeyUsage::new(settings.key_quotas),
        keys: KeyRing::new(&keys.admin),
        logger_base: logger_base.clone(),
        boot: rand::random(),
        worker: Arc::default(),
        lease: Arc::new(lease),
        large_documents: Semaphore::new(1),
        reports: Notify::new(),
        imports: Notify::new(),
        schedules: Notify::new(),
        deliveries: Notify::new(),
        last_client: parts.clock.now().as_millisecond().into(),
        clock: parts.clock,
        settings,
    }
}

/// What the end of the service needs.
struct ServiceEnd {
    dir: DataDir,
    lock: DirLock,
    store: Store,
    tasks: TaskTracker,
    /// Ends the tasks.
    stop: CancellationToken,
}

impl ServiceEnd {
    /// After `shutdown`, waits for the tasks, then closes the database, then releases the lock.
    async fn wait(self, shutdown: CancellationToken) {
        shutdown.cancelled().await;
        // Before the ports are free: clients send their key only while `service.json` names the
        // port.
        self.dir.take_last_info();
        self.stop.cancel();
        self.tasks.wait().await;
        self.store.close().await;
        drop(self.lock);
    }
}
