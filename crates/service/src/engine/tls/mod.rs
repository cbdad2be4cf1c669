//! Tool 450: TLS versions, cipher suites and certificates of a server.
//!
//! ```text
//!   SSL 2.0:           a hello of its own          ─► SERVER-HELLO                        (ssl2)
//!   SSL 3.0 … TLS 1.3: hand-written ClientHellos   ─► versions, suites, groups, chains    (hello, suites)
//!   TLS 1.3:           handshakes by rustls         ─► certificates                        (modern)
//!   TLS 1.0 … TLS 1.2: a complete handshake         ─► renegotiation by the client         (legacy)
//!   mail, databases:   the command that starts TLS  ─► then the same                       (starttls)
//!                                                  └─► names, expiry, chain, keys          (certificate)
//!   sslscan, if installed ─► its XML ─► compared with the answers above                    (sslscan)
//!
//!   other tools:       complete handshakes of TLS 1.0 to 1.2, to read what is inside       (legacy)
//! ```
//!
//! Current libraries no longer support the old versions, so their ClientHello is written by hand;
//! except for the test of renegotiation, the connection is closed before the handshake is complete.
//! The accepted suites are found by removal: each one that the server chooses is left out of the
//! next offer. The output is a `finding_list` with `protocols[]` and `certificates[]`.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::ScanOutcome;
use super::pace::HostLane;
use super::run::ScanRun;

mod certificate;
mod checks;
mod connections;
mod cves;
mod hello;
pub mod legacy;
mod modern;
mod other_groups;
mod path;
mod results;
mod selection;
mod ssl2;
mod sslscan;
mod staple;
pub mod starttls;
mod suites;
mod trust;
#[cfg(test)]
mod truth_tests;
mod versions;

use connections::connectable;
pub use connections::is_telling;
use hello::Version;
pub use hello::{common_hello, is_server_record};
pub use modern::accept_any;
use results::worst;
pub use selection::is_test;
use starttls::StartTls;

/// Suites of one offer; some servers do not read longer ones.
const OFFERED: usize = 60;
/// Time before a second attempt to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The result of a handshake with one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAnswer {
    /// Whether the server accepted this version.
    pub accepted: bool,
    /// Whether the response was a record of TLS.
    pub is_tls: bool,
    /// Whether the time ended before a complete response.
    pub is_late: bool,
    /// Whether there was no connection for it, so that the version may be accepted.
    pub is_untested: bool,
    /// The name or number of the cipher suite.
    pub cipher: String,
    pub suite: Option<u16>,
    /// The certificates, the server's own first.
    pub chain: Vec<Vec<u8>>,
    /// The alert by which the server refused.
    pub alert: Option<u8>,
    pub compression: bool,
    pub secure_renegotiation: bool,
    /// Length of the prime of a finite field key exchange.
    pub dh_bits: Option<usize>,
    /// The selected group of TLS 1.3.
    pub group: Option<u16>,
    /// A HelloRetryRequest of TLS 1.3.
    pub is_retry: bool,
    pub asks_certificate: bool,
    /// Whether an OCSP response for the certificate came with it.
    pub is_stapled: bool,
}

/// Everything that a server accepts with one version.
#[derive(Clone, Debug)]
struct VersionAnswer {
    version: Version,
    /// The answer to the first offer that the server accepted, else to the first offer.
    answer: TlsAnswer,
    /// The answer for each accepted suite.
    suites: Vec<TlsAnswer>,
    /// Names of accepted groups (TLS 1.3).
    groups: Vec<&'static str>,
    compression: bool,
    /// Whether clients may start a second handshake on a connection.
    client_renegotiation: bool,
}

/// The scanned server.
struct Server<'a> {
    run: &'a ScanRun<'a>,
    host: String,
    address: SocketAddr,
    starttls: Option<StartTls>,
    lane: Arc<HostLane>,
    timeout: Duration,
    refusals: Mutex<ConnectionRefusals>,
}

/// Connections that failed after the first one, such as by a limit of the server.
#[derive(Debug, Default)]
struct ConnectionRefusals {
    count: usize,
    last: String,
}

/// Everything that a scan found out about a server that accepts at least one version.
struct TlsResults {
    answers: Vec<VersionAnswer>,
    checked: Vec<certificate::ChainFindings>,
    second: Option<sslscan::SslscanReport>,
    /// Why handshakes were not possible, if so.
    refusals: Option<String>,
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let port = port_of(run);
    let starttls = match run.job.params.get("starttls").and_then(Value::as_str) {
        Some(name) => StartTls::of(name),
        None => StartTls::of_port(port),
    };
    // Each version has two tests: its handshakes, and what they mean beside those of the other
    // versions.
    let planned = selection::count(run);
    run.planned(planned as u32).await;
    let server = connectable(run, run.address.host(), port, starttls).await?;

    let answers = server.versions().await;
    if !answers.iter().any(|one| one.answer.accepted) {
        return server.without_version(&answers);
    }
    let chains = server.chains(&answers).await;
    let unstapled = server.unstapled(&chains, &answers).await;
    let checked = server.check(&chains, &unstapled);
    run.report_if_stopped(server.tests(&answers, &checked, None));
    run.output_findings(server.output(&answers, &checked)).await;
    let second = match selection::is_whole(run) {
        true => sslscan::scan(run, &server).await,
        false => None,
    };
    run.planned(planned as u32 + u32::from(second.is_some()))
        .await;
    let results = TlsResults {
        answers,
        checked,
        second,
        refusals: server.refusals(),
    };
    let tests = results.tests(&server);
    let findings = worst(&tests);
    run.tested_all(tests).await;
    results.report_lines(run).await;
    Ok(results.summary(&findings))
}

/// The port in the parameters of the scan or in its target.
fn port_of(run: &ScanRun<'_>) -> u16 {
    let chosen = run.job.params.get("port").and_then(Value::as_u64);
    let is_https = run.address.url().is_some_and(|url| url.scheme() == "https");
    chosen
        .and_then(|port| u16::try_from(port).ok())
        .or(run.address.port().filter(|_| is_https))
        .unwrap_or(443)
}
