//! A running scan: events, name resolution and settings for the tools.
//!
//! A tool is `async fn scan(&ScanRun) -> Result<String, ScanOutcome>`: the summary of a finished
//! scan, or another outcome. Tools do not handle stops: the engine drops the future, which closes
//! its connections, and sends the last results.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::guests::is_active;
use super::limits::{ScanCuts, ScanLimits, shorten_line};
use super::pace::Lanes;
use super::{
    EngineSettings, FINDING_LIST, LearnedSecret, NewFinding, ScanEvent, ScanJob, ScanOutcome,
    TestDone,
};
use crate::net::address::Address;
use crate::net::resolver::addresses;
use crate::scope_check::Refusal;
use scandeck_wire::contract::ScanOutput;

/// How often a running scan is checked against the scope. Two refusals in a row end the scan: an
/// editor may write the scope file in two steps.
const SCOPE_INTERVAL: Duration = Duration::from_millis(500);

pub struct ScanRun<'a> {
    pub job: &'a ScanJob,
    /// The address of the target.
    pub address: Address,
    pub settings: &'a EngineSettings,
    pub lanes: &'a Lanes,
    events: mpsc::Sender<ScanEvent>,
    results: Mutex<ScanResults>,
    /// The allowed addresses of each host that was resolved; connections of the scan go to these
    /// addresses only.
    hosts: tokio::sync::Mutex<HashMap<String, Vec<IpAddr>>>,
}

/// The results so far, as far as the limits count them.
#[derive(Default)]
struct ScanResults {
    /// Duplicate groups of the findings: kind, port, place.
    groups: HashSet<(String, u16, String)>,
    findings: usize,
    /// Size of the findings.
    bytes: usize,
    raw_lines: usize,
    /// The ports that the output of a running scan lists.
    ports: Option<ListedPorts>,
    /// The number of ports in the last output.
    sent: usize,
    /// The number of ports at which the next output is sent.
    next_output: usize,
    cuts: ScanCuts,
    /// The tests that are reported if the scan stops now.
    if_stopped: VecDeque<TestDone>,
}

/// Entries of open ports, with the other fields of the output.
struct ListedPorts {
    fields: Value,
    open: BTreeMap<u16, Value>,
}

impl ScanResults {
    /// The number of ports in the next output.
    fn open_ports(&self) -> usize {
        self.ports.as_ref().map_or(0, |ports| ports.open.len())
    }

    /// The output with all ports so far.
    fn output(&mut self) -> Option<ScanOutput> {
        let count = self.open_ports();
        (self.sent, self.next_output) = (count, next_output(count));
        let ports = self.ports.as_ref()?;
        let mut output_data = ports.fields.clone();
        output_data["ports"] = ports.open.values().cloned().collect();
        Some(ScanOutput {
            output_type: "port_scanner".into(),
            output_data,
        })
    }

    /// Adds a finding; false when it is a duplicate or beyond the limits.
    fn add(&mut self, limits: &ScanLimits, finding: &mut NewFinding) -> bool {
        if !self
            .groups
            .insert((finding.vuln_id.clone(), finding.port, finding.place.clone()))
        {
            return false;
        }
        if self.findings >= limits.findings || self.bytes > limits.bytes {
            self.cuts.findings += 1;
            return false;
        }
        self.cuts.evidence += usize::from(limits.shorten(finding));
        self.bytes +=
            finding.evidence.as_json().len() + finding.vuln_description.len() + finding.name.len();
        self.findings += 1;
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
        let (results, hosts) = (Mutex::default(), tokio::sync::Mutex::default());
        Self {
            job,
            address,
            settings,
            lanes,
            events,
            results,
            hosts,
        }
    }

    /// Reports the number of tests.
    pub async fn planned(&self, tests: u32) {
        self.send(ScanEvent::Planned(tests)).await;
    }

    /// Reports an ended test. Further findings of one duplicate group (kind, port, place), and
    /// those beyond the limits, are dropped.
    pub async fn tested(&self, test: TestDone) {
        // Reserve a slot in the channel first: if the scan is stopped here, its output lists only
        // findings that were sent.
        let Ok(place) = self.events.reserve().await else {
            return;
        };
        self.send_test(place, test).await;
    }

    /// Reports ended tests in their order; a stop does not lose the rest of them.
    pub async fn tested_all(&self, tests: Vec<TestDone>) {
        self.report_if_stopped(tests);
        self.report_tests().await;
    }

    /// Replaces the tests that the scan reports if it is stopped.
    pub fn report_if_stopped(&self, tests: Vec<TestDone>) {
        self.results().if_stopped = tests.into();
    }

    /// Adds a test to those that the scan reports if it is stopped.
    pub fn also_report_if_stopped(&self, test: TestDone) {
        self.results().if_stopped.push_back(test);
    }

    async fn report_tests(&self) {
        loop {
            // Reserve a slot in the channel first: a test that waits for a slot is still reported
            // after a stop.
            let Ok(place) = self.events.reserve().await else {
                return;
            };
            let next = self.results().if_stopped.pop_front();
            let Some(test) = next else { return };
            self.send_test(place, test).await;
        }
    }

