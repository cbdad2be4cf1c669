//! Starts and stops a service: lock, database, keys, listeners, background tasks. One cancellation
//! token stops all.
//!
//! ```text
//!   lock ─► database ─► keys ─► listeners ─► row of the node ─► service.json ─► tasks ─► Running
//!                                                                                 │
//!   token cancelled ─► listeners drain ───────────────────────────────────────────┴─► tasks end
//!     ─► row deleted, database closed ─► lock released     (within 2 s)
//! ```

mod idle;
mod sockets;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use url::Url;

use crate::api::router;
use crate::api::router::NormalizingRouter;
use crate::clock::{Clock, SystemClock};
use crate::data::data_dir::{DataDir, DirLock, ServiceInfo, api_key, secret};
use crate::data::service_scope::ServiceScope;
use crate::engine::pace::Lanes;
use crate::engine::{Engine, EngineSettings, ServicePorts};
use crate::errors::{ApiError, StartError};
use crate::guards::audit::AuditLog;
use crate::guards::keys::KeyRing;
use crate::guards::limits::{ClientLimiter, HEALTH_CHECKS, Limiter};
use crate::guards::quotas::KeyUsage;
use crate::guards::secrets::{ScanSecrets, fingerprint};
use crate::loggers;
use crate::loggers::recorder::Recorder;
use crate::loggers::{LoggerHandler, UnattributedList};
use crate::monitor::health::Readiness;
use crate::monitor::metrics::{Metrics, MetricsHandler};
use crate::monitor::observe::{RequestCounter, observe};
use crate::net::connections;
use crate::net::connections::{
    AcceptedConnection, ClientAddress, ConnectionHandler, ConnectionLimits, FailedHandshake,
    ListenerTls,
};
use crate::net::descriptors::DescriptorShares;
use crate::net::dns::DnsClient;
use crate::net::proxies::TrustedProxies;
use crate::net::resolver::{Resolver, SystemResolver};
use crate::net::tls::{ServerIdentity, TlsFiles};
use crate::runs::callbacks;
use crate::runs::claims;
use crate::runs::importer;
use crate::runs::key_windows::share_key_windows;
use crate::runs::lanes::{JOIN, share_lanes};
use crate::runs::lease::NodeLease;
use crate::runs::local_queue::LocalQueue;
use crate::runs::queue_hints::follow_hints;
use crate::runs::report_maker;
use crate::runs::schedules::start_schedules;
use crate::runs::words::{PREDEFINED, WordlistWords};
use crate::runs::worker;
use crate::runs::worker::{Runner, WorkerParts};
use crate::scope::Pattern;
use crate::scope_check::{ActiveUse, ScopeCheck, ScopeCheckSettings};
use crate::settings::{NodeRole, Settings};
use crate::state::{App, AppState};
use crate::store::captures::LoggerQuota;
use crate::store::jobs::seal_copy;
use crate::store::nodes::{NodeDetails, NodeRegistration, SharedKey};
use crate::store::{DatabaseAddress, OpenedStore, Store};
use scandeck_wire::login::login;

use sockets::{Sockets, api_url, check_exposure, check_roles, local_url, metrics_note, role_notes};

/// How long open connections may finish their responses when the service stops.
const DRAIN: Duration = Duration::from_millis(1500);

/// Connections of the metrics listener.
const METRICS_CONNECTIONS: usize = 8;

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
/// When another service uses the directory, an address is in use, or a file cannot be used.
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
    let opened = OpenedDir::open(&settings).await?;
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
        tasks.spawn(claims::watch_scope(app.clone(), stop.clone()));
        tasks.spawn(share_lanes(app.clone(), lanes, stop.clone()));
        tasks.spawn(share_key_windows(app.clone(), stop.clone()));
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

/// The certificates of the listeners.
struct ListenerIdentities {
    api: Option<Arc<ServerIdentity>>,
    loggers: Option<Arc<ServerIdentity>>,
}

/// TLS of each listener; one without speaks plain HTTP.
struct TlsAcceptors {
    api: Option<TlsAcceptor>,
    loggers: Option<TlsAcceptor>,
}

