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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::NewFinding;
use super::body::BodyFault;
use super::firewall_page;
use super::http::{HttpPage, Web, WebError};
use super::kinds::{self, FindingKind, coverage};
use super::limits::ScanLimits;
use scandeck_wire::text::{plural, thousands};

/// Why a test is incomplete: an answer that says nothing about the requested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    Unauthorized,
    Forbidden,
    RateLimited,
    LoginWall,
    /// A page of a firewall, with any status.
    Firewall,
    ServerError,
    /// A status that HTTP does not define, such as 999.
    UnknownStatus,
    Timeout,
    Connection,
    /// The end of the body is missing; what arrived was judged.
    Cut,
    Undecodable,
    Budget,
    NameServer,
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
            500..=599 => Some(Self::ServerError),
            600.. => Some(Self::UnknownStatus),
            _ if firewall_page::is_firewall_page(page) => Some(Self::Firewall),
            _ => page
                .redirect()
                .filter(|to| is_login(to) && !is_login(&page.url))
                .map(|_| Self::LoginWall),
        }
    }

    fn of_fault(fault: &BodyFault) -> Self {
        match fault {
            BodyFault::Cut(_) => Self::Cut,
            BodyFault::Undecodable(_) => Self::Undecodable,
        }
    }

    fn of_error(error: &WebError) -> Option<Self> {
        match error {
            // The scope excludes the address, so nothing is missing.
            WebError::Refused(_) => None,
            WebError::Connect(_)
            | WebError::NotTls
            | WebError::Tls
            | WebError::Silent
            | WebError::Broken(_)
            | WebError::Malformed(_)
            | WebError::NotHttp(_)
            | WebError::Http2
            | WebError::Unresponsive => Some(Self::Connection),
            WebError::Timeout => Some(Self::Timeout),
            WebError::RateLimited => Some(Self::RateLimited),
            WebError::Budget => Some(Self::Budget),
            WebError::LoggedOut(_) => Some(Self::LoginWall),
        }
    }

    /// Whether a site may answer so for a single path that is not public.
    fn may_be_normal(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden | Self::LoginWall)
    }

    pub fn cause(self) -> &'static str {
        match self {
            Self::Unauthorized => "HTTP 401",
            Self::Forbidden => "HTTP 403",
            Self::RateLimited => "HTTP 429",
            Self::LoginWall => "redirected to the log-in page",
            Self::Firewall => "blocked by a firewall",
            Self::ServerError => "HTTP 5xx",
            Self::UnknownStatus => "HTTP status above 599",
            Self::Timeout => "no complete response before the timeout",
            Self::Connection => "connection failed or cut",
            Self::Cut => "response incomplete",
            Self::Undecodable => "body not decodable",
            Self::Budget => "budget of requests or bytes exhausted",
            Self::NameServer => "no answer from the name server",
        }
    }

    /// Whether the site refuses the request.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden | Self::Firewall)
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Unauthorized | Self::LoginWall => {
                "Scan with credentials: set `tool_params.authentication`, such as {\"cookies\": \"sid=…\"} (scan form: Parameters as JSON)."
            }
            Self::Forbidden | Self::Firewall | Self::UnknownStatus => {
                "Allow the address or the User-Agent of the scanner in the web application firewall, and scan again."
            }
            Self::RateLimited => {
                "Lower `requests_per_second` of the scan, or raise the rate limit for the scanner."
            }
            Self::ServerError
            | Self::Timeout
            | Self::Connection
            | Self::Cut
            | Self::Undecodable => {
                "Check the health and the log of the server, lower `requests_per_second`, and scan again."
            }
            Self::Budget => "Start a deep scan, which may send more requests.",
            Self::NameServer => {
                "Check the name server of the service (`scandeck serve --dns-server`), and scan again."
            }
        }
    }

    /// Where the status code is defined, for causes that differ from the reference of their kind.
    fn reference(self) -> Option<&'static str> {
        match self {
            Self::Unauthorized => {
                Some("https://www.rfc-editor.org/rfc/rfc9110#name-401-unauthorized")
            }
            Self::Forbidden => Some("https://www.rfc-editor.org/rfc/rfc9110#name-403-forbidden"),
            Self::RateLimited => Some("https://www.rfc-editor.org/rfc/rfc6585#section-4"),
            _ => None,
        }
    }

    /// The finding about tests with this obstacle. A refusal of single paths is not a block.
    fn kind(self, is_blocked: bool) -> FindingKind {
        match self {
            Self::Unauthorized | Self::Forbidden | Self::RateLimited if is_blocked => {
                coverage::BLOCKED
            }
            Self::LoginWall => coverage::LOGIN_WALL,
            Self::Firewall => coverage::BLOCKED,
            Self::Unauthorized
            | Self::Forbidden
            | Self::RateLimited
            | Self::ServerError
            | Self::UnknownStatus
            | Self::Timeout
            | Self::Connection
            | Self::Cut
            | Self::Undecodable
            | Self::Budget
            | Self::NameServer => coverage::ERRORS,
        }
    }
}

