//! Tool 450: TLS versions and the certificate of a server.
//!
//! ```text
//!   SSL 3.0 … TLS 1.2: a hand-written ClientHello ─► ServerHello, Certificate        (hello)
//!   TLS 1.3:           a handshake by rustls       ─► certificates                    (modern)
//!                                                  └─► names, validity, chain, key    (certificate)
//! ```
//!
//! Current libraries no longer support the old versions, so their ClientHello is written by hand; the connection is closed
//! before the handshake is complete. The output is a `finding_list` with `protocols[]` and `certificates[]`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::kinds::FindingKind;
use super::pace::HostLane;
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, TestDone, kinds};
use crate::service::scope_check::is_this_host;

mod certificate;
mod hello;
mod modern;
mod trust;

use hello::Version;

/// The result of a handshake with one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAnswer {
    /// Whether the server accepted this version.
    pub accepted: bool,
    /// The name or number of the cipher suite.
    pub cipher: String,
    /// The certificates, the server's own first.
    pub chain: Vec<Vec<u8>>,
}

/// The scanned server.
struct Server<'a> {
    run: &'a ScanRun<'a>,
    host: String,
    address: SocketAddr,
    lane: Arc<HostLane>,
    timeout: Duration,
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let host = run.address.host();
    let is_https = run.address.url().is_some_and(|url| url.scheme() == "https");
    let port = run.address.port().filter(|_| is_https).unwrap_or(443);
    run.planned(Version::ALL.len() as u32 + certificate::CHECKS.len() as u32).await;
    let server = connectable(run, host, port).await?;

    let answers = join_all(Version::ALL.iter().map(|version| server.handshake(*version))).await;
    let answers: Vec<(Version, TlsAnswer)> = Version::ALL.iter().copied().zip(answers).collect();
    let accepted = answers.iter().filter(|(_, answer)| answer.accepted);
    let accepted = accepted.map(|(version, _)| version.name()).collect::<Vec<_>>().join(", ");
    if accepted.is_empty() {
        return Err(ScanOutcome::ConnectionError(format!("{} responds, but not with TLS", server.address)));
    }
    for (version, answer) in &answers {
        run.tested(server.protocol_test(*version, answer, &answers)).await;
    }
    // Current clients receive the certificate of the newest version.
    let chain = answers.iter().rev().map(|(_, answer)| &answer.chain).find(|chain| !chain.is_empty());
    let chain = chain.cloned().unwrap_or_default();
    let checked = certificate::check(run, &server.host, &chain);
    for test in checked.tests(server.address.port()) {
        run.tested(test).await;
    }
    for line in &checked.lines {
        run.raw(line.clone()).await;
    }
    if let Some(line) = &checked.note {
        run.info(line.clone()).await;
    }
    run.info(format!("Accepted: {accepted}.")).await;
    run.output_findings(server.output(&answers, &checked)).await;
    Ok(format!("{accepted} accepted; {}", checked.summary()))
}

/// The server at the first allowed address that accepts a connection.
async fn connectable<'a>(run: &'a ScanRun<'a>, host: String, port: u16) -> Result<Server<'a>, ScanOutcome> {
    let mut why = String::new();
    for ip in run.resolve(&host).await? {
        let address = SocketAddr::new(ip, port);
        let timeout = Duration::from_secs(if is_this_host(ip) { 3 } else { 8 });
        let server = Server { run, host: host.clone(), address, lane: run.lanes.of(ip), timeout };
        server.lane.requests.wait().await;
        match server.connect().await {
            Ok(_) => return Ok(server),
            Err(error) => why = format!("{address}: {error}"),
        }
    }
    Err(ScanOutcome::ConnectionError(format!("no connection to {why}")))
}

impl TlsAnswer {
    /// The word in evidence and logs.
    fn word(&self) -> &'static str {
        if self.accepted { "accepted" } else { "not accepted" }
    }
}

impl Server<'_> {
    async fn connect(&self) -> std::io::Result<TcpStream> {
        match timeout(self.lane.limits.connect_timeout, TcpStream::connect(self.address)).await {
            Ok(connected) => connected,
            Err(_) => Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "connection timed out")),
        }
    }

    /// Tries one version; a server that does not respond does not accept it.
    async fn handshake(&self, version: Version) -> TlsAnswer {
        // Before the timeout: other scans may use the same host.
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let exchange = async {
            let stream = self.connect().await.ok()?;
            match version {
                Version::Tls13 => modern::handshake(stream, &self.host).await,
                _ => hello::handshake(stream, version, &self.host).await,
            }
        };
        let answer = timeout(self.timeout, exchange).await.ok().flatten().unwrap_or_default();
        self.run.raw(format!("{} {} {} {}", self.address, version.name(), answer.word(), answer.cipher)).await;
        answer
    }

    fn protocol_test(&self, version: Version, answer: &TlsAnswer, all: &[(Version, TlsAnswer)]) -> TestDone {
        let accepts = |expected: Version| all.iter().any(|(version, answer)| *version == expected && answer.accepted);
        let kind = match (version, answer.accepted) {
            (Version::Ssl3, true) => Some(kinds::tls::SSL3),
            (Version::Tls10, true) => Some(kinds::tls::TLS10),
            (Version::Tls11, true) => Some(kinds::tls::TLS11),
            (Version::Tls13, false) if accepts(Version::Tls12) => Some(kinds::tls::NO_TLS13),
            _ => None,
        };
        let findings = kind.map(|kind| {
            let row = |(version, answer): &(Version, TlsAnswer)| {
                vec![version.name().to_owned(), answer.word().to_owned(), answer.cipher.clone()]
            };
            finding(kind, self.address.port(), &["Version", "Answer", "Cipher suite"], all.iter().map(row).collect())
        });
        // Such as `tls.protocol.tls10`.
        let uid = format!("tls.protocol.{version:?}").to_ascii_lowercase();
        let metadata = json!({"version": version.name(), "accepted": answer.accepted, "cipher": answer.cipher});
        TestDone::new(uid, format!("Support of {}", version.name()), metadata, findings.into_iter().collect())
    }

    fn output(&self, answers: &[(Version, TlsAnswer)], checked: &certificate::ChainFindings) -> Value {
        let protocols = answers.iter().map(
            |(version, answer)| json!({"name": version.name(), "accepted": answer.accepted, "cipher": answer.cipher}),
        );
        json!({
            "host": self.host,
            "ip_address": self.address.ip().to_string(),
            "port": self.address.port(),
            "protocols": protocols.collect::<Vec<_>>(),
            "certificates": checked.as_json(),
        })
    }
}

fn finding(kind: FindingKind, port: u16, headers: &[&str], rows: Vec<Vec<String>>) -> NewFinding {
    let evidence = kinds::table(headers, rows);
    NewFinding { port, service: "tls".to_owned(), confirmed: true, evidence, ..kind.finding() }
}
