//! Starting and stopping a service: lock, database, keys, listeners, background tasks; all of it ends by one token.
//!
//! ```text
//!   lock ─► database ─► keys ─► listeners ─► tasks ─► service.json ─► Running
//!                                              │
//!   token cancelled ─► listeners drain ────────┴─► tasks end ─► database closed ─► lock released     (within 2 s)
//! ```

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use super::clock::{Clock, SystemClock};
use super::data_dir::{DataDir, Held, ServiceInfo, secret};
use super::errors::StartError;
use super::limits::Limiter;
use super::rails::{Rails, RailsSettings};
use super::scope::Pattern;
use super::settings::Settings;
use super::state::{App, Shared};
use super::store::{Opened, Store};
use super::{guard, router};

/// How long open connections may finish their answers when the service stops.
const DRAIN: Duration = Duration::from_millis(1500);

/// A service that runs.
pub struct Running {
    /// `http://ADDR:PORT/api/v2`.
    pub base_url: Url,
    /// Base of every `handler_url`, ending in `/`.
    pub logger_base: Url,
    /// The API key. Never printed: [`fmt::Debug`] hides it.
    pub api_key: String,
    /// Sentences a person should read: a migration, a network file system, ports that changed.
    pub notes: Vec<String>,
    ended: JoinHandle<()>,
}

impl Running {
    /// Waits until the service has stopped: the token was cancelled, or it was idle for long enough.
    ///
    /// # Errors
    /// When a part of the service ended by a panic.
    pub async fn stopped(self) -> anyhow::Result<()> {
        Ok(self.ended.await?)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("base_url", &self.base_url.as_str()).finish_non_exhaustive()
    }
}

/// Starts a service; it stops within two seconds of `shutdown`.
///
/// # Errors
/// When another service holds the directory, an address is taken, or a file cannot be used.
pub async fn start(settings: Settings, shutdown: CancellationToken) -> Result<Running, StartError> {
    start_with(settings, shutdown, Arc::new(SystemClock)).await
}

/// [`start`] with the clock of a test.
///
/// # Errors
/// Those of [`start`].
pub async fn start_with(
    settings: Settings,
    shutdown: CancellationToken,
    clock: Arc<dyn Clock>,
) -> Result<Running, StartError> {
    let dir = DataDir::open(&settings.data_dir).map_err(files(&settings.data_dir))?;
    let Some(lock) = dir.hold().await.map_err(files(dir.path()))? else {
        return Err(StartError::Held { dir: dir.path().to_owned(), info: dir.info().map(Box::new) });
    };
    let last = dir.info();
    dir.forget_info();
    let rails = Arc::new(Rails::new(rails_settings(&settings, &dir)?));
    let Opened { store, mut notes } = Store::open(&dir.database()).await?;
    choose_workspace(&store, &settings).await?;
    let key_file = settings.api_key_file.clone().unwrap_or_else(|| dir.key_file());
    let api_key = secret(&key_file).map_err(files(&key_file))?;
    let api = listen(settings.listen, "listen").await?;
    let loggers = listen(settings.logger_listen, "logger-listen").await?;
    let (api_address, logger_address) = (address(&api, &settings), address(&loggers, &settings));
    let logger_base = logger_base(&settings, logger_address)?;
    let base_url = url(&format!("http://{api_address}{}", router::PREFIX))?;

    let app = App::new(Shared {
        store: store.clone(),
        rails,
        limiter: Limiter::new(settings.rate_limit),
        key_hash: guard::hash(&api_key),
        logger_base: logger_base.clone(),
        boot: rand::random(),
        last_client: clock.now().as_millisecond().into(),
        clock,
        settings,
    });
    let previous_logger_url = last.map(|last| last.logger_url).filter(|last| *last != logger_base);
    notes.extend(
        previous_logger_url.as_ref().map(|last| {
            format!("the loggers are at {logger_base} now; URLs planted under {last} no longer reach them")
        }),
    );
    let info = ServiceInfo {
        base_url: base_url.clone(),
        logger_url: logger_base.clone(),
        previous_logger_url,
        pid: std::process::id(),
    };
    let tasks = spawn_tasks(app, api, loggers, &shutdown.child_token());
    dir.write_info(&info).map_err(files(dir.path()))?;
    let ended = tokio::spawn(end(tasks, store, lock));
    Ok(Running { base_url, logger_base, api_key, notes, ended })
}