/// Whether a URL is that of a log-in page, by the words of its host and path.
pub fn is_login(url: &Url) -> bool {
    const WORDS: &[&str] = &[
        "login",
        "logon",
        "signin",
        "sso",
        "saml",
        "oauth",
        "oauth2",
        "openid",
        "authorize",
        "auth",
    ];
    let host = url.host_str().unwrap_or_default();
    let in_host = host
        .split('.')
        .next()
        .is_some_and(|label| WORDS.contains(&label));
    let is_word = |segment: &str| {
        let name = segment
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        WORDS.contains(&name.replace(['-', '_'], "").as_str())
    };
    in_host
        || url
            .path_segments()
            .is_some_and(|mut segments| segments.any(is_word))
}

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

/// Refusals between two controls during a check.
const CONTROL_INTERVAL: u32 = 16;

/// A path that does not exist, and how the site answered it at the beginning of the scan.
#[derive(Clone, Debug)]
pub struct ControlPath {
    url: Url,
    answer: Option<ControlAnswer>,
    /// The site refuses every path that it does not know, so a refusal does not show that a path is
    /// not public.
    refuses_unknown: bool,
}

/// What an answer says about a path that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControlAnswer {
    Missing,
    Found,
    Refused,
    /// A redirect, an error, or an answer that depends on the load.
    Other,
}

impl ControlAnswer {
    fn of(page: &HttpPage) -> Self {
        match Obstacle::of_page(page) {
            Some(Obstacle::Firewall | Obstacle::Forbidden | Obstacle::UnknownStatus) => {
                Self::Refused
            }
            Some(_) => Self::Other,
            None if matches!(page.status, 400..=499) => Self::Missing,
            None if page.is_success() => Self::Found,
            None => Self::Other,
        }
    }
}

impl ControlPath {
    /// Requests a random path of the site.
    pub async fn read(web: &CheckedWeb<'_>, start: &Url) -> Option<Self> {
        let url = start
            .join(&format!("/sd{:016x}", rand::random::<u64>()))
            .ok()?;
        let page = web.probe(&url).await.ok();
        let answer = page.as_ref().map(ControlAnswer::of);
        // Object stores answer so for every missing name, to everybody.
        let is_store = page
            .as_ref()
            .is_some_and(|page| page.text().contains("<Code>AccessDenied</Code>"));
        Some(Self {
            url,
            answer,
            refuses_unknown: answer == Some(ControlAnswer::Refused) && !is_store,
        })
    }

    /// Whether the site now refuses this path, or shows a page for it, as it did not before.
    async fn is_blocked(&self, web: &Web<'_>) -> bool {
        let Some(before) = self.answer else {
            return false;
        };
        let Ok(page) = web.probe(&self.url).await else {
            return false;
        };
        matches!(
            (before, ControlAnswer::of(&page)),
            (
                ControlAnswer::Missing | ControlAnswer::Found | ControlAnswer::Other,
                ControlAnswer::Refused
            ) | (ControlAnswer::Missing, ControlAnswer::Found)
        )
    }
}

/// The client of one check: it counts what the check could not judge.
#[derive(Clone, Copy)]
pub struct CheckedWeb<'a> {
    web: &'a Web<'a>,
    coverage: &'a CheckCoverage,
    control: Option<&'a ControlPath>,
}

impl<'a> CheckedWeb<'a> {
    pub fn new(web: &'a Web<'a>, coverage: &'a CheckCoverage) -> Self {
        Self {
            web,
            coverage,
            control: None,
        }
    }

    /// The same client, whose refusals are compared with a control.
    pub fn with_control(self, control: Option<&'a ControlPath>) -> Self {
        Self { control, ..self }
    }

    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Sends one request; callers use GET, HEAD and OPTIONS only.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<HttpPage, WebError> {
        let answer = self.web.send(method, url, headers).await;
        self.record(&answer).await;
        answer
    }

    /// Requests a path that may exist, and reads only the beginning of its body.
    pub async fn probe(&self, url: &Url) -> Result<HttpPage, WebError> {
        let answer = self.web.probe(url).await;
        self.record(&answer).await;
        answer
    }

