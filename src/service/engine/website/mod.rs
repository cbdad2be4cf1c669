//! Tool 170: weaknesses of a web site that are visible without changing it.
//!
//! ```text
//!   start page (redirect rules) ──► some pages of the site ──► concurrent checks ──► findings
//! ```
//!
//! Checks only read (GET, HEAD, OPTIONS); they never submit, inject, guess or change anything. Each check is one test and
//! returns at most one finding per kind and place; the affected pages are the rows of its evidence.

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use serde_json::json;

use super::http::Web;
use super::params::website::{CustomScan, GROUPS, Spider, WebsiteParams, WebsiteScanType};
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, TestDone};

mod answers;
mod content;
mod cookies;
mod crawl;
mod exposed;
mod headers;
mod html;
mod listing;
mod recognize;
mod site;
mod start;
mod versions;

use exposed::ExposedFiles;
use site::Site;

/// Number of concurrent checks.
const CONCURRENCY: usize = 6;

#[derive(Clone, Copy)]
struct Check {
    /// Stable name, as in `GET /scans/{id}/tests`.
    uid: &'static str,
    description: &'static str,
    kind: CheckKind,
}

const fn check(uid: &'static str, description: &'static str, kind: CheckKind) -> Check {
    Check { uid, description, kind }
}

#[derive(Clone, Copy)]
enum CheckKind {
    /// Reads the fetched pages.
    Passive(for<'a> fn(&Site<'a>) -> Vec<NewFinding>),
    /// Sends further requests to known pages.
    Active(for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>),
    /// Requests paths that may exist.
    Discovery(for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>),
    /// Requests files that must not be public.
    Files(&'static ExposedFiles),
}

use CheckKind::{Active, Discovery, Files, Passive};

const CHECKS: &[Check] = &[
    check("web.header.csp", "Content-Security-Policy of pages", Passive(headers::csp)),
    check("web.header.hsts", "Strict-Transport-Security of HTTPS responses", Passive(headers::hsts)),
    check("web.header.nosniff", "X-Content-Type-Options of responses", Passive(headers::nosniff)),
    check("web.header.referrer", "Referrer-Policy of pages", Passive(headers::referrer)),
    check("web.header.frames", "Protection of pages against framing", Passive(headers::frames)),
    check("web.cookie.secure", "Secure attribute of cookies", Passive(cookies::secure)),
    check("web.cookie.http_only", "HttpOnly attribute of cookies", Passive(cookies::http_only)),
    check("web.cookie.same_site", "SameSite attribute of cookies", Passive(cookies::same_site)),
    check("web.mixed_content", "Mixed content of HTTPS pages", Passive(content::mixed)),
    check("web.plain_http", "Availability over plain HTTP", Passive(content::plain_http)),
    check("web.server.version", "Software versions in headers", Passive(versions::disclosed)),
    check("web.server.outdated", "Known vulnerabilities of versions in headers", Passive(versions::outdated)),
    check("web.cors", "CORS response to a foreign origin", Active(|site| Box::pin(answers::cors(site)))),
    check("web.method", "Allowed HTTP methods", Active(|site| Box::pin(answers::methods(site)))),
    check("web.error_page", "Internals in error pages", Active(|site| Box::pin(answers::error_pages(site)))),
    check("web.robots", "Sensitive paths in robots.txt", Discovery(|site| Box::pin(answers::robots(site)))),
    check("web.security_txt", "Contact in security.txt", Discovery(|site| Box::pin(answers::security_txt(site)))),
    check("web.listing", "Directory listings", Discovery(|site| Box::pin(listing::check(site)))),
    check("web.exposed.git", "Files of a Git repository", Files(&exposed::GIT)),
    check("web.exposed.svn", "Files of a Subversion working copy", Files(&exposed::SVN)),
    check("web.exposed.hg", "Files of a Mercurial repository", Files(&exposed::MERCURIAL)),
    check("web.exposed.env", "Environment files", Files(&exposed::ENVIRONMENT)),
    check("web.exposed.credentials", "Files with passwords or access keys", Files(&exposed::CREDENTIALS)),
    check("web.exposed.backup", "Archives and old copies of files", Files(&exposed::BACKUP)),
    check("web.exposed.database", "Database dumps and files", Files(&exposed::DATABASE)),
    check("web.exposed.private_key", "Private keys", Files(&exposed::PRIVATE_KEY)),
];

