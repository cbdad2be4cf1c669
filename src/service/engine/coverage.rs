//! What the HTTP checks of a scan could judge, and what they could not.
//!
//! ```text
//!   check ──► CheckedWeb ──► Web: answer or error ──► CheckCoverage: requests, obstacles
//!                                                          │ obstacles of a site that answers otherwise are its normal answers
//!                                                          ▼
//!   ScanCoverage: tests that were not judged ──► findings `coverage.*`, status message
//! ```
//!
//! A 403 or a redirect to the log-in page is a normal answer for a path that is not public. It is an obstacle only while
//! the start page gets the same answer: then the site shows the scan nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::NewFinding;
use super::http::{HttpPage, Web, WebError};
use super::kinds::{self, FindingKind, coverage};
use super::limits::ScanLimits;

/// Why an answer says nothing about the requested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    Unauthorized,
    Forbidden,
    RateLimited,
    LoginWall,
    ServerError,
    Timeout,
    Connection,
    Undecodable,
    Budget,
}

impl Obstacle {
    /// The obstacle in an answer, if any.
    pub fn of_page(page: &HttpPage) -> Option<Self> {
        match page.status {
            401 => Some(Self::Unauthorized),
            403 => Some(Self::Forbidden),
            429 => Some(Self::RateLimited),
            // 501 and 505 are complete answers to an unusual request.
            501 | 505 => None,
            500.. => Some(Self::ServerError),
            _ => page.redirect().filter(|to| is_login(to) && !is_login(&page.url)).map(|_| Self::LoginWall),
        }
    }

    fn of_error(error: &WebError) -> Option<Self> {
        match error {
            // The scope excludes the address, so nothing is missing.
            WebError::Refused(_) => None,
            WebError::Connect(_) | WebError::Broken(_) | WebError::Unresponsive => Some(Self::Connection),
            WebError::Timeout => Some(Self::Timeout),
            WebError::Undecodable(_) => Some(Self::Undecodable),
            WebError::RateLimited => Some(Self::RateLimited),
            WebError::Budget => Some(Self::Budget),
        }
    }

    /// Whether a site may answer so for a single path that is not public.
    fn may_be_normal(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden | Self::LoginWall)
    }

    fn cause(self) -> &'static str {
        match self {
            Self::Unauthorized => "HTTP 401",
            Self::Forbidden => "HTTP 403",
            Self::RateLimited => "HTTP 429",
            Self::LoginWall => "redirected to the log-in page",
            Self::ServerError => "HTTP 5xx",
            Self::Timeout => "no complete response before the timeout",
            Self::Connection => "connection failed or cut",
            Self::Undecodable => "body not decodable",
            Self::Budget => "budget of requests or bytes exhausted",
        }
    }

    fn kind(self) -> FindingKind {
        match self {
            Self::Unauthorized | Self::Forbidden | Self::RateLimited => coverage::BLOCKED,
            Self::LoginWall => coverage::LOGIN_WALL,
            Self::ServerError | Self::Timeout | Self::Connection | Self::Undecodable | Self::Budget => coverage::ERRORS,
        }
    }
}

/// Whether a URL is that of a log-in page, by the words of its host and path.
pub fn is_login(url: &Url) -> bool {
    const WORDS: &[&str] =
        &["login", "logon", "signin", "sso", "saml", "oauth", "oauth2", "openid", "authorize", "auth"];
    let host = url.host_str().unwrap_or_default();
    let in_host = host.split('.').next().is_some_and(|label| WORDS.contains(&label));
    let is_word = |segment: &str| {
        let name = segment.split('.').next().unwrap_or_default().to_ascii_lowercase();
        WORDS.contains(&name.replace(['-', '_'], "").as_str())
    };
    in_host || url.path_segments().is_some_and(|mut segments| segments.any(is_word))
}

/// The requests of one check, and how many of them said nothing.
#[derive(Debug, Default)]
pub struct CheckCoverage {
    counts: Mutex<CoverageCounts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CoverageCounts {
    requests: u32,
    missed: BTreeMap<Obstacle, u32>,
}

impl CheckCoverage {
    pub fn record(&self, answer: &Result<HttpPage, WebError>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests += 1;
        let obstacle = answer.as_ref().map_or_else(Obstacle::of_error, Obstacle::of_page);
        if let Some(obstacle) = obstacle {
            *counts.missed.entry(obstacle).or_default() += 1;
        }
    }

