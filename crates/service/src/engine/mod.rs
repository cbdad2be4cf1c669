//! The scan engine: runs one tool against one target and sends events.
//!
//! ```text
//!   worker ──ScanJob──► Engine::run ──ScanEvent──► worker ──► store
//!             ◄──────── ScanOutcome ─────────
//! ```
//!
//! The engine knows neither the HTTP API nor SQL. It receives a [`ScanJob`], sends [`ScanEvent`]s,
//! and returns a [`ScanOutcome`]. The worker stores the events, and cancels the token at the time
//! limit.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::net::address::Address;
use crate::net::resolver::Resolver;
use crate::scope::Pattern;
use crate::scope_check::ScopeCheck;
use scandeck_wire::contract::{
    Evidence, Owasp, RedirectLevel, Risk, ScanId, ScanOutput, Test, Tool, WorkspaceId,
};

mod blocking;
mod body;
mod coverage;
#[cfg(test)]
mod coverage_tests;
mod exchange;
mod exploited;
mod firewall_page;
pub mod guests;
mod header_values;
#[cfg(test)]
mod hostile_tests;
mod http;
pub mod kinds;
mod legacy_http;
mod limits;
#[cfg(test)]
mod login_tests;
pub mod network;
pub mod pace;
pub mod params;
pub mod ports;
mod probe_pace;
mod request_times;
mod run;
#[cfg(test)]
mod scope_tests;
mod secret_digest;
mod sent_findings;
mod service_ports;
mod small_tools;
mod technologies;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, clippy::expect_used)]
pub mod testing;
mod throttle;
mod tls;
#[cfg(test)]
mod tolerance_tests;
mod tolerant_http;
pub mod tools;
mod website;

pub use limits::ScanLimits;
use pace::Lanes;
pub use params::{ParamsError, check_params, check_rate};
use run::ScanRun;
pub use secret_digest::SecretDigests;
#[cfg(test)]
pub use secret_digest::SecretHash;
pub use service_ports::ServicePorts;
use tools::unknown_tool_message;

/// Product and version, as sent in the User-Agent.
pub const PRODUCT: &str = concat!("scandeck/", env!("CARGO_PKG_VERSION"));

/// The output type of a tool whose output is its findings.
pub const FINDING_LIST: &str = "finding_list";

/// Settings of all scans.
#[derive(Clone)]
pub struct EngineSettings {
    /// Decides which targets may be scanned; checked after each name resolution and at each
    /// redirect.
    pub scope_check: Arc<ScopeCheck>,
    pub resolver: Arc<dyn Resolver>,
    /// Certificates trusted in addition to those of the system.
    pub trust_anchors: Vec<CertificateDer<'static>>,
    /// Listeners of the service itself, which are never findings.
    pub service_ports: ServicePorts,
    /// Limits of the results of each scan.
    pub limits: ScanLimits,
    /// The rates of hosts, and the file descriptors for port probes, of all scans.
    pub lanes: Arc<Lanes>,
}

/// Runs any number of concurrent scans.
#[derive(Clone)]
pub struct Engine {
    settings: Arc<EngineSettings>,
}

impl Engine {
    pub fn new(settings: EngineSettings) -> Self {
        Self {
            settings: Arc::new(settings),
        }
    }

    /// Runs one scan. Cancelling `stop`, closing `events` or dropping the future ends it at once
    /// and closes its connections, and so does a change of the scope that no longer allows a host
    /// of the scan. After a stop, the output lists every open port that was found, and the tests of
    /// `ScanRun::report_if_stopped` are reported.
    pub async fn run(
        &self,
        job: ScanJob,
        events: mpsc::Sender<ScanEvent>,
        stop: CancellationToken,
    ) -> ScanOutcome {
        let closed = events.clone();
        let address = match Address::parse(&job.target) {
            Ok(address) => address,
            Err(error) => return ScanOutcome::FailedToStart(error.to_string()),
        };
        let run = ScanRun::new(&job, address, &self.settings, &self.settings.lanes, events);
        if let Err(refusal) = run.check_name() {
            return ScanOutcome::FailedToStart(refusal.to_string());
        }
        let outcome = tokio::select! {
            biased;
            () = stop.cancelled() => ScanOutcome::Cancelled,
            () = closed.closed() => return ScanOutcome::Cancelled,
            refusal = run.refused() => ScanOutcome::OutOfScope(refusal.to_string()),
            outcome = scan(&run) => return outcome,
        };
        run.report_rest().await;
        outcome
    }
}

