//! Why a later scan would not have found a finding again.
//!
//! ```text
//!   the later scan did not finish, had other parameters, fewer tests ──┐
//!   its findings `coverage.*` list the test of the finding ────────────┼─► RetestGap ─► not retested
//!   its file states nothing about the test ([`super::imported`]) ──────┘
//!   it was asked for single tests, and not for that of the finding ──────► left out: it says nothing
//! ```

use std::collections::HashMap;

use serde_json::Value;

use super::imported::{self, is_imported, is_same_tool};
use super::listed::ListedFinding;
use crate::finding::RetestGap;
use scandeck_wire::contract::scan::ONLY_TESTS;
use scandeck_wire::contract::{EvidenceView, Scan, ScanId, ScanStatus};

/// Beginning of the `vuln_id`s of findings about the scan itself.
const COVERAGE: &str = "coverage.";

/// Parameters that change the pace of a scan, or nothing on the wire.
#[rustfmt::skip]
pub(super) const PACE: &[&str] = &[
    "requests_per_second", "rate", "pace", "delay", "threads", "concurrency", "timeout", "max_scan_time",
    "report_callback", "callback", "name", "label", "description", "notifications",
];

/// Parameters, and the reason when they differ.
const PARAMETERS: &[(&str, RetestGap)] = &[
    ("scan_type", RetestGap::ScanType),
    ("preset", RetestGap::ScanType),
    ("port_range", RetestGap::Ports),
    ("port_top", RetestGap::Ports),
    ("port_list", RetestGap::Ports),
    ("protocol_type", RetestGap::Ports),
    ("attack_active", RetestGap::Tests),
    ("attack_passive", RetestGap::Tests),
    ("discovery", RetestGap::Tests),
    ("tags", RetestGap::Tests),
    ("scanning_engines", RetestGap::Tests),
    ("spider", RetestGap::Pages),
    ("wordlist_id", RetestGap::Words),
    ("wordlists", RetestGap::Words),
    ("extensions", RetestGap::Words),
    ("authentication", RetestGap::Authentication),
];

/// The incomplete tests of scans, as their findings `coverage.*` list them.
#[derive(Debug, Default)]
pub struct IncompleteTests {
    scans: HashMap<ScanId, Vec<(RetestGap, EvidenceView)>>,
}

/// Whether findings of this class are about the scan itself: about tests that it could not finish.
pub fn is_about_scan(vuln_id: &str) -> bool {
    vuln_id.starts_with(COVERAGE)
}

impl IncompleteTests {
    /// Reads the findings of all scans.
    pub fn new<'a>(findings: impl Iterator<Item = &'a ListedFinding>) -> Self {
        let mut scans: HashMap<ScanId, Vec<(RetestGap, EvidenceView)>> = HashMap::new();
        for finding in findings.filter(|finding| is_about_scan(&finding.vuln_id)) {
            let gap = match finding.vuln_id.trim_start_matches(COVERAGE) {
                "blocked" => RetestGap::Blocked,
                "login_wall" => RetestGap::LoginWall,
                _ => RetestGap::Errors,
            };
            scans
                .entry(finding.task_id().unwrap_or_default())
                .or_default()
                .push((gap, tests_of(finding)));
        }
        Self { scans }
    }

    /// Why the test of this kind of finding is incomplete. The `vuln_id`s of a test begin with its
    /// name.
    fn gap(&self, scan: ScanId, vuln_id: &str) -> Option<RetestGap> {
        let listed = self.scans.get(&scan)?;
        listed
            .iter()
            .find(|(_, tests)| lists(tests, vuln_id))
            .map(|(gap, _)| *gap)
    }

    /// The row that lists the test of this kind of finding as incomplete: cause, requests, tests.
    pub(super) fn row_about(&self, scan: ScanId, vuln_id: &str) -> Option<&[String]> {
        let listed = self.scans.get(&scan)?.iter();
        let rows = listed.filter_map(|(_, tests)| match tests {
            EvidenceView::Table { rows, .. } => Some(rows),
            _ => None,
        });
        let mut rows = rows.flatten();
        rows.find(|row| names(row, vuln_id)).map(Vec::as_slice)
    }
}

/// The evidence; evidence that cannot be read names an unknown test.
fn tests_of(coverage: &ListedFinding) -> EvidenceView {
    match coverage.texts() {
        Ok(texts) => texts.vuln_evidence.view(),
        Err(_) => EvidenceView::Table {
            headers: Vec::new(),
            rows: vec![Vec::new()],
        },
    }
}

fn lists(tests: &EvidenceView, vuln_id: &str) -> bool {
    let EvidenceView::Table { rows, .. } = tests else {
        return false;
    };
    rows.iter().any(|row| names(row, vuln_id))
}

/// A last row "and N more" has one cell: what it names is unknown.
fn names(row: &[String], vuln_id: &str) -> bool {
    row.get(2).is_none_or(|tests| {
        tests
            .split(',')
            .map(str::trim)
            .any(|test| !test.is_empty() && vuln_id.starts_with(test))
    })
}

