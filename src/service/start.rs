//! Starts and stops a service: lock, database, keys, listeners, background tasks. One cancellation token stops all.
//!
//! ```text
//!   lock ─► database ─► keys ─► listeners ─► tasks ─► service.json ─► Running
//!                                              │
//!   token cancelled ─► listeners drain ────────┴─► tasks end ─► database closed ─► lock released     (within 2 s)
//! ```

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use url::Url;

use super::audit::AuditLog;
use super::clock::{Clock, SystemClock};
use super::connections::{ClientAddress, ConnectionHandler, ConnectionLimits, RefusedHead};
use super::data_dir::{DataDir, DirLock, ServiceInfo, secret};
use super::descriptors::DescriptorShares;
use super::engine::{Engine, EngineSettings, ServicePorts};
use super::errors::{ApiError, StartError};
use super::health::Readiness;
use super::keys::KeyRing;
use super::limits::{Limiter, WrongKeys};
use super::loggers::LoggerHandler;
use super::metrics::{Metrics, MetricsHandler};
use super::observe::{RequestCounter, observe};
use super::proxies::TrustedProxies;
use super::recorder::Recorder;
use super::resolver::{Resolver, SystemResolver};
use super::router::NormalizingRouter;
use super::scope::Pattern;
use super::scope_check::{ScopeCheck, ScopeCheckSettings};
use super::secrets::ScanSecrets;
use super::settings::Settings;
use super::state::{App, AppState};
use super::store::captures::LoggerQuota;
use super::store::{OpenedStore, Store};
use super::tls::ServerIdentity;
use super::words::{PREDEFINED, WordlistWords};
use super::worker::{Runner, Worker};
use super::{callbacks, connections, idle, report_maker, router, worker};

/// How long open connections may finish their responses when the service stops.
const DRAIN: Duration = Duration::from_millis(1500);

/// Connections of the metrics listener.
const METRICS_CONNECTIONS: usize = 8;

/// Descriptors of one scan besides its port probes: HTTP connections, which are kept open.
const SCAN_DESCRIPTORS: usize = 32;

/// A running service.
pub struct Running {
    /// `http://ADDR:PORT/api/v2`.
    pub base_url: Url,
    /// Base of every `handler_url`, ending in `/`.
    pub logger_base: Url,
    /// The API key, which [`fmt::Debug`] hides.
    pub api_key: String,
    /// The certificate, to reload it.
    pub identity: Option<Arc<ServerIdentity>>,
    /// Notices for the user: a migration, a network file system, changed ports.
    pub notes: Vec<String>,
    shutdown: JoinHandle<()>,
}

impl Running {
    /// Waits until the service has stopped, because the token was cancelled or the service was idle.
    ///
    /// # Errors
    /// When the shutdown panicked.
    pub async fn stopped(self) -> anyhow::Result<()> {
        Ok(self.shutdown.await?)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("base_url", &self.base_url.as_str()).finish_non_exhaustive()
    }
}

/// Starts a service; it stops within two seconds after `shutdown` is cancelled.
///
/// # Errors
/// When another service uses the directory, an address is in use, or a file cannot be used.
pub async fn start(settings: Settings, shutdown: CancellationToken) -> Result<Running, StartError> {
    start_with(settings, shutdown, Parts::default()).await
}

/// Parts that tests replace.
pub struct Parts {
    /// The system clock by default.
    pub clock: Arc<dyn Clock>,
    /// The engine by default.
    pub runner: Option<Arc<dyn Runner>>,
    /// The resolver of the system by default.
    pub resolver: Arc<dyn Resolver>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), runner: None, resolver: Arc::new(SystemResolver) }
    }
}

