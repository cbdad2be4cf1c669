//! The practice target on the ports of the fixture.
//!
//! The practice target listens on free ports, and a fingerprint contains the port. Forwarders
//! listen on the fixture's ports, so that fingerprints are those of the fixture and no stored data
//! is rewritten. The ports lie below the range that systems use for port 0. While another test run
//! on the machine holds them, [`PracticeRange::start`] waits.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use scandeck::demo::practice::Practice;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Upper bound for the wait for the ports.
const PATIENCE: Duration = Duration::from_secs(120);

/// Ports of the last scans in the fixture: shop, portal, then the greeting ports in the order of
/// `Practice::ports`. In the first scans the last greeting port was 18475.
pub const PORTS: [u16; 5] = [18471, 18472, 18473, 18474, 18476];

/// A practice target at the addresses of the fixture.
pub struct PracticeRange {
    practice: Practice,
    _stop: DropGuard,
}

impl PracticeRange {
    pub async fn start() -> Self {
        Self::on(PORTS).await
    }

    /// Starts the practice target on other ports; `make.sh` of the fixture needs this.
    pub async fn on(ports: [u16; 5]) -> Self {
        let mut listeners = Vec::new();
        for port in ports {
            listeners.push(bind(port).await);
        }
        let stop = CancellationToken::new();
        let practice = Practice::start(stop.clone()).await.unwrap();
        let servers = [practice.http, practice.https]
            .into_iter()
            .chain(practice.ports.iter().map(|(_, port)| *port));
        for (listener, server) in listeners.into_iter().zip(servers) {
            let stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = forward(listener, server) => {}
                }
            });
        }
        Self {
            practice,
            _stop: stop.drop_guard(),
        }
    }

    /// Reports visits and opened bait files to this logger.
    pub fn report_visits_to(&self, handler_url: &str) {
        self.practice.report_visits_to(handler_url.parse().unwrap());
    }
}

async fn bind(port: u16) -> TcpListener {
    let begun = Instant::now();
    loop {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse && begun.elapsed() < PATIENCE => {}
            Err(error) => panic!("port {port} of the fixture cannot be used: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn forward(listener: TcpListener, server: SocketAddr) {
    while let Ok((mut client, _)) = listener.accept().await {
        tokio::spawn(async move {
            if let Ok(mut upstream) = TcpStream::connect(server).await {
                // A scanner may close the connection early.
                let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
            }
        });
    }
}