    /// Counts a page that only led to the log-in page.
    pub fn record_login_wall(&self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests += 1;
        *counts.missed.entry(Obstacle::LoginWall).or_default() += 1;
    }

    fn counts(&self) -> CoverageCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a check uses its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageRule {
    /// Judged while less than one request of this number said nothing.
    pub one_of: u32,
    /// Error pages are what the check reads.
    pub reads_errors: bool,
}

/// Requests for single paths: each may be the one that matters.
pub const PROBES: CoverageRule = CoverageRule { one_of: 10, reads_errors: false };
/// Pages of the crawl: a site has some that are not public.
pub const PAGES: CoverageRule = CoverageRule { one_of: 3, reads_errors: false };
/// Error pages.
pub const ERROR_PAGES: CoverageRule = CoverageRule { one_of: 3, reads_errors: true };

/// What a check could not judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotJudged {
    requests: u32,
    missed: BTreeMap<Obstacle, u32>,
}

impl NotJudged {
    /// The causes in words.
    pub fn cause(&self) -> String {
        let causes: Vec<&str> = self.missed.keys().map(|obstacle| obstacle.cause()).collect();
        causes.join(", ")
    }
}

/// The client of one check: it counts what the check could not judge.
#[derive(Clone, Copy)]
pub struct CheckedWeb<'a> {
    web: &'a Web<'a>,
    coverage: &'a CheckCoverage,
}

impl<'a> CheckedWeb<'a> {
    pub fn new(web: &'a Web<'a>, coverage: &'a CheckCoverage) -> Self {
        Self { web, coverage }
    }

    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Sends one request; callers use GET, HEAD and OPTIONS only.
    pub async fn send(&self, method: Method, url: &Url, headers: HeaderMap) -> Result<HttpPage, WebError> {
        let answer = self.web.send(method, url, headers).await;
        self.coverage.record(&answer);
        answer
    }

    /// Requests a path that may exist, and reads only the beginning of its body.
    pub async fn probe(&self, url: &Url) -> Result<HttpPage, WebError> {
        let answer = self.web.probe(url).await;
        self.coverage.record(&answer);
        answer
    }

    pub fn limits(&self) -> &ScanLimits {
        self.web.limits()
    }

    /// What the check could not judge. `start` is the start page as the scan first saw it.
    ///
    /// A check that was refused on single paths requests the start page again: a site that still shows it refuses these
    /// paths only.
    pub async fn not_judged(&self, start: &HttpPage, rule: CoverageRule) -> Option<NotJudged> {
        let CoverageCounts { requests, mut missed } = self.coverage.counts();
        if rule.reads_errors {
            missed.remove(&Obstacle::ServerError);
        }
        if missed.keys().any(|obstacle| obstacle.may_be_normal()) && self.shows(start).await {
            missed.retain(|obstacle, _| !obstacle.may_be_normal());
        }
        let count: u32 = missed.values().sum();
        (count > 0 && count.saturating_mul(rule.one_of) >= requests).then_some(NotJudged { requests, missed })
    }

    async fn shows(&self, start: &HttpPage) -> bool {
        if Obstacle::of_page(start).is_some() || self.web.is_walled() {
            return false;
        }
        let again = self.web.get(&start.url).await;
        again.is_ok_and(|page| page.status == start.status && Obstacle::of_page(&page).is_none())
    }
}

/// The tests with one cause, and their requests.
#[derive(Debug, Default)]
struct CoverageCause<'a> {
    missed: u32,
    requests: u32,
    tests: Vec<&'a str>,
}

type CoverageCauses<'a> = BTreeMap<Obstacle, CoverageCause<'a>>;

/// The tests of a scan that were not judged.
#[derive(Debug, Default)]
pub struct ScanCoverage {
    tests: u32,
    not_judged: Vec<(&'static str, NotJudged)>,
}

impl ScanCoverage {
    /// Adds a test.
    pub fn add(&mut self, uid: &'static str, not_judged: Option<NotJudged>) {
        self.tests += 1;
        self.not_judged.extend(not_judged.map(|not_judged| (uid, not_judged)));
        self.not_judged.sort_by_key(|(uid, _)| *uid);
    }

