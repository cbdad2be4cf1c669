//! The scan engine: runs one tool against one target and tells what happens while it does.
//!
//! ```text
//!   worker ──Job──► Engine::run ──Event──► worker ──► store
//!             ◄──────── Outcome ─────────
//! ```
//!
//! The engine speaks neither HTTP API nor SQL. It gets a [`ScanJob`], sends [`ScanEvent`]s as it learns things, and ends
//! with an [`ScanOutcome`]; who stores them, and how long it may take, is the worker's business: it cancels the token.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::rails::Rails;
use crate::contract::{Evidence, Owasp, RedirectLevel, Risk, ScanId, ScanOutput, Tool};

#[cfg(test)]
mod hostile;
mod http;
pub mod kinds;
mod own_ports;
pub mod pace;
pub mod params;
pub mod ports;
pub mod risks;
mod run;
#[cfg(test)]
pub(crate) mod testing;
mod tls;
mod website;

pub use own_ports::OwnPorts;
use pace::Lanes;
pub use params::{ParamsError, check_params, unknown_tool_message};
use run::ScanRun;

/// Product and version, as sent in the User-Agent.
pub const PRODUCT: &str = concat!("scandeck/", env!("CARGO_PKG_VERSION"));

/// What all scans share.
#[derive(Clone)]
pub struct EngineSettings {
    /// What may be scanned; asked again after each resolution and at each redirect.
    pub rails: Arc<Rails>,
    /// Certificates trusted besides those of the system.
    pub trust_anchors: Vec<CertificateDer<'static>>,
    /// Listeners of the service itself, which are never findings.
    pub own_ports: OwnPorts,
}

/// Runs scans; any number at a time.
#[derive(Clone)]
pub struct Engine {
    settings: Arc<EngineSettings>,
    lanes: Arc<Lanes>,
}

impl Engine {
    /// An engine; it holds no task and no socket until a scan runs.
    pub fn new(settings: EngineSettings) -> Self {
        Self { settings: Arc::new(settings), lanes: Arc::default() }
    }

    /// Runs one scan to its end. Cancelling `stop`, closing `events` or dropping the future ends it at once, with
    /// everything it had opened.
    pub async fn run(&self, job: ScanJob, events: mpsc::Sender<ScanEvent>, stop: CancellationToken) -> ScanOutcome {
        let closed = events.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => ScanOutcome::Cancelled,
            () = closed.closed() => ScanOutcome::Cancelled,
            outcome = self.scan(&job, events) => outcome,
        }
    }

    async fn scan(&self, job: &ScanJob, events: mpsc::Sender<ScanEvent>) -> ScanOutcome {
        let address = match Address::parse(&job.target) {
            Ok(address) => address,
            Err(error) => return ScanOutcome::FailedToStart(error.to_string()),
        };
        if let Err(refusal) = self.settings.rails.check_name(&address) {
            return ScanOutcome::FailedToStart(refusal.to_string());
        }
        let run = ScanRun::new(job, address, &self.settings, &self.lanes, events);
        let ended = match job.tool {
            Tool::PORTS => ports::scan(&run).await,
            Tool::WEBSITE => website::scan(&run).await,
            Tool::TLS => tls::scan(&run).await,
            other => Err(ScanOutcome::FailedToStart(unknown_tool_message(other.0))),
        };
        ended.map_or_else(|outcome| outcome, ScanOutcome::Finished)
    }
}

/// One scan to run.
#[derive(Clone, Debug)]
pub struct ScanJob {
    /// Named in the User-Agent and in the ledger of what was sent.
    pub scan: ScanId,
    /// Which tool; only those of [`TOOLS`] are ever queued.
    pub tool: Tool,
    /// Canonical name of the target.
    pub target: String,
    /// Checked parameters with their defaults filled in. Never logged: `authentication` is still in them.
    pub params: Value,
    /// How far redirects of the start page are followed.
    pub redirect_level: RedirectLevel,
    /// Scan the original URL even where it redirects.
    pub scan_original_url: bool,
}

/// Tools this engine has.
pub const TOOLS: &[Tool] = &[Tool::PORTS, Tool::WEBSITE, Tool::TLS];

/// What a running scan tells.
#[derive(Clone, Debug)]
pub enum ScanEvent {
    /// How many tests there will be; may be corrected upwards later.
    Planned(u32),
    /// A test ended, with or without a finding.
    Tested(TestDone),
    /// One line of the raw log (`GET /scans/{id}/raw`).
    Raw(String),
    /// One line for `info_text_lines`.
    Info(String),
    /// The output as known so far (`GET /scans/{id}/output`); the last one stands.
    Output(ScanOutput),
}

/// A test that ended.
#[derive(Clone, Debug)]
pub struct TestDone {
    /// Stable name of the check, such as `tls.protocol.tls10`.
    pub uid: String,
    /// What was looked at, in one line.
    pub description: String,
    /// Free object: what was asked and answered.
    pub metadata: Value,
    /// How many of the planned tests this entry stands for: a batch of 256 ports is one entry.
    pub weight: u32,
    /// What it found.
    pub findings: Vec<NewFinding>,
}

/// A finding as the engine makes it; the store adds id, scan, target and status.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // the names are the contract's
pub struct NewFinding {
    /// Stable name of the kind of finding.
    pub vuln_id: String,
    pub name: String,
    pub risk: Risk,
    /// The content proves it.
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
    pub evidence: Evidence,
    /// What tells duplicates of the same kind apart on one target: method and path template, parameter, header or
    /// cookie name; empty where the kind occurs once.
    pub place: String,
}

/// How a scan ended; the sentence becomes `status_message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanOutcome {
    Finished(String),
    FailedToStart(String),
    ConnectionError(String),
    AuthFailed(String),
    /// The token was cancelled; the worker knows why (stop, time limit, shutdown).
    Cancelled,
}