    /// Like `probe`, without the credentials of the scan.
    pub async fn probe_without_login(&self, url: &Url) -> Result<HttpPage, WebError> {
        let answer = self.web.probe_without_login(url).await;
        self.record(&answer).await;
        answer
    }

    /// Requests a page, and reads up to `max_body` bytes of its body.
    pub async fn get_up_to(&self, url: &Url, max_body: usize) -> Result<HttpPage, WebError> {
        let answer = self.web.get_up_to(url, max_body).await;
        self.record(&answer).await;
        answer
    }

    /// Counts the answer to a request that was sent for several checks.
    pub async fn recount(&self, answer: &Result<HttpPage, WebError>) {
        self.record(answer).await;
    }

    /// Counts an answer. Among refusals, some are followed by the control: a block may end before
    /// the check does.
    async fn record(&self, answer: &Result<HttpPage, WebError>) {
        self.coverage.record(answer);
        let is_refused = answer
            .as_ref()
            .is_ok_and(|page| Obstacle::of_page(page).is_some_and(Obstacle::is_refusal));
        let (_, refused) = self.refusals();
        if is_refused
            && refused % CONTROL_INTERVAL == 1
            && let Some(control) = self.control
            && control.is_blocked(self.web).await
        {
            self.coverage.is_blocked.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the control shows that the site blocked the check.
    async fn is_blocked(&self) -> bool {
        if self.coverage.is_blocked.load(Ordering::Relaxed) {
            return true;
        }
        match self.control {
            Some(control) if self.coverage.requests() > 0 => control.is_blocked(self.web).await,
            _ => false,
        }
    }

    pub fn limits(&self) -> &ScanLimits {
        self.web.limits()
    }

    /// The incomplete part of the check. `start` is the start page as the scan first saw it.
    ///
    /// A check that was refused on single paths requests the start page again: a site that still
    /// shows it refuses these paths only, unless it also refuses a path that does not exist.
    pub async fn incomplete(&self, start: &HttpPage, rule: CoverageRule) -> Option<IncompleteTest> {
        let CoverageCounts {
            requests,
            mut missed,
        } = self.coverage.counts();
        if rule.reads_errors {
            missed.remove(&Obstacle::ServerError);
        }
        let is_control_blocked = self.is_blocked().await;
        if is_control_blocked {
            // All answers of the check may be those of the firewall.
            missed = BTreeMap::from([(Obstacle::Firewall, requests)]);
        }
        let is_refused = missed.keys().any(|obstacle| obstacle.may_be_normal());
        let refuses_unknown = missed.contains_key(&Obstacle::Forbidden)
            && self.control.is_some_and(|control| control.refuses_unknown);
        let is_shown = is_refused && !refuses_unknown && self.shows(start).await;
        if is_shown && rule.may_refuse {
            missed.retain(|obstacle, _| !obstacle.may_be_normal());
        }
        let is_blocked =
            is_refused && !is_shown || matches!(self.web.shortfall(), Some(WebError::RateLimited));
        let incomplete = CoverageCounts { requests, missed }.incomplete(rule)?;
        Some(IncompleteTest {
            is_blocked,
            ..incomplete
        })
    }

    /// The requests, and how many of them the site refused.
    pub fn refusals(&self) -> (u32, u32) {
        let CoverageCounts { requests, missed } = self.coverage.counts();
        let refused = missed.iter().filter(|(obstacle, _)| obstacle.is_refusal());
        (requests, refused.map(|(_, count)| *count).sum())
    }

    async fn shows(&self, start: &HttpPage) -> bool {
        if Obstacle::of_page(start).is_some() || self.web.is_walled() {
            return false;
        }
        let again = self.web.get(&start.url).await;
        again.is_ok_and(|page| page.status == start.status && Obstacle::of_page(&page).is_none())
    }
}

/// Incomplete tests that a description names; more are counted.
const NAMED_TESTS: usize = 6;

/// The tests with one cause, and their requests.
#[derive(Debug, Default)]
struct CoverageCause<'a> {
    missed: u32,
    requests: u32,
    tests: Vec<&'a str>,
}

type CoverageCauses<'a> = BTreeMap<Obstacle, CoverageCause<'a>>;

/// The tests of a scan, and those that are incomplete.
#[derive(Debug, Default)]
pub struct ScanCoverage {
    /// All tests of the scan, those of the crawl included.
    planned: u32,
    tests: Vec<&'static str>,
    incomplete: Vec<(&'static str, IncompleteTest)>,
    /// The names of the incomplete tests for readers.
    names: BTreeMap<&'static str, &'static str>,
    requests: u32,
    refused: u32,
    limits: Vec<ReachedLimit>,
}

/// A limit that ended the reading before everything was read.
#[derive(Clone, Debug)]
pub struct ReachedLimit {
    /// Such as `pages`.
    pub what: &'static str,
    pub read: usize,
    pub found: usize,
}

impl ReachedLimit {
    /// A line for users, with the remedy.
    pub fn line(&self, is_deep: bool) -> String {
        let Self { what, read, found } = self;
        let remedy = match is_deep {
            false => "a deep scan reads more",
            true if *what == "complete scripts" => "`serve --scan-script-bytes` sets the limit",
            true => "`serve --scan-pages` sets the limit",
        };
        let part = part_of(*read as u64, *found as u64);
        format!("Limit reached: {part} {what} read; {remedy}.")
    }

