//! A worker at another place: it runs the scans of that place with the engine, and uses the API of
//! a service instead of a database.
//!
//! ```text
//!   beat, every second ─► lease renewed; stopped and lost scans cancelled; a scan waits: claim
//!   claim ─► worker (runs/worker.rs) ─► engine ─► record ─► end
//!   no answer until the lease ends ─► scans end here, before the service gives them to others
//!   key refused ─► scans end, the worker ends
//!   clean stop ─► scans handed over, row deleted
//! ```
//!
//! All connections go to the service; nobody connects to the worker. Its own scope file decides
//! too which targets it may contact.

mod connection;
pub mod protocol;
mod queue;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

pub use self::connection::is_loopback_url;
use self::connection::{CallError, SHORT, ServiceConnection};
use self::protocol::{BeatAnswer, WorkerBeat};
use self::queue::RemoteQueue;
use crate::clock::SystemClock;
use crate::engine::pace::Lanes;
use crate::engine::{Engine, EngineSettings, ScanLimits, ServicePorts};
use crate::net::descriptors::DescriptorShares;
use crate::net::dns::DnsClient;
use crate::net::resolver::{Resolver, SystemResolver};
use crate::place::WorkerPlace;
use crate::runs::lease::NodeLease;
use crate::runs::worker::{Runner, Worker, WorkerParts, work};
use crate::scope_check::{ActiveUse, ScopeCheck, ScopeCheckSettings};
use crate::start::SCAN_DESCRIPTORS;
use crate::store::nodes::LEASE;
use scandeck_wire::login::login;

/// Pause between beats: they also bring stops, and say that scans wait.
const BEAT: Duration = Duration::from_secs(1);

/// The settings of a worker at a place.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The URL of the service.
    pub service: Url,
    pub place: WorkerPlace,
    /// The targets that this worker may contact.
    pub scope_file: PathBuf,
    pub allow_private: bool,
    pub allow_active: bool,
    /// Concurrent scans; further ones wait at the service.
    pub scans_at_once: usize,
    pub scan_limits: ScanLimits,
    /// The name server of scans; the resolver of the system by default.
    pub dns_server: Option<SocketAddr>,
}

/// Runs the scans of a place until `stop`; then hands them over. `runner` replaces the engine in
/// tests.
///
/// # Errors
/// When the service refuses the key, the place or the version of this program.
pub async fn run_worker(
    settings: WorkerSettings,
    api_key: &str,
    runner: Option<Arc<dyn Runner>>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let service = Arc::new(ServiceConnection::new(&settings.service, api_key)?);
    let runner = runner.unwrap_or_else(|| engine(&settings));
    let node = format!("{:016x}", rand::random::<u64>());
    // Also at a refusal of the service.
    let ended = stop.child_token();
    let lease = Arc::new(NodeLease::new(LEASE));
    let queue = Arc::new(RemoteQueue::new(
        Arc::clone(&service),
        node.clone(),
        Arc::clone(&lease),
        ended.clone(),
    ));
    let parts = WorkerParts {
        queue: queue.clone(),
        worker: Arc::default(),
        lease: Arc::clone(&lease),
        clock: Arc::new(SystemClock::default()),
        scans_at_once: settings.scans_at_once,
    };
    let beats = WorkerBeats {
        service,
        node,
        place: settings.place,
        worker: Arc::clone(&parts.worker),
        lease,
    };
    // WorkerBeats end after the scans, which still have to be handed over.
    let last_beat = CancellationToken::new();
    let beating = tokio::spawn({
        let (last_beat, ended) = (last_beat.clone(), ended.clone());
        async move {
            let kept = beats.keep(&last_beat).await;
            ended.cancel();
            kept
        }
    });
    work(parts, runner, ended).await;
    last_beat.cancel();
    beating.await??;
    if let Err(error) = queue.leave().await {
        tracing::warn!(%error, "the service does not know that this worker has stopped");
    }
    Ok(())
}