/// The kind of a finding, and its port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetestedClass<'a> {
    pub vuln_id: &'a str,
    pub protocol: &'a str,
    /// 0 if there is none.
    pub port: i64,
}

impl<'a> RetestedClass<'a> {
    /// Whether a test finds it: `port.443` on this port, else by the beginning of its name. The
    /// `vuln_id` of a finding is a name of its test, too.
    fn is_found_by(&self, test: &str) -> bool {
        let port = test
            .strip_prefix("port.")
            .and_then(|port| port.parse::<i64>().ok());
        port == Some(self.port) || (!test.is_empty() && self.vuln_id.starts_with(test))
    }

    pub fn of(finding: &'a ListedFinding) -> Self {
        Self {
            vuln_id: &finding.vuln_id,
            protocol: &finding.protocol,
            port: finding.port(),
        }
    }
}

/// The tests that a scan was asked for, if it ran some tests alone.
fn only_tests(scan: &Scan) -> Option<&Vec<Value>> {
    scan.tool_params.as_ref()?.get(ONLY_TESTS)?.as_array()
}

/// Whether the scan was asked for single tests, and not for one that finds this class. Findings of
/// the class remain as they were before it.
pub fn leaves_out(scan: &Scan, class: RetestedClass<'_>) -> bool {
    only_tests(scan).is_some_and(|tests| {
        let mut named = tests.iter().filter_map(Value::as_str);
        !named.any(|test| class.is_found_by(test))
    })
}

/// Why `later` would not have found this kind of finding of `earlier` again; `None` if it would.
pub fn gap(
    later: &Scan,
    earlier: &Scan,
    class: RetestedClass<'_>,
    tests: &IncompleteTests,
) -> Option<RetestGap> {
    if is_imported(later) || is_imported(earlier) {
        return imported::gap(later, earlier, class);
    }
    scan_gap(later, earlier, tests)
        .or_else(|| leaves_out(later, class).then_some(RetestGap::Tests))
        .or_else(|| tests.gap(later.id, class.vuln_id))
}

fn scan_gap(later: &Scan, earlier: &Scan, tests: &IncompleteTests) -> Option<RetestGap> {
    match later.status_name {
        ScanStatus::Finished => {}
        ScanStatus::Stopped => return Some(RetestGap::Stopped),
        ScanStatus::TimedOut => return Some(RetestGap::TimedOut),
        _ => return Some(RetestGap::Failed),
    }
    // A scan that lists its incomplete tests has finished all others.
    let tried = if tests.scans.contains_key(&later.id) {
        later.num_tests
    } else {
        later.num_finished_tests
    };
    // The few tests of a scan of single tests are no measure for a whole scan.
    let needed = match only_tests(earlier) {
        Some(_) => later.num_tests,
        None => earlier.num_finished_tests,
    };
    let has_fewer = only_tests(later).is_none() && tried < needed;
    params_gap(later, earlier).or_else(|| has_fewer.then_some(RetestGap::FewerTests))
}

/// How the parameters of two scans differ, as far as they change what is covered. A scan of single
/// tests covers these as a whole scan does.
pub fn params_gap(a: &Scan, b: &Scan) -> Option<RetestGap> {
    if is_imported(a) || is_imported(b) {
        return (!is_same_tool(a, b)).then_some(RetestGap::Tests);
    }
    if a.scan_original_url != b.scan_original_url {
        return Some(RetestGap::Redirects);
    }
    let (Some(a), Some(b)) = (&a.tool_params, &b.tool_params) else {
        return None;
    };
    let (Value::Object(one), Value::Object(other)) = (a, b) else {
        return (a != b).then_some(RetestGap::Parameters);
    };
    let present = |value: Option<&Value>| value.filter(|value| !is_default(value)).cloned();
    let differs = |name: &str| present(one.get(name)) != present(other.get(name));
    let named = PARAMETERS
        .iter()
        .filter(|(name, _)| differs(name))
        .map(|(_, gap)| *gap);
    // A selection explains more than the scan type that it implies.
    let first = named.min_by_key(|gap| *gap == RetestGap::ScanType);
    let is_other =
        |name: &&String| *name != ONLY_TESTS && !PACE.contains(&name.as_str()) && differs(name);
    first.or_else(|| {
        one.keys()
            .chain(other.keys())
            .find(is_other)
            .map(|_| RetestGap::Parameters)
    })
}

