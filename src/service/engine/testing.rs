//! Runs one scan in a test and collects its events.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    Engine, EngineSettings, NewFinding, ScanEvent, ScanJob, ScanLimits, ScanOutcome, ServicePorts, TestDone,
    check_params,
};
use crate::contract::{RedirectLevel, ScanId, ScanOutput, Tool};
use crate::service::scope_check::{ScopeCheck, ScopeCheckSettings};

/// The events and the outcome of a scan.
pub struct ScanResult {
    pub outcome: ScanOutcome,
    pub planned: u32,
    pub tests: Vec<TestDone>,
    pub raw: Vec<String>,
    pub info: Vec<String>,
    pub output: Option<ScanOutput>,
    pub elapsed: Duration,
}

impl ScanResult {
    pub fn findings(&self) -> impl Iterator<Item = &NewFinding> {
        self.tests.iter().flat_map(|test| &test.findings)
    }

    pub fn of(&self, vuln_id: &str) -> Vec<&NewFinding> {
        self.findings().filter(|finding| finding.vuln_id == vuln_id).collect()
    }

    /// Asserts the properties of every finished scan.
    pub fn check(&self) {
        assert!(matches!(self.outcome, ScanOutcome::Finished(_)), "{:?}\n{}", self.outcome, self.raw.join("\n"));
        assert_eq!(self.tests.iter().map(|test| test.weight).sum::<u32>(), self.planned, "tests done of planned");
        assert!(self.output.is_some());
        for finding in self.findings() {
            for (field, text) in [
                ("name", &finding.name),
                ("test_description", &finding.test_description),
                ("vuln_description", &finding.vuln_description),
                ("risk_description", &finding.risk_description),
                ("recommendation", &finding.recommendation),
                ("cwe", &finding.cwe),
                ("protocol", &finding.protocol),
                ("service", &finding.service),
            ] {
                assert!(!text.is_empty(), "{} has no {field}", finding.vuln_id);
            }
            assert!(finding.port > 0 && !finding.references.is_empty(), "{}", finding.vuln_id);
            assert!(finding.evidence.as_json().starts_with(r#"{"type":"table""#), "{}", finding.vuln_id);
        }
    }
}

/// A scan to run; `TestScan::new` uses the defaults of `POST /scans`.
pub struct TestScan {
    pub job: ScanJob,
    pub service_ports: ServicePorts,
    pub trust_anchors: Vec<CertificateDer<'static>>,
    pub stop: CancellationToken,
    pub limits: ScanLimits,
}

impl TestScan {
    pub fn new(tool: Tool, target: &str, params: Value) -> Self {
        let job = ScanJob {
            scan: ScanId(7),
            tool,
            target: target.to_owned(),
            params: check_params(tool, &params).unwrap(),
            redirect_level: RedirectLevel::SameDomain,
            scan_original_url: false,
        };
        Self {
            job,
            service_ports: ServicePorts::default(),
            trust_anchors: Vec::new(),
            stop: CancellationToken::new(),
            limits: ScanLimits::default(),
        }
    }

    /// Runs the scan with a scope check that allows this machine only.
    pub async fn run(self) -> ScanResult {
        self.run_with(|_| ()).await
    }

    /// Runs the scan, and calls `found` with the number of findings after each test.
    pub async fn run_with(self, mut found: impl FnMut(usize)) -> ScanResult {
        let scope_check = ScopeCheck::new(ScopeCheckSettings {
            scope_file: PathBuf::from("/nonexistent/scope.toml"),
            ..Default::default()
        });
        let engine = Engine::new(EngineSettings {
            scope_check: Arc::new(scope_check),
            trust_anchors: self.trust_anchors,
            service_ports: self.service_ports,
            limits: self.limits,
            descriptors: 512,
        });
        let (events, mut result) = mpsc::channel(16);
        let start = Instant::now();
        let scan = tokio::spawn(async move { engine.run(self.job, events, self.stop).await });
        let mut all = ScanResult {
            outcome: ScanOutcome::Cancelled,
            planned: 0,
            tests: Vec::new(),
            raw: Vec::new(),
            info: Vec::new(),
            output: None,
            elapsed: Duration::ZERO,
        };
        while let Some(event) = result.recv().await {
            match event {
                ScanEvent::Planned(tests) => all.planned = tests,
                ScanEvent::Tested(test) => {
                    all.tests.push(test);
                    found(all.findings().count());
                }
                ScanEvent::Raw(line) => all.raw.push(line),
                ScanEvent::Info(line) => all.info.push(line),
                ScanEvent::Output(output) => all.output = Some(output),
            }
        }
        all.outcome = scan.await.unwrap();
        all.elapsed = start.elapsed();
        all
    }
}
