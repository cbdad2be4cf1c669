//! Which tests of a website scan are complete, and why the others are not.
//!
//! ```text
//!   check ──► CheckedWeb ──► Web: answer or error ──► CheckCoverage: requests, obstacles
//!                                                          │ obstacles of a site that answers otherwise are its normal answers
//!                                                          ▼
//!   ScanCoverage: incomplete tests ──► findings `coverage.*`, status message
//! ```
//!
//! A 403 or a redirect to the log-in page is a normal answer for a path that is not public. It is
//! an obstacle only while the start page gets the same answer: then the site shows the scan
//! nothing, and blocks it. A path that must be public, such as a script of a page, makes its tests
//! incomplete, but does not show that the site blocks the scan.
//!
//! Whether a firewall blocks the scan is judged by a control: a path that does not exist, requested
//! at the beginning, during and after each check. Once its answer is a refusal or a page, the other
//! answers of the check say nothing either.

mod checked_web;
mod obstacle;
mod scan_coverage;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use super::http::{HttpPage, WebError};

pub use checked_web::{CheckedWeb, ControlPath};
pub use obstacle::{Obstacle, is_login};
pub use scan_coverage::{ReachedLimit, ScanCoverage};

/// The requests of one check, and how many of them said nothing.
#[derive(Debug, Default)]
pub struct CheckCoverage {
    counts: Mutex<CoverageCounts>,
    /// Whether a control showed during the check that the site blocks the scan.
    is_blocked: AtomicBool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CoverageCounts {
    requests: u32,
    missed: BTreeMap<Obstacle, u32>,
}

impl CoverageCounts {
    fn incomplete(self, rule: CoverageRule) -> Option<IncompleteTest> {
        let Self { requests, missed } = self;
        let count: u32 = missed.values().sum();
        let share = 100 * u64::from(count) / u64::from(requests.max(1));
        // Any path may be the one that the firewall hides.
        let is_incomplete =
            share > u64::from(rule.most_missed) || missed.contains_key(&Obstacle::Firewall);
        is_incomplete.then_some(IncompleteTest {
            requests,
            missed,
            is_blocked: false,
        })
    }
}

impl CheckCoverage {
    pub fn record(&self, answer: &Result<HttpPage, WebError>) {
        self.count(match answer {
            Ok(page) => {
                Obstacle::of_page(page).or_else(|| page.fault.as_ref().map(Obstacle::of_fault))
            }
            Err(error) => Obstacle::of_error(error),
        });
    }

    /// Counts a request, and the obstacle in its answer.
    pub fn count(&self, obstacle: Option<Obstacle>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests += 1;
        if let Some(obstacle) = obstacle {
            *counts.missed.entry(obstacle).or_default() += 1;
        }
    }

    /// Counts a page that only led to the log-in page.
    pub fn record_login_wall(&self) {
        self.count(Some(Obstacle::LoginWall));
    }

    pub fn requests(&self) -> u32 {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .requests
    }

    /// The incomplete part of a check without a web site.
    pub fn incomplete(&self, rule: CoverageRule) -> Option<IncompleteTest> {
        self.counts().incomplete(rule)
    }

    fn counts(&self) -> CoverageCounts {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// How a check uses its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageRule {
    /// Highest share of requests without a result, in percent; above it the check is incomplete.
    pub most_missed: u32,
    /// Error pages are what the check reads.
    pub reads_errors: bool,
    /// A site may refuse single paths that are not public.
    pub may_refuse: bool,
}

/// Requests for single paths: each may be the one that matters.
pub const PROBES: CoverageRule = CoverageRule {
    most_missed: 9,
    reads_errors: false,
    may_refuse: true,
};
/// Pages of the crawl: a site has some that are not public, or show an error, but no more than a
/// third.
pub const PAGES: CoverageRule = CoverageRule {
    most_missed: 33,
    reads_errors: false,
    may_refuse: true,
};
/// Scripts of public pages, which are public too.
pub const SCRIPTS: CoverageRule = CoverageRule {
    most_missed: 9,
    reads_errors: false,
    may_refuse: false,
};
pub const ERROR_PAGES: CoverageRule = CoverageRule {
    most_missed: 32,
    reads_errors: true,
    may_refuse: true,
};

/// A test with too many requests without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteTest {
    requests: u32,
    missed: BTreeMap<Obstacle, u32>,
    /// The site as a whole refuses the scan, not only single paths.
    is_blocked: bool,
}

impl IncompleteTest {
    /// The causes in words.
    pub fn cause(&self) -> String {
        let causes: Vec<&str> = self
            .missed
            .keys()
            .map(|obstacle| obstacle.cause())
            .collect();
        causes.join(", ")
    }