impl ListenerIdentities {
    fn load(settings: &Settings) -> Result<Self, StartError> {
        let load = |files: &Option<TlsFiles>| {
            let identity = files.clone().map(ServerIdentity::load);
            identity.transpose().map_err(tls_failed)
        };
        Ok(Self {
            api: load(&settings.tls)?,
            loggers: load(&settings.logger_tls)?,
        })
    }

    fn acceptors(&self) -> Result<TlsAcceptors, StartError> {
        let accept = |identity: &Option<Arc<ServerIdentity>>| {
            let acceptor = identity.as_ref().map(ServerIdentity::acceptor);
            acceptor.transpose().map_err(tls_failed)
        };
        Ok(TlsAcceptors {
            api: accept(&self.api)?,
            loggers: accept(&self.loggers)?,
        })
    }
}

fn tls_failed(error: anyhow::Error) -> StartError {
    StartError::Settings(format!("{error:#}"))
}

/// The data directory, locked, with its store and its keys.
struct OpenedDir {
    dir: DataDir,
    lock: DirLock,
    /// What an earlier process wrote for clients.
    last: Option<ServiceInfo>,
    store: Store,
    keys: ServiceKeys,
    scope_check: Arc<ScopeCheck>,
    /// Notices for the user.
    notes: Vec<String>,
}

impl OpenedDir {
    async fn open(settings: &Settings) -> Result<Self, StartError> {
        let dir = DataDir::open(&settings.data_dir).map_err(files(&settings.data_dir))?;
        let dir = dir.of_service(settings.database.clone());
        let Some(lock) = dir.lock().await.map_err(files(dir.path()))? else {
            return Err(StartError::Held {
                dir: dir.path().to_owned(),
                info: dir.info().map(Box::new),
            });
        };
        let last = dir.take_last_info();
        let scope_check = Arc::new(ScopeCheck::new(rails_settings(settings, &dir)?));
        let OpenedStore { store, notes } = dir.open_store().await?;
        let keys = ServiceKeys::read(settings, &dir)?;
        seal_credentials(&store, &dir, &keys.scans).await?;
        Ok(Self {
            dir,
            lock,
            last,
            store: store.of_node(node_details(settings, &keys)),
            keys,
            scope_check,
            notes,
        })
    }

    /// Adds this node to those of the database, takes over the scans of nodes that have ended, and
    /// prepares the store and the scope. A refused node changes nothing. Returns a notice if the
    /// scope file was stored.
    async fn register(
        &self,
        settings: &Settings,
        clock: &dyn Clock,
    ) -> Result<Option<String>, StartError> {
        let difference = claims::clock_difference(&self.store).await;
        clock.follow(difference.map_err(StartError::Store)?);
        let registered = self.store.register(clock.now()).await;
        match registered.map_err(StartError::Store)? {
            NodeRegistration::Done => {
                prepare(&self.store, settings).await?;
                ServiceScope::new(&self.dir).share(&self.store).await
            }
            NodeRegistration::OtherKey { key, name } => Err(self.other_key(settings, key, name)),
        }
    }

    fn other_key(&self, settings: &Settings, key: SharedKey, node: String) -> StartError {
        let (file, other_remedy) = match key {
            SharedKey::Secrets => (
                secrets_file(settings, &self.dir),
                ", or name it with --secrets-key-file",
            ),
            SharedKey::Callbacks => (self.dir.callback_key_file(), ""),
        };
        StartError::OtherKey {
            file,
            node,
            other_remedy,
        }
    }

    /// Stores the address of the service for clients of this machine; returns a notice if the
    /// logger URLs have changed.
    fn announce(
        &self,
        settings: &Settings,
        sockets: &Sockets,
        logger_base: &Url,
    ) -> Result<Option<String>, StartError> {
        let last = self.last.as_ref().map(|last| &last.logger_url);
        let previous = last.filter(|last| *last != logger_base);
        let key_file = settings.api_key_file.as_ref();
        let info = ServiceInfo {
            // Only processes of this machine read the file.
            base_url: local_url(settings, sockets.api_address)?,
            logger_url: logger_base.clone(),
            previous_logger_url: previous.map(Url::to_string),
            pid: std::process::id(),
            api_key_file: key_file.and_then(|file| file.canonicalize().ok()),
            database_file: settings.database.as_ref().and_then(DatabaseAddress::file),
            logger_days: settings.logger_days,
        };
        self.dir.write_info(&info).map_err(files(self.dir.path()))?;
        Ok(previous.map(|previous| {
            format!(
                "logger URLs changed from {previous} to {logger_base}; old URLs no longer record"
            )
        }))
    }
}