    async fn send_test(&self, place: mpsc::Permit<'_, ScanEvent>, mut test: TestDone) {
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
        place.send(ScanEvent::Tested(test));
        if is_first_cut {
            self.info("The limit of findings is reached; further findings are dropped.")
                .await;
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
            1 => {
                self.info("The limit of raw lines is reached; further lines are dropped.")
                    .await
            }
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

    /// Reports credentials, which no later event shows.
    pub async fn learned(&self, secrets: Vec<LearnedSecret>) {
        if !secrets.is_empty() {
            self.send(ScanEvent::Learned(secrets)).await;
        }
    }

    /// Replaces the current step of the scan.
    pub async fn step(&self, step: impl Into<String>) {
        self.send(ScanEvent::Step(step.into())).await;
    }

    /// Replaces the output of a tool whose output is its findings; `fields` is an object with
    /// further fields. The service adds the findings, which have ids there.
    pub async fn output_findings(&self, fields: Value) {
        let output = ScanOutput {
            output_type: FINDING_LIST.into(),
            output_data: fields,
        };
        self.send(ScanEvent::Output(output)).await;
    }

    /// Replaces the output of a tool with another type of output.
    pub async fn output(&self, output_type: &str, output_data: Value) {
        self.send(ScanEvent::Output(ScanOutput {
            output_type: output_type.into(),
            output_data,
        }))
        .await;
    }

    /// Starts an output that lists open ports; `fields` is an object with its other fields.
    pub fn list_ports(&self, fields: Value) {
        self.results().ports = Some(ListedPorts {
            fields,
            open: BTreeMap::new(),
        });
    }

    /// Adds an open port to the output.
    pub async fn output_port(&self, port: u16, entry: Value) {
        let is_due = {
            let mut results = self.results();
            if let Some(ports) = &mut results.ports {
                ports.open.insert(port, entry);
            }
            // When the list has grown by half since the last time: the size of all outputs together
            // then grows linearly.
            results.open_ports() >= results.next_output
        };
        if is_due {
            self.output_all().await;
        }
    }

    /// Sends the output with all ports so far.
    pub async fn output_all(&self) {
        let output = self.results().output();
        if let Some(output) = output {
            self.send(ScanEvent::Output(output)).await;
        }
    }

    /// Reports the rest of a stopped scan: tests, and the output if it has ports that were not
    /// sent.
    pub async fn report_rest(&self) {
        self.report_tests().await;
        let has_rest = {
            let results = self.results();
            results.open_ports() > results.sent
        };
        if has_rest {
            self.output_all().await;
        }
    }

    /// Resolves `host` once; returns the addresses that the scope check allows, in the order to try
    /// them.
    ///
    /// # Errors
    /// `FailedToStart` when the name does not resolve or no address is allowed.
    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, ScanOutcome> {
        let mut hosts = self.hosts.lock().await;
        if let Some(known) = hosts.get(host) {
            return Ok(known.clone());
        }
        let all = addresses(self.settings.resolver.as_ref(), host)
            .await
            .map_err(ScanOutcome::FailedToStart)?;
        let mut refused = None;
        let mut allowed = Vec::new();
        for ip in all {
            match self.check_ip(host, ip) {
                Ok(()) => allowed.push(ip),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if allowed.is_empty() => {
                Err(ScanOutcome::FailedToStart(refusal.to_string()))
            }
            _ => {
                hosts.insert(host.to_owned(), allowed.clone());
                Ok(allowed)
            }
        }
    }

    /// Waits until the scope no longer allows the target, or a host that the scan connects to.
    pub async fn refused(&self) -> Refusal {
        let mut before = false;
        loop {
            sleep(SCOPE_INTERVAL).await;
            match self.refusal() {
                Some(refusal) if before => return refusal,
                refusal => before = refusal.is_some(),
            }
        }
    }

    /// Checks the name of the target against the scope.
    ///
    /// # Errors
    /// The refusal, as a message for the user.
    pub fn check_name(&self) -> Result<(), Refusal> {
        let check = &self.settings.scope_check;
        check.check_name(&self.address)?;
        match self.is_active() {
            true => check.check_active_name(&self.address),
            false => Ok(()),
        }
    }

    fn check_ip(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        let check = &self.settings.scope_check;
        check.check_ip(host, ip)?;
        check.check_service_denials(&self.job.denials, host, ip)?;
        match self.is_active() {
            true => check.check_active_ip(host, ip),
            false => Ok(()),
        }
    }

    fn is_active(&self) -> bool {
        is_active(self.job.tool, &self.job.params)
    }

    fn refusal(&self) -> Option<Refusal> {
        let of_name = self.check_name().err();
        // While a name is resolved, the known hosts are checked next time.
        let hosts = self.hosts.try_lock().ok();
        let mut all = hosts.iter().flat_map(|hosts| hosts.iter());
        of_name.or_else(|| {
            all.find_map(|(host, ips)| ips.iter().find_map(|ip| self.check_ip(host, *ip).err()))
        })
    }

    async fn send(&self, event: ScanEvent) {
        // `Engine::run` ends the scan when the channel is closed.
        let _ = self.events.send(event).await;
    }
}

/// The number of ports at which a growing output is sent again.
fn next_output(ports: usize) -> usize {
    ports + (ports / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_growing_list_grow_linearly_together() {
        let (mut sent, mut next) = (0, 0);
        for open in 1..=6000 {
            if open >= next {
                next = next_output(open);
                sent += open;
            }
        }
        assert!(sent < 3 * 6000, "{sent} ports in all outputs");
    }
}