/// [`start`] with replaced parts.
///
/// # Errors
/// The errors of [`start`].
pub async fn start_with(settings: Settings, shutdown: CancellationToken, parts: Parts) -> Result<Running, StartError> {
    check_exposure(&settings)?;
    let tls_failed = |error: anyhow::Error| StartError::Settings(format!("{error:#}"));
    let identity = settings.tls.clone().map(ServerIdentity::load).transpose().map_err(tls_failed)?;
    let tls = identity.as_ref().map(ServerIdentity::acceptor).transpose().map_err(tls_failed)?;
    let dir = DataDir::open(&settings.data_dir).map_err(files(&settings.data_dir))?;
    let Some(lock) = dir.lock().await.map_err(files(dir.path()))? else {
        return Err(StartError::Held { dir: dir.path().to_owned(), info: dir.info().map(Box::new) });
    };
    let last = dir.take_last_info();
    let scope_check = Arc::new(ScopeCheck::new(rails_settings(&settings, &dir)?));
    let OpenedStore { store, mut notes } = Store::open(&dir.database()).await?;
    prepare(&store, &settings, parts.clock.now()).await?;
    let key_file = settings.api_key_file.clone().unwrap_or_else(|| dir.key_file());
    let api_key = secret(&key_file).map_err(files(&key_file))?;
    let callback_key = secret(&dir.callback_key_file()).map_err(files(&dir.callback_key_file()))?;
    let secrets = scan_secrets(&settings, &dir)?;
    store.seal_jobs(&secrets).await.map_err(StartError::Store)?;
    let sockets = Sockets::open(&settings, last.as_ref()).await?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (base_url, logger_base) = (api_url(scheme, sockets.api_address)?, sockets.logger_base(&settings)?);
    let shares = DescriptorShares::of_process();
    let resolver = Arc::clone(&parts.resolver);
    let runner = parts.runner.unwrap_or_else(|| engine(&settings, &scope_check, resolver, &sockets, shares));
    if settings.connections.connections > shares.api {
        notes.push(format!("the limit of file descriptors allows {} connections per listener", shares.api));
    }

    let app = App::new(AppState {
        store: store.clone(),
        scope_check,
        audit: AuditLog::new(dir.audit_log(), Some(settings.audit_bytes)),
        metrics: Metrics::default(),
        requests: RequestCounter::default(),
        readiness: Readiness::default(),
        proxies: TrustedProxies::new(settings.behind_proxy.clone()),
        resolver: parts.resolver,
        secrets,
        limiter: Limiter::new(settings.rate_limit),
        wrong_keys: WrongKeys::new(settings.wrong_keys),
        keys: KeyRing::new(&api_key),
        logger_base: logger_base.clone(),
        boot: rand::random(),
        worker: Worker::default(),
        large_documents: Semaphore::new(1),
        reports: Notify::new(),
        deliveries: Notify::new(),
        last_client: parts.clock.now().as_millisecond().into(),
        clock: parts.clock,
        settings,
    });
    let metrics_url = sockets.metrics.as_ref().and_then(|listener| listener.local_addr().ok());
    notes.extend(metrics_url.map(metrics_note));
    if app.settings.tls.is_some() && app.settings.insecure_http {
        notes.push("--insecure-http has no effect with --tls-cert".to_owned());
    }
    let previous_logger_url = last.map(|last| last.logger_url).filter(|last| *last != logger_base).map(String::from);
    notes.extend(
        previous_logger_url
            .as_ref()
            .map(|last| format!("loggers moved to {logger_base}; URLs planted under {last} no longer work")),
    );
    let info = ServiceInfo {
        // Only processes of this machine read the file.
        base_url: local_url(&app.settings, sockets.api_address)?,
        logger_url: logger_base.clone(),
        previous_logger_url,
        pid: std::process::id(),
        api_key_file: app.settings.api_key_file.as_ref().and_then(|file| file.canonicalize().ok()),
        logger_days: app.settings.logger_days,
    };
    dir.write_info(&info).map_err(files(dir.path()))?;
    // Nothing below fails, so a failed start leaves no task running.
    let tasks = spawn_tasks(&app, sockets, tls, runner, shares, callback_key, &shutdown.child_token());
    let shutdown = tokio::spawn(shut_down(tasks, store, lock));
    Ok(Running { base_url, logger_base, api_key, identity, notes, shutdown })
}

/// The two listeners with their bound addresses.
struct Sockets {
    api: TcpListener,
    loggers: TcpListener,
    metrics: Option<TcpListener>,
    api_address: SocketAddr,
    logger_address: SocketAddr,
}