fn engine(settings: &WorkerSettings) -> Arc<dyn Runner> {
    let resolver: Arc<dyn Resolver> = match settings.dns_server {
        Some(server) => Arc::new(DnsClient::new(server)),
        None => Arc::new(SystemResolver),
    };
    let scope_check = ScopeCheck::new(ScopeCheckSettings {
        scope_file: settings.scope_file.clone(),
        allow_private: settings.allow_private,
        allow_active: settings.allow_active,
        active_use: ActiveUse::Scans,
        allow_targets: Vec::new(),
        only_here: false,
        only_listed: true,
        command_suffix: " # on the machine of the worker",
    });
    let shares = DescriptorShares::of_process();
    let probes = shares
        .scans
        .saturating_sub(settings.scans_at_once * SCAN_DESCRIPTORS);
    Arc::new(Engine::new(EngineSettings {
        scope_check: Arc::new(scope_check),
        resolver,
        trust_anchors: Vec::new(),
        service_ports: ServicePorts::default(),
        limits: settings.scan_limits,
        lanes: Arc::new(Lanes::new(probes)),
    }))
}

/// Keeps the claims of a worker.
struct WorkerBeats {
    service: Arc<ServiceConnection>,
    node: String,
    place: WorkerPlace,
    worker: Arc<Worker>,
    lease: Arc<NodeLease>,
}

impl WorkerBeats {
    /// Sends beats until `stop`.
    async fn keep(&self, stop: &CancellationToken) -> Result<(), CallError> {
        let mut report = self.first_report();
        let (mut was_away, mut is_connected) = (false, false);
        while !stop.is_cancelled() {
            let (sent, running) = (Instant::now(), self.worker.running_scans());
            let mut pause = BEAT;
            let beat = self
                .service
                .call::<BeatAnswer>("beat", &report, SHORT)
                .await;
            match beat {
                Ok(Some(answer)) => {
                    if was_away || !is_connected {
                        tracing::info!(place = %self.place, "connected to the service");
                    }
                    (was_away, is_connected) = (false, true);
                    pause = pause_after(report.lease_ms, answer.lease_ms);
                    report.lease_ms = answer.lease_ms;
                    self.renew(sent, &answer);
                    self.worker.cancel_ended(&running, &answer.claims);
                }
                Err(error @ CallError::Away(_)) => {
                    if !was_away {
                        tracing::warn!(%error, "beat not answered; it is repeated");
                    }
                    was_away = true;
                }
                Ok(None) | Err(CallError::Lost) => {
                    let other = "another process has the id of this worker";
                    return Err(CallError::Refused(other.to_owned()));
                }
                Err(refused) => return Err(refused),
            }
            stop.run_until_cancelled(sleep(pause)).await;
        }
        Ok(())
    }

    fn renew(&self, sent: Instant, answer: &BeatAnswer) {
        let had_ended = self.lease.has_ended();
        self.lease.follow(Duration::from_millis(answer.lease_ms));
        self.lease.renew(sent, answer.is_lost);
        if answer.has_waiting || answer.is_lost || had_ended {
            self.worker.wake();
        }
    }

    fn first_report(&self) -> WorkerBeat {
        let user = login(|name| std::env::var(name).ok());
        let (_, host) = user.rsplit_once('@').unwrap_or_default();
        WorkerBeat {
            node: self.node.clone(),
            place: self.place.clone(),
            name: host.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lease_ms: 0,
        }
    }
}

/// The pause after a beat. A shorter lease is confirmed at once: until the service knows that this
/// worker follows it, the scans of a killed worker wait for the end of the longer one.
fn pause_after(reported_ms: u64, answered_ms: u64) -> Duration {
    match answered_ms < reported_ms {
        true => Duration::ZERO,
        false => BEAT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_lease_is_confirmed_at_once() {
        assert_eq!(pause_after(120_000, 15_000), Duration::ZERO);
        for (reported_ms, answered_ms) in [(0, 120_000), (15_000, 15_000), (15_000, 120_000)] {
            assert_eq!(pause_after(reported_ms, answered_ms), BEAT);
        }
    }
}