struct ServiceKeys {
    /// The API key of the data directory.
    admin: String,
    /// Signs callbacks.
    callback: String,
    /// Encrypts the credentials of scans.
    scans: ScanSecrets,
}

impl ServiceKeys {
    fn read(settings: &Settings, dir: &DataDir) -> Result<Self, StartError> {
        let key_file = settings.api_key_file.clone();
        let admin = api_key(&key_file.unwrap_or_else(|| dir.key_file()))?;
        let callback_file = dir.callback_key_file();
        let callback = secret(&callback_file).map_err(files(&callback_file))?;
        let scans = scan_secrets(settings, dir)?;
        Ok(Self {
            admin,
            callback,
            scans,
        })
    }
}

/// Encrypts the credentials of scans that earlier versions stored as text, also in copies.
async fn seal_credentials(
    store: &Store,
    dir: &DataDir,
    secrets: &ScanSecrets,
) -> Result<(), StartError> {
    store.seal_jobs(secrets).await.map_err(StartError::Store)?;
    for copy in dir.database_copies() {
        if let Err(error) = seal_copy(&copy, secrets).await {
            tracing::warn!(copy = %copy.display(), %error, "credentials of scans in this copy not encrypted");
        }
    }
    Ok(())
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
        notes
            .push("scanners that send attacks may scan targets whose scope entry is active".into());
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

fn engine(
    settings: &Settings,
    scope_check: ScopeCheck,
    system_resolver: &Arc<dyn Resolver>,
    sockets: &Sockets,
    lanes: Arc<Lanes>,
) -> Arc<dyn Runner> {
    let resolver: Arc<dyn Resolver> = match settings.dns_server {
        Some(server) => Arc::new(DnsClient::new(server)),
        None => Arc::clone(system_resolver),
    };
    let service_ports = ServicePorts::default();
    service_ports.add(sockets.api_address);
    if sockets.loggers.is_some() {
        service_ports.add(sockets.logger_address);
    }
    Arc::new(Engine::new(EngineSettings {
        scope_check: Arc::new(scope_check),
        resolver,
        trust_anchors: settings.trust_anchors.clone(),
        service_ports,
        limits: settings.scan_limits,
        lanes,
    }))
}

/// The lanes of the scans of this process. With PostgreSQL, other nodes may scan the same hosts.
fn scan_lanes(settings: &Settings, shares: DescriptorShares) -> Arc<Lanes> {
    let probes = shares
        .scans
        .saturating_sub(settings.scans_at_once * SCAN_DESCRIPTORS);
    Arc::new(match settings.database {
        Some(_) => Lanes::waiting(probes, JOIN),
        None => Lanes::new(probes),
    })
}

/// The key of the credentials of scans. It has a file of its own: a copy of the database does not
/// contain it.
fn scan_secrets(settings: &Settings, dir: &DataDir) -> Result<ScanSecrets, StartError> {
    let file = secrets_file(settings, dir);
    let secret = secret(&file).map_err(files(&file))?;
    ScanSecrets::new(&secret)
        .ok_or_else(|| StartError::Settings(format!("{} has no usable key", file.display())))
}

fn secrets_file(settings: &Settings, dir: &DataDir) -> PathBuf {
    let file = settings.secrets_key_file.clone();
    file.unwrap_or_else(|| dir.secrets_key_file())
}

/// What the other nodes of the database see of this one.
fn node_details(settings: &Settings, keys: &ServiceKeys) -> NodeDetails {
    let user = login(|name| std::env::var(name).ok());
    let (_, host) = user.rsplit_once('@').unwrap_or_default();
    let roles: Vec<&str> = settings.roles.iter().map(|role| role.as_str()).collect();
    NodeDetails {
        name: host.to_owned(),
        roles: roles.join(","),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        secrets_key: keys.scans.fingerprint().to_owned(),
        callback_key: fingerprint(&keys.callback),
        place: String::new(),
        lease: settings.lease,
    }
}

/// Prepares the store before the first request: current workspace, predefined wordlists.
async fn prepare(store: &Store, settings: &Settings) -> Result<(), StartError> {
    if let Some(id) = settings.current_workspace
        && !store
            .set_current_workspace(id)
            .await
            .map_err(StartError::Store)?
    {
        return Err(StartError::Settings(format!(
            "--current-workspace {id}: workspace {id} not found"
        )));
    }
    for (name, description, file) in PREDEFINED {
        let words = WordlistWords::parse(file);
        store
            .upsert_predefined_wordlist(name, description, &words)
            .await
            .map_err(StartError::Store)?;
    }
    Ok(())
}

/// Deletes what interrupted purges of shared decisions have left; the next start tries it again.
async fn continue_purges(store: Store, stop: CancellationToken) {
    // The store ends them with its other deletions.
    let continued = stop.run_until_cancelled(store.continue_purges()).await;
    if let Some(Err(error)) = continued {
        tracing::warn!(%error, "shared decisions of an interrupted purge not deleted");
    }
}

fn files(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> StartError + use<> {
    let path = path.to_owned();
    move |cause| StartError::Files { path, cause }
}

fn rails_settings(settings: &Settings, dir: &DataDir) -> Result<ScopeCheckSettings, StartError> {
    let pattern = |text: &String| {
        Pattern::allowance(text)
            .map_err(|error| StartError::Settings(format!("--allow-target {text}: {error}")))
    };
    let command_suffix = if dir.command_suffix().is_empty() {
        ""
    } else {
        " --data-dir DIR"
    };
    Ok(ScopeCheckSettings {
        scope_file: dir.scope_file(),
        allow_private: settings.allow_private,
        allow_active: settings.allow_active,
        active_use: ActiveUse::Scans,
        allow_targets: settings
            .allow_targets
            .iter()
            .map(pattern)
            .collect::<Result<_, _>>()?,
        only_here: false,
        only_listed: false,
        command_suffix,
    })
}

/// The scope of the scans of this process: those of a place run at its workers.
fn engine_scope(settings: &Settings, dir: &DataDir) -> Result<ScopeCheck, StartError> {
    Ok(ScopeCheck::new(ScopeCheckSettings {
        only_here: true,
        ..rails_settings(settings, dir)?
    }))
}

/// Starts the background tasks; `stop` ends each of them.
fn spawn_tasks(
    app: &App,
    sockets: Sockets,
    tls: TlsAcceptors,
    runner: Arc<dyn Runner>,
    shares: DescriptorShares,
    callback_key: String,
    stop: &CancellationToken,
) -> TaskTracker {
    let tasks = BackgroundTasks {
        app,
        shares,
        stop,
        tracker: TaskTracker::new(),
    };
    tasks.serve_api(sockets.api, tls.api);
    if let Some(loggers) = sockets.loggers {
        tasks.serve_loggers(loggers, tls.loggers);
    }
    if let Some(metrics) = sockets.metrics {
        tasks.serve_metrics(metrics);
    }
    if app.settings.roles.contains(&NodeRole::Worker) {
        tasks.work(runner, callback_key);
    }
    let tracker = tasks.tracker;
    tracker.spawn(claims::keep_lease(app.clone(), stop.clone()));
    tracker.spawn(claims::watch_places(app.clone(), stop.clone()));
    tracker.spawn(continue_purges(app.store.clone(), stop.clone()));
    tracker.close();
    tracker
}

struct BackgroundTasks<'a> {
    app: &'a App,
    shares: DescriptorShares,
    stop: &'a CancellationToken,
    tracker: TaskTracker,
}

impl BackgroundTasks<'_> {
    fn serve_api(&self, socket: TcpListener, tls: Option<TlsAcceptor>) {
        let limits = self.app.settings.connections.within(self.shares.api);
        let handler = ApiHandler::new(self.app);
        self.tracker.spawn(connections::serve(
            socket,
            limits,
            handler,
            tls,
            self.stop.clone(),
            DRAIN,
        ));
    }

    /// Serves the loggers, and starts the task that stores their captures.
    fn serve_loggers(&self, socket: TcpListener, acceptor: Option<TlsAcceptor>) {
        let (app, stop) = (self.app, self.stop);
        let quota = LoggerQuota {
            requests: app.settings.logger_quota,
            bytes: app.settings.logger_bytes,
        };
        let (recorder, record) = Recorder::new(app.store.clone(), quota);
        self.tracker.spawn(record);
        // Senders to loggers have no key.
        let limits = ConnectionLimits {
            reserve: 0,
            ..app.settings.connections.within(self.shares.loggers)
        };
        let handler = LoggerHandler::new(app.clone(), recorder);
        let serve_sender = {
            let stop = stop.clone();
            move |sender: AcceptedConnection| {
                loggers::serve(handler.clone(), sender, limits, stop.clone())
            }
        };
        let tls = match acceptor {
            Some(acceptor) => ListenerTls::Optional(acceptor, unattributed_handshakes(app)),
            None => ListenerTls::None,
        };
        self.tracker.spawn(connections::serve_transports(
            socket,
            limits,
            serve_sender,
            tls,
            stop.clone(),
            DRAIN,
        ));
    }

    /// Runs scans, and the work that follows them.
    fn work(&self, runner: Arc<dyn Runner>, callback_key: String) {
        let (app, stop) = (|| self.app.clone(), || self.stop.clone());
        let tracker = &self.tracker;
        let parts = WorkerParts {
            queue: Arc::new(LocalQueue::new(app())),
            worker: Arc::clone(&self.app.worker),
            lease: Arc::clone(&self.app.lease),
            clock: Arc::clone(&self.app.clock),
            scans_at_once: self.app.settings.scans_at_once,
        };
        tracker.spawn(worker::work(parts, runner, stop()));
        tracker.spawn(claims::watch_claims(app(), stop()));
        tracker.spawn(follow_hints(app(), stop()));
        tracker.spawn(report_maker::make_reports(app(), stop()));
        tracker.spawn(importer::run_imports(app(), stop()));
        tracker.spawn(start_schedules(app(), stop()));
        tracker.spawn(callbacks::deliver(app(), callback_key, stop()));
    }

    fn serve_metrics(&self, socket: TcpListener) {
        let limits = ConnectionLimits {
            connections: METRICS_CONNECTIONS,
            reserve: 0,
            ..self.app.settings.connections
        };
        self.tracker.spawn(connections::serve(
            socket,
            limits,
            MetricsHandler(self.app.clone()),
            None,
            self.stop.clone(),
            DRAIN,
        ));
    }
}

