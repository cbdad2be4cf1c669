//! Connections to the scanned server, and handshakes on them.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::hello::{self, Offer, Version};
use super::modern::{self, KeyKind};
use super::starttls::StartTls;
use super::{
    ConnectionRefusals, OFFERED, RETRY_PAUSE, Server, TlsAnswer, legacy, other_groups, ssl2, suites,
};
use crate::engine::ScanOutcome;
use crate::engine::run::ScanRun;
use crate::scope_check::is_this_host;
use scandeck_wire::text::plural;

/// The server at the first allowed address that accepts a connection.
pub(super) async fn connectable<'a>(
    run: &'a ScanRun<'a>,
    host: String,
    port: u16,
    starttls: Option<StartTls>,
) -> Result<Server<'a>, ScanOutcome> {
    let mut problems = Vec::new();
    for ip in run.resolve(&host).await? {
        let address = SocketAddr::new(ip, port);
        let timeout = Duration::from_secs(if is_this_host(ip) { 3 } else { 8 });
        let (lane, refusals) = (run.lanes.of(ip), Mutex::default());
        let mut server = Server {
            run,
            host: host.clone(),
            address,
            starttls,
            lane,
            timeout,
            refusals,
        };
        server.lane.requests.wait().await;
        match server.connect().await {
            Ok(_) => {
                server.set_timeout().await;
                return Ok(server);
            }
            Err(problem) => problems.push((problem, address)),
        }
    }
    // `localhost` has two addresses, and a server often only one: what the other says is more
    // telling than a refusal.
    let telling = problems
        .iter()
        .rev()
        .max_by_key(|(problem, _)| problem.rank());
    Err(ScanOutcome::ConnectionError(
        telling
            .map(|(problem, address)| problem.words(*address))
            .unwrap_or_default(),
    ))
}

/// Whether an error says more than that nothing listens at an address.
pub fn is_telling(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};

    !matches!(
        error.kind(),
        AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkUnreachable
    )
}

/// Why TLS could not start.
pub(super) enum StartProblem {
    Connect(io::Error),
    /// The connection is there, but the service did not start TLS.
    StartTls(String),
}

impl StartProblem {
    /// How much it says about the server.
    fn rank(&self) -> u8 {
        match self {
            Self::Connect(error) => u8::from(is_telling(error)),
            Self::StartTls(_) => 2,
        }
    }

    fn words(&self, address: SocketAddr) -> String {
        match self {
            Self::Connect(error) => {
                let error = error.to_string();
                // Without the number of the operating system: `(os error 111)`.
                let cause = error
                    .split(" (os error")
                    .next()
                    .unwrap_or_default()
                    .to_lowercase();
                format!("cannot connect to {address}: {cause}")
            }
            Self::StartTls(why) => format!("{address}: {why}"),
        }
    }
}

/// The time limit of a handshake as a multiple of the time of the first one: six versions are
/// tested at the same time, and a busy server may answer them one after the other.
const PATIENCE: u32 = 7;
/// Handshakes that take longer make a scan slow, which it says.
const SLOW_HANDSHAKE: Duration = Duration::from_secs(1);

