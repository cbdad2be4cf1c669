//! The tests that a retest asks for: those that found its findings. A scan repeats all of its tests
//! if the test of one of its findings is unknown.

use crate::base::{Call, Job};
use scandeck_domain::triage::coverage::is_about_scan;
use scandeck_domain::triage::{ListedFinding, RetestScan};
use scandeck_wire::contract::scan::ONLY_TESTS;
use scandeck_wire::contract::{Scan, ScanId, Tool};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

/// Most tests that the service accepts by name.
const MOST: usize = 200;

/// The tests by the scan that is repeated.
#[derive(Default)]
pub(super) struct RetestedTests(HashMap<ScanId, ScanTests>);

#[derive(Default)]
struct ScanTests {
    names: BTreeSet<String>,
    /// Whether the scan repeats all of its tests.
    is_whole: bool,
}

impl RetestedTests {
    pub(super) fn add(&mut self, scan: &Scan, finding: &ListedFinding) {
        let tests = self.0.entry(scan.id).or_default();
        match test_of(Tool(scan.tool_id), finding) {
            Some(name) => _ = tests.names.insert(name),
            None => tests.is_whole = true,
        }
        tests.is_whole |= tests.names.len() > MOST;
    }

    /// Selects the tests in the calls, which are in the order of the scans.
    pub(super) fn select(&self, jobs: &mut [Job], scans: &[RetestScan]) {
        for (job, again) in jobs.iter_mut().zip(scans) {
            let Call::StartScan(new) = &mut job.call else {
                continue;
            };
            let Some(params) = new.tool_params.as_mut().and_then(Value::as_object_mut) else {
                continue;
            };
            match self.0.get(&again.of).filter(|tests| !tests.is_whole) {
                Some(tests) => _ = params.insert(ONLY_TESTS.to_owned(), json!(tests.names)),
                // The repeated scan may have had a selection itself.
                None => _ = params.remove(ONLY_TESTS),
            }
        }
    }
}

/// Whether the call starts a scan of single tests.
pub(super) fn is_selected(job: &Job) -> bool {
    match &job.call {
        Call::StartScan(new) => {
            let params = new.tool_params.as_ref().and_then(Value::as_object);
            params.is_some_and(|fields| fields.contains_key(ONLY_TESTS))
        }
        _ => false,
    }
}

/// The name of the test that found a finding, as the local service knows it: the port, or the kind
/// of the finding.
fn test_of(tool: Tool, finding: &ListedFinding) -> Option<String> {
    let kind = finding.vuln_id.as_str();
    let is_known = !kind.is_empty() && !is_about_scan(kind);
    match tool {
        Tool::PORTS if finding.port() > 0 => Some(format!("port.{}", finding.port())),
        Tool::WEBSITE | Tool::TLS if is_known => Some(kind.to_owned()),
        _ => None,
    }
}
