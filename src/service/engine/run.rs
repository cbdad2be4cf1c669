//! One scan under way: what every tool needs to tell and to ask.
//!
//! A tool is `async fn scan(&Run) -> Result<String, Outcome>`: the sentence of a finished scan, or how it ended
//! before that. Stopping is not a tool's business: the future is dropped, and everything it opened with it.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::lookup_host;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::pace::Lanes;
use super::{EngineSettings, NewFinding, ScanEvent, ScanJob, ScanOutcome, TestDone};
use crate::contract::ScanOutput;
use crate::service::address::Address;

/// How long a name may take to be resolved.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// One scan under way.
pub struct ScanRun<'a> {
    /// What was asked for.
    pub job: &'a ScanJob,
    /// The target.
    pub address: Address,
    /// What all scans share.
    pub settings: &'a EngineSettings,
    /// How fast each host may be asked.
    pub lanes: &'a Lanes,
    events: mpsc::Sender<ScanEvent>,
    groups: Mutex<HashSet<(String, u16, String)>>,
    found: Mutex<Vec<Value>>,
}

impl<'a> ScanRun<'a> {
    /// A run of `job` that tells `events`.
    pub fn new(
        job: &'a ScanJob,
        address: Address,
        settings: &'a EngineSettings,
        lanes: &'a Lanes,
        events: mpsc::Sender<ScanEvent>,
    ) -> Self {
        Self { job, address, settings, lanes, events, groups: Mutex::default(), found: Mutex::default() }
    }

    /// Tells how many tests there will be.
    pub async fn planned(&self, tests: u32) {
        self.send(ScanEvent::Planned(tests)).await;
    }

    /// Tells that a test ended. A second finding of one duplicate group (kind, port, place) is left out: a scan
    /// holds one, whose evidence has the rows.
    pub async fn tested(&self, mut test: TestDone) {
        {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            test.findings.retain(|one| groups.insert((one.vuln_id.clone(), one.port, one.place.clone())));
        }
        for finding in &mut test.findings {
            if finding.test_description.is_empty() {
                finding.test_description.clone_from(&test.description);
            }
            self.found.lock().unwrap_or_else(PoisonError::into_inner).push(listed(finding));
        }
        self.send(ScanEvent::Tested(test)).await;
    }

    /// One line of the raw log.
    pub async fn raw(&self, line: impl Into<String>) {
        self.send(ScanEvent::Raw(line.into())).await;
    }

    /// One line for the reader of the scan.
    pub async fn info(&self, line: impl Into<String>) {
        self.send(ScanEvent::Info(line.into())).await;
    }

    /// The output as known so far.
    pub async fn output(&self, output_type: &str, output_data: Value) {
        self.send(ScanEvent::Output(ScanOutput { output_type: output_type.into(), output_data })).await;
    }

    /// Tells the output of tools whose result is their findings, as known so far.
    pub async fn finding_list(&self) {
        self.finding_list_with(json!({})).await;
    }

    /// The same with more beside the findings; `more` is an object.
    pub async fn finding_list_with(&self, mut more: Value) {
        more["findings"] = Value::Array(self.found.lock().unwrap_or_else(PoisonError::into_inner).clone());
        self.output("finding_list", more).await;
    }

    /// Resolves `host` and keeps the addresses the rails allow, in the order to try them.
    ///
    /// # Errors
    /// `FailedToStart` when the name does not resolve, or none of its addresses is allowed.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, ScanOutcome> {
        let all = lookup(host).await.map_err(ScanOutcome::FailedToStart)?;
        let mut refused = None;
        let mut allowed = Vec::new();
        for ip in all {
            match self.settings.rails.check_ip(host, ip) {
                Ok(()) => allowed.push(ip),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if allowed.is_empty() => Err(ScanOutcome::FailedToStart(refusal.to_string())),
            _ => Ok(allowed),
        }
    }

    async fn send(&self, event: ScanEvent) {
        // A closed channel means that nobody keeps this scan any more; `Engine::run` sees that and ends it.
        let _ = self.events.send(event).await;
    }
}

/// A finding as the output lists it.
fn listed(finding: &NewFinding) -> Value {
    json!({
        "vuln_id": finding.vuln_id,
        "name": finding.name,
        "risk_level": finding.risk,
        "confirmed": finding.confirmed,
        "port": finding.port,
        "protocol": finding.protocol,
        "service": finding.service,
        "vuln_evidence": finding.evidence,
    })
}

/// Every address of a host, IPv4 first. `localhost` is loopback whatever a resolver says (RFC 6761 §6.3).
async fn lookup(host: &str) -> Result<Vec<IpAddr>, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![ip]);
    }
    if bare == "localhost" || bare.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let found = match timeout(RESOLVE_TIMEOUT, lookup_host((bare, 0))).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Err(format!("{host} does not resolve: {error}")),
        Err(_) => return Err(format!("{host} does not resolve: no answer within {} s", RESOLVE_TIMEOUT.as_secs())),
    };
    let mut all: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    all.sort_by_key(IpAddr::is_ipv6);
    all.dedup();
    match all.is_empty() {
        true => Err(format!("{host} does not resolve: it has no address")),
        false => Ok(all),
    }
}