impl Sockets {
    async fn open(settings: &Settings, last: Option<&ServiceInfo>) -> Result<Self, StartError> {
        let any = settings.any_port;
        let port = |url: Option<&Url>| url.filter(|_| any).and_then(Url::port);
        let at = |mut address: SocketAddr, port: Option<u16>| {
            address.set_port(port.unwrap_or(address.port()));
            address
        };
        let api = at(settings.listen, port(last.map(|last| &last.base_url)));
        let loggers = at(settings.logger_listen, port(last.map(|last| &last.logger_url)));
        let (api, api_address) = listen(api, "listen", any).await?;
        let (loggers, logger_address) = listen(loggers, "logger-listen", any).await?;
        let metrics = match settings.metrics_listen {
            Some(address) => Some(listen(address, "metrics-listen", false).await?.0),
            None => None,
        };
        Ok(Self { api, loggers, metrics, api_address, logger_address })
    }

    /// Ends in `/`, so that tokens can be appended.
    fn logger_base(&self, settings: &Settings) -> Result<Url, StartError> {
        let mut base = match &settings.logger_url {
            Some(base) => base.clone(),
            None => url(&format!("http://{}/", local_address(self.logger_address)))?,
        };
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(base)
    }
}

/// Refuses an API that other machines can reach over plain HTTP, because every request contains a key.
fn check_exposure(settings: &Settings) -> Result<(), StartError> {
    let address = settings.listen;
    let is_protected = settings.tls.is_some() || !settings.behind_proxy.is_empty() || settings.insecure_http;
    if address.ip().to_canonical().is_loopback() || is_protected {
        return Ok(());
    }
    Err(StartError::Settings(format!(
        "other machines can reach {address}, and plain HTTP shows them the API keys: use --tls-cert FILE --tls-key FILE, \
         --behind-proxy NETWORK for a proxy with TLS, or --insecure-http in a trusted network"
    )))
}

/// Metrics need no key, so the note says who can read them.
fn metrics_note(address: SocketAddr) -> String {
    let url = format!("http://{}/metrics", local_address(address));
    match address.ip().to_canonical().is_loopback() {
        true => format!("metrics at {url}"),
        false => format!("metrics at {url}, which other machines can read without a key"),
    }
}

fn api_url(scheme: &str, address: impl fmt::Display) -> Result<Url, StartError> {
    url(&format!("{scheme}://{address}{}", router::PREFIX))
}

/// The URL for processes of this machine. A certificate is usually valid for a name, so the first allowed one is used.
fn local_url(settings: &Settings, address: SocketAddr) -> Result<Url, StartError> {
    match (&settings.tls, settings.allow_hosts.first()) {
        (None, _) => api_url("http", local_address(address)),
        (Some(_), None) => api_url("https", local_address(address)),
        (Some(_), Some(name)) => api_url("https", format!("{name}:{}", address.port())),
    }
}

/// The address by which this machine reaches a listener: loopback for `0.0.0.0` and `::`.
fn local_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn listen(address: SocketAddr, flag: &'static str, any: bool) -> Result<(TcpListener, SocketAddr), StartError> {
    let busy = |cause| StartError::Busy { address, flag, cause };
    let listener = match TcpListener::bind(address).await {
        Err(_) if any => TcpListener::bind((address.ip(), 0)).await,
        other => other,
    };
    let listener = listener.map_err(busy)?;
    let address = listener.local_addr().map_err(busy)?;
    Ok((listener, address))
}

fn engine(
    settings: &Settings,
    scope_check: &Arc<ScopeCheck>,
    resolver: Arc<dyn Resolver>,
    sockets: &Sockets,
    shares: DescriptorShares,
) -> Arc<dyn Runner> {
    let service_ports = ServicePorts::default();
    service_ports.add(sockets.api_address);
    service_ports.add(sockets.logger_address);
    let (scope_check, trust_anchors) = (Arc::clone(scope_check), settings.trust_anchors.clone());
    Arc::new(Engine::new(EngineSettings {
        scope_check,
        resolver,
        trust_anchors,
        service_ports,
        limits: settings.scan_limits,
        descriptors: shares.scans.saturating_sub(settings.scans_at_once * SCAN_DESCRIPTORS),
    }))
}