    /// The obstacles of all inputs of a test.
    pub fn merged(inputs: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        inputs.into_iter().flatten().reduce(|mut all, one| {
            all.requests += one.requests;
            all.is_blocked |= one.is_blocked;
            for (obstacle, count) in one.missed {
                *all.missed.entry(obstacle).or_default() += count;
            }
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    fn page(status: u16, location: &str) -> HttpPage {
        let mut headers = HeaderMap::new();
        if !location.is_empty() {
            headers.insert("location", location.parse().unwrap());
        }
        HttpPage {
            status,
            headers,
            ..HttpPage::for_tests("http://a.test/x", "")
        }
    }

    #[test]
    fn response_status_maps_to_obstacle() {
        for (status, location, expected) in [
            (200, "", None),
            (404, "", None),
            (501, "", None),
            (401, "", Some(Obstacle::Unauthorized)),
            (403, "", Some(Obstacle::Forbidden)),
            (429, "", Some(Obstacle::RateLimited)),
            (503, "", Some(Obstacle::ServerError)),
            (599, "", Some(Obstacle::ServerError)),
            (999, "", Some(Obstacle::UnknownStatus)),
            (302, "/user/sign-in?next=/x", Some(Obstacle::LoginWall)),
            (302, "https://sso.a.test/", Some(Obstacle::LoginWall)),
            (302, "/authors/ana", None),
            (302, "/y", None),
        ] {
            assert_eq!(
                Obstacle::of_page(&page(status, location)),
                expected,
                "{status} {location}"
            );
        }
    }

    #[test]
    fn findings_list_the_tests_by_cause() {
        let coverage = CheckCoverage::default();
        for answer in [Ok(page(500, "")), Ok(page(200, "")), Err(WebError::Timeout)] {
            coverage.record(&answer);
        }
        let CoverageCounts { requests, missed } = coverage.counts();
        let mut scan = ScanCoverage::new(15);
        let is_blocked = false;
        scan.add(
            "web.robots",
            "Sensitive paths in robots.txt",
            Some(IncompleteTest {
                requests,
                missed: missed.clone(),
                is_blocked,
            }),
        );
        scan.add(
            "web.cors",
            "CORS responses",
            Some(IncompleteTest {
                requests,
                missed,
                is_blocked,
            }),
        );
        scan.add("web.method", "Allowed HTTP methods", None);
        let findings = scan.findings(80, "http");
        assert_eq!(
            (findings.len(), findings[0].vuln_id.as_str()),
            (1, "coverage.errors")
        );
        let evidence = findings[0].evidence.as_json();
        assert!(
            evidence.contains(r#"["HTTP 5xx","2 of 6","web.cors, web.robots"]"#),
            "{evidence}"
        );
        let named = "2 of 15 tests are incomplete: CORS responses; Sensitive paths in robots.txt.";
        let description = &findings[0].vuln_description;
        assert!(description.ends_with(named), "{description}");
        let summary = scan.summary().unwrap();
        assert!(
            summary.starts_with("2 of 15 tests incomplete (HTTP 5xx, no complete"),
            "{summary}"
        );
        let note = scan.note().unwrap();
        assert!(
            note.starts_with("2 of 15 tests incomplete: HTTP 5xx (2 requests), no complete"),
            "{note}"
        );
        assert_eq!(
            (
                ScanCoverage::default().summary(),
                ScanCoverage::default().note()
            ),
            (None, None)
        );
    }

    #[test]
    fn description_names_the_first_tests_and_counts_the_others() {
        let mut scan = ScanCoverage::new(9);
        let all = [
            "a.1", "a.2", "a.3", "a.4", "a.5", "a.6", "a.7", "a.8", "a.9",
        ];
        for uid in all {
            let missed = BTreeMap::from([(Obstacle::Timeout, 1)]);
            scan.add(
                uid,
                "Name",
                Some(IncompleteTest {
                    requests: 1,
                    missed,
                    is_blocked: false,
                }),
            );
        }
        let description = scan.findings(80, "http").remove(0).vuln_description;
        let end = "9 of 9 tests are incomplete: Name; Name; Name; Name; Name; Name; and 3 more.";
        assert!(description.ends_with(end), "{description}");
    }

    #[test]
    fn each_cause_has_remedy() {
        let kinds = [(true, "coverage.blocked"), (false, "coverage.errors")];
        let causes = [
            (401, "credentials"),
            (403, "firewall"),
            (429, "requests_per_second"),
        ];
        for ((is_blocked, kind), (status, remedy)) in kinds
            .into_iter()
            .flat_map(|one| causes.map(|two| (one, two)))
        {
            let mut scan = ScanCoverage::new(1);
            let missed = BTreeMap::from([(Obstacle::of_page(&page(status, "")).unwrap(), 1)]);
            scan.add(
                "web.robots",
                "",
                Some(IncompleteTest {
                    requests: 1,
                    missed,
                    is_blocked,
                }),
            );
            let finding = scan.findings(80, "http").remove(0);
            assert_eq!(finding.vuln_id, kind, "{status}");
            assert!(
                finding.recommendation.contains(remedy),
                "{}",
                finding.recommendation
            );
            assert!(
                finding.vuln_description.contains(&format!("HTTP {status}")),
                "{}",
                finding.vuln_description
            );
        }
    }
}
