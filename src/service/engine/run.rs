//! A running scan: events, name resolution and settings for the tools.
//!
//! A tool is `async fn scan(&ScanRun) -> Result<String, ScanOutcome>`: the summary of a finished scan, or another outcome.
//! Tools do not handle stops: the engine drops the future, which closes its connections.

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

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

pub struct ScanRun<'a> {
    pub job: &'a ScanJob,
    /// The address of the target.
    pub address: Address,
    pub settings: &'a EngineSettings,
    pub lanes: &'a Lanes,
    events: mpsc::Sender<ScanEvent>,
    groups: Mutex<HashSet<(String, u16, String)>>,
    found: Mutex<Vec<Value>>,
}

impl<'a> ScanRun<'a> {
    pub fn new(
        job: &'a ScanJob,
        address: Address,
        settings: &'a EngineSettings,
        lanes: &'a Lanes,
        events: mpsc::Sender<ScanEvent>,
    ) -> Self {
        Self { job, address, settings, lanes, events, groups: Mutex::default(), found: Mutex::default() }
    }

    /// Reports the number of tests.
    pub async fn planned(&self, tests: u32) {
        self.send(ScanEvent::Planned(tests)).await;
    }

    /// Reports an ended test. Further findings of one duplicate group (kind, port, place) are dropped.
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

    /// Writes a line to the raw log.
    pub async fn raw(&self, line: impl Into<String>) {
        self.send(ScanEvent::Raw(line.into())).await;
    }

    /// Writes a line to `info_text_lines`.
    pub async fn info(&self, line: impl Into<String>) {
        self.send(ScanEvent::Info(line.into())).await;
    }

    /// Replaces the output.
    pub async fn output(&self, output_type: &str, output_data: Value) {
        self.send(ScanEvent::Output(ScanOutput { output_type: output_type.into(), output_data })).await;
    }

    /// Replaces the output of a tool whose output is its findings; `fields` is an object with further fields.
    pub async fn output_findings(&self, mut fields: Value) {
        fields["findings"] = Value::Array(self.found.lock().unwrap_or_else(PoisonError::into_inner).clone());
        self.output("finding_list", fields).await;
    }

    /// Resolves `host`; returns the addresses that the scope check allows, in the order to try them.
    ///
    /// # Errors
    /// `FailedToStart` when the name does not resolve or no address is allowed.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, ScanOutcome> {
        let all = lookup(host).await.map_err(ScanOutcome::FailedToStart)?;
        let mut refused = None;
        let mut allowed = Vec::new();
        for ip in all {
            match self.settings.scope_check.check_ip(host, ip) {
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
        // `Engine::run` ends the scan when the channel is closed.
        let _ = self.events.send(event).await;
    }
}

/// A finding in the output.
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

/// All addresses of a host, IPv4 first. `localhost` is always loopback (RFC 6761 §6.3).
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
        Err(_) => return Err(format!("{host} does not resolve: no response within {} s", RESOLVE_TIMEOUT.as_secs())),
    };
    let mut all: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    all.sort_by_key(IpAddr::is_ipv6);
    all.dedup();
    match all.is_empty() {
        true => Err(format!("{host} does not resolve: it has no address")),
        false => Ok(all),
    }
}