/// The key of the credentials of scans. It has a file of its own: a copy of the database does not contain it.
fn scan_secrets(settings: &Settings, dir: &DataDir) -> Result<ScanSecrets, StartError> {
    let file = settings.secrets_key_file.clone().unwrap_or_else(|| dir.secrets_key_file());
    let secret = secret(&file).map_err(files(&file))?;
    ScanSecrets::new(&secret).ok_or_else(|| StartError::Settings(format!("{} has no usable key", file.display())))
}

/// Prepares the store before the first request: current workspace, predefined wordlists, interrupted scans.
async fn prepare(store: &Store, settings: &Settings, now: Timestamp) -> Result<(), StartError> {
    if let Some(id) = settings.current_workspace
        && !store.set_current_workspace(id).await.map_err(StartError::Store)?
    {
        return Err(StartError::Settings(format!("--current-workspace {id}: workspace {id} not found")));
    }
    for (name, description, file) in PREDEFINED {
        let words = WordlistWords::parse(file);
        store.upsert_predefined_wordlist(name, description, &words).await.map_err(StartError::Store)?;
    }
    store.recover(now).await.map_err(StartError::Store)
}

fn files(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> StartError + use<> {
    let path = path.to_owned();
    move |cause| StartError::Files { path, cause }
}

fn rails_settings(settings: &Settings, dir: &DataDir) -> Result<ScopeCheckSettings, StartError> {
    let pattern = |text: &String| {
        Pattern::allowance(text).map_err(|error| StartError::Settings(format!("--allow-target {text}: {error}")))
    };
    let hide_paths = serves_other_machines(settings);
    let command_suffix = match dir.command_suffix() {
        suffix if suffix.is_empty() || !hide_paths => suffix,
        _ => " --data-dir DIR".to_owned(),
    };
    Ok(ScopeCheckSettings {
        scope_file: dir.scope_file(),
        allow_private: settings.allow_private,
        allow_targets: settings.allow_targets.iter().map(pattern).collect::<Result<_, _>>()?,
        command_suffix,
        hide_paths,
    })
}

/// Whether clients on other machines use the API.
fn serves_other_machines(settings: &Settings) -> bool {
    let is_direct = !settings.listen.ip().to_canonical().is_loopback();
    is_direct || !settings.behind_proxy.is_empty() || !settings.allow_hosts.is_empty()
}

fn url(text: &str) -> Result<Url, StartError> {
    Url::parse(text).map_err(|error| StartError::Settings(format!("{text} is not a URL: {error}")))
}

/// Starts the background tasks; `stop` ends each of them.
fn spawn_tasks(
    app: &App,
    sockets: Sockets,
    tls: Option<TlsAcceptor>,
    runner: Arc<dyn Runner>,
    shares: DescriptorShares,
    callback_key: String,
    stop: &CancellationToken,
) -> TaskTracker {
    let tasks = TaskTracker::new();
    let quota = LoggerQuota { requests: app.settings.logger_quota, bytes: app.settings.logger_bytes };
    let (recorder, record) = Recorder::new(app.store.clone(), quota);
    let limits = |share| app.settings.connections.within(share);
    let (api, loggers) = (ApiHandler::new(app), LoggerHandler::new(app.clone(), recorder));
    let owner = format!("{:016x}", app.boot);
    tasks.spawn(record);
    tasks.spawn(connections::serve(sockets.api, limits(shares.api), api, tls, stop.clone(), DRAIN));
    tasks.spawn(connections::serve(sockets.loggers, limits(shares.loggers), loggers, None, stop.clone(), DRAIN));
    if let Some(metrics) = sockets.metrics {
        let limits = ConnectionLimits { connections: METRICS_CONNECTIONS, ..app.settings.connections };
        tasks.spawn(connections::serve(metrics, limits, MetricsHandler(app.clone()), None, stop.clone(), DRAIN));
    }
    tasks.spawn(worker::work(app.clone(), runner, owner, stop.clone()));
    tasks.spawn(report_maker::make_reports(app.clone(), stop.clone()));
    tasks.spawn(callbacks::deliver(app.clone(), callback_key, stop.clone()));
    if let Some(after) = app.settings.idle_exit {
        tasks.spawn(idle::watch(app.clone(), after, stop.clone()));
    }
    tasks.close();
    tasks
}

/// Answers the requests of the API listener.
#[derive(Clone)]
struct ApiHandler {
    router: NormalizingRouter,
    app: App,
}

impl ApiHandler {
    fn new(app: &App) -> Self {
        Self { router: router::router(app.clone()), app: app.clone() }
    }

    /// Plain HTTP is for this machine and for the proxy that adds TLS.
    fn is_behind_proxy_only(&self) -> bool {
        let settings = &self.app.settings;
        settings.tls.is_none() && !settings.insecure_http && !settings.behind_proxy.is_empty()
    }
}

impl ConnectionHandler for ApiHandler {
    const HALF_CLOSE: bool = false;

    fn respond(&self, client: SocketAddr, mut request: Request) -> BoxFuture<'static, Response> {
        let is_allowed = client.ip().to_canonical().is_loopback() || self.app.proxies.contains(client.ip());
        if self.is_behind_proxy_only() && !is_allowed {
            let error = ApiError::forbidden("direct connections are refused").with_details("connect to the proxy");
            return Box::pin(std::future::ready(error.into_response()));
        }
        let is_forwarded = self.app.proxies.contains(client.ip());
        let client = self.app.proxies.client(client, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        let (router, app) = (self.router.clone(), self.app.clone());
        Box::pin(async move {
            let respond = |request| async move { router.oneshot(request).await.unwrap_or_else(|never| match never {}) };
            observe(&app, client, is_forwarded, request, respond).await
        })
    }

    fn refuse(&self, _: SocketAddr, head: RefusedHead) -> BoxFuture<'static, ApiError> {
        Box::pin(std::future::ready(head.error()))
    }
}