impl Server<'_> {
    /// Sets the time limit of a handshake by the time that the first one takes.
    async fn set_timeout(&mut self) {
        let usual = self.timeout;
        let patience = Duration::from_secs(if is_this_host(self.address.ip()) {
            10
        } else {
            30
        });
        let longest = self
            .run
            .settings
            .limits
            .handshake_time
            .unwrap_or(patience)
            .max(usual);
        self.timeout = longest;
        let suites = suites::offered(Version::Tls12)
            .into_iter()
            .take(OFFERED)
            .collect();
        let start = Instant::now();
        let answer = self.handshake(&Offer::new(Version::Tls12, suites)).await;
        let took = start.elapsed();
        self.timeout = if answer.is_late {
            usual
        } else {
            (took * PATIENCE).clamp(usual, longest)
        };
        if !answer.is_late && took > SLOW_HANDSHAKE {
            let (seconds, limit) = (took.as_secs_f32(), self.timeout.as_secs());
            let line = format!(
                "The first TLS handshake took {seconds:.1} s, so the scan is slow; each may take {limit} s \
                 (`serve --scan-handshake-seconds` sets the limit)."
            );
            self.run.info(line).await;
        }
    }

    /// The name of the service in findings.
    pub(super) fn service(&self) -> &'static str {
        self.starttls.map_or("tls", StartTls::name)
    }

    /// Connects, and starts TLS by the command of the service.
    pub(super) async fn connect(&self) -> Result<TcpStream, StartProblem> {
        let timed_out = || io::Error::new(io::ErrorKind::TimedOut, "connection timed out");
        let connecting = timeout(
            self.lane.limits.connect_timeout,
            TcpStream::connect(self.address),
        );
        let connected = connecting
            .await
            .map_err(|_| timed_out())
            .and_then(|connected| connected);
        let mut stream = connected.map_err(StartProblem::Connect)?;
        let Some(starttls) = self.starttls else {
            return Ok(stream);
        };
        let name = starttls.name();
        match timeout(self.timeout, starttls.upgrade(&mut stream)).await {
            Ok(Ok(())) => Ok(stream),
            Ok(Err(why)) => Err(StartProblem::StartTls(why)),
            Err(_) => Err(StartProblem::StartTls(format!(
                "connection accepted, but no {name} response"
            ))),
        }
    }

    /// A connection as [`Self::connect`] makes it; after a refusal once more, because servers limit
    /// simultaneous ones.
    async fn reconnect(&self) -> Option<TcpStream> {
        if let Ok(stream) = self.connect().await {
            return Some(stream);
        }
        sleep(RETRY_PAUSE).await;
        match self.connect().await {
            Ok(stream) => Some(stream),
            Err(problem) => {
                let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
                refusals.count += 1;
                refusals.last = problem.words(self.address);
                None
            }
        }
    }

    /// Why handshakes were not possible, if so.
    pub(super) fn refusals(&self) -> Option<String> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let ConnectionRefusals { count, last } = &*refusals;
        (*count > 0).then(|| {
            format!(
                "{} without a connection: {last}",
                plural(*count, "handshake")
            )
        })
    }

    /// One handshake; what the server sent before a timeout counts.
    pub(super) async fn handshake(&self, offer: &Offer) -> TlsAnswer {
        let mut answer = TlsAnswer::default();
        let exchange = async {
            match self.reconnect().await {
                Some(stream) if offer.version == Version::Ssl2 => {
                    ssl2::handshake(stream, &mut answer).await
                }
                Some(stream) => hello::handshake(stream, offer, &self.host, &mut answer).await,
                None => answer.is_untested = true,
            }
        };
        // Before the timeout: other scans may use the same host.
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        answer.is_late = timeout(self.timeout, exchange).await.is_err() && !answer.accepted;
        answer
    }

    /// The certificates of TLS 1.3, whose handshake needs keys.
    pub(super) async fn modern(&self, keys: KeyKind) -> Option<TlsAnswer> {
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let exchange = async { modern::handshake(self.reconnect().await?, &self.host, keys).await };
        timeout(self.timeout, exchange).await.ok().flatten()
    }

    /// The certificates of TLS 1.3 by a group that rustls lacks.
    pub(super) async fn chain_by_group(&self, group: u16) -> Option<Vec<Vec<u8>>> {
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let exchange = async {
            other_groups::certificates(self.connect().await.ok()?, &self.host, group).await
        };
        timeout(self.timeout, exchange).await.ok().flatten()
    }

    /// Whether the server accepts a second handshake of the client on a connection.
    pub(super) async fn accepts_renegotiation(&self, version: Version) -> bool {
        let exchange = async {
            let stream = self
                .connect()
                .await
                .map_err(|problem| problem.words(self.address))?;
            let stream = legacy::connect(stream, &self.host, version)
                .await
                .map_err(|error| error.to_string())?;
            if stream.negotiated.version != version {
                return Err(format!(
                    "the server chose {}",
                    stream.negotiated.version.name()
                ));
            }
            stream
                .accepts_renegotiation(&self.host)
                .await
                .map_err(|error| error.to_string())
        };
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let accepts = timeout(self.timeout, exchange).await;
        let word = match &accepts {
            Ok(Ok(true)) => "accepted",
            Ok(Ok(false)) => "refused",
            Ok(Err(why)) => &format!("not tested: {why}"),
            Err(_) => "no response",
        };
        self.run
            .raw(format!(
                "{} {} renegotiation by the client: {word}",
                self.address,
                version.name()
            ))
            .await;
        accepts == Ok(Ok(true))
    }

    pub(super) fn late(&self) -> String {
        format!("no TLS response within {} s", self.timeout.as_secs())
    }
}
