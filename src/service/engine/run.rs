//! A running scan: events, name resolution and settings for the tools.
//!
//! A tool is `async fn scan(&ScanRun) -> Result<String, ScanOutcome>`: the summary of a finished scan, or another outcome.
//! Tools do not handle stops: the engine drops the future, which closes its connections.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::lookup_host;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::limits::{ScanCuts, ScanLimits, shorten_line};
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
    results: Mutex<ScanResults>,
}

/// The results so far, as far as the limits count them.
#[derive(Default)]
struct ScanResults {
    /// Duplicate groups of the findings: kind, port, place.
    groups: HashSet<(String, u16, String)>,
    /// The findings in the output.
    listed: Vec<Value>,
    /// Size of the findings.
    bytes: usize,
    raw_lines: usize,
    /// The number of findings at which the next output is sent.
    next_output: usize,
    cuts: ScanCuts,
}

impl ScanResults {
    /// Adds a finding; false when it is a duplicate or beyond the limits.
    fn add(&mut self, limits: &ScanLimits, finding: &mut NewFinding) -> bool {
        if !self.groups.insert((finding.vuln_id.clone(), finding.port, finding.place.clone())) {
            return false;
        }
        if self.listed.len() >= limits.findings || self.bytes > limits.bytes {
            self.cuts.findings += 1;
            return false;
        }
        self.cuts.evidence += usize::from(limits.shorten(finding));
        self.bytes += finding.evidence.as_json().len() + finding.vuln_description.len() + finding.name.len();
        self.listed.push(listed(finding));
        true
    }
}

impl<'a> ScanRun<'a> {
    pub fn new(
        job: &'a ScanJob,
        address: Address,
        settings: &'a EngineSettings,
        lanes: &'a Lanes,
        events: mpsc::Sender<ScanEvent>,
    ) -> Self {
        Self { job, address, settings, lanes, events, results: Mutex::default() }
    }

    /// Reports the number of tests.
    pub async fn planned(&self, tests: u32) {
        self.send(ScanEvent::Planned(tests)).await;
    }

    /// Reports an ended test. Further findings of one duplicate group (kind, port, place), and those beyond the limits,
    /// are dropped.
    pub async fn tested(&self, mut test: TestDone) {
        let limits = &self.settings.limits;
        let is_first_cut = {
            let mut results = self.results();
            let before = results.cuts.findings;
            test.findings.retain_mut(|finding| {
                if finding.test_description.is_empty() {
                    finding.test_description.clone_from(&test.description);
                }
                results.add(limits, finding)
            });
            before == 0 && results.cuts.findings > 0
        };
        self.send(ScanEvent::Tested(test)).await;
        if is_first_cut {
            self.info("The limit of findings is reached; further findings are dropped.").await;
        }
    }

    /// Writes a line to the raw log.
    pub async fn raw(&self, line: impl Into<String>) {
        let cut = {
            let mut results = self.results();
            results.raw_lines += 1;
            if results.raw_lines > self.settings.limits.raw_lines {
                results.cuts.raw_lines += 1;
            }
            results.cuts.raw_lines
        };
        match cut {
            0 => self.send(ScanEvent::Raw(shorten_line(line.into()))).await,
            1 => self.info("The limit of raw lines is reached; further lines are dropped.").await,
            _ => {}
        }
    }

    /// Counts results that a limit of a tool cut.
    pub fn cut(&self, count: impl FnOnce(&mut ScanCuts)) {
        count(&mut self.results().cuts);
    }

    /// The status message with the totals of what was cut.
    pub fn with_cuts(&self, summary: String) -> String {
        match self.results().cuts.summary() {
            Some(cuts) => format!("{summary}; {cuts}"),
            None => summary,
        }
    }

    fn results(&self) -> MutexGuard<'_, ScanResults> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line to `info_text_lines`.
    pub async fn info(&self, line: impl Into<String>) {
        self.send(ScanEvent::Info(shorten_line(line.into()))).await;
    }

    /// Replaces the output.
    pub async fn output(&self, output_type: &str, output_data: Value) {
        self.send(ScanEvent::Output(ScanOutput { output_type: output_type.into(), output_data })).await;
    }

    /// Replaces the output of a tool whose output is its findings; `fields` is an object with further fields.
    pub async fn output_findings(&self, mut fields: Value) {
        fields["findings"] = Value::Array(self.results().listed.clone());
        self.output("finding_list", fields).await;
    }

    /// Replaces the output while a scan runs. It is sent when the findings have grown by half since the last time: the
    /// size of all outputs together then grows linearly.
    pub async fn output_findings_so_far(&self) {
        let is_due = {
            let mut results = self.results();
            let found = results.listed.len();
            let is_due = found >= results.next_output;
            if is_due {
                results.next_output = next_output(found);
            }
            is_due
        };
        if is_due {
            self.output_findings(json!({})).await;
        }
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

/// The number of items at which a growing output is sent again.
pub fn next_output(items: usize) -> usize {
    items + (items / 2).max(1)
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