/// Keeps the handshakes of senders that refuse the certificate of the loggers: they reached the
/// listener.
fn unattributed_handshakes(app: &App) -> FailedHandshake {
    let app = app.clone();
    Arc::new(move |client, bytes| {
        app.unattributed.add(
            client,
            app.now(),
            "a TLS handshake that failed".to_owned(),
            bytes,
        );
    })
}

/// Answers the requests of the API listener.
#[derive(Clone)]
struct ApiHandler {
    router: NormalizingRouter,
    app: App,
}

impl ApiHandler {
    fn new(app: &App) -> Self {
        Self {
            router: router::router(app.clone()),
            app: app.clone(),
        }
    }

    /// Plain HTTP is for this machine and for the proxy that adds TLS.
    fn is_behind_proxy_only(&self) -> bool {
        let settings = &self.app.settings;
        settings.tls.is_none() && !settings.insecure_http && !settings.behind_proxy.is_empty()
    }
}

impl ConnectionHandler for ApiHandler {
    fn respond(&self, client: SocketAddr, mut request: Request) -> BoxFuture<'static, Response> {
        let is_allowed =
            client.ip().to_canonical().is_loopback() || self.app.proxies.contains(client.ip());
        if self.is_behind_proxy_only() && !is_allowed {
            let error = ApiError::forbidden("direct connections are refused")
                .with_details("connect to the proxy");
            return Box::pin(std::future::ready(error.into_response()));
        }
        let is_forwarded = self.app.proxies.contains(client.ip());
        let client = self.app.proxies.client(client, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        let (router, app) = (self.router.clone(), self.app.clone());
        Box::pin(async move {
            let respond = |request| async move {
                router
                    .oneshot(request)
                    .await
                    .unwrap_or_else(|never| match never {})
            };
            observe(&app, client, is_forwarded, request, respond).await
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_do_not_name_the_data_directory() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        assert_eq!(
            rails_settings(&Settings::new(temp.path()), &dir)
                .unwrap()
                .command_suffix,
            " --data-dir DIR"
        );
    }
}