    fn row(&self) -> Vec<String> {
        // Without tests in the third column: those that read the rest have a result.
        vec![
            format!("limit of {}", self.what),
            part_of(self.read as u64, self.found as u64),
            String::new(),
        ]
    }
}

impl ScanCoverage {
    pub fn new(planned: u32) -> Self {
        Self {
            planned,
            ..Self::default()
        }
    }

    /// Adds a test with its name for readers, which is empty for the only test of a tool.
    pub fn add(
        &mut self,
        uid: &'static str,
        name: &'static str,
        incomplete: Option<IncompleteTest>,
    ) {
        self.tests.push(uid);
        if incomplete.is_some() && !name.is_empty() {
            self.names.insert(uid, name);
        }
        self.incomplete
            .extend(incomplete.map(|incomplete| (uid, incomplete)));
        self.incomplete.sort_by_key(|(uid, _)| *uid);
    }

    /// Adds requests, with the number of those that the site refused.
    pub fn count(&mut self, (requests, refused): (u32, u32)) {
        self.requests += requests;
        self.refused += refused;
    }

    /// One finding for each kind of cause. Its evidence lists the tests, which the dashboard reads
    /// (`crates/domain/src/triage/coverage.rs`): their earlier findings are not retested.
    pub fn findings(&self, port: u16, service: &str) -> Vec<NewFinding> {
        let mut rows: BTreeMap<&str, (FindingKind, CoverageCauses)> = BTreeMap::new();
        for (uid, incomplete) in &self.incomplete {
            for (obstacle, count) in &incomplete.missed {
                let kind = obstacle.kind(incomplete.is_blocked);
                let (_, causes) = rows
                    .entry(kind.id())
                    .or_insert_with(|| (kind, CoverageCauses::new()));
                let cause = causes.entry(*obstacle).or_default();
                cause.missed += count;
                cause.requests += incomplete.requests;
                cause.tests.push(uid);
            }
        }
        let incomplete = rows
            .into_values()
            .map(|(kind, causes)| self.finding(kind, causes, port, service));
        incomplete
            .chain(self.limits_finding(port, service))
            .collect()
    }

    /// Adds a reached limit.
    pub fn add_limit(&mut self, limit: ReachedLimit) {
        self.limits.push(limit);
    }

    fn limits_finding(&self, port: u16, service: &str) -> Option<NewFinding> {
        let rows: Vec<Vec<String>> = self.limits.iter().map(ReachedLimit::row).collect();
        (!rows.is_empty()).then(|| NewFinding {
            port,
            service: service.to_owned(),
            evidence: kinds::table(kinds::COVERAGE_HEADERS, rows),
            confirmed: true,
            ..coverage::LIMITS.finding()
        })
    }

    fn finding(
        &self,
        kind: FindingKind,
        causes: CoverageCauses,
        port: u16,
        service: &str,
    ) -> NewFinding {
        let texts = kind.finding();
        let named: Vec<&str> = causes.keys().map(|obstacle| obstacle.cause()).collect();
        let mut remedies: Vec<&str> = causes.keys().map(|obstacle| obstacle.remedy()).collect();
        remedies.dedup();
        let references: Vec<String> = causes
            .keys()
            .filter_map(|obstacle| obstacle.reference())
            .map(str::to_owned)
            .collect();
        let tests: BTreeSet<&str> = causes
            .values()
            .flat_map(|cause| &cause.tests)
            .copied()
            .collect();
        let (count, planned) = (tests.len(), self.planned);
        let row = |(obstacle, cause): (&Obstacle, &CoverageCause)| {
            vec![
                obstacle.cause().to_owned(),
                part_of(cause.missed.into(), cause.requests.into()),
                grouped(&cause.tests, &self.tests).join(", "),
            ]
        };
        NewFinding {
            port,
            service: service.to_owned(),
            evidence: kinds::table(kinds::COVERAGE_HEADERS, causes.iter().map(row).collect()),
            confirmed: true,
            vuln_description: format!(
                "{} Cause: {}. {count} of {} {} incomplete{}.",
                texts.vuln_description,
                named.join(", "),
                plural(planned as usize, "test"),
                if count == 1 { "is" } else { "are" },
                self.named(&tests),
            ),
            recommendation: remedies.join(" "),
            references: if references.is_empty() {
                texts.references.clone()
            } else {
                references
            },
            ..texts
        }
    }

