//! The tasks of a running service.
//!
//! ```text
//!   every node         listeners, beat, purges that a stop interrupted, months of captures
//!   role worker        scans, reports, imports, schedules, callbacks
//!   PostgreSQL         what nodes share: scope, rates of hosts, limits of keys
//! ```
//!
//! [`super::idle`] is the only task that can stop the service.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::api_handler::ApiHandler;
use super::identities::TlsAcceptors;
use super::sockets::Sockets;
use crate::engine::pace::Lanes;
use crate::loggers;
use crate::loggers::LoggerHandler;
use crate::loggers::recorder::Recorder;
use crate::monitor::metrics::MetricsHandler;
use crate::net::connections;
use crate::net::connections::{AcceptedConnection, ConnectionLimits, FailedHandshake, ListenerTls};
use crate::net::descriptors::DescriptorShares;
use crate::runs::callbacks;
use crate::runs::capture_months::keep_months;
use crate::runs::claims;
use crate::runs::importer;
use crate::runs::key_windows::share_key_windows;
use crate::runs::lanes::share_lanes;
use crate::runs::local_queue::LocalQueue;
use crate::runs::queue_hints::follow_hints;
use crate::runs::report_maker;
use crate::runs::schedules::start_schedules;
use crate::runs::worker;
use crate::runs::worker::{Runner, WorkerParts};
use crate::settings::NodeRole;
use crate::state::App;
use crate::store::Store;
use crate::store::captures::LoggerQuota;

/// How long open connections may finish their responses when the service stops.
const DRAIN: Duration = Duration::from_millis(1500);

/// Connections of the metrics listener.
const METRICS_CONNECTIONS: usize = 8;

/// Starts the background tasks; `stop` ends each of them.
pub(super) fn spawn_tasks(
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
    tracker.spawn(keep_months(app.clone(), stop.clone()));
    tracker.close();
    tracker
}

/// Starts the tasks by which the nodes of a PostgreSQL database agree.
pub(super) fn spawn_shared_tasks(
    app: &App,
    tasks: &TaskTracker,
    lanes: Arc<Lanes>,
    stop: &CancellationToken,
) {
    tasks.spawn(claims::watch_scope(app.clone(), stop.clone()));
    tasks.spawn(share_lanes(app.clone(), lanes, stop.clone()));
    tasks.spawn(share_key_windows(app.clone(), stop.clone()));
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

/// Deletes what interrupted purges of shared decisions have left; the next start tries it again.
async fn continue_purges(store: Store, stop: CancellationToken) {
    // The store ends them with its other deletions.
    let continued = stop.run_until_cancelled(store.continue_purges()).await;
    if let Some(Err(error)) = continued {
        tracing::warn!(%error, "shared decisions of an interrupted purge not deleted");
    }
}
