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

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::exploited::with_cves;
use super::kinds::FindingKind;
use super::pace::HostLane;
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, TestDone, kinds};
use crate::scope_check::is_this_host;
use scandeck_wire::text::plural;

mod certificate;
mod checks;
mod cves;
mod hello;
pub mod legacy;
mod modern;
mod other_groups;
mod path;
mod selection;
mod ssl2;
mod sslscan;
mod staple;
pub mod starttls;
mod suites;
mod trust;
#[cfg(test)]
mod truth_tests;

use hello::{Offer, Version};
pub use hello::{common_hello, is_server_record};
use modern::KeyKind;
pub use modern::accept_any;
pub use selection::is_test;
use starttls::StartTls;

/// Suites of one offer; some servers do not read longer ones.
const OFFERED: usize = 60;
/// Chains of one server that are checked.
const MAX_CHAINS: usize = 4;
/// Time before a second attempt to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The alert of a server that does not support a version.
const PROTOCOL_VERSION: u8 = 70;

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

impl TlsResults {
    fn tests(&self, server: &Server<'_>) -> Vec<TestDone> {
        let second = self.second.as_ref();
        let mut tests = server.tests(&self.answers, &self.checked, second);
        tests.extend(second.map(|second| second.test(server, &self.answers)));
        match &self.refusals {
            None => tests,
            // Without all handshakes, no earlier finding is gone.
            Some(why) => tests
                .into_iter()
                .map(|test| test.judged(Some(why.clone())))
                .collect(),
        }
    }

    /// Names of accepted versions.
    fn accepted(&self) -> String {
        let accepted = self.answers.iter().filter(|one| one.answer.accepted);
        let names: Vec<&str> = accepted.map(|one| one.version.name()).collect();
        names.join(", ")
    }

    async fn report_lines(&self, run: &ScanRun<'_>) {
        if let Some(second) = &self.second {
            run.info(second.line(&self.answers)).await;
        }
        for line in self.checked.iter().flat_map(|one| &one.lines) {
            run.raw(line.clone()).await;
        }
        if let Some(line) = self.checked.iter().find_map(|one| one.note.as_ref()) {
            run.info(line.clone()).await;
        }
        run.info(format!("Accepted: {}.", self.accepted())).await;
        if let Some(why) = &self.refusals {
            run.info(format!(
                "Incomplete: {why}. Lower the number of scans of this server, and scan again."
            ))
            .await;
        }
    }

    /// The status message; `findings` are those that it names.
    fn summary(&self, findings: &str) -> String {
        let certificate = self.checked.first().map_or_else(
            || "no readable certificate".to_owned(),
            certificate::ChainFindings::summary,
        );
        let refusals = self.refusals.as_ref();
        let incomplete = refusals.map(|why| format!("; incomplete: {why}"));
        let accepted = self.accepted();
        let incomplete = incomplete.unwrap_or_default();
        format!("{accepted} accepted; {certificate}{findings}{incomplete}")
    }
}

/// Findings that the status message names.
const NAMED: usize = 3;

/// `; 11 findings: Cipher suites without encryption, … and 8 more`, the worst first.
fn worst(tests: &[TestDone]) -> String {
    let mut found: Vec<&NewFinding> = tests.iter().flat_map(|test| &test.findings).collect();
    if found.is_empty() {
        return String::new();
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.risk));
    let names: Vec<&str> = found
        .iter()
        .take(NAMED)
        .map(|finding| finding.name.as_str())
        .collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; {}: {}{more}",
        plural(found.len(), "finding"),
        names.join(", ")
    )
}

/// The server at the first allowed address that accepts a connection.
async fn connectable<'a>(
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
enum StartProblem {
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

impl TlsAnswer {
    /// The word in evidence and logs.
    fn word(&self) -> &'static str {
        match (self.accepted, self.is_untested) {
            (true, _) => "accepted",
            (false, true) => "not tested",
            (false, false) => "not accepted",
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
    fn service(&self) -> &'static str {
        self.starttls.map_or("tls", StartTls::name)
    }

