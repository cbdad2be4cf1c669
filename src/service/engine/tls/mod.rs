//! Tool 450: which TLS versions a server speaks, and whether its certificate is one to trust.
//!
//! ```text
//!   SSL 3.0 … TLS 1.2: a ClientHello written here ─► ServerHello, Certificate   (hello)
//!   TLS 1.3:           a handshake by rustls       ─► certificates               (modern)
//!                                                  └─► names, days, chain, key   (certificate)
//! ```
//!
//! Modern libraries no longer speak the old versions, so those are asked for by hand; the connection is closed
//! before anything is agreed. The output is a `finding_list` with `protocols[]` and `certificates[]` beside it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::kinds::FindingKind;
use super::pace::Limits;
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, TestDone, kinds};
use crate::service::rails::is_this_host;

mod certificate;
mod hello;
mod modern;
mod trust;

use hello::Version;

/// What one version's handshake showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAnswer {
    /// The server agreed to this version.
    pub accepted: bool,
    /// Cipher suite it chose, as its number or name.
    pub cipher: String,
    /// Certificates it sent, the server's own first.
    pub chain: Vec<Vec<u8>>,
}

/// Versions that are findings when accepted.
const OLD: &[(Version, &FindingKind)] =
    &[(Version::Ssl3, &kinds::tls::SSL3), (Version::Tls10, &kinds::tls::TLS10), (Version::Tls11, &kinds::tls::TLS11)];

/// Where the handshakes go.
struct Server<'a> {
    run: &'a ScanRun<'a>,
    host: String,
    address: SocketAddr,
    limits: Limits,
    patience: Duration,
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let host = run.address.host();
    let is_https = run.address.url().is_some_and(|url| url.scheme() == "https");
    let port = run.address.port().filter(|_| is_https).unwrap_or(443);
    run.planned(Version::ALL.len() as u32 + certificate::CHECKS.len() as u32).await;
    let server = connectable(run, host, port).await?;

    let shown = join_all(Version::ALL.iter().map(|version| server.ask(*version))).await;
    let shown: Vec<(Version, TlsAnswer)> = Version::ALL.iter().copied().zip(shown).collect();
    if shown.iter().all(|(_, shown)| !shown.accepted) {
        return Err(ScanOutcome::ConnectionError(format!("{} answers, but not in TLS", server.address)));
    }
    for (version, answer) in &shown {
        run.tested(server.protocol_test(*version, answer, &shown)).await;
    }
    // The newest version's certificate is what today's visitors see.
    let chain = shown.iter().rev().map(|(_, shown)| &shown.chain).find(|chain| !chain.is_empty());
    let chain = chain.cloned().unwrap_or_default();
    let seen = certificate::look(run, &server.host, &chain);
    for test in seen.tests(server.address.port()) {
        run.tested(test).await;
    }
    for line in &seen.lines {
        run.raw(line.clone()).await;
    }
    if let Some(line) = &seen.note {
        run.info(line.clone()).await;
    }
    let names: Vec<&str> =
        shown.iter().filter(|(_, shown)| shown.accepted).map(|(version, _)| version.name()).collect();
    run.info(format!("Accepted: {}.", names.join(", "))).await;
    run.finding_list_with(server.output(&shown, &seen)).await;
    Ok(format!("{} accepted; {}", names.join(", "), seen.summary()))
}

/// The first allowed address that takes a connection.
async fn connectable<'a>(run: &'a ScanRun<'a>, host: String, port: u16) -> Result<Server<'a>, ScanOutcome> {
    let mut why = String::new();
    for ip in run.resolve(&host).await? {
        let address = SocketAddr::new(ip, port);
        let server = Server { run, host: host.clone(), address, limits: Limits::of(ip), patience: patience(ip) };
        match server.connect().await {
            Ok(_) => return Ok(server),
            Err(error) => why = format!("{address}: {error}"),
        }
    }
    Err(ScanOutcome::ConnectionError(format!("no connection to {why}")))
}

fn patience(ip: IpAddr) -> Duration {
    Duration::from_secs(if is_this_host(ip) { 3 } else { 8 })
}

impl Server<'_> {
    async fn connect(&self) -> std::io::Result<TcpStream> {
        match timeout(self.limits.connect_timeout, TcpStream::connect(self.address)).await {
            Ok(connected) => connected,
            Err(_) => Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer in time")),
        }
    }

    /// One handshake of one version; a server that does not answer it does not accept it.
    async fn ask(&self, version: Version) -> TlsAnswer {
        let exchange = async {
            let stream = self.connect().await.ok()?;
            match version {
                Version::Tls13 => modern::handshake(stream, &self.host).await,
                _ => hello::handshake(stream, version, &self.host).await,
            }
        };
        let shown = timeout(self.patience, exchange).await.ok().flatten().unwrap_or_default();
        let word = if shown.accepted { "accepted" } else { "not accepted" };
        self.run.raw(format!("{} {} {word} {}", self.address, version.name(), shown.cipher)).await;
        shown
    }

    fn protocol_test(&self, version: Version, shown: &TlsAnswer, all: &[(Version, TlsAnswer)]) -> TestDone {
        let accepts = |wanted: Version| all.iter().any(|(version, shown)| *version == wanted && shown.accepted);
        let word = |accepted: bool| if accepted { "accepted" } else { "not accepted" }.to_owned();
        let old = OLD.iter().find(|(old, _)| *old == version && shown.accepted).map(|(_, kind)| *kind);
        let kind = match old {
            None if version == Version::Tls13 && !shown.accepted && accepts(Version::Tls12) => {
                Some(&kinds::tls::NO_TLS13)
            }
            old => old,
        };
        let findings = kind.map(|kind| {
            let rows = all
                .iter()
                .map(|(version, shown)| vec![version.name().to_owned(), word(shown.accepted), shown.cipher.clone()]);
            finding(kind, self.address.port(), &["Version", "Answer", "Cipher suite"], rows.collect())
        });
        TestDone {
            uid: format!("tls.protocol.{}", version.id()),
            description: format!("Whether {} is accepted", version.name()),
            metadata: json!({"version": version.name(), "accepted": shown.accepted, "cipher": shown.cipher}),
            weight: 1,
            findings: findings.into_iter().collect(),
        }
    }

    fn output(&self, shown: &[(Version, TlsAnswer)], seen: &certificate::ChainFindings) -> Value {
        let protocols = shown.iter().map(
            |(version, shown)| json!({"name": version.name(), "accepted": shown.accepted, "cipher": shown.cipher}),
        );
        json!({
            "host": self.host,
            "ip_address": self.address.ip().to_string(),
            "port": self.address.port(),
            "protocols": protocols.collect::<Vec<_>>(),
            "certificates": seen.as_json(),
        })
    }
}

fn finding(kind: &FindingKind, port: u16, headers: &[&str], rows: Vec<Vec<String>>) -> NewFinding {
    let evidence = kinds::table(headers, rows);
    NewFinding { port, service: "tls".to_owned(), confirmed: true, evidence, ..kind.finding() }
}
