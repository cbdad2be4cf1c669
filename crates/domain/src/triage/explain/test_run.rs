//! The test of an explained finding: whether the compared scan ran it, and what was different.
//!
//! ```text
//!   scan did not finish ─► status, tests, time limit, message
//!   other parameters ────► each parameter then and now; is the port among the ports?
//!   incomplete test ─────► cause and requests, as the scan lists them
//! ```

use std::collections::BTreeSet;

use serde_json::Value;

use super::parts::ComparedValue;
use crate::finding::{Presence, PresenceReason, RetestGap};
use crate::triage::coverage::{IncompleteTests, PACE, is_default};
use crate::triage::issue::Issue;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, Shared};

/// The test of a finding in the scan that the reason is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedTest {
    /// The class of the finding, which begins with the name of the test.
    pub class: Shared,
    /// What was tested, in the words of the scanner.
    pub description: Shared,
    /// The scan that ran the test, or did not.
    pub scan: ScanId,
    pub has_run: bool,
    /// What was different from the scan that found it.
    pub details: Vec<ComparedValue>,
}

impl ExplainedTest {
    /// `found_by`, `with`: the scan that found it, and the scan that it is compared with.
    pub(super) fn of(
        issue: &Issue,
        reason: PresenceReason,
        (found_by, with): (&Scan, Option<&Scan>),
        tests: &IncompleteTests,
    ) -> Option<Self> {
        let presence = reason.presence();
        let about = match presence {
            Presence::Absent | Presence::NotRetested | Presence::Reappeared => {
                with.unwrap_or(found_by)
            }
            _ => found_by,
        };
        let details = match (reason.gap(), with) {
            (Some(gap), Some(later)) => details(issue, gap, (found_by, later), tests),
            _ if found_by.status_name != ScanStatus::Finished => ending(found_by, None),
            _ => Vec::new(),
        };
        Some(Self {
            class: issue.vuln_id.clone(),
            description: issue.test_description.clone(),
            scan: about.id,
            has_run: presence != Presence::NotRetested,
            details,
        })
    }
}

fn details(
    issue: &Issue,
    gap: RetestGap,
    (earlier, later): (&Scan, &Scan),
    tests: &IncompleteTests,
) -> Vec<ComparedValue> {
    match gap {
        RetestGap::Failed | RetestGap::Stopped | RetestGap::TimedOut | RetestGap::FewerTests => {
            ending(later, Some(earlier))
        }
        RetestGap::Blocked | RetestGap::Errors | RetestGap::LoginWall => {
            let row = tests.row_about(later.id, &issue.vuln_id);
            row.map(incomplete).unwrap_or_default()
        }
        RetestGap::Ambiguous => Vec::new(),
        _ => [port(issue, earlier, later), parameters(earlier, later)].concat(),
    }
}

/// How a scan ended, beside an earlier one.
fn ending(scan: &Scan, earlier: Option<&Scan>) -> Vec<ComparedValue> {
    let tests = |scan: &Scan| format!("{} of {}", scan.num_finished_tests, scan.num_tests);
    let mut all = vec![
        ComparedValue::of(
            "status",
            earlier.map(Scan::shown_status),
            scan.shown_status(),
        ),
        ComparedValue::of(
            "finished tests",
            earlier.map(tests).as_deref(),
            &tests(scan),
        ),
    ];
    if let Some(minutes) = scan.max_scan_time.filter(|minutes| *minutes > 0)
        && scan.status_name == ScanStatus::TimedOut
    {
        all.push(ComparedValue::of(
            "time limit",
            None,
            &format!("{minutes} min"),
        ));
    }
    if !scan.status_message.is_empty() {
        all.push(ComparedValue::of("cause", None, &scan.status_message));
    }
    all
}

/// A row of the finding that lists incomplete tests: cause, requests, tests.
fn incomplete(row: &[String]) -> Vec<ComparedValue> {
    let cells = ["cause", "requests"].into_iter().zip(row);
    cells
        .filter(|(_, cell)| !cell.is_empty())
        .map(|(name, cell)| ComparedValue::of(name, None, cell))
        .collect()
}

/// The parameters that differ, except those that change only the pace.
fn parameters(earlier: &Scan, later: &Scan) -> Vec<ComparedValue> {
    let mut all = Vec::new();
    if earlier.scan_original_url != later.scan_original_url {
        let values = [earlier, later].map(|scan| scan.scan_original_url.to_string());
        all.push(ComparedValue::changed("scan_original_url", &values));
    }
    let (Some(Value::Object(then)), Some(Value::Object(now))) =
        (&earlier.tool_params, &later.tool_params)
    else {
        return all;
    };
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    for name in names {
        let [was, is] = [then, now].map(|params| params.get(name).filter(|one| !is_default(one)));
        let values = [was, is].map(value);
        if was != is && values[0] != values[1] && !PACE.contains(&name.as_str()) {
            all.push(ComparedValue::changed(name, &values));
        }
    }
    all
}

/// A parameter as text; of an import, the name of the file.
fn value(parameter: Option<&Value>) -> String {
    let Some(known) = parameter else {
        return "not set".to_owned();
    };
    let text = known.as_str().or_else(|| known["file"].as_str());
    text.map_or_else(|| known.to_string(), str::to_owned)
}

/// Whether each of two scans tested the port of the finding, if one of them names its ports.
fn port(issue: &Issue, earlier: &Scan, later: &Scan) -> Vec<ComparedValue> {
    let port = issue.port();
    let is_tested = [earlier, later].map(|scan| covers(scan, port));
    if port <= 0 || is_tested.iter().all(Option::is_none) {
        return Vec::new();
    }
    let words = is_tested.map(|is_tested| match is_tested {
        Some(true) => "tested".to_owned(),
        Some(false) => "not tested".to_owned(),
        None => "not named".to_owned(),
    });
    vec![ComparedValue::changed(&format!("port {port}"), &words)]
}

/// Whether a list or range of ports has this port; `None` if the scan has neither.
fn covers(scan: &Scan, port: i64) -> Option<bool> {
    let params = scan.tool_params.as_ref()?;
    if let Some(list) = params.get("port_list").and_then(Value::as_array) {
        return Some(list.iter().any(|one| one.as_i64() == Some(port)));
    }
    let range = params.get("port_range")?;
    let [first, last] = ["start_port", "end_port"].map(|name| range.get(name)?.as_i64());
    Some((first?..=last?).contains(&port))
}