/// Whether the value selects nothing: null, or an object like the `spider` that a service records
/// for custom scans.
pub(super) fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(|field| match field {
            Value::Array(all) => all.is_empty(),
            field => field.is_null() || field == "auto",
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use scandeck_wire::contract::{Evidence, Finding, ScanId};

    fn scan(params: Value) -> Scan {
        Scan {
            id: ScanId(2),
            status_name: ScanStatus::Finished,
            tool_params: Some(params),
            ..Scan::default()
        }
    }

    #[test]
    fn pace_and_names_do_not_change_coverage() {
        let plain = scan(json!({"scan_type": "light"}));
        for params in [
            json!({"scan_type": "light", "requests_per_second": 5}),
            json!({"scan_type": "light", "name": "weekly", "timeout": 3, "spider": null}),
        ] {
            assert_eq!(params_gap(&scan(params.clone()), &plain), None, "{params}");
        }
    }

    #[test]
    fn different_parameters_name_their_reason() {
        let plain = scan(json!({"scan_type": "light"}));
        for (params, gap) in [
            (json!({"scan_type": "deep"}), RetestGap::ScanType),
            (
                json!({"scan_type": "custom", "port_top": "10"}),
                RetestGap::Ports,
            ),
            (
                json!({"scan_type": "light", "discovery": []}),
                RetestGap::Tests,
            ),
            (
                json!({"scan_type": "light", "spider": {"depth": 1}}),
                RetestGap::Pages,
            ),
            (
                json!({"scan_type": "custom", "attack_active": ["web.cors"], "discovery": [],
                    "spider": {"approach": "auto", "depth": null, "include_urls": []}}),
                RetestGap::Tests,
            ),
            (
                json!({"scan_type": "light", "authentication": "•••"}),
                RetestGap::Authentication,
            ),
            (
                json!({"scan_type": "light", "wordlist_id": 3}),
                RetestGap::Words,
            ),
            (
                json!({"scan_type": "light", "check_alive": true}),
                RetestGap::Parameters,
            ),
        ] {
            assert_eq!(
                params_gap(&scan(params.clone()), &plain),
                Some(gap),
                "{params}"
            );
        }
    }

    #[test]
    fn scan_of_single_tests_retests_their_findings_and_leaves_out_the_others() {
        let whole = Scan {
            num_tests: 64,
            num_finished_tests: 64,
            ..scan(json!({"scan_type": "light"}))
        };
        let later = |tests: Value, scan_type: &str| Scan {
            num_tests: 3,
            num_finished_tests: 3,
            ..scan(json!({"scan_type": scan_type, "only_tests": tests}))
        };
        let class = |vuln_id, port| RetestedClass {
            vuln_id,
            port,
            ..RetestedClass::default()
        };
        let none = IncompleteTests::default();
        for (tests, of, expected) in [
            (json!(["web.cors"]), class("web.cors.null", 80), None),
            (json!(["web.cors.null"]), class("web.cors.null", 80), None),
            (
                json!(["web.cors.null"]),
                class("web.cors.suffix", 80),
                Some(RetestGap::Tests),
            ),
            (json!(["port.80"]), class("port.open", 80), None),
            (
                json!(["port.80"]),
                class("port.open", 8080),
                Some(RetestGap::Tests),
            ),
            (
                json!([""]),
                class("web.cors.null", 80),
                Some(RetestGap::Tests),
            ),
        ] {
            let light = later(tests.clone(), "light");
            assert_eq!(gap(&light, &whole, of, &none), expected, "{tests}");
            assert_eq!(leaves_out(&light, of), expected.is_some(), "{tests}");
            assert!(!leaves_out(&whole, of));
            assert_eq!(params_gap(&light, &whole), None);
        }
        let retest = later(json!(["web.cors"]), "light");
        let null = class("web.cors.null", 80);
        assert_eq!(gap(&whole, &retest, null, &none), None);
        let incomplete = Scan {
            num_finished_tests: 5,
            ..whole.clone()
        };
        let fewer = gap(&incomplete, &retest, null, &none);
        assert_eq!(fewer, Some(RetestGap::FewerTests));
        let deep = later(json!(["web.cors"]), "deep");
        let other = gap(&deep, &whole, class("web.cors.null", 80), &none);
        assert_eq!(other, Some(RetestGap::ScanType));
    }

    #[test]
    fn incomplete_tests_mark_only_their_findings_as_not_retested() {
        let rows = vec![vec![
            "HTTP 403".to_owned(),
            "9 of 9".to_owned(),
            "web.header.csp, web.exposed.git".to_owned(),
        ]];
        let blocked = Finding {
            vuln_id: "coverage.blocked".into(),
            task_id: Some(ScanId(2)),
            vuln_evidence: Evidence::table(&["Cause", "Requests", "Incomplete tests"], rows),
            ..Finding::default()
        };
        let blocked = ListedFinding::from(blocked);
        let tests = IncompleteTests::new([&blocked].into_iter());
        let whole = Scan {
            num_tests: 9,
            num_finished_tests: 9,
            ..scan(json!({}))
        };
        let scan = Scan {
            num_finished_tests: 7,
            ..whole.clone()
        };
        let class = |vuln_id| RetestedClass {
            vuln_id,
            ..RetestedClass::default()
        };
        for (kind, expected) in [
            ("web.header.csp_missing", Some(RetestGap::Blocked)),
            ("web.exposed.git", Some(RetestGap::Blocked)),
            ("web.exposed.env", None),
        ] {
            assert_eq!(gap(&scan, &whole, class(kind), &tests), expected, "{kind}");
        }
        let none = IncompleteTests::default();
        assert_eq!(
            gap(&scan, &whole, class("web.exposed.env"), &none),
            Some(RetestGap::FewerTests)
        );
    }
}