impl Check {
    /// Whether a name of `scan_type` custom means this check: `web.header.csp`, `header.csp` or `csp`.
    fn is_called(&self, name: &str) -> bool {
        self.uid == name || self.uid.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
    }
}

impl CheckKind {
    /// The position of its group in [`GROUPS`].
    fn group(self) -> usize {
        match self {
            Active(_) => 0,
            Passive(_) => 1,
            Discovery(_) | Files(_) => 2,
        }
    }

    async fn run<'a>(self, site: &'a Site<'a>) -> Vec<NewFinding> {
        match self {
            Passive(run) => run(site),
            Active(run) | Discovery(run) => run(site).await,
            Files(files) => exposed::check(site, files).await,
        }
    }
}

/// The limits and the checks of a scan type.
struct ScanReach {
    pages: usize,
    requests: u32,
    checks: Vec<Check>,
    spider: Spider,
}

impl ScanReach {
    fn of(scan_type: WebsiteScanType) -> Self {
        let (pages, requests) = match scan_type {
            WebsiteScanType::Light => (12, 500),
            WebsiteScanType::Deep | WebsiteScanType::Custom(_) => (100, 3000),
        };
        let custom = match scan_type {
            WebsiteScanType::Custom(custom) => custom,
            _ => CustomScan::default(),
        };
        let is_selected = |check: &&Check| match &custom.checks[check.kind.group()] {
            None => true,
            Some(names) => names.iter().any(|name| check.is_called(name)),
        };
        Self { pages, requests, checks: CHECKS.iter().filter(is_selected).copied().collect(), spider: custom.spider }
    }
}

/// What this scanner lacks of a custom selection, as a line for the user.
fn unavailable(custom: &CustomScan) -> Option<String> {
    let mut missing = Vec::new();
    for (group, names) in GROUPS.iter().zip(&custom.checks) {
        let is_known = |name: &String| CHECKS.iter().any(|check| check.is_called(name));
        missing.extend(names.iter().flatten().filter(|name| !is_known(name)).map(|name| format!("{group} {name}")));
    }
    if custom.spider.approach == "spa" {
        missing.push("spider.approach spa (links in HTML are followed)".to_owned());
    }
    (!missing.is_empty()).then(|| format!("Not available: {}.", missing.join(", ")))
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let stored = run.job.params.as_object().cloned().unwrap_or_default();
    let params = WebsiteParams::parse(&stored).map_err(|error| ScanOutcome::FailedToStart(error.to_string()))?;
    let with_login = params.authentication.is_some();
    if let WebsiteScanType::Custom(custom) = &params.scan_type
        && let Some(line) = unavailable(custom)
    {
        run.info(line).await;
    }
    let reach = ScanReach::of(params.scan_type);
    let rate = params.requests_per_second;

    // The start page is a test too.
    run.planned(reach.checks.len() as u32 + 1).await;
    run.output_findings(json!({})).await;
    let web = Web::new(run, rate, params.authentication.unwrap_or_default(), reach.requests);
    let start = start::find(run, &web).await?;
    if with_login && matches!(start.status, 401 | 403) {
        let why = match web.is_home(&start.url) {
            true => "to the given authentication",
            false => "and receives no authentication, because it is not the target: use it as the target",
        };
        return Err(ScanOutcome::AuthFailed(format!("{} responds with {} {why}", start.url, start.status)));
    }
    let metadata = json!({"url": start.url.as_str(), "status": start.status});
    run.tested(TestDone::new("web.start", "Start page", metadata, Vec::new())).await;

    let site = Site::new(&web, start, reach.pages, &reach.spider).await;
    let site = &site;
    let mut checks = stream::iter(reach.checks)
        .map(|check| async move { (check, check.kind.run(site).await) })
        .buffer_unordered(CONCURRENCY);
    let mut count = 0;
    while let Some((check, findings)) = checks.next().await {
        count += findings.len();
        let metadata = json!({"start": site.start.url.as_str(), "findings": findings.len()});
        run.tested(TestDone::new(check.uid, check.description, metadata, findings)).await;
    }
    let (pages, s) = (site.pages.len(), |number: usize| if number == 1 { "" } else { "s" });
    let mut summary = format!("{pages} page{} read, {count} finding{}", s(pages), s(count));
    if let Some(why) = web.shortfall() {
        run.info(format!("Some checks are incomplete: {why}.")).await;
        summary.push_str(&format!("; some checks are incomplete: {why}"));
    }
    Ok(summary)
}