    /// `: Directory listings; Environment files; and 39 more`
    fn named(&self, tests: &BTreeSet<&str>) -> String {
        let names = tests.iter().filter_map(|uid| self.names.get(*uid).copied());
        let mut names: Vec<&str> = names.collect();
        if names.is_empty() {
            return String::new();
        }
        let more = names.len().saturating_sub(NAMED_TESTS);
        names.truncate(NAMED_TESTS);
        match more {
            0 => format!(": {}", names.join("; ")),
            _ => format!(": {}; and {more} more", names.join("; ")),
        }
    }

    /// The incomplete tests, for the status message: `50 of 66 tests incomplete (HTTP 403)`.
    pub fn summary(&self) -> Option<String> {
        let causes: Vec<&str> = self.causes().into_keys().map(Obstacle::cause).collect();
        (!causes.is_empty()).then(|| format!("{} incomplete ({})", self.share(), causes.join(", ")))
    }

    /// A line about the incomplete tests, or about a site that refuses most requests.
    pub fn note(&self) -> Option<String> {
        let cause = |(one, count): (Obstacle, u32)| {
            format!("{} ({})", one.cause(), plural(count as usize, "request"))
        };
        let causes: Vec<String> = self.causes().into_iter().map(cause).collect();
        if !causes.is_empty() {
            let (share, causes) = (self.share(), causes.join(", "));
            return Some(format!(
                "{share} incomplete: {causes}. Earlier findings of these tests are not retested."
            ));
        }
        let ScanCoverage {
            requests, refused, ..
        } = self;
        let is_most = *refused > 0 && refused.saturating_mul(2) > *requests;
        is_most.then(|| {
            let part = part_of((*refused).into(), (*requests).into());
            format!(
                "The site refused {part} requests (HTTP 401 or 403); these paths count as not public."
            )
        })
    }

    fn share(&self) -> String {
        format!(
            "{} of {}",
            self.incomplete.len(),
            plural(self.planned as usize, "test")
        )
    }

    fn causes(&self) -> BTreeMap<Obstacle, u32> {
        let mut causes: BTreeMap<Obstacle, u32> = BTreeMap::new();
        for (obstacle, count) in self
            .incomplete
            .iter()
            .flat_map(|(_, incomplete)| &incomplete.missed)
        {
            *causes.entry(*obstacle).or_default() += count;
        }
        causes
    }
}

/// `1,500 of 2,000`
fn part_of(part: u64, all: u64) -> String {
    format!("{} of {}", thousands(part), thousands(all))
}

/// The tests by name; a group such as `web.cookie` represents all its tests of the scan (`all`).
fn grouped<'a>(tests: &[&'a str], all: &[&str]) -> Vec<&'a str> {
    fn group(uid: &str) -> Option<&str> {
        uid.match_indices('.').nth(1).map(|(at, _)| &uid[..at])
    }
    let is_whole = |name: &str| {
        let mut of_group = all.iter().filter(|uid| group(uid) == Some(name));
        of_group.clone().count() > 1 && of_group.all(|uid| tests.contains(uid))
    };
    let mut names: Vec<&str> = tests
        .iter()
        .map(|&uid| group(uid).filter(|name| is_whole(name)).unwrap_or(uid))
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(status: u16, location: &str) -> HttpPage {
        let mut headers = HeaderMap::new();
        if !location.is_empty() {
            headers.insert("location", location.parse().unwrap());
        }
        HttpPage {
            url: Url::parse("http://a.test/x").unwrap(),
            status,
            headers,
            body: Vec::new(),
            fault: None,
            request: Default::default(),
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
    fn group_stands_for_its_tests_only_if_all_are_incomplete() {
        let all = [
            "web.cookie.secure",
            "web.cookie.http_only",
            "web.header.csp",
            "web.header.hsts",
            "web.robots",
        ];
        let tests = [
            "web.cookie.http_only",
            "web.cookie.secure",
            "web.header.csp",
            "web.robots",
        ];
        assert_eq!(
            grouped(&tests, &all),
            ["web.cookie", "web.header.csp", "web.robots"]
        );
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