async fn scan(run: &ScanRun<'_>) -> ScanOutcome {
    let ended = match run.job.tool {
        Tool::PORTS => ports::scan(run).await,
        Tool::WEBSITE => website::scan(run).await,
        Tool::NETWORK | Tool::UDP_PORTS => network::scan(run).await,
        Tool::TLS => tls::scan(run).await,
        Tool::FUZZER => small_tools::fuzzer::scan(run).await,
        Tool::VIRTUAL_HOSTS => small_tools::virtual_hosts::scan(run).await,
        Tool::SUBDOMAINS => small_tools::subdomains::scan(run).await,
        Tool::PING => small_tools::ping::scan(run).await,
        Tool::RECON => small_tools::recon::recon(run).await,
        Tool::FIREWALL => small_tools::recon::firewall(run).await,
        other if guests::scan_of(other).is_some() => guests::scan::scan(run).await,
        other => Err(ScanOutcome::FailedToStart(unknown_tool_message(other.0))),
    };
    match ended {
        Ok(summary) => ScanOutcome::Finished(run.with_cuts(summary)),
        Err(outcome) => outcome,
    }
}

/// One scan to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScanJob {
    /// Sent in the User-Agent.
    pub scan: ScanId,
    /// One of [`tools::offered`].
    pub tool: Tool,
    /// Canonical name of the target.
    pub target: String,
    /// Checked parameters with defaults. Never logged: they contain `authentication`.
    pub params: Value,
    /// Which redirects of the start page are followed.
    pub redirect_level: RedirectLevel,
    /// Scan the original URL even if it redirects.
    pub scan_original_url: bool,
    /// The denials of the service, for a worker at a place: its scope file has others.
    #[serde(default)]
    pub denials: Vec<Pattern>,
    #[serde(default)]
    pub workspace: WorkspaceId,
    /// Of the workspace; the services of earlier versions send none.
    #[serde(default)]
    pub secret_digests: SecretDigests,
}

/// An event of a running scan.
#[derive(Clone, Debug)]
pub enum ScanEvent {
    /// The number of tests; it may increase later.
    Planned(u32),
    /// A test ended, with or without a finding.
    Tested(TestDone),
    /// One line of the raw log (`GET /scans/{id}/raw`).
    Raw(String),
    /// One line of `info_text_lines`.
    Info(String),
    /// The current step, which is `status_message` while the scan runs.
    Step(String),
    /// The output so far (`GET /scans/{id}/output`); it replaces the previous one.
    Output(ScanOutput),
    /// Credentials that later events must not show.
    Learned(Vec<LearnedSecret>),
}

/// A credential that a scan got while it ran, such as the cookie of a session.
#[derive(Clone)]
pub struct LearnedSecret {
    pub name: String,
    pub value: String,
}

impl fmt::Debug for LearnedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

/// An ended test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TestDone {
    /// Stable name of the check, such as `tls.protocol.tls10`.
    pub uid: String,
    pub description: String,
    /// Free object: request and result.
    pub metadata: Value,
    /// The number of planned tests that this entry counts as: 256 closed ports are one entry.
    pub weight: u32,
    #[serde(with = "sent_findings")]
    pub findings: Vec<NewFinding>,
}

impl TestDone {
    /// A test that counts as one.
    fn new(
        uid: impl Into<String>,
        description: impl Into<String>,
        metadata: Value,
        findings: Vec<NewFinding>,
    ) -> Self {
        Self {
            uid: uid.into(),
            description: description.into(),
            metadata,
            weight: 1,
            findings,
        }
    }

    /// Marks in the metadata whether the test has a result, with the cause if not.
    fn judged(mut self, cause: Option<String>) -> Self {
        self.metadata[Test::JUDGED] = cause.is_none().into();
        if let Some(cause) = cause {
            self.metadata[Test::CAUSE] = cause.into();
        }
        self
    }
}

/// A finding of the engine; the store adds id, scan, target and status.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NewFinding {
    /// Stable name of the kind of finding.
    pub vuln_id: String,
    pub name: String,
    #[serde(rename = "risk_level")]
    pub risk: Risk,
    /// Proven by the response.
    pub confirmed: bool,
    pub in_cisa_catalog: bool,
    pub cve: Vec<String>,
    pub test_description: String,
    pub vuln_description: String,
    pub risk_description: String,
    pub recommendation: String,
    pub references: Vec<String>,
    pub owasp: Owasp,
    pub cwe: String,
    pub port: u16,
    pub protocol: String,
    pub service: String,
    #[serde(rename = "vuln_evidence")]
    pub evidence: Evidence,
    /// Scores that a guest reports; the checks of this engine have none.
    #[serde(flatten, skip_deserializing)]
    pub scores: FindingScores,
    /// Distinguishes findings of one kind on one target: method and path template, parameter,
    /// header or cookie name; empty for a kind that occurs once.
    #[serde(skip)]
    pub place: String,
}

/// The scores of a finding, in the names of the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingScores {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvssv3: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epss_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epss_percentile: Option<f64>,
}

/// How a scan ended; the text becomes `status_message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanOutcome {
    Finished(String),
    FailedToStart(String),
    ConnectionError(String),
    AuthFailed(String),
    /// The scope changed and no longer allows the target.
    OutOfScope(String),
    /// The token was cancelled; the worker knows the cause (stop, time limit, shutdown).
    Cancelled,
}