    /// Connects, and starts TLS by the command of the service.
    async fn connect(&self) -> Result<TcpStream, StartProblem> {
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

    /// One handshake; what the server sent before a timeout counts. A connection as
    /// [`Self::connect`] makes it; after a refusal once more, because servers limit simultaneous
    /// ones.
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
    fn refusals(&self) -> Option<String> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let ConnectionRefusals { count, last } = &*refusals;
        (*count > 0).then(|| {
            format!(
                "{} without a connection: {last}",
                plural(*count, "handshake")
            )
        })
    }

    async fn handshake(&self, offer: &Offer) -> TlsAnswer {
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
    async fn modern(&self, keys: KeyKind) -> Option<TlsAnswer> {
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let exchange = async { modern::handshake(self.reconnect().await?, &self.host, keys).await };
        timeout(self.timeout, exchange).await.ok().flatten()
    }

    /// The certificates of TLS 1.3 by a group that rustls lacks.
    async fn chain_by_group(&self, group: u16) -> Option<Vec<Vec<u8>>> {
        let _connection = self.lane.connections.acquire().await;
        self.lane.requests.wait().await;
        let exchange = async {
            other_groups::certificates(self.connect().await.ok()?, &self.host, group).await
        };
        timeout(self.timeout, exchange).await.ok().flatten()
    }

    /// Whether the server accepts a second handshake of the client on a connection.
    async fn accepts_renegotiation(&self, version: Version) -> bool {
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

    /// Finds everything that the server accepts, and reports the handshakes of each version.
    async fn versions(&self) -> Vec<VersionAnswer> {
        let so_far = Mutex::new(Vec::new());
        let so_far = &so_far;
        let versions = Version::ALL.iter().map(|version| async move {
            let answer = self.version(*version).await;
            self.note(so_far, answer.clone()).await;
            let test = handshake_test(&answer);
            if selection::is_selected(self.run, &test.uid) {
                self.run.tested(test).await;
            }
            answer
        });
        join_all(versions).await
    }

    /// Finds everything that the server accepts with a version.
    async fn version(&self, version: Version) -> VersionAnswer {
        let mut result = VersionAnswer {
            version,
            answer: TlsAnswer::default(),
            suites: Vec::new(),
            groups: Vec::new(),
            compression: false,
            client_renegotiation: false,
        };
        match version {
            Version::Ssl2 => {
                result.answer = self.handshake(&Offer::new(version, Vec::new())).await;
            }
            Version::Tls13 => {
                self.find_suites(&mut result).await;
                self.find_chain(&mut result).await;
                self.find_groups(&mut result).await;
            }
            _ => {
                self.find_suites(&mut result).await;
                if result.answer.accepted {
                    self.find_options(&mut result).await;
                }
            }
        }
        self.log_version(&result).await;
        result
    }

    /// Reads the chain of TLS 1.3, which the server encrypts.
    async fn find_chain(&self, result: &mut VersionAnswer) {
        let modern = self.modern(KeyKind::Any).await;
        if let Some(modern) = modern.filter(|modern| modern.accepted) {
            // Without it, some servers refuse an empty key share.
            let suite = result.answer.suite;
            result.answer = TlsAnswer {
                is_tls: true,
                suite,
                ..modern
            };
        } else if let Some(group) = result.answer.group.filter(|_| result.answer.accepted) {
            result.answer.chain = self.chain_by_group(group).await.unwrap_or_default();
        }
    }

    /// Finds out whether an accepted version comes with compression and renegotiation.
    async fn find_options(&self, result: &mut VersionAnswer) {
        let version = result.version;
        let mut offer = Offer::new(version, result.answer.suite.into_iter().collect());
        offer.compression = true;
        result.compression = self.handshake(&offer).await.compression;
        result.client_renegotiation =
            version != Version::Ssl3 && self.accepts_renegotiation(version).await;
    }

    async fn log_version(&self, result: &VersionAnswer) {
        let VersionAnswer {
            version, answer, ..
        } = result;
        let word = if answer.is_late {
            self.late()
        } else {
            answer.word().to_owned()
        };
        let mut line = format!(
            "{} {} {word} {}",
            self.address,
            version.name(),
            answer.cipher
        );
        if result.suites.len() > 1 {
            let names: Vec<&str> = result.suites.iter().map(|one| &one.cipher[..]).collect();
            line.push_str(&format!("; all suites: {}", names.join(" ")));
        }
        self.run.raw(line.trim_end()).await;
    }

    /// Adds the responses of a version; a stopped scan reports the findings that all responses so
    /// far prove.
    async fn note(&self, so_far: &Mutex<Vec<VersionAnswer>>, answer: VersionAnswer) {
        let output = {
            let mut so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
            so_far.push(answer);
            so_far.sort_by_key(|one| one.version);
            if !so_far.iter().any(|one| one.answer.accepted) {
                return;
            }
            let checked = self.check(&distinct(&so_far, Vec::new()), &[]);
            let mut tests = self.tests(&so_far, &checked, None);
            // Without a finding, a test ends only after the answers of all versions.
            tests.retain(|test| !test.findings.is_empty());
            self.run.report_if_stopped(tests);
            self.output(&so_far, &checked)
        };
        self.run.output_findings(output).await;
    }

    async fn find_suites(&self, result: &mut VersionAnswer) {
        let mut is_first = true;
        for suites in suites::offered(result.version).chunks(OFFERED) {
            let mut offer = Offer::new(result.version, suites.to_vec());
            loop {
                let answer = self.handshake(&offer).await;
                if is_first || (answer.accepted && !result.answer.accepted) {
                    result.answer = answer.clone();
                    is_first = false;
                }
                let Some(suite) = answer.suite.filter(|_| answer.accepted) else {
                    break;
                };
                offer.suites.retain(|offered| *offered != suite);
                result.suites.push(answer);
                if offer.suites.is_empty() {
                    break;
                }
            }
            // Further offers of a version that the server ignores would take as long.
            let is_pointless = result.answer.is_late || result.answer.is_untested;
            if result.answer.alert == Some(PROTOCOL_VERSION) || is_pointless {
                return;
            }
        }
    }

    /// Finds the groups of TLS 1.3 by removal.
    async fn find_groups(&self, result: &mut VersionAnswer) {
        if !result.suites.iter().any(|one| one.is_retry) {
            return;
        }
        let mut offer = Offer::new(result.version, suites::offered(result.version));
        while !offer.groups.is_empty() {
            let answer = self.handshake(&offer).await;
            let Some(group) = answer
                .group
                .filter(|group| answer.accepted && offer.groups.contains(group))
            else {
                return;
            };
            offer.groups.retain(|offered| *offered != group);
            result.groups.extend(
                hello::NEW_GROUPS
                    .iter()
                    .find(|(number, _)| *number == group)
                    .map(|(_, name)| *name),
            );
        }
    }

    /// The chains of the server, one for each of its certificates, the one of the newest version
    /// first.
    async fn chains(&self, answers: &[VersionAnswer]) -> Vec<Vec<Vec<u8>>> {
        let mut others = Vec::new();
        if answers
            .iter()
            .any(|one| one.version == Version::Tls13 && one.answer.accepted)
        {
            for keys in [KeyKind::Rsa, KeyKind::Elliptic] {
                others.extend(self.modern(keys).await.map(|answer| answer.chain));
            }
        }
        distinct(answers, others)
    }

    /// Checks each chain. `unstapled` are certificates that lack a required OCSP response.
    fn check(
        &self,
        chains: &[Vec<Vec<u8>>],
        unstapled: &[Vec<u8>],
    ) -> Vec<certificate::ChainFindings> {
        chains
            .iter()
            .map(|chain| certificate::check(self.run, &self.host, chain, unstapled))
            .collect()
    }

    /// The results of the tests of versions, certificates and suites, from these answers.
    fn tests(
        &self,
        answers: &[VersionAnswer],
        checked: &[certificate::ChainFindings],
        second: Option<&sslscan::SslscanReport>,
    ) -> Vec<TestDone> {
        let mut tests: Vec<_> = answers
            .iter()
            .map(|one| self.protocol_test(one, answers, second))
            .collect();
        tests.extend(certificate::tests(
            checked,
            self.address.port(),
            self.service(),
        ));
        tests.extend(checks::tests(self, answers));
        tests.retain(|test| selection::is_selected(self.run, &test.uid));
        tests
    }

    fn late(&self) -> String {
        format!("no TLS response within {} s", self.timeout.as_secs())
    }

    /// The outcome when no version was accepted.
    fn without_version(&self, answers: &[VersionAnswer]) -> Result<String, ScanOutcome> {
        if let Some(why) = self
            .refusals()
            .filter(|_| !answers.iter().any(|one| one.answer.is_tls))
        {
            return Err(ScanOutcome::ConnectionError(why));
        }
        if !answers.iter().any(|one| one.answer.is_tls)
            && answers.iter().any(|one| one.answer.is_late)
        {
            return Err(ScanOutcome::ConnectionError(format!(
                "{} accepts connections, but {}",
                self.address,
                self.late()
            )));
        }
        if !answers.iter().any(|one| one.answer.is_tls) {
            return Err(ScanOutcome::ConnectionError(format!(
                "{} responds, but not with TLS",
                self.address
            )));
        }
        let alert = answers.iter().rev().find_map(|one| one.answer.alert);
        let alert = alert.map_or_else(String::new, |alert| format!(" (alert {alert})"));
        Err(ScanOutcome::ConnectionError(format!(
            "{} responds with TLS, but refuses every handshake{alert}",
            self.address
        )))
    }

    fn protocol_test(
        &self,
        one: &VersionAnswer,
        all: &[VersionAnswer],
        second: Option<&sslscan::SslscanReport>,
    ) -> TestDone {
        let VersionAnswer {
            version, answer, ..
        } = one;
        let finding = one.weakness(all).map(|kind| {
            // SSL 2.0 is a row only where it matters, as in earlier versions of this program.
            let is_shown =
                |row: &&VersionAnswer| row.version != Version::Ssl2 || row.answer.accepted;
            let shown = all.iter().filter(is_shown);
            let mut rows: Vec<Vec<String>> = shown.map(VersionAnswer::row).collect();
            rows.extend(second.and_then(|second| second.disagreement(one)));
            let headers = ["Version", "Answer", "Cipher suite"];
            finding(kind, self.address.port(), self.service(), &headers, rows)
        });
        let metadata = json!({"version": version.name(), "accepted": answer.accepted, "cipher": answer.cipher});
        TestDone::new(
            protocol_uid(*version),
            format!("Support for {}", version.name()),
            metadata,
            finding.into_iter().collect(),
        )
    }

    fn output(&self, answers: &[VersionAnswer], checked: &[certificate::ChainFindings]) -> Value {
        let protocols = answers.iter().map(|one| {
            let suites: Vec<&str> = one.suites.iter().map(|suite| suite.cipher.as_str()).collect();
            json!({
                "name": one.version.name(), "accepted": one.answer.accepted, "cipher": one.answer.cipher,
                "cipher_suites": suites, "groups": one.groups,
            })
        });
        let certificates = checked.iter().flat_map(|one| match one.as_json() {
            Value::Array(all) => all,
            other => vec![other],
        });
        json!({
            "host": self.host,
            "ip_address": self.address.ip().to_string(),
            "port": self.address.port(),
            "protocols": protocols.collect::<Vec<_>>(),
            "certificates": certificates.collect::<Vec<_>>(),
        })
    }
}

impl VersionAnswer {
    /// Why the answer is a finding, beside those of the other versions.
    fn weakness(&self, all: &[VersionAnswer]) -> Option<FindingKind> {
        let accepts_tls12 = || {
            all.iter()
                .any(|one| one.version == Version::Tls12 && one.answer.accepted)
        };
        match (self.version, self.answer.accepted) {
            (Version::Ssl2, true) => Some(kinds::tls::SSL2),
            (Version::Ssl3, true) => Some(kinds::tls::SSL3),
            (Version::Tls10, true) => Some(kinds::tls::TLS10),
            (Version::Tls11, true) => Some(kinds::tls::TLS11),
            (Version::Tls13, false) if accepts_tls12() && !self.answer.is_untested => {
                Some(kinds::tls::NO_TLS13)
            }
            _ => None,
        }
    }

    /// The row of evidence.
    fn row(&self) -> Vec<String> {
        vec![
            self.version.name().to_owned(),
            self.answer.word().to_owned(),
            suites::iana(&self.answer.cipher),
        ]
    }
}

fn handshake_test(one: &VersionAnswer) -> TestDone {
    let name = one.version.name();
    let metadata = json!({"version": name, "accepted": one.answer.accepted, "cipher_suites": one.suites.len()});
    let uid = handshake_uid(one.version);
    TestDone::new(uid, format!("{name} handshakes"), metadata, Vec::new())
}

/// Such as `tls.handshake.tls10`.
fn handshake_uid(version: Version) -> String {
    format!("tls.handshake.{version:?}").to_ascii_lowercase()
}

/// Such as `tls.protocol.tls10`.
fn protocol_uid(version: Version) -> String {
    format!("tls.protocol.{version:?}").to_ascii_lowercase()
}

/// The chains of these answers and `others`, one for each certificate. Current clients receive the
/// chain of the newest version.
fn distinct(answers: &[VersionAnswer], others: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
    let newest = answers.iter().rev().map(|one| one.answer.chain.clone());
    let of_suites = answers
        .iter()
        .flat_map(|one| &one.suites)
        .map(|answer| answer.chain.clone());
    let mut distinct: Vec<Vec<Vec<u8>>> = Vec::new();
    for chain in newest
        .chain(others)
        .chain(of_suites)
        .filter(|chain| !chain.is_empty())
    {
        if !distinct.iter().any(|known| known[0] == chain[0]) && distinct.len() < MAX_CHAINS {
            distinct.push(chain);
        }
    }
    if distinct.is_empty() {
        // The check then reports that no certificate is readable.
        distinct.push(Vec::new());
    }
    distinct
}

fn finding(
    kind: FindingKind,
    port: u16,
    service: &str,
    headers: &[&str],
    rows: Vec<Vec<String>>,
) -> NewFinding {
    let cves: Vec<String> = cves::of(kind, &rows).map(str::to_owned).collect();
    let evidence = kinds::table(headers, rows);
    let finding = kind.finding();
    let risk_description = match service {
        "tls" => finding.risk_description,
        _ => without_browsers(&finding.risk_description),
    };
    let finding = NewFinding {
        risk_description,
        ..finding
    };
    let finding = with_cves(finding, cves.into_iter());
    NewFinding {
        port,
        service: service.to_owned(),
        confirmed: true,
        evidence,
        ..finding
    }
}

/// The text for services that browsers do not use, such as SMTP.
fn without_browsers(text: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        (
            "Users learn to ignore the browser warning, and then miss a real man-in-the-middle attack. Other clients refuse",
            "Clients that verify certificates refuse",
        ),
        (
            "Browsers refuse the connection or show a warning that users learn to ignore",
            "Clients refuse the connection",
        ),
        (
            "Browsers repair the order; some other clients",
            "Some clients",
        ),
        ("browsers may refuse", "clients may refuse"),
    ];
    WORDS
        .iter()
        .fold(text.to_owned(), |text, (browser, client)| {
            text.replace(browser, client)
        })
}