fn files(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> StartError + use<> {
    let path = path.to_owned();
    move |source| StartError::Files { path, source }
}

fn rails_settings(settings: &Settings, dir: &DataDir) -> Result<RailsSettings, StartError> {
    let pattern = |text: &String| {
        text.parse::<Pattern>().map_err(|error| StartError::Settings(format!("--allow-target {text}: {error}")))
    };
    let command_suffix = match DataDir::default_path().canonicalize() {
        Ok(default) if default == dir.path() => String::new(),
        _ => format!(" --data-dir {}", dir.path().display()),
    };
    Ok(RailsSettings {
        scope_file: dir.scope_file(),
        allow_private: settings.allow_private,
        allow_targets: settings.allow_targets.iter().map(pattern).collect::<Result<_, _>>()?,
        command_suffix,
    })
}

async fn choose_workspace(store: &Store, settings: &Settings) -> Result<(), StartError> {
    let Some(id) = settings.current_workspace else { return Ok(()) };
    match store.set_current_workspace(id).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(StartError::Settings(format!("--current-workspace {id}: there is no workspace {id}"))),
        Err(error) => Err(StartError::Settings(format!("--current-workspace {id}: {error}"))),
    }
}

async fn listen(address: SocketAddr, flag: &'static str) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|source| StartError::Busy { address, flag, source })
}

/// The address a listener has; asked for port 0 it is another one than the settings say.
fn address(listener: &TcpListener, settings: &Settings) -> SocketAddr {
    listener.local_addr().unwrap_or(settings.listen)
}

fn logger_base(settings: &Settings, address: SocketAddr) -> Result<Url, StartError> {
    let mut base = match &settings.logger_url {
        Some(base) => base.clone(),
        None => url(&format!("http://{address}/"))?,
    };
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    Ok(base)
}

fn url(text: &str) -> Result<Url, StartError> {
    Url::parse(text).map_err(|error| StartError::Settings(format!("{text} is no URL: {error}")))
}

/// Starts the background tasks; each of them ends by `stop`.
fn spawn_tasks(app: App, api: TcpListener, loggers: TcpListener, stop: &CancellationToken) -> TaskTracker {
    let tasks = TaskTracker::new();
    tasks.spawn(serve_api(app, api, stop.clone()));
    drop(loggers);
    tasks.close();
    tasks
}

async fn serve_api(app: App, listener: TcpListener, stop: CancellationToken) {
    let service = axum::ServiceExt::<axum::extract::Request>::into_make_service(router::router(app));
    let server = axum::serve(no_delay(listener), service).with_graceful_shutdown(stop.clone().cancelled_owned());
    drain(server.into_future(), stop).await;
}

/// Answers are small and complete: waiting for more to send only makes them late.
fn no_delay(listener: TcpListener) -> impl axum::serve::Listener<Io = tokio::net::TcpStream, Addr = SocketAddr> {
    use axum::serve::ListenerExt;
    listener.tap_io(|stream| {
        // A connection without the option works all the same.
        let _ = stream.set_nodelay(true);
    })
}

/// Runs a server until it ends; after `stop` for [`DRAIN`] at most, however slow its clients are.
async fn drain(server: impl Future<Output = std::io::Result<()>>, stop: CancellationToken) {
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        ended = server => if let Err(error) = ended {
            tracing::error!(%error, "a listener ended");
        },
        () = late => tracing::info!("connections that were still open are closed"),
    }
}

/// The end of a service: tasks, then the database, then the lock.
async fn end(tasks: TaskTracker, store: Store, lock: Held) {
    tasks.wait().await;
    store.close().await;
    drop(lock);
}