    /// One finding for each kind of cause. Its evidence lists the tests, which the dashboard reads
    /// (`src/triage/coverage.rs`): their earlier findings are not retested.
    pub fn findings(&self, port: u16, service: &str) -> Vec<NewFinding> {
        let mut rows: BTreeMap<&str, (FindingKind, CoverageCauses)> = BTreeMap::new();
        for (uid, not_judged) in &self.not_judged {
            for (obstacle, count) in &not_judged.missed {
                let kind = obstacle.kind();
                let (_, causes) = rows.entry(kind.id()).or_insert_with(|| (kind, CoverageCauses::new()));
                let cause = causes.entry(*obstacle).or_default();
                cause.missed += count;
                cause.requests += not_judged.requests;
                cause.tests.push(uid);
            }
        }
        let finding = |(kind, causes): (FindingKind, CoverageCauses)| {
            let row = |(obstacle, cause): (Obstacle, CoverageCause)| {
                let share = format!("{} of {}", cause.missed, cause.requests);
                vec![obstacle.cause().to_owned(), share, cause.tests.join(", ")]
            };
            NewFinding {
                port,
                service: service.to_owned(),
                evidence: kinds::table(kinds::COVERAGE_HEADERS, causes.into_iter().map(row).collect()),
                confirmed: true,
                ..kind.finding()
            }
        };
        rows.into_values().map(finding).collect()
    }

    /// The tests that were not judged, for the status message.
    pub fn summary(&self) -> Option<String> {
        let mut causes: BTreeMap<Obstacle, u32> = BTreeMap::new();
        for (obstacle, count) in self.not_judged.iter().flat_map(|(_, not_judged)| &not_judged.missed) {
            *causes.entry(*obstacle).or_default() += count;
        }
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let causes: Vec<String> =
            causes.iter().map(|(one, count)| format!("{} ({count} request{})", one.cause(), plural(*count))).collect();
        let count = self.not_judged.len();
        (count > 0).then(|| format!("{count} of {} tests not judged: {}", self.tests, causes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(status: u16, location: &str) -> HttpPage {
        let mut headers = HeaderMap::new();
        if !location.is_empty() {
            headers.insert("location", location.parse().unwrap());
        }
        HttpPage { url: Url::parse("http://a.test/x").unwrap(), status, headers, body: Vec::new() }
    }

    #[test]
    fn obstacles_are_answers_that_say_nothing_about_the_path() {
        for (status, location, expected) in [
            (200, "", None),
            (404, "", None),
            (501, "", None),
            (401, "", Some(Obstacle::Unauthorized)),
            (403, "", Some(Obstacle::Forbidden)),
            (429, "", Some(Obstacle::RateLimited)),
            (503, "", Some(Obstacle::ServerError)),
            (302, "/user/sign-in?next=/x", Some(Obstacle::LoginWall)),
            (302, "https://sso.a.test/", Some(Obstacle::LoginWall)),
            (302, "/authors/ana", None),
            (302, "/y", None),
        ] {
            assert_eq!(Obstacle::of_page(&page(status, location)), expected, "{status} {location}");
        }
    }

    #[test]
    fn findings_list_the_tests_by_cause() {
        let coverage = CheckCoverage::default();
        for answer in [Ok(page(500, "")), Ok(page(200, "")), Err(WebError::Timeout)] {
            coverage.record(&answer);
        }
        let CoverageCounts { requests, missed } = coverage.counts();
        let mut scan = ScanCoverage::default();
        scan.add("web.robots", Some(NotJudged { requests, missed: missed.clone() }));
        scan.add("web.cors", Some(NotJudged { requests, missed }));
        scan.add("web.method", None);
        let findings = scan.findings(80, "http");
        assert_eq!((findings.len(), findings[0].vuln_id.as_str()), (1, "coverage.errors"));
        let evidence = findings[0].evidence.as_json();
        assert!(evidence.contains(r#"["HTTP 5xx","2 of 6","web.cors, web.robots"]"#), "{evidence}");
        let summary = scan.summary().unwrap();
        assert!(summary.starts_with("2 of 3 tests not judged: HTTP 5xx (2 requests), no complete"), "{summary}");
        assert_eq!(ScanCoverage::default().summary(), None);
    }
}
