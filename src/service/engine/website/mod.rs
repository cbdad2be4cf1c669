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
use super::params::Authentication;
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
    /// Sends further requests.
    Active(for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>),
    /// Requests files that must not be public.
    Files(&'static ExposedFiles),
}

use CheckKind::{Active, Files, Passive};

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
    check("web.robots", "Sensitive paths in robots.txt", Active(|site| Box::pin(answers::robots(site)))),
    check("web.security_txt", "Contact in security.txt", Active(|site| Box::pin(answers::security_txt(site)))),
    check("web.listing", "Directory listings", Active(|site| Box::pin(listing::check(site)))),
    check("web.exposed.git", "Files of a Git repository", Files(&exposed::GIT)),
    check("web.exposed.svn", "Files of a Subversion working copy", Files(&exposed::SVN)),
    check("web.exposed.hg", "Files of a Mercurial repository", Files(&exposed::MERCURIAL)),
    check("web.exposed.env", "Environment files", Files(&exposed::ENVIRONMENT)),
    check("web.exposed.credentials", "Files with passwords or access keys", Files(&exposed::CREDENTIALS)),
    check("web.exposed.backup", "Archives and old copies of files", Files(&exposed::BACKUP)),
    check("web.exposed.database", "Database dumps and files", Files(&exposed::DATABASE)),
    check("web.exposed.private_key", "Private keys", Files(&exposed::PRIVATE_KEY)),
];

impl CheckKind {
    async fn run<'a>(self, site: &'a Site<'a>) -> Vec<NewFinding> {
        match self {
            Passive(run) => run(site),
            Active(run) => run(site).await,
            Files(files) => exposed::check(site, files).await,
        }
    }
}

/// The limits of a scan type.
struct ScanReach {
    pages: usize,
    requests: u32,
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let params = &run.job.params;
    let reach = match params["scan_type"].as_str() {
        Some("deep") => ScanReach { pages: 100, requests: 3000 },
        _ => ScanReach { pages: 12, requests: 500 },
    };
    let given = params.get("authentication").filter(|given| !given.is_null());
    let authentication = given.map(Authentication::parse).transpose();
    let authentication = authentication.map_err(|error| ScanOutcome::FailedToStart(error.to_string()))?;
    let with_login = authentication.is_some();
    let rate = params["requests_per_second"].as_u64().and_then(|rate| u32::try_from(rate).ok());

    // The start page is a test too.
    run.planned(CHECKS.len() as u32 + 1).await;
    let ip = run.resolve(&run.address.host()).await?[0];
    let web = Web::new(run, ip, rate, authentication.unwrap_or_default(), reach.requests);
    let start = start::find(run, &web).await?;
    if with_login && matches!(start.status, 401 | 403) {
        let why = format!("{} responds with {} to the given authentication", start.url, start.status);
        return Err(ScanOutcome::AuthFailed(why));
    }
    let metadata = json!({"url": start.url.as_str(), "status": start.status});
    run.tested(TestDone::new("web.start", "Start page", metadata, Vec::new())).await;

    let site = Site::new(&web, start, reach.pages).await;
    let site = &site;
    let mut checks = stream::iter(CHECKS.iter().copied())
        .map(|check| async move { (check, check.kind.run(site).await) })
        .buffer_unordered(CONCURRENCY);
    let mut count = 0;
    while let Some((check, findings)) = checks.next().await {
        count += findings.len();
        let metadata = json!({"start": site.start.url.as_str(), "findings": findings.len()});
        run.tested(TestDone::new(check.uid, check.description, metadata, findings)).await;
        run.output_findings_so_far().await;
    }
    run.output_findings(json!({})).await;
    let mut summary = format!("{} pages read, {count} findings", site.pages.len());
    if let Some(why) = web.shortfall() {
        run.info(format!("Some checks are incomplete: {why}.")).await;
        summary.push_str(&format!("; some checks are incomplete: {why}"));
    }
    Ok(summary)
}
