//! Tool 170: weaknesses of a web site that can be seen by reading it.
//!
//! ```text
//!   start page (redirect rules) ──► a few pages of the site ──► checks, a handful at a time ──► findings
//! ```
//!
//! Every check reads: GET, HEAD, OPTIONS. Nothing is submitted, injected, guessed or changed. Each check is one test
//! and gives at most one finding a kind and place; the pages it concerns are the rows of the evidence.

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
mod judge;
mod listing;
mod site;
mod start;
mod versions;

use site::Site;

/// Checks under way at a time.
const AT_ONCE: usize = 6;

/// One check.
#[derive(Clone, Copy)]
struct Check {
    /// Stable name, as in `GET /scans/{id}/tests`.
    uid: &'static str,
    description: &'static str,
    run: for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>,
}

/// A check that only reads the pages there are.
macro_rules! passive {
    ($uid:literal, $description:literal, $check:path) => {
        Check { uid: $uid, description: $description, run: |site| Box::pin(async move { $check(site) }) }
    };
}

/// A check that asks for more.
macro_rules! active {
    ($uid:literal, $description:literal, $check:path) => {
        Check { uid: $uid, description: $description, run: |site| Box::pin($check(site)) }
    };
}

const CHECKS: &[Check] = &[
    passive!("web.header.csp", "Content-Security-Policy of the pages", headers::csp),
    passive!("web.header.hsts", "Strict-Transport-Security of HTTPS answers", headers::hsts),
    passive!("web.header.nosniff", "X-Content-Type-Options of the answers", headers::nosniff),
    passive!("web.header.referrer", "Referrer-Policy of the pages", headers::referrer),
    passive!("web.header.frames", "Whether other sites may frame the pages", headers::frames),
    passive!("web.cookie.secure", "Secure attribute of the cookies", cookies::secure),
    passive!("web.cookie.http_only", "HttpOnly attribute of the cookies", cookies::http_only),
    passive!("web.cookie.same_site", "SameSite attribute of the cookies", cookies::same_site),
    passive!("web.mixed_content", "Parts of HTTPS pages loaded over plain HTTP", content::mixed),
    passive!("web.plain_http", "Whether the site works over plain HTTP", content::plain_http),
    passive!("web.server.version", "Versions in the headers", versions::disclosed),
    passive!("web.server.outdated", "Versions in the headers against published holes", versions::outdated),
    active!("web.cors", "Answer to a request from a strange origin", answers::cors),
    active!("web.method", "Methods that the server says it allows", answers::methods),
    active!("web.error_page", "Internals in error pages", answers::error_pages),
    active!("web.robots", "Private places in robots.txt", answers::robots),
    active!("web.security_txt", "Contact for security in security.txt", answers::security_txt),
    active!("web.listing", "Listings of files in folders", listing::check),
    active!("web.exposed.git", "Files of a Git repository", exposed::git),
    active!("web.exposed.svn", "Files of a Subversion working copy", exposed::svn),
    active!("web.exposed.hg", "Files of a Mercurial repository", exposed::mercurial),
    active!("web.exposed.env", "Environment files", exposed::environment),
    active!("web.exposed.credentials", "Files of passwords and access keys", exposed::credentials),
    active!("web.exposed.backup", "Archives and old copies of files", exposed::backup),
    active!("web.exposed.database", "Dumps and files of databases", exposed::database),
    active!("web.exposed.private_key", "Private keys", exposed::private_key),
];

/// What a scan type allows itself.
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

    // One test more than checks: the start page itself.
    run.planned(CHECKS.len() as u32 + 1).await;
    let ip = run.resolve(&run.address.host()).await?[0];
    let web = Web::new(run, ip, rate, authentication.unwrap_or_default(), reach.requests);
    let start = start::find(run, &web).await?;
    if with_login && matches!(start.status, 401 | 403) {
        let why = format!("{} answers {} to the given authentication", start.url, start.status);
        return Err(ScanOutcome::AuthFailed(why));
    }
    let answered = TestDone {
        uid: "web.start".to_owned(),
        description: "The start page answers".to_owned(),
        metadata: json!({"url": start.url.as_str(), "status": start.status}),
        weight: 1,
        findings: Vec::new(),
    };
    run.tested(answered).await;

    let site = Site::new(&web, start, reach.pages).await;
    let site = &site;
    let mut checks = stream::iter(CHECKS.iter().copied())
        .map(|check| async move { (check, (check.run)(site).await) })
        .buffer_unordered(AT_ONCE);
    let mut count = 0;
    while let Some((check, findings)) = checks.next().await {
        count += findings.len();
        let test = TestDone {
            uid: check.uid.to_owned(),
            description: check.description.to_owned(),
            metadata: json!({"start": site.start.url.as_str(), "findings": findings.len()}),
            weight: 1,
            findings,
        };
        run.tested(test).await;
        run.finding_list().await;
    }
    let mut told = format!("{} pages read, {count} findings", site.pages.len());
    if let Some(why) = web.shortfall() {
        run.info(format!("Some checks saw less than they asked for: {why}.")).await;
        told.push_str(&format!("; {why}, so some checks saw less"));
    }
    Ok(told)
}
