//! Runs one scan in a test and collects its events.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::pace::Lanes;
use super::{
    Engine, EngineSettings, NewFinding, ScanEvent, ScanJob, ScanLimits, ScanOutcome, SecretDigests,
    ServicePorts, TestDone, check_params,
};
use crate::net::resolver::{LookupError, Resolver, SystemResolver};
use crate::scope_check::{ScopeCheck, ScopeCheckSettings};
use scandeck_wire::contract::{RedirectLevel, ScanId, ScanOutput, Tool, WorkspaceId};

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
        self.findings()
            .filter(|finding| finding.vuln_id == vuln_id)
            .collect()
    }

    /// Asserts the properties of every finished scan.
    pub fn check(&self) {
        assert!(
            matches!(self.outcome, ScanOutcome::Finished(_)),
            "{:?}\n{}",
            self.outcome,
            self.raw.join("\n")
        );
        assert_eq!(
            self.tests.iter().map(|test| test.weight).sum::<u32>(),
            self.planned,
            "tests done of planned"
        );
        assert!(self.output.is_some());
        for finding in self.findings() {
            for (field, text) in [
                ("name", &finding.name),
                ("test_description", &finding.test_description),
                ("vuln_description", &finding.vuln_description),
                ("risk_description", &finding.risk_description),
                ("recommendation", &finding.recommendation),
                ("protocol", &finding.protocol),
                ("service", &finding.service),
            ] {
                assert!(!text.is_empty(), "{} has no {field}", finding.vuln_id);
            }
            let is_weakness = !finding.vuln_id.starts_with("coverage.");
            assert_ne!(finding.cwe.is_empty(), is_weakness, "{}", finding.vuln_id);
            assert!(
                finding.port > 0 && !finding.references.is_empty(),
                "{}",
                finding.vuln_id
            );
            assert!(
                finding.evidence.as_json().starts_with(r#"{"type":"table""#),
                "{}",
                finding.vuln_id
            );
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
    /// A scope file; by default only this machine is allowed.
    pub scope_file: PathBuf,
    /// Whether active tools may run where the scope file permits them.
    pub allow_active: bool,
    pub resolver: Arc<dyn Resolver>,
}

/// A resolver that returns these addresses for every name, one after the other; the last one is
/// repeated.
pub struct ChangingResolver(Mutex<Vec<&'static str>>);

impl ChangingResolver {
    pub fn new(addresses: &[&'static str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(addresses.to_vec())))
    }
}

impl Resolver for ChangingResolver {
    fn lookup(&self, _: String) -> BoxFuture<'static, Result<Vec<IpAddr>, LookupError>> {
        let mut left = self.0.lock().unwrap();
        let next = if left.len() > 1 {
            left.remove(0)
        } else {
            left[0]
        };
        Box::pin(std::future::ready(Ok(vec![next.parse().unwrap()])))
    }
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
            denials: Vec::new(),
            workspace: WorkspaceId::default(),
            secret_digests: SecretDigests::default(),
        };
        Self {
            job,
            service_ports: ServicePorts::default(),
            trust_anchors: Vec::new(),
            stop: CancellationToken::new(),
            limits: ScanLimits::default(),
            scope_file: PathBuf::from("/nonexistent/scope.toml"),
            allow_active: false,
            resolver: Arc::new(SystemResolver),
        }
    }

    pub async fn run(self) -> ScanResult {
        self.run_with(|_| ()).await
    }

    pub fn engine_settings(&self) -> EngineSettings {
        let scope_file = self.scope_file.clone();
        EngineSettings {
            scope_check: Arc::new(ScopeCheck::new(ScopeCheckSettings {
                scope_file,
                allow_active: self.allow_active,
                ..Default::default()
            })),
            resolver: Arc::clone(&self.resolver),
            trust_anchors: self.trust_anchors.clone(),
            service_ports: self.service_ports.clone(),
            limits: self.limits,
            lanes: Arc::new(Lanes::new(512)),
        }
    }

    /// Runs the scan, and calls `found` with the number of findings after each test.
    pub async fn run_with(self, mut found: impl FnMut(usize)) -> ScanResult {
        let engine = Engine::new(self.engine_settings());
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
                ScanEvent::Step(_) | ScanEvent::Learned(_) => {}
                ScanEvent::Output(output) => all.output = Some(output),
            }
        }
        all.outcome = scan.await.unwrap();
        all.elapsed = start.elapsed();
        all
    }
}

/// TLS of a server with a self-signed certificate for `localhost`.
pub fn localhost_tls() -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}