/// Waits for the tasks, then closes the database, then releases the lock.
async fn shut_down(tasks: TaskTracker, store: Store, lock: DirLock) {
    tasks.wait().await;
    store.close().await;
    drop(lock);
}

#[cfg(test)]
mod tests {
    use super::super::tls::TlsFiles;
    use super::*;

    #[test]
    fn refusals_name_the_data_directory_to_this_machine_only() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        let suffix = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::new(temp.path());
            change(&mut settings);
            rails_settings(&settings, &dir).unwrap().command_suffix
        };
        assert_eq!(suffix(&|_| ()), format!(" --data-dir {}", dir.path().display()));
        for change in [
            (&|settings: &mut Settings| settings.listen = "0.0.0.0:0".parse().unwrap()) as &dyn Fn(&mut Settings),
            &|settings| settings.behind_proxy = vec!["127.0.0.1/32".parse().unwrap()],
            &|settings| settings.allow_hosts = vec!["scans.example.net".to_owned()],
        ] {
            assert_eq!(suffix(change), " --data-dir DIR");
        }
    }

    #[test]
    fn metrics_note_names_an_address_to_open() {
        assert_eq!(metrics_note("127.0.0.1:9100".parse().unwrap()), "metrics at http://127.0.0.1:9100/metrics");
        let public = metrics_note("0.0.0.0:9100".parse().unwrap());
        assert!(public.starts_with("metrics at http://127.0.0.1:9100/metrics") && public.contains("without a key"));
    }

    #[test]
    fn plain_http_beyond_loopback_needs_a_flag() {
        let exposed = |address: &str, change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::new("/nonexistent");
            settings.listen = address.parse().unwrap();
            change(&mut settings);
            check_exposure(&settings).err().map(|error| error.to_string())
        };
        for address in ["127.0.0.1:0", "127.9.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            assert_eq!(exposed(address, &|_| ()), None, "{address}");
        }
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let error = exposed(address, &|_| ()).expect(address);
            for flag in ["--tls-cert", "--tls-key", "--behind-proxy", "--insecure-http"] {
                assert!(error.contains(flag), "{error}");
            }
            let files = || TlsFiles { cert: "c".into(), key: "k".into() };
            assert_eq!(exposed(address, &|settings| settings.insecure_http = true), None);
            assert_eq!(exposed(address, &|settings| settings.tls = Some(files())), None);
            let proxy = |settings: &mut Settings| settings.behind_proxy = vec!["10.0.0.0/8".parse().unwrap()];
            assert_eq!(exposed(address, &proxy), None);
        }
    }
}
